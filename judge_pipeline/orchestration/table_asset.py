"""From a function that makes a table to an asset that explains itself.

The factory takes a function that returns ``Made`` rows and adds what every table of the graph has: its schema as
columns in the UI, a preview, row count, data version (sha256 of the Parquet bytes), code version (sha256 of the
rooms it is computed in), and its checks.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import dagster as dg

from judge_pipeline.orchestration.column_lineage import column_lineage
from judge_pipeline.orchestration.launch_forms import fields_of
from judge_pipeline.orchestration.links import links_of_table
from judge_pipeline.orchestration.parquet_store import table_file
from judge_pipeline.orchestration.partitions import CONTESTS, partition_words
from judge_pipeline.table_schema import Column, Table, TableError

OWNERS = ["team:judge-research"]
FAULT = "report a fault of the program, with the run's log; until it is mended, use no figure that rests on this table"
_PACKAGE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Check:
    """An asset check beside the schema check that every table has.

    Attributes:
        name: the check's name in the UI.
        description: what it holds, in one sentence.
        remedy: what to do where it fails, as one reads it after "To do:"; ``FAULT`` where the data cannot be the cause.
        blocking: whether what comes after must wait for it to pass.
        warns: whether a failure is a warning about the data rather than an error.
    """

    name: str
    description: str
    remedy: str
    blocking: bool = False
    warns: bool = False

    def in_words(self) -> str:
        """What it holds, and what to do where it fails."""
        return f"{self.description}. Where it fails: {self.remedy}."


@dataclass(frozen=True)
class Made:
    """Rows that an asset made.

    Attributes:
        rows: a DataFrame, or records, of the asset's table.
        metadata: what else the UI should show.
        problems: check name -> what is wrong, in words; no entry or an empty list means the check passed.
    """

    rows: Any
    metadata: Mapping[str, Any] = field(default_factory=dict)
    problems: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class NotMade:
    """That an asset made no table this time, without having failed: it waits for something.

    Attributes:
        why: what it waits for, in words.
        metadata: what else the UI should show.
    """

    why: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


def code_version(rooms: Iterable[str]) -> str:
    """sha256 (first 16 hex) of the sources of the rooms (files or folders of the package) that compute an asset."""
    digest = hashlib.sha256()
    for room in sorted({*rooms, "tables", "table_schema.py", "estimate.py"}):
        digest.update(_sources(room))
    return digest.hexdigest()[:16]


@cache
def _sources(room: str) -> bytes:
    """Names and contents of the files of a room, as they were when this process first asked: dozens of assets do."""
    place = _PACKAGE / room
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    return b"".join(str(file.relative_to(_PACKAGE)).encode() + b"\0" + file.read_bytes() + b"\0" for file in files)


def column_schema(table: Table) -> dg.TableSchema:
    """The table's columns as the UI shows them."""
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                c.name,
                type=c.kind,
                description=c.description,
                constraints=dg.TableColumnConstraints(
                    nullable=c.nullable, unique=table.key == (c.name,), other=_limits(c)
                ),
            )
            for c in table.columns
        ]
    )


def table_outs(
    tables: Iterable[Table],
    *,
    group: str,
    rooms: Iterable[str],
    kinds: Iterable[str] = ("pandas", "parquet"),
    figures: Collection[Table] = (),
    further_code_version: str = "",
) -> dict[str, dg.AssetOut]:
    """The outputs of a step that makes several tables; ``figures``: those of them that show figures.

    ``further_code_version`` is what else changes them when it changes (prompts, configuration).
    """
    version = code_version(rooms) + (f"-{further_code_version}" if further_code_version else "")
    return {
        table.name: dg.AssetOut(
            key=table.name,
            description=table.description,
            metadata={"dagster/column_schema": column_schema(table), "key": ", ".join(table.key)},
            kinds={*kinds, "plotly"} if table in figures else set(kinds),
            owners=OWNERS,
            group_name=group,
            code_version=version,
        )
        for table in tables
    }


def check_specs(table: Table, checks: Sequence[Check]) -> list[dg.AssetCheckSpec]:
    """The schema check, and the further ones."""
    schema = Check("schema", "Columns, kinds, ranges and the unique key are those of the table's schema", FAULT, True)
    return [
        dg.AssetCheckSpec(c.name, asset=table.name, description=c.in_words(), blocking=c.blocking)
        for c in (schema, *checks)
    ]


def events(
    context: dg.AssetExecutionContext,
    table: Table,
    made: Made,
    checks: Sequence[Check],
    output_name: str,
    provenance: Mapping[str, Any] | None = None,
    draw: Callable[[Any], Mapping[str, Any]] | None = None,
) -> Iterator[Any]:
    """What Dagster is told of a table that was made: the output with its metadata, and each check's result.

    Dagster's page of a check names no partition, so a result says itself of which set or contest it is.
    ``draw`` is given the conformed rows; the metadata that it returns are shown, too.

    Raises:
        dagster.Failure: the rows break the schema; the message names column, rows and remedy.
    """
    from judge_pipeline.report.markdown import preview

    try:
        file = table_file(table, made.rows, provenance)
    except TableError as error:
        raise dg.Failure(str(error), allow_retries=False) from None
    upstream = context.assets_def.asset_deps[dg.AssetKey(table.name)]
    lineage = column_lineage(table, [key.to_user_string() for key in upstream])
    with file:  # Dagster goes on here once the store has it
        yield dg.Output(
            file,
            output_name=output_name,
            data_version=dg.DataVersion(file.sha256),
            metadata={
                "dagster/row_count": len(file.rows),
                "preview": dg.MetadataValue.md(preview(file.rows)),
                **({"dagster/column_lineage": lineage} if lineage else {}),
                **links_of_table(context, _group(context, table)),
                **made.metadata,
                **(draw(file.rows) if draw else {}),
            },
        )
    yield dg.AssetCheckResult(check_name="schema", asset_key=table.name, passed=True, metadata={"rows": len(file.rows)})
    for check in checks:
        yield check_result(table.name, check, made.problems.get(check.name, ()), partition_words(context))


