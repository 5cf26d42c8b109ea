"""Names that are partition keys, and the model that all settings share."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict

from judge_pipeline.settings.yaml_file import SettingsError

SLUG = re.compile(r"(?!.*\.\.\.)[a-z0-9][a-z0-9_.-]*")
"""Contest, preference-set and judge names: they are partition keys, folder names and file names.

Three dots stand between the ends of a range of keys in Dagster, and are in none.
"""


def check_slug(name: str, what: str) -> str:
    """The name, if it can be a partition key.

    Raises:
        SettingsError: it is not a slug ``[a-z0-9][a-z0-9_.-]*`` without ``...``; the message proposes one.
    """
    if SLUG.fullmatch(name):
        return name
    proposal = re.sub(r"\.{3,}|[^a-z0-9_.-]+", "-", name.lower()).lstrip("_.-") or "my-contest"
    raise SettingsError(
        f"{what} {name!r} cannot be a partition key: use lower-case letters, digits, '-', '_' and '.' (not '...'), "
        f"beginning with a letter or digit. Rename it, for example to {proposal!r}"
    )


class SettingsModel(BaseModel):
    """Settings: unknown keys are errors, and nothing changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True)
