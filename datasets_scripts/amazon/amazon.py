"""Amazon: product reviews by sentiment, one human rewrite of each test sentence."""

from ..corpus import Corpus, Files, Part, sides
from ..directions import DatasetFacts
from ..sources import BENCHMARK, UpstreamFile, benchmark_file, upstream_file

# Pairs mined from the training files for BSRR: A is the negative sentence, B the positive one.
_MINED = ("lexical_based", "semantic_based", "semantic_based/paper_3w")


def _file(name: str) -> UpstreamFile:
    return benchmark_file(f"amazon/{name}")


def _mined(name: str) -> Files:
    folder = "Algorithms/BSRR/pseudo_paired_data_Amazon"
    return tuple(upstream_file(BENCHMARK, f"{folder}/{kind}/{name}") for kind in _MINED)


CORPUS = Corpus(
    DatasetFacts(
        "amazon",
        "Amazon",
        "sentiment",
        ("negative", "positive"),
        licence="unknown",
        tokenized=True,
        learn_from="mined",  # 81,236 sentences of the training files; validation has only 2,000
    ),
    "1.0.0",
    parts=(
        Part("train", sides(_file, "train")),
        Part(
            "mined",
            (_mined("merged_0_A_0"), _mined("merged_0_B_1")),
            decontamination="amazon-mined-v1",
            transfer=False,
        ),
        Part("validation", sides(_file, "dev")),
        Part(
            "test",
            sides(_file, "test"),
            references={(0, 1): (_file("reference.0"),), (1, 0): (_file("reference.1"),)},
        ),
    ),
)
