"""Datasets that are not part of the benchmark: those of other packages, and the user's own.

A package adds one with an entry point of the group ``tstbench.datasets``, which is a
:class:`~.corpus.Corpus` or the path of a data file (see ``docs/your_data.md``); the user adds one
with :func:`load_data` or ``--data``, until the process ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from ..errors import InputError, TSTBenchError
from ..plugins import outside
from ..talk import say
from .corpus import Corpus
from .directions import OUR_DATASETS, DatasetFacts, Direction
from .own import read_data
from .own_check import check_corpus

REGISTERED: dict[str, Corpus] = {}  # in the order of registration


@dataclass(frozen=True)
class Dataset:
    """A user's own dataset, as read from its data file."""

    corpus: Corpus

    @property
    def facts(self) -> DatasetFacts:
        """Name, styles, language, licence..."""
        return self.corpus.facts

    @property
    def directions(self) -> tuple[Direction, ...]:
        """In the order of the data file."""
        return self.facts.directions

    def __repr__(self) -> str:
        return f"Dataset({self.facts.name}: {', '.join(d.config for d in self.directions)})"


def load_data(path: Path | str, *, say_again: bool = True) -> Dataset:
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
    return Dataset(corpus)


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
    if name in OUR_DATASETS or name in _outside():
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
        elif corpus.name in OUR_DATASETS or corpus.name in found:
            say(f"dataset {point!r} is left out: a dataset called {corpus.name!r} already exists")
        else:
            found[corpus.name] = corpus
    return found
