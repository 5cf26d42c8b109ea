"""What the ablation and the report of criteria are made from: the stored tables of every judge@configuration."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg

from judge_pipeline.orchestration.guidance_run import guidance_in_force, questioned_settings
from judge_pipeline.orchestration.judging_configuration import judged_how, prompts_sha256
from judge_pipeline.orchestration.parquet_store import ParquetStore
from judge_pipeline.orchestration.preference_reports import preference_report_provenance
from judge_pipeline.orchestration.provenance import parameters_of
from judge_pipeline.orchestration.resources import WorkspaceResource
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.table_schema import TableError
from judge_pipeline.tables import PREFERENCE_PAIRS, PREFERENCE_SPLITS
from judge_pipeline.tables.criteria import CRITERIA_DECISIONS
from judge_pipeline.tables.criteria_ablation import JudgedTables

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.report.criteria_inputs import CriteriaReportInput, GuidanceShown
    from judge_pipeline.report.inputs import JudgeKind
    from judge_pipeline.report.preference_inputs import PreferenceProvenance
    from judge_pipeline.settings.criteria import Configuration, GuidanceUse


@dataclass(frozen=True)
class StoredCriteria:
    """What is stored of a set's partitions judge@configuration.

    Attributes:
        judged: the tables of each that can be used, in the order of their keys.
        guidance_sha256: key -> hash of the guidance that it was judged with, where there was any.
        left_out: key -> why it cannot be used: damaged, no longer in criteria.yaml, or decided under other settings or
            by another model than is in force.
    """

    judged: list[JudgedTables]
    guidance_sha256: Mapping[str, str]
    left_out: Mapping[str, str]


def criteria_report_path(workspace: Workspace, preference_set: str) -> Path:
    """Where a set's report on criteria lies."""
    return workspace.store_dir / "reports" / preference_set / "criteria_report.html"


def criteria_tables_dir(workspace: Workspace, preference_set: str) -> Path:
    """Where the report's tables lie as CSV and LaTeX."""
    return workspace.store_dir / "exports" / preference_set / "criteria_tables"


def stored_criteria(workspace: Workspace, store: ParquetStore, preference_set: str) -> StoredCriteria:
    """The tables of every judge@configuration that has decided pairs of the set, as the configuration has it now.

    Raises:
        SettingsError: criteria.yaml or judges.yaml is wrong.
    """
    configurations = workspace.criteria().configurations
    judged, hashes, left_out = [], {}, {}
    for key in store.parts(CRITERIA_DECISIONS, preference_set):
        judge, _, name = key.partition("@")
        if name not in configurations:
            left_out[key] = "no longer in criteria.yaml"
            continue
        made_under = store.provenance(CRITERIA_DECISIONS, preference_set, key) or {}
        if (why := _made_under_other(workspace, made_under, judge, configurations[name])) is not None:
            left_out[key] = f"decided {why} now: judge it again"
            continue
        try:
            judged.append(_tables_of(store, preference_set, judge, name))
        except TableError as error:
            left_out[key] = str(error)
            continue
        if isinstance(sha256 := made_under.get("guidance_sha256"), str):
            hashes[key] = sha256
    return StoredCriteria(judged, hashes, left_out)


def _made_under_other(
    workspace: Workspace, made_under: Mapping[str, Any], judge: str, configuration: Configuration
) -> str | None:
    """Under what else than is in force decisions were made, in words; None where under the same.

    Beside decisions of another model of the same name a gain would be one of the model.
    """
    criteria, how = workspace.criteria(), judged_how(configuration)
    cut = {"context_chars": criteria.context_chars, "response_chars": criteria.response_chars}
    shown = made_under.get("shown", {})
    if made_under.get("how", how) != how or any(shown.get(name, n) != n for name, n in cut.items()):
        return "under other settings than criteria.yaml has"
    with suppress(SettingsError):  # of a judge that is gone the decisions stay
        settings = questioned_settings(workspace, judge)
        answers = json.loads(json.dumps(settings.answer_settings("criteria"), default=str))
        if made_under.get("answers", answers) != answers:
            return "by another model, or with other parameters, than judges.yaml has"
        prompts = prompts_sha256(workspace, "criteria", settings)
        if made_under.get("prompts_sha256", prompts) != prompts:
            return "by other prompt templates than there are"
    return None


def _tables_of(store: ParquetStore, preference_set: str, judge: str, name: str) -> JudgedTables:
    found: dict[str, Any] = {}
    for table, schema in JudgedTables.schemas().items():
        with suppress(FileNotFoundError):
            found[table] = store.read(schema, preference_set, f"{judge}@{name}")
    return JudgedTables(judge, name, **found)


