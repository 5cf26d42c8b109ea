"""The ceiling of money that one run was given beside those of judges.yaml."""

from __future__ import annotations

import math
from collections.abc import Mapping

import dagster as dg

from judge_pipeline.settings import Ceilings

CEILING_TAG = "judge_pipeline/ceiling_usd"
"""Tag of a run that stops before it has spent so many US dollars."""


def ceilings_of(tags: Mapping[str, str], ceilings: Ceilings) -> Ceilings:
    """The ceilings that hold for a run with these tags: the lower one of its own and judges.yaml's.

    Raises:
        dagster.Failure: the tag is no amount of money.
    """
    value = tags.get(CEILING_TAG)
    if value is None:
        return ceilings
    try:
        own = float(value)
    except ValueError:
        own = math.nan
    if not (math.isfinite(own) and own >= 0):
        raise dg.Failure(
            f"tag {CEILING_TAG}: {value!r} is no amount of US dollars; give 0 or more, as in 2.50", allow_retries=False
        )
    return ceilings.model_copy(update={"run": own if ceilings.run is None else min(own, ceilings.run)})
