"""Judge requests x_a (paper 1, eq. 7): what every judge is shown of an attempt, and never its label."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import pandas as pd

from judge_pipeline.tables import JUDGE_REQUESTS

REQUEST_KEYS = ("context", "problem_id", "language", "source_code", "prompt_text", "problem_statement")
"""The keys of x_a in their fixed order; the statement is left out where there is none."""

_LABEL_WORDS = frozenset((
    "y", "ac", "label", "labels", "verdict", "verdicts", "accepted", "acceptance", "rejected", "outcome", "result",
    "results", "score", "scores", "points", "grade", "solved", "correct", "incorrect", "passed", "failed", "status",
    "stratum", "truth", "target",
))  # fmt: skip
_WORDS_OF_A_NAME = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def judge_requests(
    attempts: pd.DataFrame,
    contexts: pd.DataFrame,
    splits: pd.DataFrame,
    *,
    context: Literal["nonblind", "blind"],
    max_code_chars: int,
    max_prompt_chars: int,
    statements: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """One request for each attempt whose source is known (paper 1, eq. 7).

    What exceeds a budget loses its tail, and how much is in the row. Attempts of which only a list row is known have
    nothing to judge: they are no requests, and ``attempts_without_source`` lists them.

    Args:
        attempts: table ATTEMPTS.
        contexts: table PARTICIPANT_CONTEXTS, with a row for each participant of the attempts.
        splits: table SPLIT_ASSIGNMENTS, with a row for each trajectory of the attempts.
        context: "nonblind" shows Q_u, "blind" an empty text in its place.
        max_code_chars: budget of the source, in characters (Unicode code points).
        max_prompt_chars: budget of Q_u, in characters.
        statements: problem id -> statement, where judges are shown them; other problems have none.

    Returns:
        Table JUDGE_REQUESTS in the order of ``attempts``.

    Raises:
        ValueError: a participant without a context, or a trajectory without a split; both are named.
    """
    shown = attempts[attempts["source_code"].notna()]
    prompts = dict(zip(contexts["participant"], contexts["prompt_text"], strict=True))
    split_of = dict(zip(zip(splits["participant"], splits["problem_id"], strict=True), splits["split"], strict=True))
    _require_complete(shown, prompts, split_of)
    rows = []
    for attempt in shown.to_dict("records"):
        prompt = prompts[attempt["participant"]] if context == "nonblind" else ""
        problem_id = attempt["problem_id"]
        request = {
            "context": context,
            "problem_id": problem_id,
            "language": _text_or_none(attempt["language"]),
            "source_code": attempt["source_code"][:max_code_chars],
            "prompt_text": prompt[:max_prompt_chars],
            "problem_statement": statements.get(problem_id) if statements else None,
        }
        rows.append(
            request
            | {
                "attempt_id": attempt["attempt_id"],
                "split": split_of[attempt["participant"], problem_id],
                "source_chars_cut": max(0, len(attempt["source_code"]) - max_code_chars),
                "prompt_chars_cut": max(0, len(prompt) - max_prompt_chars),
                "request_sha256": request_sha256(request),
            }
        )
    return JUDGE_REQUESTS.conform(rows)


def request_sha256(row: Mapping[str, Any]) -> str:
    """sha256 of x_a in its canonical JSON: equal for equal requests, whoever's attempts they are of."""
    return hashlib.sha256(canonical_json(row).encode("utf-8")).hexdigest()


def attempts_without_source(attempts: pd.DataFrame) -> pd.DataFrame:
    """The attempts that cannot be requests since only a list row is known of them, as rows of ATTEMPTS."""
    return attempts[attempts["source_code"].isna()].reset_index(drop=True)


def canonical_json(row: Mapping[str, Any]) -> str:
    """x_a as JSON in one form only: keys in fixed order, no blanks between tokens, no escapes but JSON's own.

    It holds neither the attempt's id nor its split, so that equal requests are equal texts. A missing language is
    null; a missing statement is no key.
    """
    return _dumps(_request_of(row))


def to_jsonl(requests: pd.DataFrame) -> str:
    """The requests as model-agnostic JSONL: attempt_id and split, then the keys of x_a; one line each.

    A line without its first two keys, written in the same form, is what ``request_sha256`` is taken over.
    """
    lines = (
        _dumps({"attempt_id": row["attempt_id"], "split": row["split"], **_request_of(row)})
        for row in requests.to_dict("records")
    )
    return "".join(f"{line}\n" for line in lines)


def label_leaks(requests: pd.DataFrame | str) -> list[str]:
    """Names in the requests that are those of a label or verdict: columns of a table, or keys of JSONL at any depth.

    Names are compared by their words: ``verdictRaw`` and ``y`` are found, ``language`` and ``year`` are not. Each
    is named once, sorted; an empty list means none. What people wrote inside code and prompts is not looked at here
    (``verdict_masking`` does), nor what is sent (``label_check`` does).

    Raises:
        json.JSONDecodeError: a line of the JSONL is not JSON.
    """
    if isinstance(requests, pd.DataFrame):
        names = {str(name) for name in requests.columns}
    else:
        names = {key for line in requests.split("\n") if line.strip() for key in _keys(json.loads(line))}
    return sorted(name for name in names if _LABEL_WORDS & {w.lower() for w in _WORDS_OF_A_NAME.findall(name)})


def _require_complete(
    attempts: pd.DataFrame, prompts: Mapping[str, str], split_of: Mapping[tuple[str, str], str]
) -> None:
    groups = set(zip(attempts["participant"], attempts["problem_id"], strict=True))
    without_context = sorted({u for u, _ in groups} - set(prompts))
    if without_context:
        raise ValueError(f"no participant context for {_first(without_context)}; build contexts for all participants")
    without_split = sorted(groups - set(split_of))
    if without_split:
        raise ValueError(f"no split for trajectories {_first(without_split)}; assign splits to the same attempts")


def _first(items: list[Any]) -> str:
    return ", ".join(map(str, items[:5])) + (f" and {len(items) - 5} more" if len(items) > 5 else "")


def _request_of(row: Mapping[str, Any]) -> dict[str, Any]:
    request = {key: _text_or_none(row.get(key)) for key in REQUEST_KEYS}
    if request["problem_statement"] is None:
        del request["problem_statement"]
    return request


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _dumps(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _keys(value: Any) -> Iterator[str]:
    children: Iterable[Any] = ()
    if isinstance(value, dict):
        yield from value
        children = value.values()
    elif isinstance(value, list):
        children = value
    for child in children:
        yield from _keys(child)
