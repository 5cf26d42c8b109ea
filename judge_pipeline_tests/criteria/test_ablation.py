"""The ablation against counts by hand, against a second count by brute force, and as the paper's tables."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judge_pipeline.criteria.ablation import Ablation, criteria_ablation
from judge_pipeline.criteria.ablation_calls import not_as_formula
from judge_pipeline.criteria.ablation_pairs import ablation_pairs
from judge_pipeline.criteria.ablation_rows import in_order, own_monolithic, paper_tables, unguided_twins
from judge_pipeline.settings.criteria import Configuration, GuidanceUse
from judge_pipeline.statistics.intervals import holm
from judge_pipeline.tables.criteria_ablation import SKEW_FIGURES, JudgedTables
from judge_pipeline.tables.preference import PAIR_TEXTS, PREFERENCE_PAIRS, PREFERENCE_SPLITS
from judge_pipeline_tests.criteria.made_ablation import CONFIGURATIONS, NoisyJudge, judged_by

LABELS = {f"p{n:03}": "A" if n % 9 < 4 else "B" if n % 9 < 8 else "tie" for n in range(90)}
MONOLITHIC = Configuration(generator="none", refinement="none", paper_rows=("2: Monolithic",))
FULL = Configuration(paper_rows=("2: Full",))


def tables_of(labels: dict[str, str]) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Pairs, texts and splits: every tenth pair is of train, two in a row share an instruction."""
    texts = [
        dict.fromkeys(PAIR_TEXTS.column_names)
        | {"pair_id": pair, "instruction": f"Do {n // 2}", "response_a": "a" * (n % 3), "response_b": "b",
           "category": "web" if n % 2 else "game"}
        for n, pair in enumerate(labels)
    ]  # fmt: skip
    own = [
        {name: row.get(name) for name in PREFERENCE_PAIRS.column_names} | {"w": labels[row["pair_id"]]} for row in texts
    ]
    for row in own:
        row.update({n: "x" for n in ("source_file", "place") if n in row})
    splits = [
        {"pair_id": pair, "split": "train" if n % 10 == 9 else "val", "instruction_group": f"g{n // 2}",
         "assigned_by": "seed"}
        for n, pair in enumerate(labels)
    ]  # fmt: skip
    return pd.DataFrame(own), PAIR_TEXTS.conform(texts), PREFERENCE_SPLITS.conform(splits)


PAIRS, TEXTS, SPLITS = tables_of(LABELS)
VAL = [pair for n, pair in enumerate(LABELS) if n % 10 != 9]


def decided(judge: str, configuration: str, decisions: dict[str, str | None]) -> JudgedTables:
    rows = [
        {"pair_id": pair, "decision": said, "decided_by": "judge", "n_criteria": 0, "n_evidence": 0, "score_a": None,
         "score_b": None, "rationale": None, "failure_class": None if said else "not_json",
         "failure": None if said else "no JSON", "request_hash": None}
        for pair, said in decisions.items()
    ]  # fmt: skip
    return JudgedTables(judge, configuration, pd.DataFrame(rows))


def value(made: Ablation, figure: str, **where: Any) -> dict[str, Any]:
    rows = made.ablation[made.ablation["figure"] == figure]
    for name in ("paper_table", "paper_row", "judge", "configuration", "against", "category"):
        wanted = where.get(name)
        if wanted is not None:
            rows = rows[rows[name] == wanted]
        elif name in ("paper_table", "category"):
            rows = rows[rows[name].isna()]
    assert len(rows) == 1, rows
    return dict(rows.iloc[0])


@pytest.fixture(scope="module")
def by_stages() -> tuple[list[JudgedTables], Ablation]:
    judged = [
        judged_by(NoisyJudge(labels=LABELS, name=name), configuration, PAIRS, TEXTS, SPLITS)
        for name in ("one", "two")
        for configuration in CONFIGURATIONS
    ]
    return judged, criteria_ablation(PAIRS, SPLITS, judged, CONFIGURATIONS, seed=3, n_resamples=200)


def test_accuracy_counts_ties_and_takes_an_invalid_decision_for_wrong() -> None:
    said: dict[str, str | None] = dict.fromkeys(VAL, "A")
    said |= {VAL[0]: None, VAL[1]: None}  # both labelled A
    del said[VAL[2]]
    made = criteria_ablation(PAIRS, SPLITS, [decided("j", "mono", said)], {"mono": MONOLITHIC}, n_resamples=100)
    acc = value(made, "acc", judge="j")
    right = sum(said.get(pair) == LABELS[pair] for pair in VAL)
    assert (acc["n"], acc["n_left_out"]) == (80, 1) and acc["value"] == pytest.approx(right / 80)
    assert "2 invalid decisions count as wrong" in acc["reason"]
    assert value(made, "invalid_share", judge="j")["value"] == pytest.approx(2 / 80)
    skew = value(made, "decision_skew", judge="j")
    assert skew["value"] == pytest.approx(78 / 80)
    game = [pair for n, pair in enumerate(LABELS) if n % 2 == 0 and pair in VAL]
    of_game = value(made, "acc", judge="j", category="game")
    asked = [pair for pair in game if pair in said]
    assert of_game["n"] == len(asked) and of_game["n_left_out"] == len(game) - len(asked)
    assert of_game["value"] == pytest.approx(sum(said[p] == LABELS[p] for p in asked) / len(asked))


