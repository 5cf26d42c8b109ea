"""Tables of the judges as measurement instruments (paper 1, V-B1, VI-A)."""

from __future__ import annotations

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables.columns import JUDGE, SPLITS, estimate_columns

JUDGE_METRICS = Table(
    "judge_metrics",
    "One figure of one judge (paper 1, Table IV): test-split figures, and the threshold chosen on val.",
    (
        JUDGE,
        Column("metric", "string", "Which figure; docs/reference/metrics.md gives the formula of each"),
        Column("split", "string", "The split it is taken on", allowed=SPLITS),
        *estimate_columns("The figure"),
    ),
    ("judge", "metric"),
)

AGREEMENT_STATISTICS = (
    "cohen", "raw_agreement", "judge_mean_cohen", "mean_cohen", "fleiss", "gwet_ac1", "krippendorff_nominal",
    "prevalence", "prevalence_index", "bias_index", "cohen_linear", "cohen_quadratic", "krippendorff_ordinal",
    "krippendorff_interval", "mean_abs_difference",
)  # fmt: skip
"""Every agreement figure; docs/reference/metrics.md says which exists on what."""

RATED = ("decision", "s_algo", "s_robust", "p_ac")
"""On what judges may agree: accept or reject at their own t*, an ordinal score, or the probability itself."""

JUDGE_AGREEMENT = Table(
    "judge_agreement",
    "One agreement figure of a pair of judges, of a judge with the others, or of the panel on test (paper 1, Table V).",
    (
        Column("statistic", "string", "Which figure", allowed=AGREEMENT_STATISTICS),
        Column("rated", "string", "What they agree on", allowed=RATED),
        Column("judge_1", "string", "First judge of the pair, or the judge; null for the panel", nullable=True),
        Column("judge_2", "string", "Second judge of the pair", nullable=True),
        *estimate_columns("The figure"),
    ),
    ("statistic", "rated", "judge_1", "judge_2"),
)

JUDGE_SCORES = Table(
    "judge_scores",
    "How one judge's ordinal score (s_algo, s_robust) goes with the verdict on test (paper 1, eq. 8, VI-A).",
    (
        JUDGE,
        Column("score", "string", "Which score", allowed=("s_algo", "s_robust")),
        Column("metric", "string", "Which figure", allowed=("roc_auc", "spearman", "kendall_tau_b")),
        *estimate_columns("The figure"),
    ),
    ("judge", "score", "metric"),
)

CALIBRATION_MAPS = ("platt", "beta", "temperature", "isotonic")
CALIBRATION_METRICS = ("log_loss", "brier", "ece", "ece_debiased", "roc_auc")

JUDGE_CALIBRATION_MAPS = Table(
    "judge_calibration_maps",
    "One parameter of a calibration map that was fitted on one judge's answers on val, and on nothing else.",
    (
        JUDGE,
        Column("map", "string", "Which map", allowed=CALIBRATION_MAPS),
        Column(
            "parameter",
            "string",
            "Which parameter: of the logit (platt), of ln p, -ln(1 - p) (beta), 1 / T (temperature), a knot (isotonic)",
            allowed=("intercept", "slope", "a", "b", "c", "inverse_temperature", "knot_p_ac", "knot_value"),
        ),
        Column("knot", "int", "Which knot of the isotonic map, from 1; 0 for the parameters of the others", low=0),
        Column("value", "float", "The parameter; null where the map could not be fitted", nullable=True),
        Column("n_val", "int", "Attempts of val that it was fitted on", low=0),
        Column("n_val_accepted", "int", "Accepted attempts among them", low=0),
        Column("reason", "string", "Why the value is null, or a warning about the map", nullable=True),
    ),
    ("judge", "map", "parameter", "knot"),
)

JUDGE_CALIBRATION = Table(
    "judge_calibration",
    "One figure on test of one judge's p_ac as answered (map none) or after a calibration map, or the change it makes.",
    (
        JUDGE,
        Column("map", "string", "The map; none: p_ac as answered", allowed=("none", *CALIBRATION_MAPS)),
        Column("metric", "string", "Which figure", allowed=CALIBRATION_METRICS),
        Column("quantity", "string", "The figure itself, or after less before, paired", allowed=("value", "change")),
        *estimate_columns("The figure or its change"),
    ),
    ("judge", "map", "metric", "quantity"),
)

PANEL_METHODS = ("mean", "median", "logit_mean", "stacker")

JUDGE_PANEL_WEIGHTS = Table(
    "judge_panel_weights",
    "One coefficient of the stacker, a logistic regression on the panel's logits, fitted on val and on nothing else.",
    (
        Column("judge", "string", "The judge whose logit it multiplies; null for the intercept", nullable=True),
        Column("value", "float", "The coefficient; null where the stacker could not be fitted", nullable=True),
        Column("n_val", "int", "Attempts of val that it was fitted on: those that all judges answered", low=0),
        Column("n_val_accepted", "int", "Accepted attempts among them", low=0),
        Column("n_left_out", "int", "Attempts of val that some judge has not answered, or without label", low=0),
        Column("reason", "string", "Why the value is null, or a warning about the fit", nullable=True),
    ),
    ("judge",),
)

