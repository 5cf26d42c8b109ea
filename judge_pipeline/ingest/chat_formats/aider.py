"""aider's ``.aider.chat.history.md``: ``#### `` before what was typed, ``> `` before what aider printed."""

from __future__ import annotations

import itertools
import re

from judge_pipeline.ingest.chat_formats.chat import Chat, Turn, block_text, lines_of, plural_note
from judge_pipeline.ingest.chat_formats.fences import fenced

NAME = "aider chat history"

_START = re.compile(r"# aider chat started at .*")
_TOKENS = re.compile(r"^> Tokens: \S+ sent", re.MULTILINE)
_TYPED = re.compile(r"^#### ", re.MULTILINE)
_PROMPT_COMMANDS = ("/ask", "/code", "/architect", "/context", "/help", "/ok")
_LEAST_REPLAY_WORDS = 20
_COMMAND = re.compile(r"\s*(/[a-z-]+|!)")


def chats_of_text(text: str) -> list[Chat] | None:
    """The sessions of a history file; None if the text is not one.

    In architect mode aider hands the plan on to a second model and writes it as if it had been typed: such a replay
    (the same words as the answer before it) is no human prompt, is left out, and is counted. The time that a session
    states has no zone, and is the session's, not a message's.
    """
    cut = _TOKENS.search(text) is not None and _TYPED.search(text) is not None
    if "# aider chat started at" not in text and not cut:
        return None
    lines = lines_of(text)
    if not cut and not any(_START.fullmatch(line) for line in lines):
        return None
    kinds = _kinds(lines)
    starts = [i for i, kind in enumerate(kinds) if kind == "start"]
    if {"typed", "end"} & set(kinds[: starts[0] if starts else None]):
        starts.insert(0, -1)  # the beginning of the first session is cut off
    return [
        _session(lines[begin + 1 : end], kinds[begin + 1 : end])
        for begin, end in zip(starts, [*starts[1:], len(lines)], strict=True)
    ]


def _kinds(lines: list[str]) -> list[str]:
    """For each line: start, typed, printed, end (aider's token count, which closes an answer) or said.

    aider ends what was typed and what it printed with two blanks, which tells them from headings and quotations in
    answers. Files whose trailing blanks were stripped are read by the marks alone, outside code.
    """
    marked = any(line.startswith("#### ") and line.endswith("  ") for line in lines)
    masked = [False] * len(lines) if marked else fenced(lines)
    kinds: list[str] = []
    for line, in_code in zip(lines, masked, strict=True):
        own = not in_code and (line.endswith("  ") or not marked)
        if _START.fullmatch(line):
            kinds.append("start")
        elif own and (line.startswith("#### ") or line.rstrip() == "####"):
            kinds.append("typed")
        elif own and line.startswith(">"):
            kinds.append("end" if line.startswith("> Tokens:") else "printed")
        else:
            kinds.append("said")
    return kinds


def _session(lines: list[str], kinds: list[str]) -> Chat:
    turns: list[Turn] = []
    said: list[str] = []
    answer = ""
    replays = 0
    for kind, group in itertools.groupby(zip(kinds, lines, strict=True), key=lambda pair: pair[0]):
        texts = [line for _, line in group]
        if kind == "said":
            said.extend(texts)
            continue
        if kind in ("typed", "end") and (text := block_text(said)):
            answer = text
            turns.append(Turn("assistant", text))
        if kind in ("typed", "end"):
            said = []
        if kind == "typed":
            prompt = block_text([line[4:].removeprefix(" ").rstrip() for line in texts])
            if _is_replay(prompt, answer):
                replays += 1
            elif prompt:
                _drop_command(turns, prompt)
                turns.append(_typed(prompt))
            answer = ""
    if text := block_text(said):
        turns.append(Turn("assistant", text))
    return Chat(tuple(turns), plural_note(replays, "replay(s) of the architect's plan left out"))


def _is_replay(prompt: str, answer: str) -> bool:
    """Whether the words typed are those of the answer before; what aider printed may stand before them there."""
    typed, said = prompt.split(), answer.split()
    return bool(typed) and (typed == said or (len(typed) >= _LEAST_REPLAY_WORDS and typed == said[-len(typed) :]))


def _drop_command(turns: list[Turn], prompt: str) -> None:
    """Removes ``/ask WORDS`` where aider then writes the words once more as what was typed."""
    if turns and turns[-1].role == "user" and turns[-1].text.startswith("/"):
        _, _, words = turns[-1].text.partition(" ")
        if words.split() == prompt.split():
            turns.pop()


def _typed(prompt: str) -> Turn:
    command = _COMMAND.match(prompt)
    if command is None or (command[1] in _PROMPT_COMMANDS and len(prompt.split()) > 1):
        return Turn("user", prompt)
    return Turn("tool", prompt, None, ("a command to aider, not a prompt",))
