"""The page of a metric's Space: try it on a few sentences and read its card below."""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # before gradio is imported

import evaluate
import gradio as gr
from starlette.middleware import Middleware

from ..datasets_scripts.catalog import DIRECTIONS
from ..datasets_scripts.load import load_test_set
from ..errors import TSTBenchError
from ..hosts import ANY, Hosts
from ..metrics.registry import METRICS
from ..metrics.units import between, number, unit
from ..pipelines.meta.known import in_full
from .design.theme import theme
from .templates import stylesheet
from .web import KnownHosts

EXAMPLE_DIRECTION = "mini/negative-to-positive"
# To the first sentences of the test set: two rewrites, one left half-way, one copied.
EXAMPLE_PREDICTIONS = (
    "we waited a minute for two coffees and both came hot.",
    "the dentist explained what she was doing and never hurt me.",
    "my new laptop is fast, noisy and far too hot to hold.",
    "don't bother with the museum cafe, everything we ordered tasted stale.",
)
READ = ("sources", "references")  # the boxes below the predictions, where a metric reads them
SEPARATOR = "||"  # between the references of one sentence
MAX_SENTENCES = 2000
NEEDS_DIRECTION = (
    "acc", "ppl", "cola", "joint", "fluency", "llm_judge", "logprop", "naturalness", "sti", "wmd",
)  # fmt: skip
_ALLOW = "TSTBENCH_ALLOW_HOST"
OWN_STYLE = Path(__file__).with_name("metric_page.css")


def page(folder: Path | str) -> gr.Blocks:
    """The page of the metric whose module and card are in a folder.

    Args:
        folder: for example ``metrics/joint``, here or in a Space.
    """
    folder = Path(folder)
    name = folder.resolve().name
    metric = evaluate.load(str(folder))
    example = _example()
    with gr.Blocks(title=f"TSTBench: {name}", analytics_enabled=False) as demo:
        gr.HTML('<p class="wordmark">TSTBench</p>', apply_default_css=False)
        gr.Markdown(_heading(folder))
        boxes: list[gr.Component] = [
            gr.Textbox(example["predictions"], label="Predictions, one per line", lines=4)
        ]
        for column in (c for c in READ if c in metric.columns):
            hint = f", one line per sentence, {SEPARATOR} between several" * (
                column == "references"
            )
            boxes.append(gr.Textbox(example[column], label=column.title() + hint, lines=4))
        if name in NEEDS_DIRECTION:
            boxes.append(gr.Dropdown(list(DIRECTIONS), value=EXAMPLE_DIRECTION, label="Direction"))
        button = gr.Button("Score", variant="primary")
        shown, result = gr.HTML(label="Scores"), gr.JSON(visible=False)

        def compute(*values: str) -> tuple[str, dict[str, Any]]:
            try:
                scores = metric.compute(**_inputs(metric, name, values))
            except (TSTBenchError, ValueError, TypeError) as error:
                return _problem_html(str(error)), {"error": str(error)}
            return _scores_html(scores), scores

        button.click(compute, boxes, [shown, result], api_name="compute")
        gr.Markdown(_card(folder))
    return demo


def launch(folder: Path | str, **kwargs: Any) -> gr.Blocks:
    """Serve the page; in a Space, host and port come from the environment.

    Outside of one it answers only to the names of this machine, see :mod:`tstbench.hosts`, and to
    those in ``TSTBENCH_ALLOW_HOST``, separated by commas. A Space is public, and is reached under
    the names of the Hub.

    Args:
        folder: see :func:`page`.
        kwargs: further arguments of ``Blocks.launch``.

    Returns:
        The served page.
    """
    served = kwargs.get("server_name") or os.environ.get("GRADIO_SERVER_NAME") or "127.0.0.1"
    named = os.environ.get(_ALLOW, "").split(",")
    allowed = (
        (ANY,)
        if os.environ.get("SPACE_ID")
        else tuple(name for name in map(str.strip, named) if name)
    )
    hosts = Hosts(
        served, allowed, how=f"start the page with the environment variable {_ALLOW} set to"
    )
    demo = page(folder)
    middleware = [Middleware(KnownHosts, hosts=hosts)]
    demo.launch(**looks(), app_kwargs={"middleware": middleware}, max_file_size=1, **kwargs)
    return demo


