from __future__ import annotations

import pandas as pd
import pytest
from pydantic import ValidationError

from judge_pipeline.cocreation.redacted import redact_requests, redactions_in_words, redactor_of
from judge_pipeline.settings.redaction import REDACTION_KINDS, RedactionSettings

ATTEMPTS = pd.DataFrame(
    {
        "participant": ["E001", "E002", "E002"],
        "source_code": ["# E001 a@example.org\nx = 1", None, "print(1)  # b@example.org, c@example.org"],
    }
)
CONTEXTS = pd.DataFrame({"participant": ["E001", "E002"], "prompt_text": ["call 090-1234-5678", "nothing here"]})


def _redact(settings: RedactionSettings, key: bytes | None = None) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    return redact_requests(ATTEMPTS, CONTEXTS, redactor_of(settings, "mini", ["E001", "E002"], key), settings)


def test_texts_are_redacted_and_each_kind_is_counted_by_place() -> None:
    attempts, contexts, counts = _redact(RedactionSettings())
    assert attempts["source_code"].tolist() == [
        "# [redacted:participant] [redacted:email]\nx = 1", None, "print(1)  # [redacted:email], [redacted:email]",
    ]  # fmt: skip
    assert contexts["prompt_text"].tolist() == ["call [redacted:phone]", "nothing here"]
    rows = counts.set_index(["place", "kind"])[["n_replaced", "n_texts", "n_searched"]]
    assert len(rows) == 2 * len(REDACTION_KINDS)
    assert rows.loc[("source_code", "email")].tolist() == [3, 2, 2]
    assert rows.loc[("source_code", "participant")].tolist() == [1, 1, 2]
    assert rows.loc[("prompt_text", "phone")].tolist() == [1, 1, 2]
    assert int(rows["n_replaced"].sum()) == 5
    assert ATTEMPTS["source_code"][0].startswith("# E001")


def test_with_a_key_participants_have_pseudonyms() -> None:
    attempts, _, _ = _redact(RedactionSettings(), b"k" * 16)
    assert "E001" not in attempts["source_code"][0] and "[participant:" in attempts["source_code"][0]


def test_switched_off_it_says_why_and_changes_nothing() -> None:
    settings = RedactionSettings(enabled=False, off_reason="synthetic data")
    attempts, contexts, counts = _redact(settings)
    assert attempts.equals(ATTEMPTS) and contexts.equals(CONTEXTS)
    assert set(counts["reason"]) == {"not replaced: synthetic data"} and counts["n_replaced"].sum() == 0
    assert redactions_in_words(settings) == "nothing; not secret, email, phone, name, participant: synthetic data"


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"enabled": False}, "off_reason"),
        ({"kinds": ["secret"]}, "kinds leaves out email, phone, name, participant"),
        ({"names": ["K"]}, "too short"),
        ({"phone_regions": ["Japan"]}, "no region"),
    ],
)
def test_settings_that_would_let_data_out_unnoticed_are_refused(values: dict[str, object], what: str) -> None:
    with pytest.raises(ValidationError, match=what):
        RedactionSettings.model_validate(values)
