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
    sa.Column("latency_ms", sa.Float, nullable=False),
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
    sa.Index("calls_by_request", "judge", "request_hash"),
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


PROVIDER_TURNS = sa.Table(
    "provider_turns",
    METADATA,
    sa.Column("provider", sa.String(300), primary_key=True),
    sa.Column("free_at", sa.Float, nullable=False, comment="when the next call may start: seconds since 1970, UTC"),
)
