"""Mini's files: our own writing, in Yelp's layout, inside the package."""

from ..corpus import Corpus, Part
from ..directions import BENCHMARK_DATASETS
from ..layouts import mini_file

CORPUS = Corpus(
    BENCHMARK_DATASETS["mini"],
    "1.0.0",
    parts=(
        Part("train", ((mini_file("train.0"),), (mini_file("train.1"),))),
        Part("validation", ((mini_file("dev.0"),), (mini_file("dev.1"),))),
        Part(
            "test",
            ((mini_file("test.0"),), (mini_file("test.1"),)),
            references={
                (0, 1): tuple(mini_file(f"reference{k}.0") for k in range(4)),
                (1, 0): tuple(mini_file(f"reference{k}.1") for k in range(4)),
            },
        ),
    ),
)
