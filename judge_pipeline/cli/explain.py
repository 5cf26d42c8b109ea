"""``judge-pipeline explain``: why a judge was or was not asked again about an attempt, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judge_pipeline.cli.terminal import printable
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.yaml_file import SettingsError

if TYPE_CHECKING:
    from judge_pipeline.judging.checkpoint.rows import Spent
    from judge_pipeline.judging.explain import EarlierRequest, Explanation
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
    from judge_pipeline.orchestration.explained_attempt import contests_with, explain_attempt, why_in_no_contest

    workspace = Workspace.find()
    workspace = replace(workspace, out_dir=out.resolve()) if out else workspace
    workspace.judges().get(judge)
    found = [contest] if contest else contests_with(workspace, attempt_id)
    if len(found) != 1:
        several = f"is in several contests: {', '.join(found)}; name one with --contest"
        what = several if found else why_in_no_contest(workspace, attempt_id)
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
        lines += ["This judge is not asked call by call: there is no prompt and there are no tries."]
        lines += [f"Its judgment: {explained.source}"]
    else:
        lines += _asked(explained.explanation)
    lines += ["", f"Figures: {explained.use}"]
    for title, row in (("row of judge_outputs", explained.judgment), ("row of predictions", explained.prediction)):
        lines += [f"  {title}:", *_fields(row)] if row else [f"  {title}: none"]
    return [printable(line) for line in lines]


def _asked(explanation: Explanation) -> list[str]:
    lines = [f"Request {explanation.request_hash or '-'}", f"State: {explanation.state}: {explanation.why}"]
    if explanation.asked_for not in (None, explanation.attempt_id):
        lines.append(f"Asked for attempt {explanation.asked_for}, whose request is the same")
    for earlier in explanation.earlier:
        lines += _earlier(earlier, is_today=explanation.request_hash is not None)
    if explanation.request_hash is not None:
        lines += ["", f"Sent with: {json.dumps(explanation.parameters, ensure_ascii=False, sort_keys=True)}"]
    for message in explanation.messages:
        lines += [f"--- {message.role} ---", *message.content.splitlines()]
    lines += ["", f"Tries: {len(explanation.tries)}"]
    names = {hash_: f"repeat {number}" for number, hash_ in enumerate(explanation.repeat_hashes, start=2)}
    names |= {explanation.request_hash: "this request"} if explanation.request_hash else {}
    for row in explanation.tries:
        lines += _try(row, names.get(row["request_hash"], f"request {row['request_hash'][:12]}"))
    if explanation.took.n_calls:
        which = "today's request and its repeats" if explanation.repeat_hashes else "today's request"
        lines.append(f"  {which} took {_took(explanation.took)}")
    if explanation.answer is not None:
        lines += ["", f"Answer: {json.dumps(explanation.answer, ensure_ascii=False)}"]
        lines.append(f"Repair: {explanation.repair or 'none was needed'}")
    for number, further in enumerate(explanation.repeats, start=2):
        lines.append(f"Repeat {number}: {json.dumps(further, ensure_ascii=False) if further else 'no answer'}")
    return lines


def _earlier(earlier: EarlierRequest, *, is_today: bool) -> list[str]:
    answered = "answered" if earlier.answered else "not answered"
    if earlier.repeats > 1:
        answered = f"{earlier.repeats} repeats, {earlier.answered} answered"
    line = f"Earlier request {earlier.request_hash} ({answered}; template {earlier.template})"
    if not is_today:  # there is nothing to hold it against
        return ["", line]
    lines = ["", f"{line}; since then:"]
    for change in earlier.changes:
        lines += [f"  {change.component}", *_side("-", change.then), *_side("+", change.now)]
    if not earlier.changes:
        lines.append("  what was sent is not kept" if earlier.template == "unknown" else "  it is asked less often")
    return lines


def _took(took: Spent) -> str:
    cost = "unpriced" if took.cost_usd is None else f"{took.cost_usd:.6f} USD"
    tokens = [f"{n} tokens {way}" for n, way in ((took.tokens_in, "in"), (took.tokens_out, "out")) if n is not None]
    return ", ".join([f"{took.n_calls} tries", *tokens, cost, f"{took.seconds:.1f} s"])


def _try(row: Mapping[str, Any], which: str) -> list[str]:
    facts = ", ".join(f"{name} {_short(row[name])}" for name in _OF_A_TRY if row[name] is not None)
    lines = [f"  {row['started_at']} try {row['try_number']}, {which}: {facts}"]
    for name in ("provider_request_id", "sent", "re_ask", "error_class", "error_text", "raw_text"):
        if row[name] is not None:
            lines.append(f"    {name}: {row[name]}")
    return lines


def _short(value: Any) -> Any:
    """Without digits that no clock or price has."""
    return f"{value:.6g}" if isinstance(value, float) else value


def _side(mark: str, value: Any) -> list[str]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return [f"    {mark} {line}" for line in text.splitlines()]


def _fields(row: Mapping[str, Any]) -> list[str]:
    return [f"    {name}: {_short(value)}" for name, value in row.items() if value is not None]
