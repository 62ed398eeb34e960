"""NLTK's word tokenizer, word by word: the same tokens many times faster.

``NLTKWordTokenizer`` applies some thirty regular expressions to a line. None of them looks further
than from a word to the space beside it, but for the final period, which may be followed by closing
quotes and brackets. So the words between the first and that tail can be tokenised once each and
remembered: a million sentences have few different words.
"""

from __future__ import annotations

import sys
import threading
from functools import lru_cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from typing import Any, cast

_CLOSING = "])}>\"'»”’"  # what NLTK allows between the final period and the end of the line
_WORD = "a"  # stands for any neighbour
_SPLIT = {"cannot", "gimme", "gonna", "gotta", "lemme", "wanna"}  # NLTK's contractions of letters


def nltk_tokens(text: str) -> str:
    r"""The tokens of a text, separated by single spaces, as ``NLTKWordTokenizer`` makes them.

    Args:
        text: words separated by single spaces, without spaces around them.

    >>> nltk_tokens("they can't ( really ) say it's \"good .\"")
    "they ca n't ( really ) say it 's `` good . ''"
    """
    words = text.split(" ")
    tail = len(words) - 1
    while tail > 0 and not words[tail].strip(_CLOSING):
        tail -= 1
    if tail == 0:
        return " ".join(_tokenize(text))
    middle = [word if _plain(word) else _inside(word) for word in words[1:tail]]
    return " ".join([_first(words[0]), *middle, _last(" ".join(words[tail:]))])


def _tokenize(text: str) -> list[str]:
    return list(_tokenizer().tokenize(text))


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    """NLTK's own. Its packages are not executed: they import SciPy and scikit-learn, two seconds.

    They are forgotten again, so that whoever imports NLTK gets it whole. Another thread might
    import it at this moment: where there is one, nothing is left out.
    """
    whole = "nltk" in sys.modules or threading.active_count() > 1
    try:
        for package in () if whole else ("nltk", "nltk.tokenize"):
            spec = cast(ModuleSpec, find_spec(package))
            sys.modules[package] = module_from_spec(spec)
        return import_module("nltk.tokenize.destructive").NLTKWordTokenizer()
    finally:
        for name in [] if whole else [*sys.modules]:
            if name.split(".")[0] == "nltk":
                del sys.modules[name]


@lru_cache(maxsize=1 << 16)
def _inside(word: str) -> str:
    return " ".join(_tokenize(f"{_WORD} {word} {_WORD}")[1:-1])


@lru_cache(maxsize=1 << 14)
def _first(word: str) -> str:
    return " ".join(_tokenize(f"{word} {_WORD}")[:-1])


@lru_cache(maxsize=1 << 14)
def _last(words: str) -> str:
    if words[-1] in ".?!" and _plain(words[:-1]):  # most lines: tried first, because it is cheap
        return f"{words[:-1]} {words[-1]}"
    return " ".join(_tokenize(f"{_WORD} {words}")[1:])


def _plain(word: str) -> bool:
    """Whether a word is one token for certain, wherever it stands."""
    return word.isascii() and word.isalnum() and word.lower() not in _SPLIT
