"""The stored tables of a workspace as what figures are traced through, each read once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from judge_pipeline.orchestration.all_preference_sets import preference_defaults
from judge_pipeline.orchestration.contest_folders import contest_folder, contest_folders
from judge_pipeline.orchestration.noted_folders import is_folder
from judge_pipeline.orchestration.parquet_store import EVERY_CONTEST, ParquetStore
from judge_pipeline.orchestration.preference_sets import preference_folder, preference_folders
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import RecordedJudge, Workspace
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.table_schema import Table, TableError
from judge_pipeline.tables import ATTEMPTS, JUDGE_REQUESTS, PREFERENCE_PAIRS
from judge_pipeline.tables.reratings import RERATINGS

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.lineage.artifacts import Files
    from judge_pipeline.lineage.sources import Options, Sources


class TracedWorkspace:
    """The contests and preference sets of a workspace that were read, and what is over all of them.

    Args:
        workspace: the workspace.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace, self.store = workspace, store_of(workspace)
        folders, sets = contest_folders(workspace), preference_folders(workspace)
        self.contests = [n for n, place in folders.items() if self._is_there(ATTEMPTS, n) and is_folder(place)]
        self.sets = [n for n, place in sets.items() if self._is_there(PREFERENCE_PAIRS, n) and is_folder(place)]
        self._sources: dict[tuple[str, str], Sources] = {}
        self._files: dict[tuple[str, str], Files] = {}

    def sources(self, kind: str, name: str) -> Sources:
        """The tables of a contest, of a set, or over all."""
        from judge_pipeline.lineage.sources import CONTEST, OVER_ALL, PREFERENCE_SET

        key = (kind, name)
        if key not in self._sources:
            make = {CONTEST: self._of_contest, PREFERENCE_SET: self._of_set, OVER_ALL: self._over_all}[kind]
            self._sources[key] = make(name)
        return self._sources[key]

    def files(self, kind: str, name: str) -> Files:
        """Which files lie behind which rows."""
        from judge_pipeline.lineage.artifacts import Brought, Files
        from judge_pipeline.lineage.sources import CONTEST, OVER_ALL, PREFERENCE_SET

        key = (kind, name)
        if key not in self._files:
            brought = Brought()
            if kind == CONTEST:
                statements = self._statements(name)
                brought = Brought(self._recorded("cocreation", contest_folder(self.workspace, name)), statements)
            elif kind == PREFERENCE_SET:
                brought = Brought(self._recorded("preference", preference_folder(self.workspace, name)))
            self._files[key] = Files(self.sources(kind, name), brought)
        if kind == OVER_ALL:
            for of, own in self.everything():
                self.files(of, own)
        return self._files[key]

    def all_files(self) -> Mapping[tuple[str, str], Files]:
        """The files of every contest and set, by kind and name."""
        return {key: self.files(*key) for key in self.everything()}

    def everything(self) -> list[tuple[str, str]]:
        """Kind and name of every contest and set."""
        from judge_pipeline.lineage.sources import CONTEST, PREFERENCE_SET

        return [*((CONTEST, name) for name in self.contests), *((PREFERENCE_SET, name) for name in self.sets)]

    def folder(self, kind: str, name: str) -> Path:
        """Where a contest's or a set's files lie."""
        from judge_pipeline.lineage.sources import CONTEST

        return (contest_folder if kind == CONTEST else preference_folder)(self.workspace, name)

    def without_folder(self) -> list[tuple[str, str]]:
        """Kind and name of the contests and sets whose tables are stored, and whose folders are gone."""
        from judge_pipeline.lineage.sources import CONTEST, PREFERENCE_SET

        known = ((CONTEST, ATTEMPTS, self.contests), (PREFERENCE_SET, PREFERENCE_PAIRS, self.sets))
        return [(kind, n) for kind, table, there in known for n in self.store.partitions(table) if n not in there]

    def _is_there(self, table: Table, name: str) -> bool:
        return self.store.path(table, name).is_file()

    def _of_contest(self, name: str) -> Sources:
        from judge_pipeline.lineage.sources import CONTEST, Options, Sources

        settings = self.workspace.contest(contest_folder(self.workspace, name))
        options = Options(seed=settings.seed, model_levels=settings.revision.model_levels)
        return Sources(CONTEST, name, reader(self.store, name), self._parts(name), options)

    def _of_set(self, name: str) -> Sources:
        from judge_pipeline.lineage.sources import PREFERENCE_SET, Options, Sources

        settings = self.workspace.preference(preference_folder(self.workspace, name))
        options = Options(
            seed=settings.seed,
            scoring_rule=settings.scoring_rule,
            panel=tuple(self.workspace.judges().panel("preference")),
            agreement_pairs=settings.rubric.agreement_pairs,
            natural_languages=settings.natural_languages,
        )
        return Sources(PREFERENCE_SET, name, reader(self.store, name), self._parts(name), options)

    def _over_all(self, name: str) -> Sources:
        from judge_pipeline.lineage.sources import OVER_ALL, Sources
        from judge_pipeline.orchestration.all_contests import stored_answers

        others = {key: self.sources(*key) for key in self.everything()}
        read, parts = reader(self.store, EVERY_CONTEST), self._parts(EVERY_CONTEST)
        return Sources(OVER_ALL, name, read, parts, self._ranking(), others, lambda: stored_answers(self.workspace))

    def _ranking(self) -> Options:
        from judge_pipeline.lineage.sources import Options

        rule = preference_defaults(self.workspace).scoring_rule
        return Options(scoring_rule=rule, panel=tuple(self.workspace.judges().panel("preference")))

    def _parts(self, name: str) -> Callable[[Table], list[str]]:
        return lambda table: self.store.parts(table, name)

    def _recorded(self, system: str, folder: Path) -> dict[str, str]:
        """Judge -> the file in the folder that its answers were brought in."""
        judges, found = self.workspace.judges(), {}
        for name in judges.names("preference" if system == "preference" else "cocreation"):
            settings = judges.get(name)
            if isinstance(settings, RecordedJudge) and (folder / settings.file).is_file():
                found[name] = Path(settings.file).as_posix()
        return found

    def _statements(self, contest: str) -> dict[str, str]:
        """Problem -> the file of its statement, where the requests show it."""
        if not self._is_there(JUDGE_REQUESTS, contest):
            return {}
        requests = self.sources("contest", contest)[JUDGE_REQUESTS]
        shown = sorted(set(requests.loc[requests["problem_statement"].notna(), "problem_id"]))
        folder = contest_folder(self.workspace, contest) / "problems"
        there = {
            file.stem: f"problems/{file.name}" for file in sorted(folder.glob("*")) if file.suffix in (".md", ".txt")
        }
        return {problem: there[problem] for problem in shown if problem in there}


