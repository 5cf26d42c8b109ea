"""Where tables lie: one Parquet file for each table and partition, in ``<out>/tables/<table>/<partition>.parquet``.

``<out>`` may be a place in an object store (``Workspace.store_dir``): the files there are the same, byte for byte.
The store is Dagster's IO manager and, for what reads across judges, a plain reader of what is there. The same
table always gives the same bytes; a file is replaced whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import dagster as dg

from judge_pipeline.orchestration.whole_files import parquet_source, write_whole
from judge_pipeline.settings import SLUG
from judge_pipeline.settings.workspace import store_path
from judge_pipeline.table_schema import Table, TableError
from judge_pipeline.tables import ALL_TABLES

if TYPE_CHECKING:
    import pandas as pd

_TABLES = {table.name: table for table in ALL_TABLES}

_PART = re.compile(rf"{SLUG.pattern}(@{SLUG.pattern})?")
"""A slug, or two for a judge under a configuration."""


EVERY_CONTEST = "every-contest"
"""File name of a table over all contests, which has no partition."""

ROWS_IN_GROUP = 8_192
"""Rows of a Parquet row group: what of a table is in memory a second time while its file is made."""


MAX_BYTES_IN_MEMORY = 8 * 2**20
"""A larger file waits on disk to be written."""


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table and its file, made once: an asset tells the file's sha256 as its data version and hands it to the store.

    As a context manager it lets go of the file at the end; what waits on disk is gone then.

    Attributes:
        rows: the table, conformed.
        stream: the file, in memory where it is small, else on disk without a name.
        sha256: of the file, as hexadecimal digits.
    """

    rows: pd.DataFrame
    stream: IO[bytes]
    sha256: str

    def __enter__(self) -> TableFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()

    def data(self) -> bytes:
        """The file's bytes."""
        self.stream.seek(0)
        return self.stream.read()


PROVENANCE_KEY = "judge_pipeline.provenance"
"""Key of a Parquet file's metadata under which it says, as JSON, what it was made from."""


