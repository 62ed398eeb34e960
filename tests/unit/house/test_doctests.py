"""Every example in a docstring is run."""

import doctest
import importlib
import pkgutil

import pytest

import tstbench

SKIP = (".app", ".__main__", ".setup")  # pages and programs: importing them starts them


def modules():
    for info in pkgutil.walk_packages(tstbench.__path__, "tstbench."):
        if not info.name.endswith(SKIP):
            yield info.name


@pytest.mark.parametrize("name", sorted(modules()))
def test_examples(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0
