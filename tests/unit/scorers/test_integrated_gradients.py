"""Integrated gradients: captum's values, and the axioms of the paper that defines them."""

import numpy as np
import pandas as pd
import pytest
import torch
from captum.attr import LayerIntegratedGradients
from tiny_models import WORDS, make_bert, make_distilbert, make_roberta
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from tstbench.errors import InputError
from tstbench.metrics.scorers.attribution import (
    IntegratedGradients,
    StyleAttribution,
    gauss_legendre,
)
from tstbench.metrics.scorers.masking import (
    style_words,
    word_spans,
)
from tstbench.metrics.scorers.transformer import TransformerModel

MAKERS = [make_bert, make_roberta, make_distilbert]
SENTENCES = [
    "the food was very good.",
    "cold",
    "the staff is kind, but slow",
    "the food was very good and cold.",
    "they came back and we came back",
    "a very kind staff",
    " ".join(WORDS * 5),  # longer than the models take
]
STYLES = ("a", "b", "c")
COLUMNS = [2, 0, 1]


def classifier(folder, *, scale=0.5):
    torch.manual_seed(0)
    network = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=3).eval()
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if "classifier" in name:
                parameter.normal_(0, scale)
    return network, AutoTokenizer.from_pretrained(folder)


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__)
def parts(request, tmp_path):
    network, tokenizer = classifier(request.param(tmp_path / "model"))
    return network, tokenizer, TransformerModel(STYLES, network, tokenizer, COLUMNS)


def theirs(network, tokenizer, model, sentence, style, *, output, baseline, steps):
    """Captum's attributions of one sentence, as its own loop gives them."""

    def forward(ids, mask):
        logits = network(input_ids=ids, attention_mask=mask).logits[:, COLUMNS]
        return logits.softmax(-1) if output == "probability" else logits

    found = tokenizer(sentence, truncation=True, max_length=model._longest, return_tensors="pt")
    ids = found["input_ids"]
    start = torch.full_like(ids, baseline)
    start[0, 0], start[0, -1] = ids[0, 0], ids[0, -1]
    values = LayerIntegratedGradients(forward, network.get_input_embeddings()).attribute(
        ids,
        baselines=start,
        target=style,
        additional_forward_args=(found["attention_mask"],),
        n_steps=steps,
    )
    return values.sum(-1)[0].detach().double().numpy()


@pytest.mark.parametrize(
    ("output", "baseline"), [("probability", "pad"), ("logit", "pad"), ("probability", "mask")]
)
def test_every_attribution_equals_captums(parts, output, baseline):
    network, tokenizer, model = parts
    token = tokenizer.pad_token_id if baseline == "pad" else tokenizer.mask_token_id
    found = IntegratedGradients(model, max_tokens=30).attribute(
        SENTENCES, steps=8, baseline=baseline, output=output
    )
    assert [one.style for one in found] == model.distribution(SENTENCES).argmax(axis=1).tolist()
    largest = 0.0
    for sentence, one in zip(SENTENCES, found, strict=True):
        want = theirs(
            network, tokenizer, model, sentence, one.style,
            output=output, baseline=token, steps=8,
        )  # fmt: skip
        np.testing.assert_allclose(one.values, want, atol=2e-5, rtol=1e-4)
        largest = max(largest, np.abs(want).max())
    assert largest > 0.01  # or nothing is shown


@pytest.mark.parametrize("baseline", ["pad", "zero"])
def test_attributions_sum_to_the_change_of_the_output(parts, baseline):
    """Completeness, the paper's proposition 1; the sum approaches it as the steps become more."""
    _, _, model = parts
    gradients = IntegratedGradients(model)
    gaps = [
        max(abs(one.gap) for one in gradients.attribute(SENTENCES, steps=n, baseline=baseline))
        for n in (4, 100)
    ]
    assert gaps[1] < 2e-3
    assert gaps[0] > 5 * gaps[1]


def test_a_framing_token_that_is_written_in_the_text_is_a_word_of_it(parts):
    _, tokenizer, model = parts
    written = f"good {tokenizer.sep_token} soup"
    (one,) = IntegratedGradients(model).attribute([written], steps=3)
    ends = written.index(tokenizer.sep_token) + len(tokenizer.sep_token)
    (inside,) = [n for n, span in enumerate(one.pieces) if span[1] == ends]
    assert one.values[inside] != 0
    assert one.values[0] == one.values[-1] == 0


