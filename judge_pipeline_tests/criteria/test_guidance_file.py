"""Frozen guidance: the same bytes, an edit is refused with what to do; and what a stage is given of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.criteria.guidance import guidance_for, guidance_of_pairs
from judge_pipeline.criteria.guidance_file import GuidanceError, content_sha256, file_text, frozen, verified
from judge_pipeline.settings import packaged_config_dir
from judge_pipeline.settings.criteria import GUIDED_STAGES, GuidanceUse
from judge_pipeline.settings.guidance import FOLDER, Gap, GuidanceFile, category_key
from judge_pipeline.settings.yaml_file import SettingsError, load
from judge_pipeline.tables.guidance import GAPS

READY_MADE = packaged_config_dir() / FOLDER / "people-who-use-code.yaml"
HASH = "0" * 64


def texts(words: str = "x") -> dict[str, Any]:
    return {"generator": f"G {words}", "criterion_judge": f"C {words}", "final_judge": f"F {words}"}


def source(**values: Any) -> dict[str, Any]:
    return {
        "preference_set": "s", "split": "train", "judge": "j", "judge_model": "m", "synthesizer": "w",
        "synthesizer_model": "n", "seed": 1, "prompts": {}, "n_train": 1, "pairs": {"p": "g"}, **values,
    }  # fmt: skip


def guidance(**values: Any) -> GuidanceFile:
    return GuidanceFile.model_validate({"general": texts(), "categories": {"Web Design": texts("web")}, **values})


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(lambda s: s.strip())


@settings(max_examples=60)
@given(general=ANY_TEXT, category=ANY_TEXT, pairs=st.dictionaries(st.text(min_size=1), st.text(), min_size=1))
def test_a_frozen_file_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, general: str, category: str, pairs: dict[str, str]
) -> None:
    pairs = {k.encode("utf-8", "replace").decode(): v.encode("utf-8", "replace").decode() for k, v in pairs.items()}
    made = guidance(categories={category: texts(general)}, source=source(pairs=pairs))
    text = file_text(made)
    path = tmp_path_factory.getbasetemp() / "guidance.yaml"
    path.write_bytes(text.encode())
    assert verified(load(GuidanceFile, path), "x") == frozen(made)
    assert file_text(load(GuidanceFile, path)) == text


def laid(folder: Path, file: GuidanceFile, *changes: tuple[str, str]) -> Path:
    text = file_text(file)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "g.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("old", "new"),
    [("G web", "G edited"), ("p: g", "q: g"), ("judge: j", "judge: k"), ("seed: 1", "seed: 2"), ("G x", "G  y")],
)
def test_an_edited_file_is_refused_and_the_message_says_how_to_freeze_it_anew(
    tmp_path: Path, old: str, new: str
) -> None:
    path = laid(tmp_path, guidance(source=source()), (old, new))
    with pytest.raises(GuidanceError, match="it was edited") as refused:
        verified(load(GuidanceFile, path), str(path))
    assert str(path) in str(refused.value) and "assets_config/guidance/" in str(refused.value)
    said = re.search(r"'content_sha256: ([0-9a-f]{64})'", str(refused.value))
    assert said is not None
    path.write_text(re.sub("content_sha256: .*", f"content_sha256: {said[1]}", path.read_text("utf-8")), "utf-8")
    assert verified(load(GuidanceFile, path), str(path)).content_sha256 == said[1]


def test_comments_and_layout_are_no_edit(tmp_path: Path) -> None:
    path = laid(tmp_path, guidance(source=source()))
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text("utf-8")), width=40) + "\n# mine\n", encoding="utf-8")
    assert verified(load(GuidanceFile, path), "x") == frozen(guidance(source=source()))


def test_synthesized_guidance_without_a_hash_is_refused_and_people_s_is_not() -> None:
    with pytest.raises(GuidanceError, match="has no content_sha256"):
        verified(guidance(source=source()), "x")
    assert verified(guidance(), "x").source is None
    with pytest.raises(GuidanceError, match="'content_sha256: "):
        verified(guidance(content_sha256=HASH), "x")
    assert content_sha256(guidance(content_sha256=HASH)) == content_sha256(guidance())


def test_the_ready_made_file_rests_on_no_pair_and_knows_the_paper_s_categories() -> None:
    file = verified(load(GuidanceFile, READY_MADE), "x")
    assert file.source is None and "Ready-made" in (file.note or "")
    called = {
        "web_design": "web development", "Game Development": "game development", "creative coding": "creative coding",
        "diagram-creation": "diagram creation", "Scientific Computing": "scientific computing",
        "problem_solving": "problem solving",
    }  # fmt: skip
    assert {name: file.category_called(name) for name in called} == called
    assert set(file.categories) == set(called.values())
    assert file.category_called("chat") is None and file.category_called(None) is None


def test_a_stage_is_given_the_general_part_and_then_its_category_s() -> None:
    use, file = GuidanceUse(), guidance()
    both = "In any task:\n{0} x\n\nIn particular in tasks of the category Web Design:\n{0} web"
    for stage, letter in zip(GUIDED_STAGES, "GCF", strict=True):
        assert guidance_for(file, use, stage, "web-design") == both.format(letter)
        assert guidance_for(file, use, stage, "games") == f"In any task:\n{letter} x"


def test_parts_and_stages_are_switched_one_by_one() -> None:
    file = guidance()
    heading = "In particular in tasks of the category Web Design:"

    def given_with(**values: Any) -> list[str | None]:
        return [guidance_for(file, GuidanceUse(**values), "generator", name) for name in ("WEB DESIGN", "games", None)]

    general = "In any task:\nG x"
    assert given_with(category="none") == [general, general, general]
    assert given_with(category="empty") == [f"{general}\n\n{heading}", general, general]
    assert given_with(general=False) == [f"{heading}\nG web", None, None]
    assert given_with(general=False, category="none") == [None, None, None]
    assert given_with(stages=("final_judge",)) == [None, None, None]
    of_pairs = guidance_of_pairs(
        file, GuidanceUse(general=False, stages=("generator",)), {"p": "web design", "q": None}
    )
    assert of_pairs == {"generator": {"p": f"{heading}\nG web"}}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Web-Development", "web  development", True), ("web_dev", "WEB DEV", True), ("C++", "C", False),
        ("C#", "C++", False), ("\uff37eb", "web", True), ("a", "b", False), ("--", "-", False),
    ],
)  # fmt: skip
def test_categories_are_matched_whatever_their_case_and_punctuation(one: str, other: str, same: bool) -> None:
    assert (category_key(one) == category_key(other)) == same


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"categories": {"web dev": texts(), "Web-Dev": texts()}}, "both called 'web dev'"),
        ({"categories": {"a": {**texts(), "also_called": ["b"]}, "b": texts()}}, "both called 'b'"),
        ({"categories": {" ": texts()}}, "blank name"),
        ({"general": {**texts(), "generator": " \n"}}, "is blank"),
        ({"general": {**texts(), "final_judge": "x" * 1501}}, "1500"),
        ({"source": source(split="val")}, "train"),
        ({"source": source(pairs={})}, "pairs"),
    ],
    ids=str,
)
def test_a_wrong_file_is_refused_with_its_name(tmp_path: Path, values: dict[str, Any], said: str) -> None:
    path = tmp_path / "g.yaml"
    path.write_text(yaml.safe_dump({"general": texts(), **values}), encoding="utf-8")
    with pytest.raises(SettingsError, match=said) as refused:
        load(GuidanceFile, path)
    assert str(path) in str(refused.value)


def test_the_closed_set_of_gaps_is_one() -> None:
    assert get_args(Gap) == GAPS
