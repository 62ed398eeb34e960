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

# A blank before what a tokeniser split off. A dot that starts a number (".50") is no punctuation of
# the word before it.
_SPLIT_OFF = re.compile(
    r" (?=[,!?;:)\]}]|\.(?!\d)|[nN]['\u2019][tT]\b"
    r"|['\u2019](?:[sSdDmM]|[rRvV][eE]|[lL][lL])\b)"
)
_OPENING = re.compile(r"(?<=[(\[{]) ")


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
    text = _OPENING.sub("", _SPLIT_OFF.sub("", " ".join(sentence.split())))
    return text if text.count(" ") < MAX_WORDS else " ".join(text.split(" ")[:MAX_WORDS])


def raw(sentence: str) -> str:
    """The line as upstream wrote it; reading already took its line end away."""
    return sentence


PAPER_V1 = Cleaning("paper-v1", paper_v1)
RAW = Cleaning("raw", raw)
CLEANINGS: dict[str, Cleaning] = {cleaning.name: cleaning for cleaning in (PAPER_V1, RAW)}


def parse_cleaning(name: str) -> Cleaning:
    """The cleaning of that name; :class:`UnknownNameError` with near misses else."""
    if name not in CLEANINGS:
        raise unknown_name("cleaning", name, CLEANINGS)
    return CLEANINGS[name]


def match_key(sentence: str) -> str:
    """What two sentences have in common when only blanks and case tell them apart.

    >>> match_key("It 's fine .") == match_key("it's fine.")
    True
    """
    return "".join(sentence.lower().split())
