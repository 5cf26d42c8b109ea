from __future__ import annotations

import csv
import json
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.ingest.contest_folder import MAX_ARTIFACT_BYTES, contest_files
from judge_pipeline.ingest.prompt_logs import MAX_TEXT_CHARS, prompt_logs, read_prompt_log
from judge_pipeline.ingest.records import UnreadableArtifact, sha256_of
from judge_pipeline.tables import INGEST_QUARANTINE, PROMPT_LOGS


def expected_logs(shared: Path) -> list[dict[str, str]]:
    with (shared / "cases" / "expected.tsv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["kind"] == "prompts"]
    assert len(rows) == 25
    return rows


# The file holds two conversations, each of two prompts and one answer (its own note in expected.tsv lists both), and
# the row beside it for Claude's export of the same two shapes says 4 and 2. The expected 2 and 1 count the first only.
WRONG_IN_THE_TABLE = {"prompt_logs/ctxray__ctxray/tests/fixtures/chatgpt_conversations.json": ("4", "2")}


def test_the_handed_over_logs_have_the_expected_numbers_of_prompts_and_answers(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hits: Counter[str] = Counter()
    scored: Counter[str] = Counter()
    misses = []
    for row in expected_logs(shared):
        messages = read_prompt_log((shared / "cases" / row["path"]).read_bytes(), row["path"])
        roles = Counter(message.role for message in messages)
        right = dict(zip(("n_prompts", "n_answers"), WRONG_IN_THE_TABLE.get(row["path"], ()), strict=False))
        for field, role in (("n_prompts", "user"), ("n_answers", "assistant")):
            if row[field]:
                scored[field] += 1
                hit = str(roles[role]) == right.get(field, row[field])
                hits[field] += hit
                misses += [] if hit else [(row["path"], field, row[field], roles[role])]
    with capsys.disabled():
        print(f"\nprompt logs: n_prompts {hits['n_prompts']}/{scored['n_prompts']}, ", end="")
        print(f"n_answers {hits['n_answers']}/{scored['n_answers']} (1 log corrected in each)")
    assert misses == []
    assert (scored["n_prompts"], scored["n_answers"]) == (15, 14)


def test_the_corrected_expectation_is_what_the_file_says(shared: Path) -> None:
    ((path, right),) = WRONG_IN_THE_TABLE.items()
    conversations = json.loads((shared / "cases" / path).read_text(encoding="utf-8"))
    roles = Counter(
        node["message"]["author"]["role"]
        for conversation in conversations
        for node in conversation["mapping"].values()
        if node["message"]
    )
    assert (str(roles["user"]), str(roles["assistant"])) == right


def test_every_handed_over_log_names_its_format_and_is_ordered(shared: Path) -> None:
    formats = set()
    for row in expected_logs(shared):
        messages = read_prompt_log((shared / "cases" / row["path"]).read_bytes(), row["path"])
        for message in messages:
            formats.add(message.notes[0])
            assert message.notes[0].startswith("format: ")
            assert message.text_sha256 == sha256_of(message.text)
            assert message.at is None or message.at.tzinfo == UTC
        places = [(message.conversation, message.order) for message in messages]
        assert len(set(places)) == len(places)
        for conversation in {conversation for conversation, _ in places}:
            orders = [order for c, order in places if c == conversation]
            assert orders == list(range(1, len(orders) + 1))
    assert len(formats) >= 12


def test_times_are_those_that_the_logs_truly_state(shared: Path) -> None:
    folder = shared / "cases" / "prompt_logs"
    (log,) = folder.glob("specstory*/**/*.md")
    first = read_prompt_log(log.read_bytes(), "log.md")[0]
    assert first.at is not None
    assert first.at.isoformat() == "2026-01-12T15:08:38+00:00"
    # aider states when a session began, without a zone; LibreChat states a time of day without a date.
    for pattern in ("Bjorn*/*.md", "tyaitskyi*/data/*.txt"):
        for log in folder.glob(pattern):
            assert all(message.at is None for message in read_prompt_log(log.read_bytes(), "log.md"))


def refused(data: bytes, path: str) -> UnreadableArtifact:
    with pytest.raises(UnreadableArtifact) as caught:
        read_prompt_log(data, path)
    assert caught.value.path == path
    assert caught.value.reason
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"weather": [1, 2]}', "no chat format that is known; it is an object with the keys 'weather'"),
        ("[1, 2, 3]", "it is a list of 3 value"),
        ('"User: hello"', "it is a str"),
        ('{"a": ', "is not JSON"),
        ("User: hello\nAssistant: hi\n", "is not JSON"),
    ],
)
def test_json_that_is_no_chat_never_falls_back_to_text(text: str, reason: str) -> None:
    assert reason in refused(text.encode(), "prompts/E1/log.json").reason


