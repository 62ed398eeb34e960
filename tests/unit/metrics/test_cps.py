"""CPS: the cosine of sentence embeddings, with and without style words."""

import numpy as np
import pytest
import torch
from prepared import DIRECTION, refusal, success
from tiny_models import make_bert
from transformers import AutoModelForSequenceClassification

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import InputError, MissingScorerError, UnknownNameError
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.measure import measure, needs, roles_needed
from tstbench.metrics.options import choices
from tstbench.metrics.scorers.artefacts import ScorerCard, find, store
from tstbench.metrics.scorers.masking import style_words, without_words, word_spans
from tstbench.metrics.scorers.prepare import prepare
from tstbench.metrics.scorers.profile import PROFILES, Scorers

EMBEDDED = PROFILES["embedded"]


@pytest.fixture(scope="module")
def inputs():
    test_set = load_test_set(parse_direction(DIRECTION))
    predictions = [some[0] for some in test_set.references]
    predictions[3] = ""
    return check_inputs(predictions, test_set.sources, test_set.references, test_set.direction)


def tiny_classifier(folder, labels=("negative", "positive")):
    """A transformer classifier as the Hub has them: a folder with two named labels."""
    make_bert(folder)
    torch.manual_seed(0)
    network = AutoModelForSequenceClassification.from_pretrained(
        folder, num_labels=2, id2label=dict(enumerate(labels))
    )
    torch.nn.init.normal_(network.classifier.weight)
    network.save_pretrained(folder)
    return folder


def with_attribution(spec):
    profile = EMBEDDED.with_scorers([f"attribution={spec}"])
    return Scorers(profile, parse_direction(DIRECTION))


def test_without_masking_it_is_the_cosine_of_sentence_transformers(prepared, inputs):
    """The library that made the encoder is the oracle; mini's texts need no cleaning."""
    library = pytest.importorskip("sentence_transformers")
    scorers = Scorers(EMBEDDED, inputs.direction)
    found = measure(["cps"], inputs, scorers)["cps"]
    model = library.SentenceTransformer(str(scorers.load("encoder").folder), device="cpu")
    sources = model.encode(list(inputs.sources), normalize_embeddings=True)
    outputs = model.encode(list(inputs.predictions), normalize_embeddings=True)
    want = (sources * outputs).sum(axis=1)
    want[3] = 0
    np.testing.assert_allclose(found.statistics.per_sentence, want, atol=1e-5)
    assert roles_needed(["cps"], scorers) == ("encoder",)  # no classifier
    assert "threshold" not in found.signature.as_dict()


@pytest.mark.parametrize(
    ("mask", "unit", "rule"),
    [("masked", "pieces", "published"), ("removed", "pieces", "published"),
     ("masked", "words", "covering")],
)  # fmt: skip
def test_style_words_are_left_out_of_both_texts(prepared, inputs, tmp_path, mask, unit, rule):
    scorers = with_attribution(tiny_classifier(tmp_path / "model"))
    options = {"mask": mask, "threshold": 0.4, "steps": 4, "unit": unit, "rule": rule}
    found = measure(["cps"], inputs, scorers, choices({"cps": options}))["cps"]
    attribution, encoder = scorers.load("attribution"), scorers.load("encoder")

    def stripped(text):
        if unit == "words":
            spans = word_spans(text)
            (values,) = attribution.word_attributions([text.lower()], steps=4)
        else:
            (one,) = attribution.attributions([text.lower()], steps=4)
            spans, values = one.pieces, one.values  # the framing tokens have 0
        assert len(spans) == len(values)
        words = style_words(values, 0.4, rule)
        assert not text or words
        return without_words(text, spans, words, "[PAD]" if mask == "masked" else None)

    for i in (0, 7, 21):
        pair = [stripped(inputs.sources[i]), stripped(inputs.predictions[i])]
        assert pair[0] != inputs.sources[i]
        one, two = encoder.sentence_vectors(pair)
        assert found.statistics.per_sentence[i] == pytest.approx(float(one @ two), abs=1e-5)
    assert found.statistics.per_sentence[3] == 0
    said = found.signature.as_dict()
    assert (said["mask"], said["unit"], said["rule"]) == (mask, unit, rule)
    assert said["attribution"].startswith("model#")
    assert ("placeholder" in said) == (mask == "masked")


