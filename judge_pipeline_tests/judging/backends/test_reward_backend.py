"""Reward models over real connections: servers that speak as vLLM and TEI do, and what can go wrong with them."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.judging.backends.base import Reply
from judge_pipeline.judging.backends.reward_backend import FIRST, SECOND, RewardBackend, choice_of, reward_call
from judge_pipeline.judging.backends.reward_scores import scores_in
from judge_pipeline.judging.failures import CallFailedError, JudgingError
from judge_pipeline.judging.request import Message, request_hash
from judge_pipeline.settings import RewardJudge
from judge_pipeline.settings.reward_judge import FORMS, PATHS
from judge_pipeline_tests.judging.loopback_scorer import MODEL, Fault, Scorer, chat_text, pair_text, score_of

SCALAR = [(protocol, send_as) for protocol, forms in FORMS.items() for send_as in forms]
PAIRWISE = [protocol for protocol, forms in FORMS.items() if "text" in forms]
CONTEXT = (Message("system", "You write code."), Message("user", "Sort a list.\n[1, 2]"))
QUERY = "You write code.\nSort a list.\n[1, 2]"
ONE, OTHER = "sorted(x)", "x.sort() # é \U0001f600"


def asked(first: str = ONE, second: str = OTHER) -> tuple[Message, ...]:
    return (*CONTEXT, Message(FIRST, first), Message(SECOND, second))


def settings_at(url: str = "http://127.0.0.1:9", **settings: Any) -> RewardJudge:
    return RewardJudge(**({"backend": "reward", "model": MODEL, "base_url": url, "protocol": "tei_predict"} | settings))


def ask(
    scorer: Scorer, *calls: tuple[Message, ...], environment: dict[str, str] | None = None, **settings: Any
) -> list[Reply | CallFailedError]:
    """What comes of each call, one after another, at one backend."""

    async def run() -> list[Reply | CallFailedError]:
        async with scorer.served():
            judge = settings_at(scorer.url, **settings)
            backend = RewardBackend.of(judge, environment or {})
            await backend.open()
            outcomes: list[Reply | CallFailedError] = []
            for messages in calls:
                try:
                    outcomes.append(await backend.ask(reward_call(judge, messages), (), None))
                except CallFailedError as error:
                    outcomes.append(error)
            await backend.close()
            return outcomes

    return asyncio.run(run())


def answer(reply: Reply | CallFailedError) -> dict[str, Any]:
    assert isinstance(reply, Reply), reply
    assert reply.text is not None
    value: dict[str, Any] = json.loads(reply.text)
    return value


def failure(outcome: Reply | CallFailedError) -> tuple[str, str]:
    assert isinstance(outcome, CallFailedError), outcome
    return outcome.failure.failure_class, outcome.failure.text


def scored_text(send_as: str, response: str) -> str:
    """What the server's model reads, by its own rules."""
    if send_as == "messages":
        messages = [{"role": message.role, "content": message.content} for message in CONTEXT]
        return chat_text([*messages, {"role": "assistant", "content": response}])
    return pair_text(QUERY, response) if send_as == "query_and_text" else f"{QUERY}\n{response}"


@pytest.mark.parametrize(("protocol", "send_as"), SCALAR)
def test_each_endpoint_scores_both_and_the_other_order_mirrors_the_choice(protocol: str, send_as: str) -> None:
    scorer = Scorer()
    found = ask(scorer, asked(), asked(OTHER, ONE), protocol=protocol, send_as=send_as, log_odds=True)
    ab, ba = map(answer, found)
    scores = [score_of(scored_text(send_as, response)) for response in (ONE, OTHER)]
    assert [ab["score_first"], ab["score_second"]] == [ba["score_second"], ba["score_first"]] == scores
    assert ab["choice"] == ("A" if scores[0] > scores[1] else "B") == {"A": "B", "B": "A"}[ba["choice"]]
    assert ab["p_first"] == pytest.approx(1.0 / (1.0 + math.exp(scores[1] - scores[0])))
    assert ab["p_first"] + ba["p_first"] == pytest.approx(1.0)
    assert {endpoint for endpoint, *_ in scorer.requests} == {PATHS[protocol].strip("/")}  # type: ignore[index]
    assert len(scorer.requests) == (4 if send_as == "messages" else 2)


