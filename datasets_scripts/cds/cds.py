"""The samples of the Corpus of Diverse Styles: one file a style (Krishna et al. 2020)."""

from ..corpus import Corpus, Part
from ..directions import DatasetFacts
from ..sources import BENCHMARK, upstream_file

_FILES = {  # our name of the style -> upstream's
    "aae": "aae",
    "bible": "bible",
    "coha_1810s": "coha_1810-1830",
    "coha_1890s": "coha_1890-1910",
    "coha_1990s": "coha_1990-2000",
    "english_tweets": "english_tweets",
    "joyce": "joyce",
    "lyrics": "lyrics",
    "romantic_poetry": "romantic_poetry",
    "shakespeare": "shakespeare",
    "switchboard": "switchboard",
}

CORPUS = Corpus(
    DatasetFacts(
        "cds",
        "Corpus of Diverse Styles, samples",
        "eleven styles",
        tuple(_FILES),
        labels_only=True,
    ),
    "1.0.0",
    parts=(
        Part(
            "train",
            tuple(
                (upstream_file(BENCHMARK, f"Algorithms/STRAP/data_samples/{name}.txt"),)
                for name in _FILES.values()
            ),
            transfer=False,
        ),
    ),
)
