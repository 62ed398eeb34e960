"""The pictures in a real browser: what is loaded, what is covered, what keys and pointers tell."""

import itertools
from urllib.parse import urlsplit

import pytest
from chromium import needs_browser
from leaderboard_pages import served
from leaderboard_results import BACK, THERE, real_results, report, write

pytestmark = needs_browser
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
SIZES = [
    (PHONE, "light"),
    ({"viewport": {"width": 1440, "height": 900}}, "dark"),
    ({"viewport": {"width": 1920, "height": 1080}}, "light"),
]
MANY = 24
PICTURES = f"view=pictures&direction={THERE}"


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """Many systems close together on one direction, and real sentences on the other."""
    root = real_results(tmp_path_factory.mktemp("pictures") / "results", (BACK,))
    for i in range(MANY):
        values = {"acc": 50 + (i * 7 % 24) / 4, "s_bleu": 30 + (i * 5 % 24) / 4, "ppl": 90.0 + i}
        write(root, report(f"a-system-with-a-long-name-{i}", values))
    write(root, report("human", {"acc": 90, "s_bleu": 20, "ppl": 80}, info={"family": "human"}))
    write(root, report("a-system-with-a-long-name-0", {"acc": 50.0}, BACK))
    with served(root) as url:
        yield url


def boxes(page, selector):
    return page.locator(selector).evaluate_all(
        """found => found.filter(e => e.checkVisibility()).map(e => {
             const b = e.getBoundingClientRect();
             return [b.left, b.top, b.right, b.bottom, e.textContent];
           })"""
    )


def meet(a, b):
    return a[0] < b[2] - 1 and b[0] < a[2] - 1 and a[1] < b[3] - 1 and b[1] < a[3] - 1


def test_pictures_are_in_the_page_before_any_script_of_others(browser, url):
    """The scripts never arrive: the pictures are there, and the page is small."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    answer = page.goto(f"{url}?{PICTURES}", wait_until="commit")
    page.wait_for_selector("[data-figure=content] svg.wide [data-tip]")
    assert page.locator("[data-figure=systems] svg.wide [data-tip]").count() == MANY + 1
    assert len(answer.body()) < 400_000
    context.close()


@pytest.mark.parametrize(("options", "scheme"), SIZES)
def test_no_words_cover_words_at_any_width(look, options, scheme):
    page = look(PICTURES, **options, color_scheme=scheme)
    for figure in ("content", "fluency", "systems"):
        texts = boxes(page, f"[data-figure={figure}] svg text")
        assert len(texts) > 12
        clashes = [(a[4], b[4]) for a, b in itertools.combinations(texts, 2) if meet(a, b)]
        assert not clashes
        (frame,) = boxes(page, f"[data-figure={figure}] .drawn")
        assert all(frame[0] - 1 <= t[0] and t[2] <= frame[2] + 1 for t in texts), "none is cut off"
    assert page.evaluate("document.documentElement.scrollWidth") <= options["viewport"]["width"]
    inks = page.locator("[data-figure=content] svg text").evaluate_all(
        "found => found.map(e => getComputedStyle(e).fill)"
    )
    assert page.evaluate("getComputedStyle(document.body).color") in inks


def test_a_picture_that_reads_all_sentences_waits_until_it_is_seen(look):
    asked = []
    page = look(f"view=pictures&direction={BACK}", viewport={"width": 390, "height": 300})
    page.on("request", lambda request: asked.append(urlsplit(request.url).path.split("/")[-1]))
    page.wait_for_function("() => document.title.includes('Pictures')")
    assert page.locator("[data-lazy=style_map] .waiting").count() == 1
    assert not {"lengths", "style_map"} & set(asked)
    page.locator("[data-lazy=lengths]").scroll_into_view_if_needed()
    page.wait_for_selector("[data-figure=lengths] svg.narrow [data-tip] >> nth=0")
    page.locator("[data-lazy=style_map]").scroll_into_view_if_needed()
    page.wait_for_selector("[data-lazy=style_map]:not(:has(.waiting))")
    assert {"lengths", "style_map"} <= set(asked)


def test_marks_speak_on_hover_and_by_arrow_keys(look):
    page = look(PICTURES)
    point = "[data-figure=systems] svg.wide [data-tip]"
    page.locator(point).nth(3).hover()
    tip = page.locator(".tip")
    assert tip.inner_text() == page.locator(point).nth(3).get_attribute("aria-label")
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    assert page.locator(f"{point}[tabindex='0']").count() == 1, "one stop of the Tab key"
    page.locator(point).nth(0).focus()
    page.keyboard.press("ArrowDown")
    second = page.locator(point).nth(1).get_attribute("aria-label")
    assert page.evaluate("document.activeElement.ariaLabel") == second
    assert tip.inner_text() == second
