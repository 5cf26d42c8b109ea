"""What a report rests on: hashes of data, configuration, prompts and code. No clock: the same inputs, the same page."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg

from judge_pipeline.orchestration.parquet_store import ParquetStore
from judge_pipeline.orchestration.resources import WorkspaceResource
from judge_pipeline.orchestration.splits_ledger import SplitsLedger
from judge_pipeline.orchestration.table_asset import code_version
from judge_pipeline.settings import EmbeddedJudge, LitellmJudge, RewardJudge, System, Workspace
from judge_pipeline.tables import ATTEMPTS, JUDGE_OUTPUTS, JUDGE_REQUESTS, PREDICTIONS

if TYPE_CHECKING:
    from judge_pipeline.report.inputs import ReportProvenance

_CODE = (
    "assets", "cocreation", "figures", "ingest", "judging", "orchestration", "report", "similarity", "statistics",
    "settings",
)  # fmt: skip


def report_code_version() -> str:
    """What a contest's report says of the sources that made it, if these make it now."""
    return code_version(_CODE)


def provenance_of(
    instance: dg.DagsterInstance, resource: WorkspaceResource, store: ParquetStore, contest: str
) -> ReportProvenance:
    """Where the numbers of a contest's report come from."""
    from judge_pipeline.cocreation.redacted import redactions_in_words
    from judge_pipeline.cocreation.verdict_masking import masking_in_words
    from judge_pipeline.report.inputs import ReportProvenance

    workspace = resource.workspace()
    settings = resource.contest(contest)
    return ReportProvenance(
        contest=contest,
        fingerprint=folder_sha256(instance, contest),
        seed=settings.seed,
        resamples=settings.resamples,
        code_version=report_code_version(),
        context=settings.context,
        title=settings.title,
        note=settings.note,
        prompt_hashes=prompt_hashes(workspace),
        asked_with=parameters_of(workspace),
        data_versions=_data_versions(store, contest),
        settings={
            "judges.yaml (sha256)": _sha256(workspace.config_dir / "judges.yaml"),
            "splits ledger (sha256)": SplitsLedger.of_contest(workspace.store_dir, contest).sha256(),
            "min_coverage": f"{settings.min_coverage:g}",
            "max_code_chars": str(settings.max_code_chars),
            "max_prompt_chars": str(settings.max_prompt_chars),
            "replaced in what judges are sent": redactions_in_words(settings.redaction),
            "words for verdicts in prompts": masking_in_words(settings),
        },
        version=version("judge-pipeline"),
    )


def folder_sha256(instance: dg.DagsterInstance, contest: str) -> str:
    """The fingerprint of the contest folder as it was when the attempts were read."""
    return _told(instance, "attempts", contest, "folder_sha256")


def set_sha256(instance: dg.DagsterInstance, preference_set: str) -> str:
    """The fingerprint of a preference set's files as they were when the pairs were read."""
    return _told(instance, "preference_pairs", preference_set, "files_sha256")


def _told(instance: dg.DagsterInstance, asset: str, partition: str, entry: str) -> str:
    """What the asset's last materialization told of itself."""
    records = instance.fetch_materializations(
        dg.AssetRecordsFilter(asset_key=dg.AssetKey(asset), asset_partitions=[partition]), limit=1
    ).records
    materialization = records[0].asset_materialization if records else None
    told = materialization.metadata.get(entry) if materialization else None
    return str(told.value) if told is not None else "unknown"


def prompt_hashes(workspace: Workspace) -> dict[str, str]:
    """judge -> sha256 of its prompt template, for the judges that have one."""
    judges = workspace.judges()
    prompts = {name: getattr(judges.get(name), "prompt", None) for name in judges.names("cocreation")}
    return _hashes_of(workspace, prompts)


def pair_prompt_hashes(workspace: Workspace) -> dict[str, str]:
    """The same of what judges of preference sets are asked about pairs."""
    from judge_pipeline.preference.pair_question import pair_question

    judges = workspace.judges()
    asked = {name: judges.get(name) for name in judges.names("preference")}
    question = pair_question(may_tie=False)  # in which templates a tie may be called does not change which these are
    prompts = {
        name: question.template(judge)
        for name, judge in asked.items()
        if isinstance(judge, LitellmJudge | EmbeddedJudge | RewardJudge)
    }
    return _hashes_of(workspace, prompts)


def _hashes_of(workspace: Workspace, prompts: Mapping[str, str | None]) -> dict[str, str]:
    files = {name: workspace.config_dir / "prompts" / prompt for name, prompt in prompts.items() if prompt}
    return {name: _sha256(file) if file.is_file() else "no such file" for name, file in files.items()}


def parameters_of(workspace: Workspace, system: System = "cocreation") -> dict[str, str]:
    """judge -> how it is asked beside its prompt (``judging.versions.asked_with``), for the judges at a provider."""
    from judge_pipeline.judging.versions import asked_with

    judges = workspace.judges()
    found = {name: judges.get(name) for name in judges.names(system)}
    return {
        name: asked_with(judge.sent_parameters(), judge.base_url, judge.send_schema)
        for name, judge in found.items()
        if isinstance(judge, LitellmJudge)
    }


def _data_versions(store: ParquetStore, contest: str) -> dict[str, str]:
    contest_tables = (ATTEMPTS, JUDGE_REQUESTS, PREDICTIONS)
    judged = {
        f"judge_outputs, {judge}": _sha256(store.path(JUDGE_OUTPUTS, contest, judge))
        for judge in store.parts(JUDGE_OUTPUTS, contest)
    }
    return {table.name: _sha256(store.path(table, contest)) for table in contest_tables} | judged


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