def looks() -> dict[str, Any]:
    """The arguments of ``Blocks.launch`` that make the page look like the leaderboard."""
    return {
        "css": stylesheet([OWN_STYLE], gradio=True),
        "theme": theme(),
        "footer_links": [],
    }


def _inputs(metric: Any, name: str, values: tuple[str, ...]) -> dict[str, Any]:
    columns = ("predictions", *(c for c in READ if c in metric.columns))
    boxes = {c: _lines(text) for c, text in zip(columns, values, strict=False)}
    _check_lines({c: lines for c, lines in boxes.items() if lines or c != "references"})
    inputs: dict[str, Any] = dict(boxes)
    if "references" in boxes:  # an empty box says that no sentence has any
        lines = boxes["references"] or [""] * len(boxes["predictions"])
        inputs["references"] = [[r.strip() for r in x.split(SEPARATOR) if r.strip()] for x in lines]
    if name in NEEDS_DIRECTION:
        inputs["direction"] = values[-1]
    return inputs


def _check_lines(boxes: dict[str, list[Any]]) -> None:
    """Say of each box how many lines it has, where they are not the same number."""
    counts = {name: len(lines) for name, lines in boxes.items()}
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{name}: {n} line{'s' * (n != 1)}" for name, n in counts.items())
        raise ValueError(f"{told}. Give each sentence a line in every box; a line may be empty")


def _lines(text: str) -> list[str]:
    """The lines of a box; an empty box has none, and each line of another may be empty."""
    if not text.strip():
        return []
    lines = text.removesuffix("\n").split("\n")
    if len(lines) > MAX_SENTENCES:
        raise ValueError(
            f"{len(lines)} lines: this page takes at most {MAX_SENTENCES}; use the library for more"
        )
    return lines


def _scores_html(result: dict[str, Any]) -> str:
    """One panel per score, with all text escaped."""
    panels = []
    for score, details in result["details"].items():
        title = html.escape(METRICS[score].title)
        kind = details.get("unit", "")
        if "left_out" in details:
            panels.append(f"<h3>{title}</h3><p>Left out: {html.escape(details['left_out'])}.</p>")
            continue
        value, interval = result[score], details["interval"]
        shown = "undefined" if value is None else number(value, kind)
        bounds = details["interval_method"] or "95% interval undefined"  # says why there is none
        if interval:
            bounds = f"95% interval {between(interval[0], interval[1], kind)}"
        better = "" if METRICS[score].neutral else f"; {METRICS[score].better} is better"
        panels.append(
            f"<h3>{title} <small>{html.escape(unit(kind).label)}</small></h3><b>{shown}</b>"
            f"<p>{bounds}{better}</p>"
            f"<p><code>{html.escape(details['signature'])}</code></p>"
            + (f"<p>† {html.escape(details['caution'])}</p>" if "caution" in details else "")
            + (f'<p class="people">{html.escape(told)}.</p>' if (told := in_full(score)) else "")
        )
    return "".join(f'<div class="score">{panel}</div>' for panel in panels)


def _problem_html(text: str) -> str:
    """What is wrong with the input, in the place of the scores: the next try replaces it."""
    return f'<div class="problem" role="alert">{html.escape(text[:1].upper() + text[1:])}</div>'


def _example() -> dict[str, str]:
    """A few sentences of our own, and predictions that each metric sees in another way."""
    test_set = load_test_set(EXAMPLE_DIRECTION)
    n = len(EXAMPLE_PREDICTIONS)
    return {
        "predictions": "\n".join(EXAMPLE_PREDICTIONS),
        "sources": "\n".join(test_set.sources[:n]),
        "references": "\n".join(f" {SEPARATOR} ".join(some) for some in test_set.references[:n]),
    }


def _split_card(folder: Path) -> tuple[str, str]:
    """The card's title and first paragraph, and the rest, without the front matter."""
    text = (folder / "README.md").read_text(encoding="utf-8")
    body = text.split("---\n", 2)[2].strip() if text.startswith("---\n") else text
    heading, _, rest = body.partition("\n## ")
    return heading, f"## {rest}"


def _heading(folder: Path) -> str:
    return _split_card(folder)[0]


def _card(folder: Path) -> str:
    return _split_card(folder)[1]
