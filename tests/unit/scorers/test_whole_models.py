"""A model's weights are all there, and all are used: nothing is filled in at random."""

import json
import shutil
import time

import pytest
import torch
import transformers
from classifier_toys import SENTENCES, STYLES, save_tiny_bert, word_tokenizer
from safetensors.torch import load_file, save_file
from tiny_models import make_bleurt
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertForMaskedLM,
    BertForPreTraining,
    DistilBertConfig,
    DistilBertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Model,
    LlamaConfig,
    LlamaForCausalLM,
    RobertaConfig,
    RobertaForMaskedLM,
    RobertaForSequenceClassification,
    T5Config,
    T5EncoderModel,
)

from tstbench.errors import InputError, TSTBenchError
from tstbench.metrics.scorers import bleurt, causal_lm
from tstbench.metrics.scorers.classifiers import describe_hub_classifier
from tstbench.metrics.scorers.device import HERE
from tstbench.metrics.scorers.encoder import TransformerEncoder
from tstbench.metrics.scorers.encoder_files import describe_encoder
from tstbench.metrics.scorers.finetuned import FinetunedConfig
from tstbench.metrics.scorers.fitting import with_new_head
from tstbench.metrics.scorers.lora import fresh_network
from tstbench.metrics.scorers.transformer import TransformerModel, load_hub_model
from tstbench.metrics.scorers.weights import read_model
from tstbench.trainers.lora.base import Base
from tstbench.trainers.prefix_lm import PrefixLM
from tstbench.trainers.training.rewarded_bart import Seq2Seq

TOKENIZER = word_tokenizer(SENTENCES)
TOKENIZER.model_max_length = 64
TOKENIZER.eos_token = "[SEP]"
V = len(TOKENIZER)
SIZES = {
    "vocab_size": V, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
    "intermediate_size": 64, "max_position_embeddings": 64,
}  # fmt: skip
GPT2 = GPT2Config(vocab_size=V, n_embd=32, n_layer=2, n_head=2, n_positions=128)
BART = BartConfig(
    vocab_size=V, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
    decoder_attention_heads=2, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=64,
)  # fmt: skip


def save(folder, model, **how):
    model.save_pretrained(folder, **how)
    TOKENIZER.save_pretrained(folder)
    return folder


def configured(**changes):
    def change(folder):
        file = folder / "config.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | changes))

    return change


def rewritten(rename):
    """Each tensor becomes those that ``rename`` gives for its name and value."""

    def change(folder):
        file = folder / "model.safetensors"
        pairs = [pair for name, value in load_file(file).items() for pair in rename(name, value)]
        save_file({name: value.clone() for name, value in pairs}, file, {"format": "pt"})

    return change


def without(part):
    return rewritten(lambda name, value: [] if part in name else [(name, value)])


