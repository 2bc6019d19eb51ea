"""A cartridge: the profile of its drive, and what is known of this very tape."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .profile import Profile


class WrapEnd(NamedTuple):
    """An entry of the drive's table of wrap ends, unaltered: the last block of a wrap, and on the last wrap of a
    partition the position of end of data."""

    wrap: int
    partition: int
    block: int


class Place(NamedTuple):
    """Where the drive said that a block begins."""

    partition: int
    block: int
    wrap: int
    lpos: int


@dataclass(frozen=True, init=False, repr=False)
class Cartridge:
    """A cartridge. Where the blocks lie comes from `wrap_ends`, or from `places` that correct the nominal geometry, or
    else from the nominal geometry alone."""

    profile: Profile
    wrap_ends: tuple[WrapEnd, ...] | None
    places: tuple[Place, ...] | None
    beside_bytes: int
    layout: Literal["single", "ltfs"] | None

    def __init__(
        self,
        profile: str | Profile,
        *,
        wrap_ends: Iterable[tuple[int, int, int]] | None = None,
        places: Iterable[tuple[int, int, int, int]] | None = None,
        beside_bytes: int = 0,
        layout: Literal["single", "ltfs"] | None = None,
    ) -> None:
        if wrap_ends is not None and places is not None:
            raise TypeError("give wrap_ends or places, not both")
        values = {
            "profile": Profile.find(profile) if isinstance(profile, str) else profile,
            "wrap_ends": None if wrap_ends is None else tuple(WrapEnd(*end) for end in wrap_ends),
            "places": None if places is None else tuple(Place(*place) for place in places),
            "beside_bytes": beside_bytes,
            "layout": layout,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def profile_text(self) -> str:
        """The text of its profile."""
        return self.profile.text

    def __repr__(self) -> str:
        if self.wrap_ends is not None:
            known = f"{len(self.wrap_ends)} wrap ends"
        elif self.places is not None:
            known = f"{len(self.places)} places"
        else:
            known = "nominal geometry"
        return f"Cartridge({self.profile.name!r}, {known})"
