"""All known datasets and directions: ours, other packages' and the user's.

:data:`DATASETS` and :data:`DIRECTIONS` are live views: what is added appears in them at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from ..errors import InputError, UnknownNameError, unknown_name
from .added import added
from .directions import NAME, OUR_DATASETS, DatasetFacts, Direction

_DIRECTION = re.compile(rf"({NAME.pattern})/({NAME.pattern})-to-({NAME.pattern})")
_NEAR = 0.8  # as similar as yelp and yelpp: more likely a typo than another dataset


class _Datasets(Mapping[str, DatasetFacts]):
    """Our datasets, then those of other packages and the user: a live view."""

    def __getitem__(self, name: str) -> DatasetFacts:
        if name in OUR_DATASETS:
            return OUR_DATASETS[name]
        return added()[name].facts

    def __iter__(self) -> Iterator[str]:
        return iter({**OUR_DATASETS, **added()})

    def __len__(self) -> int:
        return len(list(iter(self)))


class _Directions(Mapping[str, Direction]):
    """Every direction of :data:`DATASETS`: a live view."""

    def __getitem__(self, name: str) -> Direction:
        dataset = name.split("/")[0]
        for direction in DATASETS[dataset].directions:
            if direction.name == name:
                return direction
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (d.name for facts in DATASETS.values() for d in facts.directions)

    def __len__(self) -> int:
        return len(list(iter(self)))


DATASETS: Mapping[str, DatasetFacts] = _Datasets()
DIRECTIONS: Mapping[str, Direction] = _Directions()


def parse_direction(name: str) -> Direction:
    """The direction with that name.

    Raises:
        UnknownNameError: the message suggests the nearest direction, or lists the dataset's.
    """
    if name in DIRECTIONS:
        return DIRECTIONS[name]
    dataset = name.split("/")[0]
    if dataset not in DATASETS:
        raise unknown_name("direction", name, DIRECTIONS)
    known = [d.name for d in directions_of(dataset)]
    if "/" not in name:
        raise UnknownNameError(
            f"{name!r} is a dataset, but a direction is needed, one of: {', '.join(known)}."
        )
    raise unknown_name("direction", name, known)


def as_direction(name: str) -> Direction:
    """A direction to score outputs on; its dataset need not be known here.

    Scoring texts that are passed in needs only the name. A known dataset must have the
    direction, and a name close to that of a known dataset is taken for a typo.

    Raises:
        UnknownNameError: see :func:`parse_direction`; also if the dataset's name is a near miss.
        InputError: the name does not have the form ``dataset/source-to-target``.

    >>> as_direction("manners/rude-to-polite").target_style
    'polite'
    """
    match = _DIRECTION.fullmatch(name)
    if name.split("/")[0] in DATASETS:
        return parse_direction(name)
    if match is None:
        near = get_close_matches(name, DIRECTIONS, n=1, cutoff=_NEAR)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(
            f"{name!r} is not a direction: write dataset/source-to-target, such as "
            f"yelp/negative-to-positive, in lower-case letters, digits and underscores.{hint}"
        )
    dataset, source, target = match.groups()
    if source == target:
        raise InputError(f"{name!r} goes from a style to itself")
    if near := get_close_matches(dataset, DATASETS, n=1, cutoff=_NEAR):
        meant = f"{near[0]}/{source}-to-{target}"
        raise UnknownNameError(
            f"unknown dataset {dataset!r}. Did you mean {meant!r}? Register a dataset of your own "
            f"with --data FILE or load_data; otherwise choose a name less similar to {near[0]!r}."
        )
    return Direction(dataset, source, target)


def language_of(direction: Direction | None) -> str:
    """The language of a direction's texts; English where the dataset is not known here."""
    known = direction is not None and direction.dataset in DATASETS
    return dataset_facts(direction.dataset).language if direction and known else "en"


def directions_of(dataset: str) -> tuple[Direction, ...]:
    """The directions of a dataset.

    Raises:
        UnknownNameError: no such dataset.
        InputError: its sentences are only labelled.
    """
    facts = dataset_facts(dataset)
    if not facts.directions:
        raise InputError(
            f"{dataset} has no directions: its sentences are labelled "
            f"({', '.join(facts.styles)}), but there is nothing to rewrite"
        )
    return facts.directions


def dataset_facts(name: str) -> DatasetFacts:
    """The facts of that dataset; raises :class:`UnknownNameError` with near misses."""
    if name not in DATASETS:
        raise unknown_name("dataset", name, DATASETS)
    return DATASETS[name]
