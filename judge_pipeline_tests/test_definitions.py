from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from judge_pipeline.definitions import build_definitions
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import ALL_TABLES, BROUGHT, criteria, guidance

BY_CONFIGURATION = {table.name for table in criteria.TABLES}

GRAPH = {
    "anchor_figures": {"anchor_runs", "attempts", "judge_coverage"},
    "anchor_runs": {"attempts", "judge_requests", "splits"},
    "acceptance_rates": {"judge_coverage", "predictions"},
    "attempts": {"submission_artifacts"},
    "churn_effects": {"judge_coverage", "revisions"},
    "churn_summary": {"attempts", "convergence", "revisions", "trajectories"},
    "cocreation_report": {
        "acceptance_rates",
        "anchor_figures",
        "churn_effects",
        "churn_summary",
        "contest_overview",
        "convergence",
        "hazards",
        "ingest_quarantine",
        "judge_agreement",
        "judge_calibration",
        "judge_canary_effects",
        "judge_coverage",
        "judge_curves",
        "judge_differences",
        "judge_metrics",
        "judge_panels",
        "judge_scores",
        "pattern_groups",
        "prompt_code_ned",
        "prompt_code_summary",
        "prompt_space",
        "prompt_space_test",
        "rerating_agreement",
        "revision_gains",
        "revisions",
        "struggle_curves",
        "struggle_groups",
        "success_at_turn",
        "success_curves",
        "survival",
        "survival_curves",
        "survival_groups",
        "survival_tests",
        "trajectories",
        "trajectory_patterns",
    },
    "contest_folder": set(),
    "contest_overview": {
        "attempts",
        "ingest_quarantine",
        "prompt_logs",
        "redaction_counts",
        "splits",
        "trajectories",
        "verdict_word_counts",
    },
    "code_similarities": {"attempts", "trajectories"},
    "convergence": {"attempts", "code_similarities", "trajectories"},
    "child_answers": {
        "criteria",
        "criterion_answers",
        "criterion_verdicts",
        "guidance",
        "pair_texts",
        "preference_splits",
    },
    "child_verdicts": {
        "criteria",
        "criterion_answers",
        "criterion_verdicts",
        "guidance",
        "pair_texts",
        "preference_splits",
    },
    "consistent_evidence": {
        "child_verdicts",
        "criterion_verdicts",
        "guidance",
        "pair_texts",
        "preference_splits",
        "refined_criteria",
    },
    "criteria": {"guidance", "pair_texts", "preference_splits"},
    "criteria_ablation": {*BY_CONFIGURATION, "preference_pairs", "preference_splits"},
    "criteria_aspects": {*BY_CONFIGURATION, "preference_pairs", "preference_splits"},
    "criteria_report": {
        *BY_CONFIGURATION,
        "criteria_ablation",
        "criteria_aspects",
        "decisive_criteria",
        "pair_texts",
        "preference_pairs",
        "preference_splits",
    },
    "criteria_trace_pages": {
        *BY_CONFIGURATION,
        "criteria_ablation",
        "criteria_aspects",
        "dataset_profile",
        "preference_pairs",
        "preference_splits",
    },
    "criteria_calls": {"criteria_decisions", "guidance", "pair_texts", "preference_splits"},
    "criteria_decisions": {
        "child_answers",
        "consistent_evidence",
        "criterion_answers",
        "guidance",
        "pair_texts",
        "preference_splits",
        "refined_criteria",
    },
    "criterion_answers": {"criteria", "guidance", "pair_texts", "preference_splits"},
    "criterion_verdicts": {"criteria", "guidance", "pair_texts", "preference_splits"},
    "decisive_criteria": {*BY_CONFIGURATION, "preference_pairs", "preference_splits"},
    "guidance": {"pair_texts", "preference_pairs", "preference_splits"},
    "guidance_records": {"pair_texts", "preference_pairs", "preference_splits"},
    "refined_criteria": {
        "criteria",
        "criterion_answers",
        "criterion_verdicts",
        "guidance",
        "pair_texts",
        "preference_splits",
    },
    "dataset_profile": {"preference_pairs"},
    "hazards": {"attempts", "trajectories"},
    "ingest_quarantine": {"contest_folder"},
    "judge_agreement": {"judge_coverage", "predictions"},
    "judge_calibration": {"judge_calibration_maps", "judge_coverage", "predictions"},
    "judge_calibration_maps": {"predictions"},
    "judge_canaries": {"attempts", "judge_requests", "splits"},
    "judge_canary_effects": {"attempts", "judge_canaries", "judge_metrics", "judge_requests", "splits"},
    "judge_coverage": {"attempts", "judge_outputs", "judge_requests", "splits"},
    "judge_curves": {"judge_coverage", "predictions"},
    "judge_differences": {"judge_coverage", "predictions"},
    "judge_metrics": {"judge_coverage", "predictions"},
    "judge_outputs": {"attempts", "judge_requests", "splits"},
    "judge_panel_weights": {"predictions"},
    "judge_panels": {"judge_coverage", "judge_panel_weights", "predictions"},
    "judge_repeats": {"judge_outputs", "judge_requests"},
    "judge_versions": {"attempts", "judge_requests", "predictions", "splits"},
    "leaderboard": {"judge_coverage", "judge_outputs", "predictions"},
    "start_page": {"cocreation_report", "criteria_report", "judge_versions", "leaderboard", "preference_report"},
    "judge_requests": {"attempts", "participant_contexts", "splits"},
    "judge_scores": {"judge_coverage", "predictions"},
    "misalignment": {"pair_judge_coverage", "preference_pairs", "preference_splits", "rubric_scores"},
    "pair_judge_coverage": {"pair_judgments", "pair_texts", "preference_pairs", "preference_splits"},
    "pair_judgments": {"pair_texts", "preference_pairs", "preference_splits"},
    "pair_redaction_counts": {"preference_pairs"},
    "pair_texts": {"preference_pairs"},
    "participant_contexts": {"attempts", "prompt_logs"},
    "pattern_groups": {"trajectory_patterns"},
    "predictions": {"attempts", "judge_coverage", "splits"},
    "predictions_wide": {"attempts", "predictions", "splits"},
    "prompt_code_ned": {"attempts", "judge_requests"},
    "prompt_code_summary": {"prompt_code_ned"},
    "prompt_logs": {"contest_folder"},
    "prompt_space": {"participant_contexts", "trajectories"},
    "prompt_space_test": {"participant_contexts", "prompt_space"},
    "rerating_agreement": {"attempts", "judge_coverage", "judge_metrics", "predictions"},
    "prompt_windows": {"attempts", "prompt_logs"},
    "preference_accuracy": {"pair_judge_coverage", "preference_pairs", "preference_splits"},
    "preference_folder": set(),
    "preference_model_fits": {"pair_judge_coverage", "preference_pairs", "preference_splits", "rubric_scores"},
    "preference_models": {"pair_judge_coverage", "preference_pairs", "preference_splits", "rubric_scores"},
    "preference_pairs": {"preference_folder"},
    "preference_quarantine": {"preference_folder"},
    "preference_report": {
        "dataset_profile",
        "misalignment",
        "pair_judge_coverage",
        "pair_judgments",
        "pair_texts",
        "preference_accuracy",
        "preference_model_fits",
        "preference_models",
        "preference_pairs",
        "preference_quarantine",
        "preference_ranks",
        "preference_selection",
        "preference_splits",
        "rubric",
        "rubric_disagreements",
        "rubric_score_agreement",
        "rubric_scores",
        "rubric_themes",
    },
    "preference_ranks": {"preference_accuracy"},
    "preference_selection": {"preference_folder"},
    "preference_trace_pages": {
        "dataset_profile",
        "misalignment",
        "pair_judge_coverage",
        "pair_judgments",
        "pair_texts",
        "preference_accuracy",
        "preference_model_fits",
        "preference_models",
        "preference_pairs",
        "preference_splits",
        "rubric_score_agreement",
        "rubric_scores",
    },
    "preference_splits": {"preference_pairs"},
    "redaction_counts": {"attempts", "participant_contexts", "splits"},
    "revision_gains": {"judge_coverage", "revisions"},
    "revisions": {"attempts", "code_similarities", "prompt_logs", "struggle_curves", "trajectories"},
    "rubric": {"pair_texts", "preference_pairs", "preference_splits"},
    "rubric_disagreements": {"pair_judge_coverage", "preference_pairs", "preference_splits", "rubric_scores"},
    "rubric_proposals": {"pair_texts", "preference_pairs", "preference_splits"},
    "rubric_score_agreement": {"pair_texts", "preference_splits", "rubric", "rubric_scores"},
    "rubric_scores": {"pair_texts", "rubric"},
    "rubric_theme_summary": {"misalignment", "rubric"},
    "rubric_themes": {"misalignment", "rubric"},
    "splits": {"attempts"},
    "struggle_curves": {"attempts", "judge_coverage", "predictions"},
    "struggle_groups": {"judge_coverage", "struggle_turns", "trajectories"},
    "struggle_turns": {"attempts", "judge_coverage", "predictions", "trajectories"},
    "submission_artifacts": {"contest_folder"},
    "success_at_turn": {"trajectories"},
    "success_curves": {"trajectory_times"},
    "survival": {"trajectories"},
    "survival_curves": {"trajectory_times"},
    "survival_groups": {"trajectory_times"},
    "survival_tests": {"trajectory_times"},
    "trace_pages": {
        "acceptance_rates",
        "anchor_figures",
        "attempts",
        "churn_effects",
        "churn_summary",
        "contest_overview",
        "convergence",
        "hazards",
        "ingest_quarantine",
        "judge_agreement",
        "judge_calibration",
        "judge_canary_effects",
        "judge_coverage",
        "judge_differences",
        "judge_metrics",
        "judge_panel_weights",
        "judge_panels",
        "judge_requests",
        "judge_scores",
        "pattern_groups",
        "predictions",
        "prompt_code_ned",
        "prompt_code_summary",
        "prompt_logs",
        "rerating_agreement",
        "revision_gains",
        "revisions",
        "splits",
        "submission_artifacts",
        "success_at_turn",
        "survival",
        "survival_groups",
        "trajectories",
        "trajectory_patterns",
        "trajectory_times",
    },
    "trajectories": {"attempts", "splits"},
    "trajectory_pages": {
        "attempts",
        "judge_coverage",
        "predictions",
        "prompt_logs",
        "struggle_curves",
        "trajectories",
    },
    "trajectory_patterns": {"attempts", "struggle_curves", "trajectories"},
    "trajectory_times": {"attempts", "prompt_logs", "trajectories"},
    "verdict_word_counts": {"attempts", "participant_contexts", "splits"},
}
ASSET_TABLES = {table.name for table in ALL_TABLES if table not in BROUGHT}
SECONDS_TO_LOAD = 3.0
HEAVY = {"pandas", "numpy", "pyarrow", "scipy", "sklearn", "lifelines", "statsmodels", "plotly", "litellm", "codebleu"}


