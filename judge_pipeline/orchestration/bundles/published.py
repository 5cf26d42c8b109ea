"""What in a redacted bundle is not as it was published, since pseudonyms put people in another order."""

from __future__ import annotations

from collections.abc import Mapping

from judge_pipeline.orchestration.bundles.comparing import compare_rows
from judge_pipeline.orchestration.bundles.contents import tables_of
from judge_pipeline.orchestration.bundles.facts import BundleFacts
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.orchestration.table_provenance import holds_figures
from judge_pipeline.settings import Workspace
from judge_pipeline.table_schema import TableError
from judge_pipeline.tables import ALL_TABLES

_TABLES = {table.name: table for table in ALL_TABLES}


def differs_from_published(
    workspace: Workspace, made: Workspace, facts: BundleFacts, alias: Mapping[str, str]
) -> tuple[str, dict[str, list[str]]]:
    """In how many tables of figures something is not as it was published.

    Args:
        workspace: with the published tables.
        made: with those under pseudonyms.
        facts: of what the bundle is.
        alias: person -> pseudonym: groups may be called like people.

    Returns:
        A sentence, and for each table in which something differs the columns with how many rows do.
    """
    ours, theirs = store_of(made), store_of(workspace)
    n, other = 0, dict[str, list[str]]()
    for member in tables_of(made, facts):
        _, _, name, *partition = member.path.removesuffix(".parquet").split("/")
        table = _TABLES[name]
        if not holds_figures(table) or {"participant", "rater"} & set(table.column_names):
            continue
        try:
            published = theirs.read(table, *partition)
        except (FileNotFoundError, TableError):
            continue
        n += 1
        again = ours.read(table, *partition)
        if "level" in published:
            published = published.assign(level=[alias.get(level, level) for level in published["level"]])
        key = [column for column in table.key if column in again.columns]
        before, now = (rows.sort_values(key, kind="stable").reset_index(drop=True) for rows in (published, again))
        verdict, said = compare_rows(before, now, tuple(key))
        if verdict == "differs":
            other[name] = [line.split(" (")[0] for line in said]
    same = f"{n - len(other)} of {n} tables of figures hold the values that were published"
    why = "in the others people are drawn or stand in another order, or texts were replaced"
    return f"{same}; {why}: {', '.join(other)}" if other else same, other
