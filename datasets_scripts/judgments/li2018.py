"""The public human ratings of Li et al. (2018) on Yelp, in the schema of human judgments.

Source: Li, Jia, He and Liang (2018), "Delete, Retrieve, Generate", section 4; the Mechanical Turk
export in their release, CC BY-SA 4.0. One row is one source with the outputs of all systems,
shuffled, rated from 1 to 5 by one worker. The export does not say which system made an output:
outputs are matched by their text. Ids of workers and assignments are personal data and are never
kept.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ...files import read_text
from ..cleaning import match_key
from ..directions import Direction
from ..load import TestSet, load_test_set
from ..sources import LI_2018, fetch, upstream_file
from ..system_outputs import SYSTEM_OUTPUTS, read_output
from .schema import CONTENT, FLUENCY, STYLE, Aspect, Judgment

STUDY = "li2018"
RATINGS = upstream_file(LI_2018, "evaluation/human_ratings/ratings-yelp.csv")
RATER = "one-worker-per-row"  # which worker rated which rows cannot be said without their ids
SUCCESS = 4  # an output succeeds where every aspect has this or more (their section 4.2)

_ASPECTS: dict[str, Aspect] = {"grammaticality": FLUENCY, "sentiment": STYLE, "topic": CONTENT}

# Source, target style and output as match keys -> whose output it is: direction, id and system.
MadeBy = dict[tuple[str, str, str], list[tuple[Direction, str, str]]]
Rated = tuple[str, str, dict[str, int]]  # source, output, and its ratings by the export's names


def judgments() -> list[Judgment]:
    """The study's ratings, joined to the systems' released outputs.

    Raises:
        MissingFileError, IntegrityError: see :func:`~..sources.fetch`.
    """
    made_by: MadeBy = {}
    for output in SYSTEM_OUTPUTS:
        if output.file.repository == LI_2018:
            # Raw, because the raters saw the sentences before any cleaning.
            rows = load_test_set(output.direction, cleaning="raw")
            add_outputs(made_by, output.system, rows, read_output(output, rows.sources))
    return read_ratings(fetch(RATINGS), made_by)


def add_outputs(made_by: MadeBy, system: str, rows: TestSet, outputs: Sequence[str]) -> None:
    """Add a system's outputs, output i of source i."""
    for name, source, output in zip(rows.ids, rows.sources, outputs, strict=True):
        key = match_key(source), rows.direction.target_style, match_key(output)
        made_by.setdefault(key, []).append((rows.direction, name, system))


def read_ratings(path: Path | str, made_by: MadeBy) -> list[Judgment]:
    """Read an export and join it to the systems by source, target style and output.

    One judgment per system, sentence and aspect comes of it, in the order of the export.

    A text that several systems made gets a judgment for each. If a row shows such a text several
    times, its last rating counts for all of them, as in the authors' own evaluation: which copy
    belongs to which system is not known.

    Args:
        path: the export, comma-separated with a header; within ``Input.origs``, ``Input.mods`` and
            ``Answer.responses`` (``grammaticality=g sentiment=s topic=t``) outputs are separated
            by tabs.
        made_by: every system's outputs.
    """
    judgments: list[Judgment] = []
    for row in csv.DictReader(io.StringIO(read_text(path), newline="")):
        shown: dict[tuple[str, str, str], list[Rated]] = {}
        for source, output, ratings in _rated(row):
            key = match_key(source), row["Input.target"], match_key(output)
            shown.setdefault(key, []).append((source, output, ratings))
        for key, copies in shown.items():
            for whose in made_by[key]:
                judgments += _judge(whose, copies)
    return judgments


def _rated(row: Mapping[str, str]) -> Iterator[Rated]:
    """Each output of a row: its source, and its ratings by the export's names."""
    columns = ("Input.origs", "Input.mods", "Answer.responses")
    each = zip(*(row[name].split("\t") for name in columns), strict=True)
    for source, output, response in each:
        ratings = dict(rating.split("=") for rating in response.split())
        yield source.strip(), output.strip(), {name: int(text) for name, text in ratings.items()}


def _judge(whose: tuple[Direction, str, str], copies: Sequence[Rated]) -> Iterator[Judgment]:
    """The judgments of one text on every aspect, for one of the systems that made it."""
    direction, sample_id, system = whose
    source, output, _ = copies[-1]
    for name, aspect in _ASPECTS.items():
        given = [ratings[name] for _, _, ratings in copies]
        every = f"shown {len(given)} times in its row, rated {', '.join(map(str, given))}"
        yield Judgment(
            study=STUDY,
            dataset=direction.dataset,
            direction=direction.name,
            system=system,
            sample_id=sample_id,
            source=source,
            output=output,
            aspect=aspect.name,
            scale=aspect.scale,
            rater=RATER,
            score=float(given[-1]),
            note=f"{every}: the last counts" if len(set(given)) > 1 else None,
            certain=True,  # it is the text that the worker saw
        )


def success_rate(judgments: Iterable[Judgment]) -> float | None:
    """The share of outputs whose every aspect is rated 4 or 5; ``None`` if no output is complete.

    Args:
        judgments: of one system; outputs without a score on every aspect are left out.
    """
    scores: dict[object, list[float]] = {}
    for judgment in judgments:
        if judgment.score is not None:
            scores.setdefault((judgment.direction, judgment.sample_id), []).append(judgment.score)
    whole = [some for some in scores.values() if len(some) == len(_ASPECTS)]
    return sum(min(some) >= SUCCESS for some in whole) / len(whole) if whole else None
