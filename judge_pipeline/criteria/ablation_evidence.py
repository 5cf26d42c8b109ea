"""Which criteria carry a decision, and which aspects: majorities counted again without them.

Verdicts have no weights here: the majority of a pair's evidence is the side that more of its kept verdicts are for, a
tie where neither is, also without evidence. A criterion is decisive where the majority without it is another. That is a
reading of the evidence and not of the final judge, who weighs it as the judge sees fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judge_pipeline.criteria.ablation_accuracy import Decided
from judge_pipeline.criteria.ablation_pairs import AblationPairs, majority
from judge_pipeline.preference.figure_rows import Figure
from judge_pipeline.preference.verdicts import CHOICES, TIE, A, B
from judge_pipeline.statistics.ratio_bootstrap import Term, replicated_ratios
from judge_pipeline.tables.criteria import ASPECTS

if TYPE_CHECKING:
    from judge_pipeline.statistics.score_counts import FloatArray
    from judge_pipeline.tables.criteria_ablation import JudgedTables


def decisive_rows(
    pairs: AblationPairs, judged: JudgedTables, own: Decided, monolithic: Decided
) -> list[dict[str, Any]]:
    """Rows of table DECISIVE_CRITERIA of one configuration, in the order of pairs and criteria.

    Args:
        pairs: the pairs.
        judged: its ``consistent_evidence`` is looked at.
        own: its decisions.
        monolithic: those of the judge's monolithic configuration.
    """
    evidence = _evidence(pairs, judged)
    changed = own.there & monolithic.there & (own.choice != monolithic.choice)
    rows = []
    for row in evidence[evidence["decisive"] & changed[evidence["place"]]].to_dict("records"):
        place = row["place"]
        rows.append(
            {
                "judge": judged.judge, "configuration": judged.configuration,
                **{name: row[name] for name in ("pair_id", "criterion", "text", "aspect", "verdict")},
                "majority": CHOICES[row["majority"]], "majority_without": CHOICES[row["without"]],
                "decision": _word(own.choice[place]), "monolithic": _word(monolithic.choice[place]),
                "label": CHOICES[pairs.labels[place]],
            }
        )  # fmt: skip
    return rows


def aspect_rows(pairs: AblationPairs, judged: JudgedTables) -> list[dict[str, Any]]:
    """Rows of table CRITERIA_ASPECTS of one configuration; aspects without a criterion in force have none.

    - ``evidence_share``: of all kept verdicts, those on the aspect.
    - ``kept_share``: of its verdicts, those kept.
    - ``told_share``: of its kept verdicts, those for A or B.
    - ``agreement``: of these, on pairs whose label is no tie, those that are the label.
    - ``decisive_share``: of its kept verdicts, those without which the pair's majority is another.
    - ``majority_gain``: how often the majority is the label, less how often it is without the aspect's criteria.
    """
    all_ = judged.consistent_evidence
    if all_ is None or all_.empty:
        return []
    in_force = all_[all_["pair_id"].isin(pairs.places)]
    evidence = _evidence(pairs, judged)
    found: dict[tuple[str, str], Figure] = {}
    for aspect in (aspect for aspect in ASPECTS if (in_force["aspect"] == aspect).any()):
        for name, figure in _of_aspect(pairs, in_force, evidence, aspect).items():
            found[aspect, name] = figure
    drawn = replicated_ratios({key: figure.terms for key, figure in found.items()}, pairs.clusters)
    return [
        {"judge": judged.judge, "configuration": judged.configuration, "aspect": aspect, "figure": name}
        | drawn[aspect, name].estimate(n=figure.n, n_left_out=figure.n_left_out, undefined=figure.undefined).to_row()
        for (aspect, name), figure in found.items()
    ]


def _of_aspect(pairs: AblationPairs, in_force: pd.DataFrame, evidence: pd.DataFrame, aspect: str) -> dict[str, Figure]:
    own = evidence[evidence["aspect"] == aspect]
    told = own[own["verdict"].isin(["A", "B"])]
    untied = told[pairs.labels[told["place"]] != TIE]
    agreed = untied[[CHOICES[pairs.labels[place]] for place in untied["place"]] == untied["verdict"]]
    parts = {
        "evidence_share": (own, evidence, len(evidence)),
        "kept_share": (own, in_force[in_force["aspect"] == aspect], int((in_force["aspect"] == aspect).sum())),
        "told_share": (told, own, len(own)),
        "agreement": (agreed, untied, len(told)),
        "decisive_share": (own[own["decisive"]], own, len(own)),
    }
    figures = {
        name: Figure([Term(pairs.counts(part), pairs.counts(whole))], len(whole), n - len(whole), "no such verdict")
        for name, (part, whole, n) in parts.items()
    }
    seen = pairs.counts(in_force) > 0
    sides = [_sides(pairs, evidence), _sides(pairs, evidence[evidence["aspect"] != aspect])]
    right = [(majority(*of) == pairs.labels) & seen for of in sides]
    n = int(seen.sum())
    terms = [Term(right[0], seen), Term(right[1], seen, -1.0)]
    return figures | {"majority_gain": Figure(terms, n, len(seen) - n, "no pair has a criterion")}


def _evidence(pairs: AblationPairs, judged: JudgedTables) -> pd.DataFrame:
    """The kept verdicts with the place of their pair, its majority, that without them, and whether they decide it."""
    all_ = judged.consistent_evidence
    if all_ is None:
        return pd.DataFrame(columns=["pair_id", "criterion", "aspect", "verdict", "place", "decisive"])
    kept = all_[all_["kept"].astype("bool") & all_["pair_id"].isin(pairs.places)].reset_index(drop=True)
    place = kept["pair_id"].map(pairs.places).to_numpy(np.int64)
    a, b = (side[place] for side in _sides(pairs, kept))
    is_a, is_b = ((kept["verdict"] == side).to_numpy(np.float64) for side in ("A", "B"))
    whole, without = majority(a, b), majority(a - is_a, b - is_b)
    return kept.assign(place=place, majority=whole, without=without, decisive=whole != without)


def _sides(pairs: AblationPairs, evidence: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
    """How many verdicts are for A, and for B; shape (pairs,)."""
    return pairs.counts(evidence[evidence["verdict"] == "A"]), pairs.counts(evidence[evidence["verdict"] == "B"])


def _word(code: int) -> str | None:
    return CHOICES[code] if code in (A, B, TIE) else None
