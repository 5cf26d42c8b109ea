"""What figures of judges rest on: the labelled attempts that they answered (paper 1, Tables IV and V)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_pipeline.lineage.basis import NO_LABEL, Basis, Further, rows_of, without
from judge_pipeline.statistics import calibration
from judge_pipeline.tables import JUDGE_AGREEMENT, JUDGE_DIFFERENCES, JUDGE_PANEL_WEIGHTS

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from judge_pipeline.cocreation.judged_attempts import JudgedAttempts, SplitArrays
    from judge_pipeline.lineage.sources import Sources

    BoolArray = NDArray[np.bool_]

Row = Mapping[str, Any]

AT_THRESHOLD = (
    "mcc_test", "mcc_test_reselected", "precision", "recall", "f1", "balanced_accuracy", "accept_rate",
)  # fmt: skip
"""Figures on test that decide at t*, which is chosen on val."""

CHOSEN_ON_VAL = "t* is chosen on these attempts of val (eq. 19)"
FITTED_ON_VAL = "the map is fitted on these attempts of val"
WEIGHED_ON_VAL = "t*, the stacker and the best judge are chosen on these attempts of val"
CONSTANT_OF_VAL = "the constant forecast is the accepted share of these attempts of val"
_WITH_GAPS = ("gwet_ac1", "krippendorff_nominal")


def of_metric(sources: Sources, row: Row) -> Basis:
    """A row of ``judge_metrics``: the attempts of its split that have a label and the judge's answer."""
    also = row["split"] == "test" and row["metric"] in AT_THRESHOLD
    return answered(sources, (row["judge"],), (row["split"],), CHOSEN_ON_VAL if also else None)


def of_curve(sources: Sources, row: Row) -> Basis:
    """A point of ``judge_curves``: the attempts at or above its threshold, those of its bin, or all of the curve."""
    judge, curve = row["judge"], row["curve"]
    if curve == "mcc_val":
        return answered(sources, (judge,), ("val",), None)
    if curve.endswith("_band"):
        return answered(sources, (judge,), ("test",), None)
    whole, column = sources.judged.splits["test"], sources.judged.judges.index(judge)
    usable, p = whole.usable(column), whole.p[:, column]
    if curve == "reliability":
        inside = usable & (_bins(p, usable) == _bin_of_point(p, usable, int(row["point"])))
    else:
        inside = usable & (p >= row["threshold"]) if row["threshold"] is not None else _at_the_end(usable, row)
    key = ("curve", judge, curve, row["point"])
    return sources.once(key, lambda: Basis("attempts", _rows(whole, inside), rows_of(["attempt_id", "why"]), (),
                                           (judge,), True))  # fmt: skip


def _bins(p: NDArray[np.float64], usable: BoolArray) -> NDArray[np.int64]:
    found = np.full(len(p), -1, np.int64)
    found[usable] = calibration.equal_width_bin(p[usable], calibration.N_BINS)
    return found


def _bin_of_point(p: NDArray[np.float64], usable: BoolArray, point: int) -> int:
    """The bin that the point stands for: bins without any attempt have no point."""
    return int(np.unique(_bins(p, usable)[usable])[point - 1])


def _at_the_end(usable: BoolArray, row: Row) -> BoolArray:
    """A curve begins above all scores, with no attempt, and may end below all of them."""
    return usable if row["n"] else np.zeros_like(usable)


def of_agreement(sources: Sources, row: Row) -> Basis:
    """A row of ``judge_agreement``: attempts that all of the panel answered; with gaps, those that several rated."""
    panel = sources.once("panel of agreement", lambda: names_in(sources[JUDGE_AGREEMENT], "judge_1", "judge_2"))
    rated, named = row["rated"], _named(row)
    if rated == "decision" and row["statistic"] not in _WITH_GAPS:
        own = named if len(named) == 2 or row["statistic"] == "prevalence" else ()
        return answered(sources, panel, ("test",), CHOSEN_ON_VAL, own)
    return _rated_by_several(sources, panel, rated, named)


