"""Re-rating sheets of a workspace: making one, its hidden key, and what people answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judge_pipeline.orchestration.contest_folders import contest_folders
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import ContestSettings, Workspace
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import ATTEMPTS, JUDGE_METRICS, JUDGE_REQUESTS, PREDICTIONS, RERATING_KEYS, RERATINGS

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.cocreation.rerating import Sheet


def new_sheet(
    workspace: Workspace, contest: str, *, n: int, n_raters: int, split: str, with_prompts: bool, seed: int | None
) -> tuple[Sheet, dict[str, dict[str, str]], int]:
    """A sheet, whose key is kept; item -> what is shown of it; and from how many attempts it was drawn.

    Raises:
        FileNotFoundError: the contest has no stored requests or predictions.
    """
    from judge_pipeline.cocreation.rerating import make_sheet, sample_for_rerating

    store = store_of(workspace)
    requests, predictions = store.read(JUDGE_REQUESTS, contest), store.read(PREDICTIONS, contest)
    among = requests if split == "all" else requests[requests["split"] == split]
    candidates = list(among["attempt_id"])
    chosen = _settings(workspace, contest).seed if seed is None else seed
    sheet = make_sheet(contest, sample_for_rerating(predictions, candidates, n, chosen), n_raters, chosen)
    kept = _stored(workspace, RERATING_KEYS, contest)
    _append(workspace, contest, RERATING_KEYS, kept[kept["sheet"] != sheet.name], sheet.keys)
    item_of = dict(zip(sheet.keys["attempt_id"], sheet.keys["item"], strict=True))
    mine = among[among["attempt_id"].isin(item_of)]
    shown = {item_of[row["attempt_id"]]: _shown(row, with_prompts) for row in mine.to_dict("records")}
    return sheet, shown, len(candidates)


def keys_of(workspace: Workspace) -> dict[str, pd.DataFrame]:
    """contest -> table RERATING_KEYS, of every contest that has one."""
    folder = workspace.store_dir / "tables" / RERATING_KEYS.name
    names = sorted(file.stem for file in folder.glob("*.parquet")) if folder.is_dir() else []
    return {name: store_of(workspace).read(RERATING_KEYS, name) for name in names}


def keep_reratings(
    workspace: Workspace, keys: Mapping[str, pd.DataFrame], rows: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Keep what people answered, in place of what was kept of the same sheets and raters; the contests concerned.

    Args:
        workspace: the workspace.
        keys: as of ``keys_of``.
        rows: records with item, rater, accepted, s_algo, s_robust, note.
    """
    import pandas as pd

    given = pd.DataFrame.from_records(list(rows))
    contests = []
    for contest, table in keys.items():
        mine = given.merge(table, on="item", how="inner")
        if not len(mine):
            continue
        contests.append(contest)
        kept = _stored(workspace, RERATINGS, contest)
        replaced = set(zip(mine["sheet"], mine["rater"], strict=True))
        old = [pair not in replaced for pair in zip(kept["sheet"], kept["rater"], strict=True)]
        _append(workspace, contest, RERATINGS, kept[old], RERATINGS.conform(mine[RERATINGS.column_names]))
    return contests


def stored_reratings(workspace: Workspace, contest: str) -> pd.DataFrame:
    """Table RERATINGS of the contest; empty where nothing was read back."""
    return _stored(workspace, RERATINGS, contest)


def agreement_of(workspace: Workspace, contest: str) -> pd.DataFrame:
    """Table RERATING_AGREEMENT from what is stored, as the asset makes it."""
    from judge_pipeline.cocreation.rerating_agreement import rerating_agreement

    store, settings = store_of(workspace), _settings(workspace, contest)
    return rerating_agreement(
        stored_reratings(workspace, contest),
        store.read(PREDICTIONS, contest),
        store.read(ATTEMPTS, contest),
        thresholds_of(store.read(JUDGE_METRICS, contest)),
        seed=settings.seed,
        n_resamples=settings.resamples,
    )


def thresholds_of(judge_metrics: pd.DataFrame) -> dict[str, float | None]:
    """judge -> t*, None where there is none; from table JUDGE_METRICS."""
    import pandas as pd

    chosen = judge_metrics[judge_metrics["metric"] == "threshold"]
    return {j: None if pd.isna(t) else float(t) for j, t in zip(chosen["judge"], chosen["value"], strict=True)}


def _settings(workspace: Workspace, contest: str) -> ContestSettings:
    folder = contest_folders(workspace).get(contest, workspace.data_dir / "contests" / contest)
    return workspace.contest(folder)


def _shown(request: Mapping[str, Any], with_prompts: bool) -> dict[str, str]:
    fields = {"problem": "problem_id", "language": "language", "statement": "problem_statement", "code": "source_code"}
    fields |= {"prompts": "prompt_text"} if with_prompts else {}
    return {name: request[column] for name, column in fields.items() if isinstance(request[column], str)}


def _stored(workspace: Workspace, table: Table, contest: str) -> pd.DataFrame:
    store = store_of(workspace)
    return store.read(table, contest) if store.path(table, contest).is_file() else table.empty()


def _append(workspace: Workspace, contest: str, table: Table, kept: pd.DataFrame, new: pd.DataFrame) -> None:
    import pandas as pd

    rows = pd.concat([part for part in (kept, new) if len(part)], ignore_index=True)
    store_of(workspace).write(table, rows.sort_values(list(table.key), ignore_index=True), contest)
