"""Tables of judging criterion by criterion: criteria, verdicts, what is filtered, decisions (CriterAlign)."""

from __future__ import annotations

from dataclasses import replace

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.pair_judging import PRESENTATION_ORDERS
from judge_pipeline.tables.preference import CHOICES, PAIR

ASPECTS = (
    "correctness", "completeness", "efficiency", "explainability", "maintainability", "UI/UX design", "others",
)  # fmt: skip
"""The closed set of aspects that a criterion is mapped to."""

CRITERION_VERDICT_VALUES = ("A", "B", "tie", "insufficient")
"""What a criterion judge may say of two responses; insufficient: what is there does not show it."""

CONFIDENCES = ("low", "medium", "high")

CRITERION_FATES = (
    "kept", "replaced", "redundant", "conflicting", "redundancy_unchecked", "conflict_unchecked", "over_limit",
)  # fmt: skip
"""What became of a criterion: in force; a tied parent in whose place a child stands; a child that was not accepted,
since another says the same, since it contradicts another, since one of these two checks has no valid answer, or since
there were enough."""

STAGES = (
    "monolithic", "generation", "improvement", "pairwise_verdicts", "pointwise_answers", "decomposition", "redundancy",
    "conflict", "child_verdicts", "child_answers", "weights", "final",
)  # fmt: skip
"""The calls that a configuration may make."""

_CRITERION = Column(
    "criterion", "string", "Criterion of the pair: c1, c2, ..., and t1, ... of those made by refinement"
)
_TEXT = Column("text", "string", "What is compared or asked")
_ASPECT = Column("aspect", "string", "The aspect that it is mapped to", allowed=ASPECTS)
_HASH = Column("request_hash", "string", "Identity of the call that gave it; null where none did", nullable=True)
_FAILURES = (
    Column("failure_class", "string", "Class of the invalid answer; null where it is valid", nullable=True),
    Column("failure", "string", "What is wrong with it", nullable=True),
)

CRITERIA = Table(
    "criteria",
    "One criterion that a judge generated for one pair (CriterAlign, section 3.1).",
    (
        PAIR,
        _CRITERION,
        _TEXT,
        _ASPECT,
        Column("weight", "float", "How much it counts, from 1 to 3, where its generator says so", nullable=True, low=0),
        _HASH,
    ),
    ("pair_id", "criterion"),
)

CRITERION_VERDICTS = Table(
    "criterion_verdicts",
    "A judge's pairwise verdict on one criterion of one pair in one presentation order (CriterAlign, section 3.3).",
    (
        PAIR,
        _CRITERION,
        Column("presentation_order", "string", "Which response stood first", allowed=PRESENTATION_ORDERS),
        Column("verdict", "string", "In terms of y_A and y_B; null: invalid", True, allowed=CRITERION_VERDICT_VALUES),
        Column("confidence", "string", "As the judge says it", nullable=True, allowed=CONFIDENCES),
        Column("rationale", "string", "The judge's short reason", nullable=True),
        *_FAILURES,
        _HASH,
    ),
    ("pair_id", "criterion", "presentation_order"),
)

CHILD_VERDICTS = replace(
    CRITERION_VERDICTS,
    name="child_verdicts",
    description="The same of a criterion that refinement made and accepted (CriterAlign, section 3.3, BTCR).",
)

CRITERION_ANSWERS = Table(
    "criterion_answers",
    "A judge's pointwise answer to one criterion for one response alone, as the baselines ask it.",
    (
        PAIR,
        _CRITERION,
        Column("response", "string", "The response", allowed=("A", "B")),
        Column("met", "bool", "Whether it meets the criterion; null: invalid", nullable=True),
        Column("rationale", "string", "The judge's short reason", nullable=True),
        *_FAILURES,
        _HASH,
    ),
    ("pair_id", "criterion", "response"),
)

CHILD_ANSWERS = replace(
    CRITERION_ANSWERS,
    name="child_answers",
    description="The same to a criterion that recursive decomposition made and accepted.",
)

