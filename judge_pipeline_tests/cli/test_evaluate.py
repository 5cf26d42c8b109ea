from __future__ import annotations

import csv
import hashlib
import json
import math
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from judge_pipeline.cli.evaluate import evaluate
from judge_pipeline.cocreation.judge_figures import METRICS
from judge_pipeline_tests.cocreation import paper_items, scored_judges

ESTIMATE = {"value", "n", "n_left_out", "ci95", "reason"}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(evaluate, ["attempts", *arguments])


def figures(path: Path, *options: str) -> dict[str, Any]:
    result = run(str(path), "--json", "--resamples", "50", *options)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"{name} is not strict JSON"))
    assert found.pop("provenance")["inputs"] == {
        "file": {"source": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    }
    return found


@pytest.fixture
def paper_file(tmp_path: Path) -> Path:
    path = tmp_path / "items.csv"
    paper_items.predictions().rename(columns={"problem_id": "problem"}).to_csv(path, index=False)
    return path


def test_the_36_items_give_the_figures_of_the_paper(paper_file: Path) -> None:
    found = figures(paper_file)
    assert {j: round(of["mcc_test"]["value"], 5) for j, of in found["judges"].items()} == paper_items.MCC
    assert {j: of["threshold"]["value"] for j, of in found["judges"].items()} == paper_items.THRESHOLDS
    agreement = found["agreement"]
    cohen = {tuple(pair.split("|")): round(of["value"], 5) for pair, of in agreement["cohen"].items()}
    assert cohen == paper_items.COHEN
    assert round(agreement["mean_cohen"]["value"], 5) == paper_items.MEAN_COHEN
    assert round(agreement["fleiss"]["value"], 5) == paper_items.FLEISS
    means = {judge: round(of["value"], 5) for judge, of in agreement["judge_mean_cohen"].items()}
    assert means == paper_items.JUDGE_MEAN_COHEN


def test_the_shape_of_the_json(paper_file: Path) -> None:
    found = figures(paper_file)
    assert list(found)[:3] == ["judges", "agreement", "agreement_on"]
    assert list(found["judges"]) == ["Claude", "DeepSeek", "Gemini", "OpenAI"]
    for of_judge in found["judges"].values():
        assert list(of_judge) == [*METRICS]
        assert all(set(estimate) == ESTIMATE for estimate in of_judge.values())
    agreement = found["agreement"]
    assert list(agreement["cohen"])[:2] == ["Claude|DeepSeek", "Claude|Gemini"]
    for single in ("mean_cohen", "fleiss", "raw_agreement"):
        assert set(agreement[single]) == ESTIMATE
    low, high = found["judges"]["OpenAI"]["mcc_test"]["ci95"]
    assert low < 0.07559 < high


@pytest.mark.slow
def test_agreement_on_decisions_and_on_probabilities_and_on_scores_where_there_are_any(
    paper_file: Path, tmp_path: Path
) -> None:
    found = figures(paper_file)["agreement_on"]
    assert list(found) == ["decision", "p_ac"]
    assert found["decision"]["cohen"]["pairs"] == figures(paper_file)["agreement"]["cohen"]
    gwet = found["decision"]["gwet_ac1"]
    assert set(gwet["judges"]) == {"Claude", "DeepSeek", "Gemini", "OpenAI"}
    assert all(set(estimate) == ESTIMATE for estimate in (gwet["panel"], *gwet["pairs"].values()))
    accepted = sum(count for pattern, count in paper_items.PATTERNS.items() if pattern[1] == "1")
    assert found["decision"]["prevalence"]["judges"]["Claude"]["value"] == accepted / 36
    scored = paper_items.predictions().assign(s_algo=lambda frame: 1 + (frame.index // 4) % 5, s_robust="")
    scored.to_csv(tmp_path / "scored.csv", index=False)
    found = figures(tmp_path / "scored.csv")["agreement_on"]
    assert list(found) == ["decision", "s_algo", "s_robust", "p_ac"]
    assert found["s_algo"]["krippendorff_ordinal"]["panel"]["value"] == 1
    assert found["s_algo"]["cohen_quadratic"]["pairs"]["Claude|OpenAI"]["value"] == 1
    assert "has a s_robust of two judges" in found["s_robust"]["krippendorff_ordinal"]["panel"]["reason"]


def test_differences_stand_under_what_they_are_set_against(paper_file: Path) -> None:
    found = figures(paper_file)
    differences = found["differences"]
    assert set(differences) == {"judge", "chance", "constant", "calibration"}
    pair = differences["judge"]["mcc_test"]["Claude|DeepSeek"]
    of_judges = [found["judges"][judge]["mcc_test"]["value"] for judge in ("Claude", "DeepSeek")]
    assert pair["value"] == pytest.approx(of_judges[0] - of_judges[1], abs=1e-12)
    assert 0 < pair["p_value"] <= pair["p_holm"] <= 1
    assert pair["n_trajectories"] == 18
    assert pair["attempts_for_power"] == 2 * pair["trajectories_for_power"]
    assert differences["chance"]["fleiss"]["panel"]["value"] == pytest.approx(paper_items.FLEISS, abs=5e-6)
    assert set(differences["chance"]["roc_auc"]) == set(found["judges"])
    same = differences["judge"]["log_loss"]["Gemini|OpenAI"]
    assert same["trajectories_for_width"] is None
    assert "no bounds" in same["needed_reason"]


def test_differences_are_printed_with_p_and_what_would_settle_them(paper_file: Path) -> None:
    result = run(str(paper_file), "--resamples", "50", "--section", "differences")
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    pair = next(words for words in lines if words[:3] == ["Claude", "-", "Gemini"])
    assert pair[5] == "to"
    assert 0 < float(pair[7]) <= 1
    assert int(pair[8].replace(",", "")) >= 2
    assert "Squared calibration" in result.stdout
    assert "with power 80%" in " ".join(result.stdout.split())
    assert max(map(len, result.stdout.splitlines())) <= 80


@pytest.fixture(scope="module")
def scored_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scored") / "scored.csv"
    scored_judges.simulated(3, n_groups=160).to_csv(path, index=False)
    return path


def test_the_json_holds_every_table(scored_file: Path) -> None:
    found = figures(scored_file)
    assert list(found) == [
        "judges", "agreement", "agreement_on", "differences", "scores", "calibration", "calibration_maps", "panels",
        "panel_weights", "acceptance_rates",
    ]  # fmt: skip
    assert set(found["scores"]["a"]["s_algo"]["spearman"]) == ESTIMATE
    brier = {name: of["brier"] for name, of in found["calibration"]["a"].items()}
    assert brier["none"]["value"] == found["judges"]["a"]["brier"]
    change = brier["platt"]["value"]["value"] - brier["none"]["value"]["value"]
    assert brier["platt"]["change"]["value"] == pytest.approx(change, abs=1e-12)
    maps = found["calibration_maps"]["a"]
    assert set(maps["platt"]["parameters"]) == {"intercept", "slope"}
    knots = maps["isotonic"]["parameters"]
    assert knots["knot_p_ac"] == sorted(knots["knot_p_ac"])
    assert len(knots["knot_value"]) == len(knots["knot_p_ac"]) > 2
    assert set(found["panels"]) == {"mean", "median", "logit_mean", "stacker"}
    difference = found["panels"]["mean"]["differences"]["roc_auc"]
    assert difference["best_judge"] in found["judges"]
    assert 0 < difference["p_value"] <= difference["p_holm"] <= 1
    assert set(found["panel_weights"]["judges"]) == {"a", "b", "c"}
    rates = found["acceptance_rates"]["a"]
    assert rates["ppi"]["power_tuning"] == 1
    assert rates["rogan_gladen"]["truth"] == rates["labels_only"]["truth"]
    assert rates["ppi"]["n"] == rates["ppi"]["n_labelled"] + rates["ppi"]["n_unlabelled"]


@pytest.mark.slow
def test_the_terminal_shows_every_section_or_those_asked_for(scored_file: Path) -> None:
    everything = run(str(scored_file), "--resamples", "20")
    assert everything.exit_code == 0, everything.output
    titles = (
        "Judges", "Agreement on test, s_robust", "Scores against the verdict, on test",
        "What calibration maps change on test", "The panel as one judge", "The panel less its best judge",
        "Acceptance rate from a judge's answers",
    )  # fmt: skip
    for title in titles:
        assert title in everything.stdout
    assert max(map(len, everything.stdout.splitlines())) <= 80
    some = run(str(scored_file), "--resamples", "20", "--section", "rates", "--section", "panels").stdout
    assert [title for title in titles if title in some] == list(titles[-3:])
    assert "prediction-powered" in some
    assert run(str(scored_file), "--section", "nothing").exit_code == 2


def test_a_score_outside_its_scale_is_refused_with_its_row(scored_file: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(scored_file).head(20)
    for value, told in ((6, "s_algo is not a whole number from 1 to 5"), ("good", "s_algo is 'good'")):
        frame.astype({"s_algo": object}).assign(s_algo=[value, *frame["s_algo"][1:]]).to_csv(
            tmp_path / "bad.csv", index=False
        )
        result = run(str(tmp_path / "bad.csv"))
        assert result.exit_code == 1
        assert told in result.output
        assert "row 1 (line 2)" in result.output


@pytest.mark.slow
def test_every_format_gives_the_same(paper_file: Path, tmp_path: Path) -> None:
    frame = paper_items.predictions()
    frame.to_csv(tmp_path / "items.tsv", sep="\t", index=False)
    frame.to_parquet(tmp_path / "items.parquet")
    frame.to_json(tmp_path / "items.jsonl", orient="records", lines=True, double_precision=15)
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbf" + paper_file.read_bytes())
    expected = figures(paper_file)
    for name in ("items.tsv", "items.parquet", "items.jsonl", "bom.csv"):
        assert figures(tmp_path / name) == expected, name


def test_the_json_says_what_it_was_made_with(paper_file: Path) -> None:
    made = json.loads(run(str(paper_file), "--json", "--resamples", "50", "--seed", "3").stdout)["provenance"]
    assert (made["seed"], made["resamples"], made["version"]) == (3, 50, version("judge-pipeline"))


@pytest.mark.slow
def test_the_seed_decides_the_intervals_and_nothing_else(paper_file: Path) -> None:
    first, again, other = (figures(paper_file, "--seed", seed) for seed in ("1", "1", "2"))
    assert first == again
    assert first != other
    auc = [of["judges"]["Gemini"]["roc_auc"] for of in (first, other)]
    assert auc[0]["value"] == auc[1]["value"]


@pytest.mark.slow
def test_people_get_a_table_with_intervals_counts_and_numbered_notes(paper_file: Path) -> None:
    result = run(str(paper_file), "--resamples", "100")
    assert result.exit_code == 0
    assert result.stdout.startswith("items.csv: 4 judges, 44 attempts (0 train, 8 val, 36 test)\n\n")
    lines = [line.split() for line in result.stdout.splitlines()]
    row = next(words for words in lines if words[:2] == ["DeepSeek", "0.5000"])
    assert row[3] == "to"
    assert row[5:7] == ["36", "0"]
    assert "Claude | Gemini" in result.stdout
    assert "18 to 26 clusters: with fewer than 50" in " ".join(result.stdout.split())
    assert max(map(len, result.stdout.splitlines())) <= 80


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def some_rows(judge: str = "j") -> list[dict[str, Any]]:
    splits = ["val", "val", "test", "test"]
    ids = ["007", "7", "NA", "null"]
    return [
        {"attempt_id": a, "judge": judge, "p_ac": p, "y": y, "split": s}
        for a, p, y, s in zip(ids, ["0.2", "0.9", "0.1", "1"], [0, 1, 0, 1], splits, strict=True)
    ]


def test_ids_stay_what_they_are(tmp_path: Path) -> None:
    found = figures(write(tmp_path / "ids.csv", some_rows()))["judges"]["j"]
    assert found["roc_auc"]["n"] == 2
    assert found["threshold"]["n"] == 2
    assert found["roc_auc"]["value"] == 1.0


def test_blanks_are_counted_not_guessed(tmp_path: Path) -> None:
    extra = [
        {"attempt_id": "pending", "judge": "j", "p_ac": "0.5", "y": "", "split": "test"},
        {"attempt_id": "unanswered", "judge": "j", "p_ac": "", "y": "1", "split": "test"},
    ]
    found = figures(write(tmp_path / "blanks.csv", [*some_rows(), *extra]))["judges"]["j"]
    assert (found["brier"]["n"], found["brier"]["n_left_out"]) == (2, 2)
    assert "it answered 3 of 4 attempts of test" in found["brier"]["reason"]


def test_undefined_is_null_with_a_reason_in_strict_json(tmp_path: Path) -> None:
    rows = [row | {"y": 1} for row in some_rows()]
    found = figures(write(tmp_path / "one_class.csv", rows))
    assert found["judges"]["j"]["roc_auc"]["value"] is None
    assert "only one class" in found["judges"]["j"]["roc_auc"]["reason"]
    assert found["agreement"]["fleiss"]["value"] is None
    assert run(str(tmp_path / "one_class.csv"), "--resamples", "5").exit_code == 0


def test_one_label_from_everyone_is_null_beside_raw_agreement_one(tmp_path: Path) -> None:
    rows = [row | {"judge": judge} for judge in "abc" for row in some_rows()]
    rows = [row | ({"p_ac": "0.95"} if row["split"] == "test" else {}) for row in rows]
    agreement = figures(write(tmp_path / "same.csv", rows))["agreement"]
    assert agreement["fleiss"]["value"] is None
    assert "0/0" in agreement["fleiss"]["reason"]
    assert agreement["raw_agreement"]["value"] == 1.0
    assert agreement["pair_raw_agreement"]["a|b"]["value"] == 1.0


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("p_ac", "85%", ["row 3 (line 4)", "'85%'", "Remedy"]),
        ("p_ac", "85", ["row 3 (line 4)", ": 85", "not percentages"]),
        ("p_ac", "1.2", ["outside [0, 1]", "1.2"]),
        ("p_ac", "NaN", ["'NaN'", "not a number"]),
        ("p_ac", "true", ["'true'"]),
        ("p_ac", "high", ["'high'"]),
        ("p_ac", "1_0", ["'1_0'"]),
        ("y", "2", ["y is not 0 or 1", "row 3 (line 4): 2."]),
        ("y", "AC", ["'AC'", "0 or 1"]),
        ("split", "Test", ["'Test'", "train, val, test"]),
        ("split", "", ["split", "''"]),
        ("judge", "", ["judge is not a text"]),
        ("attempt_id", "007", ["more than one row", "row 1 (line 2)", "row 3 (line 4)"]),
    ],
)
def test_bad_data_exits_1_and_names_file_row_value_and_remedy(
    tmp_path: Path, column: str, value: str, words: list[str]
) -> None:
    rows = some_rows()
    rows[2][column] = value
    path = write(tmp_path / "bad.csv", rows)
    result = run(str(path), "--json")
    assert result.exit_code == 1
    assert result.stdout == ""
    for word in ["bad.csv", "Remedy", *words]:
        assert word in result.stderr, result.stderr


def test_judges_that_know_different_labels_are_refused(tmp_path: Path) -> None:
    rows = some_rows("a") + [row | {"y": 1 - row["y"]} for row in some_rows("b")]
    result = run(str(write(tmp_path / "two.csv", rows)))
    assert result.exit_code == 1
    assert "attempt '007' has y 0 in row 1 (line 2) (judge a) and 1 in row 5 (line 6) (judge b)" in result.stderr


def test_a_bar_in_a_name_cannot_be_a_pair_key(tmp_path: Path) -> None:
    result = run(str(write(tmp_path / "bar.csv", some_rows("a|b"))), "--json")
    assert result.exit_code == 1
    assert "'a|b' holds a bar" in result.stderr


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", b"", "it holds no row"),
        ("header.csv", b"attempt_id,judge,p_ac,y,split\n", "it holds no row"),
        ("columns.csv", b"attempt_id,judge,prob,y,split\na,j,0.5,1,test\n", "has no p_ac; it has attempt_id, judge"),
        ("ragged.csv", b"attempt_id,judge,p_ac,y,split\na,j,0.5,1\n", "row 1 (line 2) has 4 cells, the header has 5"),
        ("semicolon.csv", b"attempt_id;judge;p_ac;y;split\na;j;0,5;1;test\n", "separated by semicolons"),
        ("twice.csv", b"attempt_id,judge,p_ac,p_ac,y,split\na,j,0.5,0.5,1,test\n", "p_ac more than once"),
        ("utf16.csv", "attempt_id,judge".encode("utf-16"), "not UTF-8"),
        ("quote.csv", b'attempt_id,judge,p_ac,y,split\n"a"b,j,0.5,1,test\n', "is not CSV"),
        ("both.csv", b"attempt_id,judge,p_ac,y,split,problem,problem_id\na,j,0.5,1,test,p,q\n", "keep one"),
        ("broken.jsonl", b'{"attempt_id": "a", ', "row 1 (line 1) is not JSON"),
        ("list.jsonl", b"\n[1]\n", "row 1 (line 2) is not a JSON object"),
        ("nan.jsonl", b'{"attempt_id":"a","judge":"j","p_ac":NaN,"y":1,"split":"test"}', "NaN is no JSON number"),
        ("huge.jsonl", b'{"attempt_id":"a","judge":"j","y":1,"split":"test","p_ac":1' + b"0" * 400 + b"}", "not a num"),
        ("bool.jsonl", b'{"attempt_id":"a","judge":"j","p_ac":true,"y":1,"split":"test"}', "p_ac is True"),
        ("id.jsonl", b'{"attempt_id":1.5,"judge":"j","p_ac":0.5,"y":1,"split":"test"}', "attempt_id is 1.5"),
        ("keys.jsonl", b'{"attempt_id":"a","judge":"j","p_ac":0.5,"p_ac":0.7,"y":1,"split":"test"}', "p_ac stands in"),
        ("half.jsonl", b'{"attempt_id":"\\ud800","judge":"j","p_ac":0.5,"y":1,"split":"test"}', "half a surrogate"),
        ("deep.jsonl", b"[" * 100_000, "row 1 (line 1) is not JSON"),
        ("no.parquet", b"PAR1 this is not", "no.parquet"),
    ],
)  # fmt: skip
def test_broken_files_exit_1_and_say_what_is_broken(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    result = run(str(tmp_path / name))
    assert result.exit_code == 1, result.output
    assert name in result.stderr
    assert words in result.stderr
    assert not isinstance(result.exception, ValueError)


@pytest.mark.parametrize("arguments", [["missing.csv"], [], ["{dir}"], ["{file}", "--resamples", "0"]])
def test_wrong_commands_exit_2(tmp_path: Path, arguments: list[str]) -> None:
    file = tmp_path / "table.xlsx"
    file.write_bytes(b"")
    result = run(*[argument.format(dir=tmp_path, file=file) for argument in arguments])
    assert result.exit_code == 2


def test_an_unknown_ending_exits_2_and_lists_the_known(tmp_path: Path) -> None:
    (tmp_path / "table.xlsx").write_bytes(b"")
    result = run(str(tmp_path / "table.xlsx"))
    assert result.exit_code == 2
    assert ".csv, .tsv, .jsonl or .parquet" in result.stderr


def test_parquet_may_hold_truth_values_as_labels_and_nan_as_no_answer(tmp_path: Path) -> None:
    rows = pd.DataFrame(some_rows()).assign(p_ac=[0.2, 0.9, 0.1, math.nan], y=[False, True, False, True])
    rows.to_parquet(tmp_path / "labels.parquet")
    found = figures(tmp_path / "labels.parquet")["judges"]["j"]
    assert (found["brier"]["n"], found["brier"]["n_left_out"]) == (1, 1)
    assert found["threshold"]["value"] == 0.21


def test_names_cannot_steer_the_terminal(tmp_path: Path) -> None:
    result = run(str(write(tmp_path / "esc.csv", some_rows("\x1b[31m[red]evil[/red]"))), "--resamples", "5")
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout
    assert "\\x1b[31m[red]evil[/red]" in result.stdout


def test_help_names_the_columns_and_exit_codes() -> None:
    result = run("--help")
    assert result.exit_code == 0
    for word in ("attempt_id", "p_ac", "participant, problem", "Exit code 0", "--seed", "--resamples"):
        assert word in result.output


def test_truth_values_are_labels_in_text_files_too_and_blank_lines_are_passed_over(tmp_path: Path) -> None:
    plain = figures(write(tmp_path / "plain.csv", some_rows()))
    rows = [row | {"y": bool(row["y"])} for row in some_rows()]
    file = write(tmp_path / "truth.csv", rows)
    file.write_bytes(b"\r\n" + file.read_bytes().replace(b"\r\n", b"\r\n\r\n"))
    assert figures(file) == plain


def test_a_trajectory_in_two_splits_is_told_beside_every_figure(tmp_path: Path) -> None:
    apart = [row | {"participant": row["attempt_id"], "problem": "p"} for row in some_rows()]
    together = [row | {"participant": "u", "problem": "p"} for row in some_rows()]
    told = "1 of 1 trajectories lie in more than one split"
    for rows, is_told in ((apart, False), (together, True)):
        found = figures(write(tmp_path / "splits.csv", rows))["judges"]["j"]
        assert (told in (found["mcc_test"]["reason"] or "")) is is_told
        assert found["brier"]["value"] == pytest.approx((0.1**2 + 0) / 2)
