"""Logs become profiles, and are priced in other orders."""

import json
import random

import pytest

import tapewise
from tapewise import Cartridge, Profile


def locates(count: int) -> bytes:
    """A log of a made-up drive: 5 s, 8 s more to another wrap, and the way."""
    draw = random.Random(5)
    rows = ["from_wrap,from_lpos,to_wrap,to_lpos,locate_s"]
    for _ in range(count):
        a, b = draw.randrange(208), draw.randrange(208)
        x, y = draw.randrange(2_700, 171_000), draw.randrange(2_700, 171_000)
        seconds = 5 + (8 if a != b else 0) + abs(x - y) * 0.0006 + draw.random()
        rows.append(f"{a},{x},{b},{y},{seconds:.6f}")
    return "\n".join(rows).encode()


def test_a_log_becomes_a_profile_that_orders() -> None:
    fitted = tapewise.fit(locates(300), "lto8", name="mine")
    assert fitted.profile.name == "mine" and fitted.trust == "good"
    assert fitted.residual_s < 2 and len(fitted.moves["measured_s"]) == 300
    plan = tapewise.order(tapewise.Batch.random(10, last_block=15_000_000), Cartridge(fitted.profile))
    assert len(plan.order) == 10
    assert Profile(fitted.profile.text) == fitted.profile
    assert "\n" not in repr(fitted)


def test_a_log_that_says_too_little_is_refused() -> None:
    with pytest.raises(tapewise.FitError, match="too few"):
        tapewise.fit(locates(20), "lto8")
    with pytest.raises(tapewise.FitError):
        tapewise.fit(b"a,b\n1,2\n", "lto8")


def test_mounts_are_priced() -> None:
    blocks = [9_000_000, 40_000, 9_100_000, 2_000_000, 12_000_000]
    lines: list[dict[str, object]] = [
        {"tapewise_events": 1, "tool": "test", "cartridge": "A00001", "profile": "lto8"},
        {"action": "mount", "at_us": 0, "took_us": 15_000_000},
    ]
    at = 15_000_000
    for block in blocks:
        moved = {"to": {"block": block}, "at_us": at, "took_us": 40_000_000}
        done = {
            "from": {"block": block},
            "to": {"block": block + 2_000},
            "at_us": at + 40_000_000,
            "took_us": 3_000_000,
        }
        lines.append({"action": "locate", **moved})
        lines.append({"action": "read", "blocks": 2_000, "bytes": 2_000 * 524_288, **done})
        at += 43_000_000
    log = "".join(json.dumps(line) + "\n" for line in lines).encode()
    audited = tapewise.audit(log, Cartridge("lto8"))
    (mount,) = audited.mounts
    assert mount["volume"] == "A00001" and mount["reads"] == 5
    assert mount["locating_s"] == 200 and mount["reading_s"] == 15
    assert mount["best_s"] <= mount["sort_s"] and mount["best_s"] <= mount["as_read_s"]
    assert audited.total_s("best_s") == mount["best_s"]
    assert audited.columns()["reads"] == [5]
    assert tapewise.audit(b"", Cartridge("lto8")).mounts == []
    with pytest.raises(tapewise.InputError):
        tapewise.audit(log + b"nonsense\n", Cartridge("lto8"))


def test_requests_without_blocks_are_refused() -> None:
    with pytest.raises(tapewise.InputError, match="but no block"):
        tapewise.Batch.parse("Volume=A\nVolSessionId=1\nVolSessionTime=1\nVolAddr=5-9\n", name="a.bsr")
