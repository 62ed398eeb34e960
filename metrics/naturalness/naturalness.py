"""Naturalness: outputs that look more human than their sources.

Source: Mir et al. (2019), "Evaluating Style Transfer for Text", sections 4.2, 4.3 and 6.2.

An adversarial classifier is trained to tell human texts from the outputs of systems; an output that it
takes for human rather than its source fools it. Every sentence is scored by a classifier that saw neither
its source nor its references nor any system's output for it.

Source: Mir et al. (2019), "Evaluating Style Transfer for Text", sections 4.2 (relative scores) and 4.3
(adversarial classifiers); Bowman et al. (2016), section 3.2. The language model's variant is the
perplexity relative to the input's that Mir et al. propose in section 6.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from tstbench.errors import InputError
from tstbench.metrics.base import Context, Family, MetricFacts, Need, Options
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.signature import Signature
from tstbench.metrics.statistics import Statistics, quotient
from tstbench.metrics.text import preparation
from tstbench.settings import Positive


def naturalness_statistics(differences: np.ndarray, failed: np.ndarray) -> Statistics:
    """The share of outputs that are more natural than their sources, in percent.

    Args:
        differences: log odds that the output of each sentence is the more natural text, shape (N,);
            0 is a tie, as for a copy, and counts half.
        failed: booleans, shape (N,): empty outputs, which are never more natural.

    The score of one sentence is the probability of those log odds, in percent.

    Raises:
        InputError: shapes that differ, or a difference that is NaN.

    >>> statistics = naturalness_statistics(np.array([2.0, 0.0, -1.0]), np.zeros(3, dtype=bool))
    >>> statistics.value, statistics.per_sentence.round(1).tolist()
    (50.0, [88.1, 50.0, 26.9])
    """
    differences = np.asarray(differences, dtype=np.float64)
    failed = np.asarray(failed)
    if differences.shape != failed.shape or differences.ndim != 1:
        raise InputError(f"{differences.shape} differences of naturalness, {failed.shape} outputs")
    if np.isnan(differences).any():
        where = int(np.isnan(differences).argmax())
        raise InputError(f"the naturalness of sentence {where} is not a number")
    wins = np.where(failed, 0.0, (np.sign(differences) + 1) / 2)
    chance = np.where(failed, 0.0, 0.5 * (1 + np.tanh(differences / 2)))
    rows = np.stack([wins, np.ones(len(wins))], axis=1)
    return Statistics(rows, partial(quotient, scale=100), 100 * chance)


def folds_of(sources: Sequence[str], folds: int, seed: int) -> np.ndarray:
    """The fold of each sentence: shape (N,), 0 to ``folds`` - 1; equal sources share one.

    Raises:
        InputError: fewer than 2 folds, or more folds than distinct sources.

    >>> folds_of(["a", "b", "a", "c"], 2, 0)[[0, 2]].tolist()
    [0, 0]
    """
    groups = {text: number for number, text in enumerate(dict.fromkeys(sources))}
    if not 2 <= folds <= len(groups):
        if len(groups) < 2:
            raise InputError(
                "all sources are the same: naturalness needs two or more to learn from"
            )
        raise InputError(
            f"{len(groups)} different sources cannot be divided into {folds} folds: from 2 to "
            f"{len(groups)} are possible"
        )
    # RandomState: NumPy promises that its stream never changes.
    order = np.random.RandomState(seed).permutation(len(groups))
    fold = np.empty(len(groups), dtype=np.int64)
    fold[order] = np.arange(len(groups)) % folds
    return fold[[groups[text] for text in sources]]


@dataclass(frozen=True)
class Texts:
    """Human and machine texts of the same N sentences, prepared.

    Attributes:
        sources: N texts.
        references: N tuples of texts; all empty if only sources are human texts.
        outputs: for each system, N texts; an empty one is left out.
        learn_sources: whether sources are examples of human text.
    """

    sources: Sequence[str]
    references: Sequence[Sequence[str]]
    outputs: Mapping[str, Sequence[str]]
    learn_sources: bool = True

    def examples(self, items: Sequence[int]) -> tuple[list[str], np.ndarray, np.ndarray]:
        """Texts of some sentences, which are human, and their weights.

        Human and machine texts weigh the same together, and so do sources and references, whose
        styles differ: otherwise the classifier would learn the style. The weights sum to the
        number of sentences, so that a penalty means the same for any number of systems. Outputs
        that equal the sentence's own source or reference are human text, and are left out.
        """
        sources = [self.sources[i] for i in items] if self.learn_sources else []
        references = [text for i in items for text in self.references[i]]
        machine = [
            text
            for outputs in self.outputs.values()
            for i in items
            if (text := outputs[i]) and text not in (self.sources[i], *self.references[i])
        ]
        share = 0.5 if sources and references else 1
        parts = [(sources, share), (references, share), (machine, 1)]
        weights = [np.full(len(t), s * len(items) / 2 / len(t)) for t, s in parts if t]
        labels = np.repeat([1, 0], [len(sources) + len(references), len(machine)])
        return [*sources, *references, *machine], labels, np.concatenate(weights)


@dataclass(frozen=True)
class CrossFitted:
    """One linear classifier for each fold, trained on the other folds.

    Attributes:
        fold: the fold of each sentence, shape (N,).
        coefficients: shape (folds, D).
        intercepts: shape (folds,).
    """

    fold: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray

    def margins(self, features: Any) -> np.ndarray:
        """Log odds that each sentence's text is human, by the classifier of its fold.

        Args:
            features: shape (N, D), dense or sparse: row i is a text of sentence i.
        """
        scores = np.asarray(features @ self.coefficients.T) + self.intercepts
        chosen: np.ndarray = scores[np.arange(len(self.fold)), self.fold]
        return chosen


def cross_fit(
    texts: Texts,
    features: Any,
    row: Mapping[str, int],
    *,
    penalty: float,
    standardize: bool,
    folds: int,
    seed: int,
) -> CrossFitted:
    """Train the classifiers: logistic regression with an L2 penalty, solved to convergence.

    Args:
        texts: what is human and what is not.
        features: shape (T, D), one row for each distinct text, dense or sparse.
        row: the row of each text.
        penalty: scikit-learn's C for examples whose weights sum to the number of sentences.
        standardize: whether each feature is centred and scaled by what the training texts have.
        folds: how many classifiers.
        seed: of the division into folds.

    Raises:
        InputError: see :func:`folds_of`.
    """
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    fold = folds_of(texts.sources, folds, seed)
    coefficients, intercepts = np.zeros((folds, features.shape[1])), np.zeros(folds)
    with threadpool_limits(1):  # so that sums do not depend on the number of cores
        for number in range(folds):
            some, labels, weights = texts.examples(np.flatnonzero(fold != number).tolist())
            if labels.all():
                continue  # every output is human text: nothing can be told apart
            known = features[[row[text] for text in some]]
            centre, scale = np.zeros(features.shape[1]), np.ones(features.shape[1])
            if standardize:
                centre, scale = known.mean(axis=0), known.std(axis=0)
                scale[scale == 0] = 1.0
                known = (known - centre) / scale
            model = LogisticRegression(C=penalty, tol=1e-8, max_iter=5000)
            model.fit(known, labels, sample_weight=weights)
            coefficients[number] = model.coef_[0] / scale
            intercepts[number] = model.intercept_[0] - coefficients[number] @ centre
    return CrossFitted(fold, coefficients, intercepts)


def unigram_features(texts: Sequence[str]) -> Any:
    """Which words each text has: a sparse matrix of 0 and 1, shape (T, words)."""
    from scipy.sparse import csr_matrix

    from tstbench.metrics.text import words

    column: dict[str, int] = {}
    rows, columns = [], []
    for number, text in enumerate(texts):
        for word in dict.fromkeys(words(text)):
            rows.append(number)
            columns.append(column.setdefault(word, len(column)))
    return csr_matrix(
        (np.ones(len(rows)), (rows, columns)), shape=(len(texts), max(1, len(column)))
    )


def log_probability_per_word(log10_by_style: Sequence[np.ndarray], words: np.ndarray) -> np.ndarray:
    """Of each text under the equal mixture of the styles' language models: nats, shape (N,).

    Args:
        log10_by_style: for each model, log10 of the texts' probabilities, shape (N,).
        words: the texts' words, without the end of the sentence, which counts as one more.
    """
    nats = np.log(10) * np.stack([np.asarray(one, dtype=np.float64) for one in log10_by_style])
    mixed = np.logaddexp.reduce(nats, axis=0) - np.log(len(nats))
    per_word: np.ndarray = mixed / (np.asarray(words) + 1)
    return per_word


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
    folds: Annotated[int, Field(ge=2, le=1000)] = 10
    unigram_penalty: Positive = 1.0
    neural_penalty: Positive = 0.01
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0


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
    description = """
Naturalness is the percentage of outputs that look more natural than their sources: to a classifier
of words or of sentence embeddings that was trained to tell human texts from outputs of systems, on
other sentences; or to language models of both styles. A copy counts half.
"""
    example = """
>>> naturalness = evaluate.load("tstbench/naturalness")
>>> sources = ["the soup was cold.", "we waited an hour.", "the waiter was rude."]
>>> results = naturalness.compute(
...     predictions=["the soup was lovely.", "we waited we waited lovely.", "the waiter was kind."],
...     sources=sources,
...     references=[["the soup was hot."], ["we never waited."], ["the waiter was polite."]],
...     direction="mini/negative-to-positive",
...     folds=3,
... )
>>> round(results["naturalness_lm"], 1)
66.7
"""
    citation = """\
@inproceedings{mir2019evaluating,
  title = {Evaluating Style Transfer for Text},
  author = {Mir, Remi and Felbo, Bjarke and Obradovich, Nick and Rahwan, Iyad},
  booktitle = {Proceedings of NAACL},
  year = {2019}
}
"""
    columns = ("sources", "references")
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

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("naturalness")
