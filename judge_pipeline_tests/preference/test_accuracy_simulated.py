"""How often intervals hold the truth and tests fire with nothing to find, on made judges of known shares."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judge_pipeline.preference.accuracy import preference_accuracy

# Right in both orders, wrong in both, the first shown in both, the second shown in both.
SHARES = (0.54, 0.34, 0.06, 0.06)
N_DRAWS, N_PAIRS = 150, 200


def made(rng: np.random.Generator) -> pd.DataFrame:
    label = rng.choice(["A", "B"], N_PAIRS)
    other = np.where(label == "A", "B", "A")
    parts = []
    for judge in ("x", "y"):
        answer = rng.choice(4, N_PAIRS, p=SHARES)
        ab = np.select([answer == 0, answer == 1, answer == 2], [label, other, "A"], "B")
        ba = np.select([answer == 0, answer == 1, answer == 2], [label, other, "B"], "A")
        ids = [f"p{i:03d}" for i in range(N_PAIRS)]
        columns = {"pair_id": ids, "judge": judge, "label": label, "decision_ab": ab, "decision_ba": ba}
        parts.append(pd.DataFrame(columns, dtype=object))
    return pd.concat(parts, ignore_index=True)


@pytest.mark.slow
def test_intervals_hold_the_truth_and_nothing_is_found_where_nothing_is() -> None:
    rng = np.random.default_rng(20261130)
    acc_pc = SHARES[0] / (SHARES[0] + SHARES[1])
    truth = {"acc": SHARES[0], "acc_pc": acc_pc, "gap": acc_pc - SHARES[0], "first_slot_share": 0.5}
    held, fired = dict.fromkeys(truth, 0), {"first_slot_share": 0, "acc": 0, "acc_pc": 0, "consistent_share": 0}
    for draw in range(N_DRAWS):
        table = preference_accuracy(made(rng), seed=draw, n_resamples=500)
        of_judge = table[(table["of"] == "judge") & (table["name"] == "x")].set_index("figure")
        for name, value in truth.items():
            held[name] += of_judge.loc[name, "ci95_low"] <= value <= of_judge.loc[name, "ci95_high"]
        fired["first_slot_share"] += of_judge.loc["first_slot_share", "p_value"] < 0.05
        differences = table[table["of"] == "difference"].set_index("figure")
        for name in ("acc", "acc_pc", "consistent_share"):
            fired[name] += differences.loc[name, "p_value"] < 0.05
    # By chance alone a rate of 95% shows as 90 to 99% in 150 draws, one of 5% as 1 to 10%.
    assert all(0.90 <= n / N_DRAWS <= 0.99 for n in held.values()), held
    assert all(0.01 <= n / N_DRAWS <= 0.10 for n in fired.values()), fired
