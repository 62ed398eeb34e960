"""How a text is prepared before a scorer sees it; each preparation's name is in the signature.

Systems write "it 's great ." or "It's great.": a scorer must not mistake the spaces for style or
disfluency, so every prediction, source and reference is cleaned first. Which
cleaning and tokeniser are used depends on the language: English rules are for English.

ACC, PPL, BERTScore and CoLA have two named protocols. ``paper`` is what the TSTBench paper's
evaluation code does (``process_text`` of its ``utils/dataset.py``): lower case, white space folded,
nothing re-attached; PPL then splits words with NLTK. ``cleaned`` reads the cleaned text. The models
of ACC and PPL have learned from sentences that were read alike.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from typing import Any, Literal, cast
from unicodedata import normalize

from ..datasets_scripts.cleaning import CLEANINGS, Cleaning
from ..datasets_scripts.languages import language as language_facts
from ..errors import InputError

TextProtocol = Literal["paper", "cleaned"]


@dataclass(frozen=True)
class Reading:
    """How a metric reads texts under a protocol.

    Attributes:
        protocol: its name.
        text: how signatures name what it does to a text.
        prepare: does it.
    """

    protocol: TextProtocol
    text: str
    prepare: Callable[[Sequence[str]], list[str]]

    @property
    def fields(self) -> dict[str, object]:
        """What a signature says of it."""
        return {"protocol": self.protocol, "text": self.text}


@dataclass(frozen=True)
class Preparation:
    """The preparations of one language.

    Attributes:
        language: BCP 47.
        cleaning: applied to every text.
        tokenizer: the sacreBLEU tokeniser that suits the language.
        lowercases: whether ``str.lower`` is correct for the language.
    """

    language: str
    cleaning: Cleaning
    tokenizer: str
    lowercases: bool = True

    @property
    def is_english(self) -> bool:
        """Whether English-only preparations may be used."""
        return self.language.split("-")[0].lower() == "en"

    @property
    def clean_name(self) -> str:
        """How signatures name :meth:`clean`."""
        return self.cleaning.name

    @property
    def classifier_name(self) -> str:
        """How signatures name :meth:`for_classifier`."""
        return f"{self.cleaning.name}+lower" if self.lowercases else self.cleaning.name

    @property
    def language_model_name(self) -> str:
        """How signatures name :meth:`for_language_model`."""
        return f"{self.classifier_name}+{self.tokenizer}"

    @property
    def bleu_protocol(self) -> str:
        """The default BLEU protocol."""
        return "tstbench" if self.is_english else self.tokenizer

    def check_english(self, family: str, protocol: str, instead: str) -> None:
        """Refuse an English protocol of a family for another language."""
        if not self.is_english:
            raise InputError(
                f"{family}.protocol={protocol} is for English; these texts are {self.language!r}. "
                f"Use {instead}: --set {family}.protocol={instead}"
            )

    def reading(self, family: str, protocol: TextProtocol | None = None) -> Reading:
        """How a family reads texts; by default the language's protocol.

        Args:
            family: ``acc``, ``ppl``, ``bertscore`` or ``cola``.
            protocol: its name.

        >>> preparation("en").reading("bertscore").prepare(["It 's  GREAT ."])
        ["it 's great ."]
        >>> preparation("en").reading("ppl").prepare(["It's GREAT."])
        ["it 's great ."]

        Raises:
            InputError: the paper's protocol for another language than English.
        """
        protocol = protocol or ("paper" if self.is_english else "cleaned")
        words = family == "ppl"
        if protocol == "cleaned":
            if words:
                return Reading(protocol, self.language_model_name, self.for_language_model)
            if family == "acc":
                return Reading(protocol, self.classifier_name, self.for_classifier)
            return Reading(protocol, self.clean_name, self.clean)
        self.check_english(family, protocol, "cleaned")
        return Reading(protocol, *((f"{FOLDED}+nltk", _nltk) if words else (FOLDED, folded)))

    def clean(self, texts: Sequence[str]) -> list[str]:
        """Cleaned, case kept: what encoders and acceptability classifiers read."""
        return [_cleaned(text, self.cleaning) for text in texts]

    def for_classifier(self, texts: Sequence[str]) -> list[str]:
        """Cleaned and lower-cased: what style classifiers are trained on and score.

        >>> preparation("en").for_classifier(["It 's great ."])
        ["it's great."]
        """
        return [self._lowered(_cleaned(text, self.cleaning)) for text in texts]

    def for_language_model(self, texts: Sequence[str]) -> list[str]:
        """Cleaned, lower-cased, tokenised: what n-gram models are trained on and score.

        sacreBLEU's 13a tokeniser is used for English, because it separates a full stop in the
        middle of a line from its word, as a system that writes two sentences on one line needs.

        >>> preparation("en").for_language_model(["Great food . We won't leave!"])
        ["great food . we won't leave !"]
        """
        return [
            _separated(self._lowered(_cleaned(text, self.cleaning)), self.tokenizer)
            for text in texts
        ]

    def compared(self, texts: Sequence[str], *, clean: bool = True) -> list[str]:
        """Cleaned unless told otherwise, and composed: what metrics of common n-grams compare."""
        return composed(self.clean(texts) if clean else texts)

    def compared_name(self, *, clean: bool = True) -> str:
        """How signatures name :meth:`compared`."""
        return f"{self.clean_name}+{COMPOSED}" if clean else COMPOSED

    def _lowered(self, text: str) -> str:
        return text.lower() if self.lowercases else text


FOLDED = "fold+lower"
COMPOSED = "nfc"


def composed(texts: Sequence[str]) -> list[str]:
    """In Unicode's composed form: whether a letter and its accent are one character nobody sees."""
    return [normalize("NFC", text) for text in texts]


