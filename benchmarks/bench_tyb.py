"""Training speed of TYB's first phase against transformers' Seq2SeqTrainer, as ratios in one run.

    python benchmarks/bench_tyb.py

Both sides teach the same small BART the same pairs, with the same optimiser, batch size, device and
number type: the trainer as its manual shows, in random order, and again with its own length groups.
A token counts if it is not padding. Every side trains a few steps before it is timed, and the sides
take turns. Pairs: StylePTB's future tense if TSTBENCH_SOURCES is set, else generated ones.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch
from job import generated_job
from timing import Stopwatch, load_average, read_options
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    DataCollatorForSeq2Seq,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
)

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import Pair, load_training
from tstbench.trainers.training.loop import learn
from tstbench.trainers.training.pairs import Paired
from tstbench.trainers.training.rewarded_bart import Seq2Seq
from tstbench.trainers.training.run import Run
from tstbench.trainers.tyb import StyleCnn, TybConfig, _Learner

BATCH, MAX_LENGTH, RATE = 32, 60, 1e-4


def load_pairs() -> tuple[str, list[Pair]]:
    if os.environ.get("TSTBENCH_SOURCES"):
        data = load_training("styptb_tfu/present-to-future")
        return "StylePTB, to future tense", list(data.train.pairs)
    rng, job = random.Random(0), generated_job()
    texts = [" ".join(rng.choices(job.test_set.sources, k=rng.randint(1, 3))) for _ in range(4000)]
    return "generated", [(text, f"{text} soon") for text in texts]


def fresh(bart: Seq2Seq, dimension: int) -> Seq2Seq:
    torch.manual_seed(0)
    layers = {f"{side}_layers": 2 for side in ("encoder", "decoder")}
    heads = {f"{side}_attention_heads": 4 for side in ("encoder", "decoder")}
    ffn = {f"{side}_ffn_dim": 4 * dimension for side in ("encoder", "decoder")}
    config = {**bart.model.config.to_dict(), **layers, **heads, **ffn, "d_model": dimension}
    return Seq2Seq(BartForConditionalGeneration(BartConfig(**config)), bart.tokenizer)


class Ours:
    """Steps of the learner, through the same loop as every system."""

    def __init__(self, bart: Seq2Seq, pairs: list[Pair], steps: int, grouping: int) -> None:
        config = replace(
            TybConfig.tiny(parse_direction("mini/negative-to-positive")),
            batch_size=BATCH,
            grouping=grouping,
            max_length=MAX_LENGTH,
            learning_rate=RATE,
            rewards_from=steps,
        )
        cnn = StyleCnn(bart.model.config.vocab_size, dimension=2, filters=1)
        held = Paired(tuple(pairs), tuple(pairs[:2]), mined=False)
        self.learner = _Learner(bart, cnn, held, config)
        self.learner.steps, self.learner.validate_every = steps, 10**9
        self.learner.validate = lambda: {"selection": 0.0}  # not timed on the other side either
        self.steps = steps

    def __call__(self) -> int:
        learn(self.learner, Run(device=DEVICE), "bench")
        chosen = [i for step in range(self.steps) for i in self.learner._order.at(step)]
        return sum(len(side[i]) for side in self.learner._train for i in chosen)


class Theirs:
    """Seq2SeqTrainer, as its manual shows."""

    def __init__(self, bart: Seq2Seq, pairs: list[Pair], steps: int, sampling: str) -> None:
        sources, targets = (bart.encode([p[k] for p in pairs], MAX_LENGTH) for k in (0, 1))
        self.seen: list[int] = []
        rows = [
            {"input_ids": x, "attention_mask": [1] * len(x), "labels": y}
            for x, y in zip(sources, targets, strict=True)
        ]
        collate = DataCollatorForSeq2Seq(bart.tokenizer, model=bart.model)

        def counted(batch: list[dict[str, Any]]) -> Any:
            self.seen.append(sum(len(one["input_ids"]) + len(one["labels"]) for one in batch))
            return collate(batch)

        self.folder = tempfile.TemporaryDirectory()
        arguments = Seq2SeqTrainingArguments(
            self.folder.name,
            max_steps=steps,
            per_device_train_batch_size=BATCH,
            learning_rate=RATE,
            lr_scheduler_type="constant",
            adam_beta2=0.98,
            max_grad_norm=0.0,
            train_sampling_strategy=sampling,
            save_strategy="no",
            logging_steps=10**9,
            report_to="none",
            use_cpu=DEVICE == "cpu",
            bf16=DEVICE == "cuda",
        )
        self.trainer = Seq2SeqTrainer(
            bart.model, arguments, train_dataset=rows, data_collator=counted
        )

    def __call__(self) -> int:
        self.seen.clear()
        self.trainer.train()
        return sum(self.seen[: self.trainer.args.max_steps])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--pairs", type=int, help="only so many")
    parser.add_argument("--dimension", type=int, default=128)
    asked = read_options(parser, steps=1, repeats=1, pairs=60, dimension=16)
    name, pairs = load_pairs()
    pairs = pairs[: asked.pairs]
    texts = [text for pair in pairs for text in pair]
    bart = Seq2Seq.scratch(texts, seed=0, n_words=4096)
    print(f"{name}: {len(pairs):,} pairs; d {asked.dimension}, {BATCH} pairs a batch, {DEVICE}")
    makers = {
        "ours, length groups": lambda n: Ours(fresh(bart, asked.dimension), pairs, n, 20),
        "ours, random order": lambda n: Ours(fresh(bart, asked.dimension), pairs, n, 1),
        "trainer, random order": lambda n: Theirs(fresh(bart, asked.dimension), pairs, n, "random"),
        "trainer, length groups": lambda n: Theirs(
            fresh(bart, asked.dimension), pairs, n, "group_by_length"
        ),
    }
    watch, tokens = Stopwatch(), {}
    for repeat in range(asked.repeats):
        for side, make in makers.items():
            if repeat == 0:
                make(5)()  # what is set up once is not timed
            work = make(asked.steps)
            tokens[side] = watch(side, "training", work)
    speeds = {}
    for side in makers:
        taken = watch.total(side)
        speeds[side] = SimpleNamespace(wall=tokens[side] / taken.wall, cpu=tokens[side] / taken.cpu)
        print(
            f"{side:<24} {speeds[side].wall:9,.0f} tokens/s, {speeds[side].cpu:9,.0f} a CPU second"
        )
    for ours, theirs in (
        ("ours, random order", "trainer, random order"),
        ("ours, length groups", "trainer, length groups"),
        ("ours, length groups", "trainer, random order"),
    ):
        wall = speeds[ours].wall / speeds[theirs].wall
        cpu = speeds[ours].cpu / speeds[theirs].cpu
        print(f"{ours} / {theirs}: {wall:.2f} by the clock, {cpu:.2f} by CPU time")
    print(f"load average {load_average():.1f}")


DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

if __name__ == "__main__":
    main()
