"""What a table of figures was made from, to be kept in its own Parquet file: data, prompts, models, code."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dagster as dg

from judge_pipeline.orchestration.parquet_store import ParquetStore
from judge_pipeline.orchestration.partitions import CONTESTS, PREFERENCE_SETS, contest_of, preference_set_of
from judge_pipeline.orchestration.provenance import (
    folder_sha256,
    pair_prompt_hashes,
    parameters_of,
    prompt_hashes,
    set_sha256,
)
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import JUDGE_COVERAGE, evaluation
from judge_pipeline.tables.pair_judging import PAIR_JUDGE_COVERAGE

ProvenanceOf = Callable[[dg.AssetExecutionContext, Table, Sequence[Table], str], dict[str, Any]]
"""The step, the table that it makes, the tables that it is given, its code version -> what the table is made from."""


def holds_figures(table: Table) -> bool:
    """Whether a table holds figures, as opposed to what figures are made from."""
    return table in evaluation.TABLES or {"value", "ci95_low"} <= set(table.column_names)


def provenance_by(partitions_def: dg.PartitionsDefinition | None) -> ProvenanceOf | None:
    """What says of a table of this partitioning what it is made from; None where nothing does."""
    if partitions_def is CONTESTS:
        return table_provenance
    return preference_provenance if partitions_def is PREFERENCE_SETS else None


def table_provenance(
    context: dg.AssetExecutionContext, table: Table, inputs: Sequence[Table], code: str
) -> dict[str, Any]:
    """What the table of the running step is made from; the same inputs give the same, and no clock or path is in it.

    Args:
        context: of the step.
        table: the table that it makes.
        inputs: the tables that it is given.
        code: the asset's code version.

    Returns:
        ``data``: sha256 of the contest folder and of each input's file; ``judges``: for each judge that the figures may
        rest on its model as the provider named it, the sha256 of its prompt template, and the parameters that it is
        asked with; ``code`` and ``version``; ``seed``, ``resamples`` and ``context`` of the contest's settings.
    """
    contest, resource = contest_of(context), context.resources.workspace
    workspace = resource.workspace()
    store: ParquetStore = context.resources.store
    settings = resource.contest(contest)
    data = {each.name: _sha256(store.path(each, contest)) for each in inputs}
    return {
        "table": table.name,
        "contest": contest,
        "data": {"contest folder": folder_sha256(context.instance, contest), **data},
        "judges": _judges(store, JUDGE_COVERAGE, contest, prompt_hashes(workspace), parameters_of(workspace)),
        "code": code,
        "version": version("judge-pipeline"),
        "seed": settings.seed,
        "resamples": settings.resamples,
        "context": settings.context,
    }


def preference_provenance(
    context: dg.AssetExecutionContext, table: Table, inputs: Sequence[Table], code: str
) -> dict[str, Any]:
    """The same of a preference set's table.

    Returns:
        As ``table_provenance`` gives them ``data`` (with the set's folder), ``judges``, ``code`` and ``version``; and
        of the set's settings who chose, the scoring rule, seed, resamples, and how models are made. No judge stands in
        a table that is not made from judges' choices: it would change with who was asked since.
    """
    name, resource = preference_set_of(context), context.resources.workspace
    workspace = resource.workspace()
    store: ParquetStore = context.resources.store
    settings = resource.preference(name)
    data = {each.name: _sha256(store.path(each, name)) for each in inputs}
    asked = pair_prompt_hashes(workspace), parameters_of(workspace, "preference")
    return {
        "table": table.name,
        "preference_set": name,
        "data": {"preference folder": set_sha256(context.instance, name), **data},
        "judges": _judges(store, PAIR_JUDGE_COVERAGE, name, *asked) if PAIR_JUDGE_COVERAGE in inputs else {},
        "code": code,
        "version": version("judge-pipeline"),
        "chosen_by": settings.chosen_by,
        "scoring_rule": settings.scoring_rule,
        "seed": settings.seed,
        "resamples": settings.resamples,
        "models": settings.models.model_dump(mode="json"),
    }


def _judges(
    store: ParquetStore, table: Table, name: str, prompts: dict[str, str], asked_with: dict[str, str]
) -> dict[str, dict[str, str | None]]:
    """The judges whose stored judgments answer today's requests, so that today's prompt and parameters are theirs."""
    if not store.path(table, name).is_file():
        return {}
    coverage = store.read(table, name)
    usable = coverage[coverage["status"].isin(("verified", "unverified"))]
    return {
        row["judge"]: {
            "model": row["model"],
            "prompt_sha256": prompts.get(row["judge"]),
            "asked_with": asked_with.get(row["judge"]),
            "status": row["status"],
        }
        for row in usable.to_dict("records")
    }


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "not there"
