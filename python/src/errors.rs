//! The exceptions of the package, which `errors.py` defines.

use pyo3::import_exception;

import_exception!(tapewise.errors, CartridgeError);
import_exception!(tapewise.errors, FitError);
import_exception!(tapewise.errors, InputError);
import_exception!(tapewise.errors, SearchError);
import_exception!(tapewise.errors, SimulationError);
import_exception!(tapewise.errors, TapewiseError);
