"""Baselines that choose among two responses: what a judge of pairs has to beat.

``longer``: the longer response wins, in characters. ``smaller_edit``: the response that changes fewer lines of the code
to edit wins (``response_features.changed_lines``); where there is no code to edit, the one that inserts fewer. Equal is
a tie under both. ``fitted``: a logistic model of the responses' features.

All of them choose the same response in both presentation orders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.judging.answer import clean_text
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.request import canonical_json, sha256
from judge_pipeline.preference.choice_rows import PairOrder, choice_row, slot_of
from judge_pipeline.preference.response_features import FEATURES, changed_lines, code_to_edit_of, response_features
from judge_pipeline.preference.verdicts import PRESENTATION_ORDERS
from judge_pipeline.settings import BaselineJudge
from judge_pipeline.statistics.score_counts import FloatArray

DECIMALS = 6
"""Probabilities are rounded, so that the last bits of a linear-algebra library do not change a table."""

_READ = {
    "longer": ("response_a", "response_b"),
    "smaller_edit": ("response_a", "response_b", "code_to_edit"),
    "fitted": ("response_a", "response_b", "code_to_edit", "language", "evidence_a", "evidence_b"),
}
"""What each rule reads of a pair's texts."""

_REMEDY = "set pair_rule to longer or smaller_edit in judges.yaml, or disable the judge"


def baseline_choices(
    settings: BaselineJudge, texts: pd.DataFrame, scope_texts: pd.DataFrame, training: pd.DataFrame | None, seed: int
) -> list[dict[str, Any]]:
    """The baseline's choice on every pair in scope, in both presentation orders.

    ``fitted`` models log-odds that y_A is chosen as weights times the differences of the responses' features, without
    intercept: a pair says that its winner's features are better than its loser's, whichever stood first or is called A.
    So P(first | AB) = 1 - P(first | BA), swapped responses mirror every choice, and labels that are all A are learnt
    from like any other. Differences are divided by their root mean square over the pairs that are fitted on; the
    penalty is L2. Only untied pairs of split train are fitted on; pairs of their instructions are predicted out of fold
    (by instruction group), or labels would leak. Equal probabilities are a tie.

    Args:
        settings: rule and parameters.
        texts: table PAIR_TEXTS with at least the pairs of split train; the rules by counting do not read it.
        scope_texts: the rows of PAIR_TEXTS to choose on.
        training: pair_id, split, w, instruction_group of all pairs of the set; only ``fitted`` reads it.
        seed: seed of the assignment of instruction groups to folds.

    Returns:
        Rows as ``choice_rows.choice_row`` makes them, AB before BA, in the order of ``scope_texts``.

    Raises:
        JudgingError: ``fitted`` has nothing to learn from (what there is stands in the message, with the remedy), or
            a pair that it needs has no split or no text.
    """
    hashes = baseline_hashes(settings, texts, scope_texts, training, seed)
    records = _records(scope_texts)
    if settings.pair_rule == "fitted":
        given = _given(training)
        chosen = _fitted(settings, _train(texts, given), records, _groups(records, given), seed)
    else:
        chosen = [_COUNTED[settings.pair_rule](record) for record in records]
    return [
        choice.row(record["pair_id"], order, hashes[record["pair_id"], order])
        for record, choice in zip(records, chosen, strict=True)
        for order in PRESENTATION_ORDERS
    ]


def baseline_hashes(
    settings: BaselineJudge, texts: pd.DataFrame, scope_texts: pd.DataFrame, training: pd.DataFrame | None, seed: int
) -> dict[PairOrder, str]:
    """Pair and order -> the ``request_hash`` of the choice on it; nothing is fitted. Arguments as for the choices.

    It covers the rule, the pair's own texts and, of ``fitted``, parameters, training data and the pair's instruction
    group.

    Raises:
        JudgingError: a pair that ``fitted`` needs has no split or no text.
    """
    rule = settings.pair_rule
    identity: dict[str, Any] = {"backend": "baseline", "pair_rule": rule}
    records = _records(scope_texts)
    groups: list[str] = []
    if rule == "fitted":
        given = _given(training)
        groups = _groups(records, given)
        identity |= _training_identity(settings, _train(texts, given), seed)
    shared = sha256(canonical_json(identity))
    found = {}
    for place, record in enumerate(records):
        own = {"of": shared, "texts": _texts(record, rule), "instruction_group": groups[place : place + 1]}
        for order in PRESENTATION_ORDERS:
            pair_order = {"pair_id": record["pair_id"], "presentation_order": order}
            found[record["pair_id"], order] = sha256(canonical_json(own | pair_order))
    return found


