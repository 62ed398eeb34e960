"""The Wiki Neutrality Corpus, from the user's download: pairs that differ in one word.

Its files are tab-separated rows of a sentence before and after an edit of Wikipedia. Layout of the
authors' release (Pryzant et al. 2020): id, source tokens, target tokens, source, target, and
columns with parses, which are not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ...errors import InputError
from ..corpus import PARTS, Corpus, Part
from ..directions import DatasetFacts
from ..sources import UserFile

ID, SOURCE, TARGET = 0, 1, 2  # of a row as it is read
_COLUMNS = 5  # of the file: id, word pieces of source and target, and their raw texts
_FEWEST = 20  # rows of the whole corpus: fewer cannot be split


@dataclass(frozen=True)
class WncColumn(UserFile):
    """One side of the pairs of a file, or of those that belong to a split of the whole corpus."""

    column: int = SOURCE
    split: str = ""  # train, validation or test of ``biased.full``; empty for all rows

    @property
    def name(self) -> str:
        """``corpus/path: source``"""
        side = "source" if self.column == SOURCE else "target"
        return f"{super().name}{self.split and f', {self.split}'}: {side}"

    def lines(self, data_dir: Path | str | None = None) -> list[str]:
        """The texts of the column.

        Raises:
            InputError: a line with too few columns, or an empty text; names file and line. Too few
                rows to split.
        """
        path = self.locate(data_dir)
        version = path.stat().st_mtime_ns, path.stat().st_size
        rows = _read(path, *version)
        if self.split:
            rows = [rows[row] for row in _splits(path, *version)[self.split]]
        return [row[self.column] for row in rows]


@lru_cache(maxsize=1)  # both columns, and all splits of a file, are asked for one after the other
def _read(path: Path, _changed: int, _size: int) -> list[tuple[str, str, str]]:
    """Id, source and target of each row."""
    found = []
    # Only a line feed ends a row: sentences of Wikipedia contain other separators.
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        columns = line.split("\t")
        if len(columns) < _COLUMNS or not (columns[3].strip() and columns[4].strip()):
            raise InputError(
                f"{path}, line {number}: a row of the Wiki Neutrality Corpus has at least five "
                f"tab-separated columns (id, two of tokens, source, target), got {line[:60]!r}"
            )
        try:
            line.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InputError(f"{path}, line {number}: not UTF-8 text") from error
        found.append((columns[0], columns[3], columns[4]))
    return found


@lru_cache(maxsize=1)
def _splits(path: Path, changed: int, size: int) -> dict[str, list[int]]:
    rows = _read(path, changed, size)
    if len(rows) < _FEWEST:
        raise InputError(f"{path} has {len(rows)} rows: at least {_FEWEST} can be split")
    return split_rows(rows)


def split_rows(rows: Sequence[Sequence[str]]) -> dict[str, list[int]]:
    """The splits of the whole corpus: indices of rows, each in its order.

    Source: Cloudera Fast Forward Labs (2022), ``src/data_utils.py`` of
    fastforwardlabs/text-style-transfer: 90 % for training and 5 % each for validation and test,
    drawn by ``datasets`` with seed 42; then every revision that occurs more than once is left out;
    then the rows whose source's length, or whose change of length, is below the first or above the
    99th percentile of the training rows (in words).

    Args:
        rows: id, source and target of each row, as in the file.
    """
    import numpy as np
    from datasets import Dataset

    first = Dataset.from_dict({"row": range(len(rows))}).train_test_split(
        train_size=0.9, shuffle=True, seed=42
    )
    second = first["test"].train_test_split(train_size=0.5, shuffle=True, seed=42)
    drawn = {"train": first["train"], "validation": second["train"], "test": second["test"]}
    times = Counter(columns[ID] for columns in rows)
    splits = {
        name: [row for row in some["row"] if times[rows[row][ID]] == 1]
        for name, some in drawn.items()
    }
    words = np.array([[len(columns[i].split()) for i in (SOURCE, TARGET)] for columns in rows])
    sizes = np.stack([words[:, 0], words[:, 1] - words[:, 0]], axis=1)
    low, high = np.quantile(sizes[splits["train"]], [0.01, 0.99], axis=0)
    usual = ((sizes >= low) & (sizes <= high)).all(axis=1)
    return {name: [row for row in some if usual[row]] for name, some in splits.items()}


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


def wnc_corpus(name: str, title: str, *parts: Part) -> Corpus:
    """The corpus of one-word edits, or the whole one."""
    facts = DatasetFacts(
        name,
        title,
        "subjectivity",
        ("subjective", "neutral"),
        pairs=(("subjective", "neutral"),),
        parallel=True,
    )
    return Corpus(facts, "1.0.0", parts)


CORPUS = wnc_corpus(
    "wnc",
    "Wiki Neutrality Corpus",
    *(wnc_part(name, f"biased.word.{stem}") for name, stem in PARTS.items()),
)
