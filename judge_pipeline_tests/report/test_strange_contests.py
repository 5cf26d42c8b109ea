"""Issue 6 on contests that nobody expects: every table, figure and answer, against small oracles of one's own."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest
from codebleu import calc_codebleu
from lifelines import KaplanMeierFitter
from rapidfuzz.distance import Levenshtein

from judge_pipeline.cocreation.splits import assign_splits
from judge_pipeline.cocreation.trajectories import struggle_curves, success_at_turn, survival, trajectories
from judge_pipeline.report.cocreation_report import cocreation_report_html
from judge_pipeline.report.inputs import CocreationReportInput
from judge_pipeline.report.research_questions import research_questions
from judge_pipeline.tables import ATTEMPTS, PREDICTIONS, PROMPT_LOGS
from judge_pipeline_tests.paper_counts_contest import JUDGES, PaperCountsContest
from judge_pipeline_tests.report.made_dynamics import dynamics_of
from judge_pipeline_tests.report.made_tables import empty_tables
from judge_pipeline_tests.report.test_cocreation_report import PROVENANCE

START = datetime(2026, 4, 1, 10, 0, tzinfo=UTC)
pytestmark = pytest.mark.slow
Turn = tuple[str, str, str | None, float | None]
"""Letter (A accepted, W rejected, ? pending), source, language, minute."""

C_LOOP = "int main() { int s = 0; for (int i = 0; i < 9; i++) s += i; return s; }"
PY_LOOP = "s = 0\nfor i in range(9):\n    s += i\nprint(s)\n"


def _plain(letters: str, language: str | None = "Python 3") -> list[Turn]:
    return [(letter, PY_LOOP + f"print({k})\n" * k, language, float(k)) for k, letter in enumerate(letters)]


STRANGE: Mapping[str, Mapping[tuple[str, str], Sequence[Turn]]] = {
    "one attempt": {("u1", "P1"): _plain("W")},
    "one accepted attempt": {("u1", "P1"): _plain("A")},
    "one participant": {("u1", f"P{i}"): _plain(letters) for i, letters in enumerate(("WA", "A", "WWA", "WW"))},
    "nobody succeeds": {(f"u{i}", "P1"): _plain("W" * (i + 1)) for i in range(6)},
    "all at turn 1": {(f"u{i}", f"P{i % 2}"): _plain("A") for i in range(6)},
    "after acceptance": {(f"u{i}", "P1"): _plain("AWWA" if i % 2 else "WAWW") for i in range(6)},
    "only pending": {("u1", "P1"): _plain("??"), ("u2", "P1"): _plain("?")},
    "pending between": {(f"u{i}", "P1"): _plain("?WA?" if i % 2 else "W?") for i in range(5)},
    "no times": {(f"u{i}", "P1"): [(a, s, lang, None) for a, s, lang, _ in _plain("WA")] for i in range(5)},
    "some times": {
        (f"u{i}", "P1"): [(a, s, lang, t if i % 2 else None) for a, s, lang, t in _plain("WWA")] for i in range(6)
    },
    "equal times": {(f"u{i}", "P1"): [(a, s, lang, 5.0) for a, s, lang, _ in _plain("WWA")] for i in range(5)},
    "short and empty programs": {
        (f"u{i}", "P1"): [("W", "", "Python 3", 1.0), ("W", "x", "Python 3", 2.0), ("A", "", "Python 3", 3.0)]
        for i in range(3)
    } | {("v", "P1"): [("W", "x", "Python 3", 1.0), ("A", "x", "Python 3", 2.0)]},
    "unknown language": {
        (f"u{i}", "P1"): [("W", "PRINT 1", "Whitespace 0.3", 1.0), ("A", "PRINT 12", None, 2.0)] for i in range(4)
    },
    "two languages": {
        (f"u{i}", "P1"): [("W", C_LOOP, "C++17", 1.0), ("W", PY_LOOP, "Python 3", 2.0), ("A", PY_LOOP, "Python 3", 3.0)]
        for i in range(4)
    },
    "unicode": {
        (f"ü{i}\u202e名", "P\u0301<b>"): [
            ("W", "s = '🙂é\u0301'\nprint(s)\n", "Python 3", 1.0),
            ("A", "s = '🙃e\u0301'\nprint(s, s)\n", "Python 3", 2.0),
        ]
        for i in range(4)
    },
}  # fmt: skip


def contest_of(turns: Mapping[tuple[str, str], Sequence[Turn]], judged: bool = True) -> PaperCountsContest:
    rng, rows = random.Random(5), []
    for (u, p), made in turns.items():
        for k, (letter, source, language, minute) in enumerate(made, start=1):
            sha256 = hashlib.sha256(source.encode()).hexdigest()
            rows.append(
                {
                    "attempt_id": hashlib.sha256(f"{u} {p} {k}".encode()).hexdigest()[:16], "participant": u,
                    "problem_id": p, "turn": k, "language": language, "source_code": source, "source_sha256": sha256,
                    "source_lines": source.count("\n"), "verdict": {"A": "AC", "W": "WA", "?": "PENDING"}[letter],
                    "verdict_raw": letter, "y": {"A": 1, "W": 0, "?": None}[letter],
                    "submitted_at": None if minute is None else START + timedelta(minutes=minute),
                    "timestamp_raw": None, "submission_id": None, "order_source": "list_position", "path": "x",
                    "row": None, "reader": "text", "notes": None,
                }
            )  # fmt: skip
    attempts = ATTEMPTS.conform(rows)
    splits = assign_splits(attempts, seed=1, val_share=0.1, test_share=0.1)
    split = splits.set_index(["participant", "problem_id"])["split"]
    said = [
        {
            **{name: row[name] for name in ("attempt_id", "participant", "problem_id", "turn", "language", "verdict")},
            "y": row["y"], "judge": judge, "split": split[row["participant"], row["problem_id"]],
            "p_ac": round(rng.random(), 2), "s_algo": 3, "s_robust": 3, "rationale": "", "request_hash": "0" * 64,
        }
        for judge in (JUDGES if judged else ())
        for row in rows
    ]  # fmt: skip
    predictions = PREDICTIONS.conform(said)
    return PaperCountsContest(
        attempts, PROMPT_LOGS.empty(), splits, predictions, trajectories(attempts, splits),
        struggle_curves(attempts, predictions, JUDGES),
    )  # fmt: skip


@pytest.fixture(scope="module", params=list(STRANGE))
def made(request: pytest.FixtureRequest) -> tuple[str, PaperCountsContest, dict[str, pd.DataFrame]]:
    contest = contest_of(STRANGE[request.param])
    return request.param, contest, dynamics_of(contest, n_resamples=20)


Made = tuple[str, PaperCountsContest, dict[str, pd.DataFrame]]


def test_undefined_has_a_reason_and_no_interval_is_upside_down(made: Made) -> None:
    for name, table in made[2].items():
        if {"value", "ci95_low", "n_left_out"} <= set(table):
            assert table.loc[table["value"].isna(), "reason"].notna().all(), name
            known = table[table["ci95_low"].notna() & table["ci95_high"].notna()]
            assert (known["ci95_low"] <= known["ci95_high"]).all(), name
            assert (table["n"] >= 0).all() and (table["n_left_out"] >= 0).all(), name


def test_kaplan_meier_is_that_of_lifelines(made: Made) -> None:
    _, contest, tables = made
    whole = contest.trajectories.dropna(subset=["time_turns"])
    curve = tables["survival_curves"]
    curve = curve[(curve["order"] == "as_recorded") & (curve["grouped_by"] == "all") & (curve["time_unit"] == "turns")]
    if whole.empty:
        assert curve["value"].isna().all()
        return
    oracle = KaplanMeierFitter().fit(whole["time_turns"].astype(int), whole["event"].astype(bool))
    values = curve.set_index("time")["value"]
    for time, value in values.items():
        assert value == pytest.approx(float(oracle.predict(time)), abs=1e-12)
    success = success_at_turn(contest.trajectories).set_index("turn")["value"]
    for turn, share in success.dropna().items():
        first = contest.trajectories["first_ac_turn"]
        assert share == pytest.approx(float((first <= turn).fillna(False).sum()) / len(first))


def test_code_ned_is_that_of_rapidfuzz_and_codebleu_that_of_its_package(made: Made) -> None:
    _, contest, tables = made
    source = contest.attempts.set_index("attempt_id")
    for row in tables["revisions"].to_dict("records"):
        before, after = source.loc[row["previous_attempt_id"]], source.loc[row["attempt_id"]]
        texts = [str(each["source_code"] or "") for each in (before, after)]
        assert row["code_ned"] == pytest.approx(Levenshtein.normalized_distance(*texts))
        if pd.isna(row["codebleu_churn"]):
            assert row["codebleu_churn_reason"]
        elif texts[0] == texts[1]:
            assert row["codebleu_churn"] == 0
        elif not all(texts):
            assert row["codebleu_churn"] == 1
        else:
            assert before["language"] == after["language"]
            grammar = "python" if "Python" in after["language"] else "cpp"
            score = calc_codebleu([texts[0]], [texts[1]], grammar, weights=(1 / 3, 1 / 3, 1 / 3, 0))["codebleu"]
            assert row["codebleu_churn"] == pytest.approx(1 - score, abs=1e-9)


def test_convergence_is_of_solved_trajectories_and_1_for_the_reference(made: Made) -> None:
    _, contest, tables = made
    solved = contest.trajectories[contest.trajectories["solved"].astype(bool)]
    near = tables["convergence"]
    for order in near["order"].unique():
        here = near[near["order"] == order]
        assert len(here) == int(solved["n_turns"].sum())
        assert int(here["is_reference"].sum()) == len(solved)
        assert (here.loc[here["is_reference"], "codebleu"].dropna() == 1).all()


def test_the_reversed_order_comes_with_the_warning_and_only_then(made: Made) -> None:
    whole = made[1].trajectories
    warned = int(whole["n_rejected_after_first_ac"].sum()) > int(whole["n_rejected_before_first_ac"].sum())
    for name, table in made[2].items():
        if "order" in table and len(table):
            assert ("reversed" in set(table["order"])) == warned, name


def test_the_page_and_the_answers_are_made(made: Made) -> None:
    _, contest, tables = made
    given: CocreationReportInput = replace(
        empty_tables(), trajectories=contest.trajectories, struggle_curves=contest.struggle_curves,
        success_at_turn=success_at_turn(contest.trajectories), survival=survival(contest.trajectories), **tables,
    )  # type: ignore[arg-type]  # fmt: skip
    html = cocreation_report_html(given, PROVENANCE)
    assert "<b>," not in html and "\u202e" not in html
    for question in research_questions(given):
        assert question.answers
        for statement in question.answers:
            assert "nan" not in statement.text.split() and "None" not in statement.text, statement


@pytest.mark.parametrize("name", ["one participant", "after acceptance"])
def test_unjudged_contests_have_the_rest(name: str) -> None:
    tables = dynamics_of(contest_of(STRANGE[name], judged=False), n_resamples=20)
    assert tables["struggle_groups"].empty
    assert tables["revisions"]["code_ned"].notna().all() and tables["revisions"]["delta_p_mean"].isna().all()
    patterns = tables["pattern_groups"]
    assert patterns.loc[patterns["pattern"] == "recovered", "value"].isna().all()
