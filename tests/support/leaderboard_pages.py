"""What the tests of the leaderboard ask of a page and of a ranking."""

import json
import time
import urllib.request
from contextlib import contextmanager
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlsplit

import pytest
from leaderboard_results import THERE

from tstbench.spaces.leaderboard.data import Results
from tstbench.spaces.leaderboard.groups import settings
from tstbench.spaces.leaderboard.query import Query
from tstbench.spaces.leaderboard.ranking import build_ranking
from tstbench.spaces.leaderboard.ranks import RankCache
from tstbench.spaces.leaderboard.views import render

LINES = {"caption", "details", "div", "h2", "h3", "label", "li", "p", "section", "select", "tr"}
SAID = {*"aria-label checked colspan disabled hidden href selected style title".split()}
MARKS = {"b": "**", "del": "~~", "ins": "++"}
UNSAID = {"data-meaning", "data-signature"}  # a title has the one, and another test the other


class Page(HTMLParser):
    """The elements of a page, with their attributes, and its text.

    Attributes:
        said: text, and what attributes say, to read: a line for each row and paragraph.
    """

    def __init__(self, html):
        super().__init__()
        self.elements, self.text, self._said, self._drawing = [], "", "", False
        self.feed(str(html))
        self.said = "\n".join(filter(None, map(str.strip, self._said.splitlines())))

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._drawing |= tag == "svg"
        if not self._drawing:
            self._said += "\n" if tag in LINES else " | " if tag in ("td", "th") else " "
            self._said += MARKS.get(tag, "")
        for name, value in attributes:
            said = name in SAID or (name.startswith("data-") and name not in UNSAID)
            if name == "data-tip" or (said and not self._drawing):
                told = " ".join((value or "").split())
                self._said += f"<{name}={told}>" if told else f"<{name}>"

    def handle_endtag(self, tag):
        self._drawing &= tag != "svg"
        self._said += MARKS.get(tag, "")

    def handle_data(self, data):
        self.text += data
        if not self._drawing:
            self._said += " ".join(data.split())

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def names(self):
        """Of the systems, row by row."""
        return [a["data-name"] for a in self.all("tr") if "data-name" in a]


def ranking_of(root, direction=THERE, computed=None):
    board = Results(root).board()
    return build_ranking(board, settings(board.of(direction))[0], computed or {})


def column(ranking, key):
    return next(i for i, c in enumerate(ranking.columns) if c.key == key)


def show(root, **query):
    return render(Results(root).board(), Query.parse(query), RankCache())


@contextmanager
def served(root, **options):
    """The address of a leaderboard that is served until the block ends."""
    pytest.importorskip("gradio")
    from tstbench.spaces.leaderboard import launch

    running = launch(root, port=0, block=False, **options)
    try:
        yield running.url
    finally:
        running.close()


def settled(page):
    """Wait until a page in a browser stands still."""
    page.wait_for_selector("#stage[aria-busy=false]")


def names(page):
    """Of the systems that a browser shows, row by row."""
    return page.locator("table.board tr[data-name]:visible .name").all_inner_texts()


def parameters(page):
    """What the address in a browser says."""
    return dict(parse_qsl(urlsplit(page.url).query))


def called(url, name, **fields):
    """What an endpoint of a served page answers."""
    kind = {"Content-Type": "application/json"}
    body = json.dumps(fields).encode()
    request = urllib.request.Request(f"{url}leaderboard/api/{name}", body, kind)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def taken(desk, form):
    """What becomes of a form: its ticket, and what its sender is told at last."""
    ticket = desk.submit(form)["ticket"]
    while (told := desk.look(ticket))["open"]:
        time.sleep(0.01)
    return ticket, told
