"""criteria.yaml: every row of the paper's tables, the stages that each row names, and each over a scripted judge."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judge_pipeline.criteria.asking import PairsToJudge
from judge_pipeline.criteria.baseline_questions import BASELINE_QUESTIONS
from judge_pipeline.criteria.method import Judged, judge_pairs
from judge_pipeline.criteria.questions import QUESTIONS
from judge_pipeline.judging.prepared import prepare
from judge_pipeline.settings import LitellmJudge
from judge_pipeline.settings.criteria import Configuration, CriteriaFile
from judge_pipeline.settings.judges import JudgesFile
from judge_pipeline.settings.workspace import packaged_config_dir
from judge_pipeline.settings.yaml_file import SettingsError, load
from judge_pipeline.tables.criteria import CRITERIA_DECISIONS, STAGES
from judge_pipeline_tests.criteria.baseline_judge import BaselineJudge
from judge_pipeline_tests.criteria.scripted_judge import FLIPPED, pairs_of

CONFIGURATIONS = load(CriteriaFile, packaged_config_dir() / "criteria.yaml").configurations

PROMPTS = packaged_config_dir() / "prompts"
LITELLM = LitellmJudge(backend="litellm", model="openai/m", base_url="http://127.0.0.1:1/v1")
BY_NAME = {question.name.removeprefix("criteria_"): question for question in (*QUESTIONS, *BASELINE_QUESTIONS)}

GUIDED = {
    "generator": ("generation", "improvement"),
    "criterion_judge": ("pairwise_verdicts", "child_verdicts", "pointwise_answers", "child_answers"),
    "final_judge": ("final", "monolithic"),
}

PAIR = ({"x": 3, "y": 3, "z": 1, "y1": 3, "y2": 1}, {"x": 1, "y": 3, "z": 1, "y1": 1, "y2": 1})
"""Pairwise: x is A's, y and z are ties; of y's children y1 is A's and y2 a tie. Pointwise: y is met by both, of its
children y1 by A alone and y2 by neither; z is met by neither."""

MONOLITHIC = {"monolithic": 1}
LLM_RUBRICS = {"generation": 1, "pointwise_answers": 2}
POINTWISE_RRD = LLM_RUBRICS | {"decomposition": 1, "redundancy": 2, "conflict": 2, "child_answers": 2}
PAIRWISE_RRD = {
    "generation": 1, "pairwise_verdicts": 1, "decomposition": 3, "redundancy": 2, "conflict": 2, "child_verdicts": 1,
    "final": 1,
}  # fmt: skip
BTCR = PAIRWISE_RRD | {"decomposition": 2, "redundancy": 1, "conflict": 1}
FULL = BTCR | {"pairwise_verdicts": 2, "child_verdicts": 2}
EVERY_STAGE = ("generator", "criterion_judge", "final_judge")
WEIGHED, JUDGED = {"weights": 1}, {"final": 1}

ROWS: list[tuple[str, list[str], dict[str, int], tuple[str, ...]]] = [
    ("monolithic", ["1", "2", "3a", "4", "5", "8"], MONOLITHIC, ()),
    ("monolithic-global", ["3a"], MONOLITHIC, ("final_judge",)),
    ("monolithic-guided", ["3a"], MONOLITHIC, ("final_judge",)),
    ("monolithic-transfer", ["8"], MONOLITHIC, ("final_judge",)),
    ("rubric-is-all-you-need", ["1"], LLM_RUBRICS, ()),
    ("chasing-the-tail", ["1"], LLM_RUBRICS | {"improvement": 1}, ()),
    ("llm-rubrics-uniform", ["5"], LLM_RUBRICS, ()),
    ("llm-rubrics-weights", ["5"], LLM_RUBRICS | WEIGHED, ()),
    ("llm-rubrics-judge", ["1", "5"], LLM_RUBRICS | JUDGED, ()),
    ("rrd-uniform", ["1", "5"], POINTWISE_RRD, ()),
    ("rrd-weights", ["1", "2", "5", "8"], POINTWISE_RRD | WEIGHED, ()),
    ("rrd-transfer", ["8"], POINTWISE_RRD | WEIGHED, ("generator", "criterion_judge")),
    ("rrd-judge", ["5"], POINTWISE_RRD | JUDGED, ()),
    ("rrd-code-uniform", ["5"], POINTWISE_RRD, ()),
    ("rrd-code-weights", ["5"], POINTWISE_RRD | WEIGHED, ()),
    ("rrd-code-judge", ["5"], POINTWISE_RRD | JUDGED, ()),
    ("pairwise-rrd", ["2", "5"], PAIRWISE_RRD, ()),
    ("btcr", ["2"], BTCR, ()),
    ("btcr-global", ["2"], BTCR, EVERY_STAGE),
    ("full-global", ["2", "3a"], FULL, EVERY_STAGE),
    ("full-empty-category", ["3a"], FULL, EVERY_STAGE),
    ("full-unguided", ["3b", "8"], FULL, ()),
    ("full-guided-generator", ["3b"], FULL, ("generator",)),
    ("full-guided-criterion-judge", ["3b"], FULL, ("criterion_judge",)),
    ("full-guided-both", ["3b"], FULL, ("generator", "criterion_judge")),
    ("full-self", ["4"], FULL, EVERY_STAGE),
    ("full-plain-loop", ["7"], PAIRWISE_RRD | {"pairwise_verdicts": 2, "child_verdicts": 2}, EVERY_STAGE),
    ("full", ["1", "2", "3a", "3b", "4", "5", "6", "7"], FULL, EVERY_STAGE),
    ("full-transfer", ["8"], FULL, EVERY_STAGE),
    ("full-one-by-one", [], FULL | {"pairwise_verdicts": 6, "child_verdicts": 4}, EVERY_STAGE),
    ("full-ready-made", [], FULL, EVERY_STAGE),
]
"""Configuration, the tables of the paper in which it stands, calls per stage on ``PAIR``, stages that show guidance."""


def scripted() -> BaselineJudge:
    return BaselineJudge(criteria=["x", "y", "z"], children={"y": ["y1", "y2"]}, weights={"x": 3, "y": 2, "y1": 2})


def judged(name: str, pairs: PairsToJudge, judge: BaselineJudge) -> Judged:
    """A configuration, its stages guided as it says, by texts that differ where their sources do."""
    use = CONFIGURATIONS[name].guidance
    ids = pairs.in_order("AB")["pair_id"]
    source = use.model_dump_json(exclude={"stages"}) if use else ""
    guidance = {stage: dict.fromkeys(ids, f"for {stage} {source}") for stage in (use.stages if use else ())}
    return judge_pairs(CONFIGURATIONS[name], PairsToJudge(pairs.rows, guidance), judge)


def test_there_is_a_row_for_every_configuration_and_each_table_of_the_paper_has_all_its_rows() -> None:
    assert [name for name, *_ in ROWS] == list(CONFIGURATIONS)
    tables: dict[str, int] = {}
    for name, expected, *_ in ROWS:
        found = [written.split(":")[0] for written in CONFIGURATIONS[name].paper_rows]
        assert found == expected, name
        for table in found:
            tables[table] = tables.get(table, 0) + 1
    # Table 4 has three rows for each of three judges, Table 6 is read off one run, Table 7 has two ways.
    assert tables == {"1": 7, "2": 7, "3a": 6, "3b": 5, "4": 3, "5": 12, "6": 1, "7": 2, "8": 6}
    assert all(configuration.description for configuration in CONFIGURATIONS.values())


@pytest.mark.parametrize(("name", "tables", "calls", "guided"), ROWS, ids=[row[0] for row in ROWS])
def test_a_row_has_exactly_the_stages_that_the_paper_names(
    name: str, tables: list[str], calls: dict[str, int], guided: tuple[str, ...]
) -> None:
    judge = scripted()
    made = judged(name, pairs_of(PAIR), judge)
    assert judge.calls == calls and set(calls) <= set(STAGES)
    shown = {stage for stage, _, row in judge.log if row.get("guidance") is not None}
    assert shown == {stage for part in guided for stage in GUIDED[part] if stage in calls}
    for part in guided:
        assert all(row["guidance"].startswith(f"for {part} ") for s in GUIDED[part] for row in judge.asked(s))
    wordings = {row["wording"] for _, _, row in judge.log}
    general = name in ("chasing-the-tail", "rrd-uniform", "rrd-weights", "rrd-judge", "rrd-transfer")
    assert wordings == {"general" if general or name.startswith("llm-rubrics") else "code"}
    decided = made.decisions.iloc[0]
    assert decided["decision"] == "A", "y1 and x are A's, and nothing is B's"
    assert decided["decided_by"] == ("judge" if {"final", "monolithic"} & set(calls) else "weighted_sum")


SUMS = {
    "rubric-is-all-you-need": (2, 1), "llm-rubrics-uniform": (2, 1),  # x, y against y
    "chasing-the-tail": (5, 2), "llm-rubrics-weights": (5, 2),  # 3 + 2 against 2
    "rrd-uniform": (2, 0), "rrd-code-uniform": (2, 0),  # x, y1 against none
    "rrd-weights": (5, 0), "rrd-code-weights": (5, 0), "rrd-transfer": (5, 0),  # 3 + 2
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(SUMS))
def test_sums_of_the_pair_are_those_by_hand(name: str) -> None:
    decided = judged(name, pairs_of(PAIR), scripted()).decisions.iloc[0]
    assert (decided["score_a"], decided["score_b"]) == SUMS[name]


@cache
def some_pairs() -> list[Any]:
    draw = random.Random(7)
    names = ["x", "y", "z", "y1", "y2"]
    return [tuple({name: draw.randint(1, 3) for name in names} for _ in range(2)) for _ in range(8)]


def one_of_each_kind() -> list[str]:
    """All with a pointwise judge, and of the others one of those that differ in guidance and wording alone."""
    plain = {"description": "", "paper_rows": (), "guidance": None, "prompts": "code"}
    kinds = {c.model_copy(update=plain).model_dump_json(): name for name, c in CONFIGURATIONS.items()}
    pointwise = [name for name, c in CONFIGURATIONS.items() if c.criterion_judge == "pointwise"]
    return [*dict.fromkeys([*pointwise, *kinds.values()])]


@pytest.mark.slow
@pytest.mark.parametrize("name", one_of_each_kind())
def test_responses_that_change_places_mirror_every_decision(name: str) -> None:
    """Of a judge that is consistent in order; what it says of one response alone, it says of it in either place."""
    there, back = scripted(), scripted()
    one = judged(name, pairs_of(*some_pairs()), there)
    other = judged(name, pairs_of(*((b, a) for a, b in some_pairs())), back)
    pd.testing.assert_frame_equal(CRITERIA_DECISIONS.conform(one.decisions), one.decisions)
    assert one.decisions["decision"].tolist() == [FLIPPED[decision] for decision in other.decisions["decision"]]
    assert len(set(one.decisions["decision"])) >= 2, "the pairs must tell configurations from constants"
    assert one.decisions["score_a"].equals(other.decisions["score_b"])
    columns = ["pair_id", "first", "criteria", "guidance", "wording", "evidence_first"]
    for stage in ("pointwise_answers", "child_answers"):
        asked = [sorted(str([row[name] for name in columns]) for row in judge.asked(stage)) for judge in (there, back)]
        assert asked[0] == asked[1]


def test_run_names_configurations_and_judges_that_there_are() -> None:
    read = load(CriteriaFile, packaged_config_dir() / "criteria.yaml")
    judges = load(JudgesFile, packaged_config_dir() / "judges.yaml")
    synthesizers = {c.guidance.synthesizer for c in CONFIGURATIONS.values() if c.guidance} - {None}
    assert {*read.run, *synthesizers} <= set(judges.names("criteria")) and synthesizers
    files = {c.guidance.file for c in CONFIGURATIONS.values() if c.guidance and c.guidance.file}
    assert all((packaged_config_dir() / "guidance" / str(name)).is_file() for name in files)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("aggregator: own_weights", "criteria.yaml, line 2, key configurations.a: aggregator: own_weights needs"),
        ("refinemnt: none", "line 3, key configurations.a.refinemnt: is not a setting"),
        ("rounds: 9", "line 3, key configurations.a.rounds: .*less than or equal to 5"),
        ("{generator: none, improve: true}", "leaves no criteria to improve"),
        (
            "{generator: weighted, criterion_judge: pointwise, refinement: rrd, aggregator: own_weights}",
            "refinement: none",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_its_line_and_the_remedy(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "criteria.yaml"
    file.write_text(f"configurations:\n  a:\n    {line}\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=message):
        load(CriteriaFile, file)


def test_a_configuration_that_a_run_names_must_be_there() -> None:
    with pytest.raises(ValueError, match="run: j: b is not under configurations"):
        CriteriaFile(configurations={"a": Configuration()}, run={"j": ("b",)})


def hashes_of(judge: BaselineJudge) -> set[str]:
    """The identities of all requests that a judge was asked."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for _, question, row in judge.log:
        rows.setdefault(question, []).append(row)
    made = (prepare("j", LITELLM, pd.DataFrame(of), PROMPTS, None, BY_NAME[name]) for name, of in rows.items())
    return {hash_ for each in made for hash_ in each.hashes[0]}


FURTHER = [
    ("llm-rubrics-weights", "llm-rubrics-uniform", 1), ("llm-rubrics-judge", "llm-rubrics-uniform", 1),
    ("rrd-uniform", "llm-rubrics-uniform", 7), ("rrd-weights", "rrd-uniform", 1), ("rrd-judge", "rrd-uniform", 1),
    ("rrd-code-uniform", "pairwise-rrd", 5),  # not the criteria, nor the checks of the same children
    ("full-unguided", "btcr", 2),  # order BA
    ("full-self", "full", 6), ("full-guided-both", "full", 1), ("full-plain-loop", "full", 6),
]  # fmt: skip
"""Configuration, another, and how many requests on ``PAIR`` the first makes that the other does not."""


@pytest.mark.slow
def test_what_configurations_have_in_common_is_one_request() -> None:
    asked: dict[str, set[str]] = {}
    for name in sorted({name for *names, _ in FURTHER for name in names}):
        judge = scripted()
        judged(name, pairs_of(PAIR), judge)
        asked[name] = hashes_of(judge)
        assert len(asked[name]) == len(judge.log), f"{name} asks nothing twice"
    assert [(name, over, len(asked[name] - asked[over])) for name, over, _ in FURTHER] == FURTHER
