"""Findings that rest on comparisons: judges with chance, each other, calibration; panels; what it would take.

A difference is called shown only where its p-value, corrected by Holm's method, is below 0.05. Everything else is said
to be open, never equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.estimates import (
    count,
    format_interval,
    format_number,
    n_in_words,
    number,
    p_words,
    read_estimate,
    text,
)
from judge_pipeline.report.cautions import Statement, names
from judge_pipeline.tables.metric_words import MAPS, METRICS, PANEL_METHODS

ALPHA = 0.05
"""Below this a corrected p-value counts as shown."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A row of ``judge_differences`` or of ``judge_panels``, as sentences need it."""

    judge_1: str
    judge_2: str
    estimate: Estimate
    p_value: float | None
    p_holm: float | None
    attempts_for_power: int | None = None
    trajectories_for_power: int | None = None
    attempts_for_width: int | None = None

    @property
    def shown(self) -> bool:
        """Whether the difference is told from 0 after the correction."""
        return self.p_holm is not None and self.p_holm < ALPHA and self.estimate.value not in (None, 0)

    def of(self, judge: str) -> float:
        """The difference seen from one of the two judges: above 0 where its figure is the higher one."""
        value = self.estimate.value or 0.0
        return value if judge == self.judge_1 else -value

    def words(self, judge: str | None = None) -> str:
        """Value, interval and corrected p, seen from ``judge``."""
        if self.estimate.value is None:
            return "undefined"
        turned = judge is not None and judge != self.judge_1
        value, ends = self.estimate.value, self.estimate.ci95
        if turned:
            value, ends = -value, None if ends is None else (-ends[1], -ends[0])
        interval = f" {format_interval(ends, 2)}" if ends else ""
        return f"{format_number(value, 2)}{interval}, {p_words(self.p_holm)}"


def differences(table: pd.DataFrame | None, metric: str, against: str) -> list[Difference]:
    """The rows of ``judge_differences`` of one metric and one ``against``; none where there is no table."""
    if table is None:
        return []
    rows = table[(table["metric"] == metric) & (table["against"] == against)]
    return [
        Difference(
            text(row["judge_1"]) or "", text(row["judge_2"]) or "", read_estimate(row), number(row["p_value"]),
            number(row["p_holm"]), *(_whole(row[name]) for name in
            ("attempts_for_power", "trajectories_for_power", "attempts_for_width")),
        )
        for row in rows.to_dict("records")
    ]  # fmt: skip


def against_chance(rows: Sequence[Difference], column: Mapping[str, Estimate], trajectories: int) -> Statement | None:
    """Whether judges rank better than chance; None where nothing was tested."""
    tested = [row for row in rows if row.p_holm is not None and row.judge_1 in column]
    if not tested:
        return None
    above = [row for row in tested if row.shown and row.of(row.judge_1) > 0]
    below = [row for row in tested if row.shown and row.of(row.judge_1) < 0]
    k = len(tested)
    n = f"{n_in_words((row.estimate.n for row in tested), 'test attempts')} in {trajectories:,} trajectories"
    basis = f"By ROC-AUC ({n}), p-values corrected for looking at {k} judge{'' if k == 1 else 's'} (Holm)"
    if not above and not below:
        least = min(tested, key=lambda row: row.p_holm or 0.0)
        alone = [row.judge_1 for row in tested if row.of(row.judge_1) > 0 and (row.p_value or 1.0) < ALPHA]
        looks = (
            f" Taken alone, the interval of {names(alone)} lies above 0.5; with {k} looks at once that is not enough."
            if alone and k > 1
            else ""
        )
        who = "The one judge is not" if k == 1 else "No judge is"
        return Statement(
            f"{who} distinguishable from chance at this n",
            f"{basis}: the smallest is {_bare(least.p_holm)}, {least.judge_1}'s "
            f"({_figure(column[least.judge_1])}).{looks}",
            "judges",
        )
    parts = [f"better than chance: {_with_p(above, column)}"] if above else []
    parts += [f"worse than chance: {_with_p(below, column)}"] if below else []
    rest = k - len(above) - len(below)
    left = f" {rest} {'is' if rest == 1 else 'are'} not told from chance at this n." if rest else ""
    lead = (
        f"{len(above)} of {k} judges {'ranks' if len(above) == 1 else 'rank'} attempts better than chance"
        if above
        else f"No judge ranks attempts better than chance, and {len(below)} of {k} worse"
    )
    return Statement(lead, f"{basis}, {'; '.join(parts)}.{left}", "judges")


