#!/usr/bin/env python3
"""Other people's solvers on the instances of our benches, in one table with ours.

Every order is priced again from the matrix, and no order may be below any bound: what one solver
proves is a check of the others, ours among them. `--optima FILE` keeps what HiGHS proved.
"""

import argparse
import importlib
import json
import multiprocessing
import statistics
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from instance import Instance, Name, Result, read_instances

SOLVERS = {"routing": 1_000, "cp_sat": 300, "highs": 1_000}
"""The module of each solver, and up to how many requests it is asked."""

TOLERANCE = 1e-6
"""Share of a time by which bounds of solvers in floating point may be off."""


def main() -> int:
    """Run the solvers and print the table; 1 where results contradict each other."""
    options = parse(sys.argv[1:])
    contradictions = 0
    optima = []
    for drive in options.drives:
        for requests in options.sizes:
            names = [
                Name(drive, requests, seed, start)
                for seed in range(1, options.seeds + 1)
                for start in ("bot", "random")
            ]
            rows: list[tuple[Instance, list[Result]]] = []
            for instance in read_instances(names):
                results = [*instance.ours, *run(instance, options)]
                contradictions += report_contradictions(instance, results)
                optima += [optimum(instance, result) for result in results[len(instance.ours) :]]
                rows.append((instance, results))
                if options.optima is not None:
                    lines = ",\n".join(json.dumps(entry) for entry in optima if entry is not None)
                    options.optima.write_text(f"[\n{lines}\n]\n")
            print_rows(drive, requests, rows)
    return 1 if contradictions else 0


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drives", nargs="+", default=["dlt4000", "lto7-m8"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[14, 32, 100, 300])
    parser.add_argument("--seeds", type=int, default=3, help="each from both starts")
    parser.add_argument("--limit", type=float, default=10.0, help="CPU seconds for each run")
    parser.add_argument(
        "--solvers", nargs="*", default=list(SOLVERS), choices=SOLVERS, help="none: ours alone"
    )
    parser.add_argument("--optima", type=Path, help="where to keep proven optima")
    return parser.parse_args(arguments)


def run(instance: Instance, options: argparse.Namespace) -> list[Result]:
    """Run the solvers that were asked for, each in a process of its own.

    OR-Tools and highspy each bring a library of HiGHS, and the two do not bear each other.
    """
    results = []
    for solver in options.solvers:
        if instance.name.requests <= SOLVERS[solver]:
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
                results.append(process.submit(solve, solver, instance, options.limit).result())
    return results


def solve(solver: str, instance: Instance, limit_s: float) -> Result:
    """Run one solver here."""
    result: Result = importlib.import_module(solver).solve(instance, limit_s)
    return result


def report_contradictions(instance: Instance, results: Sequence[Result]) -> int:
    """Print and count what cannot be: a wrong price, or an order below somebody's bound."""
    found = []
    for result in results:
        if result.order is None:
            continue
        cost_us = instance.cost_us(result.order)
        if result.cost_us is not None and result.cost_us != cost_us:
            found.append(f"{result.solver} says {result.cost_us}, its order costs {cost_us}")
        for other in results:
            if other.bound_us is not None and cost_us < other.bound_us * (1 - TOLERANCE):
                found.append(
                    f"{result.solver}: {cost_us}, bound of {other.solver}: {other.bound_us}"
                )
    for text in found:
        print(f"CONTRADICTION {' '.join(instance.name.words())}: {text}", file=sys.stderr)
    return len(found)


def is_proven(instance: Instance, result: Result) -> bool:
    """Whether a solver has shown by itself that no order is shorter than its own."""
    if result.order is None or result.bound_us is None:
        return False
    return instance.cost_us(result.order) <= result.bound_us * (1 + TOLERANCE)


def optimum(instance: Instance, result: Result) -> dict[str, str | int] | None:
    """Make an entry for the file of optima; `None` where none was proven by HiGHS."""
    if result.solver != "HiGHS" or result.order is None or not is_proven(instance, result):
        return None
    name = instance.name
    return {
        "drive": name.drive,
        "requests": name.requests,
        "seed": name.seed,
        "start": name.start,
        "locate_us": instance.cost_us(result.order),
    }


def print_rows(drive: str, requests: int, rows: Sequence[tuple[Instance, list[Result]]]) -> None:
    """Print a line for each solver: over all instances of a size, gaps to the best bound of any."""
    solvers = [result.solver for result in rows[0][1]]
    head = f"{'solver':24} {'drive':8} {'n':>5} {'found':>6} {'proven':>7}"
    print(f"{head} {'gap %, mean':>12} {'largest':>9} {'CPU s, median':>14} {'largest':>9}")
    for at, solver in enumerate(solvers):
        gaps, seconds, proven = [], [], 0
        for instance, results in rows:
            bounds = [result.bound_us for result in results if result.bound_us is not None]
            result = results[at]
            if result.order is not None:
                gap = instance.cost_us(result.order) / max(bounds, default=float("nan")) - 1
                gaps.append(max(gap, 0.0) * 100)
            if result.cpu_s is not None:
                seconds.append(result.cpu_s)
            proven += is_proven(instance, result)
        mean, largest = (statistics.fmean(gaps), max(gaps)) if gaps else (float("nan"),) * 2
        middle, most = (statistics.median(seconds), max(seconds)) if seconds else (0.0, 0.0)
        counts = f"{len(gaps):>6} {f'{proven}/{len(rows)}':>7}"
        times = f"{middle:>14.4f} {most:>9.4f}"
        print(f"{solver:24} {drive:8} {requests:>5} {counts} {mean:>12.4f} {largest:>9.4f} {times}")
    print(flush=True)


if __name__ == "__main__":
    sys.exit(main())
