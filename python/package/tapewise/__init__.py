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

from ._tapewise import CartridgeError, FitError, InputError, SearchError, TapewiseError
from .batch import Batch
from .cartridge import Cartridge, Place, WrapEnd
from .logs import Audit, Fitted, audit, fit
from .orders import Moves, Plan, compare, moves, order, order_names, price
from .profile import Profile

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "Batch",
    "Cartridge",
    "CartridgeError",
    "FitError",
    "Fitted",
    "InputError",
    "Moves",
    "Place",
    "Plan",
    "Profile",
    "SearchError",
    "TapewiseError",
    "WrapEnd",
    "audit",
    "compare",
    "fit",
    "moves",
    "order",
    "order_names",
    "price",
]