def table_file(table: Table, rows: Any, provenance: Mapping[str, Any] | None = None) -> TableFile:
    """The rows, conformed, with the bytes of their Parquet file: the same rows and provenance give the same bytes.

    Args:
        table: the schema.
        rows: a DataFrame or records.
        provenance: what the rows were made from, to be kept in the file's metadata; plain JSON values.

    Raises:
        TableError: the rows break the schema.
    """
    import pyarrow.parquet as pq

    conformed = table.conform(rows)
    stream = tempfile.SpooledTemporaryFile(MAX_BYTES_IN_MEMORY)  # noqa: SIM115 - it goes with the TableFile
    schema = table.arrow_schema(name for name in conformed.columns if name not in table.by_name)
    try:
        with pq.ParquetWriter(stream, schema, compression="zstd", store_schema=False) as writer:
            for start in range(0, max(len(conformed), 1), ROWS_IN_GROUP):
                writer.write_table(table.arrow_of(conformed.iloc[start : start + ROWS_IN_GROUP]))
            if provenance is not None:
                text = json.dumps(provenance, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
                writer.add_key_value_metadata({PROVENANCE_KEY: text})
        stream.seek(0)
        digest = hashlib.sha256()
        while part := stream.read(1 << 20):
            digest.update(part)
    except BaseException:  # as where the disk is full
        stream.close()
        raise
    return TableFile(conformed, stream, digest.hexdigest())


def parquet_bytes(table: Table, rows: Any) -> bytes:
    """The bytes of the file alone."""
    with table_file(table, rows) as made:
        return made.data()


class ParquetStore(dg.ConfigurableIOManager):
    """Tables as Parquet files below one folder, each with exactly its schema.

    Attributes:
        root: the folder, or the URL of a place in an object store.
    """

    root: str

    @property
    def folder(self) -> Path:
        """The root as a path, or an ``ObjectPath``."""
        return store_path(self.root)

    def path(self, table: Table, *partition: str) -> Path:
        """Where the table of a partition lies."""
        for part in partition:
            if not _PART.fullmatch(part):
                raise ValueError(f"partition key {part!r} cannot be a file name")
        return self.folder.joinpath(table.name, *partition[:-1], f"{partition[-1]}.parquet")

    def write(self, table: Table, rows: Any, *partition: str) -> Path:
        """Conform the rows to the schema and write them, whole or not at all; a ``TableFile`` is written as it is."""
        if not isinstance(rows, TableFile):
            with table_file(table, rows) as made:
                return self.write(table, made, *partition)
        rows.stream.seek(0)
        return write_whole(self.path(table, *partition), rows.stream)

    def read(self, table: Table, *partition: str) -> pd.DataFrame:
        """The table of a partition, conformed.

        Raises:
            FileNotFoundError: it was never made; the message says which asset to materialize.
            TableError: the file is damaged, or of another version's schema; the message says so, too.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not all(_PART.fullmatch(part) for part in partition):  # as in a command with a mistyped folder
            raise FileNotFoundError(f"table {table.name} of {'|'.join(partition)} is not there: it names no partition")
        file = self.path(table, *partition)
        try:
            source = parquet_source(file)
        except FileNotFoundError:
            raise FileNotFoundError(
                f"table {table.name} of {'|'.join(partition)} is not there ({file}); materialize its asset first"
            ) from None
        try:
            with pq.ParquetFile(source) as opened:  # not read_table: a data set of one file takes twice as long
                return table.conform(opened.read().to_pandas(types_mapper=_nullable_integers))
        except (pa.ArrowException, TableError) as error:
            raise TableError(
                f"{file} cannot be read as table {table.name} ({error}); materialize its asset again"
            ) from None

    def provenance(self, table: Table, *partition: str) -> dict[str, Any] | None:
        """What the stored table says that it was made from; None where it says nothing.

        Raises:
            FileNotFoundError: there is no such table.
            TableError: the file is damaged; the message says so.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        file = self.path(table, *partition)
        try:
            text = (pq.read_schema(parquet_source(file)).metadata or {}).get(PROVENANCE_KEY.encode())
            found: dict[str, Any] | None = json.loads(text) if text else None
        except (pa.ArrowException, ValueError) as error:
            raise TableError(
                f"{file} cannot be read as table {table.name} ({error}); materialize its asset again"
            ) from None
        return found

    def parts(self, table: Table, first: str) -> list[str]:
        """The second partition keys that have a table, for a first one: the judges of a contest."""
        folder = self.folder / table.name / first
        return sorted(file.stem for file in folder.glob("*.parquet")) if folder.is_dir() else []

    def partitions(self, table: Table) -> list[str]:
        """The partition keys that have the table, where it is of a contest or a preference set; sorted."""
        folder = self.folder / table.name
        return sorted(file.stem for file in folder.glob("*.parquet")) if folder.is_dir() else []

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        """Write an asset's table."""
        path = self.write(_TABLES[context.asset_key.path[-1]], obj, *_partition(context))
        context.add_output_metadata({"file": dg.MetadataValue.path(str(path))})

    def load_input(self, context: dg.InputContext) -> pd.DataFrame:
        """Read an upstream asset's table."""
        upstream = context.asset_key.path[-1]
        return self.read(_TABLES[upstream], *_partition(context))


def _partition(context: dg.OutputContext | dg.InputContext) -> list[str]:
    if not context.has_asset_partitions:
        return [EVERY_CONTEST]
    key = context.asset_partition_key if isinstance(context, dg.InputContext) else context.partition_key
    if isinstance(key, dg.MultiPartitionKey):
        of = key.keys_by_dimension
        return [of["contest"] if "contest" in of else of["preference_set"], of["judge"]]
    return str(key).split("|")


def _nullable_integers(arrow_type: Any) -> Any:
    import pandas as pd
    import pyarrow as pa

    return {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}.get(arrow_type)
