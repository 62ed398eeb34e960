"""CoLA's published archive: the in-domain parts and the out-of-domain development set.

The sets that Kaggle kept secret have no labels; as is usual, the out-of-domain development set
serves as the test set. A row is tab-separated: source, label, the author's mark, sentence.
"""

from __future__ import annotations

import zipfile
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from ...files import split_lines
from ..corpus import Corpus, Part
from ..directions import DatasetFacts
from ..sources import COLA, UpstreamFile, upstream_file

ARCHIVE = "acceptability_corpus/cola_public.zip"
FILES = {
    "train": "in_domain_train.tsv",
    "validation": "in_domain_dev.tsv",
    "test": "out_of_domain_dev.tsv",
}


@dataclass(frozen=True)
class ColaSentences(UpstreamFile):
    """The sentences with one label in one file of the archive."""

    file: str = ""
    label: int = 0

    @property
    def name(self) -> str:
        """``owner/repository/...zip: in_domain_dev.tsv, label 1``"""
        return f"{super().name}: {self.file}, label {self.label}"

    def lines(self, data_dir: Path | str | None = None) -> list[str]:
        """The sentences, in the order of the file."""
        rows = archived_rows(self.locate(data_dir), self.file)
        return [sentence for label, sentence in rows if label == self.label]


@lru_cache(maxsize=8)
def archived_rows(archive: Path, file: str) -> tuple[tuple[int, str], ...]:
    """Label and sentence of each row of a file in ``cola_public.zip``."""
    with zipfile.ZipFile(archive) as content:
        text = content.read(f"cola_public/raw/{file}").decode("utf-8")
    rows = (line.split("\t") for line in split_lines(text))
    return tuple((int(label), sentence) for _source, label, _mark, sentence in rows)


_ARCHIVE = asdict(upstream_file(COLA, ARCHIVE))

CORPUS = Corpus(
    DatasetFacts(
        "cola",
        "Corpus of Linguistic Acceptability",
        "acceptability",
        ("unacceptable", "acceptable"),
        labels_only=True,
    ),
    "1.0.0",
    parts=tuple(
        Part(
            name,
            tuple((ColaSentences(**_ARCHIVE, file=file, label=label),) for label in (0, 1)),
            transfer=False,
        )
        for name, file in FILES.items()
    ),
)
