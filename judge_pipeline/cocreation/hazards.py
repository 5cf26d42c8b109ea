"""Hazards in discrete time: the chance that an attempt is accepted where none before it was, by turn and by problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.turn_orders import attempts_by_order
from judge_pipeline.estimate import Estimate
from judge_pipeline.ingest.turns import natural_key
from judge_pipeline.statistics.discrete_hazard import HazardFit, NotFittedError, fit_hazard
from judge_pipeline.statistics.intervals import holm
from judge_pipeline.statistics.logistic import expit
from judge_pipeline.statistics.score_counts import FloatArray
from judge_pipeline.tables.hazards import HAZARD_TERMS, HAZARDS

MAX_PROBLEMS = 200
"""With more problems than these the model has turns only."""

_TURNS = ("1", "2", "3", "4 to 5", "6 to 10", "after 10")
_FIRST = np.array([1, 2, 3, 4, 6, 11])
_ALL, _NONE = "all of its tries succeeded", "none of its tries succeeded"


def hazards(attempts: pd.DataFrame, trajectories: pd.DataFrame) -> pd.DataFrame:
    """The table ``hazards``, in both orders where the check of turn order warns.

    Every decided attempt up to a trajectory's first accepted one is a try. The logit of its chance is a coefficient of
    its turn plus one of its problem; those of problems add up to 0. Intervals are Wald's with a covariance that takes
    only participants as independent, and t quantiles of their number less 1. A turn or a problem in which all tries or
    none succeeded has no finite coefficient; it and its tries are left out of the model.

    Args:
        attempts: table ATTEMPTS.
        trajectories: table TRAJECTORIES of the same attempts, for the check of turn order.
    """
    rows: list[dict[str, Any]] = []
    for order, turned in attempts_by_order(attempts, trajectories).items():
        tries = tries_of(turned)
        if len(tries):
            rows += [{"order": order, **row} for row in _model(tries)]
    return HAZARDS.conform(rows)


def tries_of(attempts: pd.DataFrame) -> pd.DataFrame:
    """The decided attempts up to the first accepted one: participant, problem_id, turn (in words), event.

    They keep the index of ``attempts``.
    """
    decided = attempts.loc[attempts["y"].notna(), ["participant", "problem_id", "turn", "y"]]
    first = decided["turn"].where(decided["y"] == 1).groupby([decided["participant"], decided["problem_id"]])
    until = first.transform("min")
    tries = decided[until.isna() | (decided["turn"] <= until).fillna(True)]
    place = np.searchsorted(_FIRST, tries["turn"].to_numpy(np.int64), side="right") - 1
    return tries.assign(turn=np.array(_TURNS, object)[place], event=tries["y"].to_numpy(np.int64))


def tries_in_model(tries: pd.DataFrame) -> pd.DataFrame:
    """Those of ``tries_of`` that the model is fitted on."""
    return _levels(tries)[1]


@dataclass(frozen=True)
class _Levels:
    """The levels of each term in the model, and why others are not."""

    used: dict[str, list[str]]
    left_out: dict[tuple[str, str], str]


def _levels(tries: pd.DataFrame) -> tuple[_Levels, pd.DataFrame]:
    """Levels with both outcomes, and their tries: leaving one out may leave another without one."""
    left_out: dict[tuple[str, str], str] = {}
    rest = tries
    while True:
        found: dict[tuple[str, str], str] = {}
        for term in HAZARD_TERMS:
            share = rest.groupby(term)["event"].mean()
            found |= {(term, level): _NONE for level in share.index[share == 0]}
            found |= {(term, level): _ALL for level in share.index[share == 1]}
        if not found:
            break
        left_out |= found
        for term, level in found:
            rest = rest[rest[term] != level]
    used = {
        "turn": [turn for turn in _TURNS if (rest["turn"] == turn).any()],
        "problem_id": sorted(rest["problem_id"].unique(), key=natural_key),
    }
    return _Levels(used, left_out), rest


def _model(tries: pd.DataFrame) -> list[dict[str, Any]]:
    levels, used = _levels(tries)
    too_many = len(levels.used["problem_id"]) > MAX_PROBLEMS
    fit, why = None, "no turn and problem has tries that succeeded and others"
    if len(used):
        try:
            fit = _fit(used, levels.used, with_problems=not too_many)
        except NotFittedError as error:
            why = str(error)
    rows = []
    for term in HAZARD_TERMS:
        counts = tries.groupby(term)["event"].agg(["size", "sum"])
        kept = used.groupby(term)["event"].agg(["size", "sum"]).reindex(counts.index, fill_value=0)
        order = _TURNS if term == "turn" else sorted(counts.index, key=natural_key)
        for level in (level for level in order if level in counts.index):
            reason = levels.left_out.get((term, level)) or (None if fit else why)
            if term == "problem_id" and too_many:
                reason = reason or f"{len(levels.used['problem_id'])} problems are more than {MAX_PROBLEMS}"
            n, n_events = int(kept.loc[level, "size"]), int(kept.loc[level, "sum"])
            offered = int(counts.loc[level, "size"])
            rows.append(_row(term, level, (n, n_events, offered), fit, levels, reason))
    having = [row for row in rows if row["p_value"] is not None]
    for row, corrected in zip(having, holm([row["p_value"] for row in having]), strict=True):
        row["p_holm"] = corrected
    return rows


def _fit(tries: pd.DataFrame, used: dict[str, list[str]], *, with_problems: bool) -> HazardFit:
    turn, problem = (pd.Categorical(tries[term], categories=used[term]).codes for term in HAZARD_TERMS)
    n_turns, n_problems = len(used["turn"]), len(used["problem_id"]) if with_problems else 1
    features = np.repeat(np.eye(n_turns), n_problems, axis=0)
    if n_problems > 1:
        against_last = np.vstack([np.eye(n_problems - 1), -np.ones(n_problems - 1)])
        features = np.hstack([features, np.tile(against_last, (n_turns, 1))])
    cell = turn.astype(np.int64) * n_problems + (problem.astype(np.int64) if with_problems else 0)
    cluster = pd.factorize(tries["participant"])[0]
    return fit_hazard(features, cell, tries["event"].to_numpy(np.float64), cluster)


def _row(
    term: str, level: str, counts: tuple[int, int, int], fit: HazardFit | None, levels: _Levels, reason: str | None
) -> dict[str, Any]:
    n, n_events, offered = counts
    blank = {"term": term, "level": level, "n_events": n_events, "hazard": None, "p_value": None, "p_holm": None}
    if fit is None or reason is not None:
        estimate = Estimate.undefined(reason or "not fitted", n, offered - n)
        return blank | {"n_clusters": fit.n_clusters if fit else 0} | estimate.to_row()
    contrast = _contrast(term, level, levels, len(fit.coefficients))
    value, variance = float(contrast @ fit.coefficients), float(contrast @ fit.covariance @ contrast)
    estimate, p_value = _tested(value, variance, fit, n, offered - n)
    shown = {"hazard": float(expit(np.array(value)))} if term == "turn" else {"p_value": p_value}
    return blank | {"n_clusters": fit.n_clusters} | estimate.to_row() | shown


def _contrast(term: str, level: str, levels: _Levels, k: int) -> FloatArray:
    """What the level's coefficient is made of: the last problem's is less the sum of the others'."""
    contrast, turns, problems = np.zeros(k), levels.used["turn"], levels.used["problem_id"]
    if term == "turn":
        contrast[turns.index(level)] = 1.0
    elif level == problems[-1]:
        contrast[len(turns) :] = -1.0
    else:
        contrast[len(turns) + problems.index(level)] = 1.0
    return contrast


def _tested(value: float, variance: float, fit: HazardFit, n: int, n_left_out: int) -> tuple[Estimate, float | None]:
    from scipy.special import stdtr, stdtrit

    degrees = fit.n_clusters - 1
    if degrees < 1:
        return Estimate(value, n, n_left_out, None, "no interval: a single participant"), None
    # Participants too few for the coefficients can leave a variance of 0.
    if not variance > 1e-12:
        return Estimate(value, n, n_left_out, None, "no interval: its variance over participants is 0"), None
    error = float(np.sqrt(variance))
    half = float(stdtrit(degrees, 0.975)) * error
    few = len(fit.coefficients) >= fit.n_clusters
    note = f"{fit.n_clusters} participants for {len(fit.coefficients)} coefficients: too narrow" if few else None
    p_value = float(2 * stdtr(degrees, -abs(value) / error))
    return Estimate(value, n, n_left_out, (value - half, value + half), note), p_value
