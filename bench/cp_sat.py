"""OR-Tools' CP-SAT: one circuit through all cities, on one core."""

import contextlib
import threading
import time
from collections.abc import Iterator

from ortools.sat.python import cp_model

from instance import Instance, Result


@contextlib.contextmanager
def stopping(solver: cp_model.CpSolver, end_s: float) -> Iterator[None]:
    """Stop a solver when the process has had so much CPU time: its own limit is of wall time."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            if time.process_time() >= end_s:
                solver.stop_search()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def solve(instance: Instance, limit_s: float) -> Result:
    """Search and prove until the time is up."""
    before = time.process_time()
    model = cp_model.CpModel()
    cities = range(instance.visits + 1)
    costs = instance.costs.tolist()
    pairs = [(i, j) for i in cities for j in cities if i != j]
    literals = {pair: model.new_bool_var("") for pair in pairs}
    model.add_circuit([(i, j, literals[i, j]) for i, j in pairs])
    weights = [costs[i][j] for i, j in pairs]
    model.minimize(cp_model.LinearExpr.weighted_sum(list(literals.values()), weights))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    with stopping(solver, before + limit_s):
        status = solver.solve(model)
    order: list[int] | None = None
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        taken = [pair for pair in pairs if solver.boolean_value(literals[pair])]
        order = instance.order_of([j for _, j in sorted(taken)])
    bound_us = solver.best_objective_bound
    return Result("OR-Tools CP-SAT", order, bound_us, time.process_time() - before)
