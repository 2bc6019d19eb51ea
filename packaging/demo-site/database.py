"""A server of PostgreSQL in a directory of its own."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from ports import free_port

PATIENCE_S = 60


def programs() -> Path | None:
    """Where Debian's package has its programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


class Database:
    """The server. PostgreSQL does not run as root."""

    def __init__(self, root: Path, bin_: Path, address: str, network: str):
        self.root, self.bin = root, bin_
        self.user = "postgres" if os.geteuid() == 0 else None
        if self.user:
            shutil.chown(root, self.user, self.user)
        options = "--no-sync --auth=trust --username=tapewise --encoding=UTF8 --locale=C.UTF-8".split()
        self.command("initdb", *options, "-D", str(root / "data"))
        with (root / "data" / "pg_hba.conf").open("a") as access:
            access.write(f"host all all {network} trust\n")
        port = free_port(address)
        self.options = f"-k {root} -c listen_addresses={address} -c port={port} -c max_connections=200"
        self.url = f"postgresql://tapewise@{address}:{port}/postgres?sslmode=disable"
        self.start()

    def command(self, name: str, *args: str, check: bool = True) -> int:
        # pg_ctl hands its output to the server: a pipe would never end.
        command = [self.bin / name, *args]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": None if check else subprocess.DEVNULL}
        return subprocess.run(command, cwd=self.root, user=self.user, check=check, **quiet).returncode

    def start(self) -> None:
        """Starts it, once the processes of a server that was killed are gone."""
        args = ["-D", str(self.root / "data"), "-o", self.options, "-l", str(self.root / "log"), "-w", "start"]
        until = time.monotonic() + PATIENCE_S
        while self.command("pg_ctl", *args, check=False) != 0:
            if time.monotonic() > until:
                raise TimeoutError(f"PostgreSQL does not start: see {self.root / 'log'}")
            time.sleep(0.5)

    def kill(self) -> None:
        os.kill(int((self.root / "data" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    def stop(self) -> None:
        self.command("pg_ctl", "-D", str(self.root / "data"), "-m", "fast", "-w", "stop", check=False)
