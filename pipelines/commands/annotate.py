"""Open the human-evaluation page for your raters, on outputs that were evaluated with --out.

The first call draws the sample and makes one secret link a rater; the study folder keeps every
answer, so the page can be stopped and opened again.

For example::
  tstbench annotate study --results demo --direction mini/negative-to-positive --raters ann bo cem
  tstbench annotate study                      # open it again
  tstbench annotate study --export ratings.jsonl
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..talk import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Study folder, and for a new study what is in it."""
    parser.add_argument("study", type=Path, help="folder of the study")
    parser.add_argument("--results", type=Path, help="new study: results folder to draw from")
    parser.add_argument("--direction", action="append", default=[], help="new study: repeatable")
    parser.add_argument("--systems", nargs="+", help="new study: default all")
    parser.add_argument("--raters", nargs="+", default=[], help="new study: names of the raters")
    parser.add_argument("--per-system", type=int, default=50, help="outputs of each (default 50)")
    parser.add_argument("--seed", type=int, default=12345)
    parser.add_argument(
        "--tasks",
        nargs="+",
        default=["rating"],
        help="rating (default), naturalness, content_masked (needs --lexicon)",
    )
    parser.add_argument("--lexicon", type=Path, help="style words to mask, one a line")
    parser.add_argument("--export", type=Path, metavar="FILE", help="write the ratings and stop")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=7861)


def run(arguments: argparse.Namespace) -> None:
    """Create the study if it is new; export it, or serve it until Ctrl-C."""
    from importlib import import_module

    from ...errors import InputError, require

    require("gradio", "space")
    # The page is a room above this one: the command line only opens its door.
    annotate = import_module("tstbench.spaces.annotate")
    if arguments.export:
        rows = annotate.export(arguments.study, arguments.export)
        say(f"wrote {len(rows)} judgments to {arguments.export}")
        return
    if not (arguments.study / "study.json").exists():
        if not (arguments.results and arguments.direction and arguments.raters):
            raise InputError(
                f"{arguments.study} holds no study yet: a new one needs --results, --direction "
                "and --raters"
            )
        _create(annotate, arguments)
    base = f"http://{arguments.host}:{arguments.port}"
    links = annotate.links(arguments.study, base)
    say(f"your page (progress, agreement): {links.owner}")
    for rater, link in links.raters.items():
        say(f"{rater}: {link}")
    annotate.launch(arguments.study, host=arguments.host, port=arguments.port)


def _create(annotate, arguments: argparse.Namespace) -> None:  # type: ignore[no-untyped-def]
    masks = None
    if arguments.lexicon:
        from ...files import read_lines

        mask = annotate.lexicon_mask(read_lines(arguments.lexicon))
        masks = dict.fromkeys(arguments.direction, mask)
    study = annotate.create_study(
        arguments.results,
        arguments.direction,
        arguments.systems,
        arguments.raters,
        arguments.study,
        per_system=arguments.per_system,
        seed=arguments.seed,
        tasks=arguments.tasks,
        masks=masks,
    )
    say(f"new study: {len(study.items)} items")
