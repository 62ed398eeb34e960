"""The Wiki Neutrality Corpus, from the user's download: pairs that differ in one word."""

from ..corpus import Corpus, Part
from ..directions import FURTHER_DATASETS
from ..layouts import PARTS
from .rows import SOURCE, TARGET, WncColumn


def _column(stem: str, column: int) -> WncColumn:
    return WncColumn(
        f"biased.word.{stem}",
        corpus="WNC",
        variable="TSTBENCH_WNC",
        howto="Get it from https://github.com/rpryzant/neutralizing-bias (bias_data/WNC)",
        column=column,
    )


CORPUS = Corpus(
    FURTHER_DATASETS["wnc"],
    "1.0.0",
    parts=tuple(
        Part(
            name,
            sentences=((_column(stem, SOURCE),), (_column(stem, TARGET),)),
            references={(0, 1): (_column(stem, TARGET),)},
        )
        for name, stem in PARTS.items()
    ),
)
