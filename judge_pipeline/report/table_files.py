"""Tables of the report as files: CSV for spreadsheets and scripts, LaTeX (booktabs) for papers.

Names in the cells are untrusted. A text cell of a CSV file never begins with what a spreadsheet would run as a formula,
and no character of a cell means anything to LaTeX.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.style import clean
from judge_pipeline.report.view import Cell, View

FILE_NAMES = {
    "overview": "table-1-counts",
    "scores": "table-4-judges",
    "agreement-summary": "table-5a-agreement",
    "agreement-pairs": "table-5b-agreement-of-pairs",
}
"""File names of the tables that paper 1 numbers; the others are called as in the page."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")
"""What a text cell must not begin with: spreadsheets run it as a formula, or read it as a command."""

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\symbol{34}", "'": r"\textquotesingle{}", "`": r"\textasciigrave{}", "[": "{[}",
    "]": "{]}", "κ": r"$\kappa$", "α": r"$\alpha$", "ρ": r"$\rho$", "τ": r"$\tau$", "λ": r"$\lambda$",
    "μ": r"$\mu$", "σ": r"$\sigma$", "π": r"$\pi$", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "→": r"$\to$",
    "≥": r"$\geq$", "≤": r"$\leq$", "−": "$-$", "–": r"\textendash{}", "—": r"\textemdash{}",
    "·": r"$\cdot$", "…": r"\ldots{}", "*": "{*}",
}  # fmt: skip
"""What LaTeX gives a meaning to, or has in no text font; a bracket or asterisk must not follow a line break bare."""

_MINUS = re.compile(r"(?<![\w.])-(?=\d)")


def table_files(views: Iterable[View]) -> dict[str, str]:
    """File name -> text of each table that has rows, as .csv and as .tex."""
    files: dict[str, str] = {}
    for view in views:
        if view.rows:
            stem = FILE_NAMES.get(view.name, view.name)
            files[f"{stem}.csv"] = csv_text(view)
            files[f"{stem}.tex"] = latex_text(view)
    return files


def csv_text(view: View) -> str:
    """The table as CSV (comma, quotes doubled, UTF-8, newline), all rows, estimates with all their digits."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(csv_rows(view))
    return stream.getvalue()


def csv_rows(view: View) -> list[list[str]]:
    """Heading and rows of the CSV file, in the order of the table's rows.

    A column of estimates becomes several: the value, both ends of its interval, n, how many were left out, and the
    notes. What stands in small print in a cell gets a column of its own.
    """
    columns = [_columns(view, place) for place in range(len(view.headings)) if not view.headings[place].of_estimate]
    return [[guarded(cell) for column in columns for cell in column[row]] for row in range(len(view.rows) + 1)]


def guarded(text: str) -> str:
    """The text on one line; where a spreadsheet would take it for a formula, with an apostrophe before it."""
    line = clean(text)
    try:
        float(line)
    except ValueError:
        return f"'{line}" if line.startswith(_FORMULA) or line.lstrip().startswith(_FORMULA) else line
    return line


def latex_text(view: View) -> str:
    """The table as LaTeX: a ``table`` environment with the rules of booktabs, all rows, its notes below."""
    numbered = view.numbered
    form = "".join("r" if heading.numeric else "l" for heading in view.headings)
    lines = [
        "% needs \\usepackage{booktabs,textcomp} and, for names in other scripts, a font that has them",
        "\\begin{table}",
        "\\centering\\footnotesize",
        f"\\caption{{{escaped(view.caption)}}}",
        f"\\label{{tab:{re.sub('[^a-z0-9-]', '-', view.name)}}}",
        f"\\begin{{tabular}}{{{form}}}",
        "\\toprule",
        _line([escaped(heading.text) for heading in view.headings]),
        "\\midrule",
        *(_line([_latex_cell(cell, numbered) for cell in row]) for row in view.rows),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    notes = [f"\\textsuperscript{{{numbered[mark]}}} {escaped(view.notes[mark - 1])}." for mark in numbered]
    notes += [f"Everywhere in this table: {escaped('; '.join(view.common))}."] if view.common else []
    notes += [escaped(remark) for remark in view.remarks]
    if notes:
        lines += ["\\par\\smallskip", "\\begin{minipage}{0.9\\linewidth}\\raggedright\\scriptsize"]
        lines += [f"{note}\\par" for note in notes] + ["\\end{minipage}"]
    return "\n".join([*lines, "\\end{table}", ""])


def escaped(text: str) -> str:
    """Text as LaTeX that prints exactly this text on one line."""
    line = "".join(_LATEX.get(character, character) for character in clean(text).replace("\u00a0", " "))
    return re.sub(r"([-,])(?=\1)", r"\1{}", line)  # two hyphens or commas in a row would become one other character


def _line(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _latex_cell(cell: Cell, numbered: dict[int, int]) -> str:
    marks = ",".join(str(numbered[mark]) for mark in cell.marks if mark in numbered)
    tags = f" ({', '.join(cell.tags)})" if cell.tags else ""
    first = escaped(f"{cell.text}{tags}") + (f"\\textsuperscript{{{marks}}}" if marks else "")
    if not cell.below:
        return _MINUS.sub("$-$", first) if cell.numeric else first
    rest = [f"{{\\scriptsize {escaped(line)}}}" for line in cell.below]
    stack = "\\\\{}".join([first, *rest])
    stack = _MINUS.sub("$-$", stack) if cell.numeric else stack
    return f"\\shortstack[{'r' if cell.numeric else 'l'}]{{{stack}}}"


def _columns(view: View, place: int) -> list[list[str]]:
    """One column of the table as the columns of the file: for its heading and for each row, the texts."""
    cells = [row[place] for row in view.rows]
    heading = view.headings[place].text.replace("\u00a0", " ") or "what"
    parts = [(heading, [_main(cell) for cell in cells])]
    if any(cell.estimate is not None for cell in cells):
        for name, texts in _estimate_parts(cells).items():
            parts.append((f"{heading}, {name}", texts))
    else:
        parts.append((f"{heading}, tags", ["; ".join(cell.tags) for cell in cells]))
        parts.append((f"{heading}, notes", [_notes(view, cell) for cell in cells]))
    further = ["; ".join(cell.further if cell.estimate is not None else cell.below) for cell in cells]
    parts.append((f"{heading}, further", further))
    kept = [parts[0], *(part for part in parts[1:] if any(part[1]))]
    return [[name for name, _ in kept], *(list(row) for row in zip(*(texts for _, texts in kept), strict=True))]


def _main(cell: Cell) -> str:
    """The value with all its digits; the text where the cell holds none. Counts lose the commas between thousands."""
    if cell.estimate is not None:
        return "" if cell.estimate.value is None else repr(cell.estimate.value)
    bare = cell.text.replace(",", "")
    return bare if cell.numeric and bare.isdecimal() else cell.text


def _estimate_parts(cells: Sequence[Cell]) -> dict[str, list[str]]:
    found = [cell.estimate or Estimate.undefined("not computed") for cell in cells]
    return {
        "95% low": ["" if e.ci95 is None else repr(e.ci95[0]) for e in found],
        "95% high": ["" if e.ci95 is None else repr(e.ci95[1]) for e in found],
        "n": [str(e.n) for e in found],
        "left out": [str(e.n_left_out) if any(other.n_left_out for other in found) else "" for e in found],
        "notes": [e.reason or "" for e in found],
    }


def _notes(view: View, cell: Cell) -> str:
    return "; ".join(view.notes[mark - 1] for mark in cell.marks)
