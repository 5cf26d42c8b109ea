"""Withdrawal from a preference set: removing a pair, or an annotator, from everything that runs have produced.

As for contests (``forgetting``), the order makes it safe to be cut off at any point: first a tombstone, so that no
later run reads it again; last the table of pairs, from which it follows what an annotator alone chose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_pipeline.orchestration.evidence_files import EvidenceFiles
from judge_pipeline.orchestration.exports import start_page_path
from judge_pipeline.orchestration.forgetting import whole_word, write_tombstone
from judge_pipeline.orchestration.guidance_run import guidance_folder
from judge_pipeline.orchestration.instance import dagster_home, open_instance
from judge_pipeline.orchestration.parquet_store import EVERY_CONTEST
from judge_pipeline.orchestration.preference_sets import SET_TABLES, preference_folders
from judge_pipeline.orchestration.splits_ledger import SplitsLedger
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.orchestration.tombstones import Tombstone, Tombstones, annotator_name, pair_name
from judge_pipeline.orchestration.whole_files import remove_folder
from judge_pipeline.preference.withdrawn import Withdrawn, asked_about, without_votes
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.guidance import FOLDER as GUIDANCE_COPIES
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.table_schema import TableError
from judge_pipeline.tables import PAIR_TEXTS, PREFERENCE_PAIRS, PREFERENCE_SPLITS, criteria
from judge_pipeline.tables.pair_judging import PAIR_JUDGMENTS
from judge_pipeline.tables.rubric import RUBRIC_SCORES

if TYPE_CHECKING:
    import pandas as pd

FIGURES = "tables of figures over all pairs"
_OF_CRITERIA = tuple(table.name for table in criteria.TABLES if "pair_id" in table.column_names)
_BY_PAIR = (
    PREFERENCE_SPLITS.name, PAIR_TEXTS.name, PAIR_JUDGMENTS.name, RUBRIC_SCORES.name, *_OF_CRITERIA,
    PREFERENCE_PAIRS.name,
)  # fmt: skip
"""Tables from which a pair's rows can be taken while the others stay, the last one last. All others rest on many."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is withdrawn from a set: a pair, or an annotator with all votes.

    Attributes:
        preference_set: the set.
        pair_id: the pair, or None.
        annotator: the annotator, or None.
    """

    preference_set: str
    pair_id: str | None = None
    annotator: str | None = None

    @property
    def name(self) -> str:
        """What tombstones call it."""
        return annotator_name(self.words) if self.pair_id is None else pair_name(self.pair_id)

    @property
    def words(self) -> str:
        """What its files would be searched for."""
        return str(self.annotator if self.pair_id is None else self.pair_id)

    def withdrawn(self) -> Withdrawn:
        """It, as what is kept out."""
        return Withdrawn(lambda pair_id: pair_id == self.pair_id, lambda annotator: annotator == self.annotator)


@dataclass(frozen=True)
class PairTraces:
    """What there is of a subject.

    Attributes:
        pair_ids: the pairs that go: itself, or those whose only choice is the annotator's.
        request_ids: what was asked about them, in the checkpoint.
        heirs: request of theirs -> the same about another pair of the same texts.
        counts: what would be removed: table or store -> rows or files.
        files: people's own files that name it: the set's, and copies of guidance.
        runs: the set's runs in Dagster's records.
        unfinished_runs: those that are not at an end.
    """

    pair_ids: frozenset[str]
    request_ids: frozenset[str]
    heirs: Mapping[str, str]
    counts: Mapping[str, int]
    files: tuple[Path, ...]
    runs: tuple[str, ...]
    unfinished_runs: tuple[str, ...]


def tombstones_of(workspace: Workspace, preference_set: str) -> Tombstones:
    """The set's tombstones."""
    return Tombstones.of_preference_set(workspace.store_dir, preference_set)


def withdrawn_from(workspace: Workspace, preference_set: str) -> Withdrawn:
    """What was withdrawn from a set, for reading it.

    Raises:
        SettingsError: its tombstones cannot be read, so nothing could be kept out.
    """
    stones = tombstones_of(workspace, preference_set)
    hashes = {stone.participant for stone in stones.read()}
    if not hashes:
        return Withdrawn()
    return Withdrawn(
        lambda pair_id: stones.is_one_of(pair_name(pair_id), hashes),
        lambda annotator: stones.is_one_of(annotator_name(annotator), hashes),
    )


