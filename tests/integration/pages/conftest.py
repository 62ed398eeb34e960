"""What the tests of pages share: one browser a file, and pages on which nothing goes wrong."""

import re

import pytest
from chromium import chromium
from leaderboard_pages import settled


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture
def opened(browser):
    """Opens a page of its own; nothing goes wrong on it, and nothing is asked of elsewhere."""
    contexts, wrong = [], []
    here = re.compile(r"http://127\.0\.0\.1:\d+/|blob:http://127\.0\.0\.1|data:")

    def page_of(url, *, script="", silent=False, **options):
        contexts.append(context := browser.new_context(**options))
        context.set_default_timeout(60_000)
        context.add_init_script(script)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda one: here.match(one.url) or wrong.append(one.url))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        if silent:
            page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
        page.goto(url)
        return page

    yield page_of
    for context in contexts:
        for page in context.pages:
            assert page.evaluate("window.hurt ?? window.hacked") is None, "a text was executed"
        context.close()
    assert wrong == []


@pytest.fixture
def visit(opened):
    """Opens a page that has a heading."""

    def visit(url, **options):
        page = opened(url, **options)
        page.wait_for_selector("h1")
        return page

    return visit


@pytest.fixture
def look(opened, url):
    """Opens a view of a leaderboard, once it stands still."""

    def look(query="", **options):
        usual = {"viewport": {"width": 1440, "height": 900}, "silent": True}
        page = opened(f"{url}?{query}", **{**usual, **options})
        settled(page)
        return page

    return look
