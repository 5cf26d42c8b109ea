"""Group preference: from the files of a preference set to its pairs, splits and profile (TRACE, sections 3 and 4.1)."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import dagster as dg

from judge_pipeline.orchestration.partitions import PREFERENCE_SETS, preference_set_of
from judge_pipeline.orchestration.table_asset import (
    FAULT,
    OWNERS,
    Check,
    Made,
    check_specs,
    events,
    table_asset,
    table_outs,
)
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import (
    DATASET_PROFILE,
    PAIR_REDACTION_COUNTS,
    PAIR_TEXTS,
    PREFERENCE_PAIRS,
    PREFERENCE_QUARANTINE,
    PREFERENCE_SELECTION,
    PREFERENCE_SPLITS,
)

GROUP = "preference"

PREFERENCE_FOLDER = dg.AssetSpec(
    "preference_folder",
    description="The preference set's raw files and its preference.yaml. Brought by people.",
    group_name=GROUP,
    partitions_def=PREFERENCE_SETS,
    kinds={"file"},
    owners=OWNERS,
)

_READ: dict[Table, tuple[Check, ...]] = {
    PREFERENCE_PAIRS: (
        Check(
            "some_pairs",
            "The set holds at least one pair",
            remedy="do what preference_quarantine says, or name the format and columns in the set's "
            "preference.yaml, and run read_preference_set again",
            blocking=True,
        ),
    ),
    PREFERENCE_QUARANTINE: (
        Check(
            "nothing_set_aside",
            "Every row of every file could be read",
            remedy="do what stands behind each place and run read_preference_set again; whatever stays set aside "
            "is in no figure",
            warns=True,
        ),
    ),
    PREFERENCE_SELECTION: (
        Check(
            "all_accounted_for",
            "Rows kept or swapped are the pairs, rows set aside those of the quarantine",
            remedy=FAULT,
        ),
    ),
}


@dg.multi_asset(
    name="read_preference_folder",
    outs=table_outs(
        _READ,
        group=GROUP,
        rooms=(
            "ingest", "preference/pairs.py", "preference/importers", "preference/drafts.py", "preference/row_values.py",
            "preference/set_aside.py", "preference/fenced_code.py", "preference/screenshots.py",
            "orchestration/evidence_files.py",
        ),
    ),
    deps=[PREFERENCE_FOLDER],
    partitions_def=PREFERENCE_SETS,
    check_specs=[spec for table, checks in _READ.items() for spec in check_specs(table, checks)],
    required_resource_keys={"workspace", "progress", "store"},
    description="Reads the set's files by the importer that preference.yaml names; what it chooses is counted. "
    "Screenshots are kept in the output folder, under their sha256.",
)  # fmt: skip
def read_preference_folder(context: dg.AssetExecutionContext) -> Iterator[Any]:
    """Raw files -> preference_pairs, preference_quarantine, preference_selection."""
    from judge_pipeline.orchestration.automation.content import set_content
    from judge_pipeline.orchestration.automation.reading_state import reading_metadata
    from judge_pipeline.orchestration.evidence_files import EvidenceFiles
    from judge_pipeline.orchestration.forgetting_pairs import withdrawn_from
    from judge_pipeline.orchestration.preference_sets import files_of_judges, set_files
    from judge_pipeline.preference.pairs import read_pairs

    name = preference_set_of(context)
    resource = context.resources.workspace
    folder, settings = resource.preference_folder(name), resource.preference(name)
    said = reading_metadata(resource.workspace(), "preference_set", context.run.tags, lambda: set_content(folder))
    hashes: dict[str, str] = {}
    withdrawn = withdrawn_from(resource.workspace(), name)
    evidence = EvidenceFiles.of(resource.workspace(), name)
    read = read_pairs(
        _hashed(set_files(folder, settings, files_of_judges(resource.workspace())), hashes),
        settings,
        withdrawn,
        partial(evidence.keep, folder),
    )
    problems = _problems(read)
    if read.pairs.empty:
        lines = problems.get("nothing_set_aside", [])[:20]
        raise dg.Failure("\n".join([f"no pair could be read from {folder}", *lines]), allow_retries=False)
    counts = read.selection.groupby("effect")["n"].sum()
    metadata = {
        "folder": dg.MetadataValue.path(str(folder)),
        "files_sha256": hashlib.sha256(json.dumps(hashes).encode()).hexdigest(),
        "files": len(hashes),
        **said,
        "format": settings.source.format,
        "chosen_by": settings.chosen_by,
        **{f"rows_{effect}": int(n) for effect, n in counts.items()},
    }
    made = {PREFERENCE_PAIRS: read.pairs, PREFERENCE_QUARANTINE: read.quarantine, PREFERENCE_SELECTION: read.selection}
    for table, rows in made.items():
        yield from events(context, table, Made(rows, metadata, problems), _READ[table], table.name)
        context.resources.progress.table(table.name, len(rows))
    evidence.prune(read.pairs)  # last: the tables of before are in force until the new ones stand


def _hashed(files: Iterable[tuple[str, bytes]], hashes: dict[str, str]) -> Iterator[tuple[str, bytes]]:
    """The files one at a time, each one's sha256 noted as it goes by."""
    for path, data in files:
        hashes[path] = hashlib.sha256(data).hexdigest()
        yield path, data


