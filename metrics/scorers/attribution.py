"""Integrated gradients: how much each word piece contributes to a classifier's decision.

Between a baseline without information and the sentence, the gradient of the classifier's output is
averaged along the straight line of word embeddings; times the distance it gives every piece its
share. The shares sum to the difference of the output (completeness), which is checked.

The points of all lines are computed together, those of sentences of equal length in one batch: nothing
is padded, and of the last layer only what the classifier reads is computed.

Source: Sundararajan, Taly and Yan (2017), "Axiomatic Attribution for Deep Networks", section 3 and
equation 3 (the sum that stands for the integral); Gauss-Legendre points, as in captum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from ...errors import InputError
from .base import SentenceMemo
from .masking import word_attributions, word_spans
from .transformer import Span, TransformerModel

Baseline = Literal["pad", "mask", "zero"]
Output = Literal["probability", "logit"]

MAX_TOKENS = 4_096  # in a batch; there is no padding


@dataclass(frozen=True)
class Attribution:
    """The attributions of one sentence's word pieces.

    Attributes:
        pieces: start and end in the text of each of P pieces; (0, 0) for special tokens.
        values: shape (P,), float64.
        style: the index of the style whose output is explained: the most probable one.
        change: the output for the sentence minus the output for the baseline.
        steps: the points of the line that were computed.
    """

    pieces: tuple[Span, ...]
    values: np.ndarray
    style: int
    change: float
    steps: int

    @property
    def gap(self) -> float:
        """How far the attributions' sum is from the change; 0 if the integral were exact."""
        return float(self.values.sum() - self.change)


@dataclass
class _Line:
    """The line from the baseline to one sentence."""

    ids: list[int]
    pieces: tuple[Span, ...]
    start: list[int]  # the baseline's ids; -1 for a vector of zeros
    style: int = -1
    change: float = 0.0
    values: np.ndarray = field(default_factory=lambda: np.zeros(0))
    steps: int = 0


