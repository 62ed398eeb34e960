"""Analyse a results folder: pictures, data and one page that says what its numbers show.

RUN is the folder that 'evaluate --out' or 'run' wrote; it is only read. Nothing is scored. For each
direction: bars of every score, trade-offs of style with content and with fluency, correlations of
metrics and human aspects over systems and over sentences, intervals of Joint, lengths and copies,
the space of styles as a classifier has it (t-SNE), and the sentences on which systems or metrics
disagree most. Each is a picture (PNG, SVG), data (CSV), and a table (Markdown, LaTeX); index.html
has all of them, needs no network, and can be sent as it is.

Human scores are read from RUN/human.jsonl ('tstbench judgments', 'annotate') and from --human.
Systems named NAME@SETTING, or those that --join names, are joined by a line.

Examples:
  tstbench analyze results
  tstbench analyze results --directions yelp --human study.jsonl --out yelp-analysis
  tstbench analyze results --join cae=cae-1,cae-5,cae-10 --no-style-map
  tstbench analyze results --plane sti 1/s_wmd --plane sti naturalness_neural
"""

from __future__ import annotations

from pathlib import Path

from ..console import say, show
from .arguments import Arguments, Parser


def add_arguments(parser: Parser) -> None:
    """Add folder, selection and output."""
    parser.add_argument("run", nargs="?", metavar="RUN", help="a results folder")
    parser.path("--out", "FOLDER", "where to write; default: RUN/analysis")
    parser.several(
        "--directions",
        "NAME",
        "directions or datasets, such as yelp/negative-to-positive or yelp; default: all",
    )
    parser.several("--systems", "NAME", "systems; default: all")
    parser.repeatable(
        "--human",
        "FILE",
        "judgments (JSON Lines, or CSV with columns source, output, system, direction and one "
        "for each aspect, such as style) beside those in RUN/human.jsonl; repeatable",
        type=Path,
    )
    parser.repeatable(
        "--join",
        "NAME=A,B,...",
        "settings of one system, joined by a line in this order; repeatable",
    )
    parser.repeatable(
        "--plane",
        ("X", "Y"),
        "draw systems by these two: a metric, such as sti, 1/METRIC for its inverse, or "
        "people's scores, such as human_style; repeatable",
        nargs=2,
    )
    parser.switch(
        "--raw-ppl",
        "correlate perplexity as it is, as the TSTBench paper does; default: its logarithm",
    )
    parser.add_argument(
        "--classifier",
        metavar="SPEC",
        help="whose space of styles is drawn: a kind, a folder or a Hub id; default: a transformer "
        "if one is there, else that of the results",
    )
    parser.switch("--no-style-map", "leave out t-SNE, which takes seconds")


def run(arguments: Arguments) -> None:
    """Read, analyse, write, and print a summary."""
    from ..pipelines.analysis.summary import summary
    from ..pipelines.standings import default_results
    from ..spaces.analysis.write import PAGE, AnalysisOptions, write_analysis

    root = Path(arguments.run) if arguments.run else default_results()
    out: Path = arguments.out or root / "analysis"
    options = AnalysisOptions(
        directions=tuple(arguments.directions),
        systems=tuple(arguments.systems),
        human=tuple(arguments.human),
        joined=tuple(arguments.join),
        classifier=arguments.classifier,
        style_map=not arguments.no_style_map,
        planes=tuple((x, y) for x, y in arguments.plane),
        raw_ppl=arguments.raw_ppl,
    )
    written = write_analysis(root, out, options)
    show(summary(written.directions, written.aspects))
    items = sum(len(section.items) for section in written.sections)
    say(f"wrote {items} pictures with their data; open {out / PAGE}")
