"""Mini: our own writing, in Yelp's layout, inside the package."""

from ..corpus import Corpus, Part, numbered_references, sides
from ..directions import DatasetFacts
from ..sources import PackageFile


def _file(name: str) -> PackageFile:
    return PackageFile(f"mini/data/{name}")


CORPUS = Corpus(
    DatasetFacts(
        "mini",
        "Mini",
        "sentiment",
        ("negative", "positive"),
        references=4,
        licence="apache-2.0",
    ),
    "1.0.0",
    parts=(
        Part("train", sides(_file, "train")),
        Part("validation", sides(_file, "dev")),
        Part("test", sides(_file, "test"), references=numbered_references(_file, 4)),
    ),
)
