"""Naturalness: outputs that look more human than their sources.

Source: Mir et al. (2019), "Evaluating Style Transfer for Text", sections 4.2, 4.3 and 6.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, get_args

from ...errors import InputError, unknown_name
from ..contract import Context, Family, Need, Options
from ..facts import MetricFacts
from ..text import preparation

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from ..functional.naturalness import CrossFitted, Texts
    from ..inputs import Inputs
    from ..signature import Signature
    from ..statistics import Statistics

Human = Literal["references", "sources+references", "sources"]

_LANGUAGE_MODELS = ("cleaned_language_model", "source_language_model")


@dataclass(frozen=True, kw_only=True)
class NaturalnessOptions(Options):
    """Options of ``naturalness``; all but ``lm`` learn from the cohort.

    Attributes:
        human: what is known to be human text. References have the outputs' style; sources have
            another, so that a classifier that learns from them learns the style as well. Without
            references, sources are all there is.
        folds: how many classifiers are trained; each scores the sentences it did not see.
        unigram_penalty: scikit-learn's C of the unigram classifier.
        neural_penalty: that of the neural one, for features of unit variance.
        seed: of the division into folds.
    """

    human: Human = "sources+references"
    folds: int = 10
    unigram_penalty: float = 1.0
    neural_penalty: float = 0.01
    seed: int = 0

    def __post_init__(self) -> None:
        if self.human not in get_args(Human):
            raise unknown_name("human texts of naturalness", self.human, get_args(Human))
        if not 2 <= self.folds <= 1000:
            raise InputError(f"naturalness.folds is {self.folds}: it must be from 2 to 1000")
        if not 0 <= self.seed < 2**32:
            raise InputError(f"naturalness.seed is {self.seed}: it must be from 0 to 4294967295")
        for name in ("unigram_penalty", "neural_penalty"):
            value = getattr(self, name)
            if not 0 < value < float("inf"):
                raise InputError(f"naturalness.{name} is {value}: it must be more than 0")


def _facts(kind: str, title: str, meaning: str, *, learns: bool) -> MetricFacts:
    return MetricFacts(
        name=f"naturalness_{kind}",
        title=title,
        unit="percent",
        higher_is_better=True,
        aspect="fluency",
        meaning=meaning,
        reads=("sources",) if learns else ("sources", "direction"),
        compares_systems=learns,
    )


class Naturalness(Family[NaturalnessOptions]):
    """Relative naturalness, by adversarial classifiers and by language models."""

    name = "naturalness"
    title = "naturalness"
    options = NaturalnessOptions
    libraries = ("kenlm", "sacrebleu", "scikit-learn")  # sacrebleu: its 13a tokeniser
    metrics = (
        _facts(
            "unigram",
            "Nat-unigram",
            "share that a word classifier takes for human rather than the source",
            learns=True,
        ),
        _facts(
            "neural",
            "Nat-neural",
            "share that a classifier of embeddings takes for human rather than the source",
            learns=True,
        ),
        _facts(
            "lm",
            "Nat-LM",
            "share that language models of both styles find likelier per word than the source",
            learns=False,
        ),
    )

    def left_out(self, metric: str, inputs: Inputs, options: NaturalnessOptions) -> str | None:
        """A reason if there are too few different sources to leave some out."""
        if metric == "naturalness_lm" or inputs.sources is None or len(inputs.sources) < 2:
            return None  # one sentence stands for any when scorers are looked up
        different = len({*preparation(inputs.language).for_classifier(inputs.sources)})
        if different >= options.folds:
            return None
        return f"{different} different sources cannot be divided into {options.folds} folds"

    def needs(self, metric: str, inputs: Inputs, options: NaturalnessOptions) -> tuple[Need, ...]:
        """Predictions and sources; the encoder reads references too, where they are human text."""
        prepare = preparation(inputs.language)
        both = [*inputs.predictions, *(inputs.sources or ())]
        if metric == "naturalness_lm":
            texts = partial(prepare.for_language_model, both)
            return tuple(Need(role, texts) for role in _LANGUAGE_MODELS)
        if metric == "naturalness_unigram":
            return ()
        if _human(inputs, options) != "sources":
            both += [text for some in inputs.references or () for text in some]
        return (Need("encoder", partial(prepare.for_classifier, both)),)

    def fields(self, metric: str, inputs: Inputs, options: NaturalnessOptions) -> dict[str, object]:
        """What is human text, how classifiers are trained, how texts are prepared, ties, failures."""
        text = preparation(inputs.language)
        if metric == "naturalness_lm":
            return {
                "mixture": "styles",
                "norm": "words+1",
                "text": text.language_model_name,
                "empty": "miss",
            }
        kind = metric.removeprefix("naturalness_")
        return {
            "human": _human(inputs, options),
            "folds": options.folds,
            "C": _penalty(kind, options),
            "seed": options.seed,
            "text": text.classifier_name,
            "empty": "miss",
        }

    def measure(
        self, metric: str, inputs: Inputs, options: NaturalnessOptions, context: Context
    ) -> Statistics:
        """The share of outputs that are judged more natural than their sources."""
        from ..functional.naturalness import naturalness_statistics

        if metric == "naturalness_lm":
            differences = _by_language_models(inputs, context)
        else:
            differences = _by_classifier(metric, inputs, options, context)
        return naturalness_statistics(differences, inputs.failed)

    def caution(self, signature: Signature) -> str | None:
        """What people's judgments say about these numbers."""
        said = signature.as_dict()
        if "human" not in said:
            return _LM_CAUTION
        return _STYLE_CAUTION if said["human"] == "sources" else _CLASSIFIER_CAUTION


