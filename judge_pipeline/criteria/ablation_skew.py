"""What swap-consistency filtering does to position bias: A, B and tie before and after it (CriterAlign, Table 6).

Before it stands the verdict of order AB on every criterion in force, after it the verdicts that are kept. A majority is
the side for which more criteria of a pair are; equal sides are a tie. Verdicts of insufficient, and invalid ones, are
no part of either; pairs without any other verdict at a stage have no majority there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_pipeline.criteria.ablation_pairs import AblationPairs, majority
from judge_pipeline.criteria.ablation_rows import Subject
from judge_pipeline.preference.figure_rows import Figure
from judge_pipeline.preference.verdicts import CHOICES
from judge_pipeline.statistics.ratio_bootstrap import Term
from judge_pipeline.tables.criteria_ablation import SKEW_LEVELS, SKEW_STAGES

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.statistics.score_counts import FloatArray
    from judge_pipeline.tables.criteria_ablation import JudgedTables

TABLE = "6"

_NOTHING = "no such verdict"


def skew_figures(pairs: AblationPairs, judged: JudgedTables) -> dict[Subject, Figure]:
    """Table 6 of one configuration; nothing where verdicts were asked in one order, or there are none.

    Args:
        pairs: the pairs.
        judged: its ``consistent_evidence`` is looked at.
    """
    evidence = judged.consistent_evidence
    if evidence is None or evidence["verdict_ba"].isna().all():
        return {}
    own = evidence[evidence["pair_id"].isin(pairs.places)]
    kept = own["kept"].astype("bool")
    counts = {"before": _counts(pairs, own), "after": _counts(pairs, own[kept])}
    found: dict[str, Figure] = {}
    for stage, by_choice in counts.items():
        n_rows = len(own) if stage == "before" else int(kept.sum())
        found |= _distribution(f"criterion_{{}}_{stage}", by_choice, n_rows)
        found |= _distribution(f"majority_{{}}_{stage}", _majorities(by_choice), len(pairs.pair_ids))
    seen = (pairs.counts(own) > 0).astype(np.float64)
    labels = {choice: (pairs.labels == code) * seen for code, choice in enumerate(CHOICES)}
    found |= _distribution("label_{}", labels, len(pairs.pair_ids))
    for level in SKEW_LEVELS:
        found[f"{level}_skew_change"] = _change(*(found[f"{level}_skew_{stage}"] for stage in SKEW_STAGES))
    removed, all_ = pairs.counts(own[~kept]), pairs.counts(own)
    found["removed_share"] = Figure([Term(removed, all_)], int(all_.sum()), 0, _NOTHING)
    n_seen = int(seen.sum())
    found["pairs_with_removed_share"] = Figure([Term(removed > 0, seen)], n_seen, len(seen) - n_seen, _NOTHING)
    return {
        Subject(TABLE, None, judged.judge, judged.configuration, None, None, name): figure
        for name, figure in found.items()
    }


def _counts(pairs: AblationPairs, rows: pd.DataFrame) -> dict[str, FloatArray]:
    return {choice: pairs.counts(rows[rows["verdict"] == choice]) for choice in CHOICES}


def _majorities(counts: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """For each side 1 where it is the majority of a pair's verdicts."""
    which, any_ = majority(counts["A"], counts["B"]), sum(counts.values()) > 0
    return {choice: ((which == code) & any_).astype(np.float64) for code, choice in enumerate(CHOICES)}


def _distribution(name: str, counts: dict[str, FloatArray], offered: int) -> dict[str, Figure]:
    """Shares of A, B and tie, A less B, and A/B, of ``offered`` verdicts or pairs."""
    whole = counts["A"] + counts["B"] + counts["tie"]
    n = int(whole.sum())
    shares = {choice: [Term(part, whole)] for choice, part in counts.items()}
    terms = {
        **shares,
        "skew": [Term(counts["A"], whole), Term(counts["B"], whole, -1.0)],
        "ratio": [Term(counts["A"], counts["B"])],
    }
    return {
        name.format(part): Figure(own, n, offered - n, "nothing is for B" if part == "ratio" and n else _NOTHING)
        for part, own in terms.items()
    }


def _change(before: Figure, after: Figure) -> Figure:
    """The skew after less the skew before, tested against no change."""
    terms = [*after.terms, *(Term(t.numerator, t.denominator, -t.factor) for t in before.terms)]
    return Figure(terms, after.n, before.n - after.n, _NOTHING, (), 0.0)
