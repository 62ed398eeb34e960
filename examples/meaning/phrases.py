"""What rewrites add or say otherwise without changing what is said: read from ``phrases.txt``."""

from __future__ import annotations

from pathlib import Path

from tstbench.files import read_lines


def _sections() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    entries: list[str] = []
    for line in read_lines(Path(__file__).parent / "phrases.txt"):
        if line.startswith("["):
            entries = found.setdefault(line.strip("[]"), [])
        elif not line.startswith("#"):
            entries += [entry.strip() for entry in line.split(" | ")]
    return {name: tuple(some) for name, some in found.items()}


_FOUND = _sections()
OPENINGS = _FOUND["openings"]  # {} stands for a word of the sentence
ENDINGS = _FOUND["endings"]
BEFORE_NAMES = _FOUND["before_names"]
BEFORE_VERBS = _FOUND["before_verbs"]
INSULTS = _FOUND["insults"]
PERSONS = _FOUND["persons"]
NUMBERS = _FOUND["numbers"]
STOP = frozenset(_FOUND["stop"])
PREPOSITIONS = frozenset(_FOUND["prepositions"])
SHORTER: dict[str, str] = {}
for _entry in _FOUND["shorter"]:
    _long, _short = _entry.split(" = ")
    SHORTER[_long] = _short
OTHERWISE: dict[str, tuple[str, ...]] = {}
for _entry in _FOUND["otherwise"]:
    _word, _others = _entry.split(" = ")
    OTHERWISE[_word] = tuple(_others.split(", "))
