"""The page of names is made from the sources, and the examples in them run."""

import doctest
import importlib
import importlib.util
from pathlib import Path

import pytest

import tapewise

PYTHON = Path(__file__).parents[1]


def test_the_page_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("reference", PYTHON / "reference.py")
    assert spec is not None and spec.loader is not None
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    assert reference.PAGE.read_text(encoding="utf-8") == reference.page(), "write it: python python/reference.py"


@pytest.mark.parametrize("name", ["tapewise", "tapewise.emulated"])
def test_examples_run(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0 and found.failed == 0


def test_every_public_name_says_what_it_is() -> None:
    assert all(getattr(tapewise, name).__doc__ for name in tapewise.__all__)
