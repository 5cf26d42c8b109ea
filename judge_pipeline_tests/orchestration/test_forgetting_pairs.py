"""A pair or an annotator is withdrawn from a preference set: nothing of it is left, no other pair loses anything."""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from judge_pipeline.cli.main import cli
from judge_pipeline.definitions import READ_PREFERENCE_SET, build_definitions
from judge_pipeline.ingest.image_files import data_url
from judge_pipeline.judging.checkpoint.store import CallRow, Checkpoint, Record, StoredJudgment, StoredRequest
from judge_pipeline.judging.forgetting import attempts_in_checkpoint
from judge_pipeline.orchestration import forgetting_pairs
from judge_pipeline.orchestration.evidence_files import EvidenceFiles
from judge_pipeline.orchestration.forgetting import traces_of
from judge_pipeline.orchestration.forgetting_pairs import Subject, forget_pairs, pair_traces, tombstones_of
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.runs import run_job
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.preference.pair_question import pair_key, set_key
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import PAIR_TEXTS, PREFERENCE_PAIRS, PREFERENCE_SPLITS
from judge_pipeline.tables.criteria import CRITERIA_CALLS, CRITERIA_DECISIONS
from judge_pipeline.tables.pair_judging import PAIR_JUDGE_COVERAGE, PAIR_JUDGMENTS
from judge_pipeline.tables.preference_accuracy import PREFERENCE_ACCURACY, PREFERENCE_RANKS
from judge_pipeline_tests.judging.made_images import png
from judge_pipeline_tests.preference.made_set import judgments_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("forgetting_pairs")]

WHO = "pair-quince-7"
SAID = "quince marmalade"
ANNOTATOR = "Annabel Zebra"
TWIN = "pair-twin-5"


def _row(number: int, pair_id: str, votes: dict[str, str], said: str = "") -> dict[str, object]:
    return {
        "pair_id": pair_id,
        "instruction": f"Sort list {number}. {said}".strip(),
        "response_a": f"sorted(x)  # way {number} {said}",
        "response_b": f"x.sort()  # way {number}",
        "votes": votes,
    }


def _lay(home: Path) -> None:
    config, folder = home / "assets_config", home / "data" / "preference" / "edits"
    (config / "prompts").mkdir(parents=True)
    (config / "judges.yaml").write_text(
        "judges: {keyed: {backend: baseline, systems: [cocreation, preference]}}\n", encoding="utf-8"
    )
    folder.mkdir(parents=True)
    (folder / "preference.yaml").write_text("natural_languages: low\n", encoding="utf-8")
    three = {"ben": "A", "cleo": "A", ANNOTATOR: "B"}
    rows = [_row(n, f"plain-{n}", three) for n in range(4)]
    rows[0] |= {"evidence_a": {"screenshot": data_url(png(8), "image/png")}}
    rows += [_row(7, WHO, three, SAID) | {"evidence_b": {"screenshot": data_url(png(7), "image/png")}}]
    rows += [_row(8, "hers-8", {ANNOTATOR: "B"})]
    rows += [_row(9, "turns-9", {"ben": "A", ANNOTATOR: "B", f"{ANNOTATOR} (2)": "B"})]
    twin = _row(5, TWIN, three)
    (folder / "pairs.jsonl").write_text("\n".join(json.dumps(row) for row in [*rows, twin]), encoding="utf-8")
    other = folder.with_name("other")
    shutil.copytree(folder, other)
    (other / "pairs.jsonl").write_text(json.dumps({**twin, "pair_id": "same-5"}), encoding="utf-8")


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set that was read, with judgments, figures, a report and answers in the checkpoint; another set with a twin."""
    home = tmp_path_factory.mktemp("forgetting_pairs") / "home"
    _lay(home)
    workspace = Workspace.find({}, home)
    store = store_of(workspace)
    for name in ("edits", "other"):
        _read(workspace, name)
        ids = store.read(PREFERENCE_PAIRS, name)["pair_id"].tolist()
        _answers(workspace, name, ids)
        made = judgments_of("keyed", pd.DataFrame({"pair_id": ids, "ab": "A", "ba": "A"}), 0)
        store.write(PAIR_JUDGMENTS, made, name, "keyed")
        decided = dict.fromkeys(CRITERIA_DECISIONS.column_names) | {
            "decided_by": "judge",
            "n_criteria": 1,
            "n_evidence": 1,
        }
        decisions = [decided | {"pair_id": pair_id, "rationale": pair_id} for pair_id in ids]
        store.write(CRITERIA_DECISIONS, decisions, name, "keyed@full")
        store.write(CRITERIA_CALLS, CRITERIA_CALLS.empty(), name, "keyed@full")
        store.write(PREFERENCE_ACCURACY, PREFERENCE_ACCURACY.empty(), name)
    store.write(PREFERENCE_RANKS, PREFERENCE_RANKS.empty(), "every-contest")
    for place in ("reports/edits/preference_report.html", "exports/edits/pairs.csv", "rubrics/edits.found.yaml"):
        (workspace.out_dir / place).parent.mkdir(parents=True)
        (workspace.out_dir / place).write_text(f"{WHO} {SAID} {ANNOTATOR}", encoding="utf-8")
    return home


@pytest.fixture
def workspace(read: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A copy of it for each test."""
    monkeypatch.setenv("JUDGE_PIPELINE_HOME", str(shutil.copytree(read, tmp_path / "home")))
    return Workspace.find()


