"""Keys are blanked in whatever form a provider echoes them."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.judging.backends.secrets import BLANK, Scrubber


@given(st.text(st.characters(codec="ascii", min_codepoint=33, max_codepoint=126), min_size=8, max_size=60), st.text())
def test_no_form_of_the_key_is_left(key: str, around: str) -> None:
    scrub = Scrubber({"WHATEVER": key}, "WHATEVER")
    encoded = base64.b64encode(key.encode()).decode().rstrip("=")
    for text in (around + key + around, f"?key={quote(key, safe='')}&x", f"Basic {encoded}="):
        assert key not in scrub.error(text).replace(BLANK, "")
        assert encoded not in scrub.error(text).replace(BLANK, "")
        assert key not in scrub.answer(text).replace(BLANK, "")


ODD = "zk/very\"secret&key+98'7654\\é"


@pytest.mark.parametrize(
    "echoed",
    [
        json.dumps({"Authorization": f"Bearer {ODD}"}), json.dumps(json.dumps(ODD)),
        json.dumps(ODD).replace("/", "\\/"),
        html.escape(ODD), repr({"key": ODD}), quote_plus(ODD), quote(ODD),
        base64.urlsafe_b64encode(ODD.encode()).decode(),
    ],
)  # fmt: skip
def test_a_key_with_characters_that_are_escaped_is_blanked(echoed: str) -> None:
    scrub = Scrubber({"WHATEVER": ODD}, "WHATEVER")
    assert "98" not in scrub.error(echoed) and BLANK in scrub.error(echoed)
    assert scrub.answer(echoed) == scrub.error(echoed)


@pytest.mark.parametrize("placeholder", ["EMPTY", "none", "1", "x"])
def test_a_placeholder_is_no_secret_and_spoils_no_answer(placeholder: str) -> None:
    scrub = Scrubber({"VLLM_KEY": placeholder}, "VLLM_KEY")
    answer = '{"p_ac": 0.1, "rationale": "none is EMPTY, x = 1"}'
    assert scrub.answer(answer) == answer


def test_a_variable_that_holds_bytes_that_are_no_text_is_blanked() -> None:
    value = b"\xff\xfeabcdefgh".decode("utf-8", "surrogateescape")
    assert Scrubber({"SOME_TOKEN": value}).error(f"x {value}") == f"x {BLANK}"


def test_other_secrets_of_the_environment_are_blanked_in_errors_and_answers_are_left_alone() -> None:
    scrub = Scrubber({"OTHER_API_KEY": "abcdefgh1234", "HOME": "/home/someone"}, "UNSET")
    assert scrub.error("x abcdefgh1234 /home/someone") == f"x {BLANK} /home/someone"
    assert scrub.answer("x abcdefgh1234") == "x abcdefgh1234"


def test_what_looks_like_a_key_is_blanked_in_errors() -> None:
    scrub = Scrubber({})
    assert scrub.error("Incorrect API key: sk-proj-abcdefghijklmnopqrstuvwx.") == f"Incorrect API key: {BLANK}."
    assert scrub.error("Authorization: Bearer abc.def-ghi_jkl") == f"Authorization: {BLANK}"
    for words in ("the task sk-ipped", "it wants basic authentication, or Basic Authentication"):
        assert scrub.error(words) == words


@pytest.mark.parametrize(
    "key",
    [
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "github_pat_11ABCDEFG0abcdefghijkl_mnop", "AKIAIOSFODNN7EXAMPLE",
        "glpat-abcdefghijklmnopqrst", "xoxb-123456789012-abcdefghijkl", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmVk",
        "Basic dXNlcjpwYXNzd29yZA==",
    ],
)  # fmt: skip
def test_keys_of_other_services_are_known_by_their_form(key: str) -> None:
    assert Scrubber({}).error(f"refused: {key}, sorry") == f"refused: {BLANK}, sorry"


def test_a_password_in_a_url_is_blanked_within_it_and_on_its_own() -> None:
    url = "postgresql://judge:p%40ss-word@db.example.org/judge_pipeline"
    assert Scrubber({}).error(f"cannot use {url}") == f"cannot use postgresql://{BLANK}@db.example.org/judge_pipeline"
    assert Scrubber({"DATABASE_URL": url}).error('for user "judge": p@ss-word') == f'for user "judge": {BLANK}'
    assert Scrubber({}).error("see https://example.org:8080/a@b") == "see https://example.org:8080/a@b"


@pytest.mark.parametrize("name", ["SERVICE_AUTH", "HOOK_WEBHOOK_URL", "DB_PASS", "SENTRY_DSN", "GH_PAT"])
def test_a_name_that_ends_as_secrets_do_is_a_secrets(name: str) -> None:
    assert Scrubber({name: "abcdefgh1234"}).error("x abcdefgh1234") == f"x {BLANK}"
    assert Scrubber({"COMPASS_DIR": "/opt/compass"}).error("/opt/compass") == "/opt/compass"


@pytest.mark.parametrize("kept", range(4, 30))
def test_a_key_that_a_cut_left_the_beginning_of_is_blanked(kept: int) -> None:
    key = "Zq7-0123456789abcdefghijklmnopqr"
    scrubbed = Scrubber({"OPENAI_API_KEY": key}, "OPENAI_API_KEY").error(f"wrong key: {key[:kept]}")
    assert key[:4] not in scrubbed
    assert scrubbed.startswith("wrong key: ")
