"""The order in which a tape is read soonest.

    >>> import tapewise
    >>> cartridge = tapewise.Cartridge("lto8")
    >>> batch = tapewise.Batch([9_000_000, 40_000, 9_100_000, 2_000_000], 2_000, block_size=524_288)
    >>> plan = tapewise.order(batch, cartridge)
    >>> sorted(plan.order)
    [0, 1, 2, 3]
    >>> plan.total_s <= tapewise.order(batch, cartridge, algorithm="sort").worst_s
    True

Times are seconds, and predictions. Every answer is a value that can be pickled; tables are dictionaries of columns,
which pandas and polars take as they are.
"""

from .batch import Batch
from .cartridge import Cartridge, Place, WrapEnd
from .emulated import EmulatedDrive
from .errors import CartridgeError, FitError, InputError, SearchError, SimulationError, TapewiseError
from .logs import Audit, Fitted, audit, fit
from .orders import Comparison, Moves, Plan, compare, moves, order, order_names, price, trace
from .profile import Profile
from .simulation import Capacity, Interval, Replay, Results, Scenario, Size, capacity, replay, simulate
from .table import Table

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "Batch",
    "Capacity",
    "Cartridge",
    "CartridgeError",
    "Comparison",
    "EmulatedDrive",
    "FitError",
    "Fitted",
    "InputError",
    "Interval",
    "Moves",
    "Place",
    "Plan",
    "Profile",
    "Replay",
    "Results",
    "Scenario",
    "SearchError",
    "SimulationError",
    "Size",
    "Table",
    "TapewiseError",
    "WrapEnd",
    "audit",
    "capacity",
    "compare",
    "fit",
    "moves",
    "order",
    "order_names",
    "price",
    "replay",
    "simulate",
    "trace",
]
