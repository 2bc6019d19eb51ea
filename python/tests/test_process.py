"""Beside other work: Ctrl-C, other threads, other processes."""

import concurrent.futures
import multiprocessing
import signal
import subprocess
import sys
import textwrap

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


def test_an_interrupt_ends_a_search_that_would_take_for_ever() -> None:
    script = """
        import time, tapewise
        ends = [(wrap, 0, (wrap + 1) * 110_000 - 1) for wrap in range(208)]
        cartridge = tapewise.Cartridge("lto8", wrap_ends=ends)
        batch = tapewise.Batch.random(900, last_block=20_000_000)
        print("begins", flush=True)
        try:
            tapewise.order(batch, cartridge, prove=True)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "begins\n"
    try:
        child.wait(2)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=300)
    assert out == "interrupted\n"
