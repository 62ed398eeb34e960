"""LLaMA-LoRA and LLaMA-LoRA-INST: a causal language model with a low-rank adapter.

Hu et al. (2022), "LoRA: Low-Rank Adaptation of Large Language Models": the weights W of a
pretrained model stay as they are, and a layer computes W x + (alpha / r) B A x, where only A and B,
of rank r, are learned (section 4.1). Dettmers et al. (2023), "QLoRA": W is kept in 4 bits
(NormalFloat, with quantised constants) and computed with in 16 (sections 3 and 4). TSTBench's paper
(section 4.1) teaches LLaMA-7B in this way, from records in Alpaca's layout:

- ``llama-lora``: one adapter for each direction, from its pairs. The instruction is that of the
  direction, the input the sentence, the output its rewrite.
- ``llama-lora-inst``: one adapter from general instructions, which have nothing to do with style;
  it is then asked for every direction in the same layout.

Where we differ from the released scripts: the loss is over the output and its end alone
(``loss = "all"`` is over the prompt as well, as released); weights are chosen on validation pairs,
not on the test file; 4 bits as in the paper, not 8; batches are of like length; the sentence that
precedes the headings is our own. The layout is built by one function for training and writing.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor

from ...datasets_scripts.catalog import language_of
from ...datasets_scripts.load import TrainingData
from ...errors import InputError, require
from ...files import atomic_folder, write_json, write_text
from ...metrics.scorers.artefacts import base_datasets
from ...metrics.scorers.weights import quiet_loading
from ...metrics.text import preparation
from ...settings import read_settings
from ..card import Family
from ..load import load_system
from ..prefix_lm import drawn
from ..prompting.prompts import instruction
from ..system import Request, System, SystemCard, SystemConfig, Task
from ..training.pairs import Paired, lexical_pairs
from ..training.run import IN_MEMORY, Run, half_of
from ..training.sampler import by_length
from .base import SCRATCH, Adapter, Base, longest_row, quiet
from .config import (
    AdapterConfig,
    InstructedSettings,
    LlamaLoraConfig,
    LlamaLoraInstConfig,
    LoraSettings,
)
from .records import Record, Template, answer, load_instructions, prompt, prompt_rows, rows_of

if TYPE_CHECKING:
    from .tuning import Tuned


@dataclass(frozen=True)
class Writer:
    """A causal language model that continues prompts.

    Attributes:
        model: of transformers, on its device.
        tokenizer: with something to pad with.
    """

    model: Any
    tokenizer: Any

    def write(
        self,
        prompts: Sequence[Sequence[int]],
        settings: LoraSettings,
        randoms: Sequence[random.Random],
        batch_size: int,
    ) -> list[str]:
        """What the model writes after each prompt, in their order.

        Args:
            prompts: ids.
            settings: how.
            randoms: of each prompt; a drawn token takes one number of its own.
            batch_size: prompts at a time; no answer depends on it.

        Raises:
            InputError: a prompt is too long for the model.
        """
        room = [self._room(prompt, settings.max_new_tokens) for prompt in prompts]
        found: dict[int, str] = {}
        # Rows with the same room go together: a long neighbour must not shorten an answer.
        for size in sorted(set(room)):
            own = [i for i, one in enumerate(room) if one == size]

            def answer(batch: list[int], own: list[int] = own, size: int = size) -> list[str]:
                chosen = [own[i] for i in batch]
                written = self._generate(
                    [prompts[i] for i in chosen], size, settings, [randoms[i] for i in chosen]
                )
                return list(self.tokenizer.batch_decode(written, skip_special_tokens=True))

            rows = [prompts[i] for i in own]
            found.update(zip(own, by_length(rows, batch_size, answer), strict=True))
        return [found[i] for i in range(len(prompts))]

    def _room(self, prompt: Sequence[int], wanted: int) -> int:
        longest = longest_row(self.model.config)
        if len(prompt) >= longest:
            raise InputError(
                f"a sentence is too long: with the instruction it has {len(prompt)} tokens, and "
                f"the model reads {longest}, its answer counted"
            )
        return min(wanted, longest - len(prompt))

    def _generate(
        self,
        prompts: Sequence[Sequence[int]],
        room: int,
        settings: LoraSettings,
        randoms: Sequence[random.Random],
    ) -> Tensor:
        from transformers import GenerationConfig, LogitsProcessorList

        pad, end = self.tokenizer.pad_token_id, self.tokenizer.eos_token_id
        width = max(map(len, prompts))
        left = [width - len(row) for row in prompts]
        device = self.model.device
        words = torch.tensor(
            [[*[pad] * n, *row] for n, row in zip(left, prompts, strict=True)], device=device
        )
        read = torch.tensor([[0] * n + [1] * (width - n) for n in left], device=device)
        drawing = settings.temperature > 0
        # Whatever a checkpoint says of its own generation is for another task.
        self.model.generation_config = GenerationConfig()
        config = GenerationConfig(
            num_beams=1 if drawing else settings.beams,
            do_sample=False,
            max_new_tokens=room,
            eos_token_id=end,
            pad_token_id=pad,
            suppress_tokens=self._unwritten or None,
        )
        draws = [_Draws(settings, randoms)] if drawing else []
        with torch.inference_mode():
            written = self.model.generate(
                input_ids=words,
                attention_mask=read,
                generation_config=config,
                logits_processor=LogitsProcessorList(draws),
            )
        found: Tensor = written[:, width:]
        return found

    @cached_property
    def _unwritten(self) -> list[int]:
        """Ids that are no text: special tokens but the end, and those without a token."""
        size = self.model.get_output_embeddings().weight.shape[0]
        extra = range(len(self.tokenizer), size)
        special = {*self.tokenizer.all_special_ids, *extra}
        return sorted(special - {self.tokenizer.eos_token_id})


class _Draws:
    """Leaves one token to choose in each row: the one that its own random generator draws."""

    def __init__(self, settings: LoraSettings, randoms: Sequence[random.Random]) -> None:
        self._settings, self._randoms = settings, randoms

    def __call__(self, _ids: Tensor, scores: Tensor) -> Tensor:
        scores = scores.float() / self._settings.temperature
        if self._settings.top_k:
            least = scores.topk(min(self._settings.top_k, scores.shape[-1])).values[:, -1:]
            scores = scores.masked_fill(scores < least, -torch.inf)
        chosen = drawn(scores, self._settings.top_p, self._randoms)
        return torch.full_like(scores, -torch.inf).scatter(1, chosen[:, None], 0.0)


_ADAPTER = "adapter"


@dataclass(frozen=True)
class _Adapted(System):
    """What both systems share: an adapter, its base model, and how they write.

    Attributes:
        card: its settings and training data.
        adapter: what was learned.
        base: the model that it was learned on; ``None`` until it is looked for.
        folder: where it was read from, if it was read.
        device: where it computes.
    """

    FAMILY: ClassVar[Family] = "peft"
    RECIPE_VERSION: ClassVar[int] = 2  # 1 chose weights by a mean of batches, not of words
    LIBRARIES: ClassVar[tuple[str, ...]] = ("torch", "transformers", "peft", "trl")
    LOCAL: ClassVar[tuple[str, ...]] = ("base",)
    BATCH_SIZE: ClassVar[int] = 16

    card: SystemCard
    adapter: Adapter
    base: Base | None = None
    folder: Path | None = None
    device: str = "auto"
    _writers: dict[tuple[str, str], Writer] = field(default_factory=dict, repr=False, compare=False)

    def instruction(self, task: Task) -> str:
        """What the model is told to do."""
        return instruction(task.direction)

    def rewrite(self, batch: Sequence[Request], task: Task) -> list[str]:
        """The first line of what the model writes after the prompt of each sentence."""
        settings: LoraSettings = task.settings
        text = preparation(language_of(task.direction))
        sources = text.for_classifier([request.source for request in batch])
        writer, told = self.writer(settings), self.instruction(task)
        prompts = [prompt(told, source, self.config.template) for source in sources]
        written = writer.write(
            prompt_rows(writer.tokenizer, prompts),
            settings,
            [task.random(request) for request in batch],
            self.BATCH_SIZE,
        )
        return [
            text.cleaning(answer(one, source)) for one, source in zip(written, sources, strict=True)
        ]

    def writer(self, settings: LoraSettings) -> Writer:
        """The base model with the adapter, loaded when it is first needed.

        Raises:
            MissingFileError: the base model is not found.
            InputError: it is another model, or cannot be quantised here.
        """
        chosen = settings.quantization
        bits = self.config.quantization if chosen == "trained" else chosen
        key = (settings.base, bits)
        if key not in self._writers:
            base = self.base_model(settings.base)
            half = half_of("auto", self.device)
            with quiet():
                model = self.adapter.on(base.load(bits, self.device, half=half))
                if bits == "none" and not half:  # the same to the last digits, and faster
                    model = model.merge_and_unload()
            model.requires_grad_(False)
            self._writers.clear()  # one model at a time
            self._writers[key] = Writer(model, base.tokenizer())
        return self._writers[key]

    def base_model(self, given: str = "") -> Base:
        """The base model, found and checked; ``given`` is its folder, if the user names it."""
        if self.base is not None and not given:
            return self.base
        return Base.of_adapter(cast(Path, self.folder), given)

    def merged(self, given: str = "") -> tuple[Any, Any]:
        """The base model with the adapter added to its weights, in full precision; the tokenizer.

        Args:
            given: the base model's folder, if it is not found by itself.
        """
        base = self.base_model(given)
        model = self.adapter.on(base.load("none", "cpu")).merge_and_unload()
        return model, base.tokenizer()

    def write(self, folder: Path) -> None:
        """Write the adapter as PEFT does, in a sub-folder, and which base model it belongs to."""
        base = self.base_model()
        self.adapter.write(folder / _ADAPTER, base.identity)
        base.write(folder)

    @classmethod
    def read(cls, folder: Path, card: SystemCard, device: str) -> _Adapted:
        """Read back what :meth:`write` wrote; the base model is looked for when it is needed.

        Raises:
            InputError: the adapter cannot be read, or its settings are of another version.
        """
        read_settings(cast(type[AdapterConfig], cls.Config), card.settings, cls.KIND)
        return cls(card, Adapter.read(folder / _ADAPTER), None, folder, device)


def _base_of(config: AdapterConfig, records: Sequence[Record]) -> Base:
    if config.base != SCRATCH:
        return Base.find(config.base, config.revision)
    texts = [prompt(r.instruction, r.input, config.template) + r.output for r in records]
    return Base.scratch(texts, config.seed)


def _tuned(
    base: Base,
    train: Sequence[Record],
    held: Sequence[Record],
    config: AdapterConfig,
    run: Run,
    recipe: str,
) -> Tuned:
    for library, extra in (("accelerate", "train"), ("peft", "llm"), ("trl", "llm")):
        require(library, extra)
    from .tuning import tune

    tokenizer = base.tokenizer()
    sides = [rows_of(tokenizer, part, config.cutoff, config.template) for part in (train, held)]
    return tune(base, sides[0], sides[1], config, run, recipe)


@dataclass(frozen=True)
class LlamaLora(_Adapted):
    """An adapter for one direction, taught by its pairs."""

    KIND: ClassVar[str] = "llama-lora"
    NEEDS_PARALLEL: ClassVar[bool] = True
    ORIGIN: ClassVar[str] = (
        "Hu et al. (2022), LoRA; Dettmers et al. (2023), QLoRA; TSTBench's implementation"
    )
    Config: ClassVar[type[SystemConfig]] = LlamaLoraConfig
    Settings: ClassVar[type] = LoraSettings

    @classmethod
    def train(cls, data: TrainingData, config: LlamaLoraConfig, run: Run = IN_MEMORY) -> LlamaLora:
        """Learn from pairs; validation pairs choose the weights.

        Raises:
            InputError: there are no pairs; the base is no causal language model, lacks the layers,
                or cannot be quantised here.
            MissingFileError: the base model is not to be found.
            MissingExtraError: trl or peft is not installed.
        """
        paired = Paired.of(
            data,
            config.pairs,
            lambda sides: lexical_pairs(*sides),
            hold_out=config.hold_out,
            seed=config.seed,
            system=cls.KIND,
        )
        card = cls.planned(data, config)
        told = instruction(data.direction)
        train, held = (
            [Record(told, source, target) for source, target in part]
            for part in (paired.train, paired.held_out)
        )
        base = _base_of(config, [*train, *held])
        tuned = _tuned(base, train, held, config, run, card.recipe)
        card = replace(card, n_pairs=len(train), scores=dict(tuned.scores))
        return cls(card, tuned.adapter, base, device=run.device)


@dataclass(frozen=True)
class LlamaLoraInst(_Adapted):
    """An adapter taught by instructions, asked for every direction."""

    KIND: ClassVar[str] = "llama-lora-inst"
    ANY_DIRECTION: ClassVar[bool] = True
    LOCAL: ClassVar[tuple[str, ...]] = ("base", "instructions")
    ORIGIN: ClassVar[str] = LlamaLora.ORIGIN
    Config: ClassVar[type[SystemConfig]] = LlamaLoraInstConfig
    Settings: ClassVar[type] = InstructedSettings

    def instruction(self, task: Task) -> str:
        """That of the prompts that were chosen."""
        return instruction(task.direction, task.settings.prompts)

    @classmethod
    def train(
        cls, data: TrainingData, config: LlamaLoraInstConfig, run: Run = IN_MEMORY
    ) -> LlamaLoraInst:
        """Learn from instructions; ``data`` is of some direction and not learned from.

        Raises:
            MissingFileError: the instructions or the base model are not to be found.
            InputError, MissingExtraError: as for :class:`LlamaLora`.
        """
        records = load_instructions(config.instructions, config.instructions_revision).records
        card = cls.planned(data, config)
        n_held = min(config.hold_out, max(1, len(records) // 10))
        drawn = np.random.default_rng([config.seed, 17]).permutation(len(records))
        held, train = ([records[i] for i in part] for part in (drawn[:n_held], drawn[n_held:]))
        base = _base_of(config, records)
        tuned = _tuned(base, train, held, config, run, card.recipe)
        return cls(replace(card, scores=dict(tuned.scores)), tuned.adapter, base, device=run.device)

    @classmethod
    def planned(cls, data: TrainingData, config: SystemConfig) -> SystemCard:
        """The card: what was learned from are the instructions, not the direction's sentences."""
        card = super().planned(data, config)
        own = cast(LlamaLoraInstConfig, config)
        found = load_instructions(own.instructions, own.instructions_revision)
        return replace(
            card,
            trained_on=f"{len(found.records):,} instructions of {found.name}",
            data_fingerprint=found.fingerprint,
            n_sentences=len(found.records),
            n_pairs=0,
            n_excluded=0,
        )


