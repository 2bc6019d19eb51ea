"""Whether all is as it should be at the end: every figure is told, and what two sources say of it has to agree."""

import json
import re
from collections import Counter, defaultdict

from processes import BROKEN_DRIVE, Site
from user import Client, User

# What the metrics count an action as.
KINDS = {
    "mount": ["mount", "unmount", "fetch", "return"],
    "position": ["locate", "rewind", "read-through"],
    "read": ["read"],
}
KIND_OF = {action: kind for kind, actions in KINDS.items() for action in actions}
# Nobody waits longer than this many times what users wait on average.
STARVED = 3.0


class Log:
    """What the event log says of drives since the service began."""

    def __init__(self, text: str):
        self.seconds: dict[tuple[str, str], float] = defaultdict(float)
        self.errors: Counter[str] = Counter()
        self.positionings = self.mounts = self.bytes = self.locates = 0
        for line in text.splitlines():
            event = json.loads(line)
            if "tapewise_events" in event:
                continue
            drive, kind, failed = event.get("device", ""), KIND_OF.get(event["action"]), event.get("outcome") == "failed"
            self.errors[drive] += failed
            if kind:
                self.seconds[drive, kind] += event["took_us"] / 1e6
            self.positionings += kind == "position"
            self.locates += event["action"] == "locate"
            self.mounts += event["action"] == "mount" and not failed
            self.bytes += event.get("bytes", 0)


class Metrics:
    """What Prometheus would collect."""

    def __init__(self, text: str):
        found = re.findall(r"^(\w+)(?:\{(.*)\})? (\S+)$", text, re.MULTILINE)
        self.values = {(name, labels): float(value) for name, labels, value in found}

    def of(self, name: str, labels: str = "") -> float:
        return self.values.get((name, labels), 0.0)

    def by_labels(self, name: str) -> dict[tuple[str, ...], float]:
        named = ((labels, value) for (found, labels), value in self.values.items() if found == name)
        return {tuple(re.findall(r'"([^"]*)"', labels)): value for labels, value in named}


class Judge:
    """Tells figures, and remembers which are not as they should be."""

    def __init__(self) -> None:
        self.wrong: list[str] = []

    def tell(self, what: str, value: object, is_right: bool = True) -> None:
        print(f"{what:60}{value}{'' if is_right else '   WRONG'}")
        if not is_right:
            self.wrong.append(what)

    def equal(self, what: str, one: float, other: float) -> None:
        is_right = abs(one - other) <= 1e-6 * max(1.0, abs(one))
        self.tell(what, f"{one:.10g}" if is_right else f"{one:.10g}, and {other:.10g}", is_right)

    def users(self, users: list[User]) -> None:
        asked = sum(user.asked for user in users)
        fetched = [(user.name, path) for user in users for path, _ in user.fetched]
        self.tell("files asked for, by this many users", f"{asked}, {len(users)}")
        self.equal("  delivered", len(fetched), asked)
        self.equal("  delivered to each once", len(set(fetched)), asked)
        self.equal("  with the right SHA-256", sum(right for user in users for _, right in user.fetched), asked)
        for line in [line for user in users for line in user.failed][:5]:
            self.tell("  failed", line, is_right=False)
        for user in users:
            if user.trouble:
                self.tell(f"  {user.name}", user.trouble, is_right=False)
        longest = sorted((max(user.waited_s, default=0.0), user.name) for user in users)
        mean_s = sum(wait for wait, _ in longest) / len(longest)
        self.tell("longest wait of each user, on average", f"{mean_s:.0f} s")
        self.tell("  of all", f"{longest[-1][0]:.0f} s, {longest[-1][1]}", longest[-1][0] <= STARVED * mean_s)
        for first in range(0, len(longest), 10):
            print("  " + " ".join(f"{name[-2:]}:{wait:.0f}s" for wait, name in longest[first : first + 10]))

    def service(self, client: Client, users: list[User], log: Log) -> None:
        """Compares what the service says with what users got, and with what drives did."""
        fetched = sum(len(user.fetched) for user in users)
        status = client.json("/api/v1/status")
        metrics = Metrics(client.call("/metrics").decode())
        history = client.json("/api/v1/history")["mounts"]
        page = client.call("/?live=no").decode()
        states = Counter(
            file["state"]
            for user in users
            for stage in user.stages
            for file in client.json(f"/api/v1/requests/{stage}")["files"]
        )
        self.equal("API: files of requests that are there, and fetched", states["COMPLETED"], fetched)
        # One read of a file answers all who wait for it, and it stays in the cache for those who ask later.
        files = {path: bytes_ for user in users for path, bytes_ in user.bytes.items()}
        delivered = metrics.of("tapewise_recalls_total", 'outcome="delivered"')
        self.equal("metrics: recalls delivered, and files fetched by anybody", delivered, len(files))
        self.equal("  their bytes", metrics.of("tapewise_recalled_bytes_total"), sum(files.values()))
        self.equal("API: recalls delivered, and in the metrics", status["delivered"], delivered)
        self.equal("metrics: recalls that wait", sum(metrics.by_labels("tapewise_recalls_open").values()), 0)
        self.equal("metrics: recalls that failed", metrics.of("tapewise_recalls_failed"), 0)
        seconds = metrics.by_labels("tapewise_drive_seconds_total")
        for kind in KINDS:
            in_log = sum(value for (_, of), value in log.seconds.items() if of == kind)
            in_metrics = sum(value for (_, of), value in seconds.items() if of == kind)
            self.equal(f"metrics: drive seconds of {kind}, and in the log", in_metrics, in_log)
        drives = {drive for drive, _ in log.seconds}
        differ = [key for key in log.seconds if abs(log.seconds[key] - seconds.get(key, 0.0)) > 1e-3]
        self.equal("  drives and kinds that differ", len(differ), 0)
        errors = metrics.by_labels("tapewise_drive_errors_total")
        self.equal("metrics: actions that failed, and in the log", sum(errors.values()), log.errors.total())
        positionings = metrics.of("tapewise_positioning_seconds_count")
        self.equal("metrics: positionings, and in the log", positionings, log.positionings)
        self.equal("history: locates, and in the log", sum(mount["locates"] for mount in history), log.locates)
        self.equal("history: bytes read, and in the log", sum(mount["bytes"] for mount in history), log.bytes)
        self.tell("mounts in the log", log.mounts)
        self.equal("page: drives, and in the log", sum(f">{drive}</td>" in page for drive in drives), len(drives))
        self.tell("page: nothing waits", "yes", "0 in the queue, 0 claimed by drives" in page)

    def site(self, site: Site, ended: dict[str, int | None], log: Log) -> None:
        # It may break down between two actions: then none has failed.
        self.tell(f"drive {BROKEN_DRIVE} broke down, and was set aside", "yes" if site.broke_down() else "no", site.broke_down())
        self.tell("  its actions that failed", log.errors[BROKEN_DRIVE])
        for host, code in ended.items():
            self.tell(f"mover {host} at the end", "works, and stops when asked" if code == 0 else f"exit code {code}", code == 0)
        check = site.run("catalog", "check", "--archive", "A").splitlines()[0]
        self.tell("the catalogue", check)
