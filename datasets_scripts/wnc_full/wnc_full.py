"""The whole Wiki Neutrality Corpus, from the user's download, split as the STI study does."""

from ..corpus import PARTS
from ..wnc.wnc import wnc_corpus, wnc_part

CORPUS = wnc_corpus(
    "wnc_full",
    "Wiki Neutrality Corpus, whole",
    *(wnc_part(name, "biased.full", name) for name in PARTS),
)
