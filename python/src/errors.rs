//! The exceptions of the package.

use pyo3::create_exception;
use pyo3::exceptions::PyException;

create_exception!(
    tapewise,
    TapewiseError,
    PyException,
    "What every error of this package is."
);
create_exception!(
    tapewise,
    InputError,
    TapewiseError,
    "An argument, a file or a log is wrong."
);
create_exception!(
    tapewise,
    CartridgeError,
    TapewiseError,
    "Profile, map or requests do not fit together."
);
create_exception!(
    tapewise,
    SearchError,
    TapewiseError,
    "The order or the objective does not apply."
);
create_exception!(tapewise, FitError, TapewiseError, "A log cannot be fitted.");
create_exception!(
    tapewise,
    SimulationError,
    TapewiseError,
    "A scenario cannot be simulated."
);
