"""Check the licences of everything that goes into the program, and write its notices and its bill of materials.

    python3 packaging/licences.py --check
    python3 packaging/licences.py --notices THIRD-PARTY.txt --sbom tapewise.cdx.json

The packages are those that Cargo would build for Linux on x86_64, without development dependencies.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ALLOWED = frozenset(
    """MIT Apache-2.0 BSD-2-Clause BSD-3-Clause ISC Unicode-3.0 Unicode-DFS-2016 Unlicense Zlib 0BSD BSL-1.0 CC0-1.0 NCSA
    MIT-0""".split()
)
TARGET = "x86_64-unknown-linux-gnu"
TEXTS = re.compile(r"^(LICEN[CS]E|COPYING|COPYRIGHT|NOTICE|UNLICENSE)", re.IGNORECASE)

Package = dict[str, Any]


def packages() -> list[Package]:
    """Every package that is linked into the program, ours included, by name and version."""
    command = ["cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={TARGET}"]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    by_id = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    seen: set[str] = set()
    waiting = [id for id, package in by_id.items() if package["name"] == "tapewise-cli"]
    while waiting:
        id = waiting.pop()
        if id in seen:
            continue
        seen.add(id)
        for dependency in nodes[id]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    return sorted((by_id[id] for id in seen), key=lambda package: (package["name"], package["version"]))


def allows(expression: str) -> bool:
    """Whether an SPDX expression can be met with allowed licences alone. `/` is the old way to write OR."""
    tokens = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))
    position = 0

    def operand() -> bool:
        nonlocal position
        token = tokens[position]
        position += 1
        if token == "(":
            inside = either()
            position += 1
            return inside
        if tokens[position : position + 1] == ["WITH"]:
            # An exception only ever permits more.
            position += 2
        return token in ALLOWED

    def both() -> bool:
        nonlocal position
        met = operand()
        while tokens[position : position + 1] == ["AND"]:
            position += 1
            met = operand() and met
        return met

    def either() -> bool:
        nonlocal position
        met = both()
        while tokens[position : position + 1] == ["OR"]:
            position += 1
            met = both() or met
        return met

    return bool(tokens) and either()


def refused(found: list[Package]) -> list[str]:
    """One line for each package whose licence is not allowed, or not stated."""
    lines = []
    for package in found:
        licence = package["license"]
        if licence is None or not allows(licence):
            lines.append(f"{package['name']} {package['version']}: {licence or 'states no licence'}")
    return lines


def notices(found: list[Package]) -> str:
    """The licence of each package of others, with the texts that the package brings; equal texts stand once."""
    text = ["What tapewise is made of besides its own code. Each package is under the licence named beside it.", ""]
    texts: dict[str, list[str]] = {}
    for package in found:
        if package["source"] is None:
            continue
        name = f"{package['name']} {package['version']}"
        text.append(f"{name}: {package['license']}")
        folder = Path(package["manifest_path"]).parent
        for file in sorted(folder.iterdir()):
            if file.is_file() and TEXTS.match(file.name):
                texts.setdefault(file.read_text(errors="replace").strip(), []).append(name)
    for licence, names in texts.items():
        text += ["", "-" * 80, ", ".join(names), "-" * 80, licence]
    return "\n".join(text) + "\n"


def bill_of_materials(found: list[Package]) -> str:
    """The packages as a CycloneDX 1.5 document, which scanners read; the same packages give the same bytes."""
    components = [
        {
            "type": "library",
            "name": package["name"],
            "version": package["version"],
            "licenses": [{"expression": package["license"].replace("/", " OR ")}],
            "purl": f"pkg:cargo/{package['name']}@{package['version']}",
        }
        for package in found
        if package["source"] is not None
    ]
    ours = next(package for package in found if package["name"] == "tapewise-cli")
    serial = hashlib.sha256(json.dumps(components, sort_keys=True).encode()).hexdigest()
    parts = (serial[:8], serial[8:12], "4" + serial[13:16], "8" + serial[17:20], serial[20:32])
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": "urn:uuid:" + "-".join(parts),
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "tapewise", "version": ours["version"]}},
        "components": components,
    }
    return json.dumps(document, indent=1) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="only say which licences are not allowed")
    parser.add_argument("--notices", type=Path, help="write the licences and their texts here")
    parser.add_argument("--sbom", type=Path, help="write the bill of materials here")
    arguments = parser.parse_args()
    found = packages()
    wrong = refused(found)
    for line in wrong:
        print(f"licences: {line}: not among the allowed ones of {Path(__file__).name}", file=sys.stderr)
    if wrong:
        return 1
    if arguments.notices:
        arguments.notices.write_text(notices(found))
    if arguments.sbom:
        arguments.sbom.write_text(bill_of_materials(found))
    others = sum(package["source"] is not None for package in found)
    print(f"licences: {others} packages of others, all under allowed licences")
    return 0


if __name__ == "__main__":
    sys.exit(main())
