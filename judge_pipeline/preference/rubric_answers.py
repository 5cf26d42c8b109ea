"""What models must answer when a rubric is found and scored, and how their answers are checked.

Nothing is completed by guess: an answer that names an unknown proposal, uses one twice or leaves one out is invalid,
and the model is asked again with the error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator

from judge_pipeline.settings.rubrics import LONGEST_POLE_CHARS, LONGEST_TITLE_CHARS

Slot = Literal["first", "second", "equal"]
"""Which response satisfies an item better, as they are shown."""

_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)


def _one_line(value: Any) -> Any:
    """The text on one line; nothing else of it changes."""
    return " ".join(value.split()) if isinstance(value, str) else value


Title = Annotated[str, BeforeValidator(_one_line), Field(min_length=1, max_length=LONGEST_TITLE_CHARS)]
Pole = Annotated[str, BeforeValidator(_one_line), Field(min_length=1, max_length=LONGEST_POLE_CHARS)]


class Axis(BaseModel):
    """An axis on which responses differ."""

    model_config = _STRICT

    title: Title = Field(description=f"Name of the axis, at most {LONGEST_TITLE_CHARS} characters")
    high: Pole = Field(description=f"What it means to be high on it, at most {LONGEST_POLE_CHARS} characters")
    low: Pole = Field(description=f"What it means to be low on it, at most {LONGEST_POLE_CHARS} characters")


class MergedItem(Axis):
    """A rubric item, and what was merged into it."""

    merges: list[str] = Field(min_length=1, description="Ids of what was merged into it")


class AxesAnswer(BaseModel):
    """What one batch of pairs gave: its axes, none where the responses do not differ."""

    model_config = _STRICT

    axes: list[Axis] = Field(description="The axes; an empty list where there is none")


class MergeAnswer(BaseModel):
    """Proposals merged into items. The class of one call knows its ids: see :func:`merge_answer`."""

    model_config = _STRICT

    ids: ClassVar[tuple[str, ...]] = ()
    kept_ids: ClassVar[frozenset[str]] = frozenset()
    at_most: ClassVar[int | None] = None

    items: list[MergedItem] = Field(description="The items")
    dropped: list[str] = Field(description="Ids of proposals that are in no item")

    @model_validator(mode="after")
    def _accounts_for_all(self) -> MergeAnswer:
        problems = self._problems() if self.ids else []
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def _problems(self) -> list[str]:
        ids, kept_ids, at_most = self.ids, self.kept_ids, self.at_most
        used = Counter([*(id_ for item in self.items for id_ in item.merges), *self.dropped])
        found = []
        unknown = sorted(used.keys() - set(ids))
        if unknown:
            found.append(f"{', '.join(unknown[:5])} stands in no list that was given")
        twice = sorted(id_ for id_, n in used.items() if n > 1)
        if twice:
            found.append(f"{', '.join(twice[:5])} is used more than once")
        missing = [id_ for id_ in ids if id_ not in used and id_ not in kept_ids]
        if missing:
            found.append(f"{', '.join(missing[:5])} is neither merged nor dropped")
        joined = [item.title for item in self.items if len(kept_ids.intersection(item.merges)) > 1]
        if joined:
            found.append(f"{joined[0]!r} merges two items that are to stay apart")
        titles = Counter(item.title.lower() for item in self.items)
        found += [f"{n} items have the title {title!r}" for title, n in titles.items() if n > 1]
        new = sum(not kept_ids.intersection(item.merges) for item in self.items)
        if at_most is not None and new > at_most:
            found.append(f"{new} new items where at most {at_most} are wanted")
        return found


def merge_answer(ids: Sequence[str], kept_ids: frozenset[str], at_most: int) -> type[MergeAnswer]:
    """What an answer to one merge must be.

    Args:
        ids: all that is offered, each once.
        kept_ids: of these, items that stay as they are: no two of them in one item; left out, they are kept alone.
        at_most: most items besides those.
    """
    members = {"__module__": __name__, "ids": tuple(ids), "kept_ids": kept_ids, "at_most": at_most}
    members["__annotations__"] = dict.fromkeys(("ids", "kept_ids", "at_most"), ClassVar[Any])
    return cast("type[MergeAnswer]", type("MergeAnswer", (MergeAnswer,), members))


@cache
def axes_answer(at_most: int) -> type[AxesAnswer]:
    """What an answer to a batch must be: at most so many axes."""
    limited = Field(max_length=at_most, description=f"At most {at_most} axes; an empty list where there is none")
    return create_model("AxesAnswer", __base__=AxesAnswer, axes=cast("Any", (list[Axis], limited)))


@cache
def scores_answer(n_items: int) -> type[BaseModel]:
    """What an answer to a pair with so many items must be: fields ``item_1``, ``item_2``, ... with a :data:`Slot`."""
    fields: dict[str, Any] = {
        field: (Slot, Field(description=f"Which response satisfies item {place} better: first, second or equal"))
        for place, field in enumerate(score_fields(n_items), start=1)
    }
    return create_model("ScoresAnswer", __config__=_STRICT, **fields)


def score_fields(n_items: int) -> list[str]:
    """The fields of an answer to so many items."""
    return [f"item_{place}" for place in range(1, n_items + 1)]


class AnyScoresAnswer(BaseModel):
    """An answer to any number of items, where it is not known to how many."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    __pydantic_extra__: dict[str, Slot]

    item_1: Slot