_MERGED = "merged.json"
_SLOT = "\0"


def merge(folder: str, out: Path, *, base: str = "", revision: str | None = None) -> Path:
    """Write the base model of a system with its adapter added to the weights, in float32.

    A server such as vLLM serves this ordinary checkpoint under a name; ``transfer --model`` then
    asks it like any other. The layout that it was taught is its chat template.

    Args:
        folder: of the system, or its Hub id.
        out: to write; an earlier merged model at its place is replaced.
        base: the base model's folder, if it is not found by itself.
        revision: for a Hub id.

    Raises:
        InputError: the system has no adapter, or ``out`` contains something else.
        MissingSystemError, MissingFileError, IntegrityError: as for loading it.
    """
    system = load_system(folder, revision=revision, device="cpu")
    if not isinstance(system, LlamaLora | LlamaLoraInst):
        raise InputError(
            f"{system.card.name} is a {system.card.kind}, which has no adapter to merge"
        )
    with atomic_folder(out, ours=lambda path: (path / _MERGED).is_file()) as scratch, quiet():
        model, tokenizer = system.merged(base)
        tokenizer.chat_template = chat_template(tokenizer, system.config.template)
        with quiet_loading():
            model.save_pretrained(scratch)
        tokenizer.save_pretrained(scratch)
        card: dict[str, Any] = {
            "system": system.card.name,
            "recipe": system.card.recipe,
            "directions": list(system.card.directions),
            "datasets": base_datasets(system.card.settings),
            "base": system.base_model(base).identity.name,
        }
        write_json(scratch / _MERGED, card)
        write_text(scratch / "README.md", _readme(card))
    return out


def chat_template(tokenizer: Any, template: Template) -> str:
    """A message as an instruction without input, in the layout of training."""
    before, after = prompt(_SLOT, "", template).split(_SLOT)
    starts = prompt_rows(tokenizer, ["a"])[0][0] == tokenizer.bos_token_id
    return (
        f"{'{{ bos_token }}' if starts else ''}"
        "{% for message in messages %}{% if message['role'] == 'user' %}"
        f"{before}{{{{ message['content'] }}}}{after}"
        "{% elif message['role'] == 'assistant' %}{{ message['content'] }}{{ eos_token }}\n"
        "{% endif %}{% endfor %}"
    )


def _readme(card: dict[str, Any]) -> str:
    return (
        f"# {card['system']}, merged\n\n"
        f"The language model {card['base']} with the adapter of {card['system']} "
        f"({', '.join(card['directions']) or 'any direction'}) added to its weights.\n\n"
        "```python\nfrom transformers import AutoModelForCausalLM, AutoTokenizer\n\n"
        'model = AutoModelForCausalLM.from_pretrained("<this folder>")\n```\n\n'
        "Its terms are those of the base model and of the data that the adapter learned from.\n"
    )
