"""The metrics' own pages: every one computes its example; one is driven in a real browser."""

import os
import shutil
from pathlib import Path

import pytest
from gradio_client import Client
from prepared import prepared_home

from tstbench.metrics.facts import METRICS
from tstbench.spaces.metric_page import CSS, SEPARATOR, page, theme

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
SCORES = {
    "acc": ["acc"],
    "bleu": ["s_bleu", "r_bleu", "multi_bleu"],
    "bertscore": ["s_bert", "r_bert", "multi_bert"],
    "ppl": ["ppl"],
    "cola": ["cola"],
    "joint": ["joint", "acc", "r_bleu", "multi_bleu", "ppl"],
}


@pytest.fixture
def home(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("TSTBENCH_HOME", str(prepared_home(tmp_path_factory)))


@pytest.fixture
def serve():
    """Serve a metric's page on a free port for the length of a test."""
    open_pages = []

    def start(name):
        demo = page(ROOT / "metrics" / name)
        demo.launch(
            server_name="127.0.0.1", prevent_thread_lock=True, quiet=True, css=CSS, theme=theme()
        )
        open_pages.append(demo)
        return demo

    yield start
    for demo in open_pages:
        demo.close()


def test_every_metric_has_a_page():
    scores = {score for some in SCORES.values() for score in some}
    assert scores == set(METRICS)


@pytest.mark.parametrize("name", SCORES)
def test_the_example_is_scored(name, home, serve):
    demo = serve(name)
    client = Client(demo.local_url, verbose=False)
    values = [c.value for c in demo.fns[0].inputs]
    shown, result = client.predict(*values, api_name="/compute")
    assert list(result["details"]) == SCORES[name]
    for score in SCORES[name]:
        details = result["details"][score]
        low, high = details["interval"]
        assert low <= result[score] <= high
        assert details["signature"].startswith(f"{score}|")
        assert f"<b>{result[score]:.3f}</b>" in shown


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")
def test_a_person_scores_and_makes_mistakes(home, serve):
    from playwright.sync_api import sync_playwright

    demo = serve("bleu")
    asked = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        tab = browser.new_page(viewport={"width": 390, "height": 800})
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(demo.local_url)
        tab.get_by_role("button", name="Score").click()
        tab.get_by_text("multi_bleu|", exact=False).first.wait_for(timeout=20_000)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        if folder := os.environ.get("TSTBENCH_SCREENSHOTS"):
            tab.set_viewport_size({"width": 1000, "height": 1200})
            tab.screenshot(path=f"{folder}/metric-page.png")
        predictions = tab.get_by_label("Predictions, one a line")
        predictions.fill("one <img src=x onerror=alert(1)> line")
        tab.get_by_role("button", name="Score").click()
        toast = tab.get_by_text("not aligned: 1 predictions", exact=False).first
        toast.wait_for(timeout=20_000)
        references = tab.get_by_label("References", exact=False)
        references.fill(f"a {SEPARATOR} b")
        tab.get_by_label("Sources").fill("one")
        tab.get_by_role("button", name="Score").click()
        tab.get_by_text("n:1|", exact=False).first.wait_for(timeout=20_000)
        assert tab.locator("img[onerror]").count() == 0
        browser.close()
    local = (demo.local_url.rstrip("/"), "data:", "blob:")
    assert [url for url in asked if not url.startswith(local)] == []
