"""CodeBLEU of 2,000 consecutive pairs of 20-300 line programs in C++, Java and Python, against ``codebleu`` in a loop.

The programs are those of made trajectories (``made_programs.py``), so that most are the later one of a pair and the
earlier one of the next, as with people's attempts. Both sides are timed by processor time on one thread: ours on all
pairs, ``codebleu.calc_codebleu`` with the weights (1/3, 1/3, 1/3, 0) on pairs spread evenly over all lengths, scaled.
The scores of these must agree within 1e-9, or the run fails. What several processes make of the same pairs is stated,
too.

    python benchmarks/similarity.py [--pairs 2000] [--peer-pairs 200]
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from itertools import pairwise

import numpy as np
from codebleu import calc_codebleu
from made_programs import ENDINGS, made_trajectory

from judge_pipeline.similarity.codebleu import codebleu_similarities
from judge_pipeline.similarity.edit_distance import normalized_edit_distance, normalized_edit_distances

TARGET = 10.0
TOLERANCE = 1e-9
WEIGHTS = (1 / 3, 1 / 3, 1 / 3, 0.0)

Pair = tuple[str, str, str]


def main() -> int:
    """Runs the comparison; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--peer-pairs", type=int, default=200, help="pairs that codebleu scores; at most --pairs")
    given = parser.parse_args()
    pairs = made_pairs(given.pairs)
    lengths = np.array([reference.count("\n") for reference, *_ in pairs])
    print(f"{len(pairs)} pairs; lines {lengths.min()} to {lengths.max()}, median {np.median(lengths):g}")
    # What is loaded once (grammars, keywords) is loaded before either is timed.
    codebleu_similarities(*_columns([(f"{ending} x", "y z", ending) for ending in ENDINGS]))

    started = time.process_time()
    ours = codebleu_similarities(*_columns(pairs), n_processes=1)["codebleu"].to_numpy()
    seconds_ours = time.process_time() - started
    print(f"ours      {seconds_ours:8.2f} s for {len(pairs)} pairs, on one core")

    by_length = np.argsort([len(reference) + len(candidate) for reference, candidate, _ in pairs], kind="stable")
    chosen = by_length[np.linspace(0, len(pairs) - 1, min(given.peer_pairs, len(pairs))).astype(int)]
    started = time.process_time()
    peer = np.array([_peer(pairs[i]) for i in chosen])
    seconds_peer = (time.process_time() - started) * len(pairs) / len(chosen)
    print(f"codebleu  {seconds_peer:8.2f} s, scaled from {len(chosen)} pairs")
    worst = float(np.abs(peer - ours[chosen]).max())
    print(f"largest difference {worst:.1e} (limit {TOLERANCE:g})")
    _state_the_rest(pairs, ours)
    ratio = seconds_peer / seconds_ours
    print(f"ratio {ratio:.2f} target {TARGET:g}")
    return 0 if ratio >= TARGET and worst <= TOLERANCE else 1


def made_pairs(n_pairs: int) -> list[Pair]:
    """Each turn with the next, of trajectories in three languages in turn."""
    rng = random.Random(6)
    pairs: list[Pair] = []
    while len(pairs) < n_pairs:
        for language in ENDINGS:
            turns = made_trajectory(language, rng)
            pairs += [(before, after, language) for before, after in pairwise(turns)]
    return pairs[:n_pairs]


def _columns(pairs: list[Pair]) -> tuple[list[str], list[str], list[str]]:
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs], [pair[2] for pair in pairs]


def _peer(pair: Pair) -> float:
    reference, candidate, language = pair
    if reference == candidate:
        return 1.0
    return float(calc_codebleu([reference], [candidate], language, WEIGHTS)["codebleu"])


def _state_the_rest(pairs: list[Pair], ours: np.ndarray) -> None:
    """Wall times of two processes and of NED in bulk, and that they change nothing."""
    started = time.perf_counter()
    two = codebleu_similarities(*_columns(pairs), n_processes=2)["codebleu"].to_numpy()
    print(f"two processes {time.perf_counter() - started:.2f} s by the clock; equal: {np.array_equal(two, ours)}")
    references, candidates, _ = _columns(pairs)
    started = time.perf_counter()
    bulk = normalized_edit_distances(references, candidates)["ned"].to_numpy()
    seconds = time.perf_counter() - started
    one_by_one = [normalized_edit_distance(a, b) for a, b in zip(references, candidates, strict=True)]
    print(f"NED in bulk {seconds:.2f} s by the clock; equal: {np.array_equal(bulk, one_by_one)}")


if __name__ == "__main__":
    sys.exit(main())
