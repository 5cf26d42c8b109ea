"""Replaces personal data in texts by a token for its kind, and counts what was replaced. What it was is kept nowhere.

Kinds: ``secret``, ``email``, ``phone`` (``ingest/redacting/``), ``name`` (names that the contest's settings list) and
``participant`` (ids of the contest's participants). A token reads ``[redacted:email]``. A participant's reads
``[participant:3fa9c1d2e0]``, a keyed hash, where there is a key; so two of them can still be told apart, and only who
has the key can tell who they are.

Redacting is idempotent: a token is never looked into, and what stands between tokens is looked at until nothing is
found in it.
"""

from __future__ import annotations

import hashlib
import hmac
import keyword
import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from judge_pipeline.ingest.redacting.contacts import find_emails, find_phones
from judge_pipeline.ingest.redacting.secrets import find_secrets
from judge_pipeline.ingest.redacting.words import Words
from judge_pipeline.settings.redaction import REDACTION_KINDS, RedactionKind

Finding = tuple[int, int, RedactionKind, str]
"""Start, end, kind, and the token that takes its place."""

TOKEN = re.compile(r"\[redacted:(?:secret|email|phone|name|participant)\]|\[participant:[0-9a-f]{12}\]")
"""What this module writes."""

_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*[\s\S]*?(?:\*/|\Z)|--[^\n]*|\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?'''")
"""What is a comment in one of the languages of contests; a little more than that, since only ids are sought in it."""

_SEPARATOR = re.compile(r"^----- log .*$", re.MULTILINE)
"""A line of Q_u that names a log (``cocreation.contexts``)."""

_LANGUAGE_WORDS = frozenset(
    word.lower()
    for word in (
        *keyword.kwlist,
        *[
            "array",
            "bool",
            "char",
            "const",
            "count",
            "double",
            "error",
            "false",
            "float",
            "graph",
            "index",
            "input",
            "int",
            "list",
            "long",
            "main",
            "map",
            "max",
            "min",
            "null",
            "number",
            "output",
            "print",
            "private",
            "problem",
            "public",
            "queue",
            "result",
            "return",
            "root",
            "set",
            "size",
            "solve",
            "solution",
            "stack",
            "static",
            "string",
            "struct",
            "sum",
            "system",
            "test",
            "true",
            "user",
            "value",
            "vector",
            "void",
            "answer",
            "attempt",
            "code",
            "data",
            "file",
            "help",
            "hint",
        ],
    )
)


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text after redaction.

    Attributes:
        text: the text with a token in the place of each finding.
        counts: kind -> how many were replaced; no entry for kinds of which there was none.
    """

    text: str
    counts: Mapping[str, int] = field(default_factory=dict)


def keyed_hash(key: bytes, contest: str, participant: str) -> str:
    """HMAC-SHA256 over contest and participant (64 hexadecimal digits): neither guessed nor turned back without key."""
    message = f"{len(contest)}:{contest}:{participant}".encode("utf-8", "surrogatepass")
    return hmac.new(key, message, hashlib.sha256).hexdigest()


def pseudonym(key: bytes, contest: str, participant: str) -> str:
    """The participant under another name: 12 digits of the keyed hash. A person has another one in each contest."""
    return keyed_hash(key, contest, participant)[:12]


class Redactor:
    """Finds and replaces; it holds no state that a text could leave traces in.

    Args:
        kinds: kinds to replace.
        names: names of people.
        participants: participant id -> what stands in its place: a token, as ``participant_tokens`` makes them.
        phone_regions: regions whose national notations are telephone numbers (ISO 3166).
    """

    def __init__(
        self,
        kinds: Iterable[RedactionKind] = REDACTION_KINDS,
        *,
        names: Iterable[str] = (),
        participants: Mapping[str, str] | None = None,
        phone_regions: Sequence[str] = ("JP", "US"),
    ) -> None:
        self._kinds = frozenset(kinds)
        self._regions = tuple(phone_regions)
        self._names = Words(names)
        self._tokens = {participant.lower(): token for participant, token in (participants or {}).items()}
        self._ids = Words(participants or ())
        self._plain_ids = Words(p for p in participants or () if is_distinctive(p))

    def source(self, text: str) -> Redacted:
        """A program: ids of participants are replaced in its comments only, since elsewhere they are identifiers."""
        return self._redact(text, is_source=True)

    def prompts(self, text: str) -> Redacted:
        """What a participant wrote to a model, or Q_u, whose separators name files."""
        return self._redact(text, is_source=False)

    def _redact(self, text: str, is_source: bool) -> Redacted:
        counts: Counter[str] = Counter()
        done: list[str] = []
        waiting = _between_tokens(text)
        while waiting:
            part = waiting.pop()
            found = [] if TOKEN.fullmatch(part) else self._findings(part, is_source)
            if not found:
                done.append(part)
                continue
            # What is left between the findings is looked at again: taking one away can bring another to light.
            for piece in reversed(_pieces(part, found)):
                waiting.append(piece)
            counts.update(kind for _, _, kind, _ in found)
        return Redacted("".join(done), dict(counts)) if counts else Redacted(text)

    def _findings(self, text: str, is_source: bool) -> list[Finding]:
        """Findings that do not overlap, in order: start, end, kind, token."""
        taken: list[Finding] = []
        for kind in REDACTION_KINDS:
            if kind in self._kinds:
                for start, end, token in sorted(self._of_kind(kind, text, is_source), key=lambda f: (f[0], -f[1])):
                    place = bisect(taken, (start, end, kind, token))
                    free_before = place == 0 or taken[place - 1][1] <= start
                    if start < end and free_before and (place == len(taken) or end <= taken[place][0]):
                        taken.insert(place, (start, end, kind, token))
        return taken

    def _of_kind(self, kind: RedactionKind, text: str, is_source: bool) -> Iterator[tuple[int, int, str]]:
        if kind == "participant":
            yield from self._participants(text, is_source)
            return
        token = f"[redacted:{kind}]"
        if kind == "secret":
            spans: Iterable[tuple[int, int]] = find_secrets(text)
        elif kind == "email":
            spans = find_emails(text)
        elif kind == "phone":
            spans = find_phones(text, self._regions)
        else:
            spans = ((start, end) for start, end, _ in self._names.find(text))
        for start, end in spans:
            yield start, end, token

    def _participants(self, text: str, is_source: bool) -> Iterator[tuple[int, int, str]]:
        if not self._tokens:
            return
        if is_source:
            places = [(m.start(), m.end(), self._plain_ids) for m in _COMMENT.finditer(text)]
        else:
            places = [(0, len(text), self._plain_ids)]
            places += [(m.start() + len("----- log "), m.end(), self._ids) for m in _SEPARATOR.finditer(text)]
        for place, end, words in places:
            for at, until, word in words.find(text[place:end]):
                yield place + at, place + until, self._tokens[word.lower()]


def participant_tokens(participants: Iterable[str], contest: str, key: bytes | None) -> dict[str, str]:
    """Participant id -> the token in its place: a pseudonym under the key, or the same for all without one."""
    if key is None:
        return dict.fromkeys(participants, "[redacted:participant]")
    return {participant: f"[participant:{pseudonym(key, contest, participant)}]" for participant in participants}


def is_distinctive(participant: str) -> bool:
    """Whether an id is hardly a word of a program or a sentence, so that it may be replaced wherever it stands.

    It has three characters or more, is no number and no word of a language, and holds a digit, a sign or a letter
    beyond ASCII, or has five letters or more.
    """
    if len(participant) < 3 or participant.isdigit() or participant.lower() in _LANGUAGE_WORDS:
        return False
    return len(participant) >= 5 or not (participant.isascii() and participant.isalpha())


def _between_tokens(text: str) -> list[str]:
    """The text cut at its tokens, last part first (a stack)."""
    parts, at = [], 0
    for match in TOKEN.finditer(text):
        parts += [text[at : match.start()], match.group()]
        at = match.end()
    parts.append(text[at:])
    return [part for part in reversed(parts) if part]


def _pieces(text: str, found: Sequence[Finding]) -> list[str]:
    pieces, at = [], 0
    for start, end, _, token in found:
        pieces += [text[at:start], token]
        at = end
    pieces.append(text[at:])
    return [piece for piece in pieces if piece]
