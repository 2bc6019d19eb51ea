"""The Spack recipe: builds the program with Cargo, from a tarball that has all crates in it."""

from spack_repo.builtin.build_systems.cargo import CargoPackage

from spack.package import *


class Tapewise(CargoPackage):
    """Reads from tape in the fastest order: measures drives, plans, recalls, archives, simulates."""

    # `make source` packs the tarball, and `spack checksum` or sha256sum tells its sum. Where it is published:
    # url = "https://.../tapewise-0.1.0-source.tar.gz"
    # version("0.1.0", sha256="...")

    license("MIT OR Apache-2.0")

    depends_on("rust@1.90:", type="build")
    depends_on("c", type="build")

    # The program's crate. Cargo finds vendor/ through .cargo/config.toml of the directory above.
    build_directory = "crates/cli"

    build_args = ["--locked", "--offline"]
