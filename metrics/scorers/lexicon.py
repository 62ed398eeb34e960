"""Style lexicons: n-grams that mark a style, and the sentences without them.

Source: Mir, Felbo, Obradovich and Rahwan (2019), sections 4.1 and 4.3. A rewrite must change such
words, so a content metric can look away from them: masked, each becomes ``<customstyle>``; removed,
it is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from ...errors import InputError, unknown_name
from ...files import read_text, write_json
from .words import words

LEXICON_FILE = "lexicon.json"
MASK = "<customstyle>"

Masking = Literal["none", "removed", "masked"]


class StyleLexicon:
    """The style n-grams of a corpus.

    Args:
        styles: S names.
        weights: n-gram, its words joined by a space, to one weight per style, (S,): positive where
            the n-gram marks the style, negative where it speaks against it.
        name: for signatures.
        digest: SHA-256 hex of its file.
    """

    def __init__(
        self,
        styles: Sequence[str],
        weights: Mapping[str, Sequence[float]],
        name: str = "lexicon",
        digest: str = "",
    ) -> None:
        self.styles = tuple(styles)
        self.weights = {ngram: tuple(row) for ngram, row in weights.items()}
        self.name = name
        self.hash = digest
        self._longest = max((ngram.count(" ") + 1 for ngram in self.weights), default=0)
        self._marked: dict[str, tuple[bool, ...]] = {}

    def __len__(self) -> int:
        return len(self.weights)

    def style_words(self, sentences: Sequence[str]) -> list[tuple[bool, ...]]:
        """Which tokens are style words.

        Args:
            sentences: N sentences, tokens separated by spaces.

        Returns:
            For each sentence a truth value per token: whether an n-gram of the lexicon covers it.
        """
        for sentence in sentences:
            if sentence not in self._marked:
                self._marked[sentence] = self._mark(sentence.split())
        return [self._marked[sentence] for sentence in sentences]

    def apply(self, sentences: Sequence[str], masking: Masking) -> list[list[str]]:
        """The tokens of sentences with their style words masked or removed, or as they are.

        >>> lexicon = StyleLexicon(("bad", "good"), {"great": (-2.0, 2.0)})
        >>> lexicon.apply(["great soup ."], "masked"), lexicon.apply(["great soup ."], "removed")
        ([['<customstyle>', 'soup', '.']], [['soup', '.']])
        """
        if masking not in get_args(Masking):
            raise unknown_name("masking of style words", masking, get_args(Masking))
        if masking == "none":
            return [sentence.split() for sentence in sentences]
        found = []
        for sentence, marks in zip(sentences, self.style_words(sentences), strict=True):
            pairs = zip(sentence.split(), marks, strict=True)
            if masking == "removed":
                found.append([token for token, style in pairs if not style])
            else:
                found.append([MASK if style else token for token, style in pairs])
        return found

    def _mark(self, tokens: list[str]) -> tuple[bool, ...]:
        tokens = [token.lower() for token in tokens]
        marks = [False] * len(tokens)
        for n in range(1, self._longest + 1):
            for start in range(len(tokens) - n + 1):
                if " ".join(tokens[start : start + n]) in self.weights:
                    marks[start : start + n] = [True] * n
        return tuple(marks)

    def save(self, folder: Path) -> None:
        """Write ``lexicon.json``: the strongest n-grams first."""
        strength = {ngram: max(map(abs, row)) for ngram, row in self.weights.items()}
        ordered = sorted(self.weights, key=lambda ngram: (-strength[ngram], ngram))
        content = {"styles": self.styles, "ngrams": {n: self.weights[n] for n in ordered}}
        write_json(folder / LEXICON_FILE, content)


def read_lexicon(file: Path, name: str = "lexicon", digest: str = "") -> StyleLexicon:
    """A lexicon's JSON file: ours, or that of Mir et al.

    Ours is ``{"styles": [s, ...], "ngrams": {ngram: [weight per style, ...]}}``. Theirs is
    ``{"binary sentiment": [[word, weight], ...]}``, positive weights for the positive style; its
    entries are split as our sentences are (``top-notch`` has three words here).

    Raises:
        MissingFileError: no such file.
        InputError: it is no JSON, or something else; the message says which entry.
    """
    try:
        content = json.loads(read_text(file))
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{file} is not valid JSON: {error}") from error
    if isinstance(content, dict) and content.keys() == {"styles", "ngrams"}:
        styles, rows = content["styles"], content["ngrams"]
        if not (isinstance(styles, list) and all(isinstance(s, str) for s in styles)):
            raise InputError(f"{file}: styles must be a list of names, got {styles!r:.60}")
        if not isinstance(rows, dict):
            raise InputError(f"{file}: ngrams must be an object, n-gram to weights")
        entries = [(ngram, row) for ngram, row in rows.items()]
    elif (
        isinstance(content, dict)
        and len(content) == 1
        and isinstance(next(iter(content.values())), list)
    ):
        styles = ["negative", "positive"]
        entries = [_signed(file, entry) for entry in next(iter(content.values()))]
    else:
        raise InputError(
            f'{file} is no style lexicon: {{"styles": [...], "ngrams": {{"word": [weight per '
            'style]}}} or the released {"name": [["word", weight], ...]} is needed'
        )
    weights = {}
    for ngram, row in entries:
        fine = isinstance(row, list) and all(map(_is_number, row)) and len(row) == len(styles)
        if not fine:
            raise InputError(
                f"{file}, entry {ngram!r}: {len(styles)} numbers needed, got {row!r:.60}"
            )
        if key := " ".join(words(ngram)):
            weights[key] = tuple(float(weight) for weight in row)
    if not weights:
        raise InputError(f"{file} has no style words")
    return StyleLexicon(styles, weights, name, digest)


def _signed(file: Path, entry: Any) -> tuple[str, list[float]]:
    """One entry of the released file."""
    if (
        isinstance(entry, list)
        and len(entry) == 2
        and isinstance(entry[0], str)
        and _is_number(entry[1])
    ):
        return entry[0], [-entry[1], entry[1]]
    raise InputError(f"{file}, entry {entry!r:.60}: a word and its weight are needed")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e30
