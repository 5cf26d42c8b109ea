"""Answers to RQ2 and EQ2 of paper 1: how revisions go with progress, and whether their size can be measured."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.estimates import format_number
from judge_pipeline.report.cautions import Statement
from judge_pipeline.report.inputs import CocreationReportInput
from judge_pipeline.report.question_words import (
    AS_RECORDED,
    REVERSED,
    estimate_of,
    figure_words,
    has_reversed,
    n_words,
    open_words,
    share_words,
    side,
)
from judge_pipeline.tables.dynamics_words import PROGRESS, REVISION_MEASURES
from judge_pipeline.tables.revision import CHURN_MEASURES, DIFFERENCE_OF_KINDS, REVISION_KINDS

CODE_MEASURES = CHURN_MEASURES[:2]
_, FIX, _, REWRITE = REVISION_KINDS
LOOKS = "Intervals are not widened for looking at several measures."


def progress(given: CocreationReportInput) -> list[Statement]:
    """RQ2: whether larger revisions go with acceptance, what rewrites gain over fixes, where programs end."""
    found = (
        _correlations(given.churn_effects, "delta_y", "after_rejection", CODE_MEASURES),
        *(_gains(given.revision_gains, measure) for measure in CODE_MEASURES),
        _convergence(given.churn_summary),
    )
    return [statement for statement in found if statement is not None] or [_nothing(given)]


def validity(given: CocreationReportInput) -> list[Statement]:
    """EQ2: of how many revisions the size is known, whether it compares, and whether it goes with confidence."""
    found = (
        _coverage(given.churn_summary, given.revisions),
        _variances(given.churn_effects),
        _correlations(given.churn_effects, "delta_p_mean", "all", CHURN_MEASURES),
    )
    return [statement for statement in found if statement is not None] or [_nothing(given)]


def _nothing(given: CocreationReportInput) -> Statement:
    """Why there is no answer: nothing was revised, or the tables were not made."""
    if given.revisions is None:
        missing = "This report was made from the output of a version that did not measure revisions; run it again."
        return Statement("Revisions were not measured", missing, "people")
    return Statement("Nothing was revised", "No trajectory has two attempts.", "people")


def _correlations(
    table: pd.DataFrame | None, progress: str, revisions: str, measures: tuple[str, ...]
) -> Statement | None:
    """Rank correlations of one kind of progress; the lead claims what the intervals of all orders shown support."""
    if table is None or table.empty:
        return None
    sides: list[int | None] = []
    sentences = []
    for order in (AS_RECORDED, REVERSED) if has_reversed(table) else (AS_RECORDED,):
        estimates = {measure: _spearman(table, order, measure, progress, revisions) for measure in measures}
        known = {measure: estimate for measure, estimate in estimates.items() if estimate is not None}
        sides += [side(estimate) for estimate in known.values()]
        if known:
            sentences.append(f"{'With turns reversed: ' if order == REVERSED else ''}{_directions(known)}.")
    if not sentences:
        return None
    after = " after a rejection" if revisions == "after_rejection" else ""
    what = f"{PROGRESS[progress][:1].lower()}{PROGRESS[progress][1:]}"
    text = f"Spearman's ρ of the size of a revision{after} and the {what}: {' '.join(sentences)} {LOOKS}"
    return Statement(_lead(sides, what), text, "table-churn-effects")


def _spearman(table: pd.DataFrame, order: str, measure: str, progress: str, revisions: str) -> Estimate | None:
    wanted = {"measure": measure, "progress": progress, "revisions": revisions, "statistic": "spearman"}
    return estimate_of(table, order=order, **wanted)


def _directions(estimates: Mapping[str, Estimate]) -> str:
    """Each measure's figure and what it lets one say, once where that is the same of all."""
    if len(estimates) > 1 and all(side(estimate) == 0 for estimate in estimates.values()):
        said = "; ".join(f"{_measure(measure)} {figure_words(estimate)}" for measure, estimate in estimates.items())
        return f"{said}: every interval holds 0, so this is open"
    return "; ".join(f"{_measure(measure)} {figure_words(e)}: {_direction(e)}" for measure, e in estimates.items())


def _lead(sides: list[int | None], what: str) -> str:
    if sides and all(each == 1 for each in sides):
        return f"Larger revisions go with more progress ({what}), by every measure"
    if sides and all(each == -1 for each in sides):
        return f"Larger revisions go with less progress ({what}), by every measure"
    if any(each in (1, -1) for each in sides):
        return f"Size of a revision and progress ({what}) go together by some measures only"
    return f"That the size of a revision and progress ({what}) go together is not shown"


def _direction(estimate: Estimate) -> str:
    where = side(estimate)
    if where in (1, -1):
        return f"larger ones go with {'more' if where == 1 else 'less'}"
    return open_words(estimate)


