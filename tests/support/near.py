"""Recorded numbers, which another processor rounds in another way."""

import re

import numpy as np
from syrupy.extensions.amber import AmberSnapshotExtension

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]\d+)?")


class Near(AmberSnapshotExtension):
    """A snapshot whose numbers may differ by one per cent, or by one in the third decimal place.

    >>> Near().matches(serialized_data="loss 4.656", snapshot_data="loss 4.657")
    True
    >>> Near().matches(serialized_data="loss 0.050", snapshot_data="loss 0.053")
    False
    """

    def matches(self, *, serialized_data: str, snapshot_data: str) -> bool:
        one, other = (np.array(_NUMBER.findall(s), float) for s in (serialized_data, snapshot_data))
        same = _NUMBER.sub("", serialized_data) == _NUMBER.sub("", snapshot_data)
        return same and bool(np.allclose(one, other, rtol=0.01, atol=1.1e-3))
