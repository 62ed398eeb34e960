"""StylePTB: sentences moved to the future tense."""

from ..corpus import Corpus, parallel_parts
from ..directions import DatasetFacts

CORPUS = Corpus(
    DatasetFacts(
        "styptb_tfu",
        "StylePTB, to future tense",
        "tense",
        ("present", "future"),
        pairs=(("present", "future"),),
        parallel=True,
        tokenized=True,
        licence="cc-by-4.0",
    ),
    "1.0.0",
    parallel_parts("styleptb_TFU"),
)
