"""A protocol: everything that was chosen to get one number from one file of outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...datasets_scripts.catalog import language_of
from ...datasets_scripts.cleaning import parse_cleaning
from ...datasets_scripts.load import TestSet
from ...errors import MissingFileError
from ...metrics.bleu.bleu import (
    COLUMNS,
    ORDER,
    BleuProtocol,
    Tokenize,
    aggregate_bleu,
    bleu_protocol,
    bleu_statistics,
    tokenized,
)
from ...metrics.statistics import Statistics, mean_statistics
from ...metrics.text import preparation

MEAN, TOGETHER = "mean", "together"  # of several directions: their mean, or as one corpus


@dataclass(frozen=True)
class Side:
    """One direction's outputs, with its test set as upstream wrote it and as it is cleaned.

    Attributes:
        outputs: N predictions, as they are in the file.
        raw: the test set, uncleaned.
        clean: the same with the cleaning of its language.
    """

    outputs: tuple[str, ...]
    raw: TestSet
    clean: TestSet


@dataclass(frozen=True)
class Value:
    """One number and the protocol that gives it.

    Attributes:
        metric: what is measured.
        choices: name and value of every choice, in the order in which they are made.
        value: in the metric's unit; NaN where it is undefined.
        known_as: the tool or paper whose default this is, if it is a well-known one.
    """

    metric: str
    choices: tuple[tuple[str, str], ...]
    value: float
    known_as: str = ""

    @property
    def protocol(self) -> str:
        """The choices in one line: ``refs:4|files:raw|tok:13a|case:mixed|score:sacrebleu``."""
        return "|".join(f"{name}:{choice}" for name, choice in self.choices)


Choices = tuple[tuple[str, str], ...]


def over_directions(
    choices: Choices, parts: Sequence[Sequence[Statistics]]
) -> Iterator[tuple[Choices, float]]:
    """A number of one direction, or the two ways in which papers make one of several.

    Args:
        choices: made so far.
        parts: one list a direction; of several statistics (one a reference) the mean is reported.
    """
    alone = [float(np.mean([part.value for part in some])) for some in parts]
    if len(parts) == 1:
        yield choices, alone[0]
        return
    yield (*choices, ("over", MEAN)), float(np.mean(alone))
    together = []
    for same in zip(*parts, strict=False):
        rows = np.concatenate([part.rows for part in same])
        together.append(float(same[0].aggregate(rows.sum(axis=0))))
    yield (*choices, ("over", TOGETHER)), float(np.mean(together))


TOKENIZERS: tuple[Tokenize, ...] = ("nltk", "nltk-punkt", "whitespace", "13a", "intl")
CASES = ("lower", "mixed")
FILES = ("raw", "clean refs", "cleaned")
SCORES = (
    "nltk corpus",
    "multi-bleu",
    "sacrebleu",
    "nltk sent.",
    "sacrebleu sent.",
)
Texts = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]  # predictions, references of each


def bleu_values(
    sides: Sequence[Side], *, against_source: bool, notes: list[str]
) -> Iterator[Value]:
    """BLEU of the outputs under every protocol.

    Args:
        sides: one or more directions.
        against_source: self-BLEU only; otherwise BLEU against human rewrites too.
        notes: what could not be computed, and why, is added to it.
    """
    metric = "s_bleu" if against_source else "bleu"
    count = _Counts()
    views = ["source"] if against_source else reference_views(sides)
    own = {preparation(language_of(side.clean.direction)).bleu_protocol for side in sides}
    tokenizers = _tokenizers(own, notes)
    for view in views:
        for files in FILES:
            texts = [texts_of(side, view, files) for side in sides]
            for tokenize in tokenizers:
                for case in CASES:
                    base: Choices = (
                        ("refs", view), ("files", files), ("tok", tokenize), ("case", case),
                    )  # fmt: skip
                    for score in SCORES:
                        parts = [
                            [_score(count, one, tokenize, case, score) for one in some]
                            for some in texts
                        ]
                        choices: Choices = (*base, ("score", score))
                        for whole, value in over_directions(choices, parts):
                            name = known_as(whole)
                            if name == "tstbench" and name not in own:  # it is for English
                                name = ""
                            yield Value(metric, whole, value, name)


def known_as(choices: Choices) -> str:
    """The tool whose default a protocol is, whatever the references and directions are."""
    made = dict(choices)
    return _KNOWN.get((made["files"], made["tok"], made["case"], made["score"]), "")


_KNOWN = {
    ("clean refs", "nltk", "lower", "nltk corpus"): "tstbench",
    ("cleaned", "13a", "mixed", "sacrebleu"): "tstbench 13a",
    ("cleaned", "whitespace", "mixed", "multi-bleu"): "tstbench whitespace",
    ("raw", "13a", "mixed", "sacrebleu"): "sacrebleu",
    ("raw", "13a", "lower", "sacrebleu"): "sacrebleu -lc",
    ("raw", "whitespace", "mixed", "multi-bleu"): "multi-bleu.perl",
    ("raw", "whitespace", "lower", "multi-bleu"): "multi-bleu.perl -lc",
    # Evaluator.nltk_bleu in the repository of Dai et al. (2019). On Yelp, whose files are
    # tokenised, nltk's data for sentence boundaries change nothing.
    ("raw", "nltk", "lower", "nltk sent."): "Style Transformer code",
}
for _tok in ("zh", "ja-mecab", "ko-mecab", "char"):  # each tried for its languages alone
    _KNOWN["clean refs", _tok, "mixed", "sacrebleu"] = f"tstbench {_tok}"
    _KNOWN["raw", _tok, "mixed", "sacrebleu"] = f"sacrebleu -tok {_tok}"


class _Counts:
    """Each text is tokenised once in each way, and n-grams of the same tokens are counted once."""

    def __init__(self) -> None:
        self._kept: dict[Texts, Statistics] = {}
        self._tokens: dict[tuple[Texts, str, str], Texts] = {}
        self._text: dict[tuple[str, str], dict[str, str]] = {}

    def __call__(self, texts: Texts, tokenize: Tokenize, case: str) -> Statistics:
        key = texts, tokenize, case
        if key not in self._tokens:
            self._tokens[key] = self._as_tokens(texts, tokenize, case)
        tokens = self._tokens[key]
        if tokens not in self._kept:
            self._kept[tokens] = bleu_statistics(*tokens, _COUNTED)
        return self._kept[tokens]

    def _as_tokens(self, texts: Texts, tokenize: Tokenize, case: str) -> Texts:
        whole, done = _tokenizer(tokenize), self._text.setdefault((tokenize, case), {})

        def one(text: str) -> str:
            if text not in done:
                done[text] = whole(text.lower() if case == "lower" else text)
            return done[text]

        predictions, references = texts
        return tuple(map(one, predictions)), tuple(tuple(map(one, some)) for some in references)


# Texts are tokenised before; totals stay as counted: each score treats them in its own way.
_COUNTED = BleuProtocol("counted", "whitespace", False, "zero", "none")


def _tokenizer(tokenize: Tokenize) -> Callable[[str], str]:
    if tokenize.startswith(("nltk", "whitespace")):
        return partial(tokenized, tokenize=tokenize, lowercase=False)
    from sacrebleu.metrics.bleu import BLEU

    tokenizer = BLEU(tokenize=tokenize).tokenizer
    return lambda text: str(tokenizer(text.rstrip()))


def _score(counts: _Counts, texts: Texts, tokenize: Tokenize, case: str, score: str) -> Statistics:
    """The statistics of one score."""
    counted = counts(texts, tokenize, case)
    if score == "sacrebleu sent.":
        assert counted.per_sentence is not None  # noqa: S101 - BLEU has values for sentences
        return mean_statistics(counted.per_sentence)
    rows = counted.rows
    if score.startswith("nltk"):  # an order without n-grams counts as one miss
        rows = rows.copy()
        has = rows[:, COLUMNS : COLUMNS + 1] > 0
        totals = rows[:, 2 + ORDER : COLUMNS]
        rows[:, 2 + ORDER : COLUMNS] = np.where(has, np.maximum(totals, 1), totals)
    if score == "nltk sent.":
        alone = np.where(rows[:, COLUMNS] > 0, aggregate_bleu(rows[:, :COLUMNS]), np.nan)
        return mean_statistics(alone)
    smooth = "exp" if score == "sacrebleu" else "none"

    def aggregate(sums: np.ndarray) -> np.ndarray:
        return aggregate_bleu(sums[..., :COLUMNS], smooth)

    return replace(counted, rows=rows, aggregate=aggregate)


def reference_views(sides: Sequence[Side]) -> list[str]:
    """``all 4``, ``1`` to ``4``, ``mean of 4``, and the source: some papers' BLEU is against it."""
    most = max(max(map(len, side.raw.references), default=0) for side in sides)
    singles = [str(k + 1) for k in range(most)]
    several = [f"all {most}", *singles, f"mean of {most}"]
    return [*(several if most > 1 else singles), "source"]


def texts_of(side: Side, view: str, files: str) -> list[Texts]:
    """What is compared: one corpus, or one for each reference whose scores are averaged."""
    test_set = side.raw if files == "raw" else side.clean
    outputs = side.outputs
    if files == "cleaned":
        outputs = tuple(map(parse_cleaning(side.clean.cleaning), outputs))
    if view == "source":
        return [(outputs, tuple((source,) for source in test_set.sources))]
    references = test_set.references
    if view.startswith("all"):
        return [(outputs, references)]
    most = max(map(len, references), default=0)
    wanted = range(most) if view.startswith("mean") else [int(view) - 1]
    return [(outputs, tuple(some[k : k + 1] for some in references)) for k in wanted]


def _tokenizers(own: Iterable[str], notes: list[str]) -> list[Tokenize]:
    """Those that papers use, and those of our own protocols; Punkt only where its data are."""
    found = [*TOKENIZERS, *(bleu_protocol(name).tokenize for name in own)]
    try:
        tokenized("a", "nltk-punkt")
    except MissingFileError as error:
        notes.append(f"not tried: {error}")
        found.remove("nltk-punkt")
    return list(dict.fromkeys(found))
