from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judge_pipeline.cocreation import prompt_space as module
from judge_pipeline.cocreation.prompt_space import (
    nearest_k,
    perplexity_of,
    prompt_space,
    prompt_space_test,
    solved_rates,
)
from judge_pipeline.cocreation.prompt_terms import tf_idf
from judge_pipeline.orchestration.parquet_store import table_file
from judge_pipeline.tables import PARTICIPANT_CONTEXTS, TRAJECTORIES
from judge_pipeline.tables.prompt_space import PROMPT_SPACE, PROMPT_SPACE_TEST

SEED = 20260401
TOPICS = ("graph path edge vertex weight queue", "string suffix prefix palindrome regex match")
SMALL_TALK = ("please", "write", "the", "code", "for", "this", "problem", "and", "explain", "why", "it", "fails")


def contexts(texts: dict[str, str]) -> pd.DataFrame:
    rows = [
        {
            "participant": u, "prompt_text": text, "n_messages": 1, "n_logs": 1, "n_chars": len(text),
            "prompt_sha256": hashlib.sha256(text.encode()).hexdigest(), "reason": None if text else "no prompt log",
        }
        for u, text in texts.items()
    ]  # fmt: skip
    return PARTICIPANT_CONTEXTS.conform(rows)


def trajectory(u: str, p: str, solved: bool | None) -> dict[str, Any]:
    return {
        "participant": u, "problem_id": p, "split": "train", "n_turns": 1, "n_undecided": int(solved is None),
        "n_accepted": int(solved is True), "n_rejected_before_first_ac": int(solved is False),
        "n_rejected_after_first_ac": 0, "first_ac_turn": 1 if solved else None, "solved": bool(solved),
        "time_turns": None if solved is None else 1, "event": bool(solved),
    }  # fmt: skip


def trajectories(solved: dict[str, list[bool | None]]) -> pd.DataFrame:
    return TRAJECTORIES.conform(
        [trajectory(u, f"P{i}", done) for u, each in solved.items() for i, done in enumerate(each)]
    )


def two_topics(n: int, stream: np.random.Generator) -> dict[str, str]:
    """Texts of two topics in turn, with small talk that is everybody's."""
    return {
        f"E{i:04}": " ".join([*stream.choice(TOPICS[i % 2].split(), 20), *stream.choice(SMALL_TALK, 20)])
        for i in range(n)
    }


def outcomes(of: dict[str, str], chances: list[float], stream: np.random.Generator) -> pd.DataFrame:
    return trajectories({u: list(stream.random(8) < chances[i % len(chances)]) for i, u in enumerate(of)})


def figure(test: pd.DataFrame, statistic: str, about: str) -> dict[str, Any]:
    (row,) = test[(test["statistic"] == statistic) & (test["about"] == about)].to_dict("records")
    return row


def test_rules_for_perplexity_and_k() -> None:
    for n in range(5, 400):
        assert perplexity_of(n) < n / 3
        assert 2 <= nearest_k(n) < n / 2
    assert (perplexity_of(15), nearest_k(15)) == (pytest.approx(14 / 3), 3)
    assert (perplexity_of(2000), nearest_k(2000)) == (30, 10)


def test_solved_rates_by_hand() -> None:
    rates = solved_rates(trajectories({"E1": [True, False, None], "E2": [True, True], "E3": [None]}))
    assert rates["participant"].tolist() == ["E1", "E2", "E3"]
    assert rates["solved_rate"].tolist()[:2] == [0.5, 1.0]
    assert rates["expected_rate"].tolist()[:2] == [0.75, 0.75]
    assert np.isnan(rates["solved_rate"][2])
    assert np.isnan(rates["expected_rate"][2])
    assert rates["n_problems"].tolist() == [2, 2, 0]
    assert rates["n_undecided"].tolist() == [1, 0, 1]


@pytest.mark.slow
def test_the_same_bytes_twice_and_in_any_order_of_rows() -> None:
    stream = np.random.default_rng(1)
    texts = two_topics(40, stream)
    given, whole = contexts(texts), outcomes(texts, [0.9, 0.2], stream)
    first = prompt_space(given, whole, seed=SEED)
    again = prompt_space(given.sample(frac=1, random_state=1), whole.sample(frac=1, random_state=2), seed=SEED)
    assert table_file(PROMPT_SPACE, first).sha256 == table_file(PROMPT_SPACE, again).sha256
    tests = [prompt_space_test(given, first, seed=SEED, n_permutations=99) for _ in range(2)]
    assert table_file(PROMPT_SPACE_TEST, tests[0]).sha256 == table_file(PROMPT_SPACE_TEST, tests[1]).sha256
    other = prompt_space(given, whole, seed=SEED + 1)
    assert not np.allclose(other["x"], 0)


