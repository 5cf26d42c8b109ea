"""What the labels' side and the pooled judges weigh, item by item, as the page's examples and sentences need it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.estimates import read_estimate
from judge_pipeline.figures.misalignment import pooled_effects
from judge_pipeline.report.preference_inputs import PreferenceReportInput, item_titles


@dataclass(frozen=True)
class Weights:
    """Coefficients by item title; empty where no model was made.

    Attributes:
        people: of the labels' side.
        judges: of the judges, pooled, with the pooling's interval.
        poles: what it means to satisfy the item.
    """

    people: Mapping[str, Estimate] = field(default_factory=dict)
    judges: Mapping[str, Estimate] = field(default_factory=dict)
    poles: Mapping[str, str] = field(default_factory=dict)

    def divergence(self, item: str) -> float:
        """How far the two are apart; 0 where one is not known."""
        people, judges = self.people.get(item), self.judges.get(item)
        values = [None if weight is None else weight.value for weight in (people, judges)]
        return 0.0 if values[0] is None or values[1] is None else abs(values[1] - values[0])


def weights_of(given: PreferenceReportInput) -> Weights:
    """The weights of a labelled input."""
    titles, rubric = item_titles(given.rubric), given.rubric
    poles = {} if rubric is None else {titles[row["item"]]: row["high"] for row in rubric.to_dict("records")}
    people: dict[str, Estimate] = {}
    if (models := given.preference_models) is not None:
        rows = models[(models["of"] == "people") & (models["effect"] == "coefficient")]
        people = {row["item"]: read_estimate(row) for row in rows.to_dict("records")}
    judges = {} if given.misalignment is None else pooled_effects(given.misalignment, "coefficient")
    return Weights(people, judges, poles)
