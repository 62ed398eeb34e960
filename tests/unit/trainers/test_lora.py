"""LLaMA-LoRA and LLaMA-LoRA-INST: rows, what is learned and from what, generation, bases."""

import json
import os
import random
import re
import shutil
import signal
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from prepared import refusal, success
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, Qwen2Config, Qwen2ForCausalLM, TrainerState

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import TrainingData, TrainingPart
from tstbench.errors import InputError, IntegrityError
from tstbench.trainers.load import load_system
from tstbench.trainers.lora.base import SCRATCH, Adapter, Base, check_quantization
from tstbench.trainers.lora.config import LlamaLoraConfig, LlamaLoraInstConfig, LoraSettings
from tstbench.trainers.lora.records import (
    Record,
    answer,
    load_instructions,
    prompt,
    prompt_rows,
    rows_of,
)
from tstbench.trainers.lora.system import LlamaLora, Writer, _Draws, merge
from tstbench.trainers.lora.tuning import Keeper, shares_of, tune
from tstbench.trainers.prompting.prompts import instruction
from tstbench.trainers.system import Generation
from tstbench.trainers.training.backbones import BackboneShape, byte_level_tokenizer, random_model
from tstbench.trainers.training.curve import Curve
from tstbench.trainers.training.run import Run
from tstbench.trainers.training.sampler import Order

DIRECTION = "mini/negative-to-positive"
ASKED = parse_direction(DIRECTION)
TOLD = instruction(ASKED)
CPU = Run(device="cpu")
TINY = ("train", "llama-lora", "--preset", "tiny", "--direction", DIRECTION, "--device", "cpu")
PAIRS = tuple(
    (f"the {what} was {bad}", f"the {what} was {good}")
    for what in ("food", "staff", "soup", "room")
    for bad, good in (("awful", "great"), ("cold", "warm"))
)
RECORDS = [Record(TOLD, source, target) for source, target in PAIRS]
CONFIG = replace(
    LlamaLoraConfig.tiny(ASKED), pairs="data", target_modules="all-linear", r=16, alpha=32,
    dropout=0.0, epochs=40, learning_rate=1e-2, grouping=1, validate_every=30,
)  # fmt: skip


def make_base(
    folder: Path, family: str = "llama", seed: int = 0, positions: int = 256, dimension: int = 32
) -> Path:
    texts = [prompt(r.instruction, r.input) + r.output for r in RECORDS]
    tokenizer = byte_level_tokenizer(texts, "llama" if family == "qwen2" else family, 400, 256)
    torch.manual_seed(seed)
    if family == "qwen2":
        model = Qwen2ForCausalLM(
            Qwen2Config(
                vocab_size=len(tokenizer) + 8, hidden_size=32, intermediate_size=64,
                num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
                max_position_embeddings=positions,
            )
        )  # fmt: skip
    else:
        model = random_model(family, BackboneShape(dimension, 2, 2, positions), tokenizer)
    for parameter in model.parameters():  # a random model this small says the same to everything
        if parameter.dim() > 1:
            parameter.data.mul_(4)
    model.get_input_embeddings().weight.data.mul_(6)  # and is sure of nothing
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_base(tmp_path_factory.mktemp("bases") / "llama")


@pytest.fixture(autouse=True)
def known(folder):
    """Each test has a TSTBENCH_HOME of its own, which knows where the base is."""
    Base.find(str(folder))


@pytest.fixture(scope="module")
def base(folder):
    return Base.find(str(folder))


@pytest.fixture(scope="module")
def data():
    train = TrainingPart("train", *zip(*PAIRS, strict=True), PAIRS)
    return TrainingData(ASKED, "paper-v1", train, replace(train, name="validation"))


@pytest.fixture(scope="module")
def system(folder, data):
    return LlamaLora.train(data, replace(CONFIG, base=str(folder), epochs=10), CPU)


