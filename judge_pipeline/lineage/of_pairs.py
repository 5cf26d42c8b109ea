"""What figures of preference pairs rest on: the pairs that count under a scoring rule (TRACE, Tables 1 and 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_pipeline.lineage.basis import COUNTS, Basis, rows_of, without
from judge_pipeline.preference.accuracy import longer_response
from judge_pipeline.preference.choice_agreement import majority_of, most_voting
from judge_pipeline.preference.dataset_profile import code_lines_of, programming_languages_of, prose_of
from judge_pipeline.preference.scoring_rules import SCORING_RULES
from judge_pipeline.preference.verdicts import CHOICES, TIE, A, B
from judge_pipeline.tables import PREFERENCE_PAIRS, PREFERENCE_SPLITS
from judge_pipeline.tables.pair_judging import PAIR_JUDGE_COVERAGE, PAIR_JUDGMENTS

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from judge_pipeline.lineage.sources import Sources
    from judge_pipeline.preference.judged_pairs import JudgedPairs
    from judge_pipeline.preference.scoring_rules import Scores
    from judge_pipeline.statistics.score_counts import IntArray

    Counts = NDArray[np.int64]

Row = Mapping[str, Any]

_PER_JUDGE = {"acc", "acc_pc", "gap", "choice_share", "consistent_share", "valid_share"}
_ANNOTATOR = "annotator "


@dataclass(frozen=True)
class _Counted:
    """How often each pair counts in a figure's n, and how often it was offered; shape (pairs,)."""

    used: Counts
    offered: Counts


def judged_pairs_of(sources: Sources) -> JudgedPairs:
    """The usable judges' choices beside the pairs, as the figures are computed from."""
    from judge_pipeline.preference.judged_pairs import judged_pairs

    return sources.once("judged pairs", lambda: judged_pairs(decisions_of_set(sources)))


def decisions_of_set(sources: Sources) -> pd.DataFrame:
    """The usable judges' choices beside the pairs, a row for each pair and judge."""
    from judge_pipeline.preference.pair_coverage import comparable, usable_judges
    from judge_pipeline.preference.pair_decisions import pair_decisions

    def make() -> pd.DataFrame:
        coverage = sources[PAIR_JUDGE_COVERAGE]
        read = {judge: sources.of_judge(PAIR_JUDGMENTS, judge) for judge in usable_judges(coverage)}
        verdicts, _ = comparable(read)
        known = coverage[coverage["family"].notna()]
        families = dict(zip(known["judge"], known["family"], strict=True))
        return pair_decisions(sources[PREFERENCE_PAIRS], verdicts, sources[PREFERENCE_SPLITS], families)

    return sources.once("pair decisions", make)


def of_accuracy(sources: Sources, row: Row) -> Basis:
    """A row of ``preference_accuracy``: the pairs, or answers, that its scoring rule counts."""
    names = tuple(row[name] for name in ("rule", "of", "name", "other", "category", "figure"))
    rule = str(row["rule"])
    rows = sources.once(("accuracy rows", rule), lambda: _AccuracyRows(sources, rule))
    return sources.once(("accuracy", names), lambda: rows.basis(row))


