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
    header = {"format": "tapewise-events", "version": 1}
    assert tapewise.audit(b"", Cartridge("lto8")).mounts == []
    with pytest.raises(tapewise.InputError):
        tapewise.audit(json.dumps(header).encode() + b"\nnonsense\n", Cartridge("lto8"))
