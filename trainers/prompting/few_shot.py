"""Examples for a prompt: where they come from, and which of them a sentence is shown.

They come from the training pairs, or else the validation pairs, which hold no test sentence; or
from the user's file, each line of which is compared with the test split. Where nobody has pairs
(Yelp, Amazon, mini), eight of our own writing serve for sentiment.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from ...datasets_scripts.cleaning import match_key
from ...datasets_scripts.directions import Direction
from ...datasets_scripts.load import keys_under_test, load_training
from ...errors import InputError
from ...files import read_lines
from ...store import canonical
from .prompts import Example

By = Literal["seed", "bm25", "embedding"]
_OWN = Path(__file__).with_name("examples") / "sentiment-v1.jsonl"
_SENTIMENT = {"negative", "positive"}
_WORDS = re.compile(r"\w+")
_SEARCHED = 5_000  # pairs that embeddings are made of; more are drawn from


@dataclass(frozen=True)
class Pool:
    """The pairs to choose examples from.

    Attributes:
        pairs: distinct.
        origin: where they are from: ``train``, ``validation``, ``sentiment-v1`` or ``file``.
    """

    pairs: tuple[Example, ...]
    origin: str

    @cached_property
    def sha256(self) -> str:
        """Of all pairs, in order."""
        rows = [[pair.source, pair.target] for pair in self.pairs]
        return hashlib.sha256(canonical(rows)).hexdigest()


def load_pool(direction: Direction, file: str = "", data_dir: str = "") -> Pool:
    """The pairs for a direction.

    Args:
        direction: of the sentences to rewrite.
        file: the user's own pairs, JSON Lines of ``source`` and ``target``.
        data_dir: the user's copy of a licensed corpus.

    Raises:
        MissingFileError: no such file.
        InputError: no pairs; a line that is none, or that the test split has.
    """
    folder = Path(data_dir) if data_dir else None
    if file:
        return Pool(_read(Path(file).expanduser(), direction, folder), "file")
    data = load_training(direction, data_dir=folder)
    for part in (data.train, data.validation):
        if part is not None and part.pairs:
            pairs = (Example(*pair) for pair in part.pairs if all(text.strip() for text in pair))
            return Pool(tuple(dict.fromkeys(pairs)), part.name)
    if {direction.source_style, direction.target_style} == _SENTIMENT:
        pairs_of_ours = _read(_OWN, direction, folder, turned=direction.source_style == "positive")
        return Pool(pairs_of_ours, _OWN.stem)
    raise InputError(
        f"{direction.dataset} has no pairs to take examples from: write some into a file, a line "
        'each, {"source": "...", "target": "..."}, and give it with --examples-file'
    )


class Chooser:
    """Chooses the examples of each sentence.

    Args:
        pool: what to choose from.
        k: how many.
        by: ``seed`` draws the same for all sentences; ``bm25`` and ``embedding`` take those with
            the nearest source, the nearest last, next to the sentence itself.
        seed: of the draw.
        direction: another one draws others.

    Raises:
        InputError: the pool has fewer than ``k`` pairs.
    """

    def __init__(self, pool: Pool, k: int, by: By, seed: int, direction: Direction) -> None:
        if len(pool.pairs) < k:
            raise InputError(
                f"{k} examples are asked for, but there are {len(pool.pairs)} pairs ({pool.origin})"
            )
        self._k, self._by, self._seed = k, by, seed
        key = f"{seed}\0{direction.name}".encode()
        draw = random.Random(int.from_bytes(hashlib.sha256(key).digest()))
        pairs: Sequence[Example] = pool.pairs
        if by == "embedding" and len(pairs) > _SEARCHED:
            pairs = draw.sample(pairs, _SEARCHED)
        self._pairs = pairs
        self._drawn = draw.sample(pairs, k) if by == "seed" else []

    def of(self, sources: Sequence[str]) -> list[list[Example]]:
        """The examples of each sentence; a sentence is never shown itself."""
        if self._by == "seed":
            return [self._drawn for _ in sources]
        places = self._by_words(sources) if self._by == "bm25" else self._by_vectors(sources)
        return [[self._pairs[place] for place in reversed(row)] for row in places]

    def _by_words(self, sources: Sequence[str]) -> list[list[int]]:
        from ..training.retrieval import Bm25, Partition

        vocabulary: dict[str, int] = {}
        rows = [
            tuple(vocabulary.setdefault(word, len(vocabulary) + 1) for word in _words(pair.source))
            for pair in self._pairs
        ]
        index = Bm25(Partition(tuple(rows)), ignored=())
        found = []
        for source in sources:
            query = tuple(vocabulary.get(word, 0) for word in _words(source))
            best = index.nearest(query, self._most(), self._same(source), [self._seed, *query])
            found.append([int(place) for place in best][: self._k])
        return found

    def _by_vectors(self, sources: Sequence[str]) -> list[list[int]]:
        from ...metrics.scorers.encoder import load_encoder
        from ...metrics.scorers.encoder_files import EMBEDDED_ENCODER

        encoder = load_encoder(EMBEDDED_ENCODER)
        keys = encoder.sentence_vectors([pair.source for pair in self._pairs])
        found = []
        for source, query in zip(sources, encoder.sentence_vectors(sources), strict=True):
            cosines = keys @ query
            cosines[self._same(source)] = -np.inf
            found.append(np.argsort(-cosines, kind="stable")[: self._most()].tolist()[: self._k])
        return found

    def _same(self, source: str) -> list[int]:
        return self._places.get(match_key(source), [])

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, pair in enumerate(self._pairs):
            places.setdefault(match_key(pair.source), []).append(place)
        return places

    def _most(self) -> int:
        largest = max(map(len, self._places.values()), default=0)
        return min(self._k, max(len(self._pairs) - largest, 1))


def _words(text: str) -> list[str]:
    return _WORDS.findall(text.lower())


def _read(
    path: Path, direction: Direction, data_dir: Path | None, *, turned: bool = False
) -> tuple[Example, ...]:
    forbidden = keys_under_test(direction.dataset, data_dir=data_dir)
    pairs = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            row = json.loads(line)
            pair = Example(row["source"], row["target"])
            usable = pair.source.strip() and pair.target.strip()
        except (ValueError, KeyError, TypeError, AttributeError):
            usable = ""
        if not usable:
            raise InputError(
                f'{path}, line {number}: not an example. Write {{"source": "...", "target": "..."}}'
            )
        for text in (pair.source, pair.target):
            if match_key(text) in forbidden:
                raise InputError(
                    f"{path}, line {number}: {text!r} is in {direction.dataset}'s test split, from "
                    "which no example may be taken"
                )
        pairs.append(Example(pair.target, pair.source) if turned else pair)
    return tuple(dict.fromkeys(pairs))
