"""CodeBLEU of the pairs of programs that revisions and convergence compare: each pair, and each program, once.

Reading a program takes most of the time, and the programs of a solved trajectory stand in both: one against the turn
before (paper 1, eq. 31), and against the first accepted one (eq. 32).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.turn_orders import attempts_by_order
from judge_pipeline.similarity.codebleu import codebleu_similarities
from judge_pipeline.tables.revision import CODE_SIMILARITIES

_GROUP = ["participant", "problem_id"]
_PAIR = ["reference_attempt_id", "attempt_id"]


def code_similarities(attempts: pd.DataFrame, trajectories: pd.DataFrame) -> pd.DataFrame:
    """The table ``code_similarities``: the pairs of consecutive turns, and all attempts with the first accepted one.

    Where the check of turn order warns, the pairs of both orders.

    Args:
        attempts: table ATTEMPTS.
        trajectories: table TRAJECTORIES, whose order of turns is checked.
    """
    parts = []
    for turned in attempts_by_order(attempts, trajectories).values():
        before, after = consecutive_turns(turned)
        near = with_first_accepted(turned)
        parts.append(_ids(turned, before, after))
        parts.append(near[_PAIR])
    place = attempts.set_index("attempt_id")[[*_GROUP, "turn", "language", "source_code"]]
    pairs = pd.concat(parts, ignore_index=True).drop_duplicates(_PAIR)
    pairs = pairs.join(place, on="attempt_id").join(
        place[["turn", "language", "source_code"]], on="reference_attempt_id", rsuffix="_reference"
    )
    # Pairs of one trajectory stand together, so that the programs they share are still at hand.
    pairs = pairs.sort_values([*_GROUP, "turn", "turn_reference"], ignore_index=True)
    scores = codebleu_similarities(
        pairs["source_code_reference"].tolist(), pairs["source_code"].tolist(),
        pairs["language_reference"].tolist(), pairs["language"].tolist(),
    )  # fmt: skip
    return CODE_SIMILARITIES.conform(pd.concat([pairs[[*_PAIR, *_GROUP]], scores], axis=1))


def scores_of(similarities: pd.DataFrame, references: pd.Series, attempts: pd.Series) -> pd.DataFrame:
    """``codebleu``, ``short`` and ``reason`` of pairs of attempt ids, row by row.

    Args:
        similarities: table CODE_SIMILARITIES of the same attempts.
        references: attempt id of the reference of each pair.
        attempts: that of the other attempt.
    """
    wanted = pd.DataFrame({"reference_attempt_id": references.to_numpy(), "attempt_id": attempts.to_numpy()})
    found = wanted.merge(similarities, on=_PAIR, how="left", validate="many_to_one")[["codebleu", "short", "reason"]]
    return found.assign(short=found["short"].astype(bool))


def consecutive_turns(attempts: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Where in ``attempts`` the earlier and the later one of each two consecutive turns stand, by trajectory."""
    table = attempts[[*_GROUP, "turn"]].astype({"turn": "int64"}).reset_index(drop=True).sort_values([*_GROUP, "turn"])
    same = (table[_GROUP] == table[_GROUP].shift()).all(axis=1).to_numpy()
    later = np.flatnonzero(same & (np.diff(table["turn"].to_numpy(), prepend=0) == 1))
    place = table.index.to_numpy()
    return place[later - 1], place[later]


def with_first_accepted(attempts: pd.DataFrame) -> pd.DataFrame:
    """The attempts of solved trajectories by turn, each with ``reference_attempt_id`` and ``turn_reference``."""
    table = attempts[["attempt_id", *_GROUP, "turn", "y"]].sort_values([*_GROUP, "turn"], ignore_index=True)
    accepted = table[table["y"].eq(1).fillna(False).astype(bool)].drop_duplicates(_GROUP)
    reference = accepted[["attempt_id", *_GROUP, "turn"]].rename(columns={"attempt_id": "reference_attempt_id"})
    return table.merge(reference, on=_GROUP, suffixes=("", "_reference"))


def _ids(attempts: pd.DataFrame, references: np.ndarray, others: np.ndarray) -> pd.DataFrame:
    ids = attempts["attempt_id"].to_numpy()
    return pd.DataFrame({"reference_attempt_id": ids[references], "attempt_id": ids[others]})
