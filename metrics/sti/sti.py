"""Style transfer intensity, and the target style score it is compared with.

Source: Mir, Felbo, Obradovich and Rahwan (2019), "Evaluating Style Transfer for Text", section
5.1: the earth mover's distance between a classifier's style distributions of source and output,
negated where the output moves away from the target style. With two styles and distance 1 between
them it is the change of P(target); the output's P(target) is the target style score (section 5.3).
The temperature is ours: see :func:`tempered`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal

import numpy as np

from tstbench.errors import InputError, MissingFileError
from tstbench.files import read_text
from tstbench.metrics.base import Context, Family, MetricFacts, Need, Options
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.signature import exact
from tstbench.metrics.statistics import Statistics, mean_statistics
from tstbench.metrics.text import preparation
from tstbench.settings import Positive

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
        return np.array(self.distances)[np.ix_(order, order)]


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
    styles, distances = _checked(path, content)
    said = json.dumps(dict(zip(styles, distances, strict=True)))
    return Ground(f"file:{hashlib.sha256(said.encode()).hexdigest()[:12]}", styles, distances)


def _checked(path: Path, content: object) -> tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]:
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
    return tuple(styles), distances


_AT_ONCE = 200  # sentences in one linear program: more make it slower, not better


def style_transfer_intensity(
    source: np.ndarray,
    output: np.ndarray,
    target: int,
    distances: np.ndarray,
    failed: np.ndarray | None = None,
) -> Statistics:
    """Mean of the sentences' direction-corrected earth mover's distances.

    The sign is that of the change of P(target): negative where the output's is smaller than the
    source's, otherwise positive. Mass that moves among other styles while P(target) stays counts as
    movement, as in the paper, which asks only for a penalty for moving away.

    Args:
        source: P(style | source), shape (N, S), rows sum to 1.
        output: P(style | output), shape (N, S).
        target: the column of the target style.
        distances: between styles, shape (S, S); see :func:`check_distances`.
        failed: shape (N,), bool: outputs that are empty. A classifier has an opinion on them too;
            they get at most 0, as much as a copy of the source.

    Raises:
        InputError: shapes that differ, no such column, or a value that is not a probability.

    >>> before, after = np.array([[0.9, 0.1]]), np.array([[0.2, 0.8]])
    >>> round(style_transfer_intensity(before, after, 1, uniform_distances(2)).value, 6)
    0.7
    >>> round(style_transfer_intensity(before, after, 0, uniform_distances(2)).value, 6)
    -0.7
    """
    source, output = np.asarray(source), np.asarray(output)
    moved = earth_movers_distance(source, output, distances)
    if not 0 <= target < source.shape[1]:
        raise InputError(f"no style {target} in a distribution of shape {source.shape}")
    intensity = np.where(output[:, target] < source[:, target], -moved, moved)
    if failed is not None:
        intensity = np.where(failed, np.minimum(intensity, 0.0), intensity)
    return mean_statistics(intensity)


def target_probability(
    output: np.ndarray, target: int, failed: np.ndarray | None = None
) -> Statistics:
    """Mean of P(target style | output), which does not look at the source; 0 for empty outputs.

    Source: the "target style score" with which Mir et al. (2019) compare, section 5.3.

    Args:
        output: P(style | output), shape (N, S).
        target: the column of the target style.
        failed: shape (N,), bool.

    Raises:
        InputError: no such column, or a value that is not a probability.
    """
    output = _distribution("output", output)
    if not 0 <= target < output.shape[1]:
        raise InputError(f"no style {target} in a distribution of shape {output.shape}")
    wanted = output[:, target]
    return mean_statistics(wanted if failed is None else np.where(failed, 0.0, wanted))


def tempered(distribution: np.ndarray, temperature: float) -> np.ndarray:
    """Distributions whose log-probabilities are divided by a temperature: shape (N, S).

    Classifiers trained on whole reviews are nearly certain of almost every sentence, so that
    weak and strong sentences get the same probability. A temperature above 1 keeps them apart; the
    higher it is, the more a difference of two probabilities is like that of their log-odds.

    >>> tempered(np.array([[0.2, 0.8]]), 2.0).round(3).tolist()
    [[0.333, 0.667]]
    """
    if temperature == 1:
        return np.asarray(distribution, dtype=np.float64)
    tiny = np.finfo(np.float64).tiny
    # Of single precision, too, it makes double precision.
    logs = np.log(np.maximum(distribution, tiny)) / temperature
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def uniform_distances(styles: int) -> np.ndarray:
    """Every style is at distance 1 from every other: shape (styles, styles).

    The earth mover's distance is then half of the sum of absolute differences.
    """
    return 1.0 - np.eye(styles)


def ordinal_distances(styles: int) -> np.ndarray:
    """Styles in a row, as far apart as their ranks: |i - j|, shape (styles, styles)."""
    ranks = np.arange(styles, dtype=np.float64)
    return np.abs(ranks[:, None] - ranks[None, :])


def check_distances(distances: np.ndarray, styles: int) -> np.ndarray:
    """A ground distance: square, finite, symmetric, not negative, 0 from a style to itself.

    Raises:
        InputError: it is not.
    """
    matrix = np.asarray(distances, dtype=np.float64)
    if matrix.shape != (styles, styles):
        raise InputError(f"ground distances of shape {matrix.shape} for {styles} styles")
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise InputError("ground distances must be finite and not negative")
    if np.diagonal(matrix).any():
        raise InputError("the ground distance from a style to itself must be 0")
    if not np.array_equal(matrix, matrix.T):
        raise InputError("ground distances must be the same in both directions")
    return matrix


def earth_movers_distance(
    first: np.ndarray, second: np.ndarray, distances: np.ndarray
) -> np.ndarray:
    """Exact earth mover's distance between N pairs of distributions over S styles: shape (N,).

    Closed forms for two styles, for uniform and for ordinal distances; otherwise the transport
    problem as a linear program.

    Args:
        first: shape (N, S), rows sum to 1.
        second: the same.
        distances: shape (S, S).

    Raises:
        InputError: shapes that differ, or a row that is not a distribution.
    """
    first, second = _distribution("source", first), _distribution("output", second)
    if first.shape != second.shape:
        raise InputError(f"distributions of shape {first.shape} and {second.shape}")
    styles = first.shape[1]
    distances = check_distances(distances, styles)
    change = second - first
    if styles == 2:
        return np.asarray(distances[0, 1] * np.abs(change[:, 1]))
    if np.array_equal(distances, uniform_distances(styles)):
        return np.asarray(np.abs(change).sum(axis=1) / 2)
    if np.array_equal(distances, ordinal_distances(styles)):
        return np.asarray(np.abs(np.cumsum(change, axis=1)[:, :-1]).sum(axis=1))
    parts = range(0, len(first), _AT_ONCE)
    some = [_transport(first[i : i + _AT_ONCE], second[i : i + _AT_ONCE], distances) for i in parts]
    return np.concatenate([np.zeros(0), *some])


def _transport(first: np.ndarray, second: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Minimum cost of N independent transport problems, solved as one linear program."""
    from scipy.optimize import linprog
    from scipy.sparse import block_diag, csr_matrix

    n, styles = first.shape
    leaves = np.kron(np.eye(styles), np.ones(styles))
    arrives = np.kron(np.ones(styles), np.eye(styles))
    one = csr_matrix(np.concatenate([leaves, arrives[:-1]]))  # the last follows from the others
    # Rounded sums would leave a program without a solution.
    supply = first / first.sum(axis=1, keepdims=True)
    demand = second / second.sum(axis=1, keepdims=True)
    totals = np.concatenate([supply, demand[:, :-1]], axis=1).reshape(-1)
    costs = np.tile(distances.reshape(-1), n)
    solved = linprog(costs, A_eq=block_diag([one] * n, format="csr"), b_eq=totals, method="highs")
    if not solved.success:
        raise InputError(f"no earth mover's distance for these distributions: {solved.message}")
    return np.asarray((solved.x * costs).reshape(n, -1).sum(axis=1))


