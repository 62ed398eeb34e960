"""Cleaning: named and versioned, because every score depends on it.

A released cleaning is never changed: a better one gets a new name, so that a fingerprint
computed years ago can be reproduced.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from unicodedata import normalize

from ..errors import unknown_name

MAX_WORDS = 64

# A space before what a tokeniser split off. A dot that starts a number (".50") does not belong to
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
    """The paper's cleaning: re-attach what the tokeniser split off, fold spaces, keep 64 words.

    Case is kept: whether case matters is up to the metric. Applying it twice gives
    the same result as once. Source: TSTBench paper, section 3.2.

    >>> paper_v1("it 's a shame ( really ) , they wo n't  come back .")
    "it's a shame (really), they won't come back."
    """
    text = _OPENING.sub("", _SPLIT_OFF.sub("", " ".join(sentence.split())))
    return text if text.count(" ") < MAX_WORDS else " ".join(text.split(" ")[:MAX_WORDS])


def plain_v1(sentence: str) -> str:
    """For any language that puts spaces between words: fold whitespace, keep 64 words.

    Nothing else is touched, not even the Unicode form: how characters are encoded should not depend
    on rules made for another language.

    >>> plain_v1("Das   ist gut .")
    'Das ist gut .'
    """
    return " ".join(sentence.split()[:MAX_WORDS])


def unspaced_v1(sentence: str) -> str:
    """For languages without spaces between words: fold whitespace, keep every word."""
    return " ".join(sentence.split())


def raw(sentence: str) -> str:
    """The line as upstream wrote it; its line ending was removed on reading."""
    return sentence


PAPER_V1 = Cleaning("paper-v1", paper_v1)
PLAIN_V1 = Cleaning("plain-v1", plain_v1)
UNSPACED_V1 = Cleaning("unspaced-v1", unspaced_v1)
RAW = Cleaning("raw", raw)
CLEANINGS: dict[str, Cleaning] = {
    cleaning.name: cleaning for cleaning in (PAPER_V1, PLAIN_V1, UNSPACED_V1, RAW)
}


def parse_cleaning(name: str) -> Cleaning:
    """The cleaning with that name; raises :class:`UnknownNameError` with near misses."""
    if name not in CLEANINGS:
        raise unknown_name("cleaning", name, CLEANINGS)
    return CLEANINGS[name]


# Unicode's property Default_Ignorable_Code_Point (DerivedCoreProperties.txt), the controls, and
# the blank of Braille: nothing of these can be seen.
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)


def is_blank(sentence: str) -> bool:
    r"""Whether nothing can be seen of a sentence: spaces and zero-width characters only, or none.

    >>> is_blank(" \u200b\u2060"), is_blank("\u200bgood")
    (True, False)
    """
    return not _INVISIBLE.sub("", sentence).strip()


def match_key(sentence: str) -> str:
    """A key that is equal for sentences that differ only in spaces, case and Unicode form.

    >>> match_key("It 's fine .") == match_key("it's fine.")
    True
    """
    return _letters(sentence.lower())


def is_copy(source: str, output: str) -> bool:
    """Whether an output is its source: spaces never count, because tokenisers put them there.

    Case does, because a capital letter can be what was asked for, as in formality.

    >>> is_copy("it wasn't cold.", "it was n't  cold ."), is_copy("it was cold.", "It was cold.")
    (True, False)
    """
    return _letters(source) == _letters(output)


def _letters(sentence: str) -> str:
    return normalize("NFC", "".join(sentence.split()))
