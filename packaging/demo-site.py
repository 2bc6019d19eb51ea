#!/usr/bin/env python3
"""A whole site on this machine, and what goes wrong at one: `make demo-site`.

Two emulated libraries over iSCSI with four LTO-9 drives each, one archive, three movers that reach every drive, and a
service without drives of its own. Users ask over HTTP for random files, all at once. Meanwhile one mover is killed,
another is stopped for longer than its lease lasts and then goes on, the database is restarted, and the third one's host is
drained. At the end every file that was asked for has been fetched and compared, and a table says what happened.

It needs libiscsi. With Debian's package postgresql the catalogue is in PostgreSQL, without it in SQLite. Everything lies in a temporary directory and listens on loopback only.
"""

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

LEASE_S = 5
MEAN_BYTES = 2100
MOVERS = ["ada", "bob", "cyd"]


class Site:
    """The processes of a site, and where they work."""

    def __init__(self, program: str, root: Path, clock_scale: int):
        self.program, self.root, self.clock_scale = program, root, clock_scale
        self.processes: list[subprocess.Popen] = []

    def run(self, *args: str) -> str:
        done = subprocess.run([self.program, *args], cwd=self.root, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"tapewise {' '.join(args)}: {done.stderr}")
        return done.stdout

    def start(self, log: str, *args: str) -> subprocess.Popen:
        with open(self.root / f"{log}.log", "ab") as errors:
            process = subprocess.Popen(
                [self.program, *args], cwd=self.root, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        self.processes.append(process)
        return process

    def library(self, number: int) -> tuple[str, list[str]]:
        """Serves a library; its robot and its drives."""
        name = f"lib{number}"
        kind = "--robot ibm3584 --drive lto9 --drives 4 --slots 30 --cartridges 12 --scale 1000000"
        self.run("emulate", name, *kind.split(), "--seed", str(100 * number))
        # Two libraries of one site name their drives and cartridges differently.
        for file in ("library.toml", "places.toml"):
            path = self.root / name / file
            path.write_text(re.sub(r"TW(D?)0", rf"T{number}\g<1>0", path.read_text()))
        for cartridge in (self.root / name / "cartridges").iterdir():
            cartridge.rename(cartridge.with_name(cartridge.name.replace("TW0", f"T{number}0")))
        options = f"--clock-scale {self.clock_scale} --iscsi 127.0.0.1:0"
        process = self.start(name, "emulate", name, *options.split())
        units = [process.stdout.readline().split()[0] for _ in range(5)]
        threading.Thread(target=process.stdout.read, daemon=True).start()
        return units[0], units[1:]

    def mover(self, host: str) -> subprocess.Popen:
        options = f"--archive A --host {host} --lease {LEASE_S}s --most-drives 3".split()
        return self.start(f"mover-{host}", "mover", *options)

    def end(self):
        for process in self.processes:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()


class Database:
    """A server of PostgreSQL on a socket in a directory of its own."""

    def __init__(self, root: Path):
        self.root = root
        self.bin = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        # PostgreSQL does not run as root.
        self.user = None
        if os.geteuid() == 0:
            self.user = "postgres"
            shutil.chown(root, "postgres", "postgres")
        options = "--no-sync --auth=trust --username=tapewise --encoding=UTF8 --locale=C.UTF-8".split()
        self.command("initdb", *options, "-D", str(root / "data"))
        self.control("start")
        self.url = f"postgresql://tapewise@{str(root).replace('/', '%2F')}/postgres"

    def command(self, name: str, *args: str):
        subprocess.run([self.bin / name, *args], cwd=self.root, user=self.user, check=True, stdout=subprocess.DEVNULL)

    def control(self, what: str):
        options = f"-k {self.root} -c listen_addresses= -c max_connections=200"
        log = str(self.root / "log")
        self.command("pg_ctl", "-D", str(self.root / "data"), "-o", options, "-l", log, "-m", "fast", "-w", what)


class User(threading.Thread):
    """Somebody who asks for files, fetches each when it is there, and compares it."""

    def __init__(self, name: str, url: str, token: str, files: dict[str, str]):
        super().__init__(daemon=True)
        self.name, self.url, self.token, self.files = name, url, token, files
        self.fetched: dict[str, bool] = {}
        self.failed: list[str] = []
        self.waited_s: list[float] = []

    def call(self, path: str, body: dict | None = None) -> bytes:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data)
        request.add_header("Authorization", f"Bearer {self.token}")
        for _ in range(60):
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return answer.read()
            except urllib.error.HTTPError as refused:
                # What a service says that many ask at once, or whose database is being restarted.
                if refused.code not in (429, 503):
                    raise
                time.sleep(float(refused.headers.get("Retry-After", 1)))
        raise TimeoutError(f"{path}: the service has no time for it")

    def run(self):
        asked = time.monotonic()
        files = [{"path": "/" + path, "diskLifetime": "PT1H"} for path in self.files]
        stage = json.loads(self.call("/tape/v1/stage", {"files": files}))["requestId"]
        while len(self.fetched) + len(self.failed) < len(self.files):
            time.sleep(1)
            for file in json.loads(self.call(f"/tape/v1/stage/{stage}"))["files"]:
                path = file["path"].lstrip("/")
                if path in self.fetched or path in self.failed:
                    continue
                if file["state"] in ("FAILED", "CANCELLED"):
                    self.failed.append(f"{path}: {file.get('error')}")
                elif file["state"] == "COMPLETED":
                    contents = self.call("/files/" + path)
                    self.fetched[path] = hashlib.sha256(contents).hexdigest() == self.files[path]
                    self.waited_s.append(time.monotonic() - asked)


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


