"""BERTScore equals the bert-score package, sentence by sentence."""

import json

import numpy as np
import pytest
from bert_score import BERTScorer
from places import GOLDEN
from record_bertscore import package_scorer, score_padded
from tiny_models import make_bert, make_distilbert, make_roberta
from transformers import AutoTokenizer

from tstbench.metrics.bertscore.bertscore import bertscore, match
from tstbench.metrics.scorers.base import TokenVectors
from tstbench.metrics.scorers.encoder import TransformerEncoder, load_encoder

GOLDEN = json.loads(GOLDEN.joinpath("bertscore.json").read_text())
ROWS = [
    ("the staff was kind", ["the staff was not kind", "the staff is very kind, and good"]),
    ("the food was cold", ["the food was not cold"]),
    ("", ["the food"]),
    ("the food", [""]),
    ("we came back", ["", "they came back, but slow"]),
    ("bad, bad, bad", ["good"]),
    ("  a very kind staff. ", ["a very kind staff."]),
]


def columns(scores) -> np.ndarray:
    return np.stack([scores.precision, scores.recall, scores.f1], axis=1)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: f"layer {case['layer']}")
def test_golden(case):
    rows = case["rows"]
    encoder = load_encoder(layer=case["layer"])
    got = bertscore([r["prediction"] for r in rows], [r["references"] for r in rows], encoder)
    want = np.array([r["want"] or [np.nan] * 3 for r in rows])
    np.testing.assert_allclose(columns(got), want, atol=1e-5)
    assert np.isfinite(want).any(axis=1).sum() == len(rows) - 1


@pytest.mark.parametrize("make", [make_bert, make_roberta, make_distilbert])
@pytest.mark.parametrize("layer", [1, 2])
def test_equal_to_the_package_on_random_models(tmp_path, make, layer):
    folder = make(tmp_path / "model")
    scorer = package_scorer(folder, layer)
    if make is make_roberta:  # what the package asks its tokenizer for, and transformers 5 ignores
        scorer._tokenizer = AutoTokenizer.from_pretrained(folder, add_prefix_space=True)
        scorer._tokenizer.build_inputs_with_special_tokens = lambda ids: [0, *ids, 2]
    got = bertscore(*zip(*ROWS, strict=True), TransformerEncoder(folder, layer))
    np.testing.assert_allclose(columns(got), score_padded(scorer, ROWS), atol=1e-5)


def test_a_token_that_resembles_nothing_scores_0_whatever_the_batch():
    encoder = load_encoder()
    scorer = package_scorer(encoder.folder, encoder.layer)
    predictions = ["i love this pharmacy !", "the cat sat on the mat", "my dentist never smiled"]
    references = [["the soup was cold ."], ["pizza"], ["call the police"]]
    alone = [float(scorer.score([p], r)[2]) for p, r in zip(predictions, references, strict=True)]
    padded = [
        f1 for _, _, f1 in score_padded(scorer, list(zip(predictions, references, strict=True)))
    ]
    assert min(np.subtract(padded, alone)) > 1e-4  # the package has two values for each pair
    together = bertscore(predictions, references, encoder).f1
    one_by_one = [
        bertscore([p], [r], encoder).f1[0] for p, r in zip(predictions, references, strict=True)
    ]
    np.testing.assert_allclose(together, padded, atol=1e-5)
    np.testing.assert_allclose(together, one_by_one, atol=1e-6)


def test_by_hand():
    """Tokens in the plane: open, content, close. Cosines are read off."""
    a = [[1, 0], [0.6, 0.8], [0, -1]]
    b = [[0, 1], [0, 1], [0.8, 0.6], [-1, 0]]
    vectors = TokenVectors(
        np.array(a + b, np.float32),
        np.array([False, True, False, False, True, True, False]),
        np.array([0, 3, 7]),
    )
    precision = 0.96  # (0.6, 0.8) is most like (0.8, 0.6): 0.48 + 0.48
    recall = (0.8 + 0.96) / 2  # (0, 1) is most like (0.6, 0.8)
    want = [precision, recall, 2 * precision * recall / (precision + recall)]
    np.testing.assert_allclose(match(vectors, np.array([[0, 1]])), [want], atol=1e-6)


