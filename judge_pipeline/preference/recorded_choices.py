"""Choices among two responses that were collected elsewhere: a file in the preference set's folder, read strictly.

It has one row a pair (``decision_ab``, ``decision_ba``: A, B or tie, in terms of the pair's own A and B), or one row a
pair and presentation order (``slot`` or ``decision``). A row that names its pair and is wrong is that pair's invalid
answer, and says why: nothing is guessed.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from judge_pipeline.ingest.record_files import Record
from judge_pipeline.judging.answer import clean_text
from judge_pipeline.judging.failures import Failure, JudgingError
from judge_pipeline.judging.request import canonical_json, sha256
from judge_pipeline.preference.choice_rows import PairOrder, choice_row, slot_of
from judge_pipeline.preference.drafts import Faulty
from judge_pipeline.preference.recorded_files import recorded_rows
from judge_pipeline.preference.row_values import label_of, word_in
from judge_pipeline.preference.verdicts import PRESENTATION_ORDERS, unswapped
from judge_pipeline.settings import RecordedJudge

OF_A_PAIR: Mapping[str, str] = {"decision_ab": "AB", "decision_ba": "BA"}
"""Columns of a file with one row a pair, and the presentation order that each is of."""

OF_AN_ORDER = ("presentation_order", "slot", "decision", "p_first", "score_first", "score_second")
"""Columns of a file with one row a pair and order; each is of this order."""

OF_EITHER = ("pair_id", "rationale", "model", "error")

_COLUMNS = (*OF_EITHER, *OF_A_PAIR, *OF_AN_ORDER)
_DECISIONS = {"a": "A", "b": "B", "tie": "tie", "both_bad": "tie"}
_SLOTS = {"first": "first", "second": "second", "tie": "tie"}
_ORDERS = {order.lower(): order for order in PRESENTATION_ORDERS}
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_NAMED = 5
"""So many rows of other pairs are named."""


@dataclass(frozen=True, slots=True)
class RecordedChoices:
    """What a file of recorded choices holds of the pairs in scope.

    Attributes:
        rows: a row for each pair and order that the file has, as ``choice_rows.choice_row`` makes it, in the order of
            the pairs; what is blank or wrong is a row without a choice.
        orders: the presentation orders that the file has.
        missing: pairs and orders in scope that the file has no row for.
        notes: what a person should know of the file.
    """

    rows: tuple[dict[str, Any], ...]
    orders: tuple[str, ...]
    missing: tuple[PairOrder, ...]
    notes: tuple[str, ...]


def recorded_choices(
    file_name: str, content: bytes, settings: RecordedJudge, pair_ids: Sequence[str]
) -> RecordedChoices:
    """The choices in the judge's file.

    A blank choice is an invalid answer. So is a value that is no choice, a slot and a decision that say two things, a
    number out of range, and each of two rows for one pair and order. A row that lacks the key of an order (in JSON) has
    nothing in that order.

    Args:
        file_name: the file, for messages and, by its extension, for the separator.
        content: its bytes: CSV, TSV, JSON, JSON lines or Parquet.
        settings: what its columns and its choices are called.
        pair_ids: the pairs in scope, each once.

    Raises:
        JudgingError: the file cannot be read, lacks a column, or a row does not say which pair it is of; the message
            names the file, the row, the value and the remedy.
    """
    records = recorded_rows(file_name, content)
    if not records:
        raise JudgingError(
            f"{file_name}: holds no row; give one for each pair, or for each pair and presentation order"
        )
    names = _names(file_name, settings, records)
    told: dict[str, list[_Told]] = {}
    for record in records:
        row = _Row(file_name, record, names, settings)
        told.setdefault(row.pair_id(), []).extend(row.told())
    in_file = {one.order for of_pair in told.values() for one in of_pair}
    orders = tuple(order for order in PRESENTATION_ORDERS if order in in_file)
    if not orders:
        raise JudgingError(
            f"{file_name}: no row says its presentation order; write AB or BA in column {names['presentation_order']}"
        )
    identity = {
        "backend": "recorded",
        "file_sha256": hashlib.sha256(content).hexdigest(),
        "settings": settings.model_dump(include={"columns", "choice_words", "model"}),
    }
    rows: list[dict[str, Any]] = []
    missing: list[PairOrder] = []
    for pair_id in pair_ids:
        for order in orders:
            own = [one for one in told.get(pair_id, ()) if one.order in (order, None)]
            if not own:
                missing.append((pair_id, order))
                continue
            one = own[0] if len(own) == 1 else _contradiction(file_name, pair_id, order, own)
            own_identity = {"row": one.place, "pair_id": pair_id, "presentation_order": order}
            hash_ = sha256(canonical_json(identity | own_identity))
            rows.append(choice_row(pair_id, order, one.picked, hash_, one.further))
    return RecordedChoices(tuple(rows), orders, tuple(missing), _notes(file_name, names, records, told, pair_ids))


def recorded_hashes(
    file_name: str, content: bytes, settings: RecordedJudge, pair_ids: Sequence[str]
) -> dict[PairOrder, str]:
    """Pair and order -> the ``request_hash`` that their row has as the file is now. Arguments and errors as above."""
    rows = recorded_choices(file_name, content, settings, pair_ids).rows
    return {(row["pair_id"], row["presentation_order"]): row["request_hash"] for row in rows}


@dataclass(frozen=True, slots=True)
class _Told:
    """What a row says of one presentation order; of every order, where it does not say which (order None)."""

    place: str
    order: str | None
    picked: str | Failure
    further: Mapping[str, Any]


class _WrongValueError(ValueError):
    pass


@dataclass(frozen=True, slots=True)
class _Row:
    file: str
    record: Record
    names: Mapping[str, str]
    settings: RecordedJudge

    def pair_id(self) -> str:
        column = self.names["pair_id"]
        value = self.record.values.get(column)
        try:
            pair_id = label_of(value, column)
        except Faulty:
            pair_id = None
        if pair_id is None:
            raise JudgingError(
                f"{self.file}, {self.record.place}, column {column}: {_shown(value)} is no pair_id; give the pair's id "
                "as preference_pairs has it"
            )
        return pair_id

    def told(self) -> list[_Told]:
        if "presentation_order" in self.names:
            return [self._of_order()]
        columns = {name: order for name, order in OF_A_PAIR.items() if name in self.names}
        return [
            self._told(order, partial(self._slot_of_decision, name, order))
            for name, order in columns.items()
            if self.names[name] in self.record.values
        ]

    def _of_order(self) -> _Told:
        try:
            order = self._word("presentation_order", _ORDERS, "write AB or BA")
            if order is None:
                raise self._wrong("presentation_order", "does not say which response stood first; write AB or BA")
        except _WrongValueError as wrong:
            return _Told(self.record.place, None, Failure("invalid", str(wrong)), {})
        return self._told(order, partial(self._slot, order))

    def _told(self, order: str, pick: Callable[[], str | None]) -> _Told:
        """What the row says in an order; ``pick`` gives the slot, or None where the choice is blank."""
        further: dict[str, Any] = {"model": self.settings.model}
        try:
            further["model"] = self._text("model") or self.settings.model
            error = self._text("error")
            if error is not None:
                raise _WrongValueError(f"{self.file}, {self.record.place}: the recorded call failed: {error}")
            slot = pick()
            further["rationale"] = self._text("rationale")
            if slot is None:
                raise _WrongValueError(f"{self.file}, {self.record.place}: the choice in order {order} is blank")
            scores = {name: self._number(name) for name in ("p_first", "score_first", "score_second")}
            if scores["p_first"] is not None and not 0.0 <= scores["p_first"] <= 1.0:
                raise self._wrong("p_first", "is not a probability from 0 to 1; correct it or leave it empty")
        except _WrongValueError as wrong:
            return _Told(self.record.place, order, Failure("invalid", str(wrong)), further)
        return _Told(self.record.place, order, slot, further | scores)

    def _slot(self, order: str) -> str | None:
        """The slot, of a column slot, a column decision, or both where they say the same."""
        slots = [self._picked()] if "slot" in self.names else []
        slots += [self._slot_of_decision("decision", order)] if "decision" in self.names else []
        if len(set(slots)) > 1:
            slot, other = slots
            raise self._wrong(
                "slot",
                f"and {self.names['decision']} {_shown(self._value('decision'))} do not fit in order {order}, where "
                f"{slot or 'a blank slot'} is {unswapped(slot, order) or 'an invalid answer'} and that decision is "
                f"{other or 'an invalid answer'}; correct one of them",
            )
        return slots[0]

    def _picked(self) -> str | None:
        return self._word("slot", _SLOTS, f"write first, second or tie, {_OR_ELSE}")

    def _slot_of_decision(self, name: str, order: str) -> str | None:
        remedy = f"write A, B or tie, in terms of the pair's own A and B, {_OR_ELSE}"
        return slot_of(self._word(name, _DECISIONS, remedy), order)

    def _word(self, name: str, known: Mapping[str, str], remedy: str) -> str | None:
        value = self._value(name)
        if value is None:
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        text = str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
        own = self.settings.choice_words
        found = known.get((word_in(own, text) or text).casefold())
        if found is None:
            words = ", ".join(dict.fromkeys([*own, *known.values(), *(word for word in known if len(word) > 1)]))
            raise self._wrong(name, f"is none that is known ({words}); {remedy}")
        return found

    def _number(self, name: str) -> float | None:
        value = self._value(name)
        if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
            value = float(value)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self._wrong(name, "is not a number; write a plain number such as 0.85, or leave it empty")
        return float(value) + 0.0  # -0.0 becomes 0.0

    def _text(self, name: str) -> str | None:
        value = self._value(name)
        if value is not None and not isinstance(value, str):
            raise self._wrong(name, "is not text; write it as text or leave it empty")
        return clean_text(value) if value else None

    def _value(self, name: str) -> Any:
        value = self.record.values.get(self.names[name]) if name in self.names else None
        return None if isinstance(value, str) and not value.strip() else value

    def _wrong(self, name: str, problem: str) -> _WrongValueError:
        value = self.record.values.get(self.names[name])
        where = f"{self.file}, {self.record.place}, column {self.names[name]}"
        return _WrongValueError(f"{where}: {_shown(value)} {problem}")


_OR_ELSE = "leave it blank for an invalid answer, or say under 'choice_words' in judges.yaml what it means"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _contradiction(file: str, pair_id: str, order: str, own: Sequence[_Told]) -> _Told:
    places = " and ".join(one.place for one in own)
    lost = next((one.picked for one in own if one.order is None), None)
    if isinstance(lost, Failure):
        return _Told(places, order, lost, {})
    text = f"{file}: {places} are all for pair {pair_id} in order {order}; keep one of them"
    return _Told(places, order, Failure("invalid", text), {})


def _names(file: str, settings: RecordedJudge, records: Sequence[Record]) -> dict[str, str]:
    """Our column names -> the file's, for those that are read of it."""
    unknown = sorted(set(settings.columns) - set(_COLUMNS))
    if unknown:
        raise JudgingError(f"judges.yaml, columns: {unknown} are not columns of choices; map only {sorted(_COLUMNS)}")
    claimed = list(settings.columns.values())
    twice = sorted({name for name in claimed if claimed.count(name) > 1})
    if twice:
        raise JudgingError(f"judges.yaml, columns: {twice} stand for two of ours each; name another column for one")
    there = {name for record in records for name in record.values}
    for name, theirs in settings.columns.items():
        if theirs not in there:
            raise JudgingError(
                f"{file}: has no column {theirs!r}; it has {sorted(there)}. Correct '{name}' under 'columns' in "
                "judges.yaml"
            )
    names = {name: name for name in _COLUMNS if name in there and name not in {*settings.columns, *claimed}}
    names |= settings.columns
    _check_form(file, settings, names, sorted(there))
    return {name: theirs for name, theirs in names.items() if name in _read_in_form(names)}


