"""A participant withdraws: nothing of theirs is left in what runs have stored, and nobody else loses anything."""

from __future__ import annotations

import json
import re
import shutil
import stat
from contextlib import closing
from pathlib import Path

import dagster as dg
import pandas as pd
import pytest
from click.testing import CliRunner

from judge_pipeline.cli.main import cli
from judge_pipeline.definitions import JUDGE_CONTEST, READ_CONTEST, REPORT_CONTEST, build_definitions
from judge_pipeline.judging.checkpoint.store import CallRow, Checkpoint, Record, StoredJudgment, StoredRequest
from judge_pipeline.orchestration import forgetting
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.runs import run_job
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.orchestration.tombstones import Tombstones
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import ATTEMPTS, INGEST_QUARANTINE, JUDGE_REQUESTS, SPLIT_ASSIGNMENTS
from judge_pipeline.tables.prompt_space import PROMPT_SPACE
from judge_pipeline_tests.mini_contest import MiniContest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("forgetting")]

WHO = "E003"
SAID = "quince marmalade"
SOURCE = "zebra_crossing = 42"


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A contest that was read, judged and reported, with answers in the checkpoint and one file that cannot be read."""
    contest = MiniContest(tmp_path_factory.mktemp("forgetting") / "home").lay(5, 3)
    contest.prompt_log(WHO, f"I like {SAID}")
    page = contest.folder / "submissions" / WHO / "p1" / "01.txt"
    page.write_text(page.read_text(encoding="utf-8").replace("x = 1", SOURCE, 1), encoding="utf-8")
    (contest.folder / "submissions" / WHO / "broken.html").write_bytes(b"\x00\x01\x02" * 50)
    found = Workspace.find({}, contest.home)
    _run(found, READ_CONTEST)
    attempts = store_of(found).read(ATTEMPTS, "mini")
    contest.record("sharp", dict.fromkeys(attempts.loc[attempts["participant"] != WHO, "attempt_id"], 0.5))
    _answers(found, attempts)
    _run(found, JUDGE_CONTEST, "text")
    _run(found, JUDGE_CONTEST, "sharp", fails=True)
    _run(found, REPORT_CONTEST)
    return contest.home


@pytest.fixture
def workspace(reported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A copy of it for each test, which may change all of it."""
    monkeypatch.setenv("JUDGE_PIPELINE_HOME", str(shutil.copytree(reported, tmp_path / "home")))
    return Workspace.find()


def _run(workspace: Workspace, job: str, judge: str | None = None, fails: bool = False) -> None:
    with open_instance(workspace) as instance:
        outcome = run_job(build_definitions(workspace), instance, job, "mini", judge)
    assert (outcome.error is not None) == fails, outcome.error


def _answers(workspace: Workspace, attempts: pd.DataFrame) -> None:
    """A stored answer for each attempt, under a hash of its own."""
    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        records = []
        for row in attempts.itertuples():
            text = json.dumps({"content": row.source_code})
            call = CallRow(
                "keyed", row.attempt_id * 4, row.attempt_id, 0, "r", 1, "t", 1.0, raw_text=f"{row.source_code}!"
            )
            judgment = StoredJudgment("keyed", row.attempt_id * 4, row.attempt_id, {"p_ac": 0.5}, None, "m", 1.0)
            records.append(Record(StoredRequest(row.attempt_id * 4, "t", "s", text), call, judgment))
        checkpoint.record(records)


def _texts(out: Path) -> dict[str, bytes]:
    """Every file under ``out`` as bytes, Parquet files also as what they hold."""
    texts = {str(f.relative_to(out)): f.read_bytes() for f in out.rglob("*") if f.is_file()}
    for file in out.rglob("*.parquet"):
        texts[f"{file.relative_to(out)} decoded"] = pd.read_parquet(file).to_csv().encode()
    return texts


def _found(out: Path, *needles: str) -> list[str]:
    return sorted(name for name, data in _texts(out).items() if any(needle.encode() in data for needle in needles))