@pytest.mark.parametrize("protocol", PAIRWISE)
def test_one_score_for_the_pair_is_read_in_the_order_that_was_shown(protocol: str) -> None:
    calls = [asked(first, second) for first in ("a", "b", "c") for second in ("a", "d")]
    found = ask(Scorer(), *calls, protocol=protocol, kind="pairwise", log_odds=True)
    for messages, reply in zip(calls, found, strict=True):
        score = score_of("\n".join((QUERY, messages[-2].content, messages[-1].content)))
        assert answer(reply) == {
            "choice": "A" if score > 0 else "B", "score_first": None, "score_second": None,
            "p_first": pytest.approx(1.0 / (1.0 + math.exp(-score))),
        }  # fmt: skip
    assert {answer(reply)["choice"] for reply in found} == {"A", "B"}


def test_equal_texts_and_near_ones_are_ties() -> None:
    for protocol, send_as in SCALAR:
        (reply,) = ask(Scorer(), asked(ONE, ONE), protocol=protocol, send_as=send_as)
        assert answer(reply)["choice"] == "tie"
        assert answer(reply)["p_first"] is None
    (near,) = ask(Scorer(), asked(), tie_margin=10.0)
    assert answer(near)["choice"] == "tie"
    assert answer(near)["score_first"] != answer(near)["score_second"]


def test_what_a_reply_tells_beside_its_scores() -> None:
    price = {"input_usd_per_million_tokens": 10.0, "output_usd_per_million_tokens": 99.0}
    (chats,) = ask(Scorer(), asked(), protocol="vllm_classify", price=price)
    assert isinstance(chats, Reply)
    tokens = sum(len(scored_text("messages", response)) for response in (ONE, OTHER))
    assert (chats.tokens_in, chats.tokens_out) == (tokens, 0)
    assert chats.cost_usd == pytest.approx(tokens * 10.0 / 1e6)
    assert (chats.model, chats.provider_request_id, chats.finish_reason) == (MODEL, "reply-1, reply-2", "stop")
    (texts,) = ask(Scorer(), asked(), protocol="tei_predict")
    assert isinstance(texts, Reply)
    assert texts.tokens_in == sum(len(scored_text("text", response)) for response in (ONE, OTHER))
    assert texts.cost_usd is None

    def without_usage(whole: Any) -> Any:
        return {key: value for key, value in whole.items() if key != "usage"}

    scorer = Scorer()
    scorer.change = without_usage
    (untold,) = ask(scorer, asked(), protocol="vllm_score", price=price)
    assert isinstance(untold, Reply)
    assert (untold.tokens_in, untold.tokens_out, untold.cost_usd) == (None, None, None)


@pytest.mark.parametrize(
    ("fault", "failure_class", "words"),
    [
        (Fault(500, b"Internal Server Error"), "infrastructure", "HTTP 500"),
        (Fault(424, b'{"error":"Inference failed","error_type":"backend"}'), "infrastructure", "Inference failed"),
        (Fault(429, b'{"error":"Model is overloaded","error_type":"overloaded"}'), "rate_limit", "overloaded"),
        (Fault(422, b'{"error":"Tokenization error","error_type":"tokenizer"}'), "rejected", "Tokenization error"),
        (Fault(401, b'{"error":{"message":"Unauthorized"}}'), "authentication", "Unauthorized"),
        (Fault(302, headers={"Location": "http://127.0.0.1:9/predict"}), "configuration", "set base_url"),
        (Fault(body=b"<html>Bad gateway</html>"), "infrastructure", "not JSON"),
        (Fault(body=b'{"error":{"message":"slow down","code":429}}'), "rate_limit", "slow down"),
        (Fault(body=b'[[{"score": 1.', reset=True), "infrastructure", ""),
        (Fault(body=b"", reset=True), "infrastructure", ""),
    ],
)
@pytest.mark.parametrize("protocol", ["tei_predict", "vllm_classify"])
def test_failures_have_their_class_and_the_next_try_is_answered(
    protocol: str, fault: Fault, failure_class: str, words: str
) -> None:
    scorer = Scorer()
    scorer.faults = [fault]
    failed, then = ask(scorer, asked(), asked(), protocol=protocol)
    assert failure(failed)[0] == failure_class
    assert words in failure(failed)[1]
    assert answer(then)["choice"] in ("A", "B")


