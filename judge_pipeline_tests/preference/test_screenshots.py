"""Screenshots in the forms that files have them: kept by their bytes, withheld unless shown, counted where unusable."""

from __future__ import annotations

import base64
import hashlib
import io
import json
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judge_pipeline.ingest.image_files import data_url
from judge_pipeline.orchestration.evidence_files import EvidenceFiles
from judge_pipeline.preference.pair_question import pair_question, pair_rows
from judge_pipeline.preference.pair_texts import pair_texts
from judge_pipeline.preference.pairs import PairsRead, read_pairs
from judge_pipeline.preference.screenshots import counts_of, images_of_row, shown_and_not
from judge_pipeline.preference.withdrawn import Withdrawn
from judge_pipeline.settings import PreferenceSettings
from judge_pipeline.settings.preference import PairJudging
from judge_pipeline.settings.redaction import PairRedaction
from judge_pipeline_tests.judging.made_images import png

A, B = png(1), png(2)
SHOW = PairRedaction(screenshots="show")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def row(**changes: Any) -> dict[str, Any]:
    return {"pair_id": "p", "instruction": "draw", "response_a": "a", "response_b": "b", "w": "A"} | changes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set's folder with two screenshots."""
    (tmp_path / "set" / "shots").mkdir(parents=True)
    for name, data in (("q_a.png", A), ("q_b.png", B)):
        (tmp_path / "set" / "shots" / name).write_bytes(data)
    return tmp_path / "set"


def read(
    folder: Path, data: bytes, path: str = "x.jsonl", withdrawn: Withdrawn | None = None, **source: Any
) -> PairsRead:
    keep = partial(EvidenceFiles(folder.parent / "kept").keep, folder)
    settings = PreferenceSettings.model_validate({"source": source})
    return read_pairs([(path, data)], settings, withdrawn or Withdrawn(), keep)


def lines(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in rows).encode()


def kept_of(found: PairsRead) -> list[tuple[str, str]]:
    """sha256 and source of both screenshots of the first pair."""
    pair = found.pairs.to_dict("records")[0]
    shots = [json.loads(pair[name])["screenshot"] for name in ("evidence_a", "evidence_b")]
    return [(shot["sha256"], shot["source"]) for shot in shots]


def parquet(*rows: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), file)
    return file.getvalue()


def bigcodereward(a: Any, b: Any) -> dict[str, Any]:
    state = {"messages": [["Human", "draw"], ["Assistant", "code"]]}
    return {"chat_session_id": "s", "human_vote": "vote_model_A", "states": {"model_A": state, "model_B": state},
            "execution_screenshot_A": a, "execution_screenshot_B": b}  # fmt: skip


def test_a_table_states_paths_data_urls_or_bytes(folder: Path) -> None:
    by_path = row(evidence_a={"screenshot": "shots/q_a.png"}, evidence_b={"screenshot": data_url(B, "text/html")})
    expected = [(sha256(A), "shots/q_a.png"), (sha256(B), "embedded")]
    assert kept_of(read(folder, lines(by_path))) == expected
    whole = row(
        evidence_a={"screenshot": {"bytes": A, "path": "x"}}, evidence_b={"screenshot": {"bytes": B, "path": "y"}}
    )
    found = read(folder, parquet(whole), "x.parquet")
    assert kept_of(found) == [(sha256(A), "embedded"), (sha256(B), "embedded")]
    assert found.quarantine.empty and "base64" not in found.pairs.to_json()
    assert {path.name for path in (folder.parent / "kept").iterdir()} == {f"{sha256(A)}.png", f"{sha256(B)}.png"}


def test_bigcodereward_holds_images_as_hugging_face_writes_them_or_as_the_sandbox_did(folder: Path) -> None:
    hugging_face = bigcodereward({"bytes": A, "path": "a.png"}, {"bytes": B, "path": None})
    found = read(folder, parquet(hugging_face), "x.parquet", format="bigcodereward")
    assert kept_of(found) == [(sha256(A), "embedded"), (sha256(B), "embedded")]
    sandbox = bigcodereward({"path": "shots/q_a.png"}, None)
    logs = {"1": {"sandbox_state": {"screenshot_base64": base64.b64encode(B).decode()}}}
    sandbox["states"]["model_B"] = sandbox["states"]["model_B"] | {"sandbox_logs_by_round": logs}
    found = read(folder, lines(sandbox), format="bigcodereward")
    assert kept_of(found) == [(sha256(A), "shots/q_a.png"), (sha256(B), "embedded")]


