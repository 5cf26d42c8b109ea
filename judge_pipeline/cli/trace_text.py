"""A trace as lines of text: the short form that fits a screen or two, and the full one."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from judge_pipeline.cli.terminal import printable

FEW = 8
"""Rows, judgments and files that the short form lists of each."""

_COLUMNS = 100
"""Width that lists of tables are broken at."""

_OF_A_TRY = (
    "model", "latency_ms", "tokens_in", "tokens_out", "tokens_reasoning", "cost_usd", "finish_reason",
    "provider_request_id", "sent", "re_ask", "error_class", "error_text", "raw_text",
)  # fmt: skip

Found = Mapping[str, Any]


def lines_of(found: Found, *, full: bool = False, groups: Mapping[str, str] | None = None) -> list[str]:
    """The lines of a trace (``orchestration.tracing``), without control characters.

    Args:
        found: the trace.
        full: all rows, prompts and raw answers, instead of the first few rows.
        groups: table -> its group in the UI, by which the tables that a file went into are listed.
    """
    if found["kind"] == "file":
        return [printable(line) for line in _file(found, full, groups or {})]
    make = {"figure": _figure, "attempt": _attempt, "pair": _pair}[found["kind"]]
    return [printable(line) for line in make(found, full)]


def _figure(found: Found, full: bool) -> Iterator[str]:
    figure, counts, rests = found["figure"], found["counts"], found["rests_on"]
    yield f"{figure['words']}: {figure['of'] or 'over all contests and sets'}"
    yield f"  {figure['id']}  ({figure['table']}; anchor {figure['anchor']})"
    yield f"  value {_number(figure['value'])}{_interval(figure['ci95'])}, n {figure['n']:,}{_left(figure)}"
    if figure["reason"]:
        yield f"  {figure['reason']}"
    yield ""
    yield f"Rows: {_counts_in_words(counts, rests)}"
    if rests["answered_too"]:
        yield f"  only what {', '.join(rests['answered_too'])} answered, too, counts; what they said does not matter"
    for part in rests["parts"]:
        if part["rows"]:
            yield from _rows(part, full)
    yield from _judgments(found["judgments"], found["templates"], full)
    yield from _files(found["files"], full)
    yield from _tables(found["tables"])
    yield from _made_from(found["made_from"], found["versions"])


def _counts_in_words(counts: Found, rests: Found) -> str:
    if rests["unlisted"]:
        return f"not listed: {rests['unlisted']}"
    if counts["problem"]:
        return f"DO NOT ADD UP: {counts['problem']}"
    left = "" if counts["n_left_out"] is None else f", and the {counts['n_left_out_listed']:,} left out"
    return f"the {counts['n_listed']:,} {rests['unit']} of n are listed{left}: both add up"


def _rows(part: Found, full: bool) -> Iterator[str]:
    rows = part["rows"]
    title = part["role"] if part["role"] != "rests on it too" else part["words"]
    yield f"  {title}: {part['n']:,}"
    for row in rows if full else rows[:FEW]:
        yield f"    {_row(row)}"
    if not full and len(rows) > FEW:
        yield f"    ... and {len(rows) - FEW:,} more (--full)"


def _row(row: Found) -> str:
    about = row.get("about", {})
    keys = [str(value) for name, value in row.items() if name not in ("about", "why", "counts") and value is not None]
    keys += [f"{row['counts']}x"] if row.get("counts", 1) != 1 else []
    facts = [f"{about[name]}" for name in ("participant", "problem_id") if name in about]
    facts += [f"turn {about['turn']}"] if "turn" in about else []
    facts += [_solved(about)] if "n_turns" in about else []
    facts += [str(about[name]) for name in ("verdict", "split", "category") if name in about]
    facts += [f"chosen {about['w']}"] if "w" in about else []
    facts += [str(about[name]) for name in ("path", "source_file") if name in about]
    why = [row["why"]] if row.get("why") else []
    return "  ".join([" ".join(keys), ", ".join(facts), *why]).rstrip()


def _solved(about: Found) -> str:
    from judge_pipeline.report.trace_page import solved_in_words

    return solved_in_words(about)


def _judgments(judgments: Sequence[Found], templates: Sequence[Found], full: bool) -> Iterator[str]:
    yield ""
    by_judge = Counter(judgment["judge"] for judgment in judgments)
    yield f"Judgments: {len(judgments):,}" + (f" ({_by_name(by_judge)})" if judgments else "")
    shown = judgments if full else judgments[:FEW]
    if any(judgment["kept"] is None for judgment in shown):
        yield "  where no call is kept, it was recorded, fitted or counted, and not asked of a model"
    for judgment in shown:
        yield from _judgment(judgment, full)
    if not full and len(judgments) > FEW:
        yield f"    ... and {len(judgments) - FEW:,} more (--full)"
    for template in templates:
        yield f"  template {template['template']}  sha256 {template['sha256']}  {_template_state(template)}"
        if full and template["text"] is not None:
            yield from (f"    | {line}" for line in template["text"].splitlines())


def _template_state(template: Found) -> str:
    if template["state"] == "same":
        return "the file is as it was"
    return f"the file is {template['state']} since: what was sent is kept with each request, its template is not"


def _judgment(judgment: Found, full: bool) -> Iterator[str]:
    asked = f" [{judgment['asked']}]" if judgment["asked"] else ""
    served = judgment.get("served", ())
    said = f"one request for {len(served):,} entries" if served else _said(judgment["said"], full)
    yield f"  {judgment['judge']} on {judgment['subject']}{asked}: {said}"
    for one in served:
        yield f"    {one['table']} {one['asked']}: {_said(one['said'], full)}"
    kept = judgment["kept"]
    if kept is None:
        yield f"    request {judgment['request_hash'] or 'none'}; no call is kept"
        return
    yield f"    request {kept['request_hash']}; {_tries_in_words(kept['tries'])}"
    if kept["asked_for"] not in (None, judgment["subject"]):
        yield f"    asked for {kept['asked_for']}, whose request is the same"
    if full:
        yield from _whole(kept)


def _said(said: Found, full: bool) -> str:
    return ", ".join(f"{name} {_number(value)}" for name, value in said.items() if full or _is_short(value))


def _whole(kept: Found) -> Iterator[str]:
    for row in kept["tries"]:
        facts = ", ".join(f"{name} {_number(row[name])}" for name in _OF_A_TRY if row[name] is not None)
        yield f"    {row['started_at']} try {row['try_number']}: {facts}"
    if kept["repair"]:
        yield f"    repaired: {kept['repair']}"
    components = kept["components"]
    if components is None:
        yield "    what was sent is not kept"
        return
    sent = {name: value for name, value in components.items() if name not in ("messages", "schema")}
    yield f"    template {kept['template']} {kept['template_sha256']}; {json.dumps(sent, sort_keys=True)}"
    for message in components["messages"]:
        yield f"    --- {message.get('role')} ---"
        yield from (f"    {line}" for line in str(message.get("content", "")).splitlines())


def _tries_in_words(tries: Sequence[Found]) -> str:
    if not tries:
        return "no try is kept"
    known = [row["cost_usd"] for row in tries if row["cost_usd"] is not None]
    cost = f", US$ {sum(known):.6f}" if known else ""
    failed = sum(row["error_class"] is not None for row in tries)
    model = next((row["model"] for row in reversed(tries) if row["model"]), None)
    said = [f"{len(tries)} {'try' if len(tries) == 1 else 'tries'}", *([f"{failed} failed"] if failed else [])]
    return ", ".join([*said, *([str(model)] if model else []), f"at {tries[-1]['started_at']}"]) + cost


def _files(files: Sequence[Found], full: bool) -> Iterator[str]:
    yield ""
    states = Counter(file["state"] for file in files)
    proven = "" if all(file["proven"] for file in files) else "; of some no hash of reading is kept, or proven"
    yield f"Files: {len(files):,}" + (f" ({_by_name(states)}{proven})" if files else "")
    shown = sorted(files, key=lambda file: (file["state"] == "same",))
    for file in shown if full else shown[:FEW]:
        yield f"  {_file_line(file)}"
    if not full and len(files) > FEW:
        yield f"    ... and {len(files) - FEW:,} more (--full)"


def _file_line(file: Found) -> str:
    role = f"  {file['role']}" if file.get("role") else ""
    then = "" if file["state"] != "changed" else f" (read as {file['sha256_read']})"
    sha256 = file["sha256_now"] or file["sha256_read"] or "no hash"
    return f"{file['path']}  sha256 {sha256}  {file['state']}{then}{role}"


def _tables(tables: Sequence[Found]) -> Iterator[str]:
    yield ""
    yield "Way back:"
    for table in tables:
        if table["made_from"]:
            yield from _list_of(f"{table['table']} from", table["made_from"])


def _made_from(made: Found, versions: Found) -> Iterator[str]:
    yield "Made with: " + ", ".join(
        f"{name} {value}"
        for name, value in (
            ("judge_pipeline", versions["package_then"]),
            ("code", versions["code_version"]),
            ("seed", versions["seed"]),
            ("resamples", versions["resamples"]),
        )
        if value is not None
    )
    for name, state in made.get("inputs_now", {}).items():
        if state != "same":
            yield f"  ! table {name} is {state} since the figure was computed"
    for name, sha256 in versions["settings_now"].items():
        yield f"  {name} now: sha256 {sha256}"


def _attempt(found: Found, full: bool) -> Iterator[str]:
    attempt = found["attempt"]
    yield f"Attempt {attempt['attempt_id']} of {attempt['contest']}"
    yield from _facts(attempt, ("attempt_id", "contest"))
    yield from _judgments(found["judgments"], found["templates"], full)
    request = found["request"]
    if full and request is not None:
        yield ""
        yield "As judges are shown it (personal data replaced):"
        yield from (f"  | {line}" for line in str(request.get("source_code", "")).splitlines())
    yield from _files(found["files"], full)
    yield from _touched(found["figures"], found["figures_not_read"], full)


def _pair(found: Found, full: bool) -> Iterator[str]:
    pair = found["pair"]
    yield f"Pair {pair['pair_id']} of {pair['preference_set']}"
    yield from _facts(pair, ("pair_id", "preference_set"))
    yield from _judgments(found["judgments"], found["templates"], full)
    yield from _files(found["files"], full)
    yield from _touched(found["figures"], found["figures_not_read"], full)


def _list_of(title: str, names: Iterable[str]) -> list[str]:
    """A title and names, indented and broken between names."""
    return textwrap.wrap(
        f"{title} {', '.join(names)}", _COLUMNS, initial_indent="  ", subsequent_indent="      ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _by_group(tables: Sequence[str], groups: Mapping[str, str]) -> Iterator[str]:
    yield f"Tables: {len(tables):,}"
    found: dict[str, list[str]] = {}
    for table in tables:
        found.setdefault(groups.get(table, "further"), []).append(table)
    for group, names in sorted(found.items()):
        yield from _list_of(f"{group}:", names)


def _settings(settings: Mapping[str, Found]) -> Iterator[str]:
    from judge_pipeline.report.trace_page import setting_in_words

    yield "  settings: nothing is read from it, and what it sets decides on tables"
    for name, reach in settings.items():
        yield f"    {name}: {setting_in_words(reach)}"


def _file(found: Found, full: bool, groups: Mapping[str, str]) -> Iterator[str]:
    yield f"File {found['file']['path']} of {found['file']['of']}"
    yield f"  {_file_line(found['file'])}"
    if judges := found["file"]["judges_recorded_in_it"]:
        yield f"  answers of {', '.join(judges)} were brought in it"
    if people := found["participants_whose_prompts_it_holds"]:
        yield f"  prompts of {', '.join(people)}"
    if "settings" in found:
        yield from _settings(found["settings"])
        yield ""
        yield from _by_group(found["tables"], groups)
        yield from _touched(found["figures"], found["figures_not_read"], full)
        return
    subjects = found["subjects"]
    yield ""
    yield f"Attempts or pairs read from it: {len(subjects):,}"
    for subject in subjects if full else subjects[:FEW]:
        about = {name: value for name, value in subject.items() if name != "id"}
        yield f"    {_row({'id': subject['id'], 'about': about})}"
    if not full and len(subjects) > FEW:
        yield f"    ... and {len(subjects) - FEW:,} more (--full)"
    yield ""
    by_judge = Counter(judgment["judge"] for judgment in found["judgments"])
    yield f"Judgments of these: {len(found['judgments']):,}" + (f" ({_by_name(by_judge)})" if by_judge else "")
    yield from _by_group(found["tables"], groups)
    yield from _touched(found["figures"], found["figures_not_read"], full)


def _touched(figures: Sequence[Found], unread: Mapping[str, str], full: bool) -> Iterator[str]:
    yield ""
    yield f"Figures: {len(figures):,}"
    for table, why in unread.items():
        yield f"  ! NOT LISTED are those of {table}, which was not read: {why}"
    groups: dict[tuple[str, str, str], list[Found]] = {}
    for figure in figures:
        groups.setdefault((figure["role"], figure["of"] or "over all", figure["table"]), []).append(figure)
    for (role, of, table), group in groups.items():
        yield f"  {role}: {len(group):,} of {table} ({of})"
        for figure in group if full else ():
            yield f"    {figure['id']}  {_number(figure['value'])}{_interval(figure['ci95'])}, n {figure['n']:,}"
    if not full and figures:
        yield "  (--full names each of them)"


def _facts(record: Found, left_out: Sequence[str]) -> Iterator[str]:
    for name, value in record.items():
        if name not in left_out:
            yield f"  {name} {_number(value)}"


def _left(figure: Found) -> str:
    return f", {figure['n_left_out']:,} left out" if figure["n_left_out"] else ""


def _interval(ci95: Sequence[float] | None) -> str:
    return "" if ci95 is None else f" (95% {_number(ci95[0])} to {_number(ci95[1])})"


def _number(value: Any) -> str:
    if value is None:
        return "undefined"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _is_short(value: Any) -> bool:
    return not isinstance(value, str) or len(value) <= 24


def _by_name(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in sorted(counts.items()))
