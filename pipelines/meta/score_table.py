"""A table of scores that somebody computed, read from CSV and joined to a study's outputs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...datasets_scripts.judgments.own import read_score
from ...datasets_scripts.tables import read_delimited
from ...errors import InputError
from .columns import Column
from .rated import RatedOutput


@dataclass(frozen=True, kw_only=True)
class ScoreTable:
    """A table of scores that somebody computed.

    Attributes:
        path: CSV, or tab-separated (``.tsv``).
        names: its columns with scores.
        rows: line, and what identifies the output: direction, system, id, source, output.
        scores: shape (rows, columns), NaN where there is none.
        lower: columns where lower is better.
    """

    path: Path
    names: tuple[str, ...]
    rows: tuple[tuple[int, Mapping[str, str]], ...]
    scores: np.ndarray
    lower: tuple[str, ...] = ()

    def columns(self, outputs: Sequence[RatedOutput]) -> list[Column]:
        """The columns for a study's outputs; empty if none of its outputs is in the table."""
        sentence = np.full((len(outputs), len(self.names)), np.nan)
        found: dict[tuple[str, ...], list[int]] = {}
        for number, one in enumerate(outputs):
            for key in _keys(one):
                found.setdefault(key, []).append(number)
        systems: list[dict[tuple[str, str], float]] = [{} for _ in self.names]
        known = {(one.direction, one.system) for one in outputs}
        studies = {one.study for one in outputs}
        scored: dict[int | tuple[str, str], tuple[int, np.ndarray]] = {}
        for (line, row), scores in zip(self.rows, self.scores, strict=True):
            if row.get("study") and row["study"] not in studies:
                continue
            if "id" not in row and "output" not in row:
                pair = (row["direction"], row["system"])
                if pair in known:
                    self._once(scored, pair, line, scores)
                    for place in range(len(self.names)):
                        systems[place][pair] = float(scores[place])
                continue  # not a score of outputs, which could match where they have no texts
            for number in found.get(_key(row), ()):
                self._once(scored, number, line, scores)
                sentence[number] = scores
        return [
            Column(
                name=name,
                aspect="other",
                sentence=sentence[:, place],
                sign=-1 if name in self.lower else 1,
                systems={pair: v for pair, v in systems[place].items() if not math.isnan(v)},
            )
            for place, name in enumerate(self.names)
            if systems[place] or np.isfinite(sentence[:, place]).any()
        ]

    def why_left(self, name: str) -> str:
        """Why a column is not among those of a study."""
        if np.isnan(self.scores[:, self.names.index(name)]).all():
            return f"{self.path} has no score in this column: all its cells are empty"
        return f"{self.path} has none of the study's outputs or systems"

    def _once(
        self,
        scored: dict[int | tuple[str, str], tuple[int, np.ndarray]],
        what: int | tuple[str, str],
        line: int,
        scores: np.ndarray,
    ) -> None:
        first, before = scored.setdefault(what, (line, scores))
        if not np.array_equal(before, scores, equal_nan=True):
            thing = "output" if isinstance(what, int) else "system"
            raise InputError(
                f"{self.path}, line {line}: line {first} has other scores of the same {thing}. "
                "Keep one, or say which is which by 'direction', 'system' or 'study'"
            )


_KEYS = ("study", "direction", "system", "id", "source", "output")


def _key(row: Mapping[str, str]) -> tuple[str, ...]:
    """An output: by id with its direction and system, or by its texts."""
    if "id" in row:
        return ("id", row.get("direction", ""), row.get("system", ""), row["id"])
    texts = row.get("source", ""), row.get("output", "")
    return ("text", row.get("direction", ""), row.get("system", ""), *texts)


def _keys(one: RatedOutput) -> Iterable[tuple[str, ...]]:
    for direction in (one.direction, ""):
        for system in (one.system, ""):
            yield ("id", direction, system, one.sentence)
            yield ("text", direction, system, one.source or "", one.output or "")


def read_scores(path: Path, lower: Iterable[str] = ()) -> ScoreTable:
    """Read a table of scores.

    One row per output, known by ``id`` (with ``direction`` and ``system``) or by ``source`` and
    ``output``; or one row per system, known by ``direction`` and ``system``. Every other column is
    a metric; where there is no score, the cell is empty.

    Raises:
        MissingFileError: no such file.
        InputError: no column that identifies an output, a score that is no number, no column
            with scores, or a column of ``lower`` that does not exist.
    """
    header, table = read_delimited(path, str(path))
    if not header:
        raise InputError(f"{path} is empty: its first line must name the columns")
    by_text = {"source", "output"} <= set(header)
    by_system = {"direction", "system"} <= set(header) and "output" not in header
    if "id" not in header and not by_text and not by_system:
        raise InputError(
            f"{path}: an output is known by the columns 'id' (with 'direction' and 'system'), or "
            f"by 'source' and 'output', a system by 'direction' and 'system'. The table has "
            f"{', '.join(header)}"
        )
    names = tuple(name for name in header if name not in _KEYS)
    lower = tuple(lower)
    unknown = [name for name in lower if name not in names]
    if not names or unknown:
        what = f"no column {unknown[0]!r}" if unknown else "no column with scores"
        raise InputError(f"{path}: {what}; it has {', '.join(header)}")
    rows, scores = [], []
    for line, row in table:
        rows.append((line, {name: row[name] for name in _KEYS if name in header}))
        cells = [read_score(row[name], f"{path}, line {line}, column {name}") for name in names]
        scores.append([math.nan if cell is None else cell for cell in cells])
    if not rows:
        raise InputError(f"{path}: no rows")
    return ScoreTable(
        path=path, names=names, rows=tuple(rows), scores=np.array(scores), lower=lower
    )
