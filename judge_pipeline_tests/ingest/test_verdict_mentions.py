"""Words for verdicts are found where they are meant, and left alone where they mean something else."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.ingest.prompt_logs import read_prompt_log
from judge_pipeline.ingest.verdict_mentions import VerdictWords

MEANT = [
    ("I got WA on test 7 and do not see why", "WA"), ("Still TLE, what now?", "TLE"),
    ("tle again", "TLE"), ("Verdict: Accepted", "AC"), ("Accepted (12/12)", "AC"),
    ("my code was accepted", "AC"), ("AC", "AC"), ("the submission finally got accepted", "AC"),
    ("Accepted second try", "AC"), ("it gives wa on case 2", "WA"), ("Test 4: WA", "WA"),
    ("WA x 3", "WA"), ("Why do I get RE here?", "RE"), ("- WA", "WA"), ("got MLE :(", "MLE"),
    ("Time Limit Exceeded", "TLE"), ("it says time-limit exceeded", "TLE"),
    ("a Wrong Answer at the end", "WA"), ("the judge says Runtime Error", "RE"),
    ("Compilation error on line 3", "CE"), ("presentation error?", "PE"), ("テスト3でWAになりました", "WA"),
    ("不正解でした", "WA"), ("ようやく正解でした", "AC"), ("結果はACです", "AC"), ("PyPyならACできる", "AC"),
    ("実行時間制限超過と出る", "TLE"), ("コンパイルエラーです", "CE"), ("結果: 正解", "AC"), ("第二个测试点WA了", "WA"),
    ("还是超时", "TLE"), ("提示答案错误", "WA"), ("内存超限怎么办", "MLE"), ("评测通过", "AC"),
    ("틀렸습니다 라고 나와요", "WA"),
    ("시간 초과가 납니다", "TLE"), ("опять неправильный ответ", "WA"),
    ("превышено ограничение времени на тесте 5", "TLE"),
    ("n = int(input())  # TLE with recursion", "TLE"), ("    x += 1;  // got WA without this", "WA"),
    (" * still TLE after this", "TLE"), ("# got WA", "WA"),
]  # fmt: skip

NOT_MEANT = [
    "accepted input formats are CSV and JSON", "the values accepted by the function",
    "it was accepted on the wire", "GET accepted", "when you get accepted into the programme",
    "input accepted.", "AC = 5", "segment AC and BD", "AC/DC", "we compute AC + CB", "int AC = 0;",
    'if (ok) cout << "WA";', "print('Wrong Answer')", 'ans = "Time Limit Exceeded"', 'return "AC"',
    'puts("Accepted");', "RE: your mail", "Washington, WA 98052", "the MLE estimator of the likelihood",
    "Send CE 12 to PE 3", 'raise RuntimeError("x")', "except RuntimeError as e:", "dict['AC']",
    "accepted = True", "back", "正解を教えてください", "正解率は高い", "答案正确率", "接口请求超时", "通过这个方法",
    "wa ga kuni",
    "the ac of the car", "import re", "#define AC 1", '#define WA "Wrong Answer"', "class AC:",
    "for AC in lines:", "AC.append(1)", "vector<AC> v;", '#include "TLE.h"',
    'assert result == "Wrong answer"', "CE 500", "ace, wax, rest", "TLEs_left = 3", "x->WA(3);",
]  # fmt: skip


def found(text: str) -> list[tuple[str, str]]:
    return [(text[m.start : m.end], m.verdict) for m in VerdictWords().in_prompts(text)]


@pytest.mark.parametrize(("text", "verdict"), MEANT)
def test_what_is_meant_is_found_with_its_verdict(text: str, verdict: str) -> None:
    assert [v for _, v in found(text)] == [verdict]


@pytest.mark.parametrize("text", NOT_MEANT)
def test_what_means_something_else_is_left_alone(text: str) -> None:
    assert found(text) == []


def test_a_list_of_verdicts_is_found_whole() -> None:
    assert found("I had WA, TLE and AC.") == [("WA", "WA"), ("TLE", "TLE"), ("AC", "AC")]


def test_words_of_a_contest_are_found_as_they_are_listed() -> None:
    words = VerdictWords({"時間切れ": "TLE", "Nope": "WA", "-": "WA", "40 points": "PARTIAL"})
    text = "時間切れだった。 It said Nope, and 40 points - no."
    assert [(text[m.start : m.end], m.verdict) for m in words.in_prompts(text)] == [
        ("時間切れ", "TLE"), ("Nope", "WA"), ("40 points", "PARTIAL"),
    ]  # fmt: skip
    assert words.in_prompts("NopeNope nope") == []


def test_of_a_program_only_comments_are_searched() -> None:
    source = '// got WA on test 2\nint main() { puts("Time Limit Exceeded"); /* still\n TLE */ string AC = "AC"; }'
    mentions = VerdictWords().in_comments(source, "C++")
    assert [(source[m.start : m.end], m.verdict) for m in mentions] == [("WA", "WA"), ("TLE", "TLE")]
    assert VerdictWords().in_comments(source, "Brainfuck") == []


pieces = st.sampled_from([text for text, _ in MEANT] + NOT_MEANT)


@given(st.lists(st.one_of(pieces, st.text(max_size=30)), max_size=6), st.sampled_from(["\n", "\r\n", " ", "\u2028"]))
def test_mentions_are_in_order_apart_and_inside_the_text(parts: list[str], separator: str) -> None:
    text = separator.join(parts)
    for mentions in (VerdictWords().in_prompts(text), VerdictWords().in_comments(text, "C++")):
        ends = [0, *[m.end for m in mentions]]
        assert all(end <= m.start < m.end <= len(text) for end, m in zip(ends, mentions, strict=False))


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["AC WA ", "if a < ", "accepted ", "MLE ", "it was ", "x[", "a,", "got a ", "正解"])
def test_long_lines_take_time_in_proportion(piece: str) -> None:
    began = time.perf_counter()
    VerdictWords().in_prompts(piece * 20_000)
    assert time.perf_counter() - began < 3


def test_real_chat_logs_hold_few_and_none_that_means_something_else(shared: Path) -> None:
    """884 messages of 25 logs, read by hand: two logs quote a statement that names verdicts; RuntimeError is none."""
    seen = []
    for file in sorted((shared / "cases" / "prompt_logs").rglob("*")):
        if file.is_file():
            for message in read_prompt_log(file.read_bytes(), f"prompts/u/{file.name}"):
                seen += [word.lower() for word, _ in found(message.text)]
    assert sorted(seen) == ["idleness limit exceeded"] * 2 + ["wrong answer"] * 2
