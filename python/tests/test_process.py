"""Beside other work: Ctrl-C, other threads, other processes."""

import concurrent.futures
import multiprocessing
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import tapewise


def total(seed: int) -> float:
    cartridge = tapewise.Cartridge("lto8")
    return tapewise.order(tapewise.Batch.random(30, last_block=15_000_000, seed=seed), cartridge, work=20_000).total_s


def test_the_same_totals_in_threads_and_processes() -> None:
    seeds = [1, 2, 3]
    here = [total(seed) for seed in seeds]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        assert list(pool.map(total, seeds)) == here
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=spawn) as pool:
        assert list(pool.map(total, seeds)) == here


def total_and_mean(seed: int) -> tuple[float, float]:
    """An order and a simulation, each of which may use threads of its own."""
    scenario = tapewise.Scenario.find("gniewek-1999", case="50-2").changed(seed=seed, replications=2)
    return total(seed), tapewise.simulate(scenario).mean_s.estimate


def test_a_process_forked_after_a_simulation_simulates() -> None:
    here = total_and_mean(1)
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        assert pool.submit(total_and_mean, 1).result(timeout=120) == here


def test_the_same_on_dask() -> None:
    distributed = pytest.importorskip("distributed")
    here = total_and_mean(1)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert client.gather(client.map(total_and_mean, [1, 1], pure=False)) == [here, here]


def test_the_same_on_ray() -> None:
    ray = pytest.importorskip("ray")
    here = total_and_mean(1)
    ray.init(num_cpus=1, include_dashboard=False, configure_logging=False)
    try:
        assert ray.get(ray.remote(total_and_mean).remote(1)) == here
    finally:
        ray.shutdown()


LONG = {
    "order": "tapewise.order(batch, cartridge, prove=True)",
    "simulate": "tapewise.simulate(scenario, replications=1000)",
    "capacity": "tapewise.capacity(scenario, 'p95 < 1 s', replications=100)",
}


@pytest.mark.parametrize("call", LONG.values(), ids=LONG)
def test_an_interrupt_ends_what_would_take_for_ever(call: str) -> None:
    script = f"""
        import time, tapewise
        ends = [(wrap, 0, (wrap + 1) * 110_000 - 1) for wrap in range(208)]
        cartridge = tapewise.Cartridge("lto8", wrap_ends=ends)
        batch = tapewise.Batch.random(900, last_block=20_000_000)
        scenario = tapewise.Scenario.find("lto9-site", case="window")
        print("begins", flush=True)
        try:
            {call}
        except KeyboardInterrupt:
            print(time.time(), flush=True)
        """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "begins\n"
    try:
        child.wait(1)
    except subprocess.TimeoutExpired:
        sent = time.time()
        child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=300)
    print(f"{1000 * (float(out) - sent):.0f} ms until KeyboardInterrupt")


def test_other_threads_go_on_during_a_search() -> None:
    stop, counted = threading.Event(), 0

    def count() -> None:
        nonlocal counted
        while not stop.is_set():
            counted += 1
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    began = counted
    ends = [(wrap, 0, (wrap + 1) * 110_000 - 1) for wrap in range(208)]
    batch = tapewise.Batch.random(900, last_block=20_000_000)
    tapewise.order(batch, tapewise.Cartridge("lto8", wrap_ends=ends), prove=True, budget_s=0.5)
    stop.set()
    other.join()
    # With the lock held it would have counted once or twice.
    assert counted - began > 20


def test_hostile_numbers_are_errors_of_ours() -> None:
    draw = random.Random(8)
    extremes = [0, 1, 2**16, 2**31, 2**32, 2**53, 2**63 - 1, 2**64 - 1]
    cartridges = [tapewise.Cartridge(name) for name in ("lto8", "dlt4000", "lto1")]
    for _ in range(400):
        count = draw.randrange(5)
        numbers = [[draw.choice(extremes) + draw.randrange(2) for _ in range(count)] for _ in range(2)]
        try:
            batch = tapewise.Batch(*numbers, block_size=draw.choice(extremes), partition=draw.randrange(-1, 300))
            cartridge = draw.choice(cartridges)
            head = f"wrap={draw.choice(extremes)},lpos={draw.choice(extremes)}"
            tapewise.order(batch, cartridge, head=draw.choice(["bot", head]), work=1000)
            tapewise.price(batch, cartridge, [draw.randrange(2**32) for _ in range(count)])
        except (tapewise.TapewiseError, OverflowError):
            pass
