"""Every figure of a contest, of a preference set and over all of them is traced home, and both ways agree."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest

from judge_pipeline.cli.main import main
from judge_pipeline.cli.trace_text import lines_of
from judge_pipeline.definitions import (
    build_definitions,
)
from judge_pipeline.lineage.artifacts import File
from judge_pipeline.lineage.basis import reconcile
from judge_pipeline.lineage.figures import Figure, figures_of
from judge_pipeline.lineage.rules import RULES, basis_of
from judge_pipeline.lineage.sources import OVER_ALL, Options, Sources
from judge_pipeline.lineage.touched import touched_by_file
from judge_pipeline.orchestration.all_preference_sets import figures_of_judges
from judge_pipeline.orchestration.forgetting import forget
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.orchestration.table_provenance import holds_figures
from judge_pipeline.orchestration.trace_pages import trace_folder
from judge_pipeline.orchestration.trace_pages_of_contest import ContestPages
from judge_pipeline.orchestration.traced_graph import asset_graph
from judge_pipeline.orchestration.tracing import Tracer
from judge_pipeline.preference.rank_relation import preference_ranks
from judge_pipeline.report.trace_page import trace_html
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import ALL_TABLES, ATTEMPTS, PREDICTIONS, PREFERENCE_PAIRS, PROMPT_LOGS
from judge_pipeline.tables.preference_accuracy import PREFERENCE_ACCURACY, PREFERENCE_RANKS
from judge_pipeline_tests.orchestration.traced_home import PAIR_JUDGES, RAW, SET

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("tracing")]


class Said(NamedTuple):
    """What a command said."""

    exit_code: int
    stdout: str
    output: str


@pytest.fixture(scope="module")
def workspace(traced_home: Path) -> Workspace:
    return Workspace.find({}, traced_home)


@pytest.fixture(scope="module")
def tracer(workspace: Workspace) -> Tracer:
    return Tracer(workspace, asset_graph(build_definitions(workspace)))


def trace(*arguments: str) -> Said:
    """The command as a user runs it: exit code, standard output, errors."""
    out, err = StringIO(), StringIO()
    with (
        mock.patch.object(sys, "argv", ["judge-pipeline", "trace", *arguments]),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    assert isinstance(ended.value.code, int)
    return Said(ended.value.code, out.getvalue(), err.getvalue())


def test_every_table_of_figures_has_a_rule() -> None:
    assert {table.name for table in ALL_TABLES if holds_figures(table)} <= set(RULES)


def test_every_row_of_every_table_of_figures_is_traced_and_adds_up(tracer: Tracer) -> None:
    figures = tracer.figures()
    there = {figure.table for figure in figures}
    assert there >= {
        "judge_metrics", "judge_agreement", "judge_curves", "judge_differences", "judge_scores", "judge_calibration",
        "judge_calibration_maps", "judge_panel_weights", "judge_panels", "acceptance_rates", "success_at_turn",
        "survival", "success_curves", "survival_curves", "survival_groups", "struggle_groups", "pattern_groups",
        "hazards", "survival_tests", "prompt_space_test", "churn_summary", "revision_gains", "churn_effects",
        "prompt_code_summary", "contest_overview",
        "leaderboard", "judge_versions", "preference_accuracy", "dataset_profile", "preference_models",
        "preference_model_fits", "misalignment", "rubric_score_agreement",
    }  # fmt: skip
    assert len(figures) > 2000 and not tracer.unread
    for figure in figures:
        basis = tracer.reach.basis(figure)
        assert basis.unlisted is None, (figure.id, basis.unlisted)
        assert reconcile(basis, figure.n, figure.n_left_out).problem is None, figure.id
        assert basis.n == 0 or tracer.reach.files(figure) or basis.unit in ("places set aside",), figure.id


def test_a_file_touches_the_figures_whose_trace_lists_it_and_no_other(tracer: Tracer) -> None:
    """The way back from a file, held against the ways home of all figures; and two figures' files counted anew."""
    figures = tracer.figures()
    home: dict[File, set[str]] = {}
    for figure in figures:
        for file in tracer.reach.files(figure):
            home.setdefault(file, set()).add(_name(figure))
    every = [(kind, name, path) for kind, name in tracer.traced.everything()
             for path in tracer.traced.files(kind, name).all_paths()]  # fmt: skip
    assert set(home) <= set(every) and len(every) > 40
    for file in every[::9] + every[-3:]:
        assert {_name(each.figure) for each in touched_by_file(tracer.reach, figures, file)} == home.get(file, set())

    attempts = tracer.traced.sources("contest", "mini")[ATTEMPTS]
    predictions = tracer.traced.sources("contest", "mini")[PREDICTIONS]
    auc = next(f for f in figures if f.table == "judge_metrics" and f.key == {"judge": "dull", "metric": "roc_auc"})
    rows = predictions[(predictions["judge"] == "dull") & (predictions["split"] == "test") & predictions["y"].notna()]
    wanted = set(attempts.loc[attempts["attempt_id"].isin(rows["attempt_id"]), "path"])
    wanted |= {f"prompts/{participant}/chat.md" for participant in rows["participant"]}
    assert {path for _, _, path in tracer.reach.files(auc)} == wanted | {"recorded/dull.jsonl"}
    solved = next(f for f in figures if f.table == "success_at_turn")
    assert {path for _, _, path in tracer.reach.files(solved)} == set(attempts["path"]), "no prompt and no judge"


