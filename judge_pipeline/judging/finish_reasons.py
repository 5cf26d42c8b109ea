"""Why a model stopped writing, in the words of the providers, and what that makes of the answer."""

from __future__ import annotations

from judge_pipeline.judging.failures import Failure

_CUT_OFF = frozenset(
    {
        "length", "max_tokens", "max_output_tokens", "max_completion_tokens", "model_length", "token_limit",
        "model_context_window_exceeded", "context_length_exceeded", "continuation", "compaction", "pause_turn",
    }
)  # fmt: skip
_WITHHELD = frozenset(
    {
        "content_filter", "content_filtered", "content_policy", "refusal", "safety", "recitation", "blocklist",
        "prohibited_content", "spii", "sensitive", "guardrail_intervened", "error_toxic", "language", "escalation",
        "other",
    }
)  # fmt: skip
_BROKEN_OFF = frozenset(
    {
        "error", "abort", "aborted", "cancelled", "canceled", "network_error", "timeout", "malformed_response",
        "insufficient_system_resource",
    }
)  # fmt: skip


def failure_of(finish_reason: str | None) -> Failure | None:
    """The failure that the reason means, whatever the text looks like; None where the model ended by itself.

    A reason that is unknown, or not given, decides nothing: the text must then be a whole and valid answer.
    """
    reason = (finish_reason or "").strip().lower()
    if reason in _CUT_OFF:
        return Failure("truncated", f"the answer was cut off at the token limit (finish_reason: {finish_reason})")
    if is_withheld(finish_reason):
        return Failure("refusal", f"the provider's content filter withheld the answer (finish_reason: {finish_reason})")
    if reason in _BROKEN_OFF:
        return Failure("infrastructure", f"the provider broke the answer off (finish_reason: {finish_reason})")
    return None


def is_withheld(finish_reason: str | None) -> bool:
    """Whether the provider, not the model, declined."""
    return (finish_reason or "").strip().lower() in _WITHHELD