def best_judge(rows: Sequence[Difference], column: Mapping[str, Estimate]) -> list[Statement]:
    """The judge with the highest ROC-AUC, whether it differs from the others, and what it would take to tell."""
    known = {judge: e for judge, e in column.items() if e.value is not None}
    if len(known) < 2 or not rows:
        return []
    ranked = sorted(known, key=lambda judge: (-(known[judge].value or 0.0), judge))
    best, second = ranked[:2]
    pairs = {
        row.judge_2 if row.judge_1 == best else row.judge_1: row for row in rows if best in (row.judge_1, row.judge_2)
    }
    told = [judge for judge in ranked[1:] if judge in pairs and pairs[judge].shown and pairs[judge].of(best) > 0]
    open_ = [judge for judge in ranked[1:] if judge not in told]
    n_pairs = sum(row.p_holm is not None for row in rows)
    anywhere = any(row.shown for row in rows)
    if told:
        lead = f"{best} ranks better than {len(told)} of {len(ranked) - 1} others"
    else:
        lead = (
            "The best judge by ROC-AUC is not told from the others"
            if anywhere
            else "No judge is told from another by ROC-AUC"
        )
    next_ = f"; the next, {second}, has {_figure(known[second])}"
    if second in pairs:
        next_ += f", a difference of {pairs[second].words(best)}"
    shown = f" It is told from {names(told)}." if told else ""
    left = f" Not told from {names(open_)}: that does not mean equal." if open_ else ""
    text_ = (
        f"{best} has the highest ROC-AUC of {len(ranked)}, which favours it: {_figure(known[best])}{next_}. "
        f"Differences are paired, and corrected for {n_pairs} pair{'' if n_pairs == 1 else 's'} (Holm).{shown}{left}"
    )
    found = [Statement(lead, text_, "differences")]
    needed = _needed(best, second, pairs.get(second))
    return [*found, needed] if needed else found


def _needed(best: str, second: str, pair: Difference | None) -> Statement | None:
    if pair is None or pair.shown:
        return None
    if pair.attempts_for_power is None:
        words = (
            f"How many attempts would tell {best} from {second} cannot be said: their difference here is as good as 0, "
            "or resampling does not move it."
        )
    else:
        words = (
            f"If the difference of {best} and {second} is what it seems here ({format_number(abs(pair.of(best)), 2)} "
            f"in ROC-AUC), about {pair.attempts_for_power:,} test attempts in {pair.trajectories_for_power or 0:,} "
            f"trajectories would show it (power 80%); there are {pair.estimate.n:,}."
        )
    if pair.attempts_for_width is not None:
        words += f" To know it within 0.05 takes about {pair.attempts_for_width:,} test attempts."
    return Statement("What it would take", words, "differences")


def calibration(
    rows: Sequence[Difference], curves: pd.DataFrame, labels: Mapping[str, str], maps: pd.DataFrame | None
) -> list[Statement]:
    """Whether judges are miscalibrated, in which direction, and whether a map fitted on val mends it."""
    tested = [row for row in rows if row.p_holm is not None and row.judge_1 in labels.values()]
    if not tested:
        return []
    off = [row.judge_1 for row in tested if row.shown and row.of(row.judge_1) > 0]
    n = n_in_words((row.estimate.n for row in tested), "test attempts")
    if not off:
        lead = "No judge is shown to be miscalibrated at this n"
        words = (
            f"The squared calibration gap, less what chance makes of it, is told from 0 for none of {len(tested)} "
            f"({n}, Holm). That does not show that their probabilities mean what they say."
        )
    else:
        lead = f"{len(off)} of {len(tested)} judges' probabilities do not mean what they say"
        said = "; ".join(f"{judge} {_direction(judge, curves, labels)}" for judge in off[:6])
        words = f"Told from calibrated ({n}, Holm): {said}."
    return [Statement(lead, f"{words}{_mended(maps)}", "calibration")]


def overconfidence(bins: pd.DataFrame) -> tuple[float, float]:
    """Mean confidence and share right over reliability bins: a bin's side of 0.5 is what the judge says.

    Args:
        bins: rows of ``judge_curves`` of curve ``reliability`` of one judge.
    """
    weights = bins["n"].astype("float64")
    says_yes = bins["x"] >= 0.5
    confidence = bins["x"].where(says_yes, 1 - bins["x"])
    right = bins["y"].where(says_yes, 1 - bins["y"])
    total = float(weights.sum())
    return float((confidence * weights).sum()) / total, float((right * weights).sum()) / total


