"""What a submission's fields are called on pages and in notes: English, Japanese, some Chinese, Russian, Korean."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Literal

FieldName = Literal[
    "problem_id", "participant", "verdict", "language", "timestamp", "submission_id", "source", "time", "other"
]
"""``time`` is a heading that may mean the submission's time or the run's: the value decides. ``other`` is known and of
no interest here."""

_NAMES: dict[FieldName, str] = {
    "problem_id": """problem; problem id; problem name; problem title; problem code; problem no; task; task id;
        task name; question; prob; pid; challenge; 問題; 問題名; 問題id; 問題番号; 問題コード; 課題; 課題名;
        設問; 題目; 题目; задача; pro id; prob id; problem number; 题号; 所属题目; 题目名称; 題號; 문제; 문제 번호;
        название задачи""",
    "participant": """author; user; user id; userid; username; user name; who; participant; participant id;
        contestant; team; handle; account; submitter; submitted by; coder; party; student; ユーザ; ユーザー;
        ユーザ名; ユーザー名; ユーザid; ユーザーid; 参加者; 参加者id; 提出者; チーム; チーム名; アカウント;
        解答者; 回答者; 投稿者; sender; 用户; 用户名; 提交者; 提交人; 作者; 使用者; автор; кто; участник; пользователь;
        логин; команда; 아이디; 사용자; 제출자; 이름""",
    "verdict": """verdict; result; status; judgement; judgment; judge; judge status; judge result; outcome;
        state; final verdict; submission status; submission result; 結果; 判定; 判定結果; ジャッジ; ジャッジ結果;
        ステータス; 状態; 提出結果; 実行結果; 评测结果; 评测状态; 提交状态; 提交结果; 结果;
        状态; 狀態; 評測結果; judgement result; judgment result; judge response;
        вердикт; результат; статус; состояние; 결과; 채점 결과; 상태""",
    "language": """lang; language; programming language; compiler; lang id; 言語; プログラミング言語; 使用言語;
        提出言語; 言語名; コンパイラ; 语言; 编程语言; 語言; 编译器; язык; язык программирования; компилятор; 언어;
        제출 언어""",
    "timestamp": """submitted; submitted at; submitted on; submitted time; submission time; submission date;
        submit time; submit date; sent; sent at; when; date; datetime; date time; timestamp; created; created at;
        submission datetime; 提出日時; 提出時刻; 提出時間; 提出日; 投稿日時; 日時; 送信日時; 提出; 提交时间; 提交日期;
        提交時間; 日期; дата; дата отправки; 제출 시간; 제출한 시간; 제출 일시; 제출일;
        отослано; когда; время отправки""",
    "submission_id": """id; run id; runid; submission id; submission; submission no; submission number;
        solution id; judge id; judgeid; run; sid; 提出番号; 提出id; 提出 id; 実行番号; ジャッジid; 投稿番号;
        no; 提交编号; 运行编号; 提交号; 提交id; 提交記錄; номер; номер посылки; посылка; 제출 번호; 채점 번호""",
    "source": """source; code; source code; program; solution; submitted code; ソースコード; ソース; コード;
        プログラム; 提出コード; 解答; 提出ソース""",
    "time": """time; 時刻; 時間; 时间; время; 시간""",
    "other": """memory; mem; cpu; cpu time; exec time; execution time; run time; runtime; code size; code length;
        length; size; score; point; points; judged; test; tests; 実行時間; メモリ; 使用メモリ; コード長;
        コードサイズ; 得点; 点数; 配点; テスト; память; протест; размер; тест; баллы; 内存; 得分;
        代码长度; 메모리; 코드 길이; 점수""",
}


_MAX_LABELS = 12
_MAX_LABEL_WORDS = 3
_AROUND = " \t\u3000\u00a0*_`|,;/-"
"""What may stand around a label or a value and is no part of it."""


@lru_cache(maxsize=1)
def _table() -> dict[str, FieldName]:
    return {_form(name): field for field, names in _NAMES.items() for name in names.split(";")}


@lru_cache(maxsize=4096)
def field_of(label: str) -> FieldName | None:
    """The field that a label names: a table's heading, the key of a line ``key: value``; None for other labels."""
    if len(label) > 60:
        return None
    if label.strip() in ("#", "№", "Nº", "No."):
        return "submission_id"
    return _table().get(_form(label))


def labelled_parts(text: str) -> list[tuple[FieldName, str]]:
    """The fields in a text ``label: value``, also several in one line: ``Problem: A  Result: WA  Memory: 12 KB``.

    Empty unless the text begins with a known label. A label within a value counts where something stands before it.
    """
    if ":" not in text and "：" not in text:
        return []
    label, *pieces = re.split(r"([:：])", text, maxsplit=2 * _MAX_LABELS)
    name = field_of(label.strip(_AROUND)) if pieces and len(label) <= 60 else None
    if name is None:
        return []
    parts: list[tuple[FieldName, str]] = []
    value = pieces[1]
    for colon, piece in zip(pieces[2::2], pieces[3::2], strict=True):
        before, following = _label_at_end(value)
        if following is None:
            value += colon + piece
        else:
            parts.append((name, before))
            name, value = following, piece
    return [(field, part.strip(_AROUND.replace("-", ""))) for field, part in (*parts, (name, value))]


def _label_at_end(value: str) -> tuple[str, FieldName | None]:
    """What stands before a label at a value's end, and its field; no field where there is none, or nothing before."""
    for match in reversed(list(re.finditer(r"\S+", value))[-_MAX_LABEL_WORDS:]):
        before, label = value[: match.start()], value[match.start() :]
        name = field_of(label.strip(_AROUND)) if _may_begin_label(before, label) else None
        if name is not None and before.strip(_AROUND):
            return _label_at_end_longer(before, label) or (before, name)
    return value, None


def _may_begin_label(before: str, label: str) -> bool:
    """Whether a label may begin here: not in brackets, and in small letters only where a gap or a mark sets it off."""
    first = label.lstrip("*_`")[:1]
    return first.isalpha() and (
        not first.islower() or re.search(r"(?:\s{2}|[\t\u3000|,;/*])\s?[*_`]*\Z", before) is not None
    )


def _label_at_end_longer(before: str, label: str) -> tuple[str, FieldName] | None:
    """The same with the word before it, where both together are a label too: "Judge Status" rather than "Status"."""
    words = list(re.finditer(r"\S+", before))
    if len(words) < 2:
        return None
    start = words[-1].start()
    name = field_of(f"{before[start:]}{label}".strip(_AROUND))
    return (before[:start], name) if name is not None else None


def _form(label: str) -> str:
    plain = unicodedata.normalize("NFKC", label)
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain).casefold()
    return " ".join(re.sub(r"[^\w]|_", " ", plain).split())
