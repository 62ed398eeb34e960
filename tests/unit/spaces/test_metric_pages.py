"""The metrics' own pages: every one computes its example; one is driven in a real browser."""

import os

import pytest
from answering import asked
from chromium import chromium, in_browser
from gradio_client import Client
from places import ROOT

from tstbench.metrics.module import compute
from tstbench.metrics.registry import METRICS, families
from tstbench.metrics.units import number, unit
from tstbench.spaces.metric_page import EXAMPLE_DIRECTION, SEPARATOR, _example, launch, looks, page

# Their pages say what is missing: a judge, the weights of a language model.
LACKING = ("llm_judge", "logprop", "lm_ppl", "bleurt")
SCORES = {
    name: [facts.name for facts in family.metrics]
    for name, family in families().items()
    if name not in LACKING
}
SCORES["joint"] = ["joint", "acc", "r_bleu", "multi_bleu", "ppl"]  # and its parts


@pytest.fixture
def serve():
    """Serve a metric's page on a free port for the length of a test."""
    open_pages = []

    def start(name):
        demo = page(ROOT / "metrics" / name)
        demo.launch(server_name="127.0.0.1", prevent_thread_lock=True, quiet=True, **looks())
        open_pages.append(demo)
        return demo

    yield start
    for demo in open_pages:
        demo.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", LACKING)
