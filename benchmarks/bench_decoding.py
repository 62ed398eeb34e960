"""Writing words one by one and all at once, as ratios in one run: STYTRANS and NAST.

    OMP_WAIT_POLICY=PASSIVE python benchmarks/bench_decoding.py

Step: STYTRANS's generator step with 32 words a sentence against the same step without a cache,
where the decoder reads all its soft words again for each new one. Decoding: 500 sentences together
against one by one. Parallel: NAST against STYTRANS, of one size. The systems learn to copy `mini`
for a moment first, so that sentences end.
"""

import argparse
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
from timing import Stopwatch, load_average, read_options
from torch import Tensor

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import TrainingData, TrainingPart, load_training
from tstbench.trainers.nast import Nast, NastConfig
from tstbench.trainers.stytrans import Generator, StyTrans, StyTransConfig, _Learner
from tstbench.trainers.training.run import Run
from tstbench.trainers.training.words import END, PAD, UNKNOWN, lengths_of, padded
from tstbench.trainers.word_system import Corpus

DIRECTION = "mini/negative-to-positive"
STEP_BATCH, WORDS = 16, 3_000
MINI = {"dimension": 128, "layers": 2, "min_count": 1, "batch_size": 32, "learning_rate": 1e-3}
BRIEFLY = {"rounds": 1, "discriminator_steps": 1, "generator_steps": 1}


def reading_again(
    generator: Generator,
    words: Tensor,
    styles: Tensor,
    *,
    temperature: float | None,
    forbidden: Sequence[int] = (),
) -> Tensor:
    """What ``Generator.unroll`` writes (or ``write``, without a temperature), with nothing kept."""
    memory, mask = generator.reader(words, lengths_of(words), styles)
    written: Tensor | None = None
    start = generator.start.expand(len(words), 1, -1)
    while written is None or written.shape[1] < generator.max_length:
        before = (
            start if written is None else torch.cat([start, generator.reader.words(written)], 1)
        )
        vectors, _ = generator.decoder(before, generator.decoder.memory(memory), mask)
        logits = generator.output(vectors[:, -1:])
        if temperature is None:  # at least one word
            logits[..., [*forbidden, *((END,) if written is None else ())]] = -torch.inf
        word = logits.argmax(-1) if temperature is None else (logits / temperature).softmax(-1)
        written = word if written is None else torch.cat([written, word], dim=1)
        ids = written if temperature is None else written.argmax(-1)
        if (ids == END).any(dim=1).all():
            break
    return written


class ReadingAgain(_Learner):
    """A learner whose rewrites come without a cache."""

    def rewritten(self, words: Tensor, styles: Tensor, step: int) -> Tensor:
        temperature = self._temperature(step)
        return reading_again(self._generator, words, styles, temperature=temperature)


def bench_step(watch: Stopwatch, length: int, repeats: int) -> None:
    rng = random.Random(0)
    names = [f"w{i}" for i in range(WORDS)]
    texts = [" ".join(rng.choices(names, k=length - 1)) for _ in range(400)]
    part = TrainingPart("train", tuple(texts[:200]), tuple(texts[200:]))
    data = TrainingData(parse_direction(DIRECTION), "paper-v1", part)
    config = StyTransConfig(max_length=length, batch_size=STEP_BATCH, min_count=1)
    corpus = Corpus.of(data, min_count=1, max_length=length, held_out=20, seed=0)
    torch.manual_seed(0)
    generator = Generator(len(corpus.vocabulary), config.shape, length)
    with torch.no_grad():
        generator.output.bias[END] = -20.0  # all rewrites are of that length
    system = StyTrans(StyTrans.planned(data, config), corpus.vocabulary, generator)
    learners = {"cache": _Learner(system, corpus), "no cache": ReadingAgain(system, corpus)}
    whole = np.concatenate([np.arange(STEP_BATCH), corpus.n_source + np.arange(STEP_BATCH)])
    losses: dict[str, list[float]] = {}
    for repeat in range(repeats + 1):  # the first one warms up
        for name, learner in learners.items():
            learner.discriminator.load_state_dict(learners["cache"].discriminator.state_dict())
            generator.zero_grad()

            def step(learner: _Learner = learner) -> list[float]:
                terms = learner.generator_loss(whole, 0)
                torch.stack(list(terms.values())).sum().backward()
                learner.optimizers["generator"].zero_grad()
                return [value.item() for value in terms.values()]

            side = f"step, {name}" if repeat else "warm"
            losses[name] = watch(side, 0, step)
    gap = max(abs(a - b) / abs(a) for a, b in zip(*losses.values(), strict=True))
    words = len(corpus.vocabulary)
    print(f"generator step, {2 * STEP_BATCH} sentences of {length} words, {words:,} known words")
    print(f"values: the largest relative difference of a loss is {gap:.0e}")
    ratio(watch, "step, no cache", "step, cache", wanted=3)


