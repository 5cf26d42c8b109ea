"""How a model was asked beside its prompt, in words."""

from __future__ import annotations

import json
from typing import Any


def asked_with_words(asked_with: str | None) -> str:
    """``temperature = 0, max_tokens = 400; at URL``, of the JSON that ``judge_versions`` keeps; "" of no model.

    A model that was asked with nothing but its messages has "no parameters".
    """
    if asked_with is None:
        return ""
    given: dict[str, Any] = json.loads(asked_with)
    parameters = ", ".join(f"{name} = {_plain(value)}" for name, value in sorted(given.pop("parameters", {}).items()))
    address, schema = given.pop("base_url", None), given.pop("send_schema", None)
    said = [parameters or "no parameters"]
    said += [f"at {address}"] if address else []
    said += [] if schema is None else [f"{'with' if schema else 'without'} a JSON schema"]
    return "; ".join(said)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