def _problems(read: Any) -> dict[str, list[str]]:
    from judge_pipeline.preference.pairs import FAULTY
    from judge_pipeline.preference.set_aside import said_of

    aside = [said_of(row) for row in read.quarantine.to_dict("records")]
    counts = read.selection.groupby("effect")["n"].sum()
    kept = int(counts.get("kept", 0) + counts.get("swapped", 0))
    counted = [] if kept == len(read.pairs) else [f"{kept} rows are counted as pairs, {len(read.pairs)} are there"]
    one_by_one = int(read.selection.loc[read.selection["reason"] == FAULTY, "n"].sum())
    if one_by_one > len(read.quarantine):  # the rows of a file that lacks a column stand there as that file
        counted.append(f"{one_by_one} rows are set aside, the quarantine holds {len(read.quarantine)}")
    return {"nothing_set_aside": aside, "all_accounted_for": counted}


@table_asset(
    PREFERENCE_SPLITS,
    group=GROUP,
    inputs=(PREFERENCE_PAIRS,),
    rooms=("preference/preference_splits.py", "preference/pairs.py"),
    partitions_def=PREFERENCE_SETS,
    checks=(
        Check(
            "disjoint_by_instruction",
            "Pairs of the same instruction lie in one split",
            remedy="take back what was edited in <out>/ledgers/<set>/preference_splits_ledger.csv; if nothing was, "
            "report a fault of the program",
            blocking=True,
        ),
        Check(
            "both_splits_there",
            "train and val each hold a pair",
            remedy="bring more pairs, or another share (split.train in preference.yaml) for those that are still "
            "to come",
            warns=True,
        ),
    ),
)
def preference_splits(context: dg.AssetExecutionContext, preference_pairs: Any) -> Made:
    """Seeded, train 20% unless preference.yaml says otherwise. What an earlier run assigned is kept (a ledger)."""
    from judge_pipeline.orchestration.one_at_a_time import one_writing
    from judge_pipeline.orchestration.splits_ledger import SplitsLedger
    from judge_pipeline.preference.preference_splits import assign_preference_splits, updated_preference_ledger
    from judge_pipeline.tables import PREFERENCE_SPLITS_LEDGER

    name = preference_set_of(context)
    settings = context.resources.workspace.preference(name)
    workspace = context.resources.workspace.workspace()
    ledger_file = SplitsLedger.of_preference_set(workspace.store_dir, name)
    with one_writing(workspace, PREFERENCE_SPLITS_LEDGER.name, name):
        ledger = ledger_file.read()
        rows = assign_preference_splits(
            preference_pairs,
            seed=settings.seed,
            train_share=settings.split.train,
            by_source=settings.split.by_source,
            ledger=ledger,
        )
        ledger_file.write(updated_preference_ledger(ledger, rows))
    splits_of = rows.groupby("instruction_group")["split"].nunique()
    sizes = rows["split"].value_counts()
    return Made(
        rows,
        {
            "pairs": ", ".join(f"{split} {n}" for split, n in sorted(sizes.items())),
            "instructions": len(splits_of),
            "seed": settings.seed,
            "ledger": dg.MetadataValue.path(str(ledger_file.path)),
            "ledger_sha256": ledger_file.sha256(),
        },
        {
            "disjoint_by_instruction": [f"{group} is in {n} splits" for group, n in splits_of.items() if n > 1],
            "both_splits_there": [f"{split} is empty" for split in ("train", "val") if split not in sizes],
        },
    )


