"""Times and tables as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

Columns = dict[str, list[object]]


def duration(seconds: float) -> str:
    """`45.1 s`, `11m05` or `1h24`."""
    sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
    whole = round(seconds)
    if whole < 60:
        return f"{sign}{seconds:.1f} s"
    if whole < 3600:
        return f"{sign}{whole // 60}m{whole % 60:02}"
    return f"{sign}{whole // 3600}h{whole % 3600 // 60:02}"


def html_table(rows: Mapping[str, object]) -> str:
    """A small table of names and values."""
    cells = (f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in rows.items())
    return f"<table>{''.join(cells)}</table>"


def html_columns(columns: Mapping[str, Sequence[object]]) -> str:
    """A table with a heading for each column."""
    heads = "".join(f"<th>{escape(name)}</th>" for name in columns)
    rows = zip(*columns.values(), strict=True)
    body = ("".join(f"<td>{escape(cell_text(cell))}</td>" for cell in row) for row in rows)
    lines = "".join(f"<tr>{row}</tr>" for row in body)
    return f"<table><tr>{heads}</tr>{lines}</table>"


def cell_text(cell: object) -> str:
    """A cell of a table; numbers with a fraction are rounded."""
    return f"{cell:.1f}" if isinstance(cell, float) else "" if cell is None else str(cell)
