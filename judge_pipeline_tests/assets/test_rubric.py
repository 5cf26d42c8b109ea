"""From pairs to rubric, scores and agreement, over real connections to a scripted model; and what people edit."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pandas as pd
import pytest
import yaml

from judge_pipeline.assets import preference, rubric
from judge_pipeline.orchestration.parquet_store import EVERY_CONTEST
from judge_pipeline.settings import Workspace, packaged_config_dir
from judge_pipeline.tables import PAIR_TEXTS
from judge_pipeline.tables.misalignment import MISALIGNMENT
from judge_pipeline.tables.rubric import (
    RUBRIC,
    RUBRIC_PROPOSALS,
    RUBRIC_SCORE_AGREEMENT,
    RUBRIC_SCORES,
    RUBRIC_THEME_SUMMARY,
    RUBRIC_THEMES,
)
from judge_pipeline_tests.assets.sample_set_house import READ, SAMPLE, SampleSetHouse
from judge_pipeline_tests.judging.conftest import Behaviour, Provider, Request, chat

pytestmark = pytest.mark.slow

RUBRIC_SETTINGS = {
    "human_items": "people.yaml", "proposer": "writer", "scorer": "writer", "second_scorer": "other", "batches": 3,
    "batch_pairs": 4, "rounds": 2, "at_most": 4, "items_per_call": 2, "agreement_pairs": 10,
}  # fmt: skip
PEOPLE = "items:\n  polite: {title: Polite, high: says please, low: does not, theme: explanation}\n"
TITLE = r'("(?:[^"\\]|\\.)*")'
_BLOCK = r"[^\n]*:\n\[data (\w+)\]\n(.*?)\n\[end \1\]"


def answer(text: str) -> dict[str, object]:
    """What the scripted model says: it sees length, and comments once length is known."""
    if "You compare pairs" in text:
        known = re.findall(rf"- axis: {TITLE}", text)
        found = "Comments" if '"Length"' in known else "Length"
        return {"axes": [{"title": found, "high": f"more {found.lower()}", "low": "less"}]}
    if "You make a rubric" in text:
        ids = {id_: json.loads(title) for id_, title in re.findall(rf"^([kp]\d+): {TITLE}", text, re.MULTILINE)}
        groups: dict[str, list[str]] = {}
        for id_, title in ids.items():
            groups.setdefault(title, []).append(id_)
        with_new = {title: group for title, group in groups.items() if any(id_.startswith("p") for id_ in group)}
        return {
            "items": [
                {"title": t, "high": f"more {t.lower()}", "low": "less", "merges": g} for t, g in with_new.items()
            ],
            "dropped": [],
        }
    first, second = (re.search(f"^{name} response{_BLOCK}", text, re.S | re.M)[2] for name in ("First", "Second"))
    measures = {"Length": len, "Comments": lambda code: code.count("#"), "Polite": lambda code: code.count("please")}
    found = {}
    for place, title in re.findall(rf"^Item (\d+): {TITLE}", text, re.MULTILINE):
        a, b = (measures.get(json.loads(title), lambda code: 0)(code) for code in (first, second))
        found[f"item_{place}"] = "equal" if a == b else "first" if a > b else "second"
    return found


def behave(request: Request, n: int) -> Behaviour:
    return chat(json.dumps(answer(request.text)))


class House(SampleSetHouse):
    """A workspace with the sample set, and how it is run."""

    @property
    def file(self) -> Path:
        return self.workspace.out_dir / "rubrics" / "sample-pairs.yaml"

    def configure(self, **settings: object) -> None:
        own = {**yaml.safe_load((SAMPLE / "preference.yaml").read_text("utf-8")), "resamples": 200, "seed": 4}
        folder = self.workspace.data_dir / "preference" / "sample-pairs"
        text = yaml.safe_dump(own | {"rubric": RUBRIC_SETTINGS | settings})
        (folder / "preference.yaml").write_text(text, encoding="utf-8")

    def run(self, *names: str, over_all: bool = False, fails: bool = False) -> dg.ExecuteInProcessResult:
        """Materialize these assets of the set, or those over all sets."""
        absent = dg.AssetSpec(MISALIGNMENT.name, partitions_def=preference.PREFERENCE_SETS)
        return dg.materialize(
            [*preference.ASSETS, *rubric.ASSETS, absent],
            instance=self.instance,
            partition_key=None if over_all else "sample-pairs",
            selection=dg.AssetSelection.assets(*names),
            raise_on_error=not fails,
            resources=self.resources,
        )

    def read(self, table: object, *partition: str) -> pd.DataFrame:
        return self.store.read(table, *(partition or ("sample-pairs",)))


FIND = (RUBRIC_PROPOSALS.name, RUBRIC.name)


def laid(folder: Path, provider: Provider) -> House:
    config = folder / "assets_config"
    shutil.copytree(packaged_config_dir(), config)
    (config / "rubrics" / "people.yaml").write_text(PEOPLE, encoding="utf-8")
    judge = {"backend": "litellm", "transport": "direct", "model": "openai/m", "base_url": provider.url}
    limits = {"max_tries": 2, "backoff_seconds": 0.01, "stop_after_failures": 1000}
    judge |= {"limits": limits, "send_schema": True}
    judges = {
        "writer": judge, "other": judge | {"parameters": {"temperature": 0.5}}, "small": {"backend": "embedded"},
        "told": {"backend": "recorded", "file": "x.jsonl"},
        "keyless": judge | {"api_key_env": "NO_SUCH_KEY_HERE"},
    }  # fmt: skip
    (config / "judges.yaml").write_text(yaml.safe_dump({"judges": judges}), encoding="utf-8")
    own = folder / "data" / "preference" / "sample-pairs"
    own.mkdir(parents=True)
    lines = (SAMPLE / "pairs.jsonl").read_bytes().splitlines(keepends=True)
    (own / "pairs.jsonl").write_bytes(b"".join(lines[:42]))  # without the sample's own rubric and its scores
    instance = dg.DagsterInstance.ephemeral()
    instance.add_dynamic_partitions("preference_set", ["sample-pairs"])
    house = House(Workspace(config, folder / "data", folder / "var"), provider, instance)
    provider.behave = behave
    house.configure()
    house.run(*READ)
    return house


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A set whose rubric was found and scored: read only."""
    provider = Provider()
    house = laid(tmp_path_factory.mktemp("rubric"), provider)
    house.run(*FIND, RUBRIC_SCORES.name, RUBRIC_SCORE_AGREEMENT.name)
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