def taught(base, run=CPU, **settings):
    config = replace(CONFIG, **settings)
    rows = rows_of(base.tokenizer(), RECORDS, config.cutoff, config.template)
    return tune(base, rows, rows, config, run, "r")


def interrupted_after(step):
    """``Keeper.on_step_end`` with a Ctrl-C in that step."""
    step_end = Keeper.on_step_end

    def interrupted(self, *given, **more):
        if given[1].global_step == step:
            os.kill(os.getpid(), signal.SIGINT)
        step_end(self, *given, **more)

    return interrupted


def curve_of(folder):
    return [json.loads(line) for line in (folder / "curve.jsonl").read_text().splitlines()]


def losses(model, rows, first=None):
    """The model's own loss of each row, alone, and how many tokens it is of."""
    for row in rows:
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([row.ids])).logits[0].log_softmax(dim=-1)
        places = range(row.n_prompt if first is None else first, len(row.ids))
        yield -sum(logits[i - 1, row.ids[i]].item() for i in places), len(places)


# What is learned from


def test_a_row_begins_with_exactly_what_the_model_will_read(base):
    tokenizer = base.tokenizer()
    for template in ("alpaca", "short"):
        (row,) = rows_of(tokenizer, RECORDS[:1], 256, template)
        read = prompt_rows(tokenizer, [prompt(TOLD, PAIRS[0][0], template)])[0]
        assert list(row.ids[: row.n_prompt]) == read
        assert row.ids[-1] == tokenizer.eos_token_id
        assert tokenizer.decode(row.ids[row.n_prompt : -1]).strip() == PAIRS[0][1]
    assert "### Input:" not in prompt("Name a fruit.", "")


def test_an_end_that_the_tokenizer_adds_is_not_in_a_prompt(base):
    from tokenizers import processors

    tokenizer = base.tokenizer()
    plain = prompt_rows(tokenizer, ["the food"])[0]
    ids = [(t, tokenizer.convert_tokens_to_ids(t)) for t in ("<s>", "</s>")]
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=ids
    )
    assert prompt_rows(tokenizer, ["the food"])[0] == [ids[0][1], *plain]


def test_long_rows_are_cut_and_those_without_an_output_left_out(base):
    tokenizer = base.tokenizer()
    whole = rows_of(tokenizer, RECORDS, 256)
    size = whole[0].n_prompt + 2
    assert all(len(row.ids) <= size for row in rows_of(tokenizer, RECORDS, size))
    with pytest.raises(InputError, match=r"no record fits: .* --template short"):
        rows_of(tokenizer, RECORDS, 20)


@pytest.mark.parametrize(("loss", "from_"), [("completion", None), ("all", 1)])
def test_a_steps_loss_is_the_mean_over_the_labelled_tokens_of_its_rows(base, tmp_path, loss, from_):
    """A new adapter adds nothing, so the base model's own loss is the oracle; parts sum up."""
    run = replace(CPU, folder=tmp_path)
    taught(base, run, loss=loss, epochs=2, batch_size=4, micro_batch=3, learning_rate=1e-9)
    model = AutoModelForCausalLM.from_pretrained(base.folder)
    rows = rows_of(base.tokenizer(), RECORDS, CONFIG.cutoff, "short")
    totals, counts = zip(*losses(model, rows, from_), strict=True)
    order = Order([len(row.ids) for row in rows], 4, CONFIG.seed)
    steps = [row["adapter/loss"] for row in curve_of(tmp_path) if "adapter/loss" in row]
    assert len(steps) == 4
    for step, found in enumerate(steps):
        wanted = sum(totals[i] for i in order.at(step)) / sum(counts[i] for i in order.at(step))
        assert found == pytest.approx(wanted, rel=1e-4), step


