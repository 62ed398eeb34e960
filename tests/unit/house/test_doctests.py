"""Every example in a docstring is run."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import tstbench
from tstbench import metrics

SKIP = (".app", ".__main__", ".setup")  # pages and programs: importing them starts them


def modules():
    for info in pkgutil.walk_packages(tstbench.__path__, "tstbench."):
        if not info.name.endswith(SKIP):
            yield info.name
    # A metric's folder is no package of its own: evaluate reads the file in it.
    for file in Path(metrics.__file__).parent.glob("*/*.py"):
        if not (file.parent / "__init__.py").exists():
            yield f"tstbench.metrics.{file.parent.name}.{file.stem}"


@pytest.mark.parametrize("name", sorted(modules()))
def test_examples(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0
