"""A pretrained BART and its tokenizer: found, taught, asked, and saved as an ordinary checkpoint.

A sentence is ``<s> ... </s>`` on both sides, as in its pre-training (Lewis et al. 2020); the
decoder starts with ``</s>``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import Optimizer

from ...errors import InputError, MissingFileError, MissingScorerError, require
from ...metrics.scorers.device import Device, Placement
from ...metrics.scorers.weights import fetch, load_pretrained, quiet_loading
from .backbones import BackboneShape, byte_level_tokenizer, random_model
from .loop import Learner, Terms, Update, learn
from .run import Run
from .sampler import Order

SCRATCH = "scratch"  # instead of a checkpoint: a small random one, for tests
_POSITIONS = 128  # of that one
_HEAD = "BartForConditionalGeneration"


@dataclass(frozen=True)
class Seq2Seq:
    """A BART and its tokenizer.

    Attributes:
        model: ``BartForConditionalGeneration``.
        tokenizer: of transformers.
    """

    model: Any
    tokenizer: Any

    @classmethod
    def pretrained(cls, base: str, sentences: Sequence[str] = (), seed: int = 0) -> Seq2Seq:
        """A checkpoint by Hub id or folder, on the CPU; only safetensors are read.

        Args:
            base: where it is; ``scratch`` for a small random one.
            sentences: what a tokenizer from scratch is learned from.
            seed: of one from scratch.

        Raises:
            MissingFileError: its weights cannot be found; the message says what to do.
            InputError: the checkpoint is not a BART, or it is damaged.
        """
        if base == SCRATCH:
            return cls.scratch(sentences, seed=seed)
        try:
            folder = fetch(base)
        except MissingScorerError as error:
            raise MissingFileError(
                f"{error}. Or pre-train a small one (bart) with examples/backbone of the "
                "repository, and give its folder: --base FOLDER"
            ) from error
        return cls.read(folder, "cpu")

    @classmethod
    def scratch(
        cls, sentences: Sequence[str], *, seed: int, dimension: int = 32, n_words: int = 500
    ) -> Seq2Seq:
        """A small random BART, with a byte-level tokenizer of these sentences; it knows nothing."""
        tokenizer = byte_level_tokenizer(sentences, "bart", n_words, _POSITIONS)
        torch.manual_seed(seed)
        shape = BackboneShape(dimension, layers=2, heads=2, positions=_POSITIONS, dropout=0.1)
        return cls(random_model("bart", shape, tokenizer), tokenizer)

    @classmethod
    def read(cls, folder: Path, device: str) -> Seq2Seq:
        """Read a folder that :meth:`save`, or transformers, wrote.

        Raises:
            InputError: it is not a BART, it is damaged, or there is no such device.
        """
        model, tokenizer = load_pretrained(folder, Placement(cast(Device, device)), _HEAD)
        if len(tokenizer) > model.config.vocab_size:
            raise InputError(
                f"{folder}: the tokenizer has {len(tokenizer)} tokens, the model "
                f"{model.config.vocab_size}"
            )
        return cls(model, tokenizer)

    def save(self, folder: Path) -> None:
        """Write what ``save_pretrained`` writes: safetensors, configuration, tokenizer."""
        with quiet_loading():
            self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return cast(torch.device, self.model.device)

    @property
    def start(self) -> int:
        """Id of ``<s>``."""
        return int(self.tokenizer.bos_token_id)

    @property
    def end(self) -> int:
        """Id of ``</s>``."""
        return int(self.tokenizer.eos_token_id)

    @property
    def pad(self) -> int:
        """Id of the padding."""
        return int(self.tokenizer.pad_token_id)

    @cached_property
    def unwritten(self) -> list[int]:
        """Ids that are never written inside a sentence: every special token but ``</s>``."""
        extra = range(len(self.tokenizer), self.model.config.vocab_size)
        return sorted({*self.tokenizer.all_special_ids, *extra} - {self.end})

    @property
    def longest(self) -> int:
        """The most ids that a row may have."""
        return int(self.model.config.max_position_embeddings)

    def check_length(self, max_length: int) -> None:
        """Raise :class:`InputError` if rows of this many tokens do not fit."""
        if max_length > self.longest:
            raise InputError(
                f"max_length is {max_length}, but this BART reads {self.longest} tokens"
            )

    def encode(self, texts: Sequence[str], max_length: int, before: str = "") -> list[list[int]]:
        """Rows ``<s> [before] text </s>``, at most ``max_length`` ids; what is longer is cut."""
        first = [self.start, *self._pieces([before])[0]] if before else [self.start]
        texts = [f" {text}" for text in texts] if before else texts
        room = max_length - len(first) - 1
        return [[*first, *ids[: max(room, 0)], self.end] for ids in self._pieces(texts)]

    def _pieces(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        found: list[list[int]] = self.tokenizer(
            list(texts), add_special_tokens=False, return_attention_mask=False
        )["input_ids"]
        return found

    def decode(self, row: Sequence[int]) -> str:
        """The text of a row, up to ``</s>``, without special tokens."""
        ids = list(row)
        ids = ids[: ids.index(self.end)] if self.end in ids else ids
        text = self.tokenizer.decode(
            ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return str(text).strip()

    def padded(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Rows as one tensor (B, T), padded on the right, on the model's device."""
        width = max(map(len, rows))
        whole = [[*row, *[self.pad] * (width - len(row))] for row in rows]
        return torch.tensor(whole, device=self.device)

    def logits(self, sources: Tensor, targets: Tensor) -> Tensor:
        """Logits (B, T, V) of the ids ``targets`` (B, T), each after those before it."""
        before = targets.roll(1, dims=1)
        before[:, 0] = self.model.config.decoder_start_token_id
        output = self.model(
            input_ids=sources,
            attention_mask=(sources != self.pad).long(),
            decoder_input_ids=before,
            use_cache=False,
        )
        return cast(Tensor, output.logits)

    def generate(
        self,
        rows: Sequence[Sequence[int]],
        *,
        max_length: int,
        min_length: int = 0,
        beams: int = 1,
        temperature: float | None = None,
        begin: Sequence[Sequence[int]] | None = None,
    ) -> Tensor:
        """Ids (B, T) of one sentence for each row; ``</s>`` and padding follow its last word.

        Args:
            rows: what is read.
            max_length: the most ids, ``<s>`` and ``</s>`` counted.
            min_length: no ``</s>`` before this many ids.
            beams: of the beam search; 1 is greedy.
            temperature: draw words instead, from all of the vocabulary, with torch's generator.
            begin: what each sentence begins with; by default, ``<s>``.
        """
        transformers = require("transformers", "train")
        begun = _Begin(begin or [[self.start]] * len(rows), beams, self.unwritten, self.device)
        was_training = self.model.training
        self.model.eval()
        sources = self.padded(rows)
        drawing = (
            {"do_sample": False}
            if temperature is None
            else {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
        )
        settings = transformers.GenerationConfig(
            num_beams=beams,
            max_new_tokens=max_length,
            min_new_tokens=min(min_length, max_length) or None,
            decoder_start_token_id=self.model.config.decoder_start_token_id,
            bos_token_id=self.start,
            eos_token_id=self.end,
            pad_token_id=self.pad,
            **drawing,
        )
        with torch.no_grad(), _plain_generation(self.model):
            written = self.model.generate(
                sources,
                attention_mask=(sources != self.pad).long(),
                generation_config=settings,
                logits_processor=transformers.LogitsProcessorList([begun]),
            )
        self.model.train(was_training)
        return cast(Tensor, written)[:, 1:]


@contextmanager
def _plain_generation(model: Any) -> Iterator[None]:
    """Meanwhile, a model of transformers has no generation settings of its own.

    Whatever a checkpoint says of its generation is for another task, and would fill in what the
    settings of a call leave open. It is part of what ``save_pretrained`` writes, so it comes back.
    """
    from transformers import GenerationConfig

    own = model.generation_config
    model.generation_config = GenerationConfig()
    try:
        yield
    finally:
        model.generation_config = own


class _Begin:
    """Makes sentences begin as they should, and keeps special tokens out of what follows."""

    def __init__(
        self,
        begin: Sequence[Sequence[int]],
        beams: int,
        unwritten: Sequence[int],
        device: torch.device,
    ) -> None:
        width = max(map(len, begin))
        rows = [[*row, *[-1] * (width - len(row))] for row in begin for _ in range(beams)]
        self._begin = torch.tensor(rows, device=device)  # (B * beams, P)
        self._unwritten = torch.tensor(list(unwritten), device=device)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        place = input_ids.shape[1] - 1  # the decoder's start is not of the sentence
        free = scores.index_fill(1, self._unwritten, -torch.inf)
        if place >= self._begin.shape[1]:
            return free
        wanted = self._begin[:, place]
        forced = torch.full_like(scores, -torch.inf)
        forced.scatter_(1, wanted.clamp(min=0)[:, None], 0.0)
        return torch.where((wanted >= 0)[:, None], forced, free)


# Training a reward's style classifier: it reads the rows of ids that its system writes.


_SHARE = 20  # one row in so many chooses the weights
_AT_ONCE = 256  # held-out rows
_NAME = "classifier"


@dataclass(frozen=True)
class ReaderFit:
    """How a classifier is trained.

    Attributes:
        optimizer: of its weights.
        steps: how many there are.
        batch_size: rows a step.
        rate: the first learning rate.
        decay: what the rate is multiplied by every ``decay_every`` steps.
        decay_every: steps.
        validate_every: steps between validations.
        seed: of order and dropout.
    """

    optimizer: Callable[[nn.Module], Optimizer]
    steps: int
    batch_size: int
    rate: float
    decay: float = 1.0
    decay_every: int = 1000
    validate_every: int = 1000
    seed: int = 0


def fit_reader(
    network: nn.Module,
    sides: Sequence[Sequence[Sequence[int]]],
    fit: ReaderFit,
    run: Run,
    recipe: str,
) -> float:
    """Train a network, which maps ids (B, T) and lengths (B) to logits (B, 2), and freeze it.

    Args:
        network: keeps the weights of the highest accuracy on rows that it did not learn from.
        sides: rows of ids of the source and of the target style.
        fit: how.
        run: where; checkpoints and curve are in a folder ``classifier`` of its folder.
        recipe: of the system that it is for.

    Returns:
        Its accuracy in [0, 1] on the rows that it did not learn from.

    Raises:
        InputError: a style has fewer than 2 rows.
    """
    if min(map(len, sides)) < 2:
        raise InputError("a style has fewer than 2 sentences to train the reward's classifier on")
    folder = None if run.folder is None else run.folder / _NAME
    learner = _ReaderLearner(network, sides, fit)
    return learn(learner, replace(run, folder=folder), f"{recipe}/{_NAME}").scores["selection"]


class _ReaderLearner(Learner):
    def __init__(
        self, network: nn.Module, sides: Sequence[Sequence[Sequence[int]]], fit: ReaderFit
    ) -> None:
        self.network = network
        self.optimizers = {_NAME: fit.optimizer(network)}
        self.steps, self.validate_every, self.seed = fit.steps, fit.validate_every, fit.seed
        self._fit = fit
        self._rows = [row for side in sides for row in side]
        self._labels: np.ndarray = np.repeat([0, 1], [len(side) for side in sides])
        held: list[int] = []
        for label in (0, 1):
            places = np.flatnonzero(self._labels == label)
            random = np.random.default_rng([fit.seed, label])
            held += list(random.choice(places, max(1, len(places) // _SHARE), replace=False))
        self._held = np.array(held)
        self._learned = np.setdiff1d(np.arange(len(self._rows)), self._held)
        self._order = Order([len(self._rows[i]) for i in self._learned], fit.batch_size, fit.seed)

    def update(self, step: int) -> Update:
        rate = self._fit.rate * self._fit.decay ** (step // self._fit.decay_every)
        return Update(_NAME, (_NAME,), self._loss, self._order, step, rates={_NAME: rate})

    def _loss(self, batch: np.ndarray) -> Terms:
        logits, labels = self._logits(self._learned[batch])
        return {"style": F.cross_entropy(logits, labels, reduction="sum") / len(batch)}

    def _logits(self, chosen: np.ndarray) -> tuple[Tensor, Tensor]:
        device = next(self.network.parameters()).device
        ids, lengths = content_batch([self._rows[i] for i in chosen], device)
        return self.network(ids, lengths), torch.tensor(self._labels[chosen], device=device)

    def validate(self) -> Mapping[str, float]:
        right = 0
        for start in range(0, len(self._held), _AT_ONCE):
            logits, labels = self._logits(self._held[start : start + _AT_ONCE])
            right += int((logits.argmax(dim=1) == labels).sum())
        return {"selection": right / len(self._held)}


def content_batch(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Rows of ids as (B, T), at least one place wide, and their lengths (B)."""
    width = max(1, *map(len, rows))
    whole = [[*row, *[0] * (width - len(row))] for row in rows]
    return (
        torch.tensor(whole, device=device),
        torch.tensor([len(row) for row in rows], device=device),
    )


# Rewards of a sentence that a system wrote: its style, its content, and which words earn them.
#
# Everything is computed for a batch at once, and nothing carries a gradient.


BLEU_WEIGHTS = (0.25, 0.25, 0.25, 0.25)
_EPSILON = 0.1  # matches of an n-gram order that has none: smoothing 1 of Chen and Cherry (2014)


def style_probability(logits: Tensor, target: Tensor, *, top: float = 1.0) -> Tensor:
    """P(target style), at most ``top``: logits (B, S) and styles (B) to (B), in [0, 1]."""
    shares = logits.detach().float().softmax(dim=-1)
    return shares.gather(1, target[:, None])[:, 0].clamp(max=top)


def style_gap(logits: Tensor, target: Tensor) -> Tensor:
    """P(target) - P(source) of two styles: logits (B, 2) and styles (B) to (B), in [-1, 1]."""
    return 2 * style_probability(logits, target) - 1


def self_critical(sampled: Tensor, greedy: Tensor, *, only_better: bool = False) -> Tensor:
    """How much better a drawn sentence is than the likeliest one (Rennie et al. 2017); (B).

    Args:
        sampled: rewards of drawn sentences.
        greedy: rewards of the likeliest sentences for the same sources.
        only_better: whether a worse one counts as 0.
    """
    advantage = sampled - greedy
    return advantage.clamp(min=0) if only_better else advantage


def sentence_bleu(
    written: Tensor,
    written_lengths: Tensor,
    reference: Tensor,
    reference_lengths: Tensor,
    weights: Sequence[float] = BLEU_WEIGHTS,
) -> Tensor:
    """Sentence BLEU over ids, with smoothing 1; (B), float32, in [0, 1].

    N-grams are compared as a whole batch: place i of one sentence and place j of the other begin
    equal n-grams if their ids are equal, and i + 1 and j + 1 begin equal (n-1)-grams.

    Args:
        written: (B, T).
        written_lengths: (B): how many places count.
        reference: (B, U).
        reference_lengths: (B): how many places count.
        weights: of the n-gram orders, the shortest first.
    """
    there, wanted = _places(written, written_lengths), _places(reference, reference_lengths)
    same = there[:, :, None] & wanted[:, None, :] & (written[:, :, None] == reference[:, None, :])
    self_same = there[:, :, None] & there[:, None, :] & (written[:, :, None] == written[:, None])
    log_score = torch.zeros(len(written), device=written.device)
    first = log_score
    common, own = same, self_same
    for order, weight in enumerate(weights, start=1):
        if order > 1:
            common, own = _longer(common, same), _longer(own, self_same)
        # The k-th occurrence of an n-gram matches if the reference has it k times.
        occurrence = own.tril().sum(dim=2)  # (B, T)
        matches = ((occurrence > 0) & (occurrence <= common.sum(dim=2))).sum(dim=1).float()
        first = matches if order == 1 else first
        count = (written_lengths - order + 1).clamp(min=1)
        log_score += weight * (matches.where(matches > 0, _EPSILON) / count).log()
    shortage = 1 - reference_lengths / written_lengths.clamp(min=1)
    score = (log_score + shortage.clamp(max=0)).exp()
    return score.where(first > 0, 0.0)


def text_bleu(
    written: Sequence[str], references: Sequence[str], weights: Sequence[float] = BLEU_WEIGHTS
) -> Tensor:
    """Sentence BLEU over words between spaces, with smoothing 1; (B), in [0, 1]."""
    ids: dict[str, int] = {}

    def rows(texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        found = [[ids.setdefault(word, len(ids)) for word in text.split()] for text in texts]
        width = max(1, *map(len, found))
        padded = torch.tensor([[*row, *[-1] * (width - len(row))] for row in found])
        return padded, torch.tensor([len(row) for row in found])

    if not written:
        return torch.zeros(0)
    return sentence_bleu(*rows(written), *rows(references), weights)


def salience(
    attentions: Sequence[Tensor], *, last: int = 2, low: float = 0.2, high: float = 0.5
) -> Tensor:
    """How much a classifier's first place looks at each word; (B, T).

    Args:
        attentions: of each layer, (B, heads, T, T), rows sum to 1.
        last: the largest over the heads of this many last layers counts.
        low: the smallest salience.
        high: the largest.
    """
    looks = torch.stack([layer[:, :, 0].amax(dim=1) for layer in attentions[-last:]])
    return looks.amax(dim=0).clamp(low, high)


class DiversityMemory(nn.Module):
    """Which words the system has drawn too often lately; its state is in buffers, for checkpoints.

    A word that sentences of the last ``window`` steps have more than ``most`` times is penalised
    for ``duration`` steps. What a step draws counts from the next step on.
    """

    counts: Tensor
    drawn: Tensor
    until: Tensor
    step: Tensor

    def __init__(self, n_words: int, *, window: int = 10, most: int = 64, duration: int = 100):
        super().__init__()
        self._most, self._duration = most, duration
        self.register_buffer("counts", torch.zeros(window, n_words, dtype=torch.long))
        self.register_buffer("drawn", torch.zeros(n_words, dtype=torch.long))
        self.register_buffer("until", torch.zeros(n_words, dtype=torch.long))
        self.register_buffer("step", torch.zeros((), dtype=torch.long))

    def begin(self, step: int) -> None:
        """Take in what the step before drew; a second call changes nothing."""
        if int(self.step) == step:
            return
        self.counts[int(self.step) % len(self.counts)] = self.drawn
        self.drawn.zero_()
        self.step.fill_(step)
        worn = self.counts.sum(dim=0) > self._most
        self.until[worn] = step + self._duration

    def add(self, ids: Tensor, mask: Tensor) -> None:
        """Count the words of drawn sentences (B, T), where ``mask`` (B, T) is true."""
        found = ids[mask]
        self.drawn.index_add_(0, found, torch.ones_like(found))

    def factor(self, ids: Tensor, penalty: float = 0.5) -> Tensor:
        """``penalty`` for penalised words, 1 for the others; (B, T)."""
        worn = self.until[ids] > self.step
        return torch.where(worn, penalty, 1.0)


def _places(ids: Tensor, lengths: Tensor) -> Tensor:
    return torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]


def _longer(shorter: Tensor, single: Tensor) -> Tensor:
    """Equal n-grams (B, T, U) from equal (n-1)-grams that begin one place later, and equal ids."""
    following = torch.zeros_like(shorter)
    following[:, :-1, :-1] = shorter[:, 1:, 1:]
    return following & single


# Policy gradients: the log-probabilities of words that were drawn, weighted by their reward.
#
# A sentence is drawn without gradients, then scored again by an ordinary forward pass. Rewards and
# weights never carry a gradient: what produced them does not learn from this loss (Williams 1992).


def log_probabilities(logits: Tensor, ids: Tensor) -> Tensor:
    """``log p`` of each id, in nats: logits (B, T, V) and ids (B, T) to (B, T), float32."""
    return logits.float().log_softmax(dim=-1).gather(-1, ids[..., None])[..., 0]


def up_to_end(ids: Tensor, end: int) -> Tensor:
    """Which places of ids (B, T) count: those up to the first ``end``, which counts too; bool.

    >>> import torch
    >>> up_to_end(torch.tensor([[5, 2, 7, 2], [5, 6, 7, 8]]), end=2).tolist()
    [[True, True, False, False], [True, True, True, True]]
    """
    is_end = (ids == end).long()
    return (is_end.cumsum(dim=1) - is_end) == 0


def sentence_policy_loss(log_p: Tensor, mask: Tensor, reward: Tensor) -> Tensor:
    """Sum over sentences of ``-reward * mean of log p``; TYB's reduction, before the batch's mean.

    Args:
        log_p: (B, T), of the words that were drawn.
        mask: (B, T), the places that count.
        reward: (B), of each sentence.
    """
    count = mask.sum(dim=1).clamp(min=1)
    return -(reward.detach() * (log_p * mask).sum(dim=1) / count).sum()


def token_policy_loss(log_p: Tensor, mask: Tensor, weight: Tensor) -> Tensor:
    """Mean over all words of ``-weight * log p``; BSRR's reduction.

    Args:
        log_p: (B, T), of the words that were drawn.
        mask: (B, T), the places that count.
        weight: (B, T), the reward of each word.
    """
    return -(log_p * weight.detach() * mask).sum() / mask.sum().clamp(min=1)
