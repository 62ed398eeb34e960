"""What each profile and protocol chooses, one by one, against where it comes from.

Paper: Xie et al. (2025), TSTBench. The paper profile runs here on tiny models that lie in the Hub's
cache under the names of the real ones, with more layers than are read: its own choices meet files.
"""

import dataclasses
import re

import evaluate
import numpy as np
import pytest
import torch
from bert_score import BERTScorer
from places import ROOT
from prepared import prepared_home
from tiny_models import make_bert
from transformers import BertConfig, BertForSequenceClassification

from tstbench.metrics.options import choices
from tstbench.metrics.scorers.profile import PROFILES
from tstbench.metrics.statistics import LEVEL, RESAMPLES
from tstbench.metrics.text import preparation

COLA = "cointegrated/roberta-large-cola-krishna2020"
REVISION = "efffc0dbebedfdb84747a32b30ec0c3df15812b1"
LAYERS = 12


def test_every_choice_of_every_profile():
    """Section 3.3.1, "Style strength" (a RoBERTa classifier), "Fluency" (KenLM and this CoLA model,
    section 4.1); encoder, layer and mean are those of the paper's evaluator_bertscore.py.
    """
    usual = {"language_model": "kn5", "acceptability": "v1"}
    usual["encoder"] = "sentence-transformers/all-MiniLM-L6-v2@6"
    small = {"classifier": "lm", "causal_lm": "HuggingFaceTB/SmolLM2-135M-Instruct"}
    paper = {
        "classifier": "transformer@train",
        "language_model": "kn5@train",
        "acceptability": COLA,
        "encoder": "FacebookAI/roberta-large@9",
        "bleurt": "Elron/bleurt-base-512",
        "attribution": "transformer@train",
        "source_language_model": "kn5@train",
    }
    options = {
        "embedded": {},
        "lm": {"fluency": {"combine": "mean"}, "sti": {"of": "least"}},
        "paper": {"acc": {"protocol": "paper"}, "bertscore": {"reduce": "mean"}},
    }
    scorers = {"embedded": usual | {"classifier": "linear"}, "lm": usual | small, "paper": paper}
    assert {name: dataclasses.asdict(profile) for name, profile in PROFILES.items()} == {
        name: {"name": name, "scorers": scorers[name], "options": options[name]} for name in options
    }
    # Section 3.3.1: Joint is the geometric mean with equal weights; PPL's end is not counted.
    usual = choices(PROFILES["paper"].options)
    assert usual.of("joint").weights == (1.0, 1.0, 1.0)
    assert usual.of("acc").protocol == "paper"
    assert usual.of("ppl").norm == "words"
    assert usual.of("bleu").protocol is None  # the language's: "tstbench"
    assert all(usual.of(one).protocol is None for one in ("ppl", "bertscore", "cola"))  # "paper"
    assert (LEVEL, RESAMPLES) == (0.95, 1000)


@pytest.fixture
def published(tmp_path, tmp_path_factory, monkeypatch):
    """The Hub's cache, with tiny models under the paper's names."""
    cache = tmp_path / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    found = {}
    for model, revision in (("FacebookAI/roberta-large", "a" * 40), (COLA, REVISION)):
        folder = cache / f"models--{model.replace('/', '--')}"
        (folder / "refs").mkdir(parents=True)
        (folder / "refs" / "main").write_text(revision)
        found[model] = make_bert(folder / "snapshots" / revision, layers=LAYERS, cased=True)
    judge = BertForSequenceClassification(BertConfig.from_pretrained(found[COLA]))
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for name, parameter in judge.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(noise * 0.3 + ("LayerNorm.weight" in name))
    judge.eval().save_pretrained(found[COLA])
    monkeypatch.setenv("TSTBENCH_HOME", str(prepared_home(tmp_path_factory)))
    monkeypatch.chdir(ROOT)
    return found


ROWS = [
    ("The  Food was very good .", "the food was BAD .", ("The staff is kind .", "food very good")),
    ("They came back , slow", "But they came back cold .", ("we came back ,", "not cold .")),
    ("we  WERE n't cold .", "we were n't very  cold", ("We weren't cold.", "but we were")),
    ("Staff was kind .", "staff was not kind .", ("The STAFF is very kind", "a kind staff")),
    ("A FOOD is a food", "a food is not a food .", ("The food is Good .", "good food .")),
]


