"""What a reader of the criteria report must know before any figure: from the tables, in words, most weighty first."""

from __future__ import annotations

import math

import pandas as pd

from judge_pipeline.figures.criteria_figures import figures_of
from judge_pipeline.figures.estimates import format_number
from judge_pipeline.report.cautions import Statement, names
from judge_pipeline.report.compared import ALPHA
from judge_pipeline.report.criteria_inputs import CriteriaReportInput, is_scripted
from judge_pipeline.report.preference_inputs import PreferenceProvenance

FEW_PAIRS = 200
"""Below this many validation pairs gains of a few points cannot be told from none."""
MANY_INVALID = 0.05
"""From this share of invalid decisions on a configuration is named."""


def criteria_cautions(given: CriteriaReportInput, provenance: PreferenceProvenance) -> list[Statement]:
    """The warnings of a set's criteria tables."""
    found = [_nobody_chose(provenance)] if provenance.by_nobody else []
    found += [Statement("Note on these data", provenance.note, "judged")] if provenance.note else []
    ablation = given.criteria_ablation
    further = (
        _scripted(given), _embedded(given), _leaked(given), _outdated(given), _left_out(given), _gone(given),
        _no_monolithic(given), _small(given), None if ablation is None else _invalid(given, ablation),
        None if ablation is None else _few_resamples(ablation, provenance.resamples), _partial(given),
        None if ablation is None else _limited(ablation), _missing(given),
    )  # fmt: skip
    return [*found, *(statement for statement in further if statement is not None)]


def _nobody_chose(provenance: PreferenceProvenance) -> Statement:
    return Statement(
        "The labels are not people's choices",
        f"By this set's preference.yaml, what chose is: {provenance.chosen_by}. Acc says how often a configuration "
        "follows that, and nothing about people.",
        "judged",
    )


def _scripted(given: CriteriaReportInput) -> Statement | None:
    judges = [judge for judge in given.judges if judge in given.kinds and is_scripted(given.kinds[judge])]
    if not judges:
        return None
    return Statement(
        "Scripted: not a model",
        f"{names(judges)}: answers follow a script that knows more than a judge may, to show what figures look like. "
        "What is gained here was put in.",
        "judged",
    )


def _embedded(given: CriteriaReportInput) -> Statement | None:
    judges = [judge for judge in given.judges if judge in given.kinds and given.kinds[judge].backend == "embedded"]
    if not judges:
        return None
    return Statement(
        "Embedded judge: too weak to gain",
        f"{names(judges)}: a small language model that exercises the pipeline. Its verdicts say little about the "
        "responses, so no stage can gain by them: its rows show that every stage holds, no more.",
        "judged",
    )


def _leaked(given: CriteriaReportInput) -> Statement | None:
    wrong = [f"{own.name}: {own.problem}" for own in given.guidance if own.problem]
    if not wrong:
        return None
    return Statement("Guidance that may not be used", f"{'. '.join(wrong)}.", "guidance")


def _outdated(given: CriteriaReportInput) -> Statement | None:
    old = sorted({key for own in given.guidance for key in own.outdated})
    if not old:
        return None
    return Statement(
        "Judged with other guidance",
        f"{names(old)} was judged with other guidance than is in force now, and is shown with that of now.",
        "guidance",
    )


def _left_out(given: CriteriaReportInput) -> Statement | None:
    if not given.left_out:
        return None
    by_reason: dict[str, list[str]] = {}
    for key, why in given.left_out.items():
        by_reason.setdefault(why, []).append(key)
    said = [f"{names(keys, 5)}: {why}" for why, keys in by_reason.items()]
    more = f"; and for {len(said) - 4} more reasons" if len(said) > 4 else ""
    return Statement(
        f"{len(given.left_out)} stored judge@configuration left out",
        f"No figure rests on what they decided. {'; '.join(said[:4])}{more}.",
        "judged",
    )


