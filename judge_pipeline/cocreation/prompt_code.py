"""How far apart the prompts and the code that a judge is shown lie (paper 1, VI-A7, Figure 6)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.null_reasons import first_reason
from judge_pipeline.estimate import Estimate
from judge_pipeline.similarity.edit_distance import normalized_edit_distances
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, ClusterResamples, Weights, replicate
from judge_pipeline.statistics.intervals import estimate_with_interval
from judge_pipeline.statistics.ratios import ratio
from judge_pipeline.statistics.score_counts import FloatArray
from judge_pipeline.tables import PROMPT_CODE_NED, PROMPT_CODE_SUMMARY


def prompt_code_ned(requests: pd.DataFrame, attempts: pd.DataFrame) -> pd.DataFrame:
    """NED between prompt_text and source_code of each test attempt, as judges are shown them.

    Null where judges saw no prompts (blind), where the participant has none, and where the source is empty: the
    distance to an empty text is 1 by definition and says nothing.

    Args:
        requests: table JUDGE_REQUESTS.
        attempts: table ATTEMPTS, for participant and problem.
    """
    test = requests[requests["split"] == "test"].reset_index(drop=True)
    groups = attempts.set_index("attempt_id")[["participant", "problem_id"]].loc[test["attempt_id"]]
    prompt, source = test["prompt_text"], test["source_code"]
    reason = first_reason(
        len(test),
        [
            (test["context"] == "blind", "judges saw no prompts (context: blind)"),
            (prompt == "", "the participant has no prompts"),
            (source == "", "the source is empty"),
        ],
    )
    known = reason.isna().to_numpy()
    ned = np.full(len(test), np.nan)
    ned[known] = normalized_edit_distances(prompt[known].tolist(), source[known].tolist())["ned"]
    return PROMPT_CODE_NED.conform(
        pd.DataFrame(
            {
                "attempt_id": test["attempt_id"],
                "participant": groups["participant"].to_numpy(),
                "problem_id": groups["problem_id"].to_numpy(),
                "n_prompt_chars": prompt.str.len(),
                "n_source_chars": source.str.len(),
                "ned": ned,
                "reason": reason,
            }
        )
    )


def prompt_code_summary(ned: pd.DataFrame, *, seed: int, n_resamples: int = N_RESAMPLES) -> pd.DataFrame:
    """Mean and sample standard deviation of the table ``prompt_code_ned``, with cluster-bootstrap intervals.

    Args:
        ned: table PROMPT_CODE_NED.
        seed: seed of the bootstrap.
        n_resamples: resamples behind each interval.
    """
    known = ned[ned["ned"].notna()]
    n, left_out = len(known), len(ned) - len(known)
    if not n:
        reason = str(ned["reason"].dropna().iloc[0]) if len(ned) else "there is no test attempt"
        undefined = Estimate.undefined(reason, 0, left_out).to_row()
        return PROMPT_CODE_SUMMARY.conform([{"statistic": name, **undefined} for name in ("mean", "sd")])
    values = known["ned"].to_numpy(np.float64)
    cluster = known.groupby(["participant", "problem_id"], sort=True).ngroup().to_numpy()
    n_clusters = int(cluster.max()) + 1

    def statistics(weights: Weights) -> dict[str, FloatArray]:
        return _moments(values, weights[0][:, cluster])

    points = _moments(values, np.ones((1, n)))
    replicates = replicate(ClusterResamples((n_clusters,), n_resamples, seed), statistics, n_observations=n)
    rows: list[dict[str, Any]] = []
    for name, point in points.items():
        if np.isnan(point[0]):
            estimate = Estimate.undefined("one attempt has no standard deviation", n, left_out)
        else:
            estimate = estimate_with_interval(
                float(point[0]), replicates[name], n=n, n_left_out=left_out, n_clusters=n_clusters
            )
        rows.append({"statistic": name, **estimate.to_row()})
    return PROMPT_CODE_SUMMARY.conform(rows)


def _moments(values: FloatArray, weights: FloatArray) -> dict[str, FloatArray]:
    """Mean and sample standard deviation under weights (R, N), each (R,); the latter NaN for a weight of 1."""
    total = weights.sum(axis=1)
    mean = ratio(weights @ values, total)
    # Two passes: the values lie close together, and the difference of large sums would lose their digits.
    squares = (weights * (values[None] - mean[:, None]) ** 2).sum(axis=1)
    return {"mean": mean, "sd": np.sqrt(ratio(squares, np.maximum(total - 1, 0)))}
