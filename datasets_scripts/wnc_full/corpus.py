"""The whole Wiki Neutrality Corpus, from the user's download, split as the STI study does."""

from ..corpus import Corpus
from ..directions import FURTHER_DATASETS
from ..layouts import PARTS
from ..wnc.corpus import wnc_part

CORPUS = Corpus(
    FURTHER_DATASETS["wnc_full"],
    "1.0.0",
    parts=tuple(wnc_part(name, "biased.full", name) for name in PARTS),
)