def test_a_page_that_lacks_something_says_what(name, prepared, serve, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.delenv("TSTBENCH_JUDGE", raising=False)
    demo = serve(name)
    client = Client(demo.local_url, verbose=False)
    values = [c.value for c in demo.fns[0].inputs]
    shown, result = client.predict(*values, api_name="/compute")
    assert list(result) == ["error"]
    assert any(word in result["error"] for word in ("judge", "gpt2", "bleurt"))
    assert "Traceback" not in shown


@pytest.mark.slow
@pytest.mark.parametrize("name", SCORES)
def test_the_example_is_scored(name, prepared, serve):
    demo = serve(name)
    client = Client(demo.local_url, verbose=False)
    values = [c.value for c in demo.fns[0].inputs]
    shown, result = client.predict(*values, api_name="/compute")
    assert list(result["details"]) == SCORES[name]
    for score in SCORES[name]:
        details = result["details"][score]
        if name == "naturalness" and "left_out" in details:
            assert "sources" in details["left_out"]  # too few to learn what people write
            continue
        assert details["interval"] is None
        assert f"<p>{details['interval_method']}" in shown
        assert details["interval_method"].startswith("too few sentences for intervals and tests: 4")
        assert details["signature"].startswith(f"{score}|")
        assert f"<b>{number(result[score], details['unit'])}</b>" in shown
        assert f"<small>{unit(details['unit']).label}</small>" in shown
        assert ("is better" in shown) == any(
            METRICS[one].better != "neither" for one in SCORES[name]
        )
    assert "fraction" not in shown


def test_the_example_tells_metrics_apart(prepared):
    """No prediction is a reference, one is a copy: no score of it is a ceiling or a floor."""
    example = _example()
    predictions, sources = example["predictions"].split("\n"), example["sources"].split("\n")
    references = [line.split(f" {SEPARATOR} ") for line in example["references"].split("\n")]
    assert not [p for p, some in zip(predictions, references, strict=True) if p in some]
    assert [p == s for p, s in zip(predictions, sources, strict=True)] == [False] * 3 + [True]
    given = {"predictions": predictions, "sources": sources, "references": references}
    scores = compute(["acc", "bleu"], **given, direction=EXAMPLE_DIRECTION)
    assert 0 < scores["acc"] < 100
    assert 20 < scores["r_bleu"] < scores["multi_bleu"] < 100
    assert 20 < scores["s_bleu"] < 100


def pressed(name, *values):
    """What the button of a metric's page shows, and its result."""
    (button,) = (one for one in page(ROOT / "metrics" / name).fns.values() if one.api_name)
    return button.fn(*values)


def test_a_box_has_a_line_for_each_sentence_and_no_more_than_it_takes():
    """A pasted text ends with a line end, and what stands between two separators may be nothing."""
    for end in ("", "\n"):
        _, result = pressed("bleu", f"a b c d e{end}", f"a b c d f{end}", f" || a b c d e ||{end}")
        assert result["r_bleu"] == 100
        assert "|n:1|" in result["details"]["r_bleu"]["signature"]
    _, result = pressed("surface", "x\n" * 2000, "y\n" * 2000)
    assert result["copy_rate"] == 0
    _, result = pressed("surface", "x\n" * 2001, "y\n" * 2001)
    assert result == {"error": "2001 lines: this page takes at most 2000; use the library for more"}
    _, result = pressed("surface", "x\ny\n", "y")
    assert result["error"].startswith("predictions: 2 lines, sources: 1 line. Give each sentence")


def test_what_a_visitor_wrote_is_text_in_what_is_said_of_it():
    shown, result = pressed("acc", "one", "<img src=x onerror=alert(1)>")
    assert "<img src=x" in result["error"]
    assert "&lt;img src=x onerror=alert(1)&gt;" in shown
    assert "<img" not in shown


def asked_by_name(name):
    """The status of an answer to a request that names the server so."""
    demo = launch(ROOT / "metrics" / "surface", prevent_thread_lock=True, quiet=True)
    try:
        return asked(f"http://127.0.0.1:{demo.server_port}/config", Host=name)[:2]
    finally:
        demo.close()


@pytest.mark.slow
def test_a_page_on_this_machine_answers_to_no_other_name(monkeypatch):
    for variable in ("SPACE_ID", "TSTBENCH_ALLOW_HOST"):
        monkeypatch.delenv(variable, raising=False)
    status, said = asked_by_name("evil.example")
    assert status == 421
    assert "TSTBENCH_ALLOW_HOST set to evil.example" in said
    assert asked_by_name("localhost:7860")[0] == 200
    monkeypatch.setenv("TSTBENCH_ALLOW_HOST", "other.example, evil.example")
    assert asked_by_name("evil.example")[0] == 200


def test_a_space_answers_to_the_names_of_the_hub(monkeypatch):
    monkeypatch.setenv("SPACE_ID", "tstbench/surface")  # as in every Space
    assert asked_by_name("tstbench-surface.hf.space")[0] == 200


@pytest.mark.slow
@in_browser
def test_a_person_scores_and_makes_mistakes(prepared, serve):
    demo = serve("bleu")
    asked = []
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 390, "height": 800})
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(demo.local_url)
        tab.get_by_role("button", name="Score").click()
        tab.get_by_text("multi_bleu|", exact=False).first.wait_for(timeout=20_000)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        if folder := os.environ.get("TSTBENCH_SCREENSHOTS"):
            tab.set_viewport_size({"width": 1000, "height": 1200})
            tab.screenshot(path=f"{folder}/metric-page.png")
        score = tab.get_by_role("button", name="Score")
        predictions = tab.get_by_label("Predictions, one per line")
        predictions.fill("one <img src=x onerror=alert(1)> line")
        score.click()
        tab.get_by_text("Predictions: 1 line, sources: 4 lines, references: 4 lines").wait_for(
            timeout=20_000
        )
        assert tab.locator(".score").count() == 0  # no scores of other texts beside the message
        tab.get_by_label("Sources").fill("")
        score.click()
        tab.get_by_text("sources: 0 lines", exact=False).wait_for(timeout=20_000)
        assert tab.get_by_role("alert").count() == 1  # one message, the last
        references = tab.get_by_label("References", exact=False)
        references.fill("")
        tab.get_by_label("Sources").fill("one")
        score.click()
        tab.locator(".score").first.wait_for(timeout=20_000)
        assert tab.locator(".score b").count() == 1  # s-BLEU needs no reference
        assert tab.get_by_role("alert").count() == 0
        references.fill(f"a {SEPARATOR} b")
        score.click()
        tab.get_by_text("n:1|", exact=False).first.wait_for(timeout=20_000)
        assert tab.locator("img[onerror]").count() == 0
    local = (demo.local_url.rstrip("/"), "data:", "blob:")
    assert [url for url in asked if not url.startswith(local)] == []
