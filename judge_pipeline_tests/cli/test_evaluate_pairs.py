from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from judge_pipeline import PairError, evaluate_pairs, read_pair_decisions
from judge_pipeline.cli.evaluate import evaluate
from judge_pipeline.cli.pair_evaluation import pairs_as_json

ESTIMATE = {"value", "n", "n_left_out", "ci95", "reason"}
SHARES = {"acc", "acc_pc", "gap", "consistent_share", "choice_share", "valid_share", "first_slot_share"}
HEADER = "pair_id,judge,label,decision_ab,decision_ba\n"
FILE = HEADER + "".join(
    f"p{i},{judge},{'AB'[i % 2]},{ab},{ba}\n"
    for judge, answers in {
        "steady": ["AA", "BB", "AA", "BB", "BB", "BB"],
        "first": ["AB", "AB", "AB", "AB", "AB", "AB"],
        "mixed": ["AA", "B ", "  ", "tt", "AB", "BB"],
    }.items()
    for i, (ab, ba) in enumerate((a.replace("t", "tie"), b.replace("t", "tie")) for a, b in answers)
)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(evaluate, ["pairs", *arguments], env={"COLUMNS": "120"})


def figures(path: Path, *options: str) -> dict[str, Any]:
    result = run(str(path), "--json", "--resamples", "50", *options)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"{name} is not strict JSON"))
    made_from = found.pop("provenance")
    assert made_from["inputs"] == {
        "file": {"source": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    }
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "decisions.csv"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_the_shape_of_the_json_and_its_fractions(file: Path) -> None:
    found = figures(file)
    assert found["rule"] == "trace"
    assert list(found["judges"]) == ["steady", "first", "mixed"]
    for of_judge in found["judges"].values():
        assert set(of_judge) == SHARES
        assert all(set(estimate) - {"p_value", "p_holm"} == ESTIMATE for estimate in of_judge.values())
    values = {judge: {name: of[name]["value"] for name in of} for judge, of in found["judges"].items()}
    assert values["steady"]["acc"] == values["steady"]["acc_pc"] == pytest.approx(5 / 6)
    assert values["steady"]["first_slot_share"] == 0.5
    assert values["first"] == {
        "acc": 0, "acc_pc": None, "gap": None, "consistent_share": 0, "choice_share": 0, "valid_share": 1,
        "first_slot_share": 1,
    }  # fmt: skip
    assert values["mixed"]["acc"] == pytest.approx(2 / 6)
    assert values["mixed"]["acc_pc"] == 1.0
    assert values["mixed"]["consistent_share"] == pytest.approx(3 / 6)
    assert values["mixed"]["choice_share"] == pytest.approx(2 / 6)
    assert values["mixed"]["valid_share"] == pytest.approx(4 / 6)
    assert found["judges"]["first"]["acc_pc"]["reason"].startswith("no choice is valid")
    assert found["floors"]["always A"]["acc"]["value"] == 0.5
    assert set(found["differences"]) == {"acc", "acc_pc", "consistent_share"}
    assert set(found["differences"]["acc"]) == {"steady|first", "steady|mixed", "first|mixed"}
    assert set(found["agreement"]) == {"raw_agreement", "cohen", "krippendorff"}


def test_another_rule_is_stated_and_one_order_has_no_shares_of_two(file: Path, tmp_path: Path) -> None:
    one = tmp_path / "one.csv"
    pd.read_csv(file, dtype=str).drop(columns="decision_ba").to_csv(one, index=False)
    for rule in ("trace", "exact", "judgebench", "pandalm", "bigcodereward"):
        found = figures(one, "--rule", rule)
        assert found["rule"] == rule
        assert found["judges"]["first"]["acc"]["value"] == 0.5
        for name in SHARES - {"acc"}:
            assert found["judges"]["first"][name]["value"] is None and found["judges"]["first"][name]["reason"]


def test_every_format_gives_the_same(file: Path, tmp_path: Path) -> None:
    table = pd.read_csv(file, dtype=str)
    table = (
        table.apply(lambda column: column.str.strip().replace("", None)).astype(object).where(lambda t: t.notna(), None)
    )
    table["category"], table["length_a"], table["length_b"] = "x", 3, 4
    table.to_parquet(tmp_path / "d.parquet")
    table.to_json(tmp_path / "d.jsonl", orient="records", lines=True)
    table.to_csv(tmp_path / "d.csv", index=False)
    table.to_csv(tmp_path / "d.tsv", index=False, sep="\t")
    found = [figures(tmp_path / name) for name in ("d.csv", "d.tsv", "d.jsonl", "d.parquet")]
    assert all(one == found[0] for one in found)
    assert found[0]["judges"].keys() == found[0]["categories"].keys()
    assert set(found[0]["judges"]["steady"]) == SHARES | {"longer_share", "length_bias"}


def test_words_of_choices_are_read_in_any_case_and_both_bad_is_a_tie(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(HEADER + "p,j,a,A,a\nq,j,both_bad,TIE,Tie\n", encoding="utf-8")
    found = figures(path, "--rule", "exact")["judges"]["j"]
    assert (found["acc"]["value"], found["acc"]["n"]) == (1.0, 2)


def test_the_tables_name_every_figure_and_the_rule(file: Path) -> None:
    result = run(str(file), "--resamples", "50")
    assert result.exit_code == 0
    for words in ("Acc_PC", "Consistent share", "First-slot share", "Floors", "Rule trace: right is", "Notes"):
        assert words in result.stdout
    only = run(str(file), "--resamples", "50", "--section", "floors").stdout
    assert "always A" in only and "steady" not in only


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pair_id,judge,label\np,j,A\n", "row 1 (line 2) has no decision_ab"),
        (HEADER, "it holds no row"),
        (HEADER + "p,j,A,A,A\nq,j,C,A,A\n", "row 2 (line 3): label is 'C', which is no choice. Remedy: give A, B"),
        (HEADER + "p,j,A,first,A\n", "row 1 (line 2): decision_ab is 'first'"),
        (HEADER + "p,j,,A,A\n", "row 1 (line 2): label is blank. Remedy"),
        (HEADER + ",j,A,A,A\n", "row 1 (line 2): pair_id is blank"),
        (HEADER + "p,j,A,A,A\np,j,A,A,A\n", "row 2 (line 3): judge 'j' has pair 'p' a second time"),
        (HEADER + "p,j,A,A,A\np,k,B,A,A\n", "row 2 (line 3): label of pair 'p' is 'B'"),
        (HEADER + "p,j|k,A,A,A\n", "'j|k' holds a bar"),
        (HEADER.strip() + ",length_a\np,j,A,A,A,long\n", "length_a is 'long', which is no length"),
    ],
)  # fmt: skip
def test_what_cannot_be_right_ends_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "d.csv"
    path.write_text(text, encoding="utf-8")
    result = run(str(path), "--json")
    assert result.exit_code == 1
    assert message in result.output and "d.csv" in result.output and "Remedy" in result.output


