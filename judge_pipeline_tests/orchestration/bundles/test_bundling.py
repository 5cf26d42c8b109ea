"""A contest bundled and verified: nothing that must not go out is in it, and whatever was changed is found."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from judge_pipeline.cli.main import main
from judge_pipeline.orchestration.bundles.facts import ANSWERS, CRATE, FACTS, MANIFEST
from judge_pipeline.orchestration.bundling import full_facts
from judge_pipeline.orchestration.exports import report_path
from judge_pipeline.orchestration.forgetting import forget
from judge_pipeline.orchestration.parquet_store import table_file
from judge_pipeline.orchestration.provenance import report_code_version
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.samples.scripted_server import ScriptedServer
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.tables import JUDGE_COVERAGE, JUDGE_METRICS
from judge_pipeline_tests.orchestration.bundles.handed_over import (
    EARLIER,
    KEY,
    KEY_VALUE,
    Edit,
    bundled,
    edited,
    judged_contest,
    run_contest,
    verified,
)

METRICS = "var/tables/judge_metrics/mini.parquet"
Judged = tuple[Workspace, ScriptedServer]

_TRAPPED = """
import socket, sys
def refuse(self, address, *rest):
    if self.family in (socket.AF_INET, socket.AF_INET6):
        print("CONNECTED", address, file=sys.stderr, flush=True)
        raise OSError("no network here")
    return real(self, address, *rest)
real, socket.socket.connect = socket.socket.connect, refuse
socket.socket.connect_ex = refuse
from judge_pipeline.cli.main import main
sys.argv = ["judge-pipeline", "verify", sys.argv[1], "--json"]
main()
"""


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judged]:
    with judged_contest(tmp_path_factory.mktemp("judged") / "home") as made:
        yield made


@pytest.fixture(scope="module")
def full(judged: Judged, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bundled(judged[0], tmp_path_factory.mktemp("full") / "full.zip").path


@pytest.fixture(scope="module")
def redacted(judged: Judged, tmp_path_factory: pytest.TempPathFactory) -> Path:
    tables = judged[0].out_dir / "tables"
    before = {file: file.read_bytes() for file in tables.rglob("*.parquet")}
    path = bundled(judged[0], tmp_path_factory.mktemp("redacted") / "redacted.zip", "redacted").path
    assert before == {file: file.read_bytes() for file in tables.rglob("*.parquet")}
    return path


def contents(path: Path) -> dict[str, bytes]:
    """Every file; of a Parquet file its columns' texts and what it says of itself, since its bytes are packed."""
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            if name.endswith(".parquet"):
                table = pq.read_table(io.BytesIO(data))
                data = str(table.schema.metadata).encode() + json.dumps(table.to_pydict(), default=str).encode()
            found[name] = data
    return found


def with_value(data: bytes, value: float) -> bytes:
    """The table of metrics, with another value in its first row that has one; what it says of itself stays."""
    rows = pq.read_table(io.BytesIO(data))
    said = json.loads(rows.schema.metadata[b"judge_pipeline.provenance"])
    frame = rows.to_pandas()
    frame.loc[frame["value"].first_valid_index(), "value"] = value
    return table_file(JUDGE_METRICS, frame, said).data()


