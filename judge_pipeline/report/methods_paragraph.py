"""What was done with a contest's data, in words that can be cited: from its tables and settings, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.estimates import (
    count,
    format_number,
    metrics_by_judge,
    overall_agreement,
    read_estimate,
    text,
)
from judge_pipeline.figures.style import clean
from judge_pipeline.report.asked_with import asked_with_words
from judge_pipeline.report.inputs import CocreationReportInput, JudgeKind, ReportProvenance, judge_kinds

CITED = (
    "Judged and measured as in LLM-as-a-Judge for Human-AI Co-Creation: A Reliability-Aware Evaluation Framework for "
    "Coding, with intervals added"
)


def methods_paragraph(given: CocreationReportInput, provenance: ReportProvenance) -> str:
    """The paragraph, one line of plain text: data, splits, judges, thresholds, figures, intervals, versions.

    It states what these tables hold: a method of which there is no table is not mentioned. Simulated and embedded
    judges, and those that are not verified, are named as such.
    """
    kinds = judge_kinds(given.judge_coverage)
    sentences = [
        f"{CITED}.",
        *_data(given, provenance),
        *_splits(given),
        *_judges(given, kinds, provenance),
        *_thresholds(given),
        *_figures(given),
        *_intervals(given, provenance),
        *_people(given),
        _versions(provenance),
    ]
    return clean(" ".join(sentences))


def _data(given: CocreationReportInput, provenance: ReportProvenance) -> list[str]:
    counts = {row["statistic"]: read_estimate(row) for row in given.contest_overview.to_dict("records")}
    name = provenance.title or provenance.contest
    found = {key: counts[key].value for key in counts}
    if found.get("attempts") is None:
        return [f"The data are those of the contest {name}."]
    parts = [f"{_n(found['attempts'])} submission attempts"]
    if found.get("accepted") is not None:
        undecided = counts["accepted"].n_left_out
        parts[0] += f" ({_n(found['accepted'])} accepted, {_n(found.get('non_accepted'))} not accepted"
        parts[0] += f", {undecided:,} without a verdict and left out of every figure)" if undecided else ")"
    parts += [f"{_n(found[key])} {words}" for key, words in (("participants", "participants"), ("problems", "problems"))
              if found.get(key) is not None]  # fmt: skip
    return [f"The data are those of the contest {name}: {', '.join(parts)}."]


def _splits(given: CocreationReportInput) -> list[str]:
    table = given.trajectories
    if not len(table):
        return []
    split = [int((table["split"] == name).sum()) for name in ("train", "val", "test")]
    return [
        f"Its {len(table):,} participant-problem trajectories were split as wholes, stratified by whether they were "
        f"solved, into {split[0]:,} for training, {split[1]:,} for validation (val) and {split[2]:,} for testing "
        "(test)."
    ]


def _judges(given: CocreationReportInput, kinds: Mapping[str, JudgeKind], provenance: ReportProvenance) -> list[str]:
    measured = list(dict.fromkeys(given.judge_metrics["judge"]))
    if not measured:
        return ["No judge has a figure."]
    rows = {row["judge"]: row for row in given.judge_coverage.to_dict("records")}
    shown = "with" if provenance.context == "nonblind" else "without"
    said = "; ".join(_judge(kinds[judge], rows[judge], provenance) for judge in measured if judge in kinds)
    one = len(measured) == 1
    return [
        f"{len(measured)} judge{'' if one else 's'} stated for each attempt in scope the probability that it is "
        f"accepted, from its code {shown} the participant's prompts ({provenance.context}): {said}."
    ]


def _judge(kind: JudgeKind, row: Mapping[Any, Any], provenance: ReportProvenance) -> str:
    details = [_what_it_is(kind, row)]
    prompt = provenance.prompt_hashes.get(kind.judge)
    details += [f"prompt sha256 {prompt[:12]}"] if prompt else []
    asked = asked_with_words(provenance.asked_with.get(kind.judge))
    details += [f"asked with {asked}"] if asked else []
    details.append(f"{count(row['n_judged']):,} of {count(row['n_in_scope']):,} attempts ({row['scope']})")
    details += [] if kind.verified else [f"not verified: {kind.reason or kind.status}"]
    return f"{kind.judge} ({', '.join(details)})"


def _what_it_is(kind: JudgeKind, row: Mapping[Any, Any]) -> str:
    if kind.simulated:
        return "simulated: its outputs were made up"
    model = text(row["model"])
    if kind.backend == "embedded":
        return f"embedded model {model}, which exercises the pipeline and does not judge"
    return {"baseline": f"baseline fitted on train, {model}", "recorded": f"outputs recorded elsewhere, {model}"}.get(
        kind.backend, f"model {model}"
    )


def _thresholds(given: CocreationReportInput) -> list[str]:
    found = {j: f["threshold"] for j, f in metrics_by_judge(given.judge_metrics).items() if "threshold" in f}
    known = {judge: e for judge, e in found.items() if e.value is not None}
    if not known:
        return []
    values = ", ".join(f"{judge} {format_number(e.value or 0.0, 2)}" for judge, e in known.items())
    return [
        f"Each judge's threshold t* is the smallest of 0, 0.01, ..., 1 with the highest Matthews correlation "
        f"coefficient (MCC) on the {_counts(known.values())} labelled attempts of val that it answered, applied "
        f"unchanged to test ({values})."
    ]


_MEASURES = {
    "roc_auc": "ROC-AUC",
    "pr_auc": "average precision (PR-AUC)",
    "log_loss": "LogLoss (natural logarithm, probabilities clipped to the float64 epsilon)",
    "brier": "the Brier score",
    "ece": "expected calibration error in 15 bins of equal width",
    "mcc_test": "MCC at t*",
}


def _figures(given: CocreationReportInput) -> list[str]:
    metrics = given.judge_metrics
    on_test = metrics_by_judge(metrics[metrics["split"] == "test"]).values()
    names = [words for name, words in _MEASURES.items() if any(name in found for found in on_test)]
    if not names:
        return []
    counts = _counts(found["brier"] for found in on_test if "brier" in found)
    sentences = [f"Figures are taken on the {counts} labelled attempts of test that a judge answered: {_list(names)}."]
    fleiss = overall_agreement(given.judge_agreement, "fleiss")
    if fleiss is not None and fleiss.value is not None:
        judges = given.judge_agreement["judge_1"].dropna().nunique()
        sentences.append(
            f"Agreement of decisions at t* is Cohen's and Fleiss' kappa over the {fleiss.n:,} test attempts that all "
            f"{judges:,} judges of the panel answered."
        )
    return sentences


def _intervals(given: CocreationReportInput, provenance: ReportProvenance) -> list[str]:
    sentences = []
    if given.judge_metrics["ci95_low"].notna().any():
        sentences.append(
            "Intervals are 95% expanded percentile intervals (Hesterberg 2015) from a cluster bootstrap that draws "
            f"whole trajectories, {provenance.resamples:,} resamples, seed {provenance.seed}, paired between judges; "
            "thresholds are held fixed, and resamples in which a figure is undefined are skipped and counted."
        )
    if given.judge_differences is not None and given.judge_differences["p_value"].notna().any():
        sentences.append(
            "Differences between judges are paired over the attempts that both answered; p-values invert the bootstrap "
            "interval and are corrected by Holm's method over all rows of one figure."
        )
    if given.judge_calibration is not None and (given.judge_calibration["map"] != "none").any():
        maps = [name for name in dict.fromkeys(given.judge_calibration["map"]) if name != "none"]
        sentences.append(f"Calibration maps ({_list(maps)}) were fitted on val alone and applied to test.")
    return sentences


def _people(given: CocreationReportInput) -> list[str]:
    parts = []
    if given.success_at_turn["value"].notna().any():
        parts.append("Success@Turn is over all trajectories, with Wilson intervals")
    if given.survival["value"].notna().any():
        parts.append(
            "time to success is a Kaplan-Meier estimate over turns, unsolved trajectories censored at their last "
            "decided turn, with log(-log) Greenwood bands"
        )
    joined = "; ".join(parts)
    return [f"{joined[:1].upper()}{joined[1:]}."] if joined else []


def _versions(provenance: ReportProvenance) -> str:
    version = f" {provenance.version}" if provenance.version else ""
    return (
        f"Computed with judge_pipeline{version} (code {provenance.code_version[:16]}) from data with sha256 "
        f"{provenance.fingerprint[:16]}; figures that do not exist are reported as undefined with the reason."
    )


def _n(value: float | None) -> str:
    return "an unknown number of" if value is None else f"{value:,.0f}"


def _counts(estimates: Iterable[Estimate]) -> str:
    known = sorted({estimate.n for estimate in estimates})
    if not known:
        return "0"
    return f"{known[0]:,}" if len(known) == 1 else f"{known[0]:,} to {known[-1]:,}"


def _list(names: Iterable[str]) -> str:
    known = list(names)
    return known[0] if len(known) == 1 else f"{', '.join(known[:-1])} and {known[-1]}"
