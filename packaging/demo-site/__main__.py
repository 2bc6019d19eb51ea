#!/usr/bin/env python3
"""A whole site on this machine, and what goes wrong at one: `make demo-site`.

Two emulated libraries over iSCSI with four LTO-9 drives each, one archive of 200,000 files, three movers that reach every
drive, and a service without drives of its own. Forty users ask over HTTP for random files, at random. Meanwhile one mover
is killed, the network of another is cut for longer than its claims last, PostgreSQL is killed, a drive breaks down, and
the third mover's host is drained. At the end every file that was asked for has been fetched and compared, and what the
service says of it is compared with the event log.

As root each mover has a network of its own, in a namespace. Otherwise that mover is stopped instead of cut off. It needs
libiscsi. With Debian's package postgresql the catalogue is in PostgreSQL, without it in SQLite. Everything lies in a
temporary directory; nothing listens outside of loopback and the namespaces.
"""

import argparse
import hashlib
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import database
import network
from judge import Judge, Log
from processes import BREAKS_AFTER, Library, Site
from troubles import Troubles
from user import Client, User

MEAN_BYTES = 2100
MOVERS = ["ada", "bob", "cyd"]
BATCHES = 3
# Old cartridges that stand on a shelf.
ON_SHELF = 20


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/debug/tapewise")
    parser.add_argument("--files", type=int, default=200_000, help="files in the catalogue")
    parser.add_argument("--stored", type=int, default=1200, help="files of them on cartridges in the libraries")
    parser.add_argument("--users", type=int, default=40)
    parser.add_argument("--each", type=int, default=15, help="files that each user asks for")
    parser.add_argument("--clock-scale", type=int, default=100, help="how much faster the emulated clocks go")
    parser.add_argument("--sqlite", action="store_true", help="keep the catalogue in SQLite in any case")
    parser.add_argument("--one-network", action="store_true", help="make no namespaces: stop a mover, and cut nothing")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=300, help="seconds after which users give up")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the logs of all processes here")
    return parser.parse_args()


def main() -> int:
    args = arguments()
    why_not = "--one-network" if args.one_network else network.enter()
    if why_not:
        print(f"ALL MOVERS SHARE ONE NETWORK, and one is stopped instead of cut off: {why_not}", flush=True)
    prefix = "tapewise-site-"
    with tempfile.TemporaryDirectory(prefix=prefix) as directory, tempfile.TemporaryDirectory(prefix=prefix) as data:
        wires = None if why_not else network.Network()
        address, whole = (network.SITE, network.NETWORK) if wires else ("127.0.0.1", "127.0.0.1/32")
        site = Site(os.path.abspath(args.program), Path(directory), address, wires)
        programs = None if args.sqlite else database.programs()
        server = None
        try:
            server = database.Database(Path(data), programs, address, whole) if programs else None
            return demonstrate(site, server, args)
        finally:
            if args.keep:
                site.keep(args.keep)
            site.end()
            if server:
                server.stop()


def make_files(root: Path, name: str, count: int, seed: int) -> dict[str, str]:
    """Files of random contents, with their sums."""
    numbers = random.Random(seed)
    sums = {}
    for number in range(count):
        path = root / name / f"{number % 50:02}" / f"{number:05}"
        path.parent.mkdir(parents=True, exist_ok=True)
        contents = numbers.randbytes(numbers.randrange(200, 2 * MEAN_BYTES - 200))
        path.write_bytes(contents)
        sums[str(path.relative_to(root))] = hashlib.sha256(contents).hexdigest()
    return sums