_CONSTANT = (
    "the constant answer 'the source is more natural' agrees with people more often (80.6% of the "
    "outputs that Mir et al. had judged)"
)
_LM_CAUTION = f"naturalness ranks, it does not decide: {_CONSTANT}"
_CLASSIFIER_CAUTION = (
    "an adversarial classifier finds what is typical of systems and of their style; within one "
    "direction it agreed with people no better than chance: "
    f"{_CONSTANT}"
)
_STYLE_CAUTION = (
    "only sources were known as human text, so the classifier also learned their style and this "
    f"number means little; give references: {_CONSTANT}"
)


def _human(inputs: Inputs, options: NaturalnessOptions) -> Human:
    return options.human if inputs.most_references else "sources"


def _penalty(kind: str, options: NaturalnessOptions) -> float:
    return options.unigram_penalty if kind == "unigram" else options.neural_penalty


def _by_language_models(inputs: Inputs, context: Context) -> np.ndarray:
    """Nats per word by which the output is likelier than the source: shape (N,)."""
    from ..functional.naturalness import log_probability_per_word

    models = [context.scorer(role) for role in _LANGUAGE_MODELS]
    prepare = preparation(inputs.language).for_language_model
    output, source = (
        log_probability_per_word(
            [model.log10_probability(texts) for model in models], models[0].words(texts)
        )
        for texts in (prepare(inputs.predictions), prepare(inputs.sources or ()))
    )
    return output - source


@dataclass(frozen=True)
class _Lesson:
    """What classifiers learn from: the same for every system of a cohort, so they learn once."""

    cohort: str
    data: tuple[object, ...]
    kind: str
    encoder: str
    options: NaturalnessOptions
    texts: Texts = field(compare=False)
    features: Callable[[list[str]], Any] = field(compare=False)


@lru_cache(maxsize=4)
def _learned(lesson: _Lesson) -> tuple[CrossFitted, Any, dict[str, int]]:
    from ..functional.naturalness import cross_fit

    texts = lesson.texts
    everything = [*texts.sources, *(t for some in texts.references for t in some)]
    everything += [text for outputs in texts.outputs.values() for text in outputs]
    row = {text: number for number, text in enumerate(dict.fromkeys(everything))}
    features = lesson.features(list(row))
    fitted = cross_fit(
        texts,
        features,
        row,
        penalty=_penalty(lesson.kind, lesson.options),
        standardize=lesson.kind == "neural",
        folds=lesson.options.folds,
        seed=lesson.options.seed,
    )
    return fitted, features, row


def _by_classifier(
    metric: str, inputs: Inputs, options: NaturalnessOptions, context: Context
) -> np.ndarray:
    """Log odds that the output, not the source, is the human text: shape (N,)."""
    from ..functional.naturalness import Texts, unigram_features

    kind = metric.removeprefix("naturalness_")
    prepare = preparation(inputs.language).for_classifier
    human = _human(inputs, options)
    sources = prepare(inputs.sources or ())
    given = ((),) * len(sources) if human == "sources" else inputs.references or ()
    references = [tuple(prepare(some)) for some in given]
    outputs = {name: prepare(some) for name, some in context.cohort.predictions.items()}
    for name, some in outputs.items():
        if len(some) != len(sources):
            raise InputError(
                f"{metric}: {name} has {len(some)} outputs for {len(sources)} sentences: all "
                "systems of a cohort need one output for each sentence"
            )
    own = prepare(inputs.predictions)
    encoder = context.scorer("encoder") if kind == "neural" else None
    lesson = _Lesson(
        cohort=context.cohort.hash,
        data=(tuple(sources), tuple(references)),
        kind=kind,
        encoder="" if encoder is None else f"{encoder.hash}@{encoder.layer}",
        options=options,
        texts=Texts(sources, references, outputs, learn_sources=human != "references"),
        features=unigram_features if encoder is None else encoder.sentence_vectors,
    )
    fitted, features, row = _learned(lesson)
    rows = [row.get(text, -1) for text in own]
    if min(rows) < 0:
        raise InputError(f"{metric}: the predictions are not among those of the cohort's systems")
    return fitted.margins(features[rows]) - fitted.margins(features[[row[t] for t in sources]])


FAMILY = Naturalness()