@pytest.fixture(scope="module")
def definitions() -> dg.Definitions:
    return build_definitions(Workspace.find({}, Path(__file__).parent))


@pytest.fixture(scope="module")
def nodes(definitions: dg.Definitions) -> dict[str, object]:
    graph = definitions.resolve_asset_graph()
    return {key.to_user_string(): graph.get(key) for key in graph.get_all_asset_keys()}


def test_the_graph_is_the_one_that_was_agreed(nodes: dict[str, object]) -> None:
    assert {name: {k.to_user_string() for k in node.parent_keys} for name, node in nodes.items()} == GRAPH


def test_every_asset_explains_itself(nodes: dict[str, object]) -> None:
    for name, node in nodes.items():
        assert node.description and len(node.description) > 30, name
        assert node.owners and node.kinds and node.group_name != "default", name
        assert node.code_version or not node.is_materializable, name
        if name in ASSET_TABLES:
            columns = node.metadata["dagster/column_schema"].columns
            assert columns and all(column.description for column in columns), name


def test_every_check_says_what_it_holds_and_what_to_do_where_it_fails(definitions: dg.Definitions) -> None:
    graph = definitions.resolve_asset_graph()
    for key in graph.asset_check_keys:
        held, _, remedy = (graph.get_check_spec(key).description or "").partition(" Where it fails: ")
        assert len(held) > 20 and len(remedy) > 20, key


