"""What the trace pages of a set list behind each figure, read from the pages alone."""

from __future__ import annotations

from pathlib import Path

from selectolax.lexbor import LexborHTMLParser, LexborNode

from judge_pipeline.lineage.basis import COUNTED, LEFT_OUT
from judge_pipeline.lineage.touched import touched_by_subject
from judge_pipeline.orchestration.trace_pages import TracePages, trace_folder
from judge_pipeline.orchestration.tracing import Tracer
from judge_pipeline.settings import Workspace

Counts = dict[str, int]
"""Pair -> how often it counts."""


def check_home_and_back(workspace: Workspace, pages: type[TracePages], of: str) -> None:
    """As many pairs are listed as each figure counts and leaves out, behind the figures that the command says."""
    listed, pairs = listed_behind_figures(trace_folder(workspace, of, pages.words), "pairs")
    tracer = Tracer(workspace, {})
    figures = {figure.anchor: figure for figure in tracer.figures([(pages.kind, of)], pages.headline)}
    assert set(figures) == set(listed) and len(figures) > 50
    for anchor, figure in figures.items():
        counted, left_out = listed[anchor]
        assert sum(counted.values()) == figure.n, figure.id
        assert sum(left_out.values()) == figure.n_left_out, figure.id
    for pair in pairs[:3]:
        touched = touched_by_subject(tracer.reach, figures.values(), (pages.kind, of, pair))
        roles = {each.figure.anchor: each.role for each in touched}
        counted_in = {anchor for anchor, (counted, _) in listed.items() if pair in counted}
        left_out_of = {anchor for anchor, (_, left_out) in listed.items() if pair in left_out}
        assert counted_in == {anchor for anchor, role in roles.items() if role == COUNTED}
        # What a figure leaves out may be what else it rests on, which the command says first.
        assert left_out_of >= {anchor for anchor, role in roles.items() if role == LEFT_OUT}


def listed_behind_figures(folder: Path, subjects: str) -> tuple[dict[str, tuple[Counts, Counts]], list[str]]:
    """Figure -> what counts in it, and what it leaves out; and the ids of all, in the order of their table.

    Args:
        folder: the pages, on which all lists are whole.
        subjects: attempts or pairs: how the pages of these are called.
    """
    parsed = {file.name: LexborHTMLParser(file.read_text(encoding="utf-8")) for file in folder.glob("*.html")}
    rows = {
        f"{name}#{row.id}": row for name, page in parsed.items() for row in page.css("tbody tr[id]")
        if name.startswith(subjects)
    }  # fmt: skip
    ids = {int(row.css_first("td").text().replace(",", "")): row.css_first("th").text() for row in rows.values()}
    assert sorted(ids) == list(range(1, len(ids) + 1))
    lists: dict[str, Counts] = {}
    of_basis: dict[str, tuple[Counts, Counts]] = {"": ({}, {})}
    for number in range(1, len(parsed)):
        name = "rows.html" if number == 1 else f"rows~{number}.html"
        for block in parsed[name].css(".basis-block") if name in parsed else ():
            roles: dict[str, Counts] = {"Counted in n": {}, "Left out": {}}
            for line in block.css("p")[1:]:
                if line.id:
                    own = lists[f"{name}#{line.id}"] = roles.setdefault(line.text().partition(":")[0], {})
                    times = 1
                elif "ids" in _class(line):
                    said = line.css_first(".times")
                    times = int(said.text().split()[0]) if said else 1
                    links = [(str(link.attributes["href"]), link.text()) for link in line.css("a")]
                    assert all(rows[address].css_first("th").text() == id_ for address, id_ in links)
                    own.update(dict.fromkeys((id_ for _, id_ in links), times))
                elif "run" in _class(line):
                    own.update(dict.fromkeys((ids[n] for n in _numbers(line.css_first("span").text())), times))
                else:
                    own.update(lists[str(line.css_first("a").attributes["href"])])
            of_basis[f"{name}#{block.id}"] = (roles["Counted in n"], roles["Left out"])
    bases = {str(row.id): row.css_first("td:last-child a") for row in parsed["index.html"].css("tr[id^='fig-']")}
    found = {figure: of_basis["" if link is None else str(link.attributes["href"])] for figure, link in bases.items()}
    return found, [ids[number] for number in sorted(ids)]


def _class(node: LexborNode) -> str:
    return str(node.attributes.get("class"))


def _numbers(text: str) -> list[int]:
    found: list[int] = []
    for run in text.split(", "):
        start, _, end = run.partition("–")
        found += range(int(start), int(end or start) + 1)
    return found
