"""s-BERT, r-BERT and multi-BERT: token similarity in an encoder's space.

Source: Zhang, Kishore, Wu, Weinberger and Artzi 2020, "BERTScore: Evaluating Text Generation with
BERT", the equations of R_BERT, P_BERT and F_BERT, without importance weighting and without
rescaling. Values equal those of the bert-score package 0.3.13 for the same model and layer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tstbench.errors import InputError
from tstbench.metrics.base import (
    Context,
    MetricFacts,
    Options,
    PairwiseFamily,
    Reduce,
    compared_with,
    reference_count,
    view_facts,
)
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.scorers.base import Encoder, TokenVectors, length_sorted_batches
from tstbench.metrics.statistics import Statistics, mean_statistics
from tstbench.metrics.text import Reading, TextProtocol, preparation

if TYPE_CHECKING:
    import torch

_PAIRS_AT_ONCE = 1_024  # pairs whose token vectors are in memory together
_BATCH_TOKENS = 1_024  # tokens of each side in one batched product


@dataclass(frozen=True)
class BertScores:
    """One score per sentence, NaN if it has no reference.

    Attributes:
        precision, recall, f1: shape (N,), float64, at most 1; fractions that are rarely near 0,
            since even unrelated sentences have similar vectors.
    """

    precision: np.ndarray
    recall: np.ndarray
    f1: np.ndarray


def bertscore(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    encoder: Encoder,
    reduce: Reduce = "max",
) -> BertScores:
    """BERTScore of each prediction against its references.

    Each token is matched with the most similar token of the other sentence, by cosine: precision
    is the mean over the prediction's tokens, recall over the reference's, F1 their harmonic mean.
    The special tokens at the start and end of a sentence can be matched, but are not averaged
    over. A pair with an empty sentence scores 0. Identical pairs are matched once.

    Args:
        predictions: N sentences.
        references: 0 to n references for each of them, or the sources.
        encoder: gives the token vectors.
        reduce: ``max`` takes the best reference, separately for precision, recall and F1, as
            the bert-score package does; ``mean`` averages over references, as the TSTBench paper's
            code does.

    Raises:
        InputError: unequal lengths, a string instead of a list of references, unknown reduction.

    Note:
        A token whose cosines are all negative scores 0. In bert-score that happens only if the
        other sentence is not the longest of its batch, because the padding enters the maximum as
        0; so its value for such a pair depends on the batch. Here it does not.
    """
    if len(predictions) != len(references):
        raise InputError(
            f"{len(predictions)} predictions but {len(references)} lists of references: they "
            "must be aligned, with an empty list for a sentence without references"
        )
    if any(isinstance(some, str) for some in references):
        raise InputError("references must be one list each, [['one', 'two'], []], not strings")
    if reduce not in ("max", "mean"):
        raise InputError(f"unknown reduction {reduce!r} of several references: use max or mean")
    counts = np.array([len(some) for some in references], dtype=np.int64)
    scores = np.full((len(predictions), 3), np.nan)
    if counts.any():
        repeated = [p for p, n in zip(predictions, counts, strict=True) for _ in range(n)]
        pairs = list(zip(repeated, (r for some in references for r in some), strict=True))
        matched = _match(pairs, encoder)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])[counts > 0]
        if reduce == "max":
            scores[counts > 0] = np.maximum.reduceat(matched, starts)
        else:
            totals = np.add.reduceat(matched, starts)
            scores[counts > 0] = totals / counts[counts > 0, None]
    return BertScores(*scores.T)


def _match(pairs: list[tuple[str, str]], encoder: Encoder) -> np.ndarray:
    """(precision, recall, F1) of each (prediction, reference): shape (M, 3), float64."""
    rows = {pair: row for row, pair in enumerate(dict.fromkeys(pairs))}
    distinct = list(rows)
    scores = np.empty((len(distinct), 3))
    for start in range(0, len(distinct), _PAIRS_AT_ONCE):
        some = distinct[start : start + _PAIRS_AT_ONCE]
        sentences = {s: i for i, s in enumerate(dict.fromkeys(s for pair in some for s in pair))}
        vectors = encoder.token_vectors(list(sentences))
        indices = np.array([(sentences[p], sentences[r]) for p, r in some])
        scores[start : start + len(some)] = match(vectors, indices)
    return scores[[rows[pair] for pair in pairs]]


def match(vectors: TokenVectors, pairs: np.ndarray) -> np.ndarray:
    """Greedy matching of pairs of sentences.

    Args:
        vectors: the vectors of all sentences.
        pairs: indices of (candidate, reference), shape (M, 2).

    Returns:
        Precision, recall and F1 of each pair: shape (M, 3), float64.
    """
    import torch  # only now: metrics are listed without it

    tokens = torch.from_numpy(vectors.vectors)
    content = torch.from_numpy(vectors.content)
    starts = torch.from_numpy(vectors.offsets[:-1])
    lengths = np.diff(vectors.offsets)
    scores = np.zeros((len(pairs), 3))
    with torch.inference_mode():
        for batch in length_sorted_batches(lengths[pairs].max(axis=1), _BATCH_TOKENS):
            sides = []
            for side in (0, 1):
                sentences = pairs[batch, side]
                length = torch.from_numpy(lengths[sentences])[:, None]
                positions = torch.arange(int(length.max()))
                real = positions < length
                index = starts[sentences][:, None] + positions.clamp(max=length - 1)
                sides.append((tokens[index], content[index] & real))
            (candidate, candidate_content), (reference, reference_content) = sides
            # Padding repeats a sentence's last token, which cannot raise a maximum.
            cosines = torch.bmm(candidate, reference.transpose(1, 2))
            precision = _mean_over(cosines.amax(2).clamp_(min=0), candidate_content)
            recall = _mean_over(cosines.amax(1).clamp_(min=0), reference_content)
            f1 = 2 * precision * recall / (precision + recall)
            one = torch.stack([precision, recall, f1], dim=1)
            empty = ~(candidate_content.any(1) & reference_content.any(1))
            scores[batch] = one.masked_fill(empty[:, None] | one.isnan(), 0.0).numpy()
    return scores


def _mean_over(best: torch.Tensor, content: torch.Tensor) -> torch.Tensor:
    """Mean of each row over its content tokens: (B, L), (B, L) -> (B,)."""
    return (best * content).double().sum(1) / content.sum(1)


@dataclass(frozen=True, kw_only=True)
class BertScoreOptions(Options):
    """Options of ``bertscore``; the profile or ``--scorer encoder=...`` sets encoder and layer.

    Attributes:
        protocol: how texts are read: ``paper`` (lower case, white space folded; the default for
            English) or ``cleaned`` (the dataset's cleaning, case kept).
        reduce: how several references are combined: ``max`` (bert-score's) or ``mean`` (the
            TSTBench paper's code).
    """

    protocol: TextProtocol | None = None
    reduce: Reduce = "max"


class BertScore(PairwiseFamily[BertScoreOptions]):
    """BERTScore F1, not rescaled."""

    name = "bertscore"
    title = "BERTScore"
    options = BertScoreOptions
    role = "encoder"
    libraries = ("torch", "transformers", "tokenizers")
    description = """
BERTScore F1 in three views: against the source, the first reference and all references. Each
token is matched to the most similar token of the other text, so that a paraphrase counts.
"""
    example = """
>>> bertscore = evaluate.load("tstbench/bertscore")
>>> results = bertscore.compute(
...     predictions=["the soup was hot and good."],
...     sources=["the soup was cold and bad."],
...     references=[["the soup was hot and great.", "hot soup, and good."]],
... )
>>> round(results["s_bert"], 3), round(results["r_bert"], 3), round(results["multi_bert"], 3)
(0.803, 0.962, 0.962)
"""
    citation = """\
@inproceedings{zhang2020bertscore,
  title = {{BERTScore}: Evaluating Text Generation with {BERT}},
  author = {Zhang, Tianyi and Kishore, Varsha and Wu, Felix and Weinberger, Kilian Q. and
            Artzi, Yoav},
  booktitle = {Proceedings of ICLR},
  year = {2020}
}
"""
    metrics: ClassVar[tuple[MetricFacts, ...]] = view_facts(
        "bert", "BERT", "BERTScore", "fraction", version=2
    )

    def reader(
        self, inputs: Inputs, options: BertScoreOptions
    ) -> Callable[[Sequence[str]], list[str]]:
        """As the protocol says."""
        return _reading(inputs, options).prepare

    def fields(self, metric: str, inputs: Inputs, options: BertScoreOptions) -> dict[str, object]:
        """How several references are combined, and how texts are prepared."""
        return {
            "reduce": options.reduce,
            "rescale": "no",
            **_reading(inputs, options).fields,
            "refs": reference_count(metric, inputs),
        }

    def measure(
        self, metric: str, inputs: Inputs, options: BertScoreOptions, context: Context
    ) -> Statistics:
        """The mean of the sentences' F1."""
        encoder = context.scorer(self.role)
        read = _reading(inputs, options).prepare
        against = [read(some) for some in compared_with(metric, inputs)]
        scores = bertscore(read(inputs.predictions), against, encoder, reduce=options.reduce)
        return mean_statistics(scores.f1)


def _reading(inputs: Inputs, options: BertScoreOptions) -> Reading:
    return preparation(inputs.language).reading("bertscore", options.protocol)


FAMILY = BertScore()

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("bertscore")
