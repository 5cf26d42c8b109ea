"""What was found, in sentences made from the numbers: each with n and interval, claiming no more than its test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.estimates import (
    format_interval,
    format_number,
    n_in_words,
    number,
    p_words,
    read_estimate,
    text,
)
from judge_pipeline.report.cautions import Statement, names
from judge_pipeline.report.compared import ALPHA
from judge_pipeline.report.preference_accuracy_views import under_rule
from judge_pipeline.report.preference_inputs import PreferenceProvenance, PreferenceReportInput
from judge_pipeline.report.preference_misalignment_views import above_floor
from judge_pipeline.report.preference_rubric_views import signed

MAX_NAMED = 4
"""Judges or items that a sentence names with their figures."""

_SCALE_FREE = {"marginal_effect": "average marginal effect", "relative": "their share of all weights"}
"""Measures that a judge who is only more decisive differs in little, or not at all, and their words."""

_UNJUDGEABLE = ("always the first shown",)
"""Floors that are right in no pair where both orders count: they are below every judge by construction."""


def preference_findings(given: PreferenceReportInput, provenance: PreferenceProvenance) -> list[Statement]:
    """The findings of a set; judges and items are called as ``given`` calls them."""
    found: list[Statement | None] = []
    if given.preference_accuracy is None or given.preference_accuracy.empty:
        found.append(Statement("No judge measured", "No judge's choices were compared with the labels.", "choosing"))
    else:
        rows = under_rule(given.preference_accuracy, provenance.rule)
        acc = _of_judges(rows, "acc")
        found += [
            _best(rows, acc, _baselines(given)), _floors(rows, acc), _people(rows), _position(rows), _gap(rows),
            _length(rows), _families(rows),
        ]  # fmt: skip
    found += [
        _misaligned(given.misalignment, given.preference_model_fits, provenance.chooser),
        _explained(given.rubric_disagreements),
    ]
    return [statement for statement in found if statement is not None]


def _of_judges(rows: pd.DataFrame, figure: str) -> dict[str, Estimate]:
    """Judge -> its figure over all pairs, where it has a value."""
    own = rows[(rows["of"] == "judge") & (rows["figure"] == figure) & rows["category"].isna() & rows["value"].notna()]
    return {str(row["name"]): read_estimate(row) for row in own.to_dict("records")}


def _baselines(given: PreferenceReportInput) -> set[str]:
    """The rules and fitted models that a judge has to beat, by their labels."""
    return {kind.label for kind in given.kinds.values() if kind.backend == "baseline"}


def _best(rows: pd.DataFrame, acc: Mapping[str, Estimate], baselines: set[str]) -> Statement:
    """The judge that chooses as labelled most often; none is called so where no interval is above the best floor."""
    if not acc:
        return Statement("No accuracy", "Acc is undefined for every judge.", "choosing")
    judges = {judge: estimate for judge, estimate in acc.items() if judge not in baselines} or acc
    best = max(judges, key=lambda judge: judges[judge].value or 0.0)
    acc_pc = _of_judges(rows, "acc_pc").get(best)
    share = _of_judges(rows, "choice_share").get(best)
    also = "" if acc_pc is None else f"; Acc_PC {_words(acc_pc)}"
    also += f" on the {_percent(share)} of pairs on which it chooses alike in both orders" if also and share else ""
    told = _told_from(rows, best)
    others = len(acc) - 1
    rest = f" {_told_words(told, others)} on the same pairs (p < {ALPHA:g} after Holm)." if others else ""
    figures = f"Acc {_words(acc[best])}, n = {acc[best].n:,} pairs{also}.{rest}"
    if (floor := _highest_floor(rows)) and not _above(judges, floor[1].value or 0.0):
        what = "baseline" if baselines.issuperset(judges) else "judge"
        which = f"Of {what}s, {best} has the highest Acc: " if len(judges) > 1 else f"{best}: "
        return Statement(f"No {what} is shown to be above the best floor", f"{which}{figures}", "choosing")
    among = " of the judges" if len(judges) < len(acc) else ""
    lead = f"{best} chooses as labelled most often{among}" if len(judges) > 1 else f"{best} is the one judge"
    return Statement(lead, figures, "choosing")


def _told_words(told: Sequence[str], others: int) -> str:
    if others == 1:
        return f"It is{'' if told else ' not'} told from the other judge"
    return f"It is told from {len(told) or 'none'} of the other {others} judges{f', {names(told)},' if told else ''}"


def _told_from(rows: pd.DataFrame, judge: str) -> list[str]:
    """The judges whose Acc is shown to differ from this one's."""
    own = rows[(rows["of"] == "difference") & (rows["figure"] == "acc")]
    own = own[(own["name"] == judge) | (own["other"] == judge)]
    told = own[own["p_holm"].notna() & (own["p_holm"] < ALPHA)]
    return [str(other if name == judge else name) for name, other in zip(told["name"], told["other"], strict=True)]


