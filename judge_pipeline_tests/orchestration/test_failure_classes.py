"""Runs about pairs that fail for want of answers say how many failed how, as those of contests do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from judge_pipeline.definitions import (
    JUDGE_BY_CRITERIA,
    JUDGE_PREFERENCE_SET,
    READ_PREFERENCE_SET,
    build_definitions,
)
from judge_pipeline.orchestration.automation.failed_runs import failed_run
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.runs import run_job
from judge_pipeline.settings import Workspace, packaged_config_dir

KEYLESS = {
    "backend": "litellm", "model": "openai/m", "base_url": "http://127.0.0.1:1/v1", "api_key_env": "NO_KEY_HERE",
    "systems": ["preference", "criteria"],
}  # fmt: skip
CRITERIA = {"configurations": {"plain": {"description": "As it comes"}}, "run": {"far": ["plain"]}}


@pytest.mark.slow
def test_pairs_and_criteria_tell_their_failure_classes(tmp_path: Path) -> None:
    config, folder = tmp_path / "assets_config", tmp_path / "data" / "preference" / "pages"
    shutil.copytree(packaged_config_dir() / "prompts", config / "prompts")
    folder.mkdir(parents=True)
    (config / "judges.yaml").write_text(yaml.safe_dump({"judges": {"far": KEYLESS}}), encoding="utf-8")
    (config / "criteria.yaml").write_text(yaml.safe_dump(CRITERIA), encoding="utf-8")
    pairs = [
        {"pair_id": f"p{n}", "instruction": f"a page, {n}", "response_a": "<a>", "response_b": "<b>", "w": "A"}
        for n in range(4)
    ]
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, pairs)), encoding="utf-8")
    (folder / "preference.yaml").write_text("natural_languages: low\n", encoding="utf-8")
    workspace = Workspace.find({}, tmp_path)
    definitions = build_definitions(workspace)
    with open_instance(workspace) as instance:
        assert run_job(definitions, instance, READ_PREFERENCE_SET, "pages").error is None
        for job, key, classes in (
            (JUDGE_PREFERENCE_SET, "far", "8 authentication"),
            (JUDGE_BY_CRITERIA, "far@plain", "3 authentication"),
        ):
            outcome = run_job(definitions, instance, job, "pages", key, of="preference_set")
            run = instance.get_run_by_id(outcome.run_id)
            assert outcome.error is not None and run is not None
            told = failed_run(workspace, instance, run)
            assert told.failure_classes == classes, told.words
