"""LLM judge: a language model is asked about style, content and fluency, in many wordings.

Source: Ostheimer, Nagda, Kloft and Fellenz (2023), "Text Style Transfer Evaluation Using Large
Language Models": zero-shot prompts, eleven for each aspect, scores normalised and averaged with equal
weights; explanations are mentioned there as an option. Wordings, parsing and the expectation over
tokens are our own.

Source: Ostheimer et al. (2023): answers of many wordings are parsed, those without a number or with
one outside the scale are counted and left out, the rest is normalised and averaged with equal
weights. The rules of parsing and the expectation over tokens are ours.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import numpy as np
from pydantic import Field

from tstbench.errors import InputError
from tstbench.metrics.base import Context, Family, MetricFacts, Need, Options
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.signature import exact
from tstbench.metrics.statistics import Statistics, Wording, mean_statistics
from tstbench.metrics.text import preparation
from tstbench.settings import Count

if TYPE_CHECKING:
    from tstbench.chat.answers import Reply
    from tstbench.metrics.llm_judge.wordings import Aspect, Wordings

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
    for place, (name, scale) in enumerate(scales.items() if readings else ()):
        answers = [some[place] for some in readings]
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


UNREAD = "judge_unread"
_ASPECTS: tuple[Aspect, ...] = ("style", "content", "fluency")
_SHORT, _EXPLAINED = 16, 300  # tokens of an answer
_TRIED = 4  # answers that show whether a server gives probabilities
_ALTERNATIVES = 20  # tokens at each place: the most that the protocol allows


@dataclass(frozen=True, kw_only=True)
class LlmJudgeOptions(Options):
    """Options of ``llm_judge``; ``--scorer judge=...`` names the model.

    Attributes:
        style_prompts: prompt file for ``judge_style``: a name, or a ``.toml`` file of your own.
        content_prompts: for ``judge_content``.
        fluency_prompts: for ``judge_fluency``.
        wordings: how many of a file's wordings are asked, from the first.
        explain: whether the judge explains its judgement before the score.
        expected: whether a score is the expectation over the tokens that the model could have
            written; only scales of single digits can be used then.
        temperature: of the sampling.
        max_tokens: longest answer; by default 16, or 300 with an explanation.
        omit: parameters that the server does not take, separated by commas.
        extra: more parameters, as a JSON object.
    """

    style_prompts: str = "style-v1"
    content_prompts: str = "content-v1"
    fluency_prompts: str = "fluency-v1"
    wordings: Count = 11
    explain: bool = False
    expected: bool = False
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    max_tokens: Count | None = None
    omit: str = ""
    extra: str = ""

    def __post_init__(self) -> None:
        _ = self.parameters  # raises if omit or extra cannot be used

    @property
    def longest(self) -> int:
        """The most tokens of an answer."""
        return self.max_tokens or (_EXPLAINED if self.explain else _SHORT)

    @property
    def parameters(self) -> dict[str, Any]:
        """What is sent besides model and messages."""
        from tstbench.metrics.scorers.judge import JudgeSettings

        asked = JudgeSettings(
            temperature=self.temperature,
            max_tokens=self.longest,
            omit=",".join(("top_p", *filter(None, (self.omit,)))),
            extra=self.extra,
        )
        sent = {name: value for name, value in asked.parameters.items() if name != "model"}
        for name in ("temperature", "max_tokens"):
            if name in sent and sent[name] != getattr(asked, name):
                raise InputError(
                    f"--set llm_judge.extra= {self.extra}: {name!r} has an option of its own: "
                    f"--set llm_judge.{name}="
                )
        return {**self._probabilities, **sent}

    @property
    def _probabilities(self) -> dict[str, Any]:
        return {"logprobs": True, "top_logprobs": _ALTERNATIVES} if self.expected else {}

    def asked(self, aspect: Aspect) -> Wordings:
        """The wordings for an aspect."""
        from tstbench.metrics.llm_judge.wordings import wordings

        name: str = getattr(self, f"{aspect}_prompts")
        return wordings(
            name, aspect, self.wordings, explain=self.explain, single_digit=self.expected
        )


def _facts(aspect: Aspect, meaning: str, reads: tuple[Any, ...]) -> MetricFacts:
    return MetricFacts(
        name=f"judge_{aspect}",
        title=f"Judge {aspect}",
        unit="fraction",
        higher_is_better=True,
        aspect=aspect,
        meaning=meaning,
        reads=reads,
    )


class LlmJudge(Family[LlmJudgeOptions]):
    """Judgements of a language model, and the share of its answers that are none."""

    name = "llm_judge"
    title = "LLM judge"
    options = LlmJudgeOptions
    description = """
A chat model behind an OpenAI-compatible server is asked about each rewrite's style, content and fluency,
in eleven wordings each. Answers are parsed strictly, normalised to 0 to 1 and averaged.
"""
    example = """
>>> judge = evaluate.load("tstbench/llm_judge")  # doctest: +SKIP
>>> judge.compute(
...     predictions=["the soup was lovely."],
...     sources=["the soup was awful."],
...     direction="mini/negative-to-positive",
...     judge="my-model@http://127.0.0.1:8000/v1",
... )  # doctest: +SKIP
"""
    citation = """\
