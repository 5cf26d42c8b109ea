"""Who chooses alike: Cohen's kappa of every two judges, of judges and annotators, and of annotators."""

from __future__ import annotations

import pandas as pd

from judge_pipeline.figures import style
from judge_pipeline.figures.agreement import MAX_WITH_INTERVAL, kappa_heatmap, kappas_in_words
from judge_pipeline.figures.estimates import n_in_words, read_estimate


def choice_agreement_figure(accuracy: pd.DataFrame) -> style.DrawnFigure:
    """The heatmap over all judges and annotators.

    Args:
        accuracy: table PREFERENCE_ACCURACY, of one rule.
    """
    title = "Pairwise Cohen's κ of choices"
    rows = accuracy[(accuracy["of"] == "agreement") & (accuracy["figure"] == "cohen")].to_dict("records")
    pairs = {(row["name"], row["other"]): read_estimate(row) for row in rows}
    if not pairs:
        return style.not_drawn("choice-agreement", title, "agreement needs two judges, or a judge and an annotator")
    raters = list(dict.fromkeys(rater for pair in pairs for rater in pair))
    subtitle = n_in_words((estimate.n for estimate in pairs.values()), "pairs that both chose on")
    subtitle += "; in brackets: 95% intervals" if len(raters) <= MAX_WITH_INTERVAL else ""
    figure = kappa_heatmap(raters, pairs, title, subtitle, "Judge or annotator")
    reasons = dict.fromkeys(str(estimate.reason) for estimate in pairs.values() if estimate.value is None)
    notes = (
        "A judge's choice is the answer that both orders give, ties included. 0 is what their shares of A and B alone "
        "would give, 1 is the same choice always.",
        *(f"Undefined: {reason}." for reason in reasons),
    )
    words = kappas_in_words(title, subtitle, pairs)
    return style.DrawnFigure("choice-agreement", title, subtitle, words, figure, notes=notes)
