"""What configurations come to in the terminal: accuracy beside the floors, and the calls that it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_pipeline.figures.estimates import format_interval, format_number
from judge_pipeline.figures.style import clean
from judge_pipeline.settings import Workspace

if TYPE_CHECKING:
    from rich.console import Console

    from judge_pipeline.estimate import Estimate


@dataclass(frozen=True)
class ConfigurationFigures:
    """What one configuration of one judge comes to.

    Attributes:
        accuracy: share of pairs decided as people chose.
        n_requests: different requests, over all stages; those that it shares with other configurations, too.
        n_calls: tries, over all runs.
        n_invalid: requests that got no valid answer.
        cost_usd: US dollars; None where unpriced.
    """

    accuracy: Estimate
    n_requests: int
    n_calls: int
    n_invalid: int
    cost_usd: float | None


@dataclass(frozen=True)
class CriteriaHeadline:
    """The figures that a reader asks for first.

    Attributes:
        configurations: ``judge@configuration`` -> its figures.
        floors: what needs no judgment -> its accuracy.
    """

    configurations: Mapping[str, ConfigurationFigures]
    floors: Mapping[str, Estimate]


def criteria_headline(workspace: Workspace, preference_set: str, keys: Sequence[tuple[str, str]]) -> CriteriaHeadline:
    """The headline of stored tables.

    Args:
        workspace: where they lie.
        preference_set: the set.
        keys: judge and configuration of the partitions to show; all have tables.
    """
    from judge_pipeline.criteria.ablation_accuracy import acc_figure, decided_by, floor_figures
    from judge_pipeline.criteria.ablation_pairs import ablation_pairs
    from judge_pipeline.criteria.ablation_rows import Subject, figure_rows
    from judge_pipeline.figures.estimates import read_estimate
    from judge_pipeline.orchestration.partitions import configured
    from judge_pipeline.orchestration.preference_sets import preference_folder
    from judge_pipeline.orchestration.stored_tables import store_of
    from judge_pipeline.tables import PREFERENCE_PAIRS, PREFERENCE_SPLITS
    from judge_pipeline.tables.criteria import CRITERIA_CALLS, CRITERIA_DECISIONS
    from judge_pipeline.tables.criteria_ablation import JudgedTables

    store = store_of(workspace)
    seed = workspace.preference(preference_folder(workspace, preference_set)).seed
    chosen, splits = (store.read(table, preference_set) for table in (PREFERENCE_PAIRS, PREFERENCE_SPLITS))
    pairs = ablation_pairs(chosen, splits, seed, workspace.criteria().resamples)
    figures = {key: figure for key, figure in floor_figures(pairs).items() if key.category is None}
    for judge, name in keys:
        decisions = store.read(CRITERIA_DECISIONS, preference_set, configured(judge, name))
        decided = decided_by(pairs, JudgedTables(judge, name, decisions))
        figures[Subject(None, None, judge, name, None, None, "acc")] = acc_figure(decided)
    found = {(row["judge"], row["configuration"]): read_estimate(row) for row in figure_rows(figures, pairs.clusters)}
    of_configurations = {}
    for judge, name in keys:
        calls = store.read(CRITERIA_CALLS, preference_set, configured(judge, name))
        requests, tries, invalid = (int(calls[column].sum()) for column in ("n_requests", "n_calls", "n_invalid"))
        cost = float(calls["cost_usd"].sum()) if calls["cost_usd"].notna().all() else None
        of_configurations[configured(judge, name)] = ConfigurationFigures(
            found[judge, name], requests, tries, invalid, cost
        )
    return CriteriaHeadline(
        of_configurations, {judge: estimate for (judge, name), estimate in found.items() if name is None}
    )


def headline_json(headline: CriteriaHeadline) -> dict[str, Any]:
    """The headline as plain JSON values."""
    return {
        "configurations": {
            key: {
                "accuracy": own.accuracy.to_json(), "requests": own.n_requests, "calls": own.n_calls,
                "invalid": own.n_invalid, "cost_usd": own.cost_usd,
            }
            for key, own in headline.configurations.items()
        },
        "floors": {name: estimate.to_json() for name, estimate in headline.floors.items()},
    }  # fmt: skip


def print_criteria_headline(console: Console, headline: CriteriaHeadline, chosen_by: str) -> None:
    """Print accuracy and calls of each configuration, the floors, and who chose."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title="Decided as was chosen (Acc): share of validation pairs, 95% interval, n", title_justify="left",
        box=box.SIMPLE, pad_edge=False,
    )  # fmt: skip
    table.padding = (0, 0, 0, 1)
    for heading in ("Judge and configuration", "Acc ↑", "Requests", "Calls", "Invalid", "USD"):
        left = heading == "Judge and configuration"
        table.add_column(heading, justify="left" if left else "right", no_wrap=not left)
    for name, estimate in headline.floors.items():
        table.add_row(Text(f"floor: {clean(name)}", style="dim"), _shown(estimate), *[""] * 4)
    for key, own in headline.configurations.items():
        cost = "unpriced" if own.cost_usd is None else f"{own.cost_usd:.2f}"
        counts = (f"{count:,}" for count in (own.n_requests, own.n_calls, own.n_invalid))
        table.add_row(Text(clean(key).replace("@", "\n  @")), _shown(own.accuracy), *counts, cost)
    console.print(table)
    reasons = dict.fromkeys(own.accuracy.reason for own in headline.configurations.values() if own.accuracy.reason)
    for reason in reasons:
        console.print(Text(f"{reason[:1].upper()}{clean(reason[1:])}."), style="dim")
    console.print(Text("Requests that configurations have in common were asked once, and count in each."), style="dim")
    console.print(Text(f"Chosen by: {clean(chosen_by)}."), style="bold")


def _shown(estimate: Estimate) -> str:
    """The value, its interval and n."""
    value = "undefined" if estimate.value is None else format_number(estimate.value)
    return f"{value} {format_interval(estimate.ci95, 2)}, {estimate.n:,}"
