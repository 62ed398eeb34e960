"""The ground distance between styles: a name, or a file of the user's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import InputError, MissingFileError
from ...files import read_text

if TYPE_CHECKING:
    import numpy as np

NAMES = ("uniform", "ordinal")


@dataclass(frozen=True)
class Ground:
    """A ground distance, before it is known which styles a classifier tells apart.

    Attributes:
        name: for the signature: ``uniform``, ``ordinal``, or ``file:`` and a hash of what it says.
        styles: of a file, in the order of its rows; empty for a named distance.
        distances: of a file: one row for each style.
    """

    name: str
    styles: tuple[str, ...] = ()
    distances: tuple[tuple[float, ...], ...] = ()

    def matrix(self, styles: Sequence[str]) -> np.ndarray:
        """Distances in the order of a classifier's styles: shape (S, S).

        Raises:
            InputError: a file that is about other styles.
        """
        import numpy as np

        from ..sti.sti import ordinal_distances, uniform_distances

        if self.name == "uniform":
            return uniform_distances(len(styles))
        if self.name == "ordinal":
            return ordinal_distances(len(styles))
        if set(styles) != set(self.styles):
            raise InputError(
                f"sti.ground: the file has distances between {', '.join(self.styles)}; the "
                f"classifier's styles are {', '.join(styles)}"
            )
        order = [self.styles.index(style) for style in styles]
        return np.array(self.distances, dtype=np.float64)[np.ix_(order, order)]


def read_ground(spec: str) -> Ground:
    """The ground distance of that name, or in that file.

    Args:
        spec: ``uniform`` (1 between any two styles), ``ordinal`` (the difference of their ranks in
            the classifier's order), or a JSON file: ``{"styles": ["rude", "plain", "polite"],
            "distances": [[0, 1, 3], [1, 0, 2], [3, 2, 0]]}``.

    Raises:
        MissingFileError: neither a name nor a file.
        InputError: the file does not hold a distance between its styles.
    """
    if spec in NAMES:
        return Ground(spec)
    path = Path(spec).expanduser()
    if not path.is_file():
        raise MissingFileError(
            f"sti.ground is {spec!r}: it is neither {' nor '.join(NAMES)}, and there is no such file"
        )
    try:
        content = json.loads(read_text(path))
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"sti.ground: {path} is not JSON: {error}") from error
    ground = _checked(path, content)
    said = json.dumps(dict(zip(ground.styles, ground.distances, strict=True)), sort_keys=False)
    return Ground(
        f"file:{hashlib.sha256(said.encode()).hexdigest()[:12]}", ground.styles, ground.distances
    )


def _checked(path: Path, content: object) -> Ground:
    from ..sti.sti import check_distances

    if not isinstance(content, dict) or set(content) != {"styles", "distances"}:
        raise InputError(f"sti.ground: {path} must be a table of 'styles' and 'distances'")
    styles, rows = content["styles"], content["distances"]
    if not isinstance(styles, list) or not all(isinstance(s, str) and s for s in styles):
        raise InputError(f"sti.ground: in {path}, 'styles' must be a list of names")
    if len(styles) < 2 or len(set(styles)) < len(styles):
        raise InputError(f"sti.ground: {path} needs two or more different styles, got {styles}")
    if not isinstance(rows, list) or len(rows) != len(styles):
        raise InputError(f"sti.ground: {path} needs one row of distances for each style")
    for style, row in zip(styles, rows, strict=True):
        numbers = isinstance(row, list) and all(type(x) in (int, float) for x in row)
        if not numbers or len(row) != len(styles):
            raise InputError(
                f"sti.ground: in {path}, the row of {style} is not {len(styles)} numbers"
            )
    try:
        import numpy as np

        distances = tuple(tuple(float(x) for x in row) for row in rows)
        check_distances(np.array(distances), len(styles))
    except (InputError, OverflowError) as error:
        raise InputError(f"sti.ground: {path}: {error}") from error
    return Ground("file", tuple(styles), distances)
