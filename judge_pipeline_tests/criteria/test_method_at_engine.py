"""A configuration through the one engine, at a real HTTP server: nothing stored is asked again, stages are shared."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judge_pipeline.criteria.asking import Ask, PairsToJudge
from judge_pipeline.criteria.method import judge_pairs
from judge_pipeline.judging.answers_table import answers_table
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.judging_context import JudgingContext
from judge_pipeline.judging.question import Question
from judge_pipeline.judging.row_asking import ask_rows
from judge_pipeline.settings import EmbeddedJudge, LitellmJudge
from judge_pipeline.settings.criteria import Configuration
from judge_pipeline_tests.criteria.scripted_judge import features_in, pairs_of
from judge_pipeline_tests.criteria.shown_rows import rows_of_all
from judge_pipeline_tests.judging.conftest import Behaviour, Provider, Request, chat

PROMPTS = Path(__file__).resolve().parents[2] / "assets_config" / "prompts"

FULL = Configuration()


def asking(judge: str, settings: Any, checkpoint: Checkpoint, folder: Path) -> Ask:
    """Asks through the engine."""
    context = JudgingContext({}, folder, PROMPTS)

    def ask(stage: str, question: Question, rows: pd.DataFrame) -> pd.DataFrame:
        asked = ask_rows(
            judge, settings, question, rows, checkpoint=checkpoint, context=context, of_whole=rows["request_id"]
        )
        return answers_table(checkpoint, judge, asked)

    return ask


STAGES = {
    "Write 1 to": "generation", "Give the verdict": "verdicts", "Give finer criteria": "decomposition",
    "Which candidates": "check", "Which response": "final",
}  # fmt: skip
"""How the last line of a prompt begins -> what is asked."""


class Served:
    """A judge behind HTTP that compares by features, as ``ScriptedJudge``, from the prompt's words alone."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.stages: Counter[str] = Counter()
        self.broken_once: set[str] = set()
        provider.behave = self.behave

    def behave(self, request: Request, n: int) -> Behaviour:
        text = next(m["content"] for m in request.body["messages"] if m["role"] == "user")
        last = text.strip().splitlines()[-1]
        stage = next(stage for words, stage in STAGES.items() if last.startswith(words))
        is_again = len(request.body["messages"]) > 2
        self.stages[f"{stage} again" if is_again else stage] += 1
        answer = getattr(self, stage)(text)
        if stage in self.broken_once and not is_again:
            answer.pop(next(iter(answer)))
        return chat(json.dumps(answer))

    def generation(self, text: str) -> Any:
        return {"criteria": [{"text": each, "aspect": "others"} for each in ("x", "y", "z")]}

    def verdicts(self, text: str) -> Any:
        said = {}
        for id_, name in re.findall(r'^(\w+): "(\w+)"$', text, re.MULTILINE):
            first, second = (each.get(name, 0) for each in responses(text))
            verdict = "A" if name == "z" else "tie" if first == second else "A" if first > second else "B"
            said[id_] = {"rationale": "r", "verdict": verdict, "confidence": "medium"}
        return said

    def decomposition(self, text: str) -> Any:
        return {
            id_: [{"text": "w", "aspect": "others"}] for id_ in re.findall(r'^(\w+): "\w+"; tie', text, re.MULTILINE)
        }

    def check(self, text: str) -> Any:
        return {id_: {"reason": "r", "other": "none"} for id_ in re.findall(r"^(\w+) \(refines", text, re.MULTILINE)}

    def final(self, text: str) -> Any:
        said = Counter(re.findall(r"; verdict (\w+), confidence", text))
        return {"rationale": "r", "choice": "tie" if said["A"] == said["B"] else "A" if said["A"] > said["B"] else "B"}


def responses(text: str) -> list[dict[str, int]]:
    return [features_in(each) for each in re.findall(r"^Response [AB]:\n\[data \w+\]\n(.*)\n", text, re.MULTILINE)]


@pytest.fixture
def served() -> Iterator[Served]:
    provider = Provider()
    yield Served(provider)
    provider.close()


@pytest.fixture
def checkpoint(tmp_path: Path) -> Iterator[Checkpoint]:
    with closing(Checkpoint(f"sqlite:///{tmp_path / 'c.sqlite'}")) as store:
        yield store


