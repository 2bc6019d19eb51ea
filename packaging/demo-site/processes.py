"""The processes of a site: two emulated libraries over iSCSI, a service, and movers, each on a host of its own."""

import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

from network import Network
from ports import free_port

LEASE_S = 5
DRIVES = 4
# A drive of the first library breaks down after this many commands to a cartridge.
BREAKS_AFTER = 60
BROKEN_DRIVE = "T1D0000002"


class Library:
    """An emulated library, which can be served again at the same address."""

    def __init__(self, site: "Site", number: int):
        self.site, self.name = site, f"lib{number}"
        self.address = f"{site.address}:{free_port(site.address)}"
        kind = f"--robot ibm3584 --drive lto9 --drives {DRIVES} --slots 30 --cartridges 12 --scale 1000000"
        site.run("emulate", self.name, *kind.split(), "--seed", str(100 * number))
        # Two libraries of one site name their drives and cartridges differently.
        for file in ("library.toml", "places.toml"):
            path = site.root / self.name / file
            path.write_text(re.sub(r"TW(D?)0", rf"T{number}\g<1>0", path.read_text()))
        for cartridge in (site.root / self.name / "cartridges").iterdir():
            cartridge.rename(cartridge.with_name(cartridge.name.replace("TW0", f"T{number}0")))

    def serve(self, *options: str) -> list[str]:
        """Serves it; its robot and its drives."""
        self.process = self.site.start(self.name, "emulate", self.name, "--iscsi", self.address, *options)
        units = [self.process.stdout.readline().split()[0] for _ in range(1 + DRIVES)]
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        return units

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)

    def add_fault(self, drive: int, after_commands: int) -> None:
        path = self.site.root / self.name / "library.toml"
        fault = f"broken_drives = [{{ drive = {drive}, after_commands = {after_commands} }}]"
        path.write_text(path.read_text().replace("broken_drives = []", fault))


class Site:
    """The processes, and where they work."""

    def __init__(self, program: str, root: Path, address: str, network: Network | None):
        self.program, self.root, self.address, self.network = program, root, address, network
        self.processes: list[subprocess.Popen] = []
        self.hosts: dict[str, list[str]] = {}
        self.movers: dict[str, subprocess.Popen] = {}

    def run(self, *args: str) -> str:
        done = subprocess.run([self.program, *args], cwd=self.root, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"tapewise {' '.join(args)}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self, log: str, *args: str, host: str | None = None) -> subprocess.Popen:
        before = self.hosts.get(host, []) if host else []
        with (self.root / f"{log}.log").open("ab") as errors:
            process = subprocess.Popen(
                [*before, self.program, *args], cwd=self.root, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        self.processes.append(process)
        return process

    def start_mover(self, host: str) -> None:
        if self.network and host not in self.hosts:
            self.hosts[host] = self.network.add(host)
        options = f"--archive A --host {host} --lease {LEASE_S}s --most-drives 3".split()
        self.movers[host] = self.start(f"mover-{host}", "mover", *options, host=host)

    def log_of(self, host: str) -> str:
        return (self.root / f"mover-{host}.log").read_text()

    def broke_down(self) -> bool:
        """Whether a mover has set the drive aside that is to break down."""
        lines = [line for host in self.movers for line in self.log_of(host).splitlines()]
        return any(BROKEN_DRIVE in line and "set aside" in line for line in lines)

    def keep(self, directory: Path) -> None:
        """Keeps what the processes said, and the event log, for whoever looks for what went wrong."""
        directory.mkdir(parents=True, exist_ok=True)
        for path in [*self.root.glob("*.log"), self.root / "A" / "events.jsonl"]:
            if path.exists():
                shutil.copy(path, directory)

    def end(self) -> None:
        for process in self.processes:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
