"""The baseline: logistic regression on character n-grams of code and context, fitted on the train split only.

It is what an LLM judge has to beat. It never sees a label of val or test. On train its predictions are out of fold by
trajectory (u, p): an attempt is predicted by a model that saw no attempt of its trajectory, or labels would leak into
figures that use train.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.judging.answer import clean_text
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.request import canonical_json, sha256
from judge_pipeline.settings import BaselineJudge

NGRAMS = (2, 4)
"""Shortest and longest character n-gram."""

_TEXT = ["attempt_id", "source_code", "prompt_text"]

DECIMALS = 6
"""Predictions are rounded, so that the last bits of a linear-algebra library do not change a table."""


@dataclass(frozen=True, slots=True)
class BaselinePrediction:
    """The prediction for one attempt.

    Attributes:
        attempt_id: the attempt.
        p_ac: predicted probability of acceptance.
        rationale: which fit predicted it.
        request_hash: hash of the training data, the parameters and the attempt's own text.
    """

    attempt_id: str
    p_ac: float
    rationale: str
    request_hash: str


def predict_baseline(
    settings: BaselineJudge, requests: pd.DataFrame, scope: pd.DataFrame, training: pd.DataFrame, seed: int
) -> list[BaselinePrediction]:
    """A prediction for every attempt in scope.

    Args:
        settings: parameters of the model.
        requests: ``judge_requests`` with at least the train split and the scope; the text is taken from here.
        scope: the rows of ``requests`` to predict.
        training: attempt_id, participant, problem_id, split, y. Only rows of split train are used.
        seed: seed of the assignment of trajectories to folds.

    Raises:
        JudgingError: train has no labelled attempts, or only one class of them (what there is stands in the message).
    """
    train = _train_rows(requests, training)
    identity = _identity(settings, train, seed)
    labelled = train[train["y"].notna()]
    _refuse_one_class(labelled)
    fold_of = _folds(labelled, settings.folds, seed)
    outside = scope[~scope["attempt_id"].isin(_in_labelled_trajectories(train, labelled))]
    texts = pd.concat([labelled[_TEXT], scope[_TEXT]]).drop_duplicates("attempt_id")
    ngrams = [_NGrams(texts["attempt_id"], texts[name]) for name in _TEXT[1:]]
    predictions = _fit_predict(settings, ngrams, labelled, outside, "fitted on train", identity)
    if fold_of is None and len(outside) < len(scope):
        raise JudgingError(
            "the baseline cannot predict train out of fold: fewer than two trajectories hold each class; "
            "limit its scope to val and test"
        )
    n_folds = len(set((fold_of or {}).values()))
    for fold in range(n_folds):
        held_out = _attempts_of(train, {group for group, f in (fold_of or {}).items() if f == fold})
        rest = labelled[~labelled["attempt_id"].isin(held_out)]
        rows = scope[scope["attempt_id"].isin(held_out)]
        words = f"out of fold {fold + 1} of {n_folds} on train"
        predictions += _fit_predict(settings, ngrams, rest, rows, words, identity)
    order = {attempt_id: place for place, attempt_id in enumerate(scope["attempt_id"])}
    return sorted(predictions, key=lambda p: order[p.attempt_id])


def baseline_hashes(
    settings: BaselineJudge, requests: pd.DataFrame, scope: pd.DataFrame, training: pd.DataFrame, seed: int
) -> dict[str, str]:
    """attempt_id -> the ``request_hash`` of its prediction; nothing is fitted. Arguments as for the prediction."""
    return _hashes(_identity(settings, _train_rows(requests, training), seed), scope)


def _hashes(identity: str, rows: pd.DataFrame) -> dict[str, str]:
    return {
        attempt_id: sha256(f"{identity}:{clean_text(code)}\x00{clean_text(context)}")
        for attempt_id, code, context in rows[_TEXT].itertuples(index=False, name=None)
    }


def _train_rows(requests: pd.DataFrame, training: pd.DataFrame) -> pd.DataFrame:
    """Text and label of the train split, sorted by attempt_id, with the trajectory as ``group``."""
    labels = training.loc[training["split"] == "train", ["attempt_id", "participant", "problem_id", "y"]]
    text = requests[["attempt_id", "source_code", "prompt_text"]]
    train = labels.merge(text, on="attempt_id", validate="one_to_one").sort_values("attempt_id", ignore_index=True)
    train["group"] = list(zip(train["participant"], train["problem_id"], strict=True))
    return train


def _refuse_one_class(labelled: pd.DataFrame) -> None:
    counts = labelled["y"].astype(int).value_counts()
    if len(counts) < 2:
        held = ", ".join(f"{n} with y = {y}" for y, n in counts.items()) or "none"
        raise JudgingError(
            f"the baseline needs accepted and rejected attempts in train; its labelled attempts there are: {held}. "
            "Add attempts, or disable the judge in judges.yaml"
        )


def _folds(labelled: pd.DataFrame, folds: int, seed: int) -> dict[tuple[str, str], int] | None:
    """Trajectory -> fold, each fold's rest holding both classes; None where not even two folds allow it."""
    from sklearn.model_selection import StratifiedGroupKFold

    y = labelled["y"].astype(int).to_numpy()
    groups = labelled["group"].map("\x1f".join).to_numpy()
    # The splitter refuses more folds than the larger class has members.
    for n in range(min(folds, len(set(groups)), int(np.bincount(y).max())), 1, -1):
        fold_of: dict[tuple[str, str], int] = {}
        whole = True
        # It warns where a class has fewer members than folds; whether the folds will do is checked below instead.
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            parts = list(StratifiedGroupKFold(n, shuffle=True, random_state=seed).split(y, y, groups))
        for fold, (rest, held_out) in enumerate(parts):
            whole = whole and len(set(y[rest])) == 2
            fold_of |= dict.fromkeys(labelled["group"].iloc[held_out], fold)
        if whole:
            return fold_of
    return None


