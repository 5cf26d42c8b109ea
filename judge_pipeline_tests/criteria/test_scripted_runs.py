"""Runs with a scripted judge over real connections: what each stage must mend is known, and comes out so exactly."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from judge_pipeline.cli.criteria_demo import JUDGE
from judge_pipeline.criteria.ablation_calls import not_as_formula
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.tables import JUDGMENTS
from judge_pipeline.lineage.basis import reconcile
from judge_pipeline.orchestration.tracing import Tracer
from judge_pipeline.settings.criteria import Configuration
from judge_pipeline.tables import PREFERENCE_SPLITS
from judge_pipeline.tables.criteria import (
    CHILD_ANSWERS,
    CHILD_VERDICTS,
    CONSISTENT_EVIDENCE,
    CRITERIA,
    CRITERIA_CALLS,
    CRITERIA_DECISIONS,
    CRITERION_ANSWERS,
    CRITERION_VERDICTS,
    REFINED_CRITERIA,
)
from judge_pipeline.tables.criteria_ablation import JudgedTables
from judge_pipeline.tables.guidance import GUIDANCE
from judge_pipeline_tests.criteria.scripted_house import (
    CONFIGURATIONS,
    SET,
    TALK,
    ScriptedHouse,
    made_pairs,
    script,
    scripted_house,
)
from judge_pipeline_tests.criteria.scripted_oracle import Expected, expected
from judge_pipeline_tests.killing import kill_group

pytestmark = pytest.mark.slow

BIAS = 0.2
N_PAIRS = 30


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedHouse]:
    """One run of every configuration, with a judge that is biased, noisy in one criterion, and blind to length."""
    with scripted_house(tmp_path_factory.mktemp("scripted"), script(BIAS, {TALK: 0.3}), N_PAIRS) as made:
        made.outcome = made.run(*CONFIGURATIONS)
        assert made.outcome.code == 0, made.printed.getvalue()
        yield made


@pytest.fixture(scope="module")
def judged(house: ScriptedHouse) -> dict[str, dict[str, Any]]:
    """pair_id -> row, of split val."""
    splits = house.read(PREFERENCE_SPLITS)
    val = set(splits.loc[splits["split"] == "val", "pair_id"])
    return {row["pair_id"]: row for row in made_pairs(N_PAIRS) if row["pair_id"] in val}


@pytest.fixture(scope="module")
def oracle(house: ScriptedHouse, judged: dict[str, dict[str, Any]]) -> dict[str, dict[str, Expected]]:
    """Configuration -> pair_id -> what must come of it."""
    return {
        name: {
            pair_id: expected(house.script, row["response_a"], row["response_b"], own, ("efficiency",))
            for pair_id, row in judged.items()
        }
        for name, own in CONFIGURATIONS.items()
    }


def test_every_configuration_decides_as_can_be_computed_from_the_script(
    house: ScriptedHouse, oracle: dict[str, dict[str, Expected]]
) -> None:
    for name, pairs in oracle.items():
        made = house.table(CRITERIA_DECISIONS, name).set_index("pair_id")["decision"].to_dict()
        assert made == {pair_id: own.decision for pair_id, own in pairs.items()}, name


def test_every_figure_is_traced_to_the_pairs_and_verdicts_that_it_counts(house: ScriptedHouse) -> None:
    tracer = Tracer(house.workspace, {})
    figures = tracer.figures([("preference_set", SET)], ["criteria_ablation", "criteria_aspects"])
    assert {figure.table for figure in figures} == {"criteria_ablation", "criteria_aspects"} and len(figures) > 200
    assert {"acc", "gain_over_monolithic", "criterion_skew_before", "removed_share", "n_calls"} <= {
        figure.row["figure"] for figure in figures
    }
    for figure in figures:
        basis = tracer.reach.basis(figure)
        assert basis.unlisted is None, (figure.id, basis.unlisted)
        assert reconcile(basis, figure.n, figure.n_left_out).problem is None, figure.id
    full = next(f for f in figures if f.row["figure"] == "acc" and f.row["configuration"] == "full")
    found = tracer.of_figure(full)
    assert found["judgments"] and all(judgment["kept"] for judgment in found["judgments"] if judgment["request_hash"])
    asked = [(one["subject"], one["request_hash"]) for one in found["judgments"] if one["request_hash"]]
    assert len(asked) == len(set(asked)), "each request once, with the criteria that it served"
    assert {file["path"] for file in found["files"]} == {"pairs.jsonl"}


def test_rows_of_the_ablation_differ_as_they_must(
    house: ScriptedHouse, oracle: dict[str, dict[str, Expected]], judged: dict[str, dict[str, Any]]
) -> None:
    right = {
        name: sum(own.decision == judged[pair_id]["w"] for pair_id, own in pairs.items())
        for name, pairs in oracle.items()
    }
    found = None if house.outcome is None else house.outcome.found
    assert found is not None
    for name, n in right.items():
        accuracy = found["configurations"][f"{JUDGE}@{name}"]["accuracy"]
        assert accuracy["value"] == pytest.approx(n / len(judged)) and accuracy["n"] == len(judged), name
    assert right["full"] > right["full-unguided"] > right["monolithic"]
    assert right["full-unguided"] > right["scf"] and right["full"] > right["final-guided"]
    decided = {name: tuple(own.decision for own in pairs.values()) for name, pairs in oracle.items()}
    assert len(set(decided.values())) == len(decided), "two rows decide alike"


def test_scf_keeps_what_is_the_same_in_both_orders_and_removes_the_skew(
    house: ScriptedHouse, oracle: dict[str, dict[str, Expected]]
) -> None:
    made = house.table(CONSISTENT_EVIDENCE, "full-unguided")
    for pair_id, own in oracle["full-unguided"].items():
        rows = made[made["pair_id"] == pair_id].set_index("text")
        assert {text: (row["verdict"], row["verdict_ba"]) for text, row in rows.iterrows()} == own.verdicts
        assert rows.index[rows["kept"].astype(bool)].tolist() == own.kept
    # Of a judge that says A of what stands first whatever it is, the verdicts that differ by order are A in order AB.
    biased = made[(made["verdict"] == "A") & (made["verdict_ba"] == "B")]
    assert len(biased) > 0.1 * len(made) and not biased["kept"].any()

    def skew(rows: Any) -> int:
        return int((rows["verdict"] == "A").sum() - (rows["verdict"] == "B").sum())

    kept = made[made["kept"].astype(bool)]
    honest = Counter(
        script().verdict(row["response_a"], row["response_b"], text)
        for row in made_pairs(N_PAIRS) if row["pair_id"] in oracle["full-unguided"]
        for text in oracle["full-unguided"][row["pair_id"]].kept
    )  # fmt: skip
    assert skew(made) - skew(kept) >= len(biased) - 2 and skew(made) > skew(kept)
    assert abs(skew(kept) - (honest["A"] - honest["B"])) <= 2  # noise that came out the same twice


def test_btcr_makes_exactly_the_calls_of_the_formula(
    house: ScriptedHouse, oracle: dict[str, dict[str, Expected]]
) -> None:
    for name, pairs in oracle.items():
        calls = house.table(CRITERIA_CALLS, name).set_index("stage")
        total: Counter[str] = Counter()
        for own in pairs.values():
            total.update(own.calls)
        assert calls["n_requests"].to_dict() == {stage: n for stage, n in total.items() if n}, name
        assert (calls["n_calls"] == calls["n_requests"]).all() and not calls["n_invalid"].any(), name
    tables = {
        table.name: house.table(table, "full")
        for table in (CRITERIA_DECISIONS, CRITERIA_CALLS, CRITERIA, CRITERION_VERDICTS, CHILD_VERDICTS,
                      CRITERION_ANSWERS, CHILD_ANSWERS, REFINED_CRITERIA, CONSISTENT_EVIDENCE)
    }  # fmt: skip
    formula = not_as_formula(JudgedTables(JUDGE, "full", **tables), Configuration(**CONFIGURATIONS["full"]))
    assert formula == []


def test_what_configurations_have_in_common_is_asked_once_and_a_second_run_asks_nothing(house: ScriptedHouse) -> None:
    n = len(house.server.bodies)
    bodies = [json.dumps(body, sort_keys=True) for body in house.server.bodies]
    assert len(set(bodies)) == n
    assert house.run("full", "pairwise").code == 0 and len(house.server.bodies) == n
    outcome = house.run("full", dry_run=True)
    assert outcome.found is not None and outcome.found["plans"][0]["n_to_ask"] == 0


def test_guidance_names_the_blind_aspect(house: ScriptedHouse) -> None:
    texts = house.read(GUIDANCE, JUDGE)["text"].tolist()
    assert texts and all("efficiency" in text for text in texts)
    shown = [body for body in house.server.bodies if "People weigh efficiency" in str(body["messages"])]
    assert shown
    of_full = house.table(CRITERIA, "full")
    assert (of_full["aspect"] == "efficiency").any()
    assert not (house.table(CRITERIA, "full-unguided")["aspect"] == "efficiency").any()


def test_empty_tables_say_that_the_configuration_has_no_such_stage(house: ScriptedHouse) -> None:
    for table in (CRITERIA, CRITERION_VERDICTS, REFINED_CRITERIA, CONSISTENT_EVIDENCE):
        assert house.table(table, "monolithic").empty
    assert house.table(CHILD_VERDICTS, "scf").empty and house.table(CRITERION_ANSWERS, "full").empty


def test_poisoned_validation_labels_change_no_guidance_byte_and_no_request(tmp_path: Path) -> None:
    found = []
    for poisoned in (False, True):
        with scripted_house(tmp_path / str(poisoned), script(BIAS), 12) as house:
            if poisoned:
                train = set(found[0][2])
                turned = {"A": "B", "B": "A", "tie": "A"}
                house.write_pairs([
                    row if row["pair_id"] in train else row | {"w": turned[row["w"]]} for row in made_pairs(12)
                ])  # fmt: skip
            assert house.run("full").code == 0
            splits = house.read(PREFERENCE_SPLITS)
            files = sorted((house.workspace.out_dir / "guidance").rglob("*.yaml"))
            found.append((
                [file.read_bytes() for file in files],
                sorted(json.dumps(body["messages"]) for body in house.server.bodies),
                splits.loc[splits["split"] == "train", "pair_id"].tolist(),
            ))  # fmt: skip
    assert found[0][0] and found[0] == found[1]


def test_a_provider_that_fails_stops_the_partition_names_pairs_and_the_rest_is_kept(tmp_path: Path) -> None:
    own = script()
    broken = True

    def answer(body: Any) -> str:
        if broken and "Task 5" in str(body["messages"]) and "verdict" in str(body["response_format"]):
            raise ValueError("no")
        return own.answer(body)

    with scripted_house(tmp_path, own, 8, answer) as house:
        outcome = house.run("scf", "monolithic")
        assert outcome.code == 1 and outcome.found is not None
        why = outcome.found["failed"][f"{JUDGE}@scf"]
        assert "2 of " in why and "of 1 pairs (p05)" in why and "rejected" in why and "What was answered is kept" in why
        assert len(house.table(CRITERIA_DECISIONS, "monolithic")) and len(house.table(CRITERIA, "scf"))
        n, broken = len(house.server.bodies), False
        assert house.run("scf", "monolithic").code == 0
        left = house.server.bodies[n:]
        assert Counter(house.kinds[n:]) == {"verdicts": 2, "decision": len(house.table(CRITERIA_DECISIONS, "scf"))}
        assert sum("Task 5" in str(body["messages"]) for body in left) == 3


_COMMAND = """
import sys
from judge_pipeline.cli.criteria_run import CriteriaRun, run_by_criteria
from judge_pipeline.settings import Workspace
from pathlib import Path
from rich.console import Console
home, folder = Path(sys.argv[1]), Path(sys.argv[2])
workspace = Workspace(home / "assets_config", home / "data", home)
run_by_criteria(workspace, folder, CriteriaRun({"scripted-judge": ["full"]}), Console())
"""


def test_after_a_kill_no_stored_answer_is_asked_again(tmp_path: Path) -> None:
    own = script(BIAS)

    def slow(body: Any) -> str:
        time.sleep(0.03)
        return own.answer(body)

    with scripted_house(tmp_path, own, 24, slow) as house:
        command = [sys.executable, "-c", _COMMAND, str(tmp_path), str(house.folder)]
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        _wait(lambda: house.kinds.count("verdicts") > 10 or run.poll() is not None)
        kill_group(run.pid)
        run.wait()
        n = len(house.server.bodies)
        with (
            closing(Checkpoint(house.workspace.checkpoint_url)) as checkpoint,
            checkpoint.reading() as connection,
        ):
            n_stored = connection.execute(sa.select(sa.func.count()).select_from(JUDGMENTS)).scalar_one()
        assert 0 < n_stored <= n
        assert house.run("full").code == 0
        asked = [json.dumps(body, sort_keys=True) for body in house.server.bodies]
        assert len(asked) - n == len(set(asked)) - n_stored  # exactly what was not stored
        assert len(house.table(CRITERIA_DECISIONS, "full"))


def _wait(until: Any) -> None:
    end = time.monotonic() + 120
    while not until():
        assert time.monotonic() < end, "nothing came"
        time.sleep(0.02)
