"""What made pairs are made from: sentences, and rewrites by people; never anything under test."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from acceptability.cola import cola_corpus

from tstbench.console import say
from tstbench.datasets_scripts.cleaning import match_key, parse_cleaning
from tstbench.datasets_scripts.load import keys_under_test, load_training
from tstbench.errors import InputError, MissingFileError, TSTBenchError
from tstbench.files import read_lines

# Rewrites by people are used as pairs; of the others, the sentences of both styles are used.
PARALLEL = ("shakespeare/shakespearean-to-modern", "styptb_tfu/present-to-future")
PLAIN = ("styptb_arr/modified-to-unmodified", "amazon/negative-to-positive",
         "yelp/negative-to-positive")  # fmt: skip
UNDER_TEST = ("yelp", "amazon", "shakespeare", "styptb_tfu", "styptb_arr")
_UNKNOWN_WORD = re.compile(r"\bunk\b")


@dataclass(frozen=True)
class Material:
    """Sentences of one corpus.

    Attributes:
        name: of the corpus.
        sentences: distinct.
        rewrites: pairs of a sentence and its rewrite by a person.
        removed: sentences and pairs left out because some test split has them.
    """

    name: str
    sentences: tuple[str, ...]
    rewrites: tuple[tuple[str, str], ...] = ()
    removed: int = 0


def material(
    files: Sequence[Path] = (), *, datasets: bool = True, without: Iterable[str] = ()
) -> tuple[Material, ...]:
    """Everything at hand: the datasets' training sentences, CoLA's acceptable ones, text files.

    A dataset whose files are not at hand is left out, with a message.

    Args:
        files: plain text, one sentence a line.
        datasets: whether to read the datasets and CoLA.
        without: further sentences that are not learned from, such as those of a study of human
            judgments; case and spacing do not matter.

    Raises:
        MissingFileError: no such file.
        InputError: there is not a single sentence.
    """
    clean = parse_cleaning("paper-v1")
    forms = [form(text) for text in without for form in (str, clean)]
    under_test = _under_test() | set(map(match_key, forms))
    found = []
    for direction in (*PARALLEL, *PLAIN) if datasets else ():
        try:
            part = load_training(direction).train
        except TSTBenchError as error:
            say(f"{direction} is left out of the training: {error}")
            continue
        pairs = part.pairs if direction in PARALLEL else ()
        name = direction.split("/")[0]
        removed = part.removed_sentences + part.removed_pairs
        found.append(_without(name, [*part.source, *part.target], pairs, under_test, removed))
    if datasets:
        try:
            train = cola_corpus().train
            texts = [t for t, y in zip(train.sentences, train.labels, strict=True) if y == 1]
            found.append(_without("cola", texts, (), under_test, 0))
        except TSTBenchError as error:
            say(f"CoLA is left out of the training: {error}")
    for file in files:
        if not file.is_file():
            raise MissingFileError(f"no text file {file}")
        found.append(_without(file.stem, read_lines(file), (), under_test, 0))
    if not any(one.sentences for one in found):
        raise InputError("no sentence to learn from: give --text FILE, one sentence a line")
    return tuple(one for one in found if one.sentences)


def _under_test() -> frozenset[str]:
    found: set[str] = set()
    for dataset in UNDER_TEST:
        try:
            found |= keys_under_test(dataset)
        except TSTBenchError:  # then nobody can test on it here either
            continue
    return frozenset(found)


def _without(
    name: str,
    texts: Iterable[str],
    pairs: Sequence[tuple[str, str]],
    under_test: frozenset[str],
    removed: int,
) -> Material:
    distinct = [text.strip() for text in dict.fromkeys(texts) if text.strip()]
    kept = [text for text in distinct if match_key(text) not in under_test]
    fine = [p for p in pairs if not {match_key(p[0]), match_key(p[1])} & under_test]
    removed += len(distinct) - len(kept) + len(pairs) - len(fine)
    # StylePTB writes "unk" for rare words: one of them is a pronoun, several are no sentence.
    readable = [_readable(text) for text in kept if len(_UNKNOWN_WORD.findall(text)) < 2]
    clear = tuple(p for p in fine if not _UNKNOWN_WORD.search(p[0] + " " + p[1]))
    return Material(name, tuple(readable), clear, removed)


def _readable(text: str) -> str:
    return _UNKNOWN_WORD.sub("something", text)
