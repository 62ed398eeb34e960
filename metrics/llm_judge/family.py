"""LLM judge: a language model is asked about style, content and fluency, in many wordings.

Source: Ostheimer, Nagda, Kloft and Fellenz (2023), "Text Style Transfer Evaluation Using Large
Language Models": zero-shot prompts, eleven for each aspect, scores normalised and averaged with equal
weights; explanations are mentioned there as an option. Wordings, parsing and the expectation over
tokens are our own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ...errors import InputError
from ..contract import Context, Family, Need, Options
from ..facts import MetricFacts
from ..signature import exact
from ..text import preparation

if TYPE_CHECKING:
    from ...chat.answers import Reply
    from ..functional.llm_judge import Reading
    from ..inputs import Inputs
    from ..statistics import Statistics
    from .wordings import Aspect, Wordings

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
    wordings: int = 11
    explain: bool = False
    expected: bool = False
    temperature: float = 0.0
    max_tokens: int | None = None
    omit: str = ""
    extra: str = ""

    def __post_init__(self) -> None:
        if self.wordings < 1:
            raise InputError(f"llm_judge.wordings is {self.wordings}: at least 1 is needed")
        if not 0 <= self.temperature <= 2:
            raise InputError(f"llm_judge.temperature is {self.temperature:g}: from 0 to 2")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise InputError(f"llm_judge.max_tokens is {self.max_tokens}: at least 1 is needed")
        _ = self.parameters  # raises if omit or extra cannot be used

    @property
    def longest(self) -> int:
        """The most tokens of an answer."""
        return self.max_tokens or (_EXPLAINED if self.explain else _SHORT)

    @property
    def parameters(self) -> dict[str, Any]:
        """What is sent besides model and messages."""
        from ..scorers.judge import JudgeSettings

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
        from .wordings import wordings

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
        from ...store import canonical
        from ..functional.llm_judge import PARSING

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
        from ..functional.llm_judge import judge_statistics, unread_statistics

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
    from ..functional.llm_judge import expected, read

    reading = read(reply.text, reply.finish, scale)
    return expected(reply, reading, scale) if options.expected else reading


FAMILY = LlmJudge()
