"""Training speed of STRAP against TRL's SFTTrainer, as ratios in one run.

    python benchmarks/bench_strap.py

Both sides teach the same GPT-2 the same rows, ``prefix <bos> suffix <eos>``, with a loss on the
suffix alone, and with the same optimiser, batch size, device and number type. The trainer runs with
its defaults, in random order, and again with its own length groups. A token counts if it is not
padding. Every side trains a few steps before it is timed, and the sides take turns. Sentences:
Shakespeare's if TSTBENCH_SOURCES is set, else generated ones.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from dataclasses import replace
from typing import Any

import torch
from datasets import Dataset
from job import generated_job
from timing import Stopwatch, load_average, read_options
from trl import SFTConfig, SFTTrainer

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import load_training
from tstbench.trainers.prefix_lm import PrefixLM
from tstbench.trainers.strap import Pair, PrefixLearner, RuleParaphraser, StrapConfig
from tstbench.trainers.training.backbones import BackboneShape, byte_level_tokenizer, random_model
from tstbench.trainers.training.loop import learn
from tstbench.trainers.training.run import Run

BATCH, RATE = 10, 5e-5
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def load_pairs(most: int) -> tuple[str, list[Pair]]:
    """Paraphrases by rules, and the sentences they are of."""
    if os.environ.get("TSTBENCH_SOURCES"):
        name = "Shakespeare"
        train = load_training("shakespeare/modern-to-shakespearean").train
        source, target = train.source, train.target
    else:
        name, rng, job = "generated", random.Random(0), generated_job()
        source, target = (
            [" ".join(rng.choices(job.test_set.sources, k=rng.randint(1, 3))) for _ in range(4000)]
            for _ in range(2)
        )
    rules = RuleParaphraser.of([source, target], salience=3, min_count=20, drop=0.1, shuffle=2.0)
    chosen = random.Random(0).sample(target, min(len(target), most))
    return name, list(zip(rules.paraphrased(chosen), chosen, strict=True))


class Models:
    """The same model, again and again."""

    def __init__(self, pairs: list[Pair], dimension: int, layers: int, words: int) -> None:
        texts = [text for pair in pairs for text in pair]
        self.folder = tempfile.TemporaryDirectory()
        tokenizer = byte_level_tokenizer(texts, "gpt2", words, 128)
        torch.manual_seed(0)
        model = random_model("gpt2", BackboneShape(dimension, layers, 4, 128), tokenizer)
        model.save_pretrained(self.folder.name)
        tokenizer.save_pretrained(self.folder.name)

    def fresh(self) -> PrefixLM:
        """A copy that nothing has been taught yet."""
        torch.manual_seed(0)
        return PrefixLM.pretrained(self.folder.name, [])


class Ours:
    """Steps of the learner, through the same loop as every system."""

    def __init__(self, model: PrefixLM, pairs: list[Pair], steps: int, grouping: int) -> None:
        config = replace(
            StrapConfig.tiny(parse_direction("mini/negative-to-positive")),
            batch_size=BATCH,
            grouping=grouping,
            learning_rate=RATE,
            validate_every=10**9,
        )
        self.learner = PrefixLearner(model, pairs, pairs[:1], config.tuning(1))
        self.learner.steps = steps
        self.learner.validate = lambda: {"selection": 0.0}  # not timed on the other side either

    def __call__(self) -> int:
        learned = self.learner
        learn(learned, Run(device=DEVICE), "bench")
        chosen = [i for step in range(learned.steps) for i in learned._order.at(step)]
        return sum(1 + len(learned._prefixes[i]) + len(learned._suffixes[i]) for i in chosen)


class Theirs:
    """SFTTrainer on rows that are tokenised already."""

    def __init__(self, model: PrefixLM, pairs: list[Pair], steps: int, sampling: str) -> None:
        prefixes = model.prefixes([prefix for prefix, _ in pairs])
        suffixes = model.suffixes([suffix for _, suffix in pairs])
        start = model.tokenizer.bos_token_id
        rows = [
            {
                "input_ids": [*prefix, start, *suffix],
                "completion_mask": [0] * (len(prefix) + 1) + [1] * len(suffix),
                "length": len(prefix) + 1 + len(suffix),
            }
            for prefix, suffix in zip(prefixes, suffixes, strict=True)
        ]
        self.seen: list[int] = []
        self.folder = tempfile.TemporaryDirectory()
        arguments = SFTConfig(
            self.folder.name,
            max_steps=steps,
            per_device_train_batch_size=BATCH,
            learning_rate=RATE,
            train_sampling_strategy=sampling,
            completion_only_loss=True,
            gradient_checkpointing=False,
            save_strategy="no",
            logging_steps=10**9,
            report_to="none",
            use_cpu=DEVICE == "cpu",
            bf16=DEVICE == "cuda",
        )
        self.trainer = SFTTrainer(
            model.model,
            arguments,
            train_dataset=Dataset.from_list(rows),
            processing_class=model.tokenizer,
        )
        collate = self.trainer.data_collator

        def counted(batch: list[dict[str, Any]]) -> Any:
            self.seen.append(sum(len(one["input_ids"]) for one in batch))
            return collate(batch)

        self.trainer.data_collator = counted

    def __call__(self) -> int:
        self.seen.clear()
        self.trainer.train()
        return sum(self.seen[: self.trainer.args.max_steps])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=2000, help="so many at most")
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--words", type=int, default=8192)
    asked = read_options(parser, steps=2, repeats=1, pairs=60, dimension=16, layers=1, words=300)
    name, pairs = load_pairs(asked.pairs)
    models = Models(pairs, asked.dimension, asked.layers, asked.words)
    print(f"{name}: {len(pairs):,} pairs; d {asked.dimension}, {asked.layers} layers, "
          f"{asked.words:,} tokens; {BATCH} pairs a batch, {DEVICE}")  # fmt: skip
    makers = {
        "ours, length groups": lambda n: Ours(models.fresh(), pairs, n, 50),
        "ours, random order": lambda n: Ours(models.fresh(), pairs, n, 1),
        "trainer, random order": lambda n: Theirs(models.fresh(), pairs, n, "random"),
        "trainer, length groups": lambda n: Theirs(models.fresh(), pairs, n, "group_by_length"),
    }
    watch, tokens = Stopwatch(), {}
    for repeat in range(asked.repeats):
        for side, make in makers.items():
            if repeat == 0:
                make(3)()
            work = make(asked.steps)
            tokens[side] = watch(side, "steps", work)
    speed = {}
    for side, n_tokens in tokens.items():
        taken = watch.total(side)
        speed[side] = (n_tokens / taken.wall, n_tokens / taken.cpu)
        print(f"{side:<24} {speed[side][0]:>8,.0f} tokens/s; {speed[side][1]:>8,.0f} a CPU second")
    for ours, theirs in (
        ("ours, random order", "trainer, random order"),
        ("ours, length groups", "trainer, random order"),
        ("ours, length groups", "trainer, length groups"),
    ):
        wall, cpu = (a / b for a, b in zip(speed[ours], speed[theirs], strict=True))
        print(f"{ours} / {theirs}: {wall:.2f} by the clock, {cpu:.2f} by processor time")
    print(f"load average {load_average():.1f}")


if __name__ == "__main__":
    main()
