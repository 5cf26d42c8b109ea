"""What the criteria report is made from: what each configuration came to, its ablation, guidance, and the judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

import pandas as pd

from judge_pipeline.report.inputs import JudgeKind
from judge_pipeline.settings.criteria import GUIDED_STAGES, Configuration
from judge_pipeline.settings.guidance import GuidanceFile
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import criteria, criteria_ablation, preference
from judge_pipeline.tables.criteria_ablation import JudgedTables

_TABLES = {table.name: table for module in (criteria, criteria_ablation, preference) for table in module.TABLES}

SCRIPTED = "scripted"
"""How the name of a judge begins whose answers follow a script."""


@dataclass(frozen=True, slots=True)
class GuidanceShown:
    """Guidance that configurations are given, as a reader must see it.

    Attributes:
        name: the file's name.
        sha256: hash of its content.
        used_by: the judges' configurations that are given it, as judge@configuration.
        file: its texts, and what it was made from; None where it may not be used.
        problem: why it may not be used, in words; None where it may: no pair that is judged is among its records.
        outdated: of ``used_by`` those that were judged with other guidance than this.
    """

    name: str
    sha256: str
    used_by: tuple[str, ...]
    file: GuidanceFile | None
    problem: str | None = None
    outdated: tuple[str, ...] = ()


@dataclass(frozen=True)
class CriteriaReportInput:
    """The tables of one preference set as criteria were judged on it.

    Tables that are None were not made: the report says so, and what to run.

    Attributes:
        preference_pairs: table PREFERENCE_PAIRS.
        judged: what each judge@configuration came to.
        configurations: of criteria.yaml, in its order.
        pair_texts: table PAIR_TEXTS.
        criteria_ablation: table CRITERIA_ABLATION.
        criteria_aspects: table CRITERIA_ASPECTS.
        decisive_criteria: table DECISIVE_CRITERIA.
        kinds: judge -> what it is.
        guidance: what configurations are given.
        left_out: judge@configuration -> why what is stored of it cannot be used.

    Raises:
        TableError: a table does not fit its schema.
    """

    preference_pairs: pd.DataFrame
    judged: Sequence[JudgedTables]
    configurations: Mapping[str, Configuration]
    pair_texts: pd.DataFrame | None = None
    criteria_ablation: pd.DataFrame | None = None
    criteria_aspects: pd.DataFrame | None = None
    decisive_criteria: pd.DataFrame | None = None
    kinds: Mapping[str, JudgeKind] = field(default_factory=dict)
    guidance: Sequence[GuidanceShown] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, schema in self.schemas().items():
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, schema.conform(given))

    @classmethod
    def schemas(cls) -> dict[str, Table]:
        """The schema of each table that there is once for the set, by its name."""
        return {item.name: _TABLES[item.name] for item in fields(cls) if item.name in _TABLES}

    @property
    def missing(self) -> list[str]:
        """The tables that were not made."""
        absent = [name for name in self.schemas() if getattr(self, name) is None]
        return absent if self.judged else [*absent, criteria.CRITERIA_DECISIONS.name]

    @property
    def judges(self) -> list[str]:
        """The judges that judged, in the order of their names."""
        return sorted({own.judge for own in self.judged})

    def called(self, judge: str) -> str:
        """What a judge is called on the page: its name with what a reader must know of it."""
        return self.kinds[judge].label if judge in self.kinds else judge

    def of_judge(self, judge: str) -> dict[str, JudgedTables]:
        """Configuration -> what it came to, in the order of criteria.yaml; those no longer there come last."""
        own = {each.configuration: each for each in self.judged if each.judge == judge}
        order = [name for name in self.configurations if name in own]
        return {name: own[name] for name in (*order, *sorted(own.keys() - set(order)))}

    def monolithic_of(self, judge: str) -> str | None:
        """The judge's plain monolithic configuration: the first without guidance."""
        for name in self.of_judge(judge):
            own = self.configurations.get(name)
            if own is not None and own.is_monolithic and own.guidance is None:
                return name
        return None

    def full_of(self, judge: str) -> str | None:
        """The judge's full configuration: of those with criteria the one with most of the method's parts.

        Of several alike the first that stands for a row of Table 2, else the first in criteria.yaml.
        """
        known = [(name, self.configurations[name]) for name in self.of_judge(judge) if name in self.configurations]
        criterial = [(name, own) for name, own in known if not own.is_monolithic]
        return max(criterial, key=lambda each: _parts(each[1]), default=(None,))[0]


def _parts(own: Configuration) -> tuple[int, bool]:
    """How many parts of the method a configuration has, and whether it stands for a row of Table 2."""
    use = own.guidance
    parts = [
        own.criterion_judge == "pairwise", own.refinement == "btcr", own.swap_filter, own.aggregator == "judge",
        use is not None and use.general, use is not None and use.category == "given",
        *(use is not None and stage in use.stages for stage in GUIDED_STAGES),
    ]  # fmt: skip
    return sum(parts), any(row.partition(":")[0].strip() == "2" for row in own.paper_rows)


def is_scripted(kind: JudgeKind) -> bool:
    """Whether a judge's answers follow a script, or are made up: no model is behind them."""
    return kind.simulated or kind.judge.startswith(SCRIPTED)
