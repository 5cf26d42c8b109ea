from __future__ import annotations

from typing import Any

import codebleu
import numpy as np
import pandas as pd
import pytest

from judge_pipeline.cocreation.prompt_windows import prompt_texts
from judge_pipeline.cocreation.revision import KindLimits, convergence, kinds_of, revisions
from judge_pipeline.cocreation.trajectories import struggle_curves, trajectories
from judge_pipeline.cocreation.turn_orders import with_turns_reversed
from judge_pipeline_tests.paper_counts_contest import JUDGES, N_CONVERGENCE, paper_counts_contest

START = pd.Timestamp("2026-04-01 10:00", tz="UTC")
PROGRAMS = ["a = 1\nprint(a + 2)\n", "a = 1\nprint(a + 3)\n", "for i in range(9):\n    print(i * i)\n"]


def attempts(*rows: dict[str, Any], participant: str = "u", problem: str = "P1") -> pd.DataFrame:
    base = {"language": "Python 3", "verdict": "WA", "y": 0, "source_code": PROGRAMS[0]}
    made = [
        {**base, "attempt_id": f"{participant}{problem}{k}", "participant": participant, "problem_id": problem,
         "turn": k, "submitted_at": START + pd.Timedelta(minutes=10 * k), **row}
        for k, row in enumerate(rows, 1)
    ]  # fmt: skip
    return pd.DataFrame(made).astype({"y": "Int64", "turn": "Int64", "submitted_at": "datetime64[us, UTC]"})


AC = {"verdict": "AC", "y": 1}


def made(table: pd.DataFrame, texts: list[str | None] | None = None, p: list[float] | None = None) -> pd.DataFrame:
    splits = table[["participant", "problem_id"]].drop_duplicates().assign(split="train")
    prompts = pd.DataFrame({"attempt_id": table["attempt_id"], "text": texts or [None] * len(table)}, dtype=object)
    prompts["reason"] = [None if text is not None else "no time alignment: so" for text in prompts["text"]]
    answers = pd.DataFrame({"attempt_id": table["attempt_id"], "judge": "j", "p_ac": p or [np.nan] * len(table)})
    struggle = struggle_curves(table, answers.dropna(), ["j"])
    return revisions(table, trajectories(table, splits), prompts, struggle).set_index(["order", "attempt_id"])


def test_a_revision_by_hand() -> None:
    table = attempts({}, {**AC, "source_code": PROGRAMS[1]}, {"source_code": None, "verdict": "PENDING", "y": None})
    found = made(table, ["kitten", "sitting", ""], [0.25, 0.75, np.nan]).loc["as_recorded"]
    assert list(found.index) == ["uP12", "uP13"]
    row = found.loc["uP12"]
    assert row["previous_attempt_id"] == "uP11" and row["turn"] == 2 and row["minutes"] == 10
    assert row["code_ned"] == pytest.approx(1 / len(PROGRAMS[0]), abs=1e-12)
    expected = codebleu.calc_codebleu([PROGRAMS[0]], [PROGRAMS[1]], "python", (1 / 3, 1 / 3, 1 / 3, 0))["codebleu"]
    assert row["codebleu_churn"] == pytest.approx(1 - expected, abs=1e-9)
    assert row["prompt_ned"] == pytest.approx(3 / 7)
    assert (row["verdict_before"], row["verdict_after"], row["delta_y"]) == ("WA", "AC", 1)
    assert row["delta_p_mean"] == pytest.approx(0.5)
    assert not row["after_first_ac"] and not row["language_changed"] and not row["short"]
    assert row["code_ned_kind"] == "incremental fix"
    last = found.loc["uP13"]
    assert last["code_ned_reason"] == "one of the two programs is missing" and pd.isna(last["code_ned"])
    assert last["codebleu_churn_reason"] == "a program is missing" and pd.isna(last["short"])
    assert last["prompt_ned_reason"] == "nothing was asked about the problem in one of the two windows"
    assert last["prompt_code_ned_reason"] == "nothing was asked about the problem in the window"
    assert last["delta_p_mean_reason"] == "the whole panel has not judged this turn"
    assert pd.isna(last["delta_y"]) and pd.isna(last["code_ned_kind"]) and last["after_first_ac"]


def test_codebleu_churn_has_the_turn_before_as_its_reference() -> None:
    longer = PROGRAMS[0] + PROGRAMS[2]
    found = made(attempts({}, {"source_code": longer})).loc["as_recorded"].iloc[0]
    forth, back = (
        1 - codebleu.calc_codebleu([a], [b], "python", (1 / 3, 1 / 3, 1 / 3, 0))["codebleu"]
        for a, b in ((PROGRAMS[0], longer), (longer, PROGRAMS[0]))
    )
    assert abs(forth - back) > 0.01
    assert found["codebleu_churn"] == pytest.approx(forth, abs=1e-9)