def test_floors_are_shares_of_the_labels_and_of_longer_responses() -> None:
    made = criteria_ablation(PAIRS, SPLITS, [decided("j", "mono", {})], {"mono": MONOLITHIC}, n_resamples=100)
    for name, choice in (("always A", "A"), ("always B", "B"), ("always tie", "tie")):
        assert value(made, "acc", judge=name)["value"] == pytest.approx(sum(LABELS[p] == choice for p in VAL) / 81)
    assert value(made, "acc", judge="the most frequent label")["value"] == max(
        value(made, "acc", judge=f"always {choice}")["value"] for choice in ("A", "B")
    )
    longer = {pair: ("B", "tie", "A")[n % 3] for n, pair in enumerate(LABELS)}
    found = value(made, "acc", judge="the longer response")
    assert found["value"] == pytest.approx(sum(longer[p] == LABELS[p] for p in VAL) / 81)
    assert value(made, "acc", judge="j")["value"] is None or np.isnan(value(made, "acc", judge="j")["value"])


def test_a_gain_is_mended_less_spoiled_and_its_p_is_that_of_paired_pairs() -> None:
    """The full one is right on 30 pairs more and wrong on none: surely a gain. Acc alone could not tell it."""
    rng = np.random.default_rng(5)
    wrong = {"A": "B", "B": "A", "tie": "A"}
    mono = {pair: LABELS[pair] if rng.random() < 0.5 else wrong[LABELS[pair]] for pair in VAL}
    mended = [pair for pair in VAL if mono[pair] != LABELS[pair]][:12]
    full = mono | {pair: LABELS[pair] for pair in mended}
    judged = [decided("j", "full", full), decided("j", "mono", mono)]
    made = criteria_ablation(PAIRS, SPLITS, judged, {"mono": MONOLITHIC, "full": FULL}, n_resamples=400)
    gain = value(made, "gain_over_monolithic", judge="j")
    assert gain["against"] == "mono" and gain["value"] == pytest.approx(12 / 81) and gain["n"] == 81
    assert value(made, "mended_share", judge="j")["value"] == pytest.approx(12 / 81)
    assert value(made, "spoiled_share", judge="j")["value"] == 0
    assert gain["p_value"] < 0.01 and 0 < gain["ci95_low"] < gain["value"] < gain["ci95_high"]
    previous = value(made, "gain_over_previous", judge="j", paper_table="2")
    assert previous["paper_row"] == "Full" and previous["value"] == gain["value"]
    same = criteria_ablation(
        PAIRS.sample(frac=1, random_state=1), SPLITS, judged[::-1], {"mono": MONOLITHIC, "full": FULL}, n_resamples=400
    )
    pd.testing.assert_frame_equal(made.ablation, same.ablation)


def test_pairs_of_train_are_no_part_of_any_figure() -> None:
    said = dict.fromkeys(LABELS, "A")
    judged = [decided("j", "mono", said)]
    made = criteria_ablation(PAIRS, SPLITS, judged, {"mono": MONOLITHIC}, n_resamples=100)
    poisoned = PAIRS.assign(w=[w if pair in VAL else "B" for pair, w in zip(PAIRS["pair_id"], PAIRS["w"], strict=True)])
    again = criteria_ablation(poisoned, SPLITS, judged, {"mono": MONOLITHIC}, n_resamples=100)
    pd.testing.assert_frame_equal(made.ablation, again.ablation)
    assert value(made, "acc", judge="j")["n"] == len(VAL)


def test_rows_stand_in_the_order_of_criteria_yaml_with_gains_over_the_row_before(by_stages: Any) -> None:
    _, made = by_stages
    table = made.ablation[made.ablation["paper_table"] == "2"]
    for judge in ("one", "two"):
        own = table[table["judge"] == judge]
        acc = own[own["figure"] == "acc"].set_index("configuration")["value"]
        assert own[own["figure"] == "acc"]["paper_row"].tolist() == [
            "Monolithic", "Pairwise", "+ BTCR", "+ SCF", "+ HPAG"
        ]  # fmt: skip
        gains = own[own["figure"] == "gain_over_previous"]
        names = list(CONFIGURATIONS)
        assert list(zip(gains["against"], gains["configuration"], strict=True)) == list(itertools.pairwise(names))
        expected = [acc[after] - acc[before] for before, after in itertools.pairwise(names)]
        assert gains["value"].tolist() == pytest.approx(expected)
    every = table[table["figure"] == "gain_over_previous"]
    assert every["p_holm"].tolist() == pytest.approx(holm(every["p_value"].tolist()))


