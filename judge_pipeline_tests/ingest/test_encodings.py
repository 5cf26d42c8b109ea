"""Bytes -> text: the encoding that makes words, and the choice recorded."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.ingest.encodings import decode

_JAPANESE = "問題: 合計を求める\n結果: 不正解\n提出日時: 2026年3月1日 12時34分\n参加者: 山田太郎"
_RUSSIAN = "Монитор соревнования. Участник: Иванов Пётр. Задача А, принято; задача Б: неправильный ответ на тесте 3."
_FRENCH = "Résultat: accepté. Élève: François, problème n°3, à côté"

_TEXTS = [
    (_JAPANESE, "cp932"), (_JAPANESE, "euc_jp"), (_JAPANESE, "iso2022_jp"), (_JAPANESE, "utf-8"), (_JAPANESE,
    "utf-8-sig"),
    (_JAPANESE, "utf-16"), (_JAPANESE, "utf-16-le"), (_JAPANESE, "utf-16-be"), ("結果：ジャッジ待ち", "euc_jp"),
    ("正解", "cp932"), ("正解", "euc_jp"), ("ﾃｽﾄ 結果 不正解", "cp932"), (_RUSSIAN, "cp866"), (_RUSSIAN, "cp1251"),
    (_RUSSIAN, "koi8-r"), ("Результат: Принято", "cp866"), (_FRENCH, "cp1252"), ("Lösung für Übung", "cp1252"),
    ("提交结果：答案正确 用户 张三", "gb18030"),
]  # fmt: skip


@pytest.mark.parametrize("frame", ["{}", "<html><body><pre>int main(){{}}</pre>\n<p>{}</p></body></html>"])
@pytest.mark.parametrize(("text", "encoding"), _TEXTS)
def test_undeclared_encodings_are_told_by_the_words_they_make(text: str, encoding: str, frame: str) -> None:
    whole = frame.format(text)
    assert decode(whole.encode(encoding)).text == whole


@pytest.mark.parametrize(("text", "encoding"), [t for t in _TEXTS if t[1] not in ("utf-8", "utf-8-sig")])
def test_the_choice_is_recorded(text: str, encoding: str) -> None:
    read = decode(text.encode(encoding))
    assert any(note.startswith("encoding ") for note in read.notes)


def test_plain_utf8_leaves_no_note() -> None:
    assert decode(_JAPANESE.encode()).notes == ()
    assert decode(b"int main() {}").notes == ()


def test_two_encodings_both_decode() -> None:
    data = _RUSSIAN.encode("cp866")
    data.decode("cp1251")  # reads without error, and makes no words
    read = decode(data)
    assert read.text == _RUSSIAN
    assert any("cp866" in note and "cp1251" in note for note in read.notes)


@pytest.mark.parametrize(
    ("label", "encoding"),
    [
        ("Shift_JIS", "cp932"),
        ("x-sjis", "cp932"),
        ("EUC-JP", "euc_jp"),
        ("windows-1251", "cp1251"),
        ("gb2312", "gb18030"),
    ],
)
def test_a_declared_encoding_is_taken(label: str, encoding: str) -> None:
    body = {"cp1251": _RUSSIAN, "gb18030": "提交结果"}.get(encoding, _JAPANESE)
    page = f'<html><head><meta charset="{label}"></head><body>{body}</body></html>'
    read = decode(page.encode(encoding))
    assert read.text == page
    assert any("as declared" in note for note in read.notes)


def test_a_page_that_declares_what_it_is_not() -> None:
    page = f'<meta charset="Shift_JIS"><p>{_JAPANESE}</p>'
    assert decode(page.encode()).text == page
    assert any("although" in note for note in decode(page.encode()).notes)
    page = f'<meta charset="iso-8859-1"><p>{_JAPANESE}</p>'
    assert decode(page.encode("euc_jp")).text == page


def test_a_file_cut_within_a_character() -> None:
    read = decode(("<p>" + _JAPANESE * 5).encode()[:-1])
    assert read.text.startswith("<p>" + _JAPANESE)
    assert read.text.endswith("\ufffd")
    assert any("U+FFFD" in note for note in read.notes)


def test_no_break_spaces_alone_are_no_letters_of_another_alphabet() -> None:
    read = decode(b"for (;;) {\n\xa0\xa0x++;\n}\n1\xa0month, 3\xa0weeks\n")
    assert (read.text, read.encoding) == ("for (;;) {\n\u00a0\u00a0x++;\n}\n1\u00a0month, 3\u00a0weeks\n", "cp1252")


def test_what_no_encoding_explains_is_counted() -> None:
    read = decode(b"\x81\xff\xfe\x98 ok \x81")
    assert " ok " in read.text
    assert read.notes


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x1b\0"), max_size=200))
def test_utf8_round_trips(text: str) -> None:
    if not text.startswith("\ufeff"):
        assert decode(text.encode()).text == text
    assert decode(b"\xef\xbb\xbf" + text.encode()).text == text
    assert decode(b"\xff\xfe" + text.encode("utf-16-le")).text == text


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_decode(data: bytes) -> None:
    decode(data).text.encode()
