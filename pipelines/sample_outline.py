"""What must agree between ``samples.jsonl`` and its report, without making every sentence.

A leaderboard checks the sentences of hundreds of systems before it opens. Our own files have one
form, so one pattern tells whether a line is a valid sample; any other file is read in full.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from .report import predictions_sha256
from .report_files import parse_samples

# As json.dumps writes them; what else JSON allows is left to the full reader.
_TEXT = rb'"(?:[^"\\\x00-\x1f]++|\\["\\bfnrt])*+"'
_NUMBER = rb"(?:null|-?(?:0|[1-9][0-9]{0,15})(?:\.[0-9]++)?(?:e[+-]?[0-9]{1,2})?)"
_LINE = (
    rb'\{"id": (%(text)s), "source": %(text)s, "references": \[(?:%(text)s(?:, %(text)s)*+)?+\], '
    rb'"prediction": (%(text)s), "scores": \{' % {b"text": _TEXT}
)
_FIRST = re.compile(_LINE + rb"((?:%(text)s: %(number)s(?:, )?)*+)\}\}\n" % {
    b"text": _TEXT, b"number": _NUMBER
})  # fmt: skip


@dataclass(frozen=True)
class Outline:
    """What a report must agree with.

    Attributes:
        outputs_sha256: of the predictions, see :func:`.report.predictions_sha256`.
        keys: of the scores of all sentences.
    """

    outputs_sha256: str
    keys: frozenset[str]


def outline(content: bytes, path: Path) -> Outline:
    """The outline of a file of samples.

    Args:
        content: of the file.
        path: for an error, which names the line.

    Raises:
        InputError: a line is not a sample, or two have the same id.
    """
    found = _quickly(content)
    if found is not None:
        return found
    samples = parse_samples(content, path)
    keys = frozenset(key for sample in samples for key in sample.scores)
    return Outline(predictions_sha256([sample.prediction for sample in samples]), keys)


def _quickly(content: bytes) -> Outline | None:
    """The outline of a file as :func:`.report_files.samples_content` writes it; else ``None``."""
    first = _FIRST.match(content)
    if first is None:
        return None
    try:
        content.decode("utf-8")
        pairs: list[tuple[str, object]] = json.loads(
            b"{%s}" % first.group(3), object_pairs_hook=lambda pairs: pairs
        )
    except ValueError:
        return None
    keys = tuple(key for key, _ in pairs)
    if len(set(keys)) < len(keys):
        return None
    match, place = _line(keys).match, 0
    ids: set[bytes] = set()
    digest = hashlib.sha256()
    count = 0
    while place < len(content):
        line = match(content, place)
        if line is None:
            return None
        place = line.end()
        id_, prediction = line.groups()
        ids.add(id_)
        digest.update(prediction + b"\n")  # the very bytes that predictions_sha256 makes
        count += 1
    return Outline(digest.hexdigest(), frozenset(keys)) if len(ids) == count else None


@lru_cache(maxsize=64)
def _line(keys: tuple[str, ...]) -> re.Pattern[bytes]:
    """A line with the scores of these keys, in this order."""
    scores = b", ".join(
        re.escape(json.dumps(key, ensure_ascii=False).encode()) + b": " + _NUMBER for key in keys
    )
    return re.compile(_LINE + scores + rb"\}\}\n")
