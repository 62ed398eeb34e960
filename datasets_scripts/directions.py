"""The datasets, their two styles and their directions: the vocabulary of the benchmark.

A direction such as ``yelp/negative-to-positive`` is the unit of every score. Source: the
TSTBench paper, section 3.2 and Table 3; ``mini`` is our own.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import UnknownNameError, unknown_name


@dataclass(frozen=True)
class Direction:
    """One dataset, from one style to the other.

    >>> direction = parse_direction("yelp/negative-to-positive")
    >>> direction.source_style, direction.target_style, direction.split("test")
    ('negative', 'positive', 'test_negative_to_positive')
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

    def split(self, part: str) -> str:
        """The split of the ``default`` view: ``test_negative_to_positive``."""
        return f"{part}_{self.source_style}_to_{self.target_style}"

    @property
    def source_index(self) -> int:
        """0 or 1: the suffix of the source style's upstream files."""
        return DATASETS[self.dataset].styles.index(self.source_style)

    @property
    def target_index(self) -> int:
        """0 or 1: the label that a style classifier should give a good prediction."""
        return 1 - self.source_index

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class DatasetFacts:
    """What is fixed about a dataset before any file is read."""

    name: str
    title: str
    task: str
    styles: tuple[str, str]  # upstream suffixes .0 and .1
    both_ways: bool = True
    references: int = 1  # human rewrites per test sentence
    parallel: bool = False  # whether training pairs exist
    licensed: bool = False  # never published, built from the user's own copy

    @property
    def directions(self) -> tuple[Direction, ...]:
        """One or two directions, ``.0`` to ``.1`` first."""
        first, second = self.styles
        there, back = Direction(self.name, first, second), Direction(self.name, second, first)
        return (there, back) if self.both_ways else (there,)


def _gyafc(name: str, domain: str) -> DatasetFacts:
    return DatasetFacts(
        name,
        f"GYAFC {domain}",
        "formality",
        ("informal", "formal"),
        references=4,
        parallel=True,
        licensed=True,
    )


_FACTS = (
    DatasetFacts("mini", "Mini", "sentiment", ("negative", "positive"), references=4),
    DatasetFacts("yelp", "Yelp", "sentiment", ("negative", "positive"), references=4),
    DatasetFacts("amazon", "Amazon", "sentiment", ("negative", "positive")),
    _gyafc("gyafc_em", "Entertainment & Music"),
    _gyafc("gyafc_fr", "Family & Relationships"),
    DatasetFacts(
        "shakespeare", "Shakespeare", "ancient English", ("shakespearean", "modern"), parallel=True
    ),
    DatasetFacts(
        "styptb_tfu",
        "StylePTB, to future tense",
        "tense",
        ("present", "future"),
        both_ways=False,
        parallel=True,
    ),
    DatasetFacts(
        "styptb_arr",
        "StylePTB, adjective and adverb removal",
        "syntax",
        ("modified", "unmodified"),
        both_ways=False,
        parallel=True,
    ),
)
DATASETS: dict[str, DatasetFacts] = {facts.name: facts for facts in _FACTS}
DIRECTIONS: dict[str, Direction] = {d.name: d for facts in _FACTS for d in facts.directions}


def parse_direction(name: str) -> Direction:
    """The direction of that name.

    Raises:
        UnknownNameError: naming the nearest direction, or the directions of that dataset.
    """
    if name in DIRECTIONS:
        return DIRECTIONS[name]
    dataset = name.split("/")[0]
    if dataset in DATASETS and "/" not in name:
        names = ", ".join(d.name for d in DATASETS[dataset].directions)
        raise UnknownNameError(f"{name!r} is a dataset; a direction is needed, one of: {names}.")
    raise unknown_name("direction", name, DIRECTIONS)


def dataset_facts(name: str) -> DatasetFacts:
    """The facts of the dataset of that name; :class:`UnknownNameError` with near misses else."""
    if name not in DATASETS:
        raise unknown_name("dataset", name, DATASETS)
    return DATASETS[name]
