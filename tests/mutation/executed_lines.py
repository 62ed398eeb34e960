"""A pytest plugin: which lines of some files each test executes, its fixtures included.

Lines of a shared fixture count for each test that uses it, although they run once.
"""

import json
import os
import time
from pathlib import Path

import coverage
import pytest

FILES = [str(Path(name).resolve()) for name in os.environ["SAMPLE_FILES"].split(os.pathsep)]
COVERAGE = coverage.Coverage(data_file=None, include=FILES, config_file=False)
SECONDS: dict[str, float] = {}
SHARED: dict[str, set[str]] = {}  # the tests of each fixture


def pytest_sessionstart() -> None:
    """Before anything of the package is imported."""
    COVERAGE.start()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """One context a test, set-up and all."""
    COVERAGE.switch_context(item.nodeid)
    began = time.perf_counter()
    yield
    SECONDS[item.nodeid] = round(time.perf_counter() - began, 3)
    COVERAGE.switch_context("")
    for definitions in item._fixtureinfo.name2fixturedefs.values():
        SHARED.setdefault(_context(definitions[-1]), set()).add(item.nodeid)


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef, request):
    """And one for a fixture of several tests."""
    if fixturedef.scope != "function":
        COVERAGE.switch_context(_context(fixturedef))
    yield
    COVERAGE.switch_context(request._pyfuncitem.nodeid)


def _context(fixture) -> str:
    return f"{fixture.baseid}::{fixture.argname}"


def pytest_runtest_logreport(report):
    """A test that fails or is skipped here measures nothing."""
    if not report.passed:
        BAD.add(report.nodeid)


BAD: set[str] = set()


def pytest_sessionfinish() -> None:
    """Write what was seen."""
    COVERAGE.stop()
    data = COVERAGE.get_data()
    seen: dict[str, dict[str, set[int]]] = {name: {} for name in SECONDS if name not in BAD}
    for file in data.measured_files():
        name = Path(file).relative_to(Path.cwd()).as_posix()
        for line, contexts in data.contexts_by_lineno(file).items():
            for context in contexts:
                for test in SHARED.get(context, {context}) & seen.keys():
                    seen[test].setdefault(name, set()).add(line)
    tests = {
        test: {
            "seconds": SECONDS[test],
            "lines": {name: sorted(some) for name, some in lines.items()},
        }
        for test, lines in seen.items()
    }
    Path(os.environ["SAMPLE_OUT"]).write_text(json.dumps(tests), "utf-8")
