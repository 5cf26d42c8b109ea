"""Real verdicts of published judges, read from the shared reading matter where it is there."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"

AUTO_J_CODE = (
    "code_generation", "code_simplification", "code_correction_rewriting", "explaining_code",
    "code_to_code_translation",
)  # fmt: skip


def shared_file(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"the shared data are not here: {name}")
    return path


def llmbar() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Decisions of every evaluator with the column dataset, and the statistics that its authors publish."""
    verdicts = pd.read_csv(shared_file("llmbar/verdicts.csv"), dtype=str)
    words = {"1": "A", "2": "B"}
    decisions = pd.DataFrame(
        {
            "pair_id": verdicts["dataset"] + "/" + verdicts["idx"],
            "judge": verdicts["evaluator"],
            "label": verdicts["label"].map(words),
            "decision_ab": verdicts["verdict_orig"].map(words).astype(object),
            "decision_ba": verdicts["verdict_swapped_mapped_back"].map(words).astype(object),
            "dataset": verdicts["dataset"],
        }
    )
    return decisions, pd.read_csv(shared_file("llmbar/expected_statistics.csv"))


def auto_j() -> pd.DataFrame:
    verdicts = pd.read_csv(shared_file("auto_j/verdicts.csv"), dtype=str)
    words = {"0": "A", "1": "B", "2": "tie"}
    return pd.DataFrame(
        {
            "pair_id": verdicts["idx"],
            "judge": "auto-j-13b",
            "label": verdicts["label"].map(words),
            "decision_ab": verdicts["verdict_orig"].map(words).astype(object),
            "decision_ba": verdicts["verdict_swapped_mapped_back"].map(words).astype(object),
            "category": verdicts["scenario"],
        }
    )


def pandalm() -> pd.DataFrame:
    """The two judges' decisions, the annotators' votes, and their majority as the label."""
    rows = []
    words = {"0": "tie", "1": "A", "2": "B", "Tie": "tie"}
    for row in pd.read_csv(shared_file("pandalm/verdicts.csv"), dtype=str).to_dict("records"):
        votes = {name: words[row[name]] for name in ("annotator1", "annotator2", "annotator3")}
        label = Counter(votes.values()).most_common(1)[0][0]
        for judge in ("gpt35", "pandalm7b"):
            rows.append(
                {
                    "pair_id": row["idx"],
                    "judge": judge,
                    "label": label,
                    "decision_ab": words.get(row[judge]),
                    "votes": json.dumps(votes),
                }
            )
    return pd.DataFrame(rows)
