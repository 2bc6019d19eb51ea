"""Batches to compare orders on, the same everywhere: `python -m tapewise.benchmark`.

A solver is a function from a batch and a cartridge to the numbers of the requests in reading order. Add yours with
`run({"mine": mine})`; the price is always ours.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from .batch import Batch
from .cartridge import Cartridge
from .orders import order, price

Solver = Callable[[Batch, Cartridge], Iterable[int]]


@dataclass(frozen=True)
class Instance:
    """A batch on a cartridge, by name."""

    name: str
    batch: Batch
    cartridge: Cartridge


# The profile, and blocks of a written cartridge: the map is exact, so that totals can be compared.
_TAPES = {"lto6": (136, 130_000), "lto8": (208, 110_000), "lto9": (280, 122_000)}
_SIZES = (16, 64, 256, 1024)


def instances(sizes: Iterable[int] = _SIZES, tapes: Iterable[str] = tuple(_TAPES), seed: int = 1) -> Iterator[Instance]:
    """Requests all over full cartridges with a table of wrap ends."""
    for tape in tapes:
        wraps, blocks = _TAPES[tape]
        ends = [(wrap, 0, (wrap + 1) * blocks - 1) for wrap in range(wraps)]
        cartridge = Cartridge(tape, wrap_ends=ends)
        for size in sizes:
            batch = Batch.random(size, last_block=wraps * blocks - 10_000, seed=seed)
            yield Instance(f"{tape}-{size}-{seed}", batch, cartridge)


def named(name: str) -> Solver:
    """An order of the library as a solver."""
    return lambda batch, cartridge: order(batch, cartridge, algorithm=name).order


OURS: dict[str, Solver] = {
    "sort": named("sort"),
    "cta": named("cta"),
    "sltf": named("sltf"),
    "loss": named("loss"),
    "tapewise": lambda batch, cartridge: order(batch, cartridge).order,
}


def run(
    solvers: dict[str, Solver] | None = None, on: Iterable[Instance] | None = None
) -> dict[str, list[str | float | None]]:
    """One row for each instance and solver: the total, how far it is above the best bound, and the seconds it took."""
    columns: dict[str, list[str | float | None]] = {
        name: [] for name in ("instance", "solver", "total_s", "bound_s", "above_bound", "seconds")
    }
    for instance in instances() if on is None else on:
        bound_s = order(instance.batch, instance.cartridge).bound_s
        for name, solver in {**OURS, **(solvers or {})}.items():
            begin = time.perf_counter()
            sequence = list(solver(instance.batch, instance.cartridge))
            seconds = time.perf_counter() - begin
            total_s = price(instance.batch, instance.cartridge, sequence).total_s
            above = None if not bound_s else total_s / bound_s - 1
            row = (instance.name, name, total_s, bound_s, above, seconds)
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
    return columns


def main() -> None:
    """Prints the table."""
    columns = run()
    print(f"{'instance':<14} {'solver':<10} {'total':>9} {'above bound':>12} {'seconds':>8}")
    for instance, solver, total_s, _, above, seconds in zip(*columns.values(), strict=True):
        share = "" if above is None else f"{above:.2%}"
        print(f"{instance:<14} {solver:<10} {total_s:>7.0f} s {share:>12} {seconds:>8.2f}")


if __name__ == "__main__":
    main()
