"""From pairs to frozen guidance over real connections to a scripted model, and reading it for a configuration."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
import yaml

from judge_pipeline.assets import preference
from judge_pipeline.assets.guidance import guidance_asset
from judge_pipeline.criteria.guidance_file import GuidanceError, content_sha256
from judge_pipeline.orchestration.forgetting_pairs import Subject, forget_pairs
from judge_pipeline.orchestration.guidance_run import (
    CONFIGURATIONS_TAG,
    guidance_configuration_sha256,
    guidance_in_force,
    make_guidance,
    synthesizers_of,
)
from judge_pipeline.settings import Workspace, packaged_config_dir
from judge_pipeline.settings.criteria import GuidanceUse
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.tables import PAIR_TEXTS, PREFERENCE_SPLITS
from judge_pipeline.tables.guidance import GUIDANCE, GUIDANCE_RECORDS
from judge_pipeline_tests.assets.sample_set_house import READ, SAMPLE, SampleSetHouse
from judge_pipeline_tests.criteria.made_guidance import BlindJudge, Synthesizer, made_set
from judge_pipeline_tests.judging.conftest import Behaviour, Provider, Request, chat

CRITERIA = {
    "guidance": {"category_records": 2},
    "run": {"judge": ["plain", "own", "other", "transfer", "ready"], "other": ["plain"]},
    "configurations": {
        "plain": {"generator": "none"},
        "own": {"guidance": {}},
        "other": {"guidance": {"synthesizer": "writer", "category": "none"}},
        "transfer": {"guidance": {"synthesizer": "writer", "from_set": "elsewhere"}},
        "ready": {"guidance": {"file": "people-who-use-code.yaml"}},
        "absent": {"guidance": {"synthesizer": "nobody"}},
        "weak": {"guidance": {"synthesizer": "small"}},
    },
}  # fmt: skip


def kind_of(text: str) -> str:
    if "You reconstruct why" in text:
        return "rationale"
    return "guidance" if "you write guidance" in text else "monolithic"


def answer(text: str) -> dict[str, object]:
    """What the scripted model says."""
    if kind_of(text) == "monolithic":
        return {"rationale": "the first", "choice": "A"}
    if kind_of(text) == "rationale":
        return {"rationale": "They wanted it so."}
    n, category = text.count("# Record "), re.search(r'^Category: "(.*)"$', text, re.MULTILINE)
    words = f"from {n} records" + (f" of {category[1]}" if category else "")
    stages = {stage: f"{stage} {words}" for stage in ("generator", "criterion_judge", "final_judge")}
    return {"patterns": [{"text": f"They differ, {words}", "gap": "missed"}], **stages}


def behave(request: Request, n: int) -> Behaviour:
    return chat(json.dumps(answer(request.text)))


class House(SampleSetHouse):
    """A workspace with the sample set, and how it is run."""

    @property
    def files(self) -> list[Path]:
        return sorted((self.workspace.out_dir / "guidance" / "sample-pairs").glob("*.yaml"))

    def configure(self, **values: Any) -> None:
        text = yaml.safe_dump({**CRITERIA, **values})
        (self.workspace.config_dir / "criteria.yaml").write_text(text, encoding="utf-8")

    def run(self, *names: str, judge: str | None = None, named: str | None = None) -> dg.ExecuteInProcessResult:
        own = guidance_asset(["judge", "other"], guidance_configuration_sha256(self.workspace))
        set_ = "sample-pairs"
        return dg.materialize(
            [*preference.ASSETS, own],
            instance=self.instance,
            partition_key=set_ if judge is None else dg.MultiPartitionKey({"judge": judge, "preference_set": set_}),
            selection=dg.AssetSelection.assets(*names),
            tags={} if named is None else {CONFIGURATIONS_TAG: named},
            resources=self.resources,
        )

    def make(self, judge: str = "judge", named: str | None = None) -> dg.ExecuteInProcessResult:
        return self.run(GUIDANCE_RECORDS.name, GUIDANCE.name, judge=judge, named=named)

    def splits(self) -> pd.DataFrame:
        return self.store.read(PREFERENCE_SPLITS, "sample-pairs")

    def in_force(self, splits: pd.DataFrame | None = None, judge: str = "judge", **use: Any) -> Any:
        splits = self.splits() if splits is None else splits
        return guidance_in_force(self.workspace, GuidanceUse(**use), judge, "sample-pairs", splits)


def laid(folder: Path, provider: Provider) -> House:
    config = folder / "assets_config"
    shutil.copytree(packaged_config_dir(), config)
    judge = {"backend": "litellm", "transport": "direct", "model": "openai/m", "base_url": provider.url}
    judge |= {"limits": {"max_tries": 2, "backoff_seconds": 0.01}, "systems": ["criteria"]}
    judges = {
        "judge": judge, "writer": judge | {"parameters": {"temperature": 0.5}}, "other": judge,
        "small": {"backend": "embedded"},
    }  # fmt: skip
    (config / "judges.yaml").write_text(yaml.safe_dump({"judges": judges}), encoding="utf-8")
    shutil.copytree(SAMPLE, folder / "data" / "preference" / "sample-pairs")
    instance = dg.DagsterInstance.ephemeral()
    instance.add_dynamic_partitions("preference_set", ["sample-pairs"])
    house = House(Workspace(config, folder / "data", folder / "var"), provider, instance)
    provider.behave = behave
    house.configure()
    house.run(*READ)
    return house


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A set from whose training pairs guidance was made: read only."""
    provider = Provider()
    house = laid(tmp_path_factory.mktemp("guidance"), provider)
    house.make()
    yield house
    provider.close()


