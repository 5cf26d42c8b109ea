"""What every figure is called, which direction is better, and what a judge without skill reaches: said once.

The terminal, the report, its figures and the exported tables take their words from here, so that none can differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class MetricWords:
    """How one figure is shown.

    Attributes:
        label: its name for people.
        better: whether higher or lower is better; ``neither`` where that question has no answer.
        reference: the value that a judge without skill reaches, where it is a constant.
        span: the range drawn on an axis; None where it follows from the data.
    """

    label: str
    better: Literal["higher", "lower", "neither"]
    reference: float | None = None
    span: tuple[float, float] | None = None

    @property
    def arrow(self) -> str:
        """The direction that is better, as the paper's tables mark it."""
        return {"higher": "↑", "lower": "↓", "neither": ""}[self.better]


METRICS: Mapping[str, MetricWords] = {
    "roc_auc": MetricWords("ROC-AUC", "higher", 0.5, (0.0, 1.0)),
    "pr_auc": MetricWords("PR-AUC", "higher", None, (0.0, 1.0)),
    "log_loss": MetricWords("LogLoss", "lower"),
    "log_loss_n_clipped": MetricWords("Probabilities clipped in LogLoss", "neither"),
    "brier": MetricWords("Brier score", "lower"),
    "brier_reliability": MetricWords("Brier: reliability", "lower"),
    "brier_resolution": MetricWords("Brier: resolution", "higher"),
    "brier_uncertainty": MetricWords("Brier: uncertainty", "neither"),
    "brier_within_variance": MetricWords("Brier: variance within bins", "neither"),
    "brier_within_covariance": MetricWords("Brier: covariance within bins", "neither"),
    "ece": MetricWords("ECE, 15 bins", "lower"),
    "ece_equal_mass": MetricWords("ECE, bins of equal mass", "lower"),
    "ece_debiased": MetricWords("ECE, debiased", "lower"),
    "ece_squared_debiased": MetricWords("Squared calibration gap, debiased", "lower", 0.0),
    "mcc_val": MetricWords("MCC on val", "higher", 0.0, (-1.0, 1.0)),
    "threshold": MetricWords("Threshold t*", "neither"),
    "threshold_plateau_low": MetricWords("Plateau of t*, low", "neither"),
    "threshold_plateau_high": MetricWords("Plateau of t*, high", "neither"),
    "threshold_in_plateau": MetricWords("Resampled t* in the plateau", "neither", None, (0.0, 1.0)),
    "threshold_stability": MetricWords("Resampled t* within 0.05", "neither", None, (0.0, 1.0)),
    "mcc_test": MetricWords("MCC on test", "higher", 0.0, (-1.0, 1.0)),
    "mcc_test_reselected": MetricWords("MCC on test, t* reselected", "higher", 0.0, (-1.0, 1.0)),
    "precision": MetricWords("Precision at t*", "higher", None, (0.0, 1.0)),
    "recall": MetricWords("Recall at t*", "higher", None, (0.0, 1.0)),
    "f1": MetricWords("F1 at t*", "higher", None, (0.0, 1.0)),
    "balanced_accuracy": MetricWords("Balanced accuracy at t*", "higher", 0.5, (0.0, 1.0)),
    "accept_rate": MetricWords("Accepted by the judge at t*", "neither", None, (0.0, 1.0)),
}
"""The figures of a judge (paper 1, Table IV, and those beside them), in the order in which they are shown."""

AGREEMENT: Mapping[str, str] = {
    "cohen": "Cohen's κ",
    "judge_mean_cohen": "Mean Cohen's κ of the judge",
    "mean_cohen": "Mean pairwise Cohen's κ",
    "fleiss": "Fleiss' κ",
    "gwet_ac1": "Gwet's AC1",
    "krippendorff_nominal": "Krippendorff's α, nominal",
    "krippendorff_ordinal": "Krippendorff's α, ordinal",
    "krippendorff_interval": "Krippendorff's α, interval",
    "cohen_linear": "Cohen's κ, linear weights",
    "cohen_quadratic": "Cohen's κ, quadratic weights",
    "raw_agreement": "Same decision",
    "prevalence": "Accepted by the judges",
    "prevalence_index": "Prevalence index",
    "bias_index": "Bias index",
    "mean_abs_difference": "Mean absolute difference",
}
"""Agreement statistics (paper 1, Table V, and those beside them)."""

RATED: Mapping[str, str] = {
    "decision": "accept or reject",
    "s_algo": "algorithmic adequacy (s_algo)",
    "s_robust": "robustness (s_robust)",
    "p_ac": "probability of acceptance (p_ac)",
}
"""What judges agree on."""

SCORE_METRICS: Mapping[str, str] = {
    "roc_auc": "ROC-AUC",
    "spearman": "Spearman's ρ",
    "kendall_tau_b": "Kendall's τ-b",
}
"""How an ordinal score goes with the verdict."""

MAPS: Mapping[str, str] = {
    "none": "as answered",
    "platt": "Platt",
    "beta": "beta",
    "temperature": "temperature",
    "isotonic": "isotonic",
}
"""Calibration maps."""

PANEL_METHODS: Mapping[str, str] = {
    "mean": "mean",
    "median": "median",
    "logit_mean": "mean of logits",
    "stacker": "stacker fitted on val",
}
"""How a panel's answers become one."""

RATE_METHODS: Mapping[str, str] = {
    "labels_only": "labels of val alone",
    "judge_mean": "mean p_ac",
    "judge_decisions": "accepted at t*",
    "ppi": "prediction-powered (PPI)",
    "ppi_plus_plus": "prediction-powered, tuned (PPI++)",
    "rogan_gladen": "Rogan-Gladen",
}
"""How an acceptance rate is estimated."""


def metric_label(name: str) -> str:
    """A judge's figure in words; a name that is not in the dictionary stands for itself."""
    return METRICS[name].label if name in METRICS else name


LEVELS: Mapping[str, str] = {
    "roc_auc": "0.5",
    "pr_auc": "accepted share",
    "mcc_test": "0",
    "balanced_accuracy": "0.5",
    "log_loss": "constant's",
    "brier": "constant's",
    "ece_squared_debiased": "0",
    "cohen": "0",
    "mean_cohen": "0",
    "fleiss": "0",
}
"""What a judge without skill reaches: chance, the constant forecast of val's accepted share, perfect calibration."""


def level_label(name: str) -> str:
    """A figure less what a judge without skill reaches, in words."""
    label = agreement_label(name) if name in AGREEMENT else metric_label(name)
    return f"{label} less {LEVELS[name]}" if name in LEVELS else label


def rerating_label(statistic: str, rated: str) -> str:
    """How far a person agrees with somebody, in words."""
    shorter = {"roc_auc": "ROC-AUC against the person", "cohen_quadratic": "Weighted κ"}
    label = shorter.get(statistic) or agreement_label(statistic)
    on = {"decision": "", "p_ac": ""}.get(rated, f", {rated}")
    return ("Same score" if statistic == "raw_agreement" and on else label) + on


def agreement_label(name: str) -> str:
    """An agreement statistic in words; a name that is not in the dictionary stands for itself."""
    return AGREEMENT.get(name, name)
