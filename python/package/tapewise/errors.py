"""The exceptions of the package."""


class TapewiseError(Exception):
    """What every error of this package is."""


class InputError(TapewiseError):
    """An argument, a file or a log is wrong."""


class CartridgeError(TapewiseError):
    """Profile, map or requests do not fit together."""


class SearchError(TapewiseError):
    """The order or the objective does not apply."""


class FitError(TapewiseError):
    """A log cannot be fitted."""


class SimulationError(TapewiseError):
    """A scenario cannot be simulated."""