def _in_labelled_trajectories(train: pd.DataFrame, labelled: pd.DataFrame) -> set[str]:
    return _attempts_of(train, set(labelled["group"]))


def _attempts_of(train: pd.DataFrame, groups: set[tuple[str, str]]) -> set[str]:
    return set(train.loc[train["group"].isin(groups), "attempt_id"])


def _fit_predict(
    settings: BaselineJudge,
    ngrams: Sequence[_NGrams],
    fit_on: pd.DataFrame,
    rows: pd.DataFrame,
    words: str,
    identity: str,
) -> list[BaselinePrediction]:
    if rows.empty:
        return []
    from scipy.sparse import hstack
    from sklearn.linear_model import LogisticRegression

    half = settings.max_features // 2
    blocks = [counted.tfidf(fit_on["attempt_id"], rows["attempt_id"], half) for counted in ngrams]
    present = [block for block in blocks if block is not None]
    if not present:
        raise JudgingError("the baseline finds no text in the train split's code or context; disable the judge")
    fitted = LogisticRegression(C=settings.inverse_regularization, max_iter=1000).fit(
        hstack([fit for fit, _ in present]).tocsr(), fit_on["y"].astype(int).to_numpy()
    )
    p_ac = np.round(fitted.predict_proba(hstack([new for _, new in present]).tocsr())[:, 1], DECIMALS)
    return [
        BaselinePrediction(attempt_id, float(p), f"text baseline, {words}", hash_)
        for (attempt_id, hash_), p in zip(_hashes(identity, rows).items(), p_ac, strict=True)
    ]


class _NGrams:
    """Counts of character n-grams of each attempt's text, taken once for all folds.

    A fold keeps only n-grams that occur in the texts it is fitted on, so that which others were counted plays no part.
    """

    def __init__(self, attempt_ids: pd.Series, texts: pd.Series) -> None:
        from sklearn.feature_extraction.text import CountVectorizer

        # Contexts repeat for each attempt of a participant: each distinct text is taken apart once.
        codes, distinct = pd.factorize(texts)
        self._row_of = dict(zip(attempt_ids, codes, strict=True))
        self._counts = None
        if distinct.size and distinct.str.len().max() >= NGRAMS[0]:
            vectorizer = CountVectorizer(analyzer="char", ngram_range=NGRAMS, lowercase=False)
            self._counts = vectorizer.fit_transform(distinct)

    def tfidf(self, fit_on: pd.Series, rows: pd.Series, max_features: int) -> tuple[Any, Any] | None:
        """TF-IDF of the attempts to fit on and to predict; None where the former hold no n-gram at all.

        Kept are the ``max_features`` n-grams that are most frequent in ``fit_on``, ties in the order of their text.
        """
        from sklearn.feature_extraction.text import TfidfTransformer

        if self._counts is None:
            return None
        fit, new = self._of(fit_on), self._of(rows)
        frequency = np.asarray(fit.sum(axis=0)).ravel()
        kept = np.sort(np.argsort(-frequency, kind="stable")[:max_features])
        kept = kept[frequency[kept] > 0]
        if not kept.size:
            return None
        weights = TfidfTransformer(sublinear_tf=True).fit(fit[:, kept])
        return weights.transform(fit[:, kept]), weights.transform(new[:, kept])

    def _of(self, attempt_ids: pd.Series) -> Any:
        assert self._counts is not None
        return self._counts[[self._row_of[attempt_id] for attempt_id in attempt_ids]]


def _identity(settings: BaselineJudge, train: pd.DataFrame, seed: int) -> str:
    """Hash of all that can change any prediction, but for the predicted attempt's own text."""
    from sklearn import __version__

    columns = ["attempt_id", "participant", "problem_id", "source_code", "prompt_text"]
    rows = [
        [clean_text(str(value)) for value in row[:-1]] + [None if pd.isna(row[-1]) else int(row[-1])]
        for row in train[[*columns, "y"]].itertuples(index=False, name=None)
    ]
    parameters = settings.model_dump(include={"max_features", "inverse_regularization", "folds"})
    return sha256(
        canonical_json(
            {"backend": "baseline", "parameters": parameters, "seed": seed, "sklearn": __version__, "train": rows}
        )
    )
