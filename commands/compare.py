"""Compare two systems of a results folder head to head; nothing is computed again.

For each metric: both values, the difference A - B with its 95% interval, the p-value (paired
bootstrap, two-sided), the same corrected for the number of metrics (Holm), the effect (difference
in standard deviations of a single sentence; 0.2 is small, 0.8 large), how many sentences A won,
tied and lost, and which system is better (corrected p < 0.05).

Runs that differ in their seed are one system, and are compared as their mean.

Examples:
  tstbench compare ours copy --direction yelp/negative-to-positive
  tstbench compare ours theirs results --direction yelp/negative-to-positive --worst 5 --by ppl
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from ..console import say
from ..errors import InputError, unknown_name
from .arguments import Arguments, Parser

if TYPE_CHECKING:
    from ..pipelines.comparison import Comparison, Result


_NO_SENTENCES = (
    "no sentences to show: the texts are not in these results, or no metric has a value for single "
    "sentences"
)


def add_arguments(parser: Parser) -> None:
    """Add the systems, folder, direction and metrics."""
    parser.add_argument("first", metavar="A", help="a system's name")
    parser.add_argument("second", metavar="B", help="another's")
    parser.add_argument(
        "results", nargs="?", metavar="RESULTS", help="a results folder; default: ./results, ./demo"
    )
    parser.add_argument(
        "--direction", help="such as yelp/negative-to-positive; not needed if only one has both"
    )
    parser.several("--metrics", "METRIC", "metrics or families to test")
    parser.count("--worst", "show the N sentences where A loses most", default=0)
    parser.add_argument("--by", metavar="METRIC", help="the metric of --worst")
    parser.switch("--json", "print one JSON object")


def run(arguments: Arguments) -> None:
    """Find both systems, compare, print."""
    from ..metrics.registry import expand
    from ..pipelines.comparison import (
        compare,
        comparison_record,
        print_comparison,
        print_pairs,
        sentence_pairs,
    )

    if arguments.worst < 0:
        raise InputError(f"--worst {arguments.worst}: it must be 1 or more")
    first, second = _find(arguments)
    metrics = expand(arguments.metrics) if arguments.metrics else None
    found = compare(first, second, metrics)
    if not found.metrics and not found.not_compared:
        raise InputError(f"neither system has {' '.join(arguments.metrics) or 'any number'}")
    by = _metric_of_sentences(found, arguments.by) if arguments.worst or arguments.by else None
    pairs = sentence_pairs(first, second, found.metric(by)) if by else []
    worst = [pair for pair in pairs if pair.gain < 0][: arguments.worst or None]
    if arguments.json:
        print(json.dumps(comparison_record(found, worst)))  # noqa: T201 - ASCII on any terminal
        return
    print_comparison(found)
    if by:
        print_pairs(found.metric(by), worst)
    elif arguments.worst:
        say(_NO_SENTENCES)


def _find(arguments: Arguments) -> tuple[Result, Result]:
    """Both systems' results on one direction."""
    from ..pipelines.results import read_direction
    from ..pipelines.seeds import pooled
    from ..pipelines.standings import chosen_directions, default_results

    names = arguments.first, arguments.second
    if names[0] == names[1]:
        raise InputError(f"A and B are both {names[0]!r}: name two systems")
    root = Path(arguments.results) if arguments.results else default_results()
    asked = [arguments.direction] if arguments.direction else []
    folders = chosen_directions(root, asked)
    found: dict[str, dict[str, Result]] = {}
    for direction, folder in folders.items():
        stored = read_direction(folder)
        # A run goes by its own name, and the mean of all by the name that they share.
        found[direction] = {one.report.system.name: one for one in (*stored, *pooled(stored))}
    for name in names:
        known = dict.fromkeys(system for systems in found.values() for system in systems)
        if name not in known:
            raise unknown_name("system", name, known)
    both = {d: systems for d, systems in found.items() if set(names) <= systems.keys()}
    if not both:
        raise InputError(f"no direction in {root} has both {names[0]!r} and {names[1]!r}")
    if len(both) > 1:
        raise InputError(f"several directions have both: add --direction, one of {', '.join(both)}")
    (systems,) = both.values()
    return systems[names[0]], systems[names[1]]


def _metric_of_sentences(found: Comparison, asked: str | None) -> str | None:
    """The metric to sort sentences by: as asked; otherwise the last one about content."""
    from ..metrics.registry import METRICS

    having = [one.metric for one in found.metrics if one.sentences]
    if not having and asked is None:
        return None
    if not having:
        raise InputError(_NO_SENTENCES)
    if asked is not None:
        wanted = asked if asked in having else _named(asked)
        if wanted in having:
            return wanted
        raise InputError(
            f"--by {asked}: it has no values for single sentences here; these have: "
            f"{', '.join(having)}"
        )
    content = [m for m in having if m in METRICS and METRICS[m].aspect == "content"]
    return [*having[:1], *content][-1]


def _named(asked: str) -> str:
    """A metric by its name or title, in any case.

    Raises:
        UnknownNameError: there is none.
    """
    from ..metrics.registry import METRICS, expand

    titles = {facts.title.lower(): name for name, facts in METRICS.items()}
    name = asked.lower().replace("-", "_")
    return titles.get(asked.lower()) or next(iter(expand([name])))
