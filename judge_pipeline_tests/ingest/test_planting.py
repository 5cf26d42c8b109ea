"""What is planted changes nothing that a program does: Python and C++ are compiled to see it."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.ingest.comments import comment_spans
from judge_pipeline.ingest.planting import Planted, plant_comment, plant_prompt, plant_string
from judge_pipeline.settings.injections import read_injections

CHECKOUT = Path(__file__).resolve().parents[2]
TEXTS = [injection.text for injection in read_injections(CHECKOUT / "assets_config").injections.values()]
HOSTILE = ['say "hi" \\ and */ or """ \t end', "{}{{x}}%s\n#include <x>\n*/ int y;", "日本語の\n指示 // # --"]

PYTHON = [
    'n = int(input())\nprint(n)\n',
    '#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n"""Doc."""\n'
    'from __future__ import annotations\nimport sys\nprint(1)\n',
    "",
]  # fmt: skip
CPP = '#include <cstdio>\nusing namespace std;\nint main() { int a; if (scanf("%d", &a)) printf("%d", a); }\n'
JAVA = "// class Not { }\nimport java.util.*;\npublic class Main {\n    public static void main(String[] a) { }\n}\n"


def _whole(planted: Planted | None, source: str) -> str:
    assert planted is not None
    assert planted.text[: planted.start] + planted.text[planted.end :] == source
    return planted.text


@pytest.mark.parametrize("text", TEXTS + HOSTILE)
@pytest.mark.parametrize("source", PYTHON)
def test_python_still_does_the_same(text: str, source: str) -> None:
    def body(program: str) -> list[str]:
        kept = [node for node in ast.parse(program).body if not _is_note(node)]
        return [ast.dump(node) for node in kept]

    compile(_whole(plant_comment(source, "Python 3", text), source), "p.py", "exec")
    assert body(_whole(plant_comment(source, "Python 3", text), source)) == body(source)
    with_string = _whole(plant_string(source, "PyPy3 (7.3)", text), source)
    compile(with_string, "p.py", "exec")
    assert body(with_string) == body(source)
    notes = [node for node in ast.parse(with_string).body if _is_note(node)]
    assert [node.value.value for node in notes] == [text]  # type: ignore[attr-defined]


def _is_note(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "note_"


@pytest.mark.slow
@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_cpp_still_compiles_and_prints_the_same(tmp_path: Path, standard: str) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++ here")
    for number, text in enumerate([TEXTS[0], TEXTS[-4], *HOSTILE]):
        for plant in (plant_comment, plant_string):
            file = tmp_path / f"{number}{plant.__name__}.cpp"
            file.write_text(_whole(plant(CPP, "C++ 20 (gcc 12.2)", text), CPP), encoding="utf-8")
            subprocess.run([compiler, f"-std={standard}", "-o", str(file.with_suffix("")), str(file)], check=True)
            done = subprocess.run([str(file.with_suffix(""))], input="7", capture_output=True, text=True, check=True)
            assert done.stdout == "7"


@pytest.mark.parametrize("text", TEXTS + HOSTILE)
@pytest.mark.parametrize("language", ["C++", "Java 17", "Python 3", "Rust", "Haskell", None])
def test_every_line_of_a_comment_is_one(text: str, language: str | None) -> None:
    source = PYTHON[0] if language is None else "x"
    planted = plant_comment(source, language, text)
    assert planted is not None
    spans = comment_spans(planted.text, language)
    lines = text.splitlines()
    assert [planted.text[a:b].split(" ", 1)[1] for a, b in spans[: len(lines)]] == lines


def test_a_java_string_stands_inside_the_class_and_not_in_a_comment() -> None:
    planted = plant_string(JAVA, "Java (OpenJDK 17)", 'a "b"')
    assert _whole(planted, JAVA).split("\n")[2:5] == [
        "public class Main {",
        '    static final String NOTE_ = "a \\"b\\"";',
        "",
    ]
    assert plant_string("interface I { }", "Java", "x") is None


def test_what_must_stay_first_stays_first() -> None:
    assert _whole(plant_comment("<?php\necho 1;", "PHP 8", "x"), "<?php\necho 1;") == "<?php\n// x\necho 1;"
    rust = "#![allow(unused)]\nfn main() {}\n"
    assert _whole(plant_string(rust, "Rust 1.70", "x"), rust).startswith(
        "#![allow(unused)]\n#[allow(dead_code)]\nconst NOTE_"
    )
    assert _whole(plant_comment(PYTHON[1], "Python", "x"), PYTHON[1]).split("\n")[2] == "# x"
    assert _whole(plant_comment("\ufeffint a;", "C", "x"), "\ufeffint a;") == "\ufeff// x\nint a;"


@pytest.mark.parametrize(("language", "source"), [("Brainfuck", "+[>]"), ("OCaml", "let x = 1"), (None, "42")])
def test_where_it_is_not_known_how_nothing_is_planted(language: str | None, source: str) -> None:
    assert plant_comment(source, language, "x") is None
    assert plant_string(source, language, "x") is None


def test_go_has_comments_but_no_place_for_a_string() -> None:
    assert plant_comment("package main", "Go (1.20)", "x") is not None
    assert plant_string("package main", "Go (1.20)", "x") is None


def test_in_q_u_it_is_the_first_thing_that_was_written() -> None:
    context = "----- log chat.md, message 1 -----\nhello"
    assert plant_prompt(context, "text").text == "----- log chat.md, message 1 -----\ntext\nhello"
    assert plant_prompt("", "text").text == "text"


@given(st.text(max_size=50), st.integers(0, 80))
def test_what_is_shown_is_what_lies_within_the_budget(source: str, budget: int) -> None:
    planted = plant_comment(source, "C++", "note")
    assert planted is not None
    mark = planted.text[planted.start : planted.end]
    assert planted.shown(budget) == len(planted.text[:budget][planted.start : planted.end])
    assert planted.shown(10_000) == len(mark) == len("// note\n")
    assert json.dumps(planted.text[:budget])
