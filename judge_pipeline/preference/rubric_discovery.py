"""Finding rubric items, round by round (TRACE, section 3, step 2, after VibeCheck).

A round takes batches of pairs, has a model say on which axes the responses differ, and merges these axes into items.
The first round draws its pairs; a later one takes the pairs whose choice the rubric so far predicts worst, by a
logistic model of people's choices that did not see the pair, and is told what was found. The room for generated items
is shared among the rounds: ``at_most`` less people's items, as much of it after round r of n as r / n.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
import pandas as pd

from judge_pipeline.preference.judged_pairs import PairError
from judge_pipeline.preference.pair_question import set_key
from judge_pipeline.preference.preference_models import ModelOptions, fit_models, held_out_probabilities
from judge_pipeline.preference.rubric_answers import AxesAnswer
from judge_pipeline.preference.rubric_choices import rubric_choices
from judge_pipeline.preference.rubric_items import Item, Proposal, RubricError
from judge_pipeline.preference.rubric_merge import merge
from judge_pipeline.preference.rubric_pairs import ShownPair, shown_pairs
from judge_pipeline.preference.rubric_questions import PROPOSALS, SCORES, Ask, batch_shown, requests
from judge_pipeline.preference.rubric_scores import rubric_scores, score_requests
from judge_pipeline.settings.preference import RubricSettings


@dataclass(frozen=True)
class Asks:
    """Who is asked in discovery.

    Attributes:
        propose: asks the proposer.
        merge: asks the merger.
        score: asks the scorer; None: there is none, so there is one round only.
        items_per_call: items that the scorer is asked about at once.
    """

    propose: Ask
    merge: Ask
    score: Ask | None
    items_per_call: int = 5


@dataclass(frozen=True)
class Discovery:
    """How far discovery is, and in the end what it found.

    Attributes:
        items: the rubric so far: people's items first.
        proposals: all proposals so far, each with the item it was merged into.
        notes: what a person should know, in words.
        n_batches: batches that were asked.
        n_failed: of these, batches without a valid answer.
        n_cut: pairs that were too long and shown in part, over all batches.
        rounds: rounds that were made.
    """

    items: tuple[Item, ...]
    proposals: tuple[Proposal, ...] = ()
    notes: tuple[str, ...] = ()
    n_batches: int = 0
    n_failed: int = 0
    n_cut: int = 0
    rounds: int = 0


def discover(
    preference_set: str, texts: pd.DataFrame, choices: pd.DataFrame, human: Sequence[Item], settings: RubricSettings,
    seed: int, asks: Asks,
) -> Discovery:  # fmt: skip
    """The rubric of a set: people's items, and those that models find.

    Args:
        preference_set: the set's name, for the ids of what is asked.
        texts: table PAIR_TEXTS of the pairs that it is found on.
        choices: of these pairs: pair_id, label (A, B, tie), cluster (pairs that are drawn together). Labels choose
            the pairs of later rounds, and no model is shown them.
        human: the items R_H.
        settings: section ``rubric`` of preference.yaml.
        seed: draws the batches.
        asks: who is asked.

    Raises:
        RubricError: there is no pair, or a step has no valid answer at all.
    """
    if texts.empty:
        raise RubricError(f"no pair is in split {', '.join(settings.splits)}. Remedy: set rubric.splits")
    pairs = {pair.pair_id: pair for pair in shown_pairs(texts, settings.pair_chars)}
    given = _Given(preference_set, pairs, choices, settings, seed, asks)
    room = max(0, settings.at_most - len(human))
    state = Discovery(tuple(human))
    for number in range(1, settings.rounds + 1):
        taken = _pairs_of_round(number, state.items, given)
        if isinstance(taken, str):
            return _noted(state, f"no round {number}: {taken}")
        state, new = _proposed(state, number, _batches(taken, number, settings, seed), given)
        if not new:
            return _noted(state, f"round {number} proposed nothing new")
        merged = merge(
            new,
            state.items,
            round_=number,
            key=set_key(preference_set),
            at_most=ceil(room * number / settings.rounds) - (len(state.items) - len(human)),
            at_once=settings.merge_at_once,
            ask=asks.merge,
        )
        state = replace(state, items=merged.items, proposals=(*state.proposals, *merged.proposals))
    return state


@dataclass(frozen=True)
class _Given:
    """What discovery is given, the same in all rounds; see :func:`discover`."""

    preference_set: str
    pairs: Mapping[str, ShownPair]
    choices: pd.DataFrame
    settings: RubricSettings
    seed: int
    asks: Asks


def _noted(state: Discovery, note: str) -> Discovery:
    return replace(state, notes=(*state.notes, note))


def _pairs_of_round(number: int, items: Sequence[Item], given: _Given) -> list[str] | str:
    """The round's pairs, or why there can be no round."""
    settings = given.settings
    if number == 1:
        return _first_pairs(given.pairs, settings, given.seed)
    if given.asks.score is None:
        return "rubric.scorer names no judge, so it is not known which pairs the rubric explains worst"
    if not items:
        return "there is no item yet"
    chosen = given.choices[given.choices["label"].isin(("A", "B"))]
    pairs = [given.pairs[name] for name in chosen["pair_id"]]
    asked = score_requests(given.preference_set, pairs, items, given.asks.items_per_call)
    answers = given.asks.score(SCORES, asked.rows)
    scores = rubric_scores(asked, answers, scorer=settings.scorer, two_orders=settings.two_orders)
    worst = worst_predicted(scores, chosen, given.seed)
    return worst if isinstance(worst, str) else worst[: settings.batches * settings.batch_pairs]


