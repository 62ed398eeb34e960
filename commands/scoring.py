"""The arguments that say how to score, the same for every command that scores."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..chat.settings import Handling
from .flags import add_flags, given

if TYPE_CHECKING:
    from ..pipelines.scoring import Scoring


def add_scoring_arguments(parser: argparse.ArgumentParser) -> None:
    """Add metrics, profile, scorers, options, device and batch size."""
    parser.add_argument(
        "--metrics",
        nargs="+",
        metavar="METRIC",
        help="metrics or families, such as joint bleu; default: the benchmark's ten",
    )
    parser.add_argument("--profile", default="embedded", help="embedded (default), lm or paper")
    parser.add_argument(
        "--scorer",
        action="append",
        default=[],
        metavar="ROLE=SCORER",
        help="use another scorer than the profile's: encoder=HUB_ID_OR_FOLDER@LAYER, "
        "classifier=textcnn, classifier=linear@train (what it learns from), "
        "acceptability=HUB_ID, language_model=FILE, "
        "causal_lm=HUB_ID, FOLDER or FILE.gguf, bleurt=HUB_ID_OR_FOLDER, judge=MODEL@URL, "
        "lexicon=FILE, "
        "word_vectors=FILE, masked_vectors=FOLDER, attribution=finetuned (or HUB_ID_OR_FOLDER), "
        "meaning=FOLDER",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        dest="settings",
        metavar="FAMILY.OPTION=VALUE",
        help="an option of a metric, such as bleu.protocol=13a or ppl.norm=words+1",
    )
    parser.add_argument("--device", default="auto", help="auto (default), cpu or cuda")
    parser.add_argument(
        "--dtype",
        default="float32",
        help="number type on the device: float32 (default), bfloat16 or float16",
    )
    add_batch_size(parser)
    add_flags(parser, "a chat model that judges (llm_judge); no score depends on these", Handling)


def add_batch_size(parser: argparse.ArgumentParser) -> None:
    """Add the batch size, which changes no score."""
    parser.add_argument(
        "--batch-size",
        type=int,
        metavar="N",
        help="score at most N sentences at once: fewer need less memory; no score changes",
    )


def read_scoring(arguments: argparse.Namespace) -> Scoring:
    """The checked scoring settings of the arguments."""
    from ..metrics.options import parse_settings
    from ..pipelines.scoring import scoring
    from ..settings import read_settings

    return scoring(
        arguments.metrics,
        profile=arguments.profile,
        scorers=arguments.scorer,
        settings=parse_settings(arguments.settings),
        device=arguments.device,
        dtype=arguments.dtype,
        batch_size=arguments.batch_size,
        asking=read_settings(Handling, given(Handling, arguments, "the judge"), "the judge"),
    )
