"""The annotation page in a real browser, by keyboard, as raters and the owner use it."""

import json
import re

import pytest
from annotate_pages import begin, fits, item, rate, served, visits, wait_for_item
from annotate_study import DIRECTION, SYSTEMS, write_reports
from chromium import needs_browser

from tstbench.datasets_scripts.judgments.schema import read_judgments
from tstbench.spaces.annotate import create_study, lexicon_mask

pytestmark = needs_browser
HOSTILE = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
    '"><svg onload=window.hacked=3> {{7*7}} ${7*7} http://evil.invalid/ ' + "w" * 200
)
TAG = "<b onclick=hacked()><img src=x onerror=hacked()>"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A served study of 8 sentences and 5 systems; its url and links."""
    pytest.importorskip("gradio")
    root = tmp_path_factory.mktemp("annotate")
    write_reports(root / "results", SYSTEMS)
    create_study(
        root / "results", [DIRECTION], None, ["Ann", "Ben", "Cleo"], root / "s", per_system=8
    )
    yield from served(root / "s")


@pytest.fixture(scope="module")
def relative_study(tmp_path_factory):
    """The relative tasks on one system."""
    root = tmp_path_factory.mktemp("relative")
    write_reports(root / "results", {"Thesaurus": SYSTEMS["Thesaurus"]})
    create_study(
        root / "results",
        [DIRECTION],
        None,
        ["Ann"],
        root / "s",
        per_system=2,
        tasks=["naturalness", "naturalness_absolute", "style_difference", "content_masked"],
        masks={DIRECTION: lexicon_mask(["slow", "quick", "dull", "bright"])},
    )
    yield from served(root / "s")


@pytest.fixture(scope="module")
def hostile_study(tmp_path_factory):
    """Whatever a person can name or write is an attempt at HTML."""
    root = tmp_path_factory.mktemp("hostile")
    sentences = [(HOSTILE, (HOSTILE, "ok ."))]
    write_reports(root / "results", {TAG: SYSTEMS["Parrot"]}, sentences=sentences)
    create_study(
        root / "results",
        [DIRECTION],
        None,
        [TAG],
        root / "s",
        per_system=1,
        name=f"study {TAG}",
        show_references=True,
    )
    yield from served(root / "s")


@pytest.fixture
def visit(browser):
    """Opens a page of its own; fails on a script error or a request that leaves the machine."""
    yield from visits(browser)


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
    checked = "[...document.querySelectorAll('input:checked')].map(i => i.name + i.value)"
    assert page.evaluate(checked) == ["style4", "content3", "fluency5", "overall4"]
    assert page.locator("#overall").count() == 0  # asked, not derived
    page.keyboard.press("ArrowDown")  # from style to content
    page.keyboard.press("ArrowRight")  # one more
    assert page.evaluate(checked) == ["style4", "content4", "fluency5", "overall4"]
    page.keyboard.press("Enter")
    wait_for_item(page, 6)
    page.keyboard.press("b")
    wait_for_item(page, 5)
    assert page.evaluate(checked) == ["style4", "content4", "fluency5", "overall4"]
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


def test_the_second_rater_sees_neither_scores_nor_systems(study, visit):
    _, links = study
    first = visit(links.raters["Cleo"])
    begin(first)
    rate(first)
    page = visit(links.raters["Ben"])
    told = []
    page.on("response", lambda response: told.append(response))
    begin(page)
    seen = page.content()
    for number in range(1, 6):
        assert page.locator("input:checked").count() == 0
        rate(page)
        wait_for_item(page, number + 1)
        seen += page.content()
    seen += "".join(r.text() for r in told if "gradio_api" in r.url)
    assert len(told) >= 10
    names = [*SYSTEMS, "rater-", "Ann", "Cleo", "item-"]
    assert [name for name in names if re.search(rf"\b{name}", seen)] == []


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
        assert tab.evaluate("window.hacked") is None
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


def test_the_owner_sees_agreement_and_exports(study, visit, tmp_path):
    _, links = study
    rater = visit(links.raters["Cleo"])
    begin(rater)
    rate(rater)
    page = visit(links.owner)
    page.wait_for_selector("text=Krippendorff")
    text = page.inner_text("main")
    assert "Ann" in text
    assert "rater-1" in text
    assert "every rater who has scored any here (" in text
    with page.expect_download() as download:
        page.click("text=Export judgments")
    download.value.save_as(tmp_path / "j.jsonl")
    judgments = read_judgments(tmp_path / "j.jsonl")
    aspects = {judgment.aspect for judgment in judgments}
    assert aspects == {"style", "content", "fluency", "overall"}
    assert "Ann" not in json.dumps([judgment.model_dump() for judgment in judgments])


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