def _name(figure: Figure) -> str:
    return f"{figure.of} {figure.id}"


def test_a_figure_leads_to_calls_prompts_and_the_bytes_of_its_files(tracer: Tracer, workspace: Workspace) -> None:
    figure = next(f for f in tracer.figures() if f.key == {"judge": "sharp", "metric": "threshold"})
    found = json.loads(json.dumps(tracer.of_figure(figure)))
    own = [judgment for judgment in found["judgments"] if judgment["kept"]]
    every = [f for f in tracer.figures([("contest", "mini")], ["judge_metrics"]) if f.row["judge"] == "sharp"]
    traces = [tracer.of_figure(f) for f in (figure, next(f for f in every if f.row["split"] == "test"))]
    assert sum(len([j for j in t["judgments"] if j["kept"]]) for t in traces) <= 1, "one prediction has a call"
    assert all(judgment["judge"] == "sharp" for judgment in found["judgments"])
    assert len(found["judgments"]) == figure.n and len(own) <= 1
    assert found["made_from"]["inputs_now"] == {"judge_coverage": "same", "predictions": "same"}
    assert found["versions"]["seed"] == 11 and found["versions"]["settings_now"]["judges.yaml"]
    assert next(table["table"] for table in found["tables"]) == "judge_metrics"
    assert {"attempts", "contest_folder"} <= {table["table"] for table in found["tables"]}
    folder = workspace.data_dir / "contests" / "mini"
    assert {file["state"] for file in found["files"]} == {"same", "not known"}
    for file in found["files"]:
        assert file["sha256_now"] == hashlib.sha256((folder / file["path"]).read_bytes()).hexdigest()
        assert file["proven"] is (file["state"] == "same")
    assert [file["path"] for file in found["files"] if file["state"] == "not known"] == ["recorded/sharp.jsonl"]


def test_an_attempt_leads_to_its_call_and_to_the_figures_that_count_it(tracer: Tracer, workspace: Workspace) -> None:
    row = store_of(workspace).read(PREDICTIONS, "mini").query("judge == 'sharp'").iloc[0]
    found = tracer.of_attempt("mini", row["attempt_id"])
    (kept,) = [judgment["kept"] for judgment in found["judgments"] if judgment["kept"]]
    assert kept["tries"][0]["raw_text"] == RAW and kept["tries"][0]["cost_usd"] == 0.002
    assert kept["components"]["messages"][0]["content"] == "Judge <this> program"
    assert [(t["template"], t["state"]) for t in found["templates"]] == [("cocreation_judge.md.j2", "same")]
    assert "source_code" not in found["attempt"] and found["request"]["source_code"]
    for figure in tracer.figures([("contest", "mini")], ["judge_metrics"]):
        counted = row["split"] == figure.row["split"] and figure.n
        roles = [f["role"] for f in found["figures"] if f["id"] == figure.id]
        assert (roles[:1] == ["counted"]) == bool(counted), figure.id


def test_a_pair_leads_to_its_choices_and_its_file(tracer: Tracer) -> None:
    pairs = tracer.traced.sources("preference_set", SET)[PREFERENCE_PAIRS]
    found = tracer.of_pair(SET, pairs["pair_id"].iloc[0])
    assert {judgment["judge"] for judgment in found["judgments"]} == set(PAIR_JUDGES)
    assert {judgment["asked"] for judgment in found["judgments"]} == {"AB", "BA"}
    assert [(file["path"], file["state"], file["proven"]) for file in found["files"]] == [("pairs.jsonl", "same", True)]
    assert {"preference_accuracy", "misalignment", "dataset_profile"} <= {f["table"] for f in found["figures"]}


