"""The style-aware content ratings of Pauli, Augenstein and Assent (2025), CC BY 4.0.

Every row is a sentence and a rewrite constructed for the study: either only the style changed, or
a change of meaning (a substitution, insertion or deletion) was hidden in the rewrite. Three people
scored style strength and content from 1 to 5. A content metric that measures overlap fails here,
because the change of meaning touches fewer words than the change of style.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...errors import InputError
from ..sources import PAULI_2025, fetch, upstream_file
from ..tables import read_delimited
from .schema import CONTENT, STYLE, Judgment, parse_scale

STUDY = "pauli2025"
SYSTEM = "constructed"
FILES = (1, 2, 3)
INTENTIONS = ("style", "substitution", "insertion", "deletion")
# Target style -> the style of what was rewritten, by where the sentences are from.
SOURCE_STYLES = {
    "positive": "neutral",  # news
    "negative": "neutral",
    "detoxified": "toxic",  # comments
    "catchy": "neutral",  # headlines
}
_RATERS = (1, 2, 3)
_LETTERS = {"A": STYLE, "B": CONTENT}  # which question is which, as the authors' loader has it
_COLUMNS = (
    *("input", "output", "intention", "style_to", "quest_nr"),
    *(f"Answer{letter}_{rater}" for letter in _LETTERS for rater in _RATERS),
    *(f"prolificID_{rater}" for rater in _RATERS),
)


def judgments() -> list[Judgment]:
    """All ratings: 200 rewrites, two aspects, three raters each.

    Raises:
        MissingFileError, IntegrityError: see :func:`~..sources.fetch`.
        InputError: see :func:`read_annotations`.
    """
    files = [fetch(upstream_file(PAULI_2025, f"data/syntest_anno{n}.csv")) for n in FILES]
    return read_annotations(files)


def read_annotations(files: list[Path]) -> list[Judgment]:
    """Read the study's tables, of either of their two layouts.

    Raters get the pseudonyms ``rater-1``... in the order in which they occur, the same in all
    files. A row's id is its file and its number in it, because ``sample_id`` names the input,
    and inputs repeat.

    Raises:
        InputError: a column is missing, a style, an intention or a score is unknown, or a number
            is repeated; names file and line.
    """
    raters: dict[str, str] = {}
    rows = []
    for number, path in enumerate(files, start=1):
        seen: set[str] = set()
        for line, row in _rows(path):
            name = row["quest_nr"]
            if name in seen:
                raise InputError(f"{path}, line {line}: quest_nr {name} is repeated")
            seen.add(name)
            rows += list(_judge(path, line, row, f"pauli2025-{number}-{name}", raters))
    return rows


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    header, rows = read_delimited(path, str(path))
    missing = [name for name in _COLUMNS if name not in header]
    if missing:
        raise InputError(f"{path}: no column {', '.join(missing)}; is this the study's table?")
    return rows


def _judge(
    path: Path, line: int, row: dict[str, str], sample_id: str, raters: dict[str, str]
) -> Iterator[Judgment]:
    target, intention = row["style_to"], row["intention"]
    if target not in SOURCE_STYLES or intention not in INTENTIONS:
        raise InputError(f"{path}, line {line}: style {target!r} or intention {intention!r}")
    for letter, aspect in _LETTERS.items():
        for rater in _RATERS:
            given = row[f"Answer{letter}_{rater}"]
            try:
                score = float(given)
            except ValueError as error:
                raise InputError(f"{path}, line {line}: {given!r} is not a score") from error
            person = row[f"prolificID_{rater}"]
            yield Judgment(
                study=STUDY,
                dataset=STUDY,
                direction=f"{STUDY}/{SOURCE_STYLES[target]}-to-{target}",
                system=SYSTEM,
                sample_id=sample_id,
                source=row["input"],
                output=row["output"],
                aspect=aspect.name,
                scale=aspect.scale,
                rater=raters.setdefault(person, f"rater-{len(raters) + 1}"),
                score=score,
                condition=intention,
                certain=True,
                flag=None if parse_scale(aspect.scale).holds(score) else "impossible",
            )
