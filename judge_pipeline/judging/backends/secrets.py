"""Keys stay in the environment: what leaves this process or is stored has them blanked."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from urllib.parse import quote, quote_plus, unquote, urlsplit

from judge_pipeline.settings.secrets_file import KeyEnvironment

BLANK = "[key removed]"
"""What stands in a text where a key stood."""

_NAMES = re.compile(
    r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|WEBHOOK|(?:^|_)(?:AUTH|CREDS|DSN|PASS|PAT)$", re.IGNORECASE
)
_SHORTEST = 8
"""Shorter values are no secrets but placeholders (``EMPTY``, ``none``, ``x``); blanked, they would spoil answers."""

_SHORTEST_BEGINNING = 4
_LOOKS_LIKE_A_KEY = re.compile(
    r"\b(?:sk|pk|rk|xai|gsk|hf|AIza|gh[pousr]|github_pat|glpat|xox[a-z]|r8|nvapi)[-_]?[A-Za-z0-9_-]{20,}"
    r"|\bAKIA[A-Z0-9]{16}\b|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*|(?i:bearer)\s+[\w.~+/=-]{12,}"
    r"|\b(?i:basic)\s+(?=\S*(?:[0-9=]|[a-z][A-Z]))[\w+/=-]{12,}"  # base64, and no "basic authentication"
    r"|(?<=://)[^\s/:@'\"]{0,100}:[^\s/@'\"]{1,200}(?=@)"  # user and password of a URL
)


class Scrubber:
    """Blanks secrets in texts.

    They are the named variables' values, those of all whose names say that they are secrets, and passwords in URLs.
    """

    def __init__(self, environment: Mapping[str, str], *names: str | None) -> None:
        """``names`` are variables that hold secrets whatever they are called; so are those of a secrets file."""
        in_file = environment.secret_names if isinstance(environment, KeyEnvironment) else frozenset()
        named = [environment[name] for name in names if name and len(environment.get(name, "")) >= _SHORTEST]
        known = [value for name, value in environment.items() if name in in_file or _NAMES.search(name)]
        guessed = [value for value in (*known, *_passwords(environment.values())) if len(value) >= _SHORTEST]
        self._named = _longest_first(named)
        self._all = _longest_first([*named, *guessed])

    def error(self, text: str) -> str:
        """An error text with every known secret, and what looks like a provider's key, blanked.

        Error texts are cut to a length before they come here: the beginning of a secret at the end is blanked, too.
        """
        return _LOOKS_LIKE_A_KEY.sub(BLANK, _blank_cut_off(_blank(text, self._all), self._all))

    def answer(self, text: str) -> str:
        """An answer with the named secrets blanked and nothing else touched: answers are data."""
        return _blank(text, self._named)


def _passwords(values: Iterable[str]) -> Iterator[str]:
    """The passwords of values that are URLs, of databases and mail servers say, as written there and as sent."""
    for value in values:
        if "://" in value and "@" in value:
            with suppress(ValueError):
                parts = urlsplit(value)
                if parts.password and parts.password != parts.username:
                    yield from (parts.password, unquote(parts.password))


def _blank(text: str, secrets: list[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, BLANK)
    return text


def _blank_cut_off(text: str, secrets: list[str]) -> str:
    for secret in secrets:
        for length in range(len(secret) - 1, _SHORTEST_BEGINNING - 1, -1):
            if text.endswith(secret[:length]):
                return text[:-length] + BLANK
    return text


def _longest_first(values: list[str]) -> list[str]:
    forms = {form for value in values for form in _forms(value)}
    return sorted(forms, key=lambda form: (-len(form), form))


def _forms(value: str) -> set[str]:
    """The value as it stands, and in ways in which a provider may echo it: quoted for URLs, JSON (also JSON within
    JSON, and with escaped slashes), HTML and Python, and in base64."""
    raw = value.encode("utf-8", "surrogateescape")  # a variable may hold bytes that are no text
    in_json = json.dumps(value)[1:-1]
    base64s = (encode(raw).decode().rstrip("=") for encode in (base64.b64encode, base64.urlsafe_b64encode))
    return {
        value, quote(raw), quote(raw, safe=""), quote_plus(raw), repr(value)[1:-1], html.escape(value),
        in_json, json.dumps(in_json)[1:-1], in_json.replace("/", "\\/"), in_json.replace("/", "\\\\/"), *base64s,
    }  # fmt: skip
