"""The words that the light classifiers see: the same for ``do n't go .`` and ``Don't go.``

Benchmark files come tokenised and lower-cased, outputs of language models do not; a classifier
for which ``great.`` and ``great`` were different words would judge formatting, not style.
"""

from __future__ import annotations

import re

MASK = "<customstyle>"  # in the place of style words
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "`": "'"})
_WORD = re.compile(r"\w+?(?=n't\b)|n't\b|'(?:s|re|ve|d|ll|m)\b|\w+|[^\w\s]")


def words(sentence: str) -> list[str]:
    """Lower-cased words, contractions split as in the Penn Treebank, other characters on their own.

    >>> words("I don't like it, can\u2019t go!") == words("i do n't like it , ca n't go !")
    True
    >>> words("the staff's great.")
    ['the', 'staff', "'s", 'great', '.']
    """
    return _WORD.findall(sentence.lower().translate(_APOSTROPHES))