def failure(result: dg.ExecuteInProcessResult) -> str:
    assert not result.success
    return next(str(e.step_failure_data.user_failure_data.description) for e in result.get_step_failure_events())


def test_items_are_found_merged_with_people_s_and_scored_in_both_orders(finished: House) -> None:
    items = finished.read(RUBRIC)
    assert items[["item", "origin"]].to_numpy().tolist() == [
        ["polite", "human"], ["length", "generated"], ["comments", "generated"],
    ]  # fmt: skip
    assert items["round"].fillna(0).tolist() == [0, 1, 2] and items["theme"].tolist()[0] == "explanation"
    proposals = finished.read(RUBRIC_PROPOSALS)
    assert Counter(zip(proposals["round"], proposals["item"], strict=True)) == {(1, "length"): 3, (2, "comments"): 3}
    assert proposals["request_hash"].str.fullmatch("[0-9a-f]{64}").all() and proposals["request_hash"].is_unique
    scores, texts = finished.read(RUBRIC_SCORES), finished.read(PAIR_TEXTS).set_index("pair_id")
    assert len(scores) == 42 * 3 and scores["score"].notna().all() and (scores["scorer"] == "writer").all()
    of = scores.pivot(index="pair_id", columns="item", values="score").loc[texts.index]
    a, b = texts["response_a"], texts["response_b"]
    assert of["length"].tolist() == [(y > x) - (y < x) for x, y in zip(a.str.len(), b.str.len(), strict=True)]
    assert of["comments"].tolist() == [
        (y > x) - (y < x) for x, y in zip(a.str.count("#"), b.str.count("#"), strict=True)
    ]
    assert 0 < (of["comments"] != 0).mean() < 1 and (of["polite"] == 0).all()


def test_the_second_scorer_scores_a_sample_and_agrees_where_it_does(finished: House) -> None:
    table = finished.read(RUBRIC_SCORE_AGREEMENT).set_index(["item", "other", "figure"])
    second = table.xs("other", level="other")
    assert second.xs("raw_agreement", level="figure")["n"].tolist() == [30, 10, 10, 10]
    assert (second.xs("raw_agreement", level="figure")["value"] == 1).all()
    asked = {r.body.get("temperature") for r in finished.provider.requests}
    assert asked == {None, 0.5}


