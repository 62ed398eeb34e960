"""NAST: a non-autoregressive generator with word alignment.

Huang et al. (Findings of ACL 2021), "NAST: A Non-Autoregressive Generator with Word Alignment for
Unsupervised Text Style Transfer". It learns as the Style Transformer does (:mod:`.stytrans`): from
self-reconstruction, here of a noisy sentence, from cycle reconstruction and from a discriminator.
But it writes all words at once, each from a source word it is aligned to (section 3.2): from the
word at the same place (*simple*), or from places that a small autoregressive model predicts, which
leaves words out and adds others (*learnable*). The words of a
rewrite stay soft while it learns: relaxed samples with Gumbel noise.

Where we differ from the released code (thu-coai/NAST): its embeddings start at zero, ours at
random; its position model skips its last layer norm while it learns, but not while it writes, ours
always has it; it chooses weights for each direction by the square root of (ACC - 0.8) times
(self-BLEU - 0.4), both at least 0, which is 0 for every weak model; ours chooses one set of weights
for both by the mean of ACC times self-BLEU, as all systems here do. Its sentences share one noise
per batch position; ours have their own, whatever batch they are in. It never removes unknown words
from an answer; ours never write any.

TSTBench's own runs differ from the paper's: see :meth:`NastConfig.for_direction` and
``warm_up_cycle``; paper_index.md has the values it tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..datasets_scripts.catalog import dataset_facts
from ..datasets_scripts.directions import Direction
from ..errors import InputError
from ..settings import Natural, NotNegative, Probability, Share, setting
from .stytrans import AdversarialConfig, AdversarialLearner, Mode, Reader, blanked
from .training.loop import Learner, Terms
from .training.networks import Decoder, Shape, summed_word_loss
from .training.words import END, PAD, UNKNOWN, lengths_of, padded
from .word_system import Corpus, WordConfig, WordSystem

_FIRST = END + 1  # id of the first word


@dataclass(frozen=True)
class Noise:
    """How much of each noise.

    Attributes:
        blank: share of words that become the unknown word.
        drop: share of words that are left out.
        insert: chance of a word before each word but the first.
    """

    blank: float = 0.0
    drop: float = 0.0
    insert: float = 0.0


def noisy(
    ids: Sequence[int],
    noise: Noise,
    foreign: np.ndarray,
    max_length: int,
    random: np.random.Generator,
) -> list[int]:
    """A sentence with blanks, then foreign words, then without some of its words.

    Args:
        ids: ``END`` last.
        noise: how much of each.
        foreign: cumulative probabilities (V,) of the words to insert, of :func:`cumulative`.
        max_length: of the result, its end included; beyond it, nothing is inserted.
        random: where chance comes from.
    """
    words = blanked(ids, noise.blank, random)
    words = inserted(words, noise.insert, foreign, max_length, random)
    return dropped(words, noise.drop, random)


def dropped(ids: Sequence[int], share: float, random: np.random.Generator) -> list[int]:
    """Each word is left out with this chance; one word stays, whichever.

    >>> len(dropped([5, 6, 7, END], 1.0, np.random.default_rng(0)))
    2
    """
    words = ids[:-1]
    kept = [word for word, u in zip(words, random.random(len(words)), strict=True) if u >= share]
    if words and not kept:
        kept = [words[int(random.integers(len(words)))]]
    return [*kept, ids[-1]]


def inserted(
    ids: Sequence[int],
    chance: float,
    foreign: np.ndarray,
    max_length: int,
    random: np.random.Generator,
) -> list[int]:
    """Before each id but the first, words of another distribution come in.

    After each of them another one follows with the same chance, so that a place is an insertion
    with that chance, as in the released code.

    Args:
        ids: ``END`` last.
        chance: of one more word, below 1.
        foreign: cumulative probabilities (V,) of these words.
        max_length: of the result.
        random: where chance comes from.
    """
    room = max_length - len(ids)
    found = list(ids[:1])
    for word in ids[1:]:
        while room > 0 and random.random() < chance:
            found.append(int(np.searchsorted(foreign, random.random(), side="right")))
            room -= 1
        found.append(word)
    return found


def cumulative(
    rows: Sequence[Sequence[int]], n_words: int, document_shares: np.ndarray
) -> np.ndarray:
    """Cumulative probabilities (V,) of a style's words, rare ones of both styles preferred.

    A word's weight is its count times ``log(0.3 / share)`` where that is positive; ``share`` is
    the sum over the styles of the shares of sentences that have the word (NAST's released
    ``noise.py``).

    Args:
        rows: the style's sentences.
        n_words: V.
        document_shares: (V,), of :func:`shares`, summed over the styles.
    """
    counts = np.bincount(np.concatenate([np.asarray(row) for row in rows]), minlength=n_words)
    rarity = np.maximum(np.log(0.3 / (document_shares + 1e-10)), 0)
    weights = counts * rarity
    weights[:_FIRST] = 0
    if not weights.any():  # a tiny corpus, whose words are all frequent
        weights = counts.astype(float)
        weights[:_FIRST] = 0
    total = np.cumsum(weights)
    return np.asarray(total / total[-1])


def shares(rows: Sequence[Sequence[int]], n_words: int) -> np.ndarray:
    """Shares (V,) of sentences that have each word.

    >>> shares([[3, 3, 2], [2]], 4).tolist()
    [0.0, 0.0, 1.0, 0.5]
    """
    found = np.zeros(n_words)
    for row in rows:
        found[np.unique(row)] += 1
    return found / len(rows)


@dataclass(frozen=True, kw_only=True)
class NastConfig(AdversarialConfig):
    """The published settings for Yelp; see the paper's section 4.2 and the released ``run.py``."""

    warm_up: Natural = setting(1000, "first steps, of self-reconstruction")
    warm_up_cycle: bool = setting(False, "cycle reconstruction in the warm-up, as TSTBench ran it")
    alignment: Literal["simple", "learnable"] = setting(
        "learnable", "simple: a word for each word; learnable: words are left out and added"
    )
    decoder_input: Input = setting("encoded", "encoded: encodings of source words; raw: vectors")
    soft_words: Literal["gumbel", "softmax"] = setting(
        "gumbel", "gumbel: relaxed samples; softmax: probabilities"
    )
    blank: Probability = setting(0.1, "noise: share of words that become unknown")
    drop: Share = setting(0.05, "noise: share of words that are left out")
    insert: Share = setting(1 / 0.95 - 1, "noise: chance of a word of the other style")
    self_weight: NotNegative = setting(0.5, "weight of self-reconstruction")
    cycle_weight: NotNegative = setting(0.5, "weight of cycle reconstruction")
    position_weight: NotNegative = setting(1.0, "weight of the jumps' losses")
    forward_weight: NotNegative = setting(
        1.5, "weight of the verdict on rewrites of the source style"
    )
    back_weight: NotNegative = setting(1.0, "weight of the verdict on rewrites of the target style")
    discriminator: Mode = setting(
        "conditional", "multi: which style, or a rewrite; conditional: does a style fit"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.alignment == "simple" and (self.drop or self.insert):
            raise InputError(
                "alignment simple writes a word for each word, so noise must not change a "
                "sentence's length: set drop and insert to 0"
            )

    @property
    def noise(self) -> Noise:
        """Of self-reconstruction."""
        return Noise(self.blank, self.drop, self.insert)

    @classmethod
    def for_direction(cls, direction: Direction) -> NastConfig:
        """Yelp: learnable alignment; other corpora: simple, and sentences of 32 words.

        The larger weight of the verdict is for rewrites of a dataset's first style.
        """
        first = dataset_facts(direction.dataset).styles[0] == direction.source_style
        weights = (1.5, 1.0) if first else (1.0, 1.5)
        config = cls(forward_weight=weights[0], back_weight=weights[1])
        if direction.dataset == "yelp":
            return config
        return replace(
            config,
            alignment="simple",
            warm_up=500,
            max_length=32,
            blank=0.2,
            drop=0.0,
            insert=0.0,
        )

    @classmethod
    def tstbench(cls, direction: Direction) -> NastConfig:
        """The benchmark's scripts: 50 rounds an epoch, a warm-up with the cycle loss.

        Of what it searched, the paper's values are kept where they are in its grid.
        """
        formality, amazon = direction.dataset.startswith("gyafc"), direction.dataset == "amazon"
        return replace(
            cls.for_direction(direction),
            rounds=50 * (400 if formality else 300),
            warm_up=3000 if formality or amazon else 1000,
            warm_up_cycle=True,
            cycle_weight=0.25,
            learning_rate=5e-4 if formality else 1e-4,
        )

    @classmethod
    def small(cls, direction: Direction) -> NastConfig:
        """As all adversarial ones, with a short warm-up."""
        return replace(super().small(direction), warm_up=150, rounds=400, validate_every=25)


# Alignment (section 3.2 and the appendix): a written word is at a place of the source: 0 is the
# style before it, 1 to L its words, L + 1 beyond its end. Places never go back; a jump from one
# word to the next is at most MAX_JUMP places: 0 writes a word that the source lacks, 2 or 3 leave
# words out.
MAX_JUMP = 3
_NEVER = 1e9  # a cost that only a sentence without a possible alignment pays


def align(source: Tensor, lengths: Tensor, target: Tensor, target_lengths: Tensor) -> Tensor:
    """The cheapest places of a target's words in a source, by dynamic programme.

    A word at a new place costs the squared distance of its vector to the source word's; one
    without a source word costs its own squared length.

    Args:
        source: word vectors (B, T, D).
        lengths: of the sources (B).
        target: word vectors (B, S, D).
        target_lengths: (B).

    Returns:
        Places (B, S), from 1; ``lengths + 1`` behind a target's end. The last word is at most
        :data:`MAX_JUMP` places before ``lengths + 1``. Where no such alignment exists (a source
        three times as long as its target), a jump is longer.
    """
    size, width = source.shape[:2]
    alone = target.square().sum(dim=-1) + 1e-6  # (B, S)
    distance = torch.cdist(
        target, source, compute_mode="donot_use_mm_for_euclid_dist"
    ).square()  # (B, S, T)
    places = torch.arange(width, device=source.device)
    distance = distance.masked_fill(places >= lengths[:, None, None], _NEVER)
    never = source.new_full((size, MAX_JUMP), _NEVER)
    cost = distance[:, 0].clone()
    cost[:, MAX_JUMP:] = _NEVER
    jumps = []
    for word in range(1, target.shape[1]):
        before = torch.cat([never, cost], dim=1)  # (B, MAX_JUMP + T)
        options = [cost + alone[:, word, None]]
        for jump in range(1, MAX_JUMP + 1):
            options.append(before[:, MAX_JUMP - jump :][:, :width] + distance[:, word])
        cheapest, jump_here = torch.stack(options).min(dim=0)
        inside = (word < target_lengths)[:, None]
        cost = torch.where(inside, cheapest, cost)
        jumps.append(torch.where(inside, jump_here, 0))
    far = places < lengths[:, None] - MAX_JUMP
    place = cost.masked_fill(far, 2 * _NEVER).argmin(dim=1)  # (B,), from 0
    found = [place]
    for jump_here in reversed(jumps):
        place = (place - jump_here.gather(1, place[:, None])[:, 0]).clamp(min=0)
        found.append(place)
    path = torch.stack(found[::-1], dim=1) + 1
    behind = torch.arange(target.shape[1], device=path.device) >= target_lengths[:, None]
    return torch.where(behind, lengths[:, None] + 1, path)


class Slots:
    """What the decoder reads at each place of a source.

    Args:
        inputs: vectors (B, T + 1, D), the first of the style.
        lengths: of the sources (B).
        blank: vector (D) of a word without a source word.
        end: vector (D) of what is beyond the end.
    """

    def __init__(self, inputs: Tensor, lengths: Tensor, blank: Tensor, end: Tensor) -> None:
        beyond = torch.arange(inputs.shape[1], device=inputs.device) > lengths[:, None]
        filled = torch.where(beyond[..., None], end, inputs)
        self.lengths, self.blank = lengths, blank
        more = end.expand(len(inputs), MAX_JUMP + 1, -1)
        self.vectors = torch.cat([filled, more], dim=1)  # (B, T + 5, D)

    def at(self, places: Tensor, fresh: Tensor) -> Tensor:
        """Vectors (B, S, D) at places (B, S); the blank where a word is ``fresh`` (B, S)."""
        index = places[..., None].expand(-1, -1, self.vectors.shape[2])
        return torch.where(fresh[..., None], self.blank, self.vectors.gather(1, index))


class PositionModel(nn.Module):
    """Predicts each jump from the words at the places so far."""

    def __init__(self, shape: Shape, max_length: int, layers: int = 3) -> None:
        super().__init__()
        self.max_length = max_length
        self.positions = nn.Embedding(max_length + 1, shape.dimension)
        self.decoder = Decoder(replace(shape, layers=layers))
        self.query = nn.Linear(shape.dimension, shape.dimension)
        self.key = nn.Linear(shape.dimension, shape.dimension)
        self.bias = nn.Linear(shape.dimension, MAX_JUMP + 1)
        nn.init.normal_(self.positions.weight, std=shape.dimension**-0.5)

    def teach(self, slots: Slots, memory: Tensor, mask: Tensor, places: Tensor) -> Tensor:
        """Scores (B, S + 1, 4) of the jumps from 0 and from each of the places (B, S)."""
        start = F.pad(places, (1, 0))
        order = torch.arange(start.shape[1], device=places.device)
        vectors = slots.at(start, fresh(places)) + self.positions(order)
        hidden, _ = self.decoder(vectors, self.decoder.memory(memory), mask)
        return self._scores(hidden, start, self.key(slots.vectors), self.key(slots.blank))

    def loss(self, scores: Tensor, places: Tensor, lengths: Tensor, written: Tensor) -> Tensor:
        """Sum of ``-log p`` of the jumps: to each place, and from the last one beyond the end.

        Args:
            scores: (B, S + 1, 4), of :meth:`teach`.
            places: (B, S).
            lengths: of the sources (B).
            written: lengths of the targets (B); jumps behind them do not count.
        """
        path = torch.cat([F.pad(places, (1, 0)), lengths[:, None] + 1], dim=1)
        jumps = path.diff(dim=1).clamp(0, MAX_JUMP)  # (B, S + 1)
        counts = torch.arange(jumps.shape[1], device=jumps.device) <= written[:, None]
        losses = F.cross_entropy(scores.transpose(1, 2), jumps, reduction="none")
        return (losses * counts).sum()

    @torch.no_grad()
    def walk(self, slots: Slots, memory: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """The likeliest jump, one after the other, until all are beyond their ends.

        Returns:
            Places (B, S), and the number of words (B) that are written, 1 at least.
        """
        seen_memory, seen = self.decoder.memory(memory), None
        keys, blank = self.key(slots.vectors), self.key(slots.blank)
        place = torch.zeros(len(memory), 1, dtype=torch.long, device=memory.device)
        is_fresh, last = torch.zeros_like(place, dtype=torch.bool), slots.lengths[:, None] + 1
        jumps = torch.arange(MAX_JUMP + 1, device=memory.device)
        places = []
        for step in range(self.max_length):
            vector = slots.at(place, is_fresh) + self.positions.weight[step]
            hidden, seen = self.decoder(vector, seen_memory, mask, seen)
            scores = self._scores(hidden, place, keys, blank)[:, 0]
            if step == 0:  # the first word is one of the source's
                scores = scores.masked_fill((jumps == 0) | (jumps >= last), -torch.inf)
            jump = scores.argmax(dim=1, keepdim=True)
            is_fresh, place = jump == 0, torch.minimum(place + jump, last)
            places.append(place)
            if (place == last).all():
                break
        path = torch.cat(places, dim=1)
        return path, (path < last).sum(dim=1)

    def _scores(self, hidden: Tensor, places: Tensor, keys: Tensor, blank: Tensor) -> Tensor:
        asked = self.query(hidden)  # (B, S, D)
        reach = places[..., None] + torch.arange(1, MAX_JUMP + 1, device=places.device)
        index = reach.flatten(1)[..., None].expand(-1, -1, keys.shape[2])
        offered = keys.gather(1, index).unflatten(1, reach.shape[1:])  # (B, S, 3, D)
        moves = (offered @ asked[..., None])[..., 0]
        scores = torch.cat([(asked @ blank)[..., None], moves], dim=2) / keys.shape[2] ** 0.5
        biased: Tensor = scores + self.bias(hidden)
        return biased


def fresh(places: Tensor) -> Tensor:
    """Which of the style and the words at places (B, S) have no source word: (B, S + 1)."""
    return F.pad(F.pad(places, (1, 0)).diff(dim=1) == 0, (1, 0))


Input = Literal["encoded", "raw"]


class ParallelGenerator(nn.Module):
    """Reads a sentence with a style before it; writes its words at once.

    Args:
        n_words: V.
        shape: of encoder, decoder and position model.
        max_length: words of a sentence, its end included.
        learnable: whether words may be left out and added; otherwise one is written for each.
        reads: what the decoder reads of a source word: its encoding, or its vector.
    """

    def __init__(
        self, n_words: int, shape: Shape, max_length: int, *, learnable: bool, reads: Input
    ) -> None:
        super().__init__()
        self.reads = reads
        self.reader = Reader(n_words, shape, max_length)
        self.decoder = Decoder(shape)
        self.output = nn.Linear(shape.dimension, n_words)
        self.positions = PositionModel(shape, max_length) if learnable else None

    def teach(
        self, words: Tensor, lengths: Tensor, styles: Tensor, target: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Logits (B, S, V) of the words of ``target`` (B, S), and the summed loss of the jumps.

        Simple alignment takes the target's words at the places of ``words``: S is T, and there is
        no loss of jumps.

        Args:
            words: ids (B, T) or soft words (B, T, V).
            lengths: (B), the end included.
            styles: (B), to write in.
            target: ids (B, S).
        """
        memory, mask, inputs = self._read(words, lengths, styles)
        if self.positions is None:
            return self._written(inputs, mask, memory, mask), None
        written = lengths_of(target)
        with torch.no_grad():
            vectors = self.reader.words.vectors.weight
            blanks = vectors.clone()
            blanks[UNKNOWN] = 0.0  # a blank is as far from every word as no word at all
            found = words @ blanks if words.is_floating_point() else blanks[words]
            places = align(found, lengths, vectors[target], written)
        slots = self._slots(inputs, lengths)
        scores = self.positions.teach(slots, memory, mask, places)
        loss = self.positions.loss(scores, places, lengths, written)
        return self._at(slots, places, written, memory, mask), loss

    def write(self, words: Tensor, lengths: Tensor, styles: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, S, V) of all words of a rewrite, and how many (B) there are."""
        memory, mask, inputs = self._read(words, lengths, styles)
        if self.positions is None:
            return self._written(inputs, mask, memory, mask), lengths
        slots = self._slots(inputs, lengths)
        places, written = self.positions.walk(slots, memory, mask)
        return self._at(slots, places, written, memory, mask), written

    def _read(
        self, words: Tensor, lengths: Tensor, styles: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        vectors, mask = self.reader.embed(words, lengths, styles)
        memory = self.reader.encoder(vectors, mask)
        return memory, mask, memory if self.reads == "encoded" else vectors

    def _slots(self, inputs: Tensor, lengths: Tensor) -> Slots:
        vectors = self.reader.words.vectors.weight
        return Slots(inputs, lengths, vectors[UNKNOWN], vectors[END])

    def _at(
        self, slots: Slots, places: Tensor, written: Tensor, memory: Tensor, mask: Tensor
    ) -> Tensor:
        start = F.pad(places, (1, 0))
        seen = torch.arange(start.shape[1], device=places.device) <= written[:, None]
        return self._written(slots.at(start, fresh(places)), seen, memory, mask)

    def _written(self, slots: Tensor, seen: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        vectors, _ = self.decoder(slots, self.decoder.memory(memory), mask, own_mask=seen)
        logits: Tensor = self.output(vectors[:, 1:])  # the style is not a word
        return logits


class _Learner(AdversarialLearner):
    """Section 3.4 of the paper."""

    def __init__(self, system: Nast, corpus: Corpus) -> None:
        super().__init__(system.network, system.config, corpus, system.rewritten)
        self._generator, self._config = system.network, system.config
        n_words = len(corpus.vocabulary)
        sides = corpus.rows[: corpus.n_source], corpus.rows[corpus.n_source :]
        documents = shares(sides[0], n_words) + shares(sides[1], n_words)
        # What is inserted into a sentence is of the other style.
        self._foreign = [cumulative(side, n_words, documents) for side in reversed(sides)]

    def warm_up_loss(self, batch: np.ndarray, step: int) -> Terms:
        terms = self._self_loss(batch, step)
        if self._config.warm_up_cycle:
            words, styles = self.batch(batch)
            terms |= self._word_loss("cycle", self.rewritten(words, 1 - styles), words, styles)
        return terms

    def generator_loss(self, batch: np.ndarray, step: int) -> Terms:
        config = self._config
        words, styles = self.batch(batch)
        rewrite = self.rewritten(words, 1 - styles)
        doubt = self.discriminator.doubt(*rewrite, 1 - styles)
        weight = torch.where(styles == 0, config.forward_weight, config.back_weight)
        return {
            **self._self_loss(batch, step),
            **self._word_loss("cycle", rewrite, words, styles),
            "style": (weight * doubt).sum() / len(batch),
        }

    def _self_loss(self, batch: np.ndarray, step: int) -> dict[str, Tensor]:
        words, styles = self.batch(batch)
        damaged = padded([self._noisy(int(index), step) for index in batch]).to(words.device)
        return self._word_loss("self", (damaged, lengths_of(damaged)), words, styles)

    def _word_loss(
        self,
        name: Literal["self", "cycle"],
        source: tuple[Tensor, Tensor],
        words: Tensor,
        styles: Tensor,
    ) -> dict[str, Tensor]:
        config = self._config
        weight = config.self_weight if name == "self" else config.cycle_weight
        logits, jumps = self._generator.teach(*source, styles, words)
        terms: dict[str, Tensor] = {name: weight * summed_word_loss(logits, words) / len(words)}
        if jumps is not None:
            terms[f"{name}_jumps"] = config.position_weight * jumps / len(words)
        return terms

    def discriminator_loss(self, batch: np.ndarray, step: int) -> Terms:  # noqa: ARG002
        words, styles = self.batch(batch)
        with torch.no_grad():  # rewrites as they are: the generator does not learn here
            own, other = self.rewritten(words, styles), self.rewritten(words, 1 - styles)
        losses = self.discriminator.losses(words, styles, own, other)
        return {name: loss / len(batch) for name, loss in losses.items()}

    def rewritten(self, words: Tensor, styles: Tensor) -> tuple[Tensor, Tensor]:
        """Soft words (B, S, V) in these styles, and their lengths (B)."""
        config = self._config
        logits, lengths = self._generator.write(words, lengths_of(words), styles)
        logits = logits / config.temperature
        gumbel = config.soft_words == "gumbel"
        soft = F.gumbel_softmax(logits, dim=-1) if gumbel else F.softmax(logits, dim=-1)
        if config.alignment == "simple":
            # Only an early end shortens a sentence; what is written on padding is no word of it.
            lengths = torch.minimum(lengths, lengths_of(soft))
        return soft, lengths

    def _noisy(self, index: int, step: int) -> list[int]:
        random = np.random.default_rng([self.seed, step, index])
        foreign = self._foreign[int(index >= self._corpus.n_source)]
        row = self._corpus.rows[index]
        return noisy(row, self._config.noise, foreign, self._config.max_length, random)


@dataclass(frozen=True)
class Nast(WordSystem):
    """A NAST; it writes all words at once."""

    KIND: ClassVar[str] = "nast"
    ORIGIN: ClassVar[str] = "Huang et al. (2021), NAST; TSTBench's implementation"
    RECIPE_VERSION: ClassVar[int] = 2  # 1 took words on padding for words of a rewrite
    Config: ClassVar[type[WordConfig]] = NastConfig

    network: ParallelGenerator

    @staticmethod
    def new_network(n_words: int, config: NastConfig) -> ParallelGenerator:
        """The generator, with random weights."""
        return ParallelGenerator(
            n_words,
            config.shape,
            config.max_length,
            learnable=config.alignment == "learnable",
            reads=config.decoder_input,
        )

    def learner(self, corpus: Corpus) -> Learner:
        """What trains the network."""
        return _Learner(self, corpus)

    def written(self, words: Tensor, style: int, settings: Any) -> Tensor:  # noqa: ARG002
        """The likeliest word (B, S) at each place, behind the likeliest jumps."""
        styles = torch.full((len(words),), style, device=words.device)
        logits, lengths = self.network.write(words, lengths_of(words), styles)
        logits[..., [PAD, UNKNOWN]] = -torch.inf
        ids = logits.argmax(dim=-1)
        places = torch.arange(ids.shape[1], device=ids.device)
        return ids.masked_fill(places >= lengths[:, None], END)
