"""The annotation page as tests use it: served, opened, answered."""

import re

from answering import free_port

from tstbench.spaces.annotate import links, serve


def served(folder):
    running = serve(folder, port=free_port())
    yield running.url, links(folder, running.url)
    running.close()


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
