"""Shared links: no parameter and no value breaks the page."""

import urllib.parse
import urllib.request

import pytest
from leaderboard_pages import Page, show
from leaderboard_results import BACK, HOSTILE, THERE, real_results

from tstbench.datasets_scripts.load import load_test_set

OTHERS = ("page", "deep_link", "request", "user", "__theme", "lang")  # Gradio's, the Hub's


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    pytest.importorskip("gradio")
    from tstbench.spaces.leaderboard import launch

    root = real_results(tmp_path_factory.mktemp("links"), (BACK,))
    running = launch(root, port=0, block=False)
    yield running.url
    running.close()


def answer(url, method="GET", **query):
    request = urllib.request.Request(f"{url}?{urllib.parse.urlencode(query)}", method=method)
    with urllib.request.urlopen(request) as found:
        return found.read().decode()


class TestLinks:
    @pytest.mark.parametrize("value", ["2", "-1", "x", HOSTILE])
    def test_no_parameter_and_no_value_breaks_the_page(self, url, value):
        query = dict.fromkeys(("p", *OTHERS), value)
        assert "Rewrites of" in Page(answer(url, view="samples", **query)).text
        answer(url, "HEAD", **query)

    def test_a_link_to_the_second_page_opens_it(self, url):
        query = {"view": "samples", "direction": BACK, "order": "source", "p": "2"}
        page = Page(answer(url, **query))
        assert load_test_set(BACK).sources[5] in page.text
        assert "Page 2 of 8" in page.text

    def test_a_page_beyond_the_last_is_the_last(self, url):
        query = {"view": "samples", "direction": BACK, "p": "999"}
        assert "Page 8 of 8" in Page(answer(url, **query)).text


def test_systems_that_are_not_here_are_said(tmp_path):
    root = real_results(tmp_path / "results", directions=(THERE,))
    html = show(root, view="samples", systems="nobody|<b>").html
    assert "No texts of nobody, &lt;b&gt; are here." in html
    assert "are here. Showing" not in show(root, view="samples", systems="copy").html
    html = show(root, view="versus", first="copy", second="copy").html
    assert "copy is compared with another: the link names it twice." in html
