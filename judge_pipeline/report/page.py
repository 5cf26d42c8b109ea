"""A self-contained page: style, scripts and figures inlined, and a policy that lets nothing else run or load.

The Content-Security-Policy names every script by its hash, so that a script smuggled in through untrusted text would
not run even if escaping failed, and allows no connection at all. plotly.js writes style attributes, so inline styles
are allowed; images may be data or blob, which saving a figure as PNG needs.

Many small pages in one folder may share the drawing library as a file beside them: then a script that is named by its
hash loads it (``strict-dynamic``), and markup still cannot.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from judge_pipeline.figures.style import DrawnFigure, clean
from judge_pipeline.report.table_files import FILE_NAMES, csv_rows
from judge_pipeline.report.view import View

_FOLDER = "templates"


def render(
    template: str,
    figures: Sequence[DrawnFigure],
    context: Mapping[str, Any],
    views: Sequence[View] = (),
    further_scripts: Sequence[str] = (),
    library_beside: str | None = None,
) -> str:
    """The page of a template, with the figures' data, the tables' and the scripts that draw, sort and save them.

    Args:
        template: file name in ``report/templates``; it extends ``page.html.j2``.
        figures: all figures of the page; the template places them.
        context: what the template is given besides. Text is escaped wherever it is shown.
        views: all tables of the page, for sorting and saving; the template places them.
        further_scripts: files in ``report/templates`` that the page runs besides.
        library_beside: name of the file beside the page that holds ``plotly_js``; None: the page holds it itself.

    Returns:
        HTML in UTF-8, the same for the same input.
    """
    drawn = any(figure.figure is not None for figure in figures)
    drawing = _drawing(library_beside) if drawn else []
    scripts = [_asset("tables.js"), *drawing, *map(_asset, further_scripts)]
    shown = [view for view in views if view.rows]
    return _environment().get_template(template).render(
        **context,
        policy=content_security_policy(scripts, loads=drawn and library_beside is not None),
        style=_as_is(_asset("report.css")),
        scripts=[_as_is(code) for code in scripts],
        views={view.name: view for view in views},
        table_data=_as_is(safe_json({view.name: table_data(view) for view in shown})),
        figure_data=_as_is(safe_json({f.name: figure_json(f) for f in figures if f.figure is not None})),
    )  # fmt: skip


def content_security_policy(scripts: Sequence[str], loads: bool = False) -> str:
    """A policy under which these scripts run, and nothing is loaded but, if ``loads``, the scripts that they load."""
    allowed = " ".join(f"'sha256-{_sha256(code)}'" for code in scripts) or "'none'"
    allowed += " 'strict-dynamic'" if loads else ""
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def figure_json(figure: DrawnFigure) -> dict[str, Any]:
    """A figure's data and layout as plain values; the page prints title and subtitle itself."""
    assert figure.figure is not None
    spec = json.loads(figure.figure.to_json(engine="json"))
    spec["layout"].pop("title", None)
    return {"data": spec["data"], "layout": spec["layout"]}


def table_data(view: View) -> dict[str, Any]:
    """What the page saves of a table (the rows that it shows), and what it sorts them by."""
    rows = csv_rows(view)[: len(view.shown) + 1]
    return {
        "file": f"{FILE_NAMES.get(view.name, view.name)}.csv",
        "rows": rows,
        "keys": [[cell.sort_key for cell in row] for row in view.shown],
    }


def safe_json(value: Any) -> str:
    """JSON that can stand inside a script element: no character of it can end the element or open another."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def plotly_js() -> str:
    """The drawing library as shipped with the plotly package."""
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def _drawing(library_beside: str | None) -> list[str]:
    """The scripts that draw: the library and what calls it, or one that loads the library first."""
    script = _asset("report.js")
    if library_beside is None:
        return [plotly_js(), script]
    loader = _asset("library.js")
    return [f"{loader}withLibrary({safe_json(library_beside)}, () => {{\n{script}}});\n"]


def _sha256(code: str) -> str:
    return base64.b64encode(hashlib.sha256(code.encode("utf-8")).digest()).decode("ascii")


@cache
def _asset(name: str) -> str:
    return (resources.files("judge_pipeline.report") / _FOLDER / name).read_text(encoding="utf-8")


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("judge_pipeline.report", _FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_tidy,
    )


def _as_is(text: str) -> Markup:
    """Text that is shown without escaping: our own style and scripts, and JSON made harmless by ``safe_json``."""
    return Markup(text)  # noqa: S704


def _tidy(value: Any) -> Any:
    """Text without control characters, which HTML does not allow; markup made here stays as it is."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value
