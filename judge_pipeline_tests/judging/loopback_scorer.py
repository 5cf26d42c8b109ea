"""A real server on loopback that scores texts as vLLM and TEI do, strict about what it is asked, faulty on request."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

MODEL = "org/reward"
LONGEST_CHARS = 2000


def score_of(text: str) -> float:
    """What the model thinks of a text: from -5 to 5, by nothing but the text."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 0xFFFFFFFF * 10.0 - 5.0


def chat_text(messages: Sequence[dict[str, str]]) -> str:
    """The server's chat template."""
    return "".join(f"<{message['role']}>{message['content']}</{message['role']}>" for message in messages)


def pair_text(query: str, text: str) -> str:
    """How a cross-encoder joins two texts."""
    return f"{query}[SEP]{text}"


def _squashed(score: float) -> float:
    return 1.0 / (1.0 + math.exp(-score))


@dataclass(frozen=True)
class Fault:
    """What comes in the place of an answer."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    reset: bool = False


class _RefusedError(Exception):
    """The server refuses a request: status and body."""


class Scorer:
    """The server. ``faults`` are what the first requests meet; then it answers."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.requests: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.peers: set[Any] = set()
        self.change: Callable[[Any], Any] = lambda answer: answer
        self.url = ""

    @asynccontextmanager
    async def served(self) -> Any:
        app = web.Application()
        app.router.add_post("/{endpoint}", self._handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield self
        await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        endpoint, body = request.match_info["endpoint"], await request.json()
        self.requests.append((endpoint, body, dict(request.headers)))
        assert request.transport is not None
        self.peers.add(request.transport.get_extra_info("peername"))
        if self.faults:
            return await self._fail(request, self.faults.pop(0))
        try:
            answer, headers = getattr(self, f"_{endpoint}")(body)
        except _RefusedError as refused:
            status, words = refused.args
            return web.Response(status=status, text=json.dumps(words), content_type="application/json")
        text = json.dumps(self.change(answer))
        return web.Response(text=text, content_type="application/json", headers=headers)

    async def _fail(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        if not fault.reset:
            return web.Response(status=fault.status, body=fault.body, headers=fault.headers)
        response = web.StreamResponse(headers={"Content-Length": str(len(fault.body) + 9)})
        await response.prepare(request)
        await response.write(fault.body)
        assert request.transport is not None
        request.transport.abort()
        return response

    # vLLM

    def _texts(self, body: dict[str, Any]) -> list[str]:
        if body["model"] != MODEL:
            error = {"message": f"The model `{body['model']}` does not exist.", "type": "NotFoundError", "code": 404}
            raise _RefusedError(404, {"error": error})
        if "messages" in body:
            texts = [chat_text(body["messages"])]
        elif "input" in body:
            texts = body["input"]
        else:
            texts = [pair_text(body["text_1"], text) for text in body["text_2"]]
        if max(map(len, texts)) > LONGEST_CHARS:
            if body.get("truncate_prompt_tokens") != -1:
                words = (
                    "You passed 9000 input tokens and requested 0 output tokens. However, the model's context length is"
                )
                raise _RefusedError(
                    400, {"error": {"message": words + " only 8192 tokens.", "type": "BadRequestError"}}
                )
            texts = [text[:LONGEST_CHARS] for text in texts]
        return texts

    def _vllm(self, body: dict[str, Any], row: Callable[[float], dict[str, Any]]) -> tuple[Any, dict[str, str]]:
        texts = self._texts(body)
        raw = body.get("use_activation") is False
        data = [{"index": i} | row(score_of(text) if raw else 1.0) for i, text in enumerate(texts)]
        usage = {"prompt_tokens": sum(map(len, texts)), "total_tokens": sum(map(len, texts)), "completion_tokens": 0}
        reply = {"id": f"reply-{len(self.requests)}", "object": "list", "created": 1, "model": MODEL}
        return reply | {"data": data, "usage": usage}, {}

    def _classify(self, body: dict[str, Any]) -> tuple[Any, dict[str, str]]:
        return self._vllm(body, lambda score: {"label": "LABEL_0", "probs": [score], "num_classes": 1})

    def _pooling(self, body: dict[str, Any]) -> tuple[Any, dict[str, str]]:
        return self._vllm(body, lambda score: {"object": "pooling", "data": [score]})

    def _score(self, body: dict[str, Any]) -> tuple[Any, dict[str, str]]:
        return self._vllm(body, lambda score: {"object": "score", "score": score})

    # TEI

    def _tei(self, body: dict[str, Any], texts: list[str]) -> tuple[list[float], dict[str, str]]:
        if max(map(len, texts)) > LONGEST_CHARS and not body["truncate"]:
            words = "Input validation error: `inputs` must have less than 512 tokens. Given: 600"
            raise _RefusedError(413, {"error": words, "error_type": "Validation"})
        scores = [score_of(text[:LONGEST_CHARS]) for text in texts]
        headers = {"x-compute-type": "cpu", "x-compute-tokens": str(sum(map(len, texts)))}
        return [score if body["raw_scores"] else _squashed(score) for score in scores], headers

    def _predict(self, body: dict[str, Any]) -> tuple[Any, dict[str, str]]:
        texts = [each[0] if len(each) == 1 else pair_text(*each) for each in body["inputs"]]
        scores, headers = self._tei(body, texts)
        return [[{"score": score, "label": "LABEL_0"}] for score in scores], headers

    def _rerank(self, body: dict[str, Any]) -> tuple[Any, dict[str, str]]:
        scores, headers = self._tei(body, [pair_text(body["query"], text) for text in body["texts"]])
        ranked = sorted(enumerate(scores), key=lambda each: -each[1])
        return [{"index": index, "score": score} for index, score in ranked], headers
