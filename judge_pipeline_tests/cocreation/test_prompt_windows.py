from __future__ import annotations

import hashlib
from typing import Any

import pandas as pd
import pytest

from judge_pipeline.cocreation.prompt_windows import prompt_texts, prompt_windows
from judge_pipeline.ingest.chat_formats.chat import NOT_TYPED
from judge_pipeline.tables import PROMPT_LOGS
from judge_pipeline_tests.paper_counts_contest import paper_counts_contest


def at(minute: int | None) -> pd.Timestamp | None:
    return None if minute is None else pd.Timestamp("2026-04-01 10:00", tz="UTC") + pd.Timedelta(minutes=minute)


def attempts(*minutes: int | None, problem: str = "P1", participant: str = "u") -> pd.DataFrame:
    rows = [
        {"attempt_id": f"{participant}{problem}{k}", "participant": participant, "problem_id": problem, "turn": k,
         "submitted_at": at(minute), "source_code": "x"}
        for k, minute in enumerate(minutes, 1)
    ]  # fmt: skip
    return pd.DataFrame(rows).astype({"submitted_at": "datetime64[us, UTC]"})


def logs(*messages: tuple[int | None, str], path: str = "prompts/u/P1.md", **other: Any) -> pd.DataFrame:
    rows = [
        {"participant": "u", "path": path, "conversation": "1", "order": k, "role": "user", "text": text,
         "text_sha256": "0", "at": at(minute), "notes": None, **other}
        for k, (minute, text) in enumerate(messages, 1)
    ]  # fmt: skip
    return PROMPT_LOGS.conform(rows)


def test_a_window_is_open_at_its_start_and_closed_at_its_end() -> None:
    said = logs((0, "before"), (5, "at the first"), (6, "between"), (10, "at the second"), (11, "after"))
    found = prompt_texts(attempts(5, 10), said)
    assert found["text"].tolist() == ["before\n\nat the first", "between\n\nat the second"]
    assert found["n_prompts"].tolist() == [2, 2]
    assert found["reason"].isna().all()
    table = prompt_windows(found)
    assert table["n_chars"].tolist() == [20, 22]
    assert table["text_sha256"][0] == hashlib.sha256(b"before\n\nat the first").hexdigest()


def test_only_prompts_of_the_problem_by_log_or_mention_count_and_never_the_whole_context() -> None:
    both = pd.concat([attempts(5, 10), attempts(6, 20, problem="P2")], ignore_index=True)
    said = logs((1, "one"), (7, "what of P2"), (8, "and then"))
    free = logs((2, "help with P2"), (9, "and then"), (9, "hello"), path="prompts/u/chat.md")
    found = prompt_texts(both, pd.concat([said, free], ignore_index=True)).set_index("attempt_id")["text"]
    assert found.to_dict() == {
        "uP11": "one", "uP12": "what of P2\n\nand then", "uP21": "help with P2", "uP22": "what of P2",
    }  # fmt: skip
    carried = prompt_texts(both, pd.concat([said, free], ignore_index=True), mentions="conversation")
    assert carried["text"].tolist()[3] == "what of P2\n\nand then\n\nand then\n\nhello"


def test_answers_empty_messages_and_what_a_client_wrote_are_no_prompts() -> None:
    said = pd.concat(
        [logs((1, "mine")), logs((2, "theirs"), role="assistant"), logs((3, " ")), logs((4, "auto"), notes=NOT_TYPED)],
        ignore_index=True,
    )
    found = prompt_texts(attempts(5), said)
    assert found["text"].tolist() == ["mine"]


@pytest.mark.parametrize(
    ("made", "said", "reasons"),
    [
        (attempts(None, 10), logs((1, "x")), ["no time alignment: the attempt's time is unknown",
         "no time alignment: the time of the turn before is unknown"]),
        (attempts(5, 10), logs((1, "x"), (None, "y")),
         ["no time alignment: 1 prompt(s) about the problem have no time"] * 2),
        (attempts(5, 10), logs((1, "x"), (None, "y"), path="prompts/u/z.md"), [None, None]),
        (attempts(10, 5), logs((1, "x")), [None, "no time alignment: the turn before has a later time"]),
        (attempts(5, 10).iloc[1:], logs((1, "x")), ["no time alignment: the turn before is not in the table"]),
        (attempts(5, participant="v"), logs((1, "x")), ["the participant has no prompt log"]),
        (attempts(5), PROMPT_LOGS.empty(), ["the participant has no prompt log"]),
    ],
)  # fmt: skip
def test_what_is_unknown_says_why(made: pd.DataFrame, said: pd.DataFrame, reasons: list[str | None]) -> None:
    found = prompt_texts(made, said)
    assert found["reason"].tolist() == reasons
    assert [text is None for text in found["text"]] == [reason is not None for reason in reasons]
    table = prompt_windows(found)
    assert (table["n_prompts"].isna() == table["reason"].notna()).all()


def test_equal_times_leave_the_later_turn_an_empty_window() -> None:
    found = prompt_texts(attempts(5, 5), logs((5, "x")))
    assert found["text"].tolist() == ["x", ""]


def test_the_order_of_rows_does_not_matter_and_a_loop_agrees() -> None:
    c = paper_counts_contest()
    found = prompt_texts(c.attempts, c.prompt_logs)
    assert found["reason"].isna().sum() > 100
    shuffled = c.attempts.sample(frac=1, random_state=1)
    again = prompt_texts(shuffled, c.prompt_logs.sample(frac=1, random_state=2))
    pd.testing.assert_frame_equal(
        found.set_index("attempt_id").sort_index(), again.set_index("attempt_id").sort_index()
    )
    times = c.attempts.set_index(["participant", "problem_id", "turn"])["submitted_at"]
    for row, text in zip(c.attempts.to_dict("records"), found["text"], strict=True):
        if text is None:
            continue
        u, p, k = row["participant"], row["problem_id"], row["turn"]
        start = times[u, p, k - 1] if k > 1 else pd.Timestamp.min.tz_localize("UTC")
        of_p = c.prompt_logs["path"] == f"prompts/{u}/{p}.json"
        within = (c.prompt_logs["at"] > start) & (c.prompt_logs["at"] <= row["submitted_at"])
        mine = c.prompt_logs[of_p & within & (c.prompt_logs["role"] == "user")]
        assert text == "\n\n".join(mine["text"])
