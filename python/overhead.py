"""What the package costs beside the library: `python overhead.py`.

Processor time, so that a busy machine does not matter. The search has a thread of its own. What the caller's thread
takes is the way from a numpy array to the library and back; placing the blocks on the tape, which a caller in Rust pays
as well, is counted there too.
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy

import tapewise


def import_ms() -> float:
    """The import in a new process; the shortest of ten."""
    code = "import time; begin = time.process_time(); import tapewise; print(time.process_time() - begin)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(10)]
    return min(float(text) for text in runs) * 1000


def main() -> None:
    """Prints both."""
    print(f"import tapewise: {import_ms():.0f} ms")
    ends = [(wrap, 0, (wrap + 1) * 110_000 - 1) for wrap in range(208)]
    cartridge = tapewise.Cartridge("lto8", wrap_ends=ends)
    starts = numpy.sort(numpy.random.default_rng(1).choice(22_000_000, 10_000, replace=False))
    for algorithm in ("sort", "loss-sparse", None):
        all_s, caller_s = time.process_time(), time.thread_time()
        plan = tapewise.order(tapewise.Batch(starts, 200, block_size=524_288), cartridge, algorithm=algorithm)
        all_s, caller_s = time.process_time() - all_s, time.thread_time() - caller_s
        print(f"{plan.made_by}: {all_s:.3f} s, of which the caller's thread {caller_s:.3f} s, {caller_s / all_s:.1%}")


if __name__ == "__main__":
    main()
