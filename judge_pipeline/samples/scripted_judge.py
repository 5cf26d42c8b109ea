"""A scripted judge: no model, but a rule with known faults, so that it is known beforehand what each stage must mend.

It compares responses by measures that it is given, and is honest but for what its script says: it is biased to what
stands first, noisy, and blind to an aspect unless guidance names it. Every answer follows from the request alone, by a
hash: the same request gets the same answer. It is no measurement of any model, and all that comes of it says so.

Which stage asks, it tells from the schema that comes with the request (``response_format``), never from the prompt's
prose. What is asked about, responses, criteria, verdicts, guidance, it takes from the prompt's marked blocks and listed
ids. Which of two checks of one schema it is, the last line says.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge_pipeline.tables.criteria import ASPECTS

Measure = Callable[[str, str], float | None]
"""Text of a response, text of a criterion -> how far the one satisfies the other; None: it cannot be told."""

_BLOCK = re.compile(r"^([^\n]*):\n\[data (\w+)\]\n(.*?)\n\[end \2\]$", re.DOTALL | re.MULTILINE)
_ITEM = re.compile(r'^([ct]\d+)(?: \(([^)\n]*)\))?: ("(?:[^"\\\n]|\\.)*")(.*)$', re.MULTILINE)
_RECORD = re.compile(r"^# Record \d+$", re.MULTILINE)
_CHOICES = re.compile(r"^The judge's choice: (\w+)$.*?^People's choice: (\w+)$", re.DOTALL | re.MULTILINE)
_VERDICT = re.compile(r"^; verdict (\w+),")
_GUIDANCE = "What people were found to weigh in other pairs"
_SAID = "scripted: no model"
_MET_FROM = 0.5


@dataclass(frozen=True)
class ScriptedCriterion:
    """A criterion that the script knows.

    Attributes:
        text: its text.
        aspect: one of ``tables.criteria.ASPECTS``.
        children: texts that it is decomposed into where responses are alike in it.
        contradicts: text of a criterion that it is the opposite of; it is made to be found by the conflict check.
        step: verdicts are a tie where the measures differ by less.
    """

    text: str
    aspect: str
    children: tuple[str, ...] = ()
    contradicts: str | None = None
    step: float = 1e-9


@dataclass(frozen=True)
class Script:
    """What the judge does.

    Attributes:
        criteria: the criteria that it knows; any other is insufficient.
        measure: how far a response satisfies one.
        generated: texts that it generates for every pair.
        weighs: aspects that it weighs, the weightiest first; the first that shows a difference decides.
        if_guided: aspect that it is blind to -> texts that it generates in addition where guidance names the aspect.
        always: aspects that it weighs before those that guidance names; all others it then leaves aside.
        at_a_glance: texts that a decision without criteria goes by.
        position_bias: share of verdicts, and of decisions without criteria, that say A of whatever stands first.
        noise: text of a criterion -> share of its verdicts that are drawn at random, in each order for itself.
        seed: of the draws.
    """

    criteria: tuple[ScriptedCriterion, ...]
    measure: Measure
    generated: tuple[str, ...]
    weighs: tuple[str, ...]
    if_guided: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    always: tuple[str, ...] = ("correctness",)
    at_a_glance: tuple[str, ...] = ()
    position_bias: float = 0.0
    noise: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    def answer(self, body: Mapping[str, Any]) -> str:
        """The answer to a chat completion's body, as JSON.

        Raises:
            ValueError: the request has no schema, or one that the script does not know.
        """
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
        if not isinstance(schema, dict):
            raise ValueError("the scripted judge tells what is asked by the schema: set send_schema: true")
        text = next(message["content"] for message in body["messages"] if message["role"] == "user")
        kind = kind_of(schema)
        return json.dumps(getattr(self, f"_{kind}")(Asked.read(text), schema["properties"]), ensure_ascii=False)

    def criterion(self, text: str) -> ScriptedCriterion | None:
        """The criterion of this text; None where the script knows none."""
        return next((each for each in self.criteria if each.text == text), None)

    def verdict(self, first: str, second: str, text: str) -> str:
        """The verdict on a criterion: A for the response that is shown first."""
        pair = sorted((first, second))
        if self._share("bias", text, *pair) < self.position_bias:
            return "A"
        if self._share("noise", text, first, second) < self.noise.get(text, 0.0):
            drawn = self._share("noisy verdict", text, first, second)
            return ("A", "B", "tie")[min(2, int(3 * drawn))]
        return self._seen(first, second, text)

    def decision(self, first: str, second: str, guided_by: Sequence[str] | None) -> str:
        """The decision without criteria.

        Args:
            first: the response that is shown first.
            second: the other.
            guided_by: aspects that guidance names; None where there is none.
        """
        if self._share("bias", "decision", *sorted((first, second))) < self.position_bias:
            return "A"
        known = [self.criterion(text) for text in (*self.at_a_glance, *self._further(guided_by))]
        return self.weighed([(c.aspect, self._seen(first, second, c.text)) for c in known if c], guided_by)

    def weighed(self, evidence: Sequence[tuple[str, str]], guided_by: Sequence[str] | None) -> str:
        """What verdicts come to: the first aspect that shows a difference decides.

        Args:
            evidence: aspect and verdict of each criterion.
            guided_by: as in :meth:`decision`.
        """
        order = self.weighs if guided_by is None else tuple(dict.fromkeys((*self.always, *guided_by)))
        for aspect in order:
            said = [verdict for own, verdict in evidence if own == aspect]
            balance = said.count("A") - said.count("B")
            if balance:
                return "A" if balance > 0 else "B"
        return "tie"

    def _seen(self, first: str, second: str, text: str) -> str:
        known = self.criterion(text)
        measures = [self.measure(response, text) for response in (first, second)]
        if known is None or measures[0] is None or measures[1] is None:
            return "insufficient"
        difference = measures[0] - measures[1]
        return "tie" if abs(difference) < known.step else "A" if difference > 0 else "B"

    def _further(self, guided_by: Sequence[str] | None) -> list[str]:
        return [text for aspect, texts in self.if_guided.items() if aspect in (guided_by or ()) for text in texts]

    def _share(self, *parts: str) -> float:
        """A number in [0, 1) that the parts and the seed decide."""
        digest = hashlib.sha256(json.dumps([self.seed, *parts]).encode("utf-8", "replace")).hexdigest()
        return int(digest[:13], 16) / 16**13

    def _criteria(self, asked: Asked, fields: Mapping[str, Any]) -> Any:
        has_weight = "weight" in fields["criteria"]["items"]["properties"]
        known = [self.criterion(text) for text in (*self.generated, *self._further(asked.guided_by))]
        listed: list[dict[str, Any]] = [{"text": c.text, "aspect": c.aspect} for c in known if c]
        if has_weight:
            listed = [each | {"weight": 3 if each["aspect"] in self.always else 2} for each in listed]
        return {"criteria": listed}

    def _verdicts(self, asked: Asked, fields: Mapping[str, Any]) -> Any:
        texts = asked.texts()
        return {
            id_: {
                "rationale": f"{_SAID}, by rule: {texts[id_]}", "confidence": "high",
                "verdict": self.verdict(*asked.pair, texts[id_]),
            }
            for id_ in fields
        }  # fmt: skip

    def _answers(self, asked: Asked, fields: Mapping[str, Any]) -> Any:
        texts, response = asked.texts(), asked.responses[0]
        return {
            id_: {"rationale": _SAID, "met": (self.measure(response, texts[id_]) or 0.0) >= _MET_FROM} for id_ in fields
        }

    def _children(self, asked: Asked, fields: Mapping[str, Any]) -> Any:
        texts = asked.texts()
        made = {}
        for id_ in fields:
            known = self.criterion(texts[id_])
            children = [self.criterion(text) for text in known.children] if known else []
            made[id_] = [{"text": child.text, "aspect": child.aspect} for child in children if child]
        return made

    def _check(self, asked: Asked, fields: Mapping[str, Any]) -> Any:
        conflict = "contradict" in asked.last_line
        found: dict[str, dict[str, str]] = {}
        before: dict[str | None, str] = {}
        for item in asked.items:
            known = self.criterion(item.text)
            other = (known.contradicts if known else None) if conflict else item.text
            if item.id in fields:
                found[item.id] = {"reason": _SAID, "other": before.get(other, "none")}
            before.setdefault(item.text, item.id)
        return found

    def _weights(self, asked: Asked, fields: Mapping[str, Any]) -> Any:
        texts = asked.texts()
        known = {id_: self.criterion(texts[id_]) for id_ in fields}
        return {id_: 10 if c and c.aspect in self.always else 5 for id_, c in known.items()}

    def _decision(self, asked: Asked, fields: Mapping[str, Any]) -> Any:
        if asked.evidence:
            choice = self.weighed(asked.evidence, asked.guided_by)
        else:
            choice = self.decision(*asked.pair, asked.guided_by)
        return {"rationale": _SAID, "choice": choice}

    def _rationale(self, asked: Asked, fields: Mapping[str, Any]) -> Any:
        return {"rationale": _SAID}

    def _guidance(self, asked: Asked, fields: Mapping[str, Any]) -> Any:
        """Names the aspects that people's choices follow where they differ from the judge's."""
        aspects = self.aspects_missed(asked.records)
        words = f"People weigh {', '.join(aspects)}." if aspects else "People weigh what the judge weighs."
        gap = {"text": words, "gap": "missed"}
        return {
            "patterns": [gap],
            **dict.fromkeys(("generator", "criterion_judge", "final_judge"), f"{words} ({_SAID})"),
        }

    def aspects_missed(self, records: Sequence[Record]) -> list[str]:
        """The aspects that the script is blind to by which people's choices go more often than against them.

        Args:
            records: training records; those on which judge and people agree say nothing.
        """
        found = []
        apart = [record for record in records if record.judge != record.human]
        for aspect, texts in self.if_guided.items():
            said = [(self._seen(each.first, each.second, text), each.human) for each in apart for text in texts]
            if sum(seen == human for seen, human in said) > sum({seen, human} == {"A", "B"} for seen, human in said):
                found.append(aspect)
        return found


@dataclass(frozen=True)
class Item:
    """A listed criterion.

    Attributes:
        id: its id.
        note: what stands in brackets behind it.
        text: its text.
        rest: what follows the text on its line.
    """

    id: str
    note: str
    text: str
    rest: str


@dataclass(frozen=True)
class Record:
    """A training record as a synthesizer is shown it: the responses, and what the judge and people chose."""

    first: str
    second: str
    judge: str
    human: str


@dataclass(frozen=True)
class Asked:
    """What a prompt is about.

    Attributes:
        responses: the responses, in the order in which they are shown.
        items: the listed criteria.
        guided_by: aspects that guidance names; None where there is none.
        records: training records.
        last_line: the prompt's last line.
    """

    responses: tuple[str, ...]
    items: tuple[Item, ...]
    guided_by: tuple[str, ...] | None
    records: tuple[Record, ...]
    last_line: str

    @classmethod
    def read(cls, prompt: str) -> Asked:
        """What stands in the prompt's blocks and lists; text within a block is never taken for a list or a block."""
        blocks = [(label.partition(" (")[0], text) for label, _, text in _BLOCK.findall(prompt)]
        outside = _BLOCK.sub("", prompt)
        items = tuple(Item(id_, note, json.loads(quoted), rest) for id_, note, quoted, rest in _ITEM.findall(outside))
        guidance = next((text for label, text in blocks if label == _GUIDANCE), None)
        named = None if guidance is None else tuple(each for each in ASPECTS if re.search(rf"\b{each}\b", guidance))
        records = tuple(_records(prompt)) if _RECORD.search(outside) else ()
        responses = tuple(text for label, text in blocks if label in ("Response A", "Response B", "Response"))
        return cls(responses, items, named, records, outside.strip().splitlines()[-1])

    @property
    def pair(self) -> tuple[str, str]:
        """The two responses.

        Raises:
            ValueError: the prompt does not show two.
        """
        first, second = self.responses
        return first, second

    def texts(self) -> dict[str, str]:
        """Id -> text of the listed criteria."""
        return {item.id: item.text for item in self.items}

    @property
    def evidence(self) -> list[tuple[str, str]]:
        """Aspect and verdict of each criterion that is listed with a verdict."""
        return [(item.note, found[1]) for item in self.items if (found := _VERDICT.match(item.rest))]


