"""What a person would notice about a file of outputs that is not what it should be.

Such a file has the right number of lines and gets scores, but they mean nothing: another column,
another order, another test set, the copy of another system. Nothing here changes a score, and
nothing is certain: the command line says it, the leaderboard asks before it takes the file.

The limits, beside what was measured on all released outputs that TSTBench knows (26 files, six
directions; people's rewrites, which are the first reference, are exempt as bounds):

===============================================  ============  =========================
share of the outputs, or ratio                    limit         measured, the worst
===============================================  ============  =========================
empty                                             5 %           1.2 % (ChatGPT, Shakespeare)
the most frequent output                          40 %          20 % (Retrieval, Yelp)
different outputs                                 below 40 %    71 % (Retrieval, Yelp)
equal to the source                               75 %          58 % (Style-Embedding, Yelp)
equal to a reference                              50 %          18 % (ChatGPT-FS, future tense)
similarity to the own source / to unrelated ones  below 3       9.3 (Retrieval, Yelp)
nearer to another source                          20 %          7 % (ChatGPT, Shakespeare)
gain of a run that is 1 to 3 lines early or late  4             2.6 (the same: lines 646 to 650)
words known from the test set / expected ones     below 0.5     0.82 (Retrieval, Yelp)
tabs, JSON, quotation marks, line numbers         20 %          1.7 % (ChatGPT, Shakespeare)
entities, tags, special tokens, chat phrases      2 %           0
===============================================  ============  =========================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from ..datasets_scripts.cleaning import is_blank, match_key
from ..datasets_scripts.known import language_of
from ..datasets_scripts.languages import language
from ..datasets_scripts.load import TestSet, load_test_set
from ..errors import TSTBenchError
from .line_order import LineOrder, words
from .suspicious_form import form_faults, quote

_EMPTY = 0.05
_SAME = 0.4
_COPIES = 0.75
_REFERENCES = 0.5
_MISPLACED = 0.2
_SORTED = 0.95  # neighbours in alphabetical order
_FOREIGN = 0.5
_FEWEST = 20  # lines below which a share says little
_SHOWN = 3  # line numbers in a message


@dataclass(frozen=True)
class Suspicion:
    """One thing that looks wrong."""

    what: str
    where: str
    what_to_do: str

    def __str__(self) -> str:
        return f"{self.what} ({self.where}): {self.what_to_do}"


@dataclass(frozen=True)
class _Texts:
    """Outputs beside their test set."""

    outputs: Sequence[str]
    test_set: TestSet

    def __len__(self) -> int:
        return len(self.outputs)

    @cached_property
    def keys(self) -> list[str]:
        """The outputs without case and spaces."""
        return [match_key(text) for text in self.outputs]

    @cached_property
    def _characters(self) -> bool:
        """Whether the language has no spaces between words."""
        code = language_of(self.test_set.direction)
        return language(code).cleaning == "unspaced-v1"

    def split(self, text: str) -> list[str]:
        """The words of a text; its characters if nothing separates its words."""
        return [*"".join(words(text))] if self._characters else words(text)

    def beside(self, sources: Sequence[str]) -> LineOrder:
        """The outputs beside these sources."""
        return LineOrder(self.outputs, sources, characters=self._characters)

    @property
    def should_be_related(self) -> bool:
        """Whether people's rewrites share words with the sources; without any, they should."""
        first = [some[0] if some else "" for some in self.test_set.references]
        if not any(first):
            return True
        people = LineOrder(first, self.test_set.sources, characters=self._characters)
        return people.likeness().is_related

    def belong_to(self, direction: str) -> bool:
        """Whether the outputs are rewrites of another direction's sources."""
        try:
            other = load_test_set(direction)
        except TSTBenchError:  # no such direction, or its files are not here
            return False
        return len(other) == len(self) and self.beside(other.sources).likeness().is_related


