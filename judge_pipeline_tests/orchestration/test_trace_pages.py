"""Pages that lead figures home: reports link to them, counts add up on them, and they hold no text that was judged."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.orchestration.trace_pages import TracePages, trace_folder, write_pages
from judge_pipeline.orchestration.trace_pages_of_contest import ContestPages
from judge_pipeline.orchestration.trace_pages_of_set import PreferencePages
from judge_pipeline.orchestration.tracing import Tracer
from judge_pipeline.report import trace_index_page as shown
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import PREDICTIONS, PREFERENCE_PAIRS
from judge_pipeline.tables.pair_judging import PAIR_JUDGMENTS
from judge_pipeline_tests.orchestration.listed_on_pages import check_home_and_back, listed_behind_figures
from judge_pipeline_tests.orchestration.traced_home import PAIR_JUDGES, SET

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("tracing")]


@pytest.fixture(scope="module")
def workspace(traced_home: Path) -> Workspace:
    return Workspace.find({}, traced_home)


@pytest.mark.parametrize(
    ("of", "pages", "judges"),
    [("mini", ContestPages, ("dull", "sharp", "text")), (SET, PreferencePages, PAIR_JUDGES)],
)
def test_a_report_links_to_the_figures_of_its_trace_pages(
    workspace: Workspace, of: str, pages: type[TracePages], judges: tuple[str, ...]
) -> None:
    folder, words = trace_folder(workspace, of, pages.words), pages.words
    report = (folder.parent / words.report).read_text(encoding="utf-8")
    html = {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.html")}
    links = set(re.findall(rf'href="{words.folder}/index\.html#(fig-[0-9a-f]{{12}})"', report))
    assert len(links) > 60 and links <= set(re.findall(r'id="(fig-[0-9a-f]{12})"', html["index.html"]))
    ids = {name: re.findall(r' id="([^"]+)"', page) for name, page in html.items()}
    assert all(len(own) == len(set(own)) for own in ids.values())
    for name, page in html.items():
        for address in set(re.findall(r'href="([^"]+)"', page)) - {f"../{words.report}"}:
            file, _, anchor = address.partition("#")
            assert not anchor or anchor in ids[file or name], (name, address)
            assert not file or file in html, (name, address)
    lists = {"index.html", "rows.html", f"{words.subject}s.html", "files.html"}
    assert set(html) == {*lists, *(f"judge-{judge}.html" for judge in judges)}
    assert set(re.findall(r'href="(judge-[^"]+)"', html["index.html"])) == {f"judge-{judge}.html" for judge in judges}


def test_the_pages_hold_every_judgment_and_no_text_that_was_judged(workspace: Workspace) -> None:
    store, folder = store_of(workspace), trace_folder(workspace, "mini", ContestPages.words)
    sharp = (folder / "judge-sharp.html").read_text(encoding="utf-8")
    predictions = store.read(PREDICTIONS, "mini").query("judge == 'sharp'")
    assert all(f'id="a-{attempt}"' in sharp for attempt in predictions["attempt_id"])
    assert not any("n = int(input())" in page.read_text(encoding="utf-8") for page in folder.glob("*.html"))
    pages = [page.read_text(encoding="utf-8") for page in trace_folder(workspace, SET, PreferencePages.words).iterdir()]
    judged = store.read(PAIR_JUDGMENTS, SET, PAIR_JUDGES[0])
    (own,) = [page for page in pages if f"<title>{PAIR_JUDGES[0]}: judgments" in page]
    rows = LexborHTMLParser(own).css("tbody tr")
    assert [row.css("td")[1].text() for row in rows] == [decision or "invalid" for decision in judged["decision"]]
    assert [row.css("td")[-1].text() for row in rows] == [hash_ or "–" for hash_ in judged["request_hash"]]
    for pair in store.read(PREFERENCE_PAIRS, SET).to_dict("records"):
        texts = [pair["response_a"], pair["response_b"], pair["instruction"] or ""]
        lines = [line for text in texts for line in text.splitlines() if len(line) > 20]
        assert lines and not any(escape(line) in page for page in pages for line in lines), pair["pair_id"]


def test_the_pages_of_a_set_list_what_counts_home_and_back(workspace: Workspace) -> None:
    check_home_and_back(workspace, PreferencePages, SET)


@pytest.mark.parametrize(("of", "pages"), [("mini", ContestPages), (SET, PreferencePages)])
def test_the_pages_are_the_same_bytes_again_and_those_of_other_judges_go(
    own_home: Path, of: str, pages: type[TracePages]
) -> None:
    workspace = Workspace.find({}, own_home)
    folder = trace_folder(workspace, of, pages.words)
    for old in ("judge-gone.html", "rows~9.html"):
        (folder / old).write_text("old", encoding="utf-8")
    first, again = ({page.name: page.read_bytes() for page in write_pages(pages(Tracer(workspace, {}), of), "v").files}
                    for _ in range(2))  # fmt: skip
    assert first == again and {page.name for page in folder.glob("*.html")} == set(first)
    assert all(len(data) < 2_000_000 for data in first.values())


def test_figures_that_do_not_add_up_stand_out_and_are_told(own_home: Path) -> None:
    workspace = Workspace.find({}, own_home)
    store = store_of(workspace)
    judged = store.read(PAIR_JUDGMENTS, SET, PAIR_JUDGES[0])
    store.write(PAIR_JUDGMENTS, judged.iloc[20:].reset_index(drop=True), SET, PAIR_JUDGES[0])
    written = write_pages(PreferencePages(Tracer(workspace, {}), SET), "v")
    assert any(problem.startswith("preference_accuracy:rule=trace,of=judge") for problem in written.problems)
    index = LexborHTMLParser(written.files[-1].read_text(encoding="utf-8"))
    assert len([node for node in index.css(".bad") if "make the report again" in node.text()]) == len(written.problems)


def test_lists_go_on_over_as_many_pages_as_they_take(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace.find({}, own_home)
    whole, ids = listed_behind_figures(trace_folder(workspace, SET, PreferencePages.words), "pairs")
    for name, size in (("SUBJECTS_A_PAGE", 50), ("JUDGMENTS_A_PAGE", 100), ("RUNS_A_PAGE", 40)):
        monkeypatch.setattr(shown, name, size)
    written = write_pages(PreferencePages(Tracer(workspace, {}), SET), "v")
    names = [file.name for file in written.files]
    assert {"pairs.html", "pairs~2.html", "pairs~3.html", "rows~2.html", f"judge-{PAIR_JUDGES[0]}~2.html"} <= set(names)
    assert len(names) == len(set(names)) and names[-1] == "index.html" and not written.problems
    assert listed_behind_figures(written.files[0].parent, "pairs") == (whole, ids)
    judged = [file.read_text(encoding="utf-8") for file in written.files if f"judge-{PAIR_JUDGES[0]}" in file.name]
    store = store_of(workspace)
    rows = [row for page in judged for row in LexborHTMLParser(page).css("tbody tr")]
    assert len(rows) == len(store.read(PAIR_JUDGMENTS, SET, PAIR_JUDGES[0]))
