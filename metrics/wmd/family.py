"""Word mover's distance and its family: content preserved, on whole, masked or shortened texts.

Source: Mir, Felbo, Obradovich and Rahwan (2019), section 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast, get_args

from ...errors import MissingFileError, unknown_name
from ..contract import Context, Family, Need, Options
from ..facts import MetricFacts
from ..text import COMPOSED, composed, preparation
from ..views import compared_with, reference_count, view_left_out

if TYPE_CHECKING:
    from ..functional.wmd import Measure
    from ..inputs import Inputs
    from ..statistics import Statistics

Masking = Literal["none", "removed", "masked"]
Tokens = Literal["words", "whitespace"]
Synonyms = Literal["auto", "no", "wordnet"]
Placeholder = Literal["learned", "centroid"]
Meteor = Literal["2007", "1.5"]

# Measure, its title, and what it is in a list.
_MEASURES = (
    ("wmd", "WMD", "word mover's distance"),
    ("meteor", "METEOR", "METEOR"),
    ("embedding_average", "EmbAvg", "cosine of mean word vectors"),
    ("greedy_matching", "Greedy", "each word with its most similar word"),
    ("vector_extrema", "Extrema", "cosine of extreme word-vector values"),
    ("sentence_bleu", "sentBLEU", "mean of single sentences' BLEU"),
)
_WITHOUT_VECTORS = ("meteor", "sentence_bleu")


def _facts() -> tuple[MetricFacts, ...]:
    return tuple(
        MetricFacts(
            name=f"{view}_{measure}",
            title=f"{view}-{title}",
            unit="number" if measure == "wmd" else "fraction",
            higher_is_better=measure != "wmd",
            aspect="content",
            meaning=f"{what}, against {against}",
            reads=("sources",) if view == "s" else ("references",),
        )
        for measure, title, what in _MEASURES
        for view, against in (("s", "the source"), ("r", "the first reference"))
    )


@dataclass(frozen=True, kw_only=True)
class WmdOptions(Options):
    """Options of ``wmd``.

    ``--scorer lexicon=...``, ``word_vectors=...`` and ``masked_vectors=...`` choose its scorers.

    Attributes:
        mask: what becomes of style words, in both texts: ``none`` leaves them, ``masked`` puts
            ``<customstyle>`` in their place, ``removed`` leaves them out.
        placeholder: the vector of ``<customstyle>``: ``learned`` with all others by word2vec on
            masked sentences (published), or the ``centroid`` of the style words' vectors.
        tokens: ``words`` cleans, lower-cases and splits; ``whitespace`` takes the texts as they are.
        synonyms: METEOR's third stage: ``wordnet``, ``no``, or ``auto``: where NLTK has the data.
        meteor: the parameters of METEOR: those of ``2007``, or of METEOR ``1.5``.
    """

    mask: Masking = "none"
    placeholder: Placeholder = "learned"
    tokens: Tokens = "words"
    synonyms: Synonyms = "auto"
    meteor: Meteor = "2007"

    def __post_init__(self) -> None:
        for name, known in (
            ("mask", Masking),
            ("placeholder", Placeholder),
            ("tokens", Tokens),
            ("synonyms", Synonyms),
            ("meteor", Meteor),
        ):
            if getattr(self, name) not in get_args(known):
                raise unknown_name(
                    f"value of wmd.{name}", str(getattr(self, name)), get_args(known)
                )


class Wmd(Family[WmdOptions]):
    """Six measures of content against the source and the first reference."""

    name = "wmd"
    title = "word mover's distance"
    options = WmdOptions
    metrics = _facts()
    libraries = ("numpy", "nltk")

    def left_out(self, metric: str, inputs: Inputs, options: WmdOptions) -> str | None:
        """A reason if there are no references, or METEOR's stems are of another language."""
        if _measure_of(metric) == "meteor" and not preparation(inputs.language).is_english:
            return f"METEOR's stems are English, but the texts are {inputs.language!r}"
        return view_left_out(metric, inputs)

    def needs(self, metric: str, inputs: Inputs, options: WmdOptions) -> tuple[Need, ...]:
        """Tokens of all texts, for the lexicon and for the vectors."""

        def prepare() -> list[str]:
            from ..scorers.tokens import tokenized

            against = [text for some in compared_with(metric, inputs) for text in some]
            texts = [*inputs.predictions, *against]
            return list(dict.fromkeys(tokenized(texts, inputs.language, options.tokens)))

        roles = [_vectors_of(options)] if _measure_of(metric) not in _WITHOUT_VECTORS else []
        roles += ["lexicon"] if options.mask != "none" else []
        return tuple(Need(role, prepare) for role in roles)

    def fields(self, metric: str, inputs: Inputs, options: WmdOptions) -> dict[str, object]:
        """Style words, tokens, empty outputs, and what is particular to the measure."""
        from ..scorers.tokens import tokens_name

        measure = _measure_of(metric)
        found: dict[str, object] = {
            "mask": options.mask,
            "text": tokens_name(inputs.language, options.tokens),
            "refs": reference_count(metric, inputs),
            "empty": "farthest" if measure == "wmd" else "zero",
        }
        if measure in _WITHOUT_VECTORS:
            found["text"] = f"{found['text']}+{COMPOSED}"
        if measure == "meteor":
            found["params"] = None if options.meteor == "2007" else options.meteor
            return {**found, "stages": "exact+stem" + "+wordnet" * _with_wordnet(options)}
        if measure == "sentence_bleu":
            return {**found, "zero": "0.01"}
        found["norm"] = "unit" if measure == "wmd" else "raw"
        found["unknown"] = "skip"
        found["mask_vector"] = options.placeholder if options.mask == "masked" else None
        return found

    def measure(
        self, metric: str, inputs: Inputs, options: WmdOptions, context: Context
    ) -> Statistics:
        """The mean over sentences; a failed prediction has the worst value."""
        measure = _measure_of(metric)
        role = None if measure in _WITHOUT_VECTORS else _vectors_of(options)
        vectors = context.scorer(role) if role else None
        lexicon = context.scorer("lexicon") if options.mask != "none" else None
        import numpy as np

        from ..functional.wmd import FARTHEST, compare
        from ..scorers.tokens import tokenized
        from ..statistics import mean_statistics

        def tokens(texts: list[str]) -> list[list[str]]:
            if vectors is None:  # which know words as their corpus writes them
                texts = composed(texts)
            prepared = tokenized(texts, inputs.language, options.tokens)
            if lexicon is None:
                return [sentence.split() for sentence in prepared]
            marked: list[list[str]] = lexicon.apply(prepared, options.mask)
            return marked

        against = compared_with(metric, inputs)
        scored = [i for i, some in enumerate(against) if some]
        ours = tokens([inputs.predictions[i] for i in scored])
        theirs = tokens([against[i][0] for i in scored])
        if vectors is not None:
            vectors.check_knows(theirs)  # not the outputs: a system may write anything
        values = np.full(len(against), np.nan)
        values[scored] = compare(
            cast("Measure", measure),
            list(zip(ours, theirs, strict=True)),
            vectors,
            tuple(lexicon.weights) if lexicon and options.placeholder == "centroid" else (),
            synonyms=measure == "meteor" and _with_wordnet(options),
            version=options.meteor,
        )
        worst = FARTHEST if measure == "wmd" else 0.0
        return mean_statistics(np.where(inputs.failed & ~np.isnan(values), worst, values))


def _vectors_of(options: WmdOptions) -> str:
    """The role of the word vectors."""
    learned = options.mask == "masked" and options.placeholder == "learned"
    return "masked_vectors" if learned else "word_vectors"


def _measure_of(metric: str) -> str:
    return metric.split("_", 1)[1]


def _with_wordnet(options: WmdOptions) -> bool:
    """Whether METEOR's third stage runs."""
    if options.synonyms == "no":
        return False
    from ..functional.meteor import has_wordnet

    if options.synonyms == "wordnet" and not has_wordnet():
        raise MissingFileError(
            "wmd.synonyms=wordnet needs NLTK's WordNet data: python -m nltk.downloader wordnet. "
            "wmd.synonyms=no leaves that stage out"
        )
    return has_wordnet()


FAMILY = Wmd()
