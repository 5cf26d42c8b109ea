"""Files of a preference set -> pairs, what was set aside, and what the importer chose, counted.

Every record of a file is accounted for once: kept, kept with its responses swapped, merged into another's pair as a
vote, left out by a setting, or set aside as faulty.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judge_pipeline.ingest.records import UnreadableArtifact
from judge_pipeline.preference.drafts import BOTH_BAD, Faulty, LeftOut, NoColumn, PairDraft, majority
from judge_pipeline.preference.importers import IMPORTERS
from judge_pipeline.preference.screenshots import KeepImage, nothing_kept, problem_of, with_screenshot_kept
from judge_pipeline.preference.withdrawn import PAIR_WITHDRAWN, Withdrawn
from judge_pipeline.settings import PreferenceSettings, SourceChoices
from judge_pipeline.tables.preference import PREFERENCE_PAIRS, PREFERENCE_QUARANTINE, PREFERENCE_SELECTION

KEPT = "a pair of its own"
SWAPPED = "its responses are swapped"
MERGED = "a further vote on a pair"
TWICE = "the same pair with the same choice stands before"
FAULTY = "no pair can be made of it"
WITHOUT_COLUMN = "its file lacks a column"
NOTHING_WITHDRAWN = Withdrawn()
_SCREENSHOT_REMEDY = "put a PNG, JPEG, WebP or GIF into the set's folder under that path; the pair is kept without it"

_CONTENT = ("instruction", "prior_turns", "prefix", "suffix", "code_to_edit", "response_a", "response_b")


@dataclass(frozen=True, slots=True)
class PairsRead:
    """A preference set as it was read.

    Attributes:
        pairs: table PREFERENCE_PAIRS, in the order of files and rows.
        quarantine: table PREFERENCE_QUARANTINE.
        selection: table PREFERENCE_SELECTION; the counts of a file add up to its records.
    """

    pairs: pd.DataFrame
    quarantine: pd.DataFrame
    selection: pd.DataFrame


@dataclass(slots=True)
class _Row:
    """A record on its way to a pair; no draft where it was left out."""

    path: str
    place: str
    draft: PairDraft | None
    pair_id: str = ""


def read_pairs(
    files: Iterable[tuple[str, bytes]], settings: PreferenceSettings, withdrawn: Withdrawn = NOTHING_WITHDRAWN,
    keep_image: KeepImage = nothing_kept,
) -> PairsRead:  # fmt: skip
    """Read the files of a preference set.

    Args:
        files: path relative to the set's folder, and bytes; in the order that pairs are to have.
        settings: the set's settings.
        withdrawn: the pairs and annotators that are kept out.
        keep_image: keeps a screenshot; called as records are read, so that no more than one image is held, also for
            pairs that are left out afterwards.
    """
    reading = _Reading(settings, withdrawn, keep_image)
    rows = [row for path, data in files for row in reading.rows_of(path, data)]
    rows = reading.merged(rows)
    for row in rows:
        reading.choose(row)
    for row in rows:
        reading.identify(row)
    for row in _to_swap(rows, settings):
        assert row.draft is not None
        row.draft.swap()
    for row in rows:  # last, so that no other pair is swapped otherwise for it
        reading.keep_out(row)
    kept = [row for row in rows if row.draft is not None]
    for row in kept:
        effect, reason = ("swapped", SWAPPED) if row.draft and row.draft.swapped else ("kept", KEPT)
        reading.count(row.path, effect, reason, "source.swap" if effect == "swapped" else None)
        reading.note_screenshots(row)
    return PairsRead(
        PREFERENCE_PAIRS.conform([_pair_row(row, settings.source.format) for row in kept]),
        PREFERENCE_QUARANTINE.conform(list(reading.quarantine.values())),
        PREFERENCE_SELECTION.conform(reading.selection()),
    )


class _Reading:
    """What is read so far."""

    def __init__(self, settings: PreferenceSettings, withdrawn: Withdrawn, keep_image: KeepImage) -> None:
        self._withdrawn = withdrawn
        self._keep_image = keep_image
        self._source: SourceChoices = settings.source
        self._origin = settings.source.format
        self._importer = IMPORTERS[self._origin]
        self._counts: Counter[tuple[str, str, str, str | None]] = Counter()
        self._by_id: dict[str, _Row] = {}
        self.quarantine: dict[tuple[str, str | None], dict[str, Any]] = {}

    def count(self, path: str, effect: str, reason: str, setting: str | None = None) -> None:
        self._counts[(path, effect, reason, setting)] += 1

    def selection(self) -> list[dict[str, Any]]:
        """The counts as rows of PREFERENCE_SELECTION, by file, in the order of effects."""
        effects = PREFERENCE_SELECTION.by_name["effect"].allowed or ()
        ordered = sorted(
            self._counts.items(), key=lambda item: (item[0][0], effects.index(item[0][1]), -item[1], item[0][2])
        )
        names = ("source_file", "effect", "reason", "setting")
        return [dict(zip(names, key, strict=True)) | {"origin": self._origin, "n": n} for key, n in ordered]

    def rows_of(self, path: str, data: bytes) -> list[_Row]:
        """The records of a file; without a draft where the format leaves them out, which count in TRACE's order."""
        rows: list[_Row] = []
        without: list[tuple[_Row, NoColumn]] = []
        n_records = 0
        try:
            for record in self._importer.records(data, path, self._source):
                if isinstance(record, UnreadableArtifact):
                    self._set_aside_artifact(record)
                    self.count(path, "set_aside", FAULTY)
                    continue
                n_records += 1
                row = _Row(path, record.place, None)
                try:
                    row.draft = self._importer.pair_of(record.values, self._source)
                    self._keep_screenshots(row.draft)
                except LeftOut as left_out:
                    self.count(path, "left_out", left_out.reason, left_out.setting)
                    if left_out.setting is not None:
                        continue
                except NoColumn as no_column:
                    without.append((row, no_column))
                    continue
                except Faulty as faulty:
                    self._set_aside(row, faulty)
                    continue
                rows.append(row)
        except UnreadableArtifact as unreadable:
            self._set_aside_artifact(unreadable)
        self._set_aside_without_column(path, without, all_rows=len(without) == n_records)
        return rows

    def merged(self, rows: list[_Row]) -> list[_Row]:
        """The rows with votes on one pair made one."""
        first: dict[str, _Row] = {}
        left = []
        for row in rows:
            draft = row.draft
            earlier = first.setdefault(draft.vote_of, row) if draft is not None and draft.vote_of is not None else row
            if earlier is row or draft is None or earlier.draft is None:
                left.append(row)
            elif (draft.response_a, draft.response_b) != (earlier.draft.response_a, earlier.draft.response_b):
                why = f"votes on the pair of {earlier.place} in {earlier.path}, but its responses are others"
                self._set_aside(row, Faulty("responses", None, why, "give it a question of its own"))
            else:
                for annotator, vote in draft.votes.items():
                    earlier.draft.votes[_free_name(annotator, earlier.draft.votes)] = vote
                self.count(row.path, "merged", MERGED)
        return left

    def choose(self, row: _Row) -> None:
        """Settle w, and leave the row out where the settings say so."""
        draft = row.draft
        if draft is None:
            return
        empty = [name for name in ("response_a", "response_b") if not getattr(draft, name).strip()]
        if empty and self._source.empty == "set_aside":
            remedy = "fill it in, or set source.empty to keep where a model's response was empty"
            self._set_aside(row, Faulty(empty[0], None, "is blank", remedy))
            return
        draft.notes += [f"{name} is empty" for name in empty]
        without_choice = self._withdrawn.take_votes(draft)
        if without_choice is not None:
            self._leave_out(row, without_choice, None)
            return
        if draft.w is None and draft.votes:
            draft.w = majority(draft.votes)
            if draft.w is None and draft.no_majority == "tie":
                draft.w = "tie"
        if draft.w is None:
            self._leave_out(row, "no choice has a majority of the votes", "source.no_majority")
        elif draft.w == BOTH_BAD and self._source.both_bad == "leave_out":
            self._leave_out(row, "both responses were called bad", "source.both_bad")
        elif draft.w == "tie" and self._source.ties == "leave_out":
            self._leave_out(row, "the choice is a tie", "source.ties")
        elif draft.response_a.strip() == draft.response_b.strip() and self._source.identical == "leave_out":
            self._leave_out(row, "both responses are the same", "source.identical")

    def identify(self, row: _Row) -> None:
        """Give the row its pair_id, and see that no other has it."""
        draft = row.draft
        if draft is None:
            return
        row.pair_id = draft.pair_id or content_id(draft)
        earlier = self._by_id.setdefault(row.pair_id, row)
        if earlier is row or earlier.draft is None:
            return
        where = f"{earlier.place} of {earlier.path}"
        if content_id(draft) != content_id(earlier.draft):
            why = f"stands at {where} already, with another content"
            self._set_aside(row, Faulty("pair_id", row.pair_id, why, "give every pair an id of its own"))
        elif draft.w != earlier.draft.w:
            why = f"is that of {where} too, which is the same pair with the choice {earlier.draft.w}, not {draft.w}"
            remedy = "decide for one, or give each annotator a column (source.annotators)"
            self._set_aside(row, Faulty("pair_id", row.pair_id, why, remedy))
        else:
            self._leave_out(row, TWICE, None)

    def keep_out(self, row: _Row) -> None:
        """Leave out a pair that was withdrawn; a row that was set aside for being like it does not name it."""
        if not row.pair_id or not self._withdrawn.pair(row.pair_id):
            return
        if row.draft is not None:
            self._leave_out(row, PAIR_WITHDRAWN, None)
        elif (aside := self.quarantine.get((row.path, row.place))) is not None:
            aside["value"] = None

    def note_screenshots(self, row: _Row) -> None:
        """Set aside the screenshots of a pair that cannot be used; the pair is kept without them."""
        assert row.draft is not None
        found = list(filter(None, (problem_of(row.draft.evidence_a), problem_of(row.draft.evidence_b))))
        if found:
            row.draft.notes.append(f"{len(found)} screenshot(s) cannot be used")
            self.quarantine[(row.path, row.place)] = {
                "source_file": row.path,
                "place": row.place,
                "field": "screenshot",
                "value": "; ".join(source for source, _ in found)[:80],
                "reason": "; ".join(reason for _, reason in found),
                "remedy": _SCREENSHOT_REMEDY,
            }

    def _keep_screenshots(self, draft: PairDraft) -> None:
        draft.evidence_a = with_screenshot_kept(draft.evidence_a, self._keep_image)
        draft.evidence_b = with_screenshot_kept(draft.evidence_b, self._keep_image)

    def _leave_out(self, row: _Row, reason: str, setting: str | None) -> None:
        self.count(row.path, "left_out", reason, setting)
        row.draft = None

    def _set_aside(self, row: _Row, faulty: Faulty) -> None:
        self._note(row.path, row.place, faulty)
        self.count(row.path, "set_aside", FAULTY)
        row.draft = None

    def _note(self, path: str, place: str | None, faulty: Faulty) -> None:
        self.quarantine[(path, place)] = {
            "source_file": path,
            "place": place,
            "field": faulty.field,
            "value": None if faulty.value is None else str(faulty.value)[:80],
            "reason": faulty.reason,
            "remedy": faulty.remedy,
        }

    def _set_aside_without_column(self, path: str, without: list[tuple[_Row, NoColumn]], *, all_rows: bool) -> None:
        """Set the rows aside: as their file where it is all of its rows and they lack the same columns, else each."""
        faults = [fault for _, fault in without]
        lacking = [name for name in (faults[0].missing if faults else ()) if all(name in f.missing for f in faults)]
        if all_rows and lacking and (path, None) not in self.quarantine:
            there = dict.fromkeys(name for fault in faults for name in fault.there)
            self._note(path, None, NoColumn(lacking, list(there)))
            self._counts[(path, "set_aside", WITHOUT_COLUMN, None)] += len(without)
            return
        for row, fault in without:
            self._set_aside(row, Faulty(fault.field, None, "is missing in this row", "fill it in, or remove the row"))

    def _set_aside_artifact(self, unreadable: UnreadableArtifact) -> None:
        self.quarantine[(unreadable.path, unreadable.place)] = {
            "source_file": unreadable.path,
            "place": unreadable.place,
            "field": None,
            "value": None,
            "reason": unreadable.reason,
            "remedy": unreadable.remedy,
        }


