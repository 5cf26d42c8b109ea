"""What assets are given: the workspace, and a way to say how far they are."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import dagster as dg

from judge_pipeline.orchestration.contest_folders import contest_folder
from judge_pipeline.orchestration.left_out import why_left_out
from judge_pipeline.orchestration.preference_sets import preference_folder
from judge_pipeline.settings import ContestSettings, PreferenceSettings, System, Workspace
from judge_pipeline.settings.secrets_file import key_environment

if TYPE_CHECKING:
    from judge_pipeline.cocreation.coverage import JudgeFacts
    from judge_pipeline.judging.progress import Progress as JudgingProgress
    from judge_pipeline.preference.pair_coverage import PairJudgeFacts


_WAITS = "its requests wait in a batch at the provider"


class WorkspaceResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Where the team's configuration and data lie, and where to write."""

    config_dir: str
    data_dir: str
    out_dir: str

    @classmethod
    def of(cls, workspace: Workspace) -> WorkspaceResource:
        """The resource for a workspace."""
        return cls(
            config_dir=str(workspace.config_dir), data_dir=str(workspace.data_dir), out_dir=str(workspace.out_dir)
        )

    def workspace(self) -> Workspace:
        """The workspace as the rest of the house knows it."""
        return Workspace(Path(self.config_dir), Path(self.data_dir), Path(self.out_dir))

    def folder(self, contest: str) -> Path:
        """The contest's folder."""
        return contest_folder(self.workspace(), contest)

    def contest(self, contest: str) -> ContestSettings:
        """The contest's settings, read anew each time: an edit takes effect with the next run."""
        return self.workspace().contest(self.folder(contest))

    def preference_folder(self, preference_set: str) -> Path:
        """The preference set's folder."""
        return preference_folder(self.workspace(), preference_set)

    def preference(self, preference_set: str) -> PreferenceSettings:
        """The set's settings, read anew each time: an edit takes effect with the next run."""
        return self.workspace().preference(self.preference_folder(preference_set))

    def judge_facts(self, contest: str) -> list[JudgeFacts]:
        """What the contest's coverage table says of each judge that serves the co-creation system."""
        from judge_pipeline.cocreation.coverage import JudgeFacts
        from judge_pipeline.orchestration.open_batches import batches_of

        judges, folder = self.workspace().judges(), self.folder(contest)
        waiting = {row.judge for row in batches_of(self.workspace(), contest)}
        facts = []
        for name in judges.names("cocreation"):
            judge = judges.get(name)
            facts.append(
                JudgeFacts(
                    name,
                    judge.backend,
                    judges.in_panel(name),
                    judge.scope.in_words(),
                    judge.scope.splits,
                    _WAITS if name in waiting else why_left_out(judge, folder, key_environment()),
                )
            )
        return facts

    def pair_judge_facts(self, preference_set: str) -> list[PairJudgeFacts]:
        """What the set's coverage table says of each judge that serves preference sets."""
        from judge_pipeline.preference.pair_coverage import PairJudgeFacts

        judges, folder = self.workspace().judges(), self.preference_folder(preference_set)
        facts = []
        for name in judges.names("preference"):
            judge = judges.get(name)
            words = judge.scope.in_words().replace("all attempts", "all pairs")
            not_asked = why_left_out(judge, folder, key_environment(), "the set's folder")
            asked = judge.backend not in ("recorded", "baseline")
            facts.append(PairJudgeFacts(name, judge.backend, judge.family, words, judge.scope.splits, not_asked, asked))
        return facts

    def panel(self, answered: Iterable[str], system: System = "cocreation") -> list[str]:
        """The judges of the system's panel among those that have answered, in alphabetical order."""
        return sorted(set(self.workspace().judges().panel(system)) & set(answered))


class Progress(Protocol):
    """Somebody who wants to know how far the work is."""

    def table(self, name: str, n_rows: int) -> None:
        """A table was made."""

    def reading(self, contest: str, done: int, total: int, set_aside: int) -> None:
        """So many of a contest's files are read so far; of so many of these something was set aside."""

    def judging(self, judge: str, progress: JudgingProgress) -> None:
        """So far is a judge with what it is asked."""

    def waiting(self, judge: str) -> None:
        """Another run is asking the judge; this one waits for it."""


class SilentProgress:
    """Tells nobody; the run's own log in the UI says what there is to say."""

    def table(self, name: str, n_rows: int) -> None:
        """A table was made."""

    def reading(self, contest: str, done: int, total: int, set_aside: int) -> None:
        """So many of a contest's files are read so far; of so many of these something was set aside."""

    def judging(self, judge: str, progress: JudgingProgress) -> None:
        """So far is a judge with what it is asked."""

    def waiting(self, judge: str) -> None:
        """Another run is asking the judge; this one waits for it."""
