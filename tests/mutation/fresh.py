"""A pytest plugin for mutation tests: nothing that an earlier run computed hides a mutant.

mutmut forks its workers from a process that has already run the tests, so a function with a cache
would answer with what the correct code computed. Every session therefore starts with empty caches,
and hypothesis tries the same examples each time.
"""

from __future__ import annotations

import gc
from functools import _lru_cache_wrapper
from pathlib import Path

from hypothesis import settings

settings.register_profile(
    "mutation", derandomize=True, deadline=None, database=None, max_examples=25
)
settings.load_profile("mutation")

_HELPERS = Path(__file__).parents[1] / "support"
_OURS = {"tstbench", *(file.stem for file in _HELPERS.glob("*.py"))}


def pytest_sessionstart() -> None:
    """Empty every cache of the package and of what the tests have in common."""
    gc.unfreeze()  # what was there when the process that forked began its tests
    for found in gc.get_objects():
        if type(found) is _lru_cache_wrapper and found.__module__.split(".")[0] in _OURS:
            found.cache_clear()
