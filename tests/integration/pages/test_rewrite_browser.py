"""The rewriting page in a real browser: rewrites, links, failures, the keyboard, small screens."""

import re

import pytest
from answering import free_port
from chromium import fits, needs_browser
from rewrite_systems import BOTH, Gate, better, bug, offer, unloadable

from tstbench.spaces.rewrite.desk import Desk
from tstbench.spaces.rewrite.offers import UNOPENED, Offer
from tstbench.spaces.web import start

pytestmark = needs_browser
SENTENCE = "the soup was cold and the waiter was bad ."
HOSTILE = (
    "<script>window.hacked=1</script><img src=x onerror=hacked=2> "
    '"><svg onload=hacked=3> {{7*7}} ${7*7} ' + "w" * 150
)


@pytest.fixture(scope="module")
def gate():
    return Gate()


def served(*offers):
    pytest.importorskip("gradio")
    from tstbench.spaces.rewrite.server import page_of

    desk = Desk(offers, "cpu")
    running = start(page_of(desk), "127.0.0.1", free_port(), on_close=desk.close)
    yield running.url
    running.close()


@pytest.fixture(scope="module")
def url(gate):
    yield from served(
        offer("better", better, directions=BOTH, scores={"selection": 0.4}),
        offer("copy", str),
        offer("other words", lambda _: "nothing of it is left here"),
        offer("bug", bug),
        unloadable("broken"),
        offer("silent", lambda _: ""),
        Offer("owner/lost", None, UNOPENED),
    )


@pytest.fixture(scope="module")
def slow_url(gate):
    yield from served(offer("slow", gate), offer("better", better))


@pytest.fixture(scope="module")
def hostile_url():
    name = "<b onclick=hacked()>" + "n" * 80
    yield from served(
        offer(name, lambda _: HOSTILE, trained_on=HOSTILE, scores={name: 1.0}), offer("copy", str)
    )


def card(page, name):
    return page.locator(".card", has=page.get_by_role("heading", name=name, exact=True))


def rewrite(page, text=SENTENCE):
    page.fill("#sentence", text)
    page.keyboard.press("Enter")


def wait_for_all(page):
    wait_for_status(page, "all \\d+ answered|: 1 system answered")


def wait_for_status(page, pattern):
    says = "p => new RegExp(p).test(document.getElementById('status').textContent)"
    page.wait_for_function(says, arg=pattern)


def test_a_sentence_is_rewritten_by_all(url, visit):
    page = visit(url)
    page.wait_for_selector("#form:not([hidden])")
    assert page.evaluate("document.activeElement.id") == "sentence"
    rewrite(page)
    wait_for_all(page)
    assert card(page, "better").locator("del").all_inner_texts() == ["cold", "bad"]
    assert card(page, "better").locator("ins").all_inner_texts() == ["hot", "great"]
    assert "unchanged" in card(page, "copy").inner_text()
    words = card(page, "other words")
    assert "rewritten from the ground up" in words.inner_text()
    assert words.locator("del, ins").count() == 0
    assert "no rewrite of this sentence" in card(page, "silent").inner_text()
    for name in ("bug", "broken", "owner/lost"):
        assert card(page, name).get_attribute("data-state") == "failed", name
        assert card(page, name).locator(".failed").is_visible()
    about = card(page, "better").locator("details")
    about.locator("summary").click()
    assert "0.400" in about.inner_text()
    page.uncheck("#marks")
    assert card(page, "better").locator("del, ins").count() == 0
    hot = "the soup was hot and the waiter was great ."
    assert hot in card(page, "better").inner_text()
    assert about.get_attribute("open") is not None  # what was opened stays open


def test_the_link_carries_the_sentence_and_back_goes_back(url, visit):
    page = visit(url)
    page.wait_for_selector("#form:not([hidden])")
    rewrite(page, "bad & <cold> ?#%")
    wait_for_all(page)
    link = page.url
    page.check("#style-1", force=True)
    rewrite(page, "second .")
    wait_for_status(page, "^positive → negative")
    page.go_back()
    page.wait_for_function("() => document.getElementById('sentence').value.startsWith('bad')")
    wait_for_status(page, "^negative → positive")
    assert page.locator("#style-0").is_checked()

    other = visit(link)
    wait_for_all(other)
    assert "great & <hot> ?#%" in re.sub(r"\s+", " ", card(other, "copy").inner_text()).replace(
        "bad & <cold>", "great & <hot>"
    )
    assert other.input_value("#sentence") == "bad & <cold> ?#%"
    other.context.grant_permissions(["clipboard-read", "clipboard-write"])
    other.click("#share")
    other.wait_for_selector("text=Link copied")
    assert other.evaluate("navigator.clipboard.readText()") == link
    wrong = visit(f"{url}?text=cold&from=future&to=nowhere")
    wait_for_all(wrong)  # styles that are not here: the first ones
    assert wrong.locator("#style-0").is_checked()