def test_no_label_was_sent_and_what_models_wrote_came_back_quoted(finished: House) -> None:
    chosen_by_rule = ("no person chose", "chosen_by", "both_bad")
    texts = [request.text for request in finished.provider.requests]
    assert not any(words in text for text in texts for words in chosen_by_rule)
    assert any('Item 1: "Comments"' in text for text in texts)
    schemas = [r.body["response_format"]["json_schema"]["schema"]["required"] for r in finished.provider.requests]
    assert {tuple(s) for s in schemas} == {("axes",), ("items", "dropped"), ("item_1",), ("item_1", "item_2")}


def test_everything_is_asked_once(house: House) -> None:
    before = {table: house.read(table) for table in (RUBRIC, RUBRIC_PROPOSALS, RUBRIC_SCORES, RUBRIC_SCORE_AGREEMENT)}
    house.run(*FIND, RUBRIC_SCORES.name, RUBRIC_SCORE_AGREEMENT.name)
    assert house.provider.requests == []
    for table, rows in before.items():
        pd.testing.assert_frame_equal(house.read(table), rows)


def test_a_person_s_edit_is_gone_on_from_and_is_never_written_over(house: House) -> None:
    edited = house.file.read_text("utf-8").replace("more comments", "says why the code is so")
    house.file.write_text(edited, encoding="utf-8")
    result = house.run(*FIND, RUBRIC_SCORES.name)
    items = house.read(RUBRIC).set_index("item")
    assert items["origin"].to_dict() == {"polite": "human", "length": "generated", "comments": "edited"}
    assert items["high"]["comments"] == "says why the code is so"
    assert json.loads(items["unedited"]["comments"])["high"] == "more comments"
    asked = [request.text for request in house.provider.requests]
    assert len(asked) == 84 and all("says why the code is so" in text for text in asked), "only that item, both orders"
    assert house.file.read_text("utf-8") == edited
    found = house.file.with_name("sample-pairs.found.yaml").read_text("utf-8")
    assert "more comments" in found and "edit_is_of_this_rubric" not in problems(result)

    house.configure(generate=False)
    result = house.run(*FIND)
    assert house.file.read_text("utf-8") == edited and "edit_is_of_this_rubric" in problems(result)
    house.file.unlink()
    house.run(*FIND)
    assert house.read(RUBRIC)["item"].tolist() == ["polite"] and "polite" in house.file.read_text("utf-8")


def test_the_set_s_own_rubric_goes_before_and_a_wrong_one_is_named_with_its_line(house: House) -> None:
    own = house.workspace.data_dir / "preference" / "sample-pairs" / "rubric.yaml"
    own.write_text("items:\n  mine: {title: Length, high: long, low: short}\n", encoding="utf-8")
    house.run(*FIND)
    assert house.read(RUBRIC)[["item", "origin"]].to_numpy().tolist() == [["mine", "edited"]]
    own.write_text("items:\n  mine: {title: Length, hihg: long, low: short}\n", encoding="utf-8")
    message = failure(house.run(*FIND, fails=True))
    assert "rubric.yaml, line 2, key items.mine.high: is missing" in message
    own.unlink()
    house.file.write_text("items: [", encoding="utf-8")
    assert "sample-pairs.yaml, line 1" in failure(house.run(*FIND, fails=True))
    assert house.file.read_text("utf-8") == "items: [", "a file that cannot be read is not written over either"


def test_without_models_people_s_items_stand_and_scores_say_why_they_are_missing(house: House) -> None:
    house.file.unlink()
    house.configure(proposer=None, scorer=None, second_scorer=None)
    result = house.run(*FIND, RUBRIC_SCORES.name, RUBRIC_SCORE_AGREEMENT.name)
    assert house.provider.requests == [] and house.read(RUBRIC_PROPOSALS).empty
    assert house.read(RUBRIC)["item"].tolist() == ["polite"]
    scores = house.read(RUBRIC_SCORES)
    assert len(scores) == 42 and scores["score"].isna().all() and scores["scorer"].isna().all()
    said = problems(result)["a_judge_scores"]
    assert [f"sample-pairs: {reason}" for reason in scores["reason"].unique()] == [said.partition(". To do: ")[0]]
    agreement = house.read(RUBRIC_SCORE_AGREEMENT)
    assert agreement["value"].isna().all() and agreement["other"].isna().all() and agreement["reason"].notna().all()
    assert {"a_judge_scores", "all_scored", "a_second_judge_scores"} <= problems(result).keys()


