"""The benchmark paper's human scores: its printed means again, and what its raters weighed.

Its correlation heat maps compare these means with automatic scores of the same outputs. Of those,
only ChatGPT's are public, so the part that can be computed is that between people's aspects.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...datasets_scripts.judgments.schema import Judgment
from ...datasets_scripts.judgments.tstbench2025 import FOLDERS, system_name, tstbench2025_judgments
from ...datasets_scripts.sources import BENCHMARK, fetch, upstream_file
from ...datasets_scripts.tables import read_delimited
from ...errors import InputError
from .systems import correlate

ASPECTS = ("style", "content", "fluency", "overall")
_PRINTED = {"Strength": "style", "Content": "content", "Fluency": "fluency", "Overall": "overall"}
_GEOMETRIC = "G3_human"  # cube root of the product of the three means


@dataclass(frozen=True)
class PrintedMean:
    """A system's mean human score as published, and from the single scores.

    Attributes:
        direction: in full.
        system: as in the judgments.
        aspect: ``style``, ``content``, ``fluency``, ``overall`` or ``G3``.
        printed: as published.
        computed: not rounded.
    """

    direction: str
    system: str
    aspect: str
    printed: str
    computed: float

    @property
    def same(self) -> bool:
        """Whether it is the same to three digits after the point."""
        return abs(self.computed - float(self.printed)) < 0.0005 + 1e-9


@dataclass(frozen=True)
class HumanHeat:
    """Pearson correlation of people's aspects over the systems of a direction."""

    direction: str
    systems: int
    first: str
    second: str
    value: float


def printed_means() -> list[PrintedMean]:
    """Every published mean.

    Raises:
        MissingFileError, IntegrityError: see :func:`tstbench.datasets_scripts.sources.fetch`.
        InputError: a table names a system that has no scores.
    """
    means = system_means(tstbench2025_judgments())
    found = []
    for folder, direction in FOLDERS.items():
        file = upstream_file(BENCHMARK, f"Evaluation/human_average/{folder}/avg_score.csv")
        for _line, row in read_delimited(fetch(file), file.name)[1]:
            system = system_name(row["Model"])
            if (direction, system) not in means:
                raise InputError(f"{file.name}: {system} has no scores in all_score.json")
            of = means[direction, system]
            for column, aspect in _PRINTED.items():
                found.append(PrintedMean(direction, system, aspect, row[column], of[aspect]))
            three = of["style"] * of["content"] * of["fluency"]
            found.append(PrintedMean(direction, system, "G3", row[_GEOMETRIC], three ** (1 / 3)))
    return found


def system_means(judgments: list[Judgment]) -> dict[tuple[str, str], dict[str, float]]:
    """(direction, system) to the mean of each aspect; flagged scores are left out."""
    given: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in judgments:
        if row.usable is not None:
            aspects = given.setdefault((row.direction, row.system), {})
            aspects.setdefault(row.aspect, []).append(row.usable)
    return {
        key: {aspect: float(np.mean(scores)) for aspect, scores in aspects.items()}
        for key, aspects in given.items()
    }


def human_heat() -> list[HumanHeat]:
    """The human part of the heat maps: pairs of aspects, over systems."""
    means = system_means(tstbench2025_judgments())
    found = []
    for direction in FOLDERS.values():
        rows = [of for (where, _), of in means.items() if where == direction]
        for number, first in enumerate(ASPECTS):
            for second in ASPECTS[number + 1 :]:
                a, b = (np.array([[row[name] for row in rows]]) for name in (first, second))
                value = float(correlate("pearson", a, b)[0])
                found.append(HumanHeat(direction, len(rows), first, second, value))
    return found


def overall_weights() -> dict[str, float]:
    """Least-squares weights of style, content and fluency in the overall means of all systems."""
    means = system_means(tstbench2025_judgments())
    parts = np.array([[of[name] for name in ASPECTS[:3]] for of in means.values()])
    overall = np.array([of["overall"] for of in means.values()])
    design = np.column_stack([parts, np.ones(len(parts))])
    weights, *_ = np.linalg.lstsq(design, overall, rcond=None)
    return {name: float(w) for name, w in zip(ASPECTS[:3], weights, strict=False)}
