"""Bodies that scoring endpoints take, and the scores in their replies. Pure functions.

What each endpoint speaks, by its own documentation (vLLM: OpenAI-compatible server, pooling models; TEI: openapi.json):

- ``vllm_classify`` POST /classify {model, input: [text, ...]} or {model, messages: [...]}, one chat a request ->
  {data: [{index, probs: [x], num_classes}], usage}
- ``vllm_pooling`` POST /pooling, the same inputs -> {data: [{index, data: [x]}], usage}
- ``vllm_score`` POST /score {model, text_1: query, text_2: [text, ...]} -> {data: [{index, score}], usage}
- ``tei_predict`` POST /predict {inputs: [[text], ...] or [[query, text], ...]} -> [[{label, score}], ...]
- ``tei_rerank`` POST /rerank {query, texts: [text, ...]} -> [{index, score}, ...], the best first

Both servers squash scores unless told not to: vLLM by ``use_activation: false`` (softmax over one label is 1 for every
text), TEI by ``raw_scores: true``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judge_pipeline.judging.backends.pooled_http import broken, json_reply
from judge_pipeline.judging.failures import CallFailedError, Failure

_SHOWN_CHARS = 200


def request_bodies(
    parameters: Mapping[str, Any], model: str, context: Sequence[tuple[str, str]], responses: Sequence[str]
) -> list[dict[str, Any]]:
    """The bodies, one for each HTTP request, that score the responses (pairwise: both in one text).

    Args:
        parameters: of the call: protocol, kind, send_as, truncate.
        model: the model's name, as the server calls it.
        context: role and content of the messages before the responses.
        responses: as they are shown, the first first.
    """
    protocol, send_as = parameters["protocol"], parameters["send_as"]
    query = "\n".join(content for _, content in context)
    if parameters["kind"] == "pairwise":
        texts = ["\n".join((query, *responses))]
    else:
        texts = [f"{query}\n{response}" for response in responses]
    if protocol == "tei_predict":
        inputs = [[query, each] for each in responses] if send_as == "query_and_text" else [[each] for each in texts]
        return [{"inputs": inputs, "raw_scores": True, "truncate": parameters["truncate"]}]
    if protocol == "tei_rerank":
        asked = {"query": query, "texts": list(responses), "raw_scores": True, "truncate": parameters["truncate"]}
        return [asked]
    common: dict[str, Any] = {"model": model, "use_activation": False}
    common |= {"truncate_prompt_tokens": -1} if parameters["truncate"] else {}
    if protocol == "vllm_score":
        return [common | {"text_1": query, "text_2": list(responses)}]
    if send_as == "text":
        return [common | {"input": texts}]
    chats = [[*context, ("assistant", response)] for response in responses]
    return [common | {"messages": [{"role": role, "content": content} for role, content in chat]} for chat in chats]


def n_scores(parameters: Mapping[str, Any]) -> int:
    """How many scores each of the bodies is answered by."""
    return 1 if parameters["kind"] == "pairwise" or parameters["send_as"] == "messages" else 2


def scores_in(protocol: str, content: bytes, n: int) -> list[float]:
    """The scores of a reply, in the order of the texts that were sent.

    Raises:
        CallFailedError: infrastructure, where the reply is none of this endpoint; invalid, where a score is missing,
            stands twice, is not a finite number, or is not one for each text.
    """
    whole = json_reply(content)
    rows = whole if protocol.startswith("tei_") else whole.get("data") if isinstance(whole, dict) else None
    if not isinstance(rows, list):
        shown = content[:_SHOWN_CHARS].decode("utf-8", "replace")
        raise broken(f"the reply is not one of {protocol}: {shown!r}")
    if len(rows) != n:
        raise _invalid(f"the reply holds {len(rows)} scores where {n} were asked", rows)
    if protocol == "tei_predict":
        return [_finite(_only(row, "score", "labels"), row) for row in rows]
    placed: dict[int, float] = {}
    for row in rows:
        index = row.get("index") if isinstance(row, dict) else None
        if type(index) is not int or not 0 <= index < n or index in placed:
            raise _invalid(f"the indices of the {n} scores are not 0 to {n - 1}", rows)
        placed[index] = _finite(_VALUES[protocol](row), row)
    return [placed[index] for index in range(n)]


def _score(row: Mapping[str, Any]) -> Any:
    return row.get("score")


def _classified(row: Mapping[str, Any]) -> Any:
    return _only(row.get("probs"), None, "classes")


def _pooled(row: Mapping[str, Any]) -> Any:
    data = row.get("data")
    if isinstance(data, list) and len(data) == 1 and isinstance(data[0], list):
        data = data[0]
    return _only(data, None, "numbers")


_VALUES: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "vllm_classify": _classified,
    "vllm_pooling": _pooled,
    "vllm_score": _score,
    "tei_rerank": _score,
}


def _only(values: Any, key: str | None, what: str) -> Any:
    """The one value (under the key, where there is one) of a list of one."""
    if not isinstance(values, list) or len(values) != 1:
        count = len(values) if isinstance(values, list) else "no"
        raise _invalid(
            f"a text was answered by {count} {what} instead of one score: the model must be a classifier with one "
            "label that scores whole texts",
            values,
        )
    only = values[0]
    return only if key is None else only.get(key) if isinstance(only, dict) else None


def _finite(value: Any, row: Any) -> float:
    try:
        score = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        score = math.inf
    if not math.isfinite(score):
        raise _invalid("a score is missing or no finite number", row)
    return score + 0.0


def _invalid(words: str, value: Any) -> CallFailedError:
    return CallFailedError(Failure("invalid", f"{words}: {json.dumps(value)[:_SHOWN_CHARS]}"))
