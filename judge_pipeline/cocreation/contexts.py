"""Participant contexts Q_u (paper 1, eq. 2 and 6): what a participant said to AI tools, as one text.

The order is that of file names, then of each log itself. Prompts are not aligned in time with attempts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Literal

import pandas as pd

from judge_pipeline.ingest.chat_formats.chat import NOT_TYPED
from judge_pipeline.ingest.turns import natural_key
from judge_pipeline.tables import PARTICIPANT_CONTEXTS

ContextRoles = Literal["prompts", "dialogue"]

ROLES_OF_CONTEXT: dict[str, tuple[str, ...]] = {"prompts": ("user",), "dialogue": ("user", "assistant")}
"""Whose messages go into Q_u. What tools print and what systems instruct is in neither."""


def participant_contexts(
    prompt_logs: pd.DataFrame, participants: Iterable[str], *, roles: ContextRoles
) -> pd.DataFrame:
    """Q_u of each participant: their messages in order, each under a separator.

    The order is: path (numbers in names by value), conversation, place in the conversation. Messages without text, and
    those that a client wrote in the participant's place, are left out. A separator names the
    log within the participant's folder, the conversation where the log holds several, the message's place, and, in a
    dialogue, who speaks. It is made from names and places only, never from what was said.

    Args:
        prompt_logs: table PROMPT_LOGS; rows in any order, and of other participants too.
        participants: who needs a context: all participants who have attempts.
        roles: "prompts" takes what the participant said, "dialogue" also what the assistant answered.

    Returns:
        Table PARTICIPANT_CONTEXTS, one row for each of ``participants``, sorted. Without any message Q_u is '' and
        the reason says whether there was no log or nothing in it.

    Raises:
        KeyError: ``roles`` is neither of the two.
    """
    wanted = ROLES_OF_CONTEXT[roles]
    messages: dict[str, list[dict[str, object]]] = {participant: [] for participant in sorted(set(participants))}
    for row in prompt_logs.to_dict("records"):
        if row["participant"] in messages:
            messages[row["participant"]].append({str(key): value for key, value in row.items()})
    return PARTICIPANT_CONTEXTS.conform([_context(u, rows, wanted) for u, rows in messages.items()])


def _context(participant: str, rows: list[dict[str, object]], wanted: tuple[str, ...]) -> dict[str, object]:
    several = {path for path, names in _conversations(rows).items() if len(names) > 1}
    used = [row for row in rows if row["role"] in wanted and str(row["text"]).strip() and not _is_client_text(row)]
    used.sort(key=lambda row: (natural_key(str(row["path"])), natural_key(str(row["conversation"])), row["order"]))
    text = "\n\n".join(f"{_separator(row, row['path'] in several, len(wanted) > 1)}\n{row['text']}" for row in used)
    return {
        "participant": participant,
        "prompt_text": text,
        "n_messages": len(used),
        "n_logs": len({row["path"] for row in used}),
        "n_chars": len(text),
        "prompt_sha256": hashlib.sha256(text.encode("utf-8")).hexdigest(),
        "reason": None if used else _why_empty(rows, wanted),
    }


def _is_client_text(row: dict[str, object]) -> bool:
    """Whether the log files the message under the participant although a client wrote it."""
    return NOT_TYPED in str(row["notes"] or "").split("; ")


def _conversations(rows: list[dict[str, object]]) -> dict[object, set[object]]:
    names: dict[object, set[object]] = {}
    for row in rows:
        names.setdefault(row["path"], set()).add(row["conversation"])
    return names


def _separator(row: dict[str, object], several: bool, dialogue: bool) -> str:
    parts = [f"log {_shown(str(row['path']))}"]
    if several:
        parts.append(f"conversation {_shown(str(row['conversation']))}")
    parts.append(f"message {row['order']}")
    if dialogue:
        parts.append(str(row["role"]))
    return f"----- {', '.join(parts)} -----"


def _shown(name: str) -> str:
    """The log's name inside ``prompts/<participant>/``, on one line: who it is belongs in no request."""
    parts = name.split("/")
    inside = "/".join(parts[2:]) if len(parts) > 2 and parts[0] == "prompts" else parts[-1]
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in inside)


def _why_empty(rows: list[dict[str, object]], wanted: tuple[str, ...]) -> str:
    if not rows:
        return "no prompt log"
    logs = len(_conversations(rows))
    return f"{logs} prompt log(s) without any message of {' or '.join(wanted)}"
