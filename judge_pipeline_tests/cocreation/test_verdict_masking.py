from __future__ import annotations

import pandas as pd
import pytest

from judge_pipeline.cocreation.verdict_masking import PLACEHOLDER, mask_verdict_words, masking_in_words
from judge_pipeline.settings import ContestSettings
from judge_pipeline.tables import VERDICT_WORD_COUNTS

ATTEMPTS = pd.DataFrame(
    {
        "source_code": ["// got WA\nint AC = 1;", "// got WA\nint AC = 1;", None, "x = 1  # TLE", "(* WA *)"],
        "language": ["C++", "C++", "C++", None, "OCaml"],
    }
)
CONTEXTS = pd.DataFrame(
    {
        "participant": ["E1", "E2", "E3"],
        "prompt_text": ["I got WA on test 3.\nint AC = 2;", "Wrong Answer, TLE", "hello"],
    }
)


def run(**settings: object) -> tuple[list[str], pd.DataFrame]:
    contexts, counts = mask_verdict_words(ATTEMPTS, CONTEXTS, ContestSettings(**settings))  # type: ignore[arg-type]
    return contexts["prompt_text"].tolist(), VERDICT_WORD_COUNTS.conform(counts).set_index(["place", "verdict"])


def test_words_are_counted_and_nothing_is_changed_unless_it_is_asked_for() -> None:
    texts, counts = run()
    assert texts == CONTEXTS["prompt_text"].tolist()
    figures = counts[["n_found", "n_masked", "n_texts", "n_searched"]]
    assert figures.loc[("prompt_text", "WA")].tolist() == [2, 0, 2, 3]
    assert figures.loc[("prompt_text", "TLE")].tolist() == [1, 0, 1, 3]
    assert figures.loc[("source_comment", "WA")].tolist() == [2, 0, 2, 4]
    assert figures.loc[("source_comment", "AC")].tolist() == [0, 0, 0, 4]
    assert figures["n_found"].sum() == 5
    assert counts.loc[("prompt_text", "WA"), "reason"] == "counted, not masked"


def test_masking_replaces_them_in_prompts_visibly_and_never_in_programs() -> None:
    texts, counts = run(mask_verdict_words=True)
    assert texts == [f"I got {PLACEHOLDER} on test 3.\nint AC = 2;", f"{PLACEHOLDER}, {PLACEHOLDER}", "hello"]
    assert counts.loc[("prompt_text", "WA"), ["n_found", "n_masked", "reason"]].tolist() == [2, 2, None]
    assert counts.loc[("source_comment", "WA"), ["n_found", "n_masked"]].tolist() == [2, 0]
    again, _ = mask_verdict_words(
        ATTEMPTS, CONTEXTS.assign(prompt_text=texts), ContestSettings(mask_verdict_words=True)
    )
    assert again["prompt_text"].tolist() == texts


@pytest.mark.parametrize(("limit", "found"), [(6, 0), (7, 1), (100, 2)])
def test_a_word_counts_where_it_begins_within_the_budget(limit: int, found: int) -> None:
    """ "I got WA" begins at 6; the second text's words at 0 and 14, which are cut in the same way."""
    contexts = CONTEXTS.assign(prompt_text=["I got WA", "I got WA and TLE", ""]).iloc[[1]]
    _, counts = mask_verdict_words(ATTEMPTS, contexts, ContestSettings(max_prompt_chars=limit))
    of_prompts = counts[counts["place"] == "prompt_text"]
    assert int(of_prompts["n_found"].sum()) == found


@pytest.mark.parametrize(("mask", "limit", "found"), [(False, 13, 1), (False, 14, 2), (True, 27, 1), (True, 28, 2)])
def test_the_budget_is_that_of_the_text_that_is_sent(mask: bool, limit: int, found: int) -> None:
    contexts = pd.DataFrame({"participant": ["E1"], "prompt_text": ["I got WA and TLE"]})
    settings = ContestSettings(mask_verdict_words=mask, max_prompt_chars=limit)
    sent, counts = mask_verdict_words(ATTEMPTS, contexts, settings)
    assert int(counts.query("place == 'prompt_text'")["n_found"].sum()) == found
    assert sent["prompt_text"][0].index("[masked" if mask else "TLE", 8) == (27 if mask else 13)


def test_blind_judges_are_sent_no_prompts_so_none_is_searched() -> None:
    texts, counts = run(context="blind", mask_verdict_words=True)
    assert texts == CONTEXTS["prompt_text"].tolist()
    assert counts.loc[("prompt_text", "WA"), ["n_found", "n_searched", "reason"]].tolist() == [
        0, 0, "judges are blind: Q_u is not sent",
    ]  # fmt: skip


def test_words_of_the_contest_are_masked_too_with_a_row_of_their_verdict() -> None:
    contexts = CONTEXTS.assign(prompt_text=["lost half: 部分点だった", "", ""])
    settings = ContestSettings(verdict_words={"部分点": "PARTIAL"}, mask_verdict_words=True)
    masked, counts = mask_verdict_words(ATTEMPTS, contexts, settings)
    assert masked["prompt_text"][0] == f"lost half: {PLACEHOLDER}だった"
    assert counts.query("verdict == 'PARTIAL'")["n_masked"].tolist() == [1]


def test_what_reports_say() -> None:
    assert masking_in_words(ContestSettings()) == "counted, not masked"
    assert masking_in_words(ContestSettings(mask_verdict_words=True)) == "masked in Q_u"
    assert masking_in_words(ContestSettings(context="blind")) == "judges are blind: Q_u is not sent"
