"""Tables that every other package can read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import _tapewise as native
from ._show import html_columns

_SHOWN_ROWS = 20


class Table(dict[str, list[Any]]):
    """A table as columns by name: `pandas.DataFrame(table)` and `polars.DataFrame(table)` take it as it is.

    It is also an Arrow stream (the PyCapsule interface), for readers of these such as `pandas.DataFrame.from_arrow` and
    `pyarrow.RecordBatchReader.from_stream`. None of these packages is required.
    """

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return native.arrow_stream(self)

    @property
    def row_count(self) -> int:
        """Rows."""
        return len(next(iter(self.values()), []))

    def rows(self) -> Iterator[dict[str, Any]]:
        """One dictionary for each row."""
        for row in zip(*self.values(), strict=True):
            yield dict(zip(self, row, strict=True))

    def __repr__(self) -> str:
        names = list(self)
        shown = ", ".join(names[:6]) + (f", and {len(names) - 6} more columns" if len(names) > 6 else "")
        return f"Table({self.row_count} rows: {shown})"

    def _repr_html_(self) -> str:
        rest = self.row_count - _SHOWN_ROWS
        below = f"<p>and {rest} more rows</p>" if rest > 0 else ""
        return html_columns({name: column[:_SHOWN_ROWS] for name, column in self.items()}) + below
