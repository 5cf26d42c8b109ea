"""Group contest: from raw files to contexts and splits (paper 1, IV-A); requests are in ``assets/requests.py``."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import dagster as dg

from judge_pipeline.orchestration.partitions import CONTESTS, contest_of
from judge_pipeline.orchestration.table_asset import (
    FAULT,
    OWNERS,
    Check,
    Made,
    check_specs,
    code_version,
    column_schema,
    events,
    table_asset,
)
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import (
    ATTEMPTS,
    INGEST_QUARANTINE,
    PARTICIPANT_CONTEXTS,
    PROMPT_LOGS,
    SPLIT_ASSIGNMENTS,
    SUBMISSION_ARTIFACTS,
)

GROUP = "contest"

_SECONDS_BETWEEN_LOG_LINES = 10.0

CONTEST_FOLDER = dg.AssetSpec(
    "contest_folder",
    description="The contest's raw files: submissions/, prompts/, problems/, contest.yaml. Brought by people.",
    group_name=GROUP,
    partitions_def=CONTESTS,
    kinds={"file"},
    owners=OWNERS,
)

_READ: dict[Table, tuple[Check, ...]] = {
    SUBMISSION_ARTIFACTS: (
        Check(
            "some_submissions",
            "The contest folder holds at least one readable submission",
            remedy="put artifacts at submissions/<participant>/[<problem>/]; ingest_quarantine says what could not "
            "be read",
            blocking=True,
        ),
    ),
    PROMPT_LOGS: (),
    ATTEMPTS: (
        Check("turns_complete", "Turns of every trajectory run 1, 2, ..., without a gap", remedy=FAULT, blocking=True),
        Check(
            "verdicts_known",
            "Every verdict word is in the verdict table (UNKNOWN is counted)",
            remedy="add the words to verdict_words in contest.yaml and run read_contest again; without a verdict "
            "an attempt counts in no figure",
            warns=True,
        ),
        Check(
            "people_told_apart",
            "No two participants have names that read alike",
            remedy="where they are one person, give their folders in submissions/ and prompts/ one name, spelt alike; "
            "until then they count as several, each without the other's prompts",
            warns=True,
        ),
    ),
    INGEST_QUARANTINE: (
        Check(
            "nothing_set_aside",
            "Every artifact could be read",
            remedy="do what stands behind each path and run read_contest again; whatever stays set aside is in no "
            "figure",
            warns=True,
        ),
    ),
}
_INTERNAL_DEPS = {
    "submission_artifacts": {dg.AssetKey("contest_folder")},
    "prompt_logs": {dg.AssetKey("contest_folder")},
    "attempts": {dg.AssetKey("submission_artifacts")},
    "ingest_quarantine": {dg.AssetKey("contest_folder")},
}


@dg.multi_asset(
    name="read_contest_folder",
    outs={
        table.name: dg.AssetOut(
            key=table.name,
            description=table.description,
            metadata={"dagster/column_schema": column_schema(table), "key": ", ".join(table.key)},
            kinds={"pandas", "parquet"},
            owners=OWNERS,
            group_name=GROUP,
            code_version=code_version(("ingest",)),
        )
        for table in _READ
    },
    internal_asset_deps=_INTERNAL_DEPS,
    deps=[CONTEST_FOLDER],
    partitions_def=CONTESTS,
    check_specs=[spec for table, checks in _READ.items() for spec in check_specs(table, checks)],
    required_resource_keys={"workspace", "progress", "store"},
    description="Reads every artifact and prompt log of the contest folder once; what cannot be read is set aside.",
)
def read_contest_folder(context: dg.AssetExecutionContext) -> Iterator[Any]:
    """Raw files -> submission_artifacts, prompt_logs, attempts, ingest_quarantine."""
    from judge_pipeline.ingest.contest import names_alike, read_contest
    from judge_pipeline.ingest.reading_cache import cache_file
    from judge_pipeline.orchestration.automation.content import beside_sha256, content_of
    from judge_pipeline.orchestration.automation.graph_state import GraphState
    from judge_pipeline.orchestration.automation.reading_state import reading_metadata

    contest = contest_of(context)
    workspace = context.resources.workspace
    folder = workspace.folder(contest)
    beside = beside_sha256(folder)
    read = read_contest(
        folder,
        contest,
        workspace.contest(contest),
        cache=cache_file(workspace.workspace().out_dir, contest),
        report=_reporter(context, contest),
    )
    context.log.info(
        f"{read.n_files:,} files: {read.n_opened:,} opened, {read.n_parsed:,} parsed, the others unchanged"
    )
    read, withdrawals = _without_the_withdrawn(context, contest, read)
    if read.cache_trouble:
        context.log.warning(f"what was read could not be kept for the next run: {read.cache_trouble}")
    problems = _attempt_problems(read.attempts)
    people = {*read.attempts["participant"].dropna(), *read.prompt_logs["participant"].dropna()}
    problems["people_told_apart"] = names_alike(people)
    if read.quarantine is not None and len(read.quarantine):
        problems["nothing_set_aside"] = [f"{q.path}: {q.reason} ({q.remedy})" for q in read.quarantine.itertuples()]
    if not len(read.submission_artifacts):
        raise dg.Failure(
            f"no submission could be read from {folder / 'submissions'}; "
            f"put each participant's artifacts at submissions/<participant>/[<problem>/]"
            + "".join(f"\n{line}" for line in problems.get("nothing_set_aside", [])[:20]),
            allow_retries=False,
        )
    made = {
        SUBMISSION_ARTIFACTS: read.submission_artifacts,
        PROMPT_LOGS: read.prompt_logs,
        ATTEMPTS: read.attempts,
        INGEST_QUARANTINE: read.quarantine,
    }
    last = GraphState(context.instance, {}).told(ATTEMPTS.name, contest)
    said = reading_metadata(
        workspace.workspace(),
        "contest",
        context.run.tags,
        lambda: content_of(read.fingerprint, beside),
        lambda: last.content if last is not None else None,
    )
    for table, rows in made.items():
        metadata = {
            "folder": dg.MetadataValue.path(str(folder)),
            "folder_sha256": read.fingerprint,
            **said,
            "files": read.n_files,
            "files_opened": read.n_opened,
            "files_parsed": read.n_parsed,
            **withdrawals,
        }
        yield from events(context, table, Made(rows, metadata, problems), _READ[table], table.name)
        context.resources.progress.table(table.name, len(rows))


def _without_the_withdrawn(context: dg.AssetExecutionContext, contest: str, read: Any) -> tuple[Any, dict[str, int]]:
    """The contest without those who withdrew from it, and what to say of it; nothing of theirs stays in the cache."""
    from judge_pipeline.ingest.reading_cache import drop_from_cache
    from judge_pipeline.ingest.withdrawal import leave_out
    from judge_pipeline.orchestration.tombstones import Tombstones

    workspace = context.resources.workspace.workspace()
    tombstones = Tombstones(workspace.store_dir, contest)
    withdrawn = {tombstone.participant for tombstone in tombstones.read()}
    if not withdrawn:
        return read, {}
    rest, paths = leave_out(read, contest, lambda participant: tombstones.is_one_of(participant, withdrawn))
    drop_from_cache(workspace.out_dir, contest, paths)
    return rest, {"participants_who_withdrew": len(withdrawn), "rows_left_out_for_them": len(paths)}


def _reporter(context: dg.AssetExecutionContext, contest: str) -> Callable[[int, int, int], None]:
    """Tells whoever wants to know, and now and then the run's log, how far reading is."""
    said = time.monotonic()

    def report(done: int, total: int, set_aside: int) -> None:
        nonlocal said
        context.resources.progress.reading(contest, done, total, set_aside)
        if time.monotonic() - said >= _SECONDS_BETWEEN_LOG_LINES:
            said = time.monotonic()
            context.log.info(f"{done:,} of {total:,} files read, {set_aside:,} set aside")

    return report


