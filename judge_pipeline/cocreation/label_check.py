"""That no label reaches a judge, shown on the rendered messages: with other labels they are the same, byte for byte.

A check of names finds a column called ``verdict``; it does not find a verdict inside a column of another name, or a
template that prints something that follows from one. So requests are made a second time, by the same way, from attempts
whose every column that is no part of x_a (eq. 7) holds something else, and rendered by each judge's template.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from judge_pipeline.cocreation.making_requests import RequestMaker
from judge_pipeline.judging.pilot import pilot
from judge_pipeline.judging.rendering import Renderer
from judge_pipeline.tables import SPLITS

MAX_RENDERED = 2000
"""Requests that are made and rendered again; of more, a stratified sample."""

SENTINEL = "label-sentinel-5f1c9e"
"""What stands in the place of a label; it may be in no message."""

_OF_X_A = ("attempt_id", "participant", "problem_id", "language", "source_code")
"""Columns of attempts from which requests may be made; the participant leads to Q_u, and is not shown."""


@dataclass(frozen=True)
class LabelCheck:
    """What came of it.

    Attributes:
        problems: where a label reached a message, in words; empty where none did.
        n_compared: requests whose messages were compared, for each of the templates.
    """

    problems: tuple[str, ...]
    n_compared: int


def labels_in_messages(
    maker: RequestMaker,
    attempts: pd.DataFrame,
    contexts: pd.DataFrame,
    splits: pd.DataFrame,
    requests: pd.DataFrame,
    renderers: Mapping[str, Renderer],
    seed: int,
) -> LabelCheck:
    """Make requests anew from attempts with other labels, render both, and compare.

    Args:
        maker: made the requests.
        attempts: table ATTEMPTS.
        contexts: table PARTICIPANT_CONTEXTS.
        splits: table SPLIT_ASSIGNMENTS, which are stratified by labels.
        requests: table JUDGE_REQUESTS, as made from these.
        renderers: judge, or judges with the same template -> from a request to its messages.
        seed: draws the sample.
    """
    ids = set(requests["attempt_id"]) if len(requests) <= MAX_RENDERED else pilot(requests, MAX_RENDERED, seed)
    # An attempt without a request is made anew, too: it may be missing because of its label.
    missing = sorted(set(attempts["attempt_id"]) - set(requests["attempt_id"]))[:MAX_RENDERED]
    chosen = attempts[attempts["attempt_id"].isin({*ids, *missing})]
    remade = maker.make(with_other_labels(chosen), contexts, with_other_splits(splits)).requests
    before = {str(row["attempt_id"]): row for row in _records(requests[requests["attempt_id"].isin(ids)])}
    after = {str(row["attempt_id"]): row for row in _records(remade)}
    problems = [f"attempt {a}: has a request with one label only" for a in sorted(before.keys() ^ after.keys())]
    for judges, render in renderers.items():
        for attempt_id in before.keys() & after.keys():
            messages, others = render(before[attempt_id]), render(after[attempt_id])
            if messages != others or any(SENTINEL in message.content for message in others):
                problems.append(f"{judges}, attempt {attempt_id}: its label changes what is sent")
    return LabelCheck(tuple(sorted(problems)), len(ids))


def with_other_labels(attempts: pd.DataFrame) -> pd.DataFrame:
    """The attempts with another value in every column from which no request may be made; y is turned round."""
    changed = {name: SENTINEL for name in attempts.columns if name not in (*_OF_X_A, "y")}
    turned = 1 - attempts["y"].astype("Int64").fillna(0)
    return attempts.assign(**changed, y=turned)


def with_other_splits(splits: pd.DataFrame) -> pd.DataFrame:
    """The splits with every trajectory in another one: they are stratified by labels, so none may be shown."""
    following = dict(zip(SPLITS, (*SPLITS[1:], SPLITS[0]), strict=True))
    return splits.assign(split=splits["split"].map(following), stratum=SENTINEL)


def _records(requests: pd.DataFrame) -> list[dict[str, object]]:
    rows = requests.astype("object").where(requests.notna(), None).to_dict("records")
    return [{str(key): value for key, value in row.items()} for row in rows]
