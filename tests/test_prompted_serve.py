"""A prompted system and a server that others wrote: `transformers serve`, with a tiny model."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest
from prepared import command_line, refusal

from tstbench.datasets_scripts.load import load_test_set
from tstbench.pipelines.predictions import read_card

DIRECTION = "mini/negative-to-positive"
TEMPLATE = "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"


def make_chat_model(folder):
    """A random Llama with a real tokenizer and a chat template."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = ByteLevelBPETokenizer()
    sentences = load_test_set(DIRECTION).sources
    tokenizer.train_from_iterator(sentences, vocab_size=400, special_tokens=["<s>", "</s>"])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer._tokenizer, bos_token="<s>", eos_token="</s>", pad_token="</s>"
    )
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(fast),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=512,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=1,
    )
    LlamaForCausalLM(config).save_pretrained(folder)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    folder = tmp_path_factory.mktemp("tiny-chat")
    make_chat_model(folder)
    hub = tmp_path_factory.mktemp("huggingface")
    (hub / "hub").mkdir()  # without it, /v1/models fails
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [Path(sys.executable).with_name("transformers"), "serve", folder]
    where = ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu", "--dtype", "float32"]
    log = (hub / "log").open("w")
    environment = {**os.environ, "HF_HOME": str(hub), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen([*command, *where], env=environment, stdout=log, stderr=log)
    try:
        for _ in range(1200):
            assert process.poll() is None, (hub / "log").read_text()
            try:
                urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        yield str(folder), f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()
        log.close()


def test_a_local_model_through_transformers_serve(server, tmp_path, capsys):
    model, url = server
    out = tmp_path / "p.jsonl"
    how = ("--base-url", url, "--direction", DIRECTION, "--out", out, "--concurrency", 4)
    few = ("--max-tokens", 6, "--model", model)
    code, _, err = command_line(capsys, "transfer", "chatgpt-fs", *how, *few)
    assert code == 0, err
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 40
    assert any(row["raw"].strip() for row in rows)
    card = read_card(out)
    assert card.counts["answer_tokens"] <= 6 * 40
    assert card.counts["prompt_tokens"] > 40 * 50
    assert card.counts["cut-off"] > 20
    assert card.question.generation["examples"]["number"] == 4
    code, shown, err = command_line(
        capsys, "evaluate", out, "--direction", DIRECTION, "--metrics", "s_bleu"
    )
    assert code == 0, err
    assert "s-BLEU" in shown
    said = refusal(capsys, "transfer", "chatgpt", *how)
    assert "the model 'gpt-3.5-turbo-1106' is not known at" in said
    assert "OpenAI has retired it: choose another with --model" in said