def systems(sentences: int, warm_up: int) -> tuple[StyTrans, Nast, list[str]]:
    data = load_training(DIRECTION)
    run = Run(device="cpu")
    direction = parse_direction(DIRECTION)
    shared = {**MINI, **BRIEFLY, "warm_up": warm_up, "max_length": 16, "hold_out": 50}
    autoregressive = StyTransConfig(**shared)
    parallel = replace(NastConfig.for_direction(direction), **shared)
    pool = [text for text in data.train.source if len(text.split()) < 16]
    sources = random.Random(0).choices(pool, k=sentences)
    return StyTrans.train(data, autoregressive, run), Nast.train(data, parallel, run), sources


def bench_decoding(stytrans: StyTrans, sources: list[str], watch: Stopwatch, repeats: int) -> None:
    rows = [
        stytrans.vocabulary.encode(text.split(), stytrans.config.max_length) for text in sources
    ]

    def one_by_one(write: Callable[[Tensor], Tensor]) -> list[str]:
        with torch.inference_mode():
            ids = [write(padded([row]))[0].tolist() for row in rows]
        return [" ".join(stytrans.vocabulary.decode(row)) for row in ids]

    style = torch.ones(1, dtype=torch.long)
    never = (PAD, UNKNOWN)
    generator = stytrans.network
    sides = {
        "together": lambda: stytrans.rewritten(sources, 0),
        "one by one": lambda: one_by_one(
            lambda words: generator.write(words, lengths_of(words), style, forbidden=never)
        ),
        "one by one, no cache": lambda: one_by_one(
            lambda words: reading_again(generator, words, style, temperature=None, forbidden=never)
        ),
    }
    answers = {name: watch(name, 0, work) for name, work in sides.items()}
    for _ in range(repeats):  # the others take long enough to be timed once
        watch("together", 0, sides["together"])
    differ = sum(
        a != b
        for name in list(sides)[1:]
        for a, b in zip(answers[name], answers["together"], strict=True)
    )
    print(f"decoding {len(sources)} sentences with STYTRANS, {differ} answers differ by side")
    ratio(watch, "one by one, no cache", "together", wanted=10)
    ratio(watch, "one by one", "together")


def bench_parallel(
    stytrans: StyTrans, nast: Nast, sources: list[str], watch: Stopwatch, repeats: int
) -> None:
    simple_config = replace(nast.config, alignment="simple", drop=0.0, insert=0.0)
    simple = Nast.new_network(len(nast.vocabulary), simple_config)
    simple.load_state_dict(nast.network.state_dict(), strict=False)
    card = nast.planned(load_training(DIRECTION), simple_config)
    sides = {
        "STYTRANS": stytrans,
        "NAST, learnable": nast,
        "NAST, simple": Nast(card, nast.vocabulary, simple.eval().requires_grad_(False)),
    }
    for _ in range(repeats):
        for name, system in sides.items():
            watch(name, 0, lambda s=system: s.rewritten(sources, 0))
    for name in sides:
        print(f"{name:<16} {len(sources) / watch.total(name).wall:7.0f} sentences/s")
    for name in list(sides)[1:]:
        ratio(watch, "STYTRANS", name)


def ratio(watch: Stopwatch, slow: str, fast: str, wanted: float | None = None) -> None:
    found = watch.total(slow) / watch.total(fast)
    target = "" if wanted is None else f"; wanted {wanted}"
    print(f"{slow} / {fast} = {found.wall:.1f} by the clock, {found.cpu:.1f} by processor{target}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--length", type=int, default=32, help="words, of the generator step")
    parser.add_argument("--sentences", type=int, default=500, help="to write")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--warm-up", type=int, default=120, help="steps that the systems learn")
    options = read_options(parser, length=4, sentences=4, repeats=1, warm_up=2)
    torch.set_num_threads(1)
    watch = Stopwatch()
    bench_step(watch, options.length, options.repeats)
    stytrans, nast, sources = systems(options.sentences, options.warm_up)
    bench_decoding(stytrans, sources, watch, options.repeats)
    bench_parallel(stytrans, nast, sources, watch, options.repeats)
    print(f"load average {load_average():.1f}")


if __name__ == "__main__":
    main()
