"""The corpus's files: tab-separated rows of a sentence before and after an edit of Wikipedia.

Layout of the authors' release (Pryzant et al. 2020): id, source tokens, target tokens, source,
target, and columns with parses, which are not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...errors import InputError
from ..sources import UserFile

SOURCE, TARGET = 3, 4  # the raw texts; columns 1 and 2 are word pieces


@dataclass(frozen=True)
class WncColumn(UserFile):
    """One side of the pairs of a file."""

    column: int = SOURCE

    @property
    def name(self) -> str:
        """``corpus/path: source``"""
        side = "source" if self.column == SOURCE else "target"
        return f"{super().name}: {side}"

    def lines(self, data_dir: Path | str | None = None) -> list[str]:
        """The texts of the column.

        Raises:
            InputError: a line with too few columns, or an empty text; names file and line.
        """
        path = self.locate(data_dir)
        found = []
        # Only a line feed ends a row: sentences of Wikipedia contain other separators.
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
            columns = line.split("\t")
            if len(columns) <= TARGET or not columns[self.column].strip():
                raise InputError(
                    f"{path}, line {number}: a row of the Wiki Neutrality Corpus has at least five "
                    f"tab-separated columns (id, two of tokens, source, target), got {line[:60]!r}"
                )
            try:
                columns[self.column].encode("utf-8")
            except UnicodeEncodeError as error:
                raise InputError(f"{path}, line {number}: not UTF-8 text") from error
            found.append(columns[self.column])
        return found
