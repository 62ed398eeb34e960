"""Languages: which cleaning and BLEU tokeniser suit a text, by BCP-47 code.

English keeps the benchmark paper's cleaning. Every other language gets one without rules about
English; where spaces do not separate words, texts are not truncated either.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import InputError, require

_CODE = re.compile(
    r"[a-z]{2,3}"  # language
    r"(-[a-z]{4})?"  # script
    r"(-([a-z]{2}|\d{3}))?"  # region
    r"(-([a-z\d]{5,8}|\d[a-z\d]{3}))*",  # variants
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Language:
    """How texts in a language are prepared.

    Attributes:
        code: as the dataset gives it: ``en``, ``pt-BR``, ``zh-Hant``.
        cleaning: a name of :data:`~.cleaning.CLEANINGS`.
        sacrebleu: the sacreBLEU tokeniser: ``13a``, ``zh``, ``ja-mecab``, ``ko-mecab`` or ``char``.
        lowercases: whether ``str.lower`` is correct for it. It is not for Turkish and Azerbaijani,
            whose capital I is not the capital of i.
    """

    code: str
    cleaning: str = "plain-v1"
    sacrebleu: str = "13a"
    lowercases: bool = True

    def require_tokenizer(self) -> str:
        """The value of ``sacrebleu``, after checking that what it needs is installed.

        Raises:
            MissingExtraError: a morphological analyser is missing; the message says what to do.
        """
        if self.sacrebleu in _LIBRARIES:
            require(*_LIBRARIES[self.sacrebleu])
        return self.sacrebleu


# Tokeniser -> the module it needs, and our extra that installs it.
_LIBRARIES = {"ja-mecab": ("MeCab", "ja"), "ko-mecab": ("mecab_ko", "ko")}
_UNSPACED = "unspaced-v1"
# By primary subtag. sacreBLEU has no word tokeniser for the unspaced scripts after Japanese:
# its ``char`` counts n-grams of characters, which 13a would leave as one word per line.
_TABLE: dict[str, tuple[str, str, bool]] = {
    "en": ("paper-v1", "13a", True),
    "ko": ("plain-v1", "ko-mecab", True),
    "tr": ("plain-v1", "13a", False),
    "az": ("plain-v1", "13a", False),
    "ja": (_UNSPACED, "ja-mecab", True),
    **dict.fromkeys(("zh", "cmn", "yue", "wuu", "nan", "hak"), (_UNSPACED, "zh", True)),
    **dict.fromkeys(("th", "lo", "km", "my", "bo", "dz"), (_UNSPACED, "char", True)),
}


def language(code: str) -> Language:
    """The settings for a BCP-47 code; an unknown code is treated as a language with spaces.

    Raises:
        InputError: not a BCP-47 code.

    >>> language("en").cleaning, language("de-AT").cleaning, language("zh-Hant").sacrebleu
    ('paper-v1', 'plain-v1', 'zh')
    """
    if not _CODE.fullmatch(code):
        raise InputError(
            f"{code!r} is not a language code: use a BCP-47 code, such as en, de or zh-Hant"
        )
    primary = code.split("-")[0].lower()
    return Language(code, *_TABLE[primary]) if primary in _TABLE else Language(code)
