"""What every configuration reaches and gains, arranged as the paper's tables (CriterAlign, Tables 1-8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_pipeline.criteria import ablation_calls, ablation_skew
from judge_pipeline.criteria.ablation_accuracy import (
    Decided,
    acc_figure,
    accuracy_figures,
    change_figures,
    decided_by,
    floor_figures,
    gain_figure,
)
from judge_pipeline.criteria.ablation_calls import call_rows, saving_rows
from judge_pipeline.criteria.ablation_evidence import aspect_rows, decisive_rows
from judge_pipeline.criteria.ablation_pairs import AblationPairs, ablation_pairs
from judge_pipeline.criteria.ablation_rows import (
    Row,
    Subject,
    figure_rows,
    own_monolithic,
    paper_tables,
    unguided_twins,
    with_holm,
)
from judge_pipeline.criteria.ablation_skew import skew_figures
from judge_pipeline.statistics.bootstrap import N_RESAMPLES
from judge_pipeline.tables.criteria_ablation import CRITERIA_ABLATION, CRITERIA_ASPECTS, DECISIVE_CRITERIA

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.preference.figure_rows import Figure
    from judge_pipeline.settings.criteria import Configuration
    from judge_pipeline.tables.criteria_ablation import JudgedTables


NOT_OF_DECISIONS = (ablation_skew.TABLE, ablation_calls.TABLE)
"""Tables of the paper that are not about what is decided: 6 and 7 are arranged by modules of their own."""


@dataclass(frozen=True)
class Ablation:
    """The tables of an ablation.

    Attributes:
        ablation: table CRITERIA_ABLATION.
        aspects: table CRITERIA_ASPECTS.
        decisive: table DECISIVE_CRITERIA.
    """

    ablation: pd.DataFrame
    aspects: pd.DataFrame
    decisive: pd.DataFrame


def criteria_ablation(
    pairs: pd.DataFrame, splits: pd.DataFrame, judged: Sequence[JudgedTables],
    configurations: Mapping[str, Configuration], *, seed: int = 0, n_resamples: int = N_RESAMPLES,
) -> Ablation:  # fmt: skip
    """Every figure of what configurations decide on a set's validation pairs.

    Intervals: cluster bootstrap over groups of identical instruction, the same draws for all configurations, so that
    gains are paired. p-values are two-sided, and corrected (Holm) over the rows of one figure in a table of the paper;
    outside these over one judge's configurations, and by category over the categories of one configuration.

    Args:
        pairs: table PREFERENCE_PAIRS.
        splits: table PREFERENCE_SPLITS; pairs of split val count, and no other.
        judged: what each judge@configuration came to; those whose configuration is not known are refused.
        configurations: of criteria.yaml, in its order, which is that of rows of the paper's tables.
        seed: seed of the bootstrap.
        n_resamples: resamples behind each interval.

    Raises:
        ValueError: a configuration is not in criteria.yaml.
    """
    unknown = sorted({of.configuration for of in judged} - configurations.keys())
    if unknown:
        raise ValueError(
            f"{', '.join(unknown)} was judged and is not in criteria.yaml. Remedy: put it back, or remove its tables"
        )
    own = ablation_pairs(pairs, splits, seed, n_resamples)
    if not own.pair_ids or not judged:
        return Ablation(CRITERIA_ABLATION.empty(), CRITERIA_ASPECTS.empty(), DECISIVE_CRITERIA.empty())
    rows = figure_rows(floor_figures(own), own.clusters)
    aspects: list[Row] = []
    decisive: list[Row] = []
    for judge in dict.fromkeys(of.judge for of in judged):
        found = _OfJudge(own, {of.configuration: of for of in judged if of.judge == judge}, configurations)
        rows += found.rows()
        aspects += [row for name in found.names for row in aspect_rows(own, found.judged[name])]
        decisive += found.decisive()
    return Ablation(
        CRITERIA_ABLATION.conform(with_holm(rows)),
        CRITERIA_ASPECTS.conform(aspects),
        DECISIVE_CRITERIA.conform(decisive),
    )


class _OfJudge:
    """The configurations of one judge, in the order of criteria.yaml."""

    def __init__(
        self, pairs: AblationPairs, judged: Mapping[str, JudgedTables], configurations: Mapping[str, Configuration]
    ) -> None:
        self.pairs, self.judged, self.configurations = pairs, judged, configurations
        self.names = [name for name in configurations if name in judged]
        self.decided = {name: decided_by(pairs, judged[name]) for name in self.names}
        self.monolithic = own_monolithic(configurations, judged)

    def rows(self) -> list[Row]:
        figures: dict[Subject, Figure] = {}
        for name in self.names:
            figures |= accuracy_figures(self.pairs, self.judged[name], self.decided[name])
            figures |= self._changes(name)
            figures |= skew_figures(self.pairs, self.judged[name])
        for name, twin in unguided_twins(self.configurations, self.judged).items():
            figures |= self._gain(None, None, name, "gain_over_unguided", twin)
        for table, arranged in paper_tables(self.configurations).items():
            if table in NOT_OF_DECISIONS:
                continue
            figures |= self._arranged(table, [(row, name) for row, name in arranged if name in self.judged])
        rows = figure_rows(figures, self.pairs.clusters)
        for name in self.names:
            rows += call_rows(self.judged[name]) + saving_rows(self.judged[name], self.configurations[name])
        return rows

    def decisive(self) -> list[Row]:
        if self.monolithic is None:
            return []
        plain = self.decided[self.monolithic]
        others = [name for name in self.names if name != self.monolithic]
        return [row for n in others for row in decisive_rows(self.pairs, self.judged[n], self.decided[n], plain)]

    def _changes(self, name: str) -> dict[Subject, Figure]:
        if self.monolithic in (None, name):
            return {}
        plain: Decided = self.decided[self.monolithic]
        return change_figures(self.pairs, self.judged[name], self.decided[name], self.monolithic, plain)

    def _arranged(self, table: str, rows: Sequence[tuple[str, str]]) -> dict[Subject, Figure]:
        """The rows of one table of the paper: Acc, and gains over the monolithic one and over the row before."""
        figures: dict[Subject, Figure] = {}
        before: str | None = None
        for row, name in rows:
            acc = Subject(table, row, self.judged[name].judge, name, None, None, "acc")
            figures[acc] = acc_figure(self.decided[name])
            if self.monolithic not in (None, name):
                figures |= self._gain(table, row, name, "gain_over_monolithic", str(self.monolithic))
            if before is not None:
                figures |= self._gain(table, row, name, "gain_over_previous", before)
            before = name
        return figures

    def _gain(self, table: str | None, row: str | None, name: str, figure: str, over: str) -> dict[Subject, Figure]:
        subject = Subject(table, row, self.judged[name].judge, name, over, None, figure)
        return {subject: gain_figure(self.decided[name], self.decided[over])}
