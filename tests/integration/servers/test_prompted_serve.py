"""A prompted system and a server that others wrote: `transformers serve`, with a tiny model."""

import json

import pytest
from local_chat import make_chat_model, serving_local
from prepared import refusal, success

from tstbench.datasets_scripts.load import load_test_set
from tstbench.pipelines.predictions import read_card

DIRECTION = "mini/negative-to-positive"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    folder = tmp_path_factory.mktemp("tiny-chat")
    make_chat_model(folder, load_test_set(DIRECTION).sources)
    with serving_local(folder, tmp_path_factory.mktemp("huggingface")) as url:
        yield str(folder), url


def test_a_local_model_through_transformers_serve(server, tmp_path, capsys):
    model, url = server
    out = tmp_path / "p.jsonl"
    how = ("--base-url", url, "--direction", DIRECTION, "--out", out, "--concurrency", 4)
    few = ("--max-tokens", 6, "--model", model)
    success(capsys, "transfer", "chatgpt-fs", *how, *few)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 40
    assert any(row["raw"].strip() for row in rows)
    card = read_card(out)
    assert card.counts["answer_tokens"] <= 6 * 40
    assert card.counts["prompt_tokens"] > 40 * 50
    assert card.counts["cut-off"] > 20
    assert card.question.generation["examples"]["number"] == 4
    shown, _ = success(capsys, "evaluate", out, "--direction", DIRECTION, "--metrics", "s_bleu")
    assert "s-BLEU" in shown
    said = refusal(capsys, "transfer", "chatgpt", *how)
    assert "'gpt-3.5-turbo-1106' is not known there, and OpenAI has retired it" in said
    assert "OpenAI has retired it: choose another with --model" in said
