"""The annotation page in a real browser, by keyboard, as raters and the owner use it."""

import re

import pytest
from annotate_study import DIRECTION, SENTENCES, SYSTEMS, write_reports
from answering import free_port
from chromium import fits, needs_browser

from tstbench.spaces.annotate import create_study, lexicon_mask, links, serve

pytestmark = needs_browser
HOSTILE = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
    '"><svg onload=window.hacked=3> {{7*7}} ${7*7} http://evil.invalid/ ' + "w" * 200
)
TAG = "<b onclick=hacked()><img src=x onerror=hacked()>"
CHECKED = "[...document.querySelectorAll('input:checked')].map(i => i.name + i.value)"
STORED = "Object.keys(localStorage).length"
NO_STORAGE = (
    "Storage.prototype.setItem = () => { throw new DOMException('no', 'QuotaExceededError') }"
)
# One for each test of what is not saved, so that none depends on another.
RATERS = ["Ann", "Ben", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal"]


def study_of(factory, raters, systems=SYSTEMS, sentences=SENTENCES, **how):
    """Serves a study of these raters and gives its address and links."""
    pytest.importorskip("gradio")
    root = factory.mktemp("annotate")
    write_reports(root / "results", systems, sentences=sentences)
    create_study(root / "results", [DIRECTION], None, raters, root / "s", **how)
    running = serve(root / "s", port=free_port())
    yield running.url, links(root / "s", running.url)
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


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    yield from study_of(tmp_path_factory, ["Ann", "Ben", "Cleo"], per_system=8)


@pytest.fixture(scope="module")
def relative_study(tmp_path_factory):
    """The relative tasks on one system."""
    systems = {"Thesaurus": SYSTEMS["Thesaurus"]}
    tasks = ["naturalness", "naturalness_absolute", "style_difference", "content_masked"]
    masks = {DIRECTION: lexicon_mask(["slow", "quick", "dull", "bright"])}
    how = {"per_system": 2, "tasks": tasks, "masks": masks}
    yield from study_of(tmp_path_factory, ["Ann"], systems, **how)


@pytest.fixture(scope="module")
def hostile_study(tmp_path_factory):
    """Whatever a person can name or write is an attempt at HTML."""
    systems, sentences = {TAG: SYSTEMS["Parrot"]}, [(HOSTILE, (HOSTILE, "ok ."))]
    how = {"per_system": 1, "name": f"study {TAG}", "show_references": True}
    yield from study_of(tmp_path_factory, [TAG], systems, sentences, **how)


@pytest.fixture(scope="module")
def drafts(tmp_path_factory):
    """Each rater's link of one served study."""
    for _, given in study_of(tmp_path_factory, RATERS, per_system=8, tasks=["rating"]):
        yield given.raters


def test_annotate_reload_resume_and_go_back(study, visit):
    _, links = study
    page = visit(links.raters["Ann"])
    assert "2 and 4 are in between" in page.inner_text("main")
    assert "0.6 times" in page.inner_text("main")  # told before anything is judged
    begin(page)
    for _ in range(5):
        rate(page)
    assert item(page) == 6
    page.reload()
    wait_for_item(page, 6)
    assert "5 of " in page.inner_text(".count")

    page.keyboard.press("b")
    wait_for_item(page, 5)
    assert page.evaluate(CHECKED) == ["style4", "content3", "fluency5", "overall4"]
    assert page.locator("#overall").count() == 0  # asked, not derived
    page.keyboard.press("ArrowDown")  # from style to content
    page.keyboard.press("ArrowRight")  # one more
    assert page.evaluate(CHECKED) == ["style4", "content4", "fluency5", "overall4"]
    page.keyboard.press("Enter")
    wait_for_item(page, 6)
    page.keyboard.press("b")
    wait_for_item(page, 5)
    assert page.evaluate(CHECKED) == ["style4", "content4", "fluency5", "overall4"]
    page.keyboard.press("n")
    wait_for_item(page, 6)

    page.keyboard.type("4")
    page.keyboard.press("Enter")  # content and fluency are missing
    assert item(page) == 6
    assert "no score yet" in page.inner_text("#status")
    assert page.evaluate("document.activeElement.name") == "content"

    page.keyboard.press("s")
    page.keyboard.type("two languages, not b n s f ?")  # letters are text here, no shortcuts
    page.keyboard.press("Enter")
    wait_for_item(page, 7)
    page.keyboard.press("f")
    page.keyboard.type("odd reference")
    page.keyboard.press("Enter")
    page.wait_for_selector("#remark-shown:not([hidden])")
    rate(page)
    page.keyboard.press("?")
    assert page.locator("dialog#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("dialog#help").is_visible()


def test_hostile_texts_stay_texts(hostile_study, visit):
    _, links = hostile_study
    page = visit(links.raters[TAG], viewport={"width": 390, "height": 844})
    assert TAG in page.inner_text("h1")
    begin(page)
    texts = page.locator(".text").all_inner_texts()
    assert sum(HOSTILE in text for text in texts) == 3  # source, references and output
    assert fits(page)
    page.keyboard.press("f")
    page.keyboard.type(HOSTILE)
    page.keyboard.press("Enter")
    assert HOSTILE in page.inner_text("#remark-shown")
    page.keyboard.type("1111")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=All done")
    owner = visit(links.owner)
    owner.wait_for_selector("text=Mean scores")
    shown = owner.inner_text("main")
    assert shown.count(HOSTILE) == 2  # the comment and the output
    assert shown.count(TAG) == 3  # study, rater, system
    for tab in (page, owner):
        assert tab.locator("main img, main script, main svg, main b").count() == 0


@pytest.mark.parametrize(
    ("width", "scheme"), [(320, "light"), (390, "dark"), (768, "light"), (1440, "dark")]
)
def test_nothing_scrolls_sideways(study, visit, width, scheme):
    url, links = study
    page = visit(
        links.raters["Cleo"], viewport={"width": width, "height": 800}, color_scheme=scheme
    )
    assert fits(page)
    page.keyboard.press("?")
    assert fits(page)
    page.goto(links.owner)
    page.wait_for_selector("h2")
    assert fits(page)
    page.goto(url)
    page.wait_for_selector("text=You need your link")
    assert fits(page)


def test_relative_tasks_by_keyboard(relative_study, visit):
    _, links = relative_study
    page = visit(links.raters["Ann"])
    page.keyboard.press("Enter")
    wait_for_item(page, 1)
    assert "more natural" in page.inner_text("h1")
    assert "negative" not in page.inner_text("main")  # the styles would give the rewrite away
    rate(page, "2")
    rate(page, "1")
    assert page.locator(".text").count() == 1  # the output alone
    rate(page, "5")
    rate(page, "3")
    assert "style word" in page.inner_text("main")
    assert "slow" not in page.inner_text("main")
    rate(page, "5")
    rate(page, "4")
    assert "How different" in page.inner_text("h1")
    rate(page, "5")
    page.keyboard.type("4")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=All done")
    page.reload()
    page.wait_for_selector("text=All done")


def test_a_wrong_link_and_a_lost_server_are_explained(study, relative_study, visit):
    url, _ = study
    page = visit(f"{url}?key=wrong")
    assert "ask the study's owner" in page.inner_text("main")
    _, links = study
    page = visit(links.raters["Ann"])
    begin(page)
    page.context.set_offline(True)
    before = item(page)
    page.keyboard.type("3333")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=cannot be reached")
    page.context.set_offline(False)
    page.keyboard.press("Enter")  # nothing was lost: the scores are still there
    wait_for_item(page, before + 1)


# -- what a rater has chosen and not saved is never lost -------------------------------------------


def flag(page, comment):
    page.keyboard.press("f")
    page.keyboard.type(comment)
    page.keyboard.press("Enter")


def test_a_reload_keeps_choices_until_they_are_saved(drafts, visit):
    page = visit(drafts["Ann"])
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


def test_the_browsers_back_and_the_address_name_the_item(drafts, visit):
    page = visit(drafts["Ben"])
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
    page.goto(f"{drafts['Ben']}&item=1000")
    assert "There is no item 1000" in page.inner_text("main")


def test_raters_who_share_a_browser_do_not_share_choices(drafts, visit):
    first = visit(drafts["Cleo"])
    begin(first)
    first.keyboard.type("1")
    second = first.context.new_page()
    second.goto(drafts["Dan"])
    second.wait_for_selector("h1")
    begin(second)
    assert second.evaluate(CHECKED) == []
    second.keyboard.type("55")
    first.reload()
    wait_for_item(first, 1)
    assert first.evaluate(CHECKED) == ["style1"]
    stored = second.evaluate("JSON.stringify(localStorage)")
    assert [name for name in (*RATERS, *SYSTEMS, "rater-", "item-") if name in stored] == []
    assert drafts["Dan"].split("key=")[1] not in stored  # the browser's storage opens no study


def test_an_old_tab_shows_what_another_tab_saved(drafts, visit):
    old = visit(drafts["Eve"])
    begin(old)
    new = old.context.new_page()
    new.goto(f"{drafts['Eve']}&item=1")
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


def test_news_of_a_change_that_is_shown_already_disturbs_nobody(drafts, visit):
    """Two choices of another tab can be shown at once; the news of the second comes afterwards."""
    page = visit(drafts["Hal"])
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


def test_a_draft_from_before_a_newer_answer_is_not_brought_back(drafts, visit):
    """The same link on two machines: what was saved last counts."""
    desktop = visit(drafts["Fay"])
    begin(desktop)
    desktop.keyboard.type("1")
    phone = visit(drafts["Fay"])
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
        desktop.goto(f"{drafts['Fay']}&item=2")
        wait_for_item(desktop, 2)
        assert desktop.evaluate(CHECKED) == []


def test_a_double_click_saves_once_and_skips_nothing(drafts, visit):
    page = visit(drafts["Gus"])
    begin(page)
    saves = []
    page.on("request", lambda request: saves.append(request.url.endswith("/save")))
    page.keyboard.type("432")
    page.dblclick("#save")
    wait_for_item(page, 2)
    assert sum(saves) == 1
    page.keyboard.type("3")
    assert page.evaluate(CHECKED) == ["style3"]


def test_a_warning_before_leaving_only_where_nothing_can_be_stored(browser, drafts):
    for init, warned in ((None, False), (NO_STORAGE, True)):
        context = browser.new_context()
        if init:
            context.add_init_script(init)
        page = context.new_page()
        dialogs = []
        page.on("dialog", lambda dialog, seen=dialogs: (seen.append(dialog.type), dialog.accept()))
        page.goto(f"{drafts['Gus']}&item=9")
        wait_for_item(page, 9)
        page.click("label.choice >> nth=0")  # a page that was not touched may not warn
        assert page.evaluate(CHECKED) == ["style1"]
        page.goto("about:blank")
        assert dialogs == ["beforeunload"] * warned
        context.close()