def _records(prompt: str) -> list[Record]:
    found = []
    for part in _RECORD.split(prompt)[1:]:
        responses = [text for label, _, text in _BLOCK.findall(part) if label.startswith("Response ")]
        choices = _CHOICES.search(_BLOCK.sub("", part))
        if choices is not None and len(responses) == 2:
            found.append(Record(responses[0], responses[1], choices[1], choices[2]))
    return found


def kind_of(schema: Mapping[str, Any]) -> str:
    """What a schema asks for: criteria, verdicts, answers, children, check, weights, decision, rationale, guidance.

    Raises:
        ValueError: none of these.
    """
    fields = schema["properties"]
    whole = {"criteria": "criteria", "choice,rationale": "decision", "rationale": "rationale",
             "criterion_judge,final_judge,generator,patterns": "guidance"}  # fmt: skip
    named = whole.get(",".join(sorted(fields)))
    if named is not None:
        return named
    each: Mapping[str, Any] = next(iter(fields.values()), {})
    own = ",".join(sorted(each.get("properties", {}))) or each.get("type")
    of_each = {"confidence,rationale,verdict": "verdicts", "met,rationale": "answers", "other,reason": "check",
               "array": "children", "integer": "weights"}  # fmt: skip
    if own not in of_each:
        raise ValueError(f"the scripted judge knows no answer with the fields {', '.join(fields)}")
    return of_each[own]
