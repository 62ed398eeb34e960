"""Folders that are made once, for all tests of all workers."""

from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder that ``make`` fills, the first time that it is asked for; nobody changes it."""
    base = factory.getbasetemp()
    if base.name.startswith("popen-"):  # one worker's, inside that of all of them
        base = base.parent
    folder = base / f"once-{name}"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            unfinished = base / f"unfinished-{name}"
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(folder)
    return folder
