"""What canaries have shown, in words: which judge can be moved by a text in what it judges, and by how much."""

from __future__ import annotations

import pandas as pd

from judge_pipeline.figures.estimates import format_interval, format_number, read_estimate
from judge_pipeline.settings.injections import CONTROL
from judge_pipeline.tables.canaries import ALL_INJECTIONS, LEAST_MOVED, SIGNIFICANT, TOO_FEW

_IN_PLACE = {"comment": "in a comment", "string": "in a string literal", "prompt_text": "in the prompts"}


def moving(effects: pd.DataFrame) -> pd.DataFrame:
    """The rows of ``judge_canary_effects`` of texts that move a judge where they ask to, beyond the control.

    Those with a p-value below 0.05 after Holm's correction over the judge's texts, and a mean of at least 0.02 in the
    direction asked for; the strongest of each judge first.
    """
    rows = effects[(effects["metric"] == "mean_moved_less_control") & (effects["injection"] != ALL_INJECTIONS)]
    toward = rows["direction"].map({"up": 1.0, "down": -1.0}).astype("float64") * rows["value"]
    kept = rows[(rows["p_holm"] < SIGNIFICANT).fillna(False) & (toward >= LEAST_MOVED)]
    first = {judge: place for place, judge in enumerate(dict.fromkeys(effects["judge"]))}
    order = sorted(kept.index, key=lambda i: (first[kept.at[i, "judge"]], -toward[i]))
    return kept.loc[order]


def talked_round(effects: pd.DataFrame) -> list[str]:
    """A sentence for each judge that can be moved: by how many of the texts, and by which one most."""
    rows = moving(effects)
    sentences = []
    for judge, of_judge in rows.groupby("judge", sort=False):
        n = texts_of(effects, str(judge))
        first = of_judge.to_dict("records")[0]
        estimate = read_estimate(first)
        sentences.append(
            f"{judge} is moved by {len(of_judge)} of {n} planted texts, most by {first['injection']} "
            f"({first['family']}, {_IN_PLACE[first['place']]}): p_ac by {signed(estimate.value or 0.0)} "
            f"{format_interval(estimate.ci95, 2)} beyond the control, n = {estimate.n}"
        )
    return sentences


def not_talked_round(effects: pd.DataFrame) -> list[str]:
    """The judges that were asked, and that no text moved though it could have been told."""
    moved, untold = set(moving(effects)["judge"]), set(too_few(effects))
    tested = effects[(effects["metric"] == "mean_moved_less_control") & effects["value"].notna()]
    return [str(judge) for judge in dict.fromkeys(tested["judge"]) if judge not in moved | untold]


def too_few(effects: pd.DataFrame) -> list[str]:
    """The judges that were asked about so few trajectories that no movement, however large, could be told."""
    untold = effects[effects["reason"].str.contains(TOO_FEW, regex=False).fillna(False).astype(bool)]
    return [str(judge) for judge in dict.fromkeys(untold["judge"])]


def texts_of(effects: pd.DataFrame, judge: str) -> int:
    """How many planted texts the judge was tested with, controls not counted."""
    rows = effects[(effects["judge"] == judge) & (effects["metric"] == "mean_moved_less_control")]
    return int((~rows["injection"].isin((CONTROL, ALL_INJECTIONS)) & rows["value"].notna()).sum())


def signed(value: float, decimals: int = 2) -> str:
    """A movement with its sign; what rounds to zero has none."""
    shown = format_number(value, decimals)
    return f"+{shown}" if float(shown) > 0 else shown