def test_webdevjudge_names_its_screenshots_by_the_question(folder: Path) -> None:
    def page(code: str) -> list[dict[str, Any]]:
        asked = {"role": "user", "content": [{"type": "text", "text": "a todo list"}]}
        return [asked, {"role": "assistant", "content": [], "object": {"code": code}}]

    line = {"question_id": "q", "label": "model_a", "conversation_a": page("a"), "conversation_b": page("b")}
    found = read(folder, lines(line), format="webdevjudge", screenshots="shots/")
    assert kept_of(found) == [(sha256(A), "shots/q_a.png"), (sha256(B), "shots/q_b.png")]
    assert read(folder, lines(line), format="webdevjudge").pairs["evidence_a"].isna().all()
    hostile = read(folder, lines(line | {"question_id": "../../x"}), format="webdevjudge", screenshots="shots")
    assert "leaves the set's folder" in hostile.quarantine["reason"][0]


def test_what_cannot_be_used_is_set_aside_and_its_pair_kept_without_it(folder: Path) -> None:
    rows = [
        row(pair_id="gone", evidence_a={"output": "1", "screenshot": "shots/gone.png"}),
        row(pair_id="out", evidence_a={"screenshot": "../x.png"}, evidence_b={"screenshot": "preference.yaml"}),
        row(pair_id="fine", evidence_b={"screenshot": "shots/q_b.png"}),
        row(pair_id="withdrawn", evidence_a={"screenshot": "shots/alice.png"}),
    ]
    (folder / "preference.yaml").write_text("title: no image\n")
    found = read(folder, lines(*rows), withdrawn=Withdrawn(lambda pair_id: pair_id == "withdrawn"))
    assert found.pairs["pair_id"].tolist() == ["gone", "out", "fine"]
    aside = found.quarantine.to_dict("records")
    assert [(q["place"], q["field"], q["value"]) for q in aside] == [
        ("row 1 (line 1)", "screenshot", "shots/gone.png"),
        ("row 2 (line 2)", "screenshot", "../x.png; preference.yaml"),
    ]
    assert aside[0]["reason"] == "is not in the set's folder" and "no PNG, JPEG" in aside[1]["reason"]
    assert found.pairs["notes"].tolist() == ["1 screenshot(s) cannot be used", "2 screenshot(s) cannot be used", None]
    assert found.selection.set_index("effect")["n"].to_dict() == {"kept": 3, "left_out": 1}
    texts, _ = pair_texts(found.pairs, SHOW)
    counts = {"shown": 1, "withheld": 0, "unusable": 3}
    assert counts_of((*texts["evidence_a"], *texts["evidence_b"])) == counts
    assert "gone.png" not in texts.to_json() and "yaml" not in texts.to_json()


def test_judges_are_shown_none_unless_the_set_says_so(folder: Path) -> None:
    whole = row(evidence_a={"output": "1", "screenshot": "shots/q_a.png"}, evidence_b={"screenshot": "shots/q_b.png"})
    pairs = read(folder, lines(whole)).pairs
    splits = pd.DataFrame({"pair_id": ["p"], "split": ["val"]})
    assert PreferenceSettings().redaction.screenshots == "withhold"
    for redaction, n in ((PreferenceSettings().redaction, 0), (SHOW, 2)):
        texts, _ = pair_texts(pairs, redaction)
        ab, ba = pair_rows("set", texts, splits, PairJudging()).to_dict("records")
        images = [[image.sha256 for image in images_of_row(each).values()] for each in (ab, ba)]
        assert images == ([[sha256(A), sha256(B)], [sha256(B), sha256(A)]] if n else [[], []])
        shown, left_out = shown_and_not(ab, takes_images=True)
        assert (shown, left_out) == (n, None if n else "2 not shown: withheld by redaction.screenshots")
        assert pair_question(False).unpack(ab)["evidence_first"] == {"output": "1"}
        assert "shots" not in texts.to_json()


def test_one_response_alone_has_no_letter(folder: Path) -> None:
    texts, _ = pair_texts(read(folder, lines(row(evidence_b={"screenshot": "shots/q_b.png"}))).pairs, SHOW)
    alone = {"first": "b", "evidence_first": texts["evidence_b"][0], "second": "", "evidence_second": None}
    assert images_of_row(alone)["first"].label.startswith("Screenshot of what the response shows")
    assert images_of_row({"instruction": "no response is shown"}) == {}