def test_every_table_is_an_asset_with_a_schema_check(definitions: dg.Definitions, nodes: dict[str, object]) -> None:
    assert set(nodes) >= ASSET_TABLES
    graph = definitions.resolve_asset_graph()
    checked = {k.asset_key.to_user_string() for k in graph.asset_check_keys if k.name == "schema"}
    assert checked == ASSET_TABLES


def test_judgments_are_partitioned_by_contest_and_judge(nodes: dict[str, object]) -> None:
    outputs = nodes["judge_outputs"].partitions_def
    assert [d.name for d in outputs.partitions_defs] == ["contest", "judge"]
    assert nodes["judge_repeats"].partitions_def == nodes["judge_canaries"].partitions_def == outputs
    assert nodes["anchor_runs"].partitions_def == outputs
    single = {name for name, node in nodes.items() if isinstance(node.partitions_def, dg.DynamicPartitionsDefinition)}
    over_all = {name for name, node in nodes.items() if node.partitions_def is None}
    over_sets = {"preference_ranks", "rubric_themes", "rubric_theme_summary"}
    assert over_all == {"leaderboard", "judge_versions", "start_page"} | over_sets
    by_judge = {"anchor_runs", "judge_canaries", "judge_outputs", "judge_repeats", "pair_judgments"}
    by_configuration = {table.name for table in criteria.TABLES}
    by_judge |= {table.name for table in guidance.TABLES} | by_configuration
    assert single == set(nodes) - over_all - by_judge
    for name in by_configuration:
        assert [d.name for d in nodes[name].partitions_def.partitions_defs] == ["judge", "preference_set"], name
        keys = nodes[name].partitions_def.get_partitions_def_for_dimension("judge").get_partition_keys()
        assert "qwen2.5-vl-32b@full" in keys and all(key.count("@") == 1 for key in keys), name
    assert [d.name for d in nodes["pair_judgments"].partitions_def.partitions_defs] == ["judge", "preference_set"]