@pytest.fixture
def house(finished: House, tmp_path: Path) -> House:
    """A copy of it, to change."""
    for name in ("assets_config", "data", "var"):
        shutil.copytree(finished.workspace.config_dir.parent / name, tmp_path / name)
    workspace = Workspace(tmp_path / "assets_config", tmp_path / "data", tmp_path / "var")
    finished.provider.behave = behave
    finished.provider.requests.clear()
    return House(workspace, finished.provider, finished.instance)


def problems(result: dg.ExecuteInProcessResult) -> dict[str, str]:
    return {e.check_name: e.description or "" for e in result.get_asset_check_evaluations() if not e.passed}


@pytest.mark.slow
def test_only_training_pairs_are_asked_about_and_each_synthesizer_writes_its_own(finished: House) -> None:
    splits, texts = finished.splits(), finished.store.read(PAIR_TEXTS, "sample-pairs")
    train = set(splits.loc[splits["split"] == "train", "pair_id"])
    n, responses = len(train), set(texts.loc[texts["pair_id"].isin(train), "response_a"])
    assert 5 <= n < len(splits)
    records = finished.store.read(GUIDANCE_RECORDS, "sample-pairs", "judge")
    assert Counter(records["synthesizer"]) == {"judge": n, "writer": n} and set(records["pair_id"]) == train
    assert records["in_general"].all() and records["why_left_out"].isna().all() and (records["decision"] == "A").all()
    asked = Counter(kind_of(request.text) for request in finished.provider.requests)
    of_category = texts[texts["pair_id"].isin(train)]["category"].value_counts()
    large = sorted(of_category[of_category >= 2].index)
    assert asked == {"monolithic": n, "rationale": 2 * n, "guidance": 2 * (1 + len(large))}
    for request in finished.provider.requests:
        shown = re.findall(r"^Response A:\n\[data (\w+)\]\n(.*?)\n\[end \1\]", request.text, re.S | re.M)
        assert shown and {text for _, text in shown} <= responses
    guidance = finished.store.read(GUIDANCE, "sample-pairs", "judge")
    own = guidance[guidance["synthesizer"] == "writer"]
    assert sorted(own["category"].dropna().unique()) == large
    assert own["text"].tolist()[0] == f"They differ, from {n} records" and set(own["file"]) < {
        f.name for f in finished.files
    }


@pytest.mark.slow
def test_made_again_nothing_is_asked_and_no_byte_changes(house: House) -> None:
    before = {file.name: file.read_bytes() for file in house.files}
    house.make()
    assert not house.provider.requests and {file.name: file.read_bytes() for file in house.files} == before


@pytest.mark.slow
def test_a_run_that_names_configurations_makes_what_these_need_and_keeps_what_there_is(house: House) -> None:
    def synthesizers() -> set[str]:
        return set(house.store.read(GUIDANCE, "sample-pairs", "other")["synthesizer"])

    assert house.make("other", named="plain,own").success  # run lists no configuration of it that has guidance
    asked = Counter(kind_of(request.text) for request in house.provider.requests)
    n = len(house.store.read(GUIDANCE_RECORDS, "sample-pairs", "other"))
    assert synthesizers() == {"other"} and asked["monolithic"] == asked["rationale"] == n > 0
    assert house.make("other", named="other").success and synthesizers() == {"other", "writer"}
    assert house.in_force(judge="other").source.synthesizer == "other"


@pytest.mark.slow
def test_poisoned_validation_pairs_change_no_byte_and_no_request(house: House) -> None:
    val = set(house.splits().loc[lambda s: s["split"] != "train", "pair_id"])
    file = house.workspace.data_dir / "preference" / "sample-pairs" / "pairs.jsonl"
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    flipped = {"A": "B", "B": "A"}
    for row in rows:
        if row["pair_id"] in val:
            row.update({key: flipped.get(value, value) for key, value in row.items() if key != "pair_id"})
            row["response_a"] += "\n# poison"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    before, table = {f.name: f.read_bytes() for f in house.files}, house.store.read(GUIDANCE, "sample-pairs", "judge")
    old_texts = house.store.read(PAIR_TEXTS, "sample-pairs")
    house.run(*READ)
    assert (old_texts["response_a"] != house.store.read(PAIR_TEXTS, "sample-pairs")["response_a"]).sum() == len(val)
    house.make()
    assert not house.provider.requests
    assert {f.name: f.read_bytes() for f in house.files} == before
    pd.testing.assert_frame_equal(house.store.read(GUIDANCE, "sample-pairs", "judge"), table)


