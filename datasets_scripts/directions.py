"""What a direction and a dataset are: the vocabulary of the benchmark.

A direction such as ``yelp/negative-to-positive`` is the unit of every score. The datasets are in
:mod:`.catalog`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
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

    @cached_property
    def directions(self) -> tuple[Direction, ...]:
        """In the order of ``pairs``, or else of the styles."""
        pairs = () if self.labels_only else self.pairs or permutations(self.styles, 2)
        return tuple(Direction(self.name, source, target) for source, target in pairs)

    @property
    def publishable(self) -> bool:
        """Whether its sentences may be published."""
        return bool(self.licence) and not self.licensed
