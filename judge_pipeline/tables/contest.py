"""Tables of a contest as it is read: artifacts, chats, attempts, contexts, splits."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.columns import ATTEMPT, NOTES, PARTICIPANT, PROBLEM, SPLIT, TURN, VERDICTS, Y

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
        NOTES,
    ),
    ("path", "row"),
)

PROMPT_LOGS = Table(
    "prompt_logs",
    "One message of one chat, in the order of the log.",
    (
        PARTICIPANT,
        Column("path", "string", "The log, relative to the contest folder, with /"),
        Column("conversation", "string", "Conversation within the log"),
        Column("order", "int", "Place within the conversation, from 1", low=1),
        Column("role", "string", "Who speaks: user, assistant, system or tool"),
        Column("text", "string", "What was said"),
        Column("text_sha256", "string", "sha256 of the text in UTF-8"),
        Column("at", "instant", "Instant of the message; null where it is not truly known", nullable=True),
        NOTES,
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
        ATTEMPT,
        PARTICIPANT,
        PROBLEM,
        TURN,
        Column("language", "string", "Programming language as the contest site printed it", nullable=True),
        Column("source_code", "string", "Submitted source c, exactly; null where only a list row is known", True),
        Column("source_sha256", "string", "sha256 of the source in UTF-8", nullable=True),
        Column("source_lines", "int", "Lines of the source", nullable=True, low=0),
        Column("verdict", "string", "Verdict v in the closed set", allowed=VERDICTS),
        Column("verdict_raw", "string", "The verdict's words as printed", nullable=True),
        Y,
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
        NOTES,
    ),
    ("attempt_id",),
)

PARTICIPANT_CONTEXTS = Table(
    "participant_contexts",
    "A participant's aggregated prompt context Q_u (paper 1, eq. 2 and 6).",
    (
        PARTICIPANT,
        Column("prompt_text", "string", "Q_u: the prompts in deterministic order with explicit separators; may be ''"),
        Column("n_messages", "int", "Messages that went into it", low=0),
        Column("n_logs", "int", "Prompt logs that they came from", low=0),
        Column("n_chars", "int", "Length of Q_u in characters", low=0),
        Column("prompt_sha256", "string", "sha256 of Q_u in UTF-8"),
        Column("reason", "string", "Why Q_u is empty, where it is", nullable=True),
    ),
    ("participant",),
)

ASSIGNED_BY = Column(
    "assigned_by", "string", "What decided it first; ledger: one that does not say by what", allowed=("ledger", "seed")
)

SPLIT_ASSIGNMENTS = Table(
    "splits",
    "The split of one trajectory (u, p) (paper 1, IV-A4).",
    (
        PARTICIPANT,
        PROBLEM,
        SPLIT,
        Column("stratum", "string", "The group's label", allowed=("solved", "unsolved", "unlabelled")),
        Column("n_attempts", "int", "Attempts in the trajectory", low=1),
        ASSIGNED_BY,
    ),
    ("participant", "problem_id"),
)

SPLITS_LEDGER = Table(
    "splits_ledger",
    "The split of one trajectory as first assigned; later runs keep it, though the trajectory may be absent today.",
    (PARTICIPANT, PROBLEM, SPLIT, ASSIGNED_BY),
    ("participant", "problem_id"),
)

TABLES = (
    SUBMISSION_ARTIFACTS, PROMPT_LOGS, INGEST_QUARANTINE, ATTEMPTS, PARTICIPANT_CONTEXTS, SPLIT_ASSIGNMENTS,
    SPLITS_LEDGER,
)  # fmt: skip
"""The tables of this module."""
