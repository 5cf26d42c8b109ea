"""The tables of the checkpoint's store. Whatever module reads or writes them, they are stated here."""

from __future__ import annotations

import sqlalchemy as sa

METADATA = sa.MetaData()

JUDGMENTS = sa.Table(
    "judgments",
    METADATA,
    sa.Column("judge", sa.String(200), primary_key=True),
    sa.Column("request_hash", sa.String(64), primary_key=True),
    sa.Column("attempt_id", sa.String(64), nullable=False),
    sa.Column("answer", sa.Text, nullable=False, comment="the valid answer as JSON"),
    sa.Column("repair", sa.Text),
    sa.Column("model", sa.Text),
    sa.Column("latency_ms", sa.Float),
    sa.Column("answered_at", sa.String(32), nullable=False, comment="UTC, ISO 8601"),
)

CALLS = sa.Table(
    "calls",
    METADATA,
    sa.Column("call_id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("judge", sa.String(200), nullable=False),
    sa.Column("request_hash", sa.String(64), nullable=False),
    sa.Column("attempt_id", sa.String(64), nullable=False),
    sa.Column("repeat_index", sa.Integer, nullable=False),
    sa.Column("run_id", sa.String(64), nullable=False, comment="the asking that made the call"),
    sa.Column("try_number", sa.Integer, nullable=False, comment="within the asking, from 1"),
    sa.Column("started_at", sa.String(32), nullable=False, comment="UTC, ISO 8601"),
    sa.Column("latency_ms", sa.Float, comment="null for a line of a batch, which nobody times"),
    sa.Column("tokens_in", sa.Integer),
    sa.Column("tokens_out", sa.Integer),
    sa.Column("tokens_reasoning", sa.Integer),
    sa.Column("cost_usd", sa.Float),
    sa.Column("finish_reason", sa.Text),
    sa.Column("model", sa.Text, comment="as the provider named it"),
    sa.Column("provider_request_id", sa.Text),
    sa.Column("sent", sa.Text, comment="parameters really sent, and what was dropped, as JSON"),
    sa.Column("re_ask", sa.Text, comment="validation errors that the re-ask carried"),
    sa.Column("raw_text", sa.Text, comment="the content as returned"),
    sa.Column("error_class", sa.String(32)),
    sa.Column("error_text", sa.Text),
    # Covers what totals are made of: they are read without the texts beside them.
    sa.Index("calls_totals", "judge", "request_hash", "call_id", "tokens_in", "tokens_out", "cost_usd", "latency_ms"),
    sa.Index("calls_by_attempt", "attempt_id"),
)

REQUESTS = sa.Table(
    "requests",
    METADATA,
    sa.Column("request_hash", sa.String(64), primary_key=True),
    sa.Column("template", sa.Text, nullable=False),
    sa.Column("template_sha256", sa.String(64), nullable=False),
    sa.Column("components", sa.Text, nullable=False, comment="what was hashed, as JSON"),
    sa.Column("first_asked_at", sa.String(32), nullable=False, comment="UTC, ISO 8601"),
)


RENDERED = sa.Table(
    "rendered",
    METADATA,
    sa.Column("block_key", sa.String(64), primary_key=True, comment="sha256 of the rows, and of all that renders them"),
    sa.Column("content", sa.LargeBinary, nullable=False, comment="hashes of their requests, packed (render_memo)"),
)

PROVIDER_TURNS = sa.Table(
    "provider_turns",
    METADATA,
    sa.Column("provider", sa.String(300), primary_key=True),
    sa.Column("free_at", sa.Float, nullable=False, comment="when the next call may start: seconds since 1970, UTC"),
)

PROVIDER_WINDOWS = sa.Table(
    "provider_windows",
    METADATA,
    sa.Column("provider", sa.String(300), primary_key=True),
    sa.Column("calls", sa.Float, comment="calls that may be under way; null: as many as the judges may have"),
    sa.Column("narrowed_at", sa.Float, nullable=False, comment="when it was last halved: seconds since 1970, UTC"),
    sa.Column("closed_until", sa.Float, nullable=False, comment="no call may start before: seconds since 1970, UTC"),
    sa.Column("renewed_at", sa.Float, nullable=False, comment="when it was last used: seconds since 1970, UTC"),
)

WINDOW_SHARES = sa.Table(
    "window_shares",
    METADATA,
    sa.Column("provider", sa.String(300), primary_key=True),
    sa.Column("process", sa.String(64), primary_key=True, comment="a name that it drew"),
    sa.Column("calls", sa.Integer, nullable=False, comment="calls that it may have under way"),
    sa.Column("wanted", sa.Integer, nullable=False, comment="calls that it could make use of"),
    sa.Column("maximum", sa.Integer, nullable=False, comment="calls under way that its judges may have"),
    sa.Column("expires_at", sa.Float, nullable=False, comment="when it falls back: seconds since 1970, UTC"),
)

SHARD_SPENDING = sa.Table(
    "shard_spending",
    METADATA,
    sa.Column("run_id", sa.String(32), primary_key=True, comment="the run whose shards or steps they are"),
    sa.Column("asking", sa.String(64), primary_key=True, comment="run_id of a shard's calls, or a process"),
    sa.Column("usd", sa.Float, nullable=False, comment="spent, and set aside for calls under way"),
)

BATCHES = sa.Table(
    "batches",
    METADATA,
    sa.Column("token", sa.String(32), primary_key=True, comment="our name for it; in its metadata at the provider"),
    sa.Column("judge", sa.String(200), nullable=False),
    sa.Column("contest", sa.String(200), nullable=False),
    sa.Column("state", sa.String(16), nullable=False, comment="prepared, creating, submitted, collected or dropped"),
    sa.Column("base_url", sa.Text, comment="where it was submitted; null: the provider's own"),
    sa.Column("batch_id", sa.Text, comment="the provider's"),
    sa.Column("input_file_id", sa.Text),
    sa.Column("output_file_id", sa.Text),
    sa.Column("error_file_id", sa.Text),
    sa.Column("status", sa.Text, comment="as the provider last said"),
    sa.Column("n_requests", sa.Integer, nullable=False),
    sa.Column("n_completed", sa.Integer, comment="as the provider last said"),
    sa.Column("n_failed", sa.Integer, comment="as the provider last said"),
    sa.Column("discount", sa.Float, nullable=False, comment="share of the price that it costs less"),
    sa.Column("set_aside_usd", sa.Float, comment="estimated cost; null: unpriced"),
    sa.Column("completion_hours", sa.Float, nullable=False, comment="within which the provider answers or expires it"),
    sa.Column("sent", sa.Text, nullable=False, comment="parameters sent, and what was dropped, as JSON"),
    sa.Column("prepared_at", sa.String(32), nullable=False, comment="UTC, ISO 8601, as all times"),
    sa.Column("creating_at", sa.String(32), comment="when the provider was first asked to start it"),
    sa.Column("submitted_at", sa.String(32)),
    sa.Column("checked_at", sa.String(32)),
    sa.Column("collected_at", sa.String(32)),
    sa.Column("n_collections", sa.Integer, nullable=False, comment="how often a run set out to collect it"),
    sa.Column("counts", sa.Text, comment="what its files held, as JSON"),
    sa.Column("files_deleted", sa.Boolean, nullable=False, comment="whether its files are gone at the provider"),
    sa.Column("error", sa.Text),
    sa.Index("batches_by_judge", "judge", "state"),
)

BATCH_REQUESTS = sa.Table(
    "batch_requests",
    METADATA,
    sa.Column("token", sa.String(32), primary_key=True),
    sa.Column("request_hash", sa.String(64), primary_key=True),
    sa.Column("judge", sa.String(200), nullable=False),
    sa.Column("attempt_id", sa.String(64), nullable=False),
    sa.Column("repeat_index", sa.Integer, nullable=False),
    sa.Column("try_number", sa.Integer, nullable=False),
    sa.Column("answer_limit", sa.Integer, comment="tokens, where this try has a limit of its own"),
    sa.Column("re_ask", sa.Text, comment="validation errors that this try carries; null where it is no re-ask"),
    sa.Column("outcome", sa.String(16), comment="answered, re-ask, again or failed; null while it waits"),
    sa.Index("batch_requests_by_request", "judge", "request_hash"),
    sa.Index("batch_requests_by_attempt", "attempt_id"),
)
