"""The small page of a metric's Space: try it on a few sentences, read its card below."""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # before gradio is imported

import evaluate
import gradio as gr

from ..datasets_scripts.directions import DIRECTIONS
from ..datasets_scripts.load import load_test_set
from ..errors import TSTBenchError
from ..metrics.facts import METRICS

EXAMPLE_DIRECTION = "mini/negative-to-positive"
EXAMPLE_SENTENCES = 4
SEPARATOR = "||"  # between the references of one sentence
MAX_SENTENCES = 2000
NEEDS_DIRECTION = ("acc", "ppl", "cola", "joint")
CSS = """
.gradio-container { max-width: min(900px, 100vw) !important; margin: 0 auto; }
.gradio-container * { min-width: 0; overflow-wrap: anywhere; }
textarea { font-size: 0.95rem; line-height: 1.5; }
pre, .prose table { overflow-x: auto; display: block; max-width: 100%; }
.score { border: 1px solid var(--border-color-primary); border-radius: 8px; padding: 12px 16px;
  margin-bottom: 8px; background: var(--background-fill-primary); }
.score b { font-size: 1.5rem; font-variant-numeric: tabular-nums; margin-right: 8px; }
.score h3 { margin: 0; font-size: 0.95rem; font-weight: 600; }
.score p { margin: 4px 0 0; color: var(--body-text-color-subdued); font-size: 0.9rem; }
.score code { font-size: 0.78rem; }
"""


def page(folder: Path | str) -> gr.Blocks:
    """The page of the metric whose module and card lie in a folder.

    Args:
        folder: ``metrics/joint``, say, here or in a Space.
    """
    folder = Path(folder)
    name = folder.resolve().name
    metric = evaluate.load(str(folder))
    example = _example()
    reads = ("sources", "references")
    with gr.Blocks(title=f"TSTBench: {name}", analytics_enabled=False) as demo:
        gr.Markdown(_heading(folder))
        boxes: list[gr.Component] = [
            gr.Textbox(example["predictions"], label="Predictions, one a line", lines=4)
        ]
        for column in (c for c in reads if c in metric.columns):
            hint = f", one line a sentence, {SEPARATOR} between several" * (column == "references")
            boxes.append(gr.Textbox(example[column], label=column.title() + hint, lines=4))
        if name in NEEDS_DIRECTION:
            boxes.append(gr.Dropdown(list(DIRECTIONS), value=EXAMPLE_DIRECTION, label="Direction"))
        button = gr.Button("Score", variant="primary")
        shown, result = gr.HTML(label="Scores"), gr.JSON(visible=False)

        def compute(*values: str) -> tuple[str, dict[str, Any]]:
            try:
                scores = metric.compute(**_inputs(metric, name, values))
                return _scores_html(scores), scores
            except (TSTBenchError, ValueError, TypeError) as error:
                raise gr.Error(html.escape(str(error)), print_exception=False) from error

        button.click(compute, boxes, [shown, result], api_name="compute")
        gr.Markdown(_card(folder))
    return demo


def launch(folder: Path | str, **kwargs: Any) -> None:
    """Serve the page; in a Space, host and port come from the environment."""
    page(folder).launch(css=CSS, theme=theme(), **kwargs)


def theme() -> gr.themes.Base:
    """System fonts, so that no request leaves the machine."""
    return gr.themes.Soft(
        primary_hue="blue",
        font=["system-ui", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    )


def _inputs(metric: Any, name: str, values: tuple[str, ...]) -> dict[str, Any]:
    left = list(values)
    inputs: dict[str, Any] = {"predictions": _lines(left.pop(0))}
    if "sources" in metric.columns:
        inputs["sources"] = _lines(left.pop(0))
    if "references" in metric.columns:
        inputs["references"] = [
            [r.strip() for r in line.split(SEPARATOR) if r.strip()] for line in _lines(left.pop(0))
        ]
    if name in NEEDS_DIRECTION:
        inputs["direction"] = left.pop(0)
    return inputs


def _lines(text: str) -> list[str]:
    lines = text.removesuffix("\n").split("\n")
    if len(lines) > MAX_SENTENCES:
        raise ValueError(f"{len(lines)} lines: this page takes {MAX_SENTENCES}; use the library")
    return lines


def _scores_html(result: dict[str, Any]) -> str:
    """One panel a score; everything in it is escaped."""
    panels = []
    for score, details in result["details"].items():
        title = html.escape(METRICS[score].title)
        if "left_out" in details:
            panels.append(f"<h3>{title}</h3><p>left out: {html.escape(details['left_out'])}</p>")
            continue
        value, interval = result[score], details["interval"]
        number = "undefined" if value is None else f"{value:.3f}"
        bounds = "{:.3f} to {:.3f}".format(*interval) if interval else "undefined"
        better = "higher" if details["higher_is_better"] else "lower"
        panels.append(
            f"<h3>{title}</h3><b>{number}</b>{html.escape(details['unit'])}"
            f"<p>95% interval {bounds}; {better} is better</p>"
            f"<p><code>{html.escape(details['signature'])}</code></p>"
        )
    return "".join(f'<div class="score">{panel}</div>' for panel in panels)


def _example() -> dict[str, str]:
    """A few sentences of our own, with one human's rewrites as predictions."""
    test_set = load_test_set(EXAMPLE_DIRECTION)
    n = EXAMPLE_SENTENCES
    return {
        "predictions": "\n".join(some[1] for some in test_set.references[:n]),
        "sources": "\n".join(test_set.sources[:n]),
        "references": "\n".join(f" {SEPARATOR} ".join(some) for some in test_set.references[:n]),
    }


def _split_card(folder: Path) -> tuple[str, str]:
    """The card's first paragraph with its title, and the rest; the front matter is left out."""
    text = (folder / "README.md").read_text(encoding="utf-8")
    body = text.split("---\n", 2)[2].strip() if text.startswith("---\n") else text
    heading, _, rest = body.partition("\n## ")
    return heading, f"## {rest}"


def _heading(folder: Path) -> str:
    return _split_card(folder)[0]


def _card(folder: Path) -> str:
    return _split_card(folder)[1]
