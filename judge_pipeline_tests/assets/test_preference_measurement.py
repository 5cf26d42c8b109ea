"""The assets from judges' stored choices and rubric scores to figures, on a set whose answers are planted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pandas as pd
import pyarrow.parquet as pq
import pytest

from judge_pipeline.assets import preference_measurement
from judge_pipeline.orchestration import pair_judging_run
from judge_pipeline.orchestration.parquet_store import ParquetStore
from judge_pipeline.orchestration.partitions import PREFERENCE_SETS
from judge_pipeline.orchestration.resources import SilentProgress, WorkspaceResource
from judge_pipeline.preference.pair_texts import pair_texts
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.redaction import PairRedaction
from judge_pipeline.tables import PAIR_TEXTS, PREFERENCE_PAIRS, PREFERENCE_SPLITS
from judge_pipeline.tables.misalignment import (
    MISALIGNMENT,
    PREFERENCE_MODEL_FITS,
    PREFERENCE_MODELS,
    RUBRIC_DISAGREEMENTS,
)
from judge_pipeline.tables.pair_judging import PAIR_JUDGE_COVERAGE, PAIR_JUDGMENTS
from judge_pipeline.tables.preference_accuracy import PREFERENCE_ACCURACY, PREFERENCE_RANKS, RULES
from judge_pipeline.tables.rubric import RUBRIC_SCORES
from judge_pipeline_tests.preference.made_set import WEIGHTS, MadeSet, hash_of, made_set

pytestmark = pytest.mark.slow

JUDGES = """\
judges:
  alike: {backend: recorded, file: a.jsonl, systems: [preference], family: plain}
  contrary: {backend: recorded, file: o.jsonl, systems: [preference], family: plain}
  second: {backend: recorded, file: s.jsonl, systems: [preference], scope: {splits: [val]}}
  first: {backend: recorded, file: f.jsonl, systems: [preference], in_panel: false}
  absent: {backend: litellm, model: openai/m, systems: [preference], api_key_env: NO_SUCH_KEY_HERE}
  other: {backend: baseline}
"""
INPUTS = (PREFERENCE_PAIRS, PREFERENCE_SPLITS, PAIR_TEXTS, RUBRIC_SCORES)
IDS = [f"p{i:03}" for i in range(160)]
SETTINGS = "seed: 3\nresamples: 100\nmodels: {resamples: 150}\n"
JUDGED = dg.MultiPartitionsDefinition(
    {"judge": dg.StaticPartitionsDefinition(["alike"]), "preference_set": PREFERENCE_SETS}
)
STORED = [
    *(dg.AssetSpec(table.name, partitions_def=PREFERENCE_SETS) for table in INPUTS),
    dg.AssetSpec(PAIR_JUDGMENTS.name, partitions_def=JUDGED),
]
"""What other assets make, and these tests store themselves."""


@dataclass
class Made:
    """A workspace in which a set lies, and what it is run with."""

    workspace: Workspace
    store: ParquetStore
    instance: dg.DagsterInstance

    def write(self, name: str, made: MadeSet) -> None:
        """Store the set's tables as if they had been made."""
        self.instance.add_dynamic_partitions("preference_set", [name])
        (self.workspace.data_dir / "preference" / name).mkdir(parents=True, exist_ok=True)
        self.store.write(PREFERENCE_PAIRS, made.pairs, name)
        self.store.write(PREFERENCE_SPLITS, made.splits, name)
        self.store.write(PAIR_TEXTS, pair_texts(made.pairs, PairRedaction())[0], name)
        self.store.write(RUBRIC_SCORES, made.scores, name)
        for judge, table in made.judgments.items():
            self.store.write(PAIR_JUDGMENTS, table, name, judge)

    def run(self, name: str | None = "made") -> dg.ExecuteInProcessResult:
        """Materialize a set's assets; None: those over all sets. Today's requests are those of the made judgments."""
        today = {
            judge: {(p, o): hash_of(judge, p, o) for p in IDS for o in ("AB", "BA")} for judge in (*WEIGHTS, "first")
        }
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(pair_judging_run, "current_pair_requests", lambda *_: today)
            return self._run(name)

    def _run(self, name: str | None) -> dg.ExecuteInProcessResult:
        assets = [*preference_measurement.ASSETS, *STORED]
        over_all = dg.AssetSelection.assets("preference_ranks")
        return dg.materialize(
            assets,
            instance=self.instance,
            partition_key=name,
            selection=over_all
            if name is None
            else dg.AssetSelection.assets("pair_judge_coverage").downstream() - over_all,
            resources={
                "workspace": WorkspaceResource.of(self.workspace),
                "store": self.store,
                "io_manager": self.store,
                "progress": SilentProgress(),
            },
        )

    def problems(self, result: dg.ExecuteInProcessResult) -> dict[str, str]:
        """Check -> its description, of those that did not pass."""
        found = (e for e in result.get_asset_check_evaluations() if not e.passed)
        return {e.check_name: e.description or "" for e in found}


