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

EXAMPLE_DIRECTION = "mini/negative-to-positive"
EXAMPLE_SENTENCES = 4
SEPARATOR = "||"  # between the references of one sentence
MAX_SENTENCES = 2000
NEEDS_DIRECTION = ("acc", "ppl", "cola", "joint")
COLUMNS = ["score", "value", "95% interval", "unit", "better", "signature"]
CSS = """
.gradio-container { max-width: 900px !important; margin: 0 auto; }
textarea { font-size: 0.95rem; line-height: 1.5; }
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
        boxes: list[gr.Component] = [gr.Textbox(example["predictions"], label="Predictions, one a line", lines=4)]
        for column in (c for c in reads if c in metric.columns):
            hint = f", one line a sentence, {SEPARATOR} between several" * (column == "references")
            boxes.append(gr.Textbox(example[column], label=column.title() + hint, lines=4))
        if name in NEEDS_DIRECTION:
            boxes.append(gr.Dropdown(list(DIRECTIONS), value=EXAMPLE_DIRECTION, label="Direction"))
        button = gr.Button("Score", variant="primary")
        table = gr.Dataframe(headers=COLUMNS, interactive=False, wrap=True, label="Scores")

        def compute(*values: str) -> list[list[str]]:
            try:
                return _rows(metric, _inputs(metric, name, values))
            except (TSTBenchError, ValueError, TypeError) as error:
                raise gr.Error(html.escape(str(error)), print_exception=False) from error

        button.click(compute, boxes, table, api_name="compute")
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


def _rows(metric: Any, inputs: dict[str, Any]) -> list[list[str]]:
    result = metric.compute(**inputs)
    rows = []
    for score, details in result["details"].items():
        if "left_out" in details:
            rows.append([score, "–", "–", "–", "–", details["left_out"]])
            continue
        value, interval = result[score], details["interval"]
        shown = "–" if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"
        better = "higher" if details["higher_is_better"] else "lower"
        number = "undefined" if value is None else f"{value:.3f}"
        rows.append([score, number, shown, details["unit"], better, details["signature"]])
    return rows


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
