"""judge_pipeline: measures LLM judges of code, and the people who code with AI, as a Dagster pipeline.

For notebooks: ``from judge_pipeline import evaluate_attempts, compare_judges, agreement, calibrate``; what these names
are is in ``api``, which is loaded when the first of them is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge_pipeline.api import (
        Calibration,
        Estimate,
        Evaluation,
        PairError,
        PredictionError,
        RunComparison,
        acceptance_rates,
        agreement,
        calibrate,
        compare_judges,
        estimate_of,
        evaluate_attempts,
        evaluate_pairs,
        read_pair_decisions,
        read_predictions,
    )

__all__ = [
    "Calibration",
    "Estimate",
    "Evaluation",
    "PairError",
    "PredictionError",
    "RunComparison",
    "acceptance_rates",
    "agreement",
    "calibrate",
    "compare_judges",
    "estimate_of",
    "evaluate_attempts",
    "evaluate_pairs",
    "read_pair_decisions",
    "read_predictions",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from judge_pipeline import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
