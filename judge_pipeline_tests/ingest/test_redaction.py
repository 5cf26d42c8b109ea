"""Redaction: what must go, what must stay. Keys are made up, in pieces, so that no scanner takes them for real."""

from __future__ import annotations

import base64
import json
import re
import socket
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.ingest.redaction import TOKEN, Redactor, is_distinctive, participant_tokens, pseudonym
from judge_pipeline.settings import Workspace

BEGIN = "-----" + "BEGIN "
LETTERS = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAbCdEfGhJkLmNpQrStUvWxYz0123456789"


def _jwt() -> str:
    def part(value: dict[str, str]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return f"{part({'alg': 'HS256'})}.{part({'sub': 'somebody'})}.{LETTERS[:43]}"


PRIVATE_KEY = "\n".join(
    ["-----BEGIN RSA PRIVATE " + "KEY-----", *["MIIEow" + LETTERS[:58]] * 4, "-----END RSA PRIVATE " + "KEY-----"]
)

SECRETS = {
    "AWS id": "AKIA" + "IOSFODNN7EXAMPL3",
    "GitHub": "ghp_" + LETTERS[:36],
    "GitHub fine-grained": "github_" + "pat_" + LETTERS[:22] + "_" + LETTERS[:59],
    "GitLab": "glpat-" + LETTERS[:20],
    "OpenAI": "sk-" + LETTERS[:20] + "T3BlbkFJ" + LETTERS[:20],
    "OpenAI project": "sk-proj-" + LETTERS[:48],
    "Anthropic": "sk-ant-api03-" + LETTERS[:60] + "-" + LETTERS[:20] + "AA",
    "DeepSeek": "sk-" + "0123456789abcdef" * 2,
    "Google": "AIza" + LETTERS[:35],
    "Hugging Face": "hf_" + LETTERS[:34],
    "Groq": "gsk_" + LETTERS[:52],
    "Slack": "xoxb-" + "123456789012-123456789012-" + LETTERS[:24],
    "Stripe": "sk_live_" + LETTERS[:24],
    "SendGrid": "SG." + LETTERS[:22] + "." + LETTERS[:43],
    "npm": "npm_" + LETTERS[:36],
    "PyPI": "pypi-AgE" + LETTERS[:60],
    "Telegram": "123456789:AA" + LETTERS[:33],
    "JWT": _jwt(),
    "private key": PRIVATE_KEY,
}
EMAILS = ("taro.yamada@example.co.jp", "a+b_c@mail.example.org", "x@sub.domain.university", "me＠example.com")
PHONES = (
    "090-1234-5678", "03-1234-5678", "06(6123)4567", "0120-444-113", "09012345678", "+81 90 1234 5678",
    "+81-3-1234-5678", "+1 415 555 2671", "+14155552671", "(415) 555-2671", "415-555-2671", "+44 20 7946 0018",
    "+49 30 901820", "+33 1 42 68 53 00", "+86 138 1234 5678", "+91 98765 43210", "+55 11 96123-4567",
)  # fmt: skip
SURVIVE = (
    "C = A@B.T\nD = A @ B\nx = w@v.sum()\n",
    "@lru_cache(maxsize=None)\ndef f(n): return n\n",
    "long long MOD = 1000000007, INF = 9223372036854775807LL;",
    "const a = 415-555*2671; int b = 100-200-3000; c = x-090-1234;",
    "print(200-300-4000)\nprint(212-555-1234*2)\nb = [212-555-1234]\n",
    "2026-03-01 10:05:00 +0900 AC 1234 ms 40960 KB",
    "Submitted at: 2026/04/01 10:01:00+0900\nsha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "5 10\n090 1234 5678\n0101010101010\n3141592653 5897932384",
    "commit da39a3ee5e6b4b0d3255bfef95601890afd80709, md5 d41d8cd98f00b204e9800998ecf8427e",
    "git@github.com:someone/solutions.git and https://example.org/a/b?c=1234567890#12",
    'string password = "abc"; key = "secret"; token = "hello-world-program"; map<string,int> api_key;',
    "3.14159265358979323846, 1e-9, 0x7fffffff, 1'000'000'007, 10.0.0.1, v18.2.0, react@18.2.0",
    "risk-aversion-parameter-estimation and sk-learn-based-classification-of-things",
    "WA on test 12, TLE 2000ms; submission #41207604, contest 1234567890",
    "import numba; cc.export('f', 'i8(i8[:],i8)')(f)  # " + "QUJD" * 40 + "==",
    "ans = (0.5, -1, +1, +12, a+1234567890, +8190123)",
)


@pytest.fixture(scope="module")
def redactor() -> Redactor:
    return Redactor()


@pytest.mark.parametrize("name", SECRETS)
def test_keys_of_the_usual_providers_go(redactor: Redactor, name: str) -> None:
    secret = SECRETS[name]
    for text in (f"key: {secret}\n", f'API = "{secret}";', f"here it is {secret}, please use it", secret):
        for out in (redactor.prompts(text), redactor.source(text)):
            assert out.counts == {"secret": 1}, text
            assert "[redacted:secret]" in out.text
            assert secret[len(secret) // 2 :] not in out.text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("postgres://admin:" + "hunter2secret@db.example.org/x", "hunter2secret"),
        ('aws_secret_access_key = "' + LETTERS[:38] + "+/" + '"', LETTERS[:38]),
        ("DefaultEndpointsProtocol=https;AccountKey=" + "Ab1/" * 21 + "Ab==;", "Ab1/Ab1/"),
        ("curl -H 'Authorization: Bearer " + LETTERS[:30] + "'", LETTERS[:30]),
        ('PASSWORD = "correct-horse-7-battery"', "correct-horse"),
        (f"{BEGIN}OPENSSH PRIVATE KEY-----\n" + ("b3Blb" + LETTERS[:50] + "\n") * 3 + "the rest is lost", "b3Blb"),
        (f"{BEGIN}EC PRIVATE KEY-----\nDEK-Info: AES\n\n{LETTERS}\n-----END EC PRIVATE KEY-----", LETTERS),
    ],
)  # fmt: skip
def test_secrets_that_their_surroundings_give_away_go(redactor: Redactor, text: str, left: str) -> None:
    out = redactor.prompts(text)
    assert out.counts["secret"] == 1
    assert left not in out.text


