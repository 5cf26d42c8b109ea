"""A redacted bundle: the contest or set laid out anew under pseudonyms, and everything else made from that.

What would be left of names in a hundred tables and pages is not searched for: they are made from tables that hold none.
Nobody is asked anything: requests are those that judges were sent, and their answers are stored.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from judge_pipeline.orchestration.bundles.contents import configuration, produced, raw_files, tables_of
from judge_pipeline.orchestration.bundles.facts import ANSWERS, CONFIG, OUT, BundleFacts, Kind, workspace_in
from judge_pipeline.orchestration.bundles.members import Member, why_not_portable
from judge_pipeline.orchestration.bundles.published import differs_from_published
from judge_pipeline.orchestration.bundles.recipe import Jobs
from judge_pipeline.orchestration.bundles.recomputing import DefinitionsOf, recompute
from judge_pipeline.orchestration.bundling import PreparedBundle, finished, folder_of, full_facts, write_answers
from judge_pipeline.orchestration.splits_ledger import SplitsLedger
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.orchestration.tombstones import Tombstones
from judge_pipeline.settings import ContestSettings, PreferenceSettings, RecordedJudge, Workspace
from judge_pipeline.settings.secrets_file import key_environment
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.tables import (
    ATTEMPTS,
    INGEST_QUARANTINE,
    JUDGE_REQUESTS,
    PAIR_TEXTS,
    PARTICIPANT_CONTEXTS,
    PREFERENCE_PAIRS,
    PROMPT_LOGS,
    RERATINGS,
    SUBMISSION_ARTIFACTS,
)
from judge_pipeline.tables.preference import PREFERENCE_QUARANTINE, PREFERENCE_SELECTION

if TYPE_CHECKING:
    import pandas as pd


_RAW = "raw files are withheld"
_BEFORE = "texts are those that judges were sent; what they were before is withheld"
_WITHHELD: Mapping[Kind, Mapping[str, str]] = {
    "contest": {
        "submission_artifacts": _RAW, "prompt_logs": _RAW, "attempts": _RAW, "ingest_quarantine": _RAW,
        "participant_contexts": _BEFORE, "judge_requests": _BEFORE, "redaction_counts": _BEFORE,
        "verdict_word_counts": _BEFORE,
    },
    "preference_set": {
        "preference_pairs": _RAW, "preference_quarantine": _RAW, "preference_selection": _RAW,
        "preference_splits": _BEFORE, "dataset_profile": _BEFORE, "pair_texts": _BEFORE,
        "pair_redaction_counts": _BEFORE,
    },
}  # fmt: skip
_OFF = {"enabled": False, "off_reason": "personal data were replaced before the bundle was made"}
_LEFT_OUT = (SUBMISSION_ARTIFACTS, PREFERENCE_QUARANTINE, PREFERENCE_SELECTION)
"""Tables of where and how things were read: they hold paths, and no figure rests on them."""


@contextmanager
def redacted_bundle(
    workspace: Workspace, kind: Kind, name: str, definitions_of: DefinitionsOf, jobs: Jobs, say: Callable[[str], None]
) -> Iterator[PreparedBundle]:
    """Everything that goes into the redacted bundle of a contest or preference set.

    Args:
        workspace: the workspace.
        kind: of what it is.
        name: the contest or set.
        definitions_of: makes the graph of a workspace.
        jobs: the names of its jobs.
        say: told the jobs as they begin.

    Raises:
        SettingsError: as of ``bundling.prepared_bundle``; or a table cannot be made under pseudonyms, and why.
        JudgingError: the checkpoint cannot be read.
    """
    folder = folder_of(workspace, kind, name)
    facts, may_go_out = full_facts(workspace, kind, name, folder)
    facts = replace(facts, level="redacted", withheld=dict(_WITHHELD[kind]))
    stones = _stones(workspace, kind, name)
    aliases = Aliases(stones)
    with tempfile.TemporaryDirectory(prefix="judge-pipeline-bundle-") as temporary:
        home, anew = Path(temporary) / "home", Path(temporary) / "anew"
        names = _lay_out(workspace, facts, folder, home, aliases, may_go_out)
        (home / ANSWERS).mkdir(parents=True)
        write_answers(workspace, kind, name, home / ANSWERS, lambda asked: True)
        made = recompute(home, anew, facts, definitions_of, jobs, say)
        asked_for = _asked_for(made.workspace)
        _, published = write_answers(
            workspace, kind, name, home / ANSWERS, lambda asked: asked.request_hash in asked_for
        )
        if made.errors:
            failed = "; ".join(f"{job}: {why}" for job, why in made.errors.items())
            raise SettingsError(f"{name} cannot be made under pseudonyms: {failed}")
        for file in made.given:
            _replace(anew / "tables" / f"{file}.parquet", home / OUT / "tables" / f"{file}.parquet")
        said, differing = differs_from_published(workspace, made.workspace, facts, aliases.of)
        facts = replace(facts, extra={**facts.extra, "notes": [said], "differs_from_published": differing})
        kept = [member for member in _files_of(home) if not member.path.startswith(f"{OUT}/")]
        bundle = finished(workspace, facts, [*kept, *produced(made.workspace, facts)], published)
        yield replace(bundle, search=replace(bundle.search, names=frozenset(names)))


def _asked_for(made: Workspace) -> set[str]:
    """The hashes of what was looked up for answers: what was asked before, under other settings, does not go out."""
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.render_memo import remembered_hashes

    with closing(Checkpoint(made.checkpoint_url)) as checkpoint:
        return remembered_hashes(checkpoint)


class Aliases:
    """Pseudonyms of people: keyed hashes under the key of tombstones, which never leaves the machine."""

    def __init__(self, stones: Tombstones) -> None:
        self._stones = stones
        self.of: dict[str, str] = {}

    def __call__(self, person: str) -> str:
        """The person's pseudonym, the same each time."""
        if person not in self.of:
            self.of[person] = f"person-{self._stones.hash_of(f'bundle {person}')[:12]}"
        return self.of[person]


