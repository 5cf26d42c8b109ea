"""The baseline never sees a label of val or test, nor on train one of the attempt's own trajectory."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, JudgingResult, judge_requests
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.verification import verify
from judge_pipeline.settings import BaselineJudge
from judge_pipeline.tables import JUDGE_REQUESTS

SPLITS = ["train"] * 8 + ["val", "test"]


def contest(n: int = 120, signal: float = 1.0, turns: int = 2, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Requests and labels; with ``signal`` 1 the code gives its label away, with 0 it does not."""
    rng = random.Random(seed)
    requests, labels = [], []
    for i in range(n):
        group = i // turns
        y = rng.random() < 0.5
        told = y if rng.random() < signal else rng.random() < 0.5
        requests.append(
            {
                "attempt_id": f"{i:016x}", "split": SPLITS[group % 10], "problem_id": f"P{group % 3}", "language": "C",
                "source_code": ("for (int i = 0; i < n; ++i) sum += a[i];" if told else "while (1) { goto end; }")
                + f" // {rng.randrange(10**6)}",
                "prompt_text": f"please help me {group % 7}", "problem_statement": None, "context": "nonblind",
                "source_chars_cut": 0, "prompt_chars_cut": 0, "request_sha256": f"{i:064x}",
            }
        )  # fmt: skip
        labels.append(
            {"attempt_id": f"{i:016x}", "participant": f"E{group}", "problem_id": f"P{group % 3}",
             "split": SPLITS[group % 10], "y": int(y)}
        )  # fmt: skip
    return JUDGE_REQUESTS.conform(requests), pd.DataFrame(labels).astype({"y": "Int64"})


@pytest.fixture
def judge(checkpoint: Checkpoint, context: JudgingContext) -> Any:
    def run(requests: pd.DataFrame, labels: pd.DataFrame | None, seed: int = 1, **settings: Any) -> JudgingResult:
        changed = dataclasses.replace(context, training=labels, seed=seed)
        judge = BaselineJudge(backend="baseline", **settings)
        return judge_requests("baseline", judge, requests, checkpoint=checkpoint, context=changed)

    return run


def test_it_predicts_every_attempt_and_learns_what_there_is_to_learn(judge: Any) -> None:
    requests, labels = contest()
    result = judge(requests, labels)
    assert verify(result.outputs, requests) == []
    assert list(result.outputs["attempt_id"]) == list(requests["attempt_id"])
    for split in ("train", "val", "test"):
        rows = (requests["split"] == split).to_numpy()
        assert roc_auc_score(labels["y"][rows].astype(int), result.outputs["p_ac"][rows]) > 0.95
    words = result.outputs["rationale"].groupby(requests["split"]).first()
    assert words["test"] == "text baseline, fitted on train"
    assert words["train"].startswith("text baseline, out of fold ")
    assert result.outputs["s_algo"].isna().all()


@pytest.mark.slow
def test_labels_of_val_and_test_change_nothing(judge: Any) -> None:
    requests, labels = contest(60)
    first = judge(requests, labels).outputs
    outside = labels["split"] != "train"
    for changed in (1 - labels["y"], labels["y"].sample(frac=1, random_state=3).set_axis(labels.index), pd.NA):
        other = labels.assign(y=labels["y"].mask(outside, changed))
        pd.testing.assert_frame_equal(judge(requests, other).outputs, first)


