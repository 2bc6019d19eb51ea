"""A network of its own for each mover, which can be cut.

As root, the program starts itself anew in namespaces for network, mounts and processes. Bridge, wires and the movers'
namespaces are all made inside of these. So nothing has to be cleaned up: when the program ends, in whatever way, the
kernel ends its processes and takes the namespaces away. The machine's own network is never touched.
"""

import os
import shutil
import signal
import subprocess
import sys

INSIDE = "TAPEWISE_SITE_INSIDE"
SITE = "10.77.0.1"
NETWORK = "10.77.0.0/24"


def enter() -> str | None:
    """Goes on inside of namespaces; why that cannot be, where it cannot."""
    if os.environ.get(INSIDE):
        bury_the_dead()
        return None
    if os.geteuid() != 0:
        return "network namespaces need root"
    if missing := [name for name in ("ip", "unshare") if not shutil.which(name)]:
        return f"network namespaces need {' and '.join(missing)}"
    namespaces = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*namespaces, "ip", "link", "add", "type", "bridge"], capture_output=True, check=False).returncode:
        return "this system makes no network namespaces or bridges"
    sys.stdout.flush()
    os.execvpe(namespaces[0], [*namespaces, sys.executable, *sys.argv], {**os.environ, INSIDE: "1"})


def bury_the_dead() -> None:
    """Goes on in a child. The first process of a namespace inherits those whose parents have ended."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
        return
    # A Ctrl-C is for the child, which gets it too.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    while True:
        ended, status = os.wait()
        if ended == child:
            os._exit(min(255, abs(os.waitstatus_to_exitcode(status))))


class Network:
    """Hosts on one bridge, each in a namespace of its own."""

    def __init__(self) -> None:
        # `ip netns` keeps names below /run: of this namespace only.
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
        self.hosts = 0
        ip("link set lo up")
        ip("link add site type bridge")
        ip(f"addr add {SITE}/24 dev site")
        ip("link set site up")

    def add(self, host: str) -> list[str]:
        """A host; what a command line begins with that is to run there."""
        self.hosts += 1
        ip(f"netns add {host}")
        ip(f"link add to-{host} type veth peer name eth0 netns {host}")
        ip(f"link set to-{host} master site up")
        ip(f"-n {host} addr add 10.77.0.{10 + self.hosts}/24 dev eth0")
        ip(f"-n {host} link set eth0 up")
        ip(f"-n {host} link set lo up")
        return ["ip", "netns", "exec", host]

    def cut(self, host: str) -> None:
        ip(f"link set to-{host} down")

    def mend(self, host: str) -> None:
        ip(f"link set to-{host} up")


def ip(command: str) -> None:
    done = subprocess.run(["ip", *command.split()], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"ip {command}: {done.stderr.strip()}")
