"""Which built folders may be published."""

from __future__ import annotations

from .corpus import Corpus

MARKER = "NOT_FOR_PUBLICATION.txt"
_REFUSES = "TSTBench refuses to upload a folder that contains this file.\n"
_LICENSED = (
    "These sentences are licensed to one user ({licence}). They must not be published or passed\n"
    f"on. {_REFUSES}"
)
_NO_LICENCE = (
    "No licence is stated for these sentences, so they may not be shared and are for you\n"
    f"only. {_REFUSES}"
)


def marker_text(corpus: Corpus) -> str | None:
    """The text of the marker file in a folder that must not be published; None if it may be."""
    if corpus.facts.publishable:
        return None
    return _LICENSED.format(licence=corpus.agreement) if corpus.facts.licensed else _NO_LICENCE
