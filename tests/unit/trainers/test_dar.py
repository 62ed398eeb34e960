"""DAR: markers, noise, retrieval and network against plain computations, and a toy style."""

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from prepared import BACK, DIRECTION
from word_systems import BAD, GOOD, N_WORDS, learner_of

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import TrainingData, TrainingPart, load_test_set, load_training
from tstbench.metrics.text import preparation
from tstbench.trainers.dar import Dar, DarConfig, DarSettings, MarkerSeq2Seq, _memories
from tstbench.trainers.markers import (
    ContentIndex,
    Deletion,
    EditNoise,
    MarkerMemory,
    SharedWordNoise,
    count_ngrams,
    salience,
)
from tstbench.trainers.training.run import Run
from tstbench.trainers.training.words import END, padded

CONFIG = DarConfig.tiny(parse_direction(DIRECTION))
KINDS = {
    "port": {},
    "paper": {"cell": "gru", "both_ways": False, "maxout": True},
    "attention": {"attention": True},
    "delete-only": {"markers": False},
}


# -- markers and noise -----------------------------------------------------------------------------


def test_only_the_most_salient_ngrams_are_markers():
    counts = [count_ngrams(["bad bad bad", "awful awful", "dull"], 1), count_ngrams(["good"], 1)]
    found = salience(*counts, smoothing=1.0, least=1.0)
    assert found == {("bad",): 4.0, ("awful",): 3.0, ("dull",): 2.0}
    sentences = ["so bad", "awful dull soup"]
    for gamma, most, expected in ((1.5, 9, 3), (2.0, 9, 2), (1.5, 1, 1)):
        memory = MarkerMemory.of("negative", found, sentences, gamma, most)
        assert memory.lexicon == (("bad",), ("awful",), ("dull",))[:expected]
    assert memory.deletion("so bad").content == ("so",)
    assert memory.deletion("bad bad") == Deletion((), (("bad",), ("bad",)), 0), (
        "nothing of it stays"
    )
    assert memory.deletion("awful soup").markers == (), "not among the most salient"


@pytest.mark.realdata
def test_no_word_of_seven_sentences_of_yelp_is_content():
    """Li et al., sections 3.1 and 4.3, in plain words: salience above 15, the longest first."""
    data = load_training("yelp/positive-to-negative")
    own, other = data.train.source, data.train.target
    tokens = preparation("en").for_language_model
    (memory, _) = _memories(
        ("positive", "negative"), (tokens(own), tokens(other)), CONFIG, 15, None
    )
    counts = [
        Counter(
            " ".join(words[i : i + n])
            for text in tokens(side)
            for words in [text.split()]
            for n in (1, 2, 3, 4)
            for i in range(len(words) - n + 1)
        )
        for side in (own, other)
    ]

    def content(words):
        for n in (4, 3, 2, 1):
            ngram = " ".join(words[:n])
            if len(words) >= n and (counts[0][ngram] + 1) / (counts[1][ngram] + 1) > 15:
                return content(words[n:])
        return words and (words[0], *content(words[1:]))

    texts = tokens(load_test_set("yelp/positive-to-negative").sources)
    expected = [content(tuple(text.split())) for text in texts]
    assert [memory.deletion(text).content for text in texts] == expected
    assert expected.count(()) == 7


def distance(a, b):
    """Word-level edit distance, by trying everything."""
    if not a or not b:
        return len(a) + len(b)
    if a[0] == b[0]:
        return distance(a[1:], b[1:])
    return 1 + min(distance(a[1:], b), distance(a, b[1:]), distance(a[1:], b[1:]))


EVERY = [ngram for n in (1, 2, 3) for ngram in itertools.product("abc", repeat=n)]


def test_the_noise_is_every_marker_at_distance_one_and_no_other():
    noise = EditNoise(tuple(EVERY[::2]), rate=1.0)
    random = np.random.default_rng(0)
    for marker in EVERY[::2]:
        expected = {other for other in EVERY[::2] if distance(marker, other) == 1}
        drawn = Counter(noise([marker], random)[0] for _ in range(60 * len(expected)))
        assert set(drawn) == expected, marker
    assert EditNoise((("a",), ("b", "c")), 1.0)([("b", "c")], random) == (("b", "c"),)


