"""What a drive did becomes a profile, or is priced in other orders."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from . import _tapewise as native
from ._show import duration
from .cartridge import Cartridge
from .profile import Profile
from .table import Table

Log = str | os.PathLike[str] | bytes


def _content(log: Log) -> tuple[str, bytes]:
    return ("log", log) if isinstance(log, bytes) else (os.fspath(log), Path(log).read_bytes())


@dataclass(frozen=True, repr=False)
class Fitted:
    """A profile fitted to a log, and how good it is on moves it was not fitted to."""

    profile: Profile
    model: str
    trust: Literal["good", "rough", "none"]
    residual_s: float
    """Standard error of a predicted move."""
    median_error_s: float
    """Half of the predictions are no further off."""
    r_squared: float
    kinds: Table = field(compare=False)
    """The error by kind of move."""
    moves: Table = field(compare=False)
    """What was measured and what a fit predicted that had not seen it, in seconds."""

    def __repr__(self) -> str:
        return (
            f"Fitted({self.profile.name!r}, {self.model}, {self.trust}, "
            f"off by {self.residual_s:.2f} s, explains {self.r_squared:.0%})"
        )

    def _repr_html_(self) -> str:
        return self.kinds._repr_html_()


def fit(log: Log, base: str | Profile, *, name: str = "fitted", block_size: int | None = None) -> Fitted:
    """Fits the locate times of a drive to a log: an event log, or a CSV of locates. `base` is the profile of such a
    drive. Read `trust` before you use the profile."""
    base = Profile.find(base) if isinstance(base, str) else base
    log_name, content = _content(log)
    found = native.fit(log_name, content, base.text, name, block_size)
    return Fitted(
        profile=Profile(found.pop("text")),
        kinds=Table(found.pop("kinds")),
        moves=Table(measured_s=found.pop("measured_s"), predicted_s=found.pop("predicted_s")),
        **found,
    )


@dataclass(frozen=True, repr=False)
class Audit:
    """The mounts of a log, priced in other orders."""

    mounts: list[dict[str, Any]]

    def columns(self) -> Table:
        """One row for each mount; times in seconds, without reading what was asked for."""
        names = dict.fromkeys(name for mount in self.mounts for name in mount)
        return Table({name: [mount.get(name) for mount in self.mounts] for name in names})

    def total_s(self, column: str) -> float:
        """The sum of a column over the mounts that could be priced."""
        return sum(mount[column] or 0.0 for mount in self.mounts if mount["why_not_priced"] is None)

    def __repr__(self) -> str:
        if not self.mounts:
            return "Audit(no mounts)"
        as_read, best = self.total_s("as_read_s"), self.total_s("best_s")
        return f"Audit({len(self.mounts)} mounts, locating {duration(as_read)} as read, {duration(best)} in our order)"

    def _repr_html_(self) -> str:
        return self.columns()._repr_html_()


def audit(log: Log, cartridge: Cartridge, *, seed: int = 1) -> Audit:
    """Says what the reads of an event log would have cost in other orders, mount by mount."""
    return Audit(native.audit(_content(log)[1], cartridge, seed))
