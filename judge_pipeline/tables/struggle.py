"""Tables of struggle curves: judges' confidence turn by turn, also by group (paper 1, eq. 10-11, 22-23)."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.columns import ATTEMPT, ORDER, PARTICIPANT, PROBLEM, TURN, estimate_columns
from judge_pipeline.tables.time_to_success import CLUSTERED_BY, LEVEL, N_CLUSTERS, cluster_interval

STRUGGLE_GROUPINGS = ("all", "outcome", "problem_id", "participant")
"""What struggle curves are grouped by; the outcome is whether the trajectory was solved."""

STRUGGLE_STATISTICS = ("confidence", "change")

PATTERNS = ("recovered", "stagnated", "solved_after_rejection")
"""What a trajectory may show: columns of ``trajectory_patterns``."""

JUDGE_OR_PANEL = Column("judge", "string", "Judge j; null for the mean over the panel (eq. 10)", nullable=True)

STRUGGLE_TURNS = Table(
    "struggle_turns",
    "Confidence of one judge, or of the panel, at one turn, and its change (paper 1, eq. 10-11, 22-23).",
    (
        ORDER,
        JUDGE_OR_PANEL,
        ATTEMPT,
        PARTICIPANT,
        PROBLEM,
        TURN,
        Column("confidence", "float", "p_ac; of the panel the mean; null where not judged", True, low=0, high=1),
        Column("change", "float", "Change from the turn before; null at turn 1 or where either is null", True),
        Column("reason", "string", "Why the confidence, or else its change, is null", nullable=True),
    ),
    ("order", "judge", "attempt_id"),
)

STRUGGLE_GROUPS = Table(
    "struggle_groups",
    "Mean confidence, or mean change of it, over a group's trajectories at one turn.",
    (
        ORDER,
        JUDGE_OR_PANEL,
        Column("grouped_by", "string", "What trajectories are grouped by", allowed=STRUGGLE_GROUPINGS),
        LEVEL,
        TURN,
        Column("statistic", "string", "The mean of which column of struggle_turns", allowed=STRUGGLE_STATISTICS),
        *estimate_columns("The mean over trajectories that have this turn, with its cluster-bootstrap interval"),
        CLUSTERED_BY,
        N_CLUSTERS,
    ),
    ("order", "judge", "grouped_by", "level", "turn", "statistic"),
)

TRAJECTORY_PATTERNS = Table(
    "trajectory_patterns",
    "Whether one trajectory recovers or stagnates, by the rules of the contest's settings (dynamics).",
    (
        ORDER,
        PARTICIPANT,
        PROBLEM,
        Column("n_turns", "int", "Attempts in the trajectory", low=1),
        Column("solved", "bool", "Whether any turn was accepted"),
        Column("recovery_depth", "float", "Largest fall of the mean confidence with as large a rise after it", True),
        Column("recovered", "bool", "Whether recovery_depth is at least recovery_change", nullable=True),
        Column("recovered_reason", "string", "Why both are null", nullable=True),
        Column("flat_turns", "int", "Most consecutive turns without change of it and without AC", True, low=0),
        Column("stagnated", "bool", "Whether flat_turns is at least stagnation_turns", nullable=True),
        Column("stagnated_reason", "string", "Why both are null", nullable=True),
        Column("n_rejected_first", "int", "Rejected attempts before the first accepted one, or all", low=0),
        Column("solved_after_rejection", "bool", "Whether rejected attempts were followed by an AC", nullable=True),
        Column("solved_after_rejection_reason", "string", "Why it is null", nullable=True),
    ),
    ("order", "participant", "problem_id"),
)

PATTERN_GROUPS = Table(
    "pattern_groups",
    "The share of a group's trajectories that shows one pattern of trajectory_patterns.",
    (
        ORDER,
        Column("pattern", "string", "Which column of trajectory_patterns", allowed=PATTERNS),
        Column("grouped_by", "string", "What trajectories are grouped by", allowed=STRUGGLE_GROUPINGS),
        LEVEL,
        Column("n_shown", "int", "Trajectories of the n that show it", low=0),
        *estimate_columns("The share of those of which the rule can say it, with Wilson's interval"),
        *cluster_interval(),
    ),
    ("order", "pattern", "grouped_by", "level"),
)

TABLES = (STRUGGLE_TURNS, STRUGGLE_GROUPS, TRAJECTORY_PATTERNS, PATTERN_GROUPS)
"""The tables of this module."""
