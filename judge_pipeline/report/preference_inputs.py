"""What the preference report is made from: a set's tables, where they come from, what judges and items are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

import pandas as pd

from judge_pipeline.report.inputs import JudgeKind, judge_kinds
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import misalignment, pair_judging, preference, preference_accuracy, rubric

_TABLES = {
    table.name: table
    for module in (preference, pair_judging, preference_accuracy, rubric, misalignment)
    for table in module.TABLES
}

OVER_SETS = ("preference_ranks", "rubric_themes")
"""Tables of the report that there are once, over all sets."""

VIEWS_OVER_SETS = ("ranks", "themes", "missing")
"""The views that show them, or that they are not there."""

JUDGMENTS = pair_judging.PAIR_JUDGMENTS
"""The one table that there is for each judge."""


@dataclass(frozen=True)
class PreferenceReportInput:
    """The tables of one preference set, by their names; each is conformed to its schema when given.

    Those that are None were not made: the report says so, and what to run. ``pair_judgments`` is judge -> table.

    Raises:
        TableError: a table does not fit its schema.
    """

    preference_pairs: pd.DataFrame
    pair_texts: pd.DataFrame | None = None
    preference_selection: pd.DataFrame | None = None
    preference_quarantine: pd.DataFrame | None = None
    preference_splits: pd.DataFrame | None = None
    dataset_profile: pd.DataFrame | None = None
    pair_judgments: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    pair_judge_coverage: pd.DataFrame | None = None
    preference_accuracy: pd.DataFrame | None = None
    preference_ranks: pd.DataFrame | None = None
    rubric: pd.DataFrame | None = None
    rubric_scores: pd.DataFrame | None = None
    rubric_score_agreement: pd.DataFrame | None = None
    rubric_themes: pd.DataFrame | None = None
    preference_models: pd.DataFrame | None = None
    preference_model_fits: pd.DataFrame | None = None
    misalignment: pd.DataFrame | None = None
    rubric_disagreements: pd.DataFrame | None = None

    def __post_init__(self) -> None:
        for name, schema in self.schemas().items():
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, schema.conform(given))
        judged = {judge: JUDGMENTS.conform(table) for judge, table in self.pair_judgments.items()}
        object.__setattr__(self, "pair_judgments", judged)

    @classmethod
    def schemas(cls) -> dict[str, Table]:
        """The schema of each table but that of each judge, by its name."""
        return {item.name: _TABLES[item.name] for item in fields(cls) if item.name != JUDGMENTS.name}

    @property
    def missing(self) -> list[str]:
        """The tables that were not made."""
        absent = [name for name in self.schemas() if getattr(self, name) is None]
        return absent if self.pair_judgments else [*absent, JUDGMENTS.name]

    @property
    def kinds(self) -> dict[str, JudgeKind]:
        """What each judge is, by its name in judges.yaml."""
        return {} if self.pair_judge_coverage is None else judge_kinds(self.pair_judge_coverage)

    @property
    def families(self) -> dict[str, str]:
        """Judge's label -> its family, for the judges that have one."""
        if self.pair_judge_coverage is None:
            return {}
        rows = self.pair_judge_coverage[self.pair_judge_coverage["family"].notna()]
        kinds = self.kinds
        return {kinds[judge].label: family for judge, family in zip(rows["judge"], rows["family"], strict=True)}


PEOPLE = "people"
"""What ``chosen_by`` says where people chose."""

NOBODY = ("no person", "no people", "nobody", "no one", "no human")
"""How ``chosen_by`` says, among other words, that people did not."""


def chooser_of(chosen_by: str) -> str:
    """What those whose choices the labels are shall be called: ``people``, or ``the labels`` where they are not."""
    return PEOPLE if chosen_by.strip().casefold() == PEOPLE else "the labels"


@dataclass(frozen=True, slots=True)
class PreferenceProvenance:
    """Where a report's numbers come from. No clock: the same data give the same bytes.

    Attributes:
        preference_set: the set's slug.
        fingerprint: hash over the set's files.
        seed: the seed of the set's settings.
        resamples: resamples behind the intervals of accuracy.
        code_version: version of judge_pipeline.
        chosen_by: who or what chose, from preference.yaml.
        title: the set's name for people.
        note: what a reader must know about these data, from preference.yaml.
        rule: the scoring rule that the findings go by.
        rules: scoring rule -> what it counts as right, in words.
        prompt_hashes: what is asked (a judge, the rubric) -> sha256 of the prompt template.
        asked_with: judge -> the parameters that it was asked with, as JSON.
        data_versions: table -> its data version.
        settings: any further setting that bears on the numbers, as text.
        version: the version of the package.
    """

    preference_set: str
    fingerprint: str
    seed: int
    resamples: int
    code_version: str
    chosen_by: str = PEOPLE
    title: str | None = None
    note: str | None = None
    rule: str = "trace"
    rules: Mapping[str, str] = field(default_factory=dict)
    prompt_hashes: Mapping[str, str] = field(default_factory=dict)
    asked_with: Mapping[str, str] = field(default_factory=dict)
    data_versions: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    version: str = ""

    @property
    def by_people(self) -> bool:
        """Whether the set says no more than that people chose."""
        return self.chooser == PEOPLE

    @property
    def by_nobody(self) -> bool:
        """Whether the set says that no person chose."""
        return any(words in self.chosen_by.casefold() for words in NOBODY)

    @property
    def chooser(self) -> str:
        """What figures call those whose choices the labels are: ``people``, or ``the labels`` where it is not plain."""
        return chooser_of(self.chosen_by)


def item_titles(rubric_table: pd.DataFrame | None) -> dict[str, str]:
    """Rubric item -> its title, with the item's name behind it where two have the same one."""
    if rubric_table is None:
        return {}
    titles = dict(zip(rubric_table["item"], rubric_table["title"], strict=True))
    n = Counter(titles.values())
    return {item: title if n[title] == 1 else f"{title} ({item})" for item, title in titles.items()}


def labelled(given: PreferenceReportInput) -> PreferenceReportInput:
    """The same tables with judges called by their labels and rubric items by their titles.

    So no figure can be shown without its judge's tags. ``pair_judge_coverage`` and ``rubric`` stay as they are.
    """
    judges = {judge: kind.label for judge, kind in given.kinds.items()}
    items = item_titles(given.rubric)
    changed = {
        name: _relabelled(table, judges, items)
        for name in (
            "rubric_scores", "rubric_score_agreement", "preference_models", "preference_model_fits", "misalignment",
            "rubric_disagreements",
        )
        if (table := getattr(given, name)) is not None
    }  # fmt: skip
    if (accuracy := given.preference_accuracy) is not None:
        of_judges = accuracy["of"].isin(("judge", "difference", "agreement", "people"))
        names = {
            column: accuracy[column].where(~of_judges, accuracy[column].map(lambda name: judges.get(name, name)))
            for column in ("name", "other")
        }
        changed["preference_accuracy"] = accuracy.assign(**names)
    judged = {judges.get(judge, judge): table for judge, table in given.pair_judgments.items()}
    return replace(given, **changed, pair_judgments=judged)


def _relabelled(table: pd.DataFrame, judges: Mapping[str, str], items: Mapping[str, str]) -> pd.DataFrame:
    words = {"judge": judges, "item": items, "other": judges}
    return table.assign(
        **{
            column: table[column].map(lambda name, known=known: known.get(name, name))
            for column, known in words.items()
            if column in table
        }
    )
