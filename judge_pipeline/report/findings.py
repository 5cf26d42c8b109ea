"""What was found, in words generated from the numbers: each sentence with its n and interval, claiming no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.estimates import (
    accepted_share,
    count,
    format_interval,
    format_number,
    metrics_by_judge,
    n_in_words,
    overall_agreement,
    read_estimate,
)
from judge_pipeline.report import compared
from judge_pipeline.report.cautions import Statement
from judge_pipeline.report.headline import median_turn
from judge_pipeline.report.inputs import CocreationReportInput, JudgeKind, judge_kinds
from judge_pipeline.statistics.intervals import has_95_interval


def findings(given: CocreationReportInput) -> list[Statement]:
    """The findings of a contest: judges against chance, the baseline and a constant; agreement; people.

    ``given`` holds the judges under their plain names; the sentences call them by their labels.
    """
    kinds = judge_kinds(given.judge_coverage)
    metrics = metrics_by_judge(given.judge_metrics)
    people = _people(given.success_at_turn, given.survival)
    if not metrics:
        return [Statement("No judge measured", _nothing_measured(kinds), "judges"), *people]
    labels = {judge: kinds[judge].label if judge in kinds else judge for judge in metrics}
    column = {name: _column(metrics, labels, name) for name in ("roc_auc", "brier", "mcc_test")}
    table = given.labelled.judge_differences
    chance = compared.differences(table, "roc_auc", "chance")
    pairs = compared.differences(table, "roc_auc", "judge")
    n_test = _test_trajectories(given.trajectories)
    shares = {labels[judge]: share for judge, share in accepted_share(given.judge_curves).items() if judge in labels}
    return [
        compared.against_chance(chance, column["roc_auc"], n_test) or _against_chance(column["roc_auc"], n_test),
        *compared.best_judge(pairs, column["roc_auc"]),
        _against_baseline(metrics, kinds, labels, pairs),
        *_against_constant(column["brier"], shares, compared.differences(table, "brier", "constant")),
        *compared.calibration(
            compared.differences(table, "ece_squared_debiased", "calibration"),
            given.judge_curves,
            labels,
            given.labelled.judge_calibration,
        ),
        *_decisions(column["mcc_test"]),
        _agreement(given.judge_agreement),
        *compared.panels(given.judge_panels, labels),
        *people,
    ]


def _column(metrics: Mapping[str, Mapping[str, Estimate]], labels: Mapping[str, str], name: str) -> dict[str, Estimate]:
    """One metric of every judge that has it, by label; undefined ones included."""
    return {labels[judge]: found[name] for judge, found in metrics.items() if name in found}


def _nothing_measured(kinds: Mapping[str, JudgeKind]) -> str:
    if not kinds:
        return "No judge is configured, so there is nothing to say about judges."
    verified = sum(kind.verified for kind in kinds.values())
    if verified:
        return f"{verified} of {len(kinds)} judges are verified, but none has a figure on test."
    return f"None of the {len(kinds)} judges has a verified table for this contest; the table of judges says why."


def _against_chance(column: Mapping[str, Estimate], trajectories: int) -> Statement:
    defined = {judge: estimate for judge, estimate in column.items() if estimate.value is not None}
    if not defined:
        reasons = sorted({estimate.reason or "" for estimate in column.values()})
        because = f": {'; '.join(reasons)}" if reasons else ""
        return Statement("Chance cannot be tested", f"ROC-AUC is undefined for every judge{because}.", "judges")
    bounded = {judge: estimate for judge, estimate in defined.items() if estimate.ci95 is not None}
    above = _beyond(bounded, lambda low, high: low > 0.5)
    below = _beyond(bounded, lambda low, high: high < 0.5)
    n = f"{n_in_words((e.n for e in defined.values()), 'test attempts')} in {trajectories:,} trajectories"
    left = len(bounded) - len(above) - len(below)
    if not bounded:
        return Statement("Chance cannot be tested", f"No ROC-AUC has an interval ({n}).", "judges")
    if not above and not below:
        one = len(bounded) == 1
        who = "The one judge is not" if one else "No judge is"
        which = "its" if one else f"each of the {len(bounded)}"
        return Statement(
            f"{who} distinguishable from chance at this n",
            f"{which.capitalize()} 95% interval{'' if one else 's'} of ROC-AUC contains 0.5 ({n}). "
            f"{_without_interval(defined, bounded)}".strip(),
            "judges",
        )
    parts = [f"better than chance: {_listed(above)}"] if above else []
    parts += [f"worse than chance: {_listed(below)}"] if below else []
    rest = f" For the other{'' if left == 1 else f' {left}'}, the interval contains 0.5." if left else ""
    lead = (
        f"{len(above)} of {len(bounded)} judges {'ranks' if len(above) == 1 else 'rank'} attempts better than chance"
        if above
        else f"No judge ranks attempts better than chance, and {len(below)} of {len(bounded)} worse"
    )
    return Statement(
        lead,
        f"By the 95% interval of ROC-AUC ({n}), {'; '.join(parts)}.{rest} Intervals are not widened for looking at "
        f"{len(bounded)} judges. {_without_interval(defined, bounded)}".strip(),
        "judges",
    )


def _beyond(estimates: Mapping[str, Estimate], test: Callable[[float, float], bool]) -> dict[str, Estimate]:
    return {judge: estimate for judge, estimate in estimates.items() if estimate.ci95 and test(*estimate.ci95)}


def _without_interval(defined: Mapping[str, Estimate], bounded: Mapping[str, Estimate]) -> str:
    missing = [judge for judge in defined if judge not in bounded]
    return f"Without an interval: {', '.join(missing)}." if missing else ""


def _listed(estimates: Mapping[str, Estimate], lowest_first: bool = False, limit: int = 6) -> str:
    """Judges with value and interval, the best first."""
    sign = 1 if lowest_first else -1
    ranked = sorted(estimates.items(), key=lambda item: (sign * (item[1].value or 0.0), item[0]))
    shown = ", ".join(f"{judge} {figure(estimate)}" for judge, estimate in ranked[:limit])
    return shown if len(ranked) <= limit else f"{shown} and {len(ranked) - limit} more"


def figure(estimate: Estimate) -> str:
    """Value and interval in a sentence."""
    value = "undefined" if estimate.value is None else format_number(estimate.value)
    return f"{value} {format_interval(estimate.ci95, 2)}".strip()


def _against_baseline(
    metrics: Mapping[str, Mapping[str, Estimate]],
    kinds: Mapping[str, JudgeKind],
    labels: Mapping[str, str],
    pairs: Sequence[compared.Difference],
) -> Statement:
    values = {
        judge: found["roc_auc"]
        for judge, found in metrics.items()
        if "roc_auc" in found and found["roc_auc"].value is not None
    }
    baselines = {j: e for j, e in values.items() if j in kinds and kinds[j].backend == "baseline"}
    others = {j: e for j, e in values.items() if j not in baselines}
    if not baselines or not others:
        missing = "No baseline" if not baselines else "No judge besides the baseline"
        return Statement(
            "Baseline",
            f"{missing} has an ROC-AUC here, so what an LLM judge has to beat cannot be set beside the judges.",
            "judges",
        )
    best, base = _highest(others), _highest(baselines)
    pair = next((row for row in pairs if {row.judge_1, row.judge_2} == {labels[best], labels[base]}), None)
    text = (
        f"{_best_of(len(others), labels[best])} {figure(others[best])} (n = {others[best].n:,}); the baseline "
        f"{labels[base]} has {figure(baselines[base])} (n = {baselines[base].n:,}). "
        f"{_compared(others[best], baselines[base]) if pair is None else _paired(pair, labels[best])}"
    )
    return Statement("Best judge beside the baseline", text, "judges")


def _best_of(judges: int, best: str) -> str:
    if judges == 1:
        return f"{best} has an ROC-AUC of"
    return f"Of the {judges} judges beside the baseline, {best} has the highest ROC-AUC, which favours it:"


def _highest(estimates: Mapping[str, Estimate]) -> str:
    return max(sorted(estimates), key=lambda judge: estimates[judge].value or 0.0)


def _paired(pair: compared.Difference, best: str) -> str:
    words = f"The paired difference is {pair.words(best)}"
    if not pair.shown:
        return f"{words}: these data do not settle which of the two ranks better."
    return f"{words}: {'it beats the baseline.' if pair.of(best) > 0 else 'the baseline beats it.'}"


def _compared(best: Estimate, base: Estimate) -> str:
    assert best.value is not None and base.value is not None
    if best.value <= base.value:
        return "No judge is above the baseline."
    if best.ci95 is None or base.ci95 is None:
        return "Without both intervals nothing more can be said."
    if best.ci95[0] > base.ci95[1]:
        return "The intervals do not overlap."
    return "The intervals overlap: these data do not settle whether it beats the baseline."


def _against_constant(
    column: Mapping[str, Estimate], shares: Mapping[str, float], rows: Sequence[compared.Difference]
) -> list[Statement]:
    """Probabilities against a constant answer; nothing where test has one class only, of which a constant is right.

    The constant is the one of ``judge_differences``, at the accepted share of val, which could be given beforehand: its
    Brier score on test is the judge's less the difference. Only where these differences were never made, by an earlier
    version, or val has no label, is it the share of test, known afterwards, whose Brier score is share (1 - share).
    """
    both = {judge: e for judge, e in column.items() if e.value is not None and 0 < shares.get(judge, 0.0) < 1}
    tested = [row for row in rows if row.judge_1 in both and row.estimate.value is not None]
    return _against_vals_constant(both, tested) if tested else _against_tests_constant(both, shares)


def _against_vals_constant(column: Mapping[str, Estimate], rows: Sequence[compared.Difference]) -> list[Statement]:
    floors = [(column[row.judge_1].value or 0.0) - (row.estimate.value or 0.0) for row in rows]
    versus = _constant_words("val", floors, [row.estimate for row in rows])
    lower = {row.judge_1: column[row.judge_1] for row in rows if row.of(row.judge_1) < 0}
    if not lower:
        return [_no_constant_beaten(len(rows), versus)]
    shown = [row.judge_1 for row in rows if row.shown and row.judge_1 in lower]
    words = f"Lower than {versus}: {_listed(lower, lowest_first=True)}. " + (
        f"Told from it after Holm's correction: {', '.join(shown)}."
        if shown
        else "None of them is told from it after Holm's correction."
    )
    lead = f"{len(shown)} of {len(rows)} judges' probabilities are shown to beat a constant"
    return [Statement(lead if shown else "No judge's probabilities are shown to beat a constant", words, "judges")]


def _against_tests_constant(column: Mapping[str, Estimate], shares: Mapping[str, float]) -> list[Statement]:
    if not column:
        return []
    floors = {judge: shares[judge] * (1 - shares[judge]) for judge in column}
    versus = _constant_words("test", floors.values(), list(column.values()))
    lower = {judge: e for judge, e in column.items() if e.value is not None and e.value < floors[judge]}
    if not lower:
        return [_no_constant_beaten(len(column), versus)]
    surely = [judge for judge, e in lower.items() if has_95_interval(e) and e.ci95 and e.ci95[1] < floors[judge]]
    words = f"Lower than {versus}: {_listed(lower, lowest_first=True)}. " + (
        f"The whole 95% interval lies below it for {', '.join(surely)}."
        if surely
        else "Every one of their 95% intervals still reaches it."
    )
    return [Statement(f"{len(lower)} of {len(column)} judges' probabilities beat a constant", words, "judges")]


def _constant_words(split: str, floors: Iterable[float], estimates: Sequence[Estimate]) -> str:
    said = sorted({format_number(floor) for floor in floors})
    floor = said[0] if len(said) == 1 else f"{said[0]} to {said[-1]}"
    n = n_in_words((estimate.n for estimate in estimates), "test attempts")
    return f"a constant answer at the accepted share of {split} (Brier score {floor} on test, {n})"


def _no_constant_beaten(n_judges: int, versus: str) -> Statement:
    who = f"All {n_judges} have" if n_judges > 1 else "The one judge has"
    text = f"{who} a Brier score no lower than {versus}."
    return Statement("No judge's probabilities beat a constant", text, "judges")


def _decisions(column: Mapping[str, Estimate]) -> list[Statement]:
    defined = {judge: estimate for judge, estimate in column.items() if estimate.value is not None}
    if not defined:
        return []
    bounded = [estimate for estimate in defined.values() if has_95_interval(estimate)]
    above = sum(estimate.ci95 is not None and estimate.ci95[0] > 0 for estimate in bounded)
    best = _highest(defined)
    said = (
        "No MCC has a 95% interval here"
        if not bounded
        else f"The 95% interval lies above 0 for {above} of the {len(bounded)} judges that have one"
    )
    if any("skipped" in (estimate.reason or "") for estimate in bounded):
        said += "; some of these leave out resamples in which MCC is undefined, as the notes of the table say"
    undefined = len(column) - len(defined)
    rest = f" MCC is undefined for {undefined}." if undefined else ""
    return [
        Statement(
            "Accept or reject",
            f"With thresholds chosen on val and applied unchanged to test, the highest MCC is {best}'s "
            f"{figure(defined[best])} (n = {defined[best].n:,}). {said}; "
            f"the intervals hold the thresholds fixed.{rest}",
            "judges",
        )
    ]


def _agreement(agreement: pd.DataFrame) -> Statement:
    fleiss, mean = overall_agreement(agreement, "fleiss"), overall_agreement(agreement, "mean_cohen")
    if fleiss is None or mean is None or (fleiss.value is None and mean.value is None):
        reason = next((e.reason for e in (fleiss, mean) if e is not None and e.reason), None)
        because = reason or "it needs at least two verified judges of the panel"
        return Statement("Agreement is undefined", f"Agreement between the panel's judges: {because}.", "agreement")
    text = (
        f"Over n = {max(fleiss.n, mean.n):,} test attempts that all judges of the panel answered, Fleiss' κ is "
        f"{figure(fleiss)} and the mean pairwise Cohen's κ {figure(mean)}."
    )
    lead = _agreement_lead(fleiss if fleiss.value is not None else mean)
    return Statement(lead, f"{text}{_paradox(agreement, mean)}", "agreement")


HIGH_AGREEMENT, FAR_BELOW = 0.75, 0.35
"""Same decisions, and how far below them kappa lies, from which it is said why the two differ."""


def _paradox(agreement: pd.DataFrame, mean: Estimate) -> str:
    """Kappa's paradox, where it is there: many same decisions, most of one kind, and a low kappa."""
    raw, prevalence = overall_agreement(agreement, "raw_agreement"), overall_agreement(agreement, "prevalence")
    if raw is None or raw.value is None:
        return ""
    said = f" They decide alike on {percent(raw)} of pairs of decisions."
    if prevalence is None or prevalence.value is None or mean.value is None:
        return said
    lopsided = not 0.2 <= prevalence.value <= 0.8
    if not (lopsided and raw.value >= HIGH_AGREEMENT and mean.value <= raw.value - FAR_BELOW):
        return said
    ac1 = overall_agreement(agreement, "gwet_ac1")
    which = "accept" if prevalence.value > 0.5 else "reject"
    share = format_number(100 * max(prevalence.value, 1 - prevalence.value), 0)
    beside = (
        f"; Gwet's AC1, which that moves less, is {figure(ac1)}" if ac1 is not None and ac1.value is not None else ""
    )
    return (
        f"{said} Kappa is far lower because {share}% of decisions are {which}, so that most agreement is expected by "
        f"chance{beside}."
    )