def criteria_report_input(
    workspace: Workspace, store: ParquetStore, preference_set: str, stored: StoredCriteria
) -> CriteriaReportInput:
    """The tables of a set that are there, in today's schema; the pairs must be.

    Raises:
        FileNotFoundError: the set's pairs were never read.
        SettingsError: criteria.yaml or judges.yaml is wrong.
        TableError: the pairs are damaged, or of another version's schema.
    """
    from judge_pipeline.report.criteria_inputs import CriteriaReportInput

    schemas = CriteriaReportInput.schemas()
    found: dict[str, Any] = {PREFERENCE_PAIRS.name: store.read(schemas.pop(PREFERENCE_PAIRS.name), preference_set)}
    for name, table in schemas.items():
        with suppress(FileNotFoundError, TableError):
            found[name] = store.read(table, preference_set)
    splits = store.read(PREFERENCE_SPLITS, preference_set)
    return CriteriaReportInput(
        **found,
        judged=stored.judged,
        configurations=workspace.criteria().configurations,
        kinds=kinds_of(workspace, (own.judge for own in stored.judged)),
        guidance=_guidance(workspace, preference_set, stored, splits),
        left_out=stored.left_out,
    )


def kinds_of(workspace: Workspace, judges: Iterable[str]) -> dict[str, JudgeKind]:
    """What each of these judges is by judges.yaml as it is now; one that is gone is known by its name alone."""
    from judge_pipeline.report.inputs import JudgeKind

    listed, found = workspace.judges(), {}
    for name in dict.fromkeys(judges):
        with suppress(SettingsError):
            settings = listed.get(name)
            simulated = name.startswith("simulated") or getattr(settings, "model", None) == "simulated"
            found[name] = JudgeKind(name, settings.backend, simulated, True, "judged", None)
    return found


def _guidance(
    workspace: Workspace, preference_set: str, stored: StoredCriteria, splits: pd.DataFrame
) -> list[GuidanceShown]:
    """The guidance in force of each configuration that was judged, one entry for each content."""
    from judge_pipeline.report.criteria_inputs import GuidanceShown

    configurations = workspace.criteria().configurations
    found: dict[tuple[str, str, str | None], list[tuple[str, Any]]] = {}
    for own in stored.judged:
        use = configurations[own.configuration].guidance
        if use is not None:
            name, sha256, file, problem = _in_force(workspace, use, own.judge, preference_set, splits)
            found.setdefault((name, sha256, problem), []).append((own.name, file))
    return [
        GuidanceShown(
            name, sha256, tuple(key for key, _ in of), of[0][1], problem,
            tuple(key for key, _ in of if sha256 and stored.guidance_sha256.get(key, sha256) != sha256),
        )
        for (name, sha256, problem), of in found.items()
    ]  # fmt: skip


def _in_force(
    workspace: Workspace, use: GuidanceUse, judge: str, preference_set: str, splits: pd.DataFrame
) -> tuple[str, str, Any, str | None]:
    """Name, hash and file of the guidance in force; or why there is none that may be used."""
    from judge_pipeline.criteria.guidance_file import GuidanceError, content_sha256, file_name

    try:
        file = guidance_in_force(workspace, use, judge, preference_set, splits)
    except (GuidanceError, SettingsError, TableError) as error:
        said = str(error)
        for folder in (
            workspace.config_dir,
            workspace.store_dir,
        ):  # where things lie is nobody's business
            said = said.replace(f"{folder}{os.sep}", "").replace(str(folder), folder.name)
        return use.file or f"by {use.synthesizer or judge}", "", None, said
    return use.file or file_name(file), content_sha256(file), file, None


def criteria_report_provenance(
    instance: dg.DagsterInstance, resource: WorkspaceResource, store: ParquetStore, preference_set: str,
    stored: StoredCriteria,
) -> PreferenceProvenance:  # fmt: skip
    """Where the numbers of a set's report come from. No clock: the same inputs, the same page."""
    workspace = resource.workspace()
    criteria = workspace.criteria()
    base = preference_report_provenance(instance, resource, store, preference_set)
    configurations = {own.configuration: criteria.configurations[own.configuration] for own in stored.judged}
    return replace(
        base,
        rule="the label in one decision, ties included; an invalid one is wrong",
        rules={},
        resamples=criteria.resamples,
        prompt_hashes=_prompts(workspace),
        asked_with=parameters_of(workspace, "criteria"),
        data_versions=_data_versions(store, preference_set, stored),
        settings={
            **{name: base.settings[name] for name in base.settings if "sha256" in name},
            **{
                f"configuration {name}": json.dumps(judged_how(own), sort_keys=True)
                for name, own in sorted(configurations.items())
            },
            **{f"left out: {key}": why for key, why in sorted(stored.left_out.items())},
        },
    )


def _prompts(workspace: Workspace) -> dict[str, str]:
    """The templates of criteria and guidance -> their sha256."""
    folder = workspace.config_dir / "prompts"
    files = sorted((*folder.glob("criteria_*.md.j2"), *folder.glob("guidance_*.md.j2")))
    return {file.name: _sha256(file) for file in files}


def _data_versions(store: ParquetStore, preference_set: str, stored: StoredCriteria) -> dict[str, str]:
    from judge_pipeline.report.criteria_inputs import CriteriaReportInput

    paths = {name: store.path(table, preference_set) for name, table in CriteriaReportInput.schemas().items()}
    paths |= {
        f"{CRITERIA_DECISIONS.name}, {own.name}": store.path(CRITERIA_DECISIONS, preference_set, own.name)
        for own in stored.judged
    }
    return {name: _sha256(path) for name, path in paths.items() if path.is_file()}


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
