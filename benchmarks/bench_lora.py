"""Training speed of LLaMA-LoRA against plain SFTTrainer + PEFT, as ratios in one run.

    python benchmarks/bench_lora.py

Both sides teach the same adapter of the same Llama the same rows, prompt and completion with a loss
on the completion alone, with the same optimiser, batch size, device and number type. The trainer
runs as its manual shows, in random order, and again with its own length groups. A token counts if
it is not padding. Every side trains a few steps before it is timed, the sides take turns, and what
is timed is the training itself: from its first step to its end, our last validation and the saving
of the weights included. Sentences: Shakespeare's if TSTBENCH_SOURCES is set, else generated ones.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import plain_sft
import torch
import transformers
from job import generated_job
from timing import load_average, read_options
from transformers.trainer_callback import TrainerCallback

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import load_training
from tstbench.trainers.lora.base import Base
from tstbench.trainers.lora.config import AdapterConfig, LlamaLoraConfig
from tstbench.trainers.lora.records import Record, prompt, rows_of
from tstbench.trainers.lora.tuning import tune
from tstbench.trainers.training.backbones import BackboneShape, byte_level_tokenizer, random_model
from tstbench.trainers.training.run import Run

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
TOLD = "Put this sentence from modern English into Shakespeare's English:"


class Timer(TrainerCallback):  # type: ignore[misc]
    """Of whichever trainer runs: seconds and the tokens that the trainer itself counts."""

    wall = cpu = 0.0
    tokens = 0

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        Timer.wall, Timer.cpu = -time.perf_counter(), -time.process_time()

    def on_log(self, *_: Any, logs: dict[str, Any], **__: Any) -> None:
        Timer.tokens = int(float(logs.get("num_tokens", Timer.tokens)))

    def on_train_end(self, *_: Any, **__: Any) -> None:
        Timer.wall += time.perf_counter()
        Timer.cpu += time.process_time()


def load_records(most: int) -> tuple[str, list[Record]]:
    if os.environ.get("TSTBENCH_SOURCES"):
        name, pairs = (
            "Shakespeare",
            load_training("shakespeare/modern-to-shakespearean").train.pairs,
        )
    else:
        name, rng, job = "generated", random.Random(0), generated_job()
        texts = [
            " ".join(rng.choices(job.test_set.sources, k=rng.randint(1, 3))) for _ in range(4000)
        ]
        pairs = tuple(zip(texts, reversed(texts), strict=True))
    chosen = random.Random(0).sample(pairs, min(len(pairs), most))
    return name, [Record(TOLD, source, target) for source, target in chosen]


def make_base(folder: str, records: list[Record], dimension: int, layers: int, words: int) -> Base:
    texts = [prompt(r.instruction, r.input) + r.output for r in records]
    tokenizer = byte_level_tokenizer(texts, "llama", words, 512)
    torch.manual_seed(0)
    model = random_model("llama", BackboneShape(dimension, layers, 4, 512), tokenizer)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Base.find(folder)


def ours(base: Base, records: list[Record], steps: int, config: AdapterConfig) -> None:
    rows = rows_of(base.tokenizer(), records, config.cutoff, config.template)
    rows = rows[: steps * config.batch_size]
    tune(base, rows, rows[:1], replace(config, epochs=1), Run(device=DEVICE), "bench")


def theirs(
    base: Base, records: list[Record], steps: int, config: AdapterConfig, sampling: str
) -> None:
    rows = [
        {"prompt": prompt(r.instruction, r.input), "completion": r.output}
        for r in records[: steps * config.batch_size]
    ]
    plain_sft.train(
        base.load("none", DEVICE, half=DEVICE == "cuda"),
        base.tokenizer(),
        rows,
        config,
        device=DEVICE,
        sampling=sampling,
        logging_steps=steps,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--pairs", type=int, default=2000, help="so many at most")
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--words", type=int, default=8192)
    asked = read_options(
        parser, steps=2, repeats=1, pairs=60, batch=2, dimension=16, layers=1, words=300
    )
    warnings.simplefilter("ignore")
    transformers.utils.logging.set_verbosity_error()
    transformers.trainer.DEFAULT_CALLBACKS.append(Timer)
    name, records = load_records(asked.pairs)
    config = replace(
        LlamaLoraConfig.for_direction(parse_direction("mini/negative-to-positive")),
        quantization="none",
        batch_size=asked.batch,
        micro_batch=asked.batch,
        checkpointing=False,
        validate_every=10**9,
    )
    with tempfile.TemporaryDirectory() as folder:
        base = make_base(str(Path(folder)), records, asked.dimension, asked.layers, asked.words)
        print(f"{name}: {len(records):,} pairs; d {asked.dimension}, {asked.layers} layers, "
              f"{asked.words:,} tokens; {asked.batch} rows a batch, {DEVICE}")  # fmt: skip
        sides = {
            "ours, length groups": lambda n: ours(base, records, n, config),
            "ours, random order": lambda n: ours(base, records, n, replace(config, grouping=1)),
            "trainer, random order": lambda n: theirs(base, records, n, config, "random"),
            "trainer, length groups": lambda n: theirs(base, records, n, config, "group_by_length"),
        }
        speed: dict[str, tuple[float, float]] = {}
        for repeat in range(asked.repeats):
            for side, train in sides.items():
                if repeat == 0:
                    train(3)
                train(asked.steps)
                found = (Timer.tokens / Timer.wall, Timer.tokens / Timer.cpu)
                best = speed.get(side, found)
                speed[side] = (max(best[0], found[0]), max(best[1], found[1]))
    for side, (wall, cpu) in speed.items():
        print(f"{side:<24} {wall:>8,.0f} tokens/s; {cpu:>8,.0f} a CPU second")
    for one, other in (
        ("ours, random order", "trainer, random order"),
        ("ours, length groups", "trainer, random order"),
        ("ours, length groups", "trainer, length groups"),
    ):
        wall, cpu = (a / b for a, b in zip(speed[one], speed[other], strict=True))
        print(f"{one} / {other}: {wall:.2f} by the clock, {cpu:.2f} by processor time")
    print(f"load average {load_average():.1f}")


if __name__ == "__main__":
    main()
