"""What of a workspace goes into a bundle: files by their use, and nothing that no figure rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from judge_pipeline.ingest.contest_folder import ListedFile, list_files
from judge_pipeline.ingest.image_files import EXTENSIONS
from judge_pipeline.orchestration.bundles.facts import CONFIG, OUT, BundleFacts, Kind
from judge_pipeline.orchestration.bundles.members import Member, Role
from judge_pipeline.orchestration.preference_sets import SET_TABLES, files_of_judges, set_files_found
from judge_pipeline.orchestration.splits_ledger import SplitsLedger
from judge_pipeline.report.trace_anchor import CRITERIA_FOLDER, PREFERENCE_FOLDER
from judge_pipeline.settings import RecordedJudge, Workspace, packaged_config_dir
from judge_pipeline.settings.guidance import FOLDER as GUIDANCE_FOLDER
from judge_pipeline.tables import ALL_TABLES

_CONFIG_FILES = ("judges.yaml", "contests.yaml", "preference.yaml", "criteria.yaml", "injections.yaml")
"""automation.yaml is not among them: it decides on no number, and may name where a team is told of failures."""

_CONFIG_FOLDERS = ("prompts", GUIDANCE_FOLDER, "rubrics")
_IMAGES = tuple(f".{extension}" for extension in (*EXTENSIONS.values(), "jpeg"))
"""Screenshots of responses, which files of pairs name."""

_CONTEST_YAML, _SET_YAML = "contest.yaml", "preference.yaml"


def configuration(workspace: Workspace, kind: Kind, leave_out: tuple[str, ...] = ()) -> Iterator[Member]:
    """The configuration: of the workspace, and of a set what of the package's own is used in its place.

    Pages of contests tell which files of settings there are: a file that was not there must not be there anew.
    """
    packaged = packaged_config_dir()
    places = [workspace.config_dir, *([packaged] if kind == "preference_set" else [])]
    for name in _CONFIG_FILES:
        found = next((place / name for place in places if (place / name).is_file()), None)
        if found is not None and name not in leave_out:
            yield Member(f"{CONFIG}/{name}", "configuration", found)
    for folder in _CONFIG_FOLDERS:
        names = {file.name: file for d in (packaged, workspace.config_dir) for file in _files_in(d / folder)}
        for name, file in names.items():
            yield Member(f"{CONFIG}/{folder}/{name}", "configuration", file)


def raw_files(workspace: Workspace, facts: BundleFacts, folder: Path, keep: Callable[[str], bool]) -> Iterator[Member]:
    """The files of the contest's or set's folder that are read.

    Args:
        workspace: the workspace.
        facts: what the bundle is of.
        folder: the folder.
        keep: path relative to the folder -> whether it may go out.
    """
    found = _of_contest(workspace, folder) if facts.kind == "contest" else _of_set(workspace, folder)
    seen: set[str] = set()
    for path, file in found:
        if path not in seen and keep(path):
            seen.add(path)
            yield Member(f"{facts.data_folder}/{path}", "data", file)


def produced(workspace: Workspace, facts: BundleFacts) -> Iterator[Member]:
    """What runs have made of it: tables, the ledger of splits, pages; of a set rubrics and guidance, too."""
    yield from tables_of(workspace, facts)
    store, name = workspace.store_dir, facts.name
    of_kind = SplitsLedger.of_contest if facts.kind == "contest" else SplitsLedger.of_preference_set
    ledger = of_kind(store, name).path
    yield from _below(store, ledger.parent, "ledger", lambda path: path.name == ledger.name)
    pages = store / "reports" / name
    is_of_set = facts.kind == "preference_set"
    yield from _below(store, pages, "report", lambda path: path.suffix == ".js" or _is_of_set(path) == is_of_set)
    if is_of_set:
        yield from _below(store, store / GUIDANCE_FOLDER / name, "configuration")
        edited = {f"{name}.yaml", f"{name}.found.yaml"}
        yield from _below(store, store / "rubrics", "configuration", lambda path: path.name in edited)


def tables_of(workspace: Workspace, facts: BundleFacts) -> Iterator[Member]:
    """Its tables; what is over all contests or sets is not among them."""
    root = workspace.store_dir / "tables"
    of_set = facts.kind == "preference_set"
    for table in sorted({table.name for table in ALL_TABLES}):
        if (table in SET_TABLES) != of_set:
            continue
        whole = root / table / f"{facts.name}.parquet"
        if whole.is_file():
            yield Member(f"{OUT}/tables/{table}/{whole.name}", "table", whole)
        yield from _below(
            workspace.store_dir, root / table / facts.name, "table", lambda path: path.suffix == ".parquet"
        )


def _of_contest(workspace: Workspace, folder: Path) -> Iterator[tuple[str, Path]]:
    for kind in ("submissions", "prompts"):
        for listed in list_files(folder, kind):
            if isinstance(listed, ListedFile):
                yield str(Path(listed.file).relative_to(folder)), Path(listed.file)
    settings, judges = workspace.contest(folder), workspace.judges()
    named = [_CONTEST_YAML]
    recorded = [judges.get(name) for name in judges.names("cocreation")]
    named += [judge.file for judge in recorded if isinstance(judge, RecordedJudge)]
    if settings.anchor is not None and isinstance(settings.anchor.attempt_ids, str):
        named.append(settings.anchor.attempt_ids)
    yield from _named(folder, named)
    yield from ((f"problems/{file.name}", file) for file in _files_in(folder / "problems"))


def _of_set(workspace: Workspace, folder: Path) -> Iterator[tuple[str, Path]]:
    of_judges = files_of_judges(workspace)
    settings = workspace.preference(folder)
    yield from set_files_found(folder, settings, of_judges)
    scores = settings.rubric.recorded_scores
    yield from _named(folder, [_SET_YAML, "rubric.yaml", *sorted(of_judges), *([] if scores is None else [scores])])
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder)
        if path.suffix.lower() in _IMAGES and not file.is_symlink() and not any(p.startswith(".") for p in path.parts):
            yield path.as_posix(), file


def _named(folder: Path, names: list[str]) -> Iterator[tuple[str, Path]]:
    for name in names:
        if (folder / name).is_file():
            yield Path(name).as_posix(), folder / name


def _files_in(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))


def _is_of_set(page: Path) -> bool:
    """Whether a page is a set's: a contest and a set may be called alike, and share the folder of reports."""
    figures_of = page.stem if page.parent.name == "figures" else None
    in_folder = figures_of in SET_TABLES or page.parent.name in (PREFERENCE_FOLDER, CRITERIA_FOLDER)
    return in_folder or page.name in ("preference_report.html", "criteria_report.html")


def _below(store: Path, folder: Path, role: Role, keep: Callable[[Path], bool] = lambda path: True) -> Iterator[Member]:
    if not folder.is_dir():
        return
    start = len(str(store).rstrip("/")) + 1
    for file in sorted(folder.rglob("*"), key=str):
        if file.is_file() and not file.name.startswith(".") and keep(file):
            yield Member(f"{OUT}/{str(file)[start:]}", role, file)
