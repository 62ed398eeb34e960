"""The texts a metric works on, checked once: aligned, complete, and really text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..datasets_scripts.cleaning import is_blank
from ..datasets_scripts.directions import Direction
from ..datasets_scripts.fingerprint import fingerprint
from ..datasets_scripts.text_checks import is_leftover
from ..errors import InputError


@dataclass(frozen=True)
class Inputs:
    """N predictions and what they are measured against.

    Attributes:
        predictions: N texts; an empty one is a failed output, which still counts.
        sources: N texts, or ``None`` if no metric needs them.
        references: N tuples of 0 to n texts, or ``None``.
        direction: needed by the metrics that score style.
        language: of the texts, as a BCP-47 code; it determines how they are prepared.
        without: the reference that the predictions are themselves, such as ``reference-1``.
        others: the references without that one; what metrics compare such predictions with.
    """

    predictions: tuple[str, ...]
    sources: tuple[str, ...] | None = None
    references: tuple[tuple[str, ...], ...] | None = None
    direction: Direction | None = None
    language: str = "en"
    without: str | None = None
    others: tuple[tuple[str, ...], ...] | None = None

    @cached_property
    def compared(self) -> Inputs:
        """The same, but without the references that the predictions are themselves."""
        return self if self.others is None else replace(self, references=self.others, others=None)

    def part(self, start: int, stop: int) -> Inputs:
        """The sentences from ``start`` up to, but without, ``stop``."""
        return replace(
            self,
            predictions=self.predictions[start:stop],
            sources=self.sources and self.sources[start:stop],
            references=self.references and self.references[start:stop],
            others=self.others and self.others[start:stop],
        )

    @cached_property
    def most_references(self) -> int:
        """The largest number of references of one sentence."""
        return max((len(r) for r in self.references or ()), default=0)

    @cached_property
    def fewest_references(self) -> int:
        """The smallest number of references of one sentence."""
        return min((len(r) for r in self.references or ()), default=0)

    @property
    def failed(self) -> np.ndarray:
        """Which predictions are empty: shape (N,), bool."""
        return np.array([not text.strip() for text in self.predictions])

    @cached_property
    def data_fingerprint(self) -> str | None:
        """SHA-256 over sources and references; ``None`` unless both are given."""
        if self.sources is None or self.references is None:
            return None
        return fingerprint(self.sources, self.references)


def check_inputs(
    predictions: Sequence[str],
    sources: Sequence[str] | None = None,
    references: Sequence[str | Sequence[str]] | None = None,
    direction: Direction | None = None,
    language: str = "en",
) -> Inputs:
    """Check and freeze the texts.

    Args:
        predictions: N texts, one line each; one of invisible characters only is empty.
        sources: N texts.
        references: N texts, or N lists of texts; one in which nothing can be seen was not written.
        direction: the direction of the transfer.
        language: of the texts.

    Raises:
        InputError: nothing to score, lengths that differ, a value that is not a text (NaN, None,
            a number), a prediction that :func:`prediction_fault` rejects, or no
            prediction that contains a word.
    """
    columns = {"predictions": predictions, "sources": sources, "references": references}
    for name, column in columns.items():
        if isinstance(column, str):  # a sequence of characters: the classic mistake
            raise InputError(f"{name} must be a list of texts, got one text: {column[:60]!r}")
    lengths = {name: len(column) for name, column in columns.items() if column is not None}
    if not lengths["predictions"]:
        raise InputError("nothing to score: 0 predictions")
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{n} {name}" for name, n in lengths.items())
        raise InputError(f"not aligned: {shown}. Write '' for a failed output, never drop it")
    _check_texts("prediction", predictions)
    for number, text in enumerate(predictions):
        if fault := prediction_fault(text):
            raise InputError(f"prediction {number} {fault}")
    # What nobody sees is no text, but a classifier has a style even for a zero-width space.
    predictions = ["" if text.strip() and is_blank(text) else text for text in predictions]
    if not any(text.strip() for text in predictions):
        raise InputError(f"all {len(predictions)} predictions are empty: is this the right file?")
    if sources is not None:
        _check_texts("source", sources)
    listed = None if references is None else [_as_list(i, r) for i, r in enumerate(references)]
    return Inputs(
        tuple(predictions),
        None if sources is None else tuple(sources),
        None if listed is None else tuple(listed),
        direction,
        language,
    )


def prediction_fault(text: str) -> str | None:
    """Why a text cannot be a prediction (one line of text); ``None`` if it can.

    >>> prediction_fault("one line") is None
    True
    """
    if "\n" in text or "\r" in text:
        return (
            f"contains a line break: {text[:60]!r}. One sentence is one line: replace line breaks "
            "with spaces"
        )
    if "\0" in text:
        return f"contains a NUL character: {text[:60]!r}. Remove it"
    if not _is_unicode(text):
        return f"is not valid Unicode (half of a surrogate pair): {text[:60]!r}. Write it again"
    if is_leftover(text):
        return (
            f"is {text.strip()[:60]!r}, which a program writes for a missing text, or for bytes. "
            "Write an empty prediction for a failed output, and decode bytes"
        )
    return None


def _as_list(number: int, some: str | Sequence[str]) -> tuple[str, ...]:
    if not isinstance(some, Iterable):
        raise InputError(
            f"the references of sentence {number} are {some!r}, not a text or a list of texts; "
            "use [] if there is none"
        )
    texts = (some,) if isinstance(some, str) else tuple(some)
    _check_texts(f"a reference of sentence {number}, reference", texts)
    if not any(map(is_blank, texts)):
        return texts  # of a million, copies would take as much as a short text each
    return tuple(text for text in texts if not is_blank(text))


def _check_texts(what: str, texts: Sequence[object]) -> None:
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"{what} {number} is {text!r} ({type(text).__name__}), not a text")
        if not _is_unicode(text):
            raise InputError(f"{what} {number} is not valid Unicode: {text[:60]!r}")
        if is_leftover(text):
            raise InputError(
                f"{what} {number} is {text.strip()[:60]!r}, which a program writes for a missing "
                "text, or for bytes. Write '' where there is none, and decode bytes"
            )


def _is_unicode(text: str) -> bool:
    """Whether a text can be encoded: JSON may contain lone surrogates, which cannot."""
    return text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text)
