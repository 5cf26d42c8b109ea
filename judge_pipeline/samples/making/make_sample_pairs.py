"""The sample preference set: pairs, a rubric's scores and simulated judges' choices, from ``pair_tasks.toml``.

No person chose: every answer is run against its task's checks, and a rule chooses (``pair_rule``). The rule stands in
the set's preference.yaml and README, too.

``python -m judge_pipeline.samples.making.make_sample_pairs`` writes the set anew: the same bytes on every machine.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from judge_pipeline.samples.making.pair_measures import Measured, item_scores, measured
from judge_pipeline.samples.making.pair_rule import choice, tasks
from judge_pipeline.samples.making.simulate_pair_judges import JUDGES, decisions

SET = Path(__file__).resolve().parent.parent / "preference_sets" / "sample-pairs"

_SEED = "20260403"


def drawn() -> Iterator[tuple[str, Mapping[str, Any], str, str]]:
    """pair_id, task and the two answers of every pair: every two answers of a task, in an order drawn by a seed."""
    for task in tasks():
        for i, j in combinations(range(len(task["answers"])), 2):
            pair_id = f"{task['id']}-{i + 1}{j + 1}"
            turned = hashlib.sha256(f"{_SEED} {pair_id}".encode()).digest()[0] % 2
            first, second = (task["answers"][k].strip("\n") for k in ((j, i) if turned else (i, j)))
            yield pair_id, task, first, second


def pairs() -> Iterator[dict[str, Any]]:
    """The pairs as the set's file holds them."""
    for pair_id, task, first, second in drawn():
        context = {name: task.get(name) or None for name in ("instruction", "prefix", "code_to_edit", "suffix")}
        yield {
            "pair_id": pair_id,
            "category": task["mode"],
            "language": "Python",
            **context,
            "response_a": first,
            "response_b": second,
            "w": choice(task, first, second),
        }


def measured_pairs() -> dict[str, tuple[Measured, Measured]]:
    """pair_id -> y_A and y_B, measured."""
    return {pair_id: (measured(task, a), measured(task, b)) for pair_id, task, a, b in drawn()}


def sample_files() -> dict[str, str]:
    """Path in the set's folder -> text, of every file that is made."""
    found = measured_pairs()
    scores = ((p, item, s, s) for p, (a, b) in found.items() for item, s in item_scores(a, b).items())
    files = {
        "pairs.jsonl": "".join(json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs()),
        "recorded/rubric_scores.csv": _csv(("pair_id", "item", "score_ab", "score_ba"), scores),
    }
    for judge in JUDGES:
        chosen = ((pair_id, *decisions(judge, pair_id, a, b)) for pair_id, (a, b) in found.items())
        files[f"recorded/{judge.name}.csv"] = _csv(("pair_id", "decision_ab", "decision_ba"), chosen)
    return files


def _csv(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([tuple(header), *rows])
    return stream.getvalue()


def main() -> None:
    """Write the files."""
    for name, text in sample_files().items():
        (SET / name).parent.mkdir(exist_ok=True)
        (SET / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