def process_text(text):
    """The function of that name in the paper's utils/dataset.py, in its own words."""
    return re.sub(r"\s+", " ", text.lower().replace("\t", " ")).strip()


def package(folder, layer, pairs):
    """The bert-score package's F1 of each pair."""
    scorer = BERTScorer(
        model_type=str(folder), num_layers=layer, device="cpu", rescale_with_baseline=False
    )
    return scorer.score([a for a, _ in pairs], [b for _, b in pairs])[2].numpy().astype(float)


@pytest.mark.slow
def test_the_paper_profile_reads_layer_9_and_takes_the_mean(published, tmp_path, capsys):
    predictions, sources, against = zip(*ROWS, strict=True)
    module = evaluate.load("metrics/bertscore")
    given = {"predictions": predictions, "sources": sources, "references": against}
    given |= {"profile": "paper", "per_sentence": True}
    found = module.compute(**given)
    folder = published["FacebookAI/roberta-large"]
    read = [(process_text(p), process_text(s), [*map(process_text, some)]) for p, s, some in ROWS]
    source = {layer: package(folder, layer, [(p, s) for p, s, _ in read]) for layer in (8, 9, 10)}
    np.testing.assert_allclose(found["details"]["s_bert"]["per_sentence"], source[9], atol=1e-5)
    assert min(abs(source[9] - source[other]).max() for other in (8, 10)) > 1e-3
    clean = preparation("en").clean
    cased = package(folder, 9, list(zip(clean(predictions), clean(sources), strict=True)))
    assert abs(source[9] - cased).max() > 1e-3
    each = [package(folder, 9, [(p, r) for r in some]) for p, _, some in read]
    assert found["multi_bert"] == pytest.approx(np.mean([one.mean() for one in each]), abs=1e-5)
    assert abs(np.mean([one.max() for one in each]) - found["multi_bert"]) > 1e-3
    # The package's own first reference; no rescaling with a baseline.
    assert found["r_bert"] == pytest.approx(np.mean([one[0] for one in each]), abs=1e-5)
    said = "|layer:9|reduce:mean|rescale:no|protocol:paper|text:fold+lower|"
    assert said in found["details"]["s_bert"]["signature"]
    usual = module.compute(**given, reduce="max")
    assert usual["multi_bert"] == pytest.approx(np.mean([one.max() for one in each]), abs=1e-5)
    other = module.compute(**given, protocol="cleaned")
    np.testing.assert_allclose(other["details"]["s_bert"]["per_sentence"], cased, atol=1e-5)


def test_acceptable_is_what_the_model_calls_label_0_of_lower_case_text(published):
    from transformers import BertTokenizer

    predictions = [
        text for prediction, source, some in ROWS for text in (prediction, source, *some)
    ]
    module = evaluate.load("metrics/cola")
    tokenizer = BertTokenizer.from_pretrained(published[COLA])
    model = BertForSequenceClassification.from_pretrained(published[COLA]).eval()

    def margins(texts):
        with torch.inference_mode():
            logits = [model(**tokenizer(t, return_tensors="pt")).logits[0] for t in texts]
        return np.array([float(one[0] - one[1]) for one in logits])

    def share(texts):
        return 100 * (margins(texts) > 0).mean()

    with torch.no_grad():  # it must not say the same of all
        model.classifier.bias[1] += float(np.quantile(margins(predictions), 0.6))
    model.save_pretrained(published[COLA])
    wanted = {
        "paper": share([*map(process_text, predictions)]),
        "cleaned": share(preparation("en").clean(predictions)),
    }
    assert len({50, *wanted.values()}) == 3
    for protocol in (None, "paper", "cleaned"):
        found = module.compute(predictions=predictions, profile="paper", protocol=protocol)
        assert found["cola"] == pytest.approx(wanted[protocol or "paper"])
        signature = found["details"]["cola"]["signature"]
        assert f"|classifier:{COLA}#" in signature
