"""Yelp's raw files: reviews by sentiment, four human rewrites of each test sentence."""

from ..corpus import Corpus, Part
from ..directions import BENCHMARK_DATASETS
from ..layouts import benchmark_file

CORPUS = Corpus(
    BENCHMARK_DATASETS["yelp"],
    "1.0.0",
    parts=(
        Part("train", ((benchmark_file("yelp/train.0"),), (benchmark_file("yelp/train.1"),))),
        Part(
            "validation",
            ((benchmark_file("yelp/dev.0"),), (benchmark_file("yelp/dev.1"),)),
            decontamination="yelp-dev-minus-test-v1",
        ),
        Part(
            "test",
            ((benchmark_file("yelp/test.0"),), (benchmark_file("yelp/test.1"),)),
            references={
                (0, 1): tuple(benchmark_file(f"yelp/reference{k}.0") for k in range(4)),
                (1, 0): tuple(benchmark_file(f"yelp/reference{k}.1") for k in range(4)),
            },
        ),
    ),
)
