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
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, cast

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from ...datasets_scripts.known import language_of
from ...datasets_scripts.training import TrainingData
from ...errors import InputError
from ...files import read_text, write_json
from ...metrics.scorers.device import Device, Placement
from ...metrics.text import preparation
from ..learning.checkpoints import save_weights
from ..learning.corpus import Corpus, by_length
from ..learning.loop import learn
from ..learning.retrieval import Memory, Partition
from ..learning.run import IN_MEMORY, Run
from ..learning.vocabulary import END, PAD, UNKNOWN, Vocabulary, padded
from ..nets.tsst import Generator
from ..settings import read_settings
from ..system import Request, System, SystemCard, SystemConfig, Task
from ..system_card import Family
from .config import TsstConfig
from .learner import TsstLearner

_WEIGHTS = "generator.safetensors"
_MEMORY = "memory.json"


@dataclass(frozen=True)
class Tsst(System):
    """One model for a pair of styles, which rewrites both ways.

    Attributes:
        card: its settings and training data.
        vocabulary: of the training sentences.
        memory: the training sentences, to retrieve from.
        generator: the network.
    """

    KIND: ClassVar[str] = "tsst"
    FAMILY: ClassVar[Family] = "fpft"
    BOTH_WAYS: ClassVar[bool] = True
    ORIGIN: ClassVar[str] = "Xiao et al. (2021), TSST; TSTBench's implementation"
    LIBRARIES: ClassVar[tuple[str, ...]] = ("torch", "bm25s")
    Config: ClassVar[type[SystemConfig]] = TsstConfig

    card: SystemCard
    vocabulary: Vocabulary
    memory: Memory
    generator: Generator

    @classmethod
    def train(cls, data: TrainingData, config: TsstConfig, run: Run = IN_MEMORY) -> Tsst:
        """Learn from the sentences of both styles; validation sentences choose the weights.

        Raises:
            InputError: a style has too few sentences.
        """
        corpus = Corpus.of(
            data,
            min_count=config.min_count,
            max_length=config.max_length + 1,
            held_out=config.hold_out,
            seed=config.seed,
        )
        sides = (corpus.rows[: corpus.n_source], corpus.rows[corpus.n_source :])
        torch.manual_seed(config.seed)
        system = cls.prepared(cls.planned(data, config), corpus.vocabulary, sides, config)
        learned = learn(TsstLearner(system, corpus), run, system.card.recipe)
        return replace(system, card=replace(system.card, scores=dict(learned.scores)))

    @classmethod
    def prepared(
        cls,
        card: SystemCard,
        vocabulary: Vocabulary,
        sides: Sequence[Iterable[Sequence[int]]],
        config: TsstConfig,
    ) -> Tsst:
        """An untrained system with sentences of both styles, as ids, to retrieve from.

        Raises:
            InputError: a style has too few sentences.
        """
        memory = _memory(sides, vocabulary, config, card.name)
        return cls(card, vocabulary, memory, _generator(config, neutrality(sides, len(vocabulary))))

    @property
    def config(self) -> TsstConfig:
        """The settings of its card."""
        return read_settings(TsstConfig, self.card.settings, self.KIND)

    @cached_property
    def _keys(self) -> tuple[Tensor, Tensor] | None:
        if self.config.retriever == "sparse":
            return None
        return self.generator.reader.keys(self.memory.partitions)

    def rewritten(
        self, sentences: Sequence[str], side: int, seeds: Sequence[int] | None = None
    ) -> list[str]:
        """Tokenised sentences of a style (0: source, 1: target), in the other style.

        ``seeds``: of each sentence, for the sentences that fill up what was retrieved.
        """
        config, device = self.config, self.generator.start.device
        rows = [tuple(self.vocabulary.encode(s.split(), config.max_length + 1)) for s in sentences]
        draws = [config.seed] * len(rows) if seeds is None else seeds

        def write(batch: list[int]) -> list[str]:
            words = padded([rows[i] for i in batch]).to(device)
            with torch.inference_mode():
                reading = self.generator.reader(words)
                found = self.memory.find(
                    1 - side,
                    [rows[i] for i in batch],
                    [()] * len(batch),
                    [draws[i] for i in batch],
                    self.generator.reader.query(words, reading),
                    self._keys,
                )
                like = padded(found).to(device).view(len(batch), config.retrieved, -1)
                steps, never = config.max_length + 1, (PAD, UNKNOWN)
                style = self.generator.style(like)
                _, written = self.generator.write(reading, style, steps, never)
            return [" ".join(self.vocabulary.decode(ids)) for ids in written.tolist()]

        return by_length(rows, self.BATCH_SIZE, write)

    def rewrite(self, batch: Sequence[Request], task: Task) -> list[str]:
        """The likeliest words, one after the other; the unknown word is never written."""
        text = preparation(language_of(task.direction))
        sources = text.for_language_model([request.source for request in batch])
        side = self.card.directions.index(task.direction.name)
        seeds = [task.random(request).getrandbits(32) for request in batch]
        return [text.cleaning(words) for words in self.rewritten(sources, side, seeds)]

    def write(self, folder: Path) -> None:
        """Write ``vocabulary.json``, ``memory.json`` and ``generator.safetensors``."""
        self.vocabulary.save(folder)
        write_json(folder / _MEMORY, [list(part.rows) for part in self.memory.partitions])
        save_weights(self.generator, folder / _WEIGHTS)

    @classmethod
    def read(cls, folder: Path, card: SystemCard, device: str) -> Tsst:
        """Read back what :meth:`write` wrote.

        Raises:
            InputError: a file does not have the written format, or there is no such device.
        """
        try:
            vocabulary = Vocabulary.load(folder)
            config = read_settings(TsstConfig, card.settings, cls.KIND)
            source, target = json.loads(read_text(folder / _MEMORY))
            memory = _memory((source, target), vocabulary, config, card.name)
            generator = _generator(config, torch.zeros(len(vocabulary)))
            generator.load_state_dict(load_file(folder / _WEIGHTS))
        except (ValueError, TypeError, RuntimeError, OSError, SafetensorError) as error:
            raise InputError(f"{folder} is not a tsst system: {error!r}") from error
        placed = Placement(cast(Device, device)).resolve()
        return cls(card, vocabulary, memory, generator.to(placed).eval().requires_grad_(False))


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
