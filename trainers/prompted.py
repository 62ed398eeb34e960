"""Prompted systems: ChatGPT, ChatGPT-FS, GPT-4, GPT-4-FS, and any chat model.

TSTBench paper, section 4.1: a chat model is given an instruction and the sentence in one message,
at temperature 0, and its answer is the rewrite; ``-fs`` shows examples first. Where we differ from
the released script, and why:

- Many requests at a time, retried with patience and kept on disk, in place of one at a time with a
  pause of ten seconds after each: the answers are the same.
- The instructions are our own words for the same tasks (:mod:`.prompting.prompts`).
- The number and the choice of the published examples are not known: four, drawn with the seed.
- Answers were cleaned by hand; here by named rules, which are counted (:mod:`.prompting.cleaning`).
- Several candidates to choose from are our option, after prompt-and-rerank.

What is asked is known beforehand (:mod:`.prompting.plan`) and depends on the seed and the sentence
alone, as far as the server keeps its word: even at temperature 0, a hosted model can answer
differently on another day. The answers on disk are what makes a transfer reproducible.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

from pydantic import JsonValue

from ..chat.answers import Reply
from ..chat.client import Client
from ..datasets_scripts.directions import Direction
from ..datasets_scripts.training import load_training
from .prompting.cleaning import Cleaned, Context, clean
from .prompting.plan import Plan
from .prompting.rerank import Judge, majority
from .prompting.settings import ChatSettings
from .system import Answer, Request, System, SystemCard, Task
from .system_card import Family

_HELP = {f.name: f.metadata for f in fields(ChatSettings)}
_NO_REWRITE = ("content_filter", "refusal")  # ways of ending that leave no rewrite


def _model(name: str) -> str:
    return field(default=name, metadata=_HELP["model"])


def _examples(number: int) -> int:
    return field(default=number, metadata=_HELP["examples"])


@dataclass(frozen=True, kw_only=True)
class ChatGptSettings(ChatSettings):
    """As published."""

    model: str = _model("gpt-3.5-turbo-1106")


@dataclass(frozen=True, kw_only=True)
class ChatGptFewShotSettings(ChatGptSettings):
    """The number of examples is not published."""

    examples: int = _examples(4)


@dataclass(frozen=True, kw_only=True)
class Gpt4Settings(ChatSettings):
    """As published."""

    model: str = _model("gpt-4-0125-preview")


@dataclass(frozen=True, kw_only=True)
class Gpt4FewShotSettings(Gpt4Settings):
    """The number of examples is not published."""

    examples: int = _examples(4)


class Chat(System):
    """Any model behind an OpenAI-compatible server."""

    KIND: ClassVar[str] = "chat"
    FAMILY: ClassVar[Family] = "prompted"
    ORIGIN: ClassVar[str] = "a chat model, prompted by TSTBench"
    LIBRARIES: ClassVar[tuple[str, ...]] = ("openai",)
    Settings: ClassVar[type] = ChatSettings

    def __init__(self, card: SystemCard | None = None) -> None:
        self.card = card or self.untrained()

    @classmethod
    def read(cls, folder: Path, card: SystemCard, device: str) -> Chat:  # noqa: ARG003
        """Nothing is read except the card: the model is elsewhere."""
        return cls(card)

    @classmethod
    def asked(cls, settings: Any, direction: Direction) -> dict[str, JsonValue]:
        """Model, server, prompts, examples and rules; not how patiently they are asked."""
        return Plan.of(settings, direction).identity

    @classmethod
    def called(cls, name: str, settings: Any) -> str:
        """Another model than the published one is in the name.

        >>> Chat.called("chat", ChatSettings(model="meta-llama/Llama-3.2-1B"))
        'chat-meta-llama-Llama-3.2-1B'
        """
        if settings.model == cls.Settings().model:
            return name
        model = Path(settings.model).name if settings.model.startswith("/") else settings.model
        return f"{name}-{re.sub(r'[^A-Za-z0-9._-]+', '-', model).strip('-')}"

    def rewrite(self, batch: Sequence[Request], task: Task) -> list[str]:
        """All answers of a batch; :meth:`answers` does not wait for the slowest of a batch."""
        return list(self.answers(batch, len(batch), task))

    def answers(
        self,
        requests: Sequence[Request],
        size: int,  # noqa: ARG002 - requests overlap, whatever the batch
        task: Task,
    ) -> Iterator[Answer]:
        """Yield each rewrite, with the raw answer beside it, as soon as those before it are there.

        Raises:
            InputError: no key, or settings that cannot be used.
            ServerError: the server does not answer, or refuses.
            LimitError: ``max_requests`` or ``max_cost`` is reached.
        """
        plan = Plan.of(task.settings, task.direction)
        calls = plan.calls(requests, task)
        every = [call for some in calls for call in some]
        client = Client(plan.settings, every, batched=plan.settings.via == "batch")
        replies = client.replies(calls, [one.id for one in requests])
        return self._chosen(requests, replies, _Choice(plan, task))

    def _chosen(
        self,
        requests: Sequence[Request],
        replies: Generator[list[Reply], None, None],
        chosen: _Choice,
    ) -> Iterator[Answer]:
        with closing(replies):
            for request, found in zip(requests, replies, strict=True):
                yield chosen.answer(request, found)


class ChatGpt(Chat):
    """ChatGPT, zero-shot: gpt-3.5-turbo-1106, an instruction and the sentence."""

    KIND: ClassVar[str] = "chatgpt"
    ORIGIN: ClassVar[str] = "TSTBench paper, section 4.1, in our own prompts"
    Settings: ClassVar[type] = ChatGptSettings


class ChatGptFewShot(ChatGpt):
    """ChatGPT, few-shot: examples in front of the sentence."""

    KIND: ClassVar[str] = "chatgpt-fs"
    Settings: ClassVar[type] = ChatGptFewShotSettings


class Gpt4(ChatGpt):
    """GPT-4, zero-shot: gpt-4-0125-preview, an instruction and the sentence."""

    KIND: ClassVar[str] = "gpt4"
    Settings: ClassVar[type] = Gpt4Settings


class Gpt4FewShot(ChatGpt):
    """GPT-4, few-shot: examples in front of the sentence."""

    KIND: ClassVar[str] = "gpt4-fs"
    Settings: ClassVar[type] = Gpt4FewShotSettings


class _Choice:
    """From the replies for a sentence to its rewrite."""

    def __init__(self, plan: Plan, task: Task) -> None:
        self._plan, self._task = plan, task
        self._styles = (plan.direction.source_style, plan.direction.target_style)
        self._judge: Judge | None = None
        if len(plan.prompts) * plan.settings.candidates > 1 and plan.settings.choose == "joint":
            data_dir = plan.settings.data_dir
            folder = Path(data_dir) if data_dir else None
            self._judge = Judge(load_training(plan.direction, data_dir=folder), task.seed)

    def answer(self, request: Request, replies: Sequence[Reply]) -> Answer:
        """The best of the cleaned replies, and what is kept of it."""
        about = Context(request.source, self._styles)
        cleaned = [self._clean(reply, about) for reply in replies]
        texts = [one.text for one in cleaned]
        place = 0
        if len(texts) > 1:
            judge = self._judge
            place = majority(texts) if judge is None else judge.best(request.source, texts)
        one, raw = cleaned[place], replies[place]
        rules = [*one.rules, *(["cut-off"] if raw.finish == "length" else [])]
        rules += [] if one.text else ["empty"]
        aside: dict[str, JsonValue] = {"raw": raw.text}
        if rules:
            aside["rules"] = [*rules]
        if len(texts) > 1:
            aside["candidates"] = [*texts]
        aside["tokens"] = {
            "prompt_tokens": sum(reply.prompt_tokens for reply in replies),
            "answer_tokens": sum(reply.completion_tokens for reply in replies),
        }
        return Answer(one.text, aside)

    def _clean(self, reply: Reply, about: Context) -> Cleaned:
        if reply.finish in _NO_REWRITE and self._plan.rules:
            return Cleaned("", ("filtered",))
        return clean(reply.text, self._plan.rules, about)
