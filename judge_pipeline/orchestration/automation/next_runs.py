"""Which runs a contest or preference set is in want of, from what is materialized: read, judge, report, compare.

Nothing here is remembered from an earlier look. A run's key is made of what it would be made from and of what it would
replace: the same state asks for the same run, which is made once; and content that comes back after another (A, B, A)
replaces another materialization, so that it is read again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Protocol

from judge_pipeline.orchestration.automation.chain import Chain
from judge_pipeline.orchestration.automation.graph_state import Told, UnderWay
from judge_pipeline.orchestration.automation.reading_again import Again, Try, next_try

Stage = Literal["read", "judge", "rubric", "report", "compare", "page"]

MOST_AT_ONCE = 50
"""Runs asked for in one tick; the rest follows with the next."""

REPORTS_BEFORE_COMPARING = 20
"""While runs are under way, what is over all contests is made anew after so many new reports at the soonest."""


class State(Protocol):
    """What is asked of ``graph_state.GraphState``."""

    def ids(self, asset: str) -> Mapping[str, int]:
        """Partition -> id of its last materialization."""

    def last_id(self, asset: str) -> int:
        """Id of the last materialization of an asset without partitions; 0: none."""

    def version(self, asset: str, partition: str) -> str | None:
        """Data version of a partition."""

    def told(self, asset: str, partition: str) -> Told | None:
        """What the last materialization of a partition says of itself."""

    def wanted_code(self, run_id: str) -> str | None:
        """The code version under which a run was wanted, of one that a sensor started for that."""

    def has_succeeded(self, run_id: str) -> bool:
        """Whether a run has ended well."""

    def last_succeeded(self, job: str, partition: str) -> bool:
        """Whether the last run of a job for a partition has ended well."""

    def tries(self, job: str, partition: str) -> list[Try]:
        """The last runs of a job for a partition, newest first."""

    def try_of(self, run_id: str) -> Try | None:
        """One run; None: it is not known."""

    def asked(self, keys: Iterable[str]) -> set[str]:
        """The run keys for which there is a run."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A run that is wanted.

    Attributes:
        stage: of the chain.
        job: its job.
        partition: the contest or preference set; None: it is over all.
        judge: the judge, of a run that judges.
        key: the run's key.
        content: the folder's content, of a run that reads.
        code_version: under which it is wanted; None where that does not matter.
        tried: whether it has been tried, and did not end well: of a reading of which a part was made.
        n_before: tries of the same before this one.
    """

    stage: Stage
    job: str
    partition: str | None
    judge: str | None
    key: str
    content: str | None = None
    code_version: str | None = None
    tried: bool = False
    n_before: int = 0


@dataclass(frozen=True, slots=True)
class Rules:
    """What decides beside the state.

    Attributes:
        code_versions: asset -> its code version of today.
        defaults: sha256 of the file of defaults of today.
        stale: whether what another program, prompt or setting has made is made again.
        file_judges: judges whose answers lie in the folder itself.
    """

    code_versions: Mapping[str, str]
    defaults: str
    stale: bool
    file_judges: Collection[str] = ()


@dataclass(frozen=True)
class Planner:
    """Which runs one kind of folder is in want of."""

    chain: Chain
    state: State
    rules: Rules

    def wanted(
        self, name: str, content: str | None, judges: Callable[[], Collection[str]], rubric: Callable[[], bool]
    ) -> list[Wanted]:
        """What a contest or set is in want of next, its report last: that is for when nothing before it is made.

        Args:
            name: the contest or set.
            content: what its folder holds; None: not known now, and it is not read again.
            judges: the judges that may be asked by themselves; called where that decides.
            rubric: whether the set's rubric may be found by itself; called where that decides.
        """
        if content is not None and self._must_be_read(name, content):
            return [self._reading(name, content)]
        if not self._is_half_read(name):
            runs = [*self._judging(name, judges()), *self._rubric(name, rubric), *self._report(name)]
            if not runs or self._was_read(name):
                return runs
        return [] if content is None else [replace(self._reading(name, content), tried=True)]

    def again(self, run: Wanted) -> tuple[Wanted, Again] | None:
        """The further try of a reading, and from when on; None: it waits for the night, a person or a change.

        Args:
            run: the reading, as it is wanted.
        """
        if run.partition is None or run.content is None:
            return None
        told = self.state.told(self.chain.reading, run.partition)
        half = told if told is not None and told.content == run.content else None
        tries = self.state.tries(run.job, run.partition)
        made_by = None if half is None else self.state.try_of(half.run_id)
        if half is not None and [half.code_version, half.defaults] != self._today():
            found = next_try(run.content, tries, made_by, changed=True)
            further = None if found is None else self._further(run, found, "changed", found.after)
            # Once for each change: where it fails before it makes anything, the half stays as it was.
            if found is not None and further is not None and not self.state.asked([run.key, further.key]):
                return further, found
        found = next_try(run.content, tries, made_by)
        return None if found is None else (self._further(run, found, "again", found.n_before, found.after), found)

    def _further(self, run: Wanted, found: Again, *made_from: str | int) -> Wanted:
        of_key = [run.content, *made_from, *self._today()]
        return replace(self._run("read", run.job, run.partition, None, of_key), n_before=found.n_before)

    def _reading(self, name: str, content: str) -> Wanted:
        replaced = self.state.ids(self.chain.reading).get(name, 0)
        return self._run("read", self.chain.read_job, name, None, [content, replaced, *self._today()])

    def _today(self) -> list[str | int | None]:
        """What makes a reading that has failed worth another try: the program and contests.yaml may have been why."""
        return [self.rules.code_versions.get(self.chain.reading), self.rules.defaults]

    def _is_half_read(self, name: str) -> bool:
        """Whether a reading has begun, or never did, and what it makes last was not made: it goes on, or has failed."""
        begun = self.state.ids(self.chain.reading).get(name, 1)
        return self.state.ids(self.chain.last_of_reading).get(name, 0) < begun

    def over_all(self, names: Collection[str], is_quiet: bool) -> list[Wanted]:
        """What is over all contests or sets, where reports are newer than it; and then the pages that show it.

        Args:
            names: those that there are.
            is_quiet: whether no run is wanted or under way.
        """
        measured, over_all = self.state.ids(self.chain.measured), self.state.last_id(self.chain.over_all)
        newer = [number for name, number in measured.items() if name in names and number > over_all]
        if newer and (is_quiet or len(newer) >= REPORTS_BEFORE_COMPARING):
            return [self._run("compare", self.chain.compare_job, None, None, [max(newer), over_all])]
        if newer or not self.chain.page_job or not over_all:
            return []
        pages = self.state.ids(self.chain.report)
        behind = [name for name in sorted(names) if name in measured and pages.get(name, 0) < over_all]
        return [self._run("page", self.chain.page_job, name, None, [over_all]) for name in behind]

    def _must_be_read(self, name: str, content: str) -> bool:
        told = self.state.told(self.chain.reading, name)
        if told is None or told.content != content:
            return True
        return self._is_stale(self.chain.reading, told) or (self.rules.stale and told.defaults != self.rules.defaults)

    def _was_read(self, name: str) -> bool:
        """Whether the last reading has ended well: its blocking checks hold, and nothing after it may start before."""
        told = self.state.told(self.chain.last_of_reading, name)
        if told is not None and self.state.has_succeeded(told.run_id):
            return True
        return self.state.last_succeeded(self.chain.read_job, name)

    def _judging(self, name: str, judges: Collection[str]) -> Iterator[Wanted]:
        for judge in sorted(judges):
            if not self._is_judged(name, judge):
                inputs = [self.state.ids(asset).get(name, 0) for asset in self.chain.judged_from]
                replaced = self.state.ids(self.chain.judged).get(self.chain.judged_key(name, judge), 0)
                made_from = [*inputs, replaced, self.rules.code_versions.get(self.chain.judged)]
                yield self._run("judge", self.chain.judge_job, name, judge, made_from)

    def _is_judged(self, name: str, judge: str) -> bool:
        key = self.chain.judged_key(name, judge)
        judged = self.state.ids(self.chain.judged).get(key)
        if judged is None:
            return False
        newer = [asset for asset in self.chain.judged_from if self.state.ids(asset).get(name, 0) > judged]
        if newer and judge in self.rules.file_judges:
            return False
        if newer or self.rules.stale:
            told = self.state.told(self.chain.judged, key)
            if told is None:
                return False
            if not all(told.was_made_from(asset, self.state.version(asset, name)) for asset in newer):
                return False
            if self._is_stale(self.chain.judged, told):
                return False
        return True

    def _rubric(self, name: str, may_be_found: Callable[[], bool]) -> Iterator[Wanted]:
        if self.chain.rubric_job is None or self.chain.rubric is None:
            return
        inputs = [self.state.ids(asset).get(name, 0) for asset in self.chain.judged_from]
        found = self.state.ids(self.chain.rubric).get(name, 0)
        changed = self.rules.stale and self._is_stale(self.chain.rubric, self.state.told(self.chain.rubric, name))
        if (found < max(inputs) or changed) and may_be_found():
            yield self._run("rubric", self.chain.rubric_job, name, None, [*inputs, found, *self._code("rubric")])

    @cached_property
    def _newest_judged(self) -> dict[str, int]:
        """Contest or set -> id of the newest materialization of a judge's table."""
        newest: dict[str, int] = {}
        for key, number in self.state.ids(self.chain.judged).items():
            name = self.chain.name_of(key)
            newest[name] = max(number, newest.get(name, 0))
        return newest

    def _report(self, name: str) -> Iterator[Wanted]:
        # A judge retried by hand meanwhile may be newer than what the report has read, and older than its page.
        made = min(self.state.ids(asset).get(name, 0) for asset in (self.chain.coverage, self.chain.report))
        of_name = (*self.chain.judged_from, self.chain.reading, *([self.chain.rubric] if self.chain.rubric else []))
        newest = max(self._newest_judged.get(name, 0), *(self.state.ids(asset).get(name, 0) for asset in of_name))
        changed = self.rules.stale and self._is_stale(self.chain.report, self.state.told(self.chain.report, name))
        if made < newest or changed:
            yield self._run("report", self.chain.report_job, name, None, [newest, made, *self._code("report")])

    def _is_stale(self, asset: str, told: Told | None) -> bool:
        """Whether something was made by another program, prompt or setting, and that by setting is a reason.

        Not where a run was started for today's version and made it under another: then what runs load is newer than
        what the sensor has loaded, and a further run would do the same.
        """
        today = self.rules.code_versions.get(asset)
        if not self.rules.stale or told is None or told.code_version == today:
            return False
        return self.state.wanted_code(told.run_id) != today

    def _code(self, which: Literal["rubric", "report"]) -> list[str | None]:
        """A further part of keys: another program may succeed where this one has failed."""
        return [self.rules.code_versions.get(getattr(self.chain, which))] if self.rules.stale else []

    def _run(
        self, stage: Stage, job: str, partition: str | None, judge: str | None, made_from: list[str | int | None]
    ) -> Wanted:
        parts = json.dumps([job, partition, judge, made_from])
        content = made_from[0] if stage == "read" and isinstance(made_from[0], str) else None
        label = "-".join(part for part in (stage, partition, judge) if part)
        key = f"{label}-{hashlib.sha256(parts.encode()).hexdigest()[:24]}"
        assets = {"read": self.chain.reading, "judge": self.chain.judged, "report": self.chain.report}
        asset = self.chain.rubric if stage == "rubric" else assets.get(stage)
        code = self.rules.code_versions.get(asset) if self.rules.stale and asset is not None else None
        return Wanted(stage, job, partition, judge, key, content, code)


def to_start(
    wanted: Mapping[str, list[Wanted]], asked: Collection[str], under_way: Collection[UnderWay]
) -> list[Wanted]:
    """Those of the wanted runs that may start now.

    A folder is read and its report made while nothing else of it is under way; its judges may be asked side by side.
    What was asked for before is not asked for again, and nothing waits for it, be it that it failed.

    Args:
        wanted: contest or set -> what it is in want of.
        asked: keys for which there is a run already.
        under_way: the runs that have not ended.
    """
    found: list[Wanted] = []
    for name, runs in wanted.items():
        own = [run for run in under_way if run.partition == name]
        new = [run for run in runs if run.key not in asked]
        first = [run for run in new if run.stage != "report"]
        if all(run.stage in ("judge", "rubric") for run in first):
            judging = {run.job for run in runs if run.stage in ("judge", "rubric")}
            if first and all(run.job in judging for run in own):
                busy = {(run.job, run.tags.get("dagster/partition/judge")) for run in own}
                found += [run for run in first if (run.job, run.judge) not in busy]
                continue
        if not own:
            found += first or new
    return found[:MOST_AT_ONCE]