def test_each_marker_is_exchanged_with_the_given_probability():
    noise = EditNoise(tuple((f"w{i}",) for i in range(50)), rate=0.1)
    random = np.random.default_rng(0)
    markers = [("w1",), ("w2",)]
    drawn = [noise(markers, random) for _ in range(3000)]
    for place, marker in enumerate(markers):
        share = np.mean([one[place] != marker for one in drawn])
        assert share == pytest.approx(0.1, abs=0.02)


def test_the_ports_noise_takes_the_markers_of_a_sentence_that_shares_most_words():
    good, bad, very = ("very", "good"), ("very", "bad"), ("very",)
    sentences = ((good,), (very,), (good, bad), (("awful",),))
    random = np.random.default_rng(0)
    noise = SharedWordNoise(sentences, rate=1.0)
    assert noise((good,), random) == (good, bad), "two words in common, not one"
    assert noise((("awful",),), random) == (("awful",),), "nobody shares a word"
    assert noise((), random) == ()
    drawn = {noise((very,), random) for _ in range(50)}
    assert drawn == {(good,), (good, bad)}
    assert SharedWordNoise(sentences, rate=0.0)((good,), random) == (good,)


# -- retrieval -------------------------------------------------------------------------------------

MEMORY = MarkerMemory(
    "positive",
    (("great",), ("very", "kind"), ("lovely",)),
    ("the soup is great", "very kind staff here", "lovely soup with bread", "the end", "great"),
)


def test_what_is_retrieved_has_markers_and_the_closest_content():
    marked = [" ".join(d.content) for d in MEMORY.marked]
    assert marked == ["the soup is", "staff here", "soup with bread", ""]
    found = MEMORY.nearest([("the", "soup"), ("staff",), ("nothing", "known")], k=2)
    assert found[:2, 0].tolist() == [0, 1]
    assert found[0].tolist() == [0, 2]
    assert found[2].tolist() == [0, 1], "ties in their order"
    assert MEMORY.nearest([("staff",)], k=9).shape == (1, 4)
    assert MEMORY.nearest([()], k=1).tolist() == [[3]], "no content is like no content"


def test_retrieval_is_the_cosine_of_tf_idf():
    texts = ["a b b", "b c", "c d e", "a e"]
    index = ContentIndex.of(texts)
    query = "a b e"
    n = len(texts)
    idf = {w: np.log((1 + n) / (1 + sum(w in t.split() for t in texts))) + 1 for w in "abcde"}

    def vector(text):
        row = np.array([text.split().count(w) * idf[w] for w in "abcde"])
        return row / np.linalg.norm(row)

    by_hand = [vector(query) @ vector(text) for text in texts]
    assert index.nearest([query], 4)[0].tolist() == np.argsort(by_hand)[::-1].tolist()


def test_contents_may_be_compared_by_vectors():
    vectors = {("the", "soup", "is"): [1, 0], ("staff", "here"): [0, 3]}
    vectors |= {("soup", "with", "bread"): [-1, 0], (): [-1, -1]}
    memory = replace(MEMORY)
    found = memory.nearest(
        [("x",)], 2, lambda some: np.array([vectors.get(c, [5, 9]) for c in some])
    )
    assert found.tolist() == [[1, 0]]


def test_of_several_candidates_the_likeliest_word_for_word_is_the_answer():
    model = MEMORY._language_model
    texts = ["the end", "soup the is great", "the soup is great"]
    costs = -model.log10_probability(texts)
    assert costs.argmin() == 0, "the shortest is the likeliest as a whole"
    by_hand = [cost / (len(text.split()) + 1) for cost, text in zip(costs, texts, strict=True)]
    assert MEMORY.likeliest(texts) == texts[int(np.argmin(by_hand))] == "the soup is great"


# -- the network -----------------------------------------------------------------------------------


def network(kind):
    torch.manual_seed(0)
    return MarkerSeq2Seq(N_WORDS, replace(CONFIG, **KINDS[kind]).shape).eval()


def ids(*sizes):
    random = np.random.default_rng(sum(sizes))
    return padded([[*random.integers(3, N_WORDS, size=size), END] for size in sizes])


CONTENTS, MARKERS, STYLES = ids(4, 9, 1), ids(2, 0, 3), torch.tensor([0, 1, 1])