def _above(acc: Mapping[str, Estimate], level: float) -> list[str]:
    """The judges whose 95% interval lies above a level."""
    return [judge for judge, estimate in acc.items() if estimate.ci95 is not None and estimate.ci95[0] > level]


def _highest_floor(rows: pd.DataFrame) -> tuple[str, Estimate] | None:
    own = rows[(rows["of"] == "floor") & (rows["figure"] == "acc") & rows["value"].notna()]
    floors = {str(row["name"]): read_estimate(row) for row in own.to_dict("records") if row["name"] not in _UNJUDGEABLE}
    return max(floors.items(), key=lambda floor: floor[1].value or 0.0, default=None)


def _floors(rows: pd.DataFrame, acc: Mapping[str, Estimate]) -> Statement | None:
    floor = _highest_floor(rows)
    if floor is None or not acc:
        return None
    highest, level = floor[0], floor[1].value or 0.0
    bounded = {judge: estimate.ci95 for judge, estimate in acc.items() if estimate.ci95 is not None}
    above = _above(acc, level)
    below = [judge for judge, (_, high) in bounded.items() if high < level]
    said = [f"above: {names(above)}"] if above else []
    said += [f"below: {names(below)}"] if below else []
    said += [f"not told from it: {n}"] if (n := len(bounded) - len(above) - len(below)) else []
    acc_pc = {judge: e.ci95 for judge, e in _of_judges(rows, "acc_pc").items() if e.ci95 is not None}
    chance = sum(low > 0.5 for low, _ in acc_pc.values())
    also = f" Where they choose alike in both orders, {chance} of {len(acc_pc)} {'is' if chance == 1 else 'are'} above "
    also += "chance (Acc_PC, 0.5)."
    also = also if acc_pc else ""
    verb = "is" if len(above) == 1 else "are"
    lead = f"{len(above)} of {len(acc)} judges {verb} above every floor" if above else "The best floor"
    return Statement(
        lead,
        f"The highest floor is '{highest}' with {_words(floor[1])}. By the 95% interval of Acc, "
        f"{'; '.join(said)}.{also} Intervals are not widened for looking at {len(acc)} judges.",
        "levels",
    )


def _people(rows: pd.DataFrame) -> Statement | None:
    own = {row["figure"]: row for row in rows[rows["of"] == "people"].to_dict("records")}
    agreement, better = own.get("majority_user_agreement"), own.get("improvement_on_same_pairs")
    if agreement is None or number(agreement["value"]) is None:
        return None
    estimate = read_estimate(agreement)
    said = f"Annotators' majority is the label in {_words(estimate)} of {estimate.n:,} pairs"
    if better is not None and number(better["value"]) is not None:
        said += (
            f"; less the Acc of {better['other']} on the same pairs {_difference(read_estimate(better))} "
            f"({p_words(number(better['p_holm']))})"
        )
    return Statement("Annotators beside the label", f"{said}.", "levels")


def _position(rows: pd.DataFrame) -> Statement | None:
    tested = _tested(rows, "first_slot_share")
    if not tested:
        return None
    biased = {judge: row for judge, row in tested.items() if _shown(row)}
    order = sorted(biased, key=lambda judge: -abs(biased[judge]["value"] - 0.5))
    said = [f"{judge} {_words(read_estimate(biased[judge]))}" for judge in order[:MAX_NAMED]]
    more = f" and {len(order) - MAX_NAMED} more" if len(order) > MAX_NAMED else ""
    lead = f"{_of(len(biased), len(tested))} by place" if biased else "No position bias is shown"
    which = f"Share of answers for the response shown first, 0.5 without bias: {'; '.join(said)}{more}." if said else (
        "The first-slot share of no judge is told from 0.5."
    )  # fmt: skip
    return Statement(lead, f"{which} {_correction(tested, biased, 0.5)}", "bias")


