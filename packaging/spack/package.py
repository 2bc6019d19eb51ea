"""The Spack recipe: builds the program with Cargo."""

from spack.package import *


class Tapewise(CargoPackage):
    """Reads from tape in the fastest order: measures drives, plans, recalls, archives, simulates."""

    # Where the sources are published; see packaging/release.env.
    # version("0.1.0", sha256="...")

    license("MIT OR Apache-2.0")

    depends_on("rust@1.90:", type="build")
    depends_on("c", type="build")

    build_directory = "crates/cli"
