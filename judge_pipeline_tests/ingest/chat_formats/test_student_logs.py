"""Logs as students hand them in: prompts as headings, under bold labels, in quotation marks, and copy-outs."""

from __future__ import annotations

import pytest

from judge_pipeline.ingest.chat_formats.chat import NOT_TYPED
from judge_pipeline.ingest.prompt_logs import PromptMessage, read_prompt_log
from judge_pipeline.ingest.records import UnreadableArtifact


def read(text: str) -> list[PromptMessage]:
    return read_prompt_log(text.encode(), "log.md")


def said(text: str) -> list[tuple[str, str]]:
    return [(m.role, m.text) for m in read(text)]


def test_prompts_as_headings_over_their_answers() -> None:
    log = (
        "# My copy\n\n## Sort the numbers in C++\n\nSure! Use `sort`.\n\n### Steps\n\n```cpp\n## no heading\n```\n\n"
        "## Now without the library?\n\nGreat idea. Here is a loop.\n\n## Is it fast ##\n\nIt takes n squared steps.\n"
    )
    assert said(log) == [
        ("user", "Sort the numbers in C++"),
        ("assistant", "Sure! Use `sort`.\n\n### Steps\n\n```cpp\n## no heading\n```"),
        ("user", "Now without the library?"),
        ("assistant", "Great idea. Here is a loop."),
        ("user", "Is it fast"),
        ("assistant", "It takes n squared steps."),
    ]
    assert all("guessed from wording" in " ".join(m.notes) for m in read(log))
    # A report in which one section happens to begin like an answer is no chat.
    report = "# Report\n\nText.\n\n## Goal\n\nSort.\n\n## Result\n\nGreat speed.\n\n## Next\n\nMore.\n\n## End\n\nx\n"
    assert said(report) == []


def test_a_question_before_a_document_with_headings() -> None:
    log = (
        "My loop is slow. What can I do?\n\nThe loop has three faults.\n\n---\n\n### 1. Bounds\n\nx\n\n"
        "### 2. Copies\n\ny\n"
    )
    roles = [m.role for m in read(log)]
    assert roles == ["user", "assistant"]
    assert said(log)[0][1] == "My loop is slow. What can I do?"
    assert said(log.replace("do?", "do.")) == []


def test_openings_with_escapes_and_dashes() -> None:
    log = "Explain heaps\n\nGreat question\\! A heap is a tree.\n\nAnd tries?\n\nExcellent—a trie is a tree, too.\n"
    assert [role for role, _ in said(log)] == ["user", "assistant", "user", "assistant"]


def test_an_answer_alone_is_no_prompt() -> None:
    (message,) = read("To merge two heaps in linear time, you will need to copy both.\n\n1. **Copy:** all of it.\n")
    assert message.role == "assistant"
    assert "its prompt is not there" in " ".join(message.notes)


def test_a_report_with_escaped_headings_is_no_chat() -> None:
    assert said("\\# Log\n\n\n\\## Goal\n\nSort it.\n\n\\## Steps\n\n\\- one\n") == []


def test_prompts_under_bold_labels_whatever_the_headings_say() -> None:
    log = (
        "# \U0001f4dd Prompt log\n\n> **Rule**: every Prompt counts.\n\n### P001 · 2026-05-01\n\n**File**: `a.py`\n\n"
        "**我的 Prompt**：\n```\n写一个堆\n**不是标签**\n```\n\n**AI 原始输出**：\n```\nclass Heap: ...\n```\n\n"
        "**备注**：全部采纳\n\n"
        "### P002 · 2026-05-02\n\n**我的 Prompt**：再快一点\n\n**AI 输出总结**：快了\n\n"
        "### P003 · YYYY-MM-DD\n\n**我的 Prompt**：\n```\n\n```\n\n**AI 原始输出**：\n```\n\n```\n"
    )
    assert said(log) == [
        ("user", "写一个堆\n**不是标签**"),
        ("assistant", "class Heap: ..."),
        ("user", "再快一点"),
    ]


