"""A workspace whose figures are traced: a reported contest, a call of a model, the sample preference set measured."""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import yaml

from judge_pipeline.definitions import (
    COMPARE_CONTESTS,
    COMPARE_PREFERENCE_SETS,
    FIND_RUBRIC,
    JUDGE_PREFERENCE_SET,
    READ_PREFERENCE_SET,
    REPORT_PREFERENCE_SET,
    build_definitions,
)
from judge_pipeline.judging.checkpoint.store import CallRow, Checkpoint, Record, StoredJudgment, StoredRequest
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.runs import run_job
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import PREDICTIONS

CHECKOUT = Path(__file__).resolve().parents[2]
SAMPLE = CHECKOUT / "judge_pipeline" / "samples" / "preference_sets" / "sample-pairs"
PAIR_JUDGES = ("baseline-length", "simulated-pairs-sharp", "simulated-pairs-first")
SET = "sample-pairs"
RAW = '{"p_ac": 0.5} </script><script>alert(1)</script>'


def make_traced_home(reported_home: Path, folder: Path) -> None:
    """The reported contest with one answer of a model, the sample preference set measured, and both compared.

    Args:
        reported_home: a home with the reported contest, which is copied.
        folder: where the home is made, as ``home``.
    """
    home = Path(shutil.copytree(reported_home, folder / "home"))
    _add_pair_judges(home)
    sample = Path(shutil.copytree(SAMPLE, home / "data" / "preference" / SET))
    settings = yaml.safe_load((sample / "preference.yaml").read_text(encoding="utf-8"))
    settings |= {"resamples": 100, "models": {"resamples": 100}}
    (sample / "preference.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    workspace = Workspace.find({}, home)
    definitions = build_definitions(workspace)
    with open_instance(workspace) as instance:

        def run(job: str, name: str | None, judge: str | None = None) -> None:
            of: Any = "preference_set" if name == SET else "contest"
            outcome = run_job(definitions, instance, job, name, judge, of=of)
            assert outcome.error is None, (job, outcome.error)

        run(READ_PREFERENCE_SET, SET)
        for judge in PAIR_JUDGES:
            run(JUDGE_PREFERENCE_SET, SET, judge)
        for job in (FIND_RUBRIC, REPORT_PREFERENCE_SET):
            run(job, SET)
        run(COMPARE_CONTESTS, None)
        run(COMPARE_PREFERENCE_SETS, None)
    _keep_an_answer(workspace)


def _add_pair_judges(home: Path) -> None:
    file = home / "assets_config" / "judges.yaml"
    packaged = yaml.safe_load((CHECKOUT / "assets_config" / "judges.yaml").read_text(encoding="utf-8"))["judges"]
    own = yaml.safe_load(file.read_text(encoding="utf-8"))
    own["judges"] |= {name: packaged[name] for name in PAIR_JUDGES}
    file.write_text(yaml.safe_dump(own), encoding="utf-8")


def _keep_an_answer(workspace: Workspace) -> None:
    """As if the judge 'sharp' had been a model: the checkpoint keeps the call behind one of its predictions."""
    row = store_of(workspace).read(PREDICTIONS, "mini").query("judge == 'sharp'").iloc[0]
    template = workspace.config_dir / "prompts" / "cocreation_judge.md.j2"
    request = StoredRequest(
        row["request_hash"], template.name, hashlib.sha256(template.read_bytes()).hexdigest(),
        json.dumps({"model": "m", "messages": [{"role": "user", "content": "Judge <this> program"}], "repeat": 0}),
    )  # fmt: skip
    call = CallRow(
        judge="sharp", request_hash=row["request_hash"], attempt_id=row["attempt_id"], repeat_index=0, run_id="r",
        try_number=1, started_at="2026-04-01T10:00:00Z", latency_ms=12.5, tokens_in=100, tokens_out=7,
        tokens_reasoning=None, cost_usd=0.002, finish_reason="stop", model="m-2026", provider_request_id=None,
        sent=None, re_ask=None, raw_text=RAW, error_class=None, error_text=None,
    )  # fmt: skip
    answer = StoredJudgment("sharp", row["request_hash"], row["attempt_id"], {"p_ac": 0.5}, None, "m-2026", 12.5)
    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        checkpoint.record([Record(request, call, answer)])
