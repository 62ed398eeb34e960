"""A pytest plugin: which lines of some files each test executes, its fixtures included.

A session's fixture runs once: what it executes counts for the test that first asks for it.
"""

import json
import os
import time
from pathlib import Path

import coverage
import pytest

FILES = [str(Path(name).resolve()) for name in os.environ["SAMPLE_FILES"].split(os.pathsep)]
COVERAGE = coverage.Coverage(data_file=None, include=FILES, config_file=False)
TESTS: dict[str, dict[str, object]] = {}


def pytest_sessionstart() -> None:
    """Before anything of the package is imported."""
    COVERAGE.start()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """One context a test, set-up and all."""
    COVERAGE.switch_context(item.nodeid)
    began = time.perf_counter()
    yield
    TESTS[item.nodeid] = {"seconds": round(time.perf_counter() - began, 3), "lines": {}}
    COVERAGE.switch_context("")


def pytest_runtest_logreport(report):
    """A test that fails or is skipped here measures nothing."""
    if not report.passed:
        BAD.add(report.nodeid)


BAD: set[str] = set()


def pytest_sessionfinish() -> None:
    """Write what was seen."""
    COVERAGE.stop()
    data = COVERAGE.get_data()
    for file in data.measured_files():
        name = Path(file).relative_to(Path.cwd()).as_posix()
        for line, contexts in data.contexts_by_lineno(file).items():
            for context in contexts:
                if context in TESTS:
                    TESTS[context]["lines"].setdefault(name, []).append(line)
    kept = {name: one for name, one in TESTS.items() if name not in BAD}
    Path(os.environ["SAMPLE_OUT"]).write_text(json.dumps(kept), "utf-8")
