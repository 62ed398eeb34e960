"""Every dataset and direction: the benchmark's, other papers', other packages' and the user's.

:data:`CORPORA`, :data:`DATASETS` and :data:`DIRECTIONS` are live views: what is added appears in
them at once. A package adds a dataset with an entry point of the group ``tstbench.datasets``, which
is a :class:`~.corpus.Corpus` or the path of a data file (see ``docs/your_data.md``); the user adds
one with :func:`load_data` or ``--data``, until the process ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from ..console import say
from ..errors import InputError, TSTBenchError, UnknownNameError, unknown_name
from ..plugins import outside
from .corpus import Corpus
from .directions import NAME, DatasetFacts, Direction
from .own import read_data
from .own_check import check_corpus

# The benchmark's, in the order of the TSTBench paper, section 3.2 and Table 3, after mini, which is
# our own. The others, which metrics of other papers learn from and are tested on, follow by name.
_BENCHMARK = (
    "mini", "yelp", "amazon", "gyafc_em", "gyafc_fr", "shakespeare", "styptb_tfu", "styptb_arr",
)  # fmt: skip
_FOLDERS = {
    file.stem for file in Path(__file__).parent.glob("*/*.py") if file.stem == file.parent.name
}

# Each is one file, <name>/<name>.py, with its card beside it.
_OURS: dict[str, Corpus] = {
    name: import_module(f".{name}.{name}", __package__).CORPUS
    for name in (*_BENCHMARK, *sorted(_FOLDERS.difference(_BENCHMARK)))
}
OUR_DATASETS: dict[str, DatasetFacts] = {name: corpus.facts for name, corpus in _OURS.items()}
BENCHMARK_DATASETS = {name: OUR_DATASETS[name] for name in _BENCHMARK}
REGISTERED: dict[str, Corpus] = {}  # in the order of registration

_DIRECTION = re.compile(rf"({NAME.pattern})/({NAME.pattern})-to-({NAME.pattern})")
_NEAR = 0.8  # as similar as yelp and yelpp: more likely a typo than another dataset
Value = TypeVar("Value")


class _Live(Mapping[str, Value]):
    """What a function returns at the moment."""

    def __init__(self, read: Callable[[], Mapping[str, Value]]) -> None:
        self._read = read

    def __getitem__(self, name: str) -> Value:
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


def _corpora() -> dict[str, Corpus]:
    return {**_OURS, **added()}


CORPORA: Mapping[str, Corpus] = _Live(_corpora)
DATASETS: Mapping[str, DatasetFacts] = _Live(
    lambda: {name: corpus.facts for name, corpus in _corpora().items()}
)
DIRECTIONS: Mapping[str, Direction] = _Live(
    lambda: {d.name: d for corpus in _corpora().values() for d in corpus.facts.directions}
)


def parse_dataset(name: str) -> Corpus:
    """The corpus with that name; raises :class:`UnknownNameError` with near misses."""
    if name not in CORPORA:
        raise unknown_name("dataset", name, CORPORA)
    return CORPORA[name]


def dataset_facts(name: str) -> DatasetFacts:
    """The facts of that dataset; raises :class:`UnknownNameError` with near misses."""
    return parse_dataset(name).facts


def parse_direction(name: str) -> Direction:
    """The direction with that name.

    Raises:
        UnknownNameError: the message suggests the nearest direction, or lists the dataset's.
    """
    dataset = name.split("/")[0]
    corpus = _corpora().get(dataset)
    if corpus is None:
        unknown = unknown_name("direction", name, DIRECTIONS)
        raise UnknownNameError(f"{unknown} Register one of your own with --data FILE or load_data")
    for direction in corpus.facts.directions:
        if direction.name == name:
            return direction
    known = [d.name for d in directions_of(dataset)]
    if "/" not in name:
        raise UnknownNameError(
            f"{name!r} is a dataset, but a direction is needed, one of: {', '.join(known)}."
        )
    raise unknown_name("direction", name, known)


def as_direction(name: str) -> Direction:
    """A direction to score outputs on; its dataset need not be known here.

    Scoring texts that are passed in needs only the name. A known dataset must have the
    direction, and a name close to that of a known dataset is taken for a typo.

    Raises:
        UnknownNameError: see :func:`parse_direction`; also if the dataset's name is a near miss.
        InputError: the name does not have the form ``dataset/source-to-target``.

    >>> as_direction("manners/rude-to-polite").target_style
    'polite'
    """
    match = _DIRECTION.fullmatch(name)
    if name.split("/")[0] in DATASETS:
        return parse_direction(name)
    if match is None:
        near = get_close_matches(name, DIRECTIONS, n=1, cutoff=_NEAR)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(
            f"{name!r} is not a direction: write dataset/source-to-target, such as "
            f"yelp/negative-to-positive, in lower-case letters, digits and underscores.{hint}"
        )
    dataset, source, target = match.groups()
    if source == target:
        raise InputError(f"{name!r} goes from a style to itself")
    if near := get_close_matches(dataset, DATASETS, n=1, cutoff=_NEAR):
        meant = f"{near[0]}/{source}-to-{target}"
        raise UnknownNameError(
            f"unknown dataset {dataset!r}. Did you mean {meant!r}? Register a dataset of your own "
            f"with --data FILE or load_data; otherwise choose a name less similar to {near[0]!r}."
        )
    return Direction(dataset, source, target)


def language_of(direction: Direction | None) -> str:
    """The language of a direction's texts; English where the dataset is not known here."""
    known = direction is not None and direction.dataset in DATASETS
    return dataset_facts(direction.dataset).language if direction and known else "en"