def test_the_validation_loss_is_the_mean_over_words_whatever_the_batches(base):
    """The base model's own loss is the oracle, as above; outputs have 2 to 12 words."""
    records = [replace(r, output=f"{r.output} " * (1 + n % 4)) for n, r in enumerate(RECORDS)]
    rows = rows_of(base.tokenizer(), records, CONFIG.cutoff, "short")
    model = AutoModelForCausalLM.from_pretrained(base.folder)
    totals, counts = zip(*losses(model, rows), strict=True)
    mean = sum(totals) / sum(counts)
    for micro in (1, 3):
        how = replace(CONFIG, epochs=1, micro_batch=micro, learning_rate=1e-9)
        loss = tune(base, rows, rows, how, CPU, "r").scores["loss"]
        assert loss == pytest.approx(mean, rel=1e-5), micro


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "layers"), [("llama", "q_proj,v_proj"), ("qwen2", "all-linear"), ("gpt2", "c_attn")]
)
def test_any_family_learns_and_its_own_weights_stay(tmp_path, family, layers):
    base = Base.find(str(make_base(tmp_path / family, family)))
    before = load_file(base.folder / "model.safetensors")
    run = replace(CPU, folder=tmp_path / "run")
    tuned = taught(base, run, target_modules=layers, epochs=15, validate_every=5)
    rows = [row for row in curve_of(tmp_path / "run") if "adapter/loss" in row]
    assert [row["step"] for row in rows] == list(range(1, 16))
    assert rows[-1]["adapter/loss"] < 0.9 * rows[0]["adapter/loss"]
    assert tuned.scores["loss"] == -tuned.scores["selection"] < rows[0]["adapter/loss"]
    assert all("lora_" in name for name in tuned.adapter.weights)
    kinds = {name.split(".")[-3] for name in tuned.adapter.weights}
    assert "lm_head" not in kinds
    assert layers == "all-linear" or kinds == set(layers.split(","))
    after = load_file(base.folder / "model.safetensors")
    assert all(torch.equal(before[name], after[name]) for name in before)
    # What was kept is what was measured: the adapter on a fresh copy has that loss.
    model = tuned.adapter.on(base.load("none", "cpu"))
    rows = rows_of(base.tokenizer(), RECORDS, CONFIG.cutoff, "short")
    totals, counts = zip(*losses(model, rows), strict=True)
    assert tuned.scores["loss"] == pytest.approx(sum(totals) / sum(counts), rel=1e-4)


def test_batches_are_shared_among_processes():
    config = replace(CONFIG, batch_size=256, micro_batch=16)
    assert shares_of(1000, config, 1) == (16, 16)
    assert shares_of(1000, config, 4) == (16, 4)
    assert shares_of(101, config, 2) == (10, 5)
    with pytest.raises(InputError, match="3 processes cannot share batches of 256"):
        shares_of(1000, config, 3)


def test_a_part_of_an_epoch(base, tmp_path, monkeypatch):
    """8 rows in batches of 2: 4 steps an epoch; the last is validated, whoever stops it there."""
    monkeypatch.setattr(Keeper, "on_step_end", interrupted_after(3))
    how = {"epochs": 0.75, "batch_size": 2, "warm_up": 9, "validate_every": 2}
    tuned = taught(base, replace(CPU, folder=tmp_path), **how)
    rows = curve_of(tmp_path)
    assert [row["step"] for row in rows if "adapter/loss" in row] == [1, 2, 3]
    assert [row["step"] for row in rows if "validation/loss" in row] == [2, 3]
    assert tuned.step == 3


def test_a_loss_that_is_no_number_ends_the_training(tmp_path):
    keeper, state = Keeper(None, tmp_path, Curve(None)), TrainerState(global_step=7)
    with pytest.raises(InputError, match=r"not a number at step 7: lower the learning rate"):
        keeper.on_log(None, state, None, logs={"loss": float("nan")})
    with pytest.raises(InputError, match=r"validation/loss is not a number at step 7: lower"):
        keeper.on_evaluate(None, state, None, metrics={"eval_loss": float("inf")})