@dataclass(frozen=True, slots=True)
class _Choice:
    """A choice between y_A and y_B, with the two numbers that it rests on, as ``what`` names them."""

    decision: str
    what: str
    number_a: float
    number_b: float
    are_probabilities: bool = False

    def row(self, pair_id: str, order: str, request_hash: str) -> dict[str, Any]:
        """The choice as it looks in a presentation order."""
        numbers = (self.number_a, self.number_b) if order == "AB" else (self.number_b, self.number_a)
        p_first = numbers[0] if self.are_probabilities else None
        slot = slot_of(self.decision, order)
        assert slot is not None
        rationale = f"{self.what}: {numbers[0]:.12g} of the first, {numbers[1]:.12g} of the second"
        return choice_row(pair_id, order, slot, request_hash, {"p_first": p_first, "rationale": rationale})


def _longer(record: Mapping[str, Any]) -> _Choice:
    a, b = len(record["response_a"]), len(record["response_b"])
    return _Choice("tie" if a == b else "A" if a > b else "B", "the longer wins; characters", a, b)


def _smaller_edit(record: Mapping[str, Any]) -> _Choice:
    before = code_to_edit_of(record)
    a, b = (changed_lines(record[f"response_{side}"], before) for side in "ab")
    kind = "inserted" if before is None else "changed"
    return _Choice("tie" if a == b else "A" if a < b else "B", f"the smaller edit wins; {kind} lines", a, b)


_COUNTED = {"longer": _longer, "smaller_edit": _smaller_edit}


def _fitted(
    settings: BaselineJudge, train: pd.DataFrame, records: Sequence[Mapping[str, Any]], groups: Sequence[str], seed: int
) -> list[_Choice]:
    """Choices of the logistic model on pairs of these instruction groups."""
    wins, fold_of, in_fold = _learned_from(settings, train, seed)
    folds = [fold_of.get(group) for group in groups]
    weights = {
        fold: _weights_without(fold, wins, in_fold, settings.inverse_regularization)
        for fold in sorted(set(folds), key=lambda fold: -1 if fold is None else fold)
    }
    n_folds = len(set(fold_of.values()))
    chosen = []
    for difference, fold in zip(_differences(records), folds, strict=True):
        out = "" if fold is None else f", out of fold {fold + 1} of {n_folds}"
        words = f"logistic model, fitted on {int((in_fold != fold).sum())} pairs of train{out}; probability"
        chosen.append(_of_log_odds(float((difference * weights[fold]).sum()), words))
    return chosen


def _learned_from(settings: BaselineJudge, train: pd.DataFrame, seed: int) -> tuple[FloatArray, dict[str, int], Any]:
    """Differences of winner and loser of every untied training pair, the fold of each group, and of each such pair."""
    untied = train[train["w"] != "tie"]
    wins = _differences(_records(untied)) * np.where(untied["w"] == "A", 1.0, -1.0)[:, None]
    _refuse_nothing_to_learn(train, wins)
    fold_of = _folds(untied["instruction_group"], settings.folds, seed)
    return wins, fold_of, untied["instruction_group"].map(fold_of).to_numpy()


def why_not_fitted(
    settings: BaselineJudge, texts: pd.DataFrame, scope_texts: pd.DataFrame, training: pd.DataFrame, seed: int
) -> str | None:
    """Why the baseline cannot choose on these pairs; None where it can. Nothing is fitted.

    Arguments as for the choices.
    """
    if settings.pair_rule != "fitted":
        return None
    try:
        wins, fold_of, in_fold = _learned_from(settings, _train(texts, training), seed)
        for fold in {fold_of.get(group) for group in _groups(_records(scope_texts), training)}:
            _rest(fold, wins, in_fold)
    except JudgingError as error:
        return str(error)
    return None


def _weights_without(fold: int | None, wins: FloatArray, in_fold: Any, inverse_regularization: float) -> FloatArray:
    return _weights(_rest(fold, wins, in_fold), inverse_regularization)


def _rest(fold: int | None, wins: FloatArray, in_fold: Any) -> FloatArray:
    """What is learned from where a fold is predicted; None: a pair that is in none."""
    rest = wins if fold is None else wins[in_fold != fold]
    if not rest.any():
        raise JudgingError(
            "the fitted baseline cannot predict train out of fold: without the pairs of an instruction there is "
            f"nothing to learn from ({len(rest)} untied pairs are left). Limit its scope to val and test "
            f"(scope: {{splits: [val, test]}}), {_REMEDY}"
        )
    return rest


def _differences(records: Sequence[Mapping[str, Any]]) -> FloatArray:
    """Features of y_A less those of y_B, a row a pair."""
    sides = [[response_features(record, side) for record in records] for side in "ab"]
    first, second = (np.asarray(side, np.float64).reshape(len(records), len(FEATURES)) for side in sides)
    return first - second


