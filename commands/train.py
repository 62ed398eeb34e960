"""Train a system, or one of the scorers that metrics use.

'tstbench train NAME --help' shows the settings of NAME.

Examples:
  tstbench train delete-retrieve --direction mini/negative-to-positive --out dr
  tstbench train delete-retrieve --dataset yelp --config delete-retrieve.toml
  tstbench train classifier yelp --kind textcnn
  tstbench train lexicon yelp
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, unknown_name
from .arguments import (
    Arguments,
    Parser,
    add_data_dir,
    add_flags,
    add_resume,
    add_split,
    add_without,
    check_name,
    given,
    read_toml,
)

if TYPE_CHECKING:
    from ..datasets_scripts.directions import Direction
    from ..datasets_scripts.load import StyleData
    from ..metrics.scorers.artefacts import Artefact
    from ..trainers.system import StoredSystem, SystemConfig

SCORERS = {
    "classifier": "the style classifier of a dataset",
    "lexicon": "the style lexicon of a dataset",
    "word-vectors": "word vectors of a dataset",
    "language-model": "language models of a dataset's styles",
}
_KIND = "linear"  # of a classifier
_SHOWN = 10  # style words per style
_CONFIG = "settings in TOML; flags take precedence"


def add_arguments(parser: Parser) -> None:
    """Add what to train; the other options depend on it."""
    from ..trainers.system import trainable

    groups = {"systems": trainable(), "scorers": SCORERS}
    parser.epilog = "\n\n".join(
        "\n".join([f"{title}:", *(f"  {name:<15} {text}" for name, text in some.items())])
        for title, some in groups.items()
    )
    parser.add_argument("name", metavar="NAME", help="a system or a scorer, see below")
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="...", help="options of NAME")


def run(arguments: Arguments) -> None:
    """Dispatch by name."""
    from ..trainers.system import system_names

    name, options = arguments.name, arguments.options
    known = [*SCORERS, *system_names()]
    if name not in known:
        raise unknown_name("system or scorer", name, known)
    if name == "classifier":
        _train_classifier(options)
    elif name == "language-model":
        _train_language_models(options)
    elif name in SCORERS:
        _train_words(name, options)
    else:
        _train_system(name, options)


def _parser(name: str, what: str | None = None) -> Parser:
    return Parser(prog=f"tstbench train {name}", description=what, allow_abbrev=False)


def _print_artefact(
    artefact: Artefact, title: str, rows: Iterable[tuple[str, str]] | None = None, digits: int = 4
) -> None:
    """What a scorer learned from and where it is; between them ``rows``, or its card's scores."""
    from ..pipelines.tables import print_rows

    card = artefact.card
    if rows is None:
        rows = [(name, f"{value:.{digits}f}") for name, value in card.scores.items()]
    facts = [("trained on", card.trained_on), ("sentences", str(card.n_sentences))]
    print_rows(("", title), [*facts, *rows, ("folder", str(artefact.folder))])


# -- systems ---------------------------------------------------------------------------------------


def _train_system(name: str, options: Sequence[str]) -> None:
    """Train a system on one direction, or on each of a dataset, and print where it is.

    Raises:
        TSTBenchError: no such direction or setting, or a setting is out of range.
    """
    from ..datasets_scripts.load import load_training
    from ..pace import process_index
    from ..settings import read_settings
    from ..trainers.system import SYSTEM_STORE, system_class
    from ..trainers.train import check_target, config_class, system_config, train_system
    from ..trainers.training.run import Run

    config = config_class(name)
    arguments = _system_parser(name, config).known(options)
    values = {**read_toml(arguments.config), **given(config, arguments, name)}
    run = read_settings(Run, given(Run, arguments, "training"), "training")
    run = replace(run, resume=arguments.resume)
    directions, preset = _directions(name, arguments), arguments.preset
    several = len(directions) > 1
    runs = [
        (direction, one)
        for direction in directions
        for one in _runs(name, arguments, system_config(name, direction, values, preset=preset))
    ]
    for direction, (called, _) in runs:
        if arguments.out is not None:
            check_target(_folder(arguments, direction, called, several=several))
    data = {}
    for direction, (called, one) in runs:
        if direction not in data:
            split = arguments.split or system_class(name).split_to_learn(direction.dataset)
            how = {"cleaning": arguments.cleaning, "data_dir": arguments.data_dir}
            data = {direction: load_training(direction, split=split, **how)}
        stored = train_system(name, data[direction], one, called=called, run=run)
        if process_index() > 0:  # the first process writes and prints
            continue
        if arguments.out is not None:
            folder = _folder(arguments, direction, called, several=several)
            stored = SYSTEM_STORE.export_stored(stored, folder)
        _print_system(stored)