# Stopping and going on


@pytest.mark.slow
def test_after_ctrl_c_it_goes_on_to_the_same_weights(base, tmp_path, monkeypatch):
    settings = {"epochs": 8, "batch_size": 4, "dropout": 0.2, "validate_every": 5, "grouping": 2}
    whole = taught(base, replace(CPU, folder=tmp_path / "whole"), **settings)
    run = replace(CPU, folder=tmp_path / "run", save_every=0)
    with monkeypatch.context() as patch:
        patch.setattr(Keeper, "on_step_end", interrupted_after(11))
        with pytest.raises(KeyboardInterrupt, match="after step 11; the same command continues"):
            taught(base, run, **settings)
    resumed = taught(base, replace(run, resume="yes"), **settings)
    assert resumed.scores == whole.scores
    assert resumed.step == whole.step
    for name, weight in whole.adapter.weights.items():
        assert torch.equal(weight, resumed.adapter.weights[name]), name
    assert curve_of(tmp_path / "run") == curve_of(tmp_path / "whole")


def test_torchs_own_files_are_in_checkpoints_alone(base, tmp_path):
    """SECURITY.md names them; `weights_only` reads tensors and numbers, and runs nothing."""
    tuned = taught(base, replace(CPU, folder=tmp_path, save_every=0), epochs=1)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    archives = {path for path in files if path.read_bytes().startswith((b"PK", b"\x80"))}
    names = {"optimizer.pt", "scheduler.pt", "rng_state.pth", "training_args.bin"}
    assert {path.name for path in archives} == names
    for name in ("optimizer.pt", "scheduler.pt"):
        assert torch.load(next(tmp_path.glob(f"checkpoint-*/{name}")), weights_only=True)
    tuned.adapter.write(tmp_path / "adapter", base.identity)
    assert {path.suffix for path in (tmp_path / "adapter").iterdir()} == {".json", ".safetensors"}


@pytest.mark.slow
def test_only_a_whole_checkpoint_counts(base, tmp_path):
    run = replace(CPU, folder=tmp_path, save_every=0)
    taught(base, run, epochs=4)
    (tmp_path / "checkpoint-4" / "trainer_state.json").unlink()  # killed before it was written
    taught(base, replace(run, resume="yes"), epochs=4)
    for name in ("adapter_model.safetensors", "optimizer.pt", "trainer_state.json"):
        file = tmp_path / "checkpoint-4" / name
        whole = file.read_bytes()
        file.write_bytes(whole[:-8])  # as a power cut may leave it
        with pytest.raises(IntegrityError, match=r"checkpoint-4 is damaged .*--restart"):
            taught(base, run, epochs=4)
        file.write_bytes(whole)
    taught(base, replace(run, resume="no"), epochs=4)


# Answers


@pytest.mark.parametrize("revision", ["", "main"])
def test_a_base_of_the_hub_is_known_by_its_commit(folder, tmp_path, monkeypatch, revision):
    commit, place = "a" * 40, tmp_path / "models--owner--small"
    shutil.copytree(folder, place / "snapshots" / commit)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    identity = Base.find("owner/small", revision).identity
    assert (identity.name, identity.revision) == ("owner/small", commit)


@pytest.mark.slow
def test_it_learns_pairs_and_answers_the_same_after_reading(folder, data, tmp_path):
    system = LlamaLora.train(data, replace(CONFIG, base=str(folder)), CPU)
    sources = [source for source, _ in PAIRS]
    answers = list(system.transfer(sources, DIRECTION, device="cpu"))
    right = [answer == target for answer, (_, target) in zip(answers, PAIRS, strict=True)]
    assert sum(right) >= 4  # one of 8 by chance
    assert system.card.needs_parallel
    assert system.card.n_pairs == 8
    assert re.fullmatch(r"llama@[0-9a-f]{64}", system.card.settings["base"])
    system.save_pretrained(tmp_path / "m")
    assert "/" not in (tmp_path / "m" / "base.json").read_text(), "no path of this machine"
    again = load_system(tmp_path / "m", device="cpu")
    assert list(again.transfer(sources, DIRECTION, batch_size=3)) == answers
    sampled = Generation(seed=3, settings={"temperature": 3.0, "max_new_tokens": 8, "top_k": 0})
    first = list(again.transfer(sources, DIRECTION, generation=sampled))
    assert first != answers
    assert list(again.transfer(sources, DIRECTION, generation=sampled, batch_size=1)) == first
    other = replace(sampled, seed=4)
    assert list(again.transfer(sources, DIRECTION, generation=other)) != first


