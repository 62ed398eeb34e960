"""Scoring the union of all systems' texts once, in the cheapest order, with progress.

Scorers remember what they have scored, so the metrics that follow only look things up. Length-
sorted batches over everything at once waste less padding than batches per system and view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tqdm import tqdm

from ..metrics.facts import scorers_needed
from ..metrics.inputs import Inputs
from ..metrics.scorers.profile import Scorers
from ..metrics.text import classifier_texts, clean_texts, language_model_texts

CHUNK = 1024  # sentences between two steps of the progress bar


def warm(scorers: Scorers, inputs: Sequence[Inputs], metrics: Iterable[str]) -> None:
    """Have every scorer that the metrics need score every distinct text."""
    wanted = set(metrics)
    needed = scorers_needed(wanted)
    predictions = [text for one in inputs for text in one.predictions]
    if "encoder" in needed:
        texts = predictions + [text for one in inputs for text in _compared(one, wanted)]
        _in_chunks("encoding", clean_texts(texts), scorers.encoder.token_vectors)
    if "classifier" in needed:
        _in_chunks("style", classifier_texts(predictions), scorers.classifier.distribution)
    if "acceptability" in needed:
        _in_chunks("acceptability", clean_texts(predictions), scorers.acceptability.distribution)
    if "language_model" in needed:
        texts = language_model_texts(predictions)
        _in_chunks("perplexity", texts, scorers.language_model.log10_probability)


def _compared(inputs: Inputs, wanted: set[str]) -> list[str]:
    """The texts that the BERTScore views compare predictions with."""
    texts = list(inputs.sources or ()) if "s_bert" in wanted else []
    if wanted & {"r_bert", "multi_bert"}:
        texts += [text for some in inputs.references or () for text in some]
    return texts


def _in_chunks(what: str, texts: Sequence[str], score: Callable[[Sequence[str]], object]) -> None:
    distinct = sorted(dict.fromkeys(texts), key=len)
    if not distinct:
        return
    with tqdm(total=len(distinct), desc=what, unit=" texts", leave=False, delay=1) as bar:
        for start in range(0, len(distinct), CHUNK):
            chunk = distinct[start : start + CHUNK]
            score(chunk)
            bar.update(len(chunk))
