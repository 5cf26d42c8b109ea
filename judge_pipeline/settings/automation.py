"""automation.yaml, checked: what runs by itself, what it may cost, who is told of failures."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from judge_pipeline.settings.names import SettingsModel, check_slug
from judge_pipeline.settings.yaml_file import SettingsError

FILE = "automation.yaml"

_CRON_LIMITS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
"""The smallest and the largest number of each field of cron."""

_LONGEST = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
"""Month -> its days at most, where those are not 31."""


def _checked_cron(value: str) -> str:
    fields = value.split(" ")
    if len(fields) != len(_CRON_LIMITS) or not all(map(_is_cron_field, fields, _CRON_LIMITS)):
        raise ValueError("must be five fields of cron (minute hour day month weekday), for example '0 2 * * *'")
    if "*" not in fields[2] + fields[3] and fields[4] == "*":
        longest = max(_LONGEST.get(month, 31) for month in _months(fields[3]))
        if min(map(int, _numbers(fields[2]))) > longest:
            raise ValueError("must name a day that comes: none of these months has so many days")
    return value


def _is_cron_field(field: str, limits: tuple[int, int]) -> bool:
    part = r"(\*|\d{1,2}(-\d{1,2})?)(/[1-9]\d?)?"
    return re.fullmatch(rf"{part}(,{part})*", field) is not None and all(
        limits[0] <= int(number) <= limits[1] for number in _numbers(field)
    )


def _numbers(field: str) -> list[str]:
    return re.findall(r"(?<!/)\b\d+", field)


def _months(field: str) -> set[int]:
    """The months that a field names, at most: a range may begin in one year and end in the next."""
    found: set[int] = set()
    for first, last in re.findall(r"(?<!/)\b(\d+)(?:-(\d+))?", field):
        n = (int(last or first) - int(first)) % 12 + 1
        found |= {(int(first) - 1 + more) % 12 + 1 for more in range(n)}
    return found


def _checked_names(value: str | tuple[str, ...]) -> str | tuple[str, ...]:
    for name in value if isinstance(value, tuple) else ():
        try:
            check_slug(name, "judge name")
        except SettingsError as error:
            raise ValueError(str(error)) from None
    return value


class WatchSettings(SettingsModel):
    """Which folders are watched, and when one counts as settled."""

    contests: bool = Field(default=True, description="Run new and changed contest folders by themselves")
    preference_sets: bool = Field(default=True, description="Run new and changed preference sets by themselves")
    quiet_seconds: float = Field(
        default=60.0, ge=0, le=86_400, description="Time for which a folder's listing must have stayed the same"
    )
    interval_seconds: int = Field(default=30, ge=1, le=86_400, description="Shortest time between two looks")


class AutomaticCeilings(SettingsModel):
    """Money that runs which start by themselves stop before, in US dollars, beside the ceilings of judges.yaml."""

    run: float | None = Field(default=None, ge=0, description="For each such run: one judge of one contest; null: none")
    day: float | None = Field(
        default=None, ge=0, description="No such run starts once all calls of 24 hours cost so much; null: none"
    )


class AutomaticJudging(SettingsModel):
    """Which judges are asked by runs that start by themselves."""

    by_itself: Annotated[Literal["none", "free", "all"] | tuple[str, ...], AfterValidator(_checked_names)] = Field(
        default="free",
        description="none; free: judges whose calls cost nothing; all that are enabled and have their key; or names",
    )
    ceiling_usd: AutomaticCeilings = Field(default=AutomaticCeilings(), description="Money that such runs stop before")

    def allows(self, name: str, priced: Literal["free", "priced", "unpriced"], *, ceiling: bool) -> bool:
        """Whether the judge may be asked by a run that nobody started.

        Args:
            name: the judge.
            priced: whether its calls are known to cost nothing, have a price, or have none that is known. Without a
                price a ceiling cannot hold: such a judge must be named.
            ceiling: whether there is a ceiling for each run, here or in judges.yaml.
        """
        if isinstance(self.by_itself, tuple):
            return name in self.by_itself and (priced != "priced" or ceiling)
        if priced == "free":
            return self.by_itself != "none"
        return self.by_itself == "all" and priced == "priced" and ceiling

    def check_names(self, names: Collection[str]) -> None:
        """Refuse names that judges.yaml does not list.

        Raises:
            SettingsError: ``by_itself`` names a judge that is not listed.
        """
        unknown = sorted(set(self.by_itself) - set(names)) if isinstance(self.by_itself, tuple) else []
        if unknown:
            raise SettingsError(
                f"{FILE}, key judging.by_itself: {', '.join(unknown)} is not in judges.yaml; it lists: "
                f"{', '.join(names)}"
            )


class RerunSettings(SettingsModel):
    """What is made again by itself."""

    stale: bool = Field(
        default=False, description="Make again what a new prompt, model, parameter or program has made stale"
    )
    failed_cron: Annotated[str, AfterValidator(_checked_cron)] = Field(
        default="0 2 * * *", description="When failed runs are tried again, in UTC; off until switched on in the UI"
    )


def _checked_variable(value: str) -> str:
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", value):
        raise ValueError("must be the name of an environment variable, and not the address or password itself")
    return value


def _checked_mailbox(value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"[^@\s<>,;\"]+@[^@\s<>,;\"]+", value):
        raise ValueError("must be a bare e-mail address, such as team@example.org")
    return value


_Variable = Annotated[str, AfterValidator(_checked_variable)]
_Mailbox = Annotated[str, AfterValidator(_checked_mailbox)]


class NotifySettings(SettingsModel):
    """Who is told of a run that failed, or a batch that is stuck. Nobody is, until one of the two variables is set."""

    webhook_env: _Variable = Field(
        default="JUDGE_PIPELINE_WEBHOOK_URL", description="Environment variable that holds the webhook's URL"
    )
    smtp_env: _Variable = Field(
        default="JUDGE_PIPELINE_SMTP_URL",
        description="Environment variable that holds the mail server: smtp://USER:PASSWORD@HOST:587 or smtps://...",
    )
    email_to: tuple[_Mailbox, ...] = Field(default=(), description="Who gets an e-mail")
    email_from: _Mailbox | None = Field(default=None, description="Whom it is from; null: the first of email_to")
    most_messages: int = Field(
        default=5, ge=1, le=100, description="Messages a look; what failed beyond that is named in the last one"
    )
    interval_seconds: int = Field(default=30, ge=1, le=86_400, description="Shortest time between two looks")
    batch_hours: float = Field(
        default=26.0,
        gt=0,
        le=1000,
        description="Time after which a batch that has not moved is told, and again each time that this has passed",
    )
    words: bool = Field(
        default=True, description="Say in words why it failed; false: job, partition, step and failure classes alone"
    )


def _checked_address(value: str | None) -> str | None:
    if value is None:
        return None
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise ValueError("must be an address such as https://judges.example.org/reports, without user, '?' and '#'")
    return value.rstrip("/")


_Address = Annotated[str | None, AfterValidator(_checked_address)]


def _checked_owners(value: tuple[str, ...]) -> tuple[str, ...]:
    for owner in value:
        if not re.fullmatch(r"team:[A-Za-z0-9_-]+|[^@\s]+@[^@\s]+\.[^@\s]+", owner):
            raise ValueError(f"{owner!r} must be an e-mail address or team:NAME (letters, digits, '_', '-')")
    return value


class LinkSettings(SettingsModel):
    """Addresses under which pages are reached, and whom the UI names as owners.

    The environment variables JUDGE_PIPELINE_UI_URL and JUDGE_PIPELINE_REPORTS_URL go before the addresses.
    """

    ui_url: _Address = Field(
        default=None, description="Of the Dagster UI; null: where judge-pipeline ui listens, http://127.0.0.1:3000"
    )
    reports_url: _Address = Field(
        default=None, description="Of <out>/reports/; null: where judge-pipeline ui serves it, http://127.0.0.1:3001"
    )
    owners: Annotated[tuple[str, ...], AfterValidator(_checked_owners)] = Field(
        default=("team:judge-research",), description="Owners of every asset: e-mail addresses, or team:NAME"
    )


class AutomationFile(SettingsModel):
    """assets_config/automation.yaml."""

    watch: WatchSettings = Field(default=WatchSettings(), description="Folders that are watched")
    judging: AutomaticJudging = Field(default=AutomaticJudging(), description="Judges asked by runs nobody started")
    rerun: RerunSettings = Field(default=RerunSettings(), description="What is made again by itself")
    notify: NotifySettings = Field(default=NotifySettings(), description="Who is told of failures")
    links: LinkSettings = Field(default=LinkSettings(), description="Addresses of pages")