def test_no_padding_is_averaged_over_and_sums_are_in_float64():
    """Sentences of content only, of 7, 1 and 2 tokens: what fills a batch is no token of theirs.

    By hand: 0.6 as float32, seven times, has the mean 0.6 as float32 in float64 only.
    """
    tokens = [[0.6, 0.8]] * 7 + [[1, 0]] + [[0, 1], [1, 0]]
    vectors = TokenVectors(
        np.array(tokens, np.float32), np.ones(10, bool), np.array([0, 7, 8, 10])
    )  # fmt: skip
    a, b = float(np.float32(0.6)), float(np.float32(0.8))
    found = match(vectors, np.array([[0, 1], [2, 0], [1, 2]]))
    assert found[0].tolist() == [a, a, a]
    np.testing.assert_allclose(found[1, :2], [(a + b) / 2, b], atol=1e-9)
    np.testing.assert_allclose(found[2, :2], [1, 0.5], atol=1e-9)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return TransformerEncoder(make_bert(tmp_path_factory.mktemp("models") / "bert"), 2)


def test_ragged_references_and_none(encoder):
    """Of one, three, none and two: the best of each measure, and the mean."""
    predictions = ["good", "the food was cold", "slow", "bad staff"]
    references = [["bad"], ["the staff was kind", "cold food", "slow"], [], ["staff", "kind"]]
    for reduce, combine in ((None, np.max), ("mean", np.mean)):
        how = {} if reduce is None else {"reduce": reduce}
        found = columns(bertscore(predictions, references, encoder, **how))
        for row, prediction, some in zip(found, predictions, references, strict=True):
            each = [columns(bertscore([prediction], [[one]], encoder))[0] for one in some]
            wanted = combine(each, axis=0) if some else [np.nan] * 3
            np.testing.assert_allclose(row, wanted, atol=1e-6)
    assert np.isnan(bertscore(["good"], [[]], encoder).f1).all()
    assert bertscore([], [], encoder).f1.shape == (0,)


def test_each_sentence_is_encoded_once(encoder, monkeypatch):
    asked = []

    def token_vectors(sentences, encode=encoder.token_vectors):
        asked.append(list(sentences))
        return encode(sentences)

    monkeypatch.setattr(encoder, "token_vectors", token_vectors)
    references = [["bad", "slow"], ["good"], ["bad", "good"], ["slow", "bad"]]
    bertscore(["good", "bad", "good", "good"], references, encoder)
    assert asked == [["good", "bad", "slow"]]


def test_the_batch_does_not_move_a_score(encoder, monkeypatch):
    predictions, references = map(list, zip(*ROWS, strict=True))
    want = columns(bertscore(predictions, references, encoder))
    monkeypatch.setattr("tstbench.metrics.bertscore.bertscore._PAIRS_AT_ONCE", 2)
    monkeypatch.setattr("tstbench.metrics.bertscore.bertscore._BATCH_TOKENS", 1)
    got = columns(bertscore(predictions[::-1], references[::-1], encoder))[::-1]
    np.testing.assert_allclose(got, want, atol=1e-6)


@pytest.mark.realdata
def test_equal_to_the_package_on_yelp(sources):
    data = sources / "FayeXXX/A-Benchmark-of-Text-Style-Transfer"
    outputs = data / "Algorithms/CHATGPT/outputs/yelp/output_cleaned.0"
    predictions = outputs.read_text("utf-8").split("\n")[:40]
    parts = [
        (data / f"Dataprepro/datasets/yelp/reference{k}.0").read_text("utf-8").split("\n")[:40]
        for k in range(4)
    ]
    references = [list(row) for row in zip(*parts, strict=True)]
    encoder = load_encoder()
    scorer: BERTScorer = package_scorer(encoder.folder, encoder.layer)
    got = bertscore(predictions, references, encoder)
    want = score_padded(scorer, list(zip(predictions, references, strict=True)))
    np.testing.assert_allclose(columns(got), want, atol=1e-5)