def test_a_long_neighbour_changes_no_answer_and_what_is_too_long_is_told(tmp_path):
    base = Base.find(str(make_base(tmp_path / "b", positions=60)))
    writer = Writer(base.load("none", "cpu"), base.tokenizer())
    texts = ["the food was", "the " * 50 + "soup"]
    rows = prompt_rows(writer.tokenizer, texts)
    settings = LoraSettings(max_new_tokens=20, beams=2)
    together = writer.write(rows, settings, [random.Random(0)] * 2, 16)
    alone = [writer.write([row], settings, [random.Random(0)], 16)[0] for row in rows]
    assert together == alone
    with pytest.raises(InputError, match=r"too long: .* and the model reads 60"):
        writer.write(prompt_rows(writer.tokenizer, ["the " * 61]), settings, [random.Random(0)], 16)


def test_special_tokens_are_never_written(base):
    writer = Writer(base.load("none", "cpu"), base.tokenizer())
    rows = prompt_rows(writer.tokenizer, ["the food was", "the"])
    special = {*writer.tokenizer.all_special_ids} - {writer.tokenizer.eos_token_id}
    head = writer.model.get_output_embeddings()
    bias = torch.zeros(head.weight.shape[0])
    bias[list(special)] = 99.0
    head.bias = torch.nn.Parameter(bias)
    for settings in (LoraSettings(), LoraSettings(temperature=1.0)):
        ids = writer._generate(rows, 8, settings, [random.Random(i) for i in range(2)])
        end = writer.tokenizer.eos_token_id
        for row in ids.tolist():
            text = row[: row.index(end)] if end in row else row
            assert not special & set(text)


def test_tokens_are_drawn_as_their_probabilities_say():
    logits = torch.log(torch.tensor([[0.5, 0.25, 0.15, 0.1]])).repeat(4000, 1)
    settings = LoraSettings(temperature=1.0, top_k=3, top_p=1.0)
    draws = _Draws(settings, [random.Random(i) for i in range(4000)])
    shares = torch.bincount(draws(None, logits).argmax(dim=-1), minlength=4) / 4000
    assert shares.tolist() == pytest.approx([5 / 9, 2.5 / 9, 1.5 / 9, 0], abs=0.03)
    one = _Draws(LoraSettings(temperature=0.01, top_k=0), [random.Random(0)] * 4000)
    assert (one(None, logits).argmax(dim=-1) == 0).all()


def test_an_answer_is_the_first_line():
    assert answer("\n the food was great \n### Input:\nthe", "x") == "the food was great"
    assert answer("### Input:\nthe", "x") == ""
    assert answer("'tis good", "x") == "'tis good"
    assert answer("", "x") == ""


# The base model


@pytest.mark.slow
def test_an_adapter_of_another_base_is_refused(system, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path / "home"))
    system.save_pretrained(tmp_path / "m")
    other = make_base(tmp_path / "other", seed=1)
    ask = ("transfer", tmp_path / "m", "--direction", DIRECTION, "--out", tmp_path / "p.jsonl")
    told = refusal(capsys, *ask)
    assert re.search("llama .*is not where it was.*--generation base=FOLDER", told)
    told = refusal(capsys, *ask, "--generation", f"base={other}")
    assert re.search("belongs to llama .* is another model", told)
    shutil.copytree(system.base.folder, tmp_path / "moved")
    success(capsys, *ask, "--generation", f"base={tmp_path / 'moved'}")
    told = refusal(capsys, *ask, "--generation", f"base={tmp_path / 'none'}")
    assert "none" in told


