"""Style lexicons: n-grams that mark a style, and the sentences without them.

Source: Mir, Felbo, Obradovich and Rahwan (2019), sections 4.1 and 4.3. A rewrite must change such
words, so a content metric can look away from them: masked, each becomes ``<customstyle>``; removed,
it is left out.

Source: Mir, Felbo, Obradovich and Rahwan (2019), section 4.1, and their code
(passeul/style-transfer-model-evaluation, ``code/style_lexicon.py``), whose settings are the
defaults: logistic regression on which words a labelled sentence has; its strongest weights are the
lexicon. An L1 penalty with C = 3 leaves most weights at exactly 0, and a word is kept whose weight
is more than two standard deviations from the mean of the others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from threadpoolctl import threadpool_limits

from ...errors import InputError, TooLittleError, unknown_name
from ...files import read_text, write_json
from ...settings import Count, NotNegative, Positive, setting
from ..text import MASK, words

LEXICON_FILE = "lexicon.json"

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


LIBRARIES = ("scikit-learn", "numpy")
_DIGITS = 6  # of the stored weights: beyond, solvers on different processors differ


@dataclass(frozen=True, kw_only=True)
class LexiconConfig:
    """Settings of the regression and of the threshold."""

    longest_ngram: Count = setting(1, "words of the longest n-grams")
    min_count: Count = setting(1, "sentences that an n-gram must occur in")
    binary: bool = setting(True, "false: an n-gram counts as often as it is in a sentence")
    inverse_penalty: Positive = setting(3.0, "inverse strength of the L1 penalty, scikit-learn's C")
    deviations: NotNegative = setting(
        2.0, "standard deviations from the mean beyond which a weight is kept"
    )
    max_iterations: Count = setting(1000, "of the solver, at most")
    tolerance: Positive = setting(1e-4, "of the solver")
    seed: int = setting(0, "of the solver")

    def settings(self) -> dict[str, int | float]:
        """Everything that can change the lexicon."""
        return asdict(self)


def fit_lexicon(
    sentences: Sequence[str],
    labels: Sequence[int],
    styles: Sequence[str],
    config: LexiconConfig | None = None,
) -> StyleLexicon:
    """Train on labelled sentences.

    Args:
        sentences: N sentences, tokens separated by spaces.
        labels: N indices into ``styles``.
        styles: S >= 2 names. With more than two, each style is told from all others, and an n-gram
            is kept that marks at least one of them.
        config: the settings.

    Raises:
        InputError: unequal lengths, a style without sentences, no n-gram frequent enough, or no
            weight beyond the threshold.
    """
    config = config or LexiconConfig()
    if len(sentences) != len(labels):
        raise InputError(f"{len(sentences)} sentences but {len(labels)} labels")
    if len(styles) < 2 or (lacking := {*range(len(styles))} - {*labels}):
        names = [styles[i] for i in sorted(lacking)] if len(styles) > 1 else list(styles)
        raise InputError(
            f"sentences of at least two styles are needed; none for {', '.join(names)}"
        )
    from sklearn.feature_extraction.text import CountVectorizer  # takes a second to import

    counter = CountVectorizer(
        analyzer=partial(_ngrams, longest=config.longest_ngram),
        min_df=config.min_count,
        binary=config.binary,
    )
    try:
        counts = counter.fit_transform(sentences)
    except ValueError as error:
        raise TooLittleError(
            f"no n-gram occurs in {config.min_count} of {len(sentences)} sentences"
        ) from error
    truth = np.asarray(labels)
    # Two styles are one question; more are one each.
    asked = range(1, 2) if len(styles) == 2 else range(len(styles))
    columns = [_weights(counts, truth == style, config) for style in asked]
    weights = np.stack([-columns[0], columns[0]] if len(columns) == 1 else columns, axis=1)
    kept = np.flatnonzero(np.stack([_far(c, config.deviations) for c in columns]).any(axis=0))
    names = counter.get_feature_names_out()
    if not len(kept):
        raise InputError(f"no n-gram of {len(names)} tells {' and '.join(styles)} apart enough")
    return StyleLexicon(
        styles, {str(names[row]): np.round(weights[row], _DIGITS).tolist() for row in kept}
    )


def _ngrams(sentence: str, longest: int) -> list[str]:
    tokens = sentence.split()
    return [
        " ".join(tokens[start : start + n])
        for n in range(1, longest + 1)
        for start in range(len(tokens) - n + 1)
    ]


def _weights(counts: object, is_style: np.ndarray, config: LexiconConfig) -> np.ndarray:
    """One weight per n-gram: positive where it marks the style."""
    from sklearn.linear_model import LogisticRegression  # takes a second to import

    # How to ask for an L1 penalty changed in scikit-learn 1.8.
    new = tuple(map(int, version("scikit-learn").split(".")[:2])) >= (1, 8)
    penalty = {"l1_ratio": 1.0} if new else {"penalty": "l1"}
    with threadpool_limits(1):
        regression = LogisticRegression(
            **penalty,
            solver="liblinear",
            C=config.inverse_penalty,
            max_iter=config.max_iterations,
            tol=config.tolerance,
            random_state=config.seed,
        ).fit(counts, is_style)
    found: np.ndarray = regression.coef_[0]
    return found


def _far(weights: np.ndarray, deviations: float) -> np.ndarray:
    """Which weights are far from the mean of those that are not 0."""
    used = weights[weights != 0]
    if not len(used):
        return np.zeros(len(weights), dtype=bool)
    far: np.ndarray = (weights != 0) & (np.abs(weights - used.mean()) > deviations * used.std())
    return far
