"""What the report of a preference set is made from: the stored tables that are there, and where they come from."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg

from judge_pipeline.orchestration.parquet_store import EVERY_CONTEST, ParquetStore
from judge_pipeline.orchestration.provenance import pair_prompt_hashes, parameters_of, set_sha256
from judge_pipeline.orchestration.resources import WorkspaceResource
from judge_pipeline.orchestration.splits_ledger import SplitsLedger
from judge_pipeline.orchestration.table_asset import code_version
from judge_pipeline.settings import PreferenceSettings, Workspace
from judge_pipeline.table_schema import TableError

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.report.preference_inputs import PreferenceProvenance, PreferenceReportInput

_CODE = (
    "assets", "figures", "ingest", "judging", "orchestration", "preference", "report", "statistics", "settings"
)  # fmt: skip


def set_code_version() -> str:
    """What a set's report says of the sources that made it, if these make it now."""
    return code_version(_CODE)


def preference_report_path(workspace: Workspace, preference_set: str) -> Path:
    """Where a set's report lies."""
    return workspace.store_dir / "reports" / preference_set / "preference_report.html"


def preference_tables_dir(workspace: Workspace, preference_set: str) -> Path:
    """Where the report's tables lie as CSV and LaTeX."""
    return workspace.store_dir / "exports" / preference_set / "preference_tables"


def preference_report_tables(store: ParquetStore, preference_set: str) -> PreferenceReportInput:
    """The tables of a set that are there, in today's schema; the pairs must be.

    Raises:
        FileNotFoundError: the set's pairs were never read.
        TableError: the pairs are damaged, or of another version's schema.
    """
    from judge_pipeline.report.preference_inputs import JUDGMENTS, OVER_SETS, PreferenceReportInput

    schemas = PreferenceReportInput.schemas()
    found: dict[str, Any] = {"preference_pairs": store.read(schemas.pop("preference_pairs"), preference_set)}
    for name, table in schemas.items():
        with suppress(FileNotFoundError, TableError):
            found[name] = store.read(table, EVERY_CONTEST if name in OVER_SETS else preference_set)
    judged: dict[str, pd.DataFrame] = {}
    for judge in store.parts(JUDGMENTS, preference_set):
        with suppress(TableError):  # pair_judge_coverage says of which judge the table is damaged
            judged[judge] = store.read(JUDGMENTS, preference_set, judge)
    return PreferenceReportInput(**found, pair_judgments=judged)


def preference_report_provenance(
    instance: dg.DagsterInstance, resource: WorkspaceResource, store: ParquetStore, preference_set: str
) -> PreferenceProvenance:
    """Where the numbers of a set's report come from. No clock: the same inputs, the same page."""
    from judge_pipeline.preference.scoring_rules import SCORING_RULES
    from judge_pipeline.report.preference_inputs import PreferenceProvenance

    workspace, settings = resource.workspace(), resource.preference(preference_set)
    ledger = SplitsLedger.of_preference_set(workspace.store_dir, preference_set)
    return PreferenceProvenance(
        preference_set=preference_set,
        fingerprint=set_sha256(instance, preference_set),
        seed=settings.seed,
        resamples=settings.resamples,
        code_version=set_code_version(),
        chosen_by=settings.chosen_by,
        title=settings.title,
        note=settings.note,
        rule=settings.scoring_rule,
        rules={name: rule.words for name, rule in SCORING_RULES.items()},
        prompt_hashes=pair_prompt_hashes(workspace),
        asked_with=parameters_of(workspace, "preference"),
        data_versions=_data_versions(store, preference_set),
        settings={
            "judges.yaml (sha256)": _sha256(workspace.config_dir / "judges.yaml"),
            "splits ledger (sha256)": _sha256(ledger.path),
            **_settings_in_words(settings),
        },
        version=version("judge-pipeline"),
    )


def _settings_in_words(settings: PreferenceSettings) -> dict[str, str]:
    """What of preference.yaml bears on the numbers, each part as JSON."""
    shown = ("source", "split", "judging", "rubric", "models", "redaction")
    parts = settings.model_dump(mode="json", include=set(shown))
    return {name: json.dumps(parts[name], ensure_ascii=False, sort_keys=True) for name in shown}


def _data_versions(store: ParquetStore, preference_set: str) -> dict[str, str]:
    from judge_pipeline.report.preference_inputs import JUDGMENTS, OVER_SETS, PreferenceReportInput

    own = {
        name: store.path(table, preference_set)
        for name, table in PreferenceReportInput.schemas().items()
        if name not in OVER_SETS
    }
    judged = {
        f"{JUDGMENTS.name}, {judge}": store.path(JUDGMENTS, preference_set, judge)
        for judge in store.parts(JUDGMENTS, preference_set)
    }
    return {name: _sha256(path) for name, path in (own | judged).items() if path.is_file()}


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "not there"
