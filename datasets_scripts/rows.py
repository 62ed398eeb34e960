"""Rows of the published views, made from the sentences of a split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypedDict

from .corpus import Side
from .directions import Direction


class DirectionRow(TypedDict):
    """One sentence to transfer."""

    id: str
    source: str
    references: list[str]
    source_style: str
    target_style: str


class StyleRow(TypedDict):
    """One labelled sentence."""

    text: str
    style: int


def direction_rows(side: Side, direction: Direction, part: str) -> Iterator[DirectionRow]:
    """The rows of one direction in one split: ``side`` has its sentences."""
    prefix = f"{direction.dataset}-{part}-{side.place}"
    names = side.names or [f"{prefix}-{line:05d}" for line in side.lines]
    for name, source, references in zip(names, side.texts, side.references, strict=True):
        yield {
            "id": name,
            "source": source,
            "references": list(references),
            "source_style": direction.source_style,
            "target_style": direction.target_style,
        }


def style_rows(sides: Iterable[Side]) -> Iterator[StyleRow]:
    """The labelled sentences of one split, style 0 first."""
    for style, side in enumerate(sides):
        for sentence in side.texts:
            yield {"text": sentence, "style": style}
