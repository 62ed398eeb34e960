"""chrF under every protocol that papers use. Sources: Popović (2015, 2017), through sacreBLEU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from sacrebleu.metrics.chrf import CHRF

from ...metrics.statistics import Statistics
from .bleu import CASES, FILES, Texts, reference_views, texts_of
from .protocol import Choices, Side, Value, over_directions


def chrf_values(sides: Sequence[Side], *, against_source: bool) -> Iterator[Value]:
    """ChrF (word order 0) and chrF++ (2) of the outputs under every protocol."""
    metric = "s_chrf" if against_source else "chrf"
    for view in ["source"] if against_source else reference_views(sides):
        for files in FILES:
            texts = [texts_of(side, view, files) for side in sides]
            for order in (0, 2):
                for case in CASES:
                    base: Choices = (
                        ("refs", view),
                        ("files", files),
                        ("score", "chrF++" if order else "chrF"),
                        ("case", case),
                    )
                    parts = [[partial(_statistics, one, order, case) for one in s] for s in texts]
                    known = files == "raw" and case == "mixed"
                    name = ("sacrebleu, word order 2" if order else "sacrebleu") if known else ""
                    for whole, value in over_directions(base, parts):
                        yield Value(metric, whole, value, name)


def _statistics(texts: Texts, order: int, case: str) -> Statistics:
    """SacreBLEU's own statistics of each sentence, and its own score of their sum."""
    predictions, references = texts
    kept = [i for i, some in enumerate(references) if some]
    most = max((len(references[i]) for i in kept), default=1)
    streams = [
        [references[i][k] if k < len(references[i]) else None for i in kept] for k in range(most)
    ]
    chrf = CHRF(word_order=order, lowercase=case == "lower", references=streams)  # type: ignore[arg-type]
    found = chrf._extract_corpus_statistics([predictions[i] for i in kept], None)

    def aggregate(sums: np.ndarray) -> np.ndarray:
        return np.asarray(chrf._compute_score_from_stats([int(s) for s in sums]).score)

    return Statistics(np.array(found, dtype=np.float64), aggregate, None)
