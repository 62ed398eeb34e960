"""Sentences of four corpora and broken copies of them: what fluency is learned from first.

Where CoLA's sentences are linguists' examples, these are what systems are tested on: reviews and
plays. No person judged them, and no test sentence, human rewrite of one, or input of a
study of human judgments is among them.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from ..datasets_scripts.cleaning import match_key
from ..datasets_scripts.corpora import parse_dataset
from ..datasets_scripts.load import load_styles
from ..datasets_scripts.sources import COLA, MIR_2019, SourceFile, upstream_file
from ..files import read_lines
from ..metrics.scorers.artefacts import Artefact
from ..metrics.scorers.classifiers import ACCEPTABILITY_STYLES
from .acceptability import COLA_ARCHIVE, AcceptabilityCorpus, cola_corpus, train_acceptability
from .classifiers.config import ClassifierConfig
from .classifiers.data import LabelledSentences, labelled
from .system_errors import break_sentence, errors, words_of

BROKEN = "broken"  # the corpus's name in the scorer cache
SEED = 0
# How many sentences of each corpus; of the plays, the modern side: people judge today's English.
N_YELP, N_SHAKESPEARE, N_AMAZON, N_COLA = 11_000, 3_500, 800, 1_700
DATASETS = ("yelp", "shakespeare", "amazon")
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


def broken_files() -> tuple[SourceFile, ...]:
    """Every file that the corpus is made of."""
    parts = (part for name in DATASETS for part in parse_dataset(name).parts)
    inputs = (upstream_file(MIR_2019, name) for name in STUDY_INPUTS)
    files = [file for part in parts for file in part.files]
    return tuple(dict.fromkeys([*files, *inputs, *cola_files()]))


def cola_files() -> tuple[SourceFile, ...]:
    """The file that CoLA is read from."""
    return (upstream_file(COLA, COLA_ARCHIVE),)


def train_on_broken(kind: str, config: ClassifierConfig | None = None) -> Artefact:
    """Train and store the fluency classifier, unless its recipe was trained before."""
    if kind == "finetuned" and config is None:
        from .classifiers.finetuned import FinetunedConfig  # torch

        config = FinetunedConfig(epochs=1, learning_rate=1.5e-4)
    return train_acceptability(broken_corpus(), kind, config)


def train_on_cola(kind: str, config: ClassifierConfig | None = None) -> Artefact:
    """Train and store the classifier of CoLA, unless its recipe was trained before.

    Fine-tuning goes on from the fluency classifier, which is trained first: CoLA's 8,551 sentences
    are too few to teach a sentence encoder grammar.
    """
    if kind == "finetuned" and config is None:
        from .classifiers.finetuned import FinetunedConfig

        config = FinetunedConfig(base=str(train_on_broken(kind).folder))
    return train_acceptability(cola_corpus(), kind, config)


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