def test_how_long_the_server_asks_to_wait_is_told() -> None:
    scorer = Scorer()
    scorer.faults = [Fault(429, b"{}", {"Retry-After": "7"})]
    (failed,) = ask(scorer, asked())
    assert isinstance(failed, CallFailedError)
    assert failed.retry_after_seconds == 7.0


def test_the_second_of_two_requests_may_fail_and_nothing_of_the_first_is_kept() -> None:
    scorer = Scorer()
    classify = scorer._classify
    scorer.faults = []

    def fail_second(body: dict[str, Any]) -> Any:
        if len(scorer.requests) == 1:
            scorer.faults = [Fault(500)]
        return classify(body)

    scorer._classify = fail_second  # type: ignore[method-assign]
    failed, then = ask(scorer, asked(), asked(), protocol="vllm_classify")
    assert failure(failed)[0] == "infrastructure"
    assert answer(then)["score_first"] == score_of(scored_text("messages", ONE))


@pytest.mark.parametrize("protocol", list(PATHS))
def test_a_text_that_is_too_long_is_a_failure_unless_the_server_may_cut_it(protocol: str) -> None:
    refused, shorter = ask(Scorer(), asked(second="x" * 3000), asked(), protocol=protocol)
    assert failure(refused)[0] == "too_long"
    assert answer(shorter)["choice"] in ("A", "B")
    (cut,) = ask(Scorer(), asked(second="x" * 3000), protocol=protocol, truncate=True)
    assert answer(cut)["choice"] in ("A", "B")


def test_a_model_that_the_server_does_not_have_is_a_wrong_configuration() -> None:
    (failed,) = ask(Scorer(), asked(), protocol="vllm_score", model="org/another")
    assert failure(failed)[0] == "configuration"


def put(*path: Any, value: Any) -> Callable[[Any], Any]:
    """Changes an answer at a place."""

    def change(whole: Any) -> Any:
        place = whole
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        return whole

    return change


def drop(*path: Any) -> Callable[[Any], Any]:
    def change(whole: Any) -> Any:
        place = whole
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]
        return whole

    return change


WRONG: list[tuple[str, Callable[[Any], Any], str]] = [
    ("vllm_classify", put("data", 0, "probs", 0, value=math.nan), "invalid"),
    ("vllm_classify", put("data", 0, "probs", 0, value=None), "invalid"),
    ("vllm_classify", put("data", 0, "probs", value=[0.2, 0.8]), "invalid"),
    ("vllm_classify", put("data", 0, "probs", value=[]), "invalid"),
    ("vllm_classify", drop("data", 0, "probs"), "invalid"),
    ("vllm_classify", put("data", value=[]), "invalid"),
    ("vllm_classify", drop("data"), "infrastructure"),
    ("vllm_classify", lambda whole: [whole], "infrastructure"),
    ("vllm_pooling", put("data", 0, "data", value=[[1.0], [2.0]]), "invalid"),
    ("vllm_pooling", put("data", 0, "data", value="AACAPw=="), "invalid"),
    ("vllm_pooling", put("data", 0, "data", value=[math.inf]), "invalid"),
    ("vllm_score", put("data", 1, "score", value=True), "invalid"),
    ("vllm_score", put("data", 1, "score", value="1.5"), "invalid"),
    ("vllm_score", put("data", 1, "score", value=10**400), "invalid"),
    ("vllm_score", put("data", 1, "index", value=0), "invalid"),
    ("vllm_score", put("data", 1, "index", value=2), "invalid"),
    ("vllm_score", put("data", 1, "index", value=True), "invalid"),
    ("vllm_score", drop("data", 1, "index"), "invalid"),
    ("vllm_score", put("data", 1, value=None), "invalid"),
    ("vllm_score", drop("data", 1), "invalid"),
    ("tei_predict", put(1, 0, "score", value=None), "invalid"),
    ("tei_predict", put(1, 0, value="x"), "invalid"),
    ("tei_predict", lambda whole: [row[0] for row in whole], "invalid"),
    ("tei_predict", lambda whole: [row * 2 for row in whole], "invalid"),
    ("tei_predict", lambda whole: whole[:1], "invalid"),
    ("tei_predict", lambda whole: {"data": whole}, "infrastructure"),
    ("tei_rerank", lambda whole: whole + whole[:1], "invalid"),
    ("tei_rerank", put(0, "score", value=-math.inf), "invalid"),
    ("tei_rerank", put(0, "index", value="0"), "invalid"),
]