def _attempt_problems(attempts: Any) -> dict[str, list[str]]:
    from judge_pipeline.ingest.contest import turn_gaps

    unknown = attempts.loc[attempts["verdict"] == "UNKNOWN", "verdict_raw"]
    without = int(unknown.isna().sum())
    known = [f"{word!r}: {n} attempt(s); add it to verdict_words" for word, n in unknown.value_counts().items()]
    if without:
        known.append(f"{without} attempt(s) whose file states no verdict; they have no label and count in no metric")
    return {"turns_complete": turn_gaps(attempts), "verdicts_known": known}


@table_asset(
    PARTICIPANT_CONTEXTS,
    group=GROUP,
    inputs=(PROMPT_LOGS, ATTEMPTS),
    rooms=("cocreation/contexts.py", "ingest/turns.py"),
    checks=(
        Check("every_participant", "Every participant of an attempt has a context, if an empty one", remedy=FAULT),
    ),
)
def participant_contexts(context: dg.AssetExecutionContext, prompt_logs: Any, attempts: Any) -> Made:
    """The order, the separators and the sha256 are the same on every machine."""
    from judge_pipeline.cocreation.contexts import participant_contexts as build

    settings = context.resources.workspace.contest(contest_of(context))
    people = sorted(attempts["participant"].unique())
    rows = build(prompt_logs, people, roles=settings.context_roles)
    missing = sorted(set(people) - set(rows["participant"]))
    without = rows.loc[rows["n_messages"] == 0, "participant"].tolist()
    return Made(
        rows,
        {"roles": settings.context_roles, "participants_without_prompts": ", ".join(without) or "none"},
        {"every_participant": [f"{name} has no context" for name in missing]},
    )