@table_asset(
    DATASET_PROFILE,
    group=GROUP,
    inputs=(PREFERENCE_PAIRS,),
    rooms=(
        "preference/dataset_profile.py", "preference/natural_languages.py", "preference/fenced_code.py",
        "ingest/comments.py",
    ),
    partitions_def=PREFERENCE_SETS,
    kinds=("pandas", "parquet", "lingua"),
)  # fmt: skip
def dataset_profile(context: dg.AssetExecutionContext, preference_pairs: Any) -> Made:
    """Table 1: languages, lengths and lines (p50, p95), line-level edit distance, and how people's choices lie."""
    from judge_pipeline.preference.dataset_profile import dataset_profile as profile
    from judge_pipeline.preference.natural_languages import natural_languages_of

    settings = context.resources.workspace.preference(preference_set_of(context))
    rows = profile(preference_pairs, partial(natural_languages_of, accuracy=settings.natural_languages))
    return Made(rows, {"natural_languages": f"by Lingua, {settings.natural_languages} accuracy"})


_ROOMS_OF_TEXTS = ("preference/pair_texts.py", "preference/screenshots.py", "ingest/redaction.py", "ingest/redacting")
_TEXTS: dict[Table, tuple[Check, ...]] = {
    PAIR_TEXTS: (
        Check("every_pair", "Every pair has its texts, once", remedy=FAULT, blocking=True),
        Check("no_label", "No column holds a choice, a vote, an aspect or a model", remedy=FAULT, blocking=True),
    ),
    PAIR_REDACTION_COUNTS: (
        Check(
            "redaction_on",
            "Every kind of personal data is replaced",
            remedy="write the kinds back into redaction.kinds of preference.yaml before a judge of another company "
            "is asked, or let it be so on purpose",
            warns=True,
        ),
    ),
}


@dg.multi_asset(
    name="make_pair_texts",
    outs=table_outs(_TEXTS, group=GROUP, rooms=_ROOMS_OF_TEXTS),
    ins={PREFERENCE_PAIRS.name: dg.AssetIn()},
    partitions_def=PREFERENCE_SETS,
    check_specs=[spec for table, checks in _TEXTS.items() for spec in check_specs(table, checks)],
    required_resource_keys={"workspace", "progress", "store"},
    description="What judges are shown of pairs: no label, and personal data replaced as preference.yaml says.",
)
def make_pair_texts(context: dg.AssetExecutionContext, preference_pairs: Any) -> Iterator[Any]:
    """Pairs -> pair_texts, pair_redaction_counts."""
    from judge_pipeline.preference.pair_texts import pair_texts
    from judge_pipeline.preference.screenshots import counts_of

    redaction = context.resources.workspace.preference(preference_set_of(context)).redaction
    texts, counts = pair_texts(preference_pairs, redaction)
    labels = {"w", "both_bad", "votes", "aspects", "model_a", "model_b"} & set(texts.columns)
    off = sorted(set(counts.loc[counts["reason"].fillna("").str.startswith("not replaced"), "kind"]))
    problems = {
        "every_pair": [] if texts["pair_id"].equals(preference_pairs["pair_id"]) else ["pairs and texts differ"],
        "no_label": [f"column {name}" for name in sorted(labels)],
        "redaction_on": [f"{kind}: not replaced, since {redaction.off_reason}" for kind in off],
    }
    screenshots = counts_of((*texts["evidence_a"], *texts["evidence_b"]))
    metadata = {"n_replaced": int(counts["n_replaced"].sum())}
    metadata |= {f"screenshots_{state}": n for state, n in screenshots.items() if n}
    for table, rows in {PAIR_TEXTS: texts, PAIR_REDACTION_COUNTS: counts}.items():
        yield from events(context, table, Made(rows, metadata, problems), _TEXTS[table], table.name)
        context.resources.progress.table(table.name, len(rows))


ASSETS = [PREFERENCE_FOLDER, read_preference_folder, preference_splits, dataset_profile, make_pair_texts]
