"""A server that sends replies twice: no answer is taken for another request's, over real connections."""

from __future__ import annotations

import asyncio
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.judging.backends.direct_backend import DirectBackend
from judge_pipeline.judging.backends.litellm_backend import litellm_call
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
                asked = json.loads(await reader.readexactly(length))["messages"][0]["content"]
                self.served += 1
                reply = self.reply(asked)
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

    def reply(self, text: str) -> bytes:
        message = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        body = json.dumps({"id": f"chatcmpl-{self.served}", "model": "m", "choices": [message]}).encode()
        return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


def ask_all(server: Stutterer, pause: float, n: int = 25, in_flight: int = 4) -> Counter[str]:
    """How many answers were right, wrong and refused."""
    counts: Counter[str] = Counter()

    async def ask(backend: DirectBackend, settings: LitellmJudge, text: str) -> None:
        try:
            reply = await backend.ask(litellm_call(settings, (Message("user", text),)), (), None)
            counts["right" if reply.text == text else "wrong"] += 1
        except CallFailedError as error:
            assert error.failure.failure_class == "infrastructure"
            counts["refused"] += 1
        await asyncio.sleep(pause)

    async def run() -> None:
        listening = await asyncio.start_server(server.handle, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
        settings = LitellmJudge(backend="litellm", model="openai/x", base_url=url, transport="direct")
        backend = DirectBackend.of(settings, {})
        await backend.open()

        async def worker(number: int) -> None:
            for i in range(n):
                await ask(backend, settings, f"{number}/{i}")

        await asyncio.gather(*(worker(number) for number in range(in_flight)))
        await backend.close()
        listening.close()

    asyncio.run(run())
    return counts


@pytest.mark.parametrize("late", [0.0, 0.002])
@pytest.mark.parametrize("pause", [0.0, 0.02])
def test_no_answer_is_taken_for_another_request_s(late: float, pause: float) -> None:
    server = Stutterer(late)
    counts = ask_all(server, pause)
    assert counts["wrong"] == 0
    assert counts["right"] >= 90  # the rest is tried again
    assert sum(counts.values()) == 100


def test_an_orderly_server_keeps_its_connections() -> None:
    server = Stutterer(0.0, repeats=False)
    assert ask_all(server, 0.0) == {"right": 100}
    assert server.connections <= 4


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
