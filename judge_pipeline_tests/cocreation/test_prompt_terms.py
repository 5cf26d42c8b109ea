from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.cocreation.prompt_terms import terms, tf_idf


def test_words_are_a_persons_own() -> None:
    text = (
        "----- log chat_E001.txt, message 3 -----\nFix MY_code, [redacted:email] [participant:0123456789ab] "
        "[masked:verdict] in C++ 17 a\n\n----- log b.txt, message 4, user -----\nTwo"
    )
    assert terms(text) == ["fix", "my_code", "in", "two"]


def test_scripts_without_spaces_give_pairs() -> None:
    assert terms("最短経路をPythonで 道") == ["最短", "短経", "経路", "路を", "python", "で", "道"]
    assert terms("ＤＰ　Ｔａｂｌｅ") == ["dp", "table"], "full width is as half width"
    assert terms("Кратчайший путь") == ["кратчайший", "путь"]


@given(st.text())
def test_any_text_has_words_without_blanks(text: str) -> None:
    assert all(term and term.split() == [term] for term in terms(text))


def test_tf_idf_by_hand() -> None:
    matrix, names = tf_idf([["graph", "graph", "path"], ["path"]])
    assert names == ["graph", "path"]
    graph, path = 2 * (1 + math.log(3 / 2)), 1.0
    length = math.hypot(graph, path)
    assert matrix.toarray()[0] == pytest.approx([graph / length, path / length])
    assert matrix.toarray()[1] == pytest.approx([0, 1])
