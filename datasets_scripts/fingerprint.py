"""Fingerprints: equal ones in two labs mean the same sentences in the same order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence


def _digest(rows: Iterable[list[str | int]]) -> str:
    digest = hashlib.sha256()
    for row in rows:
        line = json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"
        digest.update(line.encode())
    return digest.hexdigest()


def fingerprint(sources: Sequence[str], references: Sequence[Sequence[str]]) -> str:
    r"""SHA-256 of one JSON array per line, ``[source, reference, reference...]``, in order.

    The lines are UTF-8 with no space after a comma, so that any language can reproduce them.

    Args:
        sources: N sentences.
        references: N lists of 0 to n sentences, same order.

    Raises:
        ValueError: the lengths differ.

    >>> fingerprint(["so bad"], [["so good", "great"]])[:16]
    'dc15d8fe3309b3fb'
    """
    rows = zip(sources, references, strict=True)
    return _digest([source, *refs] for source, refs in rows)


def style_fingerprint(texts: Sequence[str], labels: Sequence[int]) -> str:
    """The fingerprint of labelled sentences: SHA-256 of lines ``[text, label]``.

    Raises:
        ValueError: the lengths differ.
    """
    return _digest([text, label] for text, label in zip(texts, labels, strict=True))
