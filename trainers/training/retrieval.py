"""The sentences of a style that are most like a query: by words, or by vectors.

A sentence is its ids. A query's own sentence is excluded by position, so that it is never found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import torch
from torch import Tensor

from ...errors import InputError, require

Row = tuple[int, ...]


@dataclass(frozen=True)
class Partition:
    """The distinct sentences of one style."""

    rows: tuple[Row, ...]

    @classmethod
    def of(cls, rows: Iterable[Sequence[int]], at_least: int, what: str) -> Partition:
        """Without copies, in the order of first occurrence.

        Args:
            rows: sentences as ids.
            at_least: how many there must be.
            what: whose they are, for the message.

        Raises:
            InputError: there are fewer.
        """
        distinct = tuple(dict.fromkeys(map(tuple, rows)))
        if len(distinct) < at_least:
            raise InputError(
                f"{what}: {len(distinct)} different sentences to retrieve from, {at_least} are "
                "needed: retrieve fewer, or add sentences"
            )
        return cls(distinct)

    @cached_property
    def _places(self) -> dict[Row, int]:
        return {row: place for place, row in enumerate(self.rows)}

    def places(self, rows: Iterable[Sequence[int]]) -> set[int]:
        """Where these sentences are, of those that are here."""
        found = (self._places.get(tuple(row)) for row in rows)
        return {place for place in found if place is not None}


class Bm25:
    """BM25 as Lucene and Elasticsearch compute it.

    Args:
        partition: what is searched.
        ignored: ids that count neither in a query nor in a sentence.
        saturation: k1.
        normalisation: b, for length.

    Raises:
        MissingExtraError: bm25s is not installed.
    """

    def __init__(
        self,
        partition: Partition,
        ignored: Collection[int],
        *,
        saturation: float = 1.2,
        normalisation: float = 0.75,
    ) -> None:
        self._count = len(partition.rows)
        words = sorted({word for row in partition.rows for word in row} - set(ignored))
        self._columns = {word: column for column, word in enumerate(words)}
        rows = [[self._columns[w] for w in row if w in self._columns] for row in partition.rows]
        index = require("bm25s", "train").BM25(
            method="lucene", k1=saturation, b=normalisation, dtype="float64"
        )
        # One more column, of the empty word, keeps a sentence of ignored words in its place.
        columns = {str(column): column for column in range(len(words))}
        index.index((rows, columns), show_progress=False)
        self._starts = index.scores["indptr"]
        self._places = index.scores["indices"]
        self._shares = index.scores["data"]

    def scores(self, query: Sequence[int]) -> np.ndarray:
        """Of every sentence (N,), for a query: the sum over its words, each as often as it occurs.

        bm25s's own loop takes ten times as long: a word's sentences are distinct, so that a plain
        sum into places does.
        """
        found = np.zeros(self._count)
        for word in query:
            column = self._columns.get(word)
            if column is not None:
                part = slice(self._starts[column], self._starts[column + 1])
                found[self._places[part]] += self._shares[part]
        return found

    def nearest(
        self, query: Sequence[int], k: int, excluded: Collection[int], seed: Sequence[int]
    ) -> np.ndarray:
        """Positions (k,) of the best sentences, best first, the first of equals first.

        Where fewer than ``k`` share a word with the query, sentences drawn at random fill up.

        Args:
            query: ids.
            k: at most N less those excluded.
            excluded: positions that are not returned.
            seed: of the draw.
        """
        scores = self.scores(query)
        out = list(excluded)
        scores[out] = 0
        hits = np.flatnonzero(scores)
        if len(hits) > k:
            bound = -np.partition(-scores[hits], k - 1)[k - 1]
            hits = hits[scores[hits] >= bound]
        best = hits[np.argsort(-scores[hits], kind="stable")][:k]
        if len(best) == k:
            return best
        left = np.setdiff1d(np.arange(self._count), np.concatenate([best, out]))
        drawn = np.random.default_rng(seed).choice(left, k - len(best), replace=False)
        return np.concatenate([best, drawn])


def nearest_by_cosine(
    queries: Tensor, keys: Tensor, k: int, excluded: Sequence[Collection[int]]
) -> np.ndarray:
    """Positions (B, k) of the keys with the largest cosine to each query, best first.

    Args:
        queries: (B, D).
        keys: (N, D), of length 1.
        k: at most N less those excluded.
        excluded: for each query, positions that are not returned.
    """
    cosines = torch.nn.functional.normalize(queries) @ keys.T
    for row, places in enumerate(excluded):
        cosines[row, list(places)] = -torch.inf
    found: np.ndarray = cosines.topk(k).indices.cpu().numpy()
    return found


class Memory:
    """Sentences of both styles, and how to find those like a query.

    Args:
        partitions: by style.
        k: sentences a query.
        ignored: ids that count in no search by words.
    """

    def __init__(
        self, partitions: tuple[Partition, Partition], k: int, ignored: Collection[int]
    ) -> None:
        self.partitions, self.k, self._ignored = partitions, k, ignored
        self._found = lru_cache(maxsize=4096)(self._search)  # steps on one batch ask the same

    def find(
        self,
        side: int,
        rows: Sequence[Row],
        excluded: Sequence[Sequence[Row]],
        seeds: Sequence[int],
        queries: Tensor,
        keys: tuple[Tensor, Tensor] | None,
    ) -> list[Row]:
        """``k`` sentences of a style for each row, best first; none is the row itself.

        Args:
            side: the style to search.
            rows: queries.
            excluded: of each query, other sentences that are not returned.
            seeds: of each query, for sentences that fill up; the draw depends on the query too.
            queries: the same as vectors (B, D).
            keys: vectors (N, D) of length 1 of both styles' sentences: the search is by cosine;
                ``None`` for a search by words.
        """
        partition = self.partitions[side]
        out = [
            frozenset(partition.places((row, *others)))
            for row, others in zip(rows, excluded, strict=True)
        ]
        if keys is None:
            cases = zip(rows, out, seeds, strict=True)
            places = [place for case in cases for place in self._found(side, *case)]
        else:
            places = nearest_by_cosine(queries, keys[side], self.k, out).flatten().tolist()
        return [partition.rows[place] for place in places]

    def _search(self, side: int, row: Row, out: frozenset[int], seed: int) -> list[int]:
        found = self._indexes[side].nearest(row, self.k, out, [seed, *row])
        return [int(place) for place in found]

    @cached_property
    def _indexes(self) -> tuple[Bm25, Bm25]:
        source, target = (Bm25(partition, self._ignored) for partition in self.partitions)
        return source, target
