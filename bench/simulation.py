#!/usr/bin/env python3
"""SimPy and Ciw on cases that our simulation of a library is held against.

Prints one JSON document: for each case and simulator the mean and the 95th percentile of response
times and the mean wait, each with a 95 % interval over replications, with versions and seeds.
`fixtures/simulation/outside.json` is made by it; tests read that, so they need no Python.
"""

import argparse
import json
import math
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable, Generator
from importlib.metadata import version
from typing import Any

import ciw
import simpy
from scipy.stats import t as student_t

LEVEL = 0.95
"""How often an interval holds the truth."""

Sample = tuple[list[float], list[float]]
"""Response times and waits for a server or drive of one replication, in seconds."""

MM4: dict[str, float] = {"arrivals_per_s": 0.8, "service_s": 4.0, "servers": 4}
"""M/M/4 at four fifths: the mean wait is known, 2.982 s."""

LIBRARY: dict[str, float] = {
    "arrivals_per_s": 150 / 3600,
    "drives": 4,
    "robots": 1,
    "robot_get_s": 5.0,
    "drive_load_s": 11.0,
    "search_least_s": 1.0,
    "search_most_s": 25.0,
    "rewind_most_s": 26.0,
    "drive_unload_s": 6.0,
    "robot_put_s": 5.0,
}
"""As Gniewek 1999, 150 requests an hour on four drives.

A request takes a drive, then the robot (get), loads, searches to a place uniform on the tape, and
is answered; then the tape goes back the same way, unloads, and the robot puts it away before the
drive is free. The robot is held for get and put only, first come first served, as the drives are.
"""


def simpy_mm4(seed: int, requests: int, warm_up: int) -> Sample:
    """Run M/M/4 in SimPy."""
    dice = random.Random(seed)
    world = simpy.Environment()
    servers = simpy.Resource(world, int(MM4["servers"]))
    responses = [math.nan] * requests
    waits = [math.nan] * requests

    def request(number: int) -> Generator[simpy.Event, Any, None]:
        arrived = world.now
        with servers.request() as server:
            yield server
            waits[number] = world.now - arrived
            yield world.timeout(dice.expovariate(1 / MM4["service_s"]))
        responses[number] = world.now - arrived

    world.process(arrivals(world, dice, MM4["arrivals_per_s"], requests, request))
    world.run()
    return responses[warm_up:], waits[warm_up:]


def simpy_library(seed: int, requests: int, warm_up: int) -> Sample:
    """Run drives and robot in SimPy: a drive is held while its request waits for the robot."""
    dice = random.Random(seed)
    world = simpy.Environment()
    drives = simpy.Resource(world, int(LIBRARY["drives"]))
    robots = simpy.Resource(world, int(LIBRARY["robots"]))
    responses = [math.nan] * requests
    waits = [math.nan] * requests

    def request(number: int) -> Generator[simpy.Event, Any, None]:
        arrived = world.now
        place = dice.random()
        span = LIBRARY["search_most_s"] - LIBRARY["search_least_s"]
        with drives.request() as drive:
            yield drive
            waits[number] = world.now - arrived
            with robots.request() as robot:
                yield robot
                yield world.timeout(LIBRARY["robot_get_s"])
            yield world.timeout(LIBRARY["drive_load_s"])
            yield world.timeout(LIBRARY["search_least_s"] + span * place)
            responses[number] = world.now - arrived
            yield world.timeout(LIBRARY["rewind_most_s"] * place)
            yield world.timeout(LIBRARY["drive_unload_s"])
            with robots.request() as robot:
                yield robot
                yield world.timeout(LIBRARY["robot_put_s"])

    world.process(arrivals(world, dice, LIBRARY["arrivals_per_s"], requests, request))
    world.run()
    return responses[warm_up:], waits[warm_up:]


