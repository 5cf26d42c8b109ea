"""An old and a new prompt of one judge stand side by side, with the figures of their own answers."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from judge_pipeline.cocreation.judge_versions import judge_versions
from judge_pipeline.judging.checkpoint.store import CallRow, Checkpoint, Record, StoredJudgment, StoredRequest
from judge_pipeline.judging.request import Call, Message, canonical_json
from judge_pipeline.judging.versions import COLUMNS, stored_versions

OLD, NEW = "a" * 64, "b" * 64


def attempts(n_groups: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = [
        (f"{group}-{turn}", f"E{group}", "P", int(rng.random() < 0.5), ("val", "test")[group % 2])
        for group in range(n_groups)
        for turn in range(2)
    ]
    return pd.DataFrame(rows, columns=["attempt_id", "participant", "problem_id", "y", "split"])


ATTEMPTS = attempts()
REQUESTS = ATTEMPTS[["attempt_id"]].assign(request_sha256=ATTEMPTS["attempt_id"])


def answers(
    prompt: str,
    skill: float,
    model: str = "m-1",
    judge: str = "j",
    at: str = "2026-01-01",
    asked_with: str | None = '{"parameters":{"temperature":0}}',
) -> pd.DataFrame:
    rng = np.random.default_rng(len(prompt) + int(10 * skill))
    p = 1 / (1 + np.exp(-skill * (ATTEMPTS["y"] - 0.5) - rng.normal(size=len(ATTEMPTS))))
    return pd.DataFrame(
        {"judge": judge, "attempt_id": ATTEMPTS["attempt_id"], "request_hash": prompt[:4] + ATTEMPTS["attempt_id"],
         "p_ac": p, "model": model, "prompt_sha256": prompt, "asked_with": asked_with,
         "answered_at": at}
    )[COLUMNS]  # fmt: skip


def current(stored: pd.DataFrame) -> pd.DataFrame:
    return stored[["judge", "attempt_id", "request_hash", "p_ac"]]


def versions(predictions: pd.DataFrame, stored: pd.DataFrame, requests: pd.DataFrame = REQUESTS) -> pd.DataFrame:
    return judge_versions("spring", predictions, stored, requests, ATTEMPTS, {}, seed=1, n_resamples=50)


def test_each_version_has_the_figures_of_its_own_answers() -> None:
    old, new = answers(OLD, 0.5), answers(NEW, 4.0, at="2026-02-01")
    table = versions(current(new), pd.concat([old, new]))
    auc = table[table["metric"] == "roc_auc"].set_index("prompt_sha256")
    test = ATTEMPTS["split"] == "test"
    for given, sha, is_current in ((old, OLD, False), (new, NEW, True)):
        assert auc.loc[sha, "value"] == pytest.approx(
            roc_auc_score(ATTEMPTS.loc[test, "y"], given.loc[test.to_numpy(), "p_ac"])
        )
        assert bool(auc.loc[sha, "is_current"]) is is_current
        assert auc.loc[sha, "n_answered"] == auc.loc[sha, "n_attempts"] == len(ATTEMPTS)
    assert set(table["contest"]) == {"spring"}


def test_a_new_model_under_the_same_prompt_is_a_version_of_its_own() -> None:
    old, new = answers(OLD, 1.0, "m-1"), answers(OLD, 2.0, "m-2").assign(request_hash=lambda t: "n" + t["request_hash"])
    table = versions(current(new), pd.concat([old, new])).query("metric == 'brier'")
    assert dict(zip(table["model"], table["is_current"], strict=True)) == {"m-1": False, "m-2": True}


def test_another_parameter_is_a_version_of_its_own_and_its_answers_are_not_mixed_with_the_others() -> None:
    old = answers(OLD, 0.5)
    warmer = answers(OLD, 4.0, asked_with='{"parameters":{"temperature":1}}', at="2026-02-01")
    new = warmer.assign(request_hash=lambda t: "n" + t["request_hash"])
    table = versions(current(new), pd.concat([old, new])).query("metric == 'roc_auc'").set_index("asked_with")
    test = (ATTEMPTS["split"] == "test").to_numpy()
    for given, text, is_current in ((old, 0, False), (new, 1, True)):
        row = table.loc[f'{{"parameters":{{"temperature":{text}}}}}']
        assert row["value"] == pytest.approx(roc_auc_score(ATTEMPTS.loc[test, "y"], given.loc[test, "p_ac"]))
        assert bool(row["is_current"]) is is_current


def test_asked_twice_under_one_version_todays_answer_counts() -> None:
    first = answers(OLD, 0.0)
    again = answers(OLD, 4.0, at="2026-03-01").assign(request_hash=lambda t: "n" + t["request_hash"])
    table = versions(current(first), pd.concat([first, again])).query("metric == 'roc_auc'")
    assert len(table) == 1
    test = (ATTEMPTS["split"] == "test").to_numpy()
    assert table["value"].iloc[0] == pytest.approx(roc_auc_score(ATTEMPTS.loc[test, "y"], first.loc[test, "p_ac"]))


def test_attempts_with_the_same_request_share_its_answer_and_recorded_judges_have_no_prompt() -> None:
    old = answers(OLD, 1.0).iloc[::2]
    requests = REQUESTS.assign(request_sha256=[a.split("-")[0] for a in REQUESTS["attempt_id"]])
    recorded = answers(NEW, 1.0, judge="recorded")
    table = versions(current(recorded), old, requests).query("metric == 'brier'").set_index("judge")
    assert table.loc["j", "n_answered"] == len(ATTEMPTS)
    assert table.loc["recorded", ["prompt_sha256", "model", "asked_with"]].isna().all()


def test_nothing_answered_is_an_empty_table() -> None:
    nothing = pd.DataFrame(columns=COLUMNS)
    assert not len(versions(current(nothing), nothing))


def call(temperature: float, **more: Any) -> Call:
    # The text holds what a search for the parameters would find.
    message = Message("user", '"parameters":{"temperature":9},"send_schema":null')
    return Call("m", None, {"temperature": temperature}, (message,), **more)


@pytest.mark.parametrize(
    ("asked", "with_"),
    [
        (call(0.5), '{"parameters":{"temperature":0.5}}'),
        (replace(call(1), parameters={}), "{}"),
        (replace(call(1), base_url="http://h/v1", send_schema=True),
         '{"base_url":"http://h/v1","parameters":{"temperature":1},"send_schema":true}'),
        (replace(call(1), parameters={"stop": ["a\u2028", None], "x": {"b": False, "a": 1.0}}, send_schema=False),
         '{"parameters":{"stop":["a\u2028",null],"x":{"a":1.0,"b":false}},"send_schema":false}'),
    ],
)  # fmt: skip
def test_the_store_tells_how_each_was_asked(tmp_path: Path, asked: Call, with_: str) -> None:
    with closing(Checkpoint(f"sqlite:///{tmp_path / 'c.sqlite'}")) as checkpoint:
        checkpoint.record([
            Record(
                StoredRequest("h1", "t.md.j2", OLD, canonical_json(asked.components())),
                CallRow("j", "h1", "a1", 0, "run", 1, "2026-01-01T00:00:00Z", 5.0),
                StoredJudgment("j", "h1", "a1", {"p_ac": 0.5}, None, "m-1", 5.0),
            )
        ])  # fmt: skip
        assert stored_versions(checkpoint, ["j"])["asked_with"].tolist() == [with_]


def test_the_store_gives_first_askings_of_the_judge_with_their_prompt(tmp_path: Path) -> None:
    def record(judge: str, hash_: str, attempt: str, p: float, repeat: int = 0, sha: str = OLD) -> Record:
        answer = {"p_ac": p, "s_algo": 3, "s_robust": 3, "rationale": ""}
        return Record(
            StoredRequest(hash_, "t.md.j2", sha, canonical_json(call(0.1 * len(hash_)).components())),
            CallRow(judge, hash_, attempt, repeat, "run", 1, "2026-01-01T00:00:00Z", 5.0),
            StoredJudgment(judge, hash_, attempt, answer, None, "m-1", 5.0),
        )

    with closing(Checkpoint(f"sqlite:///{tmp_path / 'c.sqlite'}")) as checkpoint:
        checkpoint.record(
            [record("j", "h1", "a1", 0.25), record("j", "h2", "a1", 0.75, sha=NEW), record("j", "h3", "a1", 0.5, 1),
             record("j~canary", "h4", "a1", 0.9), record("other", "h5", "a2", 0.1)]
        )  # fmt: skip
        found = stored_versions(checkpoint, ["j"])
    assert found["p_ac"].tolist() == [0.25, 0.75]
    assert found["prompt_sha256"].tolist() == [OLD, NEW]
    assert list(found.columns) == COLUMNS
