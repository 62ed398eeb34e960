"""What a person would notice about a file of outputs that is not what it should be.

Such a file has the right number of lines and gets scores, but they mean nothing: another column,
another order, another test set, the copy of another system. Nothing here changes a score, but for
:func:`own_reference`, and nothing is certain: the command line says it, the leaderboard asks before
it takes the file.

The limits, beside what was measured on all released outputs that TSTBench knows (26 files, six
directions; people's rewrites, which are the first reference, are exempt as bounds):

===============================================  ============  =========================
share of the outputs, or ratio                    limit         measured, the worst
===============================================  ============  =========================
empty                                             5 %           1.2 % (ChatGPT, Shakespeare)
5 times as long as the source, or longer          2 %           0.3 % (ChatGPT, future tense)
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
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ..console import say
from ..datasets_scripts.catalog import CORPORA, language_of
from ..datasets_scripts.cleaning import is_blank, match_key
from ..datasets_scripts.directions import Direction
from ..datasets_scripts.languages import language
from ..datasets_scripts.load import TestSet, load_test_set
from ..datasets_scripts.text_checks import Rewrites, Suspicion, quote, words
from ..errors import TSTBenchError
from .outputs import Outputs
from .report import Report, SystemInfo, is_bound_name, read_report
from .results import direction_folder, system_folder, system_folders

_EMPTY = 0.05
_LONG, _TIMES = 0.02, 5
_SAME = 0.4
_COPIES = 0.75
_REFERENCES = 0.5
_OWN = 0.95  # of the outputs that are one and the same reference: it is left out
_FOREIGN = 0.5
_FEWEST = 20  # lines below which a share says little
_ENOUGH = 50_000  # lines that are compared with all sources, which takes their words in memory


@dataclass(frozen=True)
class _Texts:
    """Outputs beside their test set."""

    outputs: Sequence[str]
    test_set: TestSet

    def __len__(self) -> int:
        return len(self.outputs)

    def first(self, most: int) -> _Texts:
        """The first of them, if there are more."""
        if len(self) <= most:
            return self
        rows = {
            name: getattr(self.test_set, name)[:most] for name in ("ids", "sources", "references")
        }
        return _Texts(self.outputs[:most], replace(self.test_set, **rows))

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

    @cached_property
    def rewrites(self) -> Rewrites:
        """The outputs beside their sources."""
        return Rewrites(self.outputs, self.test_set.sources, characters=self._characters)

    def should_be_related(self) -> bool:
        """Whether people's rewrites share words with the sources; without any, they should."""
        first = [some[0] if some else "" for some in self.test_set.references]
        if not any(first):
            return True
        people = Rewrites(first, self.test_set.sources, characters=self._characters)
        return people.likeness().is_related

    def others(self) -> Iterator[tuple[str, Sequence[str], str]]:
        """The sources of the opposite direction."""
        direction = self.test_set.direction
        back = f"{direction.dataset}/{direction.target_style}-to-{direction.source_style}"
        with suppress(TSTBenchError):  # no such direction, or its files are not here
            other = load_test_set(back)
            if len(other) == len(self):
                do = f"score them as outputs of {back}, or give those of {direction}"
                yield f"the sources of {back}", other.sources, do


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
    usual = [*test_set.sources, *(text for some in test_set.references for text in some)]
    found = list(texts.rewrites.odd_forms(usual, test_set.direction.target_style))
    if len(texts) >= _FEWEST and not bound:
        for check in (_empty, _long, _copies, _references):
            found += check(texts)
        # Each of these explains the next one away.
        first = texts.first(_ENOUGH)
        found += list(_repeated(texts)) or list(_foreign(first)) or list(_order(first))
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
        yield texts.rewrites.suspicion(lines, what, what_to_do)


def _long(texts: _Texts) -> Iterator[Suspicion]:
    """A loop of the same words has a low perplexity, and that alone would look like fluency."""
    pairs = zip(texts.outputs, texts.test_set.sources, strict=True)
    lines = [
        n
        for n, (text, source) in enumerate(pairs)
        if len(texts.split(text)) >= _TIMES * max(1, len(texts.split(source)))
    ]
    if len(lines) >= _LONG * len(texts):
        yield texts.rewrites.suspicion(
            lines,
            f"are {_TIMES} times as long as their source, or longer",
            "check for repetition that did not stop; PPL prefers it",
        )