def arrivals(
    world: simpy.Environment,
    dice: random.Random,
    per_s: float,
    requests: int,
    request: Callable[[int], Generator[simpy.Event, Any, None]],
) -> Generator[simpy.Event, Any, None]:
    """Start so many requests, Poisson."""
    for number in range(requests):
        yield world.timeout(dice.expovariate(per_s))
        world.process(request(number))


def ciw_mm4(seed: int, requests: int, warm_up: int) -> Sample:
    """Run M/M/4 in Ciw."""
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(rate=MM4["arrivals_per_s"])],
        service_distributions=[ciw.dists.Exponential(rate=1 / MM4["service_s"])],
        number_of_servers=[int(MM4["servers"])],
    )
    ciw.seed(seed)
    run = ciw.Simulation(network)
    run.simulate_until_max_customers(requests, method="Finish")
    # By arrival, so that the warm-up is the same requests as in SimPy.
    records = sorted(run.get_all_records(), key=lambda record: record.arrival_date)
    kept = records[warm_up:requests]
    responses = [record.waiting_time + record.service_time for record in kept]
    return responses, [record.waiting_time for record in kept]


CASES: dict[str, tuple[dict[str, float], dict[str, Callable[[int, int, int], Sample]]]] = {
    "mm4": (MM4, {"simpy": simpy_mm4, "ciw": ciw_mm4}),
    # Ciw holds one server at a time, so it has no drive that is held while it waits for a robot.
    "library": (LIBRARY, {"simpy": simpy_library}),
}
"""Every case: its parameters in seconds, and who runs it."""


def main() -> int:
    """Run every case and print what came of it."""
    options = parse(sys.argv[1:])
    if options.speed:
        return speed(options.requests)
    seeds = list(range(1, options.replications + 1))
    cases = []
    for name, (parameters, simulators) in CASES.items():
        for simulator, run in simulators.items():
            samples = [run(seed, options.requests, options.warm_up) for seed in seeds]
            cases.append(
                {"case": name, "parameters": parameters, "simulator": simulator}
                | {"version": version(simulator)}
                | summary(samples)
            )
    document = {
        "made_by": "bench/simulation.py",
        "python": platform.python_version(),
        "replications": options.replications,
        "seeds": seeds,
        "requests": options.requests,
        "warm_up_requests": options.warm_up,
        "level": LEVEL,
        "cases": cases,
    }
    print(json.dumps(document, indent=2))
    return 0


def speed(requests: int) -> int:
    """Time every case by processor time: case, simulator, version, requests a second, mean wait."""
    for case, (_, simulators) in CASES.items():
        for simulator, run in simulators.items():
            begun = time.process_time()
            _, waits = run(1, requests, 0)
            took_s = time.process_time() - begun
            per_s = round(requests / took_s)
            print(case, simulator, version(simulator), per_s, statistics.fmean(waits))
    return 0


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=20)
    parser.add_argument("--requests", type=int, default=22_000, help="of each replication")
    parser.add_argument("--warm-up", type=int, default=2_000, help="of them, left out")
    parser.add_argument("--speed", action="store_true", help="time them instead, one run each")
    return parser.parse_args(arguments)


def summary(samples: list[Sample]) -> dict[str, dict[str, float]]:
    """Bring replications to intervals."""
    return {
        "mean_response_s": interval([statistics.fmean(responses) for responses, _ in samples]),
        "p95_response_s": interval([quantile(responses, 0.95) for responses, _ in samples]),
        "mean_wait_s": interval([statistics.fmean(waits) for _, waits in samples]),
    }


def quantile(values: list[float], p: float) -> float:
    """Find the least value that a share `p` does not exceed."""
    return sorted(values)[math.ceil(p * len(values)) - 1]


def interval(values: list[float]) -> dict[str, float]:
    """Estimate a mean over replications, by Student's t."""
    t = float(student_t.ppf(0.5 + LEVEL / 2, len(values) - 1))
    return {
        "estimate": round(statistics.fmean(values), 6),
        "half_width": round(t * statistics.stdev(values) / math.sqrt(len(values)), 6),
    }


if __name__ == "__main__":
    sys.exit(main())
