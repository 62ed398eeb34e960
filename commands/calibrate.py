"""Fit a Joint that agrees with people, and say how far it does where it was not fitted.

STUDY is li2018, mir2019, tstbench2025, or a file of your own (see 'tstbench meta-evaluate'); default:
these three. From the metric of each part to the rating that people give, a curve; from their ratings
to their overall score, weights. If a part names several metrics, the one is taken that explains most
on studies it was not fitted on. Use the file with
'evaluate --metrics joint_calibrated --set joint.calibration=FILE'.

Examples:
  tstbench calibrate --name mine-v1 --out mine-v1.json
  tstbench calibrate --parts content=s_sim,s_chrf --without yelp/negative-to-positive --out held.json
  tstbench calibrate my-ratings.csv li2018 --profile paper --out my-joint.json
"""  # noqa: E501 - an example is one line

from __future__ import annotations

from collections.abc import Iterable

from ..console import say, show
from ..errors import InputError
from .arguments import Arguments, Parser, add_data_dir, add_scoring_arguments, read_scoring
from .judgments import add_layout_arguments, read_layout, read_studies

PARTS: dict[str, tuple[str, ...]] = {
    "style": ("target_style", "sti"),
    "content": ("s_sim", "s_chrf", "s_bert"),
    "fluency": ("fluency",),
}
STUDIES = ("li2018", "mir2019", "tstbench2025")


def add_arguments(parser: Parser) -> None:
    """Add studies, parts, and how to score."""
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="published, or your own file")
    parser.several(
        "--parts",
        "PART=METRIC",
        "of each part, one metric or several to choose from: content=s_sim,s_chrf "
        "(default: style=target_style,sti content=s_sim,s_chrf,s_bert fluency=fluency)",
    )
    parser.repeatable(
        "--without",
        "DIRECTION",
        "fit nothing on this direction, nor weights on its dataset: to judge on it later",
    )
    parser.add_argument("--name", help="of the calibration; default: the file's")
    parser.path("--out", "FILE.json", None, required=True)
    parser.count("--resamples", "of every interval; default: 1000", default=1000)
    add_data_dir(parser)
    add_layout_arguments(parser)
    add_scoring_arguments(parser)


def run(arguments: Arguments) -> None:
    """Read and check everything first; the summary goes to standard output."""
    from ..datasets_scripts.catalog import as_direction
    from ..files import write_json
    from ..metrics.joint.calibration import check_replaceable_calibration
    from ..pipelines.calibration.calibrate import Plan, calibrate, summary

    if arguments.metrics:
        raise InputError("--metrics: name the metrics of a calibration with --parts")
    if arguments.out.suffix != ".json":
        raise InputError(f"{arguments.out}: the name of a calibration's file ends in .json")
    check_replaceable_calibration(arguments.out)
    plan = Plan(
        name=arguments.name or arguments.out.stem,
        candidates=PARTS | read_parts(arguments.parts),
        without=tuple(as_direction(name).name for name in arguments.without),
        resamples=arguments.resamples,
    )
    how = read_scoring(arguments)
    named = list(dict.fromkeys(arguments.studies or STUDIES))
    judgments = read_studies(named, read_layout(arguments, named))
    found = calibrate(judgments, how, plan, arguments.data_dir)
    write_json(arguments.out, found.record())  # first: a closed pipe ends the printing
    show(summary(found), end="")
    option = f"--metrics joint_calibrated --set joint.calibration={arguments.out}"
    say(f"wrote {arguments.out}: use it with {option}")


def read_parts(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Aspect -> metrics, from ``content=s_sim,s_chrf`` texts.

    Raises:
        InputError: a text of another form, or an aspect twice.

    >>> read_parts(["content=s_sim,s_chrf"])
    {'content': ('s_sim', 's_chrf')}
    """
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        aspect, _, metrics = text.partition("=")
        names = tuple(dict.fromkeys(filter(None, metrics.split(","))))
        if not aspect or not names:
            raise InputError(f"{text!r} is not PART=METRIC, such as content=s_sim")
        if aspect in found:
            raise InputError(
                f"{aspect} is given twice: content=s_sim,s_chrf names two to choose from"
            )
        found[aspect] = names
    return found
