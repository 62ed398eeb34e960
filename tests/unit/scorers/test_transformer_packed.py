"""Transformer classifiers without padding say what transformers says of each sentence alone."""

import numpy as np
import pytest
import torch
from tiny_models import WORDS, make_bert, make_distilbert, make_roberta
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from tstbench.metrics.scorers.transformer import TransformerModel

SENTENCES = [
    "the food was very good.",
    "",
    "cold",
    "the staff is kind, but slow",
    "they came back and we came back",
    "[PAD] the <pad> food",
    " ".join(WORDS * 5),  # longer than the models take
]


@pytest.mark.parametrize("make", [make_bert, make_roberta, make_distilbert])
def test_every_probability_equals_transformers_on_one_sentence(tmp_path, make):
    folder = make(tmp_path / "model")
    torch.manual_seed(0)
    network = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=3).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if "classifier" in name:
                parameter.normal_()
    model = TransformerModel(("a", "b", "c"), network, tokenizer, [2, 0, 1])
    want = []
    for sentence in SENTENCES:
        inputs = tokenizer(
            sentence, truncation=True, max_length=model._longest, return_tensors="pt"
        )
        with torch.inference_mode():
            logits = network(**inputs).logits[0, [2, 0, 1]].double()
        want.append(logits.log_softmax(0).numpy())
    got = np.log(model.distribution(SENTENCES))
    assert np.ptp(want, axis=0).max() > 0.1  # the sentences differ, or nothing is shown
    np.testing.assert_allclose(got, want, atol=1e-4)