@pytest.mark.slow
def test_a_process_without_home_key_or_network_makes_every_table_of_a_full_bundle_anew(
    judged: Judged, full: Path, tmp_path: Path
) -> None:
    asked = len(judged[1].bodies)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "nobody"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run(
        [sys.executable, "-c", _TRAPPED, str(full)], cwd=tmp_path, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "CONNECTED" not in done.stderr
    found = json.loads(done.stdout)
    assert found["good"] and {each["state"] for each in found["tables"]} == {"identical"}
    assert {METRICS, "var/tables/judge_outputs/mini/loopback.parquet"} <= {each["path"] for each in found["tables"]}
    assert len(judged[1].bodies) == asked > 0
    assert not (tmp_path / "nobody").exists()


@pytest.mark.slow
def test_the_same_inputs_give_the_same_archive(judged: Judged, full: Path, tmp_path: Path) -> None:
    assert bundled(judged[0], tmp_path / "again.zip").path.read_bytes() == full.read_bytes()


@pytest.mark.slow
def test_no_key_and_no_folder_of_this_machine_is_in_a_bundle(judged: Judged, full: Path) -> None:
    assert full.stat().st_mode & 0o077 == 0
    for name, data in contents(full).items():
        assert KEY_VALUE.encode() not in data, name
        if not name.startswith(("data/", "versions/sources")):
            assert str(judged[0].out_dir.parent).encode() not in data, name
            assert f"{Path.home()}/.".encode() not in data, name


@pytest.mark.slow
def test_what_was_asked_before_goes_out_in_full_bundles_alone(full: Path, redacted: Path) -> None:
    name = f"{ANSWERS}/calls.jsonl"
    assert EARLIER.encode() in contents(full)[name]
    assert EARLIER.encode() not in contents(redacted)[name]
    assert len(contents(redacted)[name].splitlines()) == len(contents(full)[name].splitlines()) - 1


@pytest.mark.slow
def test_a_list_says_what_would_go_out_and_writes_nothing(
    judged: Judged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JUDGE_PIPELINE_HOME", str(judged[0].config_dir.parent))
    monkeypatch.chdir(tmp_path)
    for further in ((), ("--json",)):
        monkeypatch.setattr(sys, "argv", ["judge-pipeline", "bundle", "mini", "--level", "full", "--list", *further])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0
    out = capsys.readouterr().out
    assert "Nothing was written" in out and "what judges were asked" in " ".join(out.split())
    listed = json.loads(out[out.index("{") :])
    sizes = {file["path"]: file["bytes"] for file in listed["files"]}
    assert sizes[METRICS] == (judged[0].out_dir / "tables" / "judge_metrics" / "mini.parquet").stat().st_size
    assert listed["level"] == "full" and not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_key_in_what_is_packed_stops_the_packing(judged: Judged, tmp_path: Path) -> None:
    note = judged[0].config_dir / "prompts" / "note.md.j2"
    note.write_text(f"{'x' * 2_000_000} {KEY_VALUE}", encoding="utf-8")
    try:
        with pytest.raises(SettingsError, match=r"prompts/note.md.j2 holds the key of judge loopback"):
            bundled(judged[0], tmp_path / "x.zip")
    finally:
        note.unlink()
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda files: files.update({METRICS: files[METRICS] + b"x"}), f"{METRICS} is changed"),
        (lambda files: files.pop(METRICS), f"{METRICS} is missing"),
        (
            lambda files: files.update({"var/tables/extra.parquet": b""}),
            "var/tables/extra.parquet is not in the manifest",
        ),
        (lambda files: files.pop(MANIFEST), f"{MANIFEST} is missing"),
        (lambda files: files.pop(CRATE), f"{CRATE} is missing"),
        (lambda files: files.update({CRATE: b"{}"}), f"{CRATE} is no RO-Crate"),
        (lambda files: files.update({MANIFEST: files[MANIFEST].replace(b"  var", b"  VAR", 1)}), "VAR/"),
    ],
)
def test_a_changed_missing_or_added_file_is_named(full: Path, tmp_path: Path, edit: Edit, said: str) -> None:
    found = verified(edited(full, tmp_path / "x.zip", edit, with_manifests=False))
    assert not found.is_good() and not found.tables
    assert any(said in problem for problem in found.problems), found.problems


@pytest.mark.slow
def test_an_untouched_bundle_has_no_such_problem(full: Path) -> None:
    found = verified(full, only_files=True)
    assert found.is_good() and found.n_files > 50


