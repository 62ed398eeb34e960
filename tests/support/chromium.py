"""A real browser for the tests of the pages, and how they say that there is none."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
needs_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt-get install chromium"),
]


def in_browser(test):
    """Mark one test as :data:`needs_browser` marks a file's."""
    for mark in needs_browser:
        test = mark(test)
    return test


@contextmanager
def chromium() -> Iterator:
    """A browser, closed again."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def fits(page):
    """Whether nothing makes the page scroll sideways."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")
