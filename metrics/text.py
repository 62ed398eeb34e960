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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
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
