"""Public outputs of published systems, pinned like the datasets.

Only those of ChatGPT are known to be what the benchmark paper's raters saw; the others are what the
authors released, and may come from other checkpoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import InputError
from ..files import read_lines
from .catalog import parse_direction
from .cleaning import match_key
from .directions import Direction
from .sources import BENCHMARK, LI_2018, UpstreamFile, fetch, upstream_file


@dataclass(frozen=True)
class SystemOutput:
    """One system's rewrites of one test set, in order."""

    system: str
    direction: Direction
    file: UpstreamFile
    columns: bool = False  # lines are source, rewrite (and label), tab-separated


# Folder of the benchmark's ChatGPT outputs -> direction; only these files are public and pinned.
_CHATGPT = {
    "yelp": "yelp/negative-to-positive",
    "amazon": "amazon/negative-to-positive",
    "shakespeare": "shakespeare/shakespearean-to-modern",
    "style_TFU": "styptb_tfu/present-to-future",
    "style_ARR": "styptb_arr/modified-to-unmodified",
}
# Suffix in Li et al.'s release -> system. "orgin" is their spelling.
_LI_2018 = {
    "human": "human",
    "mit": "cross-aligned",
    "fader": "style-embedding",
    "multi_decoder": "multi-decoder",
    "retrieval": "retrieval",
    "rule_base": "template",
    "label": "delete-only",
    "orgin": "delete-and-retrieve",
}


def _table() -> tuple[SystemOutput, ...]:
    found = []
    for folder, direction in _CHATGPT.items():
        for system, name in (
            ("chatgpt", "output_cleaned.0"),
            ("chatgpt-fs", "output_fewshot_cleaned.0"),
        ):
            file = upstream_file(BENCHMARK, f"Algorithms/CHATGPT/outputs/{folder}/{name}")
            found.append(SystemOutput(system, parse_direction(direction), file))
    for style, direction in enumerate(("yelp/negative-to-positive", "yelp/positive-to-negative")):
        for suffix, system in _LI_2018.items():
            path = f"evaluation/outputs/yelp/sentiment.test.{style}.{suffix}"
            file = upstream_file(LI_2018, path)
            found.append(SystemOutput(system, parse_direction(direction), file, columns=True))
    return tuple(found)


SYSTEM_OUTPUTS: tuple[SystemOutput, ...] = _table()


def read_output(output: SystemOutput, sources: Sequence[str]) -> tuple[str, ...]:
    """A system's rewrites; line i belongs to source i.

    Args:
        output: an entry of :data:`SYSTEM_OUTPUTS`.
        sources: the test set's sources, any cleaning.

    Raises:
        InputError: the number of lines differs, or a line quotes a different source.
        MissingFileError, IntegrityError: see :func:`~.sources.fetch`.
    """
    lines = read_lines(fetch(output.file))
    name = output.file.name
    if len(lines) != len(sources):
        raise InputError(
            f"{name} has {len(lines)} lines, {output.direction} has {len(sources)} sources"
        )
    if not output.columns:
        return tuple(lines)
    rewrites = []
    for number, (line, source) in enumerate(zip(lines, sources, strict=True), start=1):
        quoted, _, rest = line.partition("\t")
        if match_key(quoted) != match_key(source):
            raise InputError(f"{name}, line {number}: quotes {quoted!r}, not the source {source!r}")
        rewrites.append(rest.split("\t")[0].strip())
    return tuple(rewrites)
