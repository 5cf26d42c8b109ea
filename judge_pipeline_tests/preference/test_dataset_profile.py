from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.preference.dataset_profile import dataset_profile, edit_distance_lines
from judge_pipeline.preference.natural_languages import natural_languages_of
from judge_pipeline.preference.pairs import read_pairs
from judge_pipeline.settings import PreferenceSettings


def pairs_of(*rows: dict[str, object]) -> pd.DataFrame:
    import json

    data = "\n".join(json.dumps({"response_a": "a", "response_b": "b", "w": "A", **row}) for row in rows) + "\n"
    read = read_pairs([("x.jsonl", data.encode())], PreferenceSettings())
    assert read.quarantine.empty
    return read.pairs


def told(texts: Sequence[str]) -> list[str | None]:
    return [text.split()[0] if text.strip() else None for text in texts]


def profile(pairs: pd.DataFrame) -> dict[tuple[str, str, str | None], float]:
    rows = dataset_profile(pairs, told).to_dict("records")
    return {(row["figure"], row["statistic"], row["level"]): row["value"] for row in rows}


def levenshtein(a: list[str], b: list[str]) -> int:
    table = [[i + j if i * j == 0 else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i][j] = min(
                table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a[i - 1] != b[j - 1])
            )  # fmt: skip
    return table[-1][-1]


@given(st.lists(st.sampled_from("xyz"), max_size=7), st.lists(st.sampled_from("xyz"), max_size=7))
def test_edit_distance_is_levenshtein_over_lines_whatever_their_ends(a: list[str], b: list[str]) -> None:
    assert edit_distance_lines("\n".join(a), "\r\n".join(b)) == levenshtein(a or [""], b or [""])


def test_of_answers_with_fences_only_the_code_is_compared() -> None:
    assert edit_distance_lines("Long talk.\nMore.\n```py\nx\ny\n```", "Short.\n```py\nx\nz\n```") == 1
    assert edit_distance_lines("```py\nx\n```", "x") == 0


def test_the_figures_of_a_small_set() -> None:
    found = profile(
        pairs_of(
            {"instruction": "english one\n```py\ncode()\n```", "response_a": "```py\n1\n2\n```", "response_b": "none"},
            {"instruction": "english two", "w": "B", "response_a": "same ", "response_b": "same", "language": "Py"},
            {"prefix": "x = 1  # kommentar hier\n", "suffix": "y", "w": "tie", "language": "python"},
        )
    )
    assert found[("pairs", "count", None)] == 3
    assert found[("natural_languages", "count", None)] == 2
    assert found[("natural_languages", "share", "english")] == pytest.approx(2 / 3)
    assert found[("programming_languages", "count", None)] == 1
    assert found[("with_instruction", "share", None)] == pytest.approx(2 / 3)
    assert found[("with_file_context", "share", None)] == pytest.approx(1 / 3)
    assert found[("ties", "share", None)] == pytest.approx(1 / 3)
    assert found[("chose_first_in_source", "share", None)] == 0.5
    assert found[("same_response", "share", None)] == pytest.approx(1 / 3)
    assert found[("code_lines", "p50", None)] == 2, "two lines of the fence, two of the file"


def test_percentiles_are_those_of_numpy_over_responses() -> None:
    lengths = [1, 2, 3, 40, 500, 7]
    found = profile(pairs_of(*({"response_a": "x" * n, "response_b": "yy", "instruction": f"i{n}"} for n in lengths)))
    p50, p95 = np.percentile([*lengths, *[2] * 6], (50, 95))
    assert found[("output_chars", "p50", None)] == p50
    assert found[("output_chars", "p95", None)] == p95


def test_choices_of_swapped_pairs_count_in_the_source_s_order() -> None:
    pairs = pairs_of(*({"instruction": f"i{n}", "w": "A"} for n in range(10)))
    swapped = pairs.assign(w="B", swapped=True)
    assert profile(swapped)[("chose_first_in_source", "share", None)] == 1.0


@pytest.mark.parametrize(("chars", "warned"), [(39, True), (40, False)])
def test_languages_told_by_short_texts_carry_a_warning_and_their_value(chars: int, warned: bool) -> None:
    texts = ["english ".ljust(n, "x") for n in (chars, chars, 200)]
    rows = dataset_profile(pairs_of(*({"instruction": text, "pair_id": str(n)} for n, text in enumerate(texts))), told)
    [count] = rows[(rows["figure"] == "natural_languages") & (rows["statistic"] == "count")].to_dict("records")
    assert count["value"] == 1
    if warned:
        assert count["reason"] == "told by short texts (median 39 characters, under 40): rare languages are noise"
    else:
        assert pd.isna(count["reason"])


def test_an_empty_set_has_reasons_and_no_zeros() -> None:
    rows = dataset_profile(pairs_of({"instruction": "x"}).iloc[:0], told)
    values = rows.set_index("figure")["value"]
    assert values[["pairs", "instructions"]].tolist() == [0, 0]
    assert rows.loc[rows["value"].isna(), "reason"].notna().all()
    assert values.drop(["pairs", "instructions"]).isna().all()


@pytest.mark.slow
def test_lingua_tells_languages_and_says_nothing_of_scraps() -> None:
    texts = [
        "Please write a function that reverses the words of a sentence and keeps the spaces",
        "Écris une fonction qui renvoie la liste des nombres premiers plus petits que n",
        "Напиши функцию, которая сортирует список по возрастанию и удаляет повторы",
        "fix",
        "",
    ]
    assert natural_languages_of(texts, "low") == ["english", "french", "russian", None, None]
    assert natural_languages_of([]) == []
