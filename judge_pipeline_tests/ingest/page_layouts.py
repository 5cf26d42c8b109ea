"""Layouts in which contest sites and the people who save their pages put a source: the tests' own writers."""

from __future__ import annotations

import html
import re

from hypothesis import strategies as st

Seed = int

PAGE = """<!DOCTYPE html><html><head><meta charset="utf-8"><title>Submission #4711</title>
<style>pre {{ tab-size: 4 }}</style><script>var code = "<pre>no</pre>";</script></head><body>
<table><tr><th>Problem</th><td><a href="/contests/c1/tasks/c1_a">A - Sum</a></td></tr>
<tr><th>User</th><td><a href="/users/alice">Alice</a></td></tr><tr><th>Status</th><td>Wrong Answer</td></tr></table>
{source}
<pre>1 2
3 4</pre><footer>2026</footer></body></html>"""


def encoded(source: str) -> str:
    """Every special character as an entity."""
    return f'<pre id="source" class="prettyprint">{_guarded(source)}{html.escape(source)}</pre>'


def highlighted(source: str) -> str:
    """Words in spans."""
    spans = re.sub(
        r"(\w+)|([^\w\s]+)",
        lambda m: f'<span class="{"w" if m[1] else "o"}">{html.escape(m[0])}</span>',
        source,
    )
    return f'<pre class="highlight">{_guarded(source)}<code class="language-cpp">{spans}</code></pre>'


def listed(source: str) -> str:
    """A list item for each line, as a highlighter that numbers lines leaves it."""
    items = "".join(
        f'<li class="L{i % 10}"><span class="pln">{html.escape(line)}</span></li>' for i, line in _lines(source)
    )
    return f'<pre class="prettyprint linenums"><ol class="linenums">{items}</ol></pre>'


def divided(source: str) -> str:
    """A number and a text element for each line."""
    rows = "".join(
        f'<div class="row"><span class="line-number">{i + 1}</span><span class="line">{html.escape(line)}</span></div>'
        for i, line in _lines(source)
    )
    return f'<pre class="code"><button class="copy">Copy</button>{rows}</pre>'


def tabled(source: str) -> str:
    """A table row for each line, the number in a cell of its own."""
    rows = "".join(
        f'<tr><td class="hljs-ln-numbers" data-line-number="{i + 1}"><div class="hljs-ln-n">{i + 1}</div></td>'
        f'<td class="hljs-ln-code">{html.escape(line)}</td></tr>'
        for i, line in _lines(source)
    )
    return f'<pre><code class="hljs"><table class="hljs-ln"><tbody>{rows}</tbody></table></code></pre>'


def beside(source: str) -> str:
    """All numbers in one block, all code in another."""
    numbers = "\n".join(str(i + 1) for i, _ in _lines(source))
    return (
        f'<table class="src"><tr><td class="gutter"><pre>{numbers}</pre></td>'
        f'<td class="code"><pre class="source">{_guarded(source)}{html.escape(source)}</pre></td></tr></table>'
    )


def numbered(source: str) -> str:
    """Right-aligned numbers in spans before each line."""
    lines = _lines(source)
    width = len(str(len(lines)))
    text = "\n".join(f'<span class="lineno">{i + 1:>{width}} </span>{html.escape(line)}' for i, line in lines)
    return f'<pre class="code">{text}</pre>'


def typed(source: str) -> str:
    """Numbers typed into the text, with a separator."""
    return f'<pre class="code">{html.escape(chr(10).join(f"{i + 1:3d} | {line}" for i, line in _lines(source)))}</pre>'


def raw(source: str) -> str:
    """The source as it is."""
    return f'<pre id="program-source-text" class="prettyprint">{source}</pre>'


def unclosed(source: str) -> str:
    """The source as it is, in a page that ends within it."""
    return f'<pre id="program-source-text" class="prettyprint">{source}'


def half_escaped(source: str) -> str:
    """Only the apostrophe escaped, as one downloader did."""
    return f'<pre id="program-source-text" class="prettyprint">{source.replace(chr(39), "&#39;")}</pre>'


def _lines(source: str) -> list[tuple[int, str]]:
    return list(enumerate(source.split("\n")))


def _guarded(source: str) -> str:
    """HTML takes one line break behind ``<pre>`` away."""
    return "\n" if source[:1] in ("\n", "\r") else ""


any_source = st.text(
    st.one_of(
        st.sampled_from(list(" \t\n{}();<>&\"'#/\\\u00a0")),
        st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff\u200b"),
    ),
    min_size=1,
    max_size=300,
)
"""Arbitrary text: tabs, U+00A0, non-BMP characters, what looks like tags and entities."""

_pieces = st.sampled_from(
    [
        "</pre>", "<pre>", "&lt;", "&nbsp;", "&amp;&amp;", "<b>x</b>", "<br>", "</code>", "<!-- -->", "<script>", "]]>",
        "#include <map>\n", "i<n;i++", "a&&b", "\r\n", "\t", "  ", "\n\n", "𝄞", "日本語", 'puts("</pre>");',
        "\u00a0", "1\n",
        "ace_line", "int x = 1;", "'", '"',
    ]
)  # fmt: skip
tricky_source = st.lists(st.one_of(_pieces, any_source), min_size=1, max_size=12).map("".join)
"""What looks like the page that it stands in."""

_statements = st.sampled_from(
    [
        "#include <map>", "#include <bits/stdc++.h>", "for(int i=0;i<n;i++)if(a>b)c();", "\tvector<vector<int>> v;  ",
        "map<string,int> m;", "if(a<b&&c>d||x<y)", "cout<<\"<b>\"<<x<<'\\n';",
        "List<String> xs = new ArrayList<>();", "",
        "\twhile(l<=r){", "}", "  // a <-> b", "template<class T> T f(T a){return a<0?-a:a;}",
        'puts("</pre>");', "x = y &z;",
        "set<a> s; pair<i,j> p;", "\u00a0\u00a0x++;", "s=\"日本\";", "print(a<b , c> d)", "a = b<c>(d);",
    ]
)  # fmt: skip
raw_program = st.lists(_statements, min_size=1, max_size=25).map(lambda lines: "int a;\n" + "\n".join(lines))
"""Programs full of what parsers take for tags."""
