"""From a judge's answers to scores: parsing, one range for all scales, the mean over wordings.

Source: Ostheimer et al. (2023): answers of many wordings are parsed, those without a number or with
one outside the scale are counted and left out, the rest is normalised and averaged with equal
weights. The rules of parsing and the expectation over tokens are ours.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from ...chat.answers import Reply
from ..statistics import Statistics, Wording, mean_statistics

PARSING = 1  # raised when the same answer is read differently

Unread = Literal["unparsable", "out of range", "cut off", "refused", "without probabilities"]
_THOUGHT = "</think>"  # what a model thinks before is no answer
_LONG = 200  # characters; a line that is a number alone is shorter
_REFUSED = ("content_filter", "refusal")

_NUMBER = r"(?P<value>[-\u2212]?[0-9]{1,9}(?:\.[0-9]{1,9})?)"
_OF = r"(?:\s*(?:/|out of)\s*(?P<of>[0-9]{1,9})(?![0-9]|\.[0-9]))?"
_LABEL = r"(?:final\s+)?(?:score|rating|grade|points?|answer|mark|number)"
_AROUND = r"[\s\"'`*_()\[\]{}]*"
_WHOLE_LINE = re.compile(
    rf"{_AROUND}(?:{_LABEL}{_AROUND}(?:is\b|:|=)?)?{_AROUND}{_NUMBER}{_OF}"
    rf"(?:\s*points?)?{_AROUND}[.;]?{_AROUND}",
    re.IGNORECASE,
)
_CLAUSE_ENDS = r"(?=\s*(?:[.,;)\]}\"'*_`](?![0-9])|\s\(|\s[-\u2013\u2014]\s+[^\W\d]|$))"
_LABELLED = re.compile(
    rf"\b{_LABEL}[\"'`*_]*\s*(?:is\b|:|=){_AROUND}{_NUMBER}{_OF}{_CLAUSE_ENDS}", re.IGNORECASE
)
_OUT_OF = re.compile(
    rf"(?<![0-9.,/\-\u2212]){_NUMBER}\s*(?:/|out of)\s*(?P<of>[0-9]{{1,9}})(?![0-9/]|[.,][0-9])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Scale:
    """What a wording asks for.

    Attributes:
        worst: the number that stands for the worst judgement.
        best: that for the best one; below ``worst`` where a low number is good.
    """

    worst: int
    best: int

    @property
    def low(self) -> int:
        """The smaller end."""
        return min(self.worst, self.best)

    @property
    def high(self) -> int:
        """The greater end."""
        return max(self.worst, self.best)

    @property
    def is_single_digit(self) -> bool:
        """Whether every score is one digit, and so one token of any vocabulary."""
        return self.low >= 0 and self.high <= 9

    def normalised(self, score: float) -> float:
        """A score as a share of the way from the worst to the best, in [0, 1].

        >>> Scale(1, 5).normalised(4), Scale(6, 1).normalised(6)
        (0.75, 0.0)
        """
        share = (score - self.worst) / (self.best - self.worst)
        return share + 0.0  # never -0.0


@dataclass(frozen=True)
class Reading:
    """What an answer says: a score, or why there is none.

    Attributes:
        score: on the wording's own scale; ``None`` if it could not be read.
        why: the reason then.
        start: where in the text the number begins.
        end: where it ends.
    """

    score: float | None = None
    why: Unread | None = None
    start: int = 0
    end: int = 0


def read(text: str, finish: str, scale: Scale) -> Reading:
    """Read an answer; nothing is guessed.

    A line that is a number and nothing else counts, with a label such as ``Score:`` or without; so
    does a labelled number that ends a clause. Where there is neither, ``4/5`` and ``4 out of 5``
    count. An answer with several different numbers of that kind, or with the length of another scale
    behind the number, is unparsable; so is a number in words.

    Args:
        text: the answer.
        finish: why it ended, as the server says: ``stop``, ``length``, ``content_filter``.
        scale: of the wording.

    >>> scale = Scale(1, 5)
    >>> read("**Score: 4/5**", "stop", scale).score, read("7", "stop", scale).why
    (4.0, 'out of range')
    >>> read("between 2 and 3", "stop", scale).why
    'unparsable'
    """
    if finish in _REFUSED:
        return Reading(why="refused")
    found = _of_lines(text) or list(_OUT_OF.finditer(text, _after_thought(text)))
    values = {float(one["value"].replace("\u2212", "-")) for one in found}
    lengths = {int(one["of"]) for one in found if one["of"] is not None}
    if len(values) != 1 or lengths - {scale.high}:
        cut = finish == "length" and not found
        return Reading(why="cut off" if cut else "unparsable")
    (score,) = values
    start, end = found[0].span("value")
    if finish == "length" and found[0].end("value") == len(text):
        return Reading(why="cut off")  # 1 may have been the beginning of 10
    if not scale.low <= score <= scale.high:
        return Reading(why="out of range")
    return Reading(score, None, start, end)


def _of_lines(text: str) -> list[re.Match[str]]:
    """The numbers that are lines of their own, or labelled; with their places in the text."""
    found: list[re.Match[str]] = []
    start = _after_thought(text)
    for line in text[start:].splitlines(keepends=True):
        end = start + len(line.rstrip("\r\n"))
        whole = _WHOLE_LINE.fullmatch(text, start, end) if end - start <= _LONG else None
        found += [whole] if whole else list(_LABELLED.finditer(text, start, end))
        start += len(line)
    return found


def _after_thought(text: str) -> int:
    """Where the answer begins."""
    place = text.rfind(_THOUGHT)
    return place + len(_THOUGHT) if place >= 0 else 0


def expected(reply: Reply, reading: Reading, scale: Scale) -> Reading:
    """The expectation over the scores that the model could have given at that place.

    The probabilities of the tokens that are a digit of the scale, at the place where the answer's
    number is, are divided by their sum: E = sum(p(s) s) / sum(p(s)).

    Args:
        reply: with the tokens and their alternatives.
        reading: of its text.
        scale: of single digits.
    """
    if reading.score is None:
        return reading
    number = reply.text[reading.start : reading.end]
    token = _token_at(reply, reading.start)
    if token is None or token[0].strip() != number:
        return Reading(why="without probabilities")
    mass: dict[int, float] = {}
    for text, log_probability in token[1]:
        digit = text.strip()
        if re.fullmatch("[0-9]", digit) and scale.low <= int(digit) <= scale.high:
            mass[int(digit)] = mass.get(int(digit), 0.0) + math.exp(min(log_probability, 0.0))
    total = sum(mass.values())
    if not total > 0:
        return Reading(why="without probabilities")
    mean = sum(score * share for score, share in mass.items()) / total
    return Reading(mean, None, reading.start, reading.end)


def _token_at(reply: Reply, place: int) -> tuple[str, tuple[tuple[str, float], ...]] | None:
    """The token of an answer in which a character of its text lies."""
    if reply.tokens is None:
        return None
    whole = "".join(text for text, _ in reply.tokens)
    position = place + whole.find(reply.text)
    if reply.text not in whole:
        return None
    for token in reply.tokens:
        if position < len(token[0]):
            return token
        position -= len(token[0])
    return None


def ensemble(readings: Sequence[Sequence[Reading]], scales: Sequence[Scale]) -> np.ndarray:
    """The mean of the normalised scores that could be read, for each sentence.

    Args:
        readings: for each of N sentences, one for each of W wordings.
        scales: of the W wordings.

    Returns:
        Shape (N,), float64, in [0, 1]; NaN for a sentence without a score.

    >>> scales = [Scale(1, 5), Scale(5, 1), Scale(0, 100)]
    >>> ensemble([[Reading(4), Reading(2), Reading(why="unparsable")]], scales).tolist()
    [0.75]
    """
    means = []
    for some in readings:
        read_ones = [
            scale.normalised(one.score)
            for one, scale in zip(some, scales, strict=True)
            if one.score is not None
        ]
        means.append(math.fsum(read_ones) / len(read_ones) if read_ones else math.nan)
    return np.array(means)


def judge_statistics(
    readings: Sequence[Sequence[Reading]], scales: Mapping[str, Scale], failed: np.ndarray
) -> Statistics:
    """The mean over sentences; a failed output counts as the worst.

    Args:
        readings: for each sentence that has an output, one for each of W wordings.
        scales: of the W wordings, by their ids.
        failed: which outputs are empty: shape (N,), bool.
    """
    ways = list(scales.values())
    mean = mean_statistics(_spread(ensemble(readings, ways), failed, 0.0))
    wordings = {}
    for (name, scale), answers in zip(scales.items(), zip(*readings, strict=True), strict=False):
        own = ensemble([[one] for one in answers], [scale])
        why = Counter(one.why for one in answers if one.why is not None)
        counts = {"asked": len(answers), **{one: why[one] for one in get_args(Unread) if why[one]}}
        wordings[name] = Wording(mean_statistics(_spread(own, failed, 0.0)), counts)
    return replace(mean, wordings=wordings)


def unread_statistics(readings: Sequence[Sequence[Reading]], failed: np.ndarray) -> Statistics:
    """The percentage of answers that are no score; a failed output was not asked about."""
    shares = [np.mean([one.score is None for one in some]) for some in readings]
    return mean_statistics(_spread(np.array(shares), failed, math.nan), scale=100)


def _spread(values: np.ndarray, failed: np.ndarray, otherwise: float) -> np.ndarray:
    spread = np.full(len(failed), otherwise)
    spread[~failed] = values
    return spread
