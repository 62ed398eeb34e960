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

import json
import math
import re
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, JsonValue

from ..chat.answers import Call, Reply
from ..chat.client import Client
from ..chat.cost import Estimate, estimate
from ..chat.settings import ServerSettings, listed
from ..datasets_scripts.cleaning import match_key
from ..datasets_scripts.directions import Direction
from ..datasets_scripts.load import TrainingData, load_training
from ..errors import InputError
from ..files import temporary_folder
from ..settings import identifying, setting
from .card import Family
from .prompting.cleaning import RULES, Cleaned, Context, clean, rule_names
from .prompting.few_shot import Chooser, Pool, load_pool
from .prompting.prompts import Example, Prompts, load_prompts
from .system import Answer, Request, System, SystemCard, Task


@dataclass(frozen=True, kw_only=True)
class ChatSettings(ServerSettings):
    """The settings of a prompted system; defaults as published, TSTBench paper, section 4.1.

    A model's name has no default here: each system has its own.
    """

    prompts: str = setting(
        "tstbench-v1",
        "prompt files, names or paths (.toml), separated by commas; with several, "
        "every sentence is asked with each",
    )
    examples: Annotated[int, Field(ge=0, le=64)] = setting(
        0, "examples in a prompt; 0 is zero-shot"
    )
    examples_by: Literal["seed", "bm25", "embedding"] = setting(
        "seed",
        "which examples: the same for all sentences, drawn with --seed; or those whose "
        "source is nearest, by bm25 or embedding",
    )
    examples_file: str = setting(
        "",
        "JSON Lines of source and target to take examples from; default: the training "
        "or validation pairs, else our own for sentiment",
    )
    candidates: Annotated[int, Field(ge=1, le=64)] = setting(
        1, "answers to sample for each prompt, to choose from"
    )
    choose: Literal["joint", "majority"] = setting(
        "joint",
        "of several answers: the best by a reference-free Joint that is trained on the "
        "training sentences, or the most frequent",
    )
    clean: str = setting(
        ",".join(RULES), "rules that clean answers, separated by commas; none keeps them raw"
    )
    via: Literal["chat", "batch"] = setting(
        "chat",
        "chat: one request a sentence; batch: the server's Batch API, slower and cheaper",
        identifies=False,
    )
    data_dir: str = setting("", "", identifies=False)  # as --data-dir, for examples


@dataclass(frozen=True)
class Plan:
    """How the sentences of a direction are asked.

    Attributes:
        settings: as given.
        direction: of the sentences.
        prompts: one or more; every sentence is asked with each.
        pool: what examples come from; ``None`` for zero-shot.
        rules: that clean the answers.
    """

    settings: ChatSettings
    direction: Direction
    prompts: tuple[Prompts, ...]
    pool: Pool | None
    rules: tuple[str, ...]

    @classmethod
    def of(cls, settings: ChatSettings, direction: Direction) -> Plan:
        """Read prompts and examples, and check everything that can be checked beforehand.

        Raises:
            UnknownNameError: no such prompts or cleaning rule.
            MissingFileError: a file is missing.
            InputError: no model; prompts, examples or settings that cannot be used.
        """
        if not settings.model.strip():
            raise InputError("which model? Give its name with --model, as the server calls it")
        if settings.candidates > 1 and settings.temperature == 0:
            raise InputError(
                f"--candidates {settings.candidates}: at --temperature 0 they would all be the "
                "same; give a higher one"
            )
        names = listed(settings.prompts)
        prompts = tuple(map(load_prompts, names))
        if not prompts or len(set(names)) < len(names):
            raise InputError(f"--prompts {settings.prompts!r}: name one or more, each once")
        for one in prompts:
            one.instruction(direction)  # raises if it has none
        _ = settings.url, settings.parameters  # raise if they cannot be used
        pool = None
        if settings.examples:
            pool = load_pool(direction, settings.examples_file, settings.data_dir)
            Chooser(pool, settings.examples, "seed", 0, direction)  # raises if there are too few
        elif settings.examples_file:
            raise InputError("--examples-file: say how many to show with --examples")
        return cls(settings, direction, prompts, pool, rule_names(listed(settings.clean)))

    @property
    def identity(self) -> dict[str, JsonValue]:
        """What, besides the seed, makes two transfers have the same answers."""
        said: dict[str, JsonValue] = {**identifying(self.settings), "base_url": self.settings.url}
        said["prompts"] = [{"name": one.name, "sha256": one.sha256} for one in self.prompts]
        said["clean"] = list(self.rules)
        for name in ("examples_by", "examples_file"):
            del said[name]
        if self.pool is not None:
            said["examples"] = {
                "number": self.settings.examples,
                "by": self.settings.examples_by,
                "from": self.pool.origin,
                "sha256": self.pool.sha256,
            }
        if len(self.prompts) * self.settings.candidates == 1:
            del said["choose"]
        return said

    def calls(self, requests: Sequence[Request], task: Task) -> list[list[Call]]:
        """The requests for each sentence: every prompt, every candidate."""
        settings, url = self.settings, self.settings.url
        shown: list[list[Example]] = [[] for _ in requests]
        if self.pool is not None:
            chooser = Chooser(
                self.pool, settings.examples, settings.examples_by, task.seed, self.direction
            )
            shown = chooser.of([request.source for request in requests])
        calls = []
        for request, examples in zip(requests, shown, strict=True):
            draw = task.random(request)
            of_sentence = []
            for prompts in self.prompts:
                messages = prompts.messages(self.direction, request.source, examples)
                for _ in range(settings.candidates):
                    body = {"model": settings.model, "messages": messages, **settings.parameters}
                    sample = draw.getrandbits(31) if settings.temperature > 0 else 0
                    if settings.sends_seed:
                        body["seed"] = sample
                    of_sentence.append(Call(body, url, sample))
            calls.append(of_sentence)
        return calls


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


