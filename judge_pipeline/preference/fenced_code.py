"""Code in answers: fenced blocks of Markdown and the languages that their tags name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_FENCE = re.compile(r"^[ \t]*(?P<mark>`{3,}|~{3,})(?P<info>[^\n`]*)$")

_NAMES: Mapping[str, str] = {
    "python": "python py python3 py3 ipython pycon jupyter", "javascript": "javascript js node nodejs mjs jsx react",
    "typescript": "typescript ts tsx", "java": "java", "c": "c h", "cpp": "c++ cpp cc cxx hpp",
    "c_sharp": "c# cs csharp", "go": "go golang", "rust": "rust rs", "ruby": "ruby rb", "php": "php",
    "swift": "swift", "kotlin": "kotlin kt kts", "scala": "scala sc", "dart": "dart", "lua": "lua luau",
    "perl": "perl pl", "r": "r {r", "julia": "julia jl", "haskell": "haskell hs", "elixir": "elixir ex exs",
    "erlang": "erlang erl", "clojure": "clojure clj cljs edn", "fsharp": "f# fs fsharp", "ocaml": "ocaml ml",
    "lisp": "lisp elisp common-lisp scheme racket", "zig": "zig", "nim": "nim", "crystal": "crystal", "d": "d dlang",
    "ada": "ada", "fortran": "fortran f90 f95", "cobol": "cobol", "pascal": "pascal delphi",
    "matlab": "matlab octave", "objective_c": "objective-c objc objectivec", "groovy": "groovy",
    "vb": "vb vbnet vba vbscript", "sql": "sql mysql postgresql postgres plsql tsql sqlite mssql",
    "html": "html htm xhtml", "css": "css scss sass less", "vue": "vue", "svelte": "svelte",
    "xml": "xml xsl xslt svg", "json": "json jsonc json5", "yaml": "yaml yml", "toml": "toml ini cfg",
    "shell": "bash sh shell zsh fish console shellscript shell-session", "powershell": "powershell ps1 pwsh",
    "batch": "batch bat cmd", "dockerfile": "dockerfile docker", "makefile": "makefile make cmake",
    "terraform": "terraform hcl tf", "nix": "nix", "graphql": "graphql gql", "protobuf": "protobuf proto",
    "solidity": "solidity sol", "assembly": "assembly asm nasm x86asm armasm", "glsl": "glsl hlsl wgsl",
    "cuda": "cuda cu", "verilog": "verilog systemverilog vhdl", "latex": "latex tex", "prolog": "prolog",
    "gdscript": "gdscript gd", "apex": "apex", "abap": "abap", "awk": "awk", "tcl": "tcl",
    "vim": "vim viml vimscript", "mermaid": "mermaid", "dot": "dot graphviz", "regex": "regex regexp",
    "diff": "diff patch", "qml": "qml", "mql": "mql4 mql5", "autohotkey": "autohotkey ahk",
    "applescript": "applescript", "jinja": "jinja jinja2", "nginx": "nginx apache",
}  # fmt: skip
_LANGUAGE_OF: Mapping[str, str] = {name: language for language, names in _NAMES.items() for name in names.split()}


@dataclass(frozen=True, slots=True)
class FencedBlock:
    """A fenced block of code.

    Attributes:
        tag: the first word behind the opening fence; empty where there is none.
        code: what stands between the fences, without the last line break.
    """

    tag: str
    code: str


def fenced_blocks(text: str) -> list[FencedBlock]:
    """The fenced blocks of a Markdown text, in order; one that is never closed ends with the text.

    A fence is three or more back-ticks or tildes that begin a line, white space aside; it is closed by at least as many
    of the same with nothing behind them (CommonMark, 4.5). Fences in the middle of a line open nothing.
    """
    blocks: list[FencedBlock] = []
    mark, tag, lines = "", "", []  # type: str, str, list[str]
    for line in text.splitlines():
        match = _FENCE.match(line)
        if not mark:
            if match is not None:
                mark, tag, lines = match["mark"], (match["info"].split() or [""])[0], []
        elif match is not None and match["mark"].startswith(mark) and not match["info"].strip():
            blocks.append(FencedBlock(tag, "\n".join(lines)))
            mark = ""
        else:
            lines.append(line)
    if mark:
        blocks.append(FencedBlock(tag, "\n".join(lines)))
    return blocks


def tagged_language(tag: str) -> str | None:
    """The language that a fence's tag names; None for tags of plain text and for unknown ones.

    ``python``, ``Python3`` and ``py`` are ``python``; ``{.python}`` and ``python:main.py`` are read, too.
    """
    name = re.sub(r"^\{\.?|\}$", "", tag.lower()).partition(":")[0].partition(",")[0].partition("{")[0].strip(" .\"'")
    return _LANGUAGE_OF.get(name) or _LANGUAGE_OF.get(tag.lower())


def named_language(name: str | None) -> str | None:
    """The language that a source's own column names, called as its tags are; else its name in small letters.

    None where no name is stated.
    """
    if name is None or not name.strip():
        return None
    plain = name.strip().lower()
    return _LANGUAGE_OF.get(plain, plain)


def languages_in(text: str) -> set[str]:
    """The languages that tags of the text's fenced blocks name."""
    found = {tagged_language(block.tag) for block in fenced_blocks(text)}
    return {language for language in found if language is not None}


def code_in(text: str) -> str | None:
    """The code of all fenced blocks, joined by line breaks; None where there is none."""
    blocks = fenced_blocks(text)
    return "\n".join(block.code for block in blocks) if blocks else None
