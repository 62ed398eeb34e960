"""Rows of the published views, made from the sentences of a part."""

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
    """The rows of one direction in one part: ``side`` holds its source style."""
    prefix = f"{direction.dataset}-{part}-{direction.source_index}"
    for line, source, references in zip(side.lines, side.texts, side.references, strict=True):
        yield {
            "id": f"{prefix}-{line:05d}",
            "source": source,
            "references": list(references),
            "source_style": direction.source_style,
            "target_style": direction.target_style,
        }


def style_rows(sides: Iterable[Side]) -> Iterator[StyleRow]:
    """The labelled sentences of one part, style 0 first."""
    for style, side in enumerate(sides):
        for sentence in side.texts:
            yield {"text": sentence, "style": style}