def test_a_figure_of_every_table_is_told_as_json_as_text_and_as_a_page(tracer: Tracer) -> None:
    first: dict[str, Figure] = {}
    for figure in tracer.figures():
        first.setdefault(figure.table, figure)
    for table, figure in first.items():
        found = tracer.of_figure(figure)
        assert json.loads(json.dumps(found, allow_nan=False))["figure"]["table"] == table
        short, full = lines_of(found), lines_of(found, full=True)
        assert short[0].startswith(figure.words) and len(short) <= len(full), table
        assert f"<h1>{escape(figure.words)}</h1>" in trace_html(found), table
        judged = [part for part in found["rests_on"]["parts"] if part["role"] == "counted" and part["rows"]]
        asked = set(found["rests_on"]["judges"]) & {"sharp", "dull", "text", *PAIR_JUDGES}
        told = {judgment["judge"] for judgment in found["judgments"]}
        assert told == (asked if judged else told), table


def test_ranks_over_sets_rest_on_the_pairs_of_both(tracer: Tracer) -> None:
    own = tracer.traced.sources("preference_set", SET)
    rules: Any = {"rule": "trace", "figure": "acc", "judges": PAIR_JUDGES}
    ranks = preference_ranks(figures_of_judges(dict.fromkeys("ab", own[PREFERENCE_ACCURACY]), **rules), figure="acc")
    others = {("preference_set", name): own for name in "ab"}
    options = Options(scoring_rule="trace", panel=PAIR_JUDGES)
    sources = Sources(OVER_ALL, "", lambda table: ranks, lambda table: [], options, others)
    for figure in figures_of(PREFERENCE_RANKS, ranks.to_dict("records"), OVER_ALL, ""):
        basis = basis_of(sources, "preference_ranks", figure.row)
        assert (basis.n, set(basis.used["judge"]), basis.n_left_out) == (figure.n, set(PAIR_JUDGES), 0)
        assert {name for further in basis.also for name in further.rows["preference_set"]} == {"a", "b"}
        acc = next(f for f in tracer.figures() if f.key.get("figure") == "acc" and f.key.get("name") == PAIR_JUDGES[0])
        assert set(basis.also[0].rows["pair_id"]) == set(tracer.reach.basis(acc).used["pair_id"])


def test_a_changed_file_a_file_that_is_gone_and_a_lost_cache_are_told(own_home: Path) -> None:
    folder = own_home / "data" / "contests" / "mini"
    first, second = sorted(folder.glob("submissions/E001/*/*.txt"))[:2]
    first.write_text(first.read_text(encoding="utf-8") + "tampered\n", encoding="utf-8")
    second.unlink()
    found = json.loads(trace("attempts", "--contest", "mini", "--table", "contest_overview", "--json").stdout)
    states = {file["path"]: file for file in found["files"]}
    assert states[str(first.relative_to(folder))]["state"] == "changed"
    assert states[str(first.relative_to(folder))]["sha256_read"] != states[str(first.relative_to(folder))]["sha256_now"]
    assert states[str(second.relative_to(folder))]["state"] == "gone"
    assert {file["state"] for file in found["files"]} == {"same", "changed", "gone"}
    shown = trace("attempts", "--contest", "mini", "--table", "contest_overview").stdout
    assert "1 changed" in shown.replace("changed 1", "1 changed") and "gone" in shown

    before = states[str(first.relative_to(folder))]["sha256_read"]
    by_hash = json.loads(trace(before, "--json").stdout)
    assert by_hash["file"]["path"] == str(first.relative_to(folder)) and by_hash["file"]["state"] == "changed"

    for cache in (own_home / "var" / "ingest_cache").glob("*"):
        cache.unlink()
    lost = json.loads(trace("attempts", "--contest", "mini", "--table", "contest_overview", "--json").stdout)
    assert {file["state"] for file in lost["files"]} == {"not known", "gone"}
    assert not any(file["proven"] for file in lost["files"])

    pairs = own_home / "data" / "preference" / SET / "pairs.jsonl"
    pairs.write_bytes(pairs.read_bytes() + b"\n")
    (file,) = json.loads(trace("acc", "--set", SET, "--judge", "baseline-length", "--where", "rule=trace",
                               "--json").stdout)["files"]  # fmt: skip
    assert (file["path"], file["state"]) == ("pairs.jsonl", "not known")