def test_a_planted_effect_is_found_and_the_topics_lie_apart() -> None:
    stream = np.random.default_rng(2)
    texts = two_topics(40, stream)
    given = contexts(texts)
    space = prompt_space(given, outcomes(texts, [0.9, 0.3], stream), seed=SEED)
    test = prompt_space_test(given, space, seed=SEED)
    for about in ("solved_rate", "above_expected"):
        for statistic in ("neighbour_likeness", "similarity_likeness"):
            row = figure(test, statistic, about)
            assert row["p_value"] == pytest.approx(1 / 5000)
            assert row["p_holm"] == pytest.approx(4 / 5000)
            assert row["value"] > row["null_high"]
    places = space[["x", "y"]].to_numpy()
    own, other = places[0::2].mean(axis=0), places[1::2].mean(axis=0)
    assert (np.linalg.norm(places[0::2] - own, axis=1) < np.linalg.norm(places[0::2] - other, axis=1)).mean() > 0.9
    first = set(str(space["near_terms"][0]).split(", "))
    assert first & set(TOPICS[0].split())
    assert not first & set(TOPICS[1].split())


def test_what_the_problems_explain_is_not_above_expected() -> None:
    """Two topics because of two kinds of problems, one hard: the solved rate follows the words, the rest does not."""
    stream = np.random.default_rng(3)
    texts = two_topics(60, stream)
    rows = [
        trajectory(u, f"P{i % 2}{p}", bool(stream.random() < (0.95, 0.3)[i % 2]))
        for i, u in enumerate(texts) for p in range(4)
    ]  # fmt: skip
    given = contexts(texts)
    test = prompt_space_test(given, prompt_space(given, TRAJECTORIES.conform(rows), seed=SEED), seed=SEED)
    assert figure(test, "similarity_likeness", "solved_rate")["p_value"] < 0.001
    assert figure(test, "similarity_likeness", "above_expected")["p_value"] > 0.05


def test_place_figures_are_those_of_scikit_learn() -> None:
    from sklearn.manifold import trustworthiness
    from sklearn.neighbors import NearestNeighbors

    stream = np.random.default_rng(4)
    texts = two_topics(30, stream)
    given = contexts(texts)
    space = prompt_space(given, outcomes(texts, [0.5], stream), seed=SEED)
    test = prompt_space_test(given, space, seed=SEED, n_permutations=9)
    words, places, k = (
        tf_idf([text.split() for text in texts.values()])[0].toarray(),
        space[["x", "y"]].to_numpy(),
        nearest_k(30),
    )
    trust = figure(test, "trustworthiness", "drawn_place")
    assert trust["value"] == pytest.approx(trustworthiness(words, places, n_neighbors=k))
    assert (trust["k"], trust["n"]) == (6, 30)
    near = [NearestNeighbors(n_neighbors=k).fit(each).kneighbors(return_distance=False) for each in (words, places)]
    kept = np.mean([len(set(one) & set(other)) / k for one, other in zip(*near, strict=True)])
    row = figure(test, "neighbours_kept", "drawn_place")
    assert row["value"] == pytest.approx(kept)
    assert row["null_mean"] == pytest.approx(6 / 29)
    assert row["value"] > 2 * row["null_mean"]


def test_the_drawing_is_as_good_as_scikit_learns_own_from_its_principal_components() -> None:
    from sklearn.manifold import TSNE, trustworthiness
    from threadpoolctl import threadpool_limits

    stream = np.random.default_rng(5)
    texts = two_topics(60, stream)
    given = contexts(texts)
    space = prompt_space(given, outcomes(texts, [0.5], stream), seed=SEED)
    words = tf_idf([text.split() for text in texts.values()])[0].toarray()
    with threadpool_limits(1):
        theirs = TSNE(init="pca", perplexity=perplexity_of(60), random_state=0).fit_transform(words)
    ours = trustworthiness(words, space[["x", "y"]].to_numpy(), n_neighbors=10)
    assert ours == pytest.approx(trustworthiness(words, theirs, n_neighbors=10), abs=0.03)


def test_fewer_than_five_with_words_is_no_drawing_but_a_reason() -> None:
    texts = {f"E{i}": "graph path" if i < 4 else "12 \n" if i == 4 else "" for i in range(7)}
    given, whole = contexts(texts), trajectories({u: [True, False] for u in texts})
    space = prompt_space(given, whole, seed=SEED)
    assert space["x"].isna().all()
    assert space["reason"].tolist() == ["fewer than 5 participants have a word in Q_u"] * 4 + ["no word in Q_u"] * 3
    assert space["solved_rate"].tolist() == [0.5] * 7
    test = prompt_space_test(given, space, seed=SEED)
    assert len(test) == 6
    assert test["value"].isna().all()
    assert test["reason"].notna().all()
    assert (test["n_left_out"] == 7).all()


