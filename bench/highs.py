"""HiGHS: the assignment problem with subtour cuts, first as a linear, then as an integer program.

The relaxation (Held and Karp's bound) is solved over few arcs, and all others are priced until
none can lower it. A tour with an arc of reduced cost r is no shorter than the bound plus r. So the
integer program needs but the arcs up to some r: when its shortest tour is within the bound plus r,
no other arc can make a shorter one, and it is the optimum; otherwise r is raised. Integer solutions
that fall apart are patched to tours: where that costs nothing, as on a DLT4000, it ends the search.
"""

import contextlib
import itertools
import math
import time
from dataclasses import dataclass, field

import highspy
import numpy as np
from numpy.typing import NDArray

from instance import Instance, Result

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Arcs = NDArray[np.int64]
"""A row for each arc: from, to."""

NEAR = 8
"""Arcs from and to each city that the relaxation begins with."""

FEW = 16
"""Arcs a city that the first integer program has at most."""

VIOLATED = 1e-4
"""How far below one the arcs that leave a set must be for it to be cut off."""

TOLERANCE_S = 1e-7
"""Seconds that count as nothing."""


class OutOfTimeError(Exception):
    """The time limit was reached."""


def solve(instance: Instance, limit_s: float) -> Result:
    """Prove an optimum, or give the best tour and the bound that the time allowed."""
    solver = _Solver(instance, time.process_time(), limit_s)
    with contextlib.suppress(OutOfTimeError):
        solver.relax()
        solver.branch()
    cpu_s = time.process_time() - solver.begin
    return Result("HiGHS", solver.best, solver.proven_s * 1e6, cpu_s)


@dataclass
class Program:
    """A program of HiGHS, and which arc each of its columns is."""

    highs: highspy.Highs
    arcs: Arcs


