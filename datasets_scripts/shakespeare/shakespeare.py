"""Shakespeare's lines and their modern renderings.

Upstream's ``ref.0`` and ``ref.1`` are copies of the source files: the reference of a sentence is
the same line of the other side.
"""

from ..corpus import Corpus, parallel_parts
from ..directions import DatasetFacts

CORPUS = Corpus(
    DatasetFacts(
        "shakespeare",
        "Shakespeare",
        "Early Modern English",
        ("shakespearean", "modern"),
        parallel=True,
        tokenized=True,
        licence="unknown",
    ),
    "1.0.0",
    parallel_parts("shakespeare"),
)