def test_the_place_of_broken_json_is_told() -> None:
    assert refused(b'{"mapping": {},\n oops}', "a.json").place == "line 2, column 2"


def test_an_extension_that_lies_does_not_hide_json() -> None:
    text = json.dumps([{"role": "user", "content": "hi"}])
    (message,) = read_prompt_log(text.encode(), "prompts/E1/log.txt")
    assert (message.role, message.text) == ("user", "hi")


def test_text_that_begins_like_json_is_still_text() -> None:
    messages = read_prompt_log(b"[User]: hi\n[Assistant]: hello\n", "log.txt")
    assert [(m.role, m.text) for m in messages] == [("user", "hi"), ("assistant", "hello")]


@pytest.mark.parametrize("head", [b"%PDF-1.7", b"PK\x03\x04", b"\x89PNG\r\n", b"\x1f\x8b\x08"])
def test_what_is_no_text_is_refused(head: bytes) -> None:
    assert "not a chat log as text" in refused(head + b"\0" * 50, "log.md").reason


def test_a_web_page_is_refused_with_a_remedy() -> None:
    assert "export the chat again" in refused(b"<!DOCTYPE html><p>User: hi</p>", "chat.html").remedy


def test_size_is_bounded() -> None:
    assert "bytes" in refused(b"x" * (MAX_ARTIFACT_BYTES + 1), "big.txt").reason
    assert "characters" in refused(b"word " * (MAX_TEXT_CHARS // 5 + 1), "big.txt").reason


def test_a_log_in_shift_jis_is_read_and_says_so() -> None:
    messages = read_prompt_log(
        "ユーザー：並べ替えの方法を教えてください\nAI：標準の関数を使います\n".encode("cp932"), "log.txt"
    )
    assert [m.text for m in messages] == ["並べ替えの方法を教えてください", "標準の関数を使います"]
    assert any("Shift_JIS" in note for note in messages[0].notes)


def test_half_a_surrogate_pair_is_replaced_and_noted() -> None:
    (message,) = read_prompt_log(b'[{"role": "user", "content": "broken \\ud83d emoji"}]', "log.json")
    assert message.text == "broken \N{REPLACEMENT CHARACTER} emoji"
    assert any("surrogate" in note for note in message.notes)


def test_a_log_that_starts_with_an_answer_has_no_prompt_for_it_and_says_so() -> None:
    log = [{"role": "assistant", "content": "42"}, {"role": "user", "content": "why?"}]
    messages = read_prompt_log(json.dumps(log).encode(), "log.json")
    assert [m.role for m in messages] == ["assistant", "user"]
    assert "the log starts with an answer: its prompt is not there" in messages[0].notes


@pytest.mark.parametrize("data", [b"", b" \n\n", b"\xef\xbb\xbf", b"[]"])
def test_an_empty_log_holds_no_messages(data: bytes) -> None:
    assert read_prompt_log(data, "log.json") == []


def test_logs_become_a_table_and_what_is_set_aside_another() -> None:
    good = b"User: one\nAssistant: two\n"
    gone = UnreadableArtifact("prompts/E1/huge.md", None, "is too large", "split it")
    table, quarantine = prompt_logs(
        [
            ("prompts/E1/a.txt", good),
            ("prompts/E1/copy of a.txt", good),
            ("prompts/E2/a.txt", good),
            ("prompts/E1/deep/er/b.md", b"## User\nthree\n"),
            ("prompts/loose.txt", good),
            ("prompts/E1/broken.json", b"{"),
            ("prompts/E1/summary.md", b"# What we did\n\ntext\n\n## And then\n\nmore\n"),
            ("prompts/E1/huge.md", gone),
        ]
    )
    assert table[["participant", "path", "order", "role", "text"]].to_numpy().tolist() == [
        ["E1", "prompts/E1/a.txt", 1, "user", "one"],
        ["E1", "prompts/E1/a.txt", 2, "assistant", "two"],
        ["E2", "prompts/E2/a.txt", 1, "user", "one"],
        ["E2", "prompts/E2/a.txt", 2, "assistant", "two"],
        ["E1", "prompts/E1/deep/er/b.md", 1, "user", "three"],
    ]
    assert quarantine.set_index("path")["reason"].to_dict() == {
        "prompts/E1/copy of a.txt": "holds the same bytes as prompts/E1/a.txt",
        "prompts/loose.txt": "lies in no participant's folder",
        "prompts/E1/broken.json": quarantine["reason"][2],
        "prompts/E1/summary.md": "holds no messages: it is empty, or a summary and no chat",
        "prompts/E1/huge.md": "is too large",
    }
    assert set(quarantine["kind"]) == {"prompts"}
    PROMPT_LOGS.to_arrow(table)
    INGEST_QUARANTINE.to_arrow(quarantine)


def test_no_files_no_rows() -> None:
    table, quarantine = prompt_logs([])
    assert table.empty
    assert quarantine.empty


@pytest.mark.slow
def test_a_whole_folder_of_real_logs_becomes_a_table(shared: Path, tmp_path: Path) -> None:
    source = shared / "cases" / "prompt_logs"
    for log in source.rglob("*"):
        if log.is_file():
            target = tmp_path / "prompts" / log.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(log.read_bytes())
    table, quarantine = prompt_logs(contest_files(tmp_path, "prompts"))
    assert table["participant"].nunique() == 11  # of 12, one has only a log without any speaker
    assert any("/.specstory/" in path for path in table["path"])  # a hidden folder, but a log
    assert len(quarantine) == 2  # the summary, and aider's fixture without any speaker
    again, _ = prompt_logs(contest_files(tmp_path, "prompts"))
    pd.testing.assert_frame_equal(table, again)


# Values under keys that the formats look for, in every wrong shape.
KEYS = """mapping message author role content content_type parts current_node parent children chat_messages sender text
    type uuid parent_message_uuid created_at attachments extracted_content conversations responses response conversation
    messages chunkedPrompt chunks isThought header title time safeHtmlItem html details url requests responderUsername
    history currentId parentId isCreatedByUser messageId messagesTree sessionId payload timestamp id tool_use thinking
    prompt answer fragments inserted_at create_time $date kind value metadata recipient isSidechain session_id"""
WORDS = """user assistant human system tool model gemini text thinking tool_result tool_use message response_item Gemini
    REQUEST RESPONSE all a b 2024-01-01T00:00:00Z 9999-12-31T23:59:59-23:59 0001-01-01T00:00:00+14:00 Prompted"""
keys = st.sampled_from(KEYS.split())
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.sampled_from(WORDS.split()),
    st.text(max_size=8),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=6)),
    max_leaves=25,
)


