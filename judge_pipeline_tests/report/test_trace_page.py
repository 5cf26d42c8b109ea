"""A trace as a page: escaped, under the policy, bounded, and readable in a browser at two widths."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from judge_pipeline.report import trace_index_page as shown
from judge_pipeline.report.trace_page import MAX_JUDGMENTS, MAX_RAW_CHARS, MAX_ROWS, figure_value, trace_html
from judge_pipeline_tests.browser import chromium
from judge_pipeline_tests.report.made_tables import HOSTILE

SHA = "a" * 64


def kept(text: str) -> dict[str, Any]:
    tried = {
        "started_at": "2026-04-01T10:00:00Z", "try_number": 1, "model": text, "latency_ms": 12.5, "tokens_in": 9,
        "tokens_out": 3, "cost_usd": 0.1, "finish_reason": "stop", "error_class": None, "error_text": None,
        "raw_text": text * (1 + MAX_RAW_CHARS // len(text)),
    }  # fmt: skip
    return {
        "request_hash": SHA, "asked_for": "other", "tries": [tried], "template": text, "template_sha256": SHA,
        "components": {"model": text, "messages": [{"role": "user", "content": text}]},
    }  # fmt: skip


def judgment(text: str) -> dict[str, Any]:
    return {
        "judge": text, "subject": text, "asked": text, "said": {"p_ac": 0.5, "rationale": text}, "request_hash": SHA,
        "kept": kept(text),
    }  # fmt: skip


def figure(text: str, n: int = 3) -> dict[str, Any]:
    return {
        "id": f"t:judge={text}", "anchor": "fig-000000000000", "words": text, "table": "judge_metrics", "of": "mini",
        "value": 0.5, "n": n, "n_left_out": 1, "ci95": [0.1, 0.9], "reason": text, "about": text, "role": "counted",
    }  # fmt: skip


def of_figure(text: str, n: int = 3, problem: str | None = None) -> dict[str, Any]:
    about = {"participant": text, "problem_id": "p1", "turn": 1, "verdict": "AC", "split": "test", "path": text}
    rows = [{"attempt_id": f"{i:016x}", "about": about} for i in range(n)]
    left = [{"attempt_id": "f" * 16, "about": about, "why": text}]
    file = {"path": text, "role": "counted", "state": "changed", "sha256_now": SHA, "sha256_read": "b" * 64}
    return {
        "kind": "figure",
        "figure": figure(text, n),
        "counts": {"n": n, "n_listed": n, "n_left_out": 1, "n_left_out_listed": 1, "problem": problem},
        "rests_on": {
            "unit": "attempts", "judges": [text], "answered_too": [text], "unlisted": None,
            "parts": [{"role": "counted", "words": "attempts", "n": n, "rows": rows},
                      {"role": "left out", "words": "attempts", "n": 1, "rows": left}],
        },
        "judgments": [judgment(text)] * min(n, MAX_JUDGMENTS + 5),
        "templates": [{"template": text, "sha256": SHA, "sha256_now": SHA, "state": "same", "text": text}],
        "files": [file],
        "tables": [{"table": "judge_metrics", "made_from": ["predictions"], "files": {"mini.parquet": SHA}}],
        "made_from": {"data": {"predictions": SHA}, "inputs_now": {"predictions": "changed"},
                      "judges": {text: {"model": text, "prompt_sha256": None}}},
        "versions": {"package_then": "1", "package_now": "1", "code_version": text, "seed": 1, "resamples": 2,
                     "settings_now": {"judges.yaml": SHA}},
    }  # fmt: skip


def of_file(text: str) -> dict[str, Any]:
    return {
        "kind": "file",
        "file": {"kind": "contest", "of": text, "path": text, "state": "gone", "sha256_now": None, "sha256_read": SHA,
                 "judges_recorded_in_it": []},
        "participants_whose_prompts_it_holds": [text],
        "subjects": [{"id": text, "participant": text, "problem_id": "p", "turn": 1, "verdict": "AC"}],
        "judgments": [{k: v for k, v in judgment(text).items() if k != "kept"}],
        "tables": ["attempts"],
        "figures": [figure(text)],
        "versions": of_figure(text)["versions"],
    }  # fmt: skip


def index(text: str) -> shown.TraceIndex:
    line = shown.FigureLine("fig-000000000000", text, "0.5 [0.1, 0.9]", "3 (1 left out)", "rows.html#rows-1", text)
    return shown.TraceIndex(
        words=shown.OF_PREFERENCE, of=text, tables=(shown.TableLines("judge_metrics", text, ((text, SHA),), (line,)),),
        parts=((text, place("pairs")),), judges=((text, "judge-a.html", 1),), versions=((text, SHA),),
    )  # fmt: skip


def place(stem: str) -> shown.Place:
    return shown.Place(stem, 1, ("1–1,000", "1,001–1,500"), 1500)


def parts(text: str) -> dict[str, shown.TracePart]:
    links = shown.SubjectLinks(2, ids=(("pairs.html#pair-1", text),), runs=(("pairs.html", "1–1000", "1–3, 5"),))
    part = shown.BasisPart("rows-1-1", "Counted in n", 2, (links,), 4, whys=((text, 1),), n_gone=2)
    judges = ((text, ""), (text, "judge-a.html"))
    block = shown.BasisBlock("rows-1", "answers", judges, (text,), (("fig-000000000000", text),), 9, (part,))
    pair = shown.SubjectLine("pair-1", 1, text, (text,) * 5, (("files.html#file-1", text),))
    file = shown.FileLine("file-1", text, "changed", SHA, "b" * 64)
    words = shown.OF_PREFERENCE
    return {
        "rows": shown.TracePart(words, text, place("rows"), blocks=(block,)),
        "pairs": shown.TracePart(words, text, place("pairs"), subjects=(pair,)),
        "files": shown.TracePart(words, text, place("files"), files=(file,), of_hashes=text),
    }


def judge_page(text: str) -> shown.JudgeJudgments:
    lines = [shown.JudgmentLine(text, "pairs.html#pair-1", anchor, *[text] * 8) for anchor in ("pair-1", "")]
    template = shown.PromptTemplate(text, SHA, text)
    return shown.JudgeJudgments(
        shown.OF_PREFERENCE, text, text, text, ((text, text),), [template], lines, place("judge-a")
    )


def pages(text: str) -> dict[str, str]:
    return {
        "figure": trace_html(of_figure(text)),
        "file": trace_html(of_file(text)),
        "index": shown.trace_index_html(index(text), text),
        "judge": shown.trace_judge_html(judge_page(text), text),
        **{name: shown.trace_part_html(part, text) for name, part in parts(text).items()},
    }


@pytest.mark.parametrize("name", ["figure", "file", "index", "judge", "rows", "pairs", "files"])
def test_what_others_wrote_stays_text(name: str) -> None:
    document = LexborHTMLParser(pages(HOSTILE)[name])
    assert not document.css("img, iframe, object, embed, form, base, link")
    assert not any("evil" in str(node.attributes) for node in document.css("a, script"))
    assert "evil" in document.css_first("body").text()
    policy = document.css_first("meta[http-equiv='Content-Security-Policy']").attributes["content"] or ""
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe-eval" not in policy
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]
    ids = [node.attributes["id"] for node in document.css("[id]")]
    assert len(ids) == len(set(ids))
    inside = {str(node.attributes["href"])[1:] for node in document.css("a[href^='#']")} - {"content"}
    assert inside <= {str(id_) for id_ in ids}
    assert document.html == LexborHTMLParser(pages(HOSTILE)[name]).html


@pytest.mark.parametrize(
    ("value", "whole", "shown"),
    [
        (12.0, True, "12"),
        (1250.0, True, "1,250"),
        (2.25, True, "2.2500"),
        (1.0, False, "1.0000"),
        (None, True, "undefined"),
    ],
)
def test_a_count_has_no_decimals_but_with_an_interval_it_has(value: float | None, whole: bool, shown: str) -> None:
    assert figure_value(value, whole) == shown


def test_a_page_is_bounded_and_says_so() -> None:
    document = LexborHTMLParser(trace_html(of_figure("x", MAX_ROWS + 50)))
    counted = document.css("table.rows")[0]
    assert len(counted.css("tbody tr")) == MAX_ROWS
    said = document.css_first("body").text()
    assert f"{MAX_ROWS} of {MAX_ROWS + 50} rows are shown" in said
    assert len(document.css("details.judgment")) == MAX_JUDGMENTS and "105 judgments are shown" in said
    assert re.search(rf"the first {MAX_RAW_CHARS:,} of \d", said)


def test_what_does_not_add_up_and_what_changed_stand_out() -> None:
    document = LexborHTMLParser(trace_html(of_figure("x", problem="4 are listed")))
    bad = [node.text() for node in document.css(".bad")]
    assert any("They do not add up: 4 are listed" in text for text in bad) and "changed" in bad
    assert "(changed since)" in document.css_first("body").text()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.xdist_group("browser")
def test_the_pages_fit_a_screen_and_a_phone_and_run_nothing_of_others(tmp_path: Path) -> None:
    with chromium() as browser:
        for name, html in pages(HOSTILE).items():
            file = tmp_path / f"{name}.html"
            file.write_text(html, encoding="utf-8")
            for width in (1200, 420):
                page = browser.new_page(viewport={"width": width, "height": 900})
                heard: list[str] = []
                page.on("console", lambda message, into=heard: into.append(message.text))
                page.on("request", lambda request, into=heard: into.append(request.url))
                page.goto(file.as_uri())
                assert [text for text in heard if not text.startswith("file:")] == [], name
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
                assert page.evaluate("window.hacked") is None
                page.close()
        page = browser.new_page()
        page.goto((tmp_path / "index.html").as_uri() + "#fig-000000000000")
        assert page.evaluate("document.querySelector('details').open")
