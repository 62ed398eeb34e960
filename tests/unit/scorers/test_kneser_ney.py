"""The estimator against lmplz (recorded, and live where it is on PATH) and pencil and paper."""

import hashlib
import json
import math
import random
from pathlib import Path

import kenlm
import numpy as np
import pytest
from places import GOLDEN

from tstbench.errors import InputError, TSTBenchError
from tstbench.metrics.scorers.kneser_ney import estimate, portable_log10
from tstbench.metrics.scorers.language_model import (
    find_lmplz,
    run_lmplz,
    train_language_model,
    write_arpa,
)

GOLDEN = json.loads((GOLDEN / "kneser_ney.json").read_text("utf-8"))
YELP = "FayeXXX/A-Benchmark-of-Text-Style-Transfer/Dataprepro/datasets/yelp"
TOLERANCE = 2e-6  # lmplz computes in single precision; what was promised is 1e-4


@pytest.fixture
def lmplz():
    if find_lmplz() is None:
        pytest.skip("lmplz is not on PATH: there is nothing to compare with")


def made_up_corpus(seed: int) -> list[str]:
    """Random sentences, some empty, over a small skewed vocabulary; 1 to 300 of them."""
    rng = random.Random(seed)
    size, longest = rng.choice([1, 2, 5, 20, 80]), rng.choice([1, 3, 8, 15])
    words = [f"w{i}" for i in range(size)]
    weights = [1 / (i + 1) for i in range(size)]
    sentences = rng.choice([1, 3, 10, 60, 300])
    return [
        " ".join(rng.choices(words, weights, k=rng.randint(0, longest))) for _ in range(sentences)
    ]


def entries(path: Path) -> dict[str, tuple[float, float]]:
    """Every n-gram of an ARPA file: log10 of its probability and of its back-off weight, or 0."""
    rows = [line.split("\t") for line in path.read_text("utf-8").split("\n") if "\t" in line]
    return {row[1]: (float(row[0]), float((*row, "0")[2])) for row in rows}


def assert_same_entries(ours: Path, theirs: Path) -> None:
    got, want = entries(ours), entries(theirs)
    assert list(got) == list(want)  # the same n-grams, even in the same order
    expected = np.array(list(want.values()))
    expected[np.isneginf(expected)] = -99  # which KenLM writes, but would not read
    assert np.abs(np.array(list(got.values())) - expected).max() <= TOLERANCE


def loaded(path: Path) -> kenlm.Model:
    config = kenlm.Config()
    config.show_progress = False
    return kenlm.Model(str(path), config)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_entries_equal_what_lmplz_wrote_and_bytes_are_the_same_on_every_machine(case, tmp_path):
    theirs = tmp_path / "lmplz.arpa"
    theirs.write_text("\n".join(case["arpa"]) + "\n", "utf-8")
    ours = train_language_model(iter(case["sentences"]), tmp_path, case["order"])
    assert_same_entries(ours, theirs)
    assert hashlib.sha256(ours.read_bytes()).hexdigest() == case["own_sha256"]
    assert loaded(ours).order == case["order"]


@pytest.mark.oracle
def test_auto_is_own_until_the_corpus_is_large(lmplz, tmp_path, monkeypatch):
    sentences = GOLDEN["cases"][0]["sentences"]
    small = train_language_model(sentences, tmp_path / "small", estimator="auto")
    assert small.read_bytes() == train_language_model(sentences, tmp_path / "own").read_bytes()
    monkeypatch.setattr("tstbench.metrics.scorers.language_model.LARGE", 100)
    large = train_language_model(iter(sentences), tmp_path / "large", estimator="auto")
    run_lmplz(sentences, tmp_path / "lmplz.arpa")
    assert large.read_bytes() == (tmp_path / "lmplz.arpa").read_bytes()


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(40))
def test_entries_equal_lmplz_on_made_up_corpora(seed, lmplz, tmp_path):
    sentences, order = made_up_corpus(seed), 2 + seed % 5
    write_arpa(estimate(sentences, order), tmp_path / "own.arpa")
    run_lmplz(sentences, tmp_path / "lmplz.arpa", order, memory="64M")
    assert_same_entries(tmp_path / "own.arpa", tmp_path / "lmplz.arpa")


@pytest.mark.oracle
@pytest.mark.realdata
def test_entries_equal_lmplz_on_yelp(lmplz, sources, tmp_path):
    lines = (sources / YELP / "dev.0").read_text("utf-8").split("\n")[:20_000]
    ours = train_language_model(lines, tmp_path / "own")
    theirs = train_language_model(lines, tmp_path / "lmplz", estimator="lmplz")
    assert_same_entries(ours, theirs)


