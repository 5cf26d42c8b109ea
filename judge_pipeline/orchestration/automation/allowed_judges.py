"""Which judges a run that nobody started may ask, and what it may spend."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from judge_pipeline.judging.listed_models import listed_price
from judge_pipeline.orchestration.left_out import why_left_out
from judge_pipeline.orchestration.run_ceiling import CEILING_TAG
from judge_pipeline.settings import JudgesFile, LitellmJudge, RecordedJudge, RewardJudge, System, Workspace
from judge_pipeline.settings.automation import AutomaticJudging
from judge_pipeline.settings.judges import AnyJudge


def pricing(judge: AnyJudge) -> Literal["free", "priced", "unpriced"]:
    """Whether a judge's calls cost nothing, have a price, or have none that is known.

    A price of 0 counts where judges.yaml states it, not where a list does.
    """
    if not isinstance(judge, LitellmJudge | RewardJudge):
        return "free"
    if judge.price is not None:
        price = judge.price
        free = price.input_usd_per_million_tokens == 0 and price.output_usd_per_million_tokens == 0
        return "free" if free else "priced"
    return "priced" if isinstance(judge, LitellmJudge) and listed_price(judge.model) is not None else "unpriced"


@dataclass(frozen=True)
class AllowedJudges:
    """The judges of judges.yaml under the section ``judging`` of automation.yaml.

    Attributes:
        judges: judges.yaml.
        settings: the section.
        environment: where their keys are looked for.
    """

    judges: JudgesFile
    settings: AutomaticJudging
    environment: Mapping[str, str]

    def in_folder(self, folder: Path, system: System) -> list[str]:
        """The judges that may be asked about a contest or set by themselves: allowed, enabled, with key and file."""
        return [
            name
            for name in self.judges.names(system)
            if self.allows(name) and why_left_out(self.judges.get(name), folder, self.environment) is None
        ]

    def allows(self, name: str) -> bool:
        """Whether the settings allow it, whatever it is enabled for."""
        ceiling = self.ceiling_of_run is not None
        return self.settings.allows(name, pricing(self.judges.get(name)), ceiling=ceiling)

    @property
    def ceiling_of_run(self) -> float | None:
        """US dollars that a run may spend which starts by itself: the lower one of both files'; None: there is none."""
        both = (self.settings.ceiling_usd.run, self.judges.ceiling_usd.run)
        return min((usd for usd in both if usd is not None), default=None)

    def of_rubric(self, workspace: Workspace, folder: Path) -> list[str]:
        """The judges that find and score a set's rubric.

        Raises:
            SettingsError: the set's preference.yaml is wrong.
        """
        rubric = workspace.preference(folder).rubric
        named = (rubric.proposer, rubric.merger, rubric.scorer, rubric.second_scorer)
        return sorted({name for name in named if name is not None})

    def may_find_rubric(self, workspace: Workspace, folder: Path) -> bool:
        """Whether all judges that find and score a set's rubric may be asked by themselves, and have their keys.

        Raises:
            SettingsError: the set's preference.yaml is wrong, or names a judge that judges.yaml does not list.
        """
        named = self.of_rubric(workspace, folder)
        return all(self.allows(name) and not self.judges.get(name).missing_key(self.environment) for name in named)

    def of_files(self) -> set[str]:
        """The judges whose answers lie in the folders themselves."""
        return {name for name, judge in self.judges.judges.items() if isinstance(judge, RecordedJudge)}

    def costs(self, name: str) -> bool:
        """Whether its calls may cost something."""
        return pricing(self.judges.get(name)) != "free"

    def tags(self, names: Collection[str]) -> dict[str, str]:
        """Tags of a run that asks these judges by itself: the ceiling that it stops before."""
        ceiling = self.ceiling_of_run
        holds = ceiling is not None and any(pricing(self.judges.get(name)) == "priced" for name in names)
        return {CEILING_TAG: f"{ceiling:.6f}"} if holds else {}

    def room_for(self, workspace: Workspace, n_under_way: int, now: datetime) -> float:
        """How many further runs that cost something may start by themselves under the day's ceiling.

        What those under way may still spend counts in full; without a ceiling for each run, only what is spent does.

        Raises:
            JudgingError: the checkpoint cannot be read.
        """
        from judge_pipeline.judging.checkpoint.store import Checkpoint

        day, run = self.settings.ceiling_usd.day, self.ceiling_of_run
        if day is None:
            return float("inf")
        since = (now.astimezone(UTC) - timedelta(hours=24)).isoformat(timespec="microseconds").replace("+00:00", "Z")
        with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
            left = day - checkpoint.spent_since(since)
        if left <= 0:
            return 0
        return left // run - n_under_way if run else float("inf")
