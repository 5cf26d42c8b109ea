"""Source files as people archive them: the whole file is the source; its head comment and its name tell the rest."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath

from judge_pipeline.ingest.drafts import Draft
from judge_pipeline.ingest.fields import labelled_parts
from judge_pipeline.ingest.links import participant_in_link, problem_in_link, submission_in_link
from judge_pipeline.ingest.verdicts import read_verdict

_CODE_LINE = re.compile(
    r"[;{}]\s*(?://.*|/\*.*\*/\s*)?$|^\s*#\s*(?:include|define|pragma|ifdef|ifndef|endif)\b|^\s*(?:import|from|using|"
    r"package|def|class|public|private|static|void|int|long|return|for|while|if|elif|else|try|except|fn|let|const|"
    r"var|use|func|print|function|template|struct|typedef|namespace)\b[\s(:{]|^\s*[\w.\[\], ]+?\s*[-+*/%]?=[^=]|"
    r"\)\s*:?\s*$|^\s*(?://|/\*|\*)"
)

_PROSE_ASIDE = re.compile(r"\s\((?:[^\W\d_]{1,40}[ ,.;]{1,3}){2,40}[^\W\d_]{1,40}[.!?]?\)\s*$")
"""Words in brackets at a line's end: "PASSED (what was to be found)"."""

LANGUAGES = {
    "c": "C", "cc": "C++", "cpp": "C++", "cxx": "C++", "hpp": "C++", "java": "Java", "py": "Python", "py3": "Python",
    "rb": "Ruby", "rs": "Rust", "go": "Go", "js": "JavaScript", "ts": "TypeScript", "kt": "Kotlin", "cs": "C#",
    "hs": "Haskell", "ml": "OCaml", "pl": "Perl", "php": "PHP", "scala": "Scala", "swift": "Swift", "d": "D",
    "pas": "Pascal", "nim": "Nim", "jl": "Julia", "lua": "Lua", "r": "R", "f90": "Fortran", "bas": "Basic",
}  # fmt: skip
"""Extensions of source files and the language that they stand for."""

_COMMENT = re.compile(
    r"^\s*(?://+|/\*+|\*+(?!/)|#(?!\s*(?:include|define|pragma|ifdef|ifndef|endif|if|undef|import)\b)|--+|;+|%+|\"\"\"|'''|\"\"\")\s?(?P<text>.*?)\s*(?:\*/)?\s*$"
)
_SENTENCE = re.compile(r"[^\W\d_][^{}\[\]=<>|\\]*\w[.!?。！？]\s*|[^\x00-\x7f]{4,}[^{}=;]*")
_URL = re.compile(r"https?://[^\s\"'<>)]+")
_HEAD_LINES = 40


def looks_like_code(text: str) -> bool:
    """Whether at least half of the lines that are not blank (of the first 400) have the form of program text."""
    lines = [line for line in text[:100_000].splitlines()[:400] if line.strip()]
    hits = sum(1 for line in lines if _CODE_LINE.search(line[:400]) and not _PROSE_ASIDE.search(line[:400]))
    return bool(lines) and hits * 2 >= len(lines)


def is_source_file(text: str, path: str) -> bool:
    """Whether a file is a program: its name ends like one's, and what it holds is one, or at least not notes.

    Many programs do not look like code by their lines: short ones under long comments, languages without signs.
    """
    if _extension(path) not in LANGUAGES or _is_json(text):
        return False
    return looks_like_code(text) or not _reads_like_notes(text)


def _reads_like_notes(text: str) -> bool:
    """Whether a text is notes about a program: a fence, a known label outside comments, or sentences."""
    lines = [line for line in text[:20_000].splitlines() if line.strip()]
    if any(line.lstrip().startswith(("```", "~~~")) for line in lines):
        return True
    bare = [line for line in lines if len(line) < 1000 and _COMMENT.match(line) is None and not line.startswith("'")]
    labelled = any(
        name not in ("other", "source") for line in bare[:40] for name, value in labelled_parts(line) if value
    )
    sentences = sum(_SENTENCE.fullmatch(line) is not None for line in bare)
    return labelled or not bare or 2 * sentences > len(bare)


def _is_json(text: str) -> bool:
    if not text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        return False
    try:
        return isinstance(json.loads(text.lstrip("\ufeff")), (dict, list))
    except (ValueError, RecursionError):
        return False


def draft_of_source_file(text: str, path: str) -> Draft:
    """The submission that a source file is."""
    draft = Draft(reader="source_file", source=text)
    _read_head(text, draft)
    _read_name(path, draft)
    if draft.language is None and _extension(path) in LANGUAGES:
        draft.language = LANGUAGES[_extension(path)]
        draft.notes.append("language by the file's extension")
    return draft


def _extension(path: str) -> str:
    return PurePosixPath(path).suffix.lstrip(".").lower()


def _read_head(text: str, draft: Draft) -> None:
    """Fields and URLs in the comment at the file's head."""
    linked: list[str] = []
    for line in text[:20_000].splitlines()[:_HEAD_LINES]:
        match = _COMMENT.match(line) if len(line) < 1000 else None
        if match is None:
            if line.strip():
                break
            continue
        said = match["text"]
        for name, value in labelled_parts(said.lstrip("@")):
            if name not in ("other", "source"):
                draft.set(name, value)
        for url in _URL.findall(said):
            draft.submission_id = draft.submission_id or submission_in_link(url)
            draft.participant = draft.participant or participant_in_link(url)
            linked += [found for found in [problem_in_link(url)] if found is not None]
    if len(set(linked)) == 1 or draft.problem_id is None:
        # The id in a link goes before the name that is written beside it.
        draft.problem_id = linked[0] if linked else None


def _read_name(path: str, draft: Draft) -> None:
    """Id, result and problem in a file name such as ``ALDS1_1_B_6379609_AC.cpp`` or ``9876543_WA.py``."""
    stem = PurePosixPath(path).name.rsplit(".", 1)[0]
    parts = [part for part in re.split(r"[\s_.,()\[\]-]+", stem) if part]
    numbers = [part for part in parts if re.fullmatch(r"\d{4,12}", part)]
    results = [p for p in parts if (p.isupper() or len(p) > 4) and read_verdict(p, {})[0] not in ("UNKNOWN", "PENDING")]
    if draft.verdict_raw is None and len(results) == 1:
        draft.verdict_raw = results[0]
        draft.notes.append("verdict by the file's name")
    ids = [number for number in numbers if len(number) >= 5] or numbers
    told = len(ids) == 1 and (len(parts) == 1 or bool(results))
    if draft.submission_id is None and told:
        draft.submission_id = ids[0]
        draft.notes.append("submission id by the file's name")
        before = stem.split(ids[0])[0].strip("_-. ")
        if draft.problem_id is None and results and before:
            draft.problem_id = before
            draft.notes.append("problem by the file's name")
