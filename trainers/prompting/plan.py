"""The plan of a transfer: every request that it takes, known before any is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from ...chat.answers import Call
from ...chat.settings import listed
from ...datasets_scripts.directions import Direction
from ...errors import InputError
from ...settings import identifying
from ..system import Request, Task
from .cleaning import rule_names
from .few_shot import Chooser, Pool, load_pool
from .prompts import Example, Prompts, load_prompts
from .settings import ChatSettings


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