@pytest.mark.parametrize(("protocol", "change", "failure_class"), WRONG)
def test_scores_that_are_none_are_invalid_and_no_choice_is_made_of_them(
    protocol: str, change: Callable[[Any], Any], failure_class: str
) -> None:
    scorer = Scorer()
    scorer.change = change
    (failed,) = ask(scorer, asked(), protocol=protocol)
    assert failure(failed)[0] == failure_class


def test_one_number_in_a_list_of_its_own_is_the_pooled_score() -> None:
    scorer = Scorer()
    scorer.change = put("data", 0, "data", value=[[2.5]])
    (reply,) = ask(scorer, asked(), protocol="vllm_pooling")
    assert answer(reply)["score_first"] == 2.5


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["data", "index", "score", "probs", "label", "error"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(json_values, st.sampled_from(sorted(PATHS)), st.integers(1, 2))
def test_no_reply_breaks_the_reader_and_what_it_gives_is_a_finite_score_for_each_text(
    value: Any, protocol: str, n: int
) -> None:
    try:
        scores = scores_in(protocol, json.dumps(value).encode(), n)
    except CallFailedError as error:
        assert error.failure.failure_class in ("invalid", "infrastructure", "rate_limit", "configuration", "rejected")
    else:
        assert len(scores) == n
        assert all(isinstance(score, float) and math.isfinite(score) for score in scores)


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite, finite, st.floats(0.0, 1e6))
def test_the_choice_is_the_mirrored_one_for_scores_that_change_places(one: float, other: float, margin: float) -> None:
    parameters = {"kind": "scalar", "tie_margin": margin, "neutral_score": 0.0, "log_odds": True}
    ab, ba = choice_of(parameters, [one, other]), choice_of(parameters, [other, one])
    assert ab["choice"] == {"A": "B", "B": "A", "tie": "tie"}[ba["choice"]]
    assert (ab["choice"] == "tie") == (abs(one - other) <= margin)
    assert (ab["choice"] == "A") == (one > other and one - other > margin)
    assert 0.0 <= ab["p_first"] <= 1.0 and ab["p_first"] + ba["p_first"] == pytest.approx(1.0)


def test_the_neutral_score_of_a_pair_may_be_a_probability() -> None:
    parameters = {"kind": "pairwise", "tie_margin": 0.1, "neutral_score": 0.5, "log_odds": False}
    assert [choice_of(parameters, [score])["choice"] for score in (0.7, 0.55, 0.5, 0.45, 0.3)] == [
        "A", "tie", "tie", "tie", "B",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "roles",
    [
        (),
        ("user",),
        (FIRST, SECOND),
        ("user", SECOND, FIRST),
        ("user", FIRST),
        ("user", FIRST, FIRST),
        ("user", FIRST, SECOND, "user"),
        ("question: better", FIRST, SECOND),
        ("user", "assistant", FIRST, SECOND),
    ],
)
def test_a_template_without_its_parts_is_refused_with_a_remedy(roles: tuple[str, ...]) -> None:
    with pytest.raises(JudgingError, match="has parts --- system --- or --- user ---, then --- response: first ---"):
        reward_call(settings_at(), tuple(Message(role, "x") for role in roles))