def test_an_answer_with_headings_of_its_own_stays_whole() -> None:
    log = (
        "# Log\n\n## Prompt 01 - jobs\n\n**Prompt:**\n```text\nFind jobs.\n```\n\n**AI output:**\n\n# Jobs\n\n"
        "## Short\n\n"
        "**Place:** Here\n\n## Prompt 02 - more\n\n**Prompt:**\n\nFind more.\n\n**AI output:**\n\nNone.\n"
    )
    assert said(log) == [
        ("user", "Find jobs."),
        ("assistant", "# Jobs\n\n## Short\n\n**Place:** Here"),
        ("user", "Find more."),
        ("assistant", "None."),
    ]


def test_numbered_prompts_in_quotation_marks() -> None:
    log = '***Chat***\n\n**Ideas**\n\n1. "What app?"\n2. "Why?"\n\n**Agent**\n\n'
    log += '3. *(after its questions)* "Use one timer."\n'
    assert said(log) == [("user", "What app?"), ("user", "Why?"), ("user", '*(after its questions)* "Use one timer."')]
    assert len(said("1. One\n2. Two\n3. Three\n")) == 1


def test_what_a_command_line_tool_says_first_is_not_typed() -> None:
    log = (
        "## USER \U0001f9d1\u200d\U0001f4bb\n\n"
        "This is the Gemini CLI. We are setting up the context for our chat.\n\n---\n\n"
        "## USER\n\nSort it\n\n---\n\n## MODEL \u2728\n\nDone.\n"
    )
    messages = read(log)
    assert [m.role for m in messages] == ["user", "user", "assistant"]
    assert [NOT_TYPED in m.notes for m in messages] == [True, False, False]


@pytest.mark.parametrize(
    "text",
    [
        "d = c + diff\n    if d % n == 0:\n        print(d)\n        break\n    x = f(d)\n",
        "so that it works:\n\n```python\nx = 1\n```\n\nand\n```\n",
        "<tr><td>1</td><td>2</td></tr>\n<tr><td>3</td><td>4</td><td>5</td></tr>\n",
    ],
)
def test_a_piece_of_something_is_no_prompt(text: str) -> None:
    with pytest.raises(UnreadableArtifact, match="does not say who speaks"):
        read(text)


def test_a_prompt_with_fenced_code_is_one() -> None:
    assert said("Why is this slow?\n\n```python\nx = 1\n```\n") == [
        ("user", "Why is this slow?\n\n```python\nx = 1\n```")
    ]


def test_line_ends_of_old_macs() -> None:
    log = "User: hi\n\nAssistant: hello\nthere\n"
    assert said(log.replace("\n", "\r")) == said(log)


def test_a_fence_that_is_never_closed_is_no_part_of_the_prompt() -> None:
    log = "## Prompt 1: sum\n\n**Prompt Used**:\n```\nAdd a and b"
    assert said(log) == [("user", "Add a and b")]


def test_an_aider_history_whose_beginning_is_cut_off() -> None:
    rest = "the end of an answer.\n\n> Tokens: 3.2k sent, 222 received.  \n\n"
    rest += "#### go on  \n\nDone.\n\n> Tokens: 1k sent  \n"
    later = "\n# aider chat started at 2026-05-01 10:00:00\n\n#### hello  \n\nHi.\n"
    turns = [("assistant", "the end of an answer."), ("user", "go on"), ("assistant", "Done.")]
    assert said(rest) == turns
    assert said(rest + later) == [*turns, ("user", "hello"), ("assistant", "Hi.")]


def test_microsofts_activity_history_is_newest_first() -> None:
    log = (
        "Conversation,Time,Author,Message\n"
        'Sorting,2026-05-01T10:00:09,AI,"Use sort, it is\nfast."\nSorting,2026-05-01T10:00:00,Human,How do I sort?\n'
        "Heaps,2026-04-01T10:00:00,AI,A tree.\nHeaps,2026-04-01T10:00:00,Human,What is a heap?\n"
    )
    assert said(log) == [
        ("user", "How do I sort?"), ("assistant", "Use sort, it is\nfast."), ("user", "What is a heap?"),
        ("assistant", "A tree."),
    ]  # fmt: skip
    assert [message.conversation for message in read(log)] == ["1", "1", "2", "2"]
