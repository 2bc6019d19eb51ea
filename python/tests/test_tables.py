"""Tables are read by other packages, through Arrow and as dictionaries."""

import pytest

import tapewise
from tapewise import Batch, Cartridge, Table

MIXED = Table(
    whole=[1, None, -(2**62)], part=[0.5, 1, None], text=["a", "", None], truth=[True, None, False], none=[None] * 3
)


def test_arrow_takes_every_kind_of_column() -> None:
    stream = pytest.importorskip("pyarrow").RecordBatchReader.from_stream
    table = stream(MIXED).read_all()
    assert table.to_pydict() == MIXED
    assert [str(kind) for kind in table.schema.types] == ["int64", "double", "string", "bool", "null"]
    assert stream(Table(a=[])).read_all().num_rows == 0
    with pytest.raises(tapewise.InputError, match="mess"):
        stream(Table(mess=[1, "a"]))


def test_a_stream_that_nobody_reads_is_freed() -> None:
    for _ in range(1000):
        Table(a=list(range(100))).__arrow_c_stream__()


def test_pandas_and_polars_make_the_same_table() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    steps = tapewise.order(Batch.random(10, last_block=15_000_000), Cartridge("lto8")).steps
    assert polars.DataFrame(steps).to_dict(as_series=False) == steps
    assert pandas.DataFrame(steps)["to_lpos"].tolist() == steps["to_lpos"]
    assert pandas.DataFrame.from_arrow(steps)["action"].tolist() == steps["action"]


def test_rows_and_words() -> None:
    assert MIXED.row_count == 3 and next(MIXED.rows())["text"] == "a"
    assert repr(MIXED) == "Table(3 rows: whole, part, text, truth, none)"
    assert "and 80 more rows" in Table(a=list(range(100)))._repr_html_()
