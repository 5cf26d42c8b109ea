"""Two chats that answer the same prompt: their prompt, what was said before it, and the two answers."""

from __future__ import annotations

from typing import Any

from judge_pipeline.preference.drafts import Faulty, Turn
from judge_pipeline.preference.row_values import turns_of


def split_chat(value: Any, field: str) -> tuple[list[Turn], str, str]:
    """The turns before the last question, the last question, and the answer to it.

    Raises:
        Faulty: it does not end with an answer to a question.
    """
    turns = turns_of(value, field)
    if len(turns) < 2 or turns[-1][0] != "assistant" or turns[-2][0] != "user":
        raise Faulty(field, value, "does not end with a question and its answer", "remove the row")
    return turns[:-2], turns[-2][1], turns[-1][1]


def is_single_turn(prior: list[Turn]) -> bool:
    """Whether nothing was asked or answered before; a system prompt does not count."""
    return all(role == "system" for role, _ in prior)
