"""What goes wrong, while users wait."""

import json
import signal
import threading
import time

from database import Database
from processes import BROKEN_DRIVE, LEASE_S, Site


class Troubles(threading.Thread):
    """One trouble after the other; what is to happen is told when it has happened."""

    def __init__(self, site: Site, database: Database | None):
        super().__init__(daemon=True)
        self.site, self.database = site, database
        self.happened: list[str] = []
        self.began = time.monotonic()

    def say(self, what: str) -> None:
        line = f"{time.monotonic() - self.began:5.0f} s  {what}"
        self.happened.append(line)
        print(line, flush=True)

    def held(self, host: str) -> str:
        """Waits until a host has cartridges; which. On a machine that does much else a mover may begin late."""
        for _ in range(600):
            leases = json.loads(self.site.run("mover", "status", "--archive", "A", "--json"))["leases"]
            if held := [lease["volume"] for lease in leases if lease["host"] == host and lease["volume"]]:
                return ", ".join(held)
            time.sleep(0.1)
        return "nothing"

    def run(self) -> None:
        time.sleep(3)
        self.kill_a_mover()
        self.cut_a_mover_off()
        self.site.start_mover("ada")
        self.say("mover ada is started again")
        time.sleep(3)
        self.kill_the_database()
        self.set_the_broken_drive_aside()
        self.drain_a_host()

    def kill_a_mover(self) -> None:
        held = self.held("ada")
        self.site.movers["ada"].kill()
        self.say(f"mover ada is killed with {held} in its drives")

    def cut_a_mover_off(self) -> None:
        held = self.held("bob")
        network, mover = self.site.network, self.site.movers["bob"]
        if network:
            network.cut("bob")
            self.say(f"the network of mover bob is cut with {held} in its drives")
        else:
            mover.send_signal(signal.SIGSTOP)
            self.say(f"mover bob is stopped with {held} in its drives")
        time.sleep(2.5 * LEASE_S)
        if network:
            network.mend("bob")
            self.say("mover bob has its network again; its leases are over")
        else:
            mover.send_signal(signal.SIGCONT)
            self.say("mover bob goes on; its leases are over")

    def kill_the_database(self) -> None:
        if not self.database:
            return
        self.database.kill()
        self.say("PostgreSQL is killed")
        time.sleep(2)
        self.database.start()
        self.say("PostgreSQL is started again")
        time.sleep(3)

    def set_the_broken_drive_aside(self) -> None:
        for _ in range(200):
            if self.site.broke_down():
                break
            time.sleep(0.1)
        else:
            return
        self.site.run("mover", "drain", "--archive", "A", "--drive", BROKEN_DRIVE, "--why", "it broke down")
        self.say(f"drive {BROKEN_DRIVE} broke down, and is taken out of use")

    def drain_a_host(self) -> None:
        self.site.run("mover", "drain", "--archive", "A", "--host", "cyd", "--why", "new firmware")
        self.say("host cyd is drained")
        time.sleep(2 * LEASE_S)
        self.site.run("mover", "resume", "--archive", "A", "--host", "cyd")
        self.say("host cyd is in use again")
