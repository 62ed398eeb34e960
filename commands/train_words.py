"""``tstbench train lexicon ...`` and ``tstbench train word-vectors ...``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from .flags import add_flags, given, refuse
from .parser import Parser
from .without import add_without, check_name

_SHOWN = 10  # style words per style


def train_words(name: str, options: Sequence[str]) -> None:
    """Train one scorer of words and print what it is."""
    from ..datasets_scripts.judgments.left_out import sentences_left_out
    from ..datasets_scripts.known import dataset_facts
    from ..datasets_scripts.load import load_styles
    from ..metrics.scorers.find_words import LEXICON, MASKED_VECTORS, WORD_VECTORS
    from ..metrics.scorers.lexicon import LEXICON_FILE, read_lexicon
    from ..metrics.scorers.word_vectors import WordVectors
    from ..pipelines.prepare_words import train_dataset_vectors, train_style_lexicon
    from ..pipelines.tables import print_rows
    from ..trainers.lexicon import LexiconConfig
    from ..trainers.settings import read_settings
    from ..trainers.word_vectors import WordVectorsConfig

    kind = LexiconConfig if name == "lexicon" else WordVectorsConfig
    parser = _parser(name, kind)
    arguments, rest = parser.parse_known_args(options)
    if rest:
        refuse(rest[0], parser)
    config = read_settings(kind, given(kind, arguments, name), name)
    dataset_facts(arguments.dataset)
    check_name(arguments, (LEXICON, WORD_VECTORS, MASKED_VECTORS))
    without, kept_as = sentences_left_out(arguments.without), arguments.name
    data = load_styles(arguments.dataset, data_dir=arguments.data_dir)
    rows: list[tuple[str, str]]
    if isinstance(config, LexiconConfig):
        artefact = train_style_lexicon(data, config, without=without, name=kept_as)
        lexicon = read_lexicon(artefact.folder / LEXICON_FILE)
        rows = [("style n-grams", str(len(lexicon)))]
        for column, style in enumerate(lexicon.styles):
            best = sorted(lexicon.weights, key=lambda n: (-lexicon.weights[n][column], n))
            rows.append((style, ", ".join(best[:_SHOWN])))
    else:
        artefact = train_dataset_vectors(
            data, config, without=without, name=kept_as, masked=arguments.masked
        )
        vectors = WordVectors.load(artefact.folder, "", artefact.hash)
        rows = [("words", str(len(vectors))), ("dimensions", str(vectors.dimensions))]
    card = artefact.card
    facts = [("trained on", card.trained_on), ("sentences", str(card.n_sentences))]
    folder = [("folder", str(artefact.folder))]
    print_rows(("", f"{card.name}:{card.dataset}"), [*facts, *rows, *folder])


def _parser(name: str, settings: type) -> argparse.ArgumentParser:
    parser = Parser(prog=f"tstbench train {name}", allow_abbrev=False)
    parser.add_argument("dataset", help="such as yelp")
    if name == "word-vectors":
        parser.add_argument(
            "--masked",
            action="store_true",
            help="learn from sentences whose style words are masked: wmd.placeholder=learned",
        )
    add_without(parser)
    parser.add_argument("--name", help="under which it is kept")
    parser.add_argument("--data-dir", type=Path, help="your copy of a licensed corpus (GYAFC)")
    add_flags(parser, "settings, part of the recipe", settings)
    return parser
