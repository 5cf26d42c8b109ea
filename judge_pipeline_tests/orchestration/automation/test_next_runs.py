"""Which runs are asked for: in a made world whose folders change, whose runs end well or fail, whose sensor forgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.definitions import CHAINS
from judge_pipeline.orchestration.automation.graph_state import Told, UnderWay
from judge_pipeline.orchestration.automation.next_runs import (
    MOST_AT_ONCE,
    REPORTS_BEFORE_COMPARING,
    Planner,
    Rules,
    Wanted,
    to_start,
)
from judge_pipeline.orchestration.automation.reading_again import PAUSES_MINUTES, Try

CONTESTS, SETS = CHAINS
RULES = Rules({"attempts": "v1", "judge_outputs": "v1", "cocreation_report": "v1"}, defaults="d1", stale=False)
JUDGES = ["free", "text"]


@dataclass
class World:
    """What would be in a Dagster instance, kept in dictionaries; runs are made by ``end``."""

    rules: Rules = RULES
    judges: list[str] = field(default_factory=lambda: list(JUDGES))
    contents: dict[str, str | None] = field(default_factory=dict)
    under_way: dict[str, Wanted] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    made: dict[tuple[str, str], tuple[int, Told, str]] = field(default_factory=dict)
    last_read: dict[str, bool] = field(default_factory=dict)
    failed_runs: set[str] = field(default_factory=set)
    wanted: dict[str, str | None] = field(default_factory=dict)
    n: int = 0
    ran: list[Try] = field(default_factory=list)

    def ids(self, asset: str) -> Mapping[str, int]:
        return {partition: number for (own, partition), (number, _, _) in self.made.items() if own == asset}

    def last_id(self, asset: str) -> int:
        return self.made[asset, ""][0] if (asset, "") in self.made else 0

    def version(self, asset: str, partition: str) -> str | None:
        return self.made[asset, partition][2] if (asset, partition) in self.made else None

    def told(self, asset: str, partition: str) -> Told | None:
        return self.made[asset, partition][1] if (asset, partition) in self.made else None

    def wanted_code(self, run_id: str) -> str | None:
        return self.wanted.get(run_id)

    def has_succeeded(self, run_id: str) -> bool:
        return run_id not in self.failed_runs

    def last_succeeded(self, job: str, partition: str) -> bool:
        return self.last_read.get(partition, False)

    def tries(self, job: str, partition: str) -> list[Try]:
        return self.ran[::-1]

    def try_of(self, run_id: str) -> Try | None:
        return next((one for one in self.ran if one.run_id == run_id), None)

    def asked(self, keys: Iterable[str]) -> set[str]:
        return set(keys) & set(self.keys)

    def tick(self) -> list[Wanted]:
        """One look of a sensor that remembers nothing; what it asks for is under way."""
        planner = Planner(CONTESTS, self, self.rules)
        wanted = {
            name: planner.wanted(name, content, lambda: self.judges, lambda: False)
            for name, content in sorted(self.contents.items())
        }
        asked = self.asked(run.key for runs in wanted.values() for run in runs)
        asked |= {run.key for runs in wanted.values() for run in runs if run.tried}
        going = [
            UnderWay(run.job, run.partition, {"dagster/partition/judge": run.judge} if run.judge else {})
            for run in self.under_way.values()
        ]
        runs = to_start(wanted, asked, going)
        over_all = planner.over_all(list(self.contents), is_quiet=not runs and not going)
        runs += [run for run in over_all if run.key not in self.keys and run.job not in {g.job for g in going}]
        for run in runs:
            self.keys.append(run.key)
            self.under_way[run.key] = run
            self.wanted[run.key] = run.code_version
        return runs

    def end(self, key: str, well: bool = True) -> None:
        """A run ends. It reads the content of now, which may be another than that it was asked for."""
        run = self.under_way.pop(key)
        name, judge = run.partition or "", run.judge
        if run.stage == "read":
            self.last_read[name] = well
        if not well:
            if run.stage == "read":  # half of it was made
                self._make("attempts", name, run, Told(key, "v1", content=run.content, defaults="d1"), run.content)
                self.failed_runs.add(key)
            return
        if run.stage == "read":
            told = Told(key, self.rules.code_versions["attempts"], content=run.content, defaults=self.rules.defaults)
            for asset in ("attempts", "splits", "judge_requests"):
                self._make(asset, name, run, told, run.content)
        elif run.stage == "judge":
            inputs = {asset: self.version(asset, name) or "" for asset in CONTESTS.judged_from}
            told = Told(key, self.rules.code_versions["judge_outputs"], inputs)
            self._make("judge_outputs", f"{name}|{judge}", run, told, None)
        elif run.stage == "report":
            code = self.rules.code_versions["cocreation_report"]
            self._make("judge_coverage", name, run, Told(key, code), None)
            self._make("cocreation_report", name, run, Told(key, code), None)
        else:
            self._make("start_page", "", run, Told(key), None)

    def _make(self, asset: str, partition: str, run: Wanted, told: Told, version: str | None) -> None:
        self.n += 1
        self.made[asset, partition] = (self.n, told, version or str(self.n))

    def settle(self, most: int = 60) -> list[str]:
        """Tick, and let everything that is under way end well, until nothing more is asked for: stages, in order."""
        stages: list[str] = []
        for _ in range(most):
            stages += [run.stage for run in self.tick()]
            if not self.under_way:
                return stages
            for key in list(self.under_way):
                self.end(key)
        raise AssertionError(f"no end after {most} ticks: {stages}")


def test_a_new_contest_goes_all_the_way_once() -> None:
    world = World(contents={"one": "A"})
    assert world.settle() == ["read", "judge", "judge", "report", "compare"]
    assert world.settle() == []


def test_what_changed_is_read_again_and_other_contests_are_left_alone() -> None:
    world = World(contents={"one": "A", "two": "A"})
    world.settle()
    world.contents["one"] = "B"
    world.tick()
    assert [(run.stage, run.partition) for run in world.under_way.values()] == [("read", "one")]


def test_content_that_comes_back_is_read_again() -> None:
    """A, B, A: a key that was made of the content alone would drop the third."""
    world = World(contents={"one": "A"})
    for content in ("A", "B", "A", "B"):
        world.contents["one"] = content
        world.settle()
        told = world.told("attempts", "one")
        assert told is not None
        assert told.content == content
    assert len(world.keys) == len(set(world.keys))


def test_a_reading_that_changed_no_input_asks_no_judge() -> None:
    world = World(contents={"one": "A"})
    world.settle()
    world.contents["one"] = "A with another README"
    world.tick()
    [key] = world.under_way
    run = world.under_way.pop(key)
    told = Told(key, "v1", content=run.content, defaults="d1")
    for asset in ("attempts", "splits", "judge_requests"):
        world._make(asset, "one", run, told, "A")  # the same bytes as before
    assert world.settle() == ["report", "compare"]


def test_recorded_judges_are_read_again_with_the_folder() -> None:
    world = World(Rules(RULES.code_versions, "d1", stale=False, file_judges=["free"]), contents={"one": "A"})
    world.settle()
    world.contents["one"] = "A with other answers"
    world.tick()
    [key] = world.under_way
    run = world.under_way.pop(key)
    for asset in ("attempts", "splits", "judge_requests"):
        world._make(asset, "one", run, Told(key, "v1", content=run.content, defaults="d1"), "A")
    assert [run.judge for run in world.tick()] == ["free"]


def test_a_reading_that_failed_half_way_starts_nothing_after_it_and_is_not_repeated() -> None:
    world = World(contents={"one": "A"})
    [run] = world.tick()
    world.end(run.key, well=False)
    assert world.settle() == []
    world.contents["one"] = "B"
    assert world.settle() == ["read", "judge", "judge", "report", "compare"]


def test_a_further_try_has_a_key_of_its_own_for_each_try_program_and_row_of_failures() -> None:
    world = World(contents={"one": "A"})
    [run] = world.tick()
    world.end(run.key, well=False)

    def key(rules: Rules = RULES) -> tuple[str, float]:
        [tried] = Planner(CONTESTS, world, rules).wanted("one", "A", list, bool)
        found = Planner(CONTESTS, world, rules).again(tried)
        assert tried.tried
        assert found is not None
        return found[0].key, found[1].at

    world.ran = [Try(run.key, 100.0, failed=True, content="A")]
    first, at = key()
    assert at == 100.0 + 60 * PAUSES_MINUTES[0]
    assert key() == (first, at)
    world.ran += [Try("second", 500.0, failed=True, content="A")]
    second, _ = key()
    world.ran = [Try("other row", 500.0, failed=True, content="A")]
    other, _ = key()
    newer, at_once = key(Rules({**RULES.code_versions, "attempts": "v2"}, "d1", stale=False))
    assert at_once == 0
    assert len({first, second, other, newer, run.key}) == 5


@pytest.mark.parametrize("made_under", [None, "v2", "v3"])
def test_a_folder_that_a_newer_program_refuses_is_tried_after_growing_pauses(made_under: str | None) -> None:
    """Also where the readings that fail make nothing, or make it under another version than the sensor's."""
    world, now, started = World(contents={"one": "A"}, judges=[]), 1_000.0, list[float]()
    world.settle()
    world.ran = [Try("well", 0.0, failed=False, content="A")]
    world.rules = Rules({**RULES.code_versions, "attempts": "v2"}, "d1", stale=True)
    for _ in range(600):
        now += 60.0
        planner = Planner(CONTESTS, world, world.rules)
        [run] = planner.wanted("one", "A", list, bool)
        if run.tried or world.asked([run.key]):
            found = planner.again(run)
            if found is None or found[1].at > now or world.asked([found[0].key]):
                continue
            run = found[0]
        started.append(now)
        world.keys.append(run.key)
        world.wanted[run.key] = run.code_version
        world.ran.append(Try(run.key, now, failed=True, content="A"))
        world.last_read["one"] = False
        world.failed_runs.add(run.key)
        if made_under is not None:
            world._make("attempts", "one", run, Told(run.key, made_under, content="A", defaults="d1"), "A")
    pauses = [(later - earlier) / 60.0 for earlier, later in pairwise(started)]
    first = 1 if made_under == "v3" else PAUSES_MINUTES[0]  # what runs load is another program: at once, once
    assert pauses == [first, *PAUSES_MINUTES[1:]]


