"""What figures of dynamics are called for people: units, orders, groupings, statistics; said once."""

from __future__ import annotations

from collections.abc import Mapping

ORDERS: Mapping[str, str] = {"as_recorded": "as recorded", "reversed": "reversed"}

TIME_UNITS: Mapping[str, str] = {
    "turns": "Turns",
    "minutes_since_first_attempt": "Minutes since the first attempt",
    "minutes_since_first_prompt": "Minutes since the first prompt",
}

GROUPED_BY: Mapping[str, str] = {
    "all": "All",
    "problem_id": "Problem",
    "participant": "Participant",
    "language": "Language",
    "participant_group": "Group of participants",
    "outcome": "Outcome",
    "turn": "Turn",
    "solved": "Solved",
}

TIME_STATISTICS: Mapping[str, str] = {
    "median": "Median",
    "restricted_mean": "Restricted mean",
    "solved_by_horizon": "Share solved by the horizon",
}

REVISION_MEASURES: Mapping[str, str] = {
    "code_ned": "Code churn (NED)",
    "codebleu_churn": "Code churn (1 − CodeBLEU)",
    "prompt_ned": "Prompt churn (NED)",
    "prompt_code_ned": "Prompt-code NED",
    "convergence": "Convergence (CodeBLEU), reference included",
    "convergence_without_reference": "Convergence (CodeBLEU), reference left out",
}

GAINS: Mapping[str, str] = {
    "share": "Share of revisions",
    "accepted_after_rejection": "Accepted, of revisions after a rejection",
    "mean_delta_p_mean": "Mean change of the panel's confidence",
}

EFFECTS: Mapping[str, str] = {
    "spearman": "Spearman's ρ",
    "slope": "Slope (mixed model)",
    "variance_participant": "Variance between participants",
    "variance_problem": "Variance between problems",
    "variance_residual": "Residual variance",
}

PROGRESS: Mapping[str, str] = {"delta_y": "Change of the verdict", "delta_p_mean": "Change of the panel's confidence"}

CHOSEN_REVISIONS: Mapping[str, str] = {"all": "all revisions", "after_rejection": "after a rejection"}

PATTERNS: Mapping[str, str] = {
    "recovered": "The panel's confidence fell, and rose as much again",
    "stagnated": "Several turns without a change of confidence and without an accepted one",
    "solved_after_rejection": "Solved after a rejected attempt",
}