def events(site: Site, movers: dict[str, subprocess.Popen], database: Database | None, happened: list[str]):
    """What goes wrong, while users wait."""
    began = time.monotonic()

    def say(what: str):
        happened.append(f"{time.monotonic() - began:5.0f} s  {what}")

    def holding(host: str) -> list[dict]:
        leases = json.loads(site.run("mover", "status", "--archive", "A", "--json"))["leases"]
        return [lease for lease in leases if lease["host"] == host and lease["volume"]]

    def wait_until_it_holds(host: str) -> list[dict]:
        for _ in range(100):
            if held := holding(host):
                return held
            time.sleep(0.1)
        return []

    time.sleep(3)
    held = wait_until_it_holds("ada")
    movers["ada"].kill()
    say(f"mover ada is killed with {', '.join(lease['volume'] for lease in held) or 'nothing'} in its drives")
    held = wait_until_it_holds("bob")
    movers["bob"].send_signal(signal.SIGSTOP)
    say(f"mover bob is stopped with {', '.join(lease['volume'] for lease in held) or 'nothing'} in its drives")
    time.sleep(2.5 * LEASE_S)
    movers["bob"].send_signal(signal.SIGCONT)
    say("mover bob goes on; its leases are over")
    movers["ada"] = site.mover("ada")
    say("mover ada is started again")
    time.sleep(3)
    if database:
        database.control("restart")
        say("PostgreSQL is restarted")
        time.sleep(3)
    site.run("mover", "drain", "--archive", "A", "--host", "cyd", "--why", "new firmware")
    say("host cyd is drained")
    time.sleep(2 * LEASE_S)
    site.run("mover", "resume", "--archive", "A", "--host", "cyd")
    say("host cyd is in use again")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/debug/tapewise")
    parser.add_argument("--files", type=int, default=600)
    parser.add_argument("--users", type=int, default=40)
    parser.add_argument("--each", type=int, default=15, help="files that each user asks for")
    parser.add_argument("--clock-scale", type=int, default=100, help="how much faster the emulated clocks go")
    parser.add_argument("--sqlite", action="store_true", help="keep the catalogue in SQLite in any case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=300, help="seconds after which it is given up")
    args = parser.parse_args()
    prefix = "tapewise-site-"
    with tempfile.TemporaryDirectory(prefix=prefix) as directory, tempfile.TemporaryDirectory(prefix=prefix) as data:
        site = Site(os.path.abspath(args.program), Path(directory), args.clock_scale)
        has_server = args.sqlite is False and any(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        database = Database(Path(data)) if has_server else None
        try:
            return demonstrate(site, database, args)
        finally:
            site.end()
            if database:
                database.control("stop")


def set_up(site: Site, database: Database | None, args: argparse.Namespace) -> dict[str, str]:
    """An archive on two libraries, with files on tape that are not in its cache any more; their sums."""
    libraries = [site.library(number) for number in (1, 2)]
    devices = [f"--changer={robot}" for robot, _ in libraries]
    devices += [f"--drive={drive}" for _, drives in libraries for drive in drives]
    if database:
        devices.append(f"--catalogue={database.url}")
    site.run(*"catalog init A --profile lto9 --block-size 8192 --segment-size 131072 --cache-gb 1".split(), *devices)
    asked = make_files(site.root, "reel", args.files, args.seed)
    make_files(site.root, "filler", args.files, args.seed + 1)
    # The cache holds what was stored last: nobody asks for that, and it makes room for what users ask for.
    total = args.files * 2 * MEAN_BYTES
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
    return asked


def demonstrate(site: Site, database: Database | None, args: argparse.Namespace) -> int:
    began = time.monotonic()
    print(f"the catalogue is in {'PostgreSQL' if database else 'SQLite'}", flush=True)
    sums = set_up(site, database, args)
    print(f"{2 * args.files} files are on tape after {time.monotonic() - began:.0f} s", flush=True)
    service = site.start("service", *"serve --archive A --no-drives --listen 127.0.0.1:0 -q".split())
    url = service.stdout.readline().strip().rstrip("/")
    token = (site.root / "A" / "serve.token").read_text().split()[0]
    movers = {host: site.mover(host) for host in MOVERS}
    numbers = random.Random(args.seed)
    users = [
        User(f"user{number:02}", url, token, {path: sums[path] for path in numbers.sample(sorted(sums), args.each)})
        for number in range(args.users)
    ]
    for user in users:
        user.start()
    happened: list[str] = []
    trouble = threading.Thread(target=events, args=(site, movers, database, happened), daemon=True)
    trouble.start()
    for thread in [*users, trouble]:
        thread.join(max(0.0, args.limit - (time.monotonic() - began)))
    print("\n".join(happened))
    return report(site, users, time.monotonic() - began)


def report(site: Site, users: list[User], took_s: float) -> int:
    """Says what came of it; 0 where everything that was asked for was delivered, and right."""
    asked = sum(len(user.files) for user in users)
    fetched = sum(len(user.fetched) for user in users)
    right = sum(sum(user.fetched.values()) for user in users)
    failed = [line for user in users for line in user.failed]
    longest = [max(user.waited_s, default=0.0) for user in users]
    check = site.run("catalog", "check", "--archive", "A").splitlines()[0]
    log = [json.loads(line) for line in (site.root / "A" / "events.jsonl").read_text().splitlines()]
    mounts = sum(event.get("action") == "mount" for event in log)
    lines = [
        ("users", len(users)),
        ("files asked for", asked),
        ("fetched", fetched),
        ("of these with the right contents", right),
        ("failed", len(failed)),
        ("mounts in the event log", mounts),
        ("the quickest user had all after", f"{min(longest):.0f} s"),
        ("the slowest user had all after", f"{max(longest):.0f} s"),
        ("the catalogue", check),
        ("all of it took", f"{took_s:.0f} s"),
    ]
    for name, value in lines:
        print(f"{name:34}{value}")
    for line in failed[:5]:
        print(line)
    return 0 if right == asked else 1


if __name__ == "__main__":
    sys.exit(main())
