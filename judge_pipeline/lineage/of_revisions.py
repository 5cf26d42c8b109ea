"""What figures of revisions and prompts rest on (paper 1, RQ2, VI-A7, VI-B5 to VI-B8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_pipeline.cocreation.churn_effects import model_sample
from judge_pipeline.cocreation.churn_summary import convergence_with_levels, revisions_with_levels
from judge_pipeline.lineage.basis import Basis, rows_of, without
from judge_pipeline.lineage.of_trajectories import panel_of
from judge_pipeline.tables import ATTEMPTS, PROMPT_CODE_NED, TRAJECTORIES
from judge_pipeline.tables.revision import CONVERGENCE, DIFFERENCE_OF_KINDS, REVISION_KINDS, REVISIONS

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.lineage.sources import Sources

Row = Mapping[str, Any]

_BOTH = ["previous_attempt_id", "attempt_id"]
_CONVERGING = ["reference_attempt_id", "attempt_id"]
_OF_PROMPTS = ("prompt_ned", "prompt_code_ned")
_OF_PANEL = "delta_p_mean"


def of_prompt_code(sources: Sources, row: Row) -> Basis:
    """A row of ``prompt_code_summary``: the attempts of test whose distance is known."""
    del row

    def make() -> Basis:
        table = sources[PROMPT_CODE_NED]
        known = table["ned"].notna()
        left = without(table.loc[~known, ["attempt_id"]], table.loc[~known, "reason"].fillna("unknown").tolist())
        return Basis("attempts", table.loc[known, ["attempt_id"]], left, reads_prompts=True)

    return sources.once("prompt code", make)


def of_churn(sources: Sources, row: Row) -> Basis:
    """A row of ``churn_summary``: the revisions, or attempts of solved trajectories, whose measure is known."""
    names = tuple(row[name] for name in ("order", "measure", "grouped_by", "level"))
    order, measure, grouped_by, level = names
    near = measure.startswith("convergence")
    column, reason = ("codebleu", "reason") if near else (measure, f"{measure}_reason")

    def make() -> Basis:
        table = _with_levels(sources, order, near=near)
        here = table[table[grouped_by] == level]
        if measure == "convergence_without_reference":
            here = here[~here["is_reference"].astype(bool)]
        known = here[column].notna()
        keys = _CONVERGING if near else _BOTH
        left = without(here.loc[~known, keys], here.loc[~known, reason].fillna("unknown").tolist())
        unit = "attempts of solved trajectories" if near else "revisions"
        return Basis(unit, here.loc[known, keys], left, reads_prompts=measure in _OF_PROMPTS)

    return sources.once(("churn", names), make)


def _with_levels(sources: Sources, order: str, *, near: bool) -> pd.DataFrame:
    def make() -> pd.DataFrame:
        if near:
            table = sources[CONVERGENCE]
            return convergence_with_levels(table[table["order"] == order], sources[ATTEMPTS])
        table, trajectories = sources[REVISIONS], sources[TRAJECTORIES]
        solved = trajectories[trajectories["solved"].astype(bool)]
        return revisions_with_levels(table[table["order"] == order], solved)

    return sources.once(("levels", order, near), make)


def of_gain(sources: Sources, row: Row) -> Basis:
    """A row of ``revision_gains``: the revisions of its kind, or of both kinds that are compared."""
    order, measure, kind, statistic = (row[name] for name in ("order", "measure", "kind", "statistic"))
    kinds = (REVISION_KINDS[3], REVISION_KINDS[1]) if kind == DIFFERENCE_OF_KINDS else (kind,)

    def make() -> Basis:
        table = sources[REVISIONS]
        table = table[table["order"] == order]
        of_kind = table[f"{measure}_kind"].isin(kinds).to_numpy(bool)
        if statistic == "share":
            offered, known, why = (
                np.ones(len(table), bool),
                table[measure].notna().to_numpy(bool),
                "its size is unknown",
            )
        elif statistic == "accepted_after_rejection":
            rejected = (table["y_before"] == 0).fillna(False).to_numpy(bool)
            offered, known, why = of_kind & rejected, table["y_after"].notna().to_numpy(bool), "it has no label"
        else:
            known, why = table[_OF_PANEL].notna().to_numpy(bool), "not judged by the whole panel on both turns"
            offered = of_kind
        by_panel = statistic == "mean_delta_p_mean"
        judges = panel_of(sources) if by_panel else ()
        left = without(table.loc[offered & ~known, _BOTH], why)
        return Basis("revisions", table.loc[offered & known, _BOTH], left, (), judges, by_panel)

    return sources.once(("gain", order, measure, kinds, statistic), make)


def of_effect(sources: Sources, row: Row) -> Basis:
    """A row of ``churn_effects``: the revisions with both sides known; of a model its sample of them."""
    order, measure, progress, which = (row[name] for name in ("order", "measure", "progress", "revisions"))
    model = row["statistic"] != "spearman"

    def make() -> Basis:
        table = sources[REVISIONS]
        table = table[table["order"] == order].reset_index(drop=True)
        chosen = (table["y_before"] == 0).fillna(False).to_numpy(bool) if which == "after_rejection" else True
        known = (table[measure].notna() & table[progress].notna()).to_numpy(bool)
        both = table[known & chosen]
        used = both
        if model:
            used, _ = model_sample(both, sources.options.seed, sources.options.model_levels)
        left = without(table.loc[~known & chosen, _BOTH], f"no {measure} or no {progress}")
        others = without(both.loc[~both.index.isin(used.index), _BOTH], "not in the model's sample")
        by_panel = progress == _OF_PANEL
        judges = panel_of(sources) if by_panel else ()
        return Basis("revisions", used[_BOTH], _joined(left, others), (), judges, by_panel or measure in _OF_PROMPTS)

    return sources.once(("effect", order, measure, progress, which, model), make)


def _joined(first: pd.DataFrame, then: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    parts = [part for part in (first, then) if len(part)]
    return pd.concat(parts, ignore_index=True) if parts else rows_of(first.columns)


RULES = {
    "prompt_code_summary": of_prompt_code,
    "churn_summary": of_churn,
    "revision_gains": of_gain,
    "churn_effects": of_effect,
}
"""Table of figures -> what a row of it rests on."""
