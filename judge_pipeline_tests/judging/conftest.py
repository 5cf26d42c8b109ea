"""A real OpenAI-compatible server on loopback that misbehaves on request, and what tests of judging share."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from aiohttp import web

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext
from judge_pipeline.settings import LitellmJudge
from judge_pipeline.tables import JUDGE_REQUESTS
from judge_pipeline_tests.forks import Forks
from judge_pipeline_tests.judging.loopback_batches import LoopbackBatches

PROMPTS = Path(__file__).resolve().parents[2] / "assets_config" / "prompts"

VALID = {"p_ac": 0.25, "s_algo": 3, "s_robust": 2, "rationale": "misses n = 0"}


@dataclass(frozen=True)
class Behaviour:
    """How the server treats one request."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    reset: bool = False
    drip: float = 0.0


def chat(text: str | None, finish_reason: str | None = "stop", usage: bool = True, **message: Any) -> Behaviour:
    """A chat completion with this content."""
    body: dict[str, Any] = {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "loopback-2026-01-01",
        "choices": [
            {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": text} | message}
        ],
    }  # fmt: skip
    if usage:
        body["usage"] = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return Behaviour(body=json.dumps(body).encode())


def valid(**changes: Any) -> Behaviour:
    return chat(json.dumps(VALID | changes))


def error(status: int, message: str = "something is wrong", code: str | None = None, **headers: str) -> Behaviour:
    body = {"error": {"message": message, "type": code or "server_error", "code": code}}
    return Behaviour(status, json.dumps(body).encode(), headers={k.replace("_", "-"): v for k, v in headers.items()})


FAULTS: dict[str, Callable[[], Behaviour]] = {
    "429": lambda: error(429, "slow down", "rate_limit_exceeded"),
    "429-retry-after": lambda: error(429, "slow down", "rate_limit_exceeded", Retry_After="0.01"),
    "500": lambda: error(500),
    "503": lambda: error(503),
    "reset": lambda: Behaviour(body=valid().body, reset=True),
    "truncated": lambda: chat('{"p_ac":0.9', "length"),
    "empty": lambda: chat(""),
    "refusal": lambda: chat(None, refusal="I will not judge this."),
    "malformed": lambda: chat('{"p_ac":0.25,"s_algo":3,"s_robust":2,"rationale":"x",}'),
    "hostile": lambda: chat('{"p_ac":"85%","s_algo":9,"__proto__":{},"rationale":"\\ud800"}'),
    "html": lambda: Behaviour(body=b"<html>Bad gateway</html>", content_type="text/html"),
    "no-choices": lambda: Behaviour(body=b'{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[]}'),
    "two-choices": lambda: _two_choices(),
    "no-usage": lambda: chat(json.dumps(VALID), usage=False),
}


def _two_choices() -> Behaviour:
    body = json.loads(valid().body)
    body["choices"] = [body["choices"][0], dict(body["choices"][0], index=1)]
    return Behaviour(body=json.dumps(body).encode())


@dataclass
class Request:
    """What the server was asked."""

    body: dict[str, Any]
    headers: dict[str, str]
    at: float

    @property
    def text(self) -> str:
        return "\n".join(message["content"] or "" for message in self.body["messages"])


class Provider:
    """The server. ``behave`` decides on each request, given the request and how many came before it."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.behave: Callable[[Request, int], Behaviour] = lambda request, n: valid()
        self.peers: set[Any] = set()
        self.most_at_once = 0
        self.batches = LoopbackBatches(self._answer_line)
        self._at_once = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait(10)

    def script(self, *behaviours: Behaviour) -> None:
        """These in turn, the last for ever."""
        self.behave = lambda request, n: behaviours[min(n, len(behaviours) - 1)]

    def fault(self, seed: int, share: float, kinds: tuple[str, ...] = tuple(FAULTS)) -> None:
        """Faults of these kinds at random, otherwise an answer that depends on the request alone."""
        rng = random.Random(seed)

        def behave(request: Request, n: int) -> Behaviour:
            if rng.random() < share:
                return FAULTS[rng.choice(kinds)]()
            return valid(p_ac=answer_of(request.text))

        self.behave = behave

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=300_000_000)
        app.router.add_post("/v1/chat/completions", self._handle)
        self.batches.add_to(app.router)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _handle(self, incoming: web.Request) -> web.StreamResponse:
        request = Request(await incoming.json(), dict(incoming.headers), time.monotonic())
        self.requests.append(request)
        self.peers.add(incoming.transport.get_extra_info("peername"))
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            return await self._respond(incoming, self.behave(request, len(self.requests) - 1))
        finally:
            self._at_once -= 1

    def _answer_line(self, body: dict[str, Any], headers: dict[str, str]) -> tuple[int, bytes]:
        """What a line of a batch is answered: as the same request by itself would be."""
        request = Request(body, headers, time.monotonic())
        self.requests.append(request)
        behaviour = self.behave(request, len(self.requests) - 1)
        return behaviour.status, behaviour.body

    async def _respond(self, incoming: web.Request, behaviour: Behaviour) -> web.StreamResponse:
        await asyncio.sleep(behaviour.delay)
        headers = {"x-request-id": "req-loopback", **behaviour.headers, "Content-Type": behaviour.content_type}
        if not behaviour.reset and not behaviour.drip:
            return web.Response(status=behaviour.status, body=behaviour.body, headers=headers)
        response = web.StreamResponse(
            status=behaviour.status, headers=headers | {"Content-Length": str(len(behaviour.body))}
        )
        await response.prepare(incoming)
        if behaviour.reset:
            await response.write(behaviour.body[: len(behaviour.body) // 2])
            incoming.transport.abort()
            return response
        for byte in behaviour.body:
            await response.write(bytes([byte]))
            await asyncio.sleep(behaviour.drip)
        return response


def answer_of(text: str) -> float:
    """A p_ac that is a function of the prompt."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:6], 16) / 0xFFFFFF


class Clock:
    """A clock that only sleeping moves, and a record of the sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


@pytest.fixture(scope="session")
def forks(checkout: Path) -> Iterator[Forks]:
    """Starts processes that judge, with what that imports there already."""
    modules = ("pandas", "pyarrow.parquet", "litellm", "judge_pipeline.judging.engine", "sqlalchemy.dialects.sqlite",
               "sqlalchemy.dialects.postgresql.psycopg", "psycopg")  # fmt: skip
    with Forks(checkout, *modules) as started:
        yield started


@pytest.fixture
def provider() -> Iterator[Provider]:
    server = Provider()
    yield server
    server.close()


@pytest.fixture
def faults() -> Any:
    """The behaviours, as a namespace: chat, valid, error, FAULTS, Behaviour."""
    import types

    return types.SimpleNamespace(
        chat=chat, valid=valid, error=error, Behaviour=Behaviour, kinds=FAULTS, VALID=VALID, answer_of=answer_of
    )


def requests_table(n: int, same: bool = False) -> pd.DataFrame:
    """n judge requests, all different unless ``same``."""
    rows = [
        {
            "attempt_id": f"{i:016x}", "split": ("train", "val", "test")[i % 3], "problem_id": f"P{i % 4}",
            "language": "C++", "source_code": "int main() {}" if same else f"int main() {{ return {i}; }}",
            "prompt_text": "how do I read input?", "problem_statement": None, "context": "nonblind",
            "source_chars_cut": 0, "prompt_chars_cut": 0, "request_sha256": f"{i:064x}",
        }
        for i in range(n)
    ]  # fmt: skip
    if same:
        rows = [row | {"problem_id": "P0"} for row in rows]
    return JUDGE_REQUESTS.conform(rows)


@pytest.fixture
def make_requests() -> Callable[..., pd.DataFrame]:
    return requests_table


@pytest.fixture
def store_kind() -> str:
    """Where the checkpoint is; modules whose tests hold for PostgreSQL, too, put their own in its place."""
    return "sqlite"


@pytest.fixture
def store_url(store_kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """The URL of an empty store."""
    if store_kind == "sqlite":
        return f"sqlite:///{tmp_path / 'checkpoint.sqlite'}"
    return str(request.getfixturevalue("postgresql_server").new_database())


@pytest.fixture
def checkpoint(store_url: str) -> Iterator[Checkpoint]:
    store = Checkpoint(store_url)
    yield store
    store.close()


@pytest.fixture
def context(tmp_path: Path) -> JudgingContext:
    return JudgingContext({}, tmp_path, PROMPTS)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def transport() -> str:
    """How the loopback judge is asked; modules whose tests hold for both transports put their own in its place."""
    return "litellm"


@pytest.fixture
def loopback_judge(provider: Provider, transport: str) -> Callable[..., LitellmJudge]:
    """Settings of a judge at the server; limits are quick unless given."""

    def make(**changes: Any) -> LitellmJudge:
        limits = {"max_in_flight": 4, "backoff_seconds": 0.01, "max_backoff_seconds": 0.02, "timeout_seconds": 20}
        values = {"backend": "litellm", "model": "openai/loopback", "base_url": provider.url, "limits": limits}
        values["transport"] = transport
        changes["limits"] = limits | changes.get("limits", {})
        return LitellmJudge(**(values | changes))

    return make
