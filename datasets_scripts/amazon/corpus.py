"""Amazon's raw files: product reviews by sentiment, one human rewrite of each test sentence."""

from ..corpus import Corpus, Part
from ..directions import BENCHMARK_DATASETS
from ..layouts import benchmark_file
from ..sources import BENCHMARK, SourceFile, upstream_file

# Pairs mined from the training files for BSRR: A is the negative sentence, B the positive one.
_MINED = ("lexical_based", "semantic_based", "semantic_based/paper_3w")


def _mined(name: str) -> tuple[SourceFile, ...]:
    folder = "Algorithms/BSRR/pseudo_paired_data_Amazon"
    return tuple(upstream_file(BENCHMARK, f"{folder}/{kind}/{name}") for kind in _MINED)


CORPUS = Corpus(
    BENCHMARK_DATASETS["amazon"],
    "1.0.0",
    parts=(
        Part("train", ((benchmark_file("amazon/train.0"),), (benchmark_file("amazon/train.1"),))),
        Part(
            "mined",
            (_mined("merged_0_A_0"), _mined("merged_0_B_1")),
            decontamination="amazon-mined-v1",
            transfer=False,
        ),
        Part("validation", ((benchmark_file("amazon/dev.0"),), (benchmark_file("amazon/dev.1"),))),
        Part(
            "test",
            ((benchmark_file("amazon/test.0"),), (benchmark_file("amazon/test.1"),)),
            references={
                (0, 1): (benchmark_file("amazon/reference.0"),),
                (1, 0): (benchmark_file("amazon/reference.1"),),
            },
        ),
    ),
)