def _forget(*options: str) -> str:
    result = CliRunner().invoke(cli, ["forget", "mini", WHO, *options], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_table_whose_rows_rest_on_the_words_of_all_goes_as_a_whole(workspace: Workspace) -> None:
    store = store_of(workspace)
    assert store.read(PROMPT_SPACE, "mini")["participant"].tolist() == ["E001", "E002", "E003", "E004", "E005"]
    forgetting.forget(workspace, "mini", WHO, "2026-11-30")
    assert not store.path(PROMPT_SPACE, "mini").is_file()


def test_nothing_is_left_of_who_withdraws_and_all_of_the_others(workspace: Workspace) -> None:
    out = workspace.out_dir
    before = store_of(workspace).read(ATTEMPTS, "mini")
    ids = before.loc[before["participant"] == WHO, "attempt_id"].tolist()
    needles = (WHO, SAID, SOURCE, *ids)
    # The search can find: the person stands in tables, previews, the checkpoint, the cache, the ledger.
    for place in ("tables/attempts", "dagster/", "checkpoint.sqlite", "ledgers/", "tables/judge_outputs"):
        assert any(name.startswith(place) for name in _found(out, *needles)), place
    splits = store_of(workspace).read(SPLIT_ASSIGNMENTS, "mini")

    counted = _forget()
    assert "Nothing was changed" in counted and f"attempts: {len(ids)}" in counted
    assert _found(out, WHO)

    done = _forget("--yes")
    assert "Made anew without them" in done
    assert _found(out, *needles) == []
    store = store_of(workspace)
    assert (
        store.read(ATTEMPTS, "mini")["attempt_id"].tolist()
        == before.loc[~before["attempt_id"].isin(ids), "attempt_id"].tolist()
    )
    assert len(store.read(INGEST_QUARANTINE, "mini")) == 0
    kept = splits[splits["participant"] != WHO].merge(
        store.read(SPLIT_ASSIGNMENTS, "mini"), on=["participant", "problem_id"]
    )
    assert (kept["split_x"] == kept["split_y"]).all() and len(kept) == (splits["participant"] != WHO).sum()
    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        others = [a * 4 for a in before["attempt_id"] if a not in ids]
        assert set(checkpoint.answered("keyed", [a * 4 for a in before["attempt_id"]])) == set(others)
        assert all(checkpoint.request(h) is not None and len(checkpoint.calls("keyed", h)) == 1 for h in others)
        assert all(checkpoint.request(a * 4) is None for a in ids)

    # The files are still there, and later runs pass them over.
    assert (workspace.data_dir / "contests" / "mini" / "submissions" / WHO).is_dir()
    _run(workspace, READ_CONTEST)
    _run(workspace, REPORT_CONTEST)
    assert _found(out, *needles) == []
    overview = pd.read_parquet(out / "tables" / "contest_overview" / "mini.parquet").set_index("statistic")
    assert overview.loc["withdrawn", "value"] == 1
    with open_instance(workspace) as instance:
        event = instance.get_latest_materialization_event(dg.AssetKey("attempts"))
        assert event is not None and event.asset_materialization is not None
        assert event.asset_materialization.metadata["participants_who_withdrew"].value == 1

    stone = (out / "tombstones" / "mini.json").read_text(encoding="utf-8")
    assert (
        re.search(r'"withdrawn_on": "20\d\d-', stone)
        and '"complete": true' in stone
        and f'"attempts": {len(ids)}' in stone
    )
    assert stat.S_IMODE((out / "tombstones" / "key").stat().st_mode) == 0o600

    assert "Deleted" in _forget("--yes", "--delete-files")
    assert not (workspace.data_dir / "contests" / "mini" / "submissions" / WHO).exists()
    assert not (workspace.data_dir / "contests" / "mini" / "prompts" / WHO).exists()


@pytest.mark.parametrize("broken", ["forget_ledger", "remove_half_written", "table"])
def test_what_was_cut_off_is_completed_by_the_same_call(
    workspace: Workspace, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = forgetting.traces_of(workspace, "mini", WHO).counts
    with monkeypatch.context() as patch:

        def cut(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        if broken == "table":
            written: list[str] = []

            def writer(_store: object, table: object, _rows: object, _partition: object) -> object:
                written.append(str(table))
                return cut if len(written) > 4 else (lambda: None)

            patch.setattr(forgetting, "_writer", writer)
        else:
            patch.setattr(forgetting, f"_{broken}", cut)
        with pytest.raises(KeyboardInterrupt):
            forgetting.forget(workspace, "mini", WHO, "2026-04-01")
    stone = Tombstones(workspace.out_dir, "mini").of(WHO)
    assert stone is not None and not stone.complete
    counts = forgetting.forget(workspace, "mini", WHO, "2026-04-02")
    stone = Tombstones(workspace.out_dir, "mini").of(WHO)
    assert stone is not None and stone.complete and stone.withdrawn_on == "2026-04-01"
    assert counts == whole
    assert _found(workspace.out_dir, WHO, SAID, SOURCE) == []


def test_an_answer_that_another_attempt_shares_is_kept_under_that_attempt(workspace: Workspace) -> None:
    requests = store_of(workspace).read(JUDGE_REQUESTS, "mini")
    attempts = store_of(workspace).read(ATTEMPTS, "mini")
    theirs = attempts.loc[attempts["participant"] == WHO, "attempt_id"].tolist()
    other = next(a for a in requests["attempt_id"] if a not in theirs)
    same = requests.set_index("attempt_id")["request_sha256"].to_dict() | {theirs[0]: "0" * 64, other: "0" * 64}
    shared = requests.assign(request_sha256=requests["attempt_id"].map(same))
    store_of(workspace).write(JUDGE_REQUESTS, shared, "mini")
    counts = forgetting.forget(workspace, "mini", WHO, "2026-04-01")
    assert counts["checkpoint kept_for_others"] == 2
    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        kept = checkpoint.answered("keyed", [a * 4 for a in theirs])
        assert set(kept) == {theirs[0] * 4} and kept[theirs[0] * 4].attempt_id == other
        assert [call["attempt_id"] for call in checkpoint.calls("keyed", theirs[0] * 4)] == [other]


def test_other_contests_keep_their_history(workspace: Workspace) -> None:
    other = MiniContest(workspace.config_dir.parent, name="other")
    for number in range(1, 4):
        other.trajectory(f"E{number:03}", "p1", "WA AC")
    with open_instance(workspace) as instance:
        outcome = run_job(build_definitions(workspace), instance, READ_CONTEST, "other")
        assert outcome.error is None
    _run(workspace, READ_CONTEST)  # the latest materialization is of the contest that will be forgotten in
    forgetting.forget(workspace, "mini", WHO, "2026-04-01")
    with open_instance(workspace) as instance:
        assert instance.get_materialized_partitions(dg.AssetKey("attempts")) == {"other"}
        event = instance.get_latest_materialization_event(dg.AssetKey("attempts"))
        assert event is not None and event.run_id == outcome.run_id
    assert len(store_of(workspace).read(ATTEMPTS, "other"))


def test_an_unknown_contest_or_participant_is_said_to_be_unknown(workspace: Workspace) -> None:
    for arguments, what in ((["nowhere", WHO], "no contest 'nowhere'"), (["mini", "E999"], "no participant 'E999'")):
        result = CliRunner().invoke(cli, ["forget", *arguments, "--yes"])
        assert result.exit_code == 1 and what in str(result.exception)


def test_a_tombstone_without_its_key_stops_the_run(tmp_path: Path) -> None:
    stones = Tombstones(tmp_path, "mini")
    stones.write(forgetting.Tombstone(stones.hash_of("E001"), "2026-04-01", True, {"attempts": 3}))
    assert stones.of("E001") is not None and stones.of("E002") is None
    assert "E001" not in stones.path.read_text(encoding="utf-8")
    (tmp_path / "tombstones" / "key").unlink()
    with pytest.raises(ValueError, match="restore that file"):
        stones.read()