@table_asset(
    SPLIT_ASSIGNMENTS,
    group=GROUP,
    inputs=(ATTEMPTS,),
    rooms=("cocreation/splits.py",),
    checks=(
        Check(
            "disjoint_by_group",
            "Every trajectory lies in exactly one split",
            remedy="take back what was edited in <out>/ledgers/<contest>/splits_ledger.csv; if nothing was, report "
            "a fault of the program",
            blocking=True,
        ),
        Check(
            "all_splits_there",
            "train, val and test each hold a trajectory",
            remedy="bring more trajectories, or larger shares (split.val and split.test in contest.yaml) for those "
            "that are still to come",
            warns=True,
        ),
    ),
)
def splits(context: dg.AssetExecutionContext, attempts: Any) -> Made:
    """Grouped by (u, p), stratified by solved or not. What an earlier run assigned is kept (splits_ledger)."""
    from judge_pipeline.cocreation.splits import assign_splits, updated_ledger
    from judge_pipeline.orchestration.one_at_a_time import one_writing
    from judge_pipeline.orchestration.splits_ledger import SplitsLedger
    from judge_pipeline.tables import SPLITS_LEDGER

    contest = contest_of(context)
    settings = context.resources.workspace.contest(contest)
    workspace = context.resources.workspace.workspace()
    ledger_file = SplitsLedger.of_contest(workspace.store_dir, contest)
    with one_writing(workspace, SPLITS_LEDGER.name, contest):
        ledger = ledger_file.read()
        rows = assign_splits(
            attempts, seed=settings.seed, val_share=settings.split.val, test_share=settings.split.test, ledger=ledger
        )
        ledger_file.write(updated_ledger(ledger, rows))
    groups = set(map(tuple, attempts[["participant", "problem_id"]].drop_duplicates().to_numpy().tolist()))
    assigned = rows[["participant", "problem_id"]].to_numpy().tolist()
    counts = rows["split"].value_counts()
    sizes = {name: int(counts.get(name, 0)) for name in ("train", "val", "test")}
    return Made(
        rows,
        {
            "trajectories": "train {train} / val {val} / test {test}".format(**sizes),
            "seed": settings.seed,
            "ledger": dg.MetadataValue.path(str(ledger_file.path)),
            "ledger_sha256": ledger_file.sha256(),
        },
        {
            "disjoint_by_group": [f"{g} has no split" for g in sorted(groups - set(map(tuple, assigned)))]
            + ([] if len(assigned) == len(groups) else ["a trajectory is assigned more than once, or unknown"]),
            "all_splits_there": [f"{name} is empty" for name, size in sizes.items() if not size],
        },
    )


ASSETS = [CONTEST_FOLDER, read_contest_folder, participant_contexts, splits]