def _direction(judge: str, curves: pd.DataFrame, labels: Mapping[str, str]) -> str:
    plain = next((name for name, label in labels.items() if label == judge), judge)
    bins = curves[(curves["curve"] == "reliability") & (curves["judge"] == plain) & (curves["n"] > 0)]
    if not len(bins):
        return "(no reliability bins)"
    sure, right = overconfidence(bins)
    which = "overconfident" if sure > right else "underconfident"
    return f"({which} here: sure to {format_number(sure, 2)} on average, right in {format_number(right, 2)})"


def _mended(maps: pd.DataFrame | None) -> str:
    """Whether maps lower the Brier score on test; the intervals are not corrected, and it says so."""
    if maps is None:
        return ""
    changes = maps[(maps["metric"] == "brier") & (maps["quantity"] == "change") & maps["ci95_high"].notna()]
    if not len(changes):
        return ""
    better, worse = changes[changes["ci95_high"] < 0], changes[changes["ci95_low"] > 0]
    looked = f"{len(changes)} maps tried"
    if not len(better):
        hurt = f", and {len(worse)} raise it" if len(worse) else ""
        return (
            f" No map fitted on val is shown to lower a Brier score on test ({looked}, intervals not corrected){hurt}."
        )
    said = ", ".join(
        f"{MAPS.get(row['map'], row['map'])} for {row['judge']}" for row in better.head(6).to_dict("records")
    )
    more = f" and {len(better) - 6} more" if len(better) > 6 else ""
    hurt = f" {len(worse)} raise it." if len(worse) else ""
    return (
        f" Maps fitted on val whose whole interval lowers the Brier score on test: {said}{more} ({looked}, not "
        f"corrected).{hurt}"
    )


def panels(table: pd.DataFrame | None, labels: Mapping[str, str]) -> list[Statement]:
    """Whether a panel beats its best judge, by ROC-AUC and by the Brier score."""
    if table is None:
        return []
    tested = table[(table["quantity"] == "difference") & table["p_holm"].notna()]
    parts, shown = [], 0
    for metric in ("roc_auc", "brier"):
        rows = tested[tested["metric"] == metric].to_dict("records")
        if not rows:
            continue
        sign = -1 if METRICS[metric].better == "lower" else 1
        top = max(rows, key=lambda row: sign * row["value"])
        wins = [row for row in rows if row["p_holm"] < ALPHA and sign * row["value"] > 0]
        losses = [row for row in rows if row["p_holm"] < ALPHA and sign * row["value"] < 0]
        shown += len(wins)
        best = labels.get(top["best_judge"], top["best_judge"])
        found = Difference("", "", read_estimate(top), number(top["p_value"]), number(top["p_holm"]))
        parts.append(
            f"{METRICS[metric].label}: {len(wins)} of {len(rows)} ways to join them beat {best}, the best on val"
            + (f", and {len(losses)} do worse" if losses else "")
            + f" (closest to it: {PANEL_METHODS.get(top['method'], top['method'])}, {found.words()})"
        )
    if not parts:
        return []
    lead = "A panel beats its best judge" if shown else "No panel is shown to beat its best judge"
    n = n_in_words((count(row) for row in tested["n"]), "test attempts")
    return [Statement(lead, f"{'. '.join(parts)}. Paired, corrected over the ways (Holm); {n}.", "panels")]


def _with_p(rows: Sequence[Difference], column: Mapping[str, Estimate], limit: int = 6) -> str:
    ranked = sorted(rows, key=lambda row: (-(column[row.judge_1].value or 0.0), row.judge_1))
    shown = ", ".join(f"{row.judge_1} {_figure(column[row.judge_1])} ({p_words(row.p_holm)})" for row in ranked[:limit])
    return shown if len(ranked) <= limit else f"{shown} and {len(ranked) - limit} more"


def _figure(estimate: Estimate) -> str:
    value = "undefined" if estimate.value is None else format_number(estimate.value)
    return f"{value} {format_interval(estimate.ci95, 2)}".strip()


def _bare(p: float | None) -> str:
    return p_words(p).removeprefix("p = ")


def _whole(value: object) -> int | None:
    found = number(value)
    return None if found is None else int(found)