def _gone(given: CriteriaReportInput) -> Statement | None:
    unknown = sorted({own.configuration for own in given.judged} - given.configurations.keys())
    if not unknown:
        return None
    return Statement(
        "Configurations that are gone",
        f"{names(unknown)}: judged, and no longer in criteria.yaml. No figure rests on them.",
        "judged",
    )


def _no_monolithic(given: CriteriaReportInput) -> Statement | None:
    without = [judge for judge in given.judges if given.monolithic_of(judge) is None]
    if not without:
        return None
    return Statement(
        "Nothing to gain over",
        f"{names(without)}: no monolithic configuration without guidance was judged, so there are no gains.",
        "judged",
    )


def _small(given: CriteriaReportInput) -> Statement | None:
    counts = [len(own.criteria_decisions) for own in given.judged]
    if not counts or max(counts) >= FEW_PAIRS:
        return None
    n = max(counts)
    return Statement(
        "Small numbers",
        f"No configuration decided more than {n:,} pair{'' if n == 1 else 's'}. A gain of one pair is "
        f"{format_number(100 / max(n, 1), 1)} points; below {FEW_PAIRS} pairs gains of a few points cannot be told "
        "from none.",
        "gains",
    )


def _invalid(given: CriteriaReportInput, ablation: pd.DataFrame) -> Statement | None:
    said = [
        f"{given.called(judge)}, {name}: {format_number(100 * share.value, 1)}%"
        for judge in given.judges
        for name, share in figures_of(ablation, judge, "invalid_share").items()
        if share.value is not None and share.value >= MANY_INVALID
    ]
    if not said:
        return None
    more = f" and {len(said) - 6} more" if len(said) > 6 else ""
    return Statement(
        "Many invalid decisions", f"They count as wrong. Share: {'; '.join(said[:6])}{more}.", "gains"
    )  # fmt: skip


def _few_resamples(ablation: pd.DataFrame, resamples: int) -> Statement | None:
    """A bootstrap p is at least 2 / (B + 1): over many rows, no corrected p can fall below 0.05."""
    tested = ablation[ablation["p_value"].notna() & ablation["category"].isna()].fillna({"paper_table": ""})
    if tested.empty:
        return None
    judge = tested["judge"].where(tested["paper_table"] == "", "")
    most = int(tested.groupby(["paper_table", "figure", judge]).size().max())
    least = 2 * most / (resamples + 1)
    if least < ALPHA:
        return None
    enough = math.ceil(4 * most / ALPHA)
    return Statement(
        "Too few resamples to tell gains",
        f"With {resamples:,} resamples no p of {most} rows that are corrected together can be below "
        f"{format_number(min(least, 1.0), 2)}. Raise resamples in criteria.yaml to {enough:,} or more.",
        "gains",
    )


def _partial(given: CriteriaReportInput) -> Statement | None:
    counts = {own.name: len(own.criteria_decisions) for own in given.judged}
    if len(set(counts.values())) < 2:
        return None
    most = max(counts.values())
    fewer = [name for name, n in counts.items() if n < most]
    return Statement(
        "Not all on the same pairs",
        f"{names(fewer, 5)} decided fewer pairs than others. Acc is of each one's own pairs; gains are of the pairs "
        "that both decided.",
        "judged",
    )


def _limited(ablation: pd.DataFrame) -> Statement | None:
    """Where fewer pairs were judged than there are, a floor and an Acc are not of the same pairs."""
    acc = ablation[(ablation["figure"] == "acc") & ablation["category"].isna()]
    n_all, n_judged = (
        acc.loc[which, "n"].max() for which in (acc["configuration"].isna(), ~acc["configuration"].isna())
    )
    if pd.isna(n_all) or pd.isna(n_judged) or n_judged >= n_all:
        return None
    return Statement(
        "Not every pair was judged",
        f"No configuration decided more than {int(n_judged):,} of {int(n_all):,} pairs. Acc is of those, floors are of "
        "all: to hold one against the other, judge the rest.",
        "floors",
    )


def _missing(given: CriteriaReportInput) -> Statement | None:
    if not given.missing:
        return None
    return Statement("Tables not made", f"The page does without {names(given.missing, 20)}.", "missing")
