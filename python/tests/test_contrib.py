"""The adapter for ltfs_ordered_copy."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "contrib/ltfs_ordered_copy/tapewise_order.py"


def test_blocks_come_back_once_and_fall_back_to_sorted(caplog: pytest.LogCaptureFixture) -> None:
    spec = importlib.util.spec_from_file_location("tapewise_order", PATH)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    blocks = [9_000_000, 40_000, 2_000_000, 12_000_000, 41_000]
    ordered = module.in_order(dict.fromkeys(blocks).keys(), "lto8", typical_blocks=500)
    assert sorted(ordered) == sorted(blocks)
    assert module.in_order([], "lto8") == []
    assert module.in_order(blocks, "lto99") == sorted(blocks)
    assert "lto99" in caplog.text
