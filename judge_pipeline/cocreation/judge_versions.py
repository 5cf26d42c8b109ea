"""Versions of judges beside each other: the same contest under an old and a new prompt, or another model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from judge_pipeline.cocreation.evaluation import judge_metrics
from judge_pipeline.statistics.bootstrap import N_RESAMPLES
from judge_pipeline.tables import JUDGE_VERSIONS

METRICS = ("roc_auc", "pr_auc", "brier", "ece", "mcc_test", "threshold")
VERSION = ["judge", "prompt_sha256", "model", "asked_with"]
"""What a version of a judge is."""

_NO_MODELS = pd.DataFrame({"judge": [], "attempt_id": [], "model": []}, dtype="object")


def judge_versions(
    contest: str,
    predictions: pd.DataFrame,
    stored: pd.DataFrame,
    requests: pd.DataFrame,
    attempts: pd.DataFrame,
    outputs: Mapping[str, pd.DataFrame],
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
) -> pd.DataFrame:
    """Figures of every version of every judge on one contest; rows of the table ``judge_versions``.

    A version is a prompt template (its sha256), the model that answered, and the parameters it was asked with. Where an
    attempt was asked more than once under a version (its data or the context changed in between), today's answer
    counts, else the latest.

    Args:
        contest: the contest.
        predictions: table PREDICTIONS: what today's figures rest on.
        stored: ``judging.versions.stored_versions`` of its judges.
        requests: table JUDGE_REQUESTS: attempts with the same request share the answer.
        attempts: with attempt_id, participant, problem_id, y and split.
        outputs: judge -> table JUDGE_OUTPUTS, for the models of answers that the checkpoint does not keep.
        seed: seed of the bootstrap.
        n_resamples: resamples behind each interval.
    """
    answers = answers_by_version(predictions, stored, requests, outputs)
    if not len(answers):
        return JUDGE_VERSIONS.empty()
    keys = answers[VERSION].drop_duplicates(ignore_index=True)
    labels = {tuple(key): f"{place:06d}" for place, key in enumerate(keys.to_numpy().tolist())}
    answers["label"] = [labels[key] for key in answers[VERSION].itertuples(index=False, name=None)]
    columns = ["attempt_id", "participant", "problem_id", "y", "split"]
    long = answers.merge(attempts[columns], on="attempt_id")
    metrics = judge_metrics(
        long.assign(judge=long["label"])[["attempt_id", "judge", "p_ac", *columns[1:]]],
        seed=seed,
        n_resamples=n_resamples,
    )
    rows: list[dict[str, Any]] = []
    for key, label in labels.items():
        own = answers[answers["label"] == label]
        common = dict(zip(VERSION, (part or None for part in key), strict=True)) | {
            "contest": contest, "is_current": bool(own["is_current"].any()),
            "n_answered": own["attempt_id"].nunique(), "n_attempts": len(requests),
        }  # fmt: skip
        figures = metrics[(metrics["judge"] == label) & metrics["metric"].isin(METRICS)]
        for row in figures.drop(columns=["judge", "split"]).to_dict("records"):
            rows.append(row | common)
    return JUDGE_VERSIONS.conform(rows)


def answers_by_version(
    predictions: pd.DataFrame, stored: pd.DataFrame, requests: pd.DataFrame, outputs: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """One row for each version and attempt: ``VERSION`` ('' where there is none), attempt_id, p_ac."""
    same = requests[["attempt_id", "request_sha256"]]
    shared = same.merge(same, on="request_sha256", suffixes=("", "_asked"))[["attempt_id", "attempt_id_asked"]]
    kept = stored.rename(columns={"attempt_id": "attempt_id_asked"}).merge(shared, on="attempt_id_asked")
    kept = kept[kept["p_ac"].notna()]
    known = stored.drop_duplicates(["judge", "request_hash"])[[*VERSION, "request_hash"]]
    today = predictions[["judge", "attempt_id", "request_hash", "p_ac"]].merge(
        known, on=["judge", "request_hash"], how="left"
    )
    models = pd.concat([_NO_MODELS, *(table[["judge", "attempt_id", "model"]] for table in outputs.values())])
    beside = today[["judge", "attempt_id"]].merge(models, on=["judge", "attempt_id"], how="left")["model"]
    today["model"] = today["model"].astype("object").where(today["model"].notna(), beside.astype("object").to_numpy())
    columns = [*VERSION, "attempt_id", "p_ac", "answered_at", "is_current"]
    earlier, now = kept.assign(is_current=False)[columns], today.assign(answered_at="~", is_current=True)[columns]
    found = pd.concat([earlier, now], ignore_index=True) if len(earlier) else now
    found[VERSION[1:]] = found[VERSION[1:]].astype("object").fillna("")
    # Today's answers sort last: "~" lies behind every date.
    found = found.sort_values([*VERSION, "attempt_id", "answered_at"], kind="stable", ignore_index=True)
    return found.drop_duplicates([*VERSION, "attempt_id"], keep="last", ignore_index=True)
