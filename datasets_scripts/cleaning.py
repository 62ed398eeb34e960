"""Cleaning: named and versioned, because every score depends on it.

A cleaning is never changed once released: a better one gets a new name, so that a fingerprint
made years ago can be made again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import unknown_name

MAX_WORDS = 64

# What tokenisers put a blank before (or, for opening brackets, after). A dot that starts a number
# (".50") is no punctuation of the word before it.
_DETACHED = re.compile(
    r"\s+(?=[,!?;:)\]}]|\.(?!\d)|n['\u2019]t\b|['\u2019](?:s|re|ve|d|ll|m)\b)|(?<=[(\[{])\s+",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Cleaning:
    """A named way to clean one sentence."""

    name: str
    function: Callable[[str], str]

    def __call__(self, sentence: str) -> str:
        """The cleaned sentence."""
        return self.function(sentence)


def paper_v1(sentence: str) -> str:
    """The paper's cleaning: re-attach what the tokeniser split off, fold blanks, keep 64 words.

    Case is kept: whether a score looks at case is the metric's business. Applying it twice gives
    the same as once. Source: TSTBench paper, section 3.2.

    >>> paper_v1("it 's a shame ( really ) , they wo n't  come back .")
    "it's a shame (really), they won't come back."
    """
    words = _DETACHED.sub("", sentence).split()
    return " ".join(words[:MAX_WORDS])


def raw(sentence: str) -> str:
    """The line as upstream wrote it; reading already took its line end away."""
    return sentence


CLEANINGS: dict[str, Cleaning] = {
    "paper-v1": Cleaning("paper-v1", paper_v1),
    "raw": Cleaning("raw", raw),
}


def parse_cleaning(name: str) -> Cleaning:
    """The cleaning of that name; :class:`UnknownNameError` with near misses else."""
    if name not in CLEANINGS:
        raise unknown_name("cleaning", name, CLEANINGS)
    return CLEANINGS[name]


def match_key(sentence: str) -> str:
    """What two sentences have in common when only spacing and case tell them apart.

    >>> match_key("It 's fine .") == match_key("it's fine.")
    True
    """
    return paper_v1(sentence).lower()
