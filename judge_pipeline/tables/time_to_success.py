"""Tables of how long people take to succeed, by group, in turns and in minutes (paper 1, IV-C4, V-B2, VI-B2, VI-B3)."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.columns import ORDER, PARTICIPANT, PROBLEM, estimate_columns

TIME_UNITS = ("turns", "minutes_since_first_attempt", "minutes_since_first_prompt")
"""What time is counted in, and from when; minutes are whole ones, rounded down."""

GROUPINGS = ("all", "problem_id", "participant", "language", "participant_group")
"""What trajectories are grouped by."""

CLUSTERS = ("participant", "trajectory")
"""What is drawn in a cluster bootstrap: participants; within one participant, trajectories."""

TIME_STATISTICS = ("median", "restricted_mean", "solved_by_horizon")

TIME_UNIT = Column("time_unit", "string", "What time is counted in, and from when", allowed=TIME_UNITS)
GROUPED_BY = Column("grouped_by", "string", "What trajectories are grouped by", allowed=GROUPINGS)
LEVEL = Column("level", "string", "The group's name; 'all' where they are not grouped")
CLUSTERED_BY = Column("clustered_by", "string", "What the cluster interval takes as independent", allowed=CLUSTERS)
N_CLUSTERS = Column("n_clusters", "int", "How many of these there are", low=0)


def cluster_interval() -> tuple[Column, ...]:
    """The columns of an interval that takes only clusters as independent."""
    return (
        CLUSTERED_BY,
        N_CLUSTERS,
        Column("cluster_low", "float", "Lower end of the 95% cluster-bootstrap interval", nullable=True),
        Column("cluster_high", "float", "Upper end of the 95% cluster-bootstrap interval", nullable=True),
    )


TRAJECTORY_TIMES = Table(
    "trajectory_times",
    "Time to success of one trajectory in one unit (paper 1, eq. 13 and 25), and the groups that it is in.",
    (
        ORDER,
        TIME_UNIT,
        PARTICIPANT,
        PROBLEM,
        Column("language", "string", "Language of the first attempt, without version; 'not stated'"),
        Column("participant_group", "string", "Group of the participant (dynamics.participant_groups)", nullable=True),
        Column(
            "time", "int", "Time to the first AC, else to the last decided attempt; null where unknown", True, low=0
        ),
        Column("event", "bool", "delta: whether success was observed"),
        Column("reason", "string", "Why time is null", nullable=True),
    ),
    ("order", "time_unit", "participant", "problem_id"),
)

SUCCESS_CURVES = Table(
    "success_curves",
    "S at one time in one group: the share of its trajectories solved by then (paper 1, eq. 14 and 24).",
    (
        ORDER,
        TIME_UNIT,
        GROUPED_BY,
        LEVEL,
        Column("time", "int", "By when", low=0),
        Column("n_solved", "int", "Trajectories solved by then", low=0),
        *estimate_columns("Share solved by then, with Wilson's interval"),
        *cluster_interval(),
    ),
    ("order", "time_unit", "grouped_by", "level", "time"),
)

SURVIVAL_CURVES = Table(
    "survival_curves",
    "Kaplan-Meier estimate of still being unsolved after one time in one group (paper 1, eq. 25).",
    (
        ORDER,
        TIME_UNIT,
        GROUPED_BY,
        LEVEL,
        Column("time", "int", "After when", low=0),
        Column("n_at_risk", "int", "Trajectories unsolved and observed just after the row before", low=0),
        Column("n_events", "int", "Trajectories first solved since the row before", low=0),
        Column("n_censored", "int", "Trajectories last observed, unsolved, since the row before", low=0),
        *estimate_columns("Share still unsolved, with the log(-log) Greenwood band"),
    ),
    ("order", "time_unit", "grouped_by", "level", "time"),
)

SURVIVAL_GROUPS = Table(
    "survival_groups",
    "One figure of a group's times to success: median, restricted mean, share solved by the horizon.",
    (
        ORDER,
        TIME_UNIT,
        GROUPED_BY,
        LEVEL,
        Column("statistic", "string", "Which figure, of the Kaplan-Meier estimate", allowed=TIME_STATISTICS),
        Column("horizon", "int", "Where the restricted mean and the share end; null for the median", True, low=0),
        Column("n_events", "int", "Trajectories of the n that were solved", low=0),
        *estimate_columns("The figure, with its interval from the curve's band or Greenwood's error"),
        *cluster_interval(),
    ),
    ("order", "time_unit", "grouped_by", "level", "statistic"),
)

SURVIVAL_TESTS = Table(
    "survival_tests",
    "Log-rank test of whether groups take equally long: all of a grouping, or two of them.",
    (
        ORDER,
        TIME_UNIT,
        GROUPED_BY,
        Column("first_level", "string", "First of two groups; null where all are compared", nullable=True),
        Column("second_level", "string", "Second of two groups; null where all are compared", nullable=True),
        Column("chi2", "float", "The log-rank statistic; null where undefined", nullable=True, low=0),
        Column("degrees", "int", "Groups less 1", low=0),
        Column("n", "int", "Trajectories compared", low=0),
        Column("n_left_out", "int", "Trajectories of the groups whose time is unknown", low=0),
        Column("p_value", "float", "p with trajectories taken as independent", nullable=True, low=0, high=1),
        Column("p_holm", "float", "p_value corrected (Holm): pairs of a grouping, or groupings", True, low=0, high=1),
        CLUSTERED_BY,
        N_CLUSTERS,
        Column("p_clustered", "float", "p with only clusters taken as independent", nullable=True, low=0, high=1),
        Column("p_clustered_holm", "float", "p_clustered corrected in the same way", nullable=True, low=0, high=1),
        Column("reason", "string", "Why a p is null", nullable=True),
    ),
    ("order", "time_unit", "grouped_by", "first_level", "second_level"),
)

TABLES = (TRAJECTORY_TIMES, SUCCESS_CURVES, SURVIVAL_CURVES, SURVIVAL_GROUPS, SURVIVAL_TESTS)
"""The tables of this module."""