def worst_predicted(scores: pd.DataFrame, choices: pd.DataFrame, seed: int) -> list[str] | str:
    """Pairs from the one whose choice the scores predict worst to the one they predict best, or why there are none.

    By the held-out probability of what people chose, in a logistic model of people's choices on the scores. Pairs
    that lack a score, or whose fold leaves no model, are left out.

    Args:
        scores: table RUBRIC_SCORES.
        choices: pair_id, label (A or B), cluster.
        seed: draws the folds.
    """
    nobody = pd.DataFrame(columns=["pair_id", "judge", "choice"], dtype="object")
    options = ModelOptions(n_resamples=1, seed=seed)
    try:
        data = rubric_choices(scores, choices, nobody)
    except PairError as error:
        return str(error)
    people = fit_models(data, options)[0]
    if people.reason is not None:
        return people.reason
    p_b = held_out_probabilities(people, data, options)
    p_label = np.where(data.chose_b[:, 0] == 1, p_b, 1 - p_b)
    known = [(p, name) for p, name in zip(p_label, data.pair_ids, strict=True) if not np.isnan(p)]
    return [name for _, name in sorted(known)] or "no pair is predicted by a model that did not see it"


def first_batches(
    preference_set: str, texts: pd.DataFrame, human: Sequence[Item], settings: RubricSettings, seed: int
) -> pd.DataFrame:
    """What the proposer is asked in the first round, which depends on no answer; arguments as for ``discover``."""
    pairs = {pair.pair_id: pair for pair in shown_pairs(texts, settings.pair_chars)}
    batches = _batches(_first_pairs(pairs, settings, seed), 1, settings, seed)
    return _batch_requests(_ids(preference_set, 1, batches), pairs, human, settings.axes)


def _first_pairs(pairs: Iterable[str], settings: RubricSettings, seed: int) -> list[str]:
    return sorted(_shuffled(sorted(pairs), [seed, 1])[: settings.batches * settings.batch_pairs])


def _batches(taken: Sequence[str], number: int, settings: RubricSettings, seed: int) -> list[tuple[str, ...]]:
    order, size = _shuffled(taken, [seed, number, 1]), settings.batch_pairs
    return [tuple(order[start : start + size]) for start in range(0, len(order), size)]


def _ids(preference_set: str, number: int, batches: Sequence[tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    key = set_key(preference_set)
    return {f"{key}/round-{number}-batch-{place}": batch for place, batch in enumerate(batches, start=1)}


def _batch_requests(
    ids: Mapping[str, tuple[str, ...]], pairs: Mapping[str, ShownPair], found: Sequence[Item], axes: int
) -> pd.DataFrame:
    return requests(
        {name: batch_shown([pairs[pair_id] for pair_id in batch], found, axes) for name, batch in ids.items()}
    )


def _shuffled(names: Sequence[str], seed: list[int]) -> list[str]:
    return [names[place] for place in np.random.default_rng(seed).permutation(len(names))]


def _proposed(
    state: Discovery, number: int, batches: Sequence[tuple[str, ...]], given: _Given
) -> tuple[Discovery, list[Proposal]]:
    """The batches' proposals, those without a valid answer counted."""
    pairs, ids = given.pairs, _ids(given.preference_set, number, batches)
    answers = given.asks.propose(PROPOSALS, _batch_requests(ids, pairs, state.items, given.settings.axes))
    new = [
        Proposal(number, place, at, axis.title, axis.high, axis.low, batch, answers.hashes.get(name))
        for place, (name, batch) in enumerate(ids.items(), start=1)
        if name in answers.values
        for at, axis in enumerate(AxesAnswer.model_validate(dict(answers.values[name])).axes, start=1)
    ]
    failed = {
        name.partition("/")[2]: answers.failures.get(name, "no answer") for name in ids if name not in answers.values
    }
    if len(failed) == len(ids):
        first = next(iter(failed.items()))
        raise RubricError(
            f"no batch has a valid answer ({first[0]}: {first[1]}). Remedy: name another judge as rubric.proposer, or "
            "null for people's items only"
        )
    notes = tuple(f"{name} has no valid answer: {why}" for name, why in failed.items())
    cut = sum(bool(pairs[pair_id].cut) for batch in ids.values() for pair_id in batch)
    return replace(
        state,
        notes=(*state.notes, *notes),
        n_batches=state.n_batches + len(ids),
        n_failed=state.n_failed + len(failed),
        n_cut=state.n_cut + cut,
        rounds=number,
    ), new