def _read_in_form(names: Iterable[str]) -> tuple[str, ...]:
    return (*OF_EITHER, *(OF_AN_ORDER if "presentation_order" in names else OF_A_PAIR))


def _check_form(file: str, settings: RecordedJudge, names: Mapping[str, str], there: Sequence[str]) -> None:
    by_order, by_pair = "presentation_order" in names, bool(OF_A_PAIR.keys() & names.keys())
    if by_order and by_pair:
        raise JudgingError(
            f"{file}: has both presentation_order and {', '.join(sorted(OF_A_PAIR.keys() & names.keys()))}; give one "
            "row a pair (decision_ab, decision_ba) or one row an order (presentation_order, slot or decision)"
        )
    whole = ("slot" in names or "decision" in names) if by_order else "decision_ab" in names
    if "pair_id" not in names or not whole:
        raise JudgingError(
            f"{file}: needs pair_id, and decision_ab (and decision_ba where both orders were asked) or "
            f"presentation_order with slot or decision; it has {list(there)}. Name its columns under 'columns' in "
            "judges.yaml, as 'decision_ab: COLUMN'"
        )
    useless = sorted(settings.columns.keys() - set(_read_in_form(names)))
    if useless:
        raise JudgingError(
            f"judges.yaml, columns: {useless} belong to files with one row an order, and {file} has one row a pair: "
            "they would be of another response in each order. Give one row an order, or take them away"
        )


def _notes(
    file: str,
    names: Mapping[str, str],
    records: Sequence[Record],
    told: Mapping[str, Sequence[_Told]],
    pair_ids: Sequence[str],
) -> tuple[str, ...]:
    notes = []
    column, scope = names["pair_id"], set(pair_ids)
    others = [pair_id for pair_id in told if pair_id not in scope]
    if others:
        n = sum(label_of(record.values.get(column), column) not in scope for record in records)
        more = ", ..." if len(others) > _NAMED else ""
        notes.append(f"{file}: {n} rows are for pairs outside the scope, such as {', '.join(others[:_NAMED])}{more}")
    there = {name for record in records for name in record.values}
    unread = [name for name in OF_AN_ORDER if name in there - {*names, *names.values()}]
    if unread:
        what = "are not read, since one row is of both orders; give one row an order"
        notes.append(f"{file}: columns {', '.join(unread)} {what}")
    return tuple(notes)
