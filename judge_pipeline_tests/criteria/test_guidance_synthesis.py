"""Guidance from records: what it says, what fits, what is left out; and that no validation pair has a part in it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.criteria.asking import PairsToJudge
from judge_pipeline.criteria.guidance import guidance_of_pairs
from judge_pipeline.criteria.guidance_file import content_sha256, file_name, file_text, leaked
from judge_pipeline.criteria.guidance_questions import GENERAL
from judge_pipeline.criteria.guidance_records import Record
from judge_pipeline.criteria.guidance_subset import fitting, record_tokens
from judge_pipeline.criteria.guidance_tables import NO_ROOM, guidance_table, records_table
from judge_pipeline.criteria.method import judge_pairs
from judge_pipeline.judging.money import CHARS_PER_TOKEN
from judge_pipeline.preference.pair_question import pair_rows, set_key
from judge_pipeline.settings.criteria import Configuration, GuidanceUse
from judge_pipeline_tests.criteria.made_guidance import (
    LIMITS,
    SHOWN,
    BlindJudge,
    MadeSet,
    Synthesizer,
    made_set,
    records_of,
    synthesized,
)
from judge_pipeline_tests.criteria.test_guidance_records import rendered


def test_guidance_names_what_the_judge_is_blind_to_in_general_and_by_category() -> None:
    judge, synthesizer = BlindJudge(), Synthesizer()
    found = synthesized(made_set(), judge, synthesizer)
    assert found.file is not None and not found.failures
    assert found.file.general.generator == "Weigh looks as a generator."
    assert [pattern.text for pattern in found.file.general.patterns] == ["People weigh looks."]
    # Two spellings are one category, under the first of equally common names; pairs without a category are in none.
    assert list(found.file.categories) == ["Web Design", "games"]
    assert found.file.categories["Web Design"].final_judge == "Weigh looks as a final_judge in Web Design."
    assert Counter(map(len, found.shown.values())) == {12: 1, 6: 1, 3: 1}
    ids = [row["request_id"] for _, name, row in synthesizer.log if name.startswith("guidance_") and "shown" in row]
    assert len(set(ids)) == 3 and all(id_.startswith(set_key("made") + "/guidance/") and len(id_) <= 64 for id_ in ids)


def test_the_blind_aspect_is_recovered_on_validation_pairs() -> None:
    made = made_set(n_train=20, n_val=40)
    guidance = synthesized(made, BlindJudge(), Synthesizer()).file
    assert guidance is not None
    val = made.texts.iloc[20:].reset_index(drop=True)
    labels = made.pairs["w"].iloc[20:].tolist()
    rows = pair_rows("made", val, made.splits, SHOWN)
    given_to = guidance_of_pairs(guidance, GuidanceUse(), dict(zip(val["pair_id"], val["category"], strict=True)))
    correct = {}
    for name, texts in (("without", {}), ("with", given_to)):
        judged = judge_pairs(Configuration(refinement="none"), PairsToJudge(rows, texts), BlindJudge())
        correct[name] = (judged.decisions["decision"] == pd.Series(labels)).sum()
    by_works = made.texts["response_a"].iloc[20:].str.extract(r"works=(\d)")[0].astype(int).to_numpy()
    by_works = by_works - made.texts["response_b"].iloc[20:].str.extract(r"works=(\d)")[0].astype(int).to_numpy()
    blind = ["A" if d > 0 else "B" if d < 0 else "tie" for d in by_works]
    assert correct["without"] == sum(a == b for a, b in zip(blind, labels, strict=True)) < 30
    assert correct["with"] == 40


# --- Leakage -----------------------------------------------------------------------------------------------------


ANYTHING = st.one_of(st.none(), st.text(max_size=10), st.just('{"correctness": "A"}'))


def poisoned(made: MadeSet, data: st.DataObject) -> MadeSet:
    """The set with anything at all in place of what is known of validation pairs; their splits alone stay."""
    val = made.splits.loc[made.splits["split"] == "val", "pair_id"].tolist()
    tables = {}
    for name, columns in {
        "pairs": ("votes", "aspects", "instruction", "category", "evidence_a", "model_a"),
        "texts": ("response_a", "response_b", "instruction", "category"),
    }.items():
        table = getattr(made, name).copy()
        is_val = table["pair_id"].isin(val)
        for column in columns:
            table.loc[is_val, column] = data.draw(st.lists(ANYTHING, min_size=len(val), max_size=len(val)))
        if name == "pairs":
            labels = st.lists(st.sampled_from(["A", "B", "tie"]), min_size=len(val), max_size=len(val))
            table.loc[is_val, "w"] = data.draw(labels)
        table = table.sample(frac=1, random_state=data.draw(st.integers(0, 99)))
        tables[name] = table[~table["pair_id"].isin(data.draw(st.sets(st.sampled_from(val))))].reset_index(drop=True)
    return replace(made, **tables)


def everything(made: MadeSet) -> tuple[str, list[str]]:
    """The bytes of the guidance, and all that anybody was asked."""
    judge, synthesizer = BlindJudge(), Synthesizer()
    file = synthesized(made, judge, synthesizer).file
    assert file is not None
    asked = [json.dumps([stage, name, row], default=str) for stage, name, row in judge.log + synthesizer.log]
    return file_text(file), sorted(asked)


CLEAN = everything(made_set(8, 6))


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.data())
def test_whatever_stands_in_validation_pairs_changes_no_byte_and_no_request(data: st.DataObject) -> None:
    assert everything(poisoned(made_set(8, 6), data)) == CLEAN


def test_training_labels_do_change_it() -> None:
    """The property above could fail: the same done to one training pair changes bytes and requests."""
    made = made_set(8, 6)
    made.pairs.loc[0, "w"] = "A" if made.pairs["w"].iloc[0] != "A" else "B"
    text, asked = everything(made)
    assert text != CLEAN[0] or asked != CLEAN[1]
    assert asked != CLEAN[1]


def test_pairs_that_are_judged_are_named_where_splits_have_changed() -> None:
    made = made_set(8, 6)
    file = synthesized(made, BlindJudge(), Synthesizer()).file
    assert file is not None and leaked(file, "made", made.splits) == []
    moved = made.splits.assign(split=["val", *made.splits["split"][1:]])
    assert leaked(file, "made", moved) == ["p00"]
    assert leaked(file, "made", made.splits.iloc[1:]) == ["p00"]
    shared = made.splits.assign(instruction_group=[*made.splits["instruction_group"][:13], "g03"])
    assert leaked(file, "made", shared) == ["p03"]
    other_ids = made.splits.assign(pair_id=[f"q{n}" for n in range(14)])
    assert leaked(file, "other", other_ids) == []
    assert leaked(file, "other", other_ids.assign(instruction_group="g05")) == ["p05"]
    edited = file.model_copy(
        update={"source": file.source.model_copy(update={"pairs": {"p08": "unknown"}})} if file.source else {}
    )
    assert leaked(edited, "made", made.splits) == ["p08"]


# --- What fits ---------------------------------------------------------------------------------------------------


def record(pair_id: str, category: str | None, chars: int) -> Record:
    return Record(pair_id, "g", category, "A", "r", "B", {}, "h", None, {}, "x" * chars, "", {})


RECORDS = st.lists(
    st.tuples(st.sampled_from(["web", "Web ", "games", None]), st.integers(0, 4000)), min_size=1, max_size=20
).map(lambda drawn: [record(f"p{n}", category, chars) for n, (category, chars) in enumerate(drawn)])


@given(RECORDS, st.integers(50, 5000), st.integers(0, 3), st.randoms())
def test_no_record_that_is_left_out_would_fit_and_order_is_of_no_matter(
    records: list[Record], tokens: int, seed: int, random: object
) -> None:
    taken = fitting(records, tokens, seed)
    left = tokens - sum(record_tokens(each) for each in taken)
    assert left >= 0 and len({each.pair_id for each in taken}) == len(taken)
    assert all(record_tokens(each) > left for each in records if each not in taken)
    shuffled = records.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fitting(shuffled, tokens, seed) == taken


def test_categories_are_shown_in_proportion_and_the_seed_decides_which() -> None:
    records = [record(f"p{n}", "web" if n % 4 else "games", 100) for n in range(80)]
    tokens = 20 * record_tokens(records[0])
    drawn = [fitting(records, tokens, seed) for seed in range(5)]
    assert all(Counter(each.category for each in taken) == {"web": 15, "games": 5} for taken in drawn)
    assert len({tuple(sorted(each.pair_id for each in taken)) for taken in drawn}) == 5


@pytest.mark.parametrize("tokens", [300, 700, 100_000])
def test_the_estimate_covers_what_the_prompt_holds(tokens: int) -> None:
    synthesizer = Synthesizer()
    records = records_of(made_set(), BlindJudge(), synthesizer)
    synthesized(made_set(), BlindJudge(), synthesizer, replace(LIMITS, tokens=tokens))
    row = next(row for _, name, row in synthesizer.log if name == GENERAL.name)
    bare = rendered(GENERAL, {**row, "shown": json.dumps({"records": [], "facts": []})})
    n = len(json.loads(row["shown"])["records"])
    assert len(rendered(GENERAL, row)) - len(bare) <= tokens * CHARS_PER_TOKEN
    assert n == len(fitting(records, tokens, LIMITS.seed)) and (n < 12) == (tokens < 100_000)


def test_what_does_not_fit_is_counted_and_recorded() -> None:
    synthesizer = Synthesizer()
    found = synthesized(made_set(), BlindJudge(), synthesizer, replace(LIMITS, tokens=700))
    records = records_of(made_set(), BlindJudge(), Synthesizer())
    assert found.file is not None and found.file.source is not None
    n_out = found.file.source.left_out["does not fit guidance_tokens"]
    assert n_out + len(found.file.source.pairs) == found.file.source.n_train == 12 and n_out > 0
    table = records_table([found], {"writer": records})
    assert (table["why_left_out"] == NO_ROOM).sum() == n_out
    assert set(table.loc[table["in_general"] | table["in_category"], "pair_id"]) == set(found.file.source.pairs)


def test_where_nothing_fits_or_nothing_is_there_nothing_is_asked_and_the_reason_is_said() -> None:
    synthesizer = Synthesizer()
    found = synthesized(made_set(), BlindJudge(), synthesizer, replace(LIMITS, tokens=10))
    assert found.file is None and "guidance_tokens (10)" in found.failures[None]
    assert set(synthesizer.calls) == {"human_rationales"}
    found = synthesized(made_set(0, 4), BlindJudge(), Synthesizer())
    assert found.file is None and "no pair of split train" in found.failures[None]
    assert guidance_table([found]).empty


def test_an_invalid_answer_leaves_out_its_part_with_the_reason() -> None:
    broken = Synthesizer(broken=lambda name, row: name == "guidance_category" and '"games"' in row["shown"])
    found = synthesized(made_set(), BlindJudge(), broken)
    assert found.file is not None and list(found.file.categories) == ["Web Design"]
    assert list(found.failures) == ["games"] and "invalid" in found.failures["games"]
    none = synthesized(made_set(), BlindJudge(), Synthesizer(broken=lambda name, _row: name == "guidance_general"))
    assert none.file is None and "invalid" in none.failures[None] and len(none.shown[None]) == 12


def test_the_table_holds_every_text_of_the_file() -> None:
    found = synthesized(made_set(), BlindJudge(), Synthesizer())
    assert found.file is not None
    table = guidance_table([found])
    assert table.groupby("category", dropna=False).size().tolist() == [4, 4, 4]
    assert set(table["file"]) == {file_name(found.file)} and set(table["content_sha256"]) == {
        content_sha256(found.file)
    }
    assert file_name(found.file).startswith("blind@writer-") and file_name(found.file).endswith(".yaml")
    assert table.loc[table["category"] == "games", "n_records"].tolist() == [3] * 4
