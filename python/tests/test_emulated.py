"""Emulated drives are timed like real ones: what they did is a log, which becomes a profile that predicts them."""

import json
import math

import pytest

import tapewise
from tapewise import EmulatedDrive


def test_a_measured_drive_is_predicted() -> None:
    drive = EmulatedDrive("lto8", seed=3, mechanics=7)
    fitted = tapewise.fit(drive.measure(300), "lto8")
    assert fitted.trust == "good"
    batch = drive.batch(60, seed=2)
    taken_s = {}
    for algorithm in ("sort", "best"):
        drive.rewind()
        plan = tapewise.order(batch, drive.cartridge_with(fitted.profile), algorithm=algorithm)
        taken_s[algorithm] = drive.carry_out(plan)
        assert abs(taken_s[algorithm] / plan.total_s - 1) < 0.1
    assert taken_s["best"] < taken_s["sort"]


def test_the_log_has_every_action_with_its_place_and_time() -> None:
    drive = EmulatedDrive("lto8", blocks=5_000)
    begin_s = drive.now_s
    took = [drive.locate(4_000), drive.read(3), drive.rewind()]
    assert drive.position.block == 0
    assert math.isclose(sum(took), drive.now_s - begin_s, abs_tol=0.1)
    events = [json.loads(line) for line in drive.log().splitlines()][1:]
    assert [event["action"] for event in events] == ["locate", "read", "rewind"]
    assert [event["took_us"] / 1e6 for event in events] == took
    assert events[1]["from"]["block"] == 4_000 and events[1]["to"]["block"] == 4_003


def test_seeds_decide() -> None:
    again = [EmulatedDrive("lto8", seed=seed, blocks=5_000).locate(3_000) for seed in (1, 1, 2)]
    assert again[0] == again[1] != again[2]


def test_errors_are_ours() -> None:
    with pytest.raises(tapewise.InputError, match="lto99"):
        EmulatedDrive("lto99")
    with pytest.raises(tapewise.InputError, match="0 blocks"):
        EmulatedDrive("lto8", blocks=0)
    with pytest.raises(tapewise.TapewiseError):
        EmulatedDrive("lto8", blocks=100).locate(101)
    assert "dlt4000" in EmulatedDrive.names()