def test_skew_before_and_after_is_what_counting_one_by_one_gives(by_stages: Any) -> None:
    judged, made = by_stages
    found = next(of for of in judged if of.name == "one@full").consistent_evidence
    rows = found.to_dict("records")
    for stage, own in (("before", rows), ("after", [row for row in rows if row["kept"]])):
        shares, sides = _brute(own)
        for part, expected in shares.items():
            figure = value(made, f"criterion_{part}_{stage}", judge="one", configuration="full", paper_table="6")
            assert figure["value"] == pytest.approx(expected), (part, stage)
            assert figure["n"] + figure["n_left_out"] == len(own)
        for part, expected in _shares(sides).items():
            figure = value(made, f"majority_{part}_{stage}", judge="one", configuration="full", paper_table="6")
            assert figure["value"] == pytest.approx(expected), (part, stage)
    removed = value(made, "removed_share", judge="one", configuration="full", paper_table="6")
    assert removed["value"] == pytest.approx(sum(not row["kept"] for row in rows) / len(rows))
    some = {row["pair_id"] for row in rows if not row["kept"]}
    pairs = value(made, "pairs_with_removed_share", judge="one", configuration="full", paper_table="6")
    assert pairs["value"] == pytest.approx(len(some) / len(VAL))
    assert value(made, "label_A", judge="one", configuration="full", paper_table="6")["value"] == pytest.approx(
        sum(LABELS[p] == "A" for p in VAL) / len(VAL)
    )
    change = value(made, "criterion_skew_change", judge="one", configuration="full", paper_table="6")
    assert change["value"] < -0.1 and change["p_value"] < 0.05  # a quarter of verdicts went to the first shown
    own = made.ablation[(made.ablation["judge"] == "one") & (made.ablation["configuration"] == "full")]
    assert set(SKEW_FIGURES) == set(own.loc[own["paper_table"] == "6", "figure"])
    one_order = made.ablation[made.ablation["configuration"] == "pairwise"]
    assert "6" not in set(one_order["paper_table"])


def _brute(rows: Sequence[dict[str, Any]]) -> tuple[dict[str, float], list[str]]:
    said = [row["verdict"] for row in rows if row["verdict"] in ("A", "B", "tie")]
    sides = []
    for pair in sorted({row["pair_id"] for row in rows}):
        own = [row["verdict"] for row in rows if row["pair_id"] == pair and row["verdict"] in ("A", "B", "tie")]
        if own:
            a, b = own.count("A"), own.count("B")
            sides.append("A" if a > b else "B" if b > a else "tie")
    return _shares(said), sides


def _shares(said: Sequence[str]) -> dict[str, float]:
    share = {part: said.count(part) / len(said) for part in ("A", "B", "tie")}
    return share | {"skew": share["A"] - share["B"], "ratio": share["A"] / share["B"]}


def test_calls_add_up_a_pair_and_batches_are_what_the_formula_says(by_stages: Any) -> None:
    judged, made = by_stages
    full = next(of for of in judged if of.name == "two@full")
    calls = full.criteria_calls
    total = value(made, "n_requests", judge="two", configuration="full")
    assert total["value"] == calls["n_requests"].sum() and total["n"] == len(VAL)
    a_pair = value(made, "tokens_in_per_pair", judge="two", configuration="full")["value"]
    assert a_pair == pytest.approx(calls["tokens_in"].sum() / len(VAL))
    assert "not known" in value(made, "cost_usd", judge="two", configuration="full")["reason"]
    counted = dict(zip(calls["stage"], calls["n_requests"], strict=True))
    for phase in ("decomposition", "redundancy", "conflict"):
        found = value(made, f"{phase}_btcr", judge="two", configuration="full", paper_table="7")
        plain = value(made, f"{phase}_plain", judge="two", configuration="full", paper_table="7")
        assert found["value"] == counted[phase] <= plain["value"]
    assert not_as_formula(full, CONFIGURATIONS["full"]) == []
    wrong = JudgedTables("two", "full", **{name: getattr(full, name) for name in JudgedTables.schemas()} | {
        "criteria_calls": calls.assign(n_requests=calls["n_requests"] + 1)
    })  # fmt: skip
    assert len(not_as_formula(wrong, CONFIGURATIONS["full"])) == 3
    shared = JudgedTables("two", "full", **{name: getattr(full, name) for name in JudgedTables.schemas()} | {
        "criteria_calls": calls.assign(n_requests=1)
    })  # fmt: skip
    assert not_as_formula(shared, CONFIGURATIONS["full"]) == [], "a request that pairs have in common is one"