def test_a_changed_language_has_no_codebleu_and_a_new_version_is_no_change() -> None:
    table = attempts({}, {"language": "PyPy3 (7.3)"}, {"language": "Java 21"}, {"language": None})
    found = made(table).loc["as_recorded"]
    assert found["language_changed"].tolist()[:2] == [False, True] and pd.isna(found["language_changed"].iloc[2])
    assert found["codebleu_churn"].iloc[0] == 0 and found["code_ned_kind"].iloc[0] == "unchanged"
    assert "languages differ" in found["codebleu_churn_reason"].iloc[1]
    assert found["codebleu_churn_reason"].iloc[2] == "the language is not stated"


def test_a_prompt_that_cannot_be_placed_says_which_turn() -> None:
    found = made(attempts({}, {}, {}), [None, "x", None]).loc["as_recorded"]
    assert found["prompt_ned_reason"].tolist() == ["turn before: no time alignment: so", "no time alignment: so"]
    assert found["prompt_code_ned"].iloc[0] > 0.9


def test_a_missing_turn_makes_no_pair_and_single_attempts_make_no_row() -> None:
    table = pd.concat([attempts({}, {}, {}).drop(1), attempts({}, problem="P2")], ignore_index=True)
    assert made(table).empty


def test_kinds_by_limits() -> None:
    churn = np.array([0, 0.05, 0.1, 0.11, 0.49, 0.5, 1, np.nan])
    kinds = kinds_of(churn, KindLimits()).tolist()
    fix = "incremental fix"
    assert kinds == ["unchanged", fix, fix, "between", "between", "rewrite", "rewrite", None]
    assert kinds_of(churn, KindLimits(0.6, 0.9)).tolist()[3:6] == [fix, fix, fix]


@pytest.mark.slow
def test_the_reversed_order_is_that_of_reversed_turns() -> None:
    c = paper_counts_contest()
    prompts = prompt_texts(c.attempts, c.prompt_logs)
    both = revisions(c.attempts, c.trajectories, prompts, c.struggle_curves)
    assert both.groupby("order").size().to_dict() == {"as_recorded": 517 - 184, "reversed": 517 - 184}
    turned = with_turns_reversed(c.attempts)
    alone = revisions(
        turned, trajectories(turned, c.splits), prompts, struggle_curves(turned, c.predictions, JUDGES)
    )  # fmt: skip
    assert set(alone["order"]) == {"as_recorded"}
    names = ["attempt_id", "turn", "code_ned", "codebleu_churn", "delta_y", "delta_p_mean", "after_first_ac", "minutes"]
    reversed_rows = both[both["order"] == "reversed"]
    pd.testing.assert_frame_equal(
        reversed_rows[names].reset_index(drop=True), alone[names].reset_index(drop=True), check_exact=False
    )
    assert reversed_rows["prompt_ned"].isna().all()
    straight = both[both["order"] == "as_recorded"]
    assert straight["delta_p_mean"].sum() == pytest.approx(-reversed_rows["delta_p_mean"].sum())


def test_convergence_has_the_papers_rows_and_is_one_at_the_reference() -> None:
    c = paper_counts_contest()
    found = convergence(c.attempts, c.trajectories)
    assert found.groupby("order").size().to_dict() == {"as_recorded": N_CONVERGENCE, "reversed": N_CONVERGENCE}
    straight = found[found["order"] == "as_recorded"]
    assert straight["is_reference"].sum() == 159
    at_reference = straight[straight["is_reference"].astype(bool)]
    assert (at_reference["codebleu"] == 1).all() and (at_reference["turns_from_first_ac"] == 0).all()
    assert (at_reference["attempt_id"] == at_reference["reference_attempt_id"]).all()
    assert (straight["codebleu"].isna() == straight["reason"].notna()).all()


def test_convergence_by_hand() -> None:
    table = attempts({"source_code": PROGRAMS[2]}, AC, {"source_code": PROGRAMS[1]}, {**AC, "source_code": PROGRAMS[2]})
    table = pd.concat([table, attempts({}, {}, problem="P2")], ignore_index=True)
    splits = table[["participant", "problem_id"]].drop_duplicates().assign(split="train")
    found = convergence(table, trajectories(table, splits))
    found = found[found["order"] == "as_recorded"]
    assert found["turns_from_first_ac"].tolist() == [-1, 0, 1, 2]
    assert set(found["reference_attempt_id"]) == {"uP12"}
    for row, program in zip(found.to_dict("records"), [2, 0, 1, 2], strict=True):
        weights = (1 / 3, 1 / 3, 1 / 3, 0)
        oracle = codebleu.calc_codebleu([PROGRAMS[0]], [PROGRAMS[program]], "python", weights)["codebleu"]
        assert row["codebleu"] == pytest.approx(1 if program == 0 else oracle, abs=1e-9)


@pytest.mark.slow
def test_the_same_rows_whatever_the_order_of_rows() -> None:
    c = paper_counts_contest()
    prompts = prompt_texts(c.attempts, c.prompt_logs)
    straight = revisions(c.attempts, c.trajectories, prompts, c.struggle_curves)
    shuffled = revisions(
        c.attempts.sample(frac=1, random_state=3), c.trajectories, prompts.sample(frac=1, random_state=4),
        c.struggle_curves.sample(frac=1, random_state=5),
    )  # fmt: skip
    pd.testing.assert_frame_equal(straight, shuffled)
