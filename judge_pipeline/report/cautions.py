"""What a reader must know before any figure: generated from the tables, in words, most weighty first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from judge_pipeline.figures.estimates import accepted_share
from judge_pipeline.report.anchor_words import drifted
from judge_pipeline.report.canary_words import talked_round
from judge_pipeline.report.inputs import CocreationReportInput, JudgeKind, judge_kinds

FEW_TRAJECTORIES = 50
"""Below this, percentile intervals over resampled trajectories would be too narrow, and ours are expanded."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence or two for the top of the report.

    Attributes:
        lead: the point in a few words.
        text: the whole of it, plain text.
        anchor: where in the page the evidence stands.
    """

    lead: str
    text: str
    anchor: str


def cautions(given: CocreationReportInput, note: str | None = None) -> list[Statement]:
    """The warnings of a contest's tables; ``note`` is the contest's own, and comes first.

    Of simulated and embedded judges those are named that have a figure.
    """
    kinds = judge_kinds(given.judge_coverage)
    shown = {judge: kind for judge, kind in kinds.items() if judge in set(given.judge_metrics["judge"])}
    found = [Statement("Note on these data", note, "data")] if note else []
    for statement in (
        _talked_round(given.judge_canary_effects),
        _drifted(given.anchor_figures),
        _unverified(kinds, set(shown)),
        _simulated(shown),
        _embedded(shown),
        _one_class(given.judge_curves),
        _small(given.trajectories) if len(given.judge_metrics) else None,
        _order(given.trajectories),
        _undecided(given.trajectories),
        _set_aside(given.ingest_quarantine),
    ):
        if statement is not None:
            found.append(statement)
    return found


def names(judges: Sequence[str], limit: int = 8) -> str:
    """Judges' names as a list in words; beyond the limit, how many more there are."""
    shown = ", ".join(judges[:limit])
    return shown if len(judges) <= limit else f"{shown} and {len(judges) - limit} more"


def _unverified(kinds: Mapping[str, JudgeKind], shown: set[str]) -> Statement | None:
    missing = [kind for kind in kinds.values() if not kind.verified]
    if not kinds:
        return Statement("No judges", "No judge is configured for this contest, so no judge was measured.", "judges")
    if not missing:
        return None
    reasons = "; ".join(f"{kind.judge}: {kind.reason or kind.status}" for kind in missing[:8])
    more = f"; and {len(missing) - 8} more in the table of judges" if len(missing) > 8 else ""
    lead = (
        "No judge is verified" if len(missing) == len(kinds) else f"{len(missing)} of {len(kinds)} judges not verified"
    )
    if all(kind.status == "not judged" for kind in missing):
        whole = len(missing) == len(kinds)
        lead = "No judge has judged" if whole else f"{len(missing)} of {len(kinds)} judges without judgments"
        return Statement(lead, f"No figure rests on them. {reasons}{more}.", "judges")
    marked = [kind.judge for kind in missing if kind.judge in shown]
    use = f"figures of {names(marked)} are shown and marked" if marked else "no figure rests on them"
    return Statement(
        lead,
        f"Their tables do not satisfy eq. 9, so {use}. {reasons}{more}.",
        "judges",
    )


def _simulated(kinds: Mapping[str, JudgeKind]) -> Statement | None:
    simulated = [kind.judge for kind in kinds.values() if kind.simulated]
    if not simulated:
        return None
    return Statement(
        "Simulated judges",
        f"{names(simulated)}: their outputs were made up, with stated accuracy, bias and calibration, to show what "
        "figures look like. They measure no model.",
        "judges",
    )


def _embedded(kinds: Mapping[str, JudgeKind]) -> Statement | None:
    embedded = [kind.judge for kind in kinds.values() if kind.backend == "embedded"]
    if not embedded:
        return None
    return Statement(
        "Embedded judge",
        f"{names(embedded)}: a small language model that exercises the pipeline and does not judge. On programs with "
        "known verdicts it is at chance; its figures say that the pipeline works, no more.",
        "judges",
    )


def _talked_round(effects: pd.DataFrame | None) -> Statement | None:
    sentences = [] if effects is None else talked_round(effects)
    if not sentences:
        return None
    who = f"{len(sentences)} judge{'' if len(sentences) == 1 else 's'} can be moved by what an attempt says"
    return Statement(who, f"{'; '.join(sentences)}.", "talked-round")


def _drifted(figures: pd.DataFrame | None) -> Statement | None:
    sentences = [] if figures is None else drifted(figures)
    if not sentences or figures is None:
        return None
    judges = [judge for judge in dict.fromkeys(figures["judge"]) if drifted(figures, str(judge))]
    who = "1 judge has drifted" if len(judges) == 1 else f"{len(judges)} judges have drifted"
    return Statement(
        who, f"{'; '.join(sentences)}. Its answers of other periods may not say what it says now.", "drift"
    )


def _one_class(curves: pd.DataFrame) -> Statement | None:
    shares = set(accepted_share(curves).values())
    if not shares or not shares <= {0.0, 1.0}:
        return None
    which = "accepted" if shares == {1.0} else "not accepted" if shares == {0.0} else "of one class for each judge"
    return Statement(
        "One class on test",
        f"Every judged test attempt is {which}: how well a judge tells accepted from not accepted is undefined.",
        "judges",
    )


def _small(trajectories: pd.DataFrame) -> Statement | None:
    counts = {split: int((trajectories["split"] == split).sum()) for split in ("val", "test")}
    if counts["test"] >= FEW_TRAJECTORIES and counts["val"] >= FEW_TRAJECTORIES:
        return None
    return Statement(
        "Small numbers",
        f"The judges' figures rest on {counts['test']} test {'trajectory' if counts['test'] == 1 else 'trajectories'}, "
        f"their thresholds on {counts['val']} of val. "
        f"Below {FEW_TRAJECTORIES} trajectories intervals are widened by t quantiles, so that they keep their 95% as "
        "well as so few can; they are wide, and values say little without them.",
        "judges",
    )


def _order(trajectories: pd.DataFrame) -> Statement | None:
    before = int(trajectories["n_rejected_before_first_ac"].sum())
    after = int(trajectories["n_rejected_after_first_ac"].sum())
    if after <= before:
        return None
    return Statement(
        "Order of turns in doubt",
        f"Of {before + after} rejected attempts in solved trajectories, {after} follow the first accepted one. That is "
        "the mark of lists that print the newest first and were read as oldest first; if so, Success@Turn and "
        "Kaplan-Meier are too early. Check the order of the submission pages.",
        "people",
    )


def _undecided(trajectories: pd.DataFrame) -> Statement | None:
    undecided = int(trajectories["n_undecided"].sum())
    if not undecided:
        return None
    return Statement(
        "Attempts without a verdict",
        f"{undecided} attempt(s) are still being judged, or state no verdict that is understood. They have no label "
        "and are left out of every metric.",
        "people",
    )


def _set_aside(quarantine: pd.DataFrame) -> Statement | None:
    if not len(quarantine):
        return None
    return Statement(
        "Data set aside",
        f"{len(quarantine):,} place(s) in {quarantine['path'].nunique():,} artifact(s) could not be read and are in no "
        "number below.",
        "set-aside",
    )