def set_up(site: Site, server: database.Database | None, libraries: list[Library], args: argparse.Namespace) -> dict[str, str]:
    """An archive with files on tape that are not in its cache any more; their sums. The tapes' time is not waited for."""
    units = [library.serve() for library in libraries]
    devices = [f"--changer={robot}" for robot, *_ in units]
    devices += [f"--drive={drive}" for _, *drives in units for drive in drives]
    if server:
        devices.append(f"--catalogue={server.url}")
    site.run(*"catalog init A --profile lto9 --block-size 8192 --segment-size 131072 --cache-gb 1".split(), *devices)
    on_shelf = args.files - args.stored
    (site.root / "shelf.csv").write_text(
        "volume,id,start_block,block_count\n"
        + "".join(
            f"OLD{number % ON_SHELF:03}L6,old/{number // 1000:04}/{number:07},{10 + number // ON_SHELF},1\n"
            for number in sorted(range(on_shelf), key=lambda number: number % ON_SHELF)
        )
    )
    site.run("catalog", "add", "--archive", "A", "--block-size", "8192", "-q", "shelf.csv")
    asked = make_files(site.root, "reel", args.stored // 2, args.seed)
    make_files(site.root, "filler", args.stored - args.stored // 2, args.seed + 1)
    # The cache holds what was stored last: nobody asks for that, and it makes room for what users ask for.
    total = args.stored * MEAN_BYTES
    settings = site.root / "A" / "archive.toml"
    kept = [line for line in settings.read_text().splitlines() if not line.startswith("cache_")]
    kept[:0] = [
        f"volume_bytes = {total // 18}",
        f"cache_high_bytes = {total * 45 // 100}",
        f"cache_low_bytes = {total * 40 // 100}",
    ]
    settings.write_text("\n".join(kept) + "\n")
    for what in ("reel", "filler"):
        site.run("store", "--archive", "A", "-q", what)
    for library in libraries:
        library.stop()
    return asked


def open_doors(site: Site, sums: dict[str, str], args: argparse.Namespace) -> tuple[Client, list[User]]:
    """Starts the service; an operator, and the users."""
    tokens = {f"user{number:02}": secrets.token_hex(16) for number in range(args.users)}
    may = [
        f'[[user]]\nname = "{name}"\nsha256 = "{hashlib.sha256(token.encode()).hexdigest()}"\n'
        f'may = "stage"\npaths = ["/reel"]\n'
        for name, token in tokens.items()
    ]
    (site.root / "A" / "serve.toml").write_text("\n".join(may))
    service = site.start("service", *"serve --archive A --no-drives --listen 127.0.0.1:0 -q".split())
    url = service.stdout.readline().strip().rstrip("/")
    numbers = random.Random(args.seed)
    users = []
    for name, token in tokens.items():
        wanted = numbers.sample(sorted(sums), args.each)
        batches = [{path: sums[path] for path in wanted[first::BATCHES]} for first in range(BATCHES)]
        users.append(User(name, Client(url, token), batches, numbers))
    return Client(url, (site.root / "A" / "serve.token").read_text().strip()), users


def stop_movers(site: Site) -> dict[str, int | None]:
    """Asks the movers to stop; their exit codes."""
    for mover in site.movers.values():
        mover.send_signal(signal.SIGTERM)
    ended: dict[str, int | None] = {}
    for host, mover in site.movers.items():
        try:
            ended[host] = mover.wait(60)
        except subprocess.TimeoutExpired:
            ended[host] = None
    return ended


def demonstrate(site: Site, server: database.Database | None, args: argparse.Namespace) -> int:
    began = time.monotonic()
    print(f"the catalogue is in {'PostgreSQL' if server else 'SQLite'}", flush=True)
    libraries = [Library(site, number) for number in (1, 2)]
    sums = set_up(site, server, libraries, args)
    print(
        f"{args.files} files are in the catalogue, {args.stored} of them in the libraries, "
        f"after {time.monotonic() - began:.0f} s",
        flush=True,
    )
    libraries[0].add_fault(1, BREAKS_AFTER)
    for library in libraries:
        library.serve("--clock-scale", str(args.clock_scale))
    events = site.root / "A" / "events.jsonl"
    before = events.stat().st_size
    operator, users = open_doors(site, sums, args)
    for host in MOVERS:
        site.start_mover(host)
    troubles = Troubles(site, server)
    for thread in [*users, troubles]:
        thread.start()
    for thread in [*users, troubles]:
        thread.join(max(0.0, args.limit - (time.monotonic() - troubles.began)))
    served_s = time.monotonic() - troubles.began
    ended = stop_movers(site)
    # The service looks at the event log now and then.
    time.sleep(5)
    with events.open() as log_file:
        log_file.seek(before)
        log = Log(log_file.read())
    judge = Judge()
    judge.users(users)
    judge.service(operator, users, log)
    judge.site(site, ended, log)
    judge.tell("everybody was served after", f"{served_s:.0f} s")
    judge.tell("all of it took", f"{time.monotonic() - began:.0f} s")
    return 1 if judge.wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("interrupted: all processes have ended, and nothing of them is left", file=sys.stderr)
        sys.exit(130)
