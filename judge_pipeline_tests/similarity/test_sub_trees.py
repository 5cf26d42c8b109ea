"""Keys of sub-trees against the s-expressions that the ``codebleu`` package makes of each."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import example, given, settings

from judge_pipeline.similarity import sub_trees as module
from judge_pipeline.similarity.expressions import MalformedExpressionError, Written, keys_within, unquoted, written
from judge_pipeline.similarity.grammars import new_parser
from judge_pipeline.similarity.sub_trees import sub_trees
from judge_pipeline_tests.similarity.made_texts import edited, pieces, sample_programs

_key_of_expression: dict[str, int] = {}
"""The key of every s-expression seen in this module's tests: one key each, and no key twice."""


def expressions(root: Any) -> Counter[str]:
    """Of every node with children, and the root, as the package walks them."""
    found: Counter[str] = Counter()
    nodes = [root]
    while nodes:
        node = nodes.pop()
        found[str(node)] += 1
        nodes += [child for child in node.children if child.children]
    return found


def check(source: str, grammar: str) -> None:
    root = new_parser(grammar).parse(source.encode()).root_node
    wanted, found = expressions(root), sub_trees(root)
    assert found.size == sum(wanted.values())
    nodes = [root]
    while nodes:
        node = nodes.pop()
        key = module._key_of(node)
        assert _key_of_expression.setdefault(str(node), key) == key
        nodes += [child for child in node.children if child.children]
    assert len(set(_key_of_expression.values())) == len(_key_of_expression)
    counts = dict(zip(found.keys.astype("uint64").tolist(), found.counts.tolist(), strict=True))
    assert counts == {_key_of_expression[expression]: n for expression, n in wanted.items()}


@pytest.mark.slow
@pytest.mark.parametrize("language", ["python", "cpp", "c", "java"])
def test_keys_stand_for_expressions_one_to_one_in_whole_and_broken_programs(language: str) -> None:
    rng = random.Random(7)
    for program in sample_programs(language):
        for n_edits in (0, 1, 4):
            check(edited(program, rng, n_edits), "cpp" if language == "c" else language)


@settings(deadline=None, max_examples=200)
@given(pieces("python"))
@example("")
@example("a not in b is not c")
@example("a not b")
@example("} match match: try :")  # a block that is missing shows in the expression alone
@example("print(1) $ \x00 '(' )")
def test_keys_in_any_python(source: str) -> None:
    check(source, "python")


@settings(deadline=None, max_examples=200)
@given(pieces("cpp"))
@example("int main() { f(; }")
@example("int f() { return 1 }")
def test_keys_in_any_cpp(source: str) -> None:
    check(source, "cpp")


@pytest.mark.parametrize("language", ["python", "cpp", "java"])
def test_walking_a_tree_gives_the_keys_of_writing_it(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for program in [*sample_programs(language), "x = a not in b\n", "int x = 'ab"]:
        root = new_parser(language).parse(program.encode()).root_node
        wanted = sub_trees(root)
        with monkeypatch.context() as patch:
            patch.setattr(module, "MAX_WRITTEN_LEVELS", 1)
            patch.setattr(module, "keys_within", None)
            found = sub_trees(root)
        assert (found.keys.tolist(), found.counts.tolist()) == (wanted.keys.tolist(), wanted.counts.tolist())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grammar", "source"),
    [
        ("python", "x = " + "(" * 20_000 + "1" + ")" * 20_000),
        ("python", "x = " + "-" * 50_000 + "1"),
        ("cpp", "int x = " + "(" * 20_000 + "1" + ")" * 20_000 + ";"),
        ("java", "class A { int x = " + "(" * 20_000 + "1" + ")" * 20_000 + "; }"),
        ("cpp", "{" * 20_000),
    ],
)
def test_trees_of_any_depth_are_read(grammar: str, source: str) -> None:
    root = new_parser(grammar).parse(source.encode()).root_node
    assert sub_trees(root).size >= 1


def test_quoted_parentheses_are_not_those_of_the_expression() -> None:
    expression = """(a (MISSING "(") (b (UNEXPECTED ')')) (UNEXPECTED '\\n'))"""
    assert len(keys_within(unquoted(expression))) == 2
    with pytest.raises(MalformedExpressionError):
        keys_within("(a (b)")


def test_texts_can_be_put_together() -> None:
    whole, parts = written("(a (b) (c))"), [written(part) for part in ("(a (b", ") ", "(c))")]
    assert parts[0].then(parts[1]).then(parts[2]) == whole
    assert int(keys_within("(a (b) (c))")[0]) == whole.key
    assert Written(0, 0).then(whole) == whole
