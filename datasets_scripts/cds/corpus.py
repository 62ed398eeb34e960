"""The samples of the Corpus of Diverse Styles: one file a style (Krishna et al. 2020)."""

from ..corpus import Corpus, Part
from ..directions import FURTHER_DATASETS
from ..sources import BENCHMARK, upstream_file

_FILES = (
    "aae", "bible", "coha_1810-1830", "coha_1890-1910", "coha_1990-2000", "english_tweets",
    "joyce", "lyrics", "romantic_poetry", "shakespeare", "switchboard",
)  # fmt: skip

CORPUS = Corpus(
    FURTHER_DATASETS["cds"],
    "1.0.0",
    parts=(
        Part(
            "train",
            tuple(
                (upstream_file(BENCHMARK, f"Algorithms/STRAP/data_samples/{name}.txt"),)
                for name in _FILES
            ),
            transfer=False,
        ),
    ),
)