def find_suspicions(
    outputs: Sequence[str], test_set: TestSet, *, bound: bool = False
) -> list[Suspicion]:
    """What looks wrong with outputs that are aligned with a test set.

    Args:
        outputs: N texts.
        test_set: N sentences.
        bound: people's rewrites, copies or random sentences: only the form of the lines is
            checked, as they are what would be suspicious elsewhere.
    """
    texts = _Texts(tuple(outputs), test_set)
    found = [
        Suspicion(
            f"{_share(fault.lines, texts)} {fault.what}", _where(fault.lines, texts), fault.do
        )
        for fault in form_faults(texts.outputs, test_set)
    ]
    if len(texts) >= _FEWEST and not bound:
        for check in (_empty, _copies, _references):
            found += check(texts)
        # Each of these explains the next one away.
        found += next(
            filter(None, (list(check(texts)) for check in (_repeated, _foreign, _order))), []
        )
    return found


def same_outputs(sha256: str, others: Mapping[str, str]) -> list[Suspicion]:
    """Whether other systems have the same outputs.

    Args:
        sha256: of the outputs, see :func:`.report.predictions_sha256`.
        others: the same of the others, by the name of the system.
    """
    same = [name for name, other in others.items() if other == sha256]
    if not same:
        return []
    named = ", ".join(same[:3]) + (f" and {len(same) - 3} more" if len(same) > 3 else "")
    return [
        Suspicion(
            f"every output is that of {named}",
            "all lines",
            "check that it is the right file; the same outputs need no second name",
        )
    ]


def _empty(texts: _Texts) -> Iterator[Suspicion]:
    lines = [n for n, text in enumerate(texts.outputs) if is_blank(text)]
    if len(lines) >= _EMPTY * len(texts):
        what_to_do = "check that the system finished; an empty output counts as a miss"
        unseen = any(texts.keys[n] for n in lines)
        what = "are empty, or have only invisible characters" if unseen else "are empty"
        yield Suspicion(f"{_share(lines, texts)} {what}", _where(lines, texts), what_to_do)


def _repeated(texts: _Texts) -> Iterator[Suspicion]:
    count = Counter(key for key in texts.keys if not is_blank(key))
    if not count:
        return  # all are empty, which is said already
    most = max(count, key=count.__getitem__)
    lines = [n for n, key in enumerate(texts.keys) if key == most]
    what_to_do = "check that the system saw each source"
    if len(lines) >= _SAME * len(texts):
        quoted = quote(texts.outputs[lines[0]])
        what = f"{_share(lines, texts)} are the same, {quoted}"
        yield Suspicion(what, _where(lines, texts), what_to_do)
    elif len(count) < _SAME * len(texts):
        what = f"only {len(count)} of {len(texts)} outputs are different"
        yield Suspicion(what, "all lines", what_to_do)


def _copies(texts: _Texts) -> Iterator[Suspicion]:
    sources = map(match_key, texts.test_set.sources)
    lines = [
        n for n, pair in enumerate(zip(texts.keys, sources, strict=True)) if pair[0] == pair[1]
    ]
    if len(lines) >= _COPIES * len(texts):
        yield Suspicion(
            f"{_share(lines, texts)} are the source itself",
            _where(lines, texts),
            "check that these are the rewrites, not the input; the baseline 'copy' does the same",
        )


def _references(texts: _Texts) -> Iterator[Suspicion]:
    references = [set(map(match_key, some)) for some in texts.test_set.references]
    lines = [n for n, key in enumerate(texts.keys) if key and key in references[n]]
    if len(lines) >= _REFERENCES * len(texts):
        yield Suspicion(
            f"{_share(lines, texts)} are a human reference, word for word",
            _where(lines, texts),
            "check that these are the system's rewrites, and that it was not trained on the test "
            "set; the bound 'reference-1' shows what people reach",
        )


