"""``tstbench train lexicon``, ``word-vectors`` and ``language-model``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from .flags import add_flags, given, refuse
from .parser import Parser
from .without import add_split, add_without, check_name

_SHOWN = 10  # style words per style


def train_words(name: str, options: Sequence[str]) -> None:
    """Train one scorer of words and print what it is."""
    from ..datasets_scripts.catalog import dataset_facts
    from ..datasets_scripts.judgments.studies import sentences_left_out
    from ..datasets_scripts.load import load_styles
    from ..metrics.scorers.find_words import LEXICON, MASKED_VECTORS, WORD_VECTORS
    from ..metrics.scorers.lexicon import LEXICON_FILE, read_lexicon
    from ..metrics.scorers.word_vectors import WordVectors
    from ..pipelines.prepare_words import train_dataset_vectors, train_style_lexicon
    from ..pipelines.tables import print_rows
    from ..settings import read_settings
    from ..trainers.lexicon import LexiconConfig
    from ..trainers.word_vectors import WordVectorsConfig

    kind: type[LexiconConfig | WordVectorsConfig]
    kind = LexiconConfig if name == "lexicon" else WordVectorsConfig
    parser = _parser(name, kind)
    arguments, rest = parser.parse_known_args(options)
    if rest:
        refuse(rest[0], parser)
    config = read_settings(kind, given(kind, arguments, name), name)
    dataset_facts(arguments.dataset)
    check_name(arguments, (LEXICON, WORD_VECTORS, MASKED_VECTORS))
    without, kept_as = sentences_left_out(arguments.without), arguments.name
    data = load_styles(arguments.dataset, split=arguments.split, data_dir=arguments.data_dir)
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
    print_rows(("", f"{card.name}:{card.corpus}"), [*facts, *rows, *folder])


def train_language_models(options: Sequence[str]) -> None:
    """Train a language model of each style and print what they are."""
    from ..datasets_scripts.catalog import dataset_facts
    from ..datasets_scripts.load import load_styles
    from ..errors import InputError
    from ..metrics.scorers.find import LANGUAGE_MODELS
    from ..pipelines.prepare import train_style_language_model
    from ..pipelines.tables import print_rows
    from ..settings import read_settings
    from ..trainers.lstm_language_model import LstmConfig

    parser = _parser("language-model", LstmConfig, "settings of lstm, part of the recipe")
    parser.add_argument("--kind", choices=LANGUAGE_MODELS, default="kn5", help="default: kn5")
    parser.add_argument(
        "--role",
        choices=("language_model", "cleaned_language_model"),
        default="language_model",
        help="language_model (default) learns uncleaned lines, for ppl.protocol=paper; "
        "cleaned_language_model is for ppl.protocol=cleaned",
    )
    arguments, rest = parser.parse_known_args(options)
    if rest:
        refuse(rest[0], parser)
    values = given(LstmConfig, arguments, "lstm")
    if values and arguments.kind != "lstm":
        raise InputError(f"--kind kn5 has no settings: leave out {', '.join(values)}")
    if arguments.name in LANGUAGE_MODELS:
        raise InputError(f"--name {arguments.name} is what metrics use: choose another name")
    dataset_facts(arguments.dataset)
    role = arguments.role
    cleaning = "raw" if role == "language_model" else None
    data = load_styles(
        arguments.dataset, split=arguments.split, data_dir=arguments.data_dir, cleaning=cleaning
    )
    config = read_settings(LstmConfig, values, "lstm") if arguments.kind == "lstm" else None
    for style in data.styles:
        made = train_style_language_model(
            data, style, role, arguments.kind, config=config, name=arguments.name
        )
        card = made.card
        rows = [(name, f"{value:.2f}") for name, value in card.scores.items()]
        facts = [("trained on", card.trained_on), ("sentences", str(card.n_sentences)), *rows]
        print_rows(("", f"{card.name}:{card.corpus}"), [*facts, ("folder", str(made.folder))])


def _parser(
    name: str, settings: type, title: str = "settings, part of the recipe"
) -> argparse.ArgumentParser:
    parser = Parser(prog=f"tstbench train {name}", allow_abbrev=False)
    parser.add_argument("dataset", help="such as yelp")
    if name == "word-vectors":
        parser.add_argument(
            "--masked",
            action="store_true",
            help="learn from sentences whose style words are masked: wmd.placeholder=learned",
        )
    if name != "language-model":
        add_without(parser)
    parser.add_argument("--name", help="under which it is kept")
    add_split(parser)
    parser.add_argument("--data-dir", type=Path, help="your copy of a licensed corpus (GYAFC)")
    add_flags(parser, title, settings)
    return parser
