"""Yelp: reviews by sentiment, four human rewrites of each test sentence."""

from ..corpus import Corpus, Part, numbered_references, sides
from ..directions import DatasetFacts
from ..sources import UpstreamFile, benchmark_file


def _file(name: str) -> UpstreamFile:
    return benchmark_file(f"yelp/{name}")


CORPUS = Corpus(
    DatasetFacts(
        "yelp",
        "Yelp",
        "sentiment",
        ("negative", "positive"),
        references=4,
        licence="yelp-dataset-terms",
        tokenized=True,
        learn_from="validation",  # 62,426 sentences, none of them a test sentence
    ),
    "1.0.0",
    parts=(
        Part("train", sides(_file, "train")),
        Part("validation", sides(_file, "dev"), decontamination="yelp-dev-minus-test-v1"),
        Part("test", sides(_file, "test"), references=numbered_references(_file, 4)),
    ),
)
