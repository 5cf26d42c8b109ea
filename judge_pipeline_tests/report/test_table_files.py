"""Files of tables: numbers come back with all digits, and no name in a cell can become a formula or a LaTeX command."""

from __future__ import annotations

import csv
import io
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.style import clean
from judge_pipeline.report.cocreation_report import cocreation_views
from judge_pipeline.report.table_files import csv_rows, csv_text, escaped, guarded, latex_text, table_files
from judge_pipeline.report.view import Cell, Heading, View
from judge_pipeline_tests.report.made_tables import HOSTILE, Made, made_tables
from judge_pipeline_tests.report.test_cocreation_report import PROVENANCE

FORMULAS = ("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", " =1", '=HYPERLINK("http://evil.invalid")', "%0A")
SPECIAL = {
    r"\textbackslash{}": "\\", r"\{": "{", r"\}": "}", r"\$": "$", r"\&": "&", r"\#": "#", r"\%": "%", r"\_": "_",
    r"\textasciicircum{}": "^", r"\textasciitilde{}": "~", r"\textless{}": "<", r"\textgreater{}": ">",
    r"\textbar{}": "|", r"\symbol{34}": '"', r"\textquotesingle{}": "'", r"\textasciigrave{}": "`", "{[}": "[",
    "{]}": "]", "{*}": "*",
}  # fmt: skip


def made(name: str = "a judge") -> View:
    view = View("scores", "Each judge", (Heading("Judge"), Heading("ROC-AUC\u00a0↑", numeric=True)))
    estimate = Estimate(0.1 + 0.2, 36, 2, (-0.25, 1 / 3), "few clusters")
    view.rows = [
        [Cell(name, tags=("simulated",)), view.estimate(estimate, further=("4 clipped",))],
        [Cell("b"), view.estimate(Estimate.undefined("one class", 36))],
    ]
    return view


def read(view: View) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(csv_text(view)), keep_default_na=False, dtype=str)


def test_an_estimate_comes_back_from_csv_with_all_its_digits_and_reason() -> None:
    table = read(made())
    assert list(table.columns) == [
        "Judge", "Judge, tags", "ROC-AUC ↑", "ROC-AUC ↑, 95% low", "ROC-AUC ↑, 95% high", "ROC-AUC ↑, n",
        "ROC-AUC ↑, left out", "ROC-AUC ↑, notes", "ROC-AUC ↑, further",
    ]  # fmt: skip
    first, second = table.to_dict("records")
    assert float(first["ROC-AUC ↑"]) == 0.1 + 0.2
    assert float(first["ROC-AUC ↑, 95% high"]) == 1 / 3
    assert first["ROC-AUC ↑, further"] == "4 clipped"
    assert (second["ROC-AUC ↑"], second["ROC-AUC ↑, notes"]) == ("", "one class")


@pytest.mark.parametrize("text", FORMULAS)
def test_no_text_cell_is_a_formula(text: str) -> None:
    assert read(made(text)).loc[0, "Judge"].startswith("'")


@given(st.text())
def test_a_guarded_text_is_one_line_and_no_formula(text: str) -> None:
    found = guarded(text)
    assert found.isprintable() or "\u00a0" in found
    try:
        float(found)
    except ValueError:
        assert not found.strip().startswith(("=", "+", "-", "@"))
    assert found.removeprefix("'").endswith(clean(text).removeprefix("'"))


def test_every_row_of_a_file_has_as_many_cells_as_its_heading() -> None:
    hostile = Made(judges=(f"simulated-{HOSTILE}", HOSTILE, "=c"), participants=20)
    views = cocreation_views(made_tables(hostile), PROVENANCE)
    assert sum(bool(view.rows) for view in views) >= 9
    for view in views:
        if view.rows:
            rows = csv_rows(view)
            assert {len(row) for row in rows} == {len(rows[0])}
            assert len(rows) == len(view.rows) + 1
            assert list(csv.reader(io.StringIO(csv_text(view)))) == rows


def unescaped(latex: str) -> str:
    """What LaTeX prints of it; fails on anything that is still a command, a group or a special character."""
    out, rest = "", latex
    while rest:
        for command, character in SPECIAL.items():
            if rest.startswith(command):
                out, rest = out + character, rest[len(command) :]
                break
        else:
            for symbol, character in ((r"$\kappa$", "κ"), (r"\ldots{}", "…"), ("-{}", "-"), (",{}", ",")):
                if rest.startswith(symbol):
                    out, rest = out + character, rest[len(symbol) :]
                    break
            else:
                assert rest[0] not in "\\{}$&#%_^~<>|\"'`[]*", latex
                out, rest = out + rest[0], rest[1:]
    return out


@given(
    st.text(
        alphabet=st.characters(codec="utf-8", exclude_characters="ακρτλμσπ↑↓→≥≤−–—·…\u00a0")
        | st.sampled_from("\\{}$&#%_^~<>|\"'`[]*-,…κ")
    )
)
def test_any_text_is_printed_by_latex_as_it_is(text: str) -> None:
    latex = escaped(text)
    assert unescaped(latex) == clean(text)
    assert "--" not in latex and ",," not in latex and "\n" not in latex


@given(st.text(max_size=30), st.text(max_size=30))
def test_a_latex_table_keeps_its_shape_whatever_is_in_its_cells(name: str, caption: str) -> None:
    view = made(name)
    view.caption = caption
    text = latex_text(view)
    bare = re.sub(r"\\[{}\\%&]", "", text)
    depth = 0
    for character in bare:
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0
    begun = re.findall(r"\\begin\{(\w+)\}", text)
    assert begun == ["table", "tabular", "minipage"]
    assert sorted(re.findall(r"\\end\{(\w+)\}", text)) == sorted(begun)
    body = text.split("\\midrule\n")[1].split("\n\\bottomrule")[0].splitlines()
    assert len(body) == 2
    assert all(len(re.findall(r"(?<!\\)&", line)) == 1 and line.endswith(" \\\\") for line in body)


def test_the_papers_tables_have_its_numbers_in_their_file_names() -> None:
    files = table_files(cocreation_views(made_tables(), PROVENANCE))
    for stem in ("table-1-counts", "table-4-judges", "table-5a-agreement", "table-5b-agreement-of-pairs", "decisions"):
        assert f"{stem}.csv" in files
        assert files[f"{stem}.tex"].count("\\toprule") == 1
