"""The leaderboard in a real browser: what a reader and a submitter do, by mouse and by keyboard."""

import re
from urllib.parse import urlsplit

import pytest
from chromium import needs_browser
from leaderboard_pages import names, parameters, served, settled
from leaderboard_results import (
    BACK,
    THERE,
    real_results,
    report,
    score_by_bleu,
    write,
)

from tstbench.datasets_scripts.load import load_test_set

pytestmark = needs_browser
ROWS = "table.board tbody tr[data-name]:visible"
SYSTEMS = "table.board tbody:not(.bounds) tr:visible"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Real baselines by BLEU on mini; beside them two systems scored in another way."""
    root = real_results(tmp_path_factory.mktemp("leaderboard") / "results")
    for name, value in (("elsewhere", 12.0), ("elsewhere too", 34.0)):
        write(root, report(name, {"acc": value, "s_bleu": value}))
    return root


@pytest.fixture(scope="module")
def url(root):
    with served(root, score=score_by_bleu, directions=(THERE, BACK)) as url:
        yield url


def test_a_phone_shows_agreement_with_people_and_the_first_row_and_folds_the_controls(look):
    """The number stands in the header; its studies are in the dialog, which needs no pointer."""
    page = look(f"direction={THERE}", viewport={"width": 390, "height": 844})
    header = page.locator("th[data-key=s_bleu]")
    assert re.fullmatch(r"ρ 0\.\d\d‡\s+people", header.locator(".people").inner_text())
    inside = "e => [e, e.querySelector('.people'), e.querySelector('.info')]"
    inside += ".map(one => one.getBoundingClientRect().right)"
    cell, number, button = header.evaluate(inside)
    assert number <= cell
    assert button <= cell
    header.locator(".info").click()
    assert "Pauli 2025, content: −0." in page.locator("dialog p").inner_text()
    page.keyboard.press("Escape")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator(ROWS).first.bounding_box()["y"] < 600
    field = page.locator("[data-local=q]")
    assert not field.is_visible()
    page.click("button.fold")
    assert field.is_visible()
    assert page.get_attribute("button.fold", "aria-expanded") == "true"


def values(page, key):
    index = page.locator(f"th[data-key='{key}']").evaluate("th => th.cellIndex")
    cells = page.locator(f"{ROWS} >> css=:nth-child({index + 1}) >> nth=0")
    assert cells.count() == 1
    return page.locator(SYSTEMS).evaluate_all(
        "(rows, i) => rows.map(row => row.cells[i].dataset.value ?? null)", index
    )


class TestRanking:
    def test_sort_by_mouse_and_by_keyboard(self, look):
        page = look(f"direction={THERE}")
        first = [float(v) for v in values(page, "s_bleu")]
        assert first == sorted(first, reverse=True), "best first, by the first column"
        page.click("th[data-key=r_bleu] .sort")
        best = [float(v) for v in values(page, "r_bleu")]
        assert best == sorted(best, reverse=True)
        assert names(page)[0] == "delete-retrieve"
        assert names(page)[2] == "copy", "the best of the bounds, below the systems"
        assert page.get_attribute("th[data-key=r_bleu]", "aria-sort") == "descending"
        assert page.get_attribute("th[data-key=s_bleu]", "aria-sort") == "none"
        assert page.inner_text("[data-ranked-by]").startswith("by r-BLEU")
        assert page.locator(f"{ROWS} >> nth=0").locator("td.rank").inner_text() == "1"
        page.focus("th[data-key=r_bleu] .sort")
        page.keyboard.press("Enter")
        assert [float(v) for v in values(page, "r_bleu")] == sorted(best)
        assert page.get_attribute("th[data-key=r_bleu]", "aria-sort") == "ascending"
        page.click("th[data-key=system] .sort")
        for block in (names(page)[:2], names(page)[2:]):
            assert block == sorted(block, key=str.casefold)

    def test_filter_columns_and_a_link_that_remembers(self, look):
        page = look(f"direction={THERE}")
        assert page.inner_text(".count") == "2 systems, 3 bounds"
        page.fill("[data-local=q]", "delete")
        assert page.inner_text(".count") == "1 of 2 systems"
        assert not page.is_visible(".heading"), "there is no bound below it"
        page.fill("[data-local=q]", "re")
        assert sorted(names(page)) == ["delete-retrieve", "reference-1"]
        assert page.inner_text(".count") == "1 of 2 systems, 1 bound"
        page.click(".chip:has-text('Human')")
        assert names(page) == ["reference-1"]
        page.click("summary:has-text('Columns')")
        page.uncheck("input[data-local=columns][value=s_bleu]")
        assert not page.is_visible("th[data-key=s_bleu]")
        assert page.is_visible("th[data-key=r_bleu]")
        page.keyboard.press("Escape")
        page.click("th[data-key=multi_bleu] .sort")
        page.click("th[data-key=multi_bleu] .sort")
        wanted = {
            "direction": THERE,
            "q": "re",
            "family": "human",
            "hide": "s_bleu",
            "sort": "-multi_bleu",
        }
        assert parameters(page) == wanted
        again = look(urlsplit(page.url).query)
        assert names(again) == ["reference-1"]
        assert not again.is_visible("th[data-key=s_bleu]")
        assert again.input_value("[data-local=q]") == "re"
        assert again.get_attribute("th[data-key=multi_bleu]", "aria-sort") == "ascending"
        again.fill("[data-local=q]", "nobody")
        assert again.is_visible("text=No system matches")
        again.click("text=Clear the filters")
        assert len(names(again)) == 5

    def test_other_scorers_are_another_table(self, look):
        page = look(f"direction={THERE}")
        assert "elsewhere" not in names(page)
        labels = page.locator("[data-param=setting] option").all_inner_texts()
        assert [re.search(r"\((\d+) systems\)", label)[1] for label in labels] == ["5", "2"]
        page.select_option("[data-param=setting]", index=1)
        page.wait_for_selector("th[data-key=acc]")
        assert names(page) == ["elsewhere too", "elsewhere"]
        assert "setting" in parameters(page)

    def test_a_signature_opens_in_a_dialog(self, look):
        page = look(f"direction={THERE}")
        page.click("th[data-key=r_bleu] .info")
        dialog = page.locator("dialog[open]")
        assert "signature" in dialog.locator("h2").inner_text()
        facts = dialog.locator("dl").inner_text()
        assert "protocol" in facts
        assert "tstbench" in facts
        assert f"direction:{THERE}" in facts
        page.keyboard.press("Escape")
        assert not dialog.is_visible()
        page.click("th[data-key=r_bleu] .info")
        page.click("dialog >> text=Close")
        assert not dialog.is_visible()

    def test_history_goes_back(self, look):
        page = look(f"direction={THERE}")
        page.select_option("[data-param=direction]", BACK)
        page.wait_for_function("() => document.title.includes('positive \u2192 negative')")
        page.click("nav >> text=About")
        page.wait_for_selector("text=How to read this page")
        page.go_back()
        page.wait_for_selector("table.board")
        assert page.input_value("[data-param=direction]") == BACK
        page.go_back()
        page.wait_for_function(
            f"() => document.querySelector('[data-param=direction]')?.value === '{THERE}'"
        )


class TestLongTable:
    @pytest.fixture
    def url(self, tmp_path_factory):
        """60 systems: each has one percent less than the one before it."""
        root = tmp_path_factory.mktemp("long") / "results"
        for i in range(60):
            write(root, report(f"s-{i:02}", {"acc": 90.0 - i}))
        with served(root) as url:
            yield url

    @pytest.mark.parametrize("view", ["ranking", "overview"])
    def test_every_row_is_found_sorted_and_shown(self, look, view):
        page = look(f"view={view}&q=s-59")
        page.wait_for_function("() => document.querySelectorAll('tr[data-name]').length == 60")
        assert names(page) == ["s-59"], "a link finds a row that did not come with the page"
        page.fill("[data-local=q]", "")
        assert names(page) == [f"s-{i:02}" for i in range(50)]
        page.click("th[data-key=system] .sort")
        page.click("th[data-key=system] .sort")
        assert names(page) == [f"s-{i:02}" for i in range(59, 9, -1)]
        page.click("text=Show all 60 systems")
        assert names(page) == [f"s-{i:02}" for i in range(59, -1, -1)]
        assert not page.is_visible(".more")

    @pytest.mark.parametrize("view", ["ranking", "overview"])
    def test_of_a_longer_one_the_server_finds_and_sorts_the_rows(self, look, view, monkeypatch):
        from tstbench.spaces.leaderboard import overview_view, ranking_view

        for module in (ranking_view, overview_view):
            monkeypatch.setattr(module, "LONG", 20)

        def shown(wanted):
            page.wait_for_function(
                "wanted => wanted === [...document.querySelectorAll('tr[data-name]')]"
                ".map((row) => row.dataset.name).join()",
                arg=",".join(f"s-{i:02}" for i in wanted),
            )
            settled(page)

        page = look(f"view={view}&q=s-5")
        shown(range(50, 60))
        assert page.locator("[data-local=q]").input_value() == "s-5"
        page.press("[data-local=q]", "End")
        page.keyboard.press("Backspace")
        shown(range(50))
        assert page.evaluate("document.activeElement.dataset.local") == "q"
        page.click("[data-page='2']:has-text('Next')")
        shown(range(50, 60))
        page.click("th[data-key=system] .sort")
        shown(range(50))
        page.click("th[data-key=system] .sort")
        shown(range(59, 9, -1))
        assert page.get_attribute("th[data-key=system]", "aria-sort") == "descending"
        focused = "document.activeElement.closest('th')?.dataset.key"
        page.wait_for_function(f"() => {focused} === 'system'")
        page.fill("[data-local=q]", "nobody")
        shown([])
        page.click("[data-action=clear]")
        shown(range(59, 9, -1))
        assert "p=" not in page.url
        if view == "ranking":
            assert page.locator(".count").inner_text() == "60 systems"

    def test_a_server_that_is_gone_is_named(self, look):
        page = look(
            f"direction={THERE}",
            script="""
            window.fetch = () => Promise.reject(new TypeError("Failed to fetch"))""",
        )
        page.wait_for_selector(".more:has-text('The other systems did not arrive')")
        assert len(names(page)) == 50


class TestOtherViews:
    def test_all_directions(self, look):
        page = look("view=overview&metric=r_bleu")
        page.wait_for_selector("[data-figure=across] svg [data-tip] >> visible=true")
        means = [float(v) for v in values(page, "mean") if v is not None]
        assert means == sorted(means, reverse=True)
        assert len(means) == 1, "the other has one direction; bounds are not among the systems"
        assert "1 of 2" in page.inner_text(f"{ROWS}:has-text('window.hurt')")

    def test_a_sample_with_its_diff(self, look):
        page = look(f"direction={BACK}")
        page.click("nav >> text=Samples")
        page.wait_for_selector(".sample")
        assert parameters(page) == {"direction": BACK, "view": "samples"}
        page.select_option("[data-param=order]", "source")
        source = load_test_set(BACK).sources[0]
        page.wait_for_function(
            "text => document.querySelector('.sample header .text').innerText === text", arg=source
        )
        card = page.locator(".sample >> nth=0")
        copied = card.locator("tr:has(th:has-text('copy'))")
        assert "unchanged" in copied.inner_text()
        rewritten = card.locator("tr:has(th:has-text('reference-1')) td >> nth=0")
        reference = load_test_set(BACK).references[0][0]
        kept_and_new = rewritten.locator("span span, ins").all_inner_texts()
        assert "".join(kept_and_new).replace(" ", "") == reference.replace(" ", "")
        page.select_option("[data-param=texts]", "plain")
        page.wait_for_function("() => !document.querySelector('.sample ins')")
        assert rewritten.inner_text() == reference
        card.locator("summary").click()
        assert card.locator("li").count() == 4
        page.click("text=Next")
        page.wait_for_selector("text=Page 2 of 8")
        page.fill("[data-param=text]", "zzzz")
        page.wait_for_selector("text=No sentence matches")
        assert page.evaluate("document.activeElement.dataset.param") == "text", "typing goes on"

    def test_a_link_a_system_and_head_to_head(self, look):
        page = look(f"view=samples&direction={BACK}&p=2")
        page.click("text=Next")
        page.wait_for_selector("text=Page 3 of 8")
        page.reload()
        page.wait_for_selector("text=Page 3 of 8")
        page.locator(".sample th a", has_text="delete-retrieve").first.click()
        page.wait_for_selector(".system-page h2:has-text('delete-retrieve')")
        assert page.locator("nav [aria-current]").count() == 0
        with page.expect_download() as download:
            page.click("a:has-text('Download') >> nth=0")
        assert download.value.suggested_filename.endswith("_delete-retrieve.jsonl")
        page.click("text=Head to head >> nth=1")
        page.wait_for_selector("table.versus")
        page.select_option("[data-param=second]", "reference-1")
        page.wait_for_selector("h2:has-text('delete-retrieve and reference-1')")
        page.go_back()
        page.go_back()
        page.wait_for_selector(".system-page")

    def test_hostile_sentences_stay_text(self, look):
        page = look(f"view=samples&direction={THERE}&systems={'copy'}")
        page.click("summary:has-text('Systems')")
        page.locator(".menu label", has_text="window.hurt").locator("input").check()
        page.wait_for_selector("td:has-text('window.hurt')")
        assert page.locator("#stage img").count() == 0
        assert page.locator("#stage script").count() == 0

    def test_theme_is_remembered(self, look):
        page = look()
        paper = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(paper)
        page.click("[data-action=theme]")
        dark = page.evaluate(paper)
        assert dark != light
        page.reload()
        page.wait_for_selector("#submit", state="attached")  # Gradio is up and had its say
        assert page.evaluate(paper) == dark

    def test_everything_is_reachable_by_keyboard_and_named(self, look):
        page = look(f"direction={THERE}")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.innerText") == "Skip to the results"
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(outline) != "none"
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_selector("#stage table")
        assert parameters(page)["view"] == "overview"
        unnamed = page.evaluate(
            """() => [...document.querySelectorAll("button, a, input, select")].filter((e) =>
              e.checkVisibility() && !(e.innerText || e.ariaLabel || e.title || e.labels?.length))
              .map((e) => e.outerHTML)"""
        )
        assert unnamed == []
        assert page.locator("th:not([scope])").count() == 0


class TestSubmit:
    @pytest.fixture
    def form(self, look):
        page = look("view=submit")
        page.wait_for_selector("#submit button:has-text('Check and score')")
        return page

    def send(self, page, path, name):
        page.set_input_files("#submit input[type=file]", path)
        page.fill("#submit [name=name]", name)
        page.click("#submit button:has-text('Check and score')")

    def test_a_good_file_is_scored_shown_and_added(self, form, look, tmp_path, root):
        lines = [s.replace("not ", "").replace(".", "!") for s in load_test_set(THERE).sources]
        path = tmp_path / "good.txt"
        path.write_text("\n".join(lines))
        self.send(form, path, "Browser system")
        form.wait_for_selector("#preview h3:has-text('Preview: Browser system')")
        preview = form.inner_text("#preview")
        assert "compared with 5 others" in preview
        assert re.search(r"s-BLEU\s+\d+\.\d\s+\d+\.\d–\d+\.\d\s+\d of 3", preview)
        assert not list((root / THERE).glob("submission-*")), "nothing is published yet"
        form.click("#publish")
        form.wait_for_selector("text=is on the leaderboard of")
        form.click("text=See it there")
        form.wait_for_selector("table.board")
        assert "Browser system" in names(form)
        assert "untested" not in form.inner_text("[data-ranked-by]"), "compared with the others"
        assert len(list((root / THERE).glob("submission-*"))) == 1

    def test_the_file_offered_is_that_of_the_direction_shown(self, look):
        """By the link and by choosing."""
        page = look(f"view=submit&direction={BACK}")
        field = page.locator("#submit").get_by_label("Direction")
        for direction in (BACK, THERE):
            if direction == THERE:
                field.select_option(THERE)
            assert field.input_value() == direction
            with page.expect_download() as download:
                page.click("#submit :text('Download its test sentences')")
            sources = download.value.path().read_text().splitlines()
            assert sources == list(load_test_set(direction).sources), direction

    def test_what_looks_wrong_is_taken_after_a_second_look(self, look, tmp_path):
        page = look(f"view=ranking&direction={BACK}")
        page.click("nav [data-link=submit]")  # no reload: the form still follows the link
        direction = page.locator("#submit").get_by_label("Direction")
        page.wait_for_function(
            "([field, value]) => field.value === value", arg=[direction.element_handle(), BACK]
        )
        with page.expect_download() as download:
            page.click("#submit :text('Download its test sentences')")
        sources = download.value.path().read_text().splitlines()
        assert sources == list(load_test_set(BACK).sources)
        path = tmp_path / "output_cleaned.0"
        path.write_text("".join(f"{s}\t{s}\t0.9\n" for s in sources))
        assert not page.is_visible("#confirmed")
        self.send(page, path, "Raw file")
        page.wait_for_selector("#preview .warning :text('40 of 40 outputs contain a tab')")
        assert page.is_disabled("#publish")
        page.check("#confirmed input")
        page.click("#submit button:has-text('Check and score')")
        page.wait_for_selector("#preview h3:has-text('Preview: Raw file')")
        page.fill("#submit [name=name]", "!")
        page.click("#submit button:has-text('Check and score')")
        page.wait_for_selector("#preview h3:has-text('Not accepted')")
        assert "Raw file" not in page.inner_text("#preview"), "what was said before is gone"
        assert page.is_disabled("#publish")
        page.set_input_files("#submit input[type=file]", [])
        page.wait_for_selector("#confirmed", state="hidden")
        assert not page.is_checked("#confirmed input")
