"""Checking an audit bundle: every file as it was packed, and every table as it comes out of what is in it."""

from __future__ import annotations

import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from judge_pipeline.orchestration.bundles.checked import BAD, Checked, explained
from judge_pipeline.orchestration.bundles.comparing import compare_files
from judge_pipeline.orchestration.bundles.crate import crate_problems
from judge_pipeline.orchestration.bundles.facts import CRATE, FACTS, MANIFEST, OUT, BundleFacts
from judge_pipeline.orchestration.bundles.manifest import read_manifest
from judge_pipeline.orchestration.bundles.pages import alike_but_for
from judge_pipeline.orchestration.bundles.recipe import Jobs
from judge_pipeline.orchestration.bundles.recomputing import AnswersRead, DefinitionsOf, Recomputed, recompute
from judge_pipeline.orchestration.bundles.unpacking import open_archive, unpack
from judge_pipeline.orchestration.bundles.versions import code_sha256
from judge_pipeline.report.preference_inputs import VIEWS_OVER_SETS
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.tables import ALL_TABLES

_OVER_ALL = "its tables over all preference sets are left out of the comparison: they are not in the bundle of one"
_OF_PAGES = (".html", ".js")
"""Endings of what a reader sees of a report: pages, and the script that draws in them."""

_KEYS = {table.name: table.key for table in ALL_TABLES}


@dataclass(frozen=True)
class Verified:
    """What came of checking a bundle.

    Attributes:
        facts: what it says of itself; None where that cannot be read.
        n_files: files in it.
        problems: what is wrong with its files: changed, missing, further, not described.
        tables: of each table.
        pages: of each report page.
        not_in_bundle: tables that were made anew and are not in it.
        errors: jobs that failed -> why.
        answers: judgments held against the raw answers of their calls; None where nothing was made anew.
        notes: what else a reader should know.
    """

    facts: BundleFacts | None
    n_files: int
    problems: Sequence[str] = ()
    tables: Sequence[Checked] = ()
    pages: Sequence[Checked] = ()
    not_in_bundle: Sequence[str] = ()
    errors: Mapping[str, str] = field(default_factory=dict)
    answers: AnswersRead | None = None
    notes: Sequence[str] = ()

    def is_good(self) -> bool:
        """Whether nothing is wrong. What was not recomputed is not wrong, and not confirmed either."""
        states = {each.state for each in (*self.tables, *self.pages)}
        is_as_answered = self.answers is None or not self.answers.differing
        return not self.problems and not self.errors and not states & BAD and is_as_answered


def verify_bundle(
    path: Path,
    definitions_of: DefinitionsOf,
    jobs: Jobs,
    *,
    only_files: bool = False,
    progress: Callable[[int, int], None] = lambda done, of: None,
    say: Callable[[str], None] = lambda words: None,
) -> Verified:
    """Check the bundle's files against its manifests, then make its tables anew and compare.

    Where a file is not as it was packed, nothing is made anew: what comes out would say nothing.

    Args:
        path: the archive.
        definitions_of: makes the graph of a workspace.
        jobs: the names of its jobs.
        only_files: leave out making tables anew.
        progress: told the bytes that are unpacked, and those that there are.
        say: told what is being done.

    Raises:
        RefusedArchiveError: the archive cannot be unpacked safely.
        FileNotFoundError: there is no such file.
        SettingsError: what it says of itself cannot be read.
        JudgingError: the answers in it cannot be read.
    """
    with (
        open_archive(path) as archive,
        tempfile.TemporaryDirectory(prefix="judge-pipeline-verify-") as temporary,
    ):
        folder, out = Path(temporary) / "bundle", Path(temporary) / "anew"
        folder.mkdir()
        out.mkdir()
        names = {entry.filename for entry in archive.infolist()}
        sha256_of, problems = _manifest(archive, names)
        problems += unpack(archive, folder, sha256_of, progress)
        if CRATE in names:
            problems += crate_problems((folder / CRATE).read_bytes(), sha256_of)
        facts = _facts(folder, names, problems)
        if problems or facts is None or only_files:
            return Verified(facts, len(names), sorted(problems), notes=_notes(facts))
        made = recompute(folder, out, facts, definitions_of, jobs, say)
        return _compared(folder, out, facts, made, len(names))