@dataclass
class _Solver:
    """The programs of one instance; costs in seconds, so that tolerances mean something."""

    instance: Instance
    begin: float
    limit_s: float
    bound_s: float = 0.0
    """What the relaxation says, to which the reduced costs belong."""
    proven_s: float = 0.0
    """What no tour is shorter than."""
    best: list[int] | None = None
    best_s: float = math.inf
    cuts: list[Booleans] = field(default_factory=list)
    """Sets of cities that at least one arc must leave."""
    reduced: Floats = field(init=False)

    def __post_init__(self) -> None:
        """Take the costs over; an arc that does not exist is far too long."""
        self.costs: Floats = self.instance.costs.astype(np.float64) * 1e-6
        self.costs[self.instance.costs < 0] = np.inf
        self.reduced = self.costs

    @property
    def cities(self) -> int:
        return len(self.costs)

    def left_s(self) -> float:
        """Seconds of CPU time that are left."""
        left = self.limit_s - (time.process_time() - self.begin)
        if left <= 0:
            raise OutOfTimeError
        return left

    def relax(self) -> None:
        """Solve the relaxation: arcs until none lowers it, cuts until none is violated."""
        program = self.program(self.near_arcs())
        while True:
            self.run(program)
            missing = self.price(program)
            if len(missing) > 0:
                self.add_arcs(program, missing)
                continue
            new = self.violated(program)
            if not new:
                return
            for members in new:
                self.add_cut(program, members)

    def branch(self) -> None:
        """Solve integer programs over more and more arcs until the best tour is the shortest."""
        least = min(FEW, self.cities - 1) * self.cities - 1
        of_few = float(np.partition(self.reduced, least, axis=None)[least])
        slack_s = max(min(1e-3 * self.bound_s, of_few), 1e-2)
        while True:
            shortest_s = self.shortest_s(np.argwhere(self.reduced <= slack_s))
            self.proven_s = max(self.proven_s, min(shortest_s, self.bound_s + slack_s))
            if self.best_s <= self.proven_s + TOLERANCE_S:
                return
            slack_s = min(self.best_s - self.bound_s, 4 * slack_s)

    def shortest_s(self, arcs: Arcs) -> float:
        """Bound the tours over some arcs from below; `best` is then no longer than that, or inf.

        Where an integer solution falls apart, its parts are patched to a tour and cut off.
        """
        program = self.program(arcs)
        count = len(arcs)
        columns = np.arange(count, dtype=np.int32)
        program.highs.changeColsBounds(count, columns, np.zeros(count), np.ones(count))
        kinds = np.full(count, highspy.HighsVarType.kInteger.value, dtype=np.uint8)
        program.highs.changeColsIntegrality(count, columns, kinds)
        while True:
            self.start_from_best(program)
            if not self.run(program):
                return math.inf
            taken = arcs[np.array(program.highs.getSolution().col_value) > 0.5]
            successors = taken[np.argsort(taken[:, 0]), 1]
            cost_s = float(self.costs[np.arange(self.cities), successors].sum())
            parts = cycles(successors.tolist())
            self.keep(patch(self.costs, successors, parts))
            if self.best_s <= cost_s + TOLERANCE_S:
                return cost_s
            for part in parts:
                members = np.zeros(self.cities, dtype=np.bool_)
                members[part] = True
                self.add_cut(program, members)

    def keep(self, successors: Arcs) -> None:
        """Keep a tour if it is the best so far."""
        order = self.instance.order_of(successors.tolist())
        cost_s = self.instance.cost_us(order) * 1e-6
        if cost_s < self.best_s:
            self.best, self.best_s = order, cost_s

    def start_from_best(self, program: Program) -> None:
        """Give an integer program the best tour to begin with, if it has its arcs."""
        if self.best is None:
            return
        tour = [self.cities - 1, *self.best, self.cities - 1]
        taken = np.zeros(self.costs.shape, dtype=np.bool_)
        taken[tour[:-1], tour[1:]] = True
        values = taken[program.arcs[:, 0], program.arcs[:, 1]]
        if values.sum() == self.cities:
            start = highspy.HighsSolution()
            start.col_value = values.astype(np.float64).tolist()
            program.highs.setSolution(start)

    def program(self, arcs: Arcs) -> Program:
        """Make the program over some arcs: one out of and one into each city, and the cuts."""
        model = highspy.Highs()
        program = Program(model, np.empty((0, 2), dtype=np.int64))
        model.setOptionValue("output_flag", False)
        model.setOptionValue("threads", 1)
        model.setOptionValue("mip_rel_gap", 0.0)
        for _ in range(2 * self.cities):
            model.addRow(1.0, 1.0, 0, np.array([], dtype=np.int32), np.array([]))
        for _ in self.cuts:
            model.addRow(1.0, math.inf, 0, np.array([], dtype=np.int32), np.array([]))
        self.add_arcs(program, arcs)
        return program

    def add_arcs(self, program: Program, arcs: Arcs) -> None:
        """Add a column for each arc."""
        rows = [[i, self.cities + j] for i, j in arcs.tolist()]
        for at, members in enumerate(self.cuts):
            for arc in np.flatnonzero(members[arcs[:, 0]] & ~members[arcs[:, 1]]):
                rows[arc].append(2 * self.cities + at)
        starts = np.cumsum([0] + [len(row) for row in rows[:-1]]).astype(np.int32)
        indices = np.array([row for entry in rows for row in entry], dtype=np.int32)
        count = len(arcs)
        program.highs.addCols(
            count,
            np.ascontiguousarray(self.costs[arcs[:, 0], arcs[:, 1]], dtype=np.float64),
            np.zeros(count),
            np.full(count, math.inf),
            len(indices),
            starts,
            indices,
            np.ones(len(indices)),
        )
        program.arcs = np.concatenate([program.arcs, arcs])

    def add_cut(self, program: Program, members: Booleans) -> None:
        """Add the row by which at least one arc leaves a set of cities."""
        self.cuts.append(members)
        columns = np.flatnonzero(members[program.arcs[:, 0]] & ~members[program.arcs[:, 1]])
        count = len(columns)
        program.highs.addRow(1.0, math.inf, count, columns.astype(np.int32), np.ones(count))

    def run(self, program: Program) -> bool:
        """Solve a program; says whether it has a solution."""
        model = program.highs
        # HiGHS counts wall time from the making of the model; on one core that is near enough.
        model.setOptionValue("time_limit", model.getRunTime() + self.left_s())
        model.run()
        status = model.getModelStatus()
        if status == highspy.HighsModelStatus.kTimeLimit:
            raise OutOfTimeError
        if status == highspy.HighsModelStatus.kInfeasible:
            return False
        if status != highspy.HighsModelStatus.kOptimal:
            raise RuntimeError(f"HiGHS: {model.modelStatusToString(status)}")
        return True

    def near_arcs(self) -> Arcs:
        """Arcs to begin with: the shortest of each city, and a tour so that there is a solution."""
        chosen = np.zeros(self.costs.shape, dtype=np.bool_)
        near = min(NEAR, self.cities - 1)
        every = np.arange(self.cities)
        chosen[every[:, None], np.argsort(self.costs, axis=1)[:, :near]] = True
        chosen[np.argsort(self.costs, axis=0)[:near], every[None, :]] = True
        chosen[every, np.roll(every, -1)] = True
        chosen &= np.isfinite(self.costs)
        return np.argwhere(chosen)

    def price(self, program: Program) -> Arcs:
        """Price every arc; gives those that lower the relaxation, and raises the bound.

        The bound holds for any duals: each city is left by one arc, so to the duals' sum come at
        most the negative reduced costs, one a city.
        """
        duals = np.array(program.highs.getSolution().row_dual)
        out, into = duals[: self.cities], duals[self.cities : 2 * self.cities]
        of_cuts = np.maximum(duals[2 * self.cities :], 0.0)
        reduced = self.costs - out[:, None] - into[None, :]
        for dual, members in zip(of_cuts, self.cuts, strict=True):
            if dual > 0.0:
                reduced[np.ix_(members, ~members)] -= dual
        negative = np.minimum(reduced.min(axis=1), 0.0).sum()
        bound_s = float(duals[: 2 * self.cities].sum() + of_cuts.sum() + negative)
        if bound_s > self.bound_s:
            self.bound_s, self.reduced = bound_s, reduced
            self.proven_s = bound_s
        known = np.zeros(self.costs.shape, dtype=np.bool_)
        known[program.arcs[:, 0], program.arcs[:, 1]] = True
        missing = np.argwhere((reduced < -TOLERANCE_S) & ~known)
        # The worst first: a few for each city are enough to go on with.
        worst = np.argsort(reduced[missing[:, 0], missing[:, 1]])
        return missing[worst[: 4 * self.cities]]

    def violated(self, program: Program) -> list[Booleans]:
        """Find sets of cities that the relaxation's arcs leave by less than one."""
        values = np.array(program.highs.getSolution().col_value)
        used = values > 1e-9
        arcs, values = program.arcs[used], values[used]
        for least in (0.0, 0.3, 0.5, 0.7):
            # Cheap and mostly enough: the parts that the strong arcs hold together.
            sets = components(self.cities, arcs[values > least])
            found = [members for members in sets if leaving(members, arcs, values) < 1.0 - VIOLATED]
            if found:
                return found
        return self.least_cuts(arcs, values)

    def least_cuts(self, arcs: Arcs, values: Floats) -> list[Booleans]:
        """Find violated sets by the greatest flow to each city: none is overlooked."""
        capacities: list[dict[int, float]] = [{} for _ in range(self.cities)]
        for (i, j), value in zip(arcs.tolist(), values.tolist(), strict=True):
            capacities[i][j] = value
        found: list[Booleans] = []
        separated = np.zeros(self.cities, dtype=np.bool_)
        for city in range(self.cities - 1):
            self.left_s()
            members = None if separated[city] else least_cut(capacities, self.cities - 1, city)
            if members is not None:
                separated |= ~members
                found.append(members)
        return found


