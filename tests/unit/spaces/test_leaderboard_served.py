"""The leaderboard as it is served: a page without a script, and an API."""

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent import futures

import pytest
from leaderboard_pages import Page, called, served
from leaderboard_results import (
    BACK,
    HOSTILE,
    THERE,
    report,
    score_by_bleu,
    write,
)

from tstbench.datasets_scripts.catalog import DIRECTIONS
from tstbench.errors import InputError
from tstbench.spaces.leaderboard import data
from tstbench.spaces.leaderboard.query import VIEWS


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """A page that is being served; one of its metrics has a hostile name."""
    root = tmp_path_factory.mktemp("served")
    one = report("a", {"acc": 1.0})
    odd = one.scores[0].model_copy(
        update={"key": HOSTILE, "metric": HOSTILE, "signature": f"{HOSTILE}|a:b"}
    )
    write(root, one.model_copy(update={"scores": (*one.scores, odd)}))
    with served(root) as url:
        yield url


def test_a_page_that_waits_gets_the_view_again_only_where_something_changed(root, monkeypatch):
    pytest.importorskip("gradio")
    from tstbench.spaces.leaderboard import page, submit

    write(root, report("ours", {"acc": 1.0}))
    monkeypatch.setattr(data, "_PATIENCE", 60)
    results = data.Results(root)
    served = page.Page(results)
    with results.serving():
        results.read_behind(patience=0)
        while results.so_far().revision == "none":  # the thread has counted nothing yet
            time.sleep(0.01)
        first = served.view({})
        assert (first["pending"], "still being read" in first["html"]) == (True, True)
        assert served.view({"known": first["revision"]}) == {**first, "html": ""}
        assert (results.so_far().unread, results._found) == (1, {}), "nothing is read meanwhile"
        assert submit.Desk(results, None, None, (BACK, THERE)).first == THERE
    assert results.board().unread == 0
    assert "ours" in served.view({"known": first["revision"]})["html"]


def test_a_page_that_waits_for_tests_gets_the_view_once_they_are_there(root, monkeypatch):
    pytest.importorskip("gradio")
    from tstbench.spaces.leaderboard import page, ranks

    for name in ("ours", "theirs"):
        write(root, report(name, {"acc": 1.0}))
    monkeypatch.setattr(ranks, "_PATIENCE", 0)
    served = page.Page(data.Results(root))
    with served._ranks._turn:
        first = served.view({})
        asked = {"known": first["revision"]}
        assert (first["pending"], served.view(asked)["html"]) == (True, "")
    futures.wait(served._ranks._found.values(), 60)
    with served._ranks._turn:  # the last one has ended
        pass
    there = served.view(asked)
    assert (there["pending"], there["revision"]) == (False, first["revision"])
    assert "theirs" in there["html"]


def test_a_program_ends_although_places_are_still_computed():
    script = (
        "import time; from tstbench.spaces.leaderboard.ranks import RankCache; "
        "RankCache()._soon('places', lambda: time.sleep(3600)); print('over')"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=120)
    assert (ended.returncode, ended.stdout.strip()) == (0, b"over")


class TestServed:
    """The page over HTTP, before any script has run."""

    def get(self, url, **query):
        with urllib.request.urlopen(f"{url}?{urllib.parse.urlencode(query)}") as answer:
            assert int(answer.headers["content-length"]) > 0
            return answer.read().decode()

    def test_the_table_is_there_without_a_script(self, url):
        page = Page(self.get(url, direction=THERE))
        assert "Who rewrites style best?" in page.text
        assert page.names == ["a"]
        assert {"lang"} <= dict(page.elements)["html"].keys()

    @pytest.mark.parametrize("view", [*VIEWS, HOSTILE])
    def test_a_link_cannot_write_into_the_page(self, url, view):
        plain = Page(self.get(url, view="ranking"))
        page = Page(self.get(url, view=view, direction=HOSTILE, text=HOSTILE, metric=HOSTILE))
        assert len(page.all("script")) == len(plain.all("script"))
        assert not [a for a in page.all("img") if a.get("src") == "x"]

    def test_views_tables_and_pictures_are_an_api(self, url):
        view = called(url, "view", query={"view": "overview", "metric": "acc"})
        assert view["title"] == "ACC on all directions"
        assert "1.0" in view["html"]
        for form, ending in (("csv", "csv"), ("latex", "tex"), ("markdown", "md")):
            overview = {"view": "overview", "metric": "acc"}
            file = called(url, "download", query=overview, form=form)
            assert file["name"] == f"overview.{ending}"
            assert "1.0" in file["text"]
        file = called(url, "download", query={"direction": THERE}, form="csv")
        assert file["name"] == "mini-negative-to-positive.csv"
        for name in ("lengths", "style_map"):
            html = called(url, name, query={"direction": THERE})["html"]
            assert "The results hold no sentences of this direction." in html

    @pytest.mark.slow
    @pytest.mark.parametrize("given", [None, (BACK,)])
    def test_only_what_takes_submissions_can_be_chosen(self, root, given):
        root.mkdir()
        with served(root, score=score_by_bleu, directions=given) as url:
            form = self.get(url, view="submit").partition('name="direction"')[2]
        chosen = Page(form.partition("</select>")[0]).all("option")
        assert [one["value"] for one in chosen] == list(given or DIRECTIONS)

    def test_a_file_that_is_a_little_too_large_is_received_and_refused_in_words(self, root):
        root.mkdir()
        name = 'Content-Disposition: form-data; name="file"; filename="a.txt"'

        body = f"--x\r\n{name}\r\n\r\n{'a' * (3 << 19)}\r\n--x--\r\n".encode()
        kind = {"Content-Type": "multipart/form-data; boundary=x"}
        with served(root, score=score_by_bleu) as url:
            large = urllib.request.Request(f"{url}leaderboard/submit", body, kind)
            with urllib.request.urlopen(large) as answer:
                ticket = json.load(answer)["ticket"]
            while (told := called(url, "look", ticket=ticket))["open"]:
                time.sleep(0.01)
            assert "The file has 1.5 MiB; the limit is 1 MiB." in told["html"]

    def test_a_port_in_use_is_said(self, root):
        from tstbench.spaces.leaderboard import launch

        root.mkdir()
        with (  # no port has the next number; of others: test_web
            socket.create_server(("127.0.0.1", 65535)),
            pytest.raises(InputError, match=r"port 65535 is in use\. Choose another"),
        ):
            launch(root, port=65535, block=False)