def _facts(folder: Path, names: set[str], problems: list[str]) -> BundleFacts | None:
    """What the bundle says of itself; where its files are not as they were packed, they are told, and not only this.

    Raises:
        SettingsError: it cannot be read, and nothing else is wrong.
    """
    if FACTS not in names:
        return None
    try:
        return BundleFacts.from_json((folder / FACTS).read_bytes())
    except SettingsError as error:
        if not problems:
            raise
        problems.append(str(error))
        return None


def _manifest(archive: zipfile.ZipFile, names: set[str]) -> tuple[dict[str, str], list[str]]:
    """The manifest, and what is wrong with the names in the archive."""
    problems = [f"{name} is missing" for name in (MANIFEST, CRATE, FACTS) if name not in names]
    if MANIFEST not in names:
        return {}, problems
    try:
        sha256_of = read_manifest(archive.read(MANIFEST).decode())
    except (ValueError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        return {}, [*problems, f"{MANIFEST} cannot be read: {error}"]
    missing, added = sha256_of.keys() - names - {CRATE, FACTS}, names - sha256_of.keys() - {MANIFEST}
    problems += [f"{name} is missing: the manifest lists it" for name in sorted(missing)]
    problems += [f"{name} is not in the manifest: it was added" for name in sorted(added)]
    return sha256_of, problems


def _compared(folder: Path, out: Path, facts: BundleFacts, made: Recomputed, n_files: int) -> Verified:
    same_code = facts.code_sha256 == code_sha256()
    bundled = _files_in(folder / OUT / "tables", ".parquet")
    anew = set(_files_in(out / "tables", ".parquet"))
    tables = explained([_table(folder, out, name, anew, made) for name in bundled], facts, same_code=same_code)
    found = [name for suffix in _OF_PAGES for name in _files_in(folder / OUT / "reports", suffix)]
    pages = [_page(folder, out, name, facts, same_code=same_code) for name in found]
    further = sorted(anew - set(bundled))
    return Verified(facts, n_files, (), tables, pages, further, made.errors, made.answers, _notes(facts))


def _table(folder: Path, out: Path, name: str, anew: set[str], made: Recomputed) -> Checked:
    path = f"{OUT}/tables/{name}"
    why = made.given.get(name.removesuffix(".parquet"))
    if why is not None:
        return Checked(path, "not recomputed", (why,))
    if name not in anew:
        return Checked(path, "not made", ("no job made it from what is in the bundle",))
    found = compare_files(folder / path, out / "tables" / name, _KEYS.get(name.split("/", maxsplit=1)[0], ()))
    return Checked(path, found.verdict, found.differences, found.made_from)


def _page(folder: Path, out: Path, name: str, facts: BundleFacts, *, same_code: bool) -> Checked:
    path = f"{OUT}/reports/{name}"
    anew = out / "reports" / name
    if not anew.is_file():
        return Checked(path, "not recomputed", ("it was made on demand, and not by the jobs",))
    if (folder / path).read_bytes() == anew.read_bytes():
        return Checked(path, "identical")
    if not same_code:
        return Checked(path, "not recomputed", ("it tells by which sources it was made, and they are others",))
    if facts.level == "full" and not facts.is_whole():  # pages of a redacted one were made from what is in it
        return Checked(path, "not recomputed", ("it tells what it was made from, and not all of that is here",))
    if name.endswith("/preference_report.html") and alike_but_for(
        (folder / path).read_text(encoding="utf-8"), anew.read_text(encoding="utf-8"), VIEWS_OVER_SETS
    ):
        return Checked(path, "same rows", (_OVER_ALL,))
    return Checked(path, "differs", ("the page that comes out is another",))


def _files_in(root: Path, suffix: str) -> list[str]:
    found = root.rglob(f"*{suffix}") if root.is_dir() else ()
    return sorted(file.relative_to(root).as_posix() for file in found)


def _notes(facts: BundleFacts | None) -> list[str]:
    if facts is None:
        return []
    notes = []
    if facts.version != version("judge-pipeline") or facts.code_sha256 != code_sha256():
        notes.append(
            f"made by judge-pipeline {facts.version} with other sources than those of this one "
            f"({version('judge-pipeline')}): tables are compared by their values, and pages are not compared"
        )
    return notes