def test_what_changes_a_choice_changes_the_identity_of_the_call() -> None:
    plain = request_hash(reward_call(settings_at(), asked()))
    assert request_hash(reward_call(settings_at(limits={"max_tries": 9}, api_key_env="KEY"), asked())) == plain
    assert request_hash(reward_call(settings_at(send_as="text"), asked())) == plain  # the default, said
    changes: list[dict[str, Any]] = [
        {"tie_margin": 0.5}, {"log_odds": True}, {"truncate": True}, {"kind": "pairwise"}, {"model": "org/m"},
        {"send_as": "query_and_text"}, {"protocol": "tei_rerank"}, {"kind": "pairwise", "neutral_score": 0.5},
    ]  # fmt: skip
    hashes = {request_hash(reward_call(settings_at(**change), asked())) for change in changes}
    assert len(hashes | {plain}) == len(changes) + 1
    assert request_hash(reward_call(settings_at(), asked(OTHER, ONE))) != plain


def test_the_key_goes_to_the_server_and_only_where_it_is_named() -> None:
    for named, sent in (("REWARD_KEY", "Bearer topsecret-1234"), (None, None)):
        scorer = Scorer()
        environment = {"REWARD_KEY": "topsecret-1234", "OPENAI_API_KEY": "another-5678"}
        (reply,) = ask(scorer, asked(), environment=environment, api_key_env=named)
        assert isinstance(reply, Reply)
        assert [headers.get("Authorization") for _, _, headers in scorer.requests] == [sent]
        assert "topsecret" not in repr(reply)


def test_vllm_s_connections_are_kept_and_tei_s_are_not() -> None:
    calls = [asked(str(i)) for i in range(5)]
    kept, each = Scorer(), Scorer()
    ask(kept, *calls, protocol="vllm_score")
    ask(each, *calls, protocol="tei_predict")
    assert (len(kept.peers), len(each.peers)) == (1, 5)


class Stutterer:
    """Answers as vLLM or TEI does, and sends each reply again ``late`` seconds later."""

    def __init__(self, late: float, protocol: str) -> None:
        self.late = late
        self.protocol = protocol
        self.served = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
                body = json.loads(await reader.readexactly(length))
                self.served += 1
                reply = self.reply(body)
                for pause in (0.0, self.late):
                    await asyncio.sleep(pause)
                    writer.write(reply)
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def reply(self, body: dict[str, Any]) -> bytes:
        if self.protocol == "tei_predict":
            whole: Any = [[{"score": score_of(text), "label": "x"}] for (text,) in body["inputs"]]
        else:
            data = [{"index": i, "score": score_of(text)} for i, text in enumerate(body["text_2"])]
            whole = {"id": f"score-{self.served}", "data": data}
        text = json.dumps(whole).encode()
        return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text)


@pytest.mark.parametrize("protocol", ["tei_predict", "vllm_score"])
@pytest.mark.parametrize("late", [0.0, 0.002])
def test_no_score_is_taken_for_another_text_s(protocol: str, late: float) -> None:
    counts = {"right": 0, "wrong": 0, "refused": 0}

    async def worker(backend: RewardBackend, judge: RewardJudge, number: int) -> None:
        for i in range(20):
            try:
                reply = await backend.ask(reward_call(judge, asked(f"{number}/{i}", f"{number}:{i}")), (), None)
            except CallFailedError as error:
                assert error.failure.failure_class == "infrastructure"
                counts["refused"] += 1
            else:
                texts = [f"{number}/{i}", f"{number}:{i}"]
                texts = [f"{QUERY}\n{text}" for text in texts] if protocol == "tei_predict" else texts
                found = [answer(reply)["score_first"], answer(reply)["score_second"]]
                counts["right" if found == [score_of(text) for text in texts] else "wrong"] += 1

    async def run() -> None:
        listening = await asyncio.start_server(Stutterer(late, protocol).handle, "127.0.0.1", 0)
        judge = settings_at(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", protocol=protocol)
        backend = RewardBackend.of(judge, {})
        await backend.open()
        await asyncio.gather(*(worker(backend, judge, number) for number in range(4)))
        await backend.close()
        listening.close()

    asyncio.run(run())
    assert counts["wrong"] == 0
    assert counts["right"] >= 70  # the rest is tried again
    assert sum(counts.values()) == 80
