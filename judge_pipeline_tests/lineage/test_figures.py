"""Figures by name: what a few words mean, and when they mean too little."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.lineage.figures import Figure, condition, figures_of, named, names_like, plain
from judge_pipeline.lineage.sources import CONTEST, OVER_ALL
from judge_pipeline.report.trace_anchor import figure_anchor, figure_link
from judge_pipeline.tables import JUDGE_AGREEMENT, JUDGE_CALIBRATION, JUDGE_METRICS, LEADERBOARD, SURVIVAL

ESTIMATE = {"value": 0.5, "n": 4, "n_left_out": 1, "ci95_low": 0.1, "ci95_high": 0.9, "reason": None}


def metrics(contest: str, judges: tuple[str, ...] = ("gpt-5.2", "tiny")) -> list[Figure]:
    rows = [
        {"judge": judge, "metric": metric, "split": split, **ESTIMATE}
        for judge in judges
        for metric, split in (("roc_auc", "test"), ("mcc_test", "test"), ("threshold", "val"))
    ]
    return figures_of(JUDGE_METRICS, rows, CONTEST, contest)


def others() -> list[Figure]:
    agreement = [
        {"statistic": "cohen", "rated": "decision", "judge_1": "gpt-5.2", "judge_2": "tiny", **ESTIMATE},
        {"statistic": "mean_cohen", "rated": "decision", "judge_1": None, "judge_2": None, **ESTIMATE},
    ]
    calibration = [
        {"judge": "tiny", "map": name, "metric": "roc_auc", "quantity": "value", **ESTIMATE}
        for name in ("none", "platt")
    ]
    survival = [{"turn": turn, "n_at_risk": 3, **ESTIMATE} for turn in (0, 1, 2)]
    over_all = [{"judge": "tiny", "metric": "roc_auc", **ESTIMATE}]
    return [
        *figures_of(JUDGE_AGREEMENT, agreement, CONTEST, "spring"),
        *figures_of(JUDGE_CALIBRATION, calibration, CONTEST, "spring"),
        *figures_of(SURVIVAL, survival, CONTEST, "spring"),
        *figures_of(LEADERBOARD, over_all, OVER_ALL, ""),
    ]


@pytest.mark.parametrize("words", ["roc_auc", "ROC-AUC", "auc", "Roc Auc"])
def test_a_metric_goes_by_its_name_in_the_table_in_the_report_and_in_everybody_s_mouth(words: str) -> None:
    found = named([*metrics("spring"), *others()], words, ["tiny"])
    assert found.found is not None and found.found.id == "judge_metrics:judge=tiny,metric=roc_auc"
    assert len(found.candidates) == 4, "calibration and the leaderboard have it, too"


def test_what_fits_several_is_not_guessed() -> None:
    both = named(metrics("spring"), "auc")
    assert both.found is None and len(both.candidates) == 2
    assert named(metrics("spring"), "auc", ["tiny"]).found is not None
    two = named([*metrics("spring"), *metrics("autumn")], "auc", ["tiny"])
    assert two.found is None and {figure.of for figure in two.candidates} == {"spring", "autumn"}
    assert named(metrics("spring"), "auc", ["nobody"]).candidates == ()
    assert named(metrics("spring"), "no such thing").candidates == ()


def test_what_has_no_such_name_is_led_to_what_is_called_like_it() -> None:
    figures = [*metrics("spring"), *others()]
    assert names_like(figures, "roc auk")[0] == "roc_auc" and names_like(figures, "thresold") == ["threshold"]
    assert {"cohen", "mean_cohen"} <= set(names_like(figures, "cohen")) and names_like(figures, "xyzzy") == []


def test_further_columns_tell_figures_apart() -> None:
    figures = [*metrics("spring"), *others()]
    turn = named(figures, "survival", where={"turn": "2"})
    assert turn.found is not None and turn.found.row["turn"] == 2
    platt = named(figures, "auc", where={"map": "Platt"})
    assert platt.found is not None and platt.found.table == "judge_calibration"
    assert named(figures, "auc", ["tiny"], {"split": "val"}).found is None
    pair = named(figures, "kappa", ["tiny", "gpt-5.2"])
    assert pair.found is not None and pair.found.key["judge_1"] == "gpt-5.2"
    panel = named(figures, "mean_cohen")
    assert panel.found is not None and "rated" in panel.found.single


def test_ids_and_anchors_lead_back_to_the_figure() -> None:
    figures = [*metrics("spring"), *others()]
    assert len({figure.id for figure in figures}) == len(figures)
    for figure in figures:
        assert named(figures, figure.id).found is figure
        assert named(figures, figure.anchor).found is figure
        assert figure_link(figure.table, **figure.key) == f"trace/index.html#{figure.anchor}"


@given(st.dictionaries(st.sampled_from(["judge", "metric", "turn"]), st.one_of(st.text(), st.integers()), max_size=3))
def test_an_anchor_depends_on_the_key_alone(key: dict[str, Any]) -> None:
    turned = dict(reversed(list(key.items()))) | {"left": None}
    assert figure_anchor("t", key) == figure_anchor("t", turned)
    assert figure_anchor("t", key) != figure_anchor("u", key)


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_value_in_an_id_can_be_any_text(judge: str, metric: str) -> None:
    """Commas, colons and line ends of a name neither end the id nor make it another's."""
    rows = [{"judge": judge, "metric": metric, "split": "test", **ESTIMATE}]
    (figure,) = figures_of(JUDGE_METRICS, rows, CONTEST, "c")
    parts = figure.id.removeprefix("judge_metrics:").split(",")
    assert dict(map(condition, parts)) == {"judge": judge.strip(" "), "metric": metric.strip(" ")}
    assert "\n" not in figure.id
    assert named([figure], figure.id).found is figure


@given(st.text())
def test_a_condition_is_a_column_and_a_value_or_an_error(text: str) -> None:
    try:
        column, _ = condition(text)
    except ValueError:
        assert "=" not in text or not text.partition("=")[0].strip()
    else:
        assert column and column == column.strip()


@given(st.text())
def test_plain_words_stay_plain(text: str) -> None:
    assert plain(plain(text)) == plain(text)
