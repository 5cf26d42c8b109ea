"""Revisions between consecutive attempts, and convergence to the first accepted program (paper 1, eq. 29-32)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.code_similarity import (
    code_similarities,
    consecutive_turns,
    scores_of,
    with_first_accepted,
)
from judge_pipeline.cocreation.null_reasons import first_reason
from judge_pipeline.cocreation.turn_orders import AS_RECORDED, attempts_by_order
from judge_pipeline.similarity.edit_distance import normalized_edit_distances
from judge_pipeline.similarity.languages import programming_language
from judge_pipeline.statistics.score_counts import FloatArray
from judge_pipeline.tables.revision import CONVERGENCE, REVISION_KINDS, REVISIONS

_GROUP = ["participant", "problem_id"]
_OF_ATTEMPT = ["attempt_id", *_GROUP, "turn", "language", "source_code", "verdict", "y", "submitted_at"]


@dataclass(frozen=True, slots=True)
class KindLimits:
    """Up to which churn a revision is an incremental fix, and from which on a rewrite."""

    incremental_at_most: float = 0.1
    rewrite_at_least: float = 0.5


def revisions(
    attempts: pd.DataFrame,
    trajectories: pd.DataFrame,
    prompts: pd.DataFrame,
    struggle: pd.DataFrame,
    limits: KindLimits | None = None,
    *,
    similarities: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """The table ``revisions``: a row for each pair of consecutive turns, in each order of turns.

    Args:
        attempts: table ATTEMPTS.
        trajectories: table TRAJECTORIES, whose order of turns is checked.
        prompts: h of each attempt, of ``prompt_windows.prompt_texts``.
        struggle: table STRUGGLE_CURVES, for the panel's mean confidence in each attempt.
        limits: which churn makes a fix or a rewrite.
        similarities: table CODE_SIMILARITIES of the same attempts; made where None.
    """
    if similarities is None:
        similarities = code_similarities(attempts, trajectories)
    limits = limits or KindLimits()
    orders = attempts_by_order(attempts, trajectories)
    parts = [_revisions_in(order, rows, prompts, struggle, similarities, limits) for order, rows in orders.items()]
    return REVISIONS.conform(pd.concat(parts, ignore_index=True))


def convergence(
    attempts: pd.DataFrame, trajectories: pd.DataFrame, *, similarities: pd.DataFrame | None = None
) -> pd.DataFrame:
    """The table ``convergence``: CodeBLEU of all attempts of solved trajectories to the first accepted one (eq. 32).

    Reversed, the first accepted attempt is the one that was recorded last.

    Args:
        attempts: table ATTEMPTS.
        trajectories: table TRAJECTORIES, whose order of turns is checked.
        similarities: table CODE_SIMILARITIES of the same attempts; made where None.
    """
    if similarities is None:
        similarities = code_similarities(attempts, trajectories)
    orders = attempts_by_order(attempts, trajectories)
    parts = [_convergence_in(order, rows, similarities) for order, rows in orders.items()]
    return CONVERGENCE.conform(pd.concat(parts, ignore_index=True))


def kinds_of(churn: FloatArray, limits: KindLimits) -> pd.Series:
    """Which of REVISION_KINDS each churn is; None where it is NaN."""
    unchanged, incremental, between, rewrite = REVISION_KINDS
    return first_reason(
        len(churn),
        [
            (churn == 0, unchanged),
            (churn <= limits.incremental_at_most, incremental),
            (churn >= limits.rewrite_at_least, rewrite),
            (~np.isnan(churn), between),
        ],
    )


def _revisions_in(
    order: str,
    attempts: pd.DataFrame,
    prompts: pd.DataFrame,
    struggle: pd.DataFrame,
    similarities: pd.DataFrame,
    limits: KindLimits,
) -> pd.DataFrame:
    table = attempts[_OF_ATTEMPT].astype({"turn": "Int64"})
    before, after = (table.iloc[places].reset_index(drop=True) for places in consecutive_turns(attempts))
    rows = pd.DataFrame(
        {"order": order, "attempt_id": after["attempt_id"], **_same(after, [*_GROUP, "turn", "language"])}
    )
    rows["previous_attempt_id"] = before["attempt_id"]
    rows["language_changed"] = _language_changed(before["language"], after["language"])
    ned = normalized_edit_distances(before["source_code"].tolist(), after["source_code"].tolist())
    rows["code_ned"], rows["code_ned_reason"] = ned["ned"], ned["reason"].replace(_MISSING_PROGRAM)
    similar = scores_of(similarities, before["attempt_id"], after["attempt_id"])
    rows["codebleu_churn"], rows["codebleu_churn_reason"] = _churn(similar["codebleu"]), similar["reason"]
    rows["short"] = similar["short"].astype("boolean").where(similar["codebleu"].notna())
    rows = rows.join(_prompt_churn(order, before, after, prompts))
    for measure in ("code_ned", "codebleu_churn"):
        rows[f"{measure}_kind"] = kinds_of(rows[measure].to_numpy(np.float64), limits)
    rows = rows.join(_progress(before, after, struggle))
    rows["after_first_ac"] = _accepted_before(attempts).reindex(after["attempt_id"]).to_numpy(bool)
    rows["minutes"] = (after["submitted_at"] - before["submitted_at"]).dt.total_seconds() / 60
    return rows[REVISIONS.column_names]


_MISSING_PROGRAM = {
    "one of the two texts is missing": "one of the two programs is missing",
    "both texts are missing": "both programs are missing",
}


def _same(table: pd.DataFrame, names: list[str]) -> dict[str, pd.Series]:
    return {name: table[name] for name in names}


def _language_changed(before: pd.Series, after: pd.Series) -> pd.Series:
    """Whether the languages differ, versions and compilers set aside; <NA> where one is not stated."""
    words = {name: programming_language(name) or name for name in {*before.dropna(), *after.dropna()}}
    changed = (before.map(words) != after.map(words)).astype("boolean")
    return changed.where(before.notna() & after.notna())


def _churn(similarity: pd.Series) -> FloatArray:
    # 1 - x of a mean of three terms may fall short of 0 by rounding.
    churn: FloatArray = np.clip(1 - similarity.to_numpy(np.float64), 0, 1)
    return churn


def _prompt_churn(order: str, before: pd.DataFrame, after: pd.DataFrame, prompts: pd.DataFrame) -> pd.DataFrame:
    """prompt_ned and prompt_code_ned with their reasons. An empty side would make either 1 by definition."""
    known = prompts.set_index("attempt_id")[["text", "reason"]]
    asked_before, asked = known.reindex(before["attempt_id"]), known.reindex(after["attempt_id"])
    programs = after["source_code"]
    no_window = np.full(len(after), order != AS_RECORDED)
    first, second = asked_before["text"].to_numpy(object), asked["text"].to_numpy(object)
    unknown = (no_window, "windows in time follow the recorded order")
    of_turn_before = asked_before["reason"].map("turn before: {}".format, na_action="ignore")
    between = first_reason(
        len(after),
        [
            unknown,
            (asked["text"].isna(), asked["reason"].to_numpy(object)),
            (asked_before["text"].isna(), of_turn_before.to_numpy(object)),
            ((first == "") & (second == ""), "nothing was asked about the problem in either window"),
            ((first == "") | (second == ""), "nothing was asked about the problem in one of the two windows"),
        ],
    )
    with_code = first_reason(
        len(after),
        [
            unknown,
            (asked["text"].isna(), asked["reason"].to_numpy(object)),
            (second == "", "nothing was asked about the problem in the window"),
            (programs.isna(), "the program is missing"),
            (programs.eq(""), "the program is empty"),
        ],
    )
    return pd.DataFrame(
        {
            "prompt_ned": _distances(first, second, between), "prompt_ned_reason": between,
            "prompt_code_ned": _distances(second, programs.to_numpy(object), with_code),
            "prompt_code_ned_reason": with_code,
        }
    )  # fmt: skip


def _distances(first: np.ndarray, second: np.ndarray, reasons: pd.Series) -> FloatArray:
    """NED where there is no reason against it."""
    wanted = reasons.isna().to_numpy()
    ned = np.full(len(reasons), np.nan)
    ned[wanted] = normalized_edit_distances(first[wanted].tolist(), second[wanted].tolist())["ned"]
    return ned


def _progress(before: pd.DataFrame, after: pd.DataFrame, struggle: pd.DataFrame) -> pd.DataFrame:
    """Verdicts, labels and the panel's mean confidence, before and after."""
    means = struggle.set_index("attempt_id")["p_mean"]
    first, second = (means.reindex(side["attempt_id"]).to_numpy(np.float64) for side in (before, after))
    y_before, y_after = before["y"].astype("Int64"), after["y"].astype("Int64")
    return pd.DataFrame(
        {
            "verdict_before": before["verdict"], "verdict_after": after["verdict"],
            "y_before": y_before, "y_after": y_after, "delta_y": y_after - y_before,
            "delta_p_mean": second - first,
            "delta_p_mean_reason": first_reason(
                len(after),
                [
                    (np.isnan(second), "the whole panel has not judged this turn"),
                    (np.isnan(first), "the whole panel has not judged the turn before"),
                ],
            ),
        }
    )  # fmt: skip


def _accepted_before(attempts: pd.DataFrame) -> pd.Series:
    """Whether an earlier turn of its trajectory was accepted, by attempt_id."""
    table = attempts[["attempt_id", *_GROUP, "turn"]].assign(accepted=attempts["y"].eq(1).fillna(False).astype(bool))
    first = table["turn"].where(table["accepted"]).groupby([table[name] for name in _GROUP]).transform("min")
    later = (table["turn"] > first).fillna(False).astype(bool)
    return pd.Series(later.to_numpy(), index=table["attempt_id"])


def _convergence_in(order: str, attempts: pd.DataFrame, similarities: pd.DataFrame) -> pd.DataFrame:
    rows = with_first_accepted(attempts)
    return pd.DataFrame(
        {
            "order": order, **_same(rows, ["attempt_id", "reference_attempt_id", *_GROUP, "turn"]),
            "turns_from_first_ac": rows["turn"] - rows["turn_reference"],
            "is_reference": rows["attempt_id"] == rows["reference_attempt_id"],
            **scores_of(similarities, rows["reference_attempt_id"], rows["attempt_id"]),
        }
    )  # fmt: skip
