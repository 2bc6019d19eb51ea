"""Tests of the outside solvers: against all orders of small instances, and their parts."""

import itertools
import unittest

import numpy as np

import highs
import outside
from instance import Instance, Matrix, Name, Result
from outside import is_proven, report_contradictions

LIMIT_S = 5.0


def instance(costs: Matrix) -> Instance:
    """Wrap a matrix of costs."""
    costs = costs.copy()
    np.fill_diagonal(costs, -1)
    return Instance(Name("test", len(costs) - 1, 1, "bot"), costs, [])


def shortest_us(small: Instance) -> int:
    """Price every order there is."""
    return min(small.cost_us(order) for order in itertools.permutations(range(small.visits)))


class AgainstAllOrders(unittest.TestCase):
    """Every solver finds the shortest of a few cities, and those that prove prove it."""

    def test_small_instances(self) -> None:
        """Random, in two far parts (so that cuts are needed), and of equal costs."""
        random = np.random.default_rng(1)
        scattered = random.integers(0, 90_000_000, (7, 7))
        far = (np.arange(7)[:, None] % 2 != np.arange(7)[None, :] % 2) * 500_000_000
        for costs in (scattered, scattered + far, np.full((6, 6), 1_000_000), scattered[:2, :2]):
            small = instance(costs.astype(np.int64))
            expected = shortest_us(small)
            for solver in outside.SOLVERS:
                with self.subTest(solver=solver, visits=small.visits):
                    # In a process of its own, as in the table.
                    options = outside.parse(["--solvers", solver, "--limit", "1"])
                    (result,) = outside.run(small, options)
                    assert result.order is not None
                    self.assertEqual(small.cost_us(result.order), expected)
                    self.assertEqual(is_proven(small, result), solver != "routing")
                    self.assertEqual(report_contradictions(small, [result]), 0)

    def test_highs_on_many(self) -> None:
        """HiGHS proves the optimum of instances that the assignment alone does not solve."""
        random = np.random.default_rng(2)
        for case in range(60):
            places = random.integers(0, 100, (8, 2))
            steps = np.abs(places[:, None, 0] - places[None, :, 1]) * 1_000_000
            small = instance(steps + random.integers(0, 3, (8, 8)) * 7_000_000)
            result = highs.solve(small, LIMIT_S)
            assert result.order is not None and result.bound_us is not None
            with self.subTest(case=case):
                self.assertEqual(small.cost_us(result.order), shortest_us(small))
                self.assertTrue(is_proven(small, result))


class Parts(unittest.TestCase):
    """The parts of the HiGHS solver, and of the table."""

    def test_patching_makes_one_cycle(self) -> None:
        """Joined cycles are one, and joining two takes the cheapest exchange."""
        costs = np.ones((6, 6))
        costs[1, 5] = costs[4, 0] = 0.25
        successors = np.array([1, 0, 3, 2, 5, 4])
        tour = highs.patch(costs, successors, highs.cycles(successors.tolist()))
        self.assertEqual(len(highs.cycles(tour.tolist())), 1)
        self.assertEqual((tour[1], tour[4]), (5, 0))

    def test_the_least_cut_is_found(self) -> None:
        """Two pairs of cities that a flow of a half connects."""
        capacities = [{1: 1.0}, {0: 0.5, 2: 0.5}, {3: 1.0}, {2: 0.5, 0: 0.5}]
        members = highs.least_cut(capacities, 3, 2)
        self.assertIsNone(members)
        members = highs.least_cut(capacities, 3, 1)
        assert members is not None
        self.assertEqual(members.tolist(), [False, False, True, True])

    def test_contradictions_are_reported(self) -> None:
        """A bound above an order, and a price that is not the order's."""
        small = instance(np.full((4, 4), 1_000_000, dtype=np.int64))
        fine = Result("fine", [0, 1, 2], 4e6, 0.0, 4_000_000)
        self.assertEqual(report_contradictions(small, [fine]), 0)
        too_high = Result("high", None, 4.1e6, 0.0)
        self.assertEqual(report_contradictions(small, [fine, too_high]), 1)
        wrong = Result("wrong", [0, 1, 2], None, 0.0, 3_999_999)
        self.assertEqual(report_contradictions(small, [wrong]), 1)
        with self.assertRaises(ValueError):
            small.cost_us([0, 1, 1])


if __name__ == "__main__":
    unittest.main()