def test_points_of_the_line_are_scipys():
    special = pytest.importorskip("scipy.special")
    points, weights = gauss_legendre(9)
    want, shares = special.roots_sh_legendre(9)
    np.testing.assert_allclose(points, want)
    np.testing.assert_allclose(weights, shares)


def test_a_line_needs_a_step_and_no_sentence_needs_nothing(parts):
    _, _, model = parts
    with pytest.raises(InputError, match="at least 1 step, got 0"):
        IntegratedGradients(model).attribute(["good"], steps=0)
    assert IntegratedGradients(model).attribute([]) == []


def test_pieces_are_added_up_to_words(tmp_path):
    """Of BERT's pieces s-t-a-f-f-s the last are letters: one word has them all."""
    network, tokenizer = classifier(make_bert(tmp_path / "model"))
    scorer = StyleAttribution(
        TransformerModel(STYLES, network, tokenizer, COLUMNS), name="t", hash="0" * 64
    )
    text = "very good, don't xyz."
    (pieces,) = scorer.attributions([text], steps=5)
    (words,) = scorer.word_attributions([text], steps=5)
    assert [text[a:b] for a, b in word_spans(text)] == ["very", "good", ",", "don't", "xyz", "."]
    assert len(pieces.values) > len(words)
    assert words.sum() == pytest.approx(pieces.values.sum())
    inside = [
        v for (a, b), v in zip(pieces.pieces, pieces.values, strict=True) if 11 <= a < b <= 16
    ]
    assert len(inside) > 1
    assert words[3] == pytest.approx(sum(inside))


def test_each_distinct_sentence_is_computed_once_for_each_way(tmp_path, monkeypatch):
    network, tokenizer = classifier(make_bert(tmp_path / "model"))
    scorer = StyleAttribution(
        TransformerModel(STYLES, network, tokenizer, COLUMNS), name="t", hash="0" * 64
    )
    asked = []
    attribute = IntegratedGradients.attribute

    def noted(self, sentences, **how):
        asked.append((list(sentences), how["steps"]))
        return attribute(self, sentences, **how)

    monkeypatch.setattr(IntegratedGradients, "attribute", noted)
    one = scorer.word_attributions(["good", "cold", "good"], steps=2)
    assert np.array_equal(one[0], one[2])
    scorer.word_attributions(["cold", "kind"], steps=2)
    scorer.word_attributions(["cold"], steps=3)
    assert asked == [(["good", "cold"], 2), (["kind"], 2), (["cold"], 3)]
    values = {
        (baseline, output): scorer.word_attributions(
            ["cold soup"], steps=3, baseline=baseline, output=output
        )[0]
        for baseline in ("pad", "mask", "zero")
        for output in ("probability", "logit")
    }
    for how, one in values.items():
        assert not any(np.allclose(one, values[other]) for other in values if other != how)


@pytest.mark.slow
def test_the_published_rule_is_that_of_the_released_code():
    """``mask_style_tokens`` of fastforwardlabs/text-style-transfer, written out with pandas."""
    stream = np.random.default_rng(0)
    same, words = {0.3: 0, 0.5: 0}, {0.3: [], 0.5: []}
    for _ in range(2000):
        values = stream.laplace(size=stream.integers(6, 12))
        frame = pd.DataFrame({"score": values})
        frame["share"] = frame["score"].abs() / frame["score"].abs().sum()
        frame = frame.sort_values(by="share", ascending=False)
        frame["cumulative"] = frame["share"].cumsum()
        for threshold in (0.1, 0.3, 0.5):
            if frame.iloc[0]["cumulative"] > threshold:
                want = [frame.index[0]]
            else:
                want = frame[frame["cumulative"] <= threshold].index.to_list()
            assert style_words(values, threshold) == want
            if threshold in same:
                ours = style_words(values, threshold, "covering")
                same[threshold] += ours == want
                words[threshold].append((len(want), len(ours)))
    # As docs/reproduction.md says.
    assert [same[0.3] / 2000, same[0.5] / 2000] == pytest.approx([0.56, 0.07], abs=0.01)
    assert np.mean(words[0.5], axis=0) == pytest.approx([1.42, 2.34], abs=0.01)
