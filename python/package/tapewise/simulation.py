"""A library under load: how long its answers take, and how large it has to be."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from . import _tapewise as native
from ._show import duration, html_table
from .errors import InputError
from .table import Table


class Interval(NamedTuple):
    """An estimate over independent replications, and the ends of its 95 % interval. If there is none, all are NaN."""

    estimate: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of the interval's width."""
        return (self.high - self.low) / 2


_NO_INTERVAL = Interval(math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Scenario:
    """What arrives at which library: the text of a TOML file, one of its cases, and values that are set in it."""

    text: str = field(repr=False)
    case: str | None = None
    settings: tuple[str, ...] = ()
    """`KEY=VALUE`, as the program's `--set` has them; see `changed`."""
    seed: int | None = None
    replications: int | None = None
    """None if as many are made as the scenario's `precision` takes."""
    name: str = field(init=False)
    about: str = field(init=False, repr=False)
    requests: int = field(init=False)
    """Requests that arrive in one replication."""

    def __post_init__(self) -> None:
        for name, value in native.scenario_facts(self).items():
            object.__setattr__(self, name, value)

    @staticmethod
    def names() -> list[str]:
        """The names of the scenarios that come with tapewise."""
        return native.scenario_names()

    @classmethod
    def find(cls, name: str, *, case: str | None = None) -> Scenario:
        """The scenario of that name that comes with tapewise."""
        return cls(native.scenario_text(name), case)

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, case: str | None = None) -> Scenario:
        """The scenario in a TOML file."""
        return cls(Path(path).read_text(encoding="utf-8"), case)

    @staticmethod
    def cases(source: str | os.PathLike[str]) -> dict[str, Scenario]:
        """All cases of a scenario: a built-in name, a path of a TOML file, or its text."""
        text = _text(source)
        return {case: Scenario(text, case) for case in native.scenario_cases(text)}

    @classmethod
    def of(cls, source: ScenarioLike) -> Scenario:
        """The scenario itself, or that of a built-in name, a path of a TOML file, or its text."""
        return source if isinstance(source, Scenario) else cls(_text(source))

    def changed(self, values: Mapping[str, Any] | None = None, /, **short: Any) -> Scenario:
        """The same with other values: `changed(drives=6, rate=200)`, `changed({"policy.window_s": 60})`.

        `drives`, `robots`, `rate` and `window` stand for library.drive.count, library.robot.count, arrivals.per_hour
        and policy.window_s; `seed` and `replications` are those of the scenario."""
        wanted = {**(values or {}), **short}
        seed = wanted.pop("seed", self.seed)
        replications = wanted.pop("replications", self.replications)
        more = tuple(f"{key}={_toml(value)}" for key, value in wanted.items())
        return Scenario(self.text, self.case, self.settings + more, seed, replications)

    def _repr_html_(self) -> str:
        return html_table({"scenario": self.name, "about": self.about, "requests": self.requests, "seed": self.seed})


ScenarioLike = Scenario | str | os.PathLike[str]


def _text(source: str | os.PathLike[str]) -> str:
    if isinstance(source, str):
        if "\n" in source:
            return source
        if source in native.scenario_names():
            return native.scenario_text(source)
        if not source.endswith(".toml") and not Path(source).exists():
            # Says which names there are.
            return native.scenario_text(source)
    return Path(source).read_text(encoding="utf-8")


def _toml(value: Any) -> str:
    """Numbers, words, truths and lists of these are the same in JSON and TOML."""
    import json

    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise InputError(f"{value!r} is no value of a scenario") from None


def _parsed(document: str) -> Any:
    # A third of what the import of this package would take, and most who order a batch never need it.
    import json

    return json.loads(document)


def _interval(value: Mapping[str, float]) -> Interval:
    return Interval(value["estimate"], value["low"], value["high"])