def _named(row: Row) -> tuple[str, ...]:
    return tuple(row[name] for name in ("judge_1", "judge_2") if row[name] is not None)


def _rated_by_several(sources: Sources, panel: Sequence[str], rated: str, named: tuple[str, ...]) -> Basis:
    judged = sources.judged
    test = judged.splits["test"]
    columns = [judged.judges.index(name) for name in panel]
    given = ~np.isnan(test.scores[rated][:, columns] if rated in test.scores else test.p[:, columns])
    used = ~np.isnan(test.y) & (given.sum(axis=1) >= 2)
    for name in named:
        used &= given[:, list(panel).index(name)]
    who = " and ".join([*named, *(["another judge"] if len(named) == 1 else [])]) or "two judges of the panel"

    def make() -> Basis:
        left = without(_rows(test, ~used), _why_not(test, used, f"no {rated} of {who}"))
        # A pair is these two; of one judge, or of the panel, it is all who rated any of it.
        raters = named if len(named) == 2 else tuple(np.array(panel, object)[given[used].any(axis=0)])
        also = _val_of(judged, raters, CHOSEN_ON_VAL) if rated == "decision" else ()
        return Basis("attempts", _rows(test, used), left, also, raters, True)

    return sources.once(("rated", tuple(panel), rated, named), make)


def of_score(sources: Sources, row: Row) -> Basis:
    """A row of ``judge_scores``: the attempts of test with a label, the judge's answer and its score."""
    judge, score = row["judge"], row["score"]
    test, column = sources.judged.splits["test"], sources.judged.judges.index(judge)
    used = test.usable(column) & ~np.isnan(test.scores[score][:, column])

    def make() -> Basis:
        left = without(_rows(test, ~used), _why_not(test, used, f"{judge} gave no {score}"))
        return Basis("attempts", _rows(test, used), left, (), (judge,), True)

    return sources.once(("score", judge, score), make)


def of_calibration(sources: Sources, row: Row) -> Basis:
    """A row of ``judge_calibration``: the judge's answers on test; its map is fitted on val."""
    return answered(sources, (row["judge"],), ("test",), None if row["map"] == "none" else FITTED_ON_VAL)


def of_calibration_map(sources: Sources, row: Row) -> Basis:
    """A row of ``judge_calibration_maps``: the judge's answers on val."""
    return answered(sources, (row["judge"],), ("val",), None)


def of_panel_weight(sources: Sources, row: Row) -> Basis:
    """A row of ``judge_panel_weights``: the attempts of val that all of the panel answered."""
    del row
    return answered(sources, _panel(sources), ("val",), None)


def of_panel(sources: Sources, row: Row) -> Basis:
    """A row of ``judge_panels``: the attempts of its split that all of the panel answered."""
    return answered(sources, _panel(sources), (row["split"],), WEIGHED_ON_VAL if row["split"] == "test" else None)


def _panel(sources: Sources) -> tuple[str, ...]:
    return sources.once("panel of weights", lambda: names_in(sources[JUDGE_PANEL_WEIGHTS], "judge"))


def of_rate(sources: Sources, row: Row) -> Basis:
    """A row of ``acceptance_rates``: the labels of val, or the judge's answers everywhere."""
    splits = ("val",) if row["method"] == "labels_only" else ("test", "val", "train")
    return answered(sources, (row["judge"],), splits, None)


def of_difference(sources: Sources, row: Row) -> Basis:
    """A row of ``judge_differences``: the attempts of test that both, or the one, or all of the panel answered."""
    metric, against = row["metric"], row["against"]
    judges = _named(row)
    if metric in ("cohen", "mean_cohen", "fleiss"):
        return answered(sources, _panel_of_kappas(sources), ("test",), CHOSEN_ON_VAL, judges)
    found = answered(sources, judges, ("test",), CHOSEN_ON_VAL if metric in AT_THRESHOLD else None)
    if against != "constant":
        return found

    def make() -> Basis:
        val = sources.judged.splits["val"]
        constant = Further(CONSTANT_OF_VAL, _rows(val, ~np.isnan(val.y)))
        return Basis(found.unit, found.used, found.left_out, (*found.also, constant), judges, True)

    return sources.once(("constant", judges, metric in AT_THRESHOLD), make)


