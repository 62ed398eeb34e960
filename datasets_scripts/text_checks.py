"""What a person would notice about a file of rewrites: the form of its lines, and their order.

The rewrites are a system's outputs, or people's references. Their form: other columns, JSON,
markup, the phrases of chat models. Their order: a rewrite keeps most of the words that carry the
content, so it is nearer to its own source than to the others, by the cosine of word counts in which
rare words weigh more. Neither a model nor a reference is needed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:  # NumPy and SciPy: only checks of whole files wait for them
    import numpy as np
    from scipy.sparse import csr_array

_MOST = 0.2  # of the lines: the form of the file is another
_SOME = 0.02  # what a clean-up forgot
_QUOTED = 40  # characters of a line in a message

_WORD = re.compile(r"\w+")
_MOST_ROWS = 1000  # texts that are compared with all sources; of more, evenly spaced ones
_BLOCK = 1 << 22  # similarities held in memory at a time

_RELATED = 3.0  # times the similarity of unrelated lines: see `pipelines/output_checks.py`
_UNRELATED = 1.5  # the same, of lines that share a language (a chance of 0.02 to 0.07) and no more
_LEAST_CHANCE = 0.015
_NEAR = 0.5  # cosine from which another source counts as the one that was rewritten
_SHIFTS = (1, 2, 3, -1, -2, -3)
_SHIFT_GAIN = 4.0  # sum over a run of lines of what they are nearer to their shifted sources
_MIRRORED = 0.2  # share of the lines
_MISPLACED = 0.2
_SORTED = 0.95  # neighbours in alphabetical order
_SHOWN = 3  # line numbers in a message

_HEADER = re.compile(
    r"(?:id|index|source|input)?[\t,;]?"
    r"(?:prediction|output|rewrite|target|generated|hypothesis|text|sentence|reference|source)s?"
    r"(?:[ _-]?\d)?",
    re.IGNORECASE,
)
# What programs write for a text that is missing, and for bytes that nobody decoded.
_LEFTOVER = re.compile(r"(?i:nan)|None|null|NULL|<NA>|b'.*'|b\".*\"")


@dataclass(frozen=True)
class Suspicion:
    """One thing that looks wrong; only ``what_to_do`` may quote a text."""

    what: str
    where: str
    what_to_do: str

    @property
    def short(self) -> str:
        """What a report and a table say: no quotation, and no advice."""
        return f"{self.what} ({self.where})"

    def __str__(self) -> str:
        return f"{self.short}: {self.what_to_do}"


@dataclass(frozen=True)
class Likeness:
    """How similar outputs are to their own sources and to the others, by cosine.

    Attributes:
        lines: (M,) indices of the compared outputs, ascending.
        own: (M,) similarity to the output's own source.
        best: (M,) the highest similarity to another source.
        place: (M,) the index of that source.
        chance: mean similarity to all other sources: that of unrelated lines.
    """

    lines: np.ndarray
    own: np.ndarray
    best: np.ndarray
    place: np.ndarray
    chance: float

    @property
    def is_related(self) -> bool:
        """Whether the outputs are clearly nearer to their own sources than unrelated lines are."""
        return float(self.own.mean()) >= _RELATED * self.chance

    @property
    def is_unrelated(self) -> bool:
        """Whether they are in one language, and no nearer than unrelated lines are."""
        return self.chance >= _LEAST_CHANCE and self.own.mean() < _UNRELATED * self.chance

    @property
    def is_misplaced(self) -> bool:
        """Whether many of the outputs are :attr:`misplaced`."""
        return float(self.misplaced.mean()) >= _MISPLACED

    @property
    def misplaced(self) -> np.ndarray:
        """(M,) whether an output is near another source, and far from its own."""
        return (self.best >= _NEAR) & (self.own < self.best / 2)

    @property
    def is_reversed(self) -> bool:
        """Whether the last output belongs to the first source, and so on."""
        mirrored = self.misplaced & (self.place + self.lines == self.lines[-1])
        return float(mirrored.mean()) >= _MIRRORED


@dataclass(frozen=True)
class Rewrites:
    """N texts that should each rewrite the source on the same line.

    Attributes:
        texts, sources: as many of each.
        characters: compare pairs of characters, for languages without spaces between words.
        noun: what a message calls the texts.
        number: the line of a text in its file, from 1, by its index.
    """

    texts: Sequence[str]
    sources: Sequence[str]
    characters: bool = False
    noun: str = "outputs"
    number: Callable[[int], int] = lambda index: index + 1

    def suspicion(self, lines: Sequence[int], what: str, what_to_do: str) -> Suspicion:
        """``3 of 40 outputs are empty (lines 2, 5, 9)``, by the indices of the lines."""
        what = f"{len(lines)} of {len(self.texts)} {self.noun} {what}"
        return Suspicion(what, self._where(lines), what_to_do)

    def odd_forms(self, usual: Sequence[str], target_style: str) -> Iterator[Suspicion]:
        """The forms that more texts have than usual ones (sources, references) would explain."""
        texts = self.texts
        if texts and is_header(texts[0]):
            do = f"remove {quote(texts[0])}: all the lines below stand one line too late"
            yield self.suspicion([0], "look like a header", do)
        for form in (*_FORMS, _label(target_style)):
            lines = [n for n, text in enumerate(texts) if form.pattern.search(text)]
            if len(lines) < max(2, form.limit * len(texts)):
                continue
            expected = sum(form.pattern.search(text) is not None for text in usual) / len(usual)
            if len(lines) / len(texts) - expected >= form.limit / 2:
                yield self.suspicion(lines, form.what, form.do)

    def disorder(
        self,
        what_to_do: str,
        should_be_related: Callable[[Likeness], bool],
        others: Iterable[tuple[str, Sequence[str], str]],
    ) -> Suspicion | None:
        """Whether the texts stand in another order than the sources, or belong to others.

        Args:
            what_to_do: to put them in order.
            should_be_related: whether texts that are not near their sources are a fault.
            others: what else they could rewrite: its name, its sentences, and what to do then.
        """
        like = self.likeness()
        shift = self._shift(like.chance)
        misplaced = like.lines[like.misplaced].tolist()
        if shift is not None:
            first, last, by = shift
            lines, side = "line" if abs(by) == 1 else "lines", "early" if by > 0 else "late"
            what = f"the {self.noun} are {abs(by)} {lines} too {side}"
            where = f"from line {self.number(first)} to line {self.number(last)}"
            return Suspicion(what, where, what_to_do)
        if like.is_reversed:
            what = f"the {self.noun} are in reverse order"
        elif like.is_related:
            if not like.is_misplaced:
                return None
            what = "are nearer to the source of another line"
            return self.suspicion(misplaced, what, what_to_do)
        elif not should_be_related(like):
            return None
        elif _is_sorted(self.texts):
            what = f"the {self.noun} are sorted by the alphabet"
        elif other := next((one for one in others if self._rewrite(one[1])), None):
            name, _, what_to_do = other
            what = f"the {self.noun} are rewrites of {name}"
        elif like.is_misplaced:
            what = f"the {self.noun} are in another order than the sources"
            return Suspicion(what, self._where(misplaced), what_to_do)
        else:
            what = (
                f"the {self.noun} have no more words in common with their own sources than with "
                "any others"
            )
            what_to_do = "check that they are rewrites of these sentences, in their order"
        return Suspicion(what, "all lines", what_to_do)

    def likeness(self) -> Likeness:
        """Compare the texts, in a long file some of them, with all sources."""
        import numpy as np

        texts, sources = self._vectors
        count = sources.shape[0]
        lines = np.linspace(0, count - 1, min(count, _MOST_ROWS)).round().astype(int)
        own, best = np.empty(len(lines)), np.empty(len(lines))
        place = np.empty(len(lines), dtype=int)
        total = 0.0
        step = max(1, _BLOCK // count)
        for start in range(0, len(lines), step):
            rows = slice(start, start + step)
            block = (texts[lines[rows]] @ sources.T).toarray()
            total += block.sum()
            at = (np.arange(len(block)), lines[rows])
            own[rows] = block[at]
            block[at] = -1.0
            place[rows] = block.argmax(axis=1)
            best[rows] = block.max(axis=1)
        chance = (total - own.sum()) / max(1, len(lines) * (count - 1))
        return Likeness(lines, own, best, place, float(chance))

    def _where(self, lines: Sequence[int]) -> str:
        """The first of the lines, by number."""
        if len(lines) == len(self.texts):
            return "all lines"
        first = ", ".join(str(self.number(line)) for line in lines[:_SHOWN])
        more = f" and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
        return f"line{'s' * (len(lines) > 1)} {first}{more}"

    def _rewrite(self, sources: Sequence[str]) -> bool:
        """Whether the texts rewrite other sentences."""
        return replace(self, sources=sources).likeness().is_related

    def _shift(self, chance: float) -> tuple[int, int, int] | None:
        """The run of lines that are most clearly shifted by a few lines, if it is no accident.

        A run is where the sum of the differences, similarity to the shifted source less similarity
        to the own one, is largest: lines that share no words with either do not end it.

        Args:
            chance: the similarity of unrelated lines.

        Returns:
            The indices of its first and last line, and by how many lines their sources stand
            further down (negative: up).
        """
        import numpy as np

        texts, sources = self._vectors
        count = sources.shape[0]
        own = _similarities(texts, sources)
        found, most = None, _SHIFT_GAIN
        for by in (by for by in _SHIFTS if abs(by) < count):
            there = slice(max(0, -by), count - max(0, by))
            shifted = np.zeros(count)
            shifted[there] = _similarities(texts[there], sources[max(0, by) : count - max(0, -by)])
            sums = np.concatenate([[0.0], np.cumsum(shifted - own)])
            gains = sums - np.minimum.accumulate(sums)
            end = int(gains.argmax())
            first = int(sums[: end + 1].argmin())
            if gains[end] > most and shifted[first:end].mean() >= _RELATED * chance:
                found, most = (first, end - 1, by), float(gains[end])
        return found

    @cached_property
    def _vectors(self) -> tuple[csr_array, csr_array]:
        """The texts and the sources, a column for each word of a source, rows of unit length."""
        import numpy as np
        from scipy.sparse import csr_array

        split = split_by(self.characters)
        sources = [Counter(split(source)) for source in self.sources]
        spread = Counter(word for counts in sources for word in counts)
        columns = {word: number for number, word in enumerate(spread)}
        rarity = 1 + np.log((1 + len(sources)) / (1 + np.fromiter(spread.values(), float)))

        def rows(texts: Iterable[Counter[str]]) -> csr_array:
            known = [{w: n for w, n in text.items() if w in columns} for text in texts]
            row = np.repeat(np.arange(len(known)), list(map(len, known)))
            column = np.fromiter((columns[w] for counts in known for w in counts), int)
            counts = np.fromiter((n for counts in known for n in counts.values()), float)
            values = (1 + np.log(counts)) * rarity[column]
            lengths = np.sqrt(np.bincount(row, weights=values**2, minlength=len(known)))
            shape = (len(known), len(columns))
            return csr_array((values / lengths[row], (row, column)), shape=shape)

        return rows(Counter(split(text)) for text in self.texts), rows(sources)


def _is_sorted(texts: Sequence[str]) -> bool:
    """Whether a tool sorted the lines: by bytes, or as a dictionary does."""
    for key in (str, str.casefold, lambda text: "".join(words(text))):
        steps = [(a < b) for a, b in pairwise(map(key, texts)) if a != b]
        in_order = max(steps.count(True), steps.count(False))
        if in_order >= max(_SORTED * len(steps), len(texts) / 2):
            return True
    return False


def split_by(characters: bool) -> Callable[[str], list[str]]:
    """How texts are split to be compared: into words, or into characters and pairs of them."""
    return _pairs if characters else words


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _WORD.findall(text.lower())


def _pairs(text: str) -> list[str]:
    """The characters of a text and their neighbouring pairs."""
    letters = "".join(words(text))
    return [*letters, *(a + b for a, b in pairwise(letters))]


def _similarities(some: csr_array, others: csr_array) -> np.ndarray:
    """The similarity of each row to the same row of the others."""
    return (some * others).sum(axis=1)


# -- single lines ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Form:
    """A pattern that rewrites do not have, and the share of the lines from which it matters."""

    what: str
    pattern: re.Pattern[str]
    limit: float
    do: str


_FORMS = (
    _Form(
        "contain a tab",
        re.compile(r"\t"),
        _MOST,
        "keep only the column of the rewrites, or name the file .tsv and its column 'prediction'",
    ),
    _Form(
        "are JSON",
        re.compile(r"""^\s*(?:\{\s*["']\w+["']\s*:.*\}|\[\s*["'].*["']\s*\]),?\s*\Z"""),
        _MOST,
        'name the file .jsonl, with {"prediction": "..."} on each line',
    ),
    _Form(
        "are in quotation marks",
        re.compile(
            r"""^\s*(?:".*"|'.*'|[\u201c\u201e].*[\u201c\u201d]|[\u2018\u201a].*[\u2018\u2019]"""
            r"""|\u300c.*\u300d|\u00ab.*\u00bb|\u00bb.*\u00ab|`.*`|\*\*.*\*\*),?\s*\Z"""
        ),
        _MOST,
        "remove the marks around the rewrites",
    ),
    _Form(
        "begin with a number",
        re.compile(r"^\s*\(?\d+[.):\]]\s"),
        _MOST,
        "remove the numbers of a list",
    ),
    _Form(
        "contain HTML or its entities",
        re.compile(
            r"&(?:amp|lt|gt|quot|apos|nbsp|#\d+|#x[0-9a-f]+);|</?(?:br|p|b|i|div|span)\s*/?>",
            re.IGNORECASE,
        ),
        _SOME,
        "write plain text: html.unescape turns &quot; into a quotation mark",
    ),
    _Form(
        "contain special tokens or pieces of words",
        re.compile(
            r"</?s>|<pad>|\[(?:PAD|CLS|SEP|MASK|EOS|BOS)\]|<\|\w+\|>"
            r"|\w@@ |(?:^| )##\w|[\u2581\u0120]"
        ),
        _SOME,
        "decode with skip_special_tokens=True, and join the pieces",
    ),
    _Form(
        "contain broken characters or '\\n'",
        re.compile(
            r"[\u0080-\u009f\ufeff\u200b\ufffd]|\u00c3[\u00a0-\u00bf]|\u00e2\u20ac"
            r"|\u00c2[\u00a0-\u00bf]|\\n"
        ),
        _SOME,
        "decode the file as UTF-8 and write it once",
    ),
    _Form(
        "write letters and their marks apart",
        re.compile(r"[\u0300-\u036f\u1100-\u11ff\u3099\u309a]"),
        _SOME,
        "write them as one, as models know them: unicodedata.normalize('NFC', text)",
    ),
    _Form(
        "have the phrases of a chat model around the rewrite",
        re.compile(
            r"^\s*(?:sure|certainly|of course|absolutely)\b[^.?]{0,60}(?:here|:)"
            r"|^\s*here(?:'s| is| are)\b[^.?]{0,80}:"
            r"|^\s*(?:output|answer|response|result|rewrite|rewritten|translation|paraphrase)"
            r"(?: (?:sentence|text|version))?\s*:"
            r"|\bas an ai\b|\b(?:ai|large) language model\b"
            r"|^\s*i(?:'m| am) (?:sorry|unable)[^.]{0,40}\b(?:assist|fulfil|rewrite|comply)"
            r"|^\s*i can(?:'t|not| not) (?:assist|fulfil|rewrite|comply)",
            re.IGNORECASE,
        ),
        _SOME,
        "keep only the rewrite itself",
    ),
)


