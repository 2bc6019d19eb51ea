"""Every picture draws into the axes it is given, returns them, and names its units."""

from typing import Any

import pytest

import tapewise
from tapewise import Cartridge

from .test_simulation import SMALL

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

from tapewise import plot  # noqa: E402


def pictures() -> dict[str, Any]:
    drive = tapewise.EmulatedDrive("lto8", blocks=5_000)
    batch = drive.batch(12)
    fitted = tapewise.fit(drive.measure(200), "lto8")
    results = tapewise.simulate(SMALL, replications=2)
    return {
        "head_path": lambda ax: plot.head_path(tapewise.order(batch, drive.cartridge), ax),
        "comparison": lambda ax: plot.comparison(tapewise.compare(batch, drive.cartridge), ax),
        "trace": lambda ax: plot.trace(tapewise.trace(batch, drive.cartridge), ax),
        "predicted": lambda ax: plot.predicted(fitted, ax),
        "residuals": lambda ax: plot.residuals(fitted, ax),
        "audit": lambda ax: plot.audit(tapewise.audit(drive.log(), Cartridge("lto8")), ax),
        "responses": lambda ax: plot.responses({"a": results, "b": results}, ax),
        "capacity": lambda ax: plot.capacity(tapewise.capacity(SMALL, "p95 < 6 min", replications=2), ax),
        "gantt": lambda ax: plot.gantt(tapewise.replay(SMALL), 3600, ax=ax),
    }


def test_every_picture_is_drawn_where_it_was_told_with_its_units() -> None:
    for name, draw in pictures().items():
        figure, ax = pyplot.subplots()
        assert draw(ax) is ax, name
        labels = ax.get_xlabel() + ax.get_ylabel()
        assert any(unit in labels for unit in ("(minutes)", "(s)", "(hours)")), f"{name}: {labels}"
        assert ax.get_title() and (ax.lines or ax.patches or ax.collections), name
        figure.canvas.draw()
        pyplot.close(figure)
    assert plot.responses(tapewise.simulate(SMALL, replications=2)) is not None
    assert {draw for draw in dir(plot) if callable(getattr(plot, draw)) and draw[0].islower()} == set(pictures())