def _distribution(name: str, part: np.ndarray) -> np.ndarray:
    """One a row, in double precision."""
    part = np.asarray(part, dtype=np.float64)
    if part.ndim != 2:
        raise InputError(f"the {name} distributions have shape {part.shape}, not (N, styles)")
    wrong = ~np.isfinite(part).all(axis=1) | (part < 0).any(axis=1)
    wrong |= np.abs(np.where(np.isfinite(part), part, 0.0).sum(axis=1) - 1) > 1e-6
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"the classifier's distribution for {name} {row} is {part[row].tolist()}: not "
            "probabilities that sum to 1"
        )
    return part


Of = Literal["whole", "least"]
_KEPT, _MANY = 0.8, 3  # share of the source's words; words before and behind them
_WORD = re.compile(r"[぀-鿿]|[^\W぀-鿿]+(?:'\w+)?")  # of Chinese and Japanese, a character
_SENTENCES = re.compile(r"(?<=[^.][.!?])\s+|(?<=[。！？])")


@dataclass(frozen=True, kw_only=True)
class StiOptions(Options):
    """Options of ``sti``.

    Attributes:
        ground: distance between styles: ``uniform``, ``ordinal``, or a JSON file.
            ``target_style`` does not use it.
        temperature: log-probabilities are divided by it first; 1 is the paper's.
        of: what has the target style in ``target_style``: the ``whole`` output, or its ``least``
            part. Its parts are the whole, its sentences, and what it is without three words or more
            before and behind a source that is nearly all there. A reader of whole texts is content
            with a copy that has "I love it!" behind it. The profile ``lm`` takes the least.
    """

    ground: str = "uniform"
    temperature: Positive = 1.0
    of: Of = "whole"

    def __post_init__(self) -> None:
        read_ground(self.ground)


