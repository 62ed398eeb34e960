"""The datasets, their styles and their directions: the vocabulary of the benchmark.

A direction such as ``yelp/negative-to-positive`` is the unit of every score. Source: the
TSTBench paper, section 3.2 and Table 3; ``mini`` is our own. What other packages and the user add
is in :mod:`.known`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import permutations

# Names become folders, splits of ``datasets`` and Hub repositories: no capitals, no punctuation.
NAME = re.compile(r"[a-z0-9][a-z0-9_]*")


@dataclass(frozen=True)
class Direction:
    """One dataset, from one style to another.

    >>> direction = Direction("yelp", "negative", "positive")
    >>> direction.name, direction.split("test")
    ('yelp/negative-to-positive', 'test_negative_to_positive')
    """

    dataset: str
    source_style: str
    target_style: str

    @property
    def name(self) -> str:
        """``yelp/negative-to-positive``"""
        return f"{self.dataset}/{self.config}"

    @property
    def config(self) -> str:
        """The dataset view of this direction: ``negative-to-positive``."""
        return f"{self.source_style}-to-{self.target_style}"

    @property
    def reverse(self) -> Direction:
        """From the target style to the source style, whether or not the dataset has it."""
        return Direction(self.dataset, self.target_style, self.source_style)

    def split(self, part: str) -> str:
        """The split of the ``default`` view: ``test_negative_to_positive``."""
        return f"{part}_{self.source_style}_to_{self.target_style}"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class DatasetFacts:
    """What is fixed about a dataset before any file is read.

    Attributes:
        name: lower-case letters, digits and underscores.
        task: what differs between the styles, in one or two words.
        styles: two or more names, written as ``name`` is; their order is that of the labels.
        pairs: (source style, target style) of each direction; empty for every ordered pair.
        references: the largest number of human rewrites of a test sentence.
        parallel: whether training pairs exist.
        licensed: whether it is never published, but built from the user's own copy.
        language: BCP-47 code, see :mod:`.languages`.
        licence: its name; empty if none is stated, in which case nothing is published.
        tokenized: whether upstream's lines are split into words: the paper's language models learn
            such lines as they are.
        labels_only: whether its sentences are labelled but not to be rewritten: no directions.
        learn_from: the split that its scorers learn from, everywhere, unless another one is asked
            for by name: one that everybody can have and train on in seconds. Yelp's training files
            have 444,000 lines, and Amazon's 555,000; the paper's own scorers learned those.
    """

    name: str
    title: str
    task: str
    styles: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...] = ()
    references: int = 1
    parallel: bool = False
    licensed: bool = False
    language: str = "en"
    licence: str = ""
    tokenized: bool = False
    labels_only: bool = False
    learn_from: str = "train"

    @property
    def directions(self) -> tuple[Direction, ...]:
        """In the order of ``pairs``, or else of the styles."""
        pairs = () if self.labels_only else self.pairs or permutations(self.styles, 2)
        return tuple(Direction(self.name, source, target) for source, target in pairs)

    @property
    def publishable(self) -> bool:
        """Whether its sentences may be published."""
        return bool(self.licence) and not self.licensed


def _gyafc(name: str, domain: str) -> DatasetFacts:
    return DatasetFacts(
        name,
        f"GYAFC {domain}",
        "formality",
        ("informal", "formal"),
        references=4,
        parallel=True,
        licensed=True,
        licence="gyafc-research-only",
    )


_SENTIMENT = ("negative", "positive")
_OURS = (
    DatasetFacts("mini", "Mini", "sentiment", _SENTIMENT, references=4, licence="apache-2.0"),
    DatasetFacts(
        "yelp",
        "Yelp",
        "sentiment",
        _SENTIMENT,
        references=4,
        licence="yelp-dataset-terms",
        tokenized=True,
        learn_from="validation",  # 62,426 sentences, none of them a test sentence
    ),
    DatasetFacts(
        "amazon",
        "Amazon",
        "sentiment",
        _SENTIMENT,
        licence="unknown",
        tokenized=True,
        learn_from="mined",  # 81,236 sentences of the training files; validation has only 2,000
    ),
    _gyafc("gyafc_em", "Entertainment & Music"),
    _gyafc("gyafc_fr", "Family & Relationships"),
    DatasetFacts(
        "shakespeare",
        "Shakespeare",
        "Early Modern English",
        ("shakespearean", "modern"),
        parallel=True,
        tokenized=True,
        licence="unknown",
    ),
    DatasetFacts(
        "styptb_tfu",
        "StylePTB, to future tense",
        "tense",
        ("present", "future"),
        pairs=(("present", "future"),),
        parallel=True,
        tokenized=True,
        licence="cc-by-4.0",
    ),
    DatasetFacts(
        "styptb_arr",
        "StylePTB, adjective and adverb removal",
        "syntax",
        ("modified", "unmodified"),
        pairs=(("modified", "unmodified"),),
        parallel=True,
        tokenized=True,
        licence="cc-by-4.0",
    ),
)
BENCHMARK_DATASETS: dict[str, DatasetFacts] = {facts.name: facts for facts in _OURS}

# Beyond the benchmark: what other papers' metrics learn from and are tested on.
_FURTHER = (
    DatasetFacts(
        "wnc",
        "Wiki Neutrality Corpus",
        "subjectivity",
        ("subjective", "neutral"),
        pairs=(("subjective", "neutral"),),
        parallel=True,
    ),
    DatasetFacts(
        "wnc_full",
        "Wiki Neutrality Corpus, whole",
        "subjectivity",
        ("subjective", "neutral"),
        pairs=(("subjective", "neutral"),),
        parallel=True,
    ),
    DatasetFacts(
        "cds",
        "Corpus of Diverse Styles, samples",
        "eleven styles",
        ("aae", "bible", "coha_1810s", "coha_1890s", "coha_1990s", "english_tweets", "joyce",
         "lyrics", "romantic_poetry", "shakespeare", "switchboard"),
        labels_only=True,
    ),
    DatasetFacts(
        "cola",
        "Corpus of Linguistic Acceptability",
        "acceptability",
        ("unacceptable", "acceptable"),
        labels_only=True,
    ),
)  # fmt: skip
FURTHER_DATASETS: dict[str, DatasetFacts] = {facts.name: facts for facts in _FURTHER}
OUR_DATASETS = {**BENCHMARK_DATASETS, **FURTHER_DATASETS}
