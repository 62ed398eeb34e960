"""What the trainers of all kinds of classifier have in common."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, ClassVar

from pydantic import Field, JsonValue

from ...datasets_scripts.cleaning import match_key
from ...errors import InputError
from ...settings import setting
from .portable import portable


@dataclass(frozen=True, kw_only=True)
class ClassifierConfig:
    """Settings of a trainer; each kind adds its own.

    Attributes:
        measured_on: how many held-out sentences the accuracy is measured on, at most.
    """

    measured_on: ClassVar[int | None] = None
    seed: Annotated[int, Field(ge=0, lt=2**32)] = setting(0, "of everything random")

    def settings(self) -> dict[str, JsonValue]:
        """Everything that can change the trained weights, for the card and the recipe.

        A local model is named by its content and by what it learned from, never by its path.
        """
        settings = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }
        return portable(settings, ("base", "encoder"))


@dataclass(frozen=True)
class LabelledSentences:
    """N sentences and their labels, indices into the styles."""

    sentences: tuple[str, ...]
    labels: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.sentences)


def labelled(
    sentences: Sequence[str], labels: Sequence[int], styles: Sequence[str], *, what: str
) -> LabelledSentences:
    """Check sentences and labels, and pair them.

    Args:
        sentences: N texts.
        labels: N indices into ``styles``.
        styles: S names, S >= 2.
        what: what the sentences are, for error messages.

    Raises:
        InputError: unequal lengths, a label that is not a style, or a style without sentences.
    """
    if len(styles) < 2:
        raise InputError(f"a classifier needs at least two styles, got {list(styles)}")
    if len(sentences) != len(labels):
        raise InputError(f"{what}: {len(sentences)} sentences and {len(labels)} labels")
    for i, label in enumerate(labels):
        if not 0 <= int(label) < len(styles):
            raise InputError(
                f"{what}, sentence {i}: label {label} is not one of the {len(styles)} styles"
            )
    present = {int(label) for label in labels}
    absent = [style for i, style in enumerate(styles) if i not in present]
    if absent:
        raise InputError(f"{what}: no sentence is {' or '.join(absent)}")
    return LabelledSentences(tuple(sentences), tuple(int(label) for label in labels))


def without(data: LabelledSentences, forbidden: Collection[str]) -> LabelledSentences:
    """Leave out forbidden sentences, ignoring case and spacing.

    >>> data = LabelledSentences(("Good .", "bad"), (1, 0))
    >>> without(data, ["good."])
    LabelledSentences(sentences=('bad',), labels=(0,))
    """
    keys = set(map(match_key, forbidden))
    kept = [i for i, sentence in enumerate(data.sentences) if match_key(sentence) not in keys]
    return _take(data, kept)


def split_held_out(
    data: LabelledSentences, share: float = 0.1
) -> tuple[LabelledSentences, LabelledSentences]:
    """Training and held-out sentences, chosen by the hash of each sentence.

    The choice depends only on the sentence: it is the same on every machine and in every
    order, and copies of a sentence are on the same side.
    """
    limit = round(share * 2**32)
    held = [_draw(sentence) < limit for sentence in data.sentences]
    return (
        _take(data, [i for i, out in enumerate(held) if not out]),
        _take(data, [i for i, out in enumerate(held) if out]),
    )


def most(data: LabelledSentences, n: int | None) -> LabelledSentences:
    """At most N of the sentences, chosen by their hashes as those held out are; in their order."""
    if n is None or len(data) <= n:
        return data
    by_hash = sorted(range(len(data)), key=lambda i: (_draw(data.sentences[i]), i))
    return _take(data, sorted(by_hash[:n]))


def _draw(sentence: str) -> int:
    """A number below 2**32 that looks random and depends on the sentence only."""
    return int.from_bytes(hashlib.sha256(match_key(sentence).encode()).digest()[:4], "big")


def _take(data: LabelledSentences, indices: Sequence[int]) -> LabelledSentences:
    return LabelledSentences(
        tuple(data.sentences[i] for i in indices), tuple(data.labels[i] for i in indices)
    )
