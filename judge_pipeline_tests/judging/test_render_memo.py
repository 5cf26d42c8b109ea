"""Hashes kept from run to run: never another's, whatever changes, and however the memo is damaged."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from judge_pipeline.judging import prepared as prepared_module
from judge_pipeline.judging import render_memo
from judge_pipeline.judging.backends import embedded_backend
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.tables import RENDERED
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.forgetting import forget_attempts
from judge_pipeline.judging.prepared import AskedSettings, Prepared, Rendering, prepare
from judge_pipeline.judging.request import sha256
from judge_pipeline.settings import EmbeddedJudge, LitellmJudge
from judge_pipeline.tables import JUDGE_REQUESTS

PROMPTS = Path(__file__).resolve().parents[2] / "assets_config" / "prompts"
JUDGE = LitellmJudge(backend="litellm", model="openai/m", base_url="http://127.0.0.1:9/v1", parameters={"seed": 1})
EMBEDDED = EmbeddedJudge(backend="embedded")
N = 600


@pytest.fixture(params=["sqlite", "postgresql"])
def store_kind(request: pytest.FixtureRequest) -> str:
    """The memo is kept in both."""
    return str(request.param)


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the attempts whose requests are rendered, as they are."""
    ids: list[str] = []
    render = Rendering.hashes

    def count(self: Rendering, row: Any) -> Any:
        ids.append(row["attempt_id"])
        return render(self, row)

    monkeypatch.setattr(Rendering, "hashes", count)
    return ids


def table(n: int = N) -> pd.DataFrame:
    """n requests, each with texts long enough that the embedded judge's cuts matter."""
    rows = [
        {
            "attempt_id": sha256(f"attempt {i}")[:16], "split": "test", "problem_id": f"P{i % 4}", "language": "C++",
            "source_code": f"int main() {{ return {i}; }}" + " // x" * 100, "prompt_text": f"how? {i}" + " y" * 100,
            "problem_statement": None, "context": "nonblind", "source_chars_cut": 0, "prompt_chars_cut": 0,
            "request_sha256": f"{i:064x}",
        }
        for i in range(n)
    ]  # fmt: skip
    return JUDGE_REQUESTS.conform(rows)


def same(one: Prepared, other: Prepared) -> bool:
    return (one.attempt_ids, one.hashes, one.chars) == (other.attempt_ids, other.hashes, other.chars)


def blocks(checkpoint: Checkpoint) -> dict[str, bytes]:
    with checkpoint.reading() as connection:
        return {row[0]: bytes(row[1]) for row in connection.execute(sa.select(RENDERED))}


def put(checkpoint: Checkpoint, contents: dict[str, bytes]) -> None:
    """These in place of what is kept."""
    with checkpoint.writing() as connection:
        connection.execute(sa.delete(RENDERED))
        connection.execute(sa.insert(RENDERED), [{"block_key": k, "content": v} for k, v in contents.items()])


@pytest.mark.slow
@pytest.mark.parametrize("settings", [JUDGE, JUDGE.model_copy(update={"repeats": 3}), EMBEDDED])
def test_a_second_time_next_to_nothing_is_rendered_and_all_is_the_same(
    checkpoint: Checkpoint, rendered: list[str], settings: AskedSettings
) -> None:
    plain = prepare("j", settings, table(), PROMPTS)
    assert same(prepare("j", settings, table(), PROMPTS, checkpoint), plain)
    rendered.clear()
    again = prepare("another", settings, table(), PROMPTS, checkpoint)
    assert same(again, plain) and len(rendered) <= render_memo._BLOCKS_TRIED_ANEW
    call, stored = again.task(again.hashes[-1][7]).build()
    assert stored.request_hash == plain.hashes[-1][7] and call.repeat == len(plain.hashes) - 1


@pytest.mark.slow
@pytest.mark.parametrize("where", ["front", "middle", "end"])
def test_an_attempt_that_comes_or_goes_changes_its_own_block(
    checkpoint: Checkpoint, rendered: list[str], where: str
) -> None:
    whole = table(3000)
    out = {"front": 0, "middle": 1500, "end": 2999}[where]
    prepare("j", JUDGE, whole.drop(index=out), PROMPTS, checkpoint)
    rendered.clear()
    prepared = prepare("j", JUDGE, whole, PROMPTS, checkpoint)
    assert len(rendered) < len(whole) / 2
    assert same(prepared, prepare("j", JUDGE, whole, PROMPTS))


