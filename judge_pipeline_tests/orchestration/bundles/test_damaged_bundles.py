"""A bundle that a copy has damaged is told as such, with every file that is not as it was packed."""

from __future__ import annotations

import hashlib
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import pytest

from judge_pipeline.orchestration.bundles.crate import Described, crate_json
from judge_pipeline.orchestration.bundles.facts import CRATE, FACTS, MANIFEST, BundleFacts
from judge_pipeline.orchestration.bundles.manifest import manifest_text
from judge_pipeline.orchestration.bundles.recomputing import Recomputed
from judge_pipeline.orchestration.bundles.versions import code_sha256
from judge_pipeline.orchestration.verifying import Verified, _compared, verify_bundle
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.bundle import Level


def only_files(path: Path) -> Verified:
    return verify_bundle(path, cast("Any", None), cast("Any", None), only_files=True)


def packed(path: Path) -> Path:
    facts = BundleFacts("contest", "mini", "full", "9.9.9", "c0de")
    files = {f"var/{number}.txt": b"a line\n" * number for number in range(40)} | {FACTS: facts.to_json()}
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    files[CRATE] = crate_json(facts, [Described(name, "about", sums[name], 1) for name in files], "2026")
    sums[CRATE] = hashlib.sha256(files[CRATE]).hexdigest()
    files[MANIFEST] = manifest_text(sums).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def with_flipped(path: Path, name: str, place: int) -> Path:
    """One byte of a member, as it is packed, is another."""
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo(name).header_offset + 30 + len(name)
    data = bytearray(path.read_bytes())
    data[start + place] ^= 0xFF
    path.write_bytes(data)
    return path


def test_an_undamaged_one_is_good(tmp_path: Path) -> None:
    found = only_files(packed(tmp_path / "x.zip"))
    assert found.is_good() and found.n_files == 43


@pytest.mark.parametrize("place", [0, 5, 65, 200])
def test_a_damaged_manifest_is_told(tmp_path: Path, place: int) -> None:
    found = only_files(with_flipped(packed(tmp_path / "x.zip"), MANIFEST, place))
    assert any(problem.startswith(f"{MANIFEST} cannot be read: ") for problem in found.problems), found.problems


def test_where_what_it_says_of_itself_is_damaged_other_files_are_told_too(tmp_path: Path) -> None:
    path = with_flipped(packed(tmp_path / "x.zip"), FACTS, 5)
    found = only_files(with_flipped(path, "var/39.txt", 5))
    assert found.facts is None and not found.is_good()
    named = " ".join(found.problems)
    assert (
        f"{FACTS} is damaged" in named and f"{FACTS}: it is damaged" in named and "var/39.txt: it is damaged" in named
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("level", "withheld", "state"),
    [
        ("full", {}, "differs"),
        ("redacted", {"attempts": "raw files are withheld"}, "differs"),
        ("full", {"attempts": "somebody has withdrawn"}, "not recomputed"),
    ],
)
@pytest.mark.parametrize("name", ["mini/cocreation_report.html", "mini/figures/plotly.js"])
def test_an_edited_page_is_told_unless_it_tells_of_what_is_not_there(
    tmp_path: Path, name: str, level: Level, withheld: dict[str, str], state: str
) -> None:
    facts = BundleFacts("contest", "mini", level, version("judge-pipeline"), code_sha256(), (), withheld)
    for page, text in (
        (tmp_path / "bundle/var/reports" / name, "AUC 0.97"),
        (tmp_path / "anew/reports" / name, "0.47"),
    ):
        page.parent.mkdir(parents=True)
        page.write_text(text, encoding="utf-8")
    made = Recomputed(Workspace.find({}, tmp_path), {})
    (found,) = _compared(tmp_path / "bundle", tmp_path / "anew", facts, made, 1).pages
    assert (found.path, found.state) == (f"var/reports/{name}", state)