@pytest.mark.slow
def test_which_keys_were_set_is_what_the_report_says_wherever_it_is_packed(
    judged: Judged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, folder = judged[0], judged[0].data_dir / "contests" / "mini"
    monkeypatch.delenv(KEY, raising=False)
    facts, _ = full_facts(workspace, "contest", "mini", folder)
    assert facts.keys_set == (KEY,)

    out = tmp_path / "out"
    shutil.copytree(workspace.out_dir, out)
    later = replace(workspace, out_dir=out)
    rows = store_of(later).read(JUDGE_COVERAGE, "mini")
    reason = [f"environment variable {KEY} is not set" if judge == "loopback" else None for judge in rows["judge"]]
    store_of(later).write(JUDGE_COVERAGE, rows.assign(reason=reason), "mini")
    monkeypatch.setenv(KEY, KEY_VALUE)
    facts, _ = full_facts(later, "contest", "mini", folder)
    assert facts.keys_set == ()


@pytest.mark.slow
def test_a_report_of_other_sources_is_made_again_before_it_is_bundled(judged: Judged, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(judged[0].out_dir, out)
    later = replace(judged[0], out_dir=out)
    page = report_path(later, "mini")
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(f"<p>Made by judge_pipeline {report_code_version()}.</p>", encoding="utf-8")
    assert bundled(later, tmp_path / "of-these.zip").path.is_file()
    page.write_text(f"<p>Made by judge_pipeline {'0' * 16}.</p>", encoding="utf-8")
    with pytest.raises(SettingsError, match="made by other sources of the program than these; make it again with"):
        bundled(later, tmp_path / "full.zip")


@pytest.mark.slow
def test_an_edited_table_or_raw_answer_is_found_though_its_manifests_were_made_anew(full: Path, tmp_path: Path) -> None:
    name = f"{ANSWERS}/calls.jsonl"

    def edit(files: dict[str, bytes]) -> None:
        calls = [json.loads(line) for line in files[name].splitlines()]
        answered = [call for call in calls if call["raw_text"] != EARLIER]
        answered[0]["raw_text"] = answered[0]["raw_text"].replace('"s_algo": 3', '"s_algo": 5')
        answered[1]["raw_text"] = answered[1]["raw_text"].replace('"s_algo": 3', '"s_algo": "3"')
        files[name] = "".join(json.dumps(call) + "\n" for call in calls).encode()
        files[METRICS] = with_value(files[METRICS], 0.99)
        files[FACTS] = files[FACTS].replace(b'"withheld": {}', b'"withheld": {"judge_metrics": "trust me"}')

    found = verified(edited(full, tmp_path / "x.zip", edit))
    assert not found.problems and not found.is_good()
    wrong = {each.path: each for each in found.tables if each.state != "identical"}
    assert set(wrong) == {METRICS} and wrong[METRICS].state == "differs"
    assert "column value: 1 of" in wrong[METRICS].said[0] and "0.99 in the bundle" in wrong[METRICS].said[0]
    assert found.answers is not None
    assert sorted(said.partition("): ")[2].split(" (")[0] for said in found.answers.differing) == [
        "its raw answer holds none",
        "s_algo: stored 3, in the raw answer 5",
    ]
    assert not replace(found, tables=(), errors={}).is_good(), "an edited answer alone is enough"


@pytest.mark.slow
def test_an_answer_that_is_missing_is_an_error_and_not_a_call(judged: Judged, full: Path, tmp_path: Path) -> None:
    asked = len(judged[1].bodies)

    def edit(files: dict[str, bytes]) -> None:
        name = f"{ANSWERS}/judgments.jsonl"
        files[name] = b"".join(files[name].splitlines(keepends=True)[1:])

    found = verified(edited(full, tmp_path / "x.zip", edit))
    assert not found.is_good()
    assert "JUDGE_PIPELINE_ASK is never" in found.errors["judge_contest loopback"]
    states = {each.path: each.state for each in found.tables}
    assert states["var/tables/judge_outputs/mini/loopback.parquet"] == "not made"
    assert states["var/tables/judge_outputs/mini/text.parquet"] == "identical"
    assert len(judged[1].bodies) == asked


@pytest.mark.slow
def test_a_redacted_bundle_holds_no_name_and_its_figures_come_out(judged: Judged, redacted: Path) -> None:
    names = [f"E{number:03}".encode() for number in range(1, 5)]
    files = contents(redacted)
    for name, data in files.items():
        assert not [who for who in names if who in data], name
        assert KEY_VALUE.encode() not in data, name
    assert not [name for name in files if name.startswith("data/")]
    assert b"person-" in files["var/tables/attempts/mini.parquet"]
    found = verified(redacted)
    assert found.is_good(), (found.errors, [each for each in found.tables if each.state not in ("identical",)])
    states = {each.path.split("/")[2]: each for each in found.tables}
    assert states["judge_metrics"].state == states["predictions"].state == "identical"
    assert states["attempts"].state == "not recomputed" and "raw files are withheld" in states["attempts"].said[0]
    assert "submission_artifacts" not in states
    assert found.answers is not None
    assert found.answers.n_read == found.answers.n_judgments > 0 and not found.answers.differing


@pytest.mark.slow
def test_who_has_withdrawn_is_in_no_bundle(tmp_path: Path) -> None:
    with judged_contest(tmp_path / "home", 7) as (workspace, _):
        folder = workspace.data_dir / "contests" / "mini"
        forget(workspace, "mini", "E002", "2026-04-02")
        run_contest(workspace, "mini")
        assert (folder / "submissions" / "E002").is_dir()
        path = bundled(workspace, tmp_path / "full.zip").path
        assert not [name for name, data in contents(path).items() if b"E002" in data or "E002" in name]
        found = verified(path)
        assert found.is_good(), (found.errors, [each for each in found.tables if each.state == "differs"])
        states = {each.path.split("/")[2]: each.state for each in found.tables}
        assert states["contest_overview"] in ("identical", "same rows") and states["attempts"] == "identical"