def test_what_costs_money_besides_judging_is_in_no_job_but_its_own(definitions: dg.Definitions) -> None:
    jobs = {job.name: job for job in definitions.resolve_all_job_defs()}
    holding = {
        name for name, job in jobs.items()
        if not name.startswith("__") and any(k.path == ["judge_canaries"] for k in job.asset_layer.selected_asset_keys)
    }  # fmt: skip
    assert holding == {"canary"}


def test_an_edited_prompt_changes_the_code_version_of_judgments(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    judge = "judges: {a: {backend: litellm, model: openai/m, prompt: p.md.j2}}\n"
    (tmp_path / "judges.yaml").write_text(judge, encoding="utf-8")
    prompt = tmp_path / "prompts" / "p.md.j2"

    def version() -> str:
        graph = build_definitions(Workspace(tmp_path, tmp_path, tmp_path)).resolve_asset_graph()
        return str(graph.get(dg.AssetKey("judge_outputs")).code_version)

    prompt.write_text("one", encoding="utf-8")
    first = version()
    assert version() == first
    prompt.write_text("two", encoding="utf-8")
    assert version() != first


@pytest.mark.slow
def test_the_code_location_loads_nothing_heavy_and_in_under_three_seconds(checkout: Path) -> None:
    """Of processor time: how busy the machine is says nothing of it. What others slowed down is tried again."""
    code = """
import sys, json, time, judge_pipeline.definitions
judge_pipeline.definitions.defs()
print(json.dumps({"modules": sorted(sys.modules), "seconds": time.process_time()}))
"""

    def load() -> dict[str, Any]:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=checkout, check=True)
        return dict(json.loads(done.stdout))

    loaded = load()
    assert not {name.partition(".")[0] for name in loaded["modules"]} & HEAVY
    assert loaded["seconds"] < SECONDS_TO_LOAD or load()["seconds"] < SECONDS_TO_LOAD


@pytest.mark.slow
def test_commands_are_listed_with_what_they_do_without_dagster(checkout: Path) -> None:
    """Which takes a second, four times as long as the rest."""
    code = """
import sys
from judge_pipeline.cli.main import cli
cli.main(["--help"], prog_name="judge-pipeline", standalone_mode=False)
print("loaded:", *sorted({name.partition(".")[0] for name in sys.modules}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=checkout, check=True)
    said, _, loaded = done.stdout.rpartition("loaded: ")
    assert "verify" in said
    assert not set(loaded.split()) & (HEAVY | {"dagster"})