def _gap(rows: pd.DataFrame) -> Statement | None:
    gaps = _of_judges(rows, "gap")
    never = [judge for judge, share in _of_judges(rows, "choice_share").items() if not share.value]
    if not gaps and not never:
        return None
    order = sorted(gaps, key=lambda judge: gaps[judge].value or 0.0)
    said = []
    if order and not gaps[order[-1]].value:
        said.append(f"nothing for {names(order, MAX_NAMED)}")
    elif order:
        between = f" and {order[0]} least, {_words(gaps[order[0]])}" if len(order) > 1 else ""
        said.append(f"{order[-1]} loses most, {_words(gaps[order[-1]])}{between}")
    if never:
        said.append(f"no choice is the same in both orders, so that there is no Acc_PC, for {names(never, MAX_NAMED)}")
    return Statement(
        "What the order costs",
        "Acc_PC less Acc, which is accuracy lost to answers that are invalid, tied or change with the order: "
        f"{'; '.join(said)}.",
        "bias",
    )


def _length(rows: pd.DataFrame) -> Statement | None:
    tested = _tested(rows, "length_bias")
    if not tested:
        return None
    biased = {judge: row for judge, row in tested.items() if _shown(row)}
    order = sorted(biased, key=lambda judge: -abs(biased[judge]["value"]))
    said = [f"{judge} {_difference(read_estimate(biased[judge]))}" for judge in order[:MAX_NAMED]]
    more = f" and {len(order) - MAX_NAMED} more" if len(order) > MAX_NAMED else ""
    lead = (
        f"{_of(len(biased), len(tested))} by length otherwise than the labels" if biased else "No length bias is shown"
    )
    which = f"Longer response more (+) or less (-) often than the labels: {'; '.join(said)}{more}." if said else (
        "No judge is shown to choose the longer response more or less often than the labels do."
    )  # fmt: skip
    return Statement(lead, f"{which} {_correction(tested, biased, 0.0)}", "bias")


def _of(n: int, total: int) -> str:
    return f"{n} of {total} judges {'chooses' if n == 1 else 'choose'}"


def _correction(tested: Mapping[str, Mapping[Any, Any]], shown: Mapping[str, Any], null: float) -> str:
    """What the p-values are corrected for, and how many intervals leave out the value that none of them shows."""
    outside = [
        judge
        for judge, row in tested.items()
        if judge not in shown and (ends := read_estimate(row).ci95) is not None and not ends[0] <= null <= ends[1]
    ]
    also = f" The uncorrected interval of {len(outside)} more leaves out {null:g}." if outside else ""
    return f"Corrected by Holm over {len(tested)} judge{'' if len(tested) == 1 else 's'}.{also}"


def _families(rows: pd.DataFrame) -> Statement | None:
    own = rows[(rows["of"] == "family") & (rows["figure"] == "acc") & rows["value"].notna()]
    if len(own) < 2:
        return None
    found = {str(row["name"]): read_estimate(row) for row in own.to_dict("records")}
    order = sorted(found, key=lambda family: -(found[family].value or 0.0))
    said = "; ".join(f"{family} {_words(found[family])}" for family in order)
    return Statement("Families of judges", f"Mean Acc: {said}. Differences between families are not tested.", "levels")


def _misaligned(tested: pd.DataFrame | None, fits: pd.DataFrame | None, chooser: str) -> Statement | None:
    if tested is None or tested.empty:
        return None
    pooled = tested[(tested["effect"] == "coefficient") & tested["judge"].isna()]
    ours = [row for row in pooled[pooled["test"] == "paired"].to_dict("records") if number(row["value"]) is not None]
    if not ours:
        return Statement("Misalignment cannot be tested", "No item has a pooled difference.", "weigh")
    found = sorted((row for row in ours if _true(row["misaligned"])), key=lambda row: -abs(row["value"]))
    said = [
        f"{row['item']} {_difference(read_estimate(row))}, corrected {p_words(number(row['p_bh']))}"
        for row in found[:MAX_NAMED]
    ]
    more = f"; and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
    papers = int(pooled.loc[pooled["test"] == "trace_pooled", "misaligned"].fillna(False).astype(bool).sum())
    trust = "" if fits is None else _trust(fits, chooser)
    lead = f"{len(found)} of {len(ours)} rubric items are weighed otherwise"
    lead = lead if found else "No item is shown to be misaligned"
    which = f"Judges' pooled coefficient less that of {chooser}: {'; '.join(said)}{more}. " if said else ""
    n = n_in_words((int(row["n"]) for row in ours), "pairs")
    return Statement(
        lead,
        f"{which}By our paired test, corrected over {len(ours)} items ({n}). The paper's pooled test, which is "
        f"anti-conservative, names {papers}.{_without_scale(tested, found)}{trust}",
        "weigh",
    )


