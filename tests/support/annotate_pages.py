"""The annotation page as tests use it: served, opened, answered."""

import re
import socket

from tstbench.spaces.annotate import links, serve


def served(folder):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    running = serve(folder, port=port)
    yield running.url, links(folder, running.url)
    running.close()


def visits(browser):
    """Yields what opens a page of its own; fails on a script error or a request to elsewhere."""
    contexts, problems = [], []

    def open_page(url, **options):
        context = browser.new_context(**options)
        context.set_default_timeout(30_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(f"script error: {error}"))

        def check(request):
            if not re.match(
                r"(http://127\.0\.0\.1:\d+/|blob:http://127\.0\.0\.1|data:)", request.url
            ):
                problems.append(f"request to {request.url}")

        page.on("request", check)
        page.on("dialog", lambda dialog: problems.append(f"dialog: {dialog.message}"))
        page.goto(url)
        page.wait_for_selector("h1")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


def item(page):
    """The number of the item shown."""
    return int(re.search(r"Item (\d+) of", page.locator(".task").inner_text())[1])


def wait_for_item(page, number):
    page.wait_for_function(
        "n => document.querySelector('.task')?.innerText.includes(`Item ${n} of`)", arg=number
    )


def begin(page):
    """From the page just opened to an item, past the welcome of a first visit."""
    if page.locator(".task").count() == 0:
        page.keyboard.press("Enter")  # Start has the focus
        wait_for_item(page, 1)


def rate(page, keys="4354"):
    """Score the item shown and save it, all by keyboard; waits for the next screen."""
    number = item(page)
    page.keyboard.type(keys)
    page.keyboard.press("Enter")
    wait_for_item(page, number + 1)


def fits(page):
    """Whether nothing makes the page scroll sideways."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")
