"""Where sentences of the two styles are: t-SNE of sentence embeddings, if it separates the styles.

A map of sentences shows topics first. It teaches something about style only where sentences of one
style lie together, so that is measured on the map itself, and a map that fails is not shown.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import numpy as np

from ...errors import InputError
from ...files import home, keep_json
from ...pipelines.analysis.style_space import laid_out, separation

SEPARATED = 2 / 3  # of the sentences must lie among sentences of their own style; by chance 1/2
MOST_OF_A_GROUP = 150
_FEWEST = 50  # of each style; with fewer, ten neighbours are no neighbourhood
_RECIPE = "all-MiniLM-L6-v2, last layer, t-SNE, 1"  # to change with what a cached map depends on

Encode = Callable[[Sequence[str]], np.ndarray]
_ONE_AT_A_TIME = Lock()


@dataclass(frozen=True)
class StyleMap:
    """Positions (N, 2), the group and text of each point, and what the map shows of style.

    Attributes:
        separation: how far the sources and the human rewrites are apart on the map, see
            :func:`~...pipelines.analysis.style_space.separation`.
    """

    points: np.ndarray
    groups: tuple[str, ...]
    texts: tuple[str, ...]
    separation: float

    @property
    def separated(self) -> bool:
        """Whether the map is worth showing."""
        return self.separation >= SEPARATED


def style_map(
    sources: tuple[str, Sequence[str]],
    rewrites: tuple[str, Sequence[str]],
    outputs: tuple[str, Sequence[str]] | None = None,
    encode: Encode | None = None,
) -> StyleMap:
    """Lay out the sentences of both styles together, and a system's outputs with them.

    Source and rewrite of one sentence have the same content and would lie side by side, whatever
    their style is. So the sources are those of every other sentence, and the rewrites those of the
    sentences in between.

    A finished map is kept in ``$TSTBENCH_HOME/style-maps``.

    Args:
        sources: name of the group, and its sentences in the order of the test set.
        rewrites: the same of people's rewrites, one for each source.
        outputs: the same of a system; those of the sources on the map are shown.
        encode: from sentences to unit vectors (N, D); ``None`` for the embedded encoder.

    Raises:
        InputError: too few sentences for a map.
        MissingScorerError: the embedded encoder is not installed.
    """
    chosen = [(sources[0], sources[1][::2]), (rewrites[0], rewrites[1][1::2])]
    if outputs is not None:
        chosen.append((outputs[0], outputs[1][::2]))
    names: list[str] = []
    texts: list[str] = []
    for number, (name, sentences) in enumerate(chosen):
        own = [text for text in _evenly(sentences, MOST_OF_A_GROUP) if text.strip()]
        if number < 2 and len(set(own)) < _FEWEST:
            raise InputError(
                f"A map needs {_FEWEST} different sentences of each style, every other one of the "
                f"test set, but there are {len(set(own))}."
            )
        names += [name] * len(own)
        texts += own
    of_group = {sources[0]: 0, rewrites[0]: 1}
    styles = np.array([of_group.get(name, -1) for name in names])
    points = _kept(texts, lambda: laid_out((encode or _embedded)(texts)))
    apart = separation(points[styles >= 0], styles[styles >= 0])
    return StyleMap(points, tuple(names), tuple(texts), apart)


def _evenly(sentences: Sequence[str], most: int) -> Sequence[str]:
    return sentences[:: max(1, -(-len(sentences) // most))]


def _kept(texts: Sequence[str], make: Callable[[], np.ndarray]) -> np.ndarray:
    """The points that were made for these texts before, or new ones."""
    key = hashlib.sha256(json.dumps([_RECIPE, *texts]).encode()).hexdigest()
    path = home() / "style-maps" / f"{key[:32]}.json"
    with _ONE_AT_A_TIME:  # two readers of one map wait for one computation
        found = _read(path, len(texts))
        if found is None:
            found = make()
            keep_json(path, found.tolist())
        return found


def _read(path: Path, count: int) -> np.ndarray | None:
    try:
        found = np.array(json.loads(path.read_bytes()), dtype=float)
    except (OSError, ValueError, TypeError):
        return None  # none, or damaged: it is made again
    return found if found.shape == (count, 2) and np.isfinite(found).all() else None


def _embedded(texts: Sequence[str]) -> np.ndarray:
    from ...metrics.scorers.encoder import load_encoder  # torch takes seconds to import

    return load_encoder().sentence_vectors(texts)
