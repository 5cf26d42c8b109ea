"""Aizu Online Judge: the JSON of its API as people dump it.

Three kinds of record, alone or in a list, or joined into one: a submission (``judgeId``, ``userId``, ``problemId``,
``language``, ``submissionDate`` in milliseconds, ``status`` as a number), a verdict (``caseVerdicts[].status``) and a
review (``sourceCode``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judge_pipeline.ingest.drafts import Draft

_BY_STATUS = {
    0: "CE", 1: "WA", 2: "TLE", 3: "MLE", 4: "AC", 5: "PENDING", 6: "OLE", 7: "RE", 8: "PE", 9: "PENDING",
}  # fmt: skip
"""``status`` of a submission record, as the API's documentation numbers them."""


def is_record(item: Any) -> bool:
    """Whether a JSON object is a record of the API."""
    return (
        isinstance(item, Mapping)
        and "judgeId" in item
        and bool({"submissionDate", "problemId", "sourceCode", "caseVerdicts", "userId"} & set(item))
    )


def draft_of(item: Mapping[str, Any]) -> Draft:
    """The submission that a record tells of."""
    record = item.get("submissionRecord")
    fields: dict[str, Any] = {**(record if isinstance(record, Mapping) else {}), **item}
    draft = Draft(reader="aoj_json")
    draft.submission_id = _text(fields.get("judgeId"))
    draft.participant = _text(fields.get("userId"))
    draft.problem_id = _text(fields.get("problemId"))
    draft.language = _text(fields.get("language"))
    draft.timestamp_raw = _text(fields.get("submissionDate"))
    source = fields.get("sourceCode")
    draft.source = source if isinstance(source, str) else None
    _take_verdict(draft, fields)
    return draft


def _take_verdict(draft: Draft, fields: Mapping[str, Any]) -> None:
    status, cases = fields.get("status"), fields.get("caseVerdicts")
    if isinstance(status, int) and not isinstance(status, bool):
        draft.verdict_raw, draft.verdict = f"status {status}", _BY_STATUS.get(status, "UNKNOWN")
    elif isinstance(status, str):
        draft.verdict_raw = status
    elif fields.get("compileError"):
        draft.verdict_raw, draft.verdict = "compileError", "CE"
    elif isinstance(cases, list):
        shown = [str(case["status"]) for case in cases if isinstance(case, Mapping) and case.get("status")]
        # The first case that is not accepted decides, as it does on the site.
        draft.verdict_raw = next((status for status in shown if status != "AC"), shown[0] if shown else None)


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "" else None
