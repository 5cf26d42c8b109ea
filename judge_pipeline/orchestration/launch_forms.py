"""What a person may say of a run when launching it: fields with descriptions in the launchpad, over the run's tags.

The command line, sensors and schedules say the same by tags. Where both do, the form goes before the tag. Every default
is the safe one: settings decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import dagster as dg
from pydantic import Field, TypeAdapter, ValidationInfo, field_validator

from judge_pipeline.orchestration.run_ceiling import CEILING_TAG

_LIMIT = TypeAdapter(Annotated[int, Field(ge=1)])
_CEILING = TypeAdapter(Annotated[float, Field(ge=0, allow_inf_nan=False)])

LAUNCH = "launch"
"""The resource's key."""

_Form = TypeVar("_Form", bound=dg.Config)


class Launch(dg.ConfigurableResource):  # type: ignore[type-arg]
    """What holds for a run that asks judges: how much is asked, and what it may cost.

    A smaller number never asks or spends more. A field that is empty, null or absent limits nothing.
    """

    # Dagster shows a field of a form only where its default is not null, and a number has no other way to be empty: so
    # these are of any type for Dagster, and checked here.
    limit: Any = Field(
        default="",
        description="A pilot: ask about so many attempts (pairs) only, drawn evenly over split, problem and language. "
        "Empty: all. What a pilot answers is kept and not asked again.",
    )
    ceiling_usd: Any = Field(
        default="",
        description="Stop before this run has spent so many US dollars; the lower one of this and ceiling_usd.run of "
        "judges.yaml holds. Empty: that of judges.yaml alone. What is not asked then is asked by the next run.",
    )

    @field_validator("limit", "ceiling_usd")
    @classmethod
    def _number_or_empty(cls, value: Any, info: ValidationInfo) -> Any:
        if value is None or value == "":
            return ""
        if isinstance(value, bool):
            raise ValueError("must be a number, or empty")
        return (_LIMIT if info.field_name == "limit" else _CEILING).validate_python(value)

    def as_tags(self) -> dict[str, str]:
        """The tags that say the same."""
        from judge_pipeline.orchestration.judging_run import LIMIT_TAG

        said = {LIMIT_TAG: self.limit, CEILING_TAG: self.ceiling_usd}
        return {tag: str(value) for tag, value in said.items() if value != ""}


class CanaryForm(dg.Config):
    """How much is asked of one judge about planted texts."""

    attempts: int = Field(
        default=0,
        ge=0,
        description="Sample so many attempts, 2 or more; each is asked as it is and with every text planted. 0: as "
        "many as canary.attempts of contest.yaml says.",
    )


class AnchorForm(dg.Config):
    """Which period an asking of the anchor set belongs to."""

    period: str = Field(
        default="",
        description="The period's name, such as 2026-11. Within a period nothing is asked twice. Empty: today (UTC), "
        "so that each day asks anew.",
    )


class GuidanceForm(dg.Config):
    """What guidance is made for."""

    configurations: list[str] = Field(
        default=[],
        description="Configurations of criteria.yaml to make guidance for. Empty: those that criteria.yaml names for "
        "the judge under run, all where it names none.",
    )


def launch_tags(context: dg.OpExecutionContext | dg.AssetExecutionContext) -> dict[str, str]:
    """The run's tags, and over them what the launch form says."""
    launch = getattr(context.resources, LAUNCH, None)
    return {**context.run.tags, **(launch.as_tags() if isinstance(launch, Launch) else {})}


def fields_of(form: type[dg.Config]) -> dict[str, dg.Field]:
    """The form's fields as a step's ``config_schema``."""
    fields: dict[str, dg.Field] = dict(form.to_fields_dict())
    return fields


def form_of(context: dg.AssetExecutionContext, form: type[_Form]) -> _Form:
    """The step's form as it was filled in; its defaults where the step has none."""
    filled = context.op_execution_context.op_config
    return form(**filled) if isinstance(filled, Mapping) else form()


def switched_off_in_a_backfill(context: dg.AssetExecutionContext, judge: str) -> str | None:
    """Why the judge is not asked: it is switched off, and the run is one of many that were launched together.

    Whoever presses *All* means the judges that are in use. A run that is launched on its own asks any judge.
    """
    settings = context.resources.workspace.workspace().judges().get(judge)
    if settings.enabled or "dagster/backfill" not in context.run.tags:
        return None
    return (
        f"{judge} is switched off (enabled: false in judges.yaml) and not asked by a backfill; launch its partition on "
        "its own to ask it all the same, or switch it on"
    )
