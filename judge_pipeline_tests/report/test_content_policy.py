"""What holds of every page that is made, whichever it is: nothing runs but the scripts that its policy names.

The policy is looked at as a browser would: only what stands before the first script counts, and a script whose hash is
not named would not run. Pages are those of a contest that was run, and of preference sets with hostile texts.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from judge_pipeline.report.criteria_report import criteria_report_html
from judge_pipeline.report.preference_report import preference_report_html
from judge_pipeline.report.start_page import ContestLine, PreferenceSetLine, start_page_html
from judge_pipeline.tables import JUDGE_VERSIONS, LEADERBOARD
from judge_pipeline_tests.report import made_criteria, made_preference
from judge_pipeline_tests.report.made_tables import HOSTILE

pytestmark = pytest.mark.slow

_ALLOWED = {
    "default-src": {"'none'"},
    "style-src": {"'unsafe-inline'"},  # plotly.js writes style attributes
    "img-src": {"data:", "blob:"},
    "base-uri": {"'none'"},
    "form-action": {"'none'"},
}


def problems(page: str, *, shares_library: bool) -> list[str]:
    """What of a page would let something else run or load; empty where nothing would."""
    document = LexborHTMLParser(page)
    found = []
    policies = document.css("meta[http-equiv='Content-Security-Policy' i]")
    if len(policies) != 1:
        return [f"{len(policies)} policies"]
    if re.search("<script|<link|<style|<img", page[: page.index("Content-Security-Policy")], re.IGNORECASE):
        found.append("something stands before the policy")
    rules = {
        (words := rule.split())[0]: set(words[1:]) for rule in (policies[0].attributes["content"] or "").split(";")
    }
    scripts = rules.pop("script-src", set())
    if rules != _ALLOWED:
        found.append(f"rules {rules}")
    strict = {"'strict-dynamic'"} if shares_library else set()
    hashes = {
        f"'sha256-{base64.b64encode(hashlib.sha256((node.text() or '').encode()).digest()).decode()}'"
        for node in document.css("script:not([type='application/json'])")
    }
    if not hashes <= scripts or scripts - hashes - strict - {"'none'"}:
        found.append(f"scripts {scripts ^ hashes}")
    for node in document.css("*"):
        for name, value in node.attributes.items():
            if name.startswith("on") or re.match(r"\s*(javascript|vbscript|data:text)", value or "", re.IGNORECASE):
                found.append(f"{node.tag} {name}={value}")
            elif name in ("src", "srcset", "data", "poster", "action", "formaction") or node.tag in ("iframe", "base"):
                found.append(f"{node.tag} loads {name}={value}")
    return found


def test_every_page_of_a_contest(reported_home: Path) -> None:
    reports = reported_home / "var" / "reports"
    pages = sorted(reports.rglob("*.html"))
    kinds = {page.relative_to(reports).as_posix().replace("mini/", "").split("/")[0] for page in pages}
    assert {"cocreation_report.html", "trajectories", "figures", "trace"} <= kinds
    found = {
        page.relative_to(reports).as_posix(): problems(
            page.read_text(encoding="utf-8"), shares_library=page.parent.name == "figures"
        )
        for page in pages
    }
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def preference_page() -> str:
    made = made_preference.MadeSet(
        hostile=True, copies=1, judges=made_preference.HOSTILE_JUDGES, n_items=3, n_resamples=100
    )
    named = replace(made_preference.provenance(), title=HOSTILE, note=HOSTILE, chosen_by=f"no person: {HOSTILE}")
    return preference_report_html(made_preference.made_preference(made), named)


@cache
def criteria_page() -> str:
    given = made_criteria.made_criteria(made_criteria.MadeCriteria(copies=1, n_resamples=200))
    return criteria_report_html(given, replace(made_criteria.provenance(), title=HOSTILE, note=HOSTILE))


def start_page() -> str:
    lines = [ContestLine("spring", HOSTILE, "spring/cocreation_report.html", {"attempts": 1250}, 5, 4)]
    sets = [PreferenceSetLine("votes", HOSTILE, HOSTILE, "votes/preference_report.html", None, 1200)]
    return start_page_html(lines, sets, LEADERBOARD.empty(), JUDGE_VERSIONS.empty(), "abc")


@pytest.mark.parametrize("make", [preference_page, criteria_page, start_page])
def test_pages_of_preference_sets_and_over_all(make: Callable[[], str]) -> None:
    page = make()
    assert "hacked" in page, "the hostile text is on it"
    assert problems(page, shares_library=False) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda page: page.replace("<body", "<script>hacked()</script><body", 1), "scripts"),
        (lambda page: page.replace("<body", "<body onload=hacked()", 1), "body onload"),
        (lambda page: page.replace("script-src ", "script-src 'unsafe-eval' ", 1), "scripts"),
        (lambda page: page.replace("base-uri &#39;none&#39;", "connect-src *", 1), "rules"),
        (lambda page: page.replace("<body>", '<body><img src="https://elsewhere.test/x">', 1), "img loads src"),
        (lambda page: page.replace("<body>", '<body><a href=" JavaScript:hacked()">x</a>', 1), "a href"),
        (lambda page: page.replace("<head>", "<head><script>hacked()</script>", 1), "before the policy"),
    ],
)
def test_what_would_be_wrong_is_found(change: Callable[[str], str], problem: str) -> None:
    """The checks above can fail."""
    assert any(problem in each for each in problems(change(criteria_page()), shares_library=False))
