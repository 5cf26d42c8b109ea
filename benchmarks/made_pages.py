"""Pages of contest sites, made: the layouts that people save most, with the weight that such pages have.

The same number always gives the same page. Names, problems and programs are invented here.
"""

from __future__ import annotations

import html
import random
import re
from collections.abc import Callable
from dataclasses import dataclass

_WORDS = (
    "count", "left", "right", "best", "total", "graph", "node", "edge", "queue", "limit", "answer", "value", "index",
    "prefix", "suffix", "cost",
)  # fmt: skip
_VERDICTS = {"AC": "Accepted", "WA": "Wrong Answer", "TLE": "Time Limit Exceeded", "RE": "Runtime Error"}
_LANGUAGES = ("C++ 20 (gcc 12.2)", "Python (CPython 3.11.4)", "Java (OpenJDK 17)")

_NAVIGATION = "".join(
    f'<li class="nav-item"><a class="nav-link" href="/contests/c{i}/tasks?lang=en" title="Contest {i}">'
    f'<span class="icon icon-{i % 7}" aria-hidden="true"></span> Contest {i}</a></li>'
    for i in range(60)
)
_SCRIPT = (
    "<script>\n" + "".join(f'window.translations["key{i}"] = "<b>text {i}</b>";\n' for i in range(60)) + "</script>"
)
_STYLE = "<style>" + "".join(f".rule-{i} > td {{ padding: {i}px; }}\n" for i in range(80)) + "</style>"


@dataclass(frozen=True)
class MadePage:
    """A page, and what a right reading of it gives, one tuple a submission.

    Attributes:
        name: file name.
        data: the page's bytes.
        submissions: problem, participant, verdict, language, submission id, source (None in lists) of each.
    """

    name: str
    data: bytes
    submissions: tuple[tuple[str, str, str, str, str, str | None], ...]


def made_page(number: int) -> MadePage:
    """The page of this number: in turn one submission of three sites' layouts, and a list of twenty."""
    rng = random.Random(number)
    makes: tuple[Callable[[int, random.Random], MadePage], ...] = (
        _task_site, _highlighted_site, _plain_site, _task_site, _task_site, _highlighted_site, _plain_site, _list_page,
    )  # fmt: skip
    return makes[number % len(makes)](number, rng)


def made_text(number: int) -> MadePage:
    """The same as a text file: lines of a label and a value, and the source in a fence."""
    rng = random.Random(number)
    problem, user, verdict, language, submission = _facts(number, rng)
    source = made_program(rng, rng.randrange(30, 120))
    text = (
        f"Problem: {problem}\nAuthor: {user}\nSubmission ID: {submission}\nResult: {verdict}\nLanguage: {language}\n"
        f"Submitted at: 2026-03-{1 + number % 28:02} 12:{number % 60:02}:05 +0900\n\n```cpp\n{source}```\n"
    )
    return MadePage(f"{submission}.md", text.encode("utf-8"), ((problem, user, verdict, language, submission, source),))


def made_program(rng: random.Random, lines: int) -> str:
    """A program of so many lines, full of ``<`` and ``&``."""
    body = ["#include <bits/stdc++.h>", "using namespace std;", "int main() {", "    ios::sync_with_stdio(false);"]
    while len(body) < lines - 2:
        a, b, c = rng.choices(_WORDS, k=3)
        body.append(
            rng.choice((
                f"    for (int {a} = 0; {a} < {b}.size() && {c} > {a}; {a}++) {{ {c} += {b}[{a}]; }}",
                f"    vector<pair<int, int>> {a}({b} + {rng.randrange(99)});",
                f'    if ({a} >= {b} || !({c} & 1)) cout << "{a}" << \'\\n\';',
                f"    map<string, vector<int>> {a}; // {b} by {c}",
                f"    {a} = max({a}, {b} - {c} * {rng.randrange(10**6)});",
            ))
        )  # fmt: skip
    return "\n".join([*body, "    return 0;", "}"]) + "\n"


def _facts(number: int, rng: random.Random) -> tuple[str, str, str, str, str]:
    contest, letter = f"c{number % 300:03}", "abcdef"[number % 6]
    return (
        f"{contest}_{letter}",
        f"user{number % 997}",
        rng.choice(list(_VERDICTS)),
        rng.choice(_LANGUAGES),
        str(10**7 + number),
    )


def _around(title: str, body: str, meta: str = "") -> bytes:
    page = (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>{meta}'
        f"{_STYLE}{_SCRIPT}</head>"
        f'<body><nav class="navbar"><ul class="nav">{_NAVIGATION}</ul></nav>'
        f'<div id="main-container" class="container"><div class="row"><div class="col-sm-12">{body}</div></div></div>'
        f'<footer class="footer"><ul>{_NAVIGATION[:6000]}</ul><p>2026</p></footer>{_SCRIPT}</body></html>\n'
    )
    return page.encode("utf-8")