class Sti(Family[StiOptions]):
    """Style transfer intensity and target style score."""

    name = "sti"
    title = "style transfer intensity"
    options = StiOptions
    libraries = ("scipy",)
    description = """
Style transfer intensity: the earth mover's distance between a classifier's style distributions of
source and output, negated where the output moves away from the target style. A copy scores 0. With
it comes the mean probability of the target style, which looks at the source with `of` alone.
"""
    example = """
>>> sti = evaluate.load("tstbench/sti")
>>> results = sti.compute(
...     predictions=["the soup was cold .", "the soup was lovely ."],
...     sources=["the soup was cold .", "the soup was cold ."],
...     direction="mini/negative-to-positive",
...     per_sentence=True,
... )
>>> copied, rewritten = results["details"]["sti"]["per_sentence"]
>>> copied, rewritten > 0
(0.0, True)
"""
    citation = """\
@inproceedings{mir2019evaluating,
  title = {Evaluating Style Transfer for Text},
  author = {Mir, Remi and Felbo, Bjarke and Obradovich, Nick and Rahwan, Iyad},
  booktitle = {Proceedings of NAACL-HLT},
  year = {2019}
}
"""
    metrics = (
        MetricFacts(
            name="sti",
            title="STI",
            unit="number",
            higher_is_better=True,
            aspect="style",
            meaning="how far the style moves towards the target",
            reads=("sources", "direction"),
        ),
        MetricFacts(
            name="target_style",
            title="P(target)",
            unit="fraction",
            higher_is_better=True,
            aspect="style",
            meaning="mean probability of the target style",
            reads=("direction",),
        ),
    )

    def needs(self, metric: str, inputs: Inputs, options: StiOptions) -> tuple[Need, ...]:
        """Predictions, and for ``sti`` sources, prepared like the classifiers' training sentences.

        For the least part, the parts of all predictions.
        """
        prepare = preparation(inputs.language).for_classifier

        def read() -> list[str]:
            if metric == "sti":
                return prepare([*inputs.predictions, *(inputs.sources or ())])
            if options.of == "whole":
                return prepare(inputs.predictions)
            return prepare([part for some in _parts_of(inputs) for part in some])

        return (Need("classifier", read),)

    def fields(self, metric: str, inputs: Inputs, options: StiOptions) -> dict[str, object]:
        """Ground distance, temperature, how texts are prepared, and how empty predictions count."""
        return {
            "ground": read_ground(options.ground).name if metric == "sti" else None,
            "temperature": exact(options.temperature),
            "of": options.of if metric == "target_style" and options.of != "whole" else None,
            "text": preparation(inputs.language).classifier_name,
            "empty": "0-or-less" if metric == "sti" else "0",
        }

    def measure(
        self, metric: str, inputs: Inputs, options: StiOptions, context: Context
    ) -> Statistics:
        """The mean of the sentences' values."""
        import numpy as np

        assert inputs.direction is not None  # noqa: S101 - ``reads`` has checked it
        classifier = context.scorer("classifier")
        wanted = classifier.styles.index(inputs.direction.target_style)
        (need,) = self.needs(metric, inputs, options)
        both = tempered(classifier.distribution(need.texts), options.temperature)
        if metric == "target_style":
            if options.of == "least":
                ends = np.cumsum([len(some) for some in _parts_of(inputs)])[:-1]
                least = [rows[:, wanted].argmin() for rows in np.split(both, ends)]
                both = both[np.array(least) + np.array([0, *ends])]
            return target_probability(both, wanted, inputs.failed)
        n = len(inputs.predictions)
        distances = read_ground(options.ground).matrix(classifier.styles)
        return style_transfer_intensity(both[n:], both[:n], wanted, distances, inputs.failed)


def _parts_of(inputs: Inputs) -> list[list[str]]:
    """By prediction, the texts that should all have the target style; the prediction is the first."""
    sources = inputs.sources or [""] * len(inputs.predictions)
    found = []
    for text, source in zip(inputs.predictions, sources, strict=True):
        parts = [*_SENTENCES.split(text), *_without_addition(text, source)]
        long = [part for part in parts if len(_WORD.findall(part)) > 2]  # others say too little
        found.append(list(dict.fromkeys([text, *long])))
    return found


def _without_addition(text: str, source: str) -> list[str]:
    """What is left of a text without the words put before and behind its source, if they are many.

    Only where nearly all of the source is left, and its beginning (its end) next to them: else it
    was rewritten. What is put between its words is not found.

    >>> _without_addition("the soup was cold , but i love it !", "the soup was cold .")
    ['the soup was cold']
    >>> _without_addition("so happy , the soup was cold , love it", "the soup was cold .")
    ['the soup was cold']
    >>> _without_addition("the soup was hot and i love it !", "the soup was cold .")
    []
    """
    words = list(_WORD.finditer(text))
    copied = [word.lower() for word in _WORD.findall(source)]
    match = SequenceMatcher(None, copied, [word[0].lower() for word in words], autojunk=False)
    *blocks, _ = match.get_matching_blocks()
    if sum(block.size for block in blocks) < _KEPT * max(len(copied), 1):
        return []
    start, end = blocks[0], blocks[-1]
    first = start.b if start.a == 0 else 0
    last = end.b + end.size if end.a + end.size == len(copied) else len(words)
    if len(words) - (last - first) < _MANY:
        return []
    return [text[words[first].start() : words[last - 1].end()]]


FAMILY = Sti()

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("sti")