def test_tables_that_do_not_fit_each_other_are_told(own_home: Path) -> None:
    workspace = Workspace.find({}, own_home)
    store = store_of(workspace)
    predictions = store.read(PREDICTIONS, "mini")
    store.write(PREDICTIONS, predictions.iloc[::2].reset_index(drop=True), "mini")
    said = trace("auc", "--judge", "sharp", "--contest", "mini")
    assert said.exit_code == 1 and "DO NOT ADD UP" in said.stdout and "make the report again" in said.stdout
    assert "table predictions is changed since the figure was computed" in said.stdout


def test_a_damaged_checkpoint_and_a_damaged_table_are_errors_with_the_place(own_home: Path) -> None:
    checkpoint = own_home / "var" / "checkpoint.sqlite"
    for beside in own_home.glob("var/checkpoint.sqlite-*"):
        beside.unlink()
    checkpoint.write_bytes(b"SQLite format 3\x00" + b"\xff" * 4096)
    said = trace("auc", "--judge", "sharp", "--contest", "mini")
    assert said.exit_code == 1 and "checkpoint" in said.output
    (own_home / "var" / "tables" / "judge_metrics" / "mini.parquet").write_bytes(b"PAR1 no table")
    said = trace("auc", "--judge", "sharp", "--contest", "mini", "--table", "judge_metrics")
    assert (
        said.exit_code == 2 and "judge_metrics of mini" in said.output and "materialize its asset again" in said.output
    )
    assert str(own_home) not in said.output.replace("materialize", "")


def test_a_damaged_table_of_figures_leaves_files_and_attempts_traceable(own_home: Path) -> None:
    (own_home / "var" / "tables" / "judge_metrics" / "mini.parquet").write_bytes(b"PAR1 no table")
    path = "submissions/E003/p1/01.txt"
    said = trace(path, "--contest", "mini", "--json")
    found = json.loads(said.stdout)
    assert said.exit_code == 1, "figures are missing from the list"
    assert found["file"]["proven"] is False and found["figures"]
    assert "judge_metrics" not in {figure["table"] for figure in found["figures"]}
    assert list(found["figures_not_read"]) == ["judge_metrics of mini"]
    assert "NOT LISTED are those of judge_metrics of mini" in trace(path, "--contest", "mini").stdout
    assert "figures of judge_metrics of mini" in trace_html(found)


def test_bytes_that_stand_in_two_files_are_listed_by_their_paths(own_home: Path) -> None:
    first, second = sorted(own_home.glob("data/contests/mini/submissions/E001/*/*.txt"))[:2]
    second.write_bytes(first.read_bytes())
    sha256 = hashlib.sha256(first.read_bytes()).hexdigest()
    said = trace(sha256)
    assert said.exit_code == 2 and f"'{sha256}' is the sha256 of 2 files" in said.output
    assert first.name in said.output and second.name in said.output


def test_who_withdraws_is_on_no_page_and_in_no_trace(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace.find({}, own_home)
    gone = set(store_of(workspace).read(ATTEMPTS, "mini").query("participant == 'E003'")["attempt_id"])
    forget(workspace, "mini", "E003", "2026-05-01")
    assert not trace_folder(workspace, "mini", ContestPages.words).exists()
    said = trace("submissions/E003/p1/01.txt", "--contest", "mini")
    assert said.exit_code == 2 and "nothing that is stored was read from such a file" in said.output
    assert trace(sorted(gone)[0]).exit_code == 2
    logs = trace("prompts/E001/chat.md", "--json")
    assert logs.exit_code == 0 and not gone & set(re.findall(r"[0-9a-f]{16}", logs.stdout))
    assert "E003" not in logs.stdout
    assert store_of(workspace).read(PROMPT_LOGS, "mini")["participant"].ne("E003").all()


def test_with_another_output_folder_nothing_is_found_and_it_is_said_what_to_do(own_home: Path, tmp_path: Path) -> None:
    said = trace("auc", "--out", str(tmp_path / "empty"))
    assert said.exit_code == 2 and "none: run a contest first" in said.output
    other = replace(Workspace.find({}, own_home), out_dir=tmp_path / "empty")
    assert Tracer(other, {}).figures() == []
