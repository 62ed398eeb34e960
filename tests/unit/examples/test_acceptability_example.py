"""How the acceptability classifier was trained: on CoLA, and on sentences that were broken."""

import random
import zipfile
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from acceptability.broken import (
    CORRUPTIONS,
    FUNCTION_WORDS,
    STUDY_INPUTS,
    break_sentence,
    broken_corpus,
    draw,
    errors,
    with_broken,
    words_of,
)
from acceptability.cola import (
    COLA_FILES,
    AcceptabilityCorpus,
    cola_corpus,
    mcc,
    train_acceptability,
)
from sklearn.metrics import confusion_matrix

from tstbench.datasets_scripts.catalog import dataset_facts
from tstbench.datasets_scripts.cleaning import match_key
from tstbench.datasets_scripts.load import load_test_set
from tstbench.datasets_scripts.sources import MIR_2019, upstream_file
from tstbench.errors import InputError, IntegrityError
from tstbench.metrics.scorers.classifiers import find_classifier
from tstbench.metrics.scorers.linear import LinearConfig
from tstbench.metrics.scorers.train import LabelledSentences

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


SENTENCE = "the cook said that we loved the walk because she is from the south".split()
OTHERS = ["my tea tasted like rainwater yesterday".split()]
KNOWN = errors(OTHERS)


def made(name, words=SENTENCE, seeds=60):
    found = [KNOWN[name](list(words), random.Random(seed)) for seed in range(seeds)]
    results = [words for words in found if words is not None]
    assert results, "a loop over nothing would check nothing"
    return results


@pytest.mark.parametrize("name", KNOWN)
def test_no_error_changes_its_input_or_leaves_it_as_it_was(name):
    before = list(SENTENCE)
    results = made(name)
    assert len({tuple(words) for words in results}) >= 3
    assert before == SENTENCE
    assert all(words != SENTENCE and all(words) for words in results)


def test_phrases_are_said_twice():
    for words in made("repeat_phrase"):
        extra = Counter(words) - Counter(SENTENCE)
        assert 1 <= extra.total() == len(words) - len(SENTENCE) <= 4
        assert any(
            words[i : i + n] == words[i + n : i + 2 * n]
            for n in range(1, 5)
            for i in range(len(words) - n)
        )


def test_a_sentence_stops_after_a_function_word():
    for words in made("stop_early"):
        assert words == SENTENCE[: len(words)]
        assert words[-1] in {"we", "the", "she", "is", "from"}


def test_words_of_other_sentences_come_in():
    for words in made("continue_differently"):
        start = next(i for i in range(len(words)) if words[i] in OTHERS[0])
        assert words[:start] == SENTENCE[:start]
        assert start
        assert words[start:] == OTHERS[0][-len(words[start:]) :]
    for words in made("replace_phrase"):
        foreign = [word for word in words if word in OTHERS[0]]
        assert 1 <= len(foreign) <= 3


def test_words_are_lost_replaced_and_inflected():
    for words in made("drop_words"):
        assert (Counter(words) - Counter(SENTENCE)).total() == 0
        assert 1 <= len(SENTENCE) - len(words) <= 2
        assert (words[0], words[-1]) == (SENTENCE[0], SENTENCE[-1])
    for name in ("swap_function_word", "wrong_ending"):
        for words in made(name):
            (change,) = [(a, b) for a, b in zip(SENTENCE, words, strict=True) if a != b]
            if name == "wrong_ending":
                assert change[0][:3] == change[1][:3]
            else:
                assert set(change) <= FUNCTION_WORDS


@pytest.mark.parametrize("name", [name for name in KNOWN if name != "wrong_ending"])
@pytest.mark.parametrize("words", [[], ["great"]])
def test_what_is_too_short_is_left(name, words):
    assert KNOWN[name](list(words), random.Random(0)) is None


def test_a_broken_sentence_keeps_its_end_and_follows_from_the_seed():
    sentences = [f"the {word} was really kind to us !" for word in ("cook", "guide", "vet")]
    once = [break_sentence(s, KNOWN) for s in sentences]
    assert once == [break_sentence(s, KNOWN) for s in sentences]
    assert all(text.endswith(" !") and text not in sentences for text, *_ in once)
    numbers = Counter(len(break_sentence(sentences[0], KNOWN, seed)) - 1 for seed in range(400))
    assert numbers.keys() == {1, 2, 3}
    assert 160 < numbers[1] < 240
    assert break_sentence("!", KNOWN) is None
    assert words_of("so good . ") == ["so", "good"]


def test_pairs_of_whole_and_broken():
    sentences = [f"the {a} was {b} to us." for a in "abcdefgh" for b in ("kind", "cold", "new")]
    data = with_broken(sentences, exclude=["The a was  kind to us ."])
    assert data.labels == (1, 0) * 23
    assert set(data.sentences[::2]) == set(sentences[1:])
    assert all(a != b for a, b in zip(data.sentences[::2], data.sentences[1::2], strict=True))
    with pytest.raises(InputError, match="broken: no sentence"):
        with_broken(["!", "..."])


def test_drawing_is_seeded_and_takes_whole_sentences():
    pool = [f"this is sentence number {i}" for i in range(50)]
    bad = ["too short", "an unk word is here", "it cost _num_ dollars today", "long " * 29]
    one = draw([*pool, *bad, *pool], 20, random.Random(0))
    assert one == draw([*bad, *reversed(pool)], 20, random.Random(0))
    assert len(set(one)) == 20
    assert not set(one) & set(bad)
    assert len(draw(pool, 99, random.Random(0))) == 50


@pytest.mark.realdata
def test_nothing_that_is_tested_or_judged_is_learned(sources):
    corpus = broken_corpus()
    assert len(corpus.train) == 34_000
    assert len(corpus.dev["broken"]) == 1_700
    learned = set(map(match_key, corpus.train.sentences[::2] + corpus.dev["broken"].sentences[::2]))
    assert len(learned) > 17_000
    forbidden: list[str] = []
    for name in ("yelp", "shakespeare", "amazon"):
        for direction in dataset_facts(name).directions:
            test_set = load_test_set(direction)
            forbidden += [*test_set.sources, *(r for some in test_set.references for r in some)]
    for name in STUDY_INPUTS:
        forbidden += upstream_file(MIR_2019, name).lines()
    assert len(forbidden) > 4_000
    assert not learned & set(map(match_key, forbidden))
    assert corpus.train.labels[:4] == (1, 0, 1, 0)
