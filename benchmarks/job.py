"""The job that the benchmarks time: systems, sources and references of one direction.

8 systems x 500 sentences of Yelp negative-to-positive with 4 references. The systems are those
whose outputs lie below TSTBENCH_SOURCES; without it, sentences of the same shape are made of the
words of ``mini``.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.fingerprint import fingerprint
from tstbench.datasets_scripts.load import TestSet, load_styles, load_test_set
from tstbench.files import read_lines
from tstbench.pipelines.outputs import Outputs

CHATGPT = "FayeXXX/A-Benchmark-of-Text-Style-Transfer/Algorithms/CHATGPT/outputs/yelp"
LI = "lijuncen/Sentiment-and-Style-Transfer/evaluation/outputs/yelp"
LI_SYSTEMS = ("fader", "label", "mit", "multi_decoder", "orgin", "retrieval")
SENTENCES, SYSTEMS, REFERENCES = 500, 8, 4


@dataclass(frozen=True)
class Job:
    """Systems to evaluate on a test set."""

    name: str
    test_set: TestSet
    systems: tuple[Outputs, ...]

    def with_systems(self, n: int) -> Job:
        """The first n systems; beyond those there are, references and edited copies."""
        systems = list(self.systems)
        systems += more_systems(self.test_set, n - len(systems))
        return Job(self.name, self.test_set, tuple(systems[:n]))

    def first(self, n: int) -> Job:
        """The first n sentences."""
        whole = self.test_set
        texts = {key: getattr(whole, key)[:n] for key in ("ids", "sources", "references")}
        data = fingerprint(texts["sources"], texts["references"])
        outputs = (Outputs(s.system, s.predictions[:n]) for s in self.systems)
        return Job(self.name, replace(whole, **texts, fingerprint=data), tuple(outputs))


def load_job(*, smoke: bool = False) -> Job:
    """The real job where its files are, else a generated one; for a smoke test, a bit of that."""
    if smoke:
        return generated_job().first(8).with_systems(2)
    sources = os.environ.get("TSTBENCH_SOURCES")
    return real_job(Path(sources)) if sources else generated_job()


def real_job(root: Path) -> Job:
    systems = [
        Outputs("chatgpt", tuple(read_lines(root / CHATGPT / "output_cleaned.0"))),
        Outputs("chatgpt-fewshot", tuple(read_lines(root / CHATGPT / "output_fewshot_cleaned.0"))),
    ]
    for name in LI_SYSTEMS:  # source, output and label, tab-separated
        lines = read_lines(root / LI / f"sentiment.test.0.{name}")
        systems.append(Outputs(name, tuple(line.split("\t")[1] for line in lines)))
    return Job("Yelp", load_test_set("yelp/negative-to-positive"), tuple(systems))


def generated_job() -> Job:
    """Sources join halves of mini's sentences; outputs and references change words of them."""
    rng = random.Random(0)
    sentences = [text.split() for text in load_styles("mini").training.of(0)]
    words = sorted({word for sentence in sentences for word in sentence})
    sources = []
    while len(sources) < SENTENCES:
        first, second = rng.choice(sentences), rng.choice(sentences)
        sources.append(" ".join(first[: len(first) // 2] + second[len(second) // 2 :]))
    references = tuple(
        tuple(edited(source, words, rng) for _ in range(REFERENCES)) for source in sources
    )
    direction = parse_direction("mini/negative-to-positive")
    test_set = TestSet(
        direction=direction,
        part="test",
        ids=tuple(f"generated-{i:05d}" for i in range(SENTENCES)),
        sources=tuple(sources),
        references=references,
        fingerprint=fingerprint(sources, references),
        cleaning="paper-v1",
    )
    systems = (
        Outputs(f"system-{k}", tuple(edited(source, words, rng) for source in sources))
        for k in range(SYSTEMS)
    )
    return Job("generated", test_set, tuple(systems))


def more_systems(test_set: TestSet, n: int) -> Iterator[Outputs]:
    """n further systems: the references, then copies of the sources with changed words."""
    rng = random.Random(1)
    words = sorted({word for source in test_set.sources for word in source.split()})
    for k in range(n):
        if k < REFERENCES:
            yield Outputs(f"reference-{k}", tuple(some[k] for some in test_set.references))
        else:
            copies = tuple(edited(source, words, rng) for source in test_set.sources)
            yield Outputs(f"edited-{k}", copies)


def edited(sentence: str, words: list[str], rng: random.Random) -> str:
    """The sentence with two words, or the same one twice, put at random."""
    changed = sentence.split()
    for _ in range(2):
        changed[rng.randrange(len(changed))] = rng.choice(words)
    return " ".join(changed)
