"""``tstbench train classifier ...`` and ``tstbench train cola ...``: the scorers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from .flags import add_flags, given, refuse
from .parser import Parser
from .without import add_split, add_without, check_name

_KIND = "linear"


def train_scorer(name: str, options: Sequence[str]) -> None:
    """Train one scorer and print its quality, or compare kinds."""
    from ..datasets_scripts.catalog import dataset_facts
    from ..datasets_scripts.judgments.studies import sentences_left_out
    from ..datasets_scripts.load import load_styles
    from ..errors import InputError
    from ..metrics.scorers.classifiers import kinds
    from ..pipelines.prepare import train_style_classifier
    from ..pipelines.tables import print_rows
    from ..settings import read_settings
    from ..trainers.broken_corpus import train_cola
    from ..trainers.classifiers.train import trainer

    if name == "cola":
        _parser(name).parse_args(options)
        if options:
            raise InputError("'tstbench train cola' takes no dataset and no options")
        artefact = train_cola()
    else:
        kind = _kind(options)
        parser = _parser(name)
        add_flags(parser, f"settings of {kind}, part of the recipe", trainer(kind).Config)
        arguments, rest = parser.parse_known_args(options)
        if rest:
            refuse(rest[0], parser)
        if not arguments.dataset:
            raise InputError("the dataset is missing, for instance: tstbench train classifier yelp")
        values = given(trainer(kind).Config, arguments, kind)
        config = read_settings(trainer(kind).Config, values, kind)
        if arguments.compare and values:
            given_too = ", ".join(values)
            raise InputError(f"--compare trains with default settings: leave out {given_too}")
        dataset_facts(arguments.dataset)
        cleaning = "raw" if arguments.role == "paper_classifier" else None
        data = load_styles(
            arguments.dataset,
            split=arguments.split,
            data_dir=arguments.data_dir,
            cleaning=cleaning,
        )
        if arguments.compare:
            _compare(data, arguments)
            return
        check_name(arguments, kinds())
        artefact = train_style_classifier(
            data,
            kind,
            config,
            without=sentences_left_out(arguments.without),
            name=arguments.name,
            role=arguments.role,
        )
    card = artefact.card
    rows = [(name, f"{value:.4f}") for name, value in card.scores.items()]
    facts = [("trained on", card.trained_on), ("sentences", str(card.n_sentences))]
    print_rows(
        ("", f"{card.kind}:{card.corpus}"), [*facts, *rows, ("folder", str(artefact.folder))]
    )


def train_meaning_scorer(options: Sequence[str]) -> None:
    """Train the meaning scorer from what is at hand and print how it does on held-out pairs."""
    from ..datasets_scripts.judgments.studies import sentences_left_out
    from ..pipelines.tables import print_rows
    from ..settings import read_settings
    from ..trainers.meaning.material import material
    from ..trainers.meaning.train import MeaningConfig, train_meaning

    parser = Parser(
        prog="tstbench train meaning",
        description="Train a meaning scorer on pairs made from sentences. Use it with "
        "--scorer meaning=FOLDER.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--text", type=Path, action="append", default=[], help="one sentence a line; repeatable"
    )
    parser.add_argument(
        "--only-text", action="store_true", help="learn from --text alone, not from the datasets"
    )
    add_without(parser, named=False)
    parser.add_argument("--pairs", type=int, help="pairs that are made (default: 28000)")
    parser.add_argument("--epochs", type=int, help="how often they are seen (default: 1)")
    parser.add_argument("--seed", type=int, help="of pairs and training (default: 0)")
    given = parser.parse_args(options)
    values = {name: getattr(given, name) for name in ("pairs", "epochs", "seed")}
    chosen = {name: value for name, value in values.items() if value is not None}
    config = read_settings(MeaningConfig, chosen, "meaning")
    without = sentences_left_out(given.without)
    corpora = material(given.text, datasets=not given.only_text, without=without)
    artefact = train_meaning(corpora, config)
    card = artefact.card
    rows = [(name, f"{value:.4f}") for name, value in card.scores.items()]
    facts = [("trained on", card.trained_on), ("sentences", str(card.n_sentences))]
    print_rows(("", f"{card.kind}:{card.name}"), [*facts, *rows, ("folder", str(artefact.folder))])


def _parser(name: str) -> argparse.ArgumentParser:
    parser = Parser(prog=f"tstbench train {name}", allow_abbrev=False)
    parser.add_argument("dataset", nargs="?", help="of a classifier, such as yelp")
    parser.add_argument(
        "--kind",
        help="linear, fasttext, textcnn, transformer, probe, finetuned, lora, lm, ensemble "
        "(linear); --kind KIND --help shows its settings",
    )
    parser.add_argument(
        "--compare",
        nargs="+",
        metavar="KIND",
        help="train these kinds and print a table; none is kept",
    )
    add_without(parser)
    parser.add_argument(
        "--role",
        choices=("classifier", "paper_classifier"),
        default="classifier",
        help="paper_classifier learns uncleaned sentences, for acc.protocol=paper",
    )
    parser.add_argument("--name", help="under which the classifier is kept; default: its kind")
    add_split(parser)
    parser.add_argument("--data-dir", type=Path, help="your copy of a licensed corpus (GYAFC)")
    return parser


def _kind(options: Sequence[str]) -> str:
    """The kind of classifier: its settings are flags."""
    parser = Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("--kind", default=_KIND)
    return str(parser.parse_known_args(options)[0].kind)


def _compare(data, arguments: argparse.Namespace) -> None:  # type: ignore[no-untyped-def]
    """Every kind on the same sentences, as in the paper's Table 4."""
    from dataclasses import replace

    from ..datasets_scripts.catalog import DATASETS
    from ..datasets_scripts.load import load_test_set
    from ..metrics.text import preparation
    from ..pipelines.tables import print_table
    from ..trainers.classifiers.compare import compare_kinds, comparison_table

    training, text = data.training, preparation(DATASETS[data.dataset].language)
    directions = DATASETS[data.dataset].directions
    tests = [
        replace(
            test,
            sources=tuple(text.for_classifier(test.sources)),
            references=tuple(tuple(text.for_classifier(some)) for some in test.references),
        )
        for test in (load_test_set(d, data_dir=arguments.data_dir) for d in directions)
    ]
    results = compare_kinds(
        arguments.compare, text.for_classifier(training.texts), training.labels, data.styles, tests
    )
    print_table(comparison_table(results))