def _system_parser(name: str, config: type[SystemConfig]) -> Parser:
    """Its flags are the fields of its configuration."""
    from ..trainers.system import system_class
    from ..trainers.train import presets
    from ..trainers.training.run import Run

    parser = _parser(name, (system_class(name).__doc__ or "").partition("\n")[0])
    parser.add_argument("--direction", help="such as yelp/negative-to-positive")
    parser.add_argument("--dataset", help="train on each direction of a dataset instead")
    parser.path(
        "--out", "FOLDER", "also write the system here; with --dataset, one folder per direction"
    )
    parser.path("--config", "FILE.toml", _CONFIG)
    parser.add_argument("--name", help=f"name of the trained system (default {name})")
    parser.add_argument(
        "--split", help="what it learns from; default: train, and for rules what scorers learn from"
    )
    parser.add_argument("--cleaning", help="default: that of the dataset's language")
    add_data_dir(parser)
    parser.add_argument(
        "--seeds",
        metavar="N",
        help="train N systems, with --seed and the seeds that follow it, called NAME-seed0 and so "
        "on; with --out, one folder each",
    )
    names = presets(config)
    sets = f"a set of settings: {', '.join(names)}" if names else "this system has none"
    parser.add_argument("--preset", metavar="NAME", help=sets)
    add_resume(parser)
    add_flags(parser, "settings, part of the recipe", config)
    add_flags(parser, "where and how, not part of the recipe", Run)
    return parser


def _folder(
    arguments: Arguments, direction: Direction, called: str | None, *, several: bool
) -> Path:
    """Where ``--out`` has a system: a folder for each seed, and in it one for each direction."""
    folder: Path = arguments.out if arguments.seeds is None else arguments.out / str(called)
    return folder / direction.config if several else folder


def _runs(
    name: str, arguments: Arguments, config: SystemConfig
) -> list[tuple[str | None, SystemConfig]]:
    """What is trained, and what it is called: one system, or one for each seed."""
    from ..trainers.train import seeded

    if arguments.seeds is None:
        return [(arguments.name, config)]
    if not arguments.seeds.isdecimal() or int(arguments.seeds) < 2:
        raise InputError(f"--seeds {arguments.seeds}: give an integer, at least 2")
    runs = seeded(name, config, int(arguments.seeds), arguments.name)
    return [(run.name, run.config) for run in runs]


def _directions(name: str, arguments: Arguments) -> tuple[Direction, ...]:
    """The directions to train on; one of a pair that a system learns both ways."""
    from ..datasets_scripts.catalog import directions_of, parse_direction
    from ..trainers.system import system_class

    kind = system_class(name)
    if kind.ANY_DIRECTION and arguments.direction is None and arguments.dataset is None:
        return (kind.direction_to_learn(parse_direction("mini/negative-to-positive")),)
    if (arguments.direction is None) == (arguments.dataset is None):
        raise InputError("give either --direction (such as mini/negative-to-positive) or --dataset")
    if arguments.direction is not None:
        return (kind.direction_to_learn(parse_direction(arguments.direction)),)
    return tuple(dict.fromkeys(map(kind.direction_to_learn, directions_of(arguments.dataset))))


def _print_system(stored: StoredSystem) -> None:
    from ..pipelines.tables import print_rows

    card = stored.card
    print_rows(
        ("", card.name),
        [
            ("directions", ", ".join(card.directions)),
            ("trained on", card.trained_on),
            ("sentences", str(card.n_sentences)),
            ("pairs", str(card.n_pairs)),
            ("left out", str(card.n_excluded)),
            *((name, f"{value:.4f}") for name, value in card.scores.items()),
            ("hash", stored.hash),
            ("folder", str(stored.folder)),
        ],
    )


# -- scorers ---------------------------------------------------------------------------------------


def _styles(arguments: Arguments, *, raw: bool = False) -> StyleData:
    """The sentences that a scorer learns from, uncleaned if so asked."""
    from ..datasets_scripts.load import load_styles

    how = {"split": arguments.split, "data_dir": arguments.data_dir}
    return load_styles(arguments.dataset, cleaning="raw" if raw else None, **how)


def _train_classifier(options: Sequence[str]) -> None:
    """Train one classifier and print its quality, or compare kinds."""
    from ..datasets_scripts.judgments.studies import sentences_left_out
    from ..metrics.scorers.classifiers import kinds
    from ..metrics.scorers.prepare import train_style_classifier
    from ..metrics.scorers.train import trainer
    from ..settings import read_settings

    first = Parser(add_help=False, allow_abbrev=False)
    first.add_argument("--kind", default=_KIND)
    kind = str(first.parse_known_args(options)[0].kind)  # its settings are flags
    settings = trainer(kind).Config
    arguments = _classifier_parser(kind, settings).known(options)
    if not arguments.dataset:
        raise InputError("the dataset is missing, for instance: tstbench train classifier yelp")
    values = given(settings, arguments, kind)
    config = read_settings(settings, values, kind)
    if arguments.compare and values:
        raise InputError(f"--compare trains with default settings: leave out {', '.join(values)}")
    data = _styles(arguments, raw=arguments.role == "paper_classifier")
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
    _print_artefact(artefact, f"{artefact.card.kind}:{artefact.card.corpus}")