def test_a_judge_that_failed_does_not_keep_the_report_and_is_not_repeated() -> None:
    world = World(contents={"one": "A"})
    [reading] = world.tick()
    world.end(reading.key)
    for run in world.tick():
        world.end(run.key, well=run.judge == "text")
    assert world.settle() == ["report", "compare"]
    assert world.settle() == []


def test_a_report_that_failed_is_not_repeated_before_something_is_new() -> None:
    world = World(contents={"one": "A"}, judges=[])
    [reading] = world.tick()
    world.end(reading.key)
    [report] = world.tick()
    world.end(report.key, well=False)
    assert world.settle() == []
    world.judges = ["text"]
    assert world.settle() == ["judge", "report", "compare"]


def test_a_judge_retried_by_hand_while_the_report_is_made_is_in_the_next_one() -> None:
    world = World(contents={"one": "A"}, judges=[])
    [reading] = world.tick()
    world.end(reading.key)
    [report] = world.tick()
    world._make("judge_coverage", "one", report, Told(report.key, "v1"), None)
    world._make("judge_outputs", "one|by hand", report, Told("by hand", "v1"), None)
    world._make("cocreation_report", "one", report, Told(report.key, "v1"), None)
    del world.under_way[report.key]
    assert [run.stage for run in world.tick()] == ["report"]