def test_the_embedded_model_proposes_nothing_and_says_so(house: House) -> None:
    house.configure(proposer="small", scorer=None, second_scorer=None)
    house.file.unlink()
    result = house.run(*FIND)
    assert house.read(RUBRIC)["item"].tolist() == ["polite"]
    assert "too weak to write rubric items" in problems(result)["proposer_can_write"]


def test_answers_that_stay_invalid_are_missing_scores_and_are_counted(house: House) -> None:
    def half(request: Request, n: int) -> Behaviour:
        valid = behave(request, n)
        return valid if '"Comments"' in request.text else chat('{"item_1": "A", "item_2": "B"}')

    house.provider.behave = half
    house.configure(scorer="other", second_scorer=None)
    result = house.run(RUBRIC_SCORES.name)
    scores = house.read(RUBRIC_SCORES)
    gone = scores[scores["score"].isna()]
    sampled = 10
    assert set(gone["item"]) == {"polite", "length"} and len(gone) == 2 * (42 - sampled)
    assert gone["reason"].str.contains("AB: invalid: item_1: Input should be 'first', 'second' or 'equal'").all()
    assert f"{len(gone)} of 126 scores are missing" in problems(result)["all_scored"]
    house.provider.requests.clear()
    house.run(RUBRIC_SCORES.name)
    assert house.provider.requests == [], "the scorer's own invalid answers are kept as such"


def test_the_embedded_model_scores_one_item_a_call(house: House) -> None:
    house.configure(scorer="small")
    few = house.read(PAIR_TEXTS).head(1)
    house.store.write(PAIR_TEXTS, few, "sample-pairs")
    result = house.run(RUBRIC_SCORES.name)
    scores = house.read(RUBRIC_SCORES)
    assert len(scores) == 3 and scores["score"].notna().all() and (scores["scorer"] == "small").all()
    metadata = result.asset_materializations_for_node("rubric_scores")[0].metadata
    assert metadata["small_n_tries"].value == 6 and metadata["small_invalid"].value == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scorer": "keyless"}, "scorer keyless gave no valid answer. The first says: authentication: set NO_SUCH_KEY"),
        ({"scorer": "told"}, "names 'told', a judge of backend recorded"),
        ({"scorer": "nobody"}, "judge 'nobody' is not in judges.yaml; it lists: "),
    ],
)
def test_a_judge_that_cannot_be_asked_is_named_with_what_to_do(
    house: House, settings: dict[str, str], message: str
) -> None:
    house.configure(**settings)
    result = house.run(RUBRIC_SCORES.name, fails=True)
    assert message in failure(result)
    [event] = result.get_step_failure_events()
    said = event.step_failure_data.user_failure_data.metadata.get("failure_classes")
    assert (said is not None and str(said.value).endswith(" authentication")) == (settings["scorer"] == "keyless")


def test_themes_over_all_sets_with_flags_of_those_that_were_tested(house: House) -> None:
    house.run(RUBRIC_THEMES.name, RUBRIC_THEME_SUMMARY.name, over_all=True)
    rows = house.read(RUBRIC_THEMES, EVERY_CONTEST)
    assert rows[["item", "theme", "assigned_by"]].to_numpy().tolist() == [
        ["polite", "explanation", "file"], ["length", "brevity", "words"], ["comments", "documentation", "words"],
    ]  # fmt: skip
    assert rows["misaligned"].isna().all()
    tests = [
        dict.fromkeys(MISALIGNMENT.column_names) | {
            "effect": "coefficient", "test": test, "item": "length", "value": -0.5, "n": 9, "n_left_out": 0,
            "n_judges": 2, "misaligned": True,
        }
        for test in ("paired", "trace_pooled")
    ]  # fmt: skip
    house.store.write(MISALIGNMENT, MISALIGNMENT.conform(tests), "sample-pairs")
    house.run(RUBRIC_THEMES.name, RUBRIC_THEME_SUMMARY.name, over_all=True)
    summary = house.read(RUBRIC_THEME_SUMMARY, EVERY_CONTEST).set_index("theme")
    assert bool(summary.loc["brevity", "misaligned"]) and summary.loc["brevity", "n_underweighted"] == 1
    assert summary["misaligned"].isna().sum() == 2