def _repeated(texts: _Texts) -> Iterator[Suspicion]:
    count = Counter(key for key in texts.keys if not is_blank(key))
    if not count:
        return  # all are empty, which is said already
    most = max(count, key=count.__getitem__)
    lines = [n for n, key in enumerate(texts.keys) if key == most]
    what_to_do = "check that the system saw each source"
    if len(lines) >= _SAME * len(texts):
        quoted = f"all of these are {quote(texts.outputs[lines[0]])}"
        yield texts.rewrites.suspicion(lines, "are the same", f"{quoted}: {what_to_do}")
    elif len(count) < _SAME * len(texts):
        what = f"only {len(count)} of {len(texts)} outputs are different"
        yield Suspicion(what, "all lines", what_to_do)


def _copies(texts: _Texts) -> Iterator[Suspicion]:
    sources = map(match_key, texts.test_set.sources)
    lines = [
        n for n, pair in enumerate(zip(texts.keys, sources, strict=True)) if pair[0] == pair[1]
    ]
    if len(lines) >= _COPIES * len(texts):
        yield texts.rewrites.suspicion(
            lines,
            "are the source itself",
            "check that these are the rewrites, not the input; the baseline 'copy' does the same",
        )


def own_reference(outputs: Sequence[str], test_set: TestSet, *, bound: bool = False) -> int | None:
    """Which reference the outputs are themselves, from 1: nearly all of them, word for word.

    Args:
        outputs: N texts.
        test_set: N sentences.
        bound: outputs that are called a reference, of which a few lines are enough.
    """
    keys = [match_key(text) for text in outputs]
    if len(keys) < _FEWEST and not bound:
        return None
    for number in range(max(map(len, test_set.references), default=0)):
        people = (match_key(n[number]) if number < len(n) else "" for n in test_set.references)
        same = [key == other for key, other in zip(keys, people, strict=True) if key or other]
        if sum(same) >= _OWN * len(same) > 0:
            return number + 1
    return None


def _references(texts: _Texts) -> Iterator[Suspicion]:
    references = [set(map(match_key, some)) for some in texts.test_set.references]
    lines = [n for n, key in enumerate(texts.keys) if key and key in references[n]]
    if len(lines) >= _REFERENCES * len(texts):
        own = own_reference(texts.outputs, texts.test_set)
        others = "" if own is None else ", and are compared with the other references"
        yield texts.rewrites.suspicion(
            lines,
            f"are a human reference, word for word{others}",
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
    found = texts.rewrites.disorder(
        "write the outputs in the order of the sources, or give each its id (JSON Lines or CSV)",
        lambda _: texts.should_be_related(),
        texts.others(),
    )
    if found is not None:
        yield found


def warn(
    outputs: Sequence[Outputs],
    test_set: TestSet,
    infos: Mapping[str, SystemInfo] | None = None,
    root: Path | None = None,
) -> dict[str, tuple[str, ...]]:
    """Say on standard error what looks wrong, unless the report of these outputs says it already.

    Args:
        outputs: of each system, aligned with the test set.
        test_set: what they rewrite.
        infos: what is known about the systems, by name; by default what their reports say.
        root: a results folder whose systems should not have the same outputs.

    Returns:
        What each system's report says from now on; nothing is changed or refused.
    """
    warnings = {}
    doubts = _doubts(test_set.direction)
    given: dict[str, str] = {}
    for one in outputs:
        folder = system_folder(root, test_set.direction, one.system) if root else None
        before = _read(folder).get(one.system) if folder else None
        info = (infos or {}).get(one.system) or (before.system if before else None)
        bound = is_bound_name(one.system) or (info is not None and info.is_bound)
        is_same = before is not None and before.outputs_sha256 == one.sha256
        told = before.warnings if before is not None and is_same else ()
        found = find_suspicions(one.predictions, test_set, bound=bound)
        warnings[one.system] = (*doubts, *(suspicion.short for suspicion in found))
        if not bound and not is_same:
            folders = system_folders(direction_folder(root, test_set.direction)) if root else ()
            stored = {name: report.outputs_sha256 for name, report in _read(*folders).items()}
            others = {**stored, **given}
            others.pop(one.system, None)
            found += same_outputs(one.sha256, others)
        for suspicion in found:
            if suspicion.short not in told:
                say(f"careful: {one.system}: {suspicion}")
        given[one.system] = one.sha256
    return warnings


def _doubts(direction: Direction) -> list[str]:
    """What was said of a user's own styles, or of this direction's texts, when they were loaded."""
    corpus = CORPORA.get(direction.dataset)
    if corpus is None:
        return []
    others = [f" of {one.config}: " for one in corpus.facts.directions if one != direction]
    found = [doubt.short for doubt in corpus.doubts]
    return [doubt for doubt in found if not any(other in doubt for other in others)]


def _read(*folders: Path) -> dict[str, Report]:
    """The reports in these folders by system; what cannot be read is told by its other readers."""
    found = {}
    for folder in folders:
        with suppress(TSTBenchError):
            report = read_report(folder / "report.json")
            found[report.system.name] = report
    return found