def _read(workspace: Workspace, name: str) -> None:
    with open_instance(workspace) as instance:
        outcome = run_job(build_definitions(workspace), instance, READ_PREFERENCE_SET, name)
    assert outcome.error is None, outcome.error


def _answers(workspace: Workspace, name: str, ids: list[str]) -> None:
    """A stored answer to each order of each pair, to a rubric score of each, and to a batch of all pairs."""
    texts = store_of(workspace).read(PAIR_TEXTS, name).set_index("pair_id")["response_a"]
    asked = {f"{pair_key(name, p)}/{part}": texts[p] for p in ids for part in ("AB", "BA", "rubric-1-AB")}
    asked[f"{set_key(name)}/round-1-batch-1"] = " ".join(texts)
    records = []
    for request_id, text in asked.items():
        hash_ = request_id.replace("/", "-")
        call = CallRow("keyed", hash_, request_id, 0, "r", 1, "t", 1.0, raw_text=f"{text}!")
        judgment = StoredJudgment("keyed", hash_, request_id, {"choice": "A"}, None, "m", 1.0)
        records.append(Record(StoredRequest(hash_, "t", "s", json.dumps({"content": text})), call, judgment))
    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        checkpoint.record(records)


def _found(out: Path, *needles: str) -> list[str]:
    """Files under ``out`` that hold one of the texts, Parquet files also as what they hold."""
    texts = {str(f.relative_to(out)): f.read_bytes() for f in out.rglob("*") if f.is_file()}
    for file in out.rglob("*.parquet"):
        texts[f"{file.relative_to(out)} decoded"] = pd.read_parquet(file).to_csv().encode()
    return sorted(name for name, data in texts.items() if any(needle.encode() in data for needle in needles))


