from __future__ import annotations

from pathlib import Path

import pytest

from judge_pipeline.orchestration.left_out import why_left_out
from judge_pipeline.settings import BaselineJudge, JudgeSettings, LitellmJudge, RecordedJudge

KEYED = LitellmJudge(backend="litellm", model="openai/m", api_key_env="SOME_KEY")
RECORDED = RecordedJudge(backend="recorded", file="recorded/a.jsonl")
BASELINE = BaselineJudge(backend="baseline")


@pytest.mark.parametrize(
    ("judge", "environment", "files", "why"),
    [
        (KEYED, {}, [], "environment variable SOME_KEY is not set"),
        (KEYED, {"SOME_KEY": ""}, [], "environment variable SOME_KEY is not set"),
        (KEYED, {"SOME_KEY": "k"}, [], None),
        (RECORDED, {}, [], "the contest folder has no recorded/a.jsonl"),
        (RECORDED, {}, ["recorded/b.jsonl"], "the contest folder has no recorded/a.jsonl"),
        (RECORDED, {}, ["recorded/a.jsonl"], None),
        (BASELINE, {}, [], None),
        (BASELINE.model_copy(update={"enabled": False}), {}, [], "enabled: false in judges.yaml"),
    ],
)
def test_a_judge_is_left_out_for_a_reason_that_can_be_mended(
    tmp_path: Path, judge: JudgeSettings, environment: dict[str, str], files: list[str], why: str | None
) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert why_left_out(judge, tmp_path, environment) == why