@pytest.mark.slow
def test_who_cannot_write_is_named_and_holds_up_nobody(house: House) -> None:
    house.configure(run={"judge": ["own", "absent", "weak"], "other": ["plain"]})
    said = problems(house.make())
    assert set(said) == {"synthesizers_can_write"}
    assert "for absent: " in said["synthesizers_can_write"] and "'nobody'" in said["synthesizers_can_write"]
    assert "for weak: 'small' is the embedded model" in said["synthesizers_can_write"]
    assert set(house.store.read(GUIDANCE, "sample-pairs", "judge")["synthesizer"]) == {"judge"}
    with pytest.raises(GuidanceError, match="no guidance for judge by small from sample-pairs: materialize"):
        house.in_force(synthesizer="small")
    house.make("other")
    assert house.store.read(GUIDANCE, "sample-pairs", "other").empty and not house.provider.requests


@pytest.mark.slow
def test_what_is_in_force_is_read_and_refused_where_it_was_edited_or_leaks(house: House) -> None:
    made = house.in_force(synthesizer="writer")
    table = house.store.read(GUIDANCE, "sample-pairs", "judge")
    assert {content_sha256(made)} == set(table.loc[table["synthesizer"] == "writer", "content_sha256"])
    assert made.source.prompts.keys() == {
        "criteria_monolithic.md.j2", "guidance_human_rationale.md.j2", "guidance_general.md.j2",
        "guidance_category.md.j2",
    }  # fmt: skip
    splits = house.splits()
    with pytest.raises(GuidanceError, match=f"{len(made.source.pairs)} pairs among the guidance's records"):
        house.in_force(splits.assign(split="val"), synthesizer="writer")
    path = next(file for file in house.files if file.name.startswith("judge@writer-"))
    good = path.read_bytes()
    edited = good.replace(b"generator from", b"generator edited from")
    path.write_bytes(edited)
    with pytest.raises(GuidanceError, match="it was edited") as refused:
        house.in_force(synthesizer="writer")
    frozen = re.search("content_sha256: [0-9a-f]{64}", str(refused.value))
    assert frozen is not None
    refrozen = re.sub(b"content_sha256: .*", frozen[0].encode(), edited)
    path.write_bytes(refrozen)
    with pytest.raises(GuidanceError, match="not what was frozen under this name"):
        house.in_force(synthesizer="writer")
    (house.workspace.config_dir / "guidance" / "mine.yaml").write_bytes(refrozen)
    assert "edited" in house.in_force(file="mine.yaml").general.generator
    with pytest.raises(GuidanceError, match="share their instruction"):
        house.in_force(splits.assign(split="val"), file="mine.yaml")
    house.make()
    assert path.read_bytes() == good and path.with_suffix(".edited.yaml").read_bytes() == refrozen


@pytest.mark.slow
def test_ready_made_guidance_and_that_of_another_set_are_only_read(house: House) -> None:
    assert house.in_force(file="people-who-use-code.yaml").source is None
    with pytest.raises(SettingsError, match=r"there are people-who-use-code\.yaml"):
        house.in_force(file="none.yaml")
    with pytest.raises(SettingsError, match="must be the name of a file"):
        house.in_force(file="../judges.yaml")
    with pytest.raises(GuidanceError, match=r"from elsewhere was never made: .* of judge\|elsewhere"):
        house.in_force(synthesizer="writer", from_set="elsewhere")
    splits = house.splits()
    moved = splits.assign(pair_id=[f"q{n}" for n in range(len(splits))], instruction_group="of another set")
    use = GuidanceUse(synthesizer="writer", from_set="sample-pairs")
    assert guidance_in_force(house.workspace, use, "judge", "elsewhere", moved).source is not None


