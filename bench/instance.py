"""Instances of the benches as matrices, and what a solver makes of one."""

import itertools
import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.int64]
"""Costs in microseconds; the last city is where the tour closes; -1 where there is no arc."""

REPOSITORY = Path(__file__).parent.parent


@dataclass(frozen=True)
class Name:
    """What an instance is made again from."""

    drive: str
    requests: int
    seed: int
    start: str

    def words(self) -> list[str]:
        """Give the name as the words of a command line."""
        return [self.drive, str(self.requests), str(self.seed), self.start]


@dataclass(frozen=True)
class Result:
    """What a solver found of an instance: an order, a bound, or neither; times in microseconds."""

    solver: str
    order: list[int] | None
    bound_us: float | None
    cpu_s: float | None
    cost_us: int | None = None
    """The order's cost as the solver says; checked where it is given."""


@dataclass(frozen=True)
class Instance:
    """A matrix, and our own results for it."""

    name: Name
    costs: Matrix
    ours: list[Result]

    @property
    def visits(self) -> int:
        """Number of visits: less than the requests where two are for the same block."""
        return len(self.costs) - 1

    def cost_us(self, order: Sequence[int]) -> int:
        """Price an order by the matrix alone; refuses what is no permutation."""
        if sorted(order) != list(range(self.visits)):
            raise ValueError(f"{self.name}: not a permutation of {self.visits} visits")
        tour = [self.visits, *order, self.visits]
        arcs = [int(self.costs[i, j]) for i, j in itertools.pairwise(tour)]
        return sum(arcs)

    def order_of(self, successors: Sequence[int]) -> list[int]:
        """Turn each city's successor into an order; cities off the closing one's cycle are lost."""
        order: list[int] = []
        city = successors[self.visits]
        while city != self.visits:
            order.append(city)
            city = successors[city]
        return order


def read_instances(names: Sequence[Name]) -> Iterator[Instance]:
    """Make the instances by the bench's own code, one after the other, with our results."""
    words = [word for name in names for word in name.words()]
    command = ["cargo", "run", "--quiet", "--release", "-p", "tapewise-order"]
    command += ["--example", "instance", "--", *words]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield _instance(json.loads(line))
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit code {process.returncode}")


def _instance(read: dict[str, object]) -> Instance:
    """Turn a line of the example into an instance."""
    match read:
        case {
            "drive": str(drive),
            "requests": int(requests),
            "seed": int(seed),
            "start": str(start),
            "n": int(n),
            "ours": list(ours),
            "costs": list(costs),
        }:
            matrix = np.array(costs, dtype=np.int64).reshape(n + 1, n + 1)
            results = [Result(**result) for result in ours]
            return Instance(Name(drive, requests, seed, start), matrix, results)
        case _:
            raise ValueError(f"not an instance: {str(read)[:200]}")
