"""Tables of judging: what is asked, what was answered, and whether it is verified."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.columns import ATTEMPT, JUDGE, PARTICIPANT, PROBLEM, SPLIT, TURN, VERDICTS, Y

JUDGE_REQUESTS = Table(
    "judge_requests",
    "The canonical request x_a for one attempt, the same for all judges, without any label (paper 1, eq. 7).",
    (
        ATTEMPT,
        SPLIT,
        PROBLEM,
        Column("language", "string", "Programming language", nullable=True),
        Column("source_code", "string", "Submitted source, cut to MAX_CODE_CHARS"),
        Column("prompt_text", "string", "Q_u cut to MAX_PROMPT_CHARS, or '' when blind"),
        Column("problem_statement", "string", "The statement, where the contest's settings ask for it", nullable=True),
        Column("context", "string", "Whether Q_u is shown", allowed=("nonblind", "blind")),
        Column("source_chars_cut", "int", "Characters of the source that were cut off its end", low=0),
        Column("prompt_chars_cut", "int", "Characters of Q_u that were cut off its end", low=0),
        Column("request_sha256", "string", "sha256 of the request's canonical JSON"),
    ),
    ("attempt_id",),
)

REDACTION_COUNTS = Table(
    "redaction_counts",
    "How often one kind of personal data was replaced in the texts that judges are shown. What it was is kept nowhere.",
    (
        Column("place", "string", "Which text", allowed=("source_code", "prompt_text")),
        Column("kind", "string", "Which kind", allowed=("secret", "email", "phone", "name", "participant")),
        Column("n_replaced", "int", "Tokens put in its place", low=0),
        Column("n_texts", "int", "Texts in which there was any", low=0),
        Column("n_searched", "int", "Texts that were searched: sources of attempts, or Q_u of participants", low=0),
        Column("reason", "string", "Why the kind is not replaced, where the settings say so", nullable=True),
    ),
    ("place", "kind"),
)

VERDICT_WORD_COUNTS = Table(
    "verdict_word_counts",
    "How often words for one verdict stand in what judges are shown by participants: Q_u and comments of programs.",
    (
        Column("place", "string", "Which text", allowed=("source_comment", "prompt_text")),
        Column("verdict", "string", "What the words mean", allowed=VERDICTS),
        Column("n_found", "int", "Words found, as far as the text is sent", low=0),
        Column("n_masked", "int", "Of these, replaced by [masked:verdict] before judges are asked", low=0),
        Column("n_texts", "int", "Texts in which there was any", low=0),
        Column("n_searched", "int", "Texts that were searched: sources of attempts, or Q_u of participants", low=0),
        Column("reason", "string", "Why none is masked, or none was searched", nullable=True),
    ),
    ("place", "verdict"),
)

JUDGE_OUTPUTS = Table(
    "judge_outputs",
    "One judge's judgment of one attempt (paper 1, eq. 8), in a table that satisfied eq. 9.",
    (
        ATTEMPT,
        JUDGE,
        Column("p_ac", "float", "Probability that the attempt will be accepted", low=0.0, high=1.0),
        Column("s_algo", "int", "Algorithmic adequacy, 1-5; null where the judge gives none", True, low=1, high=5),
        Column("s_robust", "int", "Robustness, 1-5; null where the judge gives none", True, low=1, high=5),
        Column("rationale", "string", "The judge's short reason", nullable=True),
        Column("request_hash", "string", "Identity of the call: hash of everything that can change its answer"),
        Column("model", "string", "Model that answered, as the provider named it", nullable=True),
        Column("repair", "string", "How a malformed answer was repaired; null where it was not", nullable=True),
        Column("n_tries", "int", "Tries that the answer took; 0 where no call was needed", low=0),
        Column("latency_ms", "float", "Time of the answering try, in milliseconds", nullable=True, low=0),
        Column("tokens_in", "int", "Prompt tokens over all tries and repeats", nullable=True, low=0),
        Column("tokens_out", "int", "Answer tokens over all tries and repeats", nullable=True, low=0),
        Column("cost_usd", "float", "US dollars over all tries and repeats; null where unpriced", True, low=0),
        Column("error", "string", "Always null in a verified table (eq. 9)", nullable=True),
    ),
    ("attempt_id",),
)

JUDGE_REPEATS = Table(
    "judge_repeats",
    "How far one judge's answers to the same request lie apart, for one attempt that it was asked more than once.",
    (
        ATTEMPT,
        JUDGE,
        Column("n_repeats", "int", "How often it is asked", low=2),
        Column("n_answered", "int", "Repeats with a valid answer", low=0),
        Column("p_ac_first", "float", "p_ac of the first repeat, which is the judgment; null without one", True, low=0),
        Column("p_ac_mean", "float", "Mean of p_ac over the answered repeats", nullable=True, low=0.0, high=1.0),
        Column("p_ac_sd", "float", "Sample standard deviation of p_ac (n - 1)", nullable=True, low=0.0),
        Column("p_ac_min", "float", "Smallest p_ac", nullable=True, low=0.0, high=1.0),
        Column("p_ac_max", "float", "Largest p_ac", nullable=True, low=0.0, high=1.0),
        Column("s_algo_range", "int", "Largest minus smallest s_algo", nullable=True, low=0, high=4),
        Column("s_robust_range", "int", "Largest minus smallest s_robust", nullable=True, low=0, high=4),
        Column("reason", "string", "Why figures are null, or that repeats are missing", nullable=True),
    ),
    ("attempt_id",),
)

JUDGE_COVERAGE = Table(
    "judge_coverage",
    "For one judge of judges.yaml, whether its table for this contest is verified (paper 1, eq. 9).",
    (
        JUDGE,
        Column("backend", "string", "Backend that answers for it"),
        Column("in_panel", "bool", "Whether it belongs to the panel J of eq. 10, 22 and the agreement figures"),
        Column(
            "status",
            "string",
            "State of its table",
            allowed=("verified", "unverified", "stale", "damaged", "not judged"),
        ),
        Column("scope", "string", "Attempts it was asked for, in words"),
        Column("n_in_scope", "int", "Attempts in scope", low=0),
        Column("n_judged", "int", "Attempts with an accepted judgment", low=0),
        Column("n_repaired", "int", "Judgments whose answer was repaired", low=0),
        Column("n_failed", "int", "Attempts that were asked for and have no answer", low=0),
        Column("failures", "string", "These by failure class, as 'class: n'", nullable=True),
        Column("n_tries", "int", "Calls for today's requests over all runs; null where no model is asked", True, low=0),
        Column("n_failed_tries", "int", "Calls that brought no answer, whether or not a later one did", True, low=0),
        Column("failed_tries", "string", "These by failure class, as 'class: n'", nullable=True),
        Column("cost_usd", "float", "Money over all tries; null where unpriced", nullable=True, low=0),
        Column("model", "string", "Model(s) that answered", nullable=True),
        Column("reason", "string", "Why it is not verified, where it is not", nullable=True),
    ),
    ("judge",),
)

PREDICTIONS = Table(
    "predictions",
    "One verified judgment joined with its attempt: the long prediction table (paper 1, IV-C1).",
    (
        ATTEMPT,
        JUDGE,
        PARTICIPANT,
        PROBLEM,
        TURN,
        Column("language", "string", "Programming language", nullable=True),
        Column("verdict", "string", "Verdict v", allowed=VERDICTS),
        Y,
        SPLIT,
        Column("p_ac", "float", "Probability of acceptance", low=0.0, high=1.0),
        Column("s_algo", "int", "Algorithmic adequacy, 1-5", nullable=True, low=1, high=5),
        Column("s_robust", "int", "Robustness, 1-5", nullable=True, low=1, high=5),
        Column("rationale", "string", "The judge's short reason", nullable=True),
        Column("request_hash", "string", "Identity of the call that answered"),
    ),
    ("attempt_id", "judge"),
)

PREDICTIONS_WIDE = Table(
    "predictions_wide",
    "One attempt with the p_ac of every verified judge side by side.",
    (
        ATTEMPT,
        PARTICIPANT,
        PROBLEM,
        TURN,
        Column("language", "string", "Programming language", nullable=True),
        Column("verdict", "string", "Verdict v", allowed=VERDICTS),
        Y,
        SPLIT,
    ),
    ("attempt_id",),
    open_prefix="p_ac:",
    open_description="p_ac of the judge named after the colon; null where it lies outside the judge's scope",
)

TABLES = (
    JUDGE_REQUESTS,
    REDACTION_COUNTS,
    VERDICT_WORD_COUNTS,
    JUDGE_OUTPUTS,
    JUDGE_REPEATS,
    JUDGE_COVERAGE,
    PREDICTIONS,
    PREDICTIONS_WIDE,
)
"""The tables of this module."""
