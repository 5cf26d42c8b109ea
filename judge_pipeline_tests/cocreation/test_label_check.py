"""The check that no label reaches a message is quiet on what we make, and speaks where one does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judge_pipeline.cocreation import making_requests
from judge_pipeline.cocreation.label_check import LabelCheck, labels_in_messages, with_other_labels
from judge_pipeline.cocreation.making_requests import RequestMaker
from judge_pipeline.cocreation.redacted import redactor_of
from judge_pipeline.judging.rendering import renderers_of
from judge_pipeline.settings import BaselineJudge, ContestSettings, EmbeddedJudge, LitellmJudge, RecordedJudge
from judge_pipeline.tables import ATTEMPTS, PARTICIPANT_CONTEXTS, SPLIT_ASSIGNMENTS

PROMPTS = Path(__file__).resolve().parents[2] / "assets_config" / "prompts"
JUDGES: dict[str, Any] = {
    "one": LitellmJudge(backend="litellm", model="openai/x"),
    "two": LitellmJudge(backend="litellm", model="openai/y"),
    "small": EmbeddedJudge(backend="embedded"),
    "file": RecordedJudge(backend="recorded", file="x.jsonl"),
    "text": BaselineJudge(backend="baseline"),
}
SETTINGS = ContestSettings(mask_verdict_words=True)


def _tables() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    attempts = ATTEMPTS.conform(
        [
            {
                "attempt_id": f"{i:016x}", "participant": f"E{i % 3}", "problem_id": f"p{i}", "turn": 1,
                "language": "C++" if i % 2 else None, "source_code": f"int main() {{ return {i}; }} // WA",
                "source_sha256": "0" * 64, "source_lines": 1, "verdict": "AC" if i % 2 else "WA",
                "verdict_raw": "Accepted" if i % 2 else "Wrong Answer", "y": i % 2 if i else None,
                "submitted_at": None, "timestamp_raw": None, "submission_id": str(i), "order_source": "instant",
                "path": f"submissions/E{i % 3}/p{i}/1.txt", "row": None, "reader": "text", "notes": None,
            }
            for i in range(8)
        ]
    )  # fmt: skip
    contexts = PARTICIPANT_CONTEXTS.conform(
        [
            {"participant": f"E{i}", "prompt_text": f"I got WA {i}", "n_messages": 1, "n_logs": 1, "n_chars": 10,
             "prompt_sha256": "0" * 64, "reason": None}
            for i in range(3)
        ]
    )  # fmt: skip
    splits = SPLIT_ASSIGNMENTS.conform(
        [
            {"participant": f"E{i % 3}", "problem_id": f"p{i}", "split": ("train", "val", "test")[i % 3],
             "stratum": "solved" if i % 2 else "unsolved", "n_attempts": 1, "assigned_by": "seed"}
            for i in range(8)
        ]
    )  # fmt: skip
    return attempts, contexts, splits


def _check(judges: dict[str, Any] | None = None, prompts: Path = PROMPTS) -> LabelCheck:
    maker = RequestMaker(SETTINGS, redactor_of(SETTINGS.redaction, "c", ["E0", "E1", "E2"], None))
    tables = _tables()
    renderers, without = renderers_of(JUDGES if judges is None else judges, prompts)
    assert without == {}
    return labels_in_messages(maker, *tables, maker.make(*tables).requests, renderers, 1)


def test_with_other_labels_every_judge_s_messages_are_the_same() -> None:
    assert _check() == LabelCheck((), 8)
    assert list(renderers_of(JUDGES, PROMPTS)[0]) == ["one, two", "small"]


def test_every_column_that_is_no_part_of_a_request_is_changed() -> None:
    attempts = _tables()[0]
    changed = with_other_labels(attempts)
    same = {name for name in attempts if attempts[name].equals(changed[name])}
    assert same == {"attempt_id", "participant", "problem_id", "language", "source_code"}
    assert (changed["y"].fillna(-1) != attempts["y"].fillna(-1)).all()


@pytest.mark.parametrize("column", ["verdict", "verdict_raw", "y", "turn", "notes", "submitted_at", "path"])
def test_a_label_under_another_name_is_found(column: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A maker that hides a label in the language, as a defect might: no name gives it away."""

    def leaking(attempts: pd.DataFrame, *arguments: Any, **options: Any) -> Any:
        return _judge_requests(attempts.assign(language=attempts[column].astype(str)), *arguments, **options)

    _judge_requests = making_requests.judge_requests
    monkeypatch.setattr(making_requests, "judge_requests", leaking)
    problems = _check().problems
    assert len(problems) == 16
    assert problems[0] == "one, two, attempt 0000000000000000: its label changes what is sent"


def test_attempts_that_are_asked_for_by_their_label_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def choosing(attempts: pd.DataFrame, *arguments: Any, **options: Any) -> Any:
        return _judge_requests(attempts[attempts["verdict"] != "AC"], *arguments, **options)

    _judge_requests = making_requests.judge_requests
    monkeypatch.setattr(making_requests, "judge_requests", choosing)
    assert _check().problems == tuple(f"attempt {i:016x}: has a request with one label only" for i in (1, 3, 5, 7))


def test_a_split_in_a_message_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Splits are stratified by labels. A template is not handed them; were it, this would show it."""
    from judge_pipeline.judging import rendering

    shows_more = replace(rendering.ATTEMPT, shown_fields=(*rendering.ATTEMPT.shown_fields, "split"))
    monkeypatch.setattr(rendering, "ATTEMPT", shows_more)
    (tmp_path / "cocreation_judge.md.j2").write_text("--- user ---\n{{ split }} {{ source_code | data }}", "utf-8")
    assert len(_check({"one": JUDGES["one"]}, tmp_path).problems) == 8


def test_a_judge_without_a_template_is_named_and_left_to_its_own_judging(tmp_path: Path) -> None:
    renderers, without = renderers_of(JUDGES, tmp_path)
    assert renderers == {} and set(without) == {"one", "two", "small"}
    assert "no such prompt template" in without["one"]
