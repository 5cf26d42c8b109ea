"""What was read of a preference set, for people and as JSON: what became of its files' rows, choices, profile."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_pipeline.settings import PreferenceSettings

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    from judge_pipeline.orchestration.parquet_store import ParquetStore

_FIGURES = {
    "instructions": "Different instructions",
    "natural_languages": "Natural languages",
    "programming_languages": "Programming languages",
    "context_chars": "Context, characters",
    "output_chars": "Response, characters",
    "code_lines": "Code, lines",
    "edit_distance_lines": "Edit distance, lines",
    "with_instruction": "With an instruction",
    "with_file_context": "With a file",
    "with_code_to_edit": "With code to edit",
    "ties": "Ties",
    "chose_first_in_source": "Chose the source's first",
    "same_response": "Same response twice",
}
"""The figures of the profile that are shown, by their names for people."""


def what_was_read(store: ParquetStore, name: str, settings: PreferenceSettings) -> dict[str, Any]:
    """What the set's tables of reading say, as plain JSON values.

    Args:
        store: where they lie.
        name: the set.
        settings: its settings.
    """
    from judge_pipeline.tables import DATASET_PROFILE, PREFERENCE_PAIRS, PREFERENCE_SELECTION, PREFERENCE_SPLITS

    return {
        "set": name,
        "title": settings.title,
        "chosen_by": settings.chosen_by,
        "choices": _counts(store.read(PREFERENCE_PAIRS, name)["w"]),
        "splits": _counts(store.read(PREFERENCE_SPLITS, name)["split"]),
        "rows": _records(store.read(PREFERENCE_SELECTION, name)),
        "profile": _records(store.read(DATASET_PROFILE, name)),
    }


def _counts(values: pd.Series) -> dict[str, int]:
    return {str(value): int(n) for value, n in sorted(values.value_counts().items())}


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as plain JSON values; what is missing is null."""
    plain = table.astype(object).where(table.notna(), None)
    return [{str(key): value for key, value in row.items()} for row in plain.to_dict("records")]


def print_set(console: Console, found: dict[str, Any]) -> None:
    """Print what the set is: pairs, who chose, choices and splits."""
    from rich.text import Text

    from judge_pipeline.figures.style import clean

    choices = ", ".join(f"{choice} {n}" for choice, n in found["choices"].items())
    splits = ", ".join(f"{split} {n}" for split, n in found["splits"].items())
    title = f"{clean(found['title'] or found['set'])}: {sum(found['choices'].values())} pairs"
    console.print(Text(title), style="bold")
    console.print(Text(f"Chosen by: {clean(found['chosen_by'])}. Choices: {choices}. Splits: {splits}."))


def print_reading(console: Console, found: dict[str, Any], pairs_file: Path) -> None:
    """Print all that was read: the set, what became of the files' rows, the profile."""
    print_set(console, found)
    console.print(_rows_table(found["rows"]))
    _print_profile(console, found["profile"])
    console.print(f"Pairs: {pairs_file}", soft_wrap=True)


def _rows_table(rows: list[dict[str, Any]]) -> Table:
    from rich import box
    from rich.table import Table

    from judge_pipeline.figures.style import clean

    table = Table(title="What became of the files' rows", box=box.SIMPLE_HEAD, title_justify="left")
    for heading, justify in (("Rows", "right"), ("", "left"), ("Why", "left"), ("Setting", "left"), ("File", "left")):
        table.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]  # one of rich's words
    for row in rows:
        effect = row["effect"].replace("_", " ")
        table.add_row(f"{row['n']:,}", effect, row["reason"], row["setting"] or "", clean(row["source_file"]))
    return table


def _print_profile(console: Console, profile: list[dict[str, Any]]) -> None:
    from rich import box
    from rich.table import Table

    by_name = {(row["figure"], row["statistic"]): row for row in profile if row["level"] is None}
    table = Table(title="Profile", box=box.SIMPLE_HEAD, title_justify="left")
    for heading in ("", "All", "p50", "p95"):
        table.add_column(heading, justify="left" if not heading else "right")
    reasons = []
    for figure, words in _FIGURES.items():
        cells = [by_name.get((figure, statistic)) for statistic in ("count", "share", "p50", "p95")]
        reasons += [f"{words}: {row['reason']}." for row in cells if row is not None and row["reason"]][:1]
        count, share, p50, p95 = map(_shown, cells)
        table.add_row(words, count or (f"{share} %" if share else ""), p50, p95)
    console.print(table)
    for reason in reasons:
        console.print(reason, soft_wrap=True)


def _shown(row: dict[str, Any] | None) -> str:
    """A figure for the table: shares in percent, empty where there is none."""
    if row is None:
        return ""
    if row["value"] is None:
        return "–"
    return f"{100 * row['value']:.1f}" if row["statistic"] == "share" else f"{row['value']:,.0f}"