def pair_traces(workspace: Workspace, subject: Subject) -> PairTraces:
    """Look for it in everything that is stored; nothing is changed.

    Raises:
        SettingsError: the set is unknown, or its tombstones cannot be read.
    """
    from judge_pipeline.judging.forgetting import attempts_in_checkpoint, forget_attempts
    from judge_pipeline.orchestration.forget_runs import runs_of_preference_set, unfinished_runs

    name = subject.preference_set
    if name not in preference_folders(workspace) and not any(_files_of(workspace, name, over_all=False)):
        known = ", ".join(preference_folders(workspace)) or "none yet"
        raise SettingsError(f"there is no preference set {name!r}; there are: {known}")
    tombstones_of(workspace, name).read()
    pair_ids = _pairs_that_go(workspace, subject)
    request_ids = asked_about(attempts_in_checkpoint(workspace.checkpoint_url), name, pair_ids)
    heirs = _heirs(workspace, name, request_ids, pair_ids)
    counts: dict[str, int] = {}
    for label, n, _ in _table_changes(workspace, subject, pair_ids):
        if n:
            counts[label] = counts.get(label, 0) + n
    stored = forget_attempts(workspace.checkpoint_url, request_ids, heirs, dry_run=True)
    counts |= {f"checkpoint {table}": n for table, n in stored.items() if n}
    with open_instance(workspace) as instance:
        runs = runs_of_preference_set(instance, name)
        unfinished = unfinished_runs(instance, runs)
    files = _files_that_name(workspace, subject)
    return PairTraces(pair_ids, request_ids, heirs, counts, files, tuple(runs), tuple(unfinished))


def is_known(workspace: Workspace, subject: Subject, traces: PairTraces) -> bool:
    """Whether the set has, or had, such a pair or annotator: in its tables, its checkpoint, its files or tombstones."""
    from judge_pipeline.preference.pair_question import pair_key

    own = tuple(f"{pair_key(subject.preference_set, pair_id)}/" for pair_id in traces.pair_ids)
    return (
        bool(traces.files)
        or any(name in SET_TABLES for name in traces.counts)
        or any(request_id.startswith(own) for request_id in traces.request_ids)
        or tombstones_of(workspace, subject.preference_set).of(subject.name) is not None
    )


def forget_pairs(workspace: Workspace, subject: Subject, withdrawn_on: str) -> dict[str, int]:
    """Remove it everywhere, and leave a tombstone.

    The set's files stay. Tables of figures over all pairs, the rubric, guidance, the report and the exports are
    removed; a run makes them anew from what is left.

    Args:
        workspace: the workspace.
        subject: what is withdrawn.
        withdrawn_on: the date, for the tombstone.

    Returns:
        What was removed, counted.
    """
    from judge_pipeline.judging.forgetting import forget_attempts
    from judge_pipeline.orchestration.forget_runs import forget_runs

    name, traces = subject.preference_set, pair_traces(workspace, subject)
    stones = tombstones_of(workspace, name)
    begun = stones.of(subject.name)
    # What an earlier call removed before it was cut off is counted, too: the larger of the two counts is the whole.
    counts = dict(begun.counts) if begun else {}
    counts |= {label: max(counts.get(label, 0), n) for label, n in traces.counts.items()}
    stone = Tombstone(stones.hash_of(subject.name), begun.withdrawn_on if begun else withdrawn_on, False, counts)
    write_tombstone(workspace, stones, stone)
    forget_attempts(workspace.checkpoint_url, traces.request_ids, traces.heirs, dry_run=False)
    for folder in ("exports", "reports"):
        remove_folder(workspace.store_dir / folder / name)
    start_page_path(workspace).unlink(missing_ok=True)
    with open_instance(workspace) as instance:
        forget_runs(instance, dagster_home(workspace), traces.runs)
    _forget_ledger(workspace, name, traces.pair_ids)
    _forget_found_rubric(workspace, name)
    # Guidance is frozen text made from pairs: a run makes it anew from what is left.
    remove_folder(guidance_folder(workspace, name))
    _remove_half_written(workspace, name)
    for _, n, change in _table_changes(workspace, subject, traces.pair_ids):
        if n:
            change()
    EvidenceFiles.of(workspace, name).prune(_stored_pairs(workspace, name))
    write_tombstone(workspace, stones, Tombstone(stone.participant, stone.withdrawn_on, True, counts))
    return counts


def _pairs_that_go(workspace: Workspace, subject: Subject) -> frozenset[str]:
    if subject.pair_id is not None:
        return frozenset({subject.pair_id})
    pairs = _stored_pairs(workspace, subject.preference_set)
    return frozenset() if pairs is None else without_votes(pairs, subject.withdrawn())[1]


def _stored_pairs(workspace: Workspace, name: str) -> pd.DataFrame | None:
    with suppress(FileNotFoundError, TableError):
        return store_of(workspace).read(PREFERENCE_PAIRS, name)
    return None


def _heirs(workspace: Workspace, name: str, request_ids: frozenset[str], pair_ids: frozenset[str]) -> dict[str, str]:
    """For requests about a pair whose texts are those of another pair, of any set: the id of that one's."""
    from judge_pipeline.preference.pair_question import pair_key

    heir_of_texts: dict[tuple[Any, ...], str] = {}
    theirs: dict[str, tuple[Any, ...]] = {}
    store = store_of(workspace)
    for file in sorted((store.folder / PAIR_TEXTS.name).glob("*.parquet")):
        with suppress(TableError):
            for pair_id, *texts in store.read(PAIR_TEXTS, file.stem).itertuples(index=False, name=None):
                key = pair_key(file.stem, pair_id)
                if file.stem == name and pair_id in pair_ids:
                    theirs[key] = tuple(texts)
                else:
                    heir_of_texts.setdefault(tuple(texts), key)
    keys = {key: heir_of_texts[texts] for key, texts in theirs.items() if texts in heir_of_texts}
    found = {}
    for request_id in request_ids:
        set_part, pair_part, rest = (*request_id.split("/", 2), "")[:3]
        if (heir := keys.get(f"{set_part}/{pair_part}")) is not None:
            found[request_id] = f"{heir}/{rest}"
    return found