def test_one_run_at_a_time_of_what_shares_tables() -> None:
    world = World(contents={"one": "A"})
    world.tick()
    world.contents["one"] = "B"
    assert world.tick() == []
    [key] = world.under_way
    world.end(key)
    assert [run.stage for run in world.tick()] == ["read"]


def test_what_a_new_prompt_makes_stale_is_left_unless_the_setting_says_so() -> None:
    world = World(contents={"one": "A"})
    world.settle()
    newer = {**RULES.code_versions, "judge_outputs": "v2"}
    world.rules = Rules(newer, "d1", stale=False)
    assert world.settle() == []
    world.rules = Rules(newer, "d1", stale=True)
    assert world.settle() == ["judge", "judge", "report", "compare"]
    assert world.settle() == []
    world.rules = Rules(newer, "d2", stale=True)
    assert world.settle() == ["read", "report", "compare"]  # the same rows are read: no judge is asked about them


def test_runs_that_load_newer_settings_than_the_sensor_are_not_started_for_ever() -> None:
    world = World(contents={"one": "A"})
    world.settle()
    sensor = Rules({**RULES.code_versions, "judge_outputs": "v2"}, "d1", stale=True)
    runs = Rules({**RULES.code_versions, "judge_outputs": "v3"}, "d1", stale=True)
    for _ in range(5):
        world.rules = sensor
        world.tick()
        world.rules = runs
        for key in list(world.under_way):
            world.end(key)
    world.rules = sensor
    assert world.tick() == []
    world.rules = runs
    assert world.settle() == []