def least_cut(capacities: list[dict[int, float]], source: int, sink: int) -> Booleans | None:
    """Give the cities on the source's side of a cut below one; `None` where there is none.

    Augmenting paths (Ford and Fulkerson), the shortest first: with flows of at most one over a few
    arcs a city, a handful of them are enough.
    """
    residual = [dict(row) for row in capacities]
    flow = 0.0
    while flow < 1.0 - VIOLATED:
        before = {source: source}
        queue = [source]
        for city in queue:
            for after, left in residual[city].items():
                if left > 1e-9 and after not in before:
                    before[after] = city
                    queue.append(after)
            if sink in before:
                break
        if sink not in before:
            members = np.zeros(len(capacities), dtype=np.bool_)
            members[queue] = True
            return members
        path = [sink]
        while path[-1] != source:
            path.append(before[path[-1]])
        steps = [(i, j) for j, i in itertools.pairwise(path)]
        added = min(residual[i][j] for i, j in steps)
        for i, j in steps:
            residual[i][j] -= added
            residual[j][i] = residual[j].get(i, 0.0) + added
        flow += added
    return None


def cycles(successors: list[int]) -> list[list[int]]:
    """Split a permutation into its cycles."""
    left = set(range(len(successors)))
    parts = []
    while left:
        city = min(left)
        part = []
        while city in left:
            left.remove(city)
            part.append(city)
            city = successors[city]
        parts.append(part)
    return parts


def patch(costs: Floats, successors: Arcs, parts: list[list[int]]) -> Arcs:
    """Join cycles to one (Karp): the largest with another, by the cheapest exchange of two arcs."""
    tour = successors.copy()
    label = np.zeros(len(tour), dtype=np.int64)
    for at, part in enumerate(parts):
        label[part] = at
    every = np.arange(len(tour))
    while len(np.unique(label)) > 1:
        largest = int(np.bincount(label).argmax())
        inside, outside = np.flatnonzero(label == largest), np.flatnonzero(label != largest)
        kept = costs[every, tour]
        added = costs[np.ix_(inside, tour[outside])] + costs[np.ix_(outside, tour[inside])].T
        added = added - kept[inside][:, None] - kept[outside][None, :]
        i, j = np.unravel_index(int(added.argmin()), added.shape)
        one, other = inside[i], outside[j]
        tour[one], tour[other] = tour[other], tour[one]
        label[label == label[other]] = largest
    return tour


def components(cities: int, arcs: Arcs) -> list[Booleans]:
    """Split the cities into parts that the arcs connect, if into more than one."""
    part = list(range(cities))

    def root(city: int) -> int:
        while part[city] != city:
            part[city] = part[part[city]]
            city = part[city]
        return city

    for i, j in arcs.tolist():
        part[root(i)] = root(j)
    roots = np.array([root(city) for city in range(cities)])
    distinct = np.unique(roots)
    return [roots == of for of in distinct] if len(distinct) > 1 else []


def leaving(members: Booleans, arcs: Arcs, values: Floats) -> float:
    """Sum up the arcs that leave a set of cities."""
    return float(values[members[arcs[:, 0]] & ~members[arcs[:, 1]]].sum())