def _agreement_lead(estimate: Estimate) -> str:
    if estimate.ci95 is None or not has_95_interval(estimate):
        return "Agreement between judges"
    if estimate.ci95[0] > 0:
        return "Judges agree more than chance would have them"
    if estimate.ci95[1] < 0:
        return "Judges agree less than chance would have them"
    return "Agreement beyond chance is not shown"


def _people(success: pd.DataFrame, survival: pd.DataFrame) -> list[Statement]:
    rows = success[success["value"].notna()].sort_values("turn").to_dict("records")
    if not rows:
        return [Statement("Success@Turn is undefined", "No trajectory has a decided attempt.", "people")]
    parts = [_solved(row) for row in ([rows[0], rows[-1]] if len(rows) > 1 else rows)]
    median = median_turn(survival)
    ending = (
        f"The Kaplan-Meier median is turn {format_number(median.value, 0)}."
        if median.value is not None
        else f"The Kaplan-Meier median is {median.reason}."
    )
    n = read_estimate(rows[-1]).n
    return [
        Statement("How people got there", f"Of {n:,} trajectories, {' and '.join(parts)}. {ending}", "people"),
    ]


def _solved(row: Mapping[str, object]) -> str:
    estimate = read_estimate(row)
    assert estimate.value is not None
    solved = count(row["n_solved"])
    return f"{solved:,} {'was' if solved == 1 else 'were'} solved by turn {count(row['turn'])}: {percent(estimate)}"


def percent(estimate: Estimate) -> str:
    """A share as a percentage with its interval."""
    assert estimate.value is not None
    ends: Sequence[str] = [format_number(100 * end, 1) for end in estimate.ci95 or ()]
    interval = f" [{ends[0]}%, {ends[1]}%]" if ends else ""
    return f"{format_number(100 * estimate.value, 1)}%{interval}"


def _test_trajectories(trajectories: pd.DataFrame) -> int:
    return int((trajectories["split"] == "test").sum())
