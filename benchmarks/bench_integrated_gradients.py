"""Integrated gradients of many sentences at once against captum, sentence by sentence.

    python benchmarks/bench_integrated_gradients.py [--sentences 16] [--steps 50] [--repeat 2]

Sentences are sources of mini; two classifiers: all-MiniLM-L6-v2 with a new head (6 layers of width
384) and a small random BERT of the same vocabulary (2 layers of width 128). All sides explain the
probability of the same style from the same baseline with the same points, in float32; loading is
not timed.

- ours: ``IntegratedGradients.attribute``, all sentences in one call.
- captum: ``LayerIntegratedGradients.attribute`` for each sentence, its points in one batch.
- stepwise: the same with ``internal_batch_size=1``, one point at a time, on one sentence in eight.
- systems: what CPS asks for when 8 systems are scored: source and output of each. Ours computes a
  source once, the loop once for each system, so that its time is 16/9 of that of distinct texts
  (computed, not timed; outputs that are equal would add to it).

The exit code is 1 if an attribution differs by more than 1e-4.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from typing import Any

import numpy as np
import torch
import transformers
from captum.attr import LayerIntegratedGradients
from timing import Seconds, Stopwatch, load_average, read_options

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import load_test_set
from tstbench.metrics.scorers.attribution import IntegratedGradients
from tstbench.metrics.scorers.encoder_files import EMBEDDED_ENCODER, encoder_folder
from tstbench.metrics.scorers.transformer import TransformerModel
from tstbench.metrics.text import preparation

STYLES = ("negative", "positive")
TOLERANCE = 1e-4
SAMPLED = 8  # stepwise is timed on every eighth sentence
SYSTEMS = 8  # of the job with several systems


def classifiers() -> dict[str, tuple[Any, Any]]:
    """Name -> network and tokenizer."""
    folder = encoder_folder(EMBEDDED_ENCODER)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    torch.manual_seed(0)
    large = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, num_labels=2, use_safetensors=True, local_files_only=True
    )
    torch.nn.init.normal_(large.classifier.weight, std=0.5)  # a new head's own are near 0
    sizes = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.BertConfig(
        vocab_size=large.config.vocab_size, intermediate_size=512, num_labels=2, **sizes
    )
    small = transformers.BertForSequenceClassification(config)
    for parameter in small.parameters():
        torch.nn.init.normal_(parameter, std=0.2) if parameter.ndim > 1 else None
    return {"MiniLM": (large.eval(), tokenizer), "small": (small.eval(), tokenizer)}


class Captum:
    """The usual way: one sentence at a time."""

    def __init__(self, network: Any, tokenizer: Any, steps: int) -> None:
        def forward(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return network(input_ids=ids, attention_mask=mask).logits.softmax(-1)

        self._explain = LayerIntegratedGradients(forward, network.get_input_embeddings())
        self._tokenizer, self._steps = tokenizer, steps

    def attribute(self, sentence: str, style: int, at_once: int | None = None) -> np.ndarray:
        found = self._tokenizer(sentence, return_tensors="pt")
        start = torch.full_like(found["input_ids"], self._tokenizer.pad_token_id)
        start[0, 0], start[0, -1] = found["input_ids"][0, 0], found["input_ids"][0, -1]
        values = self._explain.attribute(
            found["input_ids"],
            baselines=start,
            target=style,
            additional_forward_args=(found["attention_mask"],),
            n_steps=self._steps,
            internal_batch_size=at_once,
        )
        summed: np.ndarray = values.sum(-1)[0].detach().numpy()
        return summed


def run(
    name: str, network: Any, tokenizer: Any, sentences: list[str], steps: int, repeat: int
) -> float:
    """Time all sides on one classifier, print ratios, and return the largest difference."""
    model = TransformerModel(STYLES, network, tokenizer, [0, 1])
    ours, captum, watch = IntegratedGradients(model), Captum(network, tokenizer, steps), Stopwatch()
    largest = 0.0
    for _ in range(repeat):
        found = watch("ours", "all", lambda: ours.attribute(sentences, steps=steps))
        for number, (sentence, one) in enumerate(zip(sentences, found, strict=True)):
            explain = partial(captum.attribute, sentence, one.style)
            values = watch("captum", number, explain)
            largest = max(largest, float(np.abs(values - one.values).max()))
            if number % SAMPLED == 0:
                watch("stepwise", number, partial(explain, at_once=1))
    own, usual, part = (watch.total(side) for side in ("ours", "captum", "stepwise"))
    sampled = sum(
        (watch.unit("captum", n) for n in range(0, len(sentences), SAMPLED)), Seconds(0, 0)
    )
    n, ratio = len(sentences), usual / own
    stepwise = part / sampled
    times = 2 * SYSTEMS / (1 + SYSTEMS)
    print(
        f"{name:8}{n} sentences x {steps} points: ours {own.wall:.2f} s, captum {usual.wall:.2f}; "
        f"captum {ratio.wall:.2f} times by the clock, {ratio.cpu:.2f} in CPU time; stepwise "
        f"{ratio.wall * stepwise.wall:.1f} and {ratio.cpu * stepwise.cpu:.1f}; with {SYSTEMS} "
        f"systems {ratio.wall * times:.1f} and {ratio.cpu * times:.1f}"
    )
    print(f"{name:8}largest difference of an attribution {largest:.1e}")
    return largest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sentences", type=int, default=16)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--repeat", type=int, default=2)
    arguments = read_options(parser, sentences=2, steps=4, repeat=1)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    test_set = load_test_set(parse_direction("mini/negative-to-positive"))
    sentences = preparation().for_classifier(test_set.sources)[: arguments.sentences]
    print(f"{torch.get_num_threads()} threads of {os.cpu_count()} cores, load {load_average():.1f}")
    differences = [
        run(name, network, tokenizer, sentences, arguments.steps, arguments.repeat)
        for name, (network, tokenizer) in classifiers().items()
    ]
    print("target: captum at least 5 times ours")
    return 0 if max(differences) <= TOLERANCE else 1


if __name__ == "__main__":
    raise SystemExit(main())
