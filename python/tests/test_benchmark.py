"""The benchmark takes other solvers, and no order falls below the bound or the best that is known."""

import pytest

import tapewise
from tapewise import benchmark


def test_a_solver_of_ones_own_stands_in_the_table() -> None:
    on = list(benchmark.instances(sizes=(12,), tapes=("lto8",)))
    columns = benchmark.run({"backwards": lambda batch, cartridge: reversed(range(len(batch)))}, on)
    assert columns["solver"] == [*benchmark.OURS, "backwards"]
    assert all(above >= 0 for above in columns["above_bound"])
    assert [instance.batch for instance in on] == [
        instance.batch for instance in benchmark.instances(sizes=(12,), tapes=("lto8",))
    ]


def test_the_best_that_is_known_is_ours_and_above_its_bound() -> None:
    best = {row["instance"]: row for row in benchmark.best_known().rows()}
    assert best.keys() == {one.name for seed in (1, 2, 3) for one in benchmark.instances(seed=seed)}
    assert all(0 < row["bound_s"] <= row["total_s"] < row["bound_s"] * (1 + 1e-7) for row in best.values())
    for instance in (one for seed in (1, 2, 3) for one in benchmark.instances((16, 64, 256), seed=seed)):
        plan = tapewise.order(instance.batch, instance.cartridge)
        assert plan.total_s == best[instance.name]["total_s"], instance.name


@pytest.mark.parametrize(("name", "package"), [("or-tools", "ortools"), ("lkh", "elkai")])
def test_solvers_of_others_find_an_order_and_none_below_the_bound(name: str, package: str) -> None:
    pytest.importorskip(package)
    (instance,) = benchmark.instances(sizes=(16,), tapes=("lto8",))
    solver = benchmark.others()[name] if name == "lkh" else lambda *on: benchmark.or_tools(*on, seconds=1)
    columns = benchmark.run({name: solver}, [instance])
    assert 0 <= columns["above_bound"][-1] < 0.05


def test_what_papers_publish_is_a_table() -> None:
    claims = benchmark.papers()
    assert len(set(claims["paper"])) == 5
    at = claims["id"].index("locate-mean-random")
    assert (claims["value"][at], claims["unit"][at]) == (72.4, "s")
