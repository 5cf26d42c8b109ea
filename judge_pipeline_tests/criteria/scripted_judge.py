"""Pairs whose responses are lists of features, and a judge of them that does what it is told: who answers in tests."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from judge_pipeline.criteria.asking import PairsToJudge
from judge_pipeline.judging.answer import Answer, parse_answer
from judge_pipeline.judging.answers_table import ANSWER_COLUMNS
from judge_pipeline.judging.question import Question
from judge_pipeline.preference.pair_question import pair_rows
from judge_pipeline.settings.preference import PairJudging
from judge_pipeline.tables.preference import PAIR_TEXTS, PREFERENCE_SPLITS

Features = Mapping[str, int]
FLIPPED = {"A": "B", "B": "A", "tie": "tie", "insufficient": "insufficient", None: None}


def response(features: Features) -> str:
    return " ".join(f"{name}={value}" for name, value in features.items())


def features_in(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", text)}


def pairs_of(
    *pairs: tuple[Features, Features], guidance: Mapping[str, Mapping[str, str]] | None = None, **texts: Any
) -> PairsToJudge:
    """Pairs p0, p1, ... of two responses each."""
    empty = dict.fromkeys(PAIR_TEXTS.column_names) | {"instruction": "Do it"} | texts
    rows = [
        empty | {"pair_id": f"p{n}", "response_a": response(a), "response_b": response(b)}
        for n, (a, b) in enumerate(pairs)
    ]
    splits = [
        {"pair_id": row["pair_id"], "split": "val", "instruction_group": row["pair_id"], "assigned_by": "seed"}
        for row in rows
    ]
    shown = pair_rows("set", PAIR_TEXTS.conform(rows), PREFERENCE_SPLITS.conform(splits), PairJudging())
    return PairsToJudge(shown, guidance or {})


def share_of(*parts: str) -> float:
    """A number from 0 to 1 that the parts decide."""
    return int(hashlib.sha256(" ".join(parts).encode()).hexdigest()[:8], 16) / 0xFFFFFFFF


@dataclass
class ScriptedJudge:
    """Compares two responses by the feature that a criterion names: more is better; without it, insufficient.

    Attributes:
        criteria: what it generates for every pair.
        children: text of a tied criterion -> texts of finer ones.
        repeats: text -> text that it says the same as.
        contradicts: text -> text that it contradicts.
        biased: pair_id and text -> whether it says A of whatever stands first.
        broken: question and row -> whether its answer is invalid.
        log: (stage, question, row) of everything that it was asked.
    """

    criteria: Sequence[str] = ()
    children: Mapping[str, Sequence[str]] = field(default_factory=dict)
    repeats: Mapping[str, str] = field(default_factory=dict)
    contradicts: Mapping[str, str] = field(default_factory=dict)
    biased: Callable[[str, str], bool] = lambda _pair, _text: False
    broken: Callable[[str, Mapping[str, Any]], bool] = lambda _question, _row: False
    log: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)

    @property
    def calls(self) -> dict[str, int]:
        """Stage -> requests."""
        return dict(Counter(stage for stage, _, _ in self.log))

    def asked(self, stage: str) -> list[dict[str, Any]]:
        """The rows that were asked in a stage."""
        return [row for asked_in, _, row in self.log if asked_in == stage]

    def __call__(self, stage: str, question: Question, rows: pd.DataFrame) -> pd.DataFrame:
        """Answers as the engine gives them: what is not valid is a failure."""
        made = []
        assert rows[question.id_column].is_unique
        for row in rows.to_dict("records"):
            name = question.name.removeprefix("criteria_")
            self.log.append((stage, name, row))
            text = "no" if self.broken(name, row) else json.dumps(getattr(self, f"_{name}")(row))
            read = parse_answer(text, "stop", question.answer_model(row))
            own: dict[str, Any] = dict.fromkeys(ANSWER_COLUMNS) | {"id": row[question.id_column], "request_hash": "h"}
            if isinstance(read, Answer):
                own["answer"] = read.value.model_dump()
            else:
                own |= {"failure_class": read.failure_class, "failure": read.text}
            made.append(own)
        return pd.DataFrame(made, columns=list(ANSWER_COLUMNS), dtype="object")

    def _generation(self, row: Mapping[str, Any]) -> Any:
        return {"criteria": [{"text": text, "aspect": "others"} for text in self.criteria]}

    def _verdicts(self, row: Mapping[str, Any]) -> Any:
        return {id_: self._verdict(row, text) for id_, text in json.loads(row["criteria"]).items()}

    def _verdict(self, row: Mapping[str, Any], text: str) -> dict[str, str]:
        first, second = (features_in(row[name]).get(text) for name in ("first", "second"))
        if self.biased(row["pair_id"], text):
            said = "A"
        elif first is None or second is None:
            said = "insufficient"
        else:
            said = "tie" if first == second else "A" if first > second else "B"
        return {"rationale": f"{text}: {first} against {second}", "verdict": said, "confidence": "high"}

    def _decomposition(self, row: Mapping[str, Any]) -> Any:
        tied = json.loads(row["tied"])
        return {
            id_: [{"text": text, "aspect": "correctness"} for text in self.children.get(each["text"], ())]
            for id_, each in tied.items()
        }

    def _redundancy(self, row: Mapping[str, Any]) -> Any:
        return self._check(row, self.repeats)

    def _conflict(self, row: Mapping[str, Any]) -> Any:
        return self._check(row, self.contradicts)

    def _check(self, row: Mapping[str, Any], clashes: Mapping[str, str]) -> Any:
        before = {text: id_ for id_, text in json.loads(row["existing"]).items()}
        found = {}
        for id_, text in json.loads(row["candidates"]).items():
            found[id_] = {"reason": "it does", "other": before.get(clashes.get(text, ""), "none")}
            before.setdefault(text, id_)
        return found

    def _final(self, row: Mapping[str, Any]) -> Any:
        said = Counter(each["verdict"] for each in json.loads(row["verdicts"]).values())
        return _choice(said["A"], said["B"])

    def _monolithic(self, row: Mapping[str, Any]) -> Any:
        if self.biased(row["pair_id"], "whole"):
            return _choice(1, 0)
        return _choice(*(sum(features_in(row[name]).values()) for name in ("first", "second")))


def _choice(first: int, second: int) -> dict[str, str]:
    return {"rationale": "so", "choice": "tie" if first == second else "A" if first > second else "B"}
