"""Batches to compare orders on, the same everywhere: `python -m tapewise.benchmark`.

A solver is a function from a batch and a cartridge to the numbers of the requests in reading order. Add yours with
`run({"mine": mine})`: the price is always ours. `best_known` has, for each instance, the shortest total that anybody
found and a bound below which no order falls; `papers` has what five papers publish.
"""

from __future__ import annotations

import argparse
import csv
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec

from . import _tapewise as native
from .batch import Batch
from .cartridge import Cartridge
from .orders import Moves, moves, order, price
from .table import Table

Solver = Callable[[Batch, Cartridge], Iterable[int]]


@dataclass(frozen=True)
class Instance:
    """A batch on a cartridge, by name: tape, number of requests, seed."""

    name: str
    batch: Batch
    cartridge: Cartridge


# Wraps, and blocks of each on a written cartridge: the map is exact, so that totals can be compared.
_TAPES = {"lto6": (136, 130_000), "lto8": (208, 110_000), "lto9": (280, 122_000)}
_SIZES = (16, 64, 256, 1024)


def cartridge(tape: str) -> Cartridge:
    """A full cartridge with a table of wrap ends: `lto6`, `lto8` or `lto9`."""
    wraps, blocks = _TAPES[tape]
    return Cartridge(tape, wrap_ends=[(wrap, 0, (wrap + 1) * blocks - 1) for wrap in range(wraps)])


def instances(sizes: Iterable[int] = _SIZES, tapes: Iterable[str] = tuple(_TAPES), seed: int = 1) -> Iterator[Instance]:
    """Requests all over full cartridges, from the beginning of tape to wherever the last read ends."""
    for tape in tapes:
        wraps, blocks = _TAPES[tape]
        for size in sizes:
            batch = Batch.random(size, last_block=wraps * blocks - 10_000, seed=seed)
            yield Instance(f"{tape}-{size}-{seed}", batch, cartridge(tape))


def best_known() -> Table:
    """For each instance of seed 1 to 3: the shortest total known, and a bound below which no order falls, in seconds.
    If both are the same, the total is proven to be the optimum."""
    with (files(__package__) / "best_known.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return Table(
        instance=[row["instance"] for row in rows],
        total_s=[int(row["total_us"]) / 1e6 for row in rows],
        bound_s=[int(row["bound_us"]) / 1e6 for row in rows],
        found_by=[row["found_by"] for row in rows],
    )


def papers() -> Table:
    """What five papers publish as numbers: one row for each claim, with its place in the paper and its unit."""
    columns = Table(paper=[], id=[], where=[], what=[], value=[], unit=[])
    for paper in tomllib.loads(native.paper_claims()).values():
        for claim in paper.get("claim", []):
            columns["paper"].append(paper["paper"])
            columns["value"].append(float(claim["value"]))
            for name in ("id", "where", "what", "unit"):
                columns[name].append(claim[name])
    return columns


def named(name: str) -> Solver:
    """An order of the library as a solver."""
    return lambda batch, cartridge: order(batch, cartridge, algorithm=name).order


OURS: dict[str, Solver] = {
    "sort": named("sort"),
    "scan": named("scan"),
    "weave": named("weave"),
    "cta": named("cta"),
    "sltf": named("sltf"),
    "loss": named("loss"),
    "tapewise": lambda batch, cartridge: order(batch, cartridge).order,
}


def _matrix_ms(table: Moves) -> list[list[int]]:
    """All moves in whole milliseconds, the last row and column those of the head: a travelling salesman's."""
    count = len(table)
    rows = [[max(table.between(before, after), 0) // 1000 for after in range(count)] for before in range(count)]
    for row, last in zip(rows, table.last_us, strict=True):
        row.append(last // 1000)
    return [*rows, [first // 1000 for first in table.first_us] + [0]]


def or_tools(batch: Batch, cartridge: Cartridge, seconds: float = 10.0) -> list[int]:
    """OR-Tools' routing: cheapest arcs, then guided local search until the time is up."""
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    table = moves(batch, cartridge)
    matrix = _matrix_ms(table)
    manager = pywrapcp.RoutingIndexManager(len(matrix), 1, len(matrix) - 1)
    model = pywrapcp.RoutingModel(manager)
    model.SetArcCostEvaluatorOfAllVehicles(model.RegisterTransitMatrix(matrix))
    wanted = pywrapcp.DefaultRoutingSearchParameters()
    wanted.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.PATH_CHEAPEST_ARC
    wanted.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    wanted.time_limit.FromMilliseconds(int(seconds * 1000))
    found = model.SolveWithParameters(wanted)
    visits, at = [], found.Value(model.NextVar(model.Start(0)))
    while not model.IsEnd(at):
        visits.append(manager.IndexToNode(at))
        at = found.Value(model.NextVar(at))
    return table.sequence(visits)


def lkh(batch: Batch, cartridge: Cartridge, runs: int = 1) -> list[int]:
    """Helsgaun's Lin-Kernighan (LKH) through the package elkai."""
    import elkai

    table = moves(batch, cartridge)
    matrix = _matrix_ms(table)
    tour = elkai.DistanceMatrix(matrix).solve_tsp(runs)[:-1]
    head = tour.index(len(matrix) - 1)
    return table.sequence(tour[head + 1 :] + tour[:head])


def others() -> dict[str, Solver]:
    """Solvers of others whose packages are installed: `pip install ortools elkai`."""
    known: dict[str, tuple[str, Solver]] = {"or-tools": ("ortools", or_tools), "lkh": ("elkai", lkh)}
    return {name: solver for name, (package, solver) in known.items() if find_spec(package) is not None}


def run(solvers: Mapping[str, Solver] | None = None, on: Iterable[Instance] | None = None) -> Table:
    """One row for each instance and solver: the total, how far it is above the best bound, and the seconds it took."""
    columns = Table({name: [] for name in ("instance", "solver", "total_s", "bound_s", "above_bound", "seconds")})
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


def _record(seeds: Iterable[int]) -> None:
    """Prints what `best_known` reads."""
    print("instance,total_us,bound_us,found_by")
    for seed in seeds:
        for instance in instances(seed=seed):
            plan = order(instance.batch, instance.cartridge)
            bound_us = 0 if plan.bound_s is None else round(plan.bound_s * 1e6)
            print(f"{instance.name},{round(plan.total_s * 1e6)},{bound_us},{plan.made_by}")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m tapewise.benchmark", description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=list(_SIZES), help="requests of a batch")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ours", action="store_true", help="leave out the solvers of others that are installed")
    parser.add_argument("--record", action="store_true", help="print the best that is known, seeds 1 to 3")
    wanted = parser.parse_args()
    if wanted.record:
        return _record((1, 2, 3))
    columns = run({} if wanted.ours else others(), instances(wanted.sizes, seed=wanted.seed))
    print(f"{'instance':<14} {'solver':<10} {'total':>9} {'above bound':>12} {'seconds':>8}")
    for row in columns.rows():
        share = "" if row["above_bound"] is None else f"{row['above_bound']:.2%}"
        print(f"{row['instance']:<14} {row['solver']:<10} {row['total_s']:>7.0f} s {share:>12} {row['seconds']:>8.2f}")
    return None


if __name__ == "__main__":
    main()
