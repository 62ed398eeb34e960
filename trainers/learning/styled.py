"""A BART that rewrites both ways: the style to write is a word in front of the sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .corpus import by_length
from .seq2seq import Seq2Seq

CUT = 200  # characters of a sentence that are read


@dataclass(frozen=True)
class Decoding:
    """How sentences are written; lengths in tokens, the style counted.

    Attributes:
        beams: of the beam search; 1 is greedy.
        min_length: the shortest.
        max_length: the longest; 0 is as long as in training.
    """

    beams: int = 1
    min_length: int = 0
    max_length: int = 0


@dataclass(frozen=True)
class StyledBart:
    """A BART that reads and writes ``style # sentence``; side 0 is the source style.

    Attributes:
        bart: model and tokenizer.
        styles: words for the styles.
        max_length: the longest answer, in ids.
    """

    bart: Seq2Seq
    styles: tuple[str, str]
    max_length: int

    def rows(self, texts: Sequence[str], side: int) -> list[list[int]]:
        """Sentences of a side as they are read and taught: the first 200 characters."""
        return self.bart.encode(
            [text[:CUT] for text in texts], self.bart.longest, before=f"{self.styles[side]} #"
        )

    def begin(self, side: int) -> list[int]:
        """``<s> style #``, which a sentence of that style begins with."""
        return self.bart.encode([""], 0, before=f"{self.styles[side]} #")[0][:-1]

    def text(self, row: Sequence[int], side: int) -> str:
        """The sentence of a row, without its style."""
        return self.bart.decode(row[len(self.begin(side)) :])

    def rewritten(self, texts: Sequence[str], side: int, how: Decoding, size: int) -> list[str]:
        """Sentences of a side in the other style, in their order; ``size`` at a time."""
        rows = self.rows(texts, side)

        def write(chosen: list[int]) -> list[str]:
            written = self.bart.generate(
                [rows[i] for i in chosen],
                max_length=how.max_length or self.max_length,
                min_length=how.min_length,
                beams=how.beams,
                begin=[self.begin(1 - side)] * len(chosen),
            )
            return [self.text(row, 1 - side) for row in written.tolist()]

        return by_length(rows, size, write)
