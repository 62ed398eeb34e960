"""Measuring: from texts and scorers to statistics with signatures, for any of the ten metrics.

The evaluate modules and the evaluation pipeline both come through here, so that a score computed
in a notebook and one on the leaderboard cannot differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import get_args

import nltk
import numpy as np
import sacrebleu

from .. import __version__
from ..errors import InputError, unknown_name
from .facts import METRICS, metric_facts
from .functional.bleu import bleu_protocol, bleu_statistics
from .functional.joint import EQUAL, JointWeights, joint_statistics
from .functional.ppl import Normalisation, ppl_statistics
from .functional.share import share_statistics
from .inputs import Inputs
from .result import LeftOut, Measurement, Outcome
from .scorers.base import Scorer
from .scorers.profile import Scorers
from .signature import Signature
from .statistics import Statistics, mean_statistics
from .text import (
    CLASSIFIER_TEXT,
    CLEANING,
    LANGUAGE_MODEL_TEXT,
    classifier_texts,
    clean_texts,
    language_model_texts,
)

VIEWS = ("s", "r", "multi")  # against the source, the first reference, all references


@dataclass(frozen=True)
class Options:
    """The choices that a metric leaves open; the defaults are the benchmark's.

    Raises:
        UnknownNameError: no such BLEU protocol, or no such normalisation.
    """

    bleu: str = "tstbench"
    ppl: Normalisation = "words"
    weights: JointWeights = EQUAL

    def __post_init__(self) -> None:
        bleu_protocol(self.bleu)  # a slip is told before anything is trained or scored
        if self.ppl not in get_args(Normalisation):
            raise unknown_name("normalisation of ppl", self.ppl, get_args(Normalisation))


BENCHMARK = Options()


@dataclass
class Measuring:
    """One system's measurements in the making: what Joint needs is not computed twice."""

    inputs: Inputs
    scorers: Scorers
    options: Options = BENCHMARK
    _done: dict[str, Outcome] = field(default_factory=dict)

    def outcome(self, metric: str) -> Outcome:
        """Measure one metric, or say why it has no meaning here.

        Raises:
            UnknownNameError: no such metric.
            InputError: an input that the metric needs was not given.
            MissingScorerError: a scorer is not there yet.
        """
        metric_facts(metric)
        if metric not in self._done:
            self._done[metric] = _MEASURES[metric](self)
        return self._done[metric]

    # -- style ---------------------------------------------------------------------------------

    def _acc(self) -> Outcome:
        direction = self.inputs.direction
        if direction is None:
            raise InputError("acc needs a direction, such as 'yelp/negative-to-positive'")
        classifier = self.scorers.classifier
        wanted = classifier.styles.index(direction.target_style)
        distribution = classifier.distribution(classifier_texts(self.inputs.predictions))
        statistics = share_statistics(distribution, wanted, self._failed())
        scorer = {"classifier": _named(classifier), "text": CLASSIFIER_TEXT, "empty": "miss"}
        return self._measurement("acc", statistics, **scorer)

    def _failed(self) -> np.ndarray:
        """Which predictions are empty: shape (N,), bool."""
        return np.array([not text.strip() for text in self.inputs.predictions])

    # -- content -------------------------------------------------------------------------------

    def _bleu(self, view: str) -> Outcome:
        against = self._against(f"{view}_bleu", view)
        if isinstance(against, LeftOut):
            return against
        protocol = bleu_protocol(self.options.bleu)
        statistics = bleu_statistics(self.inputs.predictions, against, protocol)
        return self._measurement(
            f"{view}_bleu",
            statistics,
            protocol=protocol.name,
            tok=protocol.tokenize,
            case="lower" if protocol.lowercase else "mixed",
            smooth=protocol.smooth,
            refs=self._reference_count(view),
            nltk=nltk.__version__ if protocol.tokenize.startswith("nltk") else None,
            sacrebleu=sacrebleu.__version__,
        )

    def _bert(self, view: str) -> Outcome:
        against = self._against(f"{view}_bert", view)
        if isinstance(against, LeftOut):
            return against
        encoder = self.scorers.encoder
        from .functional.bertscore import bertscore, bertscore_protocol  # needs torch

        protocol = bertscore_protocol(self.scorers.profile.bertscore)
        scores = bertscore(
            clean_texts(self.inputs.predictions),
            [clean_texts(some) for some in against],
            encoder,
            reduce=protocol.reduce,
        )
        return self._measurement(
            f"{view}_bert",
            mean_statistics(np.asarray(scores.f1, dtype=np.float64)),
            protocol=protocol.name,
            encoder=_named(encoder),
            layer=encoder.layer,
            reduce=protocol.reduce,
            rescale="no",
            text=CLEANING,
            refs=self._reference_count(view),
        )

    def _against(self, metric: str, view: str) -> list[list[str]] | LeftOut:
        """The texts that a view compares each prediction with."""
        if view == "s":
            if self.inputs.sources is None:
                raise InputError(f"{metric} needs sources")
            return [[source] for source in self.inputs.sources]
        if self.inputs.references is None:
            raise InputError(f"{metric} needs references")
        most = self.inputs.most_references
        if most == 0:
            return LeftOut(metric, "no sentence has a reference")
        if view == "multi" and most == 1:
            return LeftOut(metric, "no sentence has several references")
        keep = 1 if view == "r" else most
        return [list(some[:keep]) for some in self.inputs.references]

    def _reference_count(self, view: str) -> str:
        if view == "s":
            return "source"
        if view == "r":
            return "first"
        fewest, most = self.inputs.fewest_references, self.inputs.most_references
        return str(most) if fewest == most else f"{fewest}-{most}"

    # -- fluency -------------------------------------------------------------------------------

    def _ppl(self) -> Outcome:
        model = self.scorers.language_model
        texts = language_model_texts(self.inputs.predictions)
        log10 = model.log10_probability(texts)
        statistics = ppl_statistics(log10, model.words(texts), self.options.ppl)
        return self._measurement(
            "ppl",
            statistics,
            lm=_named(model),
            norm=self.options.ppl,
            text=LANGUAGE_MODEL_TEXT,
            sacrebleu=sacrebleu.__version__,  # whose 13a tokeniser it is
        )

    def _cola(self) -> Outcome:
        classifier = self.scorers.acceptability
        distribution = classifier.distribution(clean_texts(self.inputs.predictions))
        wanted = classifier.styles.index("acceptable")
        statistics = share_statistics(distribution, wanted, self._failed())
        scorer = {"classifier": _named(classifier), "text": CLEANING, "empty": "miss"}
        return self._measurement("cola", statistics, **scorer)

    # -- overall -------------------------------------------------------------------------------

    def _joint(self) -> Outcome:
        if self.inputs.most_references == 0:
            return LeftOut("joint", "no sentence has a reference")
        chosen = "multi_bleu" if self.inputs.most_references > 1 else "r_bleu"
        parts = [self.outcome(name) for name in ("acc", chosen, "ppl")]
        acc, bleu, ppl = (part for part in parts if isinstance(part, Measurement))
        weights = self.options.weights
        statistics = joint_statistics(acc.statistics, bleu.statistics, ppl.statistics, weights)
        fields = {"bleu": chosen, "weights": str(weights)}
        ends = {"direction", "n", "data", "tstbench"}  # what every signature has
        for part in (acc, bleu, ppl):
            for key, value in part.signature:
                if key not in ends:
                    # Two parts prepare their texts differently: acc.text, ppl.text.
                    fields[f"{part.metric}.text" if key == "text" else key] = value
        return self._measurement("joint", statistics, **fields)

    # -- signatures ----------------------------------------------------------------------------

    def _measurement(self, metric: str, statistics: Statistics, **fields: object) -> Measurement:
        data = self.inputs.data_fingerprint
        signature = Signature.of(
            metric,
            direction=self.inputs.direction,
            **fields,
            n=len(self.inputs.predictions),
            data=data[:12] if data else "unknown",  # sources or references were not given
            tstbench=__version__,
        )
        return Measurement(metric, statistics, signature)


