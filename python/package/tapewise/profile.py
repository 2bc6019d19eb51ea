"""What we know of a drive."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from . import _tapewise as native
from ._show import html_table


@dataclass(frozen=True)
class Profile:
    """A profile of a drive or a library: the text of its TOML file."""

    text: str = field(repr=False)
    name: str = field(init=False)
    title: str = field(init=False)
    kind: str = field(init=False, repr=False)
    status: str = field(init=False)
    """How far to trust it."""
    summary: str = field(init=False, repr=False)
    capacity_gb: float | None = field(init=False, repr=False)
    wraps: int | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, value in native.profile_facts("profile", self.text).items():
            object.__setattr__(self, name, value)

    @staticmethod
    def names() -> list[str]:
        """The names of the profiles that come with tapewise."""
        return native.profile_names()

    @classmethod
    def find(cls, name: str) -> Profile:
        """The profile of that name that comes with tapewise."""
        return cls(native.profile_text(name))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Profile:
        """The profile in a TOML file."""
        return cls(Path(path).read_text(encoding="utf-8"))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the TOML file."""
        Path(path).write_text(self.text, encoding="utf-8")

    def _repr_html_(self) -> str:
        return html_table({"profile": self.name, "title": self.title, "status": self.status, "times": self.summary})
