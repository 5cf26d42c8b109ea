"""A small contest, judged by a server on loopback and by a baseline, for tests that bundle it."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from judge_pipeline.cli.verify import jobs
from judge_pipeline.definitions import JUDGE_CONTEST, READ_CONTEST, REPORT_CONTEST, build_definitions
from judge_pipeline.judging.checkpoint.rows import CallRow, Record
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.orchestration.bundles.archive import Written, write_archive
from judge_pipeline.orchestration.bundles.crate import Described, crate_json
from judge_pipeline.orchestration.bundles.facts import CRATE, FACTS, MANIFEST, BundleFacts
from judge_pipeline.orchestration.bundles.manifest import manifest_text
from judge_pipeline.orchestration.bundling import prepared_bundle
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.redacted_bundle import redacted_bundle
from judge_pipeline.orchestration.runs import run_job
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.orchestration.verifying import Verified, verify_bundle
from judge_pipeline.samples.scripted_server import ScriptedServer
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.workspace import STORE_URL
from judge_pipeline.tables import ATTEMPTS
from judge_pipeline_tests.headline_report import NarrowedDefinitions
from judge_pipeline_tests.mini_contest import MiniContest

KEY, KEY_VALUE = "BUNDLE_TEST_API_KEY", "sk-bundle-test-0123456789"
EARLIER = "E001 wrote this once"
WANTED = ("judge_coverage", "judge_metrics", "predictions", "trajectories", "survival", "contest_overview")
"""Of the report job, what tests make: the rest takes most of its time and is made by the same ways."""


def answer(body: Any) -> str:
    """A judgment that follows from the request alone."""
    digit = int(hashlib.sha256(json.dumps(body["messages"]).encode()).hexdigest()[0], 16)
    return json.dumps({"p_ac": digit / 20, "s_algo": 3, "s_robust": 2, "rationale": f"It ends on {digit}."})


def narrowed(workspace: Workspace) -> Any:
    """The graph, with a report job that makes what tests look at."""
    return NarrowedDefinitions(build_definitions(workspace), lambda name: name in WANTED)


@contextmanager
def judged_contest(home: Path, n_participants: int = 4) -> Iterator[tuple[Workspace, ScriptedServer]]:
    """The contest, run to its figures; the server listens on while the block runs."""
    contest = MiniContest(home).lay(n_participants, 2)
    server = ScriptedServer(answer)
    server.start()
    loopback = {
        "backend": "litellm", "transport": "direct", "model": "openai/loopback", "base_url": server.url,
        "api_key_env": KEY, "price": {"input_usd_per_million_tokens": 1, "output_usd_per_million_tokens": 2},
    }  # fmt: skip
    judges = {"loopback": loopback, "text": {"backend": "baseline"}}
    (home / "assets_config" / "judges.yaml").write_text(yaml.safe_dump({"judges": judges}), encoding="utf-8")
    workspace = Workspace.find({}, home)
    run_contest(workspace, contest.name)
    _ask_otherwise(workspace)
    try:
        yield workspace, server
    finally:
        server.stop()


def _ask_otherwise(workspace: Workspace) -> None:
    """A call of before, under other settings, in which a name was not replaced."""
    attempt = store_of(workspace).read(ATTEMPTS, "mini")["attempt_id"].iloc[0]
    call = CallRow("loopback", "f" * 64, attempt, 0, "earlier", 1, "2026-01-01T00:00:00Z", 1.0, raw_text=EARLIER)
    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        checkpoint.record([Record(None, call)])


def run_contest(workspace: Workspace, contest: str) -> None:
    """Read, judge, measure."""
    with pytest.MonkeyPatch.context() as patch, open_instance(workspace) as instance:
        patch.setenv(KEY, KEY_VALUE)
        for job, judge in (
            (READ_CONTEST, None), (JUDGE_CONTEST, "loopback"), (JUDGE_CONTEST, "text"), (REPORT_CONTEST, None)
        ):  # fmt: skip
            outcome = run_job(narrowed(workspace), instance, job, contest, judge)
            assert outcome.error is None, outcome.error


def bundled(workspace: Workspace, target: Path, level: str = "full", name: str = "mini") -> Written:
    """A bundle of it, made where the judge's key is set, and a store is named into which nothing may be written."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY, KEY_VALUE)
        patch.setenv(STORE_URL, str(workspace.out_dir))
        prepared = (
            prepared_bundle(workspace, "contest", name)
            if level == "full"
            else redacted_bundle(workspace, "contest", name, narrowed, jobs(), lambda words: None)
        )
        with prepared as bundle:
            return write_archive(
                target, bundle.members, bundle.facts, bundle.published, bundle.search, lambda done, of: None
            )


def verified(path: Path, *, only_files: bool = False) -> Verified:
    """The bundle, verified in this process with the narrowed report."""
    return verify_bundle(path, narrowed, jobs(), only_files=only_files)


Edit = Callable[[dict[str, bytes]], object]
"""Changes the files of a bundle: path -> bytes."""


def edited(source: Path, target: Path, edit: Edit, *, with_manifests: bool = True) -> Path:
    """The bundle with other files in it; where wanted with manifests that were made anew for them."""
    with zipfile.ZipFile(source) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    edit(files)
    if with_manifests:
        del files[MANIFEST], files[CRATE]
        sha256_of = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        described = [Described(name, "about", sha256_of[name], len(data)) for name, data in files.items()]
        files[CRATE] = crate_json(BundleFacts.from_json(files[FACTS]), described, "2026")
        sha256_of[CRATE] = hashlib.sha256(files[CRATE]).hexdigest()
        files[MANIFEST] = manifest_text(sha256_of).encode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return target