class _AccuracyRows:
    """The pairs behind any figure under one rule."""

    def __init__(self, sources: Sources, rule: str) -> None:
        self.pairs = judged_pairs_of(sources)
        self.rule = SCORING_RULES[rule]
        self._sources, self._ids = sources, np.array(self.pairs.pair_ids, object)

    def basis(self, row: Row) -> Basis:
        """What the row rests on."""
        of, name, other = row["of"], row["name"], row["other"]
        if of == "family":
            return self._family(row)
        if of in ("judge", "floor"):
            return self._basis(self._of_judge(row), (name,) if of == "judge" else (), _is_of_answers(row["figure"]))
        if of == "difference":
            return self._basis(self._difference(row), (name, other), False)
        if of == "people":
            return self._people(row)
        raters = self._raters()
        if of == "panel":
            paired = (np.column_stack([raters[judge] for judge in self.pairs.judges]) >= 0).sum(axis=1) >= 2
            return self._basis(_of(paired), self.pairs.judges, False)
        judges = tuple(who for who in (name, other) if who in self.pairs.judges)
        return self._basis(_of((raters[name] >= 0) & (raters[other] >= 0)), judges, False)

    def _basis(self, counted: _Counted, judges: tuple[str, ...], answers: bool) -> Basis:
        import pandas as pd

        left = counted.offered - counted.used
        rows = [pd.DataFrame({"pair_id": self._ids[n > 0], COUNTS: n[n > 0]}) for n in (counted.used, left)]
        unit = "answers" if answers else "pairs"
        why = "chooses no response, or between none that count" if answers else "does not count under the rule"
        return Basis(unit, rows[0], without(rows[1], why), (), judges)

    def _here(self, row: Row) -> NDArray[np.bool_]:
        if row["category"] is None:
            return np.ones(len(self.pairs.labels), np.bool_)
        return np.array([category == row["category"] for category in self.pairs.categories], np.bool_)

    def _scores(self, judge: str) -> Scores:
        place = self.pairs.judges.index(judge)
        key = ("scores", self.rule.name, judge)
        return self._sources.once(key, lambda: self.rule.score(self.pairs.labels, *self.pairs.of_judge(place)))

    def _of_judge(self, row: Row) -> _Counted:
        here, figure = self._here(row), row["figure"]
        if row["of"] == "floor":
            counted = self._floor(row["name"]).counted & here
            return _Counted(counted.astype(np.int64), here.astype(np.int64))
        scores = self._scores(row["name"])
        ab, ba = self.pairs.of_judge(self.pairs.judges.index(row["name"]))
        if figure in _PER_JUDGE:
            return _Counted(
                self._per_pair(figure, scores, ba is not None, here).astype(np.int64), here.astype(np.int64)
            )
        if figure == "first_slot_share":
            both = here.astype(np.int64) * 2
            if ba is None:
                return _Counted(np.zeros_like(both), both)
            return _Counted(np.asarray((_chooses(ab) + _chooses(ba)) * here, np.int64), both)
        sides = [ab] if ba is None else [ab, ba]
        usable = scores.offered & here & (longer_response(self.pairs) >= 0)
        if figure == "length_bias":
            usable = usable & (self.pairs.labels != TIE)
        used = np.stack([_chooses(side) for side in sides]).sum(axis=0) * usable
        return _Counted(np.asarray(used, np.int64), here.astype(np.int64) * len(sides))

    def _per_pair(self, figure: str, scores: Scores, two: bool, here: NDArray[np.bool_]) -> NDArray[np.bool_]:
        nothing = np.zeros_like(here)
        if figure == "acc":
            return scores.counted & here
        if figure in ("consistent_share", "valid_share"):
            return scores.offered & here if two else nothing
        if scores.choice is None:
            return nothing
        return {"acc_pc": scores.choice, "gap": scores.counted, "choice_share": scores.offered}[figure] & here

    def _floor(self, name: str) -> Scores:
        pairs, n = self.pairs, len(self.pairs.labels)
        labels = pairs.labels if self.rule.ties else pairs.labels[pairs.labels != TIE]
        longer = longer_response(pairs)
        always = {code: np.full(n, code, np.int64) for code in range(len(CHOICES))}
        most = always[int(np.bincount(labels, minlength=len(CHOICES)).argmax())]
        ab, ba = {
            "always A": (always[A], always[A]),
            "always B": (always[B], always[B]),
            "always the first shown": (always[A], always[B]),
            "the longer response": (longer, longer),
            "the most frequent label": (most, most),
        }[name]
        return self.rule.score(pairs.labels, ab, None if pairs.ba is None else ba)

    def _family(self, row: Row) -> Basis:
        """Of each of its judges, the pairs; one row for each judge and pair."""
        import pandas as pd

        members = [judge for judge in self.pairs.judges if self.pairs.families.get(judge) == row["name"]]
        parts = [self.basis({**row, "of": "judge", "name": judge}) for judge in members]
        used, left = (
            pd.concat([getattr(part, side).assign(judge=judge) for judge, part in zip(members, parts, strict=True)])
            for side in ("used", "left_out")
        )
        unit = parts[0].unit
        return Basis(unit, used.reset_index(drop=True), left.reset_index(drop=True), (), tuple(members))

    def _difference(self, row: Row) -> _Counted:
        first, then = (self._scores(row[name]) for name in ("name", "other"))
        both = first.counted & then.counted if row["figure"] == "acc" else first.offered & then.offered
        return _of(both)

    def _people(self, row: Row) -> Basis:
        pairs = self.pairs
        voted = (pairs.votes >= 0).any(axis=1)
        counts = (majority_of(pairs.votes) >= 0) & (self.rule.ties | (pairs.labels != TIE))
        counted = _Counted(np.asarray(voted & counts, np.int64), np.asarray(voted, np.int64))
        best = row["other"]
        return self._basis(counted, (best,) if best is not None else (), False)

    def _raters(self) -> dict[str, IntArray]:
        """Judge, or annotator, -> what it chose on each pair."""
        pairs = self.pairs
        choices = pairs.choices()
        found = {judge: choices[:, place] for place, judge in enumerate(pairs.judges)}
        for place in most_voting(pairs.votes):
            found[f"{_ANNOTATOR}{pairs.annotators[place]}"] = pairs.votes[:, place]
        return found


