"""A trace as a page of its own: a figure home, or an attempt, a pair or a file to its figures.

Nothing on it is loaded or run from outside; every text is escaped. Of long lists the page shows the first, and says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge_pipeline.figures.estimates import format_number
from judge_pipeline.report.page import render

TEMPLATE = "trace.html.j2"

MAX_ROWS, MAX_JUDGMENTS, MAX_FILES, MAX_FIGURES = 500, 100, 500, 1000
"""How many of each a page shows."""

MAX_MESSAGE_CHARS, MAX_RAW_CHARS = 40_000, 8_000
"""Characters of a message that was sent, and of an answer as it came, that a page shows."""

Found = Mapping[str, Any]

MOST_NAMED = 8
"""Tables that are named one by one where a setting decides on them."""

_TITLES = {"figure": "Figure", "attempt": "Attempt", "pair": "Pair", "file": "File"}
_NOT_FACTS = ("attempt_id", "pair_id", "contest", "preference_set", "judges_recorded_in_it", "kind", "of")


@dataclass(frozen=True, slots=True)
class Listed:
    """The first of a list, and how many there are in all."""

    shown: Sequence[Any]
    n_all: int

    @property
    def more(self) -> int:
        """How many are not shown."""
        return self.n_all - len(self.shown)


def trace_html(found: Found) -> str:
    """The page of a trace.

    Args:
        found: the trace, as ``orchestration.tracing`` makes it.

    Returns:
        HTML in UTF-8, the same for the same trace.
    """
    kind = found["kind"]
    context = {
        "kind": _TITLES[kind],
        "title": _title(found),
        "where": _where(found),
        "lead": _lead(found) if kind == "figure" else "",
        "figure": found.get("figure"),
        "counts": found.get("counts"),
        "facts": [] if kind == "figure" else [*_facts(found[kind]), *_settings(found), *_not_read(found)],
        "parts": [_part(part) for part in found["rests_on"]["parts"] if part["rows"]] if kind == "figure" else [],
        "unlisted": found["rests_on"]["unlisted"] if kind == "figure" else None,
        "answered_too": found["rests_on"]["answered_too"] if kind == "figure" else [],
        "subjects": _first([_row(s) for s in found.get("subjects", [])], MAX_ROWS),
        "judgments": _first([_judgment(j) for j in found["judgments"][:MAX_JUDGMENTS]], MAX_JUDGMENTS,
                            len(found["judgments"])),
        "templates": found.get("templates", []),
        "files": _first(found.get("files", []), MAX_FILES),
        "touched": _touched(found.get("figures", [])),
        "n_touched": len(found.get("figures", [])),
        "tables": found.get("tables", []) if kind == "figure" else [],
        "names_of_tables": found.get("tables", []) if kind == "file" else [],
        "made_from": _made_from(found.get("made_from", {})),
        "versions": {name: value for name, value in _versions(found["versions"]).items() if value is not None},
        "provenance": {"code_version": found["versions"]["code_version"] or found["versions"]["package_now"]},
    }  # fmt: skip
    return render(TEMPLATE, [], context)


def _title(found: Found) -> str:
    kind = found["kind"]
    if kind == "figure":
        return str(found["figure"]["words"])
    return str(found[kind][{"attempt": "attempt_id", "pair": "pair_id", "file": "path"}[kind]])


def _where(found: Found) -> str:
    kind = found["kind"]
    given = found[kind]
    of = {"figure": "of", "attempt": "contest", "pair": "preference_set", "file": "of"}[kind]
    return str(given[of] or "over all contests and sets")


def _lead(found: Found) -> str:
    figure = found["figure"]
    value = figure_value(figure["value"], whole=figure["ci95"] is None)
    ends = (
        "" if figure["ci95"] is None else f", 95% interval {number(figure['ci95'][0])} to {number(figure['ci95'][1])}"
    )
    left = f", {figure['n_left_out']:,} left out" if figure["n_left_out"] else ""
    return f"{value}{ends}, n = {figure['n']:,}{left}"


def figure_value(value: float | None, whole: bool) -> str:
    """A figure's value as pages show it.

    Args:
        value: null where it is undefined.
        whole: whether a whole number, such as a count, is shown without decimals.
    """
    if value is None:
        return "undefined"
    return f"{value:,.0f}" if whole and float(value).is_integer() else number(value)


def number(value: Any) -> str:
    """A number as pages show it; other values as text."""
    return format_number(value, 4) if isinstance(value, float) else str(value)


def solved_in_words(about: Found) -> str:
    """When a trajectory was solved."""
    n, first = about["n_turns"], about["first_ac_turn"]
    return f"{n} {'turn' if n == 1 else 'turns'}, " + (
        "none accepted" if first is None else f"first accepted at turn {first}"
    )


def setting_in_words(reach: Found) -> str:
    """What a setting of a traced file decides on."""
    first, tables = reach["first"], reach["tables"]
    if not tables:
        return "no table; words and pages alone"
    named = ", ".join(first) if len(first) <= MOST_NAMED else f"{len(first):,} tables of figures"
    further = len(tables) - len(first)
    return named + (f", and {further:,} tables made from them" if further else "")


def _settings(found: Found) -> list[tuple[str, str]]:
    return [(f"sets {name}", setting_in_words(reach)) for name, reach in found.get("settings", {}).items()]


def _facts(record: Found) -> list[tuple[str, str]]:
    return [
        (name.replace("_", " "), number(value))
        for name, value in record.items()
        if name not in _NOT_FACTS and value is not None
    ]


def _not_read(found: Found) -> list[tuple[str, str]]:
    return [(f"figures of {table}", f"not listed: {why}") for table, why in found.get("figures_not_read", {}).items()]


def _part(part: Found) -> dict[str, Any]:
    rows = [_row(row) for row in part["rows"][:MAX_ROWS]]
    title = {"counted": "Counted in n", "left out": "Left out"}.get(part["role"], part["words"])
    return {"title": title, "n": part["n"], "rows": _first(rows, MAX_ROWS, len(part["rows"]))}


def _row(row: Found) -> dict[str, str]:
    about = row.get("about", row)
    keys = [str(v) for k, v in row.items() if k not in ("about", "why", "counts", *about) and v is not None]
    what = [str(about[name]) for name in ("participant", "problem_id", "category") if name in about]
    what += [f"turn {about['turn']}"] if "turn" in about else []
    what += [solved_in_words(about)] if "n_turns" in about else []
    label = about.get("verdict", about.get("w", ""))
    return {
        "key": " ".join(keys) or str(row.get("id", "")),
        "what": ", ".join(what),
        "label": str(label),
        "split": str(about.get("split", "")),
        "file": str(about.get("path", about.get("source_file", ""))),
        "why": str(row.get("why") or (f"counts {row['counts']} times" if row.get("counts", 1) != 1 else "")),
    }


def _judgment(judgment: Found) -> dict[str, Any]:
    kept = judgment.get("kept")
    served = judgment.get("served", [])
    return {
        "judge": judgment["judge"],
        "subject": judgment["subject"],
        "asked": judgment["asked"],
        "said": f"one request for {len(served):,} entries" if served else _said(judgment["said"]),
        "served": [(f"{one['table']} {one['asked']}".strip(), _said(one["said"])) for one in served],
        "request": judgment["request_hash"],
        "asked_for": kept["asked_for"] if kept and kept["asked_for"] != judgment["subject"] else None,
        "tries": [_try(row) for row in kept["tries"]] if kept else [],
        "template": f"{kept['template']} {kept['template_sha256']}" if kept and kept["template"] else None,
        "sent": _sent(kept["components"]) if kept and kept["components"] else None,
        "messages": _messages(kept["components"]) if kept and kept["components"] else [],
    }


def _said(said: Found) -> str:
    return ", ".join(f"{name} {number(value)}" for name, value in said.items())


def _try(row: Found) -> dict[str, str]:
    names = ("model", "latency_ms", "tokens_in", "tokens_out", "cost_usd", "finish_reason", "error_class", "error_text")
    facts = [f"{name} {number(row[name])}" for name in names if row[name] is not None]
    return {
        "at": str(row["started_at"]),
        "facts": ", ".join([f"try {row['try_number']}", *facts]),
        "raw": cut(row["raw_text"] or "", MAX_RAW_CHARS),
    }


def _sent(components: Found) -> str:
    given = {name: value for name, value in components.items() if name not in ("messages", "schema")}
    return json.dumps(given, ensure_ascii=False, sort_keys=True)


def _messages(components: Found) -> list[dict[str, str]]:
    return [
        {"role": str(message.get("role")), "content": cut(str(message.get("content", "")), MAX_MESSAGE_CHARS)}
        for message in components["messages"]
    ]


def cut(text: str, most: int) -> str:
    """The text, or its beginning with a word on how long it is."""
    return text if len(text) <= most else f"{text[:most]}\n... the first {most:,} of {len(text):,} characters"


def _touched(figures: Sequence[Found]) -> list[dict[str, Any]]:
    groups: dict[tuple[str, str, str], list[Found]] = {}
    for figure in figures:
        groups.setdefault((figure["role"], figure["of"] or "over all", figure["table"]), []).append(figure)
    left = MAX_FIGURES
    found = []
    for (role, of, table), group in groups.items():
        lines = [f"{figure['words']}: {_short(figure)}" for figure in group[: max(0, left)]]
        left -= len(lines)
        found.append({"role": role, "of": of, "table": table, "figures": _first(lines, len(lines), len(group))})
    return found


def _short(figure: Found) -> str:
    return f"{figure_value(figure['value'], whole=figure['ci95'] is None)}, n = {figure['n']:,}"


def _made_from(made: Found) -> list[tuple[str, str]]:
    now = made.get("inputs_now", {})
    found = [(name, f"{sha256}{_state(now.get(name))}") for name, sha256 in (made.get("data") or {}).items()]
    for judge, facts in (made.get("judges") or {}).items():
        shown = {name: value for name, value in facts.items() if value is not None}
        found.append((judge, ", ".join(f"{name} {value}" for name, value in shown.items())))
    return found


def _state(state: str | None) -> str:
    return {None: "", "same": " (as stored now)"}.get(state, f" ({state} since)")


def _versions(versions: Found) -> dict[str, Any]:
    settings = {f"{name}, sha256 now": sha256 for name, sha256 in versions["settings_now"].items()}
    named = {"judge_pipeline": "package_then", "code": "code_version", "seed": "seed", "resamples": "resamples"}
    return {**{words: versions[name] for words, name in named.items()}, **settings}


def _first(given: Sequence[Any], most: int, n_all: int | None = None) -> Listed:
    return Listed(given[:most], len(given) if n_all is None else n_all)
