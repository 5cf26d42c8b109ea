"""The schema of every table that crosses a room's wall, once (what a schema is: ``table_schema``)."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table

VERDICTS = (
    "AC", "WA", "TLE", "MLE", "RE", "CE", "PE", "OLE", "IE", "PARTIAL", "SKIPPED", "HACKED", "PENDING", "UNKNOWN",
)  # fmt: skip
"""The closed set of verdicts."""

VERDICTS_WITHOUT_LABEL = ("PENDING", "UNKNOWN", "SKIPPED")
"""Verdicts from which no acceptance label y follows: not judged yet, not understood, or never run."""

SPLITS = ("train", "val", "test")


def estimate_columns(what: str) -> tuple[Column, ...]:
    """The columns of an estimate (``estimate.Estimate.to_row``)."""
    return (
        Column("value", "float", f"{what}; null where undefined", nullable=True),
        Column("n", "int", "How many observations the value rests on", low=0),
        Column("n_left_out", "int", "How many observations were offered and not used", low=0),
        Column("ci95_low", "float", "Lower end of the 95% interval", nullable=True),
        Column("ci95_high", "float", "Upper end of the 95% interval", nullable=True),
        Column("reason", "string", "Why the value is null, or a warning about it", nullable=True),
    )


_PARTICIPANT = Column("participant", "string", "Participant u")
_PROBLEM = Column("problem_id", "string", "Problem p")
_TURN = Column("turn", "int", "Turn k within the trajectory (u, p), 1-based", low=1)
_ATTEMPT = Column("attempt_id", "string", "Stable id of the attempt: 16 hexadecimal digits")
_JUDGE = Column("judge", "string", "Judge j, as named in judges.yaml")
_SPLIT = Column("split", "string", "Split of the attempt's trajectory", allowed=SPLITS)
_Y = Column("y", "int", "Acceptance label (eq. 4): 1 accepted, 0 not, null where undecided", True, low=0, high=1)
_NOTES = Column("notes", "string", "What the reader was unsure of, joined by '; '", nullable=True)

SUBMISSION_ARTIFACTS = Table(
    "submission_artifacts",
    "One submission as read from one place of one artifact.",
    (
        Column("path", "string", "The artifact, relative to the contest folder, with /"),
        Column("row", "int", "Row in a list page or feed, from 1; null where the artifact is one submission", True),
        Column("reader", "string", "Which reader read it"),
        Column("participant", "string", "Participant by page or folder", nullable=True),
        Column("problem_id", "string", "Problem by page or folder", nullable=True),
        Column("verdict", "string", "Verdict in the closed set", allowed=VERDICTS),
        Column("verdict_raw", "string", "The verdict's words as the contest site printed them", nullable=True),
        Column("language", "string", "Programming language as the contest site printed it", nullable=True),
        Column("submitted_at", "instant", "Instant of submission; null where the zone is unknown", nullable=True),
        Column("timestamp_raw", "string", "The time as printed", nullable=True),
        Column("submission_id", "string", "The contest site's id of the submission", nullable=True),
        Column("source_code", "string", "The submitted source, exactly as the artifact held it", nullable=True),
        Column("source_sha256", "string", "sha256 of the source in UTF-8", nullable=True),
        Column("source_lines", "int", "Lines of the source", nullable=True, low=0),
        Column("source_path", "string", "File (or archive/file) of the source, where it is not the artifact", True),
        _NOTES,
    ),
    ("path", "row"),
)

PROMPT_LOGS = Table(
    "prompt_logs",
    "One message of one chat, in the order of the log.",
    (
        _PARTICIPANT,
        Column("path", "string", "The log, relative to the contest folder, with /"),
        Column("conversation", "string", "Conversation within the log"),
        Column("order", "int", "Place within the conversation, from 1", low=1),
        Column("role", "string", "Who speaks: user, assistant, system or tool"),
        Column("text", "string", "What was said"),
        Column("text_sha256", "string", "sha256 of the text in UTF-8"),
        Column("at", "instant", "Instant of the message; null where it is not truly known", nullable=True),
        _NOTES,
    ),
    ("path", "conversation", "order"),
)

INGEST_QUARANTINE = Table(
    "ingest_quarantine",
    "One artifact, or one place in it, that was set aside.",
    (
        Column("kind", "string", "What it was taken for", allowed=("submissions", "prompts")),
        Column("path", "string", "The artifact, relative to the contest folder, with /"),
        Column("place", "string", "Where in the artifact: a row, a line, a field", nullable=True),
        Column("reason", "string", "Why it was set aside"),
        Column("remedy", "string", "What to do about it"),
    ),
    ("kind", "path", "place", "reason"),
)

ATTEMPTS = Table(
    "attempts",
    "One attempt a = (u, p, k, c, t, v, y) (paper 1, eq. 1-5), sorted by participant, problem, turn.",
    (
        _ATTEMPT,
        _PARTICIPANT,
        _PROBLEM,
        _TURN,
        Column("language", "string", "Programming language as the contest site printed it", nullable=True),
        Column("source_code", "string", "Submitted source c, exactly; null where only a list row is known", True),
        Column("source_sha256", "string", "sha256 of the source in UTF-8", nullable=True),
        Column("source_lines", "int", "Lines of the source", nullable=True, low=0),
        Column("verdict", "string", "Verdict v in the closed set", allowed=VERDICTS),
        Column("verdict_raw", "string", "The verdict's words as printed", nullable=True),
        _Y,
        Column("submitted_at", "instant", "Instant t of submission, where known", nullable=True),
        Column("timestamp_raw", "string", "The time as printed", nullable=True),
        Column("submission_id", "string", "The contest site's id", nullable=True),
        Column(
            "order_source",
            "string",
            "What the turn order rests on",
            allowed=("instant", "submission_id", "list_position", "file_name"),
        ),
        Column("path", "string", "The artifact it was read from"),
        Column("row", "int", "Row within the artifact", nullable=True),
        Column("reader", "string", "Which reader read it"),
        _NOTES,
    ),
    ("attempt_id",),
)

PARTICIPANT_CONTEXTS = Table(
    "participant_contexts",
    "A participant's aggregated prompt context Q_u (paper 1, eq. 2 and 6).",
    (
        _PARTICIPANT,
        Column("prompt_text", "string", "Q_u: the prompts in deterministic order with explicit separators; may be ''"),
        Column("n_messages", "int", "Messages that went into it", low=0),
        Column("n_logs", "int", "Prompt logs that they came from", low=0),
        Column("n_chars", "int", "Length of Q_u in characters", low=0),
        Column("prompt_sha256", "string", "sha256 of Q_u in UTF-8"),
        Column("reason", "string", "Why Q_u is empty, where it is", nullable=True),
    ),
    ("participant",),
)

SPLIT_ASSIGNMENTS = Table(
    "splits",
    "The split of one trajectory (u, p) (paper 1, IV-A4).",
    (
        _PARTICIPANT,
        _PROBLEM,
        _SPLIT,
        Column("stratum", "string", "The group's label", allowed=("solved", "unsolved", "unlabelled")),
        Column("n_attempts", "int", "Attempts in the trajectory", low=1),
        Column("assigned_by", "string", "Whether an earlier run decided it", allowed=("ledger", "seed")),
    ),
    ("participant", "problem_id"),
)

SPLITS_LEDGER = Table(
    "splits_ledger",
    "The split of one trajectory as first assigned; later runs keep it, though the trajectory may be absent today.",
    (_PARTICIPANT, _PROBLEM, _SPLIT),
    ("participant", "problem_id"),
)

JUDGE_REQUESTS = Table(
    "judge_requests",
    "The canonical request x_a for one attempt, the same for all judges, without any label (paper 1, eq. 7).",
    (
        _ATTEMPT,
        _SPLIT,
        _PROBLEM,
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

JUDGE_OUTPUTS = Table(
    "judge_outputs",
    "One judge's judgment of one attempt (paper 1, eq. 8), in a table that satisfied eq. 9.",
    (
        _ATTEMPT,
        _JUDGE,
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
        _ATTEMPT,
        _JUDGE,
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

PREDICTIONS = Table(
    "predictions",
    "One verified judgment joined with its attempt: the long prediction table (paper 1, IV-C1).",
    (
        _ATTEMPT,
        _JUDGE,
        _PARTICIPANT,
        _PROBLEM,
        _TURN,
        Column("language", "string", "Programming language", nullable=True),
        Column("verdict", "string", "Verdict v", allowed=VERDICTS),
        _Y,
        _SPLIT,
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
        _ATTEMPT,
        _PARTICIPANT,
        _PROBLEM,
        _TURN,
        Column("language", "string", "Programming language", nullable=True),
        Column("verdict", "string", "Verdict v", allowed=VERDICTS),
        _Y,
        _SPLIT,
    ),
    ("attempt_id",),
    open_prefix="p_ac:",
    open_description="p_ac of the judge named after the colon; null where it lies outside the judge's scope",
)

JUDGE_COVERAGE = Table(
    "judge_coverage",
    "For one judge of judges.yaml, whether its table for this contest is verified (paper 1, eq. 9).",
    (
        _JUDGE,
        Column("backend", "string", "Backend that answers for it"),
        Column("in_panel", "bool", "Whether it belongs to the panel J of eq. 10, 22 and the agreement figures"),
        Column("status", "string", "State of its table", allowed=("verified", "unverified", "stale", "not judged")),
        Column("scope", "string", "Attempts it was asked for, in words"),
        Column("n_in_scope", "int", "Attempts in scope", low=0),
        Column("n_judged", "int", "Attempts with an accepted judgment", low=0),
        Column("n_repaired", "int", "Judgments whose answer was repaired", low=0),
        Column("cost_usd", "float", "Money over all tries; null where unpriced", nullable=True, low=0),
        Column("model", "string", "Model(s) that answered", nullable=True),
        Column("reason", "string", "Why it is not verified, where it is not", nullable=True),
    ),
    ("judge",),
)

JUDGE_METRICS = Table(
    "judge_metrics",
    "One figure of one judge (paper 1, Table IV): test-split figures, and the threshold chosen on val.",
    (
        _JUDGE,
        Column("metric", "string", "Which figure; docs/reference/metrics.md gives the formula of each"),
        Column("split", "string", "The split it is taken on", allowed=SPLITS),
        *estimate_columns("The figure"),
    ),
    ("judge", "metric"),
)

JUDGE_AGREEMENT = Table(
    "judge_agreement",
    "One agreement figure over the test items that all judges of the panel answered (paper 1, Table V).",
    (
        Column(
            "statistic",
            "string",
            "Which figure",
            allowed=("cohen", "raw_agreement", "judge_mean_cohen", "mean_cohen", "fleiss"),
        ),
        Column("judge_1", "string", "First judge of the pair, or the judge", nullable=True),
        Column("judge_2", "string", "Second judge of the pair", nullable=True),
        *estimate_columns("The figure"),
    ),
    ("statistic", "judge_1", "judge_2"),
)

JUDGE_CURVES = Table(
    "judge_curves",
    "One point of one judge's ROC, precision-recall or reliability curve on test (paper 1, Figures 2-3).",
    (
        _JUDGE,
        Column("curve", "string", "Which curve", allowed=("roc", "pr", "reliability")),
        Column("point", "int", "Order along the curve, from 1", low=1),
        Column("x", "float", "False positive rate, recall, or mean p_ac of the bin"),
        Column("y", "float", "True positive rate, precision, or accepted share of the bin"),
        Column("threshold", "float", "Threshold of the point; null on reliability curves and at end points", True),
        Column("n", "int", "Attempts behind the point", low=0),
        Column("ci95_low", "float", "Lower end of the Wilson interval (reliability)", nullable=True),
        Column("ci95_high", "float", "Upper end of the Wilson interval (reliability)", nullable=True),
    ),
    ("judge", "curve", "point"),
)

TRAJECTORIES = Table(
    "trajectories",
    "One trajectory (u, p) with its time to success (paper 1, eq. 12-13).",
    (
        _PARTICIPANT,
        _PROBLEM,
        _SPLIT,
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
        _ATTEMPT,
        _PARTICIPANT,
        _PROBLEM,
        _TURN,
        _Y,
        Column("p_mean", "float", "Mean p_ac over the panel; null where a panel judge did not judge it", True),
        Column("n_judges", "int", "Panel judges that judged it", low=0),
        Column("delta_p_mean", "float", "Change from the turn before; null at turn 1 or where either is null", True),
        Column("reason", "string", "Why p_mean or its change is null", nullable=True),
    ),
    ("attempt_id",),
)

SUCCESS_AT_TURN = Table(
    "success_at_turn",
    "S(k): the share of all trajectories solved by turn k (paper 1, eq. 14 and 24).",
    (
        _TURN,
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
        *estimate_columns("The count or average"),
    ),
    ("statistic",),
)

ALL_TABLES = (
    SUBMISSION_ARTIFACTS, PROMPT_LOGS, INGEST_QUARANTINE, ATTEMPTS, PARTICIPANT_CONTEXTS, SPLIT_ASSIGNMENTS,
    SPLITS_LEDGER, JUDGE_REQUESTS, REDACTION_COUNTS, JUDGE_OUTPUTS, PREDICTIONS, PREDICTIONS_WIDE, JUDGE_COVERAGE,
    JUDGE_METRICS, JUDGE_AGREEMENT, JUDGE_CURVES, TRAJECTORIES, STRUGGLE_CURVES, SUCCESS_AT_TURN, SURVIVAL,
    CONTEST_OVERVIEW,
    JUDGE_REPEATS,
)  # fmt: skip
"""Every table of the house."""
