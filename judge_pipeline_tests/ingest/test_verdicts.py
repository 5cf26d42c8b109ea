"""Verdict words: whole words only, decorations ignored, what is not judged pending, what is not listed unknown."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.ingest.verdicts import read_verdict
from judge_pipeline.tables import VERDICTS

_MEANT = {
    "AC": ["AC", "Accepted", "ACCEPTED", "OK", "正解", "ＡＣ", "Correct", "accepted", "結果: 正解", "Accepted (0.12 s)",
           "AC\n(最新)", "YES", "正解 (AC)", "Verdict: Accepted", "AC × 21"],
    "WA": ["WA", "Wrong Answer", "Wrong answer on test 3", "INCORRECT", "不正解", "Incorrect", "wrong-answer",
    "Not accepted",
           "WRONG_ANSWER", "No - Wrong Answer", "誤答", "WA (pretest 4)", "【不正解】", "WA 2"],
    "TLE": ["TLE", "TLE\n(最新)", "Time Limit Exceeded", "実行時間制限超過",
    "time limit exceeded on pretest 2", "TLE 5/31",
            "TIMELIMIT", "時間超過"],
    "MLE": ["MLE", "Memory limit exceeded on test 17", "メモリ制限超過"],
    "RE": ["RE", "Runtime error (NZEC)", "runtime error    (NZEC)", "RTE", "run-error", "実行時エラー",
    "Runtime Error(SIGSEGV)"],
    "CE": ["CE", "Compilation error", "Compile Error", "COMPILATION_ERROR", "コンパイルエラー", "compiler-error"],
    "PE": ["PE", "Presentation Error", "出力形式エラー"],
    "OLE": ["OLE", "Output limit exceeded", "出力制限超過"],
    "IE": ["IE", "Internal error", "Judgement failed", "内部エラー", "System Error"],
    "PARTIAL": ["Partial", "Partially accepted: 60", "部分点", "部分正解", "Partially Correct"],
    "SKIPPED": ["Skipped", "ignored", "スキップ"],
    "HACKED": ["Hacked", "Challenged", "Successfully hacked"],
    "PENDING": ["WJ", "WR", "3/12", "7/31", "7/31 TLE", " 7 / 31  TLE ", "(3/12)", "Judging", "In queue",
    "ジャッジ待ち",
                "ジャッジ待ち...", "ジャッジ中", "waiting..", "Running on test 5", "Pending", "Compiling...",
                "待機中", "Queued",
                "Not judged yet", "Judging (AC so far)", "判定中", "Pretests passed"],
    "UNKNOWN": ["NG", "-", "?", "100", "Happy New Year!", "正解者", "Acceptable", "ACM", "none",
    "Accept/Reject",
                "不明", "完全に不正解ではない", "<script>", "Expected: Accepted", "AC × 5, WA × 2"],
}  # fmt: skip


_MEANT_ELSEWHERE = {
    "AC": ["Полное решение", "Зачтено/Принято", "Принято", "通过", "回答正确", "答案正確", "맞았습니다!!", "정답",
           "Accepted (100/100)", "Accepted (7/7)", "All tests passed", "AC: Accepted"],
    "WA": ["Неправильный ответ на тесте 5", "Неверный ответ", "解答错误", "答案错误", "틀렸습니다 (23%)", "오답",
           "Unaccepted", "Output isn't correct", "Wrong answer on pretest 2", "Wrong Answer [Main test #3]",
           "Failed System Test"],
    "TLE": ["Превышено ограничение времени на тесте 8", "Превышен предел времени", "超出时间限制", "시간 초과",
            "Idleness limit exceeded on test 1", "Terminated due to timeout", "CPU time limit exceeded"],
    "MLE": ["Превышено ограничение памяти", "超出内存限制", "空间超限", "메모리 초과"],
    "RE": ["Ошибка во время выполнения", "Ошибка исполнения на тесте 6", "运行错误", "런타임 에러 (Segfault)",
           "Runtime Error (SIGSEGV)", "Restricted Function", "Non-zero exit code", "Segmentation Fault"],
    "CE": ["Ошибка компиляции", "编译出错", "컴파일 에러"],
    "PE": ["Нарушение формата вывода", "Ошибка представления", "格式错误", "출력 형식이 잘못되었습니다"],
    "OLE": ["Output Limit", "输出超限", "출력 초과"],
    "IE": ["Denial of judgement", "Judgment failed", "Can't be judged", "Checker error", "Ошибка проверки"],
    "PARTIAL": ["Accepted (60/100)", "AC 3/10", "Частичное решение: 40 баллов", "부분 점수", "部分通过"],
    "SKIPPED": ["Пропущено", "跳过", "Disqualified"],
    "HACKED": ["Взломано", "Challenge Succeeded"],
    "PENDING": ["Выполняется на тесте 3", "В очереди", "正在评测", "채점 중 (45%)", "기다리는 중", "In judge queue",
                "Running & Judging", "ジャッジ中 3/40", "12/20 AC"],
    "UNKNOWN": ["Не полное решение", "不通过", "未通过", "안 맞았습니다", "Непринято", "Perhaps accepted", "AC/WA",
                "Not attempted", "622", "N/A"],
}  # fmt: skip
"""Judges of other countries, and the big ones' rarer words."""


