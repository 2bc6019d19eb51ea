"""Simulations agree with their own replications, with formulas, and with what sizing says."""

import math
import pickle
from pathlib import Path

import pytest

import tapewise
from tapewise import Scenario

SMALL = """
name = "small"
requests = 2000
replications = 6
arrivals = { pattern = "poisson", per_hour = 60 }
[[library]]
name = "one"
robot = { get_s = 10, put_s = 10 }
drive = [{ count = 4, profile = "lto9" }]
cartridge = [{ count = 400 }]
"""


@pytest.fixture(scope="module")
def results() -> tapewise.Results:
    return tapewise.simulate(SMALL, seed=3)


def test_estimates_are_those_of_the_replications(results: tapewise.Results) -> None:
    assert results.status == "steady" and results.replications == 6 == results.each.row_count
    means = results.each["mean_s"]
    assert math.isclose(results.mean_s.estimate, sum(means) / 6)
    assert results.mean_s.low < results.mean_s.estimate < results.mean_s.high
    assert math.isclose(sum(part.estimate for part in results.parts.values()), results.mean_s.estimate, rel_tol=1e-6)
    assert len(results.quantiles_s) == 999 and results.quantiles_s == sorted(results.quantiles_s)
    assert abs(results.quantiles_s[949] / results.percentile(95).estimate - 1) < 0.1
    with pytest.raises(tapewise.InputError, match="p42"):
        results.percentile(42)


def test_a_replay_is_the_replication_request_by_request(results: tapewise.Results) -> None:
    replay = tapewise.replay(SMALL, 2, seed=3)
    assert replay.requests.row_count == 2000
    counted = sorted(replay.requests["response_s"][results.each["warm_up_cut"][2] :])
    rank = -(-len(counted) * 95 // 100)
    assert counted[rank - 1] == results.each["p95_s"][2]
    parts = [name for name in replay.requests if name.endswith("_s") and name not in ("arrived_s", "response_s")]
    for row in replay.requests.rows():
        assert math.isclose(sum(row[name] for name in parts), row["response_s"], abs_tol=1e-4)
    assert set(replay.actions["drive"]) == {None, 0, 1, 2, 3}
    assert replay.event_log.count(b'"action":"read"') == replay.actions["action"].count("read") == 2000


def test_the_seed_decides_and_the_threads_do_not(results: tapewise.Results) -> None:
    assert tapewise.simulate(SMALL, seed=3, threads=1) == results
    assert tapewise.simulate(SMALL, seed=4).mean_s != results.mean_s


def test_a_formula_stands_beside_the_simulation() -> None:
    case = tapewise.simulate(Scenario.find("gniewek-1999", case="100-6"), replications=10)
    assert case.formula is not None
    assert abs(case.formula["mean_s"] / case.mean_s.estimate - 1) < 0.1


def test_what_cannot_be_borne_is_an_answer() -> None:
    # On so many cartridges hardly two requests share a mount.
    found = tapewise.simulate(Scenario.of(SMALL).changed({"library.cartridge.count": 100_000}, drives=1, rate=600))
    assert found.status == "unstable" and found.why_unstable is not None and "drives" in found.why_unstable
    assert math.isnan(found.mean_s.estimate) and "unstable" in repr(found)


def test_sizing_finds_the_fewest_drives() -> None:
    target = "p95 < 6 min"
    found = tapewise.capacity(SMALL, target, seed=3)
    assert found.answer is not None and found.limit_s == 360
    for drives, is_met in ((found.answer.drives, True), (found.answer.drives - 1, False)):
        alone = tapewise.simulate(Scenario.of(SMALL).changed(drives=drives, seed=3))
        assert (alone.percentile(95).high <= 360) == is_met
    assert tapewise.capacity(SMALL, "p95 < 10 s").answer is None
    with pytest.raises(tapewise.InputError, match="p96"):
        tapewise.capacity(SMALL, "p96 < 10 s")


def test_scenarios_are_values(tmp_path: Path) -> None:
    scenario = Scenario.of(SMALL).changed({"policy.window_s": 60}, drives=3, seed=9)
    assert (scenario.seed, scenario.replications, scenario.requests) == (9, 6, 2000)
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    assert Scenario.of(path) == Scenario.of(str(path)) == Scenario.of(SMALL)
    assert list(Scenario.cases("gniewek-1999"))[0] == "50-2"
    for name in Scenario.names():
        assert Scenario.cases(name)


def test_results_survive_a_pickle(results: tapewise.Results) -> None:
    copy = pickle.loads(pickle.dumps(results))
    assert copy == results and copy.each == results.each
    for value in (results, results.scenario, results.columns(), tapewise.replay(SMALL), results.mean_s):
        assert "\n" not in repr(value) and len(repr(value)) < 250


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("gniewek", "there are: bank-1999"),
        ("gniewek-1999", "several cases"),
        (SMALL + "nonsense = 1\n", "nonsense"),
        (SMALL.replace("lto9", "lto99"), "lto99"),
    ],
)
def test_a_scenario_that_is_none_says_why(source: str, says: str) -> None:
    with pytest.raises(tapewise.TapewiseError, match=says):
        tapewise.simulate(source)
    with pytest.raises(tapewise.InputError):
        Scenario.of(SMALL).changed(drives=object())
    with pytest.raises(tapewise.InputError, match="no case"):
        Scenario.find("gniewek-1999", case="none")
