from __future__ import annotations

from datetime import UTC, datetime

import pytest

from judge_pipeline.ingest.chat_formats.chat import block_text, content_of, inside, instant_of, without


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-01-15T10:30:00Z", datetime(2026, 1, 15, 10, 30, tzinfo=UTC)),
        ("2026-01-15T10:30:00.123456+09:00", datetime(2026, 1, 15, 1, 30, 0, 123456, tzinfo=UTC)),
        (1704067200, datetime(2024, 1, 1, tzinfo=UTC)),
        (1704067200.5, datetime(2024, 1, 1, 0, 0, 0, 500000, tzinfo=UTC)),
        (1704067200000, datetime(2024, 1, 1, tzinfo=UTC)),
        ("1704067200", datetime(2024, 1, 1, tzinfo=UTC)),
        ({"$date": {"$numberLong": "1704067200000"}}, datetime(2024, 1, 1, tzinfo=UTC)),
        ({"$date": "2024-01-01T00:00:00Z"}, datetime(2024, 1, 1, tzinfo=UTC)),
    ],
)
def test_times_that_are_known(value: object, expected: datetime) -> None:
    assert instant_of(value) == expected


NO_TIMES = [
    *(None, "", "yesterday", "2026-01-15T10:30:00", "2026-01-15", 0, -1, 1e300, float("nan"), float("inf"), True),
    *(10**400, "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+14:00", {}, [], {"$date": None}),
]


@pytest.mark.parametrize("value", NO_TIMES)
def test_times_that_are_not(value: object) -> None:
    assert instant_of(value) is None


def test_content_is_its_text_and_a_count_of_the_rest() -> None:
    content = content_of(
        [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "one"},
            {"type": "tool_use", "name": "f", "input": {}},
            {"type": "tool_result", "content": [{"type": "text", "text": "out"}]},
            {"type": "image", "source": {}},
            "two",
        ]
    )
    assert content.text == "one\n\ntwo"
    assert content.tool_results == ("out",)
    assert content.notes == (
        "1 thinking block(s) left out",
        "1 tool call(s) left out",
        "1 part(s) that are not text left out",
    )


def test_an_empty_text_block_is_no_part_that_was_left_out() -> None:
    assert content_of([{"type": "text", "text": ""}]).notes == ()


def test_tags_are_found_and_cut_without_nesting() -> None:
    assert inside("a<t> x </t>b<t>y</t><t>open", "t") == ["x", "y"]
    assert without("a<t>x</t>b<t>y</t><t>open", "t") == "ab<t>open"


def test_frames_around_a_message_go_and_blanks_within_stay() -> None:
    assert block_text(["", "---", "  code", "", "---", "more", " ", "***"]) == "  code\n\n---\nmore"