def _foreign(texts: _Texts) -> Iterator[Suspicion]:
    """Whether most words are unknown to the test set, as in a text of another language.

    One half of the sources shows how many of its words to expect in a text of the same language: of
    the released outputs, the worst has 82 % of that share.
    """
    sources = [texts.split(source) for source in texts.test_set.sources]
    known = {word for some in sources[::2] for word in some}
    usual = [word in known for some in sources[1::2] for word in some]
    seen = [word in known for output in texts.outputs for word in texts.split(output)]
    if not usual or not seen:
        return
    share = sum(seen) / len(seen)
    if share < _FOREIGN * sum(usual) / len(usual):
        code = language_of(texts.test_set.direction)
        yield Suspicion(
            f"only {share:.0%} of the words in the outputs are in the test set's vocabulary",
            "all lines",
            f"check that the outputs are in the language of the test set ({code}), as plain text",
        )


def _order(texts: _Texts) -> Iterator[Suspicion]:
    """Whether the outputs stand in another order than the sources, or belong to others."""
    order = texts.beside(texts.test_set.sources)
    like = order.likeness()
    shift = order.shift(like.chance)
    misplaced = like.lines[like.misplaced].tolist()
    what_to_do = (
        "write the outputs in the order of the sources, or give each its id (JSON Lines or CSV)"
    )
    if shift is not None:
        lines = "line" if abs(shift.by) == 1 else "lines"
        where = f"from line {shift.first + 1} to line {shift.last + 1}"
        side = "early" if shift.by > 0 else "late"
        yield Suspicion(f"the outputs are {abs(shift.by)} {lines} too {side}", where, what_to_do)
    elif like.is_reversed:
        yield Suspicion("the outputs are in reverse order", "all lines", what_to_do)
    elif like.is_related:
        if len(misplaced) >= _MISPLACED * len(like.lines):
            what = f"{_share(misplaced, texts)} are nearer to the source of another line"
            yield Suspicion(what, _where(misplaced, texts), what_to_do)
    elif texts.should_be_related:
        yield _unrelated(texts, misplaced, what_to_do)


def _unrelated(texts: _Texts, misplaced: list[int], what_to_do: str) -> Suspicion:
    """What explains outputs that have no more to do with their sources than any lines have."""
    if _is_sorted(texts.outputs):
        return Suspicion("the outputs are sorted by the alphabet", "all lines", what_to_do)
    direction = texts.test_set.direction
    back = f"{direction.dataset}/{direction.target_style}-to-{direction.source_style}"
    if texts.belong_to(back):
        what_to_do = f"score them with --direction {back}, or give the outputs of {direction}"
        what = f"the outputs are rewrites of the sources of {back}"
        return Suspicion(what, "all lines", what_to_do)
    if len(misplaced) >= _MISPLACED * len(texts):
        what = "the outputs are in another order than the sources"
        return Suspicion(what, _where(misplaced, texts), what_to_do)
    return Suspicion(
        "the outputs have no more words in common with their own sources than with any others",
        "all lines",
        "check that they are rewrites of this test set, in its order",
    )


def _is_sorted(outputs: Sequence[str]) -> bool:
    """Whether a tool sorted the lines: by bytes, or as a dictionary does."""
    for key in (str, str.casefold, lambda text: "".join(words(text))):
        steps = [(a < b) for a, b in pairwise(map(key, outputs)) if a != b]
        in_order = max(steps.count(True), steps.count(False))
        if in_order >= max(_SORTED * len(steps), len(outputs) / 2):
            return True
    return False


def _share(lines: Sequence[int], texts: _Texts) -> str:
    return f"{len(lines)} of {len(texts)} outputs"


def _where(lines: Sequence[int], texts: _Texts) -> str:
    """The first lines, by their numbers in a file that is in the order of the sources."""
    if len(lines) == len(texts):
        return "all lines"
    shown = ", ".join(str(line + 1) for line in lines[:_SHOWN])
    more = f" and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    return f"line{'s' * (len(lines) > 1)} {shown}{more}"
