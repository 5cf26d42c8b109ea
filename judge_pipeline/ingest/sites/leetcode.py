r"""LeetCode: the list of a problem's submissions, the page of one, and the API's JSON.

The page of a submission holds its source only in a script, as a JavaScript string with ``\uXXXX`` escapes, and its
result as a number. Times are relative ("3 weeks ago") and stay unknown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from judge_pipeline.ingest.drafts import Draft
from judge_pipeline.ingest.links import problem_in_link, submission_in_link
from judge_pipeline.ingest.markup import Page
from judge_pipeline.ingest.pages import read_page

_BY_CODE = {
    "10": "AC", "11": "WA", "12": "MLE", "13": "OLE", "14": "TLE", "15": "RE", "16": "IE", "20": "CE", "30": "TLE",
}  # fmt: skip
"""``status_code`` of a submission."""

_STRING = r"\s*:\s*(?P<quote>['\"])(?P<value>(?:\\.|(?!(?P=quote))[^\\])*)(?P=quote)"
_ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(\r\n|[\s\S]))")
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": "", "\r": "", "\r\n": ""}


def recognises(page: Page) -> bool:
    """Whether the page is of LeetCode."""
    if any("submissionCode" in script and "submissionData" in script for script in page.scripts):
        return True  # also where the page's head is cut off
    return "leetcode" in f"{page.title} {page.meta.get('og:title', '')} {page.meta.get('og:site_name', '')}".lower()


def read(page: Page) -> list[Draft]:
    """The submissions on the page."""
    script = next((s for s in page.scripts if "submissionCode" in s), None)
    if script is not None:
        return [_of_script(script)]
    return read_page(page, "leetcode")


def is_dump(document: Any) -> bool:
    """Whether a JSON document is the API's list of submissions."""
    return isinstance(document, Mapping) and isinstance(document.get("submissions_dump"), list)


def read_dump(document: Any) -> list[Draft]:
    """The submissions in the API's list, newest first."""
    drafts: list[Draft] = []
    for number, item in enumerate(document["submissions_dump"], start=1):
        draft = Draft(reader="leetcode_json", row=number)
        if isinstance(item, Mapping):
            _take_item(draft, item)
        else:
            draft.notes.append("the entry is no object")
        drafts.append(draft)
    return drafts


def _take_item(draft: Draft, item: Mapping[str, Any]) -> None:
    def text(name: str) -> str | None:
        value = item.get(name)
        return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else None

    draft.submission_id = text("id") or submission_in_link(text("url") or "")
    draft.problem_id = text("title_slug") or text("title")
    draft.language = text("lang")
    draft.timestamp_raw = text("timestamp") or text("time")
    draft.verdict_raw = text("status_display")
    pending = item.get("is_pending")
    if pending is True or (isinstance(pending, str) and pending.lower() not in ("", "false", "not pending")):
        draft.verdict = "PENDING"
    code = item.get("code")
    draft.source = code if isinstance(code, str) and code else None


def _of_script(script: str) -> Draft:
    draft = Draft(reader="leetcode")
    draft.source = _string(script, "submissionCode")
    draft.language = _string(script, "getLangDisplay")
    draft.problem_id = problem_in_link(_string(script, "editCodeUrl") or "")
    draft.submission_id = submission_in_link(_string(script, "checkUrl") or "")
    status = re.search(r"status_code\s*:\s*(?:parseInt\(\s*)?['\"]?(\d+)", script)
    if status is not None:
        draft.verdict_raw = f"status_code {status[1]}"
        draft.verdict = _BY_CODE.get(status[1], "UNKNOWN")
    return draft


def _string(script: str, name: str) -> str | None:
    """The value of a property that is a JavaScript string, its escapes decoded."""
    match = re.search(rf"\b{name}['\"]?{_STRING}", script)
    return _ESCAPE.sub(_unescaped, match["value"]) if match is not None else None


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code is not None:
        return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else "\ufffd"
    return _SIMPLE.get(match[4], match[4])
