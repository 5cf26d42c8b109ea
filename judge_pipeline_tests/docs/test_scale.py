"""The tables of docs/scale.md are those that the model makes, and the model says what a hand reckons."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def model() -> ModuleType:
    """benchmarks/scale_model.py."""
    spec = importlib.util.spec_from_file_location("scale_model", CHECKOUT / "benchmarks" / "scale_model.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["scale_model"] = module  # where dataclasses look their annotations up
    spec.loader.exec_module(module)
    return module


def test_the_document_holds_todays_tables(model: ModuleType) -> None:
    document = (CHECKOUT / "docs" / "scale.md").read_text(encoding="utf-8")
    assert model.written(document) == document, "run: python benchmarks/scale_model.py --write"


def test_a_document_without_a_place_for_a_table_is_refused(model: ModuleType) -> None:
    with pytest.raises(SystemExit, match="has 0 places for"):
        model.written("no place")


def test_the_model_by_hand(model: ModuleType) -> None:
    constants = {name: one.value for name, one in model.CONSTANTS.items()}
    scale = model.Scale(250_000)
    assert (scale.contests, scale.in_contest, scale.answers) == (3, 100_000, 1_000_000)
    assert (scale.runs, scale.partitions) == (3 * 6 + 1, 12)
    assert scale.asking_hours("direct") == pytest.approx(1_000_000 * constants["call_direct_ms"] / 3_600_000)
    report = 250_000 * constants["report_ms"] / 1000 + 3 * constants["report_besides_s"]
    assert scale.cpu_hours("report") == pytest.approx(report / 3600)
    assert scale.usd(1.0, 10.0) == pytest.approx(constants["tokens_in"] + 10 * constants["tokens_out"])
    assert scale.days_of_calls(10.0) == pytest.approx(100_000 / 86_400)


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0004, "< 0.001"), (0.0123, "0.012"), (1.25, "1.2"), (99.4, "99"), (1234.0, "1,200")]
)
def test_figures_have_two_significant_digits(model: ModuleType, value: float, shown: str) -> None:
    assert model._short(value) == shown