def read_or_refuse(data: bytes, path: str) -> None:
    try:
        messages = read_prompt_log(data, path)
    except UnreadableArtifact as unreadable:
        assert unreadable.remedy
    else:
        assert len({(m.conversation, m.order) for m in messages}) == len(messages)
        assert all(m.text_sha256 == sha256_of(m.text) for m in messages)


@pytest.mark.slow
@settings(deadline=None, max_examples=400)
@given(values, st.sampled_from(["a.json", "a.jsonl", "a.txt"]))
def test_no_json_of_any_shape_raises_anything_else(value: Any, path: str) -> None:
    read_or_refuse(json.dumps(value).encode("utf-8", "surrogatepass"), path)


@settings(deadline=None, max_examples=100)
@given(st.lists(values, max_size=5))
def test_no_json_lines_of_any_shape_raise_anything_else(lines: list[Any]) -> None:
    read_or_refuse("\n".join(map(json.dumps, lines)).encode(), "a.jsonl")


PIECES = """# aider chat started at 2025-01-01 00:00:00
#### do this\x20\x20
> Tokens: 1k sent
_**User (2026-01-12 15:08:38Z)**_
_**Agent**_
## User
## Assistant
# tool result (x)
**User**: hi
**助手**:
User: hi
GitHub Copilot: x
bob: y
>> User:
>> GPT:
Conversation
########
History
### Prompt 1: t
**Prompt Used**:
```
~~~
```cpp
---
You said:
Sure! Here is
text
Q: x
A: y
Prompts:
- item
[User] x
{
<think>
</think>
<html>
ユーザー\uff1ax
"""
pieces = st.sampled_from(PIECES.split("\n"))


