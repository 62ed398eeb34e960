"""TSST: rewrite a sentence while looking at similar sentences of the other style.

Xiao et al. (EMNLP 2021), "Transductive Learning for Unsupervised Text Style Transfer". The style
to write in is not an id: it is K sentences of that style that resemble the input, retrieved from
the training sentences and encoded, so that its expression fits the context (section 3.2). An
attentive BiLSTM encoder-decoder learns from unpaired sentences to repeat a sentence, to come back
from its rewrite, to convince a discriminator, to keep its query, and to use words of the retrieved
sentences (section 3.3). It begins as a language model. All its loss terms have weight 1.

Where we differ from the released code (github.com/xiaofei05/TSST), and why:

- Its language model's way back predicts the word it has just read past, which it has seen; ours
  predicts the word before (``leaky_language_model`` for theirs).
- The way back from a rewrite may retrieve the very sentence it must write; ours may not
  (``cycle_sees_source`` for theirs).
- Its discriminator and its bag-of-words loss also see what follows a sentence's end; ours do not.
- Its decoder begins with a start symbol that is also read; ours begins with a learned vector.
- Power iterations of the spectral norms: one a step, not one a call.
- It drops unknown words from what it wrote; ours never writes one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor

from ...files import read_text, write_json
from ..learning.corpus import Corpus
from ..learning.loop import Learner
from ..learning.retrieval import Memory, Partition
from ..learning.vocabulary import END, PAD, UNKNOWN, Vocabulary
from ..nets.tsst import Generator
from ..system import Request, SystemCard, Task
from ..word_config import WordConfig
from ..word_system import WordSystem
from .config import TsstConfig
from .learner import TsstLearner, ids_of

_MEMORY = "memory.json"


@dataclass(frozen=True)
class Tsst(WordSystem):
    """An encoder-decoder that looks at similar target sentences.

    Attributes:
        memory: the training sentences, to retrieve from.
    """

    KIND: ClassVar[str] = "tsst"
    ORIGIN: ClassVar[str] = "Xiao et al. (2021), TSST; TSTBench's implementation"
    LIBRARIES: ClassVar[tuple[str, ...]] = ("torch", "bm25s")
    Config: ClassVar[type[WordConfig]] = TsstConfig

    network: Generator
    memory: Memory

    @staticmethod
    def new_network(n_words: int, config: TsstConfig) -> Generator:
        """The encoder-decoder, with random weights; to a query, all words are equal."""
        return _generator(config, torch.zeros(n_words))

    @classmethod
    def begun(cls, card: SystemCard, corpus: Corpus, config: TsstConfig) -> Tsst:
        """A system that has sentences of both styles to retrieve from.

        Raises:
            InputError: a style has too few sentences.
        """
        sides = (corpus.rows[: corpus.n_source], corpus.rows[corpus.n_source :])
        memory = _memory(sides, corpus.vocabulary, config, card.name)
        network = _generator(config, neutrality(sides, len(corpus.vocabulary)))
        return cls(card, corpus.vocabulary, network, memory)

    def learner(self, corpus: Corpus) -> Learner:
        """What trains the network."""
        return TsstLearner(self, corpus)

    @cached_property
    def _keys(self) -> tuple[Tensor, Tensor] | None:
        if self.config.retriever == "sparse":
            return None
        return self.network.reader.keys(self.memory.partitions)

    def requested(
        self, sentences: Sequence[str], side: int, batch: Sequence[Request], task: Task
    ) -> list[str]:
        """Each sentence draws what fills up its retrieved sentences."""
        rows = self.rows(sentences)
        seeds = [task.random(request).getrandbits(32) for request in batch]

        def write(some: list[int]) -> Tensor:
            words = self.padded([rows[i] for i in some])
            return self.written(words, 1 - side, task.settings, [seeds[i] for i in some])

        return self.in_batches(rows, write)

    def written(
        self,
        words: Tensor,
        style: int,
        settings: Any,  # noqa: ARG002
        seeds: Sequence[int] | None = None,
    ) -> Tensor:
        """The likeliest words (B, S), one after the other.

        ``seeds``: of each sentence, for the sentences that fill up what was retrieved.
        """
        config, network = self.config, self.network
        rows = ids_of(words)
        reading = network.reader(words)
        found = self.memory.find(
            style,
            rows,
            [()] * len(rows),
            [config.seed] * len(rows) if seeds is None else seeds,
            network.reader.query(words, reading),
            self._keys,
        )
        like = self.padded(found).view(len(rows), config.retrieved, -1)
        never = (PAD, UNKNOWN)
        _, written = network.write(reading, network.style(like), config.longest_row, never)
        return written

    def write(self, folder: Path) -> None:
        """Write the vocabulary, the weights, and the sentences in ``memory.json``."""
        super().write(folder)
        write_json(folder / _MEMORY, [list(part.rows) for part in self.memory.partitions])

    @classmethod
    def read_more(cls, folder: Path, vocabulary: Vocabulary, config: Any) -> dict[str, Any]:
        """The sentences to retrieve from."""
        source, target = json.loads(read_text(folder / _MEMORY))
        return {"memory": _memory((source, target), vocabulary, config, cls.KIND)}


def neutrality(sides: Sequence[Iterable[Sequence[int]]], n_words: int) -> Tensor:
    """``1 - |f0 - f1| / (f0 + f1)`` of each word (V,), f its count in a style; 0 of no word.

    A query begins with these weights: words of one style count less (section 3.2).
    """
    counts = [Counter(word for row in rows for word in row) for rows in sides]
    found = torch.zeros(n_words)
    for word in {word for count in counts for word in count} - {PAD, UNKNOWN, END}:
        first, second = (count[word] for count in counts)
        found[word] = 1 - abs(first - second) / (first + second)
    return found


def _memory(
    sides: Sequence[Iterable[Sequence[int]]], vocabulary: Vocabulary, config: TsstConfig, what: str
) -> Memory:
    # Of the sentences found, neither the query nor what it is a rewrite of is one.
    enough = config.retrieved + 2
    source, target = (Partition.of(rows, enough, what) for rows in sides)
    # Elasticsearch's standard analyser keeps no punctuation.
    silent = {i for i, w in enumerate(vocabulary.words, UNKNOWN + 2) if not _spoken(w)}
    return Memory((source, target), config.retrieved, silent | {PAD, UNKNOWN, END})


def _spoken(word: str) -> bool:
    return any(character.isalnum() for character in word)


def _generator(config: TsstConfig, weights: Tensor) -> Generator:
    return Generator(
        weights,
        config.dimension,
        config.hidden,
        dropout=config.dropout,
        attention_dropout=config.attention_dropout,
    )