REFINED_CRITERIA = Table(
    "refined_criteria",
    "Every criterion of one pair after refinement, and what became of it (CriterAlign, section 3.3, BTCR).",
    (
        PAIR,
        _CRITERION,
        _TEXT,
        _ASPECT,
        Column("weight", "float", "How much it counts, where something says so", nullable=True, low=0),
        Column("weight_failure_class", "string", "Class of the invalid answer that was to weigh it", nullable=True),
        Column("weight_failure", "string", "What is wrong with that answer", nullable=True),
        Column("weight_request_hash", "string", "Identity of the call that weighed it", nullable=True),
        Column("parent", "string", "The criterion that it refines; null for a generated one", nullable=True),
        Column("round", "int", "Round of refinement that made it; 0 for a generated one", low=0),
        Column("fate", "string", "What became of it", allowed=CRITERION_FATES),
        Column("why", "string", "Why, where it is not kept", nullable=True),
        _HASH,
    ),
    ("pair_id", "criterion"),
)

CONSISTENT_EVIDENCE = Table(
    "consistent_evidence",
    "A verdict in force on one criterion of one pair, and whether it is the same in both orders (CriterAlign, SCF).",
    (
        PAIR,
        _CRITERION,
        _TEXT,
        _ASPECT,
        Column("verdict", "string", "The verdict of order AB", nullable=True, allowed=CRITERION_VERDICT_VALUES),
        Column("verdict_ba", "string", "The verdict of order BA, in terms of y_A and y_B", True),
        Column("confidence", "string", "Of the verdict of order AB", nullable=True, allowed=CONFIDENCES),
        Column("rationale", "string", "Of the verdict of order AB", nullable=True),
        Column("kept", "bool", "Whether the final judge is shown it"),
        Column("why", "string", "Why it is filtered out, where it is", nullable=True),
    ),
    ("pair_id", "criterion"),
)

CRITERIA_DECISIONS = Table(
    "criteria_decisions",
    "What one configuration decides on one pair, and by what.",
    (
        PAIR,
        Column("decision", "string", "In terms of y_A and y_B; null: invalid", nullable=True, allowed=CHOICES),
        Column("decided_by", "string", "What decided", allowed=("judge", "weighted_sum", "no_evidence")),
        Column("n_criteria", "int", "Criteria in force", low=0),
        Column("n_evidence", "int", "Of these, with a verdict or an answer that counted", low=0),
        Column("score_a", "float", "Weighted sum of y_A, where sums decide", nullable=True),
        Column("score_b", "float", "Weighted sum of y_B, where sums decide", nullable=True),
        Column("rationale", "string", "The judge's short reason", nullable=True),
        *_FAILURES,
        _HASH,
    ),
    ("pair_id",),
)

CRITERIA_CALLS = Table(
    "criteria_calls",
    "What one stage of one configuration took over all pairs, stored answers included.",
    (
        Column("stage", "string", "The stage", allowed=STAGES),
        Column("n_requests", "int", "Different requests", low=0),
        Column("n_calls", "int", "Tries, over all runs", low=0),
        Column("n_invalid", "int", "Requests without a valid answer", low=0),
        Column("n_pairs", "int", "Pairs that needed the stage", low=0),
        Column("tokens_in", "int", "Prompt tokens", nullable=True, low=0),
        Column("tokens_out", "int", "Answer tokens", nullable=True, low=0),
        Column("cost_usd", "float", "US dollars; null where unpriced", nullable=True, low=0),
    ),
    ("stage",),
)

TABLES = (
    CRITERIA, CRITERION_VERDICTS, CHILD_VERDICTS, CRITERION_ANSWERS, CHILD_ANSWERS, REFINED_CRITERIA,
    CONSISTENT_EVIDENCE, CRITERIA_DECISIONS, CRITERIA_CALLS,
)  # fmt: skip
"""The tables of this module."""