def test_on_train_it_does_not_know_the_labels_of_the_trajectory(judge: Any) -> None:
    """Each trajectory has a code and a random label of its own: who has seen the label knows it, others guess."""
    requests, labels = contest(n=300, turns=3)
    codes = [f"program {random.Random(i // 3).randrange(10**9)} " * 3 for i in range(300)]
    requests = requests.assign(source_code=codes, prompt_text="")
    labels["y"] = pd.array([random.Random(1000 + i // 3).randrange(2) for i in range(300)], dtype="Int64")
    train = (requests["split"] == "train").to_numpy()
    y = labels["y"][train].astype(int)
    counts = CountVectorizer(analyzer="char", ngram_range=(4, 4)).fit_transform(requests["source_code"][train])
    in_sample = LogisticRegression(C=100.0, max_iter=1000).fit(counts, y).predict_proba(counts)[:, 1]
    assert roc_auc_score(y, in_sample) > 0.99  # the labels could be learnt by heart
    out_of_fold = judge(requests, labels, inverse_regularization=100.0).outputs["p_ac"][train]
    assert abs(roc_auc_score(y, out_of_fold) - 0.5) < 0.15


@pytest.mark.slow
def test_it_is_deterministic_and_the_seed_moves_only_the_folds(judge: Any) -> None:
    requests, labels = contest(60, signal=0.7)
    first, same, other = (judge(requests, labels, seed=seed).outputs for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first, same)
    outside = (requests["split"] != "train").to_numpy()
    assert list(first["p_ac"][outside]) == list(other["p_ac"][outside])
    assert list(first["p_ac"][~outside]) != list(other["p_ac"][~outside])


@pytest.mark.slow
def test_the_order_of_rows_changes_nothing(judge: Any) -> None:
    requests, labels = contest(60, signal=0.7)
    first = judge(requests, labels).outputs.set_index("attempt_id")
    mixed = judge(
        requests.sample(frac=1, random_state=5).reset_index(drop=True), labels.sample(frac=1, random_state=6)
    ).outputs.set_index("attempt_id")
    pd.testing.assert_frame_equal(mixed.loc[first.index], first)


@pytest.mark.slow
def test_the_hash_covers_training_data_and_own_text(judge: Any) -> None:
    requests, labels = contest(60)
    first = judge(requests, labels).outputs["request_hash"]
    in_train = labels.index[labels["split"] == "train"][0]
    relabelled = labels.assign(y=labels["y"].mask(labels.index == in_train, 1 - labels["y"]))
    assert not set(judge(requests, relabelled).outputs["request_hash"]) & set(first)
    in_test = requests.index[requests["split"] == "test"][0]
    edited = requests.assign(source_code=requests["source_code"].mask(requests.index == in_test, "x = 1"))
    second = judge(edited, labels).outputs["request_hash"]
    assert [i for i in requests.index if first[i] != second[i]] == [in_test]


def test_a_scope_without_train_is_predicted_as_the_whole_is(judge: Any) -> None:
    requests, labels = contest()
    whole = judge(requests, labels).outputs.set_index("attempt_id")
    part = judge(requests, labels, scope={"splits": ["val", "test"]}).outputs.set_index("attempt_id")
    pd.testing.assert_frame_equal(part, whole.loc[part.index])


def test_undecided_attempts_are_predicted_and_not_learnt_from(judge: Any) -> None:
    requests, labels = contest()
    undecided = labels.assign(y=labels["y"].mask(labels.index.isin([0, 1, 2, 40])))
    result = judge(requests, undecided)
    assert verify(result.outputs, requests) == []
    # attempts 0 and 1 are a whole trajectory without a label; 2 has a labelled twin and is out of fold with it
    assert result.outputs["rationale"][0] == "text baseline, fitted on train"
    assert result.outputs["rationale"][2].startswith("text baseline, out of fold")


def test_blind_requests_are_judged_by_code_alone(judge: Any) -> None:
    requests, labels = contest()
    assert verify(judge(requests.assign(prompt_text=""), labels).outputs, requests) == []


def test_no_text_at_all_is_refused(judge: Any) -> None:
    requests, labels = contest()
    with pytest.raises(JudgingError, match="no text in the train split"):
        judge(requests.assign(prompt_text="", source_code=""), labels)


def test_one_class_in_train_is_refused_with_the_counts(judge: Any) -> None:
    requests, labels = contest()
    with pytest.raises(JudgingError, match="its labelled attempts there are: 96 with y = 1"):
        judge(requests, labels.assign(y=labels["y"].mask(labels["split"] == "train", 1)))
    with pytest.raises(JudgingError, match="its labelled attempts there are: none"):
        judge(requests, labels[labels["split"] != "train"])
    with pytest.raises(JudgingError, match="was given none"):
        judge(requests, None)


def test_too_few_trajectories_for_out_of_fold_are_refused_but_val_and_test_are_not(judge: Any) -> None:
    requests, labels = contest()
    one_positive = labels.assign(y=(labels["participant"] == "E0").astype("Int64"))
    with pytest.raises(JudgingError, match="limit its scope to val and test"):
        judge(requests, one_positive)
    assert len(judge(requests, one_positive, scope={"splits": ["val", "test"]}).outputs) == 24


def test_fewer_attempts_of_each_class_than_folds_are_judged_with_fewer_folds(judge: Any) -> None:
    requests, labels = contest(6, turns=1)
    labels = labels.assign(y=pd.Series([0, 1, 0, 1, 0, 1], dtype="Int64"), split="train")
    requests = requests.assign(split="train")
    result = judge(requests, labels, folds=5)
    assert verify(result.outputs, requests) == []
    assert result.outputs["rationale"].str.endswith("of 3 on train").all()
