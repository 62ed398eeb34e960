"""The named protocols for computing BLEU. Nothing heavy is imported here.

Papers on style transfer report a BLEU of 24 or 55 for the same outputs, because each tokenises,
lower-cases and smooths differently. Here each protocol has a name, which is in the signature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...errors import unknown_name

Tokenize = Literal[
    "nltk", "nltk-punkt", "whitespace", "13a", "intl", "char", "zh", "ja-mecab", "ko-mecab"
]


@dataclass(frozen=True)
class BleuProtocol:
    """One way to compute BLEU.

    Attributes:
        tokenize: ``nltk`` (NLTKWordTokenizer on the whole line, needs no data), ``nltk-punkt``
            (``word_tokenize``, needs nltk's ``punkt_tab``), ``whitespace``, or one of sacreBLEU's:
            ``13a``, ``intl``, ``char``, ``zh``, ``ja-mecab`` and ``ko-mecab`` (which need
            ``sacrebleu[ja]`` and ``sacrebleu[ko]``).
        lowercase: whether texts are lower-cased first.
        short_totals: n-gram totals of a sentence with fewer than n tokens: ``one`` as nltk's
            ``corpus_bleu`` counts them, ``zero`` as multi-bleu.perl and sacreBLEU do.
        smooth: ``none``, or ``exp`` as sacreBLEU's default.
    """

    name: str
    tokenize: Tokenize
    lowercase: bool
    short_totals: Literal["one", "zero"]
    smooth: Literal["none", "exp"]

    @property
    def english(self) -> bool:
        """Whether its tokenisation is for English."""
        return self.tokenize.startswith("nltk")


_SACREBLEU: tuple[Tokenize, ...] = ("13a", "intl", "char", "zh", "ja-mecab", "ko-mecab")
PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        BleuProtocol("tstbench", "nltk", True, "one", "none"),
        BleuProtocol("tstbench-punkt", "nltk-punkt", True, "one", "none"),
        BleuProtocol("whitespace", "whitespace", False, "zero", "none"),
        *(BleuProtocol(name, name, False, "zero", "exp") for name in _SACREBLEU),
    )
}


def bleu_protocol(name: str) -> BleuProtocol:
    """The protocol with that name; raises :class:`UnknownNameError` with near misses."""
    if name not in PROTOCOLS:
        raise unknown_name("BLEU protocol", name, PROTOCOLS)
    return PROTOCOLS[name]
