"""The manifest, which ``sha256sum`` itself reads; and the crate, which the package ``rocrate`` reads."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.orchestration.bundles.crate import Described, crate_json, crate_problems
from judge_pipeline.orchestration.bundles.facts import CRATE, MANIFEST, BundleFacts
from judge_pipeline.orchestration.bundles.manifest import manifest_text, read_manifest
from judge_pipeline.orchestration.bundles.members import Member, in_order, why_not_portable
from judge_pipeline.settings.yaml_file import SettingsError

FACTS = BundleFacts("contest", "mini", "full", "0.1.0", "c0de")
PATHS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), min_size=1, max_size=20)
SHA256 = st.binary(min_size=32, max_size=32).map(bytes.hex)


@given(st.dictionaries(PATHS, SHA256, min_size=1, max_size=5))
def test_what_is_written_is_read_whatever_files_are_called(sha256_of: dict[str, str]) -> None:
    assert read_manifest(manifest_text(sha256_of)) == sha256_of


@settings(max_examples=50)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = read_manifest(text)
    except ValueError:
        return
    assert len(found) == len(text.removesuffix("\n").split("\n"))
    assert read_manifest(manifest_text(found)) == found


def test_a_file_that_is_listed_twice_is_refused() -> None:
    line = f"{'0' * 64}  a.txt\n"
    with pytest.raises(ValueError, match=r"line 2: 'a\.txt' is in it twice"):
        read_manifest(line + line)


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="sha256sum is not on this machine")
@pytest.mark.parametrize("change", [None, "a b.txt", "line\nbreak.txt"])
def test_sha256sum_says_the_same(tmp_path: Path, change: str | None) -> None:
    files = {"a b.txt": b"one", "ü/c.txt": b"two", "line\nbreak.txt": b"three"}
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data if name != change else b"other")
    text = manifest_text({name: hashlib.sha256(data).hexdigest() for name, data in files.items()})
    (tmp_path / MANIFEST).write_text(text, encoding="utf-8")
    done = subprocess.run(["sha256sum", "-c", "--quiet", MANIFEST], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode == 0) == (change is None)


@given(st.dictionaries(PATHS.filter(lambda path: why_not_portable(path) is None), SHA256, max_size=5))
def test_a_crate_describes_what_the_manifest_lists(sha256_of: dict[str, str]) -> None:
    sha256_of = {path: sha for path, sha in sha256_of.items() if path not in (CRATE, MANIFEST)}
    text = crate_json(FACTS, [Described(path, "table", sha, 1) for path, sha in sha256_of.items()], "2026-04-01")
    assert crate_problems(text, sha256_of | {CRATE: "0" * 64}) == []
    assert text == crate_json(
        FACTS, [Described(path, "table", sha256_of[path], 1) for path in reversed(sha256_of)], "2026-04-01"
    )


def test_the_package_rocrate_reads_the_crate(tmp_path: Path) -> None:
    from rocrate.rocrate import ROCrate

    path = "var/tables/a b/x%20ü.parquet"
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_bytes(b"data")
    (tmp_path / MANIFEST).write_bytes(b"")
    text = crate_json(FACTS, [Described(path, "table", "a" * 64, 4)], "2026-04-01T00:00:00Z")
    (tmp_path / CRATE).write_bytes(text)
    crate = ROCrate(tmp_path)
    files = {entity.id: entity.properties() for entity in crate.get_by_type("File")}
    assert {MANIFEST, "var/tables/a%20b/x%2520%C3%BC.parquet"} <= files.keys()
    assert files["var/tables/a%20b/x%2520%C3%BC.parquet"]["sha256"] == "a" * 64
    assert str(crate.root_dataset["datePublished"]).startswith("2026-04-01")
    assert crate.metadata.properties()["conformsTo"]["@id"].endswith("/crate/1.2")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda graph: graph["./"]["hasPart"].pop(0), "does not describe"),
        (lambda graph: graph["b.txt"].update(sha256="f" * 64), "another sha256 of b.txt"),
        (lambda graph: graph["./"]["hasPart"].append({"@id": "b.txt/../c"}), "is no RO-Crate"),
        (lambda graph: graph[CRATE]["about"].update({"@id": "./elsewhere"}), "not this folder"),
        (lambda graph: graph[CRATE]["conformsTo"].update({"@id": "https://example.org"}), "no RO-Crate"),
    ],
)
def test_a_crate_that_was_changed_is_told(change: object, said: str) -> None:
    files = {"a.txt": "a" * 64, "b.txt": "b" * 64}
    crate = json.loads(crate_json(FACTS, [Described(path, "table", sha, 1) for path, sha in files.items()], "2026"))
    graph = {entity["@id"]: entity for entity in crate["@graph"]}
    change(graph)  # type: ignore[operator]
    problems = crate_problems(json.dumps({"@graph": list(graph.values())}).encode(), files)
    assert any(said in problem for problem in problems), problems


@given(st.binary(max_size=200))
def test_whatever_stands_for_a_crate_is_told_and_never_crashes(text: bytes) -> None:
    assert crate_problems(text, {"a.txt": "a" * 64})


def test_a_crate_nested_without_end_is_told() -> None:
    assert crate_problems(b"[" * 200_000, {})[0].startswith(f"{CRATE} is no RO-Crate: RecursionError")


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../up", "a/../../b", "a//b", "a/./b", "C:/x", "a\\b", "a\x00b", "a\nb", "a/", ".", "x" * 1001,
     "a/\udcff"],
)  # fmt: skip
def test_no_member_has_a_path_that_means_something_else_somewhere(path: str) -> None:
    with pytest.raises(SettingsError, match="cannot go into a bundle"):
        in_order([Member(path, "data", b"")])


def test_members_are_in_order_and_none_is_there_twice() -> None:
    members = [Member(path, "data", b"") for path in ("b", "a/c", "a")]
    assert [member.path for member in in_order(members)] == ["a", "a/c", "b"]
    with pytest.raises(SettingsError, match="twice"):
        in_order([*members, members[0]])