@article{ostheimer2023text,
  title = {Text Style Transfer Evaluation Using Large Language Models},
  author = {Ostheimer, Phil and Nagda, Mayank and Kloft, Marius and Fellenz, Sophie},
  journal = {arXiv preprint arXiv:2308.13577},
  year = {2023}
}
"""
    model = (
        "judge",
        "judge",
        '"MODEL@URL"; without the address at OPENAI_BASE_URL, else at OpenAI; "completions:MODEL@URL" for a '
        'completion model, "local:MODEL" for one of transformers on this machine. By default the environment '
        "variable TSTBENCH_JUDGE. The key is read from the variable OPENAI_API_KEY.",
    )
    metrics = (
        _facts("style", "style transfer as a language model judges it", ("sources", "direction")),
        _facts("content", "content kept as a language model judges it", ("sources", "direction")),
        _facts("fluency", "fluency as a language model judges it", ()),
        MetricFacts(
            name=UNREAD,
            title="Judge unread",
            unit="percent",
            higher_is_better=False,
            aspect="other",
            meaning="share of a judge's answers without a score on the scale",
            reads=("sources", "direction"),
        ),
    )

    def needs(self, metric: str, inputs: Inputs, options: LlmJudgeOptions) -> tuple[Need, ...]:
        """A request for each output that is not empty, aspect and wording."""
        return (Need("judge", partial(_requests, metric, inputs, options)),)

    def fields(self, metric: str, inputs: Inputs, options: LlmJudgeOptions) -> dict[str, object]:
        """Wordings, parameters, how answers are read, and how texts are prepared."""
        from tstbench.store import canonical

        asked = [options.asked(aspect) for aspect in _aspects(metric)]
        digest = hashlib.sha256(canonical([one.sha256 for one in asked])).hexdigest()
        sent = options.parameters
        more = {name: sent[name] for name in sent if name not in ("temperature", "max_tokens")}
        return {
            "prompts": f"{'+'.join(one.name for one in asked)}#{digest[:12]}",
            "wordings": "+".join(str(len(one.wordings)) for one in asked),
            "answers": "explained" if options.explain else "short",
            "score": "expected" if options.expected else "written",
            "temperature": exact(sent["temperature"]) if "temperature" in sent else "unset",
            "max_tokens": sent.get("max_tokens", "unset"),
            "parameters": hashlib.sha256(canonical(more)).hexdigest()[:12] if more else None,
            "parsing": PARSING,
            # An output that is empty is not asked about; what cannot be read has no score.
            "unread": "counted" if metric == UNREAD else "skip",
            "empty": "skip" if metric == UNREAD else "worst",
            "text": preparation(inputs.language).clean_name,
        }

    def measure(
        self, metric: str, inputs: Inputs, options: LlmJudgeOptions, context: Context
    ) -> Statistics:
        """The mean judgement of the sentences, in [0, 1]; or the percentage of unread answers."""
        judge, requests = context.scorer("judge"), _requests(metric, inputs, options)
        if options.expected:  # a server that cannot do it is found out before all are paid for
            _check_probabilities(judge.replies(requests[:_TRIED]))
        replies = judge.replies(requests)
        if options.expected:
            _check_probabilities(replies)
        asked = [options.asked(aspect) for aspect in _aspects(metric)]
        scales = [wording.scale for one in asked for wording in one.wordings]
        readings = [
            [
                _reading(reply, scale, options)
                for reply, scale in zip(replies[at : at + len(scales)], scales, strict=True)
            ]
            for at in range(0, len(replies), len(scales))
        ]
        if metric == UNREAD:
            return unread_statistics(readings, inputs.failed)
        names = [wording.id for one in asked for wording in one.wordings]
        return judge_statistics(readings, dict(zip(names, scales, strict=True)), inputs.failed)


def _aspects(metric: str) -> tuple[Aspect, ...]:
    return tuple(one for one in _ASPECTS if metric in (f"judge_{one}", UNREAD))


def _requests(metric: str, inputs: Inputs, options: LlmJudgeOptions) -> list[str]:
    """Bodies without the model, as JSON: sentence by sentence, aspect by aspect, every wording."""
    clean = preparation(inputs.language).clean
    outputs = clean(inputs.predictions)
    sources = clean(inputs.sources) if inputs.sources is not None else [""] * len(outputs)
    asked = [options.asked(aspect) for aspect in _aspects(metric)]
    sent = options.parameters
    return [
        json.dumps(
            {"messages": one.messages(wording, output, source, inputs.direction), **sent},
            ensure_ascii=False,
        )
        for output, source, failed in zip(outputs, sources, inputs.failed, strict=True)
        if not failed
        for one in asked
        for wording in one.wordings
    ]


def _check_probabilities(replies: Sequence[Reply]) -> None:
    """Raise :class:`InputError` if a server answers, but never with probabilities."""
    answered = [reply for reply in replies if reply.text.strip()]  # a filter leaves no text
    if answered and all(reply.tokens is None for reply in answered):
        raise InputError(
            "the judge's server gives no probabilities of tokens, which llm_judge.expected "
            "needs: use another server, or --set llm_judge.expected=false"
        )


def _reading(reply: Reply, scale: Any, options: LlmJudgeOptions) -> Reading:

    reading = read(reply.text, reply.finish, scale)
    return expected(reply, reading, scale) if options.expected else reading


FAMILY = LlmJudge()

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("llm_judge")