JUDGE_PANELS = Table(
    "judge_panels",
    "One figure of a panel of judges taken as one judge, or its difference from the panel's best judge.",
    (
        Column("method", "string", "How the judges' answers become one", allowed=PANEL_METHODS),
        Column("metric", "string", "Which figure; those of judge_metrics"),
        Column(
            "quantity",
            "string",
            "The panel's figure, or the panel's less the best judge's, paired",
            allowed=("value", "difference"),
        ),
        Column("split", "string", "The split it is taken on", allowed=SPLITS),
        Column("best_judge", "string", "The judge that was best on val in this figure; for differences", nullable=True),
        *estimate_columns("The figure or the difference"),
        Column("p_value", "float", "Two-sided bootstrap p-value of no difference", nullable=True, low=0.0, high=1.0),
        Column(
            "p_holm", "float", "The same after Holm's correction over the methods", nullable=True, low=0.0, high=1.0
        ),
    ),
    ("method", "metric", "quantity"),
)

RATE_METHODS = ("labels_only", "judge_mean", "judge_decisions", "ppi", "ppi_plus_plus", "rogan_gladen")

ACCEPTANCE_RATES = Table(
    "acceptance_rates",
    "A contest's acceptance rate from one judge's answers everywhere and the labels of val alone, beside the truth.",
    (
        JUDGE,
        Column("method", "string", "How it is estimated", allowed=RATE_METHODS),
        *estimate_columns("Estimated share of accepted attempts"),
        Column("truth", "float", "Share accepted by all labels of the same attempts", nullable=True, low=0.0, high=1.0),
        Column("n_labelled", "int", "Attempts of val, whose labels the method may use", low=0),
        Column("n_unlabelled", "int", "Attempts of train and test, whose labels only the truth uses", low=0),
        Column("power_tuning", "float", "lambda of PPI++ (1 in plain PPI)", nullable=True, low=0.0, high=1.0),
        Column("sensitivity", "float", "Rogan-Gladen: accepted among y = 1 on val", nullable=True, low=0.0, high=1.0),
        Column("specificity", "float", "Rogan-Gladen: rejected among y = 0 on val", nullable=True, low=0.0, high=1.0),
    ),
    ("judge", "method"),
)

CURVES = ("roc", "roc_band", "pr", "pr_band", "reliability", "mcc_val")

JUDGE_CURVES = Table(
    "judge_curves",
    "One point of a curve of one judge: ROC, precision-recall, reliability on test, MCC on val over the threshold "
    "(paper 1, Figures 2-3, eq. 19).",
    (
        JUDGE,
        Column(
            "curve", "string", "Which curve; roc_band and pr_band: the curve on a grid, with its band", allowed=CURVES
        ),
        Column("point", "int", "Order along the curve, from 1", low=1),
        Column("x", "float", "False positive rate, recall, mean p_ac of the bin, or threshold"),
        Column("y", "float", "True positive rate, precision, accepted share of the bin, or MCC"),
        Column("threshold", "float", "Threshold of the point; null on bands, bins and at end points", True),
        Column("n", "int", "Attempts behind the point", low=0),
        Column(
            "ci95_low", "float", "Lower end: Wilson's (reliability), pointwise bootstrap (bands, MCC)", nullable=True
        ),
        Column("ci95_high", "float", "Upper end of the same", nullable=True),
        Column("reason", "string", "A warning: the judge is not verified, and why", nullable=True),
    ),
    ("judge", "curve", "point"),
)

AGAINST = ("judge", "chance", "constant", "calibration")
"""Against what a figure is set: another judge, chance, a constant forecast, or perfect calibration."""

JUDGE_DIFFERENCES = Table(
    "judge_differences",
    "One figure of a judge less that of another on the same attempts of test, or less what a judge without skill "
    "reaches; with its p-value, and how much data would settle it.",
    (
        Column("metric", "string", "Which figure, as in judge_metrics; or cohen, mean_cohen, fleiss"),
        Column("against", "string", "What is subtracted: the figure of judge_2, or a level", allowed=AGAINST),
        Column("judge_1", "string", "The judge, or the first of a pair; null for the panel", nullable=True),
        Column("judge_2", "string", "The other judge; null against a level, but for cohen", nullable=True),
        *estimate_columns("The difference"),
        Column("p_value", "float", "Two-sided bootstrap p-value of 'the difference is 0'", True, low=0.0, high=1.0),
        Column("p_holm", "float", "The same, corrected over the rows of this metric and against", True, None, 0.0, 1.0),
        Column("n_trajectories", "int", "Trajectories that hold the n attempts", low=0),
        Column("trajectories_for_width", "int", "Trajectories for an interval of half width 0.05", True, low=2),
        Column("attempts_for_width", "int", "Attempts in as many trajectories", True, low=0),
        Column("trajectories_for_power", "int", "Trajectories to tell this difference from 0, power 80%", True, low=2),
        Column("attempts_for_power", "int", "Attempts in as many trajectories", True, low=0),
        Column("needed_reason", "string", "Why a needed number is null", nullable=True),
    ),
    ("metric", "against", "judge_1", "judge_2"),
)

TABLES = (
    JUDGE_METRICS,
    JUDGE_AGREEMENT,
    JUDGE_CURVES,
    JUDGE_DIFFERENCES,
    JUDGE_SCORES,
    JUDGE_CALIBRATION_MAPS,
    JUDGE_CALIBRATION,
    JUDGE_PANEL_WEIGHTS,
    JUDGE_PANELS,
    ACCEPTANCE_RATES,
)
"""The tables of this module."""
