"""How a text is prepared before a scorer sees it; each preparation's name is in the signature.

Systems write "it 's great ." or "It's great.": a scorer must not take the blanks for style or for
disfluency, so every prediction, source and reference passes the benchmark's cleaning first.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from ..datasets_scripts.cleaning import paper_v1

CLEANING = "paper-v1"
CLASSIFIER_TEXT = f"{CLEANING}+lower"
LANGUAGE_MODEL_TEXT = f"{CLEANING}+lower+13a"


def clean_texts(texts: Sequence[str]) -> list[str]:
    """Cleaned, case kept: what encoders and acceptability classifiers read."""
    return [paper_v1(text) for text in texts]


def classifier_texts(texts: Sequence[str]) -> list[str]:
    """Cleaned and lower-cased: what style classifiers are trained on and read.

    >>> classifier_texts(["It 's great ."])
    ["it's great."]
    """
    return [paper_v1(text).lower() for text in texts]


def language_model_texts(texts: Sequence[str]) -> list[str]:
    """Cleaned, lower-cased, tokens apart: what n-gram models are trained on and read.

    sacreBLEU's 13a tokeniser is used, because it separates a full stop in the middle of a line
    from its word, as a system that writes two sentences on one line needs.

    >>> language_model_texts(["Great food . We won't leave!"])
    ["great food . we won't leave !"]
    """
    return [_separated(text) for text in texts]


@lru_cache(maxsize=1 << 17)
def _separated(text: str) -> str:
    return str(_TOKENIZER(paper_v1(text).lower()))


_TOKENIZER = Tokenizer13a()
