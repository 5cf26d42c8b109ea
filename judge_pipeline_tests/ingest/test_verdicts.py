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
    "UNKNOWN": ["NG", "-", "?", "100", "Happy New Year!", "正解者", "Acceptable", "ACM", "none", "unaccepted",
    "Accept/Reject",
                "不明", "完全に不正解ではない", "<script>", "Expected: Accepted", "AC × 5, WA × 2"],
}  # fmt: skip


@pytest.mark.parametrize(("verdict", "raw"), [(v, raw) for v, raws in _MEANT.items() for raw in raws])
def test_words_mean_their_verdict(verdict: str, raw: str) -> None:
    assert read_verdict(raw, {})[0] == verdict


def test_every_verdict_has_words() -> None:
    assert set(_MEANT) == set(VERDICTS)


def test_verdict_so_far_is_a_note_and_never_the_verdict() -> None:
    verdict, note = read_verdict("7/31 TLE", {})
    assert verdict == "PENDING"
    assert note is not None
    assert "so far TLE" in note


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