class IntegratedGradients:
    """Attributions of a transformer classifier's decisions.

    Args:
        model: the classifier.
        max_tokens: the most tokens in a batch; it does not change a value beyond rounding.
    """

    def __init__(self, model: TransformerModel, max_tokens: int = MAX_TOKENS) -> None:
        self._model = model
        self._max_tokens = max_tokens

    def attribute(
        self,
        sentences: Sequence[str],
        *,
        steps: int = 50,
        baseline: Baseline = "pad",
        output: Output = "probability",
    ) -> list[Attribution]:
        """The attributions of N sentences, in order.

        Args:
            sentences: N texts; over-long ones are truncated, as for the classifier's decision.
            steps: the number of points of each line.
            baseline: what carries no information: padding tokens, mask tokens, or zero vectors;
                the tokens that frame a sentence stay.
            output: what is explained: the probability of the most probable style, or its logit.

        Raises:
            InputError: fewer than 1 steps, or a tokenizer without the baseline's token or without
                places of tokens.
        """
        lines = self._lines(sentences, baseline)
        self._find_changes(lines, output)
        self._integrate(lines, steps, output)
        return [
            Attribution(one.pieces, one.values, one.style, one.change, one.steps) for one in lines
        ]

    def _lines(self, sentences: Sequence[str], baseline: Baseline) -> list[_Line]:
        if not sentences:
            return []
        framing, padding, mask = self._model.special_tokens()
        if baseline == "mask" and mask is None:
            raise InputError("the classifier's tokenizer has no mask token: use another baseline")
        empty = {"pad": padding, "mask": mask, "zero": -1}[baseline]
        ids, pieces = self._model.tokenize(sentences)
        return [
            _Line(
                one,
                tuple(where),
                [
                    i if i in framing and a == b else int(empty or 0)
                    for i, (a, b) in zip(one, where, strict=True)
                ],
            )
            for one, where in zip(ids, pieces, strict=True)
        ]

    def _find_changes(self, lines: Sequence[_Line], output: Output) -> None:
        """The explained style and the outputs at both ends."""
        for some in self._batches([len(one.ids) for one in lines], 2):
            start, end = self._ends([lines[i] for i in some])
            with torch.inference_mode():
                logits = self._model.logits_of(torch.cat([start, end])).float()
            outputs = logits.softmax(-1) if output == "probability" else logits
            low, high = outputs.cpu().double().chunk(2)
            for row, i in enumerate(some):
                style = int(logits[len(some) + row].argmax())
                lines[i].style = style
                lines[i].change = float(high[row, style] - low[row, style])

    def _integrate(self, lines: Sequence[_Line], steps: int, output: Output) -> None:
        points, weights = gauss_legendre(steps)
        for one in lines:
            one.values, one.steps = np.zeros(len(one.ids)), steps
        rows = [(i, k) for i in range(len(lines)) for k in range(steps)]
        for some in self._batches([len(lines[i].ids) for i, _ in rows], 1):
            owners = [rows[r][0] for r in some]
            distinct = list(dict.fromkeys(owners))
            start, end = self._ends([lines[i] for i in distinct])
            place = {i: n for n, i in enumerate(distinct)}
            which = torch.tensor([place[i] for i in owners])
            at = torch.tensor([points[rows[r][1]] for r in some], dtype=torch.float32)
            share = torch.tensor([weights[rows[r][1]] for r in some], dtype=torch.float64)
            target = torch.tensor([lines[i].style for i in owners])
            gradients = self._gradients(start, end, which, at, target, output)
            moved = gradients.float() * (end - start)[which].float()
            moved = moved.sum(-1).cpu().double() * share[:, None]
            sums = torch.zeros(len(distinct), moved.shape[1], dtype=torch.float64)
            sums.index_add_(0, which, moved)
            for n, i in enumerate(distinct):
                lines[i].values += sums[n].numpy()

    def _gradients(
        self, start: Tensor, end: Tensor, which: Tensor, at: Tensor, target: Tensor, output: Output
    ) -> Tensor:
        device = start.device
        where = at.to(device, start.dtype)[:, None, None]
        words = torch.lerp(start[which], end[which], where).requires_grad_()
        with torch.enable_grad():
            logits = self._model.logits_of(words).float()
            outputs = logits.softmax(-1) if output == "probability" else logits
            total = outputs.gather(1, target.to(device)[:, None]).sum()
        (gradients,) = torch.autograd.grad(total, words)
        return gradients

    def _ends(self, lines: Sequence[_Line]) -> tuple[Tensor, Tensor]:
        """Embeddings of baselines and sentences of one length: two of shape (N, T, D)."""
        start = torch.tensor([one.start for one in lines])
        empty = self._model.embed(start.clamp(min=0))
        empty[start < 0] = 0.0
        return empty, self._model.embed(torch.tensor([one.ids for one in lines]))

    def _batches(self, lengths: Sequence[int], each: int) -> Iterator[np.ndarray]:
        """Batches of equal length, longest first: indices into ``lengths``."""
        widths = np.asarray(lengths)
        for length in sorted({*lengths}, reverse=True):
            members = np.flatnonzero(widths == length)
            size = max(1, self._max_tokens // (each * length))
            for first in range(0, len(members), size):
                yield members[first : first + size]


@lru_cache(maxsize=16)
def gauss_legendre(steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Points in (0, 1) and weights that sum to 1: shapes (steps,), float64.

    Raises:
        InputError: fewer than 1 steps.

    >>> points, weights = gauss_legendre(2)
    >>> points.round(4).tolist(), weights.tolist()
    ([0.2113, 0.7887], [0.5, 0.5])
    """
    if steps < 1:
        raise InputError(f"integrated gradients need at least 1 step, got {steps}")
    points, weights = np.polynomial.legendre.leggauss(steps)
    return (points + 1) / 2, weights / 2


class StyleAttribution:
    """Integrated gradients of a transformer classifier, each distinct sentence once.

    What is warmed up, :meth:`distribution`, is the classifier's own; attributions cost a hundred times
    as much and depend on a metric's options, so they are computed when they are asked for.

    Args:
        model: the classifier.
        name: what it is, for a signature, such as ``transformer:yelp``.
        hash: SHA-256 hex of its files.
    """

    def __init__(self, model: TransformerModel, *, name: str, hash: str) -> None:  # noqa: A002
        self._gradients = IntegratedGradients(model)
        self._distribution = SentenceMemo(model.distribution)
        self._known: dict[tuple[int, Baseline, Output], dict[str, Attribution]] = {}
        self.styles = model.styles
        self.name = name
        self.hash = hash

    def distribution(self, sentences: Sequence[str]) -> np.ndarray:
        """P(style | sentence): shape (N, S), float64."""
        return self._distribution(sentences).reshape(-1, len(self.styles))

    def attributions(
        self,
        sentences: Sequence[str],
        *,
        steps: int = 50,
        baseline: Baseline = "pad",
        output: Output = "probability",
    ) -> list[Attribution]:
        """The attributions of N sentences' word pieces, in order.

        Arguments and errors are those of
        :meth:`IntegratedGradients.attribute`.
        """
        known = self._known.setdefault((steps, baseline, output), {})
        new = [s for s in dict.fromkeys(sentences) if s not in known]
        if new:
            found = self._gradients.attribute(new, steps=steps, baseline=baseline, output=output)
            known.update(zip(new, found, strict=True))
        return [known[s] for s in sentences]

    def word_attributions(
        self,
        sentences: Sequence[str],
        *,
        steps: int = 50,
        baseline: Baseline = "pad",
        output: Output = "probability",
    ) -> list[np.ndarray]:
        """The attributions of N sentences' words: for each, shape (its words,), float64.

        Words are those of :func:`~tstbench.metrics.scorers.masking.word_spans`. Arguments and
        errors are those of :meth:`attributions`.
        """
        found = self.attributions(sentences, steps=steps, baseline=baseline, output=output)
        return [
            word_attributions(one.pieces, one.values, word_spans(text))
            for text, one in zip(sentences, found, strict=True)
        ]
