"""Human scores beside the metrics' of the same outputs.

A judgment belongs to a system by its name, see :func:`fold`, and to a sentence by the
sentence's id, or by its source if a table of scores has no ids. Where the study says which text was
judged, it must be the text in the results: a score of another text says nothing about this one, and
is counted as such.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...datasets_scripts.cleaning import match_key
from ...datasets_scripts.judgments.own import source_id
from ...datasets_scripts.judgments.schema import ASPECTS, Judgment
from ..report import Report
from .results import DirectionResults, competing

_ORDER = {name: n for n, name in enumerate(ASPECTS)}


@dataclass(frozen=True, kw_only=True)
class HumanAspect:
    """One aspect of one study on one direction.

    Attributes:
        title: ``human style``, with the study's name where there are several.
        means: the mean over items of the mean over raters, by the folded name of the system.
        sentences: the mean over raters by folded name and id, of judgments on the texts at hand.
        other_texts: judgments of a text that is not the one in the results.
    """

    study: str
    aspect: str
    scale: str
    title: str
    means: Mapping[str, float]
    sentences: Mapping[tuple[str, str], float]
    other_texts: int


def human_aspects(
    judgments: Iterable[Judgment], results: DirectionResults
) -> tuple[HumanAspect, ...]:
    """The aspects that a direction's systems were judged on, style, content, fluency first."""
    known = {fold(r.system.name) for r in (*results.reports, *results.runs)}
    groups: dict[tuple[str, str, str], list[Judgment]] = defaultdict(list)
    for one in judgments:
        if one.direction == results.name and one.usable is not None and fold(one.system) in known:
            groups[one.study, one.aspect, one.scale].append(one)
    several = len({study for study, _, _ in groups}) > 1
    texts: dict[tuple[str, str], str] = {}
    of_source: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, samples in results.samples.items():
        for sample in samples:
            texts[fold(name), sample.id] = sample.prediction
            of_source[fold(name), match_key(sample.source)].append(sample.id)
    known_by = {key: ids[0] for key, ids in of_source.items() if len(ids) == 1}
    keys = sorted(groups, key=lambda key: _ORDER.get(key[1], len(_ORDER)))
    return tuple(_aspect(key, groups[key], texts, known_by, several=several) for key in keys)


def human_means(aspect: HumanAspect, reports: Sequence[Report]) -> np.ndarray:
    """The means of these systems: shape (S,), NaN where people did not score one."""
    return np.array([aspect.means.get(fold(r.system.name), np.nan) for r in reports])


def human_sentences(
    aspect: HumanAspect, results: DirectionResults, ids: Sequence[str]
) -> np.ndarray:
    """The scores of single sentences of the competing runs: shape (S, N), NaN for none."""
    rows = [
        [aspect.sentences.get((fold(r.system.name), i), np.nan) for i in ids]
        for r in competing(results)
    ]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(ids))


def fold(system: str) -> str:
    """A system's name without case and punctuation: studies spell ``GPT-4`` in several ways.

    What stands between digits is a point, and a plus stays: ``llama-1.5`` is not ``llama-15``.

    >>> fold("GPT-4 FS") == fold("gpt4_fs"), fold("GPT 3.5") == fold("gpt-3_5") != fold("gpt-35")
    (True, True)
    """
    name = re.sub(r"(?<=\d)[\W_]+(?=\d)", ".", system.casefold())
    return re.sub(r"[^\w.+]|_|(?<!\d)\.|\.(?!\d)", "", name)


def _sentence(one: Judgment, known_by: Mapping[tuple[str, str], str]) -> str:
    """The id in the results: the judgment's own, or that of its source if its table had no ids."""
    sentence = one.sample_id or ""
    if one.source and sentence == source_id(one.source):
        return known_by.get((fold(one.system), match_key(one.source)), sentence)
    return sentence


def _aspect(
    key: tuple[str, str, str],
    judgments: Sequence[Judgment],
    texts: Mapping[tuple[str, str], str],
    known_by: Mapping[tuple[str, str], str],
    *,
    several: bool,
) -> HumanAspect:
    study, aspect, scale = key
    items: dict[str, dict[object, list[float]]] = defaultdict(lambda: defaultdict(list))
    here: dict[tuple[str, str], list[float]] = defaultdict(list)
    other = 0
    for number, one in enumerate(judgments):
        if one.usable is None:
            continue
        system = fold(one.system)
        items[system][number if one.sample_id is None else one.sample_id].append(one.usable)
        place = (system, _sentence(one, known_by))
        if place not in texts:
            continue
        if one.output is not None and match_key(one.output) != match_key(texts[place]):
            other += 1
        else:
            here[place].append(one.usable)
    name = f"human {aspect.replace('_', ' ')}"
    return HumanAspect(
        study=study,
        aspect=aspect,
        scale=scale,
        title=f"{name} ({study})" if several else name,
        means={s: float(np.mean([np.mean(v) for v in by.values()])) for s, by in items.items()},
        sentences={place: float(np.mean(scores)) for place, scores in here.items()},
        other_texts=other,
    )
