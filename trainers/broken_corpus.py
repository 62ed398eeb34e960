"""Sentences of four corpora and broken copies of them: what fluency is learned from first.

Where CoLA's sentences are linguists' examples, these are what systems are tested on: reviews and
plays. No person judged them, and no test sentence, human rewrite of one, or input of a
study of human judgments is among them.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ..datasets_scripts.cleaning import match_key
from ..datasets_scripts.load import load_styles
from ..datasets_scripts.sources import MIR_2019, upstream_file
from ..files import read_lines
from ..metrics.scorers.artefacts import Artefact
from ..metrics.scorers.classifiers import ACCEPTABILITY_STYLES
from .acceptability import AcceptabilityCorpus, cola_corpus, train_acceptability
from .classifiers.data import LabelledSentences, labelled
from .system_errors import break_sentence, errors, words_of

BROKEN = "broken"  # the corpus's name in the scorer cache
SEED = 0
# How many sentences of each corpus; of the plays, the modern side: people judge today's English.
N_YELP, N_SHAKESPEARE, N_AMAZON, N_COLA = 11_000, 3_500, 800, 1_700
STUDY_INPUTS = ("data/sentiment.test.0", "data/sentiment.test.1")  # of Mir et al. (2019)
_SHORTEST, _LONGEST = 4, 28  # in words
_HELD_OUT = 20  # one sentence is held out for so many


def broken_corpus() -> AcceptabilityCorpus:
    """The sentences, labelled 1, and a broken copy of each, labelled 0, in pairs.

    Raises:
        MissingFileError: a corpus cannot be found or downloaded; the message names the file.
    """
    cola = cola_corpus()
    inputs = [line for name in STUDY_INPUTS for line in _lines(name)]
    yelp = load_styles("yelp", exclude=inputs).training
    shakespeare = load_styles("shakespeare")
    modern = shakespeare.training.of(shakespeare.styles.index("modern"))
    amazon = load_styles("amazon").training
    held_out = {s for part in cola.dev.values() for s in part.sentences}
    good = [
        sentence
        for sentence, label in zip(cola.train.sentences, cola.train.labels, strict=True)
        if label == ACCEPTABILITY_STYLES.index("acceptable") and sentence not in held_out
    ]
    wanted = (
        (yelp.texts, N_YELP),
        (modern, N_SHAKESPEARE),
        (amazon.texts, N_AMAZON),
        (good, N_COLA),
    )
    rng = random.Random(SEED)
    train, held = [], []
    for sentences, count in wanted:
        drawn = draw(sentences, count + count // _HELD_OUT, rng)
        train += drawn[:count]
        held += drawn[count:]
    return AcceptabilityCorpus(
        BROKEN,
        f"sentences of yelp, shakespeare, amazon and CoLA, and broken copies, seed {SEED}",
        with_broken(train),
        {"broken": with_broken(held, exclude=train)},
    )


def train_cola() -> Artefact:
    """Train and store the acceptability classifier, unless its recipe was trained before.

    In two steps: on the broken corpus, and from there on CoLA, whose 8,551 sentences are too few to
    teach a sentence encoder grammar.

    Raises:
        MissingFileError: see :func:`broken_corpus`.
    """
    from .classifiers.lora import LoraConfig  # torch

    broken, cola = broken_corpus(), cola_corpus()
    first = train_acceptability(broken, config=LoraConfig(epochs=1))
    then = LoraConfig(base=str(first.folder), epochs=1.5, learning_rate=5e-4, kept=0.3)
    cola = replace(cola, trained_on=f"{broken.trained_on}; then {cola.trained_on}")
    return train_acceptability(cola, config=then)


def draw(sentences: Iterable[str], count: int, rng: random.Random) -> list[str]:
    """As many of the distinct sentences, or all; none that is a fragment or has masked words."""
    suitable = sorted({sentence for sentence in sentences if _is_suitable(sentence)})
    rng.shuffle(suitable)
    return suitable[:count]


def with_broken(sentences: Sequence[str], *, exclude: Collection[str] = ()) -> LabelledSentences:
    """Each sentence and a broken copy of it, in pairs; one too short to break is left out.

    Raises:
        InputError: none can be broken.
    """
    left_out = set(map(match_key, exclude))
    kept = [sentence for sentence in sentences if match_key(sentence) not in left_out]
    known = errors([words_of(sentence) for sentence in kept])
    texts: list[str] = []
    for sentence in kept:
        if (broken := break_sentence(sentence, known, SEED)) is not None:
            texts += [sentence, broken[0]]
    labels = (1, 0) * (len(texts) // 2)
    return labelled(texts, labels, ACCEPTABILITY_STYLES, what=BROKEN)


def _is_suitable(sentence: str) -> bool:
    words = sentence.split()
    masked = "unk" in words or "_num_" in sentence
    return _SHORTEST <= len(words) <= _LONGEST and not masked


def _lines(name: str) -> Iterator[str]:
    place: Path = upstream_file(MIR_2019, name).locate()
    yield from read_lines(place)