_ORDER = 3  # of the n-gram model
_SENTENCES = 50_000  # of each style that the judge learns from


class Judge:
    """Scores rewrites without references: prompt-and-rerank (Suzgun et al. 2022, section 2.2).

    The product of style, content and fluency is in the benchmark's form, (ACC x content x
    1/ln PPL)^(1/3). The judge is made of the training sentences alone and is not the one that the
    benchmark scores with: a classifier of another kind, an encoder's cosine in place of BLEU, a
    small n-gram model of both styles.

    Args:
        data: the direction's training data.
        seed: of the classifier.

    Raises:
        InputError: there is too little to learn from.
    """

    def __init__(self, data: TrainingData, seed: int = 0) -> None:
        from ..metrics.scorers.encoder import load_encoder
        from ..metrics.scorers.encoder_files import EMBEDDED_ENCODER
        from ..metrics.scorers.language_model import NgramLanguageModel, train_language_model
        from .training.selection import Sides, selection

        source, target = (
            tuple(text.lower() for text in side[:_SENTENCES])
            for side in (data.train.source, data.train.target)
        )
        self._classifier = selection(Sides(source, target), Sides((), ()), seed).classifier
        self._encoder = load_encoder(EMBEDDED_ENCODER)
        with temporary_folder() as folder:
            path = train_language_model([*source, *target], folder, _ORDER)
            self._fluency = NgramLanguageModel(path)

    def scores(self, source: str, candidates: Sequence[str]) -> np.ndarray:
        """The Joint of each candidate, shape (N,), in [0, 1]; of an empty one 0."""
        texts = [" ".join(text.lower().split()) for text in candidates]
        style = self._classifier.distribution(texts)[:, 1]
        vectors = self._encoder.sentence_vectors([source.lower(), *(text or "." for text in texts)])
        content = np.clip(vectors[1:] @ vectors[0], 0, 1)
        words = self._fluency.words(texts) + 1
        log_perplexity = -self._fluency.log10_probability(texts) * math.log(10) / words
        fluency = 1 / np.maximum(log_perplexity, 1)  # 1 for a perplexity of e and below
        there = np.array([bool(text) for text in texts])
        joint: np.ndarray = np.where(there, np.cbrt(style * content * fluency), 0.0)
        return joint

    def best(self, source: str, candidates: Sequence[str]) -> int:
        """The place of the best candidate; the first of equals."""
        return int(self.scores(source, candidates).argmax())


def majority(candidates: Sequence[str]) -> int:
    """The place of the most frequent candidate, ignoring case and blanks; the first of equals.

    An empty one only wins if there is nothing else.

    >>> majority(["Good .", "fine .", "good .", "", "", ""]), majority(["", ""])
    (0, 0)
    """
    keys = [match_key(text) for text in candidates]
    votes = Counter(key for key in keys if key)
    if not votes:
        return 0
    winner = max(votes, key=lambda key: votes[key])  # of equals the first that was counted
    return keys.index(winner)


@dataclass(frozen=True)
class DryRun:
    """What would be sent.

    Attributes:
        lines: one for each request, JSON: ``id``, ``request`` (the exact body), ``prompt_tokens``,
            and ``answered``: whether its answer is on disk already.
        summary: of all, in words.
        estimate: of all, in numbers.
    """

    lines: tuple[str, ...]
    summary: str
    estimate: Estimate


def dry_run(requests: Sequence[Request], task: Task) -> DryRun:
    """Plan a transfer; see :class:`DryRun`.

    Raises:
        InputError: the settings cannot be used.
    """
    plan = Plan.of(task.settings, task.direction)
    grouped = plan.calls(requests, task)
    ids = [one.id for one, calls in zip(requests, grouped, strict=True) for _ in calls]
    flat = [call for calls in grouped for call in calls]
    batched = plan.settings.via == "batch"
    found = estimate(flat, plan.settings, f"{len(requests):,} sentences", batched=batched)
    lines = (
        {
            "id": name,
            "request": one.call.body,
            "prompt_tokens": one.prompt_tokens,
            "answered": one.answered,
        }
        for name, one in zip(ids, found.planned, strict=True)
    )
    return DryRun(tuple(json.dumps(row, ensure_ascii=False) for row in lines), found.summary, found)