def test_json_lines_that_state_the_second_order_now_and_then_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    rows = [{"pair_id": "p", "judge": "j", "label": "A", "decision_ab": "A"}]
    rows.append({"pair_id": "q", "judge": "j", "label": "A", "decision_ab": "A", "decision_ba": "A"})
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    result = run(str(path))
    assert result.exit_code == 1 and "row 2 (line 2) has decision_ba, unlike the rows before" in result.output


def test_the_python_api_gives_the_figures_of_the_command_line(file: Path) -> None:
    decisions = read_pair_decisions(file)
    for rule in ("trace", "judgebench"):
        table = evaluate_pairs(decisions, rule=rule, n_resamples=50)
        assert pairs_as_json(table, rule) == figures(file, "--rule", rule)
    with pytest.raises(PairError, match=r"row 1 \(line 2\): label is 'C'"):
        evaluate_pairs(decisions.assign(label="C"))
    with pytest.raises(ValueError, match="does not end in"):
        read_pair_decisions("decisions.xlsx")


def test_a_wrong_command_is_told_from_wrong_data(file: Path, tmp_path: Path) -> None:
    assert run(str(file), "--rule", "loose").exit_code == 2
    other = tmp_path / "d.xlsx"
    other.write_bytes(b"")
    assert run(str(other)).exit_code == 2


@pytest.mark.slow
def test_reading_takes_as_much_longer_as_there_are_more_rows(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    path.write_text(HEADER + "".join(f"p{i},j,A,A,B\n" for i in range(60_000)), encoding="utf-8")
    began = time.process_time()
    assert len(read_pair_decisions(path)) == 60_000
    assert time.process_time() - began < 10  # a list of all rows made anew for every cell took a minute
