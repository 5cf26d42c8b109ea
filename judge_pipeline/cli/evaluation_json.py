"""The tables of figures as one JSON object: nested estimates of plain values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from judge_pipeline.estimate import Estimate

if TYPE_CHECKING:
    import pandas as pd


_NEEDED = ("trajectories_for_width", "attempts_for_width", "trajectories_for_power", "attempts_for_power")


def as_json_object(tables: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """The tables of ``evaluate.evaluation_tables`` as one object; pairs of judges are named ``first|second``.

    Raises:
        PredictionError: a judge's name holds the bar that separates the two judges of a pair.
    """
    from judge_pipeline.cocreation.evaluation import PredictionError

    judges = _nested(tables["judge_metrics"], "judge", "metric")
    barred = [name for name in judges if "|" in name]
    if barred:
        raise PredictionError(f"judge {barred[0]!r} holds a bar, which separates pairs of judges. Remedy: rename it")
    return {
        "judges": judges,
        "agreement": _table_v(tables["judge_agreement"]),
        "agreement_on": _agreement_on(tables["judge_agreement"]),
        "differences": _differences(tables["judge_differences"]),
        "scores": _nested(tables["judge_scores"], "judge", "score", "metric"),
        "calibration": _nested(tables["judge_calibration"], "judge", "map", "metric", "quantity"),
        "calibration_maps": _maps(tables["judge_calibration_maps"]),
        "panels": _panels(tables["judge_panels"]),
        "panel_weights": _weights(tables["judge_panel_weights"]),
        "acceptance_rates": _rates(tables["acceptance_rates"]),
    }


def estimate_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The estimate columns of a row as plain JSON values."""
    value, low, high = (plain_number(row[name]) for name in ("value", "ci95_low", "ci95_high"))
    interval = None if low is None or high is None else (low, high)
    return Estimate(value, int(row["n"]), int(row["n_left_out"]), interval, row["reason"]).to_json()


def plain_number(value: Any) -> float | None:
    """The number, or None where it is missing (None, NaN or pandas' NA)."""
    number = float("nan") if value is None or str(value) == "<NA>" else float(value)
    return None if math.isnan(number) else number


def _nested(table: pd.DataFrame, *columns: str) -> dict[str, Any]:
    """Each row's estimate below the values of ``columns``, in the table's order."""
    nested: dict[str, Any] = {}
    for row in table.to_dict("records"):
        place = nested
        for name in columns[:-1]:
            place = place.setdefault(row[name], {})
        place[row[columns[-1]]] = estimate_of(row)
    return nested


def _maps(maps: pd.DataFrame) -> dict[str, Any]:
    """Judge -> map -> its parameters (a list of each knot's for isotonic maps), and what it was fitted on."""
    nested: dict[str, Any] = {}
    for row in maps.to_dict("records"):
        facts = {"n_val": int(row["n_val"]), "n_val_accepted": int(row["n_val_accepted"]), "reason": row["reason"]}
        fitted = nested.setdefault(row["judge"], {}).setdefault(row["map"], {"parameters": {}, **facts})
        if row["knot"]:
            fitted["parameters"].setdefault(row["parameter"], []).append(plain_number(row["value"]))
        else:
            fitted["parameters"][row["parameter"]] = plain_number(row["value"])
    return nested


def _panels(panels: pd.DataFrame) -> dict[str, Any]:
    """Method -> its figures by metric, and its differences from the best judge, with that judge and the p-values."""
    nested: dict[str, Any] = {}
    for row in panels.to_dict("records"):
        method = nested.setdefault(row["method"], {"figures": {}, "differences": {}})
        if row["quantity"] == "value":
            method["figures"][row["metric"]] = estimate_of(row)
            continue
        p_values = {name: plain_number(row[name]) for name in ("p_value", "p_holm")}
        method["differences"][row["metric"]] = {**estimate_of(row), "best_judge": row["best_judge"], **p_values}
    return nested


def _weights(weights: pd.DataFrame) -> dict[str, Any]:
    """The stacker: its intercept, each judge's coefficient, and what it was fitted on."""
    rows = weights.to_dict("records")
    values = {row["judge"]: plain_number(row["value"]) for row in rows}
    counts = {name: int(rows[0][name]) for name in ("n_val", "n_val_accepted", "n_left_out")}
    judges = {judge: value for judge, value in values.items() if judge is not None}
    return {"intercept": values[None], "judges": judges, **counts, "reason": rows[0]["reason"]}


def _rates(rates: pd.DataFrame) -> dict[str, Any]:
    """Judge -> method -> the estimate, the truth beside it, and what it was computed with."""
    numbers = ("truth", "power_tuning", "sensitivity", "specificity")
    nested: dict[str, Any] = {}
    for row in rates.to_dict("records"):
        nested.setdefault(row["judge"], {})[row["method"]] = {
            **estimate_of(row),
            **{name: plain_number(row[name]) for name in numbers},
            "n_labelled": int(row["n_labelled"]),
            "n_unlabelled": int(row["n_unlabelled"]),
        }
    return nested


def _table_v(agreement: pd.DataFrame) -> dict[str, Any]:
    """The figures of Table V, under the names of its panels."""
    none: dict[str, Any] = {"pairs": {}, "judges": {}}
    figures = _agreement_on(agreement)["decision"]
    return {
        "cohen": figures.get("cohen", none)["pairs"],
        "mean_cohen": figures["mean_cohen"]["panel"],
        "judge_mean_cohen": figures.get("judge_mean_cohen", none)["judges"],
        "fleiss": figures["fleiss"]["panel"],
        "raw_agreement": figures["raw_agreement"]["panel"],
        "pair_raw_agreement": figures["raw_agreement"]["pairs"],
    }


def _differences(differences: pd.DataFrame) -> dict[str, Any]:
    """What a figure is set against -> metric -> whose it is -> the difference, its p-values, and what would settle it.

    A pair is ``first|second``, and the first's figure less the second's; the panel's kappas are those of ``panel``.
    """
    nested: dict[str, Any] = {}
    for row in differences.to_dict("records"):
        who = "|".join(name for name in (row["judge_1"], row["judge_2"]) if isinstance(name, str)) or "panel"
        needed = {name: plain_number(row[name]) for name in _NEEDED}
        nested.setdefault(row["against"], {}).setdefault(row["metric"], {})[who] = {
            **estimate_of(row),
            "p_value": plain_number(row["p_value"]),
            "p_holm": plain_number(row["p_holm"]),
            "n_trajectories": int(row["n_trajectories"]),
            **{name: None if number is None else int(number) for name, number in needed.items()},
            "needed_reason": row["needed_reason"],
        }
    return nested


def _agreement_on(agreement: pd.DataFrame) -> dict[str, Any]:
    """What is rated -> statistic -> the figures of ``pairs``, of ``judges`` and of the ``panel``, where they exist."""
    figures: dict[str, Any] = {}
    for row in agreement.to_dict("records"):
        first, second = row["judge_1"], row["judge_2"]
        place = figures.setdefault(row["rated"], {}).setdefault(row["statistic"], {"pairs": {}, "judges": {}})
        if second is not None:
            place["pairs"][f"{first}|{second}"] = estimate_of(row)
        elif first is not None:
            place["judges"][first] = estimate_of(row)
        else:
            place["panel"] = estimate_of(row)
    return figures