def _forget(*options: str) -> str:
    result = CliRunner().invoke(cli, ["forget", "edits", *options], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_nothing_is_left_of_a_pair_and_all_of_the_others(workspace: Workspace) -> None:
    out, store = workspace.out_dir, store_of(workspace)
    group = store.read(PREFERENCE_SPLITS, "edits").set_index("pair_id")["instruction_group"][WHO]
    needles = (WHO, SAID, pair_key("edits", WHO), group)
    for place in (
        "tables/preference_pairs",
        "tables/pair_texts",
        "dagster/",
        "checkpoint.sqlite",
        "ledgers/",
        "rubrics/",
    ):
        assert any(name.startswith(place) for name in _found(out, *needles)), place
    others = [p for p in store.read(PREFERENCE_PAIRS, "edits")["pair_id"] if p != WHO]
    splits = store.read(PREFERENCE_SPLITS, "edits").set_index("pair_id")["split"]

    kept_images = EvidenceFiles.of(workspace, "edits").folder
    theirs, another = (f"{hashlib.sha256(png(grey)).hexdigest()}.png" for grey in (7, 8))
    assert {path.name for path in kept_images.iterdir()} == {theirs, another}

    counted = _forget("--pair", WHO)
    assert "Nothing was changed" in counted and "pair_judgments keyed: 2" in counted and "judgments: 4" in counted
    assert "pairs.jsonl" in counted and _found(out, WHO)
    done = _forget("--pair", WHO, "--yes")
    assert "Made anew without it: tables, the report." in done
    assert _found(out, *needles) == []
    assert [path.name for path in kept_images.iterdir()] == [another], "its screenshot is gone, too"
    assert store.read(PREFERENCE_PAIRS, "edits")["pair_id"].tolist() == others
    assert store.read(PAIR_JUDGMENTS, "edits", "keyed")["pair_id"].nunique() == len(others)
    assert store.read(CRITERIA_DECISIONS, "edits", "keyed@full")["pair_id"].tolist() == others
    assert not store.path(CRITERIA_CALLS, "edits", "keyed@full").is_file()
    kept = store.read(PREFERENCE_SPLITS, "edits").set_index("pair_id")["split"]
    assert kept.to_dict() == splits.drop(WHO).to_dict()
    left = attempts_in_checkpoint(workspace.checkpoint_url)
    assert {f"{pair_key('edits', p)}/{part}" for p in others for part in ("AB", "BA", "rubric-1-AB")} <= left
    assert f"{set_key('edits')}/round-1-batch-1" not in left, "what was asked about several pairs goes with any"
    assert f"{set_key('other')}/round-1-batch-1" in left
    assert store.path(PREFERENCE_ACCURACY, "other").is_file()
    coverage = store.read(PAIR_JUDGE_COVERAGE, "edits")
    assert coverage["status"].tolist() == ["stale"] and "14 of 14 choices answer another" in coverage["reason"][0]
    assert not store.path(PREFERENCE_RANKS, "every-contest").is_file()

    # The file is still there, and later runs pass it over.
    assert WHO in (workspace.data_dir / "preference" / "edits" / "pairs.jsonl").read_text(encoding="utf-8")
    _read(workspace, "edits")
    assert _found(out, *needles) == []
    assert [path.name for path in kept_images.iterdir()] == [another]
    selection = pd.read_parquet(out / "tables" / "preference_selection" / "edits.parquet")
    assert selection.loc[selection["reason"] == "the pair was withdrawn", "n"].tolist() == [1]
    stone = json.loads((out / "tombstones" / "preference" / "edits.json").read_text(encoding="utf-8"))
    assert stone["preference_set"] == "edits" and stone["withdrawn"][0]["complete"] is True


def test_nothing_is_left_of_an_annotator_and_pairs_keep_what_others_chose(workspace: Workspace) -> None:
    out, store = workspace.out_dir, store_of(workspace)
    before = store.read(PREFERENCE_PAIRS, "edits").set_index("pair_id")
    assert before.loc["turns-9", "w"] == "B"
    counted = _forget("--annotator", ANNOTATOR)
    assert "preference_pairs: 8" in counted and "checkpoint judgments: 4" in counted
    forget_pairs(workspace, Subject("edits", annotator=ANNOTATOR), "2026-11-30")
    _read(workspace, "edits")
    assert [name for name in _found(out, ANNOTATOR) if "other" not in name and "dagster" not in name] == []
    assert _found(out, pair_key("edits", "hers-8")) == []
    after = store.read(PREFERENCE_PAIRS, "edits").set_index("pair_id")
    assert set(before.index) - set(after.index) == {"hers-8"}, "nobody else chose on it"
    assert after.loc["turns-9", ["w", "votes"]].tolist() == ["A", '{"ben": "A"}'], "what is left of its votes"
    assert after.loc["plain-0", "votes"] == '{"ben": "A", "cleo": "A"}'
    assert ANNOTATOR in store.read(PREFERENCE_PAIRS, "other")["votes"][0], "a withdrawal is from one set"


def test_an_answer_that_a_pair_of_the_same_texts_needs_is_kept_for_that(workspace: Workspace) -> None:
    counts = forget_pairs(workspace, Subject("edits", TWIN), "2026-11-30")
    assert counts["checkpoint kept_for_others"] == 6, "three judgments and three calls"
    hash_ = f"{pair_key('edits', TWIN)}/AB".replace("/", "-")
    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        assert checkpoint.answered("keyed", [hash_])[hash_].attempt_id == f"{pair_key('other', 'same-5')}/AB"


@pytest.mark.parametrize(
    ("broken", "subject"),
    [
        ("_forget_ledger", Subject("edits", WHO)),
        ("_remove_half_written", Subject("edits", annotator=ANNOTATOR)),
        ("forget_attempts", Subject("edits", WHO)),
    ],
    ids=["ledger", "half-written", "checkpoint"],
)
def test_what_was_cut_off_is_completed_by_the_same_call(
    workspace: Workspace, subject: Subject, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = pair_traces(workspace, subject).counts

    def cut(*_: object, dry_run: bool = False, **__: object) -> dict[str, int]:
        if dry_run:
            return {}
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        place = forgetting_pairs if broken.startswith("_") else "judge_pipeline.judging.forgetting.forget_attempts"
        patch.setattr(*((place, broken, cut) if broken.startswith("_") else (place, cut)))
        with pytest.raises(KeyboardInterrupt):
            forget_pairs(workspace, subject, "2026-04-01")
    stone = tombstones_of(workspace, "edits").of(subject.name)
    assert stone is not None and not stone.complete
    counts = forget_pairs(workspace, subject, "2026-04-02")
    stone = tombstones_of(workspace, "edits").of(subject.name)
    assert stone is not None and stone.complete and stone.withdrawn_on == "2026-04-01"
    assert counts == whole
    assert [
        name for name in _found(workspace.out_dir, subject.words) if "other" not in name and "dag" not in name
    ] == []


def test_a_rubric_that_a_person_edited_stays(workspace: Workspace) -> None:
    own = workspace.out_dir / "rubrics" / "edits.yaml"
    own.write_text("items: [{title: Mine, high: h, low: l}]\n", encoding="utf-8")
    forget_pairs(workspace, Subject("edits", WHO), "2026-11-30")
    assert own.is_file() and not own.with_name("edits.found.yaml").exists()


def test_a_copy_of_guidance_that_rests_on_the_pair_is_named_and_left_to_its_owner(workspace: Workspace) -> None:
    own = workspace.config_dir / "guidance" / "copied.yaml"
    own.parent.mkdir()
    own.write_text(f"source: {{pairs: {{{WHO}: g1, plain-1: g2}}}}\n", encoding="utf-8")
    (own.with_name("other.yaml")).write_text(f"source: {{pairs: {{{WHO}2: g1}}}}\n", encoding="utf-8")
    assert own in pair_traces(workspace, Subject("edits", WHO)).files
    assert own.with_name("other.yaml") not in pair_traces(workspace, Subject("edits", WHO)).files
    forget_pairs(workspace, Subject("edits", WHO), "2026-11-30")
    assert own.is_file()


def test_answers_about_pairs_are_no_orphans_of_a_contest(workspace: Workspace) -> None:
    (workspace.data_dir / "contests" / "edits" / "submissions").mkdir(parents=True)
    found = traces_of(workspace, "edits", "E001")
    assert found.orphans == frozenset() and not any("pair" in name for name in found.counts)


def test_what_is_unknown_or_said_twice_is_refused(workspace: Workspace) -> None:
    for arguments, what in (
        (["nowhere", "--pair", "p"], "no preference set 'nowhere'"),
        (["edits", "--pair", "no-such-pair"], "has no pair 'no-such-pair'"),
        (["edits", "--annotator", "nobody"], "has no annotator 'nobody'"),
        (["edits"], "name one of PARTICIPANT"),
        (["edits", "E001", "--pair", "p"], "name one of PARTICIPANT"),
        (["edits", "--pair", "p", "--delete-files"], "are for participants"),
    ):
        result = CliRunner().invoke(cli, ["forget", *arguments, "--yes"])
        assert result.exit_code in (1, 2) and what in f"{result.output} {result.exception}", arguments
