"""Tree-sitter grammars and keyword lists, from the packages that are installed."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module, resources
from importlib.util import find_spec
from typing import Any

from judge_pipeline.similarity.languages import GRAMMARS


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
    # The package of PHP has two grammars; this is the one in which text outside <?php ?> may stand.
    return Language(package.language_php() if grammar == "php" else package.language())


@lru_cache
def keywords_of(grammar: str) -> frozenset[str]:
    """The words that the weighted n-gram term counts fully: the lists of the ``codebleu`` package, as they come."""
    text = (resources.files("codebleu") / "keywords" / f"{grammar}.txt").read_text(encoding="utf-8")
    return frozenset(line.strip() for line in text.splitlines())
