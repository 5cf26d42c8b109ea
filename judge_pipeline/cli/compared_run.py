"""What ``judge-pipeline compare`` is given: a file of predictions, an output folder, or a contest's stored tables."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judge_pipeline.settings import Workspace

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.orchestration.parquet_store import ParquetStore


@dataclass(frozen=True)
class GivenRun:
    """One side of a comparison.

    Attributes:
        predictions: the long prediction table, with cost_usd and latency_ms where they are known.
        source: what to call it.
        sha256: of the file that the predictions come from.
        judges: judge -> model and prompt as stored with the run's figures; empty for a file of predictions.
    """

    predictions: pd.DataFrame
    source: str
    sha256: str
    judges: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Where it comes from, without the path, which says nothing elsewhere."""
        return {"source": self.source, "sha256": self.sha256, "judges": self.judges}


def given_run(given: str, contest: str | None, hint: str) -> GivenRun:
    """Read one side.

    Args:
        given: a file of predictions, an output folder (one with tables/ in it, or a workspace with var/), or the name
            of a contest of the workspace found from here.
        contest: which contest of an output folder, where it holds several.
        hint: the argument's name.

    Raises:
        click.BadParameter: it is none of these.
        PredictionFileError: the file cannot be read.
    """
    from judge_pipeline.cli.prediction_file import is_known_format, read_predictions

    path = Path(given)
    if path.is_file():
        if not is_known_format(path):
            raise click.BadParameter(
                f"{click.format_filename(path)} does not end in .csv, .tsv, .jsonl or .parquet.", param_hint=hint
            )
        return GivenRun(read_predictions(path, spending=True), path.name, file_sha256(path), {})
    if path.is_dir():
        for out in (path, path / "var"):
            if (out / "tables" / "predictions").is_dir():
                return _stored(out, contest, given, hint)
    out, name = Workspace.find().store_dir, path.name
    if (out / "tables" / "predictions" / f"{name}.parquet").is_file() and (path.is_dir() or name == given):
        return _stored(out, name, given, hint)
    raise click.BadParameter(
        f"{given!r} is no file of predictions, no output folder with tables/predictions, and no contest with stored "
        f"predictions. Remedy: check the path, or make them with 'judge-pipeline run'.",
        param_hint=hint,
    )


def file_sha256(path: Path) -> str:
    """The file's sha256 as hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def _stored(out: Path, contest: str | None, given: str, hint: str) -> GivenRun:
    from judge_pipeline.orchestration.parquet_store import ParquetStore
    from judge_pipeline.tables import PREDICTIONS

    known = sorted(file.stem for file in (out / "tables" / "predictions").glob("*.parquet"))
    if contest is None and len(known) != 1:
        raise click.BadParameter(
            f"{given!r} holds predictions of {len(known)} contests ({', '.join(known) or 'none'}). Remedy: say which "
            "with --contest.",
            param_hint=hint,
        )
    name = contest or known[0]
    if name not in known:
        raise click.BadParameter(
            f"{given!r} holds no predictions of contest {name!r}; it has {', '.join(known) or 'none'}.", param_hint=hint
        )
    store = ParquetStore(root=str(out / "tables"))
    predictions = _with_spending(store, name, store.read(PREDICTIONS, name))
    return GivenRun(predictions, name, file_sha256(store.path(PREDICTIONS, name)), _models(store, name))


def _with_spending(store: ParquetStore, contest: str, predictions: pd.DataFrame) -> pd.DataFrame:
    """The predictions with what each answer cost and how long it took, from the judges' tables that are there."""
    import pandas as pd

    from judge_pipeline.tables import JUDGE_OUTPUTS

    columns = ["attempt_id", "judge", "cost_usd", "latency_ms"]
    stored = set(store.parts(JUDGE_OUTPUTS, contest)) & set(predictions["judge"])
    tables = [store.read(JUDGE_OUTPUTS, contest, judge)[columns] for judge in sorted(stored)]
    if not tables:
        return predictions
    return predictions.merge(pd.concat(tables), on=["attempt_id", "judge"], how="left", validate="one_to_one")


def _models(store: ParquetStore, contest: str) -> dict[str, Any]:
    from judge_pipeline.tables import JUDGE_METRICS

    if not store.path(JUDGE_METRICS, contest).is_file():
        return {}
    provenance = store.provenance(JUDGE_METRICS, contest) or {}
    return dict(provenance.get("judges", {}))