@dataclass(frozen=True, repr=False)
class Results:
    """What came of a scenario. Times are seconds, shares are from 0 to 1."""

    scenario: Scenario
    status: Literal["steady", "unstable"]
    """`unstable` if requests arrive faster than the library can serve them: then every interval is NaN."""
    why_unstable: str | None
    requests: int
    """Requests that count, of all replications."""
    replications: int
    unsettled: int
    """Replications that had not settled after their first half."""
    mean_s: Interval
    """Mean response."""
    percentiles: dict[int, Interval]
    """Responses that this many percent do not exceed: 5, 10, 25, 50, 75, 90, 95 and 99."""
    parts: dict[str, Interval]
    """Parts of the mean response, which sum to it."""
    answers_per_hour: Interval
    requests_inside: Interval
    """Requests between arrival and answer, on average over time."""
    requests_waiting: Interval
    """Requests that wait for a drive, on average over time."""
    libraries: list[dict[str, Any]]
    """How busy each library is: intervals by name, and counts of all replications."""
    formula: dict[str, float] | None
    """What queueing formulas say of the same scenario."""
    why_no_formula: str | None
    slowest: list[dict[str, Any]]
    """Ten responses, slowest first, with their causes."""
    each: Table = field(compare=False)
    """One row for each replication."""
    quantiles_s: list[float] = field(compare=False)
    """Responses that 0.1 %, 0.2 %, ... 99.9 % do not exceed."""

    def percentile(self, percent: int) -> Interval:
        """The response that so many percent do not exceed; one of `percentiles`."""
        if percent not in (5, 10, 25, 50, 75, 90, 95, 99):
            raise InputError(f"no interval for p{percent}; there are 5, 10, 25, 50, 75, 90, 95 and 99")
        return self.percentiles.get(percent, _NO_INTERVAL)

    def columns(self) -> Table:
        """One row for each estimate."""
        named = {"mean": self.mean_s, **{f"p{percent}": at for percent, at in self.percentiles.items()}, **self.parts}
        return Table(
            of=list(named),
            estimate_s=[at.estimate for at in named.values()],
            low_s=[at.low for at in named.values()],
            high_s=[at.high for at in named.values()],
        )

    def __repr__(self) -> str:
        if self.status == "unstable":
            return f"Results({self.scenario.name!r}, unstable)"
        p95 = self.percentile(95)
        return (
            f"Results({self.scenario.name!r}, mean {duration(self.mean_s.estimate)} ± "
            f"{duration(self.mean_s.half_width)}, p95 {duration(p95.estimate)}, {self.replications} replications)"
        )

    def _repr_html_(self) -> str:
        return html_table({"why unstable": self.why_unstable}) if self.why_unstable else self.columns()._repr_html_()


def simulate(
    scenario: ScenarioLike,
    *,
    replications: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
) -> Results:
    """Simulates a library under load: response times with intervals over independent replications.

    `scenario` is a `Scenario`, a built-in name, the path of a TOML file, or its text. The same seed gives the same
    numbers on any machine and on any number of threads. Ctrl-C ends the call at once."""
    scenario = _asked(scenario, replications, seed)
    found = native.simulate(scenario, threads)
    case: dict[str, Any] = _parsed(found["document"])["cases"][0]
    each = Table(found["each"])
    if not case["stable"]:
        return Results(
            scenario, "unstable", case["why"], 0, 0, 0, _NO_INTERVAL, {}, {}, _NO_INTERVAL, _NO_INTERVAL,
            _NO_INTERVAL, [], None, None, [], each, [],
        )  # fmt: skip
    return Results(
        scenario=scenario,
        status="steady",
        why_unstable=None,
        requests=case["requests"],
        replications=case["replications"],
        unsettled=case["unsettled"],
        mean_s=_interval(case["mean_s"]),
        percentiles={int(name[1:-2]): _interval(at) for name, at in case["percentiles"].items()},
        parts={name.removesuffix("_s"): _interval(at) for name, at in case["parts"].items()},
        answers_per_hour=_interval(case["answers_per_hour"]),
        requests_inside=_interval(case["requests_inside"]),
        requests_waiting=_interval(case["requests_waiting_for_a_drive"]),
        libraries=[
            {name: _interval(value) if isinstance(value, dict) else value for name, value in library.items()}
            for library in case["libraries"]
        ],
        formula=case["formula"],
        why_no_formula=case["no_formula"],
        slowest=case["slowest"],
        each=each,
        quantiles_s=found["quantiles_s"],
    )


