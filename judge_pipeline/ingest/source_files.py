"""Source files as people archive them: the whole file is the source; its head comment and name tell the rest."""

from __future__ import annotations

import re

from judge_pipeline.ingest.drafts import Draft

_CODE_LINE = re.compile(
    r"[;{}]\s*(?://.*|/\*.*\*/\s*)?$|^\s*#\s*(?:include|define|pragma|ifdef|ifndef|endif)\b|^\s*(?:import|from|using|"
    r"package|def|class|public|private|static|void|int|long|return|for|while|if|elif|else|try|except|fn|let|const|"
    r"var|use|func|print|function|template|struct|typedef|namespace)\b[\s(:{]|^\s*\w[\w.\[\], ]*\s*[-+*/%]?=[^=]|"
    r"\)\s*:?\s*$|^\s*(?://|/\*|\*)"
)

LANGUAGES = {
    "c": "C", "cc": "C++", "cpp": "C++", "cxx": "C++", "hpp": "C++", "java": "Java", "py": "Python", "py3": "Python",
    "rb": "Ruby", "rs": "Rust", "go": "Go", "js": "JavaScript", "ts": "TypeScript", "kt": "Kotlin", "cs": "C#",
    "hs": "Haskell", "ml": "OCaml", "pl": "Perl", "php": "PHP", "scala": "Scala", "swift": "Swift", "d": "D",
    "pas": "Pascal", "nim": "Nim", "jl": "Julia", "lua": "Lua", "r": "R", "f90": "Fortran", "bas": "Basic",
}  # fmt: skip
"""Extensions of source files and the language that they stand for."""


def looks_like_code(text: str) -> bool:
    """Whether at least half of the lines that are not blank (of the first 400) have the form of program text."""
    lines = [line for line in text.splitlines()[:400] if line.strip()]
    hits = sum(1 for line in lines if _CODE_LINE.search(line[:400]))
    return bool(lines) and hits * 2 >= len(lines)


def draft_of_source_file(text: str) -> Draft:
    """The submission that a source file is."""
    return Draft(reader="source_file", source=text)
