"""Withdrawal: removing a participant of a contest from everything that runs have produced.

The order makes it safe to be cut off at any point: first a tombstone, so that no later run reads the person again;
last the two tables from which their attempt ids follow. The same call completes what another has begun.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_pipeline.ingest.contest_folder import participant_and_problem_of
from judge_pipeline.orchestration.contest_folders import contest_folders
from judge_pipeline.orchestration.exports import start_page_path
from judge_pipeline.orchestration.instance import dagster_home, open_instance
from judge_pipeline.orchestration.one_at_a_time import one_writing
from judge_pipeline.orchestration.parquet_store import EVERY_CONTEST
from judge_pipeline.orchestration.preference_sets import SET_TABLES
from judge_pipeline.orchestration.splits_ledger import SplitsLedger
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.orchestration.tombstones import Tombstone, Tombstones
from judge_pipeline.orchestration.whole_files import parquet_source, remove_folder
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.table_schema import Table, TableError
from judge_pipeline.tables import ALL_TABLES, ATTEMPTS, INGEST_QUARANTINE, JUDGE_REQUESTS
from judge_pipeline.tables.prompt_space import PROMPT_SPACE

if TYPE_CHECKING:
    import pandas as pd

_TABLES = {table.name: table for table in ALL_TABLES}
FIGURES = "tables of figures over everybody"
_OF_EVERYBODY = (PROMPT_SPACE.name,)
"""Tables with a row a participant in which each row rests on the words of all: they go as a whole."""
_LAST = (JUDGE_REQUESTS.name, ATTEMPTS.name)
"""Tables that go last: from them it follows which attempts are the person's, and whose requests are like theirs."""


@dataclass(frozen=True)
class Traces:
    """What there is of a participant.

    Attributes:
        attempt_ids: their attempts.
        heirs: attempt of theirs -> somebody else's attempt with the identical request.
        counts: what would be removed: table, store or folder -> rows or files.
        folder_files: their own files in the contest folder.
        other_files: further files of the contest folder that name them or one of their attempts.
        orphans: attempts in the checkpoint that are in no table of any contest.
        unfinished_runs: runs of the contest that are not at an end.
    """

    attempt_ids: frozenset[str]
    heirs: Mapping[str, str]
    counts: Mapping[str, int]
    folder_files: tuple[Path, ...]
    other_files: tuple[Path, ...]
    orphans: frozenset[str]
    unfinished_runs: tuple[str, ...]
    runs: tuple[str, ...] = field(default=())


def traces_of(workspace: Workspace, contest: str, participant: str) -> Traces:
    """Look for a participant in everything that is stored; nothing is changed.

    Raises:
        SettingsError: the contest is unknown, or its tombstones cannot be read.
    """
    from judge_pipeline.judging.forgetting import attempts_in_checkpoint, forget_attempts
    from judge_pipeline.orchestration.forget_runs import runs_of_contest, unfinished_runs
    from judge_pipeline.preference.withdrawn import is_about_pairs

    if contest not in contest_folders(workspace) and not any(
        _contest_of(workspace, f) == contest for _, f in _all_files(workspace)
    ):
        known = ", ".join(contest_folders(workspace)) or "none yet"
        raise SettingsError(f"there is no contest {contest!r}; there are: {known}")
    Tombstones(workspace.store_dir, contest).read()
    ids, everybody = _attempts(workspace, contest, participant)
    heirs = _heirs(workspace, ids)
    counts: dict[str, int] = {}
    for name, n, _ in _table_changes(workspace, contest, participant, ids):
        if n:
            counts[name] = counts.get(name, 0) + n
    stored = forget_attempts(workspace.checkpoint_url, ids, heirs, dry_run=True)
    counts |= {f"checkpoint {name}": n for name, n in stored.items() if n}
    ledger = SplitsLedger.of_contest(workspace.store_dir, contest).read()
    if ledger is not None and (n := int((ledger["participant"] == participant).sum())):
        counts["splits ledger"] = n
    with open_instance(workspace) as instance:
        runs = runs_of_contest(instance, contest)
        unfinished = unfinished_runs(instance, runs)
    own, others = _contest_files(workspace, contest, participant, ids)
    asked = attempts_in_checkpoint(workspace.checkpoint_url)
    orphans = {attempt for attempt in asked - everybody if not is_about_pairs(attempt)}
    return Traces(ids, heirs, counts, own, others, frozenset(orphans), tuple(unfinished), tuple(runs))


