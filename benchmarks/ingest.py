"""Pages read per second and core, against BeautifulSoup with lxml extracting the same fields from the same pages.

Both sides run in one process on one core, in turn, block by block, and are timed by processor time; imports are left
out. Both must find the same problem, participant, verdict, language, submission id, instant and source of every
submission, or the run fails. The peer knows where each of the made layouts keeps its fields and looks only there; our
readers are told nothing, and also detect encoding and layout and say what they were unsure of.

    python benchmarks/ingest.py [--pages 320]
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from statistics import median
from typing import Any

from made_pages import MadePage, made_page

TARGET = 5.0
BLOCKS = 8

_VERDICTS = {"Accepted": "AC", "Wrong Answer": "WA", "Time Limit Exceeded": "TLE", "Runtime Error": "RE"}


def main() -> int:
    """Runs the comparison; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=320, help="pages in each of the blocks together")
    pages = [made_page(i) for i in range(parser.parse_args().pages)]
    ours, peer = _ours(), _peer()
    for page in pages:
        _compare(page, ours(page), peer(page))
    megabytes = sum(len(page.data) for page in pages) / 1e6
    print(f"{len(pages)} pages, {megabytes:.1f} MB, {sum(len(p.submissions) for p in pages)} submissions; fields agree")
    ratios, rates = [], []
    for block in range(BLOCKS):
        part = pages[block * len(pages) // BLOCKS : (block + 1) * len(pages) // BLOCKS]
        seconds_ours, seconds_peer = _seconds(ours, part), _seconds(peer, part)
        ratios.append(seconds_peer / seconds_ours)
        rates.append((len(part) / seconds_ours, len(part) / seconds_peer))
    print(f"ours                 {median(rate for rate, _ in rates):8.1f} pages/s per core")
    print(f"BeautifulSoup + lxml {median(rate for _, rate in rates):8.1f} pages/s per core")
    print(f"by block: {', '.join(f'{ratio:.2f}' for ratio in ratios)}")
    ratio = median(ratios)
    print(f"ratio {ratio:.2f} target {TARGET:g}")
    return 0 if ratio >= TARGET else 1


def _seconds(read: Callable[[MadePage], Any], pages: list[MadePage]) -> float:
    started = time.process_time()
    for page in pages:
        read(page)
    return time.process_time() - started


def _ours() -> Callable[[MadePage], list[tuple[Any, ...]]]:
    from judge_pipeline.ingest.submissions import read_submissions
    from judge_pipeline.settings import ContestSettings

    settings = ContestSettings()

    def read(page: MadePage) -> list[tuple[Any, ...]]:
        return [
            (r.problem_id, r.participant, r.verdict, r.language, r.submission_id, r.submitted_at, r.source_sha256)
            for r in read_submissions(page.data, page.name, settings)
        ]

    return read


def _peer() -> Callable[[MadePage], list[tuple[Any, ...]]]:
    from bs4 import BeautifulSoup

    def read(page: MadePage) -> list[tuple[Any, ...]]:
        soup = BeautifulSoup(page.data, "lxml")
        title = soup.title.text
        if title == "Submissions":
            return [_list_row(row) for row in soup.find("table").find("tbody").find_all("tr")]
        if title.startswith("Submission #"):
            return [_task_site(soup)]
        return [_labelled(soup)]

    return read


def _list_row(row: Any) -> tuple[Any, ...]:
    cells = row.find_all("td")
    return (
        _last_part(cells[1]), _last_part(cells[2]), cells[6].text, cells[3].text, _last_part(cells[9]),
        _instant(cells[0].text), None,
    )  # fmt: skip


def _task_site(soup: Any) -> tuple[Any, ...]:
    info = soup.find_all("table")[0]
    cells = {row.th.text: row.td for row in info.find_all("tr")}
    return (
        _last_part(cells["Task"]), _last_part(cells["User"]), cells["Status"].text, cells["Language"].text,
        soup.find("span", class_="h2").text.split("#")[1], _instant(cells["Submission Time"].text),
        _sha256(soup.find("pre", id="submission-code").text),
    )  # fmt: skip


def _labelled(soup: Any) -> tuple[Any, ...]:
    table = soup.find("table")
    if table is not None:
        values = {row.th.text: row.td.text for row in table.find_all("tr")}
    else:
        names = soup.find("dl")
        values = dict(
            zip((dt.text for dt in names.find_all("dt")), (dd.text for dd in names.find_all("dd")), strict=True)
        )
    return (
        values["Problem"], values.get("Author") or values["User"],
        _VERDICTS[values.get("Verdict") or values["Status"]], values["Language"], values["Submission ID"],
        _instant(values["Submitted at"]), _sha256(soup.find("pre").text),
    )  # fmt: skip


def _last_part(cell: Any) -> str:
    return str(cell.a["href"]).rsplit("/", 1)[1]


def _instant(text: str) -> datetime:
    return datetime.strptime(text.replace(" UTC", "+0000"), "%Y-%m-%d %H:%M:%S%z").astimezone(UTC)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _compare(page: MadePage, ours: list[tuple[Any, ...]], peer: list[tuple[Any, ...]]) -> None:
    made = [
        (problem, user, verdict, language, number, source and _sha256(source))
        for problem, user, verdict, language, number, source in page.submissions
    ]
    if ours != peer or [(*row[:5], row[6]) for row in ours] != made:
        sys.exit(f"{page.name}: the readings differ:\nmade {made}\nours {ours}\npeer {peer}")


if __name__ == "__main__":
    sys.exit(main())