def test_a_merged_model_writes_what_the_adapter_writes(system, tmp_path, capsys):
    system.save_pretrained(tmp_path / "m")
    success(capsys, "merge", tmp_path / "m", "--out", tmp_path / "merged")
    merged = Base.find(str(tmp_path / "merged"))
    writer = Writer(merged.load("none", "cpu"), merged.tokenizer())
    prompts = [prompt(TOLD, source, "short") for source, _ in PAIRS]
    rows = prompt_rows(writer.tokenizer, prompts)
    written = writer.write(rows, LoraSettings(), [random.Random(0)] * 8, 16)
    wanted = list(system.transfer([source for source, _ in PAIRS], DIRECTION))
    assert [answer(text, "") for text in written] == wanted
    chat = writer.tokenizer.apply_chat_template(
        [{"role": "user", "content": "Name a fruit."}], tokenize=False
    )
    assert chat == prompt("Name a fruit.", "", "short")
    told = refusal(capsys, "merge", tmp_path / "merged", "--out", tmp_path / "x")
    assert "system.json" in told or "not" in told
    assert merge(str(tmp_path / "m"), tmp_path / "merged") == tmp_path / "merged"


@pytest.mark.skipif(find_spec("bitsandbytes") is not None, reason="bitsandbytes is installed")
def test_what_cannot_be_quantised_is_told(folder, capsys):
    told = refusal(capsys, *TINY, "--base", folder, "--quantization", "4bit")
    assert re.search("bitsandbytes is not installed: .*--quantization none", told)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("bitsandbytes") is None, reason="bitsandbytes is not installed")
@pytest.mark.parametrize("bits", ["4bit", "8bit"])
def test_a_quantised_base_learns_and_is_read_again(data, tmp_path, bits):
    check_quantization(bits, "cpu")
    base = Base.find(str(make_base(tmp_path / "b", dimension=128)))  # constants are of 64 weights
    model = base.load(bits, "cpu")
    layer = model.model.layers[0].self_attn.q_proj
    assert type(layer).__name__ == {"4bit": "Linear4bit", "8bit": "Linear8bitLt"}[bits]
    if bits == "4bit":
        assert layer.weight.quant_state.quant_type == "nf4"
        assert layer.weight.quant_state.nested, "its constants are quantised too"
    config = replace(CONFIG, base=str(base.folder), quantization=bits)
    system = LlamaLora.train(data, config, CPU)
    sources = [source for source, _ in PAIRS]
    answers = list(system.transfer(sources, DIRECTION, device="cpu"))
    assert system.card.scores["loss"] < 1  # 14 at the start
    system.save_pretrained(tmp_path / "m")
    again = load_system(tmp_path / "m", device="cpu")
    assert list(again.transfer(sources, DIRECTION)) == answers


@pytest.mark.skipif(find_spec("bitsandbytes") is None, reason="bitsandbytes is not installed")
def test_a_model_that_only_fails_to_compute_in_4_bits_is_told(tmp_path):
    """Layers of 32: some CPUs compute them, others do not; nobody sees a traceback."""
    base = Base.find(str(make_base(tmp_path / "b", dimension=32)))
    told = ""
    try:
        model = base.load("4bit", "cpu")
        assert model(input_ids=torch.zeros(1, 2, dtype=torch.long)).logits.isfinite().all()
    except InputError as error:
        told = str(error)
    assert re.fullmatch("|.* cannot do it on cpu with layers 32 wide: .*none.*", told)


# Instructions


