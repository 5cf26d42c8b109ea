"""What the table that comes with litellm says of a model, read from its file (importing litellm takes seconds)."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_pipeline.settings import LitellmJudge, Price

if TYPE_CHECKING:
    from judge_pipeline.settings.judges import AnyJudge


def listed_price(model: str) -> Price | None:
    """The model's price; None where the table has none."""
    entry = _entry(model)
    if "input_cost_per_token" not in entry or "output_cost_per_token" not in entry:
        return None
    return Price(
        input_usd_per_million_tokens=float(entry["input_cost_per_token"]) * 1e6,
        output_usd_per_million_tokens=float(entry["output_cost_per_token"]) * 1e6,
    )


def takes_images(settings: AnyJudge) -> bool:
    """Whether the judge is shown images: by its setting, else where the table says that its model takes them.

    Embedded, reward, recorded and baseline judges take none.
    """
    if not isinstance(settings, LitellmJudge):
        return False
    if settings.takes_images is not None:
        return settings.takes_images
    return _entry(settings.model).get("supports_vision") is True


def _entry(model: str) -> Mapping[str, Any]:
    """The model's row, by its name or its name without the provider; empty where it has none."""
    models = _table()
    entry = models.get(model) or models.get(model.partition("/")[2])
    return entry if isinstance(entry, dict) else {}


@cache
def _table() -> dict[str, Any]:
    spec = importlib.util.find_spec("litellm")
    if spec is None or not spec.submodule_search_locations:
        return {}
    path = Path(spec.submodule_search_locations[0]) / "model_prices_and_context_window_backup.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}
