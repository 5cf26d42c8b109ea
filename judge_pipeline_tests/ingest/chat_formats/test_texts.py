"""Text formats: SpecStory, aider, LibreChat, Copilot, ellmer, prompt lists, role headings, and text without marks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.ingest.chat_formats.chat import NOT_TYPED
from judge_pipeline.ingest.chat_formats.role_words import speaker_of, split_label
from judge_pipeline.ingest.prompt_logs import PromptMessage, read_prompt_log
from judge_pipeline.ingest.records import UnreadableArtifact


def read(text: str, path: str = "log.md") -> list[PromptMessage]:
    return read_prompt_log(text.encode(), path)


def said(text: str) -> list[tuple[str, str]]:
    return [(m.role, m.text) for m in read(text)]


PAIR = [("user", "hi"), ("assistant", "hello")]

ROLE_STYLES = [
    "## User\n\nhi\n\n## Assistant\n\nhello\n",
    "##### You said:\n\nhi\n\n###### ChatGPT said:\n\nhello\n",
    "#### You:\nhi\n\n#### ChatGPT:\nhello\n",
    "# 🧑 User #1\nhi\n# 🤖 Assistant #1\nhello\n",
    "**User**: hi\n\n**Assistant**: hello\n",
    "**User:** hi\n\n---\n\n**Claude 3.5 Sonnet:** hello\n",
    "***Question 1:*** hi\n**ANSWER 1:**\nhello\n",
    "**Question 1: hi**\n\n***Answer 1:***\nhello\n",
    "__Me__\nhi\n__GPT-4o__\nhello\n",
    "User: hi\nAssistant: hello\n",
    "You said:\nhi\nChatGPT said:\nhello\n",
    "[2026-05-01 10:00] User: hi\n[2026-05-01 10:01] AI: hello\n",
    "User (10:02): hi\nDeepSeek-R1 (10:03): hello\n",
    "You\nhi\n\nChatGPT\nhello\n",
    "[User]\nhi\n[Assistant]\nhello\n",
    "<user>hi</user>\n<assistant>hello</assistant>\n",
    "Q: hi\nA: hello\n",
    "* **User:**\n  > hi\n* **AI:**\n  > hello\n",
    "> **User:** hi\n\n**Assistant:** hello\n",
    "---\ntitle: x\n---\n\n# My chat\n\nDate: today\n\n## User\nhi\n## Gemini 2.5 Pro\nhello\n",
    "**用户**: hi\n\n**助手**: hello\n",
    "### 用户提问\nhi\n### AI回答\nhello\n",
    "问：hi\n答：hello\n",
    "我：hi\n豆包：hello\n",
    "【用戶】\nhi\n【助理】\nhello\n",
    "**ユーザー**: hi\n\n**アシスタント**: hello\n",
    "## 質問\nhi\n## 回答\nhello\n",
    "あなた：\nhi\n\nChatGPT：\nhello\n",
    "あなたの発言:\nhi\nChatGPT の発言:\nhello\n",
    "【質問】\nhi\n【回答】\nhello\n",
    "自分：hi\nAI：hello\n",
    "**사용자**: hi\n\n**어시스턴트**: hello\n",
    "- **질문**: hi\n- **답변**: hello\n",
    "## Пользователь\nhi\n## Ассистент\nhello\n",
    "Вопрос: hi\nОтвет: hello\n",
]


@pytest.mark.parametrize("text", ROLE_STYLES)
def test_roles_in_headings_and_labels_of_five_languages(text: str) -> None:
    assert said(text) == PAIR
    assert said(text.replace("\n", "\r\n")) == PAIR


def test_headings_inside_code_and_in_another_style_belong_to_the_answer() -> None:
    answer = "Run this:\n\n```\n## User\nUser: x\n```\n\n**User**: a column\n\n### Answer\n\n42"
    assert said(f"## User\nhi\n## Assistant\n{answer}\n## User\nthanks\n") == [
        ("user", "hi"),
        ("assistant", answer),
        ("user", "thanks"),
    ]


def test_an_answer_that_was_cut_off_inside_code_swallows_no_turn() -> None:
    text = "## User\nhi\n## Assistant\n```cpp\nint main() {\n## User\nagain\n## Assistant\n```cpp\nint x;\n```\n"
    assert [role for role, _ in said(text)] == ["user", "assistant", "user", "assistant"]


def test_a_log_that_begins_in_the_middle_of_an_answer() -> None:
    prose = "and so the loop must stop before the end of the array, which is why it failed. " * 4
    messages = read(f"{prose}\n\n## User\nthanks\n## Assistant\nsure\n")
    assert [m.role for m in messages] == ["assistant", "user", "assistant"]
    assert "text before the first role heading: taken as an answer" in messages[0].notes


def test_a_title_and_a_short_remark_before_the_first_turn_are_no_answer() -> None:
    assert said("# Chat\n\nSaved by me.\n\n## User\nhi\n## Assistant\nhello\n") == PAIR


def test_only_prompts() -> None:
    assert said("## Prompt 1\nsort\n\n## Prompt 2\nreverse\n") == [("user", "sort"), ("user", "reverse")]
    assert said("Prompt 1: sort\nPrompt 2: reverse\n") == [("user", "sort"), ("user", "reverse")]
    assert said("プロンプト１\n並べて\n\nプロンプト２\n逆に\n") == [("user", "並べて"), ("user", "逆に")]


def test_a_question_as_a_heading_with_the_answer_below() -> None:
    messages = read("# log\n\n### Q（20:25）：how?\n\nlike this\n\n#### detail\n\nx\n\n### Q（20:42）：why?\n\nso\n")
    assert [(m.role, m.text) for m in messages] == [
        ("user", "how?"),
        ("assistant", "like this\n\n#### detail\n\nx"),
        ("user", "why?"),
        ("assistant", "so"),
    ]
    assert "text under the question: taken as the answer" in messages[1].notes


@pytest.mark.parametrize(
    "text",
    [
        "# 交互记录\n\n## 概述\n\n- 用户选择放弃本地更改\n\n## 结论\n\n完成\n",
        "# 仕様\n\n- **ユーザー**: 管理者\n\n## 目的\n\n本文\n",
        "# Summary\n\nThe user asked for X.\n\n## Done\n\n- y\n",
    ],
)
def test_a_summary_is_no_chat(text: str) -> None:
    assert read(text) == []


def test_times_with_a_zone_in_the_heading_are_known() -> None:
    messages = read("## User (2026-05-01 10:00:00+09:00)\nhi\n## Assistant (2026-05-01 10:00)\nhello\n")
    assert messages[0].at is not None
    assert messages[0].at.isoformat() == "2026-05-01T01:00:00+00:00"
    assert messages[1].at is None


turn_texts = st.lists(
    st.text(st.sampled_from("abc xyz\n#*->.()`日本語"), min_size=1, max_size=40)
    .map(str.strip)
    .filter(lambda text: text and "```" not in text and not text.startswith((">", "-", "*", "#"))),
    min_size=2,
    max_size=6,
)


@settings(deadline=None)
@given(turn_texts)
def test_what_was_said_comes_back_as_it_was(texts: list[str]) -> None:
    roles = ["User" if i % 2 == 0 else "Assistant" for i in range(len(texts))]
    log = "".join(f"## {role}\n\n{text}\n\n" for role, text in zip(roles, texts, strict=True))
    expected = [(role.lower(), text) for role, text in zip(roles, texts, strict=True)]
    found = said(log)
    assert [role for role, _ in found] == [role for role, _ in expected]
    assert all(text.strip() == said_text.strip() for (_, text), (_, said_text) in zip(found, expected, strict=True))


def test_specstory_turns_times_thinking_and_what_the_client_wrote() -> None:
    messages = read(
        "<!-- Generated by SpecStory -->\n\n<!-- Claude Code Session 066e1e40-6740 (2026-01-12 15:08:38Z) -->\n\n"
        "_**User (2026-01-12 15:08:38Z)**_\n\nrename it\n\n---\n\n"
        "_**Agent (claude-opus 2026-01-12 15:08:42Z)**_\n\n<think>hm</think>\n\n"
        "_**Agent (claude-opus 2026-01-12 15:08:43Z)**_\n\nDone.\n\n"
        "_**User (2026-01-12 15:09:00Z)**_\n\n<command-name>/exit</command-name>\n\n"
        "<!-- Claude Code Session 077e1e40-6740 (2026-01-13 15:08:38Z) -->\n\n_**User**_\n\nnext day\n"
    )
    assert [(m.conversation, m.role, m.text) for m in messages] == [
        ("1", "user", "rename it"),
        ("1", "assistant", ""),
        ("1", "assistant", "Done."),
        ("1", "user", "<command-name>/exit</command-name>"),
        ("2", "user", "next day"),
    ]
    assert messages[2].at is not None
    assert messages[2].at.isoformat() == "2026-01-12T15:08:43+00:00"
    assert messages[4].at is None
    assert NOT_TYPED in messages[3].notes


def typed(text: str) -> str:
    return "".join(f"#### {line}  \n" for line in text.split("\n")) + "\n"


def test_aider_replays_of_the_plan_and_commands_are_no_prompts() -> None:
    plan = "#### Heading in the plan\n\n1) do this\n> a quotation"
    messages = read(
        "# aider chat started at 2026-03-10 14:23:01\n\n> Aider v0.85.2  \n\n"
        f"{typed('Make it a service.')}{plan}\n\n> Tokens: 1.6k sent, 1.7k received.  \n\n"
        f"{typed(plan)}Done it.\n\n> Applied edit to a.py  \n> Tokens: 1k sent.  \n\n"
        f"{typed('/add b.py')}{typed('/ask why?')}{typed('why?')}So.\n"
    )
    assert [(m.role, m.text) for m in messages] == [
        ("user", "Make it a service."),
        ("assistant", plan),
        ("assistant", "Done it."),
        ("tool", "/add b.py"),
        ("user", "why?"),
        ("assistant", "So."),
    ]
    assert "1 replay(s) of the architect's plan left out" in messages[0].notes
    assert all(m.at is None for m in messages)


def test_aider_prompts_that_repeat_the_last_words_of_an_answer_are_prompts() -> None:
    log = f"# aider chat started at x\n\n{typed('fix it')}Fixed. Shall I run the tests?\n\n{typed('run the tests?')}"
    assert [text for role, text in said(log) if role == "user"] == ["fix it", "run the tests?"]


def test_aider_replays_are_found_behind_what_aider_printed() -> None:
    plan = " ".join(f"step{i}" for i in range(30))
    log = (
        f"# aider chat started at x\n\n{typed('plan')}pip install x\n\n{plan}\n\n> Tokens: 1k sent.  \n\n{typed(plan)}"
    )
    assert [text for role, text in said(log) if role == "user"] == ["plan"]


def test_aider_histories_without_trailing_blanks_are_read_by_their_marks() -> None:
    answer = "Fixed.\n\n```md\n#### not typed\n> nor printed\n```"
    text = f"# aider chat started at x\n\n#### fix it\n\n{answer}\n\n> Applied edit\n"
    assert said(text) == [("user", "fix it"), ("assistant", answer)]


def test_librechat_text_and_markdown() -> None:
    text = (
        "Conversation\n########################\nconversationId: 1\n\nOptions\n########################\nmodel: m\n\n"
        "History\n########################\n>> user:\np\n\n\n>> Llama 3.1 70b:\nfirst line\n"
        "(This is an unfinished message)\n\n\n>> Code Interpreter:\n{}\n"
    )
    messages = read(text, "chat.txt")
    assert [(m.role, m.text) for m in messages] == [("user", "p"), ("assistant", "first line"), ("tool", "{}")]
    assert "unfinished" in messages[1].notes
    markdown = "# Conversation\n- conversationId: 1\n\n## History\n**User**\np\n\n\n**GPT-4o**\na **b** c\n"
    assert said(markdown) == [("user", "p"), ("assistant", "a **b** c")]


def test_copilots_copy_out_names_the_person() -> None:
    text = "ada-l: how?\nsecond line\n\nGitHub Copilot: Like this:\n```\nada-l: no\n```\n\nada-l: thanks\n"
    assert said(text) == [
        ("user", "how?\nsecond line"),
        ("assistant", "Like this:\n```\nada-l: no\n```"),
        ("user", "thanks"),
    ]
    assert said("GitHub Copilot: only an answer\n") == [("assistant", "only an answer")]


def test_ellmer_files_the_results_of_tools_under_the_user() -> None:
    text = (
        "## User\n\nfind it\n\n## Assistant\n\nI search.\n\n``` python\n# tool request (toolu_1)\nf(x=1)\n```\n\n"
        '## User\n\n``` python\n# tool result (toolu_1)\n"found"\n```\n\n## Assistant\n\nHere.\n'
    )
    assert [role for role, _ in said(text)] == ["user", "assistant", "tool", "assistant"]


def test_a_students_list_of_prompts() -> None:
    text = (
        "# Prompt Log\n\n### Prompt 1: first try\n\n**Role**: expert\n\n**Prompt Used**:\n```\nwrite it\n```\n\n"
        "**AI Response Summary**:\n- wrote it\n\n### Prompt #2\n**Prompt:** test it\n\n**Response:**\ntests\n\n"
        "## Lessons\n\nnone\n"
    )
    assert said(text) == [("user", "write it"), ("user", "test it"), ("assistant", "tests")]


def test_a_report_with_lists_of_prompts() -> None:
    text = '# Log\n\nImportant prompts used:\n- "build it\n  with care"\n- “test it”\n\n## Models\n- GPT\n'
    messages = read(text)
    assert [m.text for m in messages] == ["build it\nwith care", "test it"]
    assert all("a list item in a report" in m.notes for m in messages)


def test_a_copy_out_without_roles_is_guessed_and_says_so() -> None:
    messages = read(
        "Write a Go program\n\nSure! Here is one:\n\n```go\npackage main\n```\n\nNow print time\n\nGreat! Use this.\n"
    )
    assert [(m.role, m.text) for m in messages] == [
        ("user", "Write a Go program"),
        ("assistant", "Sure! Here is one:\n\n```go\npackage main\n```"),
        ("user", "Now print time"),
        ("assistant", "Great! Use this."),
    ]
    assert all("no role marks: who speaks is guessed from wording" in m.notes for m in messages)


def test_a_copy_out_that_starts_with_an_answer_has_no_prompt() -> None:
    assert [role for role, _ in said("もちろんです。以下のコードです。\n\n```cpp\nint x;\n```\n")] == ["assistant"]


def test_a_prompt_kept_as_a_file_is_one_prompt_and_says_so() -> None:
    (message,) = read("C++でダイクストラ法を書いてください。\n\n入力は標準入力です。\n", "A.txt")
    assert message.role == "user"
    assert "no role marks: the whole file is taken as one prompt" in message.notes


def test_long_text_without_any_mark_is_set_aside() -> None:
    with pytest.raises(UnreadableArtifact, match="does not say who speaks"):
        read("some words about nothing in particular " * 1000)


@pytest.mark.parametrize(
    ("label", "role"),
    [
        ("User", "user"), ("🧑 User:", "user"), ("ＵＳＥＲ", "user"), ("Prompt #12", "user"), ("User — 10:02", "user"),
        ("GPT-4o mini", "assistant"), ("ChatGPT 4.1", "assistant"), ("o3-mini", "assistant"),
        ("Claude's response", "assistant"),
        ("Llama 3.1 70b", "assistant"), ("DeepSeek-V3", "assistant"), ("System", "system"), ("ツール", "tool"),
    ],
)  # fmt: skip
def test_labels_that_name_a_speaker(label: str, role: str) -> None:
    speaker = speaker_of(label)
    assert speaker is not None
    assert speaker.role == role


@pytest.mark.parametrize(
    "label", ["Gemini API", "Claude Code hooks", "User stories", "GPT explained", "Input", "", "ok"]
)
def test_labels_that_do_not(label: str) -> None:
    assert speaker_of(label) is None


def test_a_label_ends_at_its_first_colon_outside_brackets() -> None:
    assert split_label("Q (20:25): how: so") == ("Q (20:25)", "how: so")
    assert split_label("no colon") == ("no colon", None)
