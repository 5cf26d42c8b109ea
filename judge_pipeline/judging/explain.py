"""Why a judge was or was not asked again about an attempt, from the rows of the checkpoint alone. Nothing is asked."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge_pipeline.judging.batches.store import BatchStore
from judge_pipeline.judging.checkpoint.store import Checkpoint, Spent, StoredJudgment, StoredRequest
from judge_pipeline.judging.request import Message, canonical_json

_DIFF_LINES = 40


@dataclass(frozen=True, slots=True)
class Change:
    """One component of the request hash that differs between a stored request and today's.

    Attributes:
        component: which: model, base_url, parameters.NAME, messages.ROLE, schema, send_schema.
        then: its value in the stored request; None where it had none. For messages the lines that changed.
        now: the same of today's request.
    """

    component: str
    then: Any
    now: Any


@dataclass(frozen=True, slots=True)
class EarlierRequest:
    """A request that was asked about the attempt before and is not today's, with all of its repeats.

    Attributes:
        request_hash: its hash, of the repeat that was asked last.
        repeats: how many repeats of it were asked.
        answered: how many of them have a stored answer.
        template: the prompt template it was rendered from, and its version (first 12 digits of its sha256).
        changes: what differs from today's request, the repeat left aside.
    """

    request_hash: str
    repeats: int
    answered: int
    template: str
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Explanation:
    """What the checkpoint knows of one judge and one attempt.

    Attributes:
        judge: the judge.
        attempt_id: the attempt.
        request_hash: today's hash; None where the attempt is not in the judge's scope.
        state: answered, waiting (in a batch), failed (asked, without an answer) or never asked.
        why: the state in words, and what the next run will do.
        messages: today's prompt, exactly as it would be sent.
        parameters: today's model, base URL and parameters.
        asked_for: the attempt for which today's request was asked; another one where both have equal requests.
        earlier: other requests that were asked about the attempt, the latest first.
        tries: every row of ``calls`` for today's request and the earlier ones, in the order in which they were made.
        answer: the stored answer to today's request; None where there is none.
        repair: how that answer was repaired.
        repeat_hashes: the hashes of the further repeats of today's request, in order.
        repeats: the answers to them; None for one without an answer.
        took: what today's request took with all of its repeats, failed and repaired tries included.
    """

    judge: str
    attempt_id: str
    request_hash: str | None
    state: str
    why: str
    messages: tuple[Message, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    asked_for: str | None = None
    earlier: tuple[EarlierRequest, ...] = ()
    tries: tuple[Mapping[str, Any], ...] = ()
    answer: Mapping[str, Any] | None = None
    repair: str | None = None
    repeat_hashes: tuple[str, ...] = ()
    repeats: tuple[Mapping[str, Any] | None, ...] = ()
    took: Spent = field(default=Spent())


def explain(
    judge: str,
    attempt_id: str,
    now: StoredRequest | None,
    messages: Sequence[Message],
    checkpoint: Checkpoint,
    repeats: Sequence[str] = (),
    scope: str = "",
) -> Explanation:
    """What is stored of the judge and the attempt, held against what would be asked today.

    Args:
        judge: the judge's name.
        attempt_id: the attempt.
        now: today's request, as the checkpoint would keep it; None where the attempt is outside the judge's scope.
        messages: today's rendered messages.
        checkpoint: the store.
        repeats: hashes of the further repeats of today's request.
        scope: of an attempt outside it: the judge's scope, and where the attempt is, in words.

    Raises:
        JudgingError: the checkpoint cannot be read.
    """
    today = now.request_hash if now else None
    todays = [*([today] if today else []), *repeats]
    others = [hash_ for hash_ in checkpoint.hashes_of(judge, attempt_id) if hash_ not in todays]
    stored = checkpoint.answered(judge, [*others, *todays])
    earlier = _earlier(others, stored, checkpoint, now)
    tries = [row for hash_ in [*others, *todays] for row in checkpoint.calls(judge, hash_)]
    answer = stored.get(today) if today else None
    state, why = _state(now, answer, [row for row in tries if row["request_hash"] == today], earlier, scope)
    if today is not None and answer is None and (batch := _batch_of(checkpoint, judge, today)):
        state, why = "waiting", f"submitted in {batch}; it is not asked again while it waits there"
    components = json.loads(now.components) if now else {}
    return Explanation(
        judge,
        attempt_id,
        today,
        state,
        why,
        tuple(messages),
        {name: value for name, value in components.items() if name not in ("messages", "schema")},
        _asked_for(answer, tries, today),
        earlier,
        tuple(sorted(tries, key=lambda row: int(row["call_id"]))),
        answer.answer if answer else None,
        answer.repair if answer else None,
        tuple(repeats),
        tuple(stored[hash_].answer if hash_ in stored else None for hash_ in repeats),
        sum(checkpoint.spent(judge, todays).values(), Spent()),
    )


def changes(then: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[Change, ...]:
    """The components (``Call.components()``) that differ between two requests, one entry each."""
    found = []
    for name in sorted({*then, *now}):
        old, new = then.get(name), now.get(name)
        if old == new:
            continue
        if name == "messages":
            found += _changed_messages(old or [], new or [])
        elif name == "parameters":
            found += [
                Change(f"parameters.{key}", (old or {}).get(key), (new or {}).get(key))
                for key in sorted({*(old or {}), *(new or {})})
                if (old or {}).get(key) != (new or {}).get(key)
            ]
        else:
            found.append(Change(name, old, new))
    return tuple(found)


def _changed_messages(then: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]) -> list[Change]:
    found = []
    for place in range(max(len(then), len(now))):
        old = then[place] if place < len(then) else {}
        new = now[place] if place < len(now) else {}
        if old != new:
            removed, added = _lines_apart(_lines_of(old), _lines_of(new))
            found.append(Change(f"messages.{new.get('role') or old.get('role')}", removed, added))
    return found


def _lines_of(message: Mapping[str, Any]) -> str:
    """The message's text, and a line for each image."""
    images = [f"[{image['media_type']} {image['sha256']}] {image['label']}" for image in message.get("images", ())]
    return "\n".join([str(message.get("content", "")), *images])


