"""Every notebook runs from its first cell to its last."""

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path: Path) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    if "distributed" in path.read_text():
        pytest.importorskip("distributed")
    names: dict[str, object] = {"__name__": "__main__"}
    for number, cell in enumerate(json.loads(path.read_text())["cells"]):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec"), names)
