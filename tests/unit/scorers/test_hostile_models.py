"""A model's folder is data: its Python is never run, whatever reads it, and the reason is given."""

import io
import json
import shutil

import pytest
from prepared import command_line

EVALUATE = ("evaluate", "--baseline", "copy", "--direction", "mini/negative-to-positive")
MAPPED = (
    "AutoConfig",
    "AutoModel",
    "AutoModelForSequenceClassification",
    "AutoModelForCausalLM",
    "AutoModelForSeq2SeqLM",
)
CODE = "from pathlib import Path\nPath({marker!r}).write_text('run')\n"


def edit(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.fixture(params=["needs its code", "offers its code"])
def hostile(tiny_bert, tmp_path, request, monkeypatch):
    """A folder whose code leaves a mark; transformers would ask, and somebody would say yes."""
    folder, marker = shutil.copytree(tiny_bert, tmp_path / "model"), tmp_path / "mark"
    (folder / "evil.py").write_text(CODE.format(marker=str(marker)))
    mapped = dict.fromkeys(MAPPED, "evil.Evil")
    kind = "bert" if request.param == "offers its code" else "evil"
    edit(folder / "config.json", auto_map=mapped, model_type=kind)
    tokenizer = {"AutoTokenizer": ["evil.Evil", "evil.Evil"]}
    edit(folder / "tokenizer_config.json", auto_map=tokenizer, tokenizer_class="Evil")
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n" * 50))
    yield folder, request.param
    assert not marker.exists(), "code of the folder was run"


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("train", "classifier", "mini", "--kind", "transformer", "--base", "FOLDER"),
        ("train", "classifier", "mini", "--kind", "finetuned", "--base", "FOLDER"),
        (*EVALUATE, "--metrics", "s_bert", "--scorer", "encoder=FOLDER@1"),
        (*EVALUATE, "--metrics", "acc", "--scorer", "classifier=FOLDER"),
        (*EVALUATE, "--metrics", "logprop", "--scorer", "causal_lm=FOLDER"),
        (*EVALUATE, "--metrics", "s_bleurt", "--scorer", "bleurt=FOLDER"),
        ("train", "llama-lora", "--preset", "tiny", "--dataset", "mini", "--base", "FOLDER"),
        ("train", "bsrr", "--preset", "tiny", "--dataset", "mini", "--classifier", "FOLDER"),
    ],
    ids=" ".join,
)
def test_no_code_of_a_model_s_folder_is_run(command, hostile, tstbench_home, tmp_path, capsys):
    folder, kind = hostile
    words = [word.replace("FOLDER", str(folder)) for word in command]
    if command[1] != "classifier":
        words += ["--out", str(tmp_path / "out")]
    code, _, said = command_line(capsys, *words)
    if kind == "needs its code":
        assert code == 2
        assert "Such code is never run here" in said
    else:  # transformers has an architecture of that name: it reads the weights, not the code
        assert code in (0, 2)
        assert "Traceback" not in said
