"""What a reader of the preference report must know before any figure: from the tables, in words, most weighty first."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from judge_pipeline.figures.estimates import format_number, read_estimate, text, value_words
from judge_pipeline.report.cautions import Statement, names
from judge_pipeline.report.preference_accuracy_views import under_rule
from judge_pipeline.report.preference_inputs import PreferenceProvenance, PreferenceReportInput
from judge_pipeline.report.preference_misalignment_views import HIGH_VIF, above_floor

FEW_INSTRUCTIONS = 50
"""Below this many clusters percentile intervals would be too narrow, and ours are expanded."""
FEW_PAIRS = 200
"""Below this many pairs the models of a dozen items rest on little."""
MANY_INVALID = 0.1
"""From this share of pairs without two valid answers on a judge is named."""
LEANING, FEW_LABELS = 0.15, 30
"""From this far off one half on, with this many untied labels, labels are said to lean to one side."""
WEAK_SCORES = 0.6
"""Below this kappa of the two orders rubric scores are called weak."""
MAX_NAMED, MAX_REASONS = 4, 6
"""Judges that are named of those that are not verified for one reason, and reasons."""
_ONE_ORDER = "needs both orders"


def preference_cautions(given: PreferenceReportInput, provenance: PreferenceProvenance) -> list[Statement]:
    """The warnings of a set's tables; judges and items are called as ``given`` calls them."""
    accuracy = None if given.preference_accuracy is None else under_rule(given.preference_accuracy, provenance.rule)
    found = [_nobody_chose(provenance)] if provenance.by_nobody else []
    found += [Statement("Note on these data", provenance.note, "set")] if provenance.note else []
    for statement in (
        _unverified(given),
        _of_kind(given, "simulated"),
        _of_kind(given, "embedded"),
        _one_order(accuracy),
        _small(given),
        _invalid(accuracy),
        _weak_scores(given.rubric_score_agreement),
        _models(given.preference_model_fits, given.preference_models, provenance.chooser),
        _leaning(given.preference_pairs),
        _ties(given.preference_pairs),
        _set_aside(given.preference_quarantine),
        _missing(given),
    ):
        if statement is not None:
            found.append(statement)
    return found


def _nobody_chose(provenance: PreferenceProvenance) -> Statement:
    return Statement(
        "The labels are not people's choices",
        f"By this set's preference.yaml, what chose is: {provenance.chosen_by}. Nothing on this page says what people "
        "want, or how well a judge knows it.",
        "set",
    )


def _unverified(given: PreferenceReportInput) -> Statement | None:
    kinds = given.kinds
    if given.pair_judge_coverage is None:
        return None
    if not kinds:
        return Statement("No judges", "No judge that serves preference sets is configured.", "judges")
    missing = [kind for kind in kinds.values() if not kind.verified]
    if not missing:
        return None
    idle = all(kind.status == "not judged" for kind in missing)
    lead = f"{len(missing)} of {len(kinds)} judges {'without choices' if idle else 'not verified'}"
    lead = "No judge is verified" if len(missing) == len(kinds) else lead
    shown = set() if given.preference_accuracy is None else set(given.preference_accuracy["name"].dropna())
    marked = [kind.judge for kind in missing if kind.label in shown]
    use = f"Figures of {names(marked)} are shown and marked" if marked else "No figure rests on them"
    by_reason: dict[str, list[str]] = {}
    for kind in missing:
        by_reason.setdefault(kind.reason or kind.status, []).append(kind.judge)
    said = [f"{names(judges, MAX_NAMED)}: {reason}" for reason, judges in by_reason.items()][:MAX_REASONS]
    more = "; more in the table of judges" if len(by_reason) > MAX_REASONS else ""
    return Statement(lead, f"{use}. {'; '.join(said)}{more}.", "judges")


_KIND_WORDS = {
    "simulated": (
        "Simulated judges",
        "their choices were made up to show what figures look like. They measure no model",
    ),
    "embedded": (
        "Embedded judge",
        "a small language model that exercises the pipeline. It is too weak to judge: its figures say that the "
        "pipeline works, no more",
    ),
}


def _of_kind(given: PreferenceReportInput, kind: str) -> Statement | None:
    lead, words = _KIND_WORDS[kind]
    verified = [k for k in given.kinds.values() if k.verified]
    judges = [k.judge for k in verified if (k.simulated if kind == "simulated" else k.backend == kind)]
    return Statement(lead, f"{names(judges)}: {words}.", "judges") if judges else None


def _one_order(accuracy: pd.DataFrame | None) -> Statement | None:
    if accuracy is None:
        return None
    rows = _of_judges(accuracy, "consistent_share")
    one = [str(row["name"]) for row in rows.to_dict("records") if (text(row["reason"]) or "").startswith(_ONE_ORDER)]
    if not one:
        return None
    return Statement(
        "One order only",
        f"{names(one)}: asked with A first alone. What a judge owes to the place of a response is not seen, and Acc is "
        "not that of judges asked in both orders.",
        "bias",
    )


