from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judge_pipeline.cocreation import code_similarity
from judge_pipeline.cocreation.code_similarity import code_similarities, consecutive_turns, with_first_accepted
from judge_pipeline.cocreation.prompt_windows import prompt_texts
from judge_pipeline.cocreation.revision import convergence, revisions
from judge_pipeline.cocreation.turn_orders import with_turns_reversed
from judge_pipeline.similarity.codebleu import codebleu_similarities
from judge_pipeline_tests.paper_counts_contest import paper_counts_contest


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    c = paper_counts_contest()
    return code_similarities(c.attempts, c.trajectories)


def pairs_of(attempts: pd.DataFrame) -> set[tuple[str, str]]:
    """The pairs of one order, trajectory by trajectory and turn by turn."""
    pairs = set()
    for _, turns in attempts.groupby(["participant", "problem_id"]):
        by_turn = turns.set_index("turn")
        accepted = by_turn.index[by_turn["y"] == 1]
        for turn in by_turn.index:
            if turn - 1 in by_turn.index:
                pairs.add((by_turn.loc[turn - 1, "attempt_id"], by_turn.loc[turn, "attempt_id"]))
            if len(accepted):
                pairs.add((by_turn.loc[accepted.min(), "attempt_id"], by_turn.loc[turn, "attempt_id"]))
    return pairs


@pytest.mark.slow
def test_it_holds_the_pairs_of_both_orders_once(table: pd.DataFrame) -> None:
    attempts = paper_counts_contest().attempts
    wanted = pairs_of(attempts) | pairs_of(with_turns_reversed(attempts))
    found = list(zip(table["reference_attempt_id"], table["attempt_id"], strict=True))
    assert set(found) == wanted and len(found) == len(wanted)


def test_scores_are_those_of_the_pairs_alone(table: pd.DataFrame) -> None:
    of = paper_counts_contest().attempts.set_index("attempt_id")
    first, second = of.loc[table["reference_attempt_id"]], of.loc[table["attempt_id"]]
    sides = [side["source_code"].tolist() for side in (first, second)]
    alone = codebleu_similarities(*sides, first["language"].tolist(), second["language"].tolist())
    for name in ("codebleu", "ngram", "weighted_ngram", "syntax"):
        np.testing.assert_array_equal(table[name].to_numpy(), alone[name].to_numpy())
    assert table["reason"].tolist() == alone["reason"].tolist()
    assert (table["participant"].to_numpy() == second["participant"].to_numpy()).all()
    assert (first["problem_id"].to_numpy() == second["problem_id"].to_numpy()).all()


@pytest.mark.slow
def test_revisions_and_convergence_take_their_scores_from_it(
    table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    c = paper_counts_contest()
    prompts = prompt_texts(c.attempts, c.prompt_logs)
    alone = revisions(c.attempts, c.trajectories, prompts, c.struggle_curves), convergence(c.attempts, c.trajectories)
    monkeypatch.setattr(code_similarity, "codebleu_similarities", lambda *_: pytest.fail("scored again"))
    pd.testing.assert_frame_equal(
        revisions(c.attempts, c.trajectories, prompts, c.struggle_curves, similarities=table), alone[0]
    )
    pd.testing.assert_frame_equal(convergence(c.attempts, c.trajectories, similarities=table), alone[1])


def test_the_same_rows_whatever_the_order_of_attempts(table: pd.DataFrame) -> None:
    c = paper_counts_contest()
    shuffled = c.attempts.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(code_similarities(shuffled, c.trajectories), table)
    before, after = consecutive_turns(shuffled)
    ids = shuffled["attempt_id"].to_numpy()
    straight = consecutive_turns(c.attempts)
    for places, others in zip((before, after), straight, strict=True):
        assert ids[places].tolist() == c.attempts["attempt_id"].to_numpy()[others].tolist()
    pd.testing.assert_frame_equal(with_first_accepted(shuffled), with_first_accepted(c.attempts))


def test_missing_turns_and_nothing_at_all() -> None:
    c = paper_counts_contest()
    one = c.attempts[c.attempts["turn"] != 2]
    assert (consecutive_turns(one)[1] != -1).all()
    ids = one["attempt_id"].to_numpy()
    before, after = (one.set_index("attempt_id").loc[ids[places]] for places in consecutive_turns(one))
    assert (after["turn"].to_numpy() - before["turn"].to_numpy() == 1).all() and (before["turn"] > 2).all()
    assert code_similarities(c.attempts.iloc[:0], c.trajectories.iloc[:0]).empty