def table_asset(
    table: Table,
    *,
    group: str,
    inputs: Sequence[Table] = (),
    deps: Sequence[Any] = (),
    rooms: Sequence[str] = (),
    checks: Sequence[Check] = (),
    partitions_def: dg.PartitionsDefinition | None = CONTESTS,
    kinds: Iterable[str] = ("pandas", "parquet"),
    further_code_version: str = "",
    resources: Sequence[str] = (),
    may_wait: bool = False,
    figures: bool = False,
    form: type[dg.Config] | None = None,
) -> Callable[[Callable[..., Made | NotMade]], dg.AssetsDefinition]:
    """A decorator: ``fn(context, <one argument for each input table>) -> Made`` becomes the asset of ``table``.

    Args:
        table: the table that the asset holds; its name is the asset's.
        group: the asset's group in the UI.
        inputs: tables that the function is given, read from the store for the same partition.
        deps: further upstream assets that the function reads itself.
        rooms: files and folders of the package that compute it, for the code version.
        checks: checks beside the schema's; the function reports their problems in ``Made``.
        partitions_def: by contest unless said otherwise; None for a table over all contests.
        kinds: tags in the UI for what it is made with.
        further_code_version: what else changes the result when it changes (prompts, configuration).
        resources: keys of resources beside those that every table asset has.
        may_wait: whether the function may return ``NotMade``: the run succeeds, with an observation that says what is
            waited for; the table stays as it was, and what comes after is skipped.
        figures: whether it shows figures (``report.asset_figures``). Their code is not in the code version: a figure
            that is drawn otherwise does not make the table another.
        form: what a person may say when launching it (``launch_forms``).
    """
    version = code_version(rooms) + (f"-{further_code_version}" if further_code_version else "")

    def decorate(fn: Callable[..., Made | NotMade]) -> dg.AssetsDefinition:
        # One asset of a step that makes several may be left out of a run, together with its checks: so may this one.
        @dg.multi_asset(
            name=table.name,
            outs={
                table.name: dg.AssetOut(
                    key=table.name,
                    group_name=group,
                    description=f"{table.description}\n\n{(fn.__doc__ or '').strip()}".strip(),
                    metadata={"dagster/column_schema": column_schema(table), "key": ", ".join(table.key)},
                    kinds={*kinds, "plotly"} if figures else set(kinds),
                    owners=OWNERS,
                    code_version=version,
                    is_required=not may_wait,
                )
            },
            can_subset=may_wait,
            ins={t.name: dg.AssetIn() for t in inputs},
            deps=list(deps),
            partitions_def=partitions_def,
            check_specs=check_specs(table, checks),
            required_resource_keys={"workspace", "progress", "store", *resources},
            config_schema=fields_of(form) if form else None,
        )
        def run(context: dg.AssetExecutionContext, **tables: Any) -> Iterator[Any]:
            from judge_pipeline.orchestration.table_provenance import holds_figures, provenance_by

            made = fn(context, **tables)
            if isinstance(made, NotMade):
                context.log.info(made.why)
                yield dg.AssetObservation(
                    table.name, description=made.why, metadata=made.metadata, partition=str(context.partition_key)
                )
                return
            say = provenance_by(partitions_def) if holds_figures(table) else None
            provenance = say(context, table, inputs, version) if say else None
            draw = partial(_drawn, context, table, tables, version) if figures else None
            yield from events(context, table, made, checks, table.name, provenance, draw)
            context.resources.progress.table(table.name, len(made.rows))

        return run

    return decorate


def _drawn(
    context: dg.AssetExecutionContext, table: Table, inputs: Mapping[str, Any], version: str, rows: Any
) -> dict[str, Any]:
    from judge_pipeline.orchestration.asset_figures import write_figures

    return write_figures(context, table.name, {**inputs, table.name: rows}, version)


def _group(context: dg.AssetExecutionContext, table: Table) -> str:
    return str(context.assets_def.group_names_by_key[dg.AssetKey(table.name)])


def check_result(asset: str, check: Check, problems: Sequence[str], of: str | None) -> dg.AssetCheckResult:
    """What a check came to.

    Args:
        asset: what is checked.
        check: the check.
        problems: what is wrong, in words; none: it passed.
        of: the partition in words.
    """
    more = f"; and {len(problems) - 5} more" if len(problems) > 5 else ""
    said = f"{'; '.join(problems[:5])}{more}. To do: {check.remedy}."
    return dg.AssetCheckResult(
        check_name=check.name,
        asset_key=asset,
        passed=not problems,
        severity=dg.AssetCheckSeverity.WARN if check.warns else dg.AssetCheckSeverity.ERROR,
        description=(f"{of}: {said}" if of else said) if problems else None,
        metadata={"problems": len(problems)}
        | ({"partition": of} if of else {})
        | ({"first": "\n".join(problems[:20]), "to_do": check.remedy} if problems else {}),
    )


def _limits(column: Column) -> list[str]:
    allowed = [f"one of {', '.join(column.allowed)}"] if column.allowed else []
    low = [f">= {column.low:g}"] if column.low is not None else []
    return allowed + low + ([f"<= {column.high:g}"] if column.high is not None else [])