def _task_site(number: int, rng: random.Random) -> MadePage:
    problem, user, verdict, language, submission = _facts(number, rng)
    contest = problem.split("_")[0]
    source = made_program(rng, rng.randrange(30, 120))
    cases = "".join(
        f'<tr><td class="text-center">{i:02}_random.txt</td><td class="text-center">'
        f'<span class="label">{verdict if i == 9 else "AC"}</span></td>'
        f'<td class="text-right">{i} ms</td><td class="text-right">3532 KB</td></tr>'
        for i in range(30)
    )
    body = (
        f'<p><span class="h2">Submission #{submission}</span></p><h4>Source Code</h4><div class="div-btn-copy">'
        f'<span class="btn-copy" data-target="submission-code">Copy</span></div>'
        f'<pre id="submission-code" class="prettyprint linenums">{html.escape(source)}</pre><h4>Submission Info</h4>'
        f'<div class="panel"><table class="table table-bordered">'
        f'<tr><th>Submission Time</th><td><time class="fixtime">'
        f"2026-03-{1 + number % 28:02} 21:{number % 60:02}:05+0900</time></td></tr>"
        f'<tr><th>Task</th><td><a href="/contests/{contest}/tasks/{problem}">A - Sum of {number % 10}</a></td></tr>'
        f'<tr><th>User</th><td><a href="/users/{user}">{user}</a></td></tr>'
        f"<tr><th>Language</th><td>{language}</td></tr>"
        f"<tr><th>Score</th><td>100</td></tr><tr><th>Code Size</th><td>{len(source)} Byte</td></tr>"
        f'<tr><th>Status</th><td><span class="label" title="{_VERDICTS[verdict]}">{verdict}</span></td></tr>'
        f"<tr><th>Exec Time</th><td>12 ms</td></tr><tr><th>Memory</th><td>3532 KB</td></tr></table></div>"
        f'<div class="panel"><table class="table">'
        f"<tr><th>Case Name</th><th>Status</th><th>Exec Time</th><th>Memory</th></tr>"
        f"{cases}</table></div>"
        f'<a href="/contests/{contest}/submissions/{submission}">#</a>'
    )
    data = _around(f"Submission #{submission}", body, '<meta property="og:site_name" content="AtCoder">')
    return MadePage(f"{submission}.html", data, ((problem, user, verdict, language, submission, source),))


def _highlighted_site(number: int, rng: random.Random) -> MadePage:
    problem, user, verdict, language, submission = _facts(number, rng)
    source = made_program(rng, rng.randrange(30, 120))
    spans = re.sub(
        r"(\w+)|([^\w\s]+)",
        lambda m: f'<span class="{"kw" if m[1] else "pun"}">{html.escape(m[0])}</span>',
        source,
    )
    body = (
        f'<table class="details"><tr><th>Submission ID</th><td>{submission}</td></tr>'
        f'<tr><th>Author</th><td><a href="/profile/{user}">{user}</a></td></tr>'
        f"<tr><th>Problem</th><td>{problem}</td></tr><tr><th>Language</th><td>{language}</td></tr>"
        f"<tr><th>Verdict</th><td>{_VERDICTS[verdict]}</td></tr>"
        f"<tr><th>Submitted at</th><td>2026-03-{1 + number % 28:02} 12:{number % 60:02}:05 UTC</td></tr></table>"
        f'<pre class="highlight source"><code class="language-cpp">{spans}</code></pre>'
    )
    return MadePage(
        f"{submission}.html",
        _around(f"Solution {submission}", body),
        ((problem, user, verdict, language, submission, source),),
    )


def _plain_site(number: int, rng: random.Random) -> MadePage:
    problem, user, verdict, language, submission = _facts(number, rng)
    source = made_program(rng, rng.randrange(30, 120))
    body = (
        f"<h2>Run</h2><dl><dt>Submission ID</dt><dd>{submission}</dd><dt>User</dt><dd>{user}</dd>"
        f"<dt>Problem</dt><dd>{problem}</dd><dt>Language</dt><dd>{language}</dd><dt>Status</dt><dd>{_VERDICTS[verdict]}</dd>"
        f"<dt>Submitted at</dt><dd>2026-03-{1 + number % 28:02} 12:{number % 60:02}:05 UTC</dd></dl>"
        f'<pre class="source">{html.escape(source)}</pre>'
    )
    return MadePage(
        f"{submission}.html",
        _around(f"Run {submission}", body),
        ((problem, user, verdict, language, submission, source),),
    )


def _list_page(number: int, rng: random.Random) -> MadePage:
    submissions, rows = [], []
    for i in range(20):
        problem, user, verdict, language, submission = _facts(number * 100 + 20 - i, rng)
        contest = problem.split("_")[0]
        submissions.append((problem, user, verdict, language, submission, None))
        rows.append(
            f'<tr><td class="no-break"><time class="fixtime">2026-03-01 21:{59 - i:02}:05+0900</time></td>'
            f'<td><a href="/contests/{contest}/tasks/{problem}">A - Sum</a></td>'
            f'<td><a href="/users/{user}">{user}</a></td>'
            f'<td>{language}</td><td class="text-right">100</td><td>{300 + i} Byte</td>'
            f'<td class="text-center"><span class="label" title="{_VERDICTS[verdict]}">{verdict}</span></td>'
            f"<td>{i} ms</td>"
            f'<td>3532 KB</td><td><a href="/contests/{contest}/submissions/{submission}">Detail</a></td></tr>'
        )
    body = (
        '<table class="table"><thead><tr><th>Submission Time</th><th>Task</th><th>User</th><th>Language</th>'
        f"<th>Score</th>"
        f"<th>Code Size</th><th>Status</th><th>Exec Time</th><th>Memory</th><th></th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )
    data = _around("Submissions", body, '<meta property="og:site_name" content="AtCoder">')
    return MadePage(f"list{number}.html", data, tuple(submissions))
