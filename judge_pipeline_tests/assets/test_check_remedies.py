"""Each check says what to do where it fails, and what it names is there: jobs, assets, settings."""

from __future__ import annotations

import re

import dagster as dg
import pytest

from judge_pipeline.cli.init import schemas
from judge_pipeline.definitions import build_definitions
from judge_pipeline.settings import Workspace

_WORD = re.compile(r"\b[a-z]+(?:[_.][a-z]+)+\b")
_FILES = {
    "assets_config", "contest.yaml", "preference.yaml", "criteria.yaml", "themes.yaml", "splits_ledger.csv",
    "preference_splits_ledger.csv",
}  # fmt: skip


@pytest.fixture(scope="module")
def definitions(tmp_path_factory: pytest.TempPathFactory) -> dg.Definitions:
    return build_definitions(Workspace.find({}, tmp_path_factory.mktemp("anywhere")))


@pytest.fixture(scope="module")
def remedies(definitions: dg.Definitions) -> dict[str, str]:
    """``asset: check`` -> its remedy."""
    graph = definitions.resolve_asset_graph()
    found = {}
    for key in graph.asset_check_keys:
        description = graph.get_check_spec(key).description or ""
        found[f"{key.asset_key.to_user_string()}: {key.name}"] = description.partition(". Where it fails: ")[2]
    return found


def test_every_check_says_what_to_do_where_it_fails(remedies: dict[str, str]) -> None:
    assert len(remedies) > 150
    without = [check for check, remedy in remedies.items() if len(remedy) < 30 or not remedy.endswith(".")]
    assert without == []


def test_what_a_remedy_names_is_there(definitions: dg.Definitions, remedies: dict[str, str]) -> None:
    jobs = {job.name for job in definitions.resolve_all_job_defs()}
    assets = {key.to_user_string() for key in definitions.resolve_asset_graph().get_all_asset_keys()}
    settings = "\n".join(schemas().values())
    for check, remedy in remedies.items():
        for word in set(_WORD.findall(remedy)):
            known = word in jobs | assets | _FILES or all(f'"{part}"' in settings for part in word.split("."))
            assert known, f"{check}: {word} in {remedy!r}"
        for launched in re.findall(r"\b(?:launch|run) (\w+_\w+|anchor|canary)", remedy):
            assert launched in jobs, f"{check}: {launched}"


def test_no_remedy_begins_as_a_sentence_or_repeats_what_is_held(remedies: dict[str, str]) -> None:
    assert [remedy for remedy in remedies.values() if remedy[0].isupper() or ".." in remedy] == []
