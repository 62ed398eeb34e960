"""Every example in a docstring is run."""

import doctest
import importlib
import pkgutil

import pytest

import tstbench

SKIP = (".app",)  # pages for people: they start servers


def modules():
    for info in pkgutil.walk_packages(tstbench.__path__, "tstbench."):
        if not info.name.endswith(SKIP) and not info.name.endswith("__main__"):
            yield info.name


def rooms():
    for room in ("datasets_scripts", "metrics", "trainers", "pipelines", "spaces"):
        package = importlib.import_module(f"tstbench.{room}")
        for info in pkgutil.walk_packages(package.__path__, f"tstbench.{room}."):
            if not info.name.endswith(SKIP):
                yield info.name


@pytest.mark.parametrize("name", sorted({*modules(), *rooms()}))
def test_examples(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0