def _small(given: PreferenceReportInput) -> Statement | None:
    n, splits = len(given.preference_pairs), given.preference_splits
    groups = n if splits is None else int(splits["instruction_group"].nunique())
    if n >= FEW_PAIRS and groups >= FEW_INSTRUCTIONS:
        return None
    pairs = "1 pair" if n == 1 else f"{n:,} pairs"
    return Statement(
        "Small numbers",
        f"{pairs} of {groups:,} different instructions. Pairs of one instruction are drawn together; below "
        f"{FEW_INSTRUCTIONS} instructions intervals are widened by t quantiles. A model of a dozen rubric items needs "
        "some hundreds of pairs. Values say little without their intervals.",
        "set",
    )


def _invalid(accuracy: pd.DataFrame | None) -> Statement | None:
    if accuracy is None:
        return None
    rows = _of_judges(accuracy, "valid_share")
    weak = rows[rows["value"].notna() & (rows["value"] < 1 - MANY_INVALID)]
    if weak.empty:
        return None
    said = [f"{row['name']} {value_words(read_estimate(row))}" for row in weak.to_dict("records")]
    return Statement(
        "Invalid answers",
        f"Share of pairs with two valid answers: {names(said)}. The others count as wrong in Acc.",
        "judges",
    )


def _of_judges(accuracy: pd.DataFrame, figure: str) -> pd.DataFrame:
    return accuracy[(accuracy["of"] == "judge") & (accuracy["figure"] == figure) & accuracy["category"].isna()]


def _weak_scores(agreement: pd.DataFrame | None) -> Statement | None:
    if agreement is None:
        return None
    rows = agreement[agreement["item"].isna() & (agreement["figure"] == "cohen") & agreement["value"].notna()]
    weak = [row for row in rows.to_dict("records") if row["value"] < WEAK_SCORES]
    if not weak:
        return None
    said = [f"{text(row['other']) or 'its other order'} {value_words(read_estimate(row))}" for row in weak]
    return Statement(
        "Rubric scores are weak",
        f"Cohen's κ of the scorer with {names(said)}. Coefficients of scores that are partly chance are drawn towards "
        "0, on both sides alike.",
        "rubric",
    )


def _models(fits: pd.DataFrame | None, models: pd.DataFrame | None, chooser: str) -> Statement | None:
    """What of the models says nothing: no better than a floor, separated, or of items that others determine."""
    if fits is None or fits.empty:
        return None
    said = []
    fitted = fits[fits["value"].notna()]
    rows = [(text(row["judge"]) or chooser, row) for row in fitted.to_dict("records")]
    unsure = [name for name, row in rows if above_floor(row) != "yes"]
    if unsure:
        said.append(
            f"On pairs that they did not see, the models of {names(unsure)} are not told from their floors: their "
            "coefficients say little"
        )
    separated = [name for name, row in rows if not pd.isna(row["separated"]) and bool(row["separated"])]
    if separated:
        said.append(f"Choices of {names(separated)} are separated: the penalty alone keeps coefficients finite")
    high = [] if models is None else _high_vif(models)
    if high:
        said.append(f"Other items nearly determine {names(high)} (variance inflation from {HIGH_VIF:g} on)")
    return Statement("Models to be read with care", f"{'. '.join(said)}.", "trust") if said else None


def _high_vif(models: pd.DataFrame) -> Sequence[str]:
    rows = models[(models["effect"] == "coefficient") & models["vif"].notna()]
    return list(dict.fromkeys(rows.loc[rows["vif"] >= HIGH_VIF, "item"]))


def _leaning(pairs: pd.DataFrame) -> Statement | None:
    """Labels that are mostly one side: what place, or the source's order, had a part in them cannot be told."""
    untied = pairs.loc[pairs["w"] != "tie", "w"]
    if len(untied) < FEW_LABELS:
        return None
    share = float((untied == "A").mean())
    if abs(share - 0.5) < LEANING:
        return None
    side, of = ("A", share) if share > 0.5 else ("B", 1 - share)
    return Statement(
        f"Labels lean to {side}",
        f"{format_number(100 * of, 1)}% of {len(untied):,} untied labels are {side}. If those who chose saw {side} in "
        "one place, the labels may owe to it, and no judge that is asked in both orders can follow them there. The "
        f"floor 'always {side}' is high for the same reason; the source's setting swap: seeded takes that from it.",
        "levels",
    )


def _ties(pairs: pd.DataFrame) -> Statement | None:
    ties = int((pairs["w"] == "tie").sum())
    if not ties:
        return None
    return Statement(
        "Ties",
        f"{ties:,} of {len(pairs):,} pairs ({format_number(100 * ties / len(pairs), 1)}%) are labelled a tie. The "
        "models leave them out, and so do most scoring rules.",
        "set",
    )


def _set_aside(quarantine: pd.DataFrame | None) -> Statement | None:
    if quarantine is None or quarantine.empty:
        return None
    n, files = len(quarantine), quarantine["source_file"].nunique()
    first = quarantine.iloc[0]
    where, field, value = text(first["place"]), text(first["field"]), text(first["value"])
    said = [first["source_file"], *([where] if where else []), *([field] if field else [])]
    example = f"{', '.join(said)}{f' holds {value!r}' if value else ''}"
    return Statement(
        "Data set aside", f"{n:,} place(s) in {files:,} file(s) could not be read. The first: {example}.", "set-aside"
    )


def _missing(given: PreferenceReportInput) -> Statement | None:
    if not given.missing:
        return None
    return Statement("Tables not made", f"The page does without {names(given.missing, 20)}.", "missing")
