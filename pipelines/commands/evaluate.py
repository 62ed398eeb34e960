"""Score files of rewritten sentences and rank the systems.

OUTPUTS is text (one line a source, in order), JSON Lines or CSV (a 'prediction' column, and 'id'
where the order is another), or a folder of such files. NAME=PATH names a system. Scorers that are
not there yet are trained first (see 'tstbench prepare').

Examples:
  tstbench evaluate outputs.txt --direction yelp/negative-to-positive
  tstbench evaluate ours=out.jsonl theirs/ --baseline copy --direction mini/negative-to-positive
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ...metrics.facts import METRICS
from ..talk import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Files, direction, and the choices that change a score."""
    parser.add_argument("outputs", nargs="*", metavar="OUTPUTS", help="files or folders")
    parser.add_argument("--direction", required=True, help="such as yelp/negative-to-positive")
    parser.add_argument(
        "--baseline",
        action="append",
        default=[],
        metavar="NAME",
        help="also score a baseline: copy, random-target, reference-1, delete-retrieve",
    )
    parser.add_argument(
        "--metrics", nargs="+", metavar="METRIC", default=list(METRICS), help="default: all ten"
    )
    parser.add_argument("--profile", default="embedded", help="embedded (default) or paper")
    parser.add_argument("--bleu", default="tstbench", metavar="PROTOCOL", help="BLEU protocol")
    parser.add_argument(
        "--ppl", default="words", metavar="NORM", help="perplexity per 'words' or 'words+1'"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="write reports and samples here")
    parser.add_argument("--data-dir", type=Path, help="your copy of a licensed corpus (GYAFC)")
    parser.add_argument(
        "--format", choices=("table", "markdown", "latex"), default="table", help="of the ranking"
    )
    parser.add_argument("--json", action="store_true", help="print reports as JSON lines")
    parser.add_argument("--signatures", action="store_true", help="print the signatures too")


def run(arguments: argparse.Namespace) -> None:
    """Read everything first, so that a mistake in the last file costs no scoring."""
    from ...datasets_scripts.load import load_test_set
    from ...errors import InputError
    from ...metrics.measure import Options
    from ...metrics.scorers.profile import parse_profile
    from ..evaluate import check_metrics, evaluate, write_evaluation
    from ..outputs import Outputs, find_outputs, read_outputs
    from ..prepare import prepare
    from ..results import check_names
    from ..transfer import baseline_info, predict

    swallowed = [m for m in arguments.metrics if m not in METRICS and Path(m).exists()]
    if swallowed and not arguments.outputs:
        raise InputError(
            f"{swallowed[0]!r} is read as a metric: put OUTPUTS before --metrics, or '--' between"
        )
    if not arguments.outputs and not arguments.baseline:
        raise InputError("nothing to score: give OUTPUTS files, or --baseline NAME")
    check_metrics(arguments.metrics)
    profile = parse_profile(arguments.profile)
    options = Options(bleu=arguments.bleu, ppl=arguments.ppl)
    if arguments.out and arguments.out.exists() and not arguments.out.is_dir():
        raise InputError(f"--out {arguments.out} is a file, a folder is needed")
    found = find_outputs(arguments.outputs)
    check_names([*(name for name, _ in found), *arguments.baseline])
    test_set = load_test_set(arguments.direction, data_dir=arguments.data_dir)
    outputs = [read_outputs(path, test_set, name) for name, path in found]
    for name in arguments.baseline:
        predictions = predict(name, test_set, data_dir=arguments.data_dir)
        outputs.append(Outputs(name, tuple(predictions)))
    infos = {name: baseline_info(name) for name in arguments.baseline}
    prepare(test_set.direction, profile, arguments.metrics, data_dir=arguments.data_dir)
    evaluation = evaluate(outputs, test_set, profile, arguments.metrics, options, infos)
    _print(evaluation, arguments)
    if arguments.out:
        for folder in write_evaluation(evaluation, arguments.out):
            say(f"wrote {folder}/report.json and samples.jsonl")


def _print(evaluation, arguments: argparse.Namespace) -> None:  # type: ignore[no-untyped-def]
    from rich.console import Console

    from ..rankings import print_ranking

    reports = [evaluation.report(system) for system in evaluation.systems]
    if arguments.json:
        for report in reports:
            print(json.dumps(report.model_dump(mode="json")))  # noqa: T201 - ASCII on any terminal
        return
    print_ranking(reports, evaluation.ranks, arguments.format)
    left_out = {o.metric: o.why for s in evaluation.systems for o in evaluation.left_out(s)}
    for metric, why in left_out.items():
        say(f"{metric} is left out: {why}")
    if arguments.signatures:
        for measured in evaluation.measurements(evaluation.systems[0]):
            Console(soft_wrap=True, markup=False, highlight=False).print(str(measured.signature))