def content_id(draft: PairDraft) -> str:
    """First 16 hex of the sha256 of a pair's context and responses, as the source orders them; not of its choice."""
    return _sha256([getattr(draft, name) for name in _CONTENT])


def instruction_group(instruction: str | None, context: Iterable[str | None]) -> str:
    """First 16 hex of the sha256 of an instruction, outer white space aside; of the context where there is none."""
    if instruction is not None and instruction.strip():
        return _sha256(["instruction", instruction.strip()])
    return _sha256(["context", *context])


def _sha256(parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()[:16]


def _free_name(annotator: str, taken: Mapping[str, str]) -> str:
    """The annotator's name, numbered where they have voted on the pair before."""
    number, name = 1, annotator
    while name in taken:
        number += 1
        name = f"{annotator} ({number})"
    return name


def _to_swap(rows: list[_Row], settings: PreferenceSettings) -> list[_Row]:
    """The rows whose responses are to be swapped."""
    swap = settings.source.swap
    if swap == "seeded":
        coins = (hashlib.sha256(f"{settings.seed} swap {row.pair_id}".encode()).digest()[0] for row in rows)
        return [row for row, coin in zip(rows, coins, strict=True) if row.draft is not None and coin % 2]
    if swap == "trace":
        return _swapped_by_trace(rows)
    return []


def _swapped_by_trace(rows: list[_Row]) -> list[_Row]:
    """The rows that TRACE's public code swaps: votes for the second in a random order, then a coin each.

    The order is that of ``pandas.DataFrame.sample(frac=1, random_state=42)`` over the votes for the second, those that
    are dropped afterwards for want of a prefix among them; the coins are those of the same random state.
    """
    import numpy as np

    order = np.random.RandomState(42).choice(len(rows), size=len(rows), replace=False)
    there = [rows[i] for i in order if rows[i].draft is not None]
    return [row for row, coin in zip(there, np.random.RandomState(42).rand(len(there)), strict=True) if coin < 0.5]


def _pair_row(row: _Row, origin: str) -> dict[str, Any]:
    draft = row.draft
    assert draft is not None
    return {
        "pair_id": row.pair_id,
        "instruction": draft.instruction,
        "prior_turns": _json([{"role": role, "content": text} for role, text in draft.prior_turns]),
        "prefix": draft.prefix,
        "suffix": draft.suffix,
        "code_to_edit": draft.code_to_edit,
        "response_a": draft.response_a,
        "response_b": draft.response_b,
        "w": "tie" if draft.w == BOTH_BAD else draft.w,
        "both_bad": draft.w == BOTH_BAD,
        "category": draft.category,
        "language": draft.language,
        "natural_language": draft.natural_language,
        "evidence_a": _json(draft.evidence_a),
        "evidence_b": _json(draft.evidence_b),
        "aspects": _json(draft.aspects),
        "votes": _json({who: "tie" if vote == BOTH_BAD else vote for who, vote in draft.votes.items()}),
        "split": draft.split,
        "model_a": draft.model_a,
        "model_b": draft.model_b,
        "swapped": draft.swapped,
        "origin": origin,
        "source_file": row.path,
        "place": row.place,
        "notes": "; ".join(draft.notes) or None,
    }


def _json(value: Any) -> str | None:
    return json.dumps(value, ensure_ascii=False, default=str) if value else None