def _panel_of_kappas(sources: Sources) -> tuple[str, ...]:
    def make() -> tuple[str, ...]:
        rows = sources[JUDGE_DIFFERENCES]
        return names_in(rows[rows["metric"] == "cohen"], "judge_1", "judge_2")

    return sources.once("panel of kappas", make)


def answered(
    sources: Sources, judges: Sequence[str], splits: Sequence[str], on_val: str | None, own: Sequence[str] = ()
) -> Basis:
    """The attempts of the splits that have a label and an answer of each of the judges; ``on_val`` says what val is."""
    key = ("answered", tuple(judges), tuple(splits), on_val, tuple(own))
    return sources.once(key, lambda: answered_of(sources.judged, judges, splits, on_val, own))


def answered_of(
    judged: JudgedAttempts, judges: Sequence[str], splits: Sequence[str], on_val: str | None, own: Sequence[str] = ()
) -> Basis:
    """The same from predictions as arrays. Where no judge is named, no attempt counts.

    Args:
        judged: the predictions.
        judges: the judges that must all have answered.
        splits: the splits to look at.
        on_val: what the attempts of val are to the figure that the judges answered; None: nothing.
        own: those of the judges whose answers it is computed from; all by default. Of the others it matters only that
            they answered.
    """
    import pandas as pd

    used, left = [], []
    who = " or ".join(judges) if len(judges) < 3 else "some judge of the panel"
    for name in splits:
        split = judged.splits[name]
        inside = _all_usable(judged, split, judges)
        used.append(_rows(split, inside))
        left.append(without(_rows(split, ~inside), _why_not(split, inside, f"not answered by {who or 'any judge'}")))
    of = tuple(own) or tuple(judges)
    also = _val_of(judged, of, on_val) if on_val else ()
    parts = [pd.concat(found, ignore_index=True) for found in (used, left)]
    others = tuple(judge for judge in judges if judge not in of)
    return Basis("attempts", parts[0], parts[1], also, of, True, answered_too=others)


def _all_usable(judged: JudgedAttempts, split: SplitArrays, judges: Sequence[str]) -> BoolArray:
    inside = np.full(len(split.y), bool(judges))
    for judge in judges:
        inside &= split.usable(judged.judges.index(judge))
    return inside


def _val_of(judged: JudgedAttempts, judges: Sequence[str], words: str) -> tuple[Further, ...]:
    """The attempts of val that any of the judges answered: each chooses on its own."""
    val = judged.splits["val"]
    any_of = np.zeros(len(val.y), np.bool_)
    for judge in judges:
        any_of |= val.usable(judged.judges.index(judge))
    return (Further(words, _rows(val, any_of)),)


def _why_not(split: SplitArrays, used: BoolArray, otherwise: str) -> list[str]:
    return [NO_LABEL if np.isnan(y) else otherwise for y in split.y[~used]]


def _rows(split: SplitArrays, inside: BoolArray) -> pd.DataFrame:
    return rows_of(["attempt_id"], [[attempt] for attempt in split.attempt_ids[inside]])


def names_in(table: pd.DataFrame, *columns: str) -> tuple[str, ...]:
    """The judges that a table names in these columns, in alphabetical order."""
    return tuple(sorted({name for column in columns for name in table[column].dropna()}))


RULES = {
    "judge_metrics": of_metric,
    "judge_curves": of_curve,
    "judge_agreement": of_agreement,
    "judge_scores": of_score,
    "judge_calibration": of_calibration,
    "judge_calibration_maps": of_calibration_map,
    "judge_panel_weights": of_panel_weight,
    "judge_panels": of_panel,
    "acceptance_rates": of_rate,
    "judge_differences": of_difference,
}
"""Table of figures -> what a row of it rests on."""
