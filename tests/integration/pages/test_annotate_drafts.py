"""What a rater has chosen and not saved is never lost: reload, two raters, two tabs, no storage."""

import pytest
from annotate_pages import begin, item, rate, served, visits, wait_for_item
from annotate_study import DIRECTION, SYSTEMS, write_reports
from chromium import needs_browser

from tstbench.spaces.annotate import create_study

pytestmark = needs_browser
CHECKED = "[...document.querySelectorAll('input:checked')].map(i => i.name + i.value)"
STORED = "Object.keys(localStorage).length"
NO_STORAGE = (
    "Storage.prototype.setItem = () => { throw new DOMException('no', 'QuotaExceededError') }"
)
RATERS = [
    "Ann",
    "Ben",
    "Cleo",
    "Dan",
    "Eve",
    "Fay",
    "Gus",
    "Hal",
]  # one for each test, so none depends


@pytest.fixture(scope="module")
def links(tmp_path_factory):
    """Each rater's link of one served study."""
    pytest.importorskip("gradio")
    root = tmp_path_factory.mktemp("drafts")
    write_reports(root / "results", SYSTEMS)
    create_study(
        root / "results", [DIRECTION], None, RATERS, root / "s", per_system=8, tasks=["rating"]
    )
    server = served(root / "s")
    yield next(server)[1].raters
    next(server, None)


@pytest.fixture
def visit(browser):
    """Opens a page of its own; fails on a script error or a request that leaves the machine."""
    yield from visits(browser)


def flag(page, comment):
    page.keyboard.press("f")
    page.keyboard.type(comment)
    page.keyboard.press("Enter")


def test_a_reload_keeps_choices_until_they_are_saved(links, visit):
    page = visit(links["Ann"])
    begin(page)
    page.keyboard.type("43")
    flag(page, "odd <b>words</b>")
    page.reload()
    wait_for_item(page, 1)
    assert page.evaluate(CHECKED) == ["style4", "content3"]
    assert "Flagged: odd <b>words</b>" in page.inner_text("#remark-shown")
    assert "not saved yet" in page.inner_text("#unsaved")
    page.keyboard.type("5")  # the focus is on what is open
    page.keyboard.press("Enter")
    wait_for_item(page, 2)
    assert page.evaluate(STORED) == 0
    assert page.locator("#unsaved").is_hidden()
    page.go_back()
    wait_for_item(page, 1)
    assert page.evaluate(CHECKED) == ["style4", "content3", "fluency5"]
    assert page.inner_text("#overall") in ("4.00", "2.40")  # a copy is multiplied by 0.6
    assert page.locator("#unsaved").is_hidden()


def test_the_browsers_back_and_the_address_name_the_item(links, visit):
    page = visit(links["Ben"])
    begin(page)
    rate(page, "435")
    rate(page, "435")
    page.keyboard.type("2")
    page.go_back()
    wait_for_item(page, 2)
    page.reload()
    wait_for_item(page, 2)  # and not the first open one
    page.go_forward()
    wait_for_item(page, 3)
    assert page.evaluate(CHECKED) == ["style2"]
    page.goto(f"{links['Ben']}&item=1000")
    assert "There is no item 1000" in page.inner_text("main")


def test_raters_who_share_a_browser_do_not_share_choices(links, visit):
    first = visit(links["Cleo"])
    begin(first)
    first.keyboard.type("1")
    second = first.context.new_page()
    second.goto(links["Dan"])
    second.wait_for_selector("h1")
    begin(second)
    assert second.evaluate(CHECKED) == []
    second.keyboard.type("55")
    first.reload()
    wait_for_item(first, 1)
    assert first.evaluate(CHECKED) == ["style1"]
    stored = second.evaluate("JSON.stringify(localStorage)")
    assert [name for name in (*RATERS, *SYSTEMS, "rater-", "item-") if name in stored] == []
    assert links["Dan"].split("key=")[1] not in stored  # the browser's storage opens no study