_MEASURES: dict[str, Callable[[Measuring], Outcome]] = {
    "acc": Measuring._acc,
    "s_bleu": lambda m: m._bleu("s"),
    "r_bleu": lambda m: m._bleu("r"),
    "multi_bleu": lambda m: m._bleu("multi"),
    "s_bert": lambda m: m._bert("s"),
    "r_bert": lambda m: m._bert("r"),
    "multi_bert": lambda m: m._bert("multi"),
    "ppl": Measuring._ppl,
    "cola": Measuring._cola,
    "joint": Measuring._joint,
}


def measure(
    metrics: Iterable[str], inputs: Inputs, scorers: Scorers, options: Options = BENCHMARK
) -> dict[str, Outcome]:
    """Measure several metrics of one system on one direction, in the order asked for.

    Raises:
        UnknownNameError: no such metric.
        InputError: an input that a metric needs was not given.
        MissingScorerError: a scorer is not there yet.
    """
    measuring = Measuring(inputs, scorers, options)
    return {metric: measuring.outcome(metric) for metric in metrics}


def _named(scorer: Scorer) -> str:
    """A scorer in a signature: its name, and enough of its hash to tell it from any other."""
    return f"{scorer.name}#{scorer.hash[:12]}"


if set(_MEASURES) != set(METRICS):
    raise RuntimeError("metrics/facts.py and metrics/measure.py name different metrics")