@pytest.mark.parametrize("kind", KINDS)
def test_writing_word_by_word_is_what_teaching_predicts(kind):
    net = network(kind)
    with torch.no_grad():
        state = net.read(CONTENTS, MARKERS, STYLES)
        written = net.generate(state, 12, beams=1)
        again = net.teach(state, written).argmax(dim=-1)
    for row, expected in zip(written, again, strict=True):
        size = row.tolist().index(END) + 1 if END in row else len(row)
        assert torch.equal(row[:size], expected[:size])
    assert not torch.equal(net.generate(state, 12, beams=20)[:, :1], written[:, :1]), "likelier"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_said_of_the_style_reaches_the_words_and_the_gradient_it(kind):
    net = network(kind)
    usual = net.teach(net.read(CONTENTS, MARKERS, STYLES), CONTENTS)
    others = net.teach(net.read(CONTENTS, MARKERS.flip(0), STYLES), CONTENTS)
    restyled = net.teach(net.read(CONTENTS, MARKERS, 1 - STYLES), CONTENTS)
    assert torch.equal(usual, others) == (kind == "delete-only")
    assert torch.equal(usual, restyled) == (kind != "delete-only")
    usual.sum().backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None, name


# -- learning --------------------------------------------------------------------------------------


def made(data, **settings):
    usual = {"max_length": 30, "gamma": 1.5, "max_markers": 99}
    return learner_of(Dar, data, replace(CONFIG, **usual, **settings), few=40)


def test_a_sentence_is_rebuilt_from_its_own_content_and_markers(data):
    learner = made(data)
    vocabulary = learner._system.vocabulary
    for example in learner._kept:
        memory = learner._system.memories[example.style]
        text = " ".join(vocabulary.decode(example.sentence))
        assert text in memory.sentences
        content = vocabulary.decode(example.content)
        markers = vocabulary.decode(learner._system.marker_row(example.markers))
        assert Counter([*content, *markers]) == Counter(text.split())
    styles = [learner._kept[i].style for i in learner.update(0).order.at(0)]
    assert Counter(styles) == {0: 16, 1: 16}, "half of each style"


def toy(source, target, **settings):
    part = TrainingPart("train", source, target)
    data = TrainingData(parse_direction(DIRECTION), "paper-v1", part)
    return Dar.train(data, replace(CONFIG, hold_out=2, **settings), Run(device="cpu"))


@pytest.mark.parametrize("kind", ["port", "delete-only"])
def test_a_toy_style_is_exchanged_both_ways(kind):
    config = {"gamma": 2.5, "max_ngram": 1, "learning_rate": 2e-2, "epochs": 100, "dropout": 0.0}
    system = toy(BAD, GOOD, **config, validate_every=50, **KINDS[kind])
    for sources, direction, words in ((BAD, DIRECTION, "good lovely"), (GOOD, BACK, "bad awful")):
        for source, answer in zip(sources, system.transfer(sources, direction), strict=True):
            assert set(answer.rstrip(".").split()) & set(words.split()), (source, answer)


@pytest.mark.parametrize("side", [0, 1])
def test_a_trained_system_writes_with_another_gamma(side, tmp_path):
    """The markers of training are the one most salient; those of a transfer, all above gamma."""
    made = toy(BAD, GOOD, gamma=2.5, max_ngram=1, max_markers=1, epochs=1, validate_every=50)
    made.save_pretrained(tmp_path / "m")
    system = Dar.from_pretrained(tmp_path / "m", device="cpu")
    counts = [Counter(" ".join(m.sentences).split()) for m in system.memories]
    source = (BAD[0], GOOD[0])[side]
    kept = {}
    for gamma in (0.1, 1.0, 1.5, 500.0):
        kept[gamma] = tuple(
            word
            for word in source.split()
            if (counts[side][word] + 1) / (counts[1 - side][word] + 1) <= gamma
        )
        memories = system._asked_memories(gamma, 0)
        assert memories[side].deletion(source).content == kept[gamma]
        settings = DarSettings(gamma=gamma)
        found = memories[1 - side].nearest([kept[gamma]], 1)[0, 0] if gamma < 500 else None
        markers = () if found is None else memories[1 - side].marked[found].markers
        answer = system._generated([kept[gamma]], [markers], 1 - side, settings)
        assert system.rewritten([source], side, settings) == answer
    assert kept[0.1] == ()
    assert kept[500.0] == tuple(source.split())
    assert 0 < len(kept[1.0]) < len(kept[500.0])
    capped = system._asked_memories(0.1, 3)
    assert [len(m.lexicon) for m in capped] == [3, 3]
    assert system._asked_memories(0, 1) == system.memories == made.memories
