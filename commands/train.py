"""Train a system, or one of the scorers that metrics use.

'tstbench train NAME --help' shows the settings of NAME.

Examples:
  tstbench train delete-retrieve --direction mini/negative-to-positive --out dr
  tstbench train delete-retrieve --dataset yelp --config delete-retrieve.toml
  tstbench train classifier yelp --kind textcnn
  tstbench train cola
  tstbench train lexicon yelp
  tstbench train meaning --text my-sentences.txt
  tstbench train backbone --family bart --preset small --out bart
"""

from __future__ import annotations

import argparse

SCORERS = {
    "classifier": "the style classifier of a dataset",
    "cola": "the acceptability classifier, on CoLA",
    "lexicon": "the style lexicon of a dataset",
    "word-vectors": "word vectors of a dataset",
    "language-model": "language models of a dataset's styles",
    "meaning": "the meaning scorer, on made pairs",
}
WORDS = ("lexicon", "word-vectors")
BACKBONE = "backbone"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what to train; the other options depend on it."""
    from ..trainers.registry import trainable

    groups = {
        "systems": trainable(),
        "scorers": SCORERS,
        "pretrained": {BACKBONE: "a small language model, for systems that fine-tune one"},
    }
    parser.epilog = "\n\n".join(
        "\n".join([f"{title}:", *(f"  {name:<15} {text}" for name, text in some.items())])
        for title, some in groups.items()
    )
    parser.add_argument("name", metavar="NAME", help="a system, a scorer or a backbone, see below")
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="...", help="options of NAME")


def run(arguments: argparse.Namespace) -> None:
    """Dispatch by name."""
    from ..errors import unknown_name
    from ..trainers.registry import system_names

    name = arguments.name
    known = [*SCORERS, BACKBONE, *system_names()]
    if name not in known:
        raise unknown_name("system or scorer", name, known)
    if name == BACKBONE:
        from .train_backbone import train as train_backbone

        train_backbone(arguments.options)
    elif name in WORDS:
        from .train_words import train_words

        train_words(name, arguments.options)
    elif name == "language-model":
        from .train_words import train_language_models

        train_language_models(arguments.options)
    elif name == "meaning":
        from .train_scorer import train_meaning_scorer

        train_meaning_scorer(arguments.options)
    elif name in SCORERS:
        from .train_scorer import train_scorer

        train_scorer(name, arguments.options)
    else:
        from .train_system import train

        train(name, arguments.options)