def test_bigrams_by_hand(tmp_path):
    """Two sentences, all discounts 0.5 and 1; fractions worked out from the definition."""
    write_arpa(estimate(["a b", "a"], order=2), tmp_path / "m.arpa")
    found = entries(tmp_path / "m.arpa")
    # Adjusted unigram counts: a 1 (after <s>), b 1 (after a), </s> 2 (after a, b); total 4.
    # Mass freed (0.5 + 0.5 + 1) / 4 = 1/2, spread over 4 words: 1/8 each.
    want = {
        "<unk>": (1 / 8, 1),
        "<s>": (1, 1 / 2),
        "</s>": (1 / 4 + 1 / 8, 1),
        "a": (1 / 8 + 1 / 8, 1 / 2),
        "b": (1 / 8 + 1 / 8, 1 / 2),
        "<s> a": ((2 - 1) / 2 + 1 / 2 * 1 / 4, 1),
        "a b": ((1 - 1 / 2) / 2 + 1 / 2 * 1 / 4, 1),
        "a </s>": ((1 - 1 / 2) / 2 + 1 / 2 * 3 / 8, 1),
        "b </s>": ((1 - 1 / 2) / 1 + 1 / 2 * 3 / 8, 1),
    }
    assert found.keys() == want.keys()
    for words, (probability, backoff) in want.items():
        assert found[words] == pytest.approx(
            (math.log10(probability), math.log10(backoff)), abs=1e-7
        )


def test_discounts_by_hand():
    # One-word sentences: each word makes two bigrams of its own count, so that
    # n1, n2, n3, n4 = 4, 2, 2, 2; Y = 4 / (4 + 2 * 2) = 1/2 (Chen and Goodman, equation 26).
    corpus = ["a", "b", "c", "c", "d", "d", "d", "e", "e", "e", "e"]
    assert estimate(corpus, order=2).tables[1].discounts == (
        1 - 2 * (1 / 2) * (2 / 4),
        2 - 3 * (1 / 2) * (2 / 2),
        3 - 4 * (1 / 2) * (2 / 2),
    )


@pytest.mark.parametrize("seed", [4, 8, 13])
def test_probabilities_sum_to_one(seed, tmp_path):
    sentences = made_up_corpus(seed)
    model = loaded(train_language_model(sentences, tmp_path, order=3))
    words = [*dict.fromkeys(" ".join(sentences).split()), "</s>", "never-seen"]
    for history in (["w0"], ["w1", "w0"], ["w0", "never-seen"], [*sentences[0].split()]):
        state, out = kenlm.State(), kenlm.State()
        model.BeginSentenceWrite(state)
        for word in history:
            model.BaseScore(state, word, out)
            state, out = out, state
        total = sum(10 ** model.BaseScore(state, word, out) for word in words)
        assert total == pytest.approx(1, abs=1e-5)


def test_zero_backoff_can_be_read(tmp_path):
    (case,) = (case for case in GOLDEN["cases"] if case["name"] == "zero back-off")
    (tmp_path / "lmplz.arpa").write_text("\n".join(case["arpa"]) + "\n")
    with pytest.raises(OSError, match="Bad backoff -inf"):
        loaded(tmp_path / "lmplz.arpa")
    ours = train_language_model(case["sentences"], tmp_path, case["order"])
    assert entries(ours)["y16"][1] == -99
    assert loaded(ours).score("y16 y16") < -99


def test_portable_log10_is_log10():
    rng = np.random.default_rng(0)
    x = np.concatenate([10.0 ** rng.uniform(-30, 1, 10_000), 1 + rng.uniform(-1e-3, 1e-3, 1000)])
    want = np.array([math.log10(value) for value in x])
    np.testing.assert_allclose(portable_log10(x), want, rtol=1e-14, atol=1e-17)


@pytest.mark.oracle
def test_reserved_words_are_refused_before_lmplz_sees_them(lmplz, tmp_path):
    with pytest.raises(InputError, match="sentence 1 of the training text contains <unk>"):
        train_language_model(["<unk>"], tmp_path, estimator="lmplz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.oracle
def test_failing_lmplz_says_so_and_leaves_nothing(lmplz, tmp_path):
    with pytest.raises(TSTBenchError, match="lmplz failed with exit code"):
        run_lmplz(["good"], tmp_path / "m.arpa", memory="no size")
    assert list(tmp_path.iterdir()) == []