def sharded_elsewhere(folder):
    (folder / "model.safetensors").rename(folder.parent / "elsewhere.safetensors")
    index = {"metadata": {}, "weight_map": {"any": "../elsewhere.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "other.safetensors").write_bytes(
        (folder.parent / "elsewhere.safetensors").read_bytes()
    )


def pickled(folder):
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def adapted(folder):
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA", "lora_alpha": 4000}')


# role: the model that is damaged, and what reads it
ROLES = {
    "classifier": ("bert", lambda folder: load_hub_model(folder, ("LABEL_0", "LABEL_1"))),
    "trained classifier": ("bert", TransformerModel.load),
    "encoder": ("bert", TransformerEncoder),
    "new head": ("bert", lambda folder: with_new_head(folder, STYLES)),
    "causal_lm": ("gpt2", lambda folder: causal_lm.find(str(folder), None, HERE).load()),
    "adapter's base": ("gpt2", lambda folder: Base.find(str(folder)).load("none", "cpu")),
    "strap": ("gpt2", lambda folder: PrefixLM.pretrained(str(folder), [])),
    "bart": ("bart", lambda folder: Seq2Seq.pretrained(str(folder))),
    "bleurt": ("bleurt", lambda folder: bleurt.find(str(folder), None, HERE).load()),
}
# Of each family: the settings of layers, width and a small number, a layer's name, a tensor's name
FAMILIES = {
    "bert": (
        ("num_hidden_layers", "intermediate_size", "layer_norm_eps"),
        ("layer.1.", "output.dense.bias"),
    ),
    "gpt2": (("n_layer", "n_inner", "layer_norm_epsilon"), ("h.1.", "mlp.c_fc.bias")),
    "bart": (("encoder_layers", "encoder_ffn_dim", "dropout"), ("encoder.layers.1.", "fc1.bias")),
}
FAMILIES["bleurt"] = FAMILIES["bert"]
QUANTISED = {"quant_method": "bitsandbytes", "load_in_8bit": True}


def damages(family):
    """What is done to a folder, and what the message then names."""
    (layers, width, small), (layer, tensor) = FAMILIES[family]
    return [
        (rewritten(lambda name, value: [(f"module.{name}", value)]), r"\d\d missing"),
        (without(layer + tensor), f"1 missing .*{tensor}"),
        (without(layer), f"missing .*{layer}"),
        (configured(**{layers: 1}), f"not of this model .*{layer}"),
        (configured(**{width: 72}), "of another shape"),
        (configured(**{small: "1e-5"}), small),
        (configured(quantization_config=QUANTISED), "quantization_config"),
        (configured(id2label={"0": "a", "7": "b"}), "id2label"),
        (pickled, "safetensors"),
        (adapted, "adapter_config.json.*merge"),
        (sharded_elsewhere, "index.json"),
        (lambda folder: (folder / "config.json").write_text("[" * 10**5), "nested"),
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder for each family."""
    folder = tmp_path_factory.mktemp("whole")
    torch.manual_seed(0)
    save_tiny_bert(folder / "bert")
    make_bleurt(folder / "bleurt")
    save(folder / "gpt2", GPT2LMHeadModel(GPT2))
    save(folder / "bart", BartForConditionalGeneration(BART))
    return folder


@pytest.mark.parametrize("role", ROLES)
def test_what_is_not_whole_is_refused(role, whole, tstbench_home, tmp_path, capfd):
    family, load = ROLES[role]
    load(whole / family)
    for number, (change, expected) in enumerate(damages(family)):
        folder = shutil.copytree(whole / family, tmp_path / str(number))
        change(folder)
        start = time.process_time()
        with pytest.raises(TSTBenchError, match=expected) as told:
            load(folder)
        assert str(folder) in str(told.value)
        assert time.process_time() - start < 5, expected
    assert "MISSING" not in capfd.readouterr().err  # transformers' table


def test_a_pooler_that_is_used_is_part_of_what_is_whole(tmp_path):
    folder = save(tmp_path / "model", BertForMaskedLM(BertConfig(**SIZES)))  # it has none
    TransformerEncoder(folder)
    with pytest.raises(InputError, match=r"missing .*pooler"):
        fresh_network(str(folder), STYLES, 2)


@pytest.mark.parametrize("role", [role for role in ROLES if role not in ("encoder", "new head")])
def test_a_head_is_part_of_what_is_whole(role, whole, tstbench_home, tmp_path):
    family, load = ROLES[role]
    folder = shutil.copytree(whole / family, tmp_path / "model")
    if family in ("bert", "bleurt"):
        without("classifier")(folder)
    else:  # its head is its embedding, unless it says otherwise
        configured(tie_word_embeddings=False)(folder)
    with pytest.raises(InputError, match=r"missing .*(classifier|lm_head)"):
        load(folder)


# What is published: a body with or without its prefix, a head, a pooler, buffers, old names


def gammas(name, value):
    norms = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    for new, old in norms.items():
        name = name.replace(new, old)
    return [(name, value)]


def masked(name, value):
    more = {"bias": torch.ones(1, 1, 128, 128), "masked_bias": torch.tensor(-1e4)}
    place = name.removesuffix("c_attn.weight")
    return [(name, value), *((place + key, mask) for key, mask in more.items() if place != name)]


def pooled(name, value):
    more = (
        [("roberta.pooler.dense.weight", torch.ones(32, 32))]
        if name.endswith("1.output.dense.bias")
        else []
    )
    return [(name, value), *more]


LLAMA = LlamaConfig(**SIZES, num_key_value_heads=2, tie_word_embeddings=True)
DISTILBERT = DistilBertConfig(vocab_size=V, dim=32, n_heads=2, hidden_dim=64, n_layers=2)
T5 = T5Config(vocab_size=V, d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2)
PUBLISHED = {
    "bert with heads": ("AutoModel", lambda: BertForPreTraining(BertConfig(**SIZES)), gammas, {}),
    "distilbert with a head": ("AutoModel", lambda: DistilBertForMaskedLM(DISTILBERT), None, {}),
    "roberta without a pooler": (
        "AutoModel", lambda: RobertaForMaskedLM(RobertaConfig(**SIZES)), None, {},
    ),
    "t5's encoder": ("AutoModel", lambda: T5EncoderModel(T5), None, {}),
    "a classifier with a pooler": (
        "AutoModelForSequenceClassification",
        lambda: RobertaForSequenceClassification(RobertaConfig(**SIZES)), pooled, {},
    ),
    "gpt-2 as openai has it": ("AutoModelForCausalLM", lambda: GPT2Model(GPT2), masked, {}),
    "llama, tied and halved": (
        "AutoModelForCausalLM", lambda: LlamaForCausalLM(LLAMA).half(), None, {},
    ),
    "llama in parts": (
        "AutoModelForCausalLM", lambda: LlamaForCausalLM(LLAMA), None, {"max_shard_size": "20KB"},
    ),
    "bart": (
        "BartForConditionalGeneration", lambda: BartForConditionalGeneration(BART), None, {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_what_is_published_is_read_as_transformers_reads_it(name, tmp_path):
    head, make, rename, how = PUBLISHED[name]
    torch.manual_seed(0)
    folder = save(tmp_path / "model", make(), **how)
    if rename:
        rewritten(rename)(folder)
    # The name of a stranger's kernel, which transformers would fetch, is not looked at.
    theirs = getattr(transformers, head).from_pretrained(folder, dtype=torch.float32).eval()
    configured(attn_implementation="somebody/kernel")(folder)
    ours = read_model(folder, head, dtype=torch.float32)
    if name == "t5's encoder":
        ours, theirs = ours.encoder, theirs.encoder
    ids = torch.tensor([[2, 7, 8, 9, 3]])
    with torch.inference_mode():
        expected, got = (model(input_ids=ids)[0] for model in (theirs, ours))
    assert torch.equal(expected, got)


@pytest.mark.parametrize(
    ("named", "card_counts"),
    [
        (lambda folder: describe_hub_classifier(folder), False),
        (lambda folder: describe_encoder(folder).hash, False),
        (lambda folder: causal_lm.find(folder, None, HERE).hash, False),
        (lambda folder: FinetunedConfig(base=folder).settings(), True),
    ],
    ids=["classifier", "encoder", "causal_lm", "fine-tuning's base"],
)
def test_a_model_is_named_by_what_moves_a_score_and_not_by_its_place(
    named, card_counts, whole, tmp_path
):
    copy = shutil.copytree(whole / "bert", tmp_path / "bert")
    known = [named(str(whole / "bert"))]
    assert named(str(copy)) == known[0]
    for name in ("config.json", "tokenizer.json", "model.safetensors.index.json"):
        file = copy / name
        file.write_text((file.read_text() if file.exists() else '{"weight_map": {}}') + "\n")
        assert named(str(copy)) not in known
        known.append(named(str(copy)))
    (copy / "README.md").write_text("a card")
    assert (named(str(copy)) != known[-1]) == card_counts
