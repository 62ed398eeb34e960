"""The Wiki Neutrality Corpus, from the user's download: pairs that differ in one word."""

from ..corpus import Corpus, Part
from ..directions import FURTHER_DATASETS
from ..layouts import PARTS
from .rows import SOURCE, TARGET, WncColumn


def wnc_part(name: str, path: str, split: str = "") -> Part:
    """A split: the rows of a file, or those of ``biased.full`` that belong to it."""
    source, target = (
        WncColumn(
            path,
            corpus="WNC",
            variable="TSTBENCH_WNC",
            howto="Get it from https://github.com/rpryzant/neutralizing-bias (bias_data/WNC)",
            column=column,
            split=split,
        )
        for column in (SOURCE, TARGET)
    )
    return Part(name, sentences=((source,), (target,)), references={(0, 1): (target,)})


CORPUS = Corpus(
    FURTHER_DATASETS["wnc"],
    "1.0.0",
    parts=tuple(wnc_part(name, f"biased.word.{stem}") for name, stem in PARTS.items()),
)
