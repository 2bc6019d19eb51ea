"""What is to be read."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any, ClassVar

from . import _tapewise as native
from .errors import InputError
from .table import Table

Numbers = Iterable[int] | int


def _numbers(code: str, values: Iterable[Any], what: str) -> array[Any]:
    """Numbers as an array; those of numpy are copied as they are."""
    try:
        view = memoryview(values)  # type: ignore[arg-type]
    except TypeError:
        pass
    else:
        if view.ndim == 1 and view.contiguous and view.itemsize == 8 and view.format in ("l", "q", "L", "Q"):
            signed = array("q" if view.format in ("l", "q") else "Q")
            signed.frombytes(view.cast("B"))
            if code == signed.typecode:
                return signed
            if code == "Q" and (not signed or min(signed) >= 0):
                return array("Q", signed.tobytes())
    try:
        return array(code, [float(value) if code == "d" else _whole(value) for value in values])
    except (OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{what}: {error}") from None


def _whole(value: Any) -> int:
    """A whole number, which a float may be too; others are not cut to one."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{value!r} is no whole number") from None


def _column(code: str, values: Iterable[Any] | float, count: int, what: str) -> array[Any]:
    if isinstance(values, (int, float)):
        column = _numbers(code, [values], what) * count
    else:
        column = _numbers(code, values, what)
    if len(column) != count:
        raise InputError(f"{what}: {len(column)} numbers for {count} requests")
    return column


@dataclass(frozen=True)
class NativeColumns:
    """Columns of a batch as the bytes of numbers of 64 bits, one row for each run of blocks."""

    ids: list[str]
    block_size: int | None
    request: bytes
    start_block: bytes
    block_count: bytes
    byte_count: bytes
    partition: bytes
    recorded: bytes
    """Start wrap, start LPOS, end wrap, end LPOS, one after the other; empty if none is recorded."""
    priority: bytes
    deadline_s: bytes

    numbers: ClassVar[tuple[str, ...]] = (
        "request",
        "start_block",
        "block_count",
        "byte_count",
        "partition",
        "recorded",
        "priority",
        "deadline_s",
    )


class Batch:
    """Requests, each a run of blocks; or, from a file, each a file of one or more runs."""

    __slots__ = (
        "block_count",
        "block_size",
        "byte_count",
        "deadline_s",
        "ids",
        "notices",
        "partition",
        "priority",
        "recorded",
        "request",
        "start_block",
    )

    def __init__(
        self,
        start_block: Iterable[int],
        block_count: Numbers = 1,
        *,
        ids: Sequence[str] | None = None,
        block_size: int | None = None,
        byte_count: Numbers = 0,
        partition: Numbers = -1,
        priority: Numbers = 0,
        deadline_s: Iterable[float] | float = -1.0,
    ) -> None:
        """`block_size` is how many bytes of tape a block takes; `deadline_s` seconds from now, negative if there is
        none; `partition` negative if the tape has only one."""
        self.start_block = _numbers("Q", start_block, "start_block")
        count = len(self.start_block)
        self.block_count = _column("Q", block_count, count, "block_count")
        if 0 in self.block_count:
            raise InputError(f"block_count: row {self.block_count.index(0)} has no blocks")
        self.byte_count = _column("Q", byte_count, count, "byte_count")
        self.partition = _column("q", partition, count, "partition")
        self.priority = _column("q", priority, count, "priority")
        self.deadline_s = _column("d", deadline_s, count, "deadline_s")
        self.ids = [str(at) for at in range(count)] if ids is None else list(ids)
        if len(self.ids) != count:
            raise InputError(f"ids: {len(self.ids)} for {count} requests")
        self.request = array("Q", range(count))
        self.recorded = array("q")
        if 0 in _numbers("Q", [] if block_size is None else [block_size], "block_size"):
            raise InputError("block_size: 0 bytes")
        self.block_size = block_size
        self.notices: list[str] = []

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, block_size: int | None = None) -> Batch:
        """Requests of a file in any format that names its blocks: CSV, JSON Lines, a CTA listing."""
        name = os.fspath(path)
        return cls.parse(Path(path).read_bytes(), name=name, block_size=block_size)

    @classmethod
    def parse(cls, text: bytes | str, *, name: str = "requests", block_size: int | None = None) -> Batch:
        """The same from the content of a file."""
        content = text.encode() if isinstance(text, str) else text
        columns = native.read_requests(name, content, block_size)
        batch = cls.__new__(cls)
        codes = {"partition": "q", "recorded": "q", "priority": "q", "deadline_s": "d"}
        for column, values in columns.items():
            is_numbers = column not in ("ids", "notices", "block_size")
            setattr(batch, column, array(codes.get(column, "Q"), values) if is_numbers else values)
        return batch

    @classmethod
    def random(
        cls, count: int, *, last_block: int, block_count: int = 2_000, block_size: int = 524_288, seed: int = 1
    ) -> Batch:
        """Requests at random places before `last_block`, the same for the same seed."""
        import random

        if not 0 < block_count <= last_block:
            raise InputError(f"{block_count} blocks do not fit before block {last_block}")
        draw = random.Random(seed)
        starts = [draw.randrange(last_block - block_count + 1) for _ in range(count)]
        return cls(starts, block_count, block_size=block_size)

    def columns(self) -> Table:
        """One row for each run of blocks."""
        return Table(
            id=[self.ids[at] for at in self.request],
            start_block=self.start_block.tolist(),
            block_count=self.block_count.tolist(),
            partition=[None if at < 0 else at for at in self.partition],
        )

    def _native(self) -> NativeColumns:
        """The columns as the library takes them."""
        numbers = {name: getattr(self, name).tobytes() for name in NativeColumns.numbers}
        return NativeColumns(self.ids, self.block_size, **numbers)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        blocks = sum(self.block_count)
        return f"Batch({len(self.ids)} requests, {blocks} blocks, block_size={self.block_size})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Batch) and self.__getstate__() == other.__getstate__()

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
