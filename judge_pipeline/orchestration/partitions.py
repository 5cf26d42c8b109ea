"""The partitions: contest and preference_set (dynamic, one per folder of data) x judge (from judges.yaml).

Dagster knows two dimensions. Where pairs are judged criterion by criterion there are three: the judge's key then reads
``judge@configuration``, with a configuration of criteria.yaml.
"""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

CONTESTS = dg.DynamicPartitionsDefinition(name="contest")
"""One partition for each contest folder."""

PREFERENCE_SETS = dg.DynamicPartitionsDefinition(name="preference_set")
"""One partition for each folder of a preference set."""


def contest_by_judge(judges: Sequence[str]) -> dg.MultiPartitionsDefinition:
    """One partition for each contest and judge; keys read ``contest|judge``."""
    return dg.MultiPartitionsDefinition({"contest": CONTESTS, "judge": dg.StaticPartitionsDefinition(list(judges))})


def set_by_judge(judges: Sequence[str]) -> dg.MultiPartitionsDefinition:
    """One partition for each preference set and judge; keys read ``judge|preference_set``."""
    judged_by = dg.StaticPartitionsDefinition(list(judges))
    return dg.MultiPartitionsDefinition({"judge": judged_by, "preference_set": PREFERENCE_SETS})


def configured(judge: str, configuration: str) -> str:
    """The key of a judge under a configuration."""
    return f"{judge}@{configuration}"


def any_judge_of_the_contest() -> dg.MultiToSingleDimensionPartitionMapping:
    """From one contest to its judgments by whichever judges there are; it runs with the partitions that exist."""
    return dg.MultiToSingleDimensionPartitionMapping("contest")


def any_judge_of_the_set() -> dg.MultiToSingleDimensionPartitionMapping:
    """From one preference set to the choices by whichever judges there are."""
    return dg.MultiToSingleDimensionPartitionMapping("preference_set")


def guidance_of(judges: Sequence[str], keys: Sequence[str]) -> dg.MultiPartitionMapping:
    """From a judge under a configuration to the judge's guidance, of the same set.

    Args:
        judges: the judges that guidance is made for.
        keys: the keys ``judge@configuration``.
    """
    own = {judge: {key for key in keys if key.partition("@")[0] == judge} for judge in judges}
    return dg.MultiPartitionMapping(
        {
            "judge": dg.DimensionPartitionMapping("judge", dg.StaticPartitionMapping(own)),
            "preference_set": dg.DimensionPartitionMapping("preference_set", dg.IdentityPartitionMapping()),
        }
    )


def contest_of(context: dg.AssetExecutionContext | dg.OpExecutionContext) -> str:
    """The contest of the running partition, whether it has a judge dimension or not."""
    return _dimension(context, "contest")


def preference_set_of(context: dg.AssetExecutionContext | dg.OpExecutionContext) -> str:
    """The preference set of the running partition, whether it has a judge dimension or not."""
    return _dimension(context, "preference_set")


def judge_of(context: dg.AssetExecutionContext | dg.OpExecutionContext) -> str:
    """The judge of the running partition."""
    return _dimension(context, "judge")


def configured_judge_of(context: dg.AssetExecutionContext) -> tuple[str, str]:
    """The judge of the running partition, and its configuration."""
    judge, _, configuration = judge_of(context).partition("@")
    return judge, configuration


def partition_words(context: dg.AssetExecutionContext) -> str | None:
    """The running partition in words, its set or contest first and then its judge; None: it has no partition."""
    if not context.has_partition_key:
        return None
    key = context.partition_key
    if not isinstance(key, dg.MultiPartitionKey):
        return str(key)
    own = key.keys_by_dimension
    return ", ".join(own[name] for name in sorted(own, key=lambda name: (name == "judge", name)))


def _dimension(context: dg.AssetExecutionContext | dg.OpExecutionContext, name: str) -> str:
    key = context.partition_key
    return key.keys_by_dimension[name] if isinstance(key, dg.MultiPartitionKey) else str(key)
