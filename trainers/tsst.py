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
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..datasets_scripts.directions import Direction
from ..files import read_text, write_json
from ..settings import Count, NotNegative, Positive, Probability, Share, setting
from .system import Request, SystemCard, Task
from .training.loop import Learner, Terms, Update
from .training.networks import summed_word_loss
from .training.retrieval import Memory, Partition, Row
from .training.sampler import InTurn, Order
from .training.words import END, PAD, UNKNOWN, Vocabulary, lengths_of, padded
from .tsst_networks import REWRITE, Discriminator, Generator
from .word_system import Corpus, WordConfig, WordSystem


@dataclass(frozen=True, kw_only=True)
class TsstConfig(WordConfig):
    """The published settings for Yelp: the released ``config.py``, and ``train.py``."""

    dimension: Count = setting(256, "size of word vectors")
    hidden: Count = setting(512, "size of the decoder's state, and of each way of reading")
    filters: Count = setting(64, "the discriminator's filters of each width")
    retriever: Literal["sparse", "dense"] = setting(
        "sparse", "sparse: by words, BM25; dense: by learned queries"
    )
    retrieved: Count = setting(5, "K, sentences of the style to look at")
    refresh_every: Count = setting(200, "dense: generator steps between refreshes of all queries")
    min_count: Count = setting(1, "sentences' occurrences that make a word")
    max_length: Count = setting(18, "longest sentence, in words; the rest is cut")
    dropout: Share = setting(0.1, "of word vectors and of the discriminator's features")
    attention_dropout: Share = setting(0.1, "of attention weights")
    teacher_forcing: Probability = setting(
        0.0, "of all losses: how often the right word is read, not the written one"
    )
    batch_size: Count = setting(128, "sentences a step, all of one style")
    grouping: Count = setting(1, "batches whose sentences are sorted by length together")
    pretrain_epochs: NotNegative = setting(15.0, "epochs as a language model")
    self_epochs: NotNegative = setting(
        0.0, "not published: epochs of self-reconstruction alone, with the right words"
    )
    epochs: Positive = setting(10.0, "epochs of all losses; one sees half of the sentences")
    words_weight: NotNegative = setting(1.0, "of writing words of the retrieved sentences")
    discriminator_steps: Count = setting(1, "discriminator steps a generator step, on its batch")
    warm_up: Count = setting(3000, "steps in which a learning rate rises")
    first_rate: NotNegative = setting(1e-5, "learning rate at the start")
    highest_rate: Positive = setting(8e-4, "learning rate at the end of the warm-up")
    discriminator_rate: Positive = setting(8e-4, "the same of the discriminator")
    lowest_rate: NotNegative = setting(5e-5, "learning rate that it does not fall below")
    generator_power: NotNegative = setting(
        0.75, "fall of the generator's and language model's rate"
    )
    discriminator_power: NotNegative = setting(0.5, "fall of the discriminator's rate")
    weight_decay: NotNegative = setting(5e-5, "AdamW's, of the language model")
    clip: Positive = setting(3.0, "gradient norm")
    leaky_language_model: bool = setting(
        False, "as released: the way back predicts a word it has read"
    )
    cycle_sees_source: bool = setting(
        False, "as released: the way back may retrieve its own answer"
    )
    validate_every: Count = setting(500, "generator steps between validations")

    @property
    def longest_row(self) -> int:
        """Ids of the longest sentence: its words and its end."""
        return self.max_length + 1

    @classmethod
    def for_direction(cls, direction: Direction) -> TsstConfig:
        """Yelp's settings; the released ones for GYAFC for all other datasets."""
        if direction.dataset == "yelp":
            return cls()
        return cls(
            retriever="dense",
            max_length=32,
            dropout=0.2,
            attention_dropout=0.2,
            batch_size=64,
            epochs=15.0,
            discriminator_steps=5,
        )

    @classmethod
    def tstbench(cls, direction: Direction) -> TsstConfig:
        """The benchmark's log of Yelp has the dense retriever."""
        return replace(cls.for_direction(direction), retriever="dense")

    @classmethod
    def small(cls, direction: Direction) -> TsstConfig:
        """Smaller networks, higher rates, fewer steps; it learns to repeat first, which is quick.

        A rewrite keeps what self-reconstruction taught: no gradient of the way back reaches it. So
        the discriminator learns slowly and the bag of words weighs less: a quick discriminator
        (3e-3, two steps) took half of the content within 60 rounds, before the style changed.
        """
        yelp = direction.dataset == "yelp"  # two sentences of a hundred have more than 15 words
        return cls(
            max_length=15 if yelp else cls.for_direction(direction).max_length,
            dimension=128,
            hidden=128,
            filters=32,
            retrieved=2,
            min_count=7,
            batch_size=64,
            grouping=50,
            pretrain_epochs=0.15,
            self_epochs=1.8,
            epochs=0.8,
            warm_up=50,
            highest_rate=4e-3,
            discriminator_rate=1e-3,
            words_weight=0.5,
            generator_power=0.5,
            validate_every=30,
            hold_out=200,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> TsstConfig:  # noqa: ARG003
        """Learns next to nothing within seconds: for tests."""
        return cls(
            dimension=32,
            hidden=32,
            filters=4,
            retrieved=2,
            max_length=12,
            batch_size=16,
            pretrain_epochs=0.2,
            epochs=0.2,
            warm_up=5,
            highest_rate=5e-3,
            validate_every=20,
            hold_out=8,
        )


class TsstLearner(Learner):
    """A language model first, then one generator step and some discriminator steps a batch."""

    def __init__(self, system: Tsst, corpus: Corpus) -> None:
        config: TsstConfig = system.config
        self._system, self._corpus, self._config = system, corpus, config
        self._generator = system.network
        reader = self._generator.reader
        self.discriminator = Discriminator(config.dimension, config.filters, config.dropout)
        self.network = nn.ModuleDict(
            {"generator": self._generator, "discriminator": self.discriminator}
        )
        if config.retriever == "dense":
            # The reader as it was at the last refresh: a checkpoint has it, so that a resumed
            # training finds the sentences that it would have found.
            self._refreshed = deepcopy(reader)
            self.network["refreshed"] = self._refreshed
        self._keys: tuple[Tensor, Tensor] | None = None
        language = (reader.words, reader.lstm, self._generator.output)
        rate = config.highest_rate  # of every step, in Update.rates
        self.optimizers = {
            "language_model": torch.optim.AdamW(
                [p for part in language for p in part.parameters()] + [self._generator.start],
                lr=rate,
                weight_decay=config.weight_decay,
            ),
            "generator": torch.optim.Adam(self._generator.parameters(), lr=rate),
            "discriminator": torch.optim.Adam(
                self.discriminator.parameters(), lr=rate, betas=(0.5, 0.999)
            ),
        }
        self._mixed = Order(
            [len(row) for row in corpus.rows], config.batch_size, config.seed, config.grouping
        )
        self._batches = InTurn(corpus.lengths, config.batch_size, config.seed, config.grouping)
        self._pretraining = round(config.pretrain_epochs * self._mixed.steps_per_epoch)
        epoch = self._batches.steps_per_epoch
        self._repeating = round(config.self_epochs * epoch)
        self._round = 1 + config.discriminator_steps
        rounds = max(1, round(config.epochs * epoch))
        self.steps = self._pretraining + self._repeating + rounds * self._round
        self.validate_every = config.validate_every * self._round
        self.seed = config.seed

    def update(self, step: int) -> Update:
        """A language model's step, a generator's, or a discriminator's."""
        clip = self._config.clip
        if step < self._pretraining:
            name, rates = "language_model", {"language_model": self._rate(step + 1)}
            return Update(name, (name,), self._language_loss, self._mixed, step, rates, clip)
        step -= self._pretraining
        if step == 0:  # what the language model knows, the decoder knows
            self._generator.reader.lstm.start(self._generator.decoder.cell)
        name, loss, rate = "generator", self._self_loss, self._rate(step + 1)
        if step < self._repeating:
            if step % self._config.refresh_every == 0:
                self._refresh()
            return Update(name, (name,), loss, self._batches, step, {name: rate}, clip)
        number, place = divmod(step - self._repeating, self._round)
        if place == 0 and number % self._config.refresh_every == 0:
            self._refresh()
        self.discriminator.iterate()
        loss, rate = self._generator_loss, self._rate(self._repeating + number + 1)
        if place > 0:
            taken = number * self._config.discriminator_steps + place
            name, loss = "discriminator", self._discriminator_loss
            rate = self._rate(taken, discriminator=True)
        return Update(name, (name,), loss, self._batches, number, {name: rate}, clip)

    def _rate(self, step: int, *, discriminator: bool = False) -> float:
        config = self._config
        return inverse_power(
            step,
            warm_up=config.warm_up,
            first=config.first_rate,
            highest=config.discriminator_rate if discriminator else config.highest_rate,
            lowest=config.lowest_rate,
            power=config.discriminator_power if discriminator else config.generator_power,
        )

    def _language_loss(self, batch: np.ndarray) -> Terms:
        words, _ = self._batch(batch)
        forth, back = self._generator.language(words)
        if self._config.leaky_language_model:
            lost = summed_word_loss(back[:, :-1], words[:, 1:])
        else:  # place t has read word t and those after it; padding has read nothing
            before = words[:, :-1].masked_fill(words[:, 1:] == PAD, PAD)
            lost = summed_word_loss(back[:, 1:], before)
        count = self._n_words(batch)
        return {
            "forth": summed_word_loss(forth, words) / count / 2,
            "back": lost / max(count - len(batch), 1) / 2,
        }

    def _self_loss(self, batch: np.ndarray) -> Terms:
        generator, reader = self._generator, self._generator.reader
        words, side = self._batch(batch)
        reading = reader(words)
        own = self._retrieved(side, ids_of(words), reader.query(words, reading))
        logits = generator.teach(reading, generator.style(own), words, 1.0)
        return {"self": summed_word_loss(logits, words) / self._n_words(batch)}

    def _generator_loss(self, batch: np.ndarray) -> Terms:
        """The five losses of section 3.3; word losses are means over words that are no padding."""
        generator, reader = self._generator, self._generator.reader
        teacher = self._config.teacher_forcing
        words, side = self._batch(batch)
        rows = ids_of(words)
        reading = reader(words)
        query = reader.query(words, reading)
        own = self._retrieved(side, rows, query)
        other = self._retrieved(1 - side, rows, query)

        repeated = generator.teach(reading, generator.style(own), words, teacher)
        # What is read again is words, not soft ones: the way back teaches the way there nothing.
        rewritten, ids = generator.write(reading, generator.style(other), self._longest)
        written = ids_of(ids)
        reading_back = reader(ids)
        query_back = reader.query(ids, reading_back)
        hidden = None if self._config.cycle_sees_source else rows
        again = self._retrieved(side, written, query_back, hidden)
        back = generator.teach(reading_back, generator.style(again), words, teacher)

        lengths, own_lengths = lengths_of(ids), lengths_of(words)
        soft = F.softmax(rewritten, dim=-1) @ reader.words.weight
        verdict = self.discriminator(soft, lengths)
        wanted = torch.full_like(lengths, 1 - side)
        n = len(self._system.vocabulary)
        there = bag_of_words_loss(rewritten, lengths, bag_of(other, words, n))
        return_ = bag_of_words_loss(back, own_lengths, bag_of(again, ids, n))
        kept = 1 - F.cosine_similarity(query, query_back, dim=1)
        count, many = self._n_words(batch), len(batch)
        return {
            "self": summed_word_loss(repeated, words) / count,
            "cycle": summed_word_loss(back, words) / count,
            "style": F.cross_entropy(verdict, wanted, reduction="sum") / many,
            "query": kept.sum() / many,
            "words": self._config.words_weight * (there + return_).sum() / 2 / many,
        }

    def _discriminator_loss(self, batch: np.ndarray) -> Terms:
        """Real, repeated and retrieved sentences are of their style, a rewrite is a rewrite."""
        generator, reader = self._generator, self._generator.reader
        teacher = self._config.teacher_forcing
        words, side = self._batch(batch)
        rows = ids_of(words)
        with torch.no_grad():  # the generator does not learn here
            reading = reader(words)
            query = reader.query(words, reading)
            own = self._retrieved(side, rows, query)
            other = self._retrieved(1 - side, rows, query)
            repeated = generator.teach(reading, generator.style(own), words, teacher)
            rewritten, ids = generator.write(reading, generator.style(other), self._longest)
            table = reader.words.weight
            cases = {
                "real": (reader.words(words), words, side),
                "repeated": (F.softmax(repeated, dim=-1) @ table, words, side),
                "own": (reader.words(own.flatten(0, 1)), own.flatten(0, 1), side),
                "other": (reader.words(other.flatten(0, 1)), other.flatten(0, 1), 1 - side),
                "rewritten": (F.softmax(rewritten, dim=-1) @ table, ids, REWRITE),
            }
        terms = {}
        for name, (vectors, text, label) in cases.items():
            verdict = self.discriminator(vectors, lengths_of(text))
            labels = torch.full((len(text),), label, device=text.device)
            many = len(batch) * len(text) // len(words)  # K retrieved sentences for each
            terms[name] = F.cross_entropy(verdict, labels, reduction="sum") / many
        return terms

    @property
    def _longest(self) -> int:
        return self._config.longest_row

    def _batch(self, rows: np.ndarray) -> tuple[Tensor, int]:
        words, styles = self._corpus.batch(rows, self._system.device)
        return words, int(styles[0])

    def _n_words(self, batch: np.ndarray) -> int:
        return sum(len(self._corpus.rows[i]) for i in batch)

    def _retrieved(
        self, side: int, rows: list[Row], queries: Tensor, hidden: list[Row] | None = None
    ) -> Tensor:
        """Ids (B, K, L) of sentences of a style; ``hidden``: of each row, one not to find."""
        excluded: list[tuple[Row, ...]] = [()] * len(rows)
        if hidden is not None:
            excluded = [(row,) for row in hidden]
        found = self._system.memory.find(
            side, rows, excluded, [self.seed] * len(rows), queries.detach(), self._keys_now()
        )
        return padded(found).to(queries.device).view(len(rows), self._config.retrieved, -1)

    def _keys_now(self) -> tuple[Tensor, Tensor] | None:
        if self._config.retriever == "dense" and self._keys is None:
            self._keys = self._refreshed.keys(self._system.memory.partitions)
        return self._keys

    def _refresh(self) -> None:
        if self._config.retriever == "dense":
            self._refreshed.load_state_dict(self._generator.reader.state_dict())
            self._keys = None

    def validate(self) -> Mapping[str, float]:
        """ACC and self-BLEU of rewrites of held-out sentences."""
        # A copy of the system: it has no keys yet, and computes those of the weights as they are.
        return self._corpus.judge.scores(replace(self._system).rewritten)


def ids_of(words: Tensor) -> list[Row]:
    """Ids of sentences (B, T) without padding."""
    lengths = lengths_of(words).tolist()
    return [tuple(row[:n]) for row, n in zip(words.tolist(), lengths, strict=True)]


def bag_of(retrieved: Tensor, words: Tensor, n_words: int) -> Tensor:
    """Which words (B, V) retrieved sentences (B, K, L) have and sentences (B, T) have not."""
    bag = torch.zeros(len(words), n_words, dtype=torch.bool, device=words.device)
    bag.scatter_(1, retrieved.flatten(1), value=True)
    bag.scatter_(1, words, value=False)
    bag[:, [PAD, UNKNOWN, END]] = False
    return bag


def bag_of_words_loss(logits: Tensor, lengths: Tensor, wanted: Tensor) -> Tensor:
    """Each sentence's mean of ``-log p`` over the wanted words and over its places: (B,).

    Args:
        logits: (B, T, V).
        lengths: (B,), of what was written.
        wanted: (B, V), true for a word of the bag; an empty bag's loss is 0.
    """
    places = torch.arange(logits.shape[1], device=logits.device)
    inside = (places < lengths[:, None]).to(logits.dtype) / lengths[:, None]
    bag = wanted.to(logits.dtype)
    bag = bag / bag.sum(dim=1, keepdim=True).clamp(min=1)
    wished = torch.bmm(logits, bag[:, :, None])[:, :, 0]  # (B, T), the bag's mean logit
    lost = (torch.logsumexp(logits, dim=2) - wished) * inside
    return lost.sum(dim=1) * wanted.any(dim=1)


def inverse_power(
    step: int, *, warm_up: int, first: float, highest: float, lowest: float, power: float
) -> float:
    """Linear from ``first`` to ``highest``, then ``highest * (step / warm_up) ** -power``.

    Args:
        step: counted from 1.
        warm_up: steps of the linear part.
        first: the rate at step 0.
        highest: at step ``warm_up``.
        lowest: the rate never falls below this afterwards.
        power: of the fall.

    >>> rate = dict(warm_up=10, first=0.0, highest=1.0, lowest=0.1, power=0.5)
    >>> [inverse_power(step, **rate) for step in (5, 10, 40, 4000)]
    [0.5, 1.0, 0.5, 0.1]
    """
    if step < warm_up:
        return first + (highest - first) * step / warm_up
    return max(highest * (step / max(warm_up, 1)) ** -power, lowest)


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