def forget(
    workspace: Workspace, contest: str, participant: str, withdrawn_on: str, *, with_orphans: bool = False
) -> dict[str, int]:
    """Remove the participant everywhere, and leave a tombstone.

    Files in the contest folder stay (``delete_own_files``). Tables of figures, the report and the exports are removed;
    a run makes them anew from what is left.

    Args:
        workspace: the workspace.
        contest: the contest.
        participant: the participant's id.
        withdrawn_on: the date, for the tombstone.
        with_orphans: also remove from the checkpoint what belongs to attempts that are in no table of any contest.

    Returns:
        What was removed, counted.
    """
    from judge_pipeline.ingest.reading_cache import drop_from_cache
    from judge_pipeline.judging.forgetting import forget_attempts
    from judge_pipeline.orchestration.forget_runs import forget_runs

    traces = traces_of(workspace, contest, participant)
    tombstones = Tombstones(workspace.store_dir, contest)
    begun = tombstones.of(participant)
    # What an earlier call removed before it was cut off is counted, too: the larger of the two counts is the whole.
    before = dict(begun.counts) if begun else {}
    counts = {name: max(before.get(name, 0), n) for name, n in traces.counts.items()} | {
        name: n for name, n in before.items() if name not in traces.counts
    }
    stone = Tombstone(tombstones.hash_of(participant), begun.withdrawn_on if begun else withdrawn_on, False, counts)
    write_tombstone(workspace, tombstones, stone)
    ids = traces.attempt_ids | (traces.orphans if with_orphans else frozenset())
    forget_attempts(workspace.checkpoint_url, ids, traces.heirs, dry_run=False)
    for folder in ("exports", "reports"):
        remove_folder(workspace.store_dir / folder / contest)
    start_page_path(workspace).unlink(missing_ok=True)
    paths = [str(f.relative_to(_folder(workspace, contest))) for f in (*traces.folder_files, *traces.other_files)]
    drop_from_cache(workspace.out_dir, contest, [f"submissions/{participant}/", f"prompts/{participant}/", *paths])
    with open_instance(workspace) as instance:
        forget_runs(instance, dagster_home(workspace), traces.runs)
    _forget_ledger(workspace, contest, participant)
    _remove_half_written(workspace, contest)
    for _, n, change in _table_changes(workspace, contest, participant, traces.attempt_ids):
        if n:
            change()
    write_tombstone(workspace, tombstones, Tombstone(stone.participant, stone.withdrawn_on, True, counts))
    return counts


def write_tombstone(workspace: Workspace, tombstones: Tombstones, stone: Tombstone) -> None:
    """Add it, or replace the one of the same participant; of several processes that do so, none loses another's."""
    with one_writing(workspace, "tombstones", tombstones.path.stem):
        tombstones.write(stone)


def delete_own_files(traces: Traces) -> int:
    """Delete the person's own files in the contest folder, and folders that are empty then; how many files."""
    for file in traces.folder_files:
        file.unlink(missing_ok=True)
        for folder in file.parents[:3]:
            if folder.name in ("submissions", "prompts") or not folder.is_dir() or any(folder.iterdir()):
                break
            with suppress(OSError):
                folder.rmdir()
    return len(traces.folder_files)


def still_named_in(workspace: Workspace, participant: str) -> list[Path]:
    """Files of the output folder and the store with the id as a whole word: what others wrote may name the person."""
    if len(participant) < 3:
        return []
    word = whole_word(participant)
    places = {str(place): place for place in (workspace.out_dir, workspace.store_dir)}.values()
    files = (f for place in places for f in sorted(place.rglob("*")) if f.is_file() and not f.is_symlink())
    return [file for file in files if word.search(file.read_bytes())]


def _attempts(workspace: Workspace, contest: str, participant: str) -> tuple[frozenset[str], set[str]]:
    """Attempt ids of the participant, and those of everybody in all contests, from every table that holds any."""
    theirs: set[str] = set()
    everybody: set[str] = set()
    for name, file in _all_files(workspace):
        table = _TABLES.get(name)
        if table is None or "attempt_id" not in table.column_names:
            continue
        columns: list[str] = [c for c in ("attempt_id", "participant") if c in table.column_names]
        rows = _columns(file, columns)
        if rows is None:
            continue
        everybody |= set(rows["attempt_id"])
        if "participant" in columns and _contest_of(workspace, file) == contest:
            theirs |= set(rows.loc[rows["participant"] == participant, "attempt_id"])
    return frozenset(theirs), everybody


def _heirs(workspace: Workspace, ids: frozenset[str]) -> dict[str, str]:
    """For attempts whose request is identical to one of somebody else's, in any contest: that one's attempt."""
    sha_of: dict[str, str] = {}
    other_of: dict[str, str] = {}
    for name, file in _all_files(workspace):
        rows = _columns(file, ["attempt_id", "request_sha256"]) if name == JUDGE_REQUESTS.name else None
        for attempt, sha in () if rows is None else rows.itertuples(index=False):
            if attempt in ids:
                sha_of[attempt] = sha
            else:
                other_of.setdefault(sha, attempt)
    return {attempt: other_of[sha] for attempt, sha in sha_of.items() if sha in other_of}