def _lines_apart(then: str, now: str) -> tuple[str, str]:
    """The lines that only one of two texts has, in order; long differences lose their tail, and say so."""
    old, new = then.splitlines(), now.splitlines()
    removed: list[str] = []
    added: list[str] = []
    # Whole lines are compared: to look for likenesses within them takes minutes where a thousand lines were replaced.
    for kind, old_from, old_to, new_from, new_to in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if kind != "equal":
            removed += old[old_from:old_to]
            added += new[new_from:new_to]
    return _first_of(removed), _first_of(added)


def _first_of(lines: Sequence[str]) -> str:
    more = [f"... and {len(lines) - _DIFF_LINES} more lines"] if len(lines) > _DIFF_LINES else []
    return "\n".join([*lines[:_DIFF_LINES], *more])


def _earlier(
    hashes: Sequence[str], stored: Mapping[str, StoredJudgment], checkpoint: Checkpoint, now: StoredRequest | None
) -> tuple[EarlierRequest, ...]:
    """Requests that differ in their repeat only are one."""
    repeats_of: dict[str, list[str]] = {}
    first: dict[str, StoredRequest | None] = {}
    for hash_ in hashes:
        request = checkpoint.request(hash_)
        asked = hash_ if request is None else canonical_json(_without_repeat(request))
        repeats_of.setdefault(asked, []).append(hash_)
        first.setdefault(asked, request)
    found = []
    for asked, request in first.items():
        of_it = repeats_of[asked]
        differing = changes(_without_repeat(request), _without_repeat(now)) if request and now else ()
        template = f"{request.template} {request.template_sha256[:12]}" if request else "unknown"
        n_answered = sum(hash_ in stored for hash_ in of_it)
        found.append(EarlierRequest(of_it[0], len(of_it), n_answered, template, differing))
    return tuple(found)


def _without_repeat(request: StoredRequest) -> dict[str, Any]:
    return {name: value for name, value in json.loads(request.components).items() if name != "repeat"}


def _batch_of(checkpoint: Checkpoint, judge: str, request_hash: str) -> str | None:
    """The open batch that holds the request, in words."""
    store = BatchStore(checkpoint)
    token = store.waiting(judge, [request_hash]).get(request_hash)
    if token is None:
        return None
    row = next(row for row in store.batches(judge=judge) if row.token == token)
    return f"batch {row.batch_id or token} ({row.status or row.state}) at {row.submitted_at or row.prepared_at}"


def _asked_for(answer: StoredJudgment | None, tries: Sequence[Mapping[str, Any]], today: str | None) -> str | None:
    if answer is not None:
        return answer.attempt_id
    return next((str(row["attempt_id"]) for row in tries if row["request_hash"] == today), None)


def _state(
    now: StoredRequest | None,
    answer: StoredJudgment | None,
    tries: Sequence[Mapping[str, Any]],
    earlier: Sequence[EarlierRequest],
    scope: str,
) -> tuple[str, str]:
    if now is None:
        return "not in scope", f"the attempt is not in the judge's scope{scope}, so it is not asked about"
    if answer is not None:
        return "answered", "an answer to exactly this request is stored, so it is not asked again"
    if tries:
        last = tries[-1]
        return "failed", (
            f"asked {len(tries)} time(s) without a valid answer (the last: {last['error_class']}); failures are never "
            "kept as answers, so the next run asks again"
        )
    if not earlier:
        return "never asked", "nothing was ever asked about this attempt, so the next run asks"
    latest = earlier[0]
    names = ", ".join(change.component for change in latest.changes) or "components that were not kept"
    return "never asked", f"since it was last asked about, {names} changed; that is another request: the next run asks"