def _classifier_parser(kind: str, settings: type) -> Parser:
    parser = _parser("classifier")
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
    add_data_dir(parser)
    add_flags(parser, f"settings of {kind}, part of the recipe", settings)
    return parser


def _compare(data: StyleData, arguments: Arguments) -> None:
    """Every kind on the same sentences, as in the paper's Table 4."""
    from ..datasets_scripts.catalog import DATASETS
    from ..datasets_scripts.load import load_test_set
    from ..metrics.scorers.compare import compare_kinds, comparison_table
    from ..metrics.text import preparation
    from ..pipelines.tables import print_table

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


def _words_parser(name: str, settings: type, title: str = "settings, part of the recipe") -> Parser:
    parser = _parser(name)
    parser.add_argument("dataset", help="such as yelp")
    if name == "word-vectors":
        what = "learn from sentences whose style words are masked: wmd.placeholder=learned"
        parser.switch("--masked", what)
    if name != "language-model":
        add_without(parser)
    parser.add_argument("--name", help="under which it is kept")
    add_split(parser)
    add_data_dir(parser)
    add_flags(parser, title, settings)
    return parser


def _train_words(name: str, options: Sequence[str]) -> None:
    """Train a lexicon or word vectors, and print what they know."""
    from ..datasets_scripts.judgments.studies import sentences_left_out
    from ..metrics.scorers.find import LEXICON, MASKED_VECTORS, WORD_VECTORS
    from ..metrics.scorers.lexicon import LEXICON_FILE, LexiconConfig, read_lexicon
    from ..metrics.scorers.prepare import train_dataset_vectors, train_style_lexicon
    from ..metrics.scorers.word_vectors import WordVectors, WordVectorsConfig
    from ..settings import read_settings

    settings = LexiconConfig if name == "lexicon" else WordVectorsConfig
    arguments = _words_parser(name, settings).known(options)
    config: Any = read_settings(settings, given(settings, arguments, name), name)
    check_name(arguments, (LEXICON, WORD_VECTORS, MASKED_VECTORS))
    data, called = _styles(arguments), arguments.name
    without = sentences_left_out(arguments.without)
    if name == "lexicon":
        artefact = train_style_lexicon(data, config, without=without, name=called)
        lexicon = read_lexicon(artefact.folder / LEXICON_FILE)
        rows = [("style n-grams", str(len(lexicon)))]
        for column, style in enumerate(lexicon.styles):
            best = sorted(lexicon.weights, key=lambda n: (-lexicon.weights[n][column], n))
            rows.append((style, ", ".join(best[:_SHOWN])))
    else:
        masked = arguments.masked
        artefact = train_dataset_vectors(data, config, without=without, name=called, masked=masked)
        vectors = WordVectors.load(artefact.folder, "", artefact.hash)
        rows = [("words", str(len(vectors))), ("dimensions", str(vectors.dimensions))]
    _print_artefact(artefact, f"{artefact.card.name}:{artefact.card.corpus}", rows)


def _train_language_models(options: Sequence[str]) -> None:
    """Train a language model of each style and print what they are."""
    from ..metrics.scorers.find import LANGUAGE_MODELS
    from ..metrics.scorers.lstm_language_model import LstmConfig
    from ..metrics.scorers.prepare import train_style_language_model
    from ..settings import read_settings

    parser = _words_parser("language-model", LstmConfig, "settings of lstm, part of the recipe")
    parser.add_argument("--kind", choices=LANGUAGE_MODELS, default="kn5", help="default: kn5")
    parser.add_argument(
        "--role",
        choices=("language_model", "cleaned_language_model"),
        default="language_model",
        help="language_model (default) learns uncleaned lines, for ppl.protocol=paper; "
        "cleaned_language_model is for ppl.protocol=cleaned",
    )
    arguments = parser.known(options)
    values = given(LstmConfig, arguments, "lstm")
    if values and arguments.kind != "lstm":
        raise InputError(f"--kind kn5 has no settings: leave out {', '.join(values)}")
    if arguments.name in LANGUAGE_MODELS:
        raise InputError(f"--name {arguments.name} is what metrics use: choose another name")
    data = _styles(arguments, raw=arguments.role == "language_model")
    config = read_settings(LstmConfig, values, "lstm") if arguments.kind == "lstm" else None
    for style in data.styles:
        made = train_style_language_model(
            data, style, arguments.role, arguments.kind, config=config, name=arguments.name
        )
        _print_artefact(made, f"{made.card.name}:{made.card.corpus}", digits=2)