def _table_changes(
    workspace: Workspace, contest: str, participant: str, ids: frozenset[str]
) -> Iterator[tuple[str, int, Any]]:
    """For each file of the contest's tables: its table, how many rows go, and what removes them; the last ones last."""
    store = store_of(workspace)
    files = sorted(_files_of(workspace, contest), key=lambda f: (f[0] in _LAST and 1 + _LAST.index(f[0]), f[1]))
    for name, file in files:
        table = _TABLES.get(name)
        partition = [contest, file.stem] if len(file.relative_to(store.folder).parts) == 3 else [contest]
        rows = None
        if table is not None and _is_by_person(table):
            with suppress(TableError):
                rows = store.read(table, *partition)
        if rows is None or table is None:
            # Figures over everybody, and what this version cannot read: a run makes them anew.
            yield FIGURES, 1, file.unlink
            continue
        mask = _theirs(table, rows, participant, ids)
        label = name if len(partition) == 1 else f"{name} {file.stem}"
        yield label, int(mask.sum()), _writer(store, table, rows[~mask], partition)


def _is_by_person(table: Table) -> bool:
    """Whether a person's rows can be taken out of it and the others stay."""
    return bool({"participant", "attempt_id", "path"} & set(table.column_names)) and table.name not in _OF_EVERYBODY


def _writer(store: Any, table: Table, rows: pd.DataFrame, partition: list[str]) -> Any:
    return lambda: store.write(table, rows.reset_index(drop=True), *partition)


def _theirs(table: Table, rows: pd.DataFrame, participant: str, ids: frozenset[str]) -> Any:
    import pandas as pd

    mask = pd.Series(False, index=rows.index)
    if "participant" in rows:
        mask |= rows["participant"].eq(participant).fillna(False).astype(bool)
    if "attempt_id" in rows:
        mask |= rows["attempt_id"].isin(ids)
    if "path" in rows:
        mask |= rows["path"].map(lambda path: participant_and_problem_of(str(path))[0] == participant).astype(bool)
    if table is INGEST_QUARANTINE and len(participant) >= 3:
        word = whole_word(participant)
        for column in ("path", "place", "reason"):
            mask |= rows[column].map(lambda text: bool(word.search(str(text).encode()))).astype(bool)
    return mask


def _forget_ledger(workspace: Workspace, contest: str, participant: str) -> None:
    ledger_file = SplitsLedger.of_contest(workspace.store_dir, contest)
    ledger = ledger_file.read()
    if ledger is not None and (ledger["participant"] == participant).any():
        ledger_file.write(ledger[ledger["participant"] != participant].reset_index(drop=True))


def _remove_half_written(workspace: Workspace, contest: str) -> None:
    """What a killed run left of a file that it was writing (``whole_files``)."""
    for folder in ("tables", "ledgers"):
        for file in sorted((workspace.store_dir / folder).rglob(".*")):
            if file.is_file() and (file.parent.name == contest or file.name.startswith(f".{contest}.")):
                file.unlink(missing_ok=True)


def _contest_files(
    workspace: Workspace, contest: str, participant: str, ids: frozenset[str]
) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """The person's own files in the contest folder, and other files there that name them or their attempts."""
    folder = _folder(workspace, contest)
    own, others = [], []
    names = [*ids, *([participant] if len(participant) >= 3 else [])]
    word = re.compile(b"|".join(whole_word(name).pattern for name in names)) if names else None
    for file in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if not file.is_file() or file.is_symlink():
            continue
        if participant_and_problem_of(str(file.relative_to(folder)))[0] == participant:
            own.append(file)
        elif word is not None and word.search(file.read_bytes()):
            others.append(file)
    return tuple(own), tuple(others)


def _folder(workspace: Workspace, contest: str) -> Path:
    return contest_folders(workspace).get(contest, workspace.data_dir / "contests" / contest)


def whole_word(text: str) -> re.Pattern[bytes]:
    """Finds a text in a file's bytes where no letter or digit stands before or behind it."""
    return re.compile(rb"(?<![A-Za-z0-9])" + re.escape(text.encode()) + rb"(?![A-Za-z0-9])")


def _all_files(workspace: Workspace) -> Iterator[tuple[str, Path]]:
    root = workspace.store_dir / "tables"
    for file in sorted(root.rglob("*.parquet")) if root.is_dir() else ():
        yield file.relative_to(root).parts[0], file


def _files_of(workspace: Workspace, contest: str) -> Iterator[tuple[str, Path]]:
    """The contest's tables, and those over all contests, which rest on it, too."""
    for name, file in _all_files(workspace):
        if name in SET_TABLES:  # contests' participants are not in them
            continue
        if _contest_of(workspace, file) == contest or file.stem == EVERY_CONTEST:
            yield name, file


def _contest_of(workspace: Workspace, file: Path) -> str:
    parts = file.relative_to(workspace.store_dir / "tables").parts
    return parts[1].removesuffix(".parquet") if len(parts) == 2 else parts[1]


def _columns(file: Path, columns: list[str]) -> pd.DataFrame | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(parquet_source(file), columns=columns).to_pandas()
    except pa.ArrowException:
        return None
