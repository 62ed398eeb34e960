"""Acceptability: the CoLA corpus read strictly, corruptions that are errors, classifiers."""

import random
import zipfile
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from tstbench.errors import IntegrityError
from tstbench.metrics.scorers.classifiers import find_classifier
from tstbench.trainers.acceptability import (
    COLA_FILES,
    AcceptabilityCorpus,
    cola_corpus,
    mcc,
    train_acceptability,
)
from tstbench.trainers.broken_corpus import CORRUPTIONS
from tstbench.trainers.classifiers.data import LabelledSentences
from tstbench.trainers.classifiers.linear import LinearConfig

ROWS = {
    "train": [
        "x1\t1\t\tthe cook was kind.",
        "x1\t0\t*\tthe cook kind was.",
        'y\t1\t\tshe said "no".',
    ],
    "in_domain": ["x1\t0\t??\tkind the was.", "x1\t1\t\twe left."],
    "out_of_domain": ["x2\t1\t\tit rained.", "x2\t0\t*\train it did fell."],
}


@pytest.fixture
def cola_folder(tmp_path):
    """Sentences of our own in the layout of the corpus; the last file lacks its final newline."""
    folder = tmp_path / "raw"
    folder.mkdir()
    for part, name in COLA_FILES.items():
        end = "" if part == "out_of_domain" else "\n"
        (folder / name).write_text("\n".join(ROWS[part]) + end, encoding="utf-8")
    return folder


def check(corpus):
    assert corpus.name == "cola"
    assert corpus.train.sentences == ("the cook was kind.", "the cook kind was.", 'she said "no".')
    assert corpus.train.labels == (1, 0, 1)
    assert list(corpus.dev) == ["in_domain", "out_of_domain"]
    assert corpus.dev["out_of_domain"].sentences[-1] == "rain it did fell."


def test_cola_is_read_from_its_folder_and_its_archive(cola_folder, tmp_path):
    check(cola_corpus(cola_folder))
    archive = tmp_path / "cola_public.zip"
    with zipfile.ZipFile(archive, "w") as content:
        for name in COLA_FILES.values():
            content.write(cola_folder / name, f"cola_public/raw/{name}")
    check(cola_corpus(archive))


def test_the_pinned_archive_is_the_default(monkeypatch, tmp_path):
    place = tmp_path / "nyu-mll/CoLA-baselines/acceptability_corpus/cola_public.zip"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"another archive")
    monkeypatch.setenv("TSTBENCH_SOURCES", str(tmp_path))
    with pytest.raises(IntegrityError, match="git blob id"):
        cola_corpus()


# Corruptions

WORDS = "the cook said we were kind because she is from the south".split()


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_each_corruption_makes_the_error_that_its_name_says(name):
    results = [CORRUPTIONS[name](list(WORDS), random.Random(seed)) for seed in range(60)]
    assert len({tuple(words) for words in results}) > 3
    for words in results:
        assert words != WORDS
        lost, gained = Counter(WORDS) - Counter(words), Counter(words) - Counter(WORDS)
        if name == "drop_function_word":
            assert (lost.total(), gained.total()) == (1, 0)
        elif name == "double_function_word":
            assert (lost.total(), gained.total()) == (0, 1)
            assert any(a == b for a, b in pairwise(words))
        elif name == "break_agreement":
            assert (lost.total(), gained.total()) == (1, 1)
            changed = [(a, b) for a, b in zip(WORDS, words, strict=True) if a != b]
            assert changed[0] in {("we", "us"), ("were", "was"), ("she", "her"), ("is", "are")}
        else:
            assert Counter(words) == Counter(WORDS)
            places = [i for i, (a, b) in enumerate(zip(WORDS, words, strict=True)) if a != b]
            assert (len(places) == 2) if name == "swap_neighbours" else (len(places) >= 2)


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_a_corruption_that_cannot_be_made_says_so(name):
    assert CORRUPTIONS[name](["great"], random.Random(0)) is None
    assert CORRUPTIONS[name]([], random.Random(0)) is None


# The classifier


class Fixed:
    """Says what it is told."""

    styles = ("unacceptable", "acceptable")

    def __init__(self, predicted):
        self.predicted = predicted

    def distribution(self, sentences):
        return np.eye(2)[self.predicted]


def test_mcc_equals_its_definition():
    rng = np.random.default_rng(0)
    truth, predicted = rng.integers(0, 2, 50), rng.integers(0, 2, 50)
    data = LabelledSentences(tuple(map(str, range(50))), tuple(truth.tolist()))
    tn, fp, fn, tp = (float(x) for x in confusion_matrix(truth, predicted).ravel())
    want = (tp * tn - fp * fn) / ((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5
    assert mcc(Fixed(predicted), data) == pytest.approx(want, abs=1e-12)
    assert mcc(Fixed(truth), data) == 1
    assert mcc(Fixed(1 - truth), data) == -1
    assert mcc(Fixed(np.ones(50, dtype=int)), data) == 0  # the majority's answer is worth nothing


def test_training_reports_every_dev_set_and_learns_from_none():
    """Sentences of the dev sets are in the training part too: they are taken out."""
    good = [
        f"the {noun} {verb} well"
        for noun in ("cook", "guide", "hotel", "band", "team")
        for verb in ("sleeps", "works", "sings", "looks")
    ]
    bad = [" ".join(sentence.split()[::-1]) for sentence in good]
    both = LabelledSentences((*good, *bad), (1,) * 20 + (0,) * 20)
    dev = {
        "first": LabelledSentences((good[0], bad[0]), (1, 0)),
        "turned": LabelledSentences((good[1], bad[1]), (0, 1)),
    }
    corpus = AcceptabilityCorpus("toy", "toy sentences", both, dev)
    artefact = train_acceptability(corpus, "linear", LinearConfig(min_count=1))
    assert artefact.card.scores == {
        "held_out_accuracy": 1.0,
        "mcc_first": 1.0,
        "mcc_turned": -1.0,
    }
    assert (artefact.card.n_sentences, artefact.card.n_excluded) == (36, 4)
    classifier = find_classifier("toy", "linear", role="acceptability")
    assert classifier.styles == ("unacceptable", "acceptable")
    rows = classifier.distribution([good[5], bad[5]])
    assert rows[0, 1] > 0.5 > rows[1, 1]


def rows(data):
    return list(zip(data.sentences, data.labels, strict=True))


@pytest.mark.realdata
def test_the_real_corpus_has_its_published_sizes(sources):
    corpus = cola_corpus()
    assert len(corpus.train) == 8551
    assert {name: len(part) for name, part in corpus.dev.items()} == {
        "in_domain": 527,
        "out_of_domain": 516,
    }
    older = cola_corpus(sources / "nyu-mll/CoLA-baselines/acceptability_corpus/raw")
    pairs = (
        (corpus.train, older.train),
        *((corpus.dev[name], older.dev[name]) for name in older.dev),
    )
    corrected = [
        sum(a != b for a, b in zip(rows(new), rows(old), strict=True)) for new, old in pairs
    ]
    assert corrected == [1, 4, 5]  # counted with diff(1) in the files
