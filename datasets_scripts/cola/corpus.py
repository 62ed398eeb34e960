"""CoLA's published archive: the in-domain parts and the out-of-domain development set.

The sets that Kaggle kept secret have no labels; as is usual, the out-of-domain development set
serves as the test set.
"""

from ..corpus import Corpus, Part
from ..directions import FURTHER_DATASETS
from ..sources import COLA, upstream_file
from .rows import ARCHIVE, FILES, ColaSentences

_ARCHIVE = upstream_file(COLA, ARCHIVE)

CORPUS = Corpus(
    FURTHER_DATASETS["cola"],
    "1.0.0",
    parts=tuple(
        Part(
            name,
            tuple((ColaSentences(_ARCHIVE, file, label),) for label in (0, 1)),
            transfer=False,
        )
        for name, file in FILES.items()
    ),
)
