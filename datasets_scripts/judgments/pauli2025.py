"""The style-aware content ratings of Pauli, Augenstein and Assent (2025), CC BY 4.0.

Every row is a sentence and a rewrite constructed for the study: either only the style changed, or
a change of meaning (a substitution, insertion or deletion) was hidden in the rewrite. Three people
scored style strength and content from 1 to 5. A content metric that measures overlap fails here,
because the change of meaning touches fewer words than the change of style.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..sources import PAULI_2025, fetch, upstream_file
from ..tables import read_delimited
from .schema import CONTENT, STYLE, Judgment, parse_scale

STUDY = "pauli2025"
SYSTEM = "constructed"
FILES = (1, 2, 3)
# Target style -> the style of what was rewritten, by where the sentences are from.
SOURCE_STYLES = {
    "positive": "neutral",  # news
    "negative": "neutral",
    "detoxified": "toxic",  # comments
    "catchy": "neutral",  # headlines
}
_RATERS = (1, 2, 3)
_LETTERS = {"A": STYLE, "B": CONTENT}  # which question is which, as the authors' loader has it


def judgments() -> list[Judgment]:
    """All ratings: 200 rewrites, two aspects, three raters each.

    Raises:
        MissingFileError, IntegrityError: see :func:`~..sources.fetch`.
    """
    files = [fetch(upstream_file(PAULI_2025, f"data/syntest_anno{n}.csv")) for n in FILES]
    return read_annotations(files)


def read_annotations(files: list[Path]) -> list[Judgment]:
    """Read the study's tables, of either of their two layouts.

    Raters get the pseudonyms ``rater-1``... in the order in which they occur, the same in all
    files. A row's id is its file and its number in it, because ``sample_id`` names the input,
    and inputs repeat.
    """
    raters: dict[str, str] = {}
    return [
        judgment
        for number, path in enumerate(files, start=1)
        for _, row in read_delimited(path, str(path))[1]
        for judgment in _judge(row, f"pauli2025-{number}-{row['quest_nr']}", raters)
    ]


def _judge(row: dict[str, str], sample_id: str, raters: dict[str, str]) -> Iterator[Judgment]:
    target = row["style_to"]
    for letter, aspect in _LETTERS.items():
        for rater in _RATERS:
            score = float(row[f"Answer{letter}_{rater}"])
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
                condition=row["intention"],
                certain=True,
                flag=None if parse_scale(aspect.scale).holds(score) else "impossible",
            )