@pytest.mark.parametrize("email", EMAILS)
def test_addresses_go(redactor: Redactor, email: str) -> None:
    for text in (f"write to {email}.", f"// Author: Taro <{email}>\nint main() {{}}", f"「{email}」まで"):
        out = redactor.source(text)
        assert out.counts == {"email": 1}, text
        assert email not in out.text


@pytest.mark.parametrize("phone", PHONES)
def test_telephone_numbers_go(redactor: Redactor, phone: str) -> None:
    for text in (f"call {phone} please", f"電話は{phone}です", f"# tel: {phone}\nx = 1"):
        out = redactor.prompts(text)
        assert out.counts == {"phone": 1}, text
        assert phone not in out.text


def test_a_number_that_is_said_to_be_a_telephones_needs_no_grouping(redactor: Redactor) -> None:
    assert redactor.prompts("my phone number is 4155552671, ok?").text == "my phone number is [redacted:phone], ok?"
    assert redactor.prompts("電話番号：03 1234 5678").counts == {"phone": 1}


@pytest.mark.parametrize("text", SURVIVE)
def test_code_numbers_hashes_and_times_stay(redactor: Redactor, text: str) -> None:
    assert redactor.source(text).text == text
    assert redactor.prompts(text).text == text


def test_names_are_replaced_as_whole_words_in_any_case() -> None:
    redactor = Redactor(names=("Ken Sato", "佐藤健", "Ann"))
    out = redactor.prompts("ken sato and KEN SATO asked Ann_1; Annotate, Kenneth; 担当は佐藤健さん")
    assert out.text == (
        "[redacted:name] and [redacted:name] asked [redacted:name]_1; Annotate, Kenneth; 担当は[redacted:name]さん"
    )
    assert out.counts == {"name": 4}


def test_participants_are_replaced_in_comments_prompts_and_separators_but_not_in_code() -> None:
    redactor = Redactor(participants=participant_tokens(["E001", "bob", "print", "77"], "mini", None))
    token = "[redacted:participant]"
    assert redactor.source("E001 = 1  # by E001\nprint(E001) // e001_x\n").text == (
        f"E001 = 1  # by {token}\nprint(E001) // {token}_x\n"
    )
    q_u = "----- log bob/77-E001.md, message 1 -----\nI am E001; bob, print 77 E0012"
    assert redactor.prompts(q_u).text == (
        f"----- log {token}/{token}-{token}.md, message 1 -----\nI am {token}; bob, print 77 E0012"
    )