def folded(texts: Sequence[str]) -> list[str]:
    """Lower-cased, white space folded, nothing else: ``process_text`` of the paper's code."""
    return [" ".join(text.lower().split()) for text in texts]


def _nltk(texts: Sequence[str]) -> list[str]:
    from .bleu.bleu import tokenized

    return [tokenized(text) for text in texts]


@lru_cache(maxsize=64)
def preparation(language: str = "en") -> Preparation:
    """How texts of a language are prepared.

    Raises:
        InputError: the language code is malformed.
        MissingExtraError: its tokeniser is not installed.
    """
    facts = language_facts(language)
    cleaning = CLEANINGS[facts.cleaning]
    return Preparation(language, cleaning, facts.require_tokenizer(), facts.lowercases)


# The same sources and references come up for every system, and in several views.
@lru_cache(maxsize=1 << 17)
def _cleaned(text: str, cleaning: Cleaning) -> str:
    return cleaning(text)


@lru_cache(maxsize=1 << 17)
def _separated(text: str, tokenizer: str) -> str:
    return str(_tokenizer(tokenizer)(text))


@lru_cache(maxsize=8)
def _tokenizer(name: str):  # type: ignore[no-untyped-def]
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(tokenize=name).tokenizer


_CLOSING = "])}>\"'»”’"  # what NLTK allows between the final period and the end of the line
_WORD = "a"  # stands for any neighbour
_SPLIT = {"cannot", "gimme", "gonna", "gotta", "lemme", "wanna"}  # NLTK's contractions of letters


def nltk_tokens(text: str) -> str:
    r"""The tokens of a text, separated by single spaces, as ``NLTKWordTokenizer`` makes them.

    It applies some thirty regular expressions to a line. None of them looks further than from a
    word to the space beside it, but for the final period, which may be followed by closing quotes
    and brackets. So the words between the first and that tail can be tokenised once each and
    remembered: a million sentences have few different words.

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
    return list(_nltk_tokenizer().tokenize(text))


@lru_cache(maxsize=1)
def _nltk_tokenizer() -> Any:
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


MASK = "<customstyle>"  # in the place of style words
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "`": "'"})
_LIGHT_WORD = re.compile(r"\w+?(?=n't\b)|n't\b|'(?:s|re|ve|d|ll|m)\b|\w+|[^\w\s]")


def words(sentence: str) -> list[str]:
    """Lower-cased words, contractions split as in the Penn Treebank, other characters on their own.

    What light classifiers see is the same for ``do n't go .`` and ``Don't go.``: benchmark files
    come tokenised and lower-cased, outputs of language models do not.

    >>> words("I don't like it, can\u2019t go!") == words("i do n't like it , ca n't go !")
    True
    >>> words("the staff's great.")
    ['the', 'staff', "'s", 'great', '.']
    """
    return _LIGHT_WORD.findall(sentence.lower().translate(_APOSTROPHES))


Tokens = Literal["words", "whitespace"]


def tokenized(texts: Sequence[str], language: str = "en", how: Tokens = "words") -> list[str]:
    """Sentences as tokens joined by single spaces.

    Args:
        texts: N sentences as a system wrote them.
        language: BCP 47.
        how: ``words`` cleans, lower-cases and splits as the language asks (English: contractions as
            in the Penn Treebank, as public word vectors have them); ``whitespace`` takes what
            spaces separate, as it is.

    >>> tokenized(["I do n't like it , really.", "Don't!"])
    ["i do n't like it , really .", "do n't !"]
    """
    if how == "whitespace":
        return [" ".join(text.split()) for text in texts]
    known = preparation(language)
    if known.is_english:
        return [" ".join(words(text)) for text in known.clean(texts)]
    return known.for_language_model(texts)


def tokens_name(language: str, how: Tokens) -> str:
    """How signatures name the tokens."""
    if how == "whitespace":
        return how
    known = preparation(language)
    return f"{known.clean_name}+words" if known.is_english else known.language_model_name