def _without_scale(tested: pd.DataFrame, found: Sequence[Mapping[str, Any]]) -> str:
    """How many of the findings stand where it does not count how decisive a judge is; nothing without a finding."""
    pooled = tested[(tested["test"] == "paired") & tested["judge"].isna()]
    said = []
    for effect, words in _SCALE_FREE.items():
        rows = {row["item"]: row for row in pooled[pooled["effect"] == effect].to_dict("records")}
        own = [(row, rows[row["item"]]) for row in found if row["item"] in rows]
        n = sum(_true(other["misaligned"]) and (other["value"] > 0) == (row["value"] > 0) for row, other in own)
        said += [f"{n} by {words}"] if own else []
    if not said:
        return ""
    return f" Coefficients grow with how decisive a chooser is; of these {len(found)}, {' and '.join(said)}, too."


def _trust(fits: pd.DataFrame, chooser: str) -> str:
    own = [row for row in fits.to_dict("records") if row["of"] == "people"]
    if not own or number(own[0]["value"]) is None:
        return ""
    held_out, floor = read_estimate(own[0]), number(own[0]["floor"])
    beside = "" if floor is None else f" (floor {format_number(floor, 2)})"
    warning = "" if above_floor(own[0]) == "yes" else ", which is not told from its floor: read no more into it"
    return f" The rubric predicts {chooser} on unseen pairs in {_words(held_out)}{beside}{warning}."


def _explained(table: pd.DataFrame | None) -> Statement | None:
    if table is None or table.empty:
        return None
    known = table[table["explained"].notna()]
    explained, turned = (int(known[name].astype(bool).sum()) for name in ("explained", "reversed"))
    items = table["item"].dropna().value_counts()
    top = sorted(items[items == items.max()].index)[0] if len(items) else None
    most = f" The item that speaks for most of them is {text(top)}, for {items.max():,}." if top is not None else ""
    return Statement(
        "What the rubric explains",
        f"Of {len(known):,} choices against the label ({table['pair_id'].nunique():,} pairs, "
        f"{table['judge'].nunique():,} judges) the rubric explains {explained:,}: models that did not see the pair "
        f"choose as their own side did. In {turned:,} both choose as the other side did, which chance alone gives as "
        f"often. What the rubric adds is the difference, {explained - turned:,}.{most}",
        "explained",
    )


def _tested(rows: pd.DataFrame, figure: str) -> dict[str, Mapping[Any, Any]]:
    own = rows[(rows["of"] == "judge") & (rows["figure"] == figure) & rows["category"].isna() & rows["p_holm"].notna()]
    return {str(row["name"]): row for row in own.to_dict("records")}


def _shown(row: Mapping[Any, Any]) -> bool:
    p = number(row["p_holm"])
    return p is not None and p < ALPHA


def _true(value: Any) -> bool:
    return not pd.isna(value) and bool(value)


def _words(estimate: Estimate) -> str:
    """Value and interval in percent, which sentences read better in."""
    if estimate.value is None:
        return "undefined"
    ends = estimate.ci95
    interval = "" if ends is None else f" [{format_number(100 * ends[0], 1)}, {format_number(100 * ends[1], 1)}]"
    return f"{format_number(100 * estimate.value, 1)}%{interval}"


def _percent(estimate: Estimate) -> str:
    return f"{format_number(100 * (estimate.value or 0.0), 1)}%"


def _difference(estimate: Estimate) -> str:
    return f"{signed(estimate.value or 0.0)} {format_interval(estimate.ci95, 2)}".strip()
