"""Somebody who asks for files over HTTP, fetches each when it is there, and compares it."""

import hashlib
import json
import random
import threading
import time
import urllib.error
import urllib.request

PATIENCE_S = 120


class Client:
    """The service, for somebody with a token."""

    def __init__(self, url: str, token: str):
        self.url, self.token = url, token

    def call(self, path: str, body: dict | None = None) -> bytes:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data)
        request.add_header("Authorization", f"Bearer {self.token}")
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return answer.read()
            except urllib.error.HTTPError as refused:
                # What a service says that many ask at once, or whose database is away.
                if refused.code not in (429, 503):
                    raise
                time.sleep(float(refused.headers.get("Retry-After", 1)))
        raise TimeoutError(f"{path}: the service has had no time for it for {PATIENCE_S} s")

    def json(self, path: str, body: dict | None = None) -> dict:
        return json.loads(self.call(path, body))


class User(threading.Thread):
    """A user, who asks several times, at random."""

    def __init__(self, name: str, client: Client, batches: list[dict[str, str]], pauses: random.Random):
        super().__init__(daemon=True)
        self.name, self.client, self.batches = name, client, batches
        self.pauses_s = [pauses.uniform(0, 20) for _ in batches]
        self.stages: list[str] = []
        # Every delivery, with whether its contents were right: what comes twice is here twice.
        self.fetched: list[tuple[str, bool]] = []
        self.failed: list[str] = []
        self.waited_s: list[float] = []
        # Of each file that was fetched.
        self.bytes: dict[str, int] = {}
        self.trouble: Exception | None = None

    @property
    def asked(self) -> int:
        return sum(len(batch) for batch in self.batches)

    def run(self) -> None:
        try:
            for batch, pause_s in zip(self.batches, self.pauses_s, strict=True):
                time.sleep(pause_s)
                self.ask(batch)
        except Exception as trouble:  # Told at the end, beside what the others got.
            self.trouble = trouble

    def ask(self, sums: dict[str, str]) -> None:
        asked = time.monotonic()
        files = [{"path": "/" + path, "diskLifetime": "PT1H"} for path in sums]
        stage = self.client.json("/tape/v1/stage", {"files": files})["requestId"]
        self.stages.append(stage)
        waiting = set(sums)
        while waiting:
            time.sleep(1)
            for file in self.client.json(f"/tape/v1/stage/{stage}")["files"]:
                path = file["path"].lstrip("/")
                if path not in waiting or file["state"] not in ("COMPLETED", "FAILED", "CANCELLED"):
                    continue
                waiting.remove(path)
                if file["state"] != "COMPLETED":
                    self.failed.append(f"{path}: {file.get('error')}")
                    continue
                contents = self.client.call("/files/" + path)
                self.bytes[path] = len(contents)
                self.fetched.append((path, hashlib.sha256(contents).hexdigest() == sums[path]))
                self.waited_s.append(time.monotonic() - asked)
