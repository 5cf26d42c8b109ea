"""What a bundle says of what ran: sums that can be checked, and the commit where there is one."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import judge_pipeline
from judge_pipeline.orchestration.bundles.facts import BundleFacts, workspace_in
from judge_pipeline.orchestration.bundles.manifest import read_manifest
from judge_pipeline.orchestration.bundles.versions import git_commit, version_files
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings.yaml_file import SettingsError

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def git_folder(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / ".git" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / ".git" / name).write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"HEAD": f"{COMMIT}\n"}, COMMIT),
        ({"HEAD": "ref: refs/heads/main\n", "refs/heads/main": f"{COMMIT}\n"}, COMMIT),
        ({"HEAD": "ref: refs/heads/main\n", "packed-refs": f"# pack\n{COMMIT} refs/heads/main\n"}, COMMIT),
        ({"HEAD": "ref: refs/heads/new\n", "packed-refs": f"{COMMIT} refs/heads/main\n"}, None),
        ({"HEAD": "ref: refs/heads/new\n"}, None),
        ({"HEAD": "nonsense"}, None),
        ({}, None),
    ],
)
def test_the_commit_is_read_where_there_is_one(tmp_path: Path, files: dict[str, str], found: str | None) -> None:
    assert git_commit(git_folder(tmp_path, files)) == found


def test_a_worktree_knows_its_commit(tmp_path: Path) -> None:
    main = git_folder(tmp_path / "main", {"refs/heads/side": COMMIT, "worktrees/w/HEAD": "ref: refs/heads/side"})
    (main / ".git" / "worktrees" / "w" / "commondir").write_text("../..\n", encoding="utf-8")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {main / '.git' / 'worktrees' / 'w'}\n", encoding="utf-8")
    assert git_commit(tree) == COMMIT


def test_sources_are_listed_with_their_sums_and_no_path_of_this_machine() -> None:
    files = {member.path: member.open().read() for member in version_files()}
    sums = read_manifest(files["versions/sources-sha256.txt"].decode())
    package = Path(judge_pipeline.__file__).parent
    own = "judge_pipeline/orchestration/bundles/versions.py"
    assert sums[own] == hashlib.sha256((package.parent / own).read_bytes()).hexdigest()
    assert json.loads(files["versions/versions.json"])["judge_pipeline"]
    assert b"dagster==" in files["versions/installed-packages.txt"]
    assert not [path for path, data in files.items() if str(package.parent).encode() in data]


def test_an_unpacked_bundle_is_in_its_folder_whatever_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_PIPELINE_STORE_URL", str(tmp_path / "shared"))
    monkeypatch.setenv("JUDGE_PIPELINE_CHECKPOINT_URL", "postgresql://nobody@localhost/shared")
    workspace = workspace_in(tmp_path / "bundle", tmp_path / "anew")
    assert workspace.store_dir == tmp_path / "anew"
    assert workspace.checkpoint_url == f"sqlite:///{tmp_path / 'anew' / 'checkpoint.sqlite'}"
    assert store_of(workspace).folder == tmp_path / "anew" / "tables"


def test_facts_that_are_damaged_or_of_a_later_format_are_told() -> None:
    facts = BundleFacts("contest", "mini", "full", "9.9.9", "c0de", ("KEY",), {"attempts": "why"})
    assert BundleFacts.from_json(facts.to_json()) == facts
    with pytest.raises(
        SettingsError, match=r"format 2 is newer than this version knows \(1\): .* judge-pipeline 9.9.9"
    ):
        BundleFacts.from_json(facts.to_json().replace(b'"format": 1', b'"format": 2'))
    for text in (b"", b"[]", b"{}", facts.to_json().replace(b'"mini"', b'"../up"'), facts.to_json() + b"x"):
        with pytest.raises(SettingsError, match="ask for the bundle again"):
            BundleFacts.from_json(text)


def test_a_later_format_is_told_whatever_it_says_beside() -> None:
    later = json.dumps({"format": 2, "version": "9.9.9", "told_in_another_way": True}).encode()
    with pytest.raises(SettingsError, match=r"format 2 is newer .* judge-pipeline 9.9.9"):
        BundleFacts.from_json(later)


@pytest.mark.parametrize(
    "said",
    [
        {"format": float("inf")},
        {"kind": ["contest"]},
        {"name": ["mini"]},
        {"version": 1},
        {"withheld": ["attempts"]},
        {"withheld": {"attempts": 1}},
        {"extra": [1]},
        {"extra": {"n_withdrawn": "some"}},
        {"extra": {"n_withdrawn": 10**12}},
    ],
)
def test_facts_of_other_kinds_are_refused_before_they_are_used(said: dict[str, object]) -> None:
    facts = json.loads(BundleFacts("contest", "mini", "full", "9.9.9", "c0de").to_json())
    with pytest.raises(SettingsError, match="ask for the bundle again"):
        BundleFacts.from_json(json.dumps(facts | said).encode())


def test_facts_nested_without_end_are_refused() -> None:
    with pytest.raises(SettingsError, match="ask for the bundle again"):
        BundleFacts.from_json(b"[" * 200_000)
