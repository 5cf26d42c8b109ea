from __future__ import annotations

from judge_pipeline.cocreation.trajectory_times import trajectory_times
from judge_pipeline_tests.cocreation.timed_attempts import attempts_of, prompt_logs_of, trajectories_of
from judge_pipeline_tests.paper_counts_contest import paper_counts_contest


def _times(words, minutes=None, prompts=(), **options):
    attempts = attempts_of(words, minutes, options.pop("languages", None))
    table = trajectory_times(attempts, prompt_logs_of(prompts), trajectories_of(attempts), **options)
    return table.set_index(["order", "time_unit", "participant", "problem_id"]).sort_index()


def test_turns_and_minutes_worked_by_hand() -> None:
    words = {("u", "P1"): "WWA", ("u", "P2"): "A", ("v", "P1"): "WW?", ("v", "P2"): "?"}
    minutes = {("u", "P1"): [0, 3.5, 7.9], ("u", "P2"): [20], ("v", "P1"): [5, 65, 70], ("v", "P2"): [80]}
    times = _times(words, minutes, [("u", "P1", -10), ("v", "P1", 6)])
    turns = times.loc[("as_recorded", "turns")]
    assert turns["time"].isna().tolist() == [False, False, False, True]
    assert turns["time"].dropna().tolist() == [3, 1, 2]
    assert turns["event"].tolist() == [True, True, False, False]
    assert turns.loc[("v", "P2"), "reason"] == "no attempt is decided"
    since = times.loc[("as_recorded", "minutes_since_first_attempt")]
    assert since["time"].dropna().tolist() == [7, 0, 60]
    asked = times.loc[("as_recorded", "minutes_since_first_prompt")]
    assert asked.loc[("u", "P1"), "time"] == 17
    assert asked["reason"].tolist() == [
        None,
        "no prompt is about the problem",
        "the first prompt about the problem follows the first attempt",
        "no attempt is decided",
    ]


def test_unknown_instants_have_reasons() -> None:
    words = {("u", "P1"): "WA", ("u", "P2"): "WA", ("u", "P3"): "WA", ("v", "P1"): "A"}
    minutes = {("u", "P1"): [None, 1], ("u", "P2"): [1, None], ("u", "P3"): [5, 2], ("v", "P1"): [3]}
    times = _times(words, minutes, [("u", "P1", None)])
    since = times.loc[("as_recorded", "minutes_since_first_attempt")]
    assert since["reason"].tolist() == [
        "the time of turn 1 is unknown",
        "the time of the last counted turn is unknown",
        "times run against the order of turns",
        None,
    ]
    asked = times.loc[("as_recorded", "minutes_since_first_prompt")]
    assert asked.loc[("u", "P1"), "reason"] == "a prompt about the problem has no time, and may be the first"
    assert asked.loc[("v", "P1"), "reason"] == "the participant has no prompt log"


def test_languages_and_groups_are_those_of_the_first_attempt_and_of_the_settings() -> None:
    words = {("u", "P1"): "A", ("v", "P1"): "A", ("w", "P1"): "A"}
    languages = {("u", "P1"): "GNU G++20", ("v", "P1"): "D (GDC 9.2.1)", ("w", "P1"): None}
    table = _times(words, languages=languages, participant_groups={"u": "novices"}).loc[("as_recorded", "turns")]
    assert table["language"].tolist() == ["cpp", "D (GDC 9.2.1)", "not stated"]
    assert table["participant_group"].tolist() == ["novices", "no group", "no group"]
    assert _times(words)["participant_group"].isna().all()


def test_reversed_where_the_check_warns_and_in_turns_only() -> None:
    times = _times({("u", "P1"): "AWW", ("v", "P1"): "A"})
    assert times.loc[("reversed", "turns"), "time"].tolist() == [3, 1]
    assert times.loc[("as_recorded", "turns"), "time"].tolist() == [1, 1]
    assert set(times.loc["reversed"].index.get_level_values("time_unit")) == {"turns"}
    c = paper_counts_contest()
    table = trajectory_times(c.attempts, c.prompt_logs, c.trajectories)
    counts = table.groupby(["order", "time_unit"], sort=False)["time"].count().to_dict()
    assert counts == {
        ("as_recorded", "turns"): 184,
        ("as_recorded", "minutes_since_first_attempt"): 172,
        ("as_recorded", "minutes_since_first_prompt"): 58,
        ("reversed", "turns"): 184,
    }
