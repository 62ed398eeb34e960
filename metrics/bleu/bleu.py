"""s-BLEU, r-BLEU and multi-BLEU: n-gram overlap with the source and with human rewrites.

Sources: Papineni et al. (2002); Post (2018); the views are the TSTBench paper's, section 3.3.1.

Papers on style transfer report a BLEU of 24 or 55 for the same outputs, because each tokenises,
lower-cases and smooths differently. Here each protocol has a name, which is in the signature.

Sources: Papineni et al. (2002); Post (2018). Counting is sacreBLEU's; the protocols differ in
tokenisation, in how n-gram totals of short sentences count, and in smoothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from tstbench.errors import InputError, MissingExtraError, MissingFileError, unknown_name
from tstbench.metrics.base import (
    Context,
    Family,
    MetricFacts,
    Options,
    compared_with,
    reference_count,
    view_facts,
    view_left_out,
)
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.statistics import BLOCK, Statistics, in_blocks
from tstbench.metrics.text import nltk_tokens, preparation

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

Tokenize = Literal[
    "nltk", "nltk-punkt", "whitespace", "13a", "intl", "char", "zh", "ja-mecab", "ko-mecab"
]


@dataclass(frozen=True)
class BleuProtocol:
    """One way to compute BLEU.

    Attributes:
        tokenize: ``nltk`` (NLTKWordTokenizer on the whole line, needs no data), ``nltk-punkt``
            (``word_tokenize``, needs nltk's ``punkt_tab``), ``whitespace``, or one of sacreBLEU's:
            ``13a``, ``intl``, ``char``, ``zh``, ``ja-mecab`` and ``ko-mecab`` (which need
            ``sacrebleu[ja]`` and ``sacrebleu[ko]``).
        lowercase: whether texts are lower-cased first.
        short_totals: n-gram totals of a sentence with fewer than n tokens: ``one`` as nltk's
            ``corpus_bleu`` counts them, ``zero`` as multi-bleu.perl and sacreBLEU do.
        smooth: ``none``, or ``exp`` as sacreBLEU's default.
    """

    name: str
    tokenize: Tokenize
    lowercase: bool
    short_totals: Literal["one", "zero"]
    smooth: Literal["none", "exp"]

    @property
    def english(self) -> bool:
        """Whether its tokenisation is for English."""
        return self.tokenize.startswith("nltk")


_SACREBLEU: tuple[Tokenize, ...] = ("13a", "intl", "char", "zh", "ja-mecab", "ko-mecab")
PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        BleuProtocol("tstbench", "nltk", True, "one", "none"),
        BleuProtocol("tstbench-punkt", "nltk-punkt", True, "one", "none"),
        BleuProtocol("whitespace", "whitespace", False, "zero", "none"),
        *(BleuProtocol(name, name, False, "zero", "exp") for name in _SACREBLEU),
    )
}


def bleu_protocol(name: str) -> BleuProtocol:
    """The protocol with that name; raises :class:`UnknownNameError` with near misses."""
    if name not in PROTOCOLS:
        raise unknown_name("BLEU protocol", name, PROTOCOLS)
    return PROTOCOLS[name]


ORDER = 4
_OURS = ("nltk", "nltk-punkt", "whitespace")  # we tokenise, sacreBLEU only counts
COLUMNS = 2 + 2 * ORDER  # prediction length, closest reference length, matches, totals


def bleu_statistics(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    protocol: str | BleuProtocol = "tstbench",
) -> Statistics:
    """Corpus BLEU, in percent, with per-sentence BLEU.

    Args:
        predictions: N texts; an empty one counts as having no match.
        references: N lists of 0 to n texts. A sentence without references is left out of the
            corpus score, and its own score is NaN.
        protocol: a name in :data:`~.bleu_protocols.PROTOCOLS`, or a protocol.

    Returns:
        Rows of shape (N, 11): prediction length, closest reference length, 4 matches, 4 totals,
        and whether the sentence counts.
        Per-sentence values are smoothed (``exp``) and use the effective order, like sacreBLEU's
        ``sentence_bleu``: unsmoothed, most single sentences would score 0.

    Raises:
        InputError: the lengths differ.

    >>> stats = bleu_statistics(["the cat sat on the mat"], [["the cat sat on a mat"]])
    >>> round(stats.value, 2)  # nltk corpus_bleu gives 53.73
    53.73
    """
    if isinstance(protocol, str):
        protocol = bleu_protocol(protocol)
    if len(predictions) != len(references):
        raise InputError(
            f"{len(predictions)} predictions but {len(references)} lists of references: "
            "give one list per prediction, [] if there is none"
        )
    rows = np.zeros((len(predictions), COLUMNS + 1))  # the last column: whether the sentence counts
    scored = [i for i, some in enumerate(references) if some]
    # Counted n-grams of references are large: of a long corpus, those of a block, and not kept.
    counter: Callable[..., BLEU] = _counter if len(scored) <= BLOCK else _counter.__wrapped__
    for block in in_blocks(scored):
        counted = counter(tuple(tuple(references[i]) for i in block), protocol)
        rows[block, :COLUMNS] = _count([predictions[i] for i in block], counted, protocol)
    per_sentence = np.full(len(predictions), np.nan)
    counts = rows[scored, :COLUMNS]
    per_sentence[scored] = aggregate_bleu(counts, smooth="exp", effective_order=True)
    if protocol.short_totals == "one":
        rows[scored, 2 + ORDER : COLUMNS] = np.maximum(counts[:, 2 + ORDER :], 1)
    rows[scored, COLUMNS] = 1
    return Statistics(rows, partial(_corpus_bleu, smooth=protocol.smooth), per_sentence)


def aggregate_bleu(
    sums: np.ndarray, smooth: str = "none", effective_order: bool = False
) -> np.ndarray:
    """BLEU in percent from summed statistics: shape (..., 10) to (...).

    0 if an n-gram order has no match and ``smooth`` is ``none``. Equal to
    ``sacrebleu.BLEU.compute_bleu``, but for whole arrays of corpora at once.
    """
    sums = np.asarray(sums, dtype=np.float64)
    length, closest = sums[..., 0], sums[..., 1]
    matches, totals = sums[..., 2 : 2 + ORDER], sums[..., 2 + ORDER : COLUMNS]
    counted = np.cumprod(totals > 0, axis=-1).astype(bool)  # orders up to the first without n-grams
    missing = counted & (matches == 0)
    effective = np.where(missing, 0.5 ** np.cumsum(missing, axis=-1), matches)
    if smooth == "none":
        effective = matches
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.where(counted, effective / np.where(totals > 0, totals, 1), 0.0))
        if effective_order:
            logs = np.where(counted, logs, 0.0)
            orders = np.maximum(counted.sum(axis=-1), 1)
        else:
            orders = ORDER
        brevity = np.where(length < closest, np.exp(1 - closest / length), 1.0)
        score = 100 * brevity * np.exp(logs.sum(axis=-1) / orders)
    return np.where((length == 0) | ~matches.any(axis=-1), 0.0, score)


def _corpus_bleu(sums: np.ndarray, smooth: str) -> np.ndarray:
    """BLEU of resampled corpora; NaN if no sentence in it has a reference."""
    return np.where(sums[..., COLUMNS] > 0, aggregate_bleu(sums[..., :COLUMNS], smooth), np.nan)


def _count(predictions: Sequence[str], counter: BLEU, protocol: BleuProtocol) -> np.ndarray:
    tokenize = _tokenizer(protocol)
    texts = [tokenize(text) for text in predictions]
    # sacreBLEU's own hook for "sentence statistics now, scores later": with the references cached
    # in the object it is six times faster than sentence_score, which counts them again each time.
    return np.array(counter._extract_corpus_statistics(texts, None))


@lru_cache(maxsize=32)
def _counter(references: tuple[tuple[str, ...], ...], protocol: BleuProtocol) -> BLEU:
    """A sacreBLEU object that has counted these references, shared by all systems."""
    tokenize = _tokenizer(protocol)
    most = max(len(some) for some in references)
    streams = [[tokenize(r[k]) if k < len(r) else None for r in references] for k in range(most)]
    return _sacrebleu(
        tokenize="none" if protocol.tokenize in _OURS else protocol.tokenize,
        lowercase=False,
        force=True,  # no warning about tokenised text: it is tokenised
        max_ngram_order=ORDER,
        references=streams,  # type: ignore[arg-type]  # None: that sentence has fewer
    )


def _sacrebleu(tokenize: str, **settings: Any) -> BLEU:
    from sacrebleu.metrics.bleu import BLEU  # only now: metrics are listed without it

    try:
        return BLEU(tokenize=tokenize, **settings)
    except (ImportError, RuntimeError) as error:
        extra = tokenize.split("-")[0]
        raise MissingExtraError(
            f"BLEU protocol {tokenize} needs a tokenizer that is not installed: "
            f"pip install 'sacrebleu[{extra}]'"
        ) from error


def _tokenizer(protocol: BleuProtocol) -> Callable[[str], str]:
    return partial(tokenized, tokenize=protocol.tokenize, lowercase=protocol.lowercase)


@lru_cache(maxsize=1 << 17)
def tokenized(text: str, tokenize: str = "nltk", lowercase: bool = True) -> str:
    """The tokens of a text, separated by single spaces.

    >>> tokenized("It isn't bad, is it?")
    "it is n't bad , is it ?"
    """
    text = " ".join(text.lower().split() if lowercase else text.split())
    if tokenize == "nltk":
        return nltk_tokens(text)
    if tokenize == "nltk-punkt":
        from nltk.tokenize import word_tokenize  # takes a second to import

        try:
            return " ".join(word_tokenize(text))
        except LookupError as error:
            raise MissingFileError(
                "protocol tstbench-punkt needs nltk's Punkt data: python -m nltk.downloader "
                "punkt_tab. The protocol tstbench does not need it."
            ) from error
    return text


@dataclass(frozen=True, kw_only=True)
class BleuOptions(Options):
    """Options of ``bleu``.

    Attributes:
        protocol: ``tstbench`` (lower case, NLTK's tokens, no smoothing; the default for English),
            ``tstbench-punkt``, ``whitespace`` (tokens between spaces, mixed case), ``13a``
            (sacreBLEU's default, on cleaned texts), or another of sacreBLEU's tokenizers: ``intl``,
            ``char``, ``zh``, ``ja-mecab``, ``ko-mecab``.
    """

    protocol: str | None = None

    def __post_init__(self) -> None:
        if self.protocol is not None:
            bleu_protocol(self.protocol)


class Bleu(Family[BleuOptions]):
    """BLEU under a named protocol."""

    name = "bleu"
    title = "BLEU"
    options = BleuOptions
    libraries = ("nltk", "sacrebleu")
    description = """
Corpus BLEU in three views: against the source (s-BLEU: how much was kept), against the first
reference (r-BLEU) and against all references (multi-BLEU). The protocol, on which published
numbers differ by a factor of two, is chosen by name and printed in the signature.
"""
    example = """
>>> bleu = evaluate.load("tstbench/bleu")
>>> results = bleu.compute(
...     predictions=["the soup was hot and good."],
...     sources=["the soup was cold and bad."],
...     references=[["the soup was hot and great.", "hot soup, and good."]],
... )
>>> results["s_bleu"], round(results["r_bleu"], 1), round(results["multi_bleu"], 1)
(0.0, 64.3, 79.5)
"""
    citation = """\
@inproceedings{papineni2002bleu,
  title = {{BLEU}: a Method for Automatic Evaluation of Machine Translation},
  author = {Papineni, Kishore and Roukos, Salim and Ward, Todd and Zhu, Wei-Jing},
  booktitle = {Proceedings of ACL},
  year = {2002}
}
@inproceedings{post2018call,
  title = {A Call for Clarity in Reporting {BLEU} Scores},
  author = {Post, Matt},
  booktitle = {Proceedings of WMT},
  year = {2018}
}
"""
    metrics: ClassVar[tuple[MetricFacts, ...]] = view_facts("bleu", "BLEU", "BLEU", "percent")

    def left_out(self, metric: str, inputs: Inputs, options: BleuOptions) -> str | None:
        """A reason if there are no references, or not several."""
        return view_left_out(metric, inputs)

    def fields(self, metric: str, inputs: Inputs, options: BleuOptions) -> dict[str, object]:
        """Everything that the protocol fixes, how texts are prepared, and the number of references."""
        protocol = _protocol(inputs, options)
        return {
            "protocol": protocol.name,
            "tok": protocol.tokenize,
            "case": "lower" if protocol.lowercase else "mixed",
            "smooth": protocol.smooth,
            "text": preparation(inputs.language).compared_name(clean=not protocol.english),
            "refs": reference_count(metric, inputs),
        }

    def measure(
        self, metric: str, inputs: Inputs, options: BleuOptions, context: Context
    ) -> Statistics:
        """Corpus BLEU, in percent."""
        protocol = _protocol(inputs, options)
        # NLTK's tokens of "great ." and "great." are the same; other tokenisers leave it to us.
        prepare = partial(preparation(inputs.language).compared, clean=not protocol.english)
        against = [prepare(some) for some in compared_with(metric, inputs)]
        return bleu_statistics(prepare(inputs.predictions), against, protocol)


def _protocol(inputs: Inputs, options: BleuOptions) -> BleuProtocol:
    text = preparation(inputs.language)
    protocol = bleu_protocol(options.protocol or text.bleu_protocol)
    if protocol.english:
        text.check_english("bleu", protocol.name, text.bleu_protocol)
    return protocol


FAMILY = Bleu()

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("bleu")
