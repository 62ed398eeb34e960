"""A kind of style classifier: the style whose training sentences use the words most."""

import json
import types
from collections import Counter
from dataclasses import dataclass

import numpy as np

from tstbench.metrics.scorers.classifiers import Kind
from tstbench.metrics.scorers.train import ClassifierConfig


class KeywordModel:
    def __init__(self, styles, counts):
        self.styles, self.counts = tuple(styles), counts

    def distribution(self, sentences):
        rows = []
        for sentence in sentences:
            votes = [1 + sum(c.get(w, 0) for w in sentence.split()) for c in self.counts]
            rows.append(np.array(votes) / sum(votes))
        return np.array(rows, dtype=np.float64)

    def save(self, folder):
        (folder / "counts.json").write_text(json.dumps([self.styles, self.counts]))

    @classmethod
    def load(cls, folder, placement=None):
        return cls(*json.loads((folder / "counts.json").read_text()))


@dataclass(frozen=True, kw_only=True)
class KeywordConfig(ClassifierConfig):
    min_count: int = 1


def fit(data, styles, config):
    counts = [Counter() for _ in styles]
    for sentence, label in zip(data.sentences, data.labels, strict=True):
        counts[label].update(sentence.split())
    kept = [{w: n for w, n in sorted(c.items()) if n >= config.min_count} for c in counts]
    return KeywordModel(styles, kept)


TRAINER = types.SimpleNamespace(LIBRARIES=(), Config=KeywordConfig, fit=fit)
KIND = Kind(KeywordModel, trainer=TRAINER)
