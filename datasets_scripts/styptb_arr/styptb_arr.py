"""StylePTB: sentences without their adjectives and adverbs."""

from ..corpus import Corpus, parallel_parts
from ..directions import DatasetFacts

CORPUS = Corpus(
    DatasetFacts(
        "styptb_arr",
        "StylePTB, adjective and adverb removal",
        "syntax",
        ("modified", "unmodified"),
        pairs=(("modified", "unmodified"),),
        parallel=True,
        tokenized=True,
        licence="cc-by-4.0",
    ),
    "1.0.0",
    parallel_parts("styleptb_ARR"),
)
