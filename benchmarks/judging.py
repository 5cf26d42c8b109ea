"""Attempts judged per second: ours through litellm and directly, against a bare litellm loop and inspect-ai.

A server on loopback, in a process of its own, answers after 50 ms. Ours is timed from the table of requests to the
table of judgments: rendering, hashing, the checkpoint's commits and the final look-up included. The bare loop only
awaits litellm.acompletion on prompts rendered beforehand, and keeps nothing. The sides take turns, block by block, so
that a busy machine hits all of them, and in every second block the other way round; each ratio is the median over the
blocks. Imports are left out on all sides.

    python benchmarks/judging.py [--requests 5000] [--in-flight 200] [--memory-calls 20000]

inspect-ai is measured where PYTHON (by default this one) has it: --inspect-python PYTHON.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

from judge_pipeline.judging.backends.litellm_client import close_clients, load_litellm
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, judge_requests
from judge_pipeline.judging.progress import Progress
from judge_pipeline.judging.request import PromptTemplate
from judge_pipeline.settings import LitellmJudge, packaged_config_dir
from judge_pipeline.tables import JUDGE_REQUESTS

HERE = Path(__file__).resolve().parent
PROMPTS = packaged_config_dir() / "prompts"
LATENCY_MS = 50
BLOCKS_LITELLM = 12
BLOCKS_DIRECT = 5
LITELLM_OVER_BARE = 0.9
DIRECT_OVER_BARE = 5.0
DIRECT_OVER_INSPECT = 10.0
MEMORY_GROWTH_MB = 16.0


def main() -> int:
    """Measure, and print a line for each ratio; the last line is the smallest over its target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=5000, help="attempts that ours judges, over each transport")
    parser.add_argument("--in-flight", type=int, default=200, help="calls under way at once")
    parser.add_argument("--memory-calls", type=int, default=20000, help="calls over which memory is watched; 0: none")
    parser.add_argument("--inspect-python", default=sys.executable, help="interpreter that has inspect-ai")
    asked = parser.parse_args()
    load_litellm()
    with loopback(LATENCY_MS) as url, tempfile.TemporaryDirectory() as folder:
        bench = Bench(url, asked.in_flight, Path(folder))
        ratios = compare(bench, asked.requests)
        ratios += compare_with_inspect(bench, asked.inspect_python, min(asked.requests, 1000))
        grew = memory(bench, asked.memory_calls) if asked.memory_calls else 0.0
    print(f"load average at the end: {', '.join(f'{load:.1f}' for load in os.getloadavg())} on {os.cpu_count()} cores")
    print(f"ratio {min(ratios):.2f} target 1")
    return 0 if min(ratios) >= 1.0 and grew <= MEMORY_GROWTH_MB else 1


