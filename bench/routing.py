"""OR-Tools' routing solver: guided local search, with a time limit and no bound."""

import time

import numpy as np
from ortools.constraint_solver import pywrapcp, routing_enums_pb2

from instance import Instance, Result


def solve(instance: Instance, limit_s: float) -> Result:
    """Search until the time is up, as its documentation advises for a single route."""
    before = time.process_time()
    cities = instance.visits + 1
    manager = pywrapcp.RoutingIndexManager(cities, 1, instance.visits)
    model = pywrapcp.RoutingModel(manager)
    # It never takes the arcs that do not exist, but wants no negative cost.
    matrix = np.maximum(instance.costs, 0).tolist()
    model.SetArcCostEvaluatorOfAllVehicles(model.RegisterTransitMatrix(matrix))
    parameters = pywrapcp.DefaultRoutingSearchParameters()
    first = routing_enums_pb2.FirstSolutionStrategy.PATH_CHEAPEST_ARC
    parameters.first_solution_strategy = first
    guided = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    parameters.local_search_metaheuristic = guided
    # Its own limit is of wall time, which means less on a busy machine; without one it warns.
    parameters.time_limit.FromSeconds(int(100 * limit_s) + 1)
    is_over = model.solver().CustomLimit(lambda: time.process_time() - before >= limit_s)
    model.AddSearchMonitor(is_over)
    found = model.SolveWithParameters(parameters)
    order: list[int] | None = None
    if found is not None:
        order = []
        index = found.Value(model.NextVar(model.Start(0)))
        while not model.IsEnd(index):
            order.append(manager.IndexToNode(index))
            index = found.Value(model.NextVar(index))
    return Result("OR-Tools routing", order, None, time.process_time() - before)