@pytest.mark.parametrize(
    ("verdict", "raw"), [(v, raw) for table in (_MEANT, _MEANT_ELSEWHERE) for v, raws in table.items() for raw in raws]
)
def test_words_mean_their_verdict(verdict: str, raw: str) -> None:
    assert read_verdict(raw, {})[0] == verdict


def test_every_verdict_has_words() -> None:
    assert set(_MEANT) == set(VERDICTS)


def test_verdict_so_far_is_a_note_and_never_the_verdict() -> None:
    verdict, note = read_verdict("7/31 TLE", {})
    assert verdict == "PENDING"
    assert note is not None
    assert "so far TLE" in note


def test_an_acceptance_in_part_says_how_far() -> None:
    assert read_verdict("Accepted (60/100)", {}) == ("PARTIAL", "accepted with 60 of 100 only")
    assert read_verdict("Accepted 2026/03/01", {}) == ("AC", None)


def test_unlisted_word_is_kept_in_the_note() -> None:
    assert read_verdict("NG", {}) == ("UNKNOWN", "verdict word 'NG' is not listed")


@pytest.mark.parametrize("raw", [None, "", "  \n"])
def test_no_words(raw: str | None) -> None:
    assert read_verdict(raw, {}) == ("UNKNOWN", "no verdict found")


def test_a_contests_own_words_go_first() -> None:
    own = {"NG": "WA", "100 points": "AC", "40 points": "PARTIAL", "OK": "PENDING", "受理済み": "PENDING"}
    assert read_verdict("NG", own)[0] == "WA"
    assert read_verdict(" ng ", own)[0] == "WA"
    assert read_verdict("100 Points", own)[0] == "AC"
    assert read_verdict("40  points", own)[0] == "PARTIAL"
    assert read_verdict("60 points", own)[0] == "UNKNOWN"
    assert read_verdict("OK", own)[0] == "PENDING"
    assert read_verdict("受理済み (最新)", own)[0] == "PENDING"
    assert read_verdict("Accepted", own)[0] == "AC"


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_has_a_verdict_of_the_closed_set(raw: str) -> None:
    verdict, note = read_verdict(raw, {})
    assert verdict in VERDICTS
    assert note is not None or verdict != "UNKNOWN"


@settings(deadline=None)
@given(
    st.sampled_from(["un", "in", "dis", "not ", "non-", "never ", "不", "未", "非"]), st.sampled_from(_MEANT["AC"][:5])
)
def test_what_turns_a_meaning_is_never_accepted(turn: str, raw: str) -> None:
    assert read_verdict(turn + raw, {})[0] != "AC"


def test_a_very_long_text_is_no_verdict() -> None:
    assert read_verdict("Accepted " * 100_000, {})[0] == "UNKNOWN"