def laid(tmp_path: Path) -> Made:
    """A workspace with judges, and nothing stored."""
    config = tmp_path / "assets_config"
    config.mkdir()
    (config / "judges.yaml").write_text(JUDGES, encoding="utf-8")
    (config / "preference.yaml").write_text(SETTINGS, encoding="utf-8")
    workspace = Workspace(config, tmp_path / "data", tmp_path / "var")
    return Made(workspace, ParquetStore(root=str(workspace.out_dir / "tables")), dg.DagsterInstance.ephemeral())


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return laid(tmp_path)


def by_figure(accuracy: pd.DataFrame, name: str, rule: str = "trace") -> pd.Series:
    own = accuracy[(accuracy["name"] == name) & (accuracy["rule"] == rule) & accuracy["category"].isna()]
    return own[own["of"].isin(("judge", "floor"))].set_index("figure")["value"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[MadeSet, Made, dg.ExecuteInProcessResult]:
    """A set, and the run that measured it."""
    given, made = made_set(), laid(tmp_path_factory.mktemp("measured"))
    made.write("made", given)
    return given, made, made.run()


def test_choices_become_figures_and_what_is_planted_is_found(
    finished: tuple[MadeSet, Made, dg.ExecuteInProcessResult],
) -> None:
    given, made, result = finished
    store = made.store
    coverage = store.read(PAIR_JUDGE_COVERAGE, "made").set_index("judge")
    assert coverage["status"].to_dict() == {
        "alike": "verified", "contrary": "verified", "second": "verified", "first": "verified", "absent": "not judged",
    }  # fmt: skip
    assert coverage.loc["absent", "reason"] == "environment variable NO_SUCH_KEY_HERE is not set"
    assert coverage.loc["alike", ["n_in_scope", "n_judged", "n_answers", "n_invalid", "invalid", "scope"]].tolist() == [
        160, 160, 320, 4, "invalid: 4", "all pairs",
    ]  # fmt: skip
    assert coverage.loc["second", ["n_in_scope", "n_judged"]].tolist() == [128, 128]

    accuracy = store.read(PREFERENCE_ACCURACY, "made")
    assert tuple(dict.fromkeys(accuracy["rule"])) == RULES
    # By hand: right where both orders choose the untied label.
    decisions = given.judgments["contrary"].pivot(index="pair_id", columns="presentation_order", values="decision")
    labels = given.pairs.set_index("pair_id")["w"]
    untied = labels[labels != "tie"]
    right = (decisions["AB"] == decisions["BA"]) & (decisions["AB"] == labels)
    assert by_figure(accuracy, "contrary")["acc"] == pytest.approx(right[untied.index].sum() / len(untied))
    assert by_figure(accuracy, "contrary", "pandalm")["acc"] == pytest.approx((decisions["AB"] == labels).mean())
    assert by_figure(accuracy, "first")["first_slot_share"] == 1.0
    assert set(accuracy.loc[accuracy["rule"] == "exact", "of"]) == {"judge", "floor"}
    assert accuracy.loc[accuracy["of"] == "family", "name"].unique().tolist() == ["plain"]
    problems = made.problems(result)
    floors = problems["floors_beaten"]
    assert floors.startswith("made: ") and "first: Acc 0.000 is not above" in floors and "alike" not in floors
    assert "adds_up" not in problems

    tested = store.read(MISALIGNMENT, "made")
    pooled = tested[(tested["effect"] == "coefficient") & (tested["test"] == "paired")]
    assert pooled.loc[pooled["judge"] == "contrary"].set_index("item")["misaligned"].to_dict() == {
        "short": True, "commented": False, "typed": False,
    }  # fmt: skip
    assert pooled.loc[pooled["judge"].isna(), "n_judges"].tolist() == [3, 3, 3], "first is not of the panel"
    models = store.read(PREFERENCE_MODELS, "made")
    assert set(models["judge"].dropna()) == {"alike", "contrary", "second", "first"}
    assert store.read(PREFERENCE_MODEL_FITS, "made")["n_resamples"].eq(150).all()
    disagreements = store.read(RUBRIC_DISAGREEMENTS, "made")
    assert (disagreements["judge"] == "contrary").sum() > 50

    pages = made.workspace.out_dir / "reports" / "made" / "figures"
    assert {file.name for file in pages.iterdir()} == {"preference_accuracy.html", "misalignment.html", "plotly.js"}
    assert "Preference set <code>made</code>" in (pages / "misalignment.html").read_text(encoding="utf-8")


def test_every_table_of_figures_says_what_it_was_made_from(
    finished: tuple[MadeSet, Made, dg.ExecuteInProcessResult],
) -> None:
    _, made, _ = finished
    for table in (PREFERENCE_ACCURACY, PREFERENCE_MODELS, PREFERENCE_MODEL_FITS, MISALIGNMENT):
        found = json.loads(pq.read_schema(made.store.path(table, "made")).metadata[b"judge_pipeline.provenance"])
        assert found["preference_set"] == "made" and found["table"] == table.name
        assert (found["scoring_rule"], found["seed"], found["resamples"]) == ("trace", 3, 100)
        assert found["judges"]["contrary"]["model"] == "contrary-1" and "absent" not in found["judges"]
        assert len(found["data"]["preference_pairs"]) == 64


def test_nothing_judged_and_nothing_scored_are_tables_with_reasons(made: Made) -> None:
    given = made_set(30)
    made.write("made", MadeSet(given.pairs, given.splits, {}, given.scores.assign(score=None)))
    result = made.run()
    assert result.success
    problems = made.problems(result)
    assert problems["a_judge_is_verified"] and problems["some_items_scored"].startswith(
        "made: no pair has a score for every item. To do: launch find_"
    )
    assert made.store.read(PREFERENCE_ACCURACY, "made").empty
    models = made.store.read(PREFERENCE_MODELS, "made")
    assert set(models["reason"]) == {"no pair has a score for every item"} and models["value"].isna().all()
    assert made.store.read(MISALIGNMENT, "made")["misaligned"].isna().all()

    made.write("made", MadeSet(given.pairs.assign(w="A"), given.splits, {}, given.scores))
    made.run()
    fits = made.store.read(PREFERENCE_MODEL_FITS, "made")
    assert fits["reason"].tolist() == ["A was chosen on every pair"]
    assert made.store.read(MISALIGNMENT, "made")["value"].isna().all()

    made.write("made", given)
    made.store.path(RUBRIC_SCORES, "made").unlink()
    made.run()
    assert made.store.read(PREFERENCE_MODELS, "made").empty
    assert set(made.store.read(PREFERENCE_MODEL_FITS, "made")["reason"]) == {"there is no rubric item"}


def test_an_unverified_judge_is_marked_and_a_pair_that_it_saw_in_one_order_does_not_count(made: Made) -> None:
    given = made_set(60)
    given.judgments["alike"] = given.judgments["alike"][:-1]
    made.write("made", given)
    made.store.path(PAIR_JUDGMENTS, "made", "contrary").write_bytes(b"broken")
    result = made.run()
    coverage = made.store.read(PAIR_JUDGE_COVERAGE, "made").set_index("judge")
    assert coverage.loc["alike", "reason"] == "1 of 60 pairs in scope lack an answer in some order (eq. 9)"
    assert coverage.loc["contrary", "status"] == "damaged" and "none_damaged" in made.problems(result)
    accuracy = made.store.read(PREFERENCE_ACCURACY, "made")
    acc = accuracy[(accuracy["figure"] == "consistent_share") & (accuracy["name"] == "alike")].iloc[0]
    assert acc["reason"].startswith("alike is unverified: 1 of 60 pairs")
    # Of 54 untied labels: p000 to p003 have an invalid answer; the last pair, a tie, was seen in order AB alone.
    assert by_figure(accuracy, "alike")["valid_share"] == pytest.approx(50 / 54)
    counts = accuracy[(accuracy["rule"] == "exact") & (accuracy["name"] == "alike") & (accuracy["figure"] == "acc")]
    assert counts["n"].tolist() == [59]
    assert "contrary" not in set(accuracy["name"])


def test_sets_rank_judges_alike_or_not(made: Made) -> None:
    for seed, name in enumerate(("one", "other")):
        made.write(name, made_set(60, seed))
        made.run(name)
    assert made.run(None).success
    ranks = made.store.read(PREFERENCE_RANKS, "every-contest")
    assert ranks[["set_1", "set_2", "figure", "statistic"]].to_numpy().tolist() == [
        ["one", "other", figure, statistic] for figure in ("acc", "acc_pc") for statistic in ("spearman", "kendall")
    ]
    assert (ranks["n"] == 3).all(), "those of the panel"
