"""Open the human-evaluation page for your raters, on outputs that were evaluated with --out.

The first call draws the sample and creates one secret link per rater. The study folder keeps every
answer, so the page can be stopped and opened again.

Examples:
  tstbench annotate study --results demo --direction mini/negative-to-positive --raters ann bo cem
  tstbench annotate study                      # open it again
  tstbench annotate study --export ratings.jsonl
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from ..console import say
from ..errors import InputError, require_installed
from .arguments import Arguments, Parser, add_address


def add_arguments(parser: Parser) -> None:
    """Add the study folder and, for a new study, its content."""
    parser.add_argument("study", type=Path, metavar="STUDY", help="folder of the study")
    parser.add_argument("--results", type=Path, help="new study: results folder to draw from")
    parser.add_argument(
        "--direction", action="append", default=[], help="new study: a direction; repeatable"
    )
    parser.add_argument(
        "--systems", nargs="+", metavar="NAME", help="new study: default all systems"
    )
    parser.several("--raters", "NAME", "new study: names of the raters")
    parser.add_argument(
        "--per-system",
        type=int,
        help="new study: outputs per system and direction (default 50, or all if there are fewer)",
    )
    parser.add_argument("--seed", type=int, default=12345)
    parser.add_argument(
        "--tasks",
        nargs="+",
        default=["protocol"],
        metavar="TASK",
        help="protocol (default: style, content, fluency, overall), rating (without overall), "
        "naturalness, naturalness_absolute, style_difference, content_masked (needs --lexicon)",
    )
    parser.add_argument("--lexicon", type=Path, help="style words to mask, one per line")
    parser.switch(
        "--show-references",
        "new study: raters see the references too. Only if your protocol asks for it: raters "
        "then judge how near an output is to them, and recognise people's rewrites",
    )
    parser.path("--export", "FILE", "write the ratings to FILE and exit")
    add_address(parser, 7861)
    parser.add_argument(
        "--url", help="where raters reach the page, for their links (default: host and port)"
    )


def run(arguments: Arguments) -> None:
    """Create the study if it is new; export it, or serve it until Ctrl-C."""
    from ..pipelines.standings import check_results_folder
    from ..spaces import annotate
    from ..spaces.web import free_port

    if arguments.export:
        rows = annotate.export(arguments.study, arguments.export)
        none = "" if rows else ": nobody has answered yet"
        say(f"wrote {len(rows):,} judgments to {arguments.export}{none}")
        return
    require_installed("gradio", "space")  # not imported yet: a mistake is told at once
    if (arguments.study / "study.json").exists():
        if arguments.results or arguments.direction or arguments.raters:
            say(
                f"{arguments.study} already has a study, and a study is frozen: it is opened as it "
                "was made. For another one choose another folder."
            )
    else:
        if not (arguments.results and arguments.direction and arguments.raters):
            raise InputError(
                f"{arguments.study} has no study yet: a new one needs --results, --direction "
                "and --raters"
            )
        check_results_folder(arguments.results)
        _create(annotate, arguments)
    port = arguments.port or free_port(arguments.host)  # the links name it
    base = arguments.url or f"http://{arguments.host}:{port}"
    links = annotate.links(arguments.study, base)
    say(f"your page (progress, agreement): {links.owner}")
    for rater, link in links.raters.items():
        say(f"{rater}: {link}")
    if arguments.url and not arguments.port:
        say(f"listening on http://{arguments.host}:{port}")
    say(f"open until Ctrl-C; every answer is kept in {arguments.study}")
    named = _name_in(arguments.url)  # raters come by it
    annotate.launch(
        arguments.study,
        host=arguments.host,
        port=port,
        allowed_hosts=[*arguments.allow_host, *([named] if named else [])],
    )


def _name_in(url: str | None) -> str | None:

    try:
        return urlsplit(url or "").hostname
    except ValueError as error:
        raise InputError(f"--url {url} is not an address: {error}") from error


def _create(annotate, arguments: Arguments) -> None:  # type: ignore[no-untyped-def]
    masks = None
    if arguments.lexicon:
        from ..files import read_lines

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
        show_references=arguments.show_references,
    )
    drawn, asked = sum(len(item.systems) for item in study.items), len(study.items)
    equal = f" ({drawn - asked:,} equal to another's, judged with it)" * (drawn > asked)
    say(
        f"new study: {drawn:,} outputs of {len(study.systems)} systems{equal}, "
        f"{len(study.raters)} raters, {arguments.study}"
    )
