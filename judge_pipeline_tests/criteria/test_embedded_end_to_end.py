"""A real pair and a real model, far too weak to gain: every stage holds with its answers, and none is asked twice."""

from __future__ import annotations

import json
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest
import sqlalchemy as sa
import yaml
from rich.console import Console

from judge_pipeline.cli.criteria_demo import demo_workspace
from judge_pipeline.cli.criteria_run import TOO_WEAK, CriteriaRun, run_by_criteria
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.tables import CALLS
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace, packaged_config_dir
from judge_pipeline.tables.criteria import CONSISTENT_EVIDENCE, CRITERIA, CRITERIA_CALLS, CRITERIA_DECISIONS

CONFIGURATIONS = {
    "monolithic": {"generator": "none"},
    "pairwise-rrd": {"refinement": "rrd", "swap_filter": False, "max_criteria": 2, "rounds": 1},
    "full": {"guidance": {"file": "people-who-use-code.yaml"}, "max_criteria": 2, "rounds": 1},
}
JUDGE = "small"
_JUDGES = {JUDGE: {"backend": "embedded", "systems": ["criteria"], "max_code_chars": 120, "max_prompt_chars": 60}}

pytestmark = pytest.mark.slow


def n_calls(workspace: Workspace) -> int:
    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint, checkpoint.reading() as connection:
        return int(connection.execute(sa.select(sa.func.count()).select_from(CALLS)).scalar_one())


def test_one_real_pair_goes_through_every_stage_and_nothing_is_asked_twice(tmp_path: Path, shared: Path) -> None:
    workspace, folder = demo_workspace(tmp_path, "http://127.0.0.1:9/v1", "none"), tmp_path / "data/preference/one-pair"
    (workspace.config_dir / "judges.yaml").write_text(yaml.safe_dump({"judges": _JUDGES}), encoding="utf-8")
    settings = yaml.safe_dump({"configurations": CONFIGURATIONS, "resamples": 100}, sort_keys=False)
    (workspace.config_dir / "criteria.yaml").write_text(settings, encoding="utf-8")
    pair = json.loads((shared / "data" / "auto_j" / "code_pairs.jsonl").read_text("utf-8").splitlines()[0])
    folder.mkdir(parents=True)
    row = {"pair_id": str(pair["idx"]), "instruction": pair["prompt"], "response_a": pair["response_1"],
           "response_b": pair["response_2"], "w": "ABT"[pair["label"]].replace("T", "tie"), "split": "val"}  # fmt: skip
    (folder / "pairs.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    text = yaml.safe_dump(
        {"files": ["pairs.jsonl"], "source": {"format": "table"}, "chosen_by": "annotators of Auto-J"}
    )
    (folder / "preference.yaml").write_text(text, encoding="utf-8")
    assert (packaged_config_dir() / "guidance" / "people-who-use-code.yaml").is_file()

    wanted, printed = CriteriaRun({JUDGE: tuple(CONFIGURATIONS)}), StringIO()
    outcome = run_by_criteria(workspace, folder, wanted, Console(file=printed, width=120))
    assert outcome.code == 0, printed.getvalue()
    assert TOO_WEAK in printed.getvalue().replace("\n", " ")
    store = store_of(workspace)
    for name in CONFIGURATIONS:
        key = "one-pair", f"{JUDGE}@{name}"
        decisions, calls = store.read(CRITERIA_DECISIONS, *key), store.read(CRITERIA_CALLS, *key)
        assert len(decisions) == 1 and calls["n_requests"].sum() >= 1
        # A decision, a rule where no evidence is left, or an invalid answer that is told: nothing is made up.
        decided = decisions.iloc[0]
        assert decided["decision"] in ("A", "B", "tie") or decided["failure_class"] in (
            "invalid",
            "truncated",
            "too_long",
        )
        if name != "monolithic":
            assert len(store.read(CRITERIA, *key)) <= 2
            assert store.read(CONSISTENT_EVIDENCE, *key)["verdict"].notna().any() or calls["n_invalid"].sum()
    n = n_calls(workspace)
    assert run_by_criteria(workspace, folder, wanted, Console(file=StringIO())).code == 0
    assert n_calls(workspace) == n