def reader(store: ParquetStore, name: str) -> Callable[..., pd.DataFrame]:
    """Reads a table of a contest, of a set, or of one of its judges."""
    from judge_pipeline.lineage.sources import MissingTableError

    def read(table: Table, *judge: str) -> pd.DataFrame:
        if table is RERATINGS and not store.path(table, name).is_file():
            return table.empty()  # nobody judged again
        try:
            return store.read(table, name, *judge)
        except FileNotFoundError:
            of = "|".join([name, *judge])
            raise MissingTableError(f"table {table.name} of {of} is not there: make it with a run") from None
        except TableError as error:
            raise MissingTableError(str(error).replace(f"{store.root}/", "")) from None

    return read


def contest_or_set(traced: TracedWorkspace, contest: str | None, preference_set: str | None) -> list[tuple[str, str]]:
    """The contest or the set that was named, or all of them.

    Raises:
        SettingsError: there is none of the name that was read, or its folder is gone.
    """
    from judge_pipeline.lineage.sources import CONTEST, PREFERENCE_SET

    for kind, name, known, command in (
        (CONTEST, contest, traced.contests, "run"),
        (PREFERENCE_SET, preference_set, traced.sets, "preference"),
    ):
        if name is not None and name not in known:
            words = kind.replace("_", " ")
            if (kind, name) in traced.without_folder():
                raise SettingsError(
                    f"{words} {name!r} was read, and its tables are kept in {traced.store.folder}, but its folder is "
                    "gone: bring the folder back, and its figures can be traced"
                )
            raise SettingsError(
                f"no {words} {name!r} was read; there are: {', '.join(known) or 'none'}. Read it with judge-pipeline "
                f"{command}"
            )
    chosen = [(CONTEST, contest)] if contest else []
    chosen += [(PREFERENCE_SET, preference_set)] if preference_set else []
    return [(kind, str(name)) for kind, name in chosen] or traced.everything()