def test_answers_come_as_they_are_ready_and_a_newer_sentence_wins(slow_url, gate, visit):
    page = visit(slow_url)
    page.wait_for_selector("#form:not([hidden])")
    rewrite(page, "first cold .")
    page.wait_for_function("() => document.querySelectorAll('[data-state=done]').length === 1")
    assert "first hot ." in re.sub(r"\s+", " ", card(page, "better").inner_text()).replace(
        "cold hot", "hot"
    )
    card(page, "slow").get_by_text("Rewriting").wait_for()
    other = visit(slow_url)
    other.wait_for_selector("#form:not([hidden])")
    rewrite(other, "second cold .")
    other.wait_for_selector("text=Next in line")
    rewrite(page, "third cold .")
    page.wait_for_selector("text=2 sentences before yours")
    gate.open.set()
    wait_for_all(page)
    wait_for_all(other)
    page.uncheck("#marks")
    assert "THIRD COLD ." in card(page, "slow").inner_text()


def test_what_is_wrong_is_said_beside_the_form(url, visit):
    page = visit(url)
    page.wait_for_selector("#form:not([hidden])")
    page.click("#go")
    assert page.inner_text("#notice") == "Write a sentence first."
    page.fill("#sentence", "x" * 280)
    assert page.inner_text("#length") == "20 characters left"
    page.fill("#sentence", "x" * 301)
    assert page.inner_text("#length") == "1 character too many"
    page.click("#go")
    page.wait_for_selector("text=301 characters: at most 300")
    page.click("#example")
    wait_for_all(page)
    assert page.locator("#notice").is_hidden()
    page.context.set_offline(True)
    rewrite(page)
    page.wait_for_selector("text=cannot be reached")
    page.context.set_offline(False)
    rewrite(page)
    wait_for_all(page)


def test_a_test_sentence_shows_what_people_made_of_it(url, visit):
    page = visit(url)
    page.wait_for_selector("#form:not([hidden])")
    page.click("#example")  # ours
    wait_for_all(page)
    assert page.locator("#people").count() == 0
    page.click("#example")  # of the test set
    page.wait_for_selector("#people")
    wait_for_all(page)
    rewrites = page.locator("#people .text")
    assert rewrites.count() >= 1
    assert page.locator("#people ins").count() >= 1
    page.uncheck("#marks")
    assert page.locator("#people ins").count() == 0
    fits(page)


def test_by_keyboard_alone(url, visit):
    page = visit(url)
    page.wait_for_selector("#form:not([hidden])")
    page.keyboard.type("cold .")
    page.keyboard.press("Tab")  # the example
    page.keyboard.press("Tab")  # the styles
    page.keyboard.press("ArrowRight")
    assert page.locator("#style-1").is_checked()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "go"
    page.keyboard.press("Enter")
    wait_for_all(page)
    assert page.inner_text("#status") == (
        "positive → negative: 1 system answered. 5 systems here do other styles."
    )


def test_hostile_texts_stay_texts(hostile_url, visit):
    page = visit(hostile_url, viewport={"width": 390, "height": 844})
    page.wait_for_selector("#form:not([hidden])")
    rewrite(page, HOSTILE)
    wait_for_all(page)
    assert page.locator(".card .text").first.inner_text() == HOSTILE.strip()
    page.locator("summary").first.click()
    assert "<b onclick" in page.inner_text("#answers")
    assert page.locator("main img, main script, main svg").count() == 0
    assert fits(page)


@pytest.mark.parametrize(
    ("width", "scheme"), [(320, "light"), (390, "dark"), (768, "light"), (1440, "dark")]
)
def test_nothing_scrolls_sideways(url, visit, width, scheme):
    page = visit(url, viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.wait_for_selector("#form:not([hidden])")
    assert fits(page)
    rewrite(page)
    wait_for_all(page)
    assert fits(page)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(251, 250, 247)", "dark": "rgb(20, 23, 26)"}[scheme]


def test_a_theme_of_the_page_around_it(url, visit):
    page = visit(f"{url}?__theme=dark", color_scheme="light")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(20, 23, 26)"


def test_a_page_without_systems_says_what_to_do(visit):
    for empty in served():
        page = visit(empty)
        page.wait_for_selector("text=TSTBENCH_SYSTEMS")
        assert page.locator("#form").is_hidden()
    for broken in served(Offer("owner/lost", None, UNOPENED)):
        page = visit(broken)
        page.wait_for_selector("text=None of this page's systems could be opened")
