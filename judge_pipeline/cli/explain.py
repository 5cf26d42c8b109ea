"""``judge-pipeline explain``: why a judge was or was not asked again about an attempt, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judge_pipeline.settings import Workspace
from judge_pipeline.settings.yaml_file import SettingsError

if TYPE_CHECKING:
    from judge_pipeline.judging.explain import Explanation
    from judge_pipeline.orchestration.explained_attempt import ExplainedAttempt

_OF_A_TRY = ("latency_ms", "tokens_in", "tokens_out", "tokens_reasoning", "cost_usd", "finish_reason", "model")


@click.command()
@click.argument("attempt_id")
@click.option("--judge", required=True, help="The judge, as judges.yaml names it.")
@click.option("--contest", help="The attempt's contest (default: the one whose requests hold it).")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where results lie (default: var/).")
@click.option("--json", "as_json", is_flag=True, help="One JSON object with everything.")
def explain(attempt_id: str, judge: str, contest: str | None, out: Path | None, as_json: bool) -> int:
    """Explain what JUDGE was asked about ATTEMPT_ID, and what became of it.

    Shows why it was or was not asked again (which component of the request changed), the exact prompt, every try
    with its raw text or error, every repair, and the row that the figures used. Asks nothing.
    """
    from judge_pipeline.judging.failures import JudgingError
    from judge_pipeline.orchestration.explained_attempt import contests_with, explain_attempt

    workspace = Workspace.find()
    workspace = replace(workspace, out_dir=out.resolve()) if out else workspace
    workspace.judges().get(judge)
    found = [contest] if contest else contests_with(workspace, attempt_id)
    if len(found) != 1:
        what = f"is in several contests: {', '.join(found)}; name one with --contest" if found else "is in no contest"
        raise click.BadParameter(f"{attempt_id!r} {what}", param_hint="ATTEMPT_ID")
    try:
        explained = explain_attempt(workspace, found[0], judge, attempt_id)
    except (JudgingError, FileNotFoundError) as error:
        raise SettingsError(str(error)) from None
    if as_json:
        click.echo(json.dumps(asdict(explained), ensure_ascii=False, indent=2, default=str))
    else:
        for line in _lines(explained, judge, attempt_id):
            click.echo(line)
    return 0


def _lines(explained: ExplainedAttempt, judge: str, attempt_id: str) -> list[str]:
    lines = [f"Judge {judge}, contest {explained.contest}, attempt {attempt_id}"]
    if explained.explanation is None:
        lines += ["", "This judge is not asked call by call: there is no prompt and there are no tries."]
    else:
        lines += _asked(explained.explanation)
    lines += ["", f"Figures: {explained.use}"]
    for title, row in (("row of judge_outputs", explained.judgment), ("row of predictions", explained.prediction)):
        lines += [f"  {title}:", *_fields(row)] if row else [f"  {title}: none"]
    return [_printable(line) for line in lines]


def _asked(explanation: Explanation) -> list[str]:
    lines = [f"Request {explanation.request_hash or '-'}", f"State: {explanation.state}: {explanation.why}"]
    if explanation.asked_for not in (None, explanation.attempt_id):
        lines.append(f"Asked for attempt {explanation.asked_for}, whose request is the same")
    for earlier in explanation.earlier:
        answered = "answered" if earlier.answered else "not answered"
        lines += ["", f"Earlier request {earlier.request_hash} ({answered}; template {earlier.template}); since then:"]
        for change in earlier.changes:
            lines += [f"  {change.component}", *_side("-", change.then), *_side("+", change.now)]
    lines += ["", f"Sent with: {json.dumps(explanation.parameters, ensure_ascii=False, sort_keys=True)}"]
    for message in explanation.messages:
        lines += [f"--- {message.role} ---", *message.content.splitlines()]
    lines += ["", f"Tries: {len(explanation.tries)}"]
    for row in explanation.tries:
        lines += _try(row, explanation.request_hash)
    if explanation.answer is not None:
        lines += ["", f"Answer: {json.dumps(explanation.answer, ensure_ascii=False)}"]
        lines.append(f"Repair: {explanation.repair or 'none was needed'}")
    for number, further in enumerate(explanation.repeats, start=2):
        lines.append(f"Repeat {number}: {json.dumps(further, ensure_ascii=False) if further else 'no answer'}")
    return lines


def _try(row: Mapping[str, Any], today: str | None) -> list[str]:
    which = "this request" if row["request_hash"] == today else f"request {row['request_hash'][:12]}"
    facts = ", ".join(f"{name} {row[name]}" for name in _OF_A_TRY if row[name] is not None)
    lines = [f"  {row['started_at']} try {row['try_number']}, {which}: {facts}"]
    for name in ("provider_request_id", "sent", "re_ask", "error_class", "error_text", "raw_text"):
        if row[name] is not None:
            lines.append(f"    {name}: {row[name]}")
    return lines


def _side(mark: str, value: Any) -> list[str]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return [f"    {mark} {line}" for line in text.splitlines()]


def _fields(row: Mapping[str, Any]) -> list[str]:
    return [f"    {name}: {value}" for name, value in row.items() if value is not None]


def _printable(line: str) -> str:
    """The line without control characters: what a model or a participant wrote must not steer the terminal."""
    return "".join(c if c.isprintable() or c in "\t\n" else "\ufffd" for c in line)
