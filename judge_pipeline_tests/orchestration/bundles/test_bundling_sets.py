"""A preference set judged by criteria, bundled in full and redacted, and verified."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from judge_pipeline.cli.criteria_demo import JUDGE
from judge_pipeline.cli.verify import definitions_of, jobs
from judge_pipeline.orchestration.bundles.archive import write_archive
from judge_pipeline.orchestration.bundling import prepared_bundle
from judge_pipeline.orchestration.redacted_bundle import redacted_bundle
from judge_pipeline.orchestration.trace_pages_of_set import CriteriaPages
from judge_pipeline.orchestration.verifying import Verified, verify_bundle
from judge_pipeline_tests.criteria.scripted_house import SET, ScriptedHouse, made_pairs, script, scripted_house
from judge_pipeline_tests.orchestration.listed_on_pages import check_home_and_back

ANNOTATORS = ("annotator-anna", "annotator-bo")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedHouse]:
    with scripted_house(tmp_path_factory.mktemp("set"), script(), 6) as made:
        rows = [row | {"votes": {ANNOTATORS[0]: row["w"], ANNOTATORS[1]: row["w"]}} for row in made_pairs(6)]
        made.write_pairs(rows)
        assert made.run("monolithic", "full").code == 0, made.printed.getvalue()
        yield made


def packed(house: ScriptedHouse, target: Path, level: str) -> Path:
    kind = "preference_set"
    prepared = (
        prepared_bundle(house.workspace, kind, SET)
        if level == "full"
        else redacted_bundle(house.workspace, kind, SET, definitions_of, jobs(), lambda words: None)
    )
    with prepared as bundle:
        write_archive(target, bundle.members, bundle.facts, bundle.published, bundle.search, lambda done, of: None)
    return target


def verified(house: ScriptedHouse, path: Path) -> Verified:
    asked = len(house.server.bodies)
    found = verify_bundle(path, definitions_of, jobs())
    assert len(house.server.bodies) == asked > 0
    others = [each for each in (*found.tables, *found.pages) if each.state != "identical"]
    assert found.is_good(), (found.problems, found.errors, others)
    return found


@pytest.mark.slow
def test_the_pages_of_criteria_list_what_counts_home_and_back(house: ScriptedHouse) -> None:
    check_home_and_back(house.workspace, CriteriaPages, SET)


@pytest.mark.slow
def test_a_set_with_guidance_and_criteria_comes_out_of_its_bundle(house: ScriptedHouse, tmp_path: Path) -> None:
    found = verified(house, packed(house, tmp_path / "full.zip", "full"))
    tables = {each.path: each.state for each in found.tables}
    assert set(tables.values()) == {"identical"}
    for name in ("criteria_ablation/made-pairs", f"guidance/made-pairs/{JUDGE}",
                 f"criteria_decisions/made-pairs/{JUDGE}@full"):  # fmt: skip
        assert f"var/tables/{name.replace('made-pairs', SET)}.parquet" in tables
    assert {each.state for each in found.pages} == {"identical"}
    pages = {each.path for each in found.pages}
    for name in ("index", f"judge-{JUDGE}@full", f"judge-{JUDGE}@monolithic"):
        assert f"var/reports/{SET}/criteria_trace/{name}.html" in pages


@pytest.mark.slow
def test_a_redacted_set_names_no_annotator_and_comes_out(house: ScriptedHouse, tmp_path: Path) -> None:
    path = packed(house, tmp_path / "redacted.zip", "redacted")
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            if name.endswith(".parquet"):
                data += json.dumps(pq.read_table(io.BytesIO(data)).to_pydict(), default=str).encode()
            assert not [who for who in ANNOTATORS if who.encode() in data], name
        assert not [name for name in archive.namelist() if name.startswith("data/")]
        files = archive.read(f"var/reports/{SET}/criteria_trace/files.html").decode()
        assert "withheld" in files and "gone" not in files
    found = verified(house, path)
    assert [each for each in found.pages if each.state != "identical"] == []
    assert f"var/reports/{SET}/criteria_trace/rows.html" in {each.path for each in found.pages}
    states = {each.path.split("/")[2]: each.state for each in found.tables}
    assert states["criteria_ablation"] == states["guidance"] == "identical"
    assert states["preference_pairs"] == states["pair_texts"] == "not recomputed"
