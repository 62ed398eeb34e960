"""A walk through every tab of the leaderboard in a real browser, on results of several datasets."""

import csv
import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from answering import asked
from chromium import needs_browser
from leaderboard_pages import names, parameters, settled
from leaderboard_results import SEVERAL, report, several_directions, write

from tstbench.spaces.leaderboard.query import VIEWS

pytestmark = needs_browser
SCREENS = [(width, scheme) for width in (360, 1440, 1920) for scheme in ("light", "dark")]
AMAZON = {"view": "overview", "metric": "joint", "dataset": "amazon"}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return several_directions(tmp_path_factory.mktemp("walk") / "results")


def scores_nothing(*_):
    raise AssertionError("nothing is sent")


@pytest.fixture(scope="module")
def served(root):
    pytest.importorskip("gradio")
    from tstbench.spaces.leaderboard import launch

    running = [launch(root, port=0, score=scores_nothing, block=False)]
    yield running
    running[0].close()


@pytest.fixture
def url(served):
    return served[0].url


def edges(page):
    """Of each box that scrolls: whether more is hidden to its right, and whether it says so."""
    return page.evaluate(
        """() => [...document.querySelectorAll(".scroller, nav .links")].map((box) =>
          [box.scrollWidth - box.clientWidth - box.scrollLeft > 1,
           box.parentElement.matches(":is(.edge, .views).more-right")])"""
    )


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_every_tab_on_every_screen(look, width, scheme):
    screen = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    page = look(**screen)
    for view, title in VIEWS.items():
        if view != "ranking":
            page.click(f"nav [data-link={view}]")
            page.wait_for_function("title => document.title.startsWith(title)", arg={
                "overview": "Joint", "pictures": "Pictures", "about": "About",
                "samples": "Samples", "submit": "Submit", "versus": "half and",
            }[view])  # fmt: skip
            settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, title
        assert all(more == said for more, said in edges(page)), title
        if view in ("ranking", "overview"):
            assert names(page)[0] == "half"
            assert names(page)[-1] == "copy"
            assert page.locator("nav [aria-current]").inner_text() == title
            table, notes = (page.locator(box).bounding_box() for box in (".scroller", ".legend"))
            assert notes["y"] - (table["y"] + table["height"]) >= 8, "they stand apart"
            if width >= 1440:
                assert not any(more for more, _ in edges(page)), "all columns fit"
        if view == "overview":
            shown = page.locator("th.styles .info").count()
            assert shown == len(SEVERAL), "every direction has its column"
    page = look("view=system&system=half", **screen)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert all(more == said for more, said in edges(page))
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == scheme


def test_the_order_of_all_directions_is_in_a_column_of_its_own(look):
    page = look("view=overview&metric=joint")
    order = names(page)
    assert order[:3] == ["half", "delete-and-retrieve", "delete-retrieve"]
    assert page.get_attribute("th[data-key=won]", "aria-sort") == "descending"
    assert page.get_attribute("th[data-key=rank]", "aria-sort") == "none"
    page.click("th[data-key=won] .sort")
    assert names(page)[:3] == ["delete-retrieve", "delete-and-retrieve", "half"]


def test_the_form_opens_on_the_direction_of_the_ranking(look):
    page = look("view=submit")
    page.wait_for_selector("#submit form")
    assert page.locator("#submit").get_by_label("Direction").input_value().startswith("yelp/")


def test_systems_of_a_time(look):
    page = look(f"direction={SEVERAL[0]}")
    page.fill("[data-local=from]", "2018-06")
    assert names(page)[:-2] == ["half", "delete-and-retrieve"], "2018 may be after 2018-06"
    page.fill("[data-local=from]", "2019")
    assert names(page)[:-2] == ["half"]
    page.fill("[data-local=from]", "soon")
    assert page.get_attribute("[data-local=from]", "aria-invalid") == "true"
    assert len(names(page)) == 5
    page.fill("[data-local=from]", "")
    page.fill("[data-local=to]", "2018")
    assert names(page) == ["delete-and-retrieve", "reference-1", "copy"]
    assert parameters(page)["to"] == "2018"


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("", {"view": "ranking", "direction": SEVERAL[0]}),
        ("view=overview&dataset=amazon", AMAZON),
    ],
)  # fmt: skip
def test_a_copied_link_is_complete(look, query, wanted):
    page = look(query, permissions=["clipboard-read", "clipboard-write"])
    page.click("text=Copy link")
    page.wait_for_selector("text=Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    found = dict(parse_qsl(urlsplit(copied).query))
    assert wanted.items() <= found.items()
    assert found.keys() - wanted.keys() in ({"setting"}, {"protocol"})
    page = look(urlsplit(copied).query)
    assert page.locator(".notice").count() == 0, "everything it names is there"


def test_a_table_is_downloaded(look, tmp_path):
    page = look(f"direction={SEVERAL[1]}")
    with page.expect_download() as waiting:
        page.click(".downloads button[value=csv]")
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    assert path.name == "amazon-negative-to-positive.csv"
    with Path(path).open() as file:
        assert {row["system"] for row in csv.DictReader(file)} == set(names(page))


def test_the_source_of_the_page_does_not_say_gradio(url):
    source = asked(f"{url}?view=overview")[1]
    tags = re.findall(r"<title>.*?</title>|<meta [^>]*>", source)
    assert any("og:title" in tag and "Joint on all directions" in tag for tag in tags)
    assert any("width=device-width" in tag for tag in tags), "or a phone shows all of it, tiny"
    assert not [tag for tag in tags if "gradio" in tag.lower()]
    assert sum(tag.startswith("<title>") for tag in tags) == 1


def test_an_old_tab_outlives_the_server_and_the_results(look, served, root):
    """The last test: the server is another one afterwards."""
    from tstbench.spaces.leaderboard import launch

    page = look(f"direction={SEVERAL[3]}", silent=False)
    port = urlsplit(served[0].url).port
    served[0].close()
    page.click("nav [data-link=overview]")
    page.wait_for_selector("text=The server did not answer")
    for folder in (root / SEVERAL[3]).iterdir():
        (folder / "report.json").unlink()
    write(root, report("new", {"acc": 5.0}, SEVERAL[0]))
    served[0] = launch(root, port=port, block=False)
    page.click("nav [data-link=ranking]")
    page.wait_for_selector(f"text={SEVERAL[3]} has no results yet")
    page.click("nav [data-link=overview]")
    page.wait_for_selector("th.styles")
    assert page.locator("th.styles").count() == 3