def judge_at(served: Served) -> LitellmJudge:
    limits = {"max_in_flight": 4, "backoff_seconds": 0.01, "max_backoff_seconds": 0.02, "timeout_seconds": 20}
    return LitellmJudge(
        backend="litellm", model="openai/m", base_url=served.provider.url, limits=limits, transport="direct"
    )


PAIRS = pairs_of(({"x": 2, "y": 1, "w": 1}, {"x": 1, "y": 1, "w": 2}), ({"x": 2, "y": 2}, {"x": 1, "y": 1}))


@pytest.mark.slow
def test_a_second_run_asks_nothing_and_two_configurations_share_their_stages(
    served: Served, checkpoint: Checkpoint, tmp_path: Path
) -> None:
    ask = asking("j", judge_at(served), checkpoint, tmp_path)
    made = judge_pairs(FULL, PAIRS, ask)
    assert made.decisions["decision"].tolist() == ["tie", "A"]  # x: A, w: B, z flips; x and y: A
    assert made.consistent_evidence.loc[~made.consistent_evidence["kept"].astype(bool), "text"].tolist() == ["z", "z"]
    full = {"generation": 2, "verdicts": 4 + 2, "decomposition": 1, "check": 2, "final": 2}
    assert dict(served.stages) == full
    again = judge_pairs(FULL, PAIRS, ask)
    assert dict(served.stages) == full
    for name in ("criteria", "criterion_verdicts", "child_verdicts", "refined_criteria", "decisions"):
        pd.testing.assert_frame_equal(getattr(made, name), getattr(again, name))
    judge_pairs(Configuration(swap_filter=False, refinement="none"), PAIRS, ask)
    assert dict(served.stages) == full | {"final": 4}  # only the final judge is shown something else
    guided = PairsToJudge(PAIRS.rows, {"criterion_judge": {"p0": "care for x", "p1": "care for x"}})
    judge_pairs(FULL, guided, ask)
    assert dict(served.stages) == full | {"verdicts": 12, "final": 4}  # the guided verdicts, and nothing that follows


@pytest.mark.slow
def test_an_answer_that_leaves_out_an_id_is_asked_again_and_one_that_stays_so_is_kept_as_invalid(
    served: Served, checkpoint: Checkpoint, tmp_path: Path
) -> None:
    served.broken_once = {"verdicts", "check"}
    ask = asking("j", judge_at(served), checkpoint, tmp_path)
    made = judge_pairs(FULL, PAIRS, ask)
    assert made.criterion_verdicts["verdict"].notna().all() and made.decisions["decision"].tolist() == ["tie", "A"]
    assert (served.stages["verdicts again"], served.stages["check again"]) == (6, 2)
    served.verdicts = lambda text: {"c1": {}}  # type: ignore[method-assign]
    served.stages.clear()
    stays = judge_pairs(FULL, PAIRS, asking("other", judge_at(served), checkpoint, tmp_path))
    assert stays.criterion_verdicts["failure_class"].tolist() == ["invalid"] * 12
    assert stays.decisions["decided_by"].tolist() == ["no_evidence"] * 2
    n = served.stages.copy()
    judge_pairs(FULL, PAIRS, asking("other", judge_at(served), checkpoint, tmp_path))
    assert served.stages == n  # an invalid answer is the judge's own


@pytest.mark.slow
def test_the_embedded_model_refines_and_decides_within_its_schema(checkpoint: Checkpoint, tmp_path: Path) -> None:
    """It is too weak to judge: that its ragged answers are valid, and are stored, is what counts.

    Of the questions those are asked that a run which it judges may never come to: it seldom says tie.
    """
    pairs = pairs_of(({"x": 1}, {"x": 2}), instruction="Return the larger of two numbers")
    ask = asking("embedded", EmbeddedJudge(backend="embedded"), checkpoint, tmp_path)
    for question, rows in rows_of_all(pairs):
        if question.name in ("criteria_decomposition", "criteria_redundancy", "criteria_conflict", "criteria_final"):
            answered = ask("any", question, rows)
            assert answered["answer"].notna().all() and set(answered["n_tries"]) == {1}, question.name
