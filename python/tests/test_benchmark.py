"""The benchmark takes other solvers, and no order falls below the bound."""

from tapewise import benchmark


def test_a_solver_of_ones_own_stands_in_the_table() -> None:
    on = list(benchmark.instances(sizes=(12,), tapes=("lto8",)))
    columns = benchmark.run({"backwards": lambda batch, cartridge: reversed(range(len(batch)))}, on)
    assert columns["solver"] == [*benchmark.OURS, "backwards"]
    assert all(above is None or above >= 0 for above in columns["above_bound"] if not isinstance(above, str))
    assert [instance.batch for instance in on] == [
        instance.batch for instance in benchmark.instances(sizes=(12,), tapes=("lto8",))
    ]
