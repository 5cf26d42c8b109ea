"""Judges over several contests: the same figures as on the pooled rows; only shown differences narrow ranks."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from judge_pipeline.cocreation.leaderboard import ALPHA, leaderboard, open_ranks, pooled
from judge_pipeline.tables import JUDGE_OUTPUTS, LEADERBOARD

SKILL = {"sharp": 4.0, "dull": 0.0, "simulated-fair": 0.5}


def predictions(contest: str, seed: int, judges: tuple[str, ...] = tuple(SKILL), n_groups: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for group in range(n_groups):
        for turn in range(int(rng.integers(1, 3))):
            y = int(rng.random() < 0.5)
            for judge in judges:
                p = float(1 / (1 + np.exp(-SKILL[judge] * (y - 0.5) - rng.normal())))
                rows.append((f"{contest}-{group}-{turn}", judge, p, y, ("val", "test")[group % 2], f"E{group}", "P"))
    return pd.DataFrame(rows, columns=["attempt_id", "judge", "p_ac", "y", "split", "participant", "problem_id"])


def outputs(table: pd.DataFrame, judge: str, costs: list[float | None], times: list[float | None]) -> pd.DataFrame:
    own = table.loc[table["judge"] == judge, "attempt_id"].head(len(costs))
    empty = dict.fromkeys(JUDGE_OUTPUTS.column_names)
    return JUDGE_OUTPUTS.conform(
        [
            empty | {"attempt_id": a, "judge": judge, "p_ac": 0.5, "request_hash": "x", "n_tries": 1, "cost_usd": c,
                     "latency_ms": t}
            for a, c, t in zip(own, costs, times, strict=True)
        ]
    )  # fmt: skip


def coverage(*judges: tuple[str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(judges, columns=["judge", "backend", "status"]).assign(model=None)


@pytest.fixture(scope="module")
def made() -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    tables = {"spring": predictions("spring", 1), "autumn": predictions("autumn", 2, ("sharp", "dull"))}
    asked = {"spring": {"sharp": outputs(tables["spring"], "sharp", [0.01, 0.03, None], [100.0, 300.0, None])}}
    kinds = {
        "spring": coverage(("sharp", "litellm", "verified"), ("dull", "litellm", "unverified"),
                           ("simulated-fair", "recorded", "verified")),
        "autumn": coverage(("sharp", "litellm", "verified"), ("dull", "litellm", "verified")),
    }  # fmt: skip
    return tables, leaderboard(tables, asked, kinds, seed=5, n_resamples=300)


def cell(table: pd.DataFrame, judge: str, metric: str) -> pd.Series:
    return table[(table["judge"] == judge) & (table["metric"] == metric)].iloc[0]


def test_figures_are_those_of_all_test_attempts_together(made: tuple[dict[str, pd.DataFrame], pd.DataFrame]) -> None:
    tables, board = made
    assert LEADERBOARD.conform(board).equals(board)
    own = pd.concat(tables.values()).query("judge == 'sharp' and split == 'test'")
    row = cell(board, "sharp", "roc_auc")
    assert row["value"] == pytest.approx(roc_auc_score(own["y"], own["p_ac"]), abs=1e-12)
    assert row["n"] == len(own)
    assert row["ci95_low"] < row["value"] < row["ci95_high"]


def test_judges_that_differ_have_ranks_of_their_own_and_others_share(
    made: tuple[dict[str, pd.DataFrame], pd.DataFrame],
) -> None:
    ranks = {j: tuple(cell(made[1], j, "roc_auc")[["rank_from", "rank_to"]]) for j in SKILL}
    assert ranks["sharp"] == (1, 1)
    assert ranks["dull"][1] == 3 and ranks["simulated-fair"][0] == 2


def test_money_and_time_are_of_the_answers_that_have_them(made: tuple[dict[str, pd.DataFrame], pd.DataFrame]) -> None:
    cost = cell(made[1], "sharp", "cost_per_1000_usd")
    assert (cost["value"], cost["n"], cost["n_left_out"]) == (pytest.approx(20.0), 2, 1)
    assert cell(made[1], "sharp", "latency_median_ms")["value"] == 200
    assert cell(made[1], "sharp", "latency_p95_ms")["value"] == pytest.approx(290)
    none = cell(made[1], "dull", "cost_per_1000_usd")
    assert pd.isna(none["value"]) and none["reason"] == "no answer has a price"


def test_what_a_judge_is_stands_beside_it(made: tuple[dict[str, pd.DataFrame], pd.DataFrame]) -> None:
    assert cell(made[1], "dull", "brier")["kind"] == "unverified in spring"
    assert cell(made[1], "simulated-fair", "brier")["kind"] == "simulated; 1 of 2 contests"
    assert pd.isna(cell(made[1], "sharp", "brier")["kind"])


def test_the_same_participant_of_two_contests_is_two_people() -> None:
    table = pooled({"a": predictions("a", 1, n_groups=3), "b": predictions("b", 2, n_groups=3)})
    assert table["participant"].nunique() == 6
    assert not len(leaderboard({}, {}, {}, seed=0))


@given(st.data())
def test_ranks_hold_every_order_that_shown_differences_allow(data: st.DataObject) -> None:
    judges = ["a", "b", "c", "d"]
    skill = {judge: data.draw(st.floats(0, 1)) for judge in judges}
    rows = [
        {"metric": "roc_auc", "against": "judge", "judge_1": one, "judge_2": two, "value": skill[one] - skill[two],
         "p_holm": data.draw(st.one_of(st.just(float("nan")), st.floats(0, 1)))}
        for one, two in combinations(judges, 2)
    ]  # fmt: skip
    ranks = open_ranks(pd.DataFrame(rows), judges, "roc_auc")
    order = sorted(judges, key=lambda judge: -skill[judge])
    for judge, (best, worst) in ranks.items():
        assert 1 <= best <= worst <= 4
        assert best <= order.index(judge) + 1 <= worst, "the order by value is always among those left open"
    if not any(row["p_holm"] < ALPHA for row in rows):
        assert set(ranks.values()) == {(1, 4)}
    turned = [{**row, "metric": "brier", "value": -row["value"]} for row in rows]
    assert open_ranks(pd.DataFrame(turned), judges, "brier") == ranks


def test_a_judge_whose_contests_were_asked_with_other_parameters_says_so() -> None:
    tables = {name: predictions(name, seed, ("sharp", "dull"), 30) for seed, name in enumerate(("spring", "autumn"))}
    tables = {name: table.assign(request_hash=name + table["attempt_id"]) for name, table in tables.items()}
    rows = pd.concat(tables.values())[["judge", "request_hash"]].assign(prompt_sha256="p", asked_with="{}")
    warm = (rows["judge"] == "sharp") & rows["request_hash"].str.startswith("autumn")
    stored = rows.assign(asked_with=rows["asked_with"].mask(warm, '{"parameters":{"temperature":1}}'))
    both = coverage(("sharp", "litellm", "verified"), ("dull", "litellm", "verified"))
    kinds = dict.fromkeys(tables, both)
    found = leaderboard(tables, {}, kinds, stored, seed=0, n_resamples=100).drop_duplicates("judge").set_index("judge")
    assert found.loc["sharp", "kind"] == "asked in 2 ways (prompts or parameters)"
    assert found.loc["dull", "kind"] is None
