"""Fluency: broken sentences that are broken as named, graded scores, the corpus and its scorer."""

import random
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from safetensors.numpy import load_file, save_file

from tstbench.datasets_scripts.catalog import dataset_facts, parse_direction
from tstbench.datasets_scripts.cleaning import match_key
from tstbench.datasets_scripts.load import load_test_set
from tstbench.datasets_scripts.sources import MIR_2019, upstream_file
from tstbench.errors import InputError, IntegrityError, MissingScorerError
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.measure import measure
from tstbench.metrics.registry import caution
from tstbench.metrics.result import LeftOut
from tstbench.metrics.scorers import find
from tstbench.metrics.scorers.artefacts import open_artefact
from tstbench.metrics.scorers.device import HERE
from tstbench.metrics.scorers.find import acceptability
from tstbench.metrics.scorers.profile import PROFILES, Scorers
from tstbench.metrics.signature import Signature
from tstbench.pipelines.prepare import prepare
from tstbench.trainers.acceptability import cola_corpus, mcc
from tstbench.trainers.broken_corpus import (
    FUNCTION_WORDS,
    STUDY_INPUTS,
    break_sentence,
    broken_corpus,
    draw,
    errors,
    with_broken,
    words_of,
)

WORDS = "the cook said that we loved the walk because she is from the south".split()
OTHERS = ["my tea tasted like rainwater yesterday".split()]
KNOWN = errors(OTHERS)
NEW = ("repeat_phrase", "stop_early", "continue_differently", "replace_phrase", "drop_words")


def made(name, words=WORDS, seeds=60):
    found = [KNOWN[name](list(words), random.Random(seed)) for seed in range(seeds)]
    results = [words for words in found if words is not None]
    assert results, "a loop over nothing would check nothing"
    return results


@pytest.mark.parametrize("name", KNOWN)
def test_no_error_changes_its_input_or_leaves_it_as_it_was(name):
    before = list(WORDS)
    results = made(name)
    assert len({tuple(words) for words in results}) >= 3
    assert before == WORDS
    assert all(words != WORDS and all(words) for words in results)


def test_phrases_are_said_twice():
    for words in made("repeat_phrase"):
        extra = Counter(words) - Counter(WORDS)
        assert 1 <= extra.total() == len(words) - len(WORDS) <= 4
        assert any(
            words[i : i + n] == words[i + n : i + 2 * n]
            for n in range(1, 5)
            for i in range(len(words) - n)
        )


def test_a_sentence_stops_after_a_function_word():
    for words in made("stop_early"):
        assert words == WORDS[: len(words)]
        assert words[-1] in {"we", "the", "she", "is", "from"}


def test_words_of_other_sentences_come_in():
    for words in made("continue_differently"):
        start = next(i for i in range(len(words)) if words[i] in OTHERS[0])
        assert words[:start] == WORDS[:start]
        assert start
        assert words[start:] == OTHERS[0][-len(words[start:]) :]
    for words in made("replace_phrase"):
        foreign = [word for word in words if word in OTHERS[0]]
        assert 1 <= len(foreign) <= 3


def test_words_are_lost_replaced_and_inflected():
    for words in made("drop_words"):
        assert (Counter(words) - Counter(WORDS)).total() == 0
        assert 1 <= len(WORDS) - len(words) <= 2
        assert (words[0], words[-1]) == (WORDS[0], WORDS[-1])
    for name in ("swap_function_word", "wrong_ending"):
        for words in made(name):
            (change,) = [(a, b) for a, b in zip(WORDS, words, strict=True) if a != b]
            if name == "wrong_ending":
                assert change[0][:3] == change[1][:3]
            else:
                assert set(change) <= FUNCTION_WORDS


@pytest.mark.parametrize("name", NEW)
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


# -- the metric --------------------------------------------------------------------------------


def test_the_shipped_classifier_is_small_and_damage_is_found(tmp_path):
    found = acceptability("v1", None, HERE)
    folder = Path(find.__file__).parent / "acceptability_v1"
    assert open_artefact(folder).hash == found.hash
    files = {file.name: file.stat().st_size for file in folder.iterdir()}
    assert set(files) == {"README.md", "model.json", "scorer.json", "weights.safetensors"}
    assert sum(files.values()) < 2_000_000
    assert files["README.md"] + files["scorer.json"] + files["model.json"] < 5_000  # no corpus
    copy = shutil.copytree(folder, tmp_path / "copy")
    weights = load_file(copy / "weights.safetensors")
    weights["classifier.bias"] = weights["classifier.bias"] + 1
    save_file(weights, copy / "weights.safetensors")
    with pytest.raises(IntegrityError):
        acceptability(str(copy), None, HERE)
    with pytest.raises(MissingScorerError, match="tstbench train cola"):
        acceptability("finetuned", None, HERE)


@pytest.mark.realdata
def test_the_shipped_classifier_is_as_good_as_its_card_says(sources):
    model = Scorers(PROFILES["embedded"], None).load("acceptability").model
    card = open_artefact(Path(find.__file__).parent / "acceptability_v1").card
    for name, part in cola_corpus().dev.items():
        assert mcc(model, part) == pytest.approx(card.scores[f"mcc_{name}"], abs=0.01)


def test_the_shipped_classifier_grades_without_training():
    direction = parse_direction("mini/negative-to-positive")
    scorers = Scorers(PROFILES["embedded"], direction)
    assert prepare(direction, PROFILES["embedded"], ["fluency", "cola"]) == []
    sources = load_test_set(direction).sources
    turned = [" ".join(text.split()[::-1]) for text in sources]
    whole, broken = (
        measure(["fluency"], check_inputs(texts, direction=direction), scorers)["fluency"]
        for texts in (sources, turned)
    )
    assert whole.statistics.value > broken.statistics.value + 0.3
    assert "classifier:lora:cola#" in str(whole.signature)
    assert "empty:zero" in str(whole.signature)
    empty = check_inputs([*sources[:3], ""], direction=direction)
    assert measure(["fluency"], empty, scorers)["fluency"].statistics.per_sentence[-1] == 0
    german = check_inputs(["das ist gut"], direction=direction, language="de")
    assert isinstance(measure(["fluency"], german, scorers)["fluency"], LeftOut)


@pytest.mark.parametrize(
    ("metric", "classifier", "said"),
    [
        ("fluency", "lora:cola#0a1b", None),
        ("cola", "probe:cola#0a1b", None),
        ("cola", "lora:cola#0a1b", "MCC 0"),
        ("cola", "roberta-large-cola-krishna2020#0a1b", None),
    ],
)
def test_a_weak_classifier_is_said_beside_its_number(metric, classifier, said):
    found = caution(metric, str(Signature.of(metric, {}, v=1, classifier=classifier)))
    assert (found is None) if said is None else re.search(said, found)


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
