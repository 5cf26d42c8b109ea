"""What a table's schema is: it validates a table, documents it, and shows its columns in the UI.

Column types are named here without importing pandas or pyarrow, so that the code location stays light; they are
imported when a table is conformed. A table in memory is a pandas DataFrame; on disk it is Parquet with exactly these
columns in this order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

Kind = Literal["string", "int", "float", "bool", "instant"]


class TableError(ValueError):
    """A table breaks its schema. The message names the table, the column, the rows and the remedy."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, kind, meaning, and what its values may be.

    Attributes:
        name: the column's name; units are part of it.
        kind: string, int, float, bool or instant (UTC, microseconds).
        description: what it holds, in one sentence.
        nullable: whether a value may be missing.
        allowed: the closed set of values, where there is one.
        low: the least value allowed (inclusive).
        high: the greatest value allowed (inclusive).
    """

    name: str
    kind: Kind
    description: str
    nullable: bool = False
    allowed: tuple[str, ...] | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Table:
    """A table's schema.

    Attributes:
        name: the table's name, which is also its asset's name.
        description: what one row is.
        columns: the columns in order.
        key: the columns whose values together are unique (a missing value counts as a value).
        open_prefix: wide tables may have further float columns whose names start so (one for each judge).
        open_description: what those further columns hold.
    """

    name: str
    description: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    open_prefix: str | None = None
    open_description: str = ""
    by_name: Mapping[str, Column] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {column.name: column for column in self.columns})
        unknown = [name for name in self.key if name not in self.by_name]
        if unknown:
            raise ValueError(f"table {self.name}: key columns {unknown} are not columns of the table")

    @property
    def column_names(self) -> list[str]:
        """The names of the fixed columns, in order."""
        return [column.name for column in self.columns]

    def empty(self) -> pd.DataFrame:
        """A table of this schema without rows."""
        return self.conform([])

    def conform(self, rows: pd.DataFrame | Iterable[Mapping[str, Any]]) -> pd.DataFrame:
        """The rows as a DataFrame of exactly this schema: columns in order, dtypes set, values checked.

        Strings are ``object`` with None, integers ``Int64``, floats ``float64`` with NaN for null, booleans
        ``boolean``, instants ``datetime64[us, UTC]``. Row order is kept and the index is 0..n-1.

        Raises:
            TableError: a missing or unknown column, a missing value where none may be, a value of the wrong kind,
                outside the closed set or out of range, or a key that is not unique.
        """
        import pandas as pd

        frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame.from_records(list(rows))
        columns = self._columns_of(frame)
        typed = {column.name: self._typed(frame, column) for column in columns}
        table = pd.DataFrame(typed, index=pd.RangeIndex(len(frame)), copy=False)  # each of them is a copy already
        for column in columns:
            self._check_values(table, column, typed[column.name])
        self._check_key(table)
        return table

    def arrow_schema(self, open_columns: Iterable[str] = ()) -> pa.Schema:
        """The Parquet schema; ``open_columns`` are the further columns of a wide table."""
        import pyarrow as pa

        kinds = {
            "string": pa.large_string(),
            "int": pa.int64(),
            "float": pa.float64(),
            "bool": pa.bool_(),
            "instant": pa.timestamp("us", tz="UTC"),
        }
        fields = [pa.field(c.name, kinds[c.kind], nullable=c.nullable) for c in self.columns]
        fields += [pa.field(name, pa.float64(), nullable=True) for name in open_columns]
        return pa.schema(fields)

    def to_arrow(self, rows: pd.DataFrame | Iterable[Mapping[str, Any]]) -> pa.Table:
        """The rows, conformed, as an Arrow table ready for Parquet."""
        return self.arrow_of(self.conform(rows))

    def arrow_of(self, table: pd.DataFrame) -> pa.Table:
        """The same of rows that are conformed, which is not checked again."""
        import pyarrow as pa

        schema = self.arrow_schema(name for name in table.columns if name not in self.by_name)
        return pa.Table.from_pandas(table, schema=schema, preserve_index=False).replace_schema_metadata(None)

    def _columns_of(self, frame: pd.DataFrame) -> list[Column]:
        if len(frame.columns) == 0 and len(frame) == 0:
            return list(self.columns)
        given = set(frame.columns)
        missing = [name for name in self.column_names if name not in given]
        if missing:
            raise TableError(f"table {self.name}: column(s) {missing} are missing; it has {list(frame.columns)}")
        further = [str(name) for name in frame.columns if name not in self.by_name]
        unknown = [name for name in further if not (self.open_prefix and name.startswith(self.open_prefix))]
        if unknown:
            raise TableError(f"table {self.name}: column(s) {unknown} are not in its schema; drop or rename them")
        return [*self.columns, *(Column(name, "float", self.open_description, nullable=True) for name in further)]

    def _typed(self, frame: pd.DataFrame, column: Column) -> Any:
        import pandas as pd

        if column.name not in frame.columns:
            return pd.Series([], dtype=_pandas_dtypes()[column.kind]).array
        try:
            return _as_kind(frame[column.name], column.kind)
        except (TypeError, ValueError) as error:
            raise TableError(
                f"table {self.name}, column {column.name}: values are not of kind {column.kind} ({error})"
            ) from error

    def _check_values(self, table: pd.DataFrame, column: Column, values: Any) -> None:
        if column.nullable and column.allowed is None and column.low is None and column.high is None:
            return
        import numpy as np
        import pandas as pd

        # Arrays, not Series: most tables have few rows, and many reports conform them all again and again.
        missing = pd.isna(values)
        if not column.nullable and missing.any():
            raise TableError(
                f"table {self.name}, column {column.name}: {int(missing.sum())} value(s) are missing "
                f"({self._where(table, missing)})"
            )
        if column.allowed is not None and not {None, *column.allowed}.issuperset(values):
            outside = ~(missing | table[column.name].isin(column.allowed).to_numpy())
            self._refuse(table, column, outside, f"one of {list(column.allowed)}")
        if column.low is not None or column.high is not None:
            is_float = isinstance(values, np.ndarray)
            numbers = values if is_float else values.to_numpy(dtype="float64", na_value=np.nan)
            if column.low is not None:
                self._refuse(table, column, numbers < column.low, f"at least {column.low:g}")
            if column.high is not None:
                self._refuse(table, column, numbers > column.high, f"at most {column.high:g}")

    def _refuse(self, table: pd.DataFrame, column: Column, wrong: NDArray[np.bool_], rule: str) -> None:
        if wrong.any():
            values = sorted(map(repr, set(table.loc[wrong, column.name].tolist())))[:5]
            raise TableError(
                f"table {self.name}, column {column.name}: {int(wrong.sum())} value(s) are not {rule}: "
                f"{', '.join(values)} ({self._where(table, wrong)})"
            )

    def _check_key(self, table: pd.DataFrame) -> None:
        twice = table.duplicated(subset=list(self.key), keep=False) if self.key and len(table) else None
        if twice is not None and twice.any():
            raise TableError(
                f"table {self.name}: {int(twice.sum())} rows share a key {list(self.key)} that must be unique "
                f"({self._where(table, twice)})"
            )

    def _where(self, table: pd.DataFrame, wrong: NDArray[np.bool_] | pd.Series) -> str:
        rows = table.loc[wrong, list(self.key)].head(3).to_dict("records")
        return "first at " + "; ".join(", ".join(f"{k}={v!r}" for k, v in row.items()) for row in rows)


@cache
def _pandas_dtypes() -> dict[Kind, Any]:
    """The dtypes themselves: what pandas makes of a dtype's name takes longer than to convert a small column."""
    import numpy as np
    import pandas as pd

    return {
        "string": np.dtype("object"),
        "int": pd.Int64Dtype(),
        "float": np.dtype("float64"),
        "bool": pd.BooleanDtype(),
        "instant": pd.DatetimeTZDtype("us", "UTC"),
    }


def _as_kind(values: pd.Series, kind: Kind) -> Any:
    """An array, NumPy's or pandas', of the values as the kind has them; a copy."""
    import pandas as pd

    dtype = _pandas_dtypes()[kind]
    if kind == "string":
        return _as_text(values)
    if kind == "instant":
        return pd.to_datetime(values, utc=True).astype(dtype).array
    typed = values.array.copy() if values.dtype == dtype else values.astype(dtype).array
    return typed.to_numpy() if kind == "float" else typed


def _as_text(values: pd.Series) -> Any:
    import pandas as pd
    from pandas.api.types import infer_dtype

    text = values.to_numpy(dtype="object", copy=True)
    text[pd.isna(text)] = None
    if infer_dtype(text, skipna=True) not in ("string", "empty"):
        wrong = next(value for value in text if value is not None and not isinstance(value, str))
        raise TypeError(f"{wrong!r} is {type(wrong).__name__}, not text")
    return text