def test_what_is_over_all_waits_until_all_is_quiet_or_much_is_new() -> None:
    names = [f"c{number:02}" for number in range(REPORTS_BEFORE_COMPARING + 2)]
    world = World(contents=dict.fromkeys(names, "A"), judges=[])
    world.settle()
    assert world.keys[-1].startswith("compare")
    assert sum(key.startswith("compare") for key in world.keys) == 1
    for name in names[1:]:
        world.contents[name] = "B"
    for run in world.tick():
        world.end(run.key)
    world.contents["c00"] = "B"
    for run in world.tick():
        if run.partition != "c00":
            world.end(run.key)
    assert [run.stage for run in world.tick()] == ["compare"]


def test_no_tick_asks_for_more_than_it_may_and_none_is_forgotten() -> None:
    names = [f"c{number:03}" for number in range(2 * MOST_AT_ONCE + 3)]
    world = World(contents=dict.fromkeys(names, "A"))
    assert len(world.tick()) == MOST_AT_ONCE
    for key in list(world.under_way):
        world.end(key)
    world.settle(most=200)
    assert set(world.ids("cocreation_report")) == set(names)


Step = tuple[str, str, bool]
WHAT = ["change", "tick", "two ticks", "end", "end", "go away"]
STEPS = st.lists(st.tuples(st.sampled_from(WHAT), st.sampled_from("AB"), st.booleans()), max_size=60)


@given(STEPS)
def test_nothing_is_lost_and_nothing_made_twice_whatever_happens(steps: list[Step]) -> None:
    """Changes in the middle of runs, failures, two looks at once, a sensor that remembers nothing, folders that go."""
    world = World(contents={"one": "A", "two": "A"})
    for what, name, well in steps:
        contest = "one" if name == "A" else "two"
        if what == "change":
            world.contents[contest] = "B" if world.contents.get(contest) == "A" else "A"
        elif what == "go away":
            world.contents.pop(contest, None)
        elif what == "tick":
            world.tick()
        elif what == "two ticks":
            world.tick()
            assert not [run for run in world.tick() if run.stage in ("read", "judge", "report")]
        elif world.under_way:
            key = sorted(world.under_way)[0]
            world.end(key, well)
        readings = [run for run in world.under_way.values() if run.stage in ("read", "report")]
        for run in readings:
            assert [other for other in world.under_way.values() if other.partition == run.partition] == [run]
    assert len(world.keys) == len(set(world.keys))
    for name in world.contents:  # something new arrives, and nothing fails from now on
        world.contents[name] = "C"
    world.settle(most=100)
    for name in world.contents:
        told = world.told("attempts", name)
        assert told is not None
        assert told.content == "C"
        assert world.ids("cocreation_report")[name] > world.ids("attempts")[name]
        assert {f"{name}|{judge}" for judge in JUDGES} <= set(world.ids("judge_outputs"))
    assert len(world.keys) == len(set(world.keys))


def test_a_set_goes_all_the_way_and_its_page_is_made_once_more() -> None:
    world = World(Rules({}, "d1", stale=False), contents={"pairs": "A"})
    planner = Planner(SETS, world, world.rules)
    told = Told("r", content="A", defaults="d1")
    [reading] = planner.wanted("pairs", "A", lambda: ["first"], lambda: True)
    assert (reading.stage, reading.job) == ("read", "read_preference_set")
    for asset in ("preference_pairs", "preference_splits", "pair_texts"):
        world._make(asset, "pairs", reading, told, "A")
    asked = planner.wanted("pairs", "A", lambda: ["first"], lambda: True)
    assert [run.stage for run in asked] == ["judge", "rubric", "report"]
    world._make("pair_judgments", "first|pairs", reading, told, None)
    world._make("rubric_score_agreement", "pairs", reading, told, None)
    asked = Planner(SETS, world, world.rules).wanted("pairs", "A", lambda: ["first"], lambda: True)
    assert [run.stage for run in asked] == ["report"]
    world._make("pair_judge_coverage", "pairs", reading, told, None)
    world._make("preference_accuracy", "pairs", reading, told, None)
    world._make("preference_report", "pairs", reading, told, None)
    assert [run.stage for run in planner.over_all(["pairs"], is_quiet=True)] == ["compare"]
    world._make("preference_ranks", "", reading, told, None)
    assert [run.stage for run in planner.over_all(["pairs"], is_quiet=True)] == ["page"]
    world._make("preference_report", "pairs", reading, told, None)
    assert planner.over_all(["pairs"], is_quiet=True) == []
    assert planner.wanted("pairs", "A", lambda: ["first"], lambda: True) == []
