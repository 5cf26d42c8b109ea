"""Samples a second of inspect-ai against a loopback server: generate() and nothing else, start to end of eval().

Run by benchmarks/judging.py, under an interpreter that has inspect-ai and openai. The last word it prints is the rate.

    python benchmarks/inspect_peer.py URL SAMPLES IN_FLIGHT
"""

from __future__ import annotations

import os
import sys
import tempfile
import time


def main(url: str, n: int, in_flight: int) -> None:
    """Warm up, measure, print."""
    os.environ |= {"LOOPBACK_API_KEY": "none", "LOOPBACK_BASE_URL": url}
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.solver import generate

    def seconds(k: int) -> float:
        samples = [Sample(input=f"Judge attempt {number}. " + "x = 1\n" * 60, target="x") for number in range(k)]
        started = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            (log,) = eval(
                Task(dataset=MemoryDataset(samples), solver=generate()), model="openai-api/loopback/loopback",
                log_dir=folder, display="none", max_connections=in_flight, max_samples=in_flight,
            )  # fmt: skip
            if log.status != "success":
                raise SystemExit(f"inspect-ai ended with status {log.status}")
        return time.perf_counter() - started

    seconds(20)  # loads what imports have left for later
    print(f"inspect-ai a second: {n / seconds(n):.1f}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