@pytest.mark.parametrize("unit", ["pieces", "words"])
def test_a_letter_that_is_two_in_lower_case_moves_no_word(prepared, inputs, tmp_path, unit):
    """In lower case the word is three: places are those of the text that is masked."""
    scorers = with_attribution(tiny_classifier(tmp_path / "model"))
    chosen = choices({"cps": {"mask": "removed", "threshold": 0.5, "steps": 3, "unit": unit}})
    text = "\u0130stanbul has really lovely and friendly food ."
    assert len(word_spans(text)) != len(word_spans(text.lower()))
    found = [
        measure(["cps"], check_inputs([one], ["the food was good ."]), scorers, chosen)["cps"].value
        for one in (text, text.lower())
    ]
    assert found[0] == pytest.approx(found[1], abs=1e-6)


def test_the_classifier_reads_what_it_was_said_to_read(prepared, inputs, tmp_path, monkeypatch):
    scorers = with_attribution(tiny_classifier(tmp_path / "model"))
    attribution, asked = scorers.load("attribution"), []
    own = attribution.attributions

    def noted(sentences, **how):
        asked.extend(sentences)
        return own(sentences, **how)

    monkeypatch.setattr(attribution, "attributions", noted)
    some = check_inputs(["The FOOD 's good ."], ["The FOOD 's bad ."], None, inputs.direction)
    chosen = choices({"cps": {"mask": "masked", "steps": 2}})
    measure(["cps"], some, scorers, chosen)
    (need,) = (n for n in needs(["cps"], some, scorers, chosen) if n.role == "attribution")
    assert asked == [*need.texts] == ["the food's good.", "the food's bad."]


@pytest.mark.parametrize("kind", ["transformer", "finetuned"])
def test_the_stored_transformer_of_the_dataset_is_found(prepared, inputs, tmp_path, kind):
    from tstbench.metrics.scorers.transformer import TransformerModel

    folder = tiny_classifier(tmp_path / "model")
    card = ScorerCard(
        role="classifier", dataset="mini", name=kind, kind=kind,
        styles=("negative", "positive"), trained_on="nothing", data_fingerprint="0", n_sentences=0,
    )  # fmt: skip
    stored = store(card, TransformerModel.load(folder).save)
    default = EMBEDDED if kind == "transformer" else EMBEDDED.with_scorers([f"attribution={kind}"])
    for scorers in (Scorers(default, inputs.direction), with_attribution(stored.folder)):
        found = scorers.find("attribution")
        assert (found.name, found.hash) == (f"{kind}:mini", stored.hash)
        assert scorers.load("attribution").styles == ("negative", "positive")


def test_a_missing_or_wrong_classifier_is_said(prepared, inputs, tmp_path):
    masked = choices({"cps": {"mask": "removed"}})
    train = "tstbench train classifier mini --kind transformer.*--scorer attribution=finetuned"
    with pytest.raises(MissingScorerError, match=train):
        measure(["cps"], inputs, Scorers(EMBEDDED, inputs.direction), masked)
    for spec in ("linear", find("classifier", "mini", "linear").folder):
        with pytest.raises(InputError, match="need a transformer, not a classifier of kind linear"):
            measure(["cps"], inputs, with_attribution(spec), masked)
    with pytest.raises(InputError, match="need a transformer, not a classifier of kind linear"):
        prepare(
            inputs.direction, EMBEDDED.with_scorers(["attribution=linear"]), ["cps"], choices=masked
        )
    with pytest.raises(UnknownNameError, match="Did you mean 'transformer'"):
        measure(["cps"], inputs, with_attribution("transfomer"), masked)
    odd = tiny_classifier(tmp_path / "odd", ("LABEL_0", "LABEL_1"))
    with pytest.raises(InputError, match=r"labels of .*odd are 'LABEL_0', 'LABEL_1'"):
        measure(["cps"], inputs, with_attribution(odd), masked)


@pytest.mark.slow
def test_the_advice_without_the_default_weights_works_word_for_word(
    prepared, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    command = (
        "evaluate", "--baseline", "copy", "--direction", DIRECTION,
        "--metrics", "cps", "--set", "cps.mask=masked", "--set", "cps.steps=2",
    )  # fmt: skip
    message = refusal(capsys, *command)
    assert "hf download FacebookAI/roberta-base" in message
    assert "--scorer attribution=finetuned" in message
    train = "tstbench train classifier mini --kind transformer --base WEIGHTS"
    assert f"'{train}' prints the folder" in message
    weights = tmp_path / "weights"
    make_bert(weights)
    words = train.replace("WEIGHTS", str(weights)).split()[1:]
    out, _ = success(capsys, *words)
    folder = dict(line.split("\t") for line in out.splitlines() if line.count("\t") == 1)["folder"]
    out, _ = success(capsys, *command, "--scorer", f"attribution={folder}")
    assert "1.000" in out
