"""Secrets in texts: keys and tokens of providers, private keys, passwords in URLs and assignments.

Most patterns are those of the detectors of ``detect_secrets`` (package bc-detect-secrets); only their patterns are
used, never their checks, which would ask the provider. Its entropy and keyword detectors are left out, since contest
code is full of what they look for (``string password = "abc"``). The patterns here are for keys that it lacks, above
all those of model providers: they are what people paste into chats with models.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module

Span = tuple[int, int]

_DETECTORS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("aws", "AWSKeyDetector", ("a3t", "abia", "acca", "akia", "asia", "aws")),
    ("basic_auth", "BasicAuthDetector", ("://",)),
    ("cloudant", "CloudantDetector", ("cloudant",)),
    ("discord", "DiscordBotTokenDetector", (".",)),
    ("github_token", "GitHubTokenDetector", ("gh",)),
    ("ibm_cloud_iam", "IbmCloudIamDetector", ("ibm",)),
    ("ibm_cos_hmac", "IbmCosHmacDetector", ("ibm",)),
    ("jwt", "JwtTokenDetector", ("eyj",)),
    ("mailchimp", "MailchimpDetector", ("-us",)),
    ("npm", "NpmDetector", ("npm", "_authtoken")),
    ("sendgrid", "SendGridDetector", ("sg.",)),
    ("slack", "SlackDetector", ("xox", "hooks.slack")),
    ("softlayer", "SoftlayerDetector", ("softlayer",)),
    ("square_oauth", "SquareOAuthDetector", ("sq0csp",)),
    ("stripe", "StripeDetector", ("k_live",)),
    ("twilio", "TwilioKeyDetector", ("ac", "sk")),
)
"""Module, class, and lower-case strings of which a text must hold one: where it does not, the patterns are not run.

For IBM's that also keeps away a pattern that takes any 44 characters after ``api_key =``. Private keys and Azure keys
are found by the patterns below, which see the whole text.
"""

_KEY_FORMATS = (
    r"(?<![_-])sk-(?=(?:[A-Za-z_-]*[0-9]){3})[A-Za-z0-9_-]{20,}",  # OpenAI, Anthropic, DeepSeek, ...
    r"AIza[0-9A-Za-z_-]{35}",  # Google
    r"ya29\.[0-9A-Za-z_-]{20,}",
    r"GOCSPX-[0-9A-Za-z_-]{28}",
    r"hf_[A-Za-z0-9]{34,}",  # Hugging Face
    r"gsk_[A-Za-z0-9]{40,}",  # Groq
    r"xai-[A-Za-z0-9]{40,}",
    r"pplx-[A-Za-z0-9]{40,}",  # Perplexity
    r"r8_[A-Za-z0-9]{37,}",  # Replicate
    r"github_pat_[A-Za-z0-9_]{40,}",
    r"gh[opusr]_[A-Za-z0-9]{36,}",  # the whole of it: the detector's pattern stops at 36
    r"gl(?:pat|dt|rt|ptt|soat)-[A-Za-z0-9_-]{20,}",  # GitLab
    r"npm_[A-Za-z0-9]{36,}",
    r"pypi-AgE[A-Za-z0-9_-]{50,}",
    r"dop_v1_[0-9a-f]{64}",
    r"dapi[0-9a-f]{32}(?:-[0-9])?",  # Databricks
    r"AKC[A-Za-z0-9]{50,}",  # Artifactory; the detector's second pattern takes minutes over hostile text
    r"xapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-z0-9]+",
    r"(?:sk|rk|pk)_(?:live|test)_[0-9A-Za-z]{16,}",
    r"[0-9]{8,10}:AA[0-9A-Za-z_-]{33}",  # Telegram
)
_OWN: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    # A block up to its end line or, where that was not copied, as far as its lines look like one.
    (
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?:(?!-----)[\s\S]){0,20000}?-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
            r"|(?:(?:\\n|\s)*[A-Za-z0-9+/=]{16,})*)"
        ),
        ("private key",),
    ),
    (re.compile(r"(?<![A-Za-z0-9])(?:" + "|".join(_KEY_FORMATS) + r")(?![A-Za-z0-9])"), ()),
    (
        re.compile(r"(?i:AccountKey|SharedAccessKey)\s*=\s*([A-Za-z0-9+/]{43,88}={0,2})"),
        ("accountkey", "sharedaccesskey"),
    ),
    (
        re.compile(r"(?i:\bauthorization\b[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+)([A-Za-z0-9._~+/=-]{16,})"),
        ("authorization",),
    ),
    # A key or password that is said to be one, quoted, long, and with letters and digits in it.
    (
        re.compile(
            r"(?i:(?<![a-z0-9])(?:api[_-]?key|secret[_-]?key|access[_-]?key|access[_-]?token|auth[_-]?token"
            r"|client[_-]?secret|password|passwd)\b[\"']?\s*(?::=|[:=]|=>)\s*)"
            r"([\"'])(?=[^\"'\n]*[0-9])(?=[^\"'\n]*[A-Za-z])([^\s\"']{12,200})\1"
        ),
        ("key", "token", "secret", "passw"),
    ),
)
_EDGES = " \t\r\n\"'=:"
_WINDOW = 4096
_SHORTEST_VALUE = 8
"""A group that is shorter is no value but a part of a format (``ghp``) or hardly hidden: the whole match goes."""


def find_secrets(text: str) -> Iterator[Span]:
    """Where secrets stand, as (start, end); spans may overlap. Nothing is asked of any provider."""
    lower = text.lower()
    for pattern, hints in _OWN:
        if not hints or any(hint in lower for hint in hints):
            yield from map(_value, pattern.finditer(text))
    for patterns, accepts, hints in _detectors():
        if any(hint in lower for hint in hints):
            for offset, window in _windows(text):
                for pattern in patterns:
                    for match in pattern.finditer(window):
                        if accepts is None or accepts(match.group()):
                            start, end = _value(match)
                            yield offset + start, offset + end


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """The text in windows with their offsets, cut between lines; longer lines in windows that overlap by a half.

    The detectors are made for lines, and some take time that grows with the square of a text without blanks.
    """
    start = 0
    while start + _WINDOW < len(text):
        at_line = text.rfind("\n", start, start + _WINDOW) + 1
        yield start, text[start : at_line or start + _WINDOW]
        start = at_line or start + _WINDOW // 2
    yield start, text[start:]


@cache
def _detectors() -> tuple[tuple[tuple[re.Pattern[str], ...], Callable[[str], bool] | None, tuple[str, ...]], ...]:
    made = []
    for module, name, hints in _DETECTORS:
        detector = getattr(import_module(f"detect_secrets.plugins.{module}"), name)()
        made.append((tuple(detector.denylist), getattr(detector, "is_formally_valid", None), hints))
    return tuple(made)


def _value(match: re.Match[str]) -> Span:
    """The secret within the match: its longest group where that can be a value, else all of it, without its edges."""
    groups = [match.span(i) for i in range(1, (match.re.groups or 0) + 1) if match.start(i) >= 0]
    start, end = max(groups, key=lambda span: span[1] - span[0], default=match.span())
    if end - start < _SHORTEST_VALUE:
        start, end = match.span()
    text = match.string
    while start < end and text[start] in _EDGES:
        start += 1
    while end > start and text[end - 1] in " \t\r\n\"'":
        end -= 1
    return start, end
