"""The human scores of the benchmark's paper: 50 outputs of each system and direction.

Source: the TSTBench paper, section 3.3.2 and its released averages. A score is an average over the
raters. Which sentence it belongs to was not published, so no row has a text: what they say about
systems can be used, and the 50 places of one direction are the same for all its systems. Only the
public outputs of ChatGPT are certainly those that were rated.
"""

from __future__ import annotations

import json
from pathlib import Path

from ...files import read_text
from ..sources import BENCHMARK, fetch, upstream_file
from .schema import CONTENT, FLUENCY, OVERALL, STYLE, Aspect, Judgment, parse_scale

STUDY = "tstbench2025"
RATER = "mean-of-raters"
SCALE = "interval 1-5"  # averages; the single ratings were whole numbers
FOLDERS = {
    "yelp_0": "yelp/negative-to-positive",
    "amazon_0": "amazon/negative-to-positive",
    "gyafc_em_0": "gyafc_em/informal-to-formal",
    "gyafc_fr_0": "gyafc_fr/informal-to-formal",
    "shakespeare_0": "shakespeare/shakespearean-to-modern",
    "styleptb_TFU_0": "styptb_tfu/present-to-future",
    "styleptb_ARR_0": "styptb_arr/modified-to-unmodified",
}
CERTAIN = ("chatgpt", "chatgpt-fs")
ASPECT_NAMES: dict[str, Aspect] = {
    "strength": STYLE,
    "content": CONTENT,
    "fluency": FLUENCY,
    "all": OVERALL,
}


def judgments() -> list[Judgment]:
    """All scores, without texts; ``item`` is the place among the 50 of a direction.

    Raises:
        MissingFileError, IntegrityError: see :func:`~..sources.fetch`.
    """
    rows = []
    for folder, direction in FOLDERS.items():
        file = upstream_file(BENCHMARK, f"Evaluation/human_average/{folder}/all_score.json")
        rows += read_scores(fetch(file), direction)
    return rows


def read_scores(path: Path, direction: str) -> list[Judgment]:
    """Read ``{system: {aspect: [score, ...]}}``, the scores written as strings.

    A number outside the scale is kept and flagged.
    """
    systems: dict[str, dict[str, list[str]]] = json.loads(read_text(path))
    return [
        _judgment(direction, system_name(name), aspect, place, float(score))
        for name, given in systems.items()
        for published, aspect in ASPECT_NAMES.items()
        for place, score in enumerate(given[published], start=1)
    ]


def system_name(published: str) -> str:
    """A system's name here, so that its scores are found beside results of ``run paper``."""
    name = published.lower().replace("_", "-")
    return f"llama-{name}" if name.startswith("lora") else name


def _judgment(direction: str, system: str, aspect: Aspect, place: int, score: float) -> Judgment:
    possible = parse_scale(SCALE).holds(score)
    return Judgment(
        study=STUDY,
        dataset=direction.split("/")[0],
        direction=direction,
        system=system,
        sample_id=None,
        source=None,
        output=None,
        aspect=aspect.name,
        scale=SCALE,
        rater=RATER,
        score=score,
        note=None if possible else "published although the scale ends at 5",
        item=f"place-{place:02d}",
        certain=system in CERTAIN,
        flag=None if possible else "impossible",
    )