def _table_changes(workspace: Workspace, subject: Subject, pair_ids: frozenset[str]) -> Iterator[tuple[str, int, Any]]:
    """For each file of the set's tables: its table, how many rows go, and what removes them; the pairs' own last."""
    store, name = store_of(workspace), subject.preference_set
    files = sorted(
        _files_of(workspace, name), key=lambda f: (_BY_PAIR.index(f[0]) + 1 if f[0] in _BY_PAIR else 0, f[1])
    )
    for label, file in files:
        table, rows = SET_TABLES[label], None
        partition = [name, file.stem] if len(file.relative_to(store.folder).parts) == 3 else [name]
        if label in _BY_PAIR:
            with suppress(TableError):
                rows = store.read(table, *partition)
        if rows is None:
            # Figures over all pairs, and what this version cannot read: a run makes them anew.
            yield FIGURES, 1, file.unlink
            continue
        gone = rows["pair_id"].isin(pair_ids)
        kept, n = rows[~gone], int(gone.sum())
        if table is PREFERENCE_PAIRS and subject.annotator is not None:
            n = sum(_votes_of(text, subject) for text in rows["votes"])
            kept = without_votes(rows, subject.withdrawn())[0]
        shown = label if len(partition) == 1 else f"{label} {file.stem}"
        yield shown, n, lambda kept=kept, table=table, partition=partition: store.write(table, kept, *partition)


def _votes_of(text: Any, subject: Subject) -> bool:
    import json

    return isinstance(text, str) and any(subject.withdrawn().by(voter) for voter in json.loads(text))


def _files_of(workspace: Workspace, name: str, over_all: bool = True) -> Iterator[tuple[str, Path]]:
    """The set's tables, and those over all sets, which rest on it, too."""
    root = workspace.store_dir / "tables"
    for label in SET_TABLES:
        for file in sorted((root / label).rglob("*.parquet")):
            parts = file.relative_to(root / label).with_suffix("").parts
            if parts[0] == name or (over_all and parts == (EVERY_CONTEST,)):
                yield label, file


def _forget_ledger(workspace: Workspace, name: str, pair_ids: frozenset[str]) -> None:
    """Take out the lines of instructions that only these pairs have."""
    ledger_file = SplitsLedger.of_preference_set(workspace.store_dir, name)
    ledger = ledger_file.read()
    with suppress(FileNotFoundError, TableError):
        splits = store_of(workspace).read(PREFERENCE_SPLITS, name)
        theirs = splits["pair_id"].isin(pair_ids)
        alone = set(splits.loc[theirs, "instruction_group"]) - set(splits.loc[~theirs, "instruction_group"])
        if ledger is not None and ledger["instruction_group"].isin(alone).any():
            ledger_file.write(ledger[~ledger["instruction_group"].isin(alone)].reset_index(drop=True))


def _forget_found_rubric(workspace: Workspace, name: str) -> None:
    """Remove the files of the rubric that was found in pairs; what a person has edited is theirs to look at."""
    from judge_pipeline.orchestration.rubric_run import editable_file
    from judge_pipeline.preference.rubric_file import is_edited
    from judge_pipeline.settings.rubrics import RubricFile
    from judge_pipeline.settings.yaml_file import load

    own = editable_file(workspace, name)
    own.with_name(f"{name}.found.yaml").unlink(missing_ok=True)
    with suppress(SettingsError):
        if own.is_file() and not is_edited(load(RubricFile, own)):
            own.unlink()


def _remove_half_written(workspace: Workspace, name: str) -> None:
    """What a killed run left of a file that it was writing (``whole_files``)."""
    roots = [workspace.store_dir / "tables" / label for label in SET_TABLES]
    for root in (*roots, workspace.store_dir / "ledgers" / name, workspace.store_dir / "rubrics"):
        for file in sorted(root.rglob(".*")):
            if file.is_file() and (file.parent.name == name or file.name.startswith(f".{name}.")):
                file.unlink(missing_ok=True)


def _files_that_name(workspace: Workspace, subject: Subject) -> tuple[Path, ...]:
    """The files that hold the pair's id, or the annotator's name, as a whole word.

    They are looked for in the set's folder, and among copies of guidance, which list the pairs that they rest on.
    """
    folder = preference_folders(workspace).get(subject.preference_set)
    if len(subject.words) < 3:
        return ()
    word = whole_word(subject.words)
    found = [] if folder is None or not folder.is_dir() else sorted(folder.rglob("*"))
    found += sorted((workspace.config_dir / GUIDANCE_COPIES).glob("*.yaml"))
    files = (file for file in found if file.is_file() and not file.is_symlink())
    return tuple(file for file in files if word.search(file.read_bytes()))
