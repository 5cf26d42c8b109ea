"""A server that sends replies twice: no answer is taken for another request's, over real connections."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.judging.backends.direct_backend import DirectBackend
from judge_pipeline.judging.backends.litellm_backend import LitellmBackend, litellm_call
from judge_pipeline.judging.backends.litellm_connections import KnownReplies
from judge_pipeline.judging.backends.stale_replies import RepeatedReplies
from judge_pipeline.judging.failures import CallFailedError
from judge_pipeline.judging.request import Message
from judge_pipeline.settings import LitellmJudge


class Stutterer:
    """Answers each request with its own text, and sends the whole reply again ``late`` seconds later."""

    def __init__(self, late: float, repeats: bool = True) -> None:
        self.late = late
        self.repeats = repeats
        self.connections = 0
        self.served = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
                asked = self.asked(json.loads(await reader.readexactly(length)))
                self.served += 1
                headers, body = self.reply(asked)
                content = json.dumps(body).encode()
                reply = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s" % (
                    headers, len(content), content,
                )  # fmt: skip
                writer.write(reply)
                await writer.drain()
                if self.repeats:
                    await asyncio.sleep(self.late)
                    writer.write(reply)
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def asked(self, body: Any) -> str:
        """The text of the request's message."""
        return str(body["messages"][0]["content"])

    def reply(self, text: str) -> tuple[bytes, Any]:
        """Headers and body of the reply with that text."""
        message = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        return b"", {"id": f"chatcmpl-{self.served}", "model": "m", "choices": [message]}


class AnthropicStutterer(Stutterer):
    """The same in Anthropic's form. litellm gives its replies ids of its own; the server's is in a header."""

    def asked(self, body: Any) -> str:
        return str(body["messages"][0]["content"][0]["text"])

    def reply(self, text: str) -> tuple[bytes, Any]:
        return b"request-id: req_%d\r\n" % self.served, {
            "id": f"msg_{self.served}", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 3, "output_tokens": 2},
        }  # fmt: skip


class GeminiStutterer(Stutterer):
    """The same in Gemini's form."""

    def asked(self, body: Any) -> str:
        return str(body["contents"][0]["parts"][0]["text"])

    def reply(self, text: str) -> tuple[bytes, Any]:
        content = {"role": "model", "parts": [{"text": text}]}
        return b"", {
            "responseId": f"r{self.served}", "modelVersion": "m",
            "candidates": [{"index": 0, "finishReason": "STOP", "content": content}],
            "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5},
        }  # fmt: skip


def ask_all(
    server: Stutterer, pause: float, n: int = 25, in_flight: int = 4, *, model: str = "openai/x", direct: bool = True
) -> Counter[str]:
    """How many answers were right, wrong and refused."""
    counts: Counter[str] = Counter()

    async def ask(backend: DirectBackend | LitellmBackend, settings: LitellmJudge, text: str) -> None:
        try:
            reply = await backend.ask(litellm_call(settings, (Message("user", text),)), (), None)
            counts["right" if reply.text == text else "wrong"] += 1
        except CallFailedError as error:
            assert error.failure.failure_class == "infrastructure"
            counts["refused"] += 1
        await asyncio.sleep(pause)

    async def run() -> None:
        listening = await asyncio.start_server(server.handle, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        if direct:
            settings = LitellmJudge(backend="litellm", model=model, base_url=f"{url}/v1", transport="direct")
            backend: DirectBackend | LitellmBackend = DirectBackend.of(settings, {})
        else:
            settings = LitellmJudge(backend="litellm", model=model, base_url=url)
            backend = LitellmBackend.of(settings, {})
        await backend.open()

        async def worker(number: int) -> None:
            for i in range(n):
                await ask(backend, settings, f"{number}/{i}")

        await asyncio.gather(*(worker(number) for number in range(in_flight)))
        await backend.close()
        listening.close()

    asyncio.run(run())
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("late", [0.0, 0.002])
@pytest.mark.parametrize("pause", [0.0, 0.02])
def test_no_answer_is_taken_for_another_request_s(late: float, pause: float) -> None:
    server = Stutterer(late)
    counts = ask_all(server, pause)
    assert counts["wrong"] == 0
    assert counts["right"] >= 90  # the rest is tried again
    assert sum(counts.values()) == 100


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*ReadOnly. qualifier")
@pytest.mark.parametrize(
    ("kind", "model", "pause"),
    [
        (Stutterer, "openai/x", 0.0),
        (AnthropicStutterer, "anthropic/claude-3-5-haiku-20241022", 0.02),
        (GeminiStutterer, "gemini/gemini-2.5-flash", 0.0),
    ],
)
def test_nor_through_litellm(kind: type[Stutterer], model: str, pause: float) -> None:
    counts = ask_all(kind(0.002), pause, model=model, direct=False)
    assert counts["wrong"] == 0
    assert counts["right"] >= 90
    assert sum(counts.values()) == 100


@pytest.mark.slow
@pytest.mark.parametrize("direct", [True, False])
def test_an_orderly_server_keeps_its_connections(direct: bool) -> None:
    server = Stutterer(0.0, repeats=False)
    assert ask_all(server, 0.0, direct=direct) == {"right": 100}
    assert server.connections <= 4


def test_what_a_provider_keeps_for_the_same_request_is_refused_the_first_time_only() -> None:
    async def replies() -> None:
        known = KnownReplies()
        for reply_id in ("1", "2", None, None):
            known.refuse_repeated(reply_id, "good", f"asked {reply_id}")
        known.refuse_repeated("1", "other words", "a server that counts anew")
        for asked in ("asked 1", "another"):
            with pytest.raises(CallFailedError, match="second time"):
                known.refuse_repeated("1", "good", asked)
        known.refuse_repeated("1", "good", "asked 1")

    asyncio.run(replies())


@given(st.lists(st.tuples(st.sampled_from("abc"), st.binary(max_size=1)), max_size=12))
def test_a_reply_is_a_repeated_one_where_id_and_bytes_came_before_and_ids_differ(
    replies: list[tuple[str, bytes]],
) -> None:
    known = RepeatedReplies()
    first: dict[str, bytes] = {}
    for id_, content in replies:
        expected = len(first) > 1 and first.get(id_) == content
        assert known.is_repeated(id_, content) == expected
        first.setdefault(id_, content)
    assert not known.is_repeated(None, b"")
