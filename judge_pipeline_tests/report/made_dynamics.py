"""The tables of dynamics of the contest with the paper's counts, made by the functions that the assets call."""

from __future__ import annotations

from functools import lru_cache

import pandas as pd

from judge_pipeline.cocreation.churn_effects import churn_effects
from judge_pipeline.cocreation.churn_summary import churn_summary
from judge_pipeline.cocreation.contexts import participant_contexts
from judge_pipeline.cocreation.hazards import hazards
from judge_pipeline.cocreation.pattern_groups import pattern_groups
from judge_pipeline.cocreation.prompt_space import prompt_space, prompt_space_test
from judge_pipeline.cocreation.prompt_windows import prompt_texts
from judge_pipeline.cocreation.revision import KindLimits, convergence, revisions
from judge_pipeline.cocreation.revision_gains import revision_gains
from judge_pipeline.cocreation.struggle import struggle_groups, struggle_turns
from judge_pipeline.cocreation.success_by_group import success_curves, survival_groups
from judge_pipeline.cocreation.time_to_success import survival_curves, survival_tests
from judge_pipeline.cocreation.trajectory_patterns import PatternRules, trajectory_patterns
from judge_pipeline.cocreation.trajectory_times import trajectory_times
from judge_pipeline.settings.contest import DynamicsSettings, RevisionSettings
from judge_pipeline_tests.paper_counts_contest import JUDGES, SEED, PaperCountsContest, paper_counts_contest

RESAMPLES = 60


@lru_cache
def made_dynamics() -> dict[str, pd.DataFrame]:
    """Name -> table; the same objects each time, so copy a table before changing it."""
    return dynamics_of(paper_counts_contest())


def dynamics_of(given: PaperCountsContest, n_resamples: int = RESAMPLES) -> dict[str, pd.DataFrame]:
    """Name -> table, of any contest made up in the same form."""
    attempts, whole = given.attempts, given.trajectories
    dynamics, revising = DynamicsSettings(), RevisionSettings()
    texts = prompt_texts(attempts, given.prompt_logs, problem_names={}, mentions=revising.mentions)
    limits = KindLimits(revising.incremental_at_most, revising.rewrite_at_least)
    revised = revisions(attempts, whole, texts, given.struggle_curves, limits)
    near = convergence(attempts, whole)
    times = trajectory_times(
        attempts, given.prompt_logs, whole, participant_groups={}, problem_names={}, mentions=revising.mentions
    )
    turns = struggle_turns(attempts, given.predictions, whole, JUDGES)
    contexts = participant_contexts(given.prompt_logs, sorted(attempts["participant"].unique()), roles="prompts")
    space = prompt_space(contexts, whole, seed=SEED)
    drawn = {"seed": SEED, "n_resamples": n_resamples}
    levels = dynamics.max_levels
    rules = PatternRules(dynamics.recovery_change, dynamics.stagnation_change, dynamics.stagnation_turns)
    patterns = trajectory_patterns(attempts, whole, given.struggle_curves, rules)
    return {
        "revisions": revised,
        "convergence": near,
        "churn_summary": churn_summary(revised, near, attempts, whole, **drawn),
        "revision_gains": revision_gains(revised, **drawn),
        "churn_effects": churn_effects(revised, **drawn, model_levels=revising.model_levels),
        "success_curves": success_curves(times, **drawn, max_levels=levels),
        "survival_curves": survival_curves(times, max_levels=levels),
        "survival_tests": survival_tests(times, max_levels=levels),
        "survival_groups": survival_groups(
            times, **drawn, horizon_turns=dynamics.horizon_turns, horizon_minutes=dynamics.horizon_minutes,
            max_levels=levels,
        ),
        "struggle_groups": struggle_groups(turns, whole, **drawn, max_levels=levels),
        "trajectory_patterns": patterns,
        "pattern_groups": pattern_groups(patterns, **drawn, max_levels=levels),
        "hazards": hazards(attempts, whole),
        "prompt_space": space,
        "prompt_space_test": prompt_space_test(contexts, space, seed=SEED, n_permutations=199),
    }  # fmt: skip