def test_pseudonyms_need_the_key_and_differ_between_contests() -> None:
    one = pseudonym(b"k" * 16, "c1", "E001")
    assert re.fullmatch("[0-9a-f]{12}", one)
    assert len({one, pseudonym(b"j" * 16, "c1", "E001"), pseudonym(b"k" * 16, "c2", "E001")}) == 3
    # The parts cannot be shifted into each other.
    assert pseudonym(b"k", "ab", "c") != pseudonym(b"k", "a", "bc")
    tokens = participant_tokens(["E001", "E002"], "c1", b"k" * 16)
    assert Redactor(participants=tokens).prompts("E001 asked E002").text == f"{tokens['E001']} asked {tokens['E002']}"
    assert Redactor(participants=tokens).prompts(tokens["E001"]).counts == {}


def test_ids_that_are_words_are_told_from_ids_that_are_not() -> None:
    assert all(map(is_distinctive, ("E001", "tourist", "team-7", "山田太", "a_b")))
    assert not any(map(is_distinctive, ("bob", "123456", "E1", "print", "private", "Value")))


def test_kinds_that_are_left_out_are_left_alone() -> None:
    redactor = Redactor(kinds=("phone",))
    assert redactor.prompts("a@example.org 090-1234-5678").text == "a@example.org [redacted:phone]"


def test_nothing_is_asked_of_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    text = "\n".join([*SECRETS.values(), *EMAILS, *PHONES])
    counts = Redactor().prompts(text).counts
    assert counts == {"secret": len(SECRETS), "email": len(EMAILS), "phone": len(PHONES)}


PIECES = st.one_of(
    st.sampled_from([*SECRETS.values(), *EMAILS, *PHONES, "E001", "Ken Sato", "[redacted:email]", "[redacted:", "]"]),
    st.sampled_from(["@", ".", "-", "+", " ", "\n", "//", "#", "0", "sk-", "----- log ", '"', "://", "key = '"]),
    st.text(max_size=12),
)


@given(st.lists(PIECES, max_size=14).map("".join), st.booleans())
def test_redacting_is_idempotent_and_counts_what_it_replaces(text: str, is_source: bool) -> None:
    redactor = Redactor(names=["Ken Sato"], participants=participant_tokens(["E001"], "c", b"k" * 16))
    redact = redactor.source if is_source else redactor.prompts
    once = redact(text)
    assert redact(once.text).text == once.text
    assert not redact(once.text).counts
    before, after = Counter(TOKEN.findall(text)), Counter(TOKEN.findall(once.text))
    assert sum((after - before).values()) == sum(once.counts.values())
    assert not before - after
    if not once.counts:
        assert once.text == text
    # What stands between the tokens is the text's own, in its order.
    rest = iter(text)
    assert all(character in rest for character in "".join(TOKEN.split(once.text)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "hostile",
    ["sk-" * 40_000, "eyJ" * 40_000, "a@b.com " * 10_000, "E001 " * 10_000, "0-" * 50_000, "/*" * 50_000,
     "-----BEGIN PRIVATE " * 5_000, "+1 2 " * 20_000, "a@" + "b-" * 50_000, "aws key " * 10_000],
)  # fmt: skip
def test_hostile_texts_take_no_long(hostile: str) -> None:
    redactor = Redactor(participants={"E001": "[redacted:participant]"})
    began = time.process_time()
    redactor.prompts(hostile)
    assert time.process_time() - began < 5


@pytest.mark.slow
def test_nothing_is_replaced_in_the_sample_contest(checkout: Path) -> None:
    """Its programs and prompts hold no personal data: each finding would be a false one."""
    from judge_pipeline.ingest.contest import read_contest

    folder = checkout / "judge_pipeline" / "samples" / "contests" / "sample-contest"
    read = read_contest(folder, "sample-contest", Workspace.find({}, checkout).contest(folder))
    ids = sorted(set(read.attempts["participant"]))
    redactor = Redactor(
        participants=participant_tokens(ids, "c", None), phone_regions=("JP", "US", "GB", "DE", "FR", "CN", "IN")
    )
    for source in read.attempts["source_code"].dropna():
        assert redactor.source(source).text == source
    for text in read.prompt_logs["text"]:
        assert redactor.prompts(text).text == text


@pytest.mark.slow
def test_shared_cases_lose_only_addresses(checkout: Path, redactor: Redactor) -> None:
    cases = checkout.parent / "shared" / "cases"
    if not cases.is_dir():
        pytest.skip("the shared cases are not here")
    counts: Counter[str] = Counter()
    for file in sorted(cases.rglob("*")):
        if file.is_file() and file.suffix != ".zip":
            counts.update(redactor.prompts(file.read_bytes().decode("utf-8", "replace")).counts)
    # The four addresses in the logs are addresses (at example.org); nothing else is taken for personal data.
    assert counts == {"email": 4}