def _stones(workspace: Workspace, kind: Kind, name: str) -> Tombstones:
    store = workspace.store_dir
    return Tombstones(store, name) if kind == "contest" else Tombstones.of_preference_set(store, name)


def _lay_out(
    workspace: Workspace, facts: BundleFacts, folder: Path, home: Path, aliases: Aliases,
    may_go_out: Callable[[str], bool],
) -> set[str]:  # fmt: skip
    """Lay configuration, roots and stored tables into a folder, as a bundle has them; the names that must not be in it.

    Tables of figures are laid, too: by them it is known what is to be made. They are made anew.
    """
    for member in tables_of(workspace, facts):
        if member.path.split("/")[2] not in {table.name for table in _LEFT_OUT}:
            _lay(member, home)
    lay_roots, settings = (_contest, _contest_settings) if facts.kind == "contest" else (_set, _set_settings)
    names = lay_roots(workspace, facts.name, folder, home, aliases)
    own = "contests.yaml" if facts.kind == "contest" else "preference.yaml"
    for member in configuration(workspace, facts.kind, leave_out=("contests.yaml", "preference.yaml")):
        _lay(member, home)
    _write(home / CONFIG / own, yaml.safe_dump(settings(workspace, folder, aliases), allow_unicode=True).encode())
    recorded = _recorded_files(workspace, facts.kind)
    keep = lambda path: (path.startswith("problems/") or path in recorded) and may_go_out(path)  # noqa: E731
    for member in raw_files(workspace, facts, folder, keep):
        _lay(member, home)
    (home / facts.data_folder).mkdir(parents=True, exist_ok=True)
    return names