def test_decisive_criteria_are_those_whose_removal_turns_the_majority(by_stages: Any) -> None:
    judged, made = by_stages
    evidence = next(of for of in judged if of.name == "one@full").consistent_evidence
    mono, full = (
        dict(
            next(of for of in judged if of.name == f"one@{name}").criteria_decisions[["pair_id", "decision"]].to_numpy()
        )
        for name in ("monolithic", "full")
    )
    expected = set()
    for pair in VAL:
        own = {r["criterion"]: r["verdict"] for r in evidence.to_dict("records") if r["pair_id"] == pair and r["kept"]}
        for criterion in own:
            rest = [verdict for name, verdict in own.items() if name != criterion]
            if _side(list(own.values())) != _side(rest) and mono[pair] != full[pair]:
                expected.add((pair, criterion))
    rows = made.decisive[(made.decisive["judge"] == "one") & (made.decisive["configuration"] == "full")]
    assert set(zip(rows["pair_id"], rows["criterion"], strict=True)) == expected and len(expected) > 5
    assert (rows["majority"] != rows["majority_without"]).all() and (rows["decision"] != rows["monolithic"]).all()


def _side(said: list[str]) -> str:
    a, b = said.count("A"), said.count("B")
    return "A" if a > b else "B" if b > a else "tie"


@pytest.mark.slow
def test_aspects_add_up_and_agree_as_often_as_counted(by_stages: Any) -> None:
    judged, made = by_stages
    own = made.aspects[(made.aspects["judge"] == "one") & (made.aspects["configuration"] == "full")]
    share = own[own["figure"] == "evidence_share"]
    assert share["value"].sum() == pytest.approx(1)
    evidence = next(of for of in judged if of.name == "one@full").consistent_evidence
    rows = [row for row in evidence.to_dict("records") if row["kept"] and row["aspect"] == "correctness"]
    told = [row for row in rows if row["verdict"] in ("A", "B")]
    agreed = [row["verdict"] == LABELS[row["pair_id"]] for row in told if LABELS[row["pair_id"]] != "tie"]
    found = own[own["aspect"] == "correctness"].set_index("figure")
    assert found.loc["agreement", "value"] == pytest.approx(np.mean(agreed))
    assert found.loc["agreement", "n"] == len(agreed) and found.loc["agreement", "n_left_out"] == len(told) - len(
        agreed
    )
    assert found.loc["told_share", "value"] == pytest.approx(len(told) / len(rows))
    without = [
        _side([r["verdict"] for r in evidence.to_dict("records")
               if r["pair_id"] == pair and r["kept"] and (whole or r["aspect"] != "correctness")]) == LABELS[pair]
        for whole in (True, False) for pair in VAL
    ]  # fmt: skip
    n = len(VAL)
    assert found.loc["majority_gain", "value"] == pytest.approx(np.mean(without[:n]) - np.mean(without[n:]))


def test_paper_rows_are_read_and_tables_stand_by_number() -> None:
    own = {
        "a": Configuration(paper_rows=("10: Last", "2: One: two")),
        "b": Configuration(paper_rows=("2", "3b: Panel", "3: Whole")),
    }
    found = paper_tables(own)
    assert list(found) == ["2", "3", "3b", "10"] and in_order(["x", "1"])
    assert found["2"] == [("One: two", "a"), ("b", "b")]


def test_the_twin_without_guidance_is_the_same_in_all_else() -> None:
    use = GuidanceUse(file="people.yaml")
    own = {
        "mono-guided": MONOLITHIC.model_copy(update={"guidance": use}), "mono": MONOLITHIC,
        "full": FULL.model_copy(update={"guidance": use}), "other": FULL.model_copy(update={"rounds": 1}),
        "plain": FULL,
    }  # fmt: skip
    assert unguided_twins(own, own) == {"mono-guided": "mono", "full": "plain"}
    assert unguided_twins(own, ["full", "other"]) == {}
    assert own_monolithic(own, own) == "mono" and own_monolithic(own, ["full"]) is None


def test_what_is_not_in_criteria_yaml_is_named() -> None:
    with pytest.raises(ValueError, match="gone was judged and is not in criteria"):
        criteria_ablation(PAIRS, SPLITS, [decided("j", "gone", {})], {"mono": MONOLITHIC})


def test_without_judged_configurations_tables_are_empty() -> None:
    made = criteria_ablation(PAIRS, SPLITS, [], CONFIGURATIONS)
    assert made.ablation.empty and made.aspects.empty and made.decisive.empty
    assert ablation_pairs(PAIRS, SPLITS, 0, 100).pair_ids == tuple(sorted(VAL))
