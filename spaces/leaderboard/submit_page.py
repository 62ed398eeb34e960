"""The submit view: Gradio's components for upload, queue and progress, and our own preview."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

import gradio as gr

from ...datasets_scripts.known import DIRECTIONS
from .data import dataset_title
from .submit_desk import PARALLEL, Answer, Desk, forget, sources_file
from .submit_view import closed, introduction, waiting, working
from .words import FAMILIES, styles_text

_KEPT_SECONDS = 3600  # how long a scored file waits to be added
# The view opens without a reload: its form is told each time.
_OPENED = """
const tell = () => document.body.dataset.view === "submit" && trigger("submit");
new MutationObserver(tell).observe(document.body, { attributeFilter: ["data-view"] });
tell();
"""


class Form(NamedTuple):
    """The form fields, in the order that :meth:`~.submit_desk.Desk.take` reads them."""

    upload: gr.File
    direction: gr.Dropdown
    name: gr.Textbox
    family: gr.Dropdown
    parallel: gr.Dropdown
    date: gr.Textbox
    url: gr.Textbox
    confirmed: gr.Checkbox
    sources: gr.DownloadButton

    @property
    def asked(self) -> tuple[gr.components.Component, ...]:
        """The fields that are sent."""
        return self[:-1]


def submit_column(desk: Desk | None) -> None:
    """Lay out the submit view inside the open Blocks."""
    with gr.Column(elem_id="submit"):
        if desk is None:
            gr.HTML(closed(), apply_default_css=False)
            return
        opened = gr.HTML(introduction(), apply_default_css=False, js_on_load=_OPENED)
        with gr.Row(equal_height=False, elem_id="submit-form"):
            with gr.Column(scale=1, min_width=280):
                form = _form(desk.directions, desk.first)
                go = gr.Button("Check and score", variant="primary")
            with gr.Column(scale=1, min_width=280):
                preview = gr.HTML(waiting(), apply_default_css=False, elem_id="preview")
                add = gr.Button(desk.publish.action, interactive=False, elem_id="publish")
        scored = gr.State(None, time_to_live=_KEPT_SECONDS, delete_callback=forget)

    # The direction and its file in one answer: nobody is offered the file of another direction.
    opened.submit(
        lambda direction: (direction, _offer(direction)),
        [form.direction],
        [form.direction, form.sources],
        js=_of_the_link(desk.directions),
        api_visibility="private",
        show_progress="hidden",
    )
    form.direction.change(None, None, [form.sources], js=_WAITING)
    form.direction.change(_offer, [form.direction], [form.sources], api_visibility="private")
    for field in (form.upload, form.direction):  # what was confirmed was another file
        field.change(_nothing_confirmed, None, [form.confirmed], api_visibility="private")
    # What was said about the file before must not stand beside the new question.
    clear = go.click(
        lambda: Answer(working("waiting for its turn")),
        None,
        [preview, scored, add, form.confirmed],
        queue=False,
        api_visibility="private",
        show_progress="hidden",
    )
    clear.then(
        desk.take,
        [*form.asked],
        [preview, scored, add, form.confirmed],
        api_name="submit",
        concurrency_limit=1,
        show_progress="hidden",
    )
    add.click(
        desk.add,
        [scored],
        [preview, scored, add],
        api_visibility="private",
        concurrency_limit=1,
        show_progress="hidden",
    )


# A script: the button waits for the file of the direction that was chosen.
_WAITING = '() => ({__type__: "update", interactive: false})'


def _offer(direction: str) -> gr.DownloadButton:
    """The button for the sentences of a direction; hidden where they must not be given away."""
    path = sources_file(direction)
    return gr.DownloadButton(value=path, visible=path is not None, interactive=True)


def _nothing_confirmed() -> gr.Checkbox:
    return gr.Checkbox(value=False, visible=False)


def _of_the_link(directions: Sequence[str]) -> str:
    """A script: the direction in the address, if it is one to choose, otherwise the chosen one."""
    return f"""(chosen) => {{
      const asked = new URLSearchParams(location.search).get("direction");
      return {json.dumps(list(directions))}.includes(asked) ? asked : chosen;
    }}"""


def _form(directions: Sequence[str], first: str) -> Form:
    upload = gr.File(
        label="Rewrites",
        type="filepath",
        height=130,
        elem_id="upload",
    )
    direction = gr.Dropdown(_choices(directions), value=first, label="Direction")
    path = sources_file(first)
    sources = gr.DownloadButton(
        "Download its test sentences", value=path, visible=path is not None, size="sm"
    )
    name = gr.Textbox(
        label="Name of the system", max_length=100, placeholder="such as BART-large v2"
    )
    with gr.Row():
        kinds = [(title, key) for key, (title, _) in FAMILIES.items()]
        family = gr.Dropdown(kinds, value="unknown", label="Kind", min_width=120)
        parallel = gr.Dropdown(
            list(PARALLEL), value="not stated", label="Needs parallel data", min_width=120
        )
    with gr.Row():
        date = gr.Textbox(label="Date", max_length=10, placeholder="2026-05-17", min_width=120)
        url = gr.Textbox(
            label="Link to outputs", max_length=300, placeholder="https://", min_width=120
        )
    confirmed = gr.Checkbox(
        label="I have looked: this is what the system wrote", visible=False, elem_id="confirmed"
    )
    return Form(upload, direction, name, family, parallel, date, url, confirmed, sources)


def _choices(directions: Sequence[str]) -> list[tuple[str, str]]:
    return [
        (f"{dataset_title(DIRECTIONS[name].dataset)}: {styles_text(DIRECTIONS[name])}", name)
        for name in directions
    ]