CHANGED_ROWS: dict[str, Any] = {
    "problem_id": "Q", "language": None, "source_code": "int main() {}", "prompt_text": "", "context": "blind",
    "problem_statement": "Add two numbers.", "source_chars_cut": 1, "prompt_chars_cut": 1,
}  # fmt: skip
CHANGED_SETTINGS: dict[str, Any] = {
    "model": "openai/n", "base_url": "http://127.0.0.1:8/v1", "parameters": {"seed": 2}, "max_output_tokens": 9,
    "send_schema": False, "transport": "direct", "repeats": 2,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("column", CHANGED_ROWS)
def test_whatever_changes_in_a_row_changes_its_hash_and_no_other(checkpoint: Checkpoint, column: str) -> None:
    """``request_sha256`` is left as it was: the row itself decides, not what it says of itself."""
    before = prepare("j", JUDGE, table(), PROMPTS, checkpoint)
    changed = table().astype({column: "object"})
    changed.loc[77, column] = CHANGED_ROWS[column]
    after = prepare("j", JUDGE, JUDGE_REQUESTS.conform(changed), PROMPTS, checkpoint)
    assert [a == b for a, b in zip(before.hashes[0], after.hashes[0], strict=True)] == [i != 77 for i in range(N)]
    assert same(after, prepare("j", JUDGE, JUDGE_REQUESTS.conform(changed), PROMPTS))


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGED_SETTINGS)
def test_whatever_changes_in_the_settings_renders_everything_anew(
    checkpoint: Checkpoint, rendered: list[str], name: str
) -> None:
    before = prepare("j", JUDGE, table(), PROMPTS, checkpoint)
    changed = LitellmJudge(**(JUDGE.model_dump(exclude_unset=True) | {name: CHANGED_SETTINGS[name]}))
    rendered.clear()
    after = prepare("j", changed, table(), PROMPTS, checkpoint)
    assert len(rendered) == N and same(after, prepare("j", changed, table(), PROMPTS))
    assert not set(after.hashes[-1]) & set(before.hashes[0])


@pytest.mark.parametrize("name", ["max_code_chars", "max_prompt_chars", "context_tokens"])
def test_what_the_embedded_judge_is_shown_is_part_of_it(checkpoint: Checkpoint, name: str) -> None:
    before = prepare("j", EMBEDDED, table(), PROMPTS, checkpoint)
    changed = EMBEDDED.model_copy(update={name: getattr(EMBEDDED, name) - 7})
    after = prepare("j", changed, table(), PROMPTS, checkpoint)
    assert not set(before.hashes[0]) & set(after.hashes[0])
    assert same(after, prepare("j", changed, table(), PROMPTS))