def directions_of(dataset: str) -> tuple[Direction, ...]:
    """The directions of a dataset.

    Raises:
        UnknownNameError: no such dataset.
        InputError: its sentences are only labelled.
    """
    facts = dataset_facts(dataset)
    if not facts.directions:
        raise InputError(
            f"{dataset} has no directions: its sentences are labelled "
            f"({', '.join(facts.styles)}), but there is nothing to rewrite"
        )
    return facts.directions


def load_data(path: Path | str, *, say_again: bool = True) -> Corpus:
    """Read a data file, check everything it names, and register its dataset in this process.

    What looks wrong without being certain (rewrites in another order than their sentences, styles
    that seem to be swapped) is said on standard error.

    From then on, its directions work like the built-in ones:
    ``load_test_set("my/rude-to-polite")``, ``load_styles("my")``, ``build("my", ...)``, the
    leaderboard and the commands of the command line.

    Args:
        path: a TOML file, see ``docs/your_data.md``; paths in it are relative to the file.
        say_again: whether to say what was said in this process before: a suite may name the file
            of ``--data``.

    Raises:
        MissingFileError: the file, one that it names, or a Hub dataset does not exist.
        InputError: it does not follow the format, files are empty or not aligned, a
            style is missing or not declared, ids repeat, another dataset has its name, or a file
            cannot be what it should be; see :func:`.own_check.check_corpus`.
        UnknownNameError: an unknown column or undeclared style, with near misses.
    """
    corpus = read_data(path)
    corpus = replace(corpus, doubts=tuple(check_corpus(corpus)))
    there = None if say_again else REGISTERED.get(corpus.name)
    for doubt in corpus.doubts:
        if there is None or doubt not in there.doubts:
            say(f"careful: {corpus.origin}: {doubt}")
    register(corpus)
    return corpus


def added() -> dict[str, Corpus]:
    """Every added dataset by name, those of other packages first."""
    return {**_outside(), **REGISTERED}


def register(corpus: Corpus) -> None:
    """Register a dataset in this process, as if it were built in.

    The same data file may be registered again; its current content then applies.

    Raises:
        InputError: another dataset has that name.
    """
    name = corpus.name
    there = REGISTERED.get(name)
    if name in _outside() and _outside()[name].origin == corpus.origin is not None:
        return  # the file of an installed package, named once more
    if name in _OURS or name in _outside():
        raise InputError(
            f"{corpus.origin or 'this corpus'}: a dataset called {name!r} exists; choose another "
            "name"
        )
    if there is not None and there.origin != corpus.origin:
        raise InputError(
            f"{corpus.origin}: {there.origin} is also called {name!r}; rename one of them"
        )
    REGISTERED[name] = corpus


@cache
def _outside() -> dict[str, Corpus]:
    found: dict[str, Corpus] = {}
    for point, value in outside("tstbench.datasets").items():
        try:
            corpus = read_data(value) if isinstance(value, str | Path) else value
        except TSTBenchError as error:
            say(f"dataset {point!r} of another package is left out: {error}")
            continue
        if not isinstance(corpus, Corpus):
            kind = type(value).__name__
            say(f"dataset {point!r} is left out: it must be a Corpus or a path, not {kind}")
        elif corpus.name in _OURS or corpus.name in found:
            say(f"dataset {point!r} is left out: a dataset called {corpus.name!r} already exists")
        else:
            found[corpus.name] = corpus
    return found