def _contest(workspace: Workspace, name: str, folder: Path, home: Path, aliases: Aliases) -> set[str]:
    from judge_pipeline.cocreation.redacted import redact_requests, redactor_of
    from judge_pipeline.ingest.redaction import is_distinctive
    from judge_pipeline.orchestration.bundles.pseudonyms import ContestRoots, redacted_raters, redacted_roots

    store, into = store_of(workspace), store_of(workspace_in(home, home / OUT))
    tables = (ATTEMPTS, PARTICIPANT_CONTEXTS, PROMPT_LOGS, INGEST_QUARANTINE, JUDGE_REQUESTS)
    roots = ContestRoots(*(store.read(table, name) for table in tables))
    redaction = workspace.contest(folder).redaction
    key = key_environment().get(redaction.key_env, "").encode() or None
    redactor = redactor_of(redaction, name, sorted(roots.attempts["participant"].unique()), key)
    attempts, contexts, _ = redact_requests(roots.attempts, roots.contexts, redactor, redaction)
    people = _people(roots.attempts, roots.contexts, roots.prompt_logs)
    ledger = SplitsLedger.of_contest(workspace.store_dir, name).read()
    if ledger is not None:
        people |= set(ledger["participant"])
        ledger = ledger.assign(participant=ledger["participant"].map(aliases))
        ledger = ledger.sort_values(["participant", "problem_id"]).reset_index(drop=True)
        SplitsLedger.of_contest(home / OUT, name).write(ledger)
    shown = replace(roots, attempts=attempts, contexts=contexts)
    redacted = redacted_roots(roots, shown, redactor, {person: aliases(person) for person in people})
    rows = (redacted.attempts, redacted.contexts, redacted.prompt_logs, redacted.quarantine, redacted.requests)
    for table, own in zip(tables, rows, strict=True):
        into.write(table, own, name)
    if store.path(RERATINGS, name).is_file():
        into.write(RERATINGS, redacted_raters(store.read(RERATINGS, name), aliases), name)
    (home / OUT / "tables" / "splits" / f"{name}.parquet").unlink(missing_ok=True)  # made anew, from the ledger
    return {person for person in people if is_distinctive(person)}


def _people(*tables: pd.DataFrame) -> set[str]:
    return {str(person) for table in tables for person in table["participant"].unique()}


def _set(workspace: Workspace, name: str, folder: Path, home: Path, aliases: Aliases) -> set[str]:
    from judge_pipeline.ingest.redaction import is_distinctive
    from judge_pipeline.orchestration.bundles.pseudonyms import redacted_pairs

    store, into = store_of(workspace), store_of(workspace_in(home, home / OUT))
    pairs = redacted_pairs(store.read(PREFERENCE_PAIRS, name), store.read(PAIR_TEXTS, name), aliases)
    into.write(PREFERENCE_PAIRS, pairs, name)
    ledger = SplitsLedger.of_preference_set(workspace.store_dir, name).read()
    if ledger is not None:
        SplitsLedger.of_preference_set(home / OUT, name).write(ledger)
    for member in produced(workspace, BundleFacts("preference_set", name, "full", "", "")):
        if member.path.startswith(f"{OUT}/rubrics/"):
            _lay(member, home)
    return {annotator for annotator in aliases.of if is_distinctive(annotator)}


def _contest_settings(workspace: Workspace, folder: Path, aliases: Aliases) -> dict[str, Any]:
    """The contest's settings in force, without names."""
    settings: ContestSettings = workspace.contest(folder)
    data = settings.model_dump(mode="json", exclude_unset=True)
    anchor = settings.anchor
    if anchor is not None and isinstance(anchor.attempt_ids, str):
        data["anchor"] = {"attempt_ids": anchor.named(folder)}
    if "dynamics" in data and settings.dynamics.participant_groups:
        groups = settings.dynamics.participant_groups
        data["dynamics"]["participant_groups"] = {aliases(who): group for who, group in sorted(groups.items())}
    return {**data, "redaction": _OFF, "participant_names": {}}


def _set_settings(workspace: Workspace, folder: Path, aliases: Aliases) -> dict[str, Any]:
    """The set's settings in force, without how it is read: its columns may be called like annotators."""
    settings: PreferenceSettings = workspace.preference(folder)
    data = settings.model_dump(mode="json", exclude_unset=True)
    data.pop("source", None)
    return {**data, "redaction": _OFF}


def _recorded_files(workspace: Workspace, kind: Kind) -> set[str]:
    judges = workspace.judges()
    listed = map(judges.get, judges.names("cocreation" if kind == "contest" else "preference"))
    return {Path(judge.file).as_posix() for judge in listed if isinstance(judge, RecordedJudge)}


def _lay(member: Member, home: Path) -> None:
    if (why := why_not_portable(member.path)) is not None:
        raise SettingsError(f"{member.path!r} cannot go into a bundle: {why}; rename it, and run the contest again")
    with member.open() as source:
        _write(home / member.path, source.read())


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _replace(target: Path, source: Path) -> None:
    _write(target, source.read_bytes())


def _files_of(home: Path) -> Iterator[Member]:
    roles = {CONFIG: "configuration", ANSWERS: "answers"}
    for file in sorted(home.rglob("*")):
        if file.is_file():
            path = file.relative_to(home).as_posix()
            yield Member(path, roles.get(path.split("/")[0], "data"), file)  # type: ignore[arg-type]