def test_an_old_tab_shows_what_another_tab_saved(links, visit):
    old = visit(links["Eve"])
    begin(old)
    new = old.context.new_page()
    new.goto(f"{links['Eve']}&item=1")
    wait_for_item(new, 1)
    old.keyboard.type("11")
    new.wait_for_function(f"() => {CHECKED}.length === 2")
    new.keyboard.press("ArrowUp")
    new.keyboard.press("ArrowUp")
    new.keyboard.type("555")
    new.keyboard.press("Enter")
    wait_for_item(new, 2)
    old.wait_for_function(f"() => {CHECKED}.join() === 'style5,content5,fluency5'")
    assert item(old) == 1
    old.reload()
    wait_for_item(old, 1)
    assert old.evaluate(CHECKED) == ["style5", "content5", "fluency5"]
    assert old.evaluate(STORED) == 0


def test_news_of_a_change_that_is_shown_already_disturbs_nobody(links, visit):
    """Two choices of another tab can be shown at once; the news of the second comes afterwards."""
    page = visit(links["Hal"])
    begin(page)
    page.keyboard.type("11")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    with page.expect_response(lambda response: response.url.endswith("/screen")) as asked:
        page.evaluate("dispatchEvent(new StorageEvent('storage', {key: localStorage.key(0)}))")
    asked.value.finished()
    page.evaluate("new Promise(setTimeout)")  # the page has dealt with the answer
    page.keyboard.type("555")
    assert page.evaluate(CHECKED) == ["style5", "content5", "fluency5"]


def test_a_draft_from_before_a_newer_answer_is_not_brought_back(links, visit):
    """The same link on two machines: what was saved last counts."""
    desktop = visit(links["Fay"])
    begin(desktop)
    desktop.keyboard.type("1")
    phone = visit(links["Fay"])
    begin(phone)
    rate(phone, "345")
    desktop.reload()
    wait_for_item(desktop, 1)
    assert desktop.evaluate(CHECKED) == ["style3", "content4", "fluency5"]
    # What was stored by something else is not a draft.
    scope = "(n, text) => localStorage.setItem(n.replace(/ 0$/, ' 1'), text)"
    desktop.keyboard.press("ArrowUp")
    desktop.keyboard.type("2")
    name = desktop.evaluate("Object.keys(localStorage)[0]")
    for garbage in ("{", "7", '{"scores":{"style":99,"x":1},"from":null}'):
        desktop.evaluate(f"([n, text]) => ({scope})(n, text)", [name, garbage])
        desktop.goto(f"{links['Fay']}&item=2")
        wait_for_item(desktop, 2)
        assert desktop.evaluate(CHECKED) == []


def test_a_double_click_saves_once_and_skips_nothing(links, visit):
    page = visit(links["Gus"])
    begin(page)
    saves = []
    page.on("request", lambda request: saves.append(request.url.endswith("/save")))
    page.keyboard.type("432")
    page.dblclick("#save")
    wait_for_item(page, 2)
    assert sum(saves) == 1
    page.keyboard.type("3")
    assert page.evaluate(CHECKED) == ["style3"]


def test_a_warning_before_leaving_only_where_nothing_can_be_stored(browser, links):
    for init, warned in ((None, False), (NO_STORAGE, True)):
        context = browser.new_context()
        if init:
            context.add_init_script(init)
        page = context.new_page()
        dialogs = []
        page.on("dialog", lambda dialog, seen=dialogs: (seen.append(dialog.type), dialog.accept()))
        page.goto(f"{links['Gus']}&item=9")
        wait_for_item(page, 9)
        page.click("label.choice >> nth=0")  # a page that was not touched may not warn
        assert page.evaluate(CHECKED) == ["style1"]
        page.goto("about:blank")
        assert dialogs == ["beforeunload"] * warned
        context.close()
