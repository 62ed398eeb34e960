"""TSST's training: the losses of section 3.3 and their schedule."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..learning.batches import InTurn
from ..learning.corpus import Corpus
from ..learning.loop import Learner, Terms, Update
from ..learning.order import Order
from ..learning.retrieval import Row
from ..learning.schedules import inverse_power
from ..learning.vocabulary import END, PAD, UNKNOWN, padded
from ..nets.losses import bag_of_words_loss, summed_word_loss
from ..nets.style_transformer import lengths_of
from ..nets.tsst import REWRITE, Discriminator
from .config import TsstConfig

if TYPE_CHECKING:
    from .system import Tsst


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
