"""Raters' pseudonyms: judgments are published, the raters' names are not."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection

from ...errors import InputError


def pseudonyms(names: Collection[str], salt: str) -> dict[str, str]:
    """``rater-1`` to ``rater-n`` in the order of the names' keyed hashes.

    The same names and salt give the same pseudonyms. Without the salt, which is never exported,
    neither the order of invitation nor a list of likely names reveals who is who.

    Args:
        names: unique names of the raters.
        salt: secret; at least 16 characters.

    Raises:
        InputError: a name is repeated or empty, or the salt is too short.
    """
    if len(set(names)) != len(names):
        raise InputError(f"a rater is listed twice: {', '.join(sorted(names))}")
    if not all(name.strip() for name in names):
        raise InputError("a rater's name is empty")
    if len(salt) < 16:
        raise InputError("the salt for pseudonyms needs at least 16 characters")

    def digest(name: str) -> str:
        return hmac.new(salt.encode(), name.encode(), hashlib.sha256).hexdigest()

    return {name: f"rater-{i}" for i, name in enumerate(sorted(names, key=digest), start=1)}
