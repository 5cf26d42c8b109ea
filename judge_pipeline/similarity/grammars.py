"""Tree-sitter grammars with their keywords and kinds of comments, from the packages that are installed."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import import_module, resources
from importlib.util import find_spec
from typing import Any

from judge_pipeline.similarity.languages import GRAMMARS, PACKAGE_GRAMMARS

_WORD = re.compile(r"[A-Za-z]\w+")
_COMMENT = re.compile(r"(?:\w+_)?comment|haddock")


def why_no_grammar(language: str) -> str | None:
    """Why programs of a language (a key of GRAMMARS) cannot be parsed here; None where they can."""
    grammar = GRAMMARS[language]
    if find_spec(f"tree_sitter_{grammar}") is not None:
        return None
    return f"no grammar of {language} is installed (package tree-sitter-{grammar.replace('_', '-')})"


def new_parser(grammar: str) -> Any:
    """A tree-sitter parser, for one thread.

    Args:
        grammar: a value of GRAMMARS.

    Raises:
        ModuleNotFoundError: the grammar's package is not installed; ``why_no_grammar`` tells before.
    """
    from tree_sitter import Parser

    return Parser(_language(grammar))


@lru_cache
def _language(grammar: str) -> Any:
    from tree_sitter import Language

    package = import_module(f"tree_sitter_{grammar}")
    # Packages of several grammars name each; of PHP's two this is the one in which text outside <?php ?> may stand.
    return Language((getattr(package, f"language_{grammar}", None) or package.language)())


@lru_cache
def keywords_of(grammar: str) -> frozenset[str]:
    """The words that the weighted n-gram term counts fully.

    Those of PACKAGE_GRAMMARS are the lists of the ``codebleu`` package, as they come. Those of other grammars are the
    words that the grammar itself spells out.
    """
    if grammar not in PACKAGE_GRAMMARS:
        return frozenset(kind for kind in _kinds(grammar, named=False) if _WORD.fullmatch(kind))
    text = (resources.files("codebleu") / "keywords" / f"{grammar}.txt").read_text(encoding="utf-8")
    return frozenset(line.strip() for line in text.splitlines())


@lru_cache
def comments_query(grammar: str) -> Any:
    """A tree-sitter query that captures the comments of a program as ``comment``."""
    from tree_sitter import Query

    kinds = sorted(kind for kind in _kinds(grammar, named=True) if _COMMENT.fullmatch(kind))
    return Query(_language(grammar), f"[{' '.join(f'({kind})' for kind in kinds)}] @comment")


def _kinds(grammar: str, *, named: bool) -> list[str]:
    """The kinds of nodes that a tree can show."""
    language = _language(grammar)
    return [
        language.node_kind_for_id(i)
        for i in range(language.node_kind_count)
        if language.node_kind_is_visible(i) and language.node_kind_is_named(i) == named
    ]