@settings(deadline=None, max_examples=300)
@given(st.lists(st.one_of(pieces, st.text(max_size=12)), max_size=14))
def test_no_text_raises_anything_else(lines: list[str]) -> None:
    read_or_refuse("\n".join(lines).encode("utf-8", "surrogatepass"), "a.md")


@settings(deadline=None, max_examples=150)
@given(st.binary(max_size=300), st.sampled_from(["a.md", "a.json", "a"]))
def test_no_bytes_raise_anything_else(data: bytes, path: str) -> None:
    read_or_refuse(data, path)


def nested(n: int) -> str:
    return "[" * n


HOSTILE: dict[str, Callable[[], str]] = {
    "blanks.md": lambda: "# " + " " * 500_000 + "x",
    "bold.md": lambda: ("**a" + " " * 300 + "\n") * 2000,
    "backticks.md": lambda: "`" * 500_000 + "x",
    "headings.md": lambda: "# Prompt 1\n" * 30_000,
    "turns.md": lambda: "_**User**_\n" * 30_000,
    "sessions.md": lambda: "<!-- x Session abcdefghij -->\n_**User**_\nhi\n" * 10_000,
    "labels.txt": lambda: "User: hi\nAI: x\n" * 20_000,
    "models.txt": lambda: ("gpt " + "1o" * 30 + "!: x\n") * 5000,
    "tags.json": lambda: json.dumps([{"role": "user", "content": "<task>" * 200_000}]),
    "tags.md": lambda: "_**Agent**_\n" + "<think>" * 200_000,
    "deep.json": lambda: nested(500_000),
    "objects.json": lambda: '{"a":' * 200_000,
    "wide.json": lambda: "[" + '{"a":1},' * 50_000 + "{}]",
    "number.json": lambda: "1" * 500_000,
    "one-answer.jsonl": lambda: (
        (json.dumps({"type": "assistant", "message": {"role": "assistant", "id": "m", "content": "x" * 50}}) + "\n")
        * 10_000
    ),
    "replays.md": lambda: "# aider chat started at x\n" + "word " * 50_000 + "\n" + "#### p\n\n" * 20_000,
    "takeout.json": lambda: json.dumps(
        [{"header": "Gemini Apps", "title": "Prompted x", "safeHtmlItem": [{"html": "<div>" * 100_000}]}]
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_logs_are_read_or_refused_in_bounded_time(name: str) -> None:
    data = HOSTILE[name]().encode()
    begin = time.perf_counter()
    read_or_refuse(data, name)
    assert time.perf_counter() - begin < 20  # about a second at most; quadratic reading would take minutes