def _is_of_answers(figure: str) -> bool:
    return figure not in _PER_JUDGE


def _chooses(decisions: IntArray) -> Counts:
    return np.isin(decisions, (A, B)).astype(np.int64)


def _of(used: NDArray[np.bool_]) -> _Counted:
    return _Counted(used.astype(np.int64), np.ones(len(used), np.int64))


def of_profile(sources: Sources, row: Row) -> Basis:
    """A row of ``dataset_profile``: pairs or responses of which the figure is known."""
    figure = row["figure"]
    return sources.once(("profile", figure), lambda: _profiled(sources, figure))


def _profiled(sources: Sources, figure: str) -> Basis:
    pairs = sources[PREFERENCE_PAIRS]
    records = [{str(key): value for key, value in record.items()} for record in pairs.to_dict("records")]
    used, offered, unit = [1] * len(records), [1] * len(records), "pairs"
    why = "it is not known of the pair"
    if figure == "natural_languages":
        from judge_pipeline.preference.natural_languages import natural_languages_of

        told = natural_languages_of([prose_of(record) for record in records], sources.options.natural_languages)
        used = [int(language is not None) for language in told]
    elif figure == "programming_languages":
        used = [int(bool(programming_languages_of(record))) for record in records]
    elif figure == "output_chars":
        used, offered, unit = [2] * len(records), [2] * len(records), "responses"
    elif figure == "code_lines":
        lines = [code_lines_of([record]) for record in records]
        used, offered = [sum(n is not None for n in of) for of in lines], [len(of) for of in lines]
        unit = "files, or responses"
    elif figure == "chose_first_in_source":
        used, why = [int(record["w"] != "tie") for record in records], "people call it a tie"
    rest = [n - m for n, m in zip(offered, used, strict=True)]
    rows = [
        rows_of(["pair_id", COUNTS], [[pair, n] for pair, n in zip(pairs["pair_id"], counts, strict=True) if n])
        for counts in (used, rest)
    ]
    return Basis(unit, rows[0], without(rows[1], why))


RULES = {"preference_accuracy": of_accuracy, "dataset_profile": of_profile}
"""Table of figures -> what a row of it rests on."""