def _label(target_style: str) -> _Form:
    """``Positive:`` before the rewrite, as in a prompt."""
    style = re.escape(target_style)
    pattern = rf"^\s*{style}(?: (?:sentence|text|version|style|rewrite))?\s*:"
    do = "keep only the rewrite itself"
    return _Form("begin with a label", re.compile(pattern, re.IGNORECASE), _SOME, do)


def check_no_records(lines: Sequence[str], where: str, key: str) -> None:
    """Check that the lines of a text file are not JSON objects, which letters would stand for.

    Raises:
        InputError: most of them are.
    """
    records = [n for n, line in enumerate(lines, start=1) if _is_record(line)]
    if len(records) > len(lines) / 2:
        raise InputError(
            f"{where}, line {records[0]}: JSON, which would be scored letter by letter: "
            f"{len(records)} of {len(lines)} lines are objects. Name the file .jsonl, with the "
            f"text under {key!r}, also if the texts are JSON themselves"
        )


def _is_record(line: str) -> bool:
    """Whether a line is a JSON object, as of JSON Lines."""
    if not line.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def is_leftover(text: str) -> bool:
    """Whether a program wrote this for a missing text, or for bytes.

    >>> is_leftover("NaN"), is_leftover("b'so good'"), is_leftover("none")
    (True, True, False)
    """
    return _LEFTOVER.fullmatch(text.strip()) is not None


def is_header(line: str) -> bool:
    """Whether a line is the head of a table, not a sentence.

    >>> is_header("id,prediction"), is_header("the output is good")
    (True, False)
    """
    return _HEADER.fullmatch(line.strip()) is not None


def quote(text: str) -> str:
    """The beginning of a line, in quotation marks."""
    text = text.strip()
    return repr(text if len(text) <= _QUOTED else f"{text[:_QUOTED]}...")
