"""The usual way to evaluate: each public library called for each system, as its manual shows.

bert-score batched, transformers' text-classification pipeline, nltk's corpus_bleu, kenlm line by
line. Texts come prepared; no intervals, no significance, no ranking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bert_score import BERTScorer
from nltk.tokenize import NLTKWordTokenizer
from nltk.translate.bleu_score import corpus_bleu
from transformers import pipeline

BERT_BATCH, CLASSIFIER_BATCH = 64, 32


class UsualClassifier:
    """The text-classification pipeline."""

    def __init__(self, folder: Path) -> None:
        self._pipeline = pipeline("text-classification", model=str(folder), device="cpu")

    def labels(self, texts: Sequence[str]) -> list[str]:
        found = self._pipeline(list(texts), batch_size=CLASSIFIER_BATCH)
        return [one["label"] for one in found]


class UsualBertScore:
    """The bert-score package."""

    def __init__(
        self, folder: Path, layer: int, *, device: str = "cpu", batch: int = BERT_BATCH
    ) -> None:
        self._batch = batch
        self._scorer = BERTScorer(
            model_type=str(folder), num_layers=layer, device=device, batch_size=batch
        )
        tokenizer = self._scorer._tokenizer
        # transformers 5 dropped a method that the package needs for empty sentences
        tokenizer.build_inputs_with_special_tokens = lambda ids, _=None: [
            tokenizer.cls_token_id,
            *ids,
            tokenizer.sep_token_id,
        ]

    def f1(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> np.ndarray:
        """F1 of each sentence against the best of its references: shape (N,)."""
        single = all(len(some) == 1 for some in references)
        against = [some[0] for some in references] if single else [list(r) for r in references]
        found = self._scorer.score(list(predictions), against, batch_size=self._batch)
        return np.asarray(found[2], dtype=np.float64)


def usual_bleu(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Corpus BLEU in percent, over nltk's tokens of lower-cased lines."""
    tokenize = NLTKWordTokenizer().tokenize
    hypotheses = [tokenize(" ".join(p.lower().split())) for p in predictions]
    listed = [[tokenize(" ".join(r.lower().split())) for r in some] for some in references]
    return 100 * float(corpus_bleu(listed, hypotheses))


@dataclass(frozen=True)
class UsualPerplexity:
    """kenlm, one call a line."""

    model: Any  # kenlm.Model

    @classmethod
    def load(cls, path: Path) -> UsualPerplexity:
        import kenlm  # not everywhere: gpu.py does without

        config = kenlm.Config()
        config.show_progress = False
        config.arpa_complain = kenlm.ARPALoadComplain.NONE
        return cls(kenlm.Model(str(path), config))

    def perplexity(self, texts: Sequence[str]) -> float:
        """10^(-log10 P / words), ends of sentences scored and not counted."""
        log10 = sum(self.model.score(text) for text in texts)
        return float(10 ** (-log10 / sum(len(text.split()) for text in texts)))
