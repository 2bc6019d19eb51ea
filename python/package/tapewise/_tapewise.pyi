"""
The part of the package that is written in Rust.
"""

from typing import Any, SupportsFloat, SupportsIndex, final

from _typeshed import Incomplete, SupportsGetItem
from typing_extensions import CapsuleType

__all__ = [
    "Drive",
    "arrow_stream",
    "audit",
    "emulated_kinds",
    "find",
    "fit",
    "moves",
    "order_names",
    "paper_claims",
    "price",
    "profile_facts",
    "profile_names",
    "profile_text",
    "read_requests",
    "replay",
    "scenario_cases",
    "scenario_facts",
    "scenario_names",
    "scenario_text",
    "simulate",
    "size_library",
]

@final
class Drive:
    """
    The drive, and what it did.
    """
    def __new__(
        cls, /, kind: str, seed: SupportsIndex, blocks: SupportsIndex, mechanics: SupportsIndex | None
    ) -> Drive:
        """
        A drive of a kind, with a full cartridge of that many blocks, on a clock that moves by what is done alone.
        """
    @property
    def block_bytes(self, /) -> int:
        """
        How many bytes of tape a block takes.
        """
    @property
    def blocks(self, /) -> int:
        """
        Blocks on the cartridge.
        """
    def locate(self, /, block: SupportsIndex) -> float:
        """
        Goes to a block; the seconds it took.
        """
    def log(self, /) -> bytes:
        """
        What the drive did, as an event log.
        """
    @property
    def now_s(self, /) -> float:
        """
        Seconds since the drive was made.
        """
    def position(self, /) -> tuple[int, int | None, int | None]:
        """
        Where the head is: block, wrap, LPOS.
        """
    def read(self, /, blocks: SupportsIndex) -> float:
        """
        Reads blocks; the seconds it took.
        """
    def rewind(self, /) -> float:
        """
        Goes to the beginning of tape; the seconds it took.
        """
    def wrap_ends(self, /) -> list[tuple[int, int, int]] | None:
        """
        The drive's table of wrap ends, if it has one: wrap, partition, block.
        """

def arrow_stream(columns: dict[str, Any]) -> CapsuleType:
    """
    Columns of whole numbers, fractions, truths or texts, some of them None, as an Arrow stream of one batch.
    """

def audit(log: bytes, cartridge: Incomplete, seed: SupportsIndex) -> list[dict[str, Any]]:
    """
    Prices the mounts of an event log in other orders.
    """

def emulated_kinds() -> list[str]:
    """
    What the emulator can be asked for by name.
    """

def find(
    batch: Incomplete,
    cartridge: Incomplete,
    placement: Incomplete,
    algorithm: str | None,
    objective: str,
    seed: SupportsIndex,
    work: SupportsIndex | None,
    budget_s: SupportsFloat | SupportsIndex | None,
    prove: bool,
    spare_tape: bool,
) -> dict[str, Any]:
    """
    Finds an order.
    """

def fit(
    log_name: str, log: bytes | bytearray, base_text: str, name: str, block_size: SupportsIndex | None
) -> dict[str, Any]:
    """
    Fits a profile to a log of locates.
    """

def moves(batch: Incomplete, cartridge: Incomplete, placement: Incomplete) -> dict[str, Any]:
    """
    The price of every move between visits, in microseconds: from the head to each, from each to each (row by row), and
    from each to where the head is left. A visit is a request, or several that share blocks.
    """

def order_names() -> list[tuple[str, str]]:
    """
    The orders by name.
    """

def paper_claims() -> str:
    """
    What five papers publish as numbers, as TOML.
    """

def price(
    batch: Incomplete, cartridge: Incomplete, placement: Incomplete, sequence: SupportsGetItem[int, SupportsIndex]
) -> dict[str, Any]:
    """
    What an order of the caller's takes.
    """

def profile_facts(name: str, text: str) -> dict[str, Any]:
    """
    What a profile says of itself; an error if its text is no profile.
    """

def profile_names() -> list[str]:
    """
    The names of the profiles that come with tapewise.
    """

def profile_text(name: str) -> str:
    """
    The text of a profile that comes with tapewise.
    """

def read_requests(name: str, bytes: bytes, block_size: SupportsIndex | None) -> dict[str, Any]:
    """
    Requests of a file in any format that names its blocks, as columns.
    """

def replay(scenario: Incomplete, replication: SupportsIndex) -> dict[str, Any]:
    """
    One replication in full: every request, what drives and robots did, and the same as an event log.
    """

def scenario_cases(text: str) -> list[str]:
    """
    The names of a text's cases.
    """

def scenario_facts(scenario: Incomplete) -> dict[str, Any]:
    """
    What a scenario says of itself; an error if it is none.
    """

def scenario_names() -> list[str]:
    """
    The names of the scenarios that come with tapewise.
    """

def scenario_text(name: str) -> str:
    """
    The text of a scenario that comes with tapewise.
    """

def simulate(scenario: Incomplete, threads: SupportsIndex | None) -> dict[str, Any]:
    """
    Simulates a scenario: the document that `simulate --json` prints, times that a share of the responses does not
    exceed, and what each replication came to.
    """

def size_library(
    scenario: Incomplete,
    target: str,
    drives: SupportsGetItem[int, SupportsIndex],
    robots: SupportsGetItem[int, SupportsIndex],
    windows_s: SupportsGetItem[int, SupportsFloat | SupportsIndex],
    threads: SupportsIndex | None,
) -> str:
    """
    Finds how many drives and robots, and which batch window, meet a target: the document that `capacity --json`
    prints.
    """
