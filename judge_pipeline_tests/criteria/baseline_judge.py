"""The scripted judge of the other tests, which answers what baselines ask, too."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge_pipeline_tests.criteria.scripted_judge import ScriptedJudge, features_in

MET_FROM = 2


@dataclass
class BaselineJudge(ScriptedJudge):
    """A response meets a criterion whose feature it has at 2 or more; without the feature it does not.

    Attributes:
        weights: text -> weight, of generation and of the call that weighs; 1 where it is not there.
        improved: what it makes of criteria when it improves them; None: the same.
        leaves_out: texts on which it answers nothing.
    """

    weights: Mapping[str, int] = field(default_factory=dict)
    improved: Sequence[str] | None = None
    leaves_out: Collection[str] = ()

    def _task_generation(self, row: Mapping[str, Any]) -> Any:
        assert (row["first"], row["second"], row["evidence_first"], row["evidence_second"]) == ("", "", None, None)
        return self._list(self.criteria, row)

    def _improvement(self, row: Mapping[str, Any]) -> Any:
        return self._list(json.loads(row["criteria"]).values() if self.improved is None else self.improved, row)

    def _list(self, texts: Collection[str], row: Mapping[str, Any]) -> Any:
        made = [{"text": text, "aspect": "others"} for text in texts]
        return {"criteria": [each | self._weight(each["text"]) if row["weighted"] else each for each in made]}

    def _weight(self, text: str) -> dict[str, Any]:
        return {"weight": self.weights.get(text, 1)}

    def _pointwise(self, row: Mapping[str, Any]) -> Any:
        assert (row["second"], row["evidence_second"]) == ("", None)
        return {
            id_: {"rationale": f"{text} of {row['first']}", "met": features_in(row["first"]).get(text, 0) >= MET_FROM}
            for id_, text in json.loads(row["criteria"]).items()
            if text not in self.leaves_out
        }

    def _pointwise_decomposition(self, row: Mapping[str, Any]) -> Any:
        return self._decomposition({"tied": row["met"]})

    def _weights(self, row: Mapping[str, Any]) -> Any:
        return {id_: self.weights.get(text, 1) for id_, text in json.loads(row["criteria"]).items()}

    def _pointwise_final(self, row: Mapping[str, Any]) -> Any:
        said = json.loads(row["answers"]).values()
        a, b = (sum(each[response] for each in said) for response in "AB")
        return {"rationale": "so", "choice": "tie" if a == b else "A" if a > b else "B"}