def test_empty_texts_and_unknown_outcomes_are_left_out_and_counted() -> None:
    stream = np.random.default_rng(6)
    texts = two_topics(12, stream) | {"E9998": "", "E9999": "----- log a.txt, message 1 -----"}
    solved: dict[str, list[bool | None]] = {u: [bool(i % 3), True] for i, u in enumerate(texts)}
    solved["E0003"] = [None, None]
    given = contexts(texts)
    space = prompt_space(given, trajectories(solved), seed=SEED).set_index("participant")
    assert space.loc["E9999", "reason"] == "no word in Q_u"
    assert space["x"].notna().sum() == 12
    assert space.loc["E0003", "reason"] == "no problem with a decided attempt"
    test = prompt_space_test(given, space.reset_index(), seed=SEED, n_permutations=99)
    row = figure(test, "neighbour_likeness", "solved_rate")
    assert (row["n"], row["n_left_out"]) == (11, 3)
    assert figure(test, "trustworthiness", "drawn_place")["n"] == 12


def test_equal_outcomes_and_equal_texts_have_reasons() -> None:
    stream = np.random.default_rng(7)
    texts = two_topics(8, stream)
    given = contexts(texts)
    alike = prompt_space(given, trajectories({u: [True] for u in texts}), seed=SEED)
    row = figure(prompt_space_test(given, alike, seed=SEED), "neighbour_likeness", "solved_rate")
    assert np.isnan(row["value"])
    assert row["reason"] == "every participant has the same outcome"
    same = contexts(dict.fromkeys(texts, "the same words"))
    space = prompt_space(same, outcomes(texts, [0.5], stream), seed=SEED)
    assert set(space["reason"]) == {"all participants have the same words"}
    assert prompt_space_test(same, space, seed=SEED)["value"].isna().all()


def test_equal_texts_of_some_are_no_trouble() -> None:
    stream = np.random.default_rng(8)
    texts = dict.fromkeys([f"E{i}" for i in range(6)], "graph path") | two_topics(6, stream)
    given = contexts(texts)
    space = prompt_space(given, outcomes(texts, [0.5], stream), seed=SEED)
    assert np.isfinite(space[["x", "y"]].to_numpy()).all()


def test_of_too_many_a_seeded_sample_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PARTICIPANTS", 20)
    stream = np.random.default_rng(9)
    texts = two_topics(30, stream)
    given, whole = contexts(texts), outcomes(texts, [0.5], stream)
    space = prompt_space(given, whole, seed=SEED)
    taken = set(space.loc[space["x"].notna(), "participant"])
    assert len(taken) == 20
    left = space[space["x"].isna()]
    assert set(left["reason"]) == {"not among the 20 participants that were drawn"}
    others = given[~given["participant"].isin(left["participant"][:5])]
    again = prompt_space(others, whole, seed=SEED)
    assert set(again.loc[again["x"].notna(), "participant"]) == taken, "who leaves makes nobody else leave"


def test_a_word_of_one_person_alone_is_never_named() -> None:
    stream = np.random.default_rng(10)
    texts = {u: f"{text} {'secretname ' * 30}" if u == "E0000" else text for u, text in two_topics(12, stream).items()}
    space = prompt_space(contexts(texts), outcomes(texts, [0.5], stream), seed=SEED)
    assert space["near_terms"].notna().any()
    assert not space["near_terms"].str.contains("secretname").any()


@pytest.mark.slow
def test_without_an_effect_p_is_uniform() -> None:
    """200 contests without an effect: what is said to be found at 5% is found in 5% of them."""
    stream = np.random.default_rng(11)
    found: dict[tuple[str, str], list[float]] = {}
    for _ in range(200):
        texts = two_topics(15, stream)
        placed = pd.DataFrame({"participant": list(texts), "x": 0.0, "y": 0.0})
        rates = solved_rates(outcomes(texts, [0.6], stream))
        space = PROMPT_SPACE.conform(
            placed.merge(rates, on="participant").assign(
                n_terms=1, perplexity=4.0, k=3, near_terms=None, reason=None, x=range(15)
            )
        )
        test = prompt_space_test(contexts(texts), space, seed=int(stream.integers(2**31)), n_permutations=199)
        for row in test[test["p_value"].notna()].to_dict("records"):
            found.setdefault((row["statistic"], row["about"]), []).append(row["p_value"])
    for key, p_values in found.items():
        p = np.array(p_values)
        assert 0.01 <= (p <= 0.05).mean() <= 0.09, key
        assert abs(p.mean() - 0.5) < 0.07, key
