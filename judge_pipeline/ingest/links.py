"""Ids in links: the id that a contest site uses, rather than the name that it shows."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, unquote, urlsplit

_MAX_URL = 2000

_PROBLEM_PATHS = (
    re.compile(r"/(?:contest|gym|problemset/problem)/(?P<contest>\d+)/(?:problem/)?(?P<letter>[A-Z]\d{0,2})/?$", re.I),
    re.compile(r"/contests/[^/]+/(?:tasks|problems?)/(?P<id>[^/]+)/?$"),
    re.compile(r"/(?:problems?|tasks?|challenges?|questions?)/(?:view/|show/|no/|detail/)?(?P<id>[^/]+)"),
    re.compile(r"/courses/.+/(?P<id>[A-Za-z0-9_]+_[A-Z])/?$"),
)
_PROBLEM_QUERIES = ("problem_id", "problemid", "problem", "pid", "task", "id", "num")

_USER_PATHS = (
    re.compile(r"/(?:users?|profiles?|author|u|members?|people|teams?)/(?P<id>[^/]+)"),
    re.compile(r"/@(?P<id>[\w.-]+)/?$"),
)
_USER_QUERIES = ("user_id", "userid", "user", "username", "uid", "handle", "f.user")

_SUBMISSION_PATHS = (
    re.compile(
        r"/(?:submissions?|submission/detail|submissions/detail|solutions?|runs?|status)/(?:detail/|show/)?(?P<id>\d+)"
    ),
    re.compile(r"/files/src/(?P<id>\d+)"),
)
_SUBMISSION_QUERIES = ("submission_id", "submissionid", "runid", "run_id", "rid", "sid", "solution_id", "judge_id")


def problem_in_link(url: str) -> str | None:
    """The problem's id in a link, as the contest site forms it: Codeforces' is contest and letter (``110A``)."""
    path, query = _parts(url)
    match = _PROBLEM_PATHS[0].search(path)
    if match is None:
        return _in(path, query, _PROBLEM_PATHS[1:], _PROBLEM_QUERIES)
    return match["contest"] + match["letter"].upper()


def participant_in_link(url: str) -> str | None:
    """The participant's id in a link to who submitted."""
    path, query = _parts(url)
    return _in(path, query, _USER_PATHS, _USER_QUERIES)


def submission_in_link(url: str) -> str | None:
    """The submission's id in a link to its own page."""
    path, query = _parts(url)
    return _in(path, query, _SUBMISSION_PATHS, _SUBMISSION_QUERIES)


def _parts(url: str) -> tuple[str, dict[str, str]]:
    if len(url) > _MAX_URL:
        return "", {}
    try:
        parts = urlsplit(url.strip())
        query = {key.lower(): values[0] for key, values in parse_qs(parts.query, max_num_fields=50).items()}
    except ValueError:
        return "", {}
    return parts.path, query


def _in(path: str, query: dict[str, str], paths: tuple[re.Pattern[str], ...], queries: tuple[str, ...]) -> str | None:
    for pattern in paths:
        match = pattern.search(path)
        if match is not None:
            return unquote(match["id"]).strip() or None
    return next((query[name].strip() for name in queries if query.get(name, "").strip()), None)
