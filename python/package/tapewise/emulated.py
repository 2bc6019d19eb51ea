"""An emulated drive for experiments: what a prediction is worth on mechanics that the models do not know."""

from __future__ import annotations

import random
from typing import NamedTuple

from . import _tapewise as native
from ._show import duration
from .batch import Batch
from .cartridge import Cartridge
from .orders import Plan
from .profile import Profile


class HeadPosition(NamedTuple):
    """Where the head is; the wrap and the LPOS only of drives that tell them."""

    block: int
    wrap: int | None
    lpos: int | None


class EmulatedDrive:
    """A drive with a full cartridge in it, on a clock that only its own work moves: hours of tape take moments.

    >>> import tapewise
    >>> drive = tapewise.EmulatedDrive("lto8", seed=3)
    >>> fitted = tapewise.fit(drive.measure(200), "lto8")
    >>> drive.rewind() > 0
    True
    >>> plan = tapewise.order(drive.batch(20), drive.cartridge_with(fitted.profile))
    >>> taken_s = drive.carry_out(plan)
    >>> abs(taken_s / plan.total_s - 1) < 0.1
    True

    The mechanics are the emulator's own: acceleration, landing points, wrap ends that vary, noise. `mechanics` is a
    seed of other mechanics than the kind's own. Times prove nothing about hardware.
    """

    def __init__(
        self, profile: str | Profile = "lto8", *, seed: int = 1, blocks: int = 20_000, mechanics: int | None = None
    ) -> None:
        self.profile = Profile.find(profile) if isinstance(profile, str) else profile
        self._drive = native.Drive(self.profile.name, seed, blocks, mechanics)

    @staticmethod
    def names() -> list[str]:
        """The profiles whose drives are emulated."""
        return native.emulated_kinds()

    @property
    def blocks(self) -> int:
        """Blocks on the cartridge."""
        return self._drive.blocks

    @property
    def block_size(self) -> int:
        """How many bytes of tape a block takes."""
        return self._drive.block_bytes

    @property
    def now_s(self) -> float:
        """Seconds on the drive's clock."""
        return self._drive.now_s

    @property
    def cartridge(self) -> Cartridge:
        """The cartridge as a host knows it: with the drive's table of wrap ends, if the drive has one."""
        return self.cartridge_with(self.profile)

    def cartridge_with(self, profile: Profile) -> Cartridge:
        """The same cartridge, in a drive of which another profile is believed."""
        return Cartridge(profile, wrap_ends=self._drive.wrap_ends())

    @property
    def position(self) -> HeadPosition:
        """Where the head is."""
        return HeadPosition(*self._drive.position())

    def locate(self, block: int) -> float:
        """Goes to a block; the seconds it took."""
        return self._drive.locate(block)

    def read(self, blocks: int = 1) -> float:
        """Reads blocks; the seconds it took."""
        return self._drive.read(blocks)

    def rewind(self) -> float:
        """Goes to the beginning of tape; the seconds it took."""
        return self._drive.rewind()

    def batch(self, count: int, *, block_count: int = 1, seed: int = 1) -> Batch:
        """Requests at random places of the cartridge."""
        return Batch.random(
            count, last_block=self.blocks, block_count=block_count, block_size=self.block_size, seed=seed
        )

    def carry_out(self, plan: Plan) -> float:
        """Does what a plan says; the seconds until everything is read. Begins where the head is."""
        begin_s = self.now_s
        for step in plan.steps.rows():
            match step["action"]:
                case "locate":
                    self.locate(step["start_block"])
                case "read-through":
                    self.read(step["start_block"] - self.position.block)
                case "read":
                    self.read(step["block_count"])
        return self.now_s - begin_s

    def measure(self, locates: int = 400, *, seed: int = 1) -> bytes:
        """Goes to random blocks, reads one at each, and returns the event log, which `fit` takes."""
        draw = random.Random(seed)
        for _ in range(locates):
            self.locate(draw.randrange(self.blocks))
            self.read()
        return self.log()

    def log(self) -> bytes:
        """Everything the drive did, as an event log."""
        return self._drive.log()

    def __repr__(self) -> str:
        return f"EmulatedDrive({self.profile.name!r}, {self.blocks} blocks, {duration(self.now_s)} on its clock)"
