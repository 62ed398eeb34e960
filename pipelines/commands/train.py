"""Train one scorer and say how good it is.

For example::
  tstbench train classifier yelp --kind textcnn
  tstbench train classifier yelp --compare linear fasttext textcnn
  tstbench train cola
  tstbench train cola --kind transformer --model path/or/hub-id
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to train, on what, of which kind."""
    parser.add_argument("scorer", choices=("classifier", "cola"))
    parser.add_argument("dataset", nargs="?", help="for a classifier: such as yelp")
    parser.add_argument(
        "--kind", help="linear, fasttext, textcnn, transformer or probe; default: the embedded one"
    )
    parser.add_argument(
        "--compare", nargs="+", metavar="KIND", help="train these kinds, keep none, print a table"
    )
    parser.add_argument("--model", help="for transformers: Hub id or folder (default roberta-base)")
    parser.add_argument("--data-dir", type=Path, help="your copy of a licensed corpus (GYAFC)")


def run(arguments: argparse.Namespace) -> None:
    """Train, or compare."""
    from ...datasets_scripts.directions import dataset_facts
    from ...datasets_scripts.load import load_styles
    from ...errors import InputError
    from ..prepare import train_corpus_acceptability, train_style_classifier
    from ..tables import print_rows

    if arguments.scorer == "cola":
        if arguments.dataset or arguments.compare:
            raise InputError("'tstbench train cola' takes no dataset and no --compare")
        kind = arguments.kind or "probe"
        artefact = train_corpus_acceptability("cola", kind, _config(kind, arguments.model))
    else:
        if not arguments.dataset:
            raise InputError("which dataset? for instance: tstbench train classifier yelp")
        dataset_facts(arguments.dataset)
        data = load_styles(arguments.dataset, data_dir=arguments.data_dir)
        if arguments.compare:
            _compare(data, arguments)
            return
        kind = arguments.kind or "linear"
        artefact = train_style_classifier(data, kind, _config(kind, arguments.model))
    card = artefact.card
    rows = [(name, f"{value:.4f}") for name, value in card.scores.items()]
    facts = [("trained on", card.trained_on), ("sentences", str(card.n_sentences))]
    print_rows(
        ("", f"{card.kind}:{card.dataset}"), [*facts, *rows, ("folder", str(artefact.folder))]
    )


def _config(kind: str, model: str | None):  # type: ignore[no-untyped-def]
    """The settings of a kind, with another base model where one is given."""
    from dataclasses import fields, replace

    from ...errors import InputError
    from ...trainers.classifiers.train import default_config

    config = default_config(kind)
    if model is None:
        return config
    if "base" not in {field.name for field in fields(config)}:
        raise InputError(f"--model is for transformers, not for {kind}")
    return replace(config, base=model)  # type: ignore[call-arg]


def _compare(data, arguments: argparse.Namespace) -> None:  # type: ignore[no-untyped-def]
    """Every kind on the same sentences, as the paper's Table 4."""
    from dataclasses import replace

    from ...datasets_scripts.directions import DATASETS
    from ...datasets_scripts.load import load_test_set
    from ...metrics.text import classifier_texts
    from ...trainers.classifiers.compare import compare_kinds, comparison_table
    from ..tables import print_table

    training = data.training
    directions = DATASETS[data.dataset].directions
    tests = [
        replace(
            test,
            sources=tuple(classifier_texts(test.sources)),
            references=tuple(tuple(classifier_texts(some)) for some in test.references),
        )
        for test in (load_test_set(d, data_dir=arguments.data_dir) for d in directions)
    ]
    results = compare_kinds(
        arguments.compare, classifier_texts(training.texts), training.labels, data.styles, tests
    )
    print_table(comparison_table(results))