def test_the_embedded_model_s_versions_are_part_of_it(checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    before = prepare("j", EMBEDDED, table(), PROMPTS, checkpoint)
    monkeypatch.setattr(embedded_backend, "_versions", lambda: {"xllamacpp": "another"})
    after = prepare("j", EMBEDDED, table(), PROMPTS, checkpoint)
    assert not set(before.hashes[0]) & set(after.hashes[0])


def test_a_changed_template_is_part_of_it(checkpoint: Checkpoint, rendered: list[str], tmp_path: Path) -> None:
    text = (PROMPTS / JUDGE.prompt).read_text(encoding="utf-8")
    before = prepare("j", JUDGE, table(), PROMPTS, checkpoint)
    (tmp_path / JUDGE.prompt).write_text(text.replace("Assess the attempt.", "Judge it."), encoding="utf-8")
    rendered.clear()
    after = prepare("j", JUDGE, table(), tmp_path, checkpoint)
    assert len(rendered) == N and not set(before.hashes[0]) & set(after.hashes[0])
    # What changes no hash, such as a comment, is a new template all the same.
    (tmp_path / JUDGE.prompt).write_text("{# a comment #}\n" + text, encoding="utf-8")
    rendered.clear()
    assert same(prepare("j", JUDGE, table(), tmp_path, checkpoint), before) and len(rendered) == N


def test_changed_code_renders_everything_anew(
    checkpoint: Checkpoint, rendered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare("j", JUDGE, table(), PROMPTS, checkpoint)
    monkeypatch.setattr(prepared_module, "_CODE_SHA256", sha256("other sources"))
    rendered.clear()
    prepare("j", JUDGE, table(), PROMPTS, checkpoint)
    assert len(rendered) == N


def test_the_code_s_number_covers_every_source_of_judging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(prepared_module.__file__).parent
    for file in folder.rglob("*.py"):
        (tmp_path / file.relative_to(folder)).parent.mkdir(exist_ok=True)
        (tmp_path / file.relative_to(folder)).write_bytes(file.read_bytes())
    monkeypatch.setattr(prepared_module, "__file__", str(tmp_path / "prepared.py"))
    assert prepared_module._code_sha256() == prepared_module._CODE_SHA256
    for name in ("request.py", "answer.py", "backends/embedded_backend.py"):
        source = (tmp_path / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(source + "\n# changed\n", encoding="utf-8")
        assert prepared_module._code_sha256() != prepared_module._CODE_SHA256
        (tmp_path / name).write_text(source, encoding="utf-8")


def test_what_changes_no_answer_renders_nothing(checkpoint: Checkpoint, rendered: list[str]) -> None:
    prepare("j", JUDGE, table(), PROMPTS, checkpoint)
    price = {"input_usd_per_million_tokens": 1.0, "output_usd_per_million_tokens": 2.0}
    changes = {"limits": {"max_tries": 9}, "price": price, "description": "x", "scope": {"splits": ["test"]}}
    rendered.clear()
    prepare("j", LitellmJudge(**JUDGE.model_dump(exclude_unset=True) | changes), table(), PROMPTS, checkpoint)
    assert len(rendered) <= render_memo._BLOCKS_TRIED_ANEW


def damaged(content: bytes, how: str) -> bytes:
    middle = len(content) // 2
    return {
        "first byte": bytes([content[0] ^ 1]) + content[1:],
        "middle byte": content[:middle] + bytes([content[middle] ^ 0x80]) + content[middle + 1 :],
        "last byte": content[:-1] + bytes([content[-1] ^ 1]),
        "cut": content[:-40],
        "empty": b"",
        "longer": content + b"\0" * 36,
        "zeros": b"\0" * len(content),
    }[how]


@pytest.mark.parametrize("how", ["first byte", "middle byte", "last byte", "cut", "empty", "longer", "zeros"])
def test_a_damaged_block_is_rendered_anew_and_mended(checkpoint: Checkpoint, rendered: list[str], how: str) -> None:
    plain = prepare("j", JUDGE, table(), PROMPTS, checkpoint)
    whole = blocks(checkpoint)
    key = sorted(whole)[0]
    put(checkpoint, whole | {key: damaged(whole[key], how)})
    assert same(prepare("j", JUDGE, table(), PROMPTS, checkpoint), plain)
    assert blocks(checkpoint) == whole


def test_a_block_that_is_no_blob_is_rendered_anew(tmp_path: Path) -> None:
    checkpoint = Checkpoint(f"sqlite:///{tmp_path / 'checkpoint.sqlite'}")  # which keeps any type in any column
    plain = prepare("j", JUDGE, table(), PROMPTS, checkpoint)
    for content in ("'text'", "7"):
        with checkpoint.writing() as connection:
            connection.exec_driver_sql(f"UPDATE rendered SET content = {content}")
        assert same(prepare("j", JUDGE, table(), PROMPTS, checkpoint), plain)
    checkpoint.close()


def test_blocks_that_are_swapped_are_no_blocks(checkpoint: Checkpoint) -> None:
    plain = prepare("j", JUDGE, table(), PROMPTS, checkpoint)
    whole = blocks(checkpoint)
    put(checkpoint, dict(zip(whole, [*list(whole.values())[1:], next(iter(whole.values()))], strict=True)))
    assert same(prepare("j", JUDGE, table(), PROMPTS, checkpoint), plain)


def forged(checkpoint: Checkpoint, table_: pd.DataFrame) -> None:
    """A memo of other hashes, each under the right key and seal: nothing that a key can tell is wrong with it."""
    rows = render_memo.Rows(table_)
    cut = render_memo._blocks(rows.columns["attempt_id"])
    identity = Rendering.of(JUDGE, PROMPTS).identity(JUDGE, rows[0])
    keys = render_memo._keys(rows, cut, f"1 {identity}")
    assert set(keys) == set(blocks(checkpoint))
    wrong = [render_memo.Rendered(([sha256(f"wrong {i}") for i in block],), [1] * len(block)) for block in cut]
    put(checkpoint, {key: render_memo._pack(key, made) for key, made in zip(keys, wrong, strict=True)})


def test_a_stale_memo_that_no_key_tells_is_found_out(checkpoint: Checkpoint) -> None:
    plain = prepare("j", JUDGE, table(), PROMPTS, checkpoint)
    forged(checkpoint, table())
    assert same(prepare("j", JUDGE, table(), PROMPTS, checkpoint), plain)
    assert same(prepare("j", JUDGE, table(), PROMPTS, checkpoint), plain)


def test_no_other_request_is_ever_sent_under_a_hash(checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare("j", JUDGE, table(), PROMPTS, checkpoint)
    forged(checkpoint, table())
    monkeypatch.setattr(render_memo, "_come_out_the_same", lambda *_: True)
    wrong = prepare("j", JUDGE, table(), PROMPTS, checkpoint)
    with pytest.raises(JudgingError, match=r"is not the one that was looked up .* table rendered"):
        wrong.task(wrong.hashes[0][3]).build()


def test_a_store_that_cannot_be_used_costs_the_memo_only(tmp_path: Path) -> None:
    (tmp_path / "checkpoint.sqlite").write_text("no database, " * 100)
    broken = Checkpoint(f"sqlite:///{tmp_path / 'checkpoint.sqlite'}")
    assert same(prepare("j", JUDGE, table(9), PROMPTS, broken), prepare("j", JUDGE, table(9), PROMPTS))


def test_nothing_of_it_is_left_where_somebody_withdraws(checkpoint: Checkpoint) -> None:
    prepared = prepare("j", JUDGE, table(), PROMPTS, checkpoint)
    assert blocks(checkpoint)
    forget_attempts(checkpoint.url, [prepared.attempt_ids[0]], {}, dry_run=True)
    assert blocks(checkpoint)
    forget_attempts(checkpoint.url, [prepared.attempt_ids[0]], {}, dry_run=False)
    assert not blocks(checkpoint)


texts = st.text(st.characters(exclude_categories=()), max_size=12)  # lone surrogates, too
row = st.fixed_dictionaries({
    "attempt_id": texts, "split": st.sampled_from(["train", "val", "test"]), "problem_id": texts,
    "language": st.none() | texts, "source_code": texts, "prompt_text": texts, "problem_statement": st.none() | texts,
    "context": st.sampled_from(["nonblind", "blind"]), "source_chars_cut": st.integers(0, 2**40),
    "prompt_chars_cut": st.integers(0, 9), "request_sha256": st.just("0" * 64),
})  # fmt: skip
tables = st.lists(row, max_size=30, unique_by=lambda r: r["attempt_id"])


@pytest.mark.slow
@pytest.mark.parametrize("store_kind", ["sqlite"])
@given(tables, st.randoms(use_true_random=False), st.integers(1, 3))
@example([], random.Random(0), 1)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_table_after_any_other_has_the_hashes_of_rendering(
    checkpoint: Checkpoint, rows: list[dict[str, Any]], rng: random.Random, repeats: int
) -> None:
    rows = [dict(each) for each in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(render_memo, "_ROWS_IN_BLOCK", 4)
        patch.setattr(render_memo, "_MOST_ROWS_IN_BLOCK", 7)
        judge = JUDGE.model_copy(update={"repeats": repeats})
        for _ in range(3):
            requests = JUDGE_REQUESTS.conform(rows)
            plain = prepare("j", judge, requests, PROMPTS)
            assert same(prepare("j", judge, requests, PROMPTS, checkpoint), plain)
            for changed in rng.sample(rows, len(rows) // 3):  # the next table is a little different
                changed["source_code"] = rng.choice(["", "x", changed["prompt_text"]])
            rows = rng.sample(rows, max(0, len(rows) - rng.randrange(3)))


@pytest.mark.slow
@given(tables, tables)
@settings(max_examples=30, deadline=None)
def test_different_rows_have_different_keys(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> None:
    def keys(rows: list[dict[str, Any]], identity: str) -> list[str]:
        columns = render_memo.Rows(JUDGE_REQUESTS.conform(rows))
        return render_memo._keys(columns, [range(len(rows))], identity)

    assert (keys(one, "i") == keys(other, "i")) == (one == other)
    assert keys(one, "i") == keys([dict(each) for each in one], "i")
    assert keys(one, "i") != keys(one, "j")


def test_values_that_no_form_is_of_become_none_in_the_key() -> None:
    missing = pd.DataFrame({"attempt_id": ["a"], "n": pd.array([None], dtype="Int64")})
    there = missing.assign(n=pd.array([0], dtype="Int64"))
    keys: Callable[[pd.DataFrame], list[str]] = lambda t: render_memo._keys(render_memo.Rows(t), [range(1)], "i")  # noqa: E731
    assert keys(missing) == keys(missing.copy()) != keys(there)
    assert render_memo.Rows(missing)[0] == {"attempt_id": "a", "n": None}
    assert np.array_equal(render_memo.Rows(there)[0]["n"], 0)


def test_an_identity_is_of_all_its_parts() -> None:
    rendering = Rendering.of(JUDGE, PROMPTS)
    first = render_memo.Rows(table(1))[0]
    plain = rendering.identity(JUDGE, first)
    other = dataclasses.replace(rendering, template=dataclasses.replace(rendering.template, sha256="0" * 64))
    assert other.identity(JUDGE, first) != plain
    assert rendering.identity(JUDGE.model_copy(update={"model": "openai/n"}), first) != plain
