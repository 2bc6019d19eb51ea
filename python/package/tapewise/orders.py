"""Orders, and what they take."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from . import _tapewise as native
from ._show import duration, html_table
from .batch import Batch
from .cartridge import Cartridge
from .errors import SearchError
from .table import Table

Objective = Literal["total", "mean", "deadline"]
Status = Literal["optimal", "bounded", "feasible"]


@dataclass(frozen=True)
class _Placement:
    head: str
    end: str
    read_through: bool


@dataclass(frozen=True, repr=False)
class Plan:
    """An order with what it takes, and what the drive does step by step."""

    order: list[int]
    """The numbers of the requests, in the order to read them."""
    ids: list[str]
    """Their ids, in the same order."""
    made_by: str
    """Which order it is, with its version."""
    total_s: float
    """Until everything is read and the head is where it is left."""
    locate_s: float
    read_s: float
    worst_s: float
    """The total at worst, if map and times are as far off as they may be."""
    bound_s: float | None
    """No order takes less with these times."""
    is_optimal: bool
    is_cut_short: bool
    """Whether the budget ended the search, so that another run may find another order."""
    computed_s: float
    """How long the search took."""
    distance_m: float | None
    wrap_changes: int
    positions: str
    """Where the positions come from."""
    steps: Table = field(compare=False)
    """What the drive does, one row for each step."""

    @property
    def status(self) -> Status:
        """`optimal` if no order is better, `bounded` if it is known how far from that it can be at most."""
        if self.is_optimal:
            return "optimal"
        return "feasible" if self.bound_s is None else "bounded"

    @property
    def gap(self) -> float | None:
        """How far above the bound the total is, as a share of the total."""
        if self.bound_s is None or self.total_s == 0:
            return None
        return max(0.0, 1.0 - self.bound_s / self.total_s)

    @property
    def range_s(self) -> tuple[float, float]:
        """The total if everything lies as believed, and at worst."""
        return self.total_s, self.worst_s

    def __repr__(self) -> str:
        gap = "" if self.gap is None else f", gap {self.gap:.1%}"
        return f"Plan({len(self.order)} requests, {duration(self.total_s)}, {self.status}{gap}, {self.made_by})"

    def _repr_html_(self) -> str:
        return html_table(
            {
                "requests": len(self.order),
                "total": duration(self.total_s),
                "at worst": duration(self.worst_s),
                "no order below": "" if self.bound_s is None else duration(self.bound_s),
                "positions": self.positions,
            }
        )


def _plan(batch: Batch, found: dict[str, Any]) -> Plan:
    order, steps = found.pop("requests"), Table(found.pop("steps"))
    return Plan(order=order, steps=steps, ids=[batch.ids[at] for at in order], made_by=found.pop("order"), **found)


def order_names() -> dict[str, str]:
    """The orders by name, and what people call them."""
    return dict(native.order_names())


def order(
    batch: Batch,
    cartridge: Cartridge,
    *,
    head: str = "bot",
    end: str = "anywhere",
    algorithm: str | None = None,
    objective: Objective = "total",
    seed: int = 1,
    work: int | None = None,
    budget_s: float | None = None,
    prove: bool = False,
    spare_tape: bool = False,
    read_through: bool = True,
) -> Plan:
    """Finds the order in which a batch is read soonest.

    `head` is `bot`, `BLOCK`, `PARTITION:BLOCK` or `wrap=W,lpos=L`; `end` one of these, `anywhere`, `rewound` or
    `unloaded`. The same `seed` and `work` (moves looked at) give the same order on every machine; `budget_s` can end
    the search sooner. `algorithm` names an order to compare with, see `order_names`. Ctrl-C ends the search.
    """
    placement = _Placement(head, end, read_through)
    found = native.find(
        batch._native(), cartridge, placement, algorithm, objective, seed, work, budget_s, prove, spare_tape
    )
    return _plan(batch, found)


def price(
    batch: Batch,
    cartridge: Cartridge,
    sequence: Iterable[int],
    *,
    head: str = "bot",
    end: str = "anywhere",
    read_through: bool = True,
) -> Plan:
    """What an order of your own takes: `sequence` has the number of every request once."""
    placement = _Placement(head, end, read_through)
    found = _plan(batch, native.price(batch._native(), cartridge, placement, [int(at) for at in sequence]))
    object.__setattr__(found, "made_by", "given")
    return found


@dataclass(frozen=True, repr=False)
class Moves:
    """The price of every move of a batch, in microseconds. A visit is a request, or several that share blocks."""

    requests: list[list[int]]
    """The requests of each visit."""
    first_us: list[int]
    """From the head to each visit."""
    between_us: array[int]
    """From each visit to each visit, row by row: `numpy.frombuffer(...).reshape(len(moves), -1)`."""
    last_us: list[int]
    """From each visit to where the head is left."""
    fixed_us: int
    """What no order changes: the reading."""

    def __len__(self) -> int:
        return len(self.requests)

    def __repr__(self) -> str:
        return f"Moves({len(self)} visits)"

    def between(self, before: int, after: int) -> int:
        """From the end of one visit to the start of another."""
        return self.between_us[before * len(self) + after]

    def total_us(self, visits: Sequence[int]) -> int:
        """What an order of the visits takes."""
        if not visits:
            return 0
        pairs = zip(visits, visits[1:], strict=False)
        way = sum(self.between(before, after) for before, after in pairs)
        return self.fixed_us + self.first_us[visits[0]] + way + self.last_us[visits[-1]]

    def sequence(self, visits: Iterable[int]) -> list[int]:
        """The requests in an order of the visits."""
        return [request for visit in visits for request in self.requests[visit]]


def moves(
    batch: Batch, cartridge: Cartridge, *, head: str = "bot", end: str = "anywhere", read_through: bool = True
) -> Moves:
    """The price of every move, for orders of your own."""
    found = native.moves(batch._native(), cartridge, _Placement(head, end, read_through))
    return Moves(**{**found, "between_us": array("q", found["between_us"])})


class Comparison(dict[str, Plan]):
    """Plans by the name of their order."""

    def columns(self) -> Table:
        """One row for each order, the shortest first."""
        plans = sorted(self.items(), key=lambda item: item[1].total_s)
        return Table(
            order=[name for name, _ in plans],
            total_s=[plan.total_s for _, plan in plans],
            worst_s=[plan.worst_s for _, plan in plans],
            locate_s=[plan.locate_s for _, plan in plans],
            wrap_changes=[plan.wrap_changes for _, plan in plans],
        )

    def __repr__(self) -> str:
        return f"Comparison({', '.join(f'{name} {duration(plan.total_s)}' for name, plan in self.items())})"

    def _repr_html_(self) -> str:
        return self.columns()._repr_html_()


def compare(batch: Batch, cartridge: Cartridge, names: Iterable[str] | None = None, **options: Any) -> Comparison:
    """Several orders of one batch; all that apply without names. Options are those of `order`."""
    plans = Comparison()
    for name in order_names() if names is None else names:
        try:
            plans[name] = order(batch, cartridge, algorithm=name, **options)
        except SearchError:
            # Exact only for small batches, or for LTO only.
            if names is not None:
                raise
    return plans


WORK = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)


def trace(batch: Batch, cartridge: Cartridge, work: Iterable[int] = WORK, **options: Any) -> Table:
    """How the search comes nearer to its end: one row for each limit of `work` (moves looked at), up to the one after
    which nothing is left to do. The same on every machine, but for `computed_s`. Options are those of `order`."""
    rows = Table(work=[], computed_s=[], total_s=[], bound_s=[], status=[])
    for limit in work:
        plan = order(batch, cartridge, work=limit, **options)
        for name, value in (("work", limit), ("computed_s", plan.computed_s), ("total_s", plan.total_s),
                            ("bound_s", plan.bound_s), ("status", plan.status)):  # fmt: skip
            rows[name].append(value)
        if plan.is_optimal:
            break
    return rows
