"""Querying language models: KenLM's own numbers, sums by hand, errors that say what to do."""

import hashlib

import kenlm
import numpy as np
import pytest

from tstbench.errors import InputError
from tstbench.metrics.scorers.language_model import NgramLanguageModel, train_language_model

ARPA = """\\data\\
ngram 1=5
ngram 2=4

\\1-grams:
-1.0\t<unk>
-99\t<s>\t-0.30103
-0.69897\t</s>
-0.5\tgood\t-0.2
-0.6\tfood\t-0.1

\\2-grams:
-0.3\t<s> good
-0.2\tgood food
-0.1\tfood </s>
-0.9\tfood good

\\end\\
"""
TRAINING = ["the food was good .", "the food was great .", "", "we will be back .", "the service ."]
QUERIES = [
    "the food was back .",
    "the food was good .",
    "",
    "unheard of",
    "the",
    "the food was good .",
]


@pytest.fixture
def handmade(tmp_path):
    path = tmp_path / "handmade.arpa"
    path.write_text(ARPA)
    return NgramLanguageModel(path)


def test_sums_of_entries_by_hand(handmade):
    got = handmade.log10_probability(["good food", "", "good xyz", "food"])
    want = [
        -0.3 - 0.2 - 0.1,  # three bigrams
        -0.30103 - 0.69897,  # back off from <s>, then </s>
        -0.3 + (-0.2 - 1.0) - 0.69897,  # back off from "good" to <unk>, which is no context
        (-0.30103 - 0.6) - 0.1,  # back off from <s>, then a bigram
    ]
    assert got.dtype == np.float64
    assert got == pytest.approx(want, abs=1e-6)


def test_equals_kenlm_line_by_line(tmp_path):
    path = train_language_model(TRAINING, tmp_path)
    model = NgramLanguageModel(tmp_path)
    config = kenlm.Config()
    config.show_progress = False
    theirs = kenlm.Model(str(path), config)
    got = model.log10_probability(QUERIES)
    assert got.tolist() == [theirs.score(q, bos=True, eos=True) for q in QUERIES]
    assert model.log10_probability(QUERIES[::-1]).tolist() == got[::-1].tolist()
    perplexity = 10 ** (-got / (model.words(QUERIES) + 1))  # KenLM counts </s> as a word
    assert perplexity == pytest.approx([theirs.perplexity(q) for q in QUERIES])


def test_words_are_what_kenlm_splits(handmade):
    sentences = ["good food", "", " good\t food\n", "good\u00a0food", "good\x0bfood"]
    assert handmade.words(sentences).tolist() == [2, 0, 2, 1, 2]
    scored = [len(list(handmade._model.full_scores(s))) - 1 for s in sentences]
    assert handmade.words(sentences).tolist() == scored


def test_name_and_hash(handmade, tmp_path):
    assert handmade.name == "kenlm-2gram"
    assert handmade.hash == hashlib.sha256(ARPA.encode()).hexdigest()
    train_language_model(TRAINING, tmp_path)
    assert NgramLanguageModel(tmp_path).name == "kenlm-5gram"


def test_nothing_to_score_and_what_cannot_be_scored(handmade):
    wrong = {"one string": "good", "sentence 1 .* NoneType": ["", None], "NUL": ["good\0food"]}
    for asked in (handmade.log10_probability, handmade.words):
        assert asked([]).shape == (0,)
        for said, sentences in wrong.items():
            with pytest.raises(InputError, match=said):
                asked(sentences)


def test_broken_models(tmp_path):
    for wrong in (ARPA.replace("\t", " ").encode(), ARPA.encode().replace(b"\t", b"\xff", 1)):
        (tmp_path / "model.arpa").write_bytes(wrong)
        with pytest.raises(InputError, match="KenLM cannot read"):
            NgramLanguageModel(tmp_path)