@contextmanager
def loopback(latency_ms: float) -> Iterator[str]:
    """The server's URL while it runs."""
    command = [sys.executable, str(HERE / "loopback_server.py"), str(latency_ms)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        finally:
            server.stdin.close()


class Bench:
    """Judges numbered attempts, each number only once, over either transport."""

    def __init__(self, url: str, in_flight: int, folder: Path) -> None:
        self.url = url
        self.in_flight = in_flight
        self._folder = folder
        self._next = 0

    def table(self, n: int) -> pd.DataFrame:
        """The next n requests."""
        numbers = range(self._next, self._next + n)
        self._next += n
        return JUDGE_REQUESTS.conform([_request(number) for number in numbers])

    def ours(self, transport: str, n: int, progress: Callable[..., None] | None = None) -> float:
        """Seconds from the table of n requests to their judgments."""
        requests = self.table(n)
        settings = LitellmJudge(
            backend="litellm", model="openai/loopback", base_url=self.url, transport=transport, send_schema=False,
            limits={"max_in_flight": self.in_flight},
        )  # fmt: skip
        context = JudgingContext({}, self._folder, PROMPTS, progress=progress)
        started = time.perf_counter()
        with closing(Checkpoint(f"sqlite:///{self._folder / 'checkpoint.sqlite'}")) as checkpoint:
            result = judge_requests(transport, settings, requests, checkpoint=checkpoint, context=context)
        seconds = time.perf_counter() - started
        if len(result.outputs) != n:
            raise SystemExit(f"{transport}: {len(result.failures)} of {n} failed: {result.failures['text'][0]}")
        return seconds

    def bare(self, n: int) -> float:
        """Seconds of n calls of litellm and nothing else."""
        prompts = deque(self.prompts(n))
        started = time.perf_counter()
        asyncio.run(_bare(prompts, self.url, self.in_flight))
        return time.perf_counter() - started

    def prompts(self, n: int) -> list[list[dict[str, str]]]:
        """The messages of the next n requests."""
        template = PromptTemplate.load(PROMPTS, "cocreation_judge.md.j2")
        rows = self.table(n).astype("object").where(lambda table: table.notna(), None).to_dict("records")
        return [[{"role": m.role, "content": m.content} for m in template.render(row)] for row in rows]


def _request(number: int) -> dict[str, Any]:
    source = f"n = int(input())  # {number}\na = list(map(int, input().split()))\nprint(sum(sorted(a)[:n]))\n"
    return {
        "attempt_id": f"{number:016x}", "split": "test", "problem_id": f"P{number % 12}", "language": "Python 3",
        "source_code": source, "prompt_text": "How do I read n integers?", "problem_statement": None,
        "context": "nonblind", "source_chars_cut": 0, "prompt_chars_cut": 0, "request_sha256": f"{number:064x}",
    }  # fmt: skip


async def _bare(prompts: deque[list[dict[str, str]]], url: str, in_flight: int) -> None:
    litellm = load_litellm()

    async def work() -> None:
        while prompts:
            await litellm.acompletion(
                model="openai/loopback", messages=prompts.popleft(), base_url=url, api_key="none", num_retries=0,
                max_retries=0,
            )  # fmt: skip

    await asyncio.gather(*(work() for _ in range(in_flight)))
    await close_clients()


def compare(bench: Bench, n: int) -> list[float]:
    """Ratios to the bare loop, over their targets."""
    block = n // BLOCKS_LITELLM
    sides = {
        "bare litellm loop": (bench.bare, block),
        "ours, litellm": (lambda k: bench.ours("litellm", k), block),
        "ours, direct": (lambda k: bench.ours("direct", k), n),  # all in each block: a part would be mostly start-up
    }
    for side, _ in sides.values():
        side(min(50, n))  # first calls load what imports have left for later
    print(f"{n} requests, {bench.in_flight} in flight, {LATENCY_MS} ms")
    return [
        _compare(sides, "ours, litellm", "bare litellm loop", BLOCKS_LITELLM, LITELLM_OVER_BARE),
        _compare(sides, "ours, direct", "bare litellm loop", BLOCKS_DIRECT, DIRECT_OVER_BARE),
    ]


def _compare(
    sides: dict[str, tuple[Callable[[int], float], int]], ours: str, peer: str, n_blocks: int, target: float
) -> float:
    """The ratio of two sides that take turns, over its target."""
    rates: dict[str, list[float]] = {peer: [], ours: []}
    cpu_ms: dict[str, list[float]] = {peer: [], ours: []}
    for number in range(n_blocks):
        for name in (peer, ours) if number % 2 == 0 else (ours, peer):
            side, k = sides[name]
            cpu = time.process_time()
            rates[name].append(k / side(k))
            cpu_ms[name].append(1000.0 * (time.process_time() - cpu) / k)
    for name, by_block in rates.items():
        print(
            f"{name:18} {median(by_block):8.1f} a second, {median(cpu_ms[name]):6.2f} ms of processor a call "
            f"({n_blocks} blocks of {sides[name][1]})"
        )
    return _ratio(ours, peer, rates, target)


def _ratio(ours: str, peer: str, rates: dict[str, list[float]], target: float) -> float:
    by_block = [a / b for a, b in zip(rates[ours], rates[peer], strict=True)]
    shown = ", ".join(f"{ratio:.2f}" for ratio in by_block)
    print(f"{ours} / {peer}: {median(by_block):.2f} target {target:g} (by block: {shown})")
    return median(by_block) / target


def compare_with_inspect(bench: Bench, python: str, n: int) -> list[float]:
    """The ratio to inspect-ai over its target; none where it is not installed."""
    has = subprocess.run([python, "-c", "import inspect_ai"], capture_output=True, check=False)
    if has.returncode:
        print(f"ours, direct / inspect-ai: skipped, since {Path(python).name} has no inspect-ai (see --inspect-python)")
        return []
    command = [python, str(HERE / "inspect_peer.py"), bench.url, str(n), str(bench.in_flight)]
    peer = subprocess.run(command, capture_output=True, text=True, check=False)
    if peer.returncode:
        raise SystemExit(f"inspect-ai failed:\n{peer.stderr[-2000:]}")
    theirs = float(peer.stdout.split()[-1])
    ours = n / bench.ours("direct", n)
    print(f"inspect-ai         {theirs:8.1f} a second on {n} requests, imports left out")
    return [_ratio("ours, direct", "inspect-ai", {"ours, direct": [ours], "inspect-ai": [theirs]}, DIRECT_OVER_INSPECT)]


def memory(bench: Bench, n: int) -> float:
    """MB by which this process grew between the first tenth of n direct calls and the last."""
    seen: dict[int, float] = {}

    def watch(progress: Progress) -> None:
        if progress.done % (n // 10) == 0:
            seen[progress.done] = _rss_mb()

    bench.ours("direct", n, watch)
    first, last = seen[n // 10], seen[n // 10 * 10]
    print(f"memory: {first:.0f} MB after {n // 10} calls, {last:.0f} MB after {n}; at most {MEMORY_GROWTH_MB:g} more")
    return last - first


def _rss_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    raise SystemExit(main())