def test_instructions_are_the_same_in_every_format(tmp_path):
    import pyarrow
    import pyarrow.parquet

    rows = [
        {"instruction": "Say it.", "input": "a", "output": "b"},
        {"instruction": "Say it.", "input": None, "output": " c "},
        {"instruction": "Say nothing.", "input": "", "output": ""},
    ]
    files = [tmp_path / f"x.{kind}" for kind in ("json", "jsonl", "parquet")]
    files[0].write_text(json.dumps(rows))
    files[1].write_text("".join(json.dumps(row) + "\n" for row in rows))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), files[2])
    wanted = (Record("Say it.", "a", "b"), Record("Say it.", "", "c"))
    found = [load_instructions(str(file)) for file in files]
    assert [one.records for one in found] == [wanted] * 3
    assert len({one.fingerprint for one in found}) == 1
    files[2].write_text("no")
    with pytest.raises(InputError, match="not a Parquet file"):
        load_instructions(str(files[2]))


def test_one_adapter_for_every_direction(tmp_path, capsys):
    command = ("train", "llama-lora-inst", "--preset", "tiny", "--device", "cpu")
    success(capsys, *command, "--out", tmp_path / "m")
    card = json.loads((tmp_path / "m" / "system.json").read_text())
    assert card["directions"] == []
    assert card["n_pairs"] == 0
    assert not card["needs_parallel"]
    assert card["data_fingerprint"] == load_instructions("builtin").fingerprint
    # The same recipe, whatever the dataset: found, not trained again.
    _, err = success(capsys, *command, "--dataset", "mini")
    assert "training" not in err
    system = load_system(tmp_path / "m", device="cpu")
    quick = {"beams": 1, "max_new_tokens": 4}
    for direction in (DIRECTION, "mini/positive-to-negative"):
        generation = Generation(settings=quick)
        assert len(list(system.transfer(["the food"], direction, generation=generation))) == 1
    assert LlamaLoraInstConfig().target_modules.count("_proj") == 6  # as published
    wrong = Generation(settings={**quick, "prompts": "tstbench-v0"})
    with pytest.raises(LookupError, match="unknown prompts"):
        list(system.transfer(["the food"], DIRECTION, generation=wrong))


def test_a_damaged_base_is_refused(tmp_path, capsys):
    broken = make_base(tmp_path / "broken")
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-8])
    told = refusal(capsys, *TINY, "--base", broken)
    assert f"{broken} has no model that can be read" in told


@pytest.mark.parametrize(
    "change",
    [
        {"rank_pattern": {"(q+)+$": 2}}, {"target_modules": "(.+)+proj"}, {"r": 10**9}, {"r": "2"},
        {"layer_replication": [[0, 1]] * 9}, {"trainable_token_indices": [1]},
    ],
    ids=str,
)  # fmt: skip
def test_an_adapter_of_a_stranger_has_no_patterns_and_its_own_rank(system, tmp_path, change):
    system.save_pretrained(tmp_path / "m")
    file = tmp_path / "m" / "adapter" / "adapter_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(InputError, match="adapter"):
        Adapter.read(file.parent)


def test_a_random_base_is_among_the_files(data, tmp_path):
    system = LlamaLora.train(data, replace(CONFIG, base=SCRATCH, epochs=1), CPU)
    system.save_pretrained(tmp_path / "m")
    assert (tmp_path / "m" / "base" / "model.safetensors").is_file()
    again = load_system(tmp_path / "m", device="cpu")
    quick = Generation(settings={"beams": 2, "max_new_tokens": 6})
    sources = [source for source, _ in PAIRS]
    found = list(again.transfer(sources, DIRECTION, generation=quick))
    assert found == list(system.transfer(sources, DIRECTION, generation=quick, device="cpu"))
    again.save_pretrained(tmp_path / "n")
    assert (tmp_path / "n" / "system.json").read_bytes() == (
        tmp_path / "m" / "system.json"
    ).read_bytes()