def _weights(wins: FloatArray, inverse_regularization: float) -> FloatArray:
    """The weight of each feature's difference; 0 where winners and losers never differ in it.

    Every pair is given in both directions, at half its weight: the penalized likelihood is that of the pairs in any
    one of them.

    Args:
        wins: features of the winner less those of the loser, a row a pair, not all of them 0.
        inverse_regularization: C of the logistic regression.
    """
    from sklearn.linear_model import LogisticRegression

    spread = np.sqrt(np.mean(wins**2, axis=0))
    scale = np.where(spread > 0, spread, 1.0)
    both = np.concatenate([wins, -wins]) / scale
    won = np.repeat([1, 0], len(wins))
    model = LogisticRegression(
        C=inverse_regularization, fit_intercept=False, solver="newton-cholesky", tol=1e-8, max_iter=1000
    )
    fitted = model.fit(both, won, sample_weight=np.full(len(both), 0.5))
    return np.asarray(fitted.coef_[0] / scale, np.float64)


def _of_log_odds(log_odds: float, words: str) -> _Choice:
    # Computed from the absolute value, so that swapped responses give exactly the mirrored probabilities.
    greater = round(float(1.0 / (1.0 + np.exp(-abs(log_odds)))), DECIMALS)
    lesser = round(1.0 - greater, DECIMALS)
    p_a, p_b = (greater, lesser) if log_odds > 0 else (lesser, greater)
    decision = "tie" if p_a == p_b else "A" if p_a > p_b else "B"
    return _Choice(decision, words, p_a, p_b, are_probabilities=True)


def _folds(groups: pd.Series, folds: int, seed: int) -> dict[str, int]:
    """Instruction group -> fold, at most so many, in the order of a seeded hash of the group."""
    distinct = sorted(set(groups), key=lambda group: (sha256(f"{seed}:{group}"), group))
    return {group: place % min(folds, len(distinct)) for place, group in enumerate(distinct)}


def _refuse_nothing_to_learn(train: pd.DataFrame, wins: FloatArray) -> None:
    if wins.any():
        return
    ties = int((train["w"] == "tie").sum())
    alike = ", and in all of the others both responses have the same features" if len(wins) else ""
    raise JudgingError(
        f"the fitted baseline needs pairs of split train that people chose on; there are {len(train)}, {ties} of them "
        f"ties{alike}. Give train a larger share (split: {{train: 0.5}} in preference.yaml) or more pairs, {_REMEDY}"
    )


def _given(training: pd.DataFrame | None) -> pd.DataFrame:
    if training is None:
        raise JudgingError("the fitted baseline needs the choices of the train split, and was given none")
    return training


def _train(texts: pd.DataFrame, training: pd.DataFrame) -> pd.DataFrame:
    """Texts, choice and instruction group of the pairs of split train, sorted by pair_id."""
    labels = training.loc[training["split"] == "train", ["pair_id", "w", "instruction_group"]]
    unknown = sorted(set(labels["pair_id"]) - set(texts["pair_id"]))
    if unknown:
        raise JudgingError(f"pair_texts lacks pairs of split train, such as {unknown[0]!r}; read the set again")
    own = texts[["pair_id", *_READ["fitted"]]]
    return labels.merge(own, on="pair_id", validate="one_to_one").sort_values("pair_id", ignore_index=True)


def _groups(records: Sequence[Mapping[str, Any]], training: pd.DataFrame) -> list[str]:
    """The instruction group of each pair."""
    known = dict(zip(training["pair_id"], training["instruction_group"], strict=True))
    unknown = [record["pair_id"] for record in records if record["pair_id"] not in known]
    if unknown:
        raise JudgingError(f"preference_splits lacks pairs to judge, such as {unknown[0]!r}; read the set again")
    return [known[record["pair_id"]] for record in records]


def _training_identity(settings: BaselineJudge, train: pd.DataFrame, seed: int) -> dict[str, Any]:
    """All that can change any fit."""
    from sklearn import __version__

    return {
        "parameters": settings.model_dump(include={"inverse_regularization", "folds"}),
        "features": FEATURES,
        "seed": seed,
        "sklearn": __version__,
        "train": [
            [record["pair_id"], record["w"], record["instruction_group"], _texts(record, "fitted")]
            for record in _records(train)
        ],
    }


def _texts(record: Mapping[str, Any], rule: str) -> list[str | None]:
    return [clean_text(record[name]) if isinstance(record[name], str) else None for name in _READ[rule]]


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in record.items()} for record in table.to_dict("records")]
