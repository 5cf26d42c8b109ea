"""Guidance as a frozen file: its hash, its text, what is refused, and pairs that must not be among its records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from judge_pipeline.judging.request import canonical_json, sha256
from judge_pipeline.settings.guidance import FOLDER, GuidanceFile

if TYPE_CHECKING:
    import pandas as pd

_HEAD = """\
# What people weigh that the judge does not, found on training pairs (CriterAlign, HPAG). Frozen: an edit is refused.
# To use an edit, copy the file to assets_config/{folder}/ and name the copy as guidance.file in criteria.yaml; the
# error then says which content_sha256 to write into it.
"""


class GuidanceError(ValueError):
    """Guidance cannot be used. The message names the file, what is wrong, and the remedy."""


def content_sha256(file: GuidanceFile) -> str:
    """sha256 of the file's content, all but this hash. Comments and layout are no part of it."""
    return sha256(canonical_json(file.model_dump(mode="json", exclude={"content_sha256"})))


def frozen(file: GuidanceFile) -> GuidanceFile:
    """The same with the hash of its content."""
    return file.model_copy(update={"content_sha256": content_sha256(file)})


def file_name(file: GuidanceFile) -> str:
    """The name of a synthesized file: judge, synthesizer and the beginning of its hash.

    Raises:
        ValueError: people wrote it; their files have names of their own.
    """
    if file.source is None:
        raise ValueError("only synthesized guidance has a name of its own")
    return f"{file.source.judge}@{file.source.synthesizer}-{content_sha256(file)[:12]}.yaml"


def file_text(file: GuidanceFile) -> str:
    """The text of the file, frozen: the same guidance gives the same bytes."""
    content = frozen(file).model_dump(mode="json", exclude_none=True)
    dumped = str(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110))
    if yaml.safe_load(dumped) != content:  # a line break such as U+0085, which YAML folds where it is not escaped
        dumped = str(yaml.safe_dump(content, sort_keys=False, width=110))
    return _HEAD.format(folder=FOLDER) + dumped


def verified(file: GuidanceFile, path: str) -> GuidanceFile:
    """The guidance, if it is what was frozen; one that people wrote needs no hash.

    Args:
        file: as it was read.
        path: where, for messages.

    Raises:
        GuidanceError: it was edited after it was frozen, or was synthesized and has no hash.
    """
    now = content_sha256(file)
    if file.content_sha256 == now or (file.content_sha256 is None and file.source is None):
        return file
    said = "has no content_sha256" if file.content_sha256 is None else "is not what was frozen: it was edited"
    copied = "" if file.source is None else f"copy it to assets_config/{FOLDER}/, name that as guidance.file, and "
    raise GuidanceError(
        f"{path}: {said}. Take the edit back; or, to freeze it as it is now, {copied}write into it "
        f"'content_sha256: {now}'"
    )


def leaked(guidance: GuidanceFile, preference_set: str, splits: pd.DataFrame) -> list[str]:
    """The pairs among the guidance's records that keep it from being used on the set, sorted.

    They are pairs that are not of split train now; pairs that the set does not have (any more); and, of whatever set
    the records are, pairs whose instruction is that of a pair of another split.

    Args:
        guidance: the guidance; one that people wrote rests on no pair.
        preference_set: the set whose pairs are to be judged with it.
        splits: its table PREFERENCE_SPLITS.
    """
    if guidance.source is None:
        return []
    judged = set(splits.loc[splits["split"] != "train", "instruction_group"])
    train = set(splits.loc[splits["split"] == "train", "pair_id"])
    own = guidance.source.preference_set == preference_set
    # The group as the set has it now counts beside the one on file: the file's may be of another version, or edited.
    group_now = dict(zip(splits["pair_id"], splits["instruction_group"], strict=True)) if own else {}
    return sorted(
        pair_id
        for pair_id, group in guidance.source.pairs.items()
        if {group, group_now.get(pair_id)} & judged or (own and pair_id not in train)
    )


def leak_in_words(guidance: GuidanceFile, preference_set: str, splits: pd.DataFrame) -> str | None:
    """Why the guidance must not be used on the set; None where it may be."""
    found = leaked(guidance, preference_set, splits)
    if not found:
        return None
    named = ", ".join(found[:5]) + (", ..." if len(found) > 5 else "")
    return (
        f"{len(found)} pairs among the guidance's records are not of split train of {preference_set}, or share their "
        f"instruction with a pair that is judged: {named}. What was learnt from pairs that are judged proves nothing: "
        "materialize asset guidance again, or name other guidance"
    )
