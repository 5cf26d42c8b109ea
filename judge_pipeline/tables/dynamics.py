"""Tables of how people get there (paper 1, V-B2, VI-B), and the counts of Table I."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables import hazards, prompt_space, revision, struggle, time_to_success
from judge_pipeline.tables.columns import ATTEMPT, PARTICIPANT, PROBLEM, SPLIT, TURN, Y, estimate_columns

TRAJECTORIES = Table(
    "trajectories",
    "One trajectory (u, p) with its time to success (paper 1, eq. 12-13).",
    (
        PARTICIPANT,
        PROBLEM,
        SPLIT,
        Column("n_turns", "int", "Attempts in the trajectory", low=1),
        Column("n_undecided", "int", "Attempts without a label (still being judged, or not understood)", low=0),
        Column("n_accepted", "int", "Accepted attempts", low=0),
        Column("n_rejected_before_first_ac", "int", "Rejected attempts before the first accepted one", low=0),
        Column("n_rejected_after_first_ac", "int", "Rejected attempts after the first accepted one", low=0),
        Column("first_ac_turn", "int", "T*, the first accepted turn; null where never solved", nullable=True, low=1),
        Column("solved", "bool", "Whether any turn was accepted"),
        Column("time_turns", "int", "T = min(T*, last decided turn); null where nothing was decided", True, low=1),
        Column("event", "bool", "delta: whether success was observed"),
    ),
    ("participant", "problem_id"),
)

STRUGGLE_CURVES = Table(
    "struggle_curves",
    "Mean judge confidence at one turn, and its change (paper 1, eq. 10-11, 22-23).",
    (
        ATTEMPT,
        PARTICIPANT,
        PROBLEM,
        TURN,
        Y,
        Column("p_mean", "float", "Mean p_ac over the panel; null where a panel judge did not judge it", True),
        Column("n_judges", "int", "Panel judges that judged it", low=0),
        Column("delta_p_mean", "float", "Change from the turn before; null at turn 1 or where either is null", True),
        Column(
            "reason",
            "string",
            "Why p_mean or its change is null, or that it rests on an unverified judge",
            nullable=True,
        ),
    ),
    ("attempt_id",),
)

SUCCESS_AT_TURN = Table(
    "success_at_turn",
    "S(k): the share of all trajectories solved by turn k (paper 1, eq. 14 and 24).",
    (
        TURN,
        Column("n_solved", "int", "Trajectories solved by this turn", low=0),
        *estimate_columns("S(k)"),
    ),
    ("turn",),
)

SURVIVAL = Table(
    "survival",
    "Kaplan-Meier estimate of still being unsolved after turn k (paper 1, eq. 25).",
    (
        Column("turn", "int", "Turn k; 0 is the start", low=0),
        Column("n_at_risk", "int", "Trajectories unsolved and observed just before this turn", low=0),
        Column("n_events", "int", "Trajectories first solved at this turn", low=0),
        Column("n_censored", "int", "Trajectories last observed, unsolved, at this turn", low=0),
        *estimate_columns("Share still unsolved"),
    ),
    ("turn",),
)

CONTEST_OVERVIEW = Table(
    "contest_overview",
    "One count of the contest's data (paper 1, Table I).",
    (
        Column("statistic", "string", "What is counted"),
        Column("label", "string", "The same in words for people"),
        Column("counted_over", "string", "What n counts: attempts, messages, trajectories, ..."),
        *estimate_columns("The count or average"),
    ),
    ("statistic",),
)

PROMPT_CODE_NED = Table(
    "prompt_code_ned",
    "How far apart the prompts and the code of one test attempt lie, as judges are shown them (paper 1, VI-A7).",
    (
        ATTEMPT,
        PARTICIPANT,
        PROBLEM,
        Column("n_prompt_chars", "int", "Characters of prompt_text in the request", low=0),
        Column("n_source_chars", "int", "Characters of source_code in the request", low=0),
        Column("ned", "float", "Normalized edit distance (eq. 29): 0 equal, 1 nothing in common", True, low=0, high=1),
        Column("reason", "string", "Why ned is null", nullable=True),
    ),
    ("attempt_id",),
)

PROMPT_CODE_SUMMARY = Table(
    "prompt_code_summary",
    "Mean or standard deviation of prompt-code NED over the test attempts (paper 1, VI-A7, Figure 6).",
    (
        Column("statistic", "string", "Which figure", allowed=("mean", "sd")),
        *estimate_columns("The figure"),
    ),
    ("statistic",),
)

TABLES = (
    TRAJECTORIES,
    STRUGGLE_CURVES,
    SUCCESS_AT_TURN,
    SURVIVAL,
    CONTEST_OVERVIEW,
    PROMPT_CODE_NED,
    PROMPT_CODE_SUMMARY,
    *revision.TABLES,
    *time_to_success.TABLES,
    *struggle.TABLES,
    *hazards.TABLES,
    *prompt_space.TABLES,
)
"""The tables of this module, and those of ``revision``, ``time_to_success``, ``struggle`` and ``hazards``."""