def _gains(table: pd.DataFrame | None, measure: str) -> Statement | None:
    if table is None or table.empty:
        return None
    sides: list[int | None] = []
    sentences = []
    for order in (AS_RECORDED, REVERSED) if has_reversed(table) else (AS_RECORDED,):
        here = table[(table["order"] == order) & (table["measure"] == measure)]
        shares = {kind: estimate_of(here, kind=kind, statistic="share") for kind in (FIX, REWRITE)}
        accepted = {
            kind: estimate_of(here, kind=kind, statistic="accepted_after_rejection")
            for kind in (FIX, REWRITE, DIFFERENCE_OF_KINDS)
        }
        if None in shares.values() or None in accepted.values():
            continue
        said = (
            f"{_share(shares[FIX])} of revisions are incremental fixes, {_share(shares[REWRITE])} rewrites. After a "
            f"rejection, {_share(accepted[FIX])} of fixes and {_share(accepted[REWRITE])} of rewrites were accepted"
        )
        difference = accepted[DIFFERENCE_OF_KINDS]
        assert difference is not None
        sides.append(side(difference))
        says = {1: "rewrites are accepted more often", -1: "rewrites are accepted less often"}
        reading = says.get(sides[-1] or 0) or open_words(difference)
        turned = "With turns reversed: " if order == REVERSED else ""
        sentences.append(f"{turned}{said}; rewrites less fixes {figure_words(difference)}: {reading}.")
    if not sentences:
        return None
    leads: dict[frozenset[int | None], str] = {
        frozenset({1}): "Rewrites are accepted more often than incremental fixes",
        frozenset({-1}): "Rewrites are accepted less often than incremental fixes",
    }
    lead = leads.get(frozenset(sides), "Whether rewrites gain more than incremental fixes is not settled")
    return Statement(f"{lead}, by {_measure(measure)}", " ".join(sentences), "table-revision-gains")


def _share(estimate: Estimate | None) -> str:
    assert estimate is not None
    return share_words(estimate)


def _convergence(table: pd.DataFrame | None) -> Statement | None:
    if table is None or table.empty:
        return None
    parts = []
    for order in (AS_RECORDED, REVERSED):
        estimate = estimate_of(
            table, order=order, measure="convergence_without_reference", grouped_by="all", statistic="mean"
        )
        if estimate is not None:
            parts.append(f"{'with turns reversed ' if order == REVERSED else ''}{figure_words(estimate)}")
    if not parts:
        return None
    text = (
        f"The mean CodeBLEU of the other attempts of solved trajectories to the first accepted program is "
        f"{'; '.join(parts)}. The accepted program itself, 1 by definition, is left out."
    )
    return Statement("How near attempts come to the accepted program", text, "figure-convergence")


def _coverage(table: pd.DataFrame | None, revisions: pd.DataFrame | None) -> Statement | None:
    if table is None or table.empty:
        return None
    parts, complete = [], True
    for measure in CHURN_MEASURES:
        estimate = estimate_of(table, order=AS_RECORDED, measure=measure, grouped_by="all", statistic="mean")
        if estimate is None:
            continue
        complete = complete and not estimate.n_left_out
        parts.append(f"{_measure(measure)} {n_words(estimate)}{_why(revisions, measure, estimate)}")
    if not parts:
        return None
    lead = (
        "Every revision has a size by every measure" if complete else "Not every revision has a size by every measure"
    )
    return Statement(lead, f"Revisions as recorded: {'; '.join(parts)}.", "table-churn-summary")


def _why(revisions: pd.DataFrame | None, measure: str, estimate: Estimate) -> str:
    """The reason given most often for those without a size."""
    if revisions is None or not estimate.n_left_out:
        return ""
    reasons = revisions.loc[revisions["order"] == AS_RECORDED, f"{measure}_reason"].dropna()
    return f" (most often: {reasons.mode().iloc[0]})" if len(reasons) else ""


def _variances(table: pd.DataFrame | None) -> Statement | None:
    parts = []
    for statistic, name in (
        ("variance_participant", "participants"), ("variance_problem", "problems"), ("variance_residual", "the rest"),
    ):  # fmt: skip
        wanted = {"measure": "code_ned", "progress": "delta_p_mean", "revisions": "all", "statistic": statistic}
        estimate = estimate_of(table, order=AS_RECORDED, **wanted)
        if estimate is None:
            continue
        if estimate.value is None:
            return Statement("Comparability is undefined", f"{_mixed()}: {estimate.reason}.", "table-churn-effects")
        parts.append(f"{name} {format_number(estimate.value, 3)}")
    if not parts:
        return None
    text = (
        f"{_mixed()}, the variance of the change of confidence is split into {', '.join(parts)}. They are given "
        "without intervals, so that how far revisions compare between people and problems is described, not tested."
    )
    return Statement("Across participants and problems", text, "table-churn-effects")


def _mixed() -> str:
    return "In a mixed model with code churn (NED) and effects of participants and problems"


def _measure(measure: str) -> str:
    return f"{REVISION_MEASURES[measure][:1].lower()}{REVISION_MEASURES[measure][1:]}"