@pytest.mark.slow
def test_a_withdrawn_pair_takes_guidance_with_it_and_it_is_made_anew_from_the_rest(house: House) -> None:
    before, withdrawn = set(house.files), house.in_force(synthesizer="writer").source.pairs
    subject = Subject("sample-pairs", pair_id=min(withdrawn))
    forget_pairs(house.workspace, subject, "2026-01-01")
    assert not house.files
    assert not (house.workspace.out_dir / "tables" / GUIDANCE.name / "sample-pairs" / "judge.parquet").exists()
    assert not (house.workspace.out_dir / "tables" / GUIDANCE_RECORDS.name / "sample-pairs" / "judge.parquet").exists()
    with pytest.raises(GuidanceError, match="was never made"):
        house.in_force(synthesizer="writer")
    house.run(*READ)
    house.make()
    asked = Counter(kind_of(request.text) for request in house.provider.requests)
    assert asked["guidance"] > 0 and not asked["monolithic"] and not asked["rationale"]
    assert house.in_force(synthesizer="writer").source.pairs == {
        pair_id: group for pair_id, group in withdrawn.items() if pair_id != min(withdrawn)
    }
    assert not before & set(house.files)


def test_configurations_say_who_has_to_synthesize(tmp_path: Path) -> None:
    (tmp_path / "criteria.yaml").write_text(yaml.safe_dump(CRITERIA), encoding="utf-8")
    criteria = Workspace(tmp_path, tmp_path, tmp_path).criteria()
    assert synthesizers_of(criteria, "judge", "s") == {"judge": ["own"], "writer": ["other"]}
    assert synthesizers_of(criteria, "judge", "elsewhere") == {"judge": ["own"], "writer": ["other", "transfer"]}
    assert synthesizers_of(criteria, "other", "s") == {}
    everybody = synthesizers_of(criteria, "third", "s")
    assert everybody == {"nobody": ["absent"], "small": ["weak"], "third": ["own"], "writer": ["other"]}
    named = synthesizers_of(criteria, "third", "s", ("plain", "own", "ready"))
    assert named == {"third": ["own"]}, "others are not asked, though run does not name the judge"
    assert synthesizers_of(criteria, "other", "s", ("own",)) == {"other": ["own"]}, "run has other configurations"
    kept = synthesizers_of(criteria, "other", "s", ("own",), stored=("writer", "gone"))
    assert kept == {"other": ["own"], "writer": ["other"]}
    with pytest.raises(SettingsError, match=r"configuration onw is not in criteria\.yaml; it lists: absent, other"):
        synthesizers_of(criteria, "other", "s", ("onw",))


def test_guidance_that_leaks_is_not_written(tmp_path: Path) -> None:
    config = tmp_path / "assets_config"
    shutil.copytree(packaged_config_dir() / "prompts", config / "prompts")
    judge = {"backend": "litellm", "model": "openai/m", "base_url": "http://127.0.0.1:1/v1"}
    (config / "judges.yaml").write_text(yaml.safe_dump({"judges": {"judge": judge, "writer": judge}}), encoding="utf-8")
    run = {"judge": ["other"]}
    (config / "criteria.yaml").write_text(yaml.safe_dump({**CRITERIA, "run": run}), encoding="utf-8")
    workspace, made = Workspace(config, tmp_path, tmp_path / "var"), made_set()
    asks = {"judge": BlindJudge(), "writer": Synthesizer()}
    shared = made.splits.assign(instruction_group=[*made.splits["instruction_group"][:-1], "g02"])
    found = make_guidance(workspace, "judge", made.training(), shared, 1, asks.__getitem__)
    assert not found.made and not found.files and len(found.leaks) == 1 and "p02" in found.leaks[0]
    assert not (tmp_path / "var").exists()
    found = make_guidance(workspace, "judge", made.training(), made.splits, 1, asks.__getitem__)
    assert not found.leaks and [path.parent.name for path in found.files.values()] == ["made"]


def test_a_synthesizer_with_a_small_window_is_shown_the_subset_that_fits_and_others_all(tmp_path: Path) -> None:
    config = tmp_path / "assets_config"
    shutil.copytree(packaged_config_dir() / "prompts", config / "prompts")
    judge = {"backend": "litellm", "model": "openai/m", "base_url": "http://127.0.0.1:1/v1"}
    (config / "judges.yaml").write_text(yaml.safe_dump({"judges": {"judge": judge, "writer": judge}}), encoding="utf-8")
    criteria = {**CRITERIA, "guidance": {"tokens_of": {"judge": 1000}}, "run": {"judge": ["own", "other"]}}
    (config / "criteria.yaml").write_text(yaml.safe_dump(criteria), encoding="utf-8")
    workspace = Workspace(config, tmp_path, tmp_path / "var")

    class Both(BlindJudge):
        def __call__(self, stage: str, *asked: Any) -> pd.DataFrame:
            return super().__call__(stage, *asked) if stage == "monolithic" else Synthesizer()(stage, *asked)

    made, asks = made_set(), {"judge": Both(), "writer": Synthesizer()}
    found = make_guidance(workspace, "judge", made.training(), made.splits, 1, asks.__getitem__)
    shown = {each.between.synthesizer: len(each.shown[None]) for each in found.made}
    assert shown["writer"] == 12 and 0 < shown["judge"] < 12