def _asked(scenario: ScenarioLike, replications: int | None, seed: int | None) -> Scenario:
    wanted = {"replications": replications, "seed": seed}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    scenario = Scenario.of(scenario)
    return scenario.changed(wanted) if wanted else scenario


@dataclass(frozen=True, repr=False)
class Replay:
    """One replication in full."""

    scenario: Scenario
    replication: int
    requests: Table
    """One row for each request, in order of arrival: its response and the parts that sum to it, in seconds."""
    actions: Table
    """One row for each thing that a drive or a robot did."""
    event_log: bytes
    """The same as an event log."""

    def __repr__(self) -> str:
        requests, actions = self.requests.row_count, self.actions.row_count
        return f"Replay({self.scenario.name!r}, replication {self.replication}, {requests} requests, {actions} actions)"

    def _repr_html_(self) -> str:
        return self.requests._repr_html_()


def replay(scenario: ScenarioLike, replication: int = 0, *, seed: int | None = None) -> Replay:
    """Simulates one replication and keeps every request, and everything that drives and robots did."""
    scenario = _asked(scenario, None, seed)
    found = native.replay(scenario, replication)
    return Replay(scenario, replication, Table(found["requests"]), Table(found["actions"]), found["event_log"])


class Size(NamedTuple):
    """Drives, robots, and the seconds for which the first request for a cartridge waits for others."""

    drives: int
    robots: int
    window_s: float


@dataclass(frozen=True, repr=False)
class Capacity:
    """What it takes to meet a target."""

    scenario: Scenario
    target: str
    metric: str
    """What of the responses the target is about: `mean`, `median`, `p95`."""
    limit_s: float
    answer: Size | None
    """The fewest drives, then robots, then the shortest window that meet the target; None if nothing tried does."""
    combinations: Table
    """One row for each combination: what the formula says and what the simulation says of the metric, in seconds."""
    why_missed: list[str]
    """What keeps combinations of robots and window from the target."""

    def __repr__(self) -> str:
        found = "no combination" if self.answer is None else f"{self.answer.drives} drives"
        return f"Capacity({self.scenario.name!r}, {self.target}: {found})"

    def _repr_html_(self) -> str:
        return self.combinations._repr_html_()


def capacity(
    scenario: ScenarioLike,
    target: str,
    *,
    drives: Iterable[int] = range(1, 13),
    robots: Iterable[int] = (),
    windows_s: Iterable[float] = (),
    replications: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
) -> Capacity:
    """Finds how many drives and robots, and which batch window, meet a target such as `p95 < 10 min at 200/h`.

    Every combination is computed by formula where one applies; those near the answer are simulated. Without `robots`
    and `windows_s` these are the scenario's."""
    scenario = _asked(scenario, replications, seed)
    wanted = sorted(set(drives))
    if not wanted or wanted[0] < 1:
        raise InputError("drives: give one or more numbers above 0")
    document = native.size_library(scenario, target, wanted, sorted(set(robots)), sorted(set(windows_s)), threads)
    found = _parsed(document)
    rows = [_combination(one) for one in found["combinations"]]
    answer = found["answer"]
    return Capacity(
        scenario=scenario,
        target=target,
        metric=found["target"]["metric"],
        limit_s=found["target"]["limit_s"],
        answer=answer and Size(**answer),
        combinations=Table({name: [row[name] for row in rows] for name in rows[0]}),
        why_missed=found["missed_because"],
    )


def _combination(one: dict[str, Any]) -> dict[str, Any]:
    formula, simulated = one["formula"], one["simulated"] or {}
    at = _interval(simulated["target_s"]) if simulated.get("target_s") else Interval(None, None, None)  # type: ignore[arg-type]
    return {
        "drives": one["drives"],
        "robots": one["robots"],
        "window_s": one["window_s"],
        "formula_s": formula.get("target_s"),
        "estimate_s": at.estimate,
        "low_s": at.low,
        "high_s": at.high,
        "target": one["target"],
        "why_none": simulated.get("unstable") or formula.get("unstable") or formula.get("none"),
    }
