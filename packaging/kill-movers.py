#!/usr/bin/env python3
"""SIGKILL at many instants of a site's movers and of its database: `make kill-movers KILLS=500`.

One emulated library over iSCSI with four LTO-9 drives, one archive with its catalogue in PostgreSQL, three movers that
reach every drive, and a service without drives. Files are stored and asked for all the time. Meanwhile movers are killed
at random instants and started again; every fifth time it is PostgreSQL, the postmaster with all its children, which then
starts again on the same directory. Whatever ends because its database is not there is started again, as systemd does.

At the end nothing is killed any more. Every file that was asked for is fetched and compared. Then the movers end, and
every file that was acknowledged is recalled from the archive and compared too. It exits with 0 if all of them are right.

It needs libiscsi and Debian's package postgresql. Everything lies in temporary directories and listens on loopback only.
"""

import argparse
import hashlib
import json
import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

LEASE_S = 2
MOVERS = ["ada", "bob", "cyd"]
FILES_AT_ONCE = 25
# One kill in this many is of the database.
KILLS_PER_DATABASE = 5


class Site:
    """The processes of a site, and where they work."""

    def __init__(self, program: str, root: Path, numbers: random.Random):
        self.program, self.root, self.numbers = program, root, numbers
        self.processes: list[subprocess.Popen] = []
        self.kept: dict[str, subprocess.Popen] = {}
        self.ended_by_themselves = 0
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.sums: dict[str, str] = {}

    def run(self, *args: str) -> subprocess.CompletedProcess:
        return subprocess.run([self.program, *args], cwd=self.root, capture_output=True, text=True, check=False)

    def must(self, *args: str) -> str:
        done = self.run(*args)
        if done.returncode != 0:
            sys.exit(f"tapewise {' '.join(args)}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self, log: str, *args: str) -> subprocess.Popen:
        with open(self.root / f"{log}.log", "ab") as errors:
            process = subprocess.Popen(
                [self.program, *args], cwd=self.root, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        self.processes.append(process)
        return process

    def keep_running(self, name: str, *args: str):
        """Starts a process that is not there, or not any more."""
        if name in self.kept and self.kept[name].poll() is None:
            return
        self.ended_by_themselves += name in self.kept
        self.kept[name] = self.start(name, *args)

    def keep_all_running(self):
        for host in MOVERS:
            options = f"mover --archive A --host {host} --lease {LEASE_S}s --most-drives 2"
            self.keep_running(host, *options.split())
        self.keep_running("service", *f"serve --archive A --no-drives --listen 127.0.0.1:{self.port} -q".split())

    def kill_mover(self):
        mover = self.kept.pop(self.numbers.choice(MOVERS))
        mover.kill()
        mover.wait()

    def make(self, url: str):
        kind = "--robot ibm3584 --drive lto9 --drives 4 --slots 30 --cartridges 20 --scale 1000000"
        self.must("emulate", "library", *kind.split())
        serving = self.start("library", *"emulate library --clock-scale 2000 --iscsi 127.0.0.1:0".split())
        robot, *drives = [serving.stdout.readline().split()[0] for _ in range(5)]
        threading.Thread(target=serving.stdout.read, daemon=True).start()
        devices = [f"--changer={robot}", f"--catalogue={url}", *(f"--drive={drive}" for drive in drives)]
        options = "catalog init A --profile lto9 --block-size 8192 --segment-size 32768 --cache-gb 1"
        self.must(*options.split(), *devices)
        # What has its copies leaves the cache soon, so that tapes are read.
        settings = self.root / "A" / "archive.toml"
        kept = [line for line in settings.read_text().splitlines() if not line.startswith("cache_")]
        kept[:0] = ["volume_bytes = 1000000", "cache_high_bytes = 400000", "cache_low_bytes = 100000"]
        settings.write_text("\n".join(kept) + "\n")

    def store(self) -> bool:
        """Stores some files; whether they were acknowledged."""
        name = f"d{len(self.sums):06}"
        sums = {}
        for number in range(FILES_AT_ONCE):
            path = self.root / name / f"{number:03}"
            path.parent.mkdir(exist_ok=True)
            contents = self.numbers.randbytes(self.numbers.randrange(100, 4000))
            path.write_bytes(contents)
            sums[str(path.relative_to(self.root))] = hashlib.sha256(contents).hexdigest()
        is_stored = self.run("store", "--archive", "A", "--later", "-q", name).returncode == 0
        shutil.rmtree(self.root / name)
        if is_stored:
            self.sums |= sums
        return is_stored

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()


class Database:
    """A server of PostgreSQL on a socket in a directory of its own."""

    def __init__(self, root: Path):
        self.root = root
        self.bin = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        # PostgreSQL does not run as root.
        self.user = "postgres" if os.geteuid() == 0 else None
        if self.user:
            shutil.chown(root, "postgres", "postgres")
        options = "--auth=trust --username=tapewise --encoding=UTF8 --locale=C.UTF-8".split()
        self.command("initdb", *options, "-D", str(root / "data"))
        self.control("start")
        self.url = f"postgresql://tapewise@{str(root).replace('/', '%2F')}/postgres"

    def command(self, name: str, *args: str):
        subprocess.run([self.bin / name, *args], cwd=self.root, user=self.user, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def control(self, what: str):
        options = f"-k {self.root} -c listen_addresses= -c max_connections=100"
        log = str(self.root / "log")
        self.command("pg_ctl", "-D", str(self.root / "data"), "-o", options, "-l", log, "-m", "fast", "-w", what)

    def kill(self):
        """The postmaster and all its children, at once."""
        master = (self.root / "data" / "postmaster.pid").read_text().split()[0]
        children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
        for process in [master, *children]:
            try:
                os.kill(int(process), signal.SIGKILL)
            except ProcessLookupError:
                pass
        while any(Path(f"/proc/{process}").exists() for process in [master, *children]):
            time.sleep(0.01)
        self.control("start")


class Users(threading.Thread):
    """They store and ask all the time; what comes is compared."""

    def __init__(self, site: Site, token: str):
        super().__init__(daemon=True)
        self.site, self.url, self.token = site, f"http://127.0.0.1:{site.port}", token
        self.is_over = threading.Event()
        self.right, self.wrong, self.asked, self.refused_stores = 0, [], 0, 0

    def call(self, path: str, body: dict | None = None) -> bytes:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data)
        request.add_header("Authorization", f"Bearer {self.token}")
        for _ in range(200):
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return answer.read()
            except urllib.error.HTTPError as refused:
                # What a service says whose database is not there.
                if refused.code not in (429, 500, 503):
                    raise
            except OSError:
                # It is being started again.
                pass
            time.sleep(0.5)
        raise TimeoutError(f"{path}: the service never answers")

    def ask(self):
        """Asks for some files, and fetches each when it is there."""
        paths = self.site.numbers.sample(sorted(self.site.sums), min(20, len(self.site.sums)))
        files = [{"path": "/" + path, "diskLifetime": "PT1H"} for path in paths]
        stage = json.loads(self.call("/tape/v1/stage", {"files": files}))["requestId"]
        waiting = set(paths)
        self.asked += len(paths)
        until = time.monotonic() + 300
        while waiting and time.monotonic() < until:
            time.sleep(0.5)
            for file in json.loads(self.call(f"/tape/v1/stage/{stage}"))["files"]:
                path = file["path"].lstrip("/")
                if path not in waiting or file["state"] not in ("COMPLETED", "FAILED", "CANCELLED"):
                    continue
                waiting.discard(path)
                if file["state"] != "COMPLETED":
                    self.wrong.append(f"{path}: {file['state']}, {file.get('error')}")
                elif hashlib.sha256(self.call("/files/" + path)).hexdigest() != self.site.sums[path]:
                    self.wrong.append(f"{path}: other contents")
                else:
                    self.right += 1
        self.wrong += [f"{path}: never came" for path in waiting]
        # Otherwise the cache keeps them for an hour, and is full.
        self.call(f"/tape/v1/release/{stage}", {"paths": ["/" + path for path in paths]})

    def run(self):
        while not self.is_over.is_set():
            self.refused_stores += not self.site.store()
            self.ask()


def kill(site: Site, database: Database, kills: int, limit_s: float) -> tuple[int, int]:
    """Kills movers, and now and then the database; how many of each."""
    done = [0, 0]
    until = time.monotonic() + limit_s
    for number in range(1, kills + 1):
        if time.monotonic() > until:
            break
        time.sleep(site.numbers.uniform(0.05, 1.6))
        site.keep_all_running()
        if number % KILLS_PER_DATABASE == 0:
            database.kill()
            done[1] += 1
        else:
            site.kill_mover()
            done[0] += 1
        site.keep_all_running()
        if number % 50 == 0:
            print(f"{number} kills, {len(site.sums)} files acknowledged", flush=True)
    return done[0], done[1]


def study(site: Site, database: Database, args: argparse.Namespace) -> int:
    began = time.monotonic()
    site.make(database.url)
    token = secrets.token_hex(16)
    (site.root / "A" / "serve.toml").write_text(
        f'[[user]]\nname = "ann"\nsha256 = "{hashlib.sha256(token.encode()).hexdigest()}"\nmay = "stage"\npaths = ["/"]\n'
    )
    users = Users(site, token)
    if not site.store():
        sys.exit("nothing can be stored")
    users.start()
    of_movers, of_database = kill(site, database, args.kills, args.limit)
    users.is_over.set()
    until = time.monotonic() + 300
    while users.is_alive() and time.monotonic() < until:
        site.keep_all_running()
        users.join(1)
    for process in site.kept.values():
        process.terminate()
    for process in site.kept.values():
        process.wait(60)
    check = site.run("catalog", "check", "--archive", "A", "--contents").stdout.strip()
    site.must("recall", "--archive", "A", "--all-files", "-q", "--to", "back")
    back = {path: hashlib.sha256((site.root / "back" / path).read_bytes()).hexdigest()
            for path in site.sums if (site.root / "back" / path).exists()}
    lost = [path for path in site.sums if back.get(path) != site.sums[path]]
    log = [json.loads(line) for line in (site.root / "A" / "events.jsonl").read_text().splitlines()]
    lines = [
        ("movers killed", of_movers),
        ("PostgreSQL killed", of_database),
        ("processes that ended by themselves", site.ended_by_themselves),
        ("files acknowledged", len(site.sums)),
        ("stores refused meanwhile", users.refused_stores),
        ("files asked for", users.asked),
        ("fetched with the right contents", users.right),
        ("failed, wrong or never there", len(users.wrong)),
        ("mounts in the event log", sum(event.get("action") == "mount" for event in log)),
        ("recalled at the end and right", len(site.sums) - len(lost)),
        ("lost", len(lost)),
        ("the catalogue", check.splitlines()[0] if check else "no answer"),
        ("all of it took", f"{time.monotonic() - began:.0f} s"),
    ]
    for name, value in lines:
        print(f"{name:36}{value}")
    for line in [*users.wrong[:5], *lost[:5]]:
        print(line)
    return 1 if lost or users.wrong or users.is_alive() else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/debug/tapewise")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--limit", type=float, default=1800, help="seconds after which nothing more is killed")
    args = parser.parse_args()
    prefix = "tapewise-kills-"
    with tempfile.TemporaryDirectory(prefix=prefix) as directory, tempfile.TemporaryDirectory(prefix=prefix) as data:
        site = Site(os.path.abspath(args.program), Path(directory), random.Random())
        database = Database(Path(data))
        try:
            return study(site, database, args)
        finally:
            site.end()
            database.control("stop")


if __name__ == "__main__":
    sys.exit(main())
