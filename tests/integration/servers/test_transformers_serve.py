"""A judge and a prompted system behind a server that others wrote: `transformers serve`."""

import json
from pathlib import Path

import numpy as np
import pytest
from local_chat import make_chat_model, serving_local
from own_data import write_lines
from prepared import command_line, refusal, success

from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import InputError
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.llm_judge.llm_judge import LlmJudgeOptions, read
from tstbench.metrics.measure import measure, needs
from tstbench.metrics.options import choices
from tstbench.metrics.scorers.profile import PROFILES, Scorers
from tstbench.pipelines.predictions import read_card

DIRECTION = "mini/negative-to-positive"
OPTIONS = {"wordings": 3, "max_tokens": 3}


def judged_by(spec):
    test_set = load_test_set(DIRECTION)
    return Scorers(PROFILES["embedded"].with_scorers([f"judge={spec}"]), test_set.direction)


def some_inputs():
    test_set = load_test_set(DIRECTION)
    first = [some[0] for some in test_set.references[:6]]
    return check_inputs(
        [*first[:5], ""], test_set.sources[:6], test_set.references[:6], test_set.direction
    )


def requests(metric="judge_style"):
    scorers = judged_by("m@http://127.0.0.1:9/v1")
    (need,) = needs([metric], some_inputs(), scorers, choices({"llm_judge": OPTIONS}))
    return [json.loads(text)["messages"][0]["content"] for text in need.texts]


def learn_to_answer(folder: Path, questions: list[str]) -> None:
    """The tiny model learns to answer these questions with digits, each with one of its own."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    rows = []
    asked = [f"{one}{end}" for one in questions for end in ("\n", "\n\nAnswer:")]
    for number, question in enumerate(asked):
        said = f"{question}{1 + (number // 2 + 2 * number) % 6}"
        rows.append([*tokenizer(said, add_special_tokens=False)["input_ids"], 1])
    longest = max(map(len, rows))
    ids = torch.tensor([row + [1] * (longest - len(row)) for row in rows])
    labels = torch.full_like(ids, -100)
    for place, row in enumerate(rows):
        labels[place, len(row) - 2 : len(row)] = torch.tensor(row[-2:])
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(40):
        optimizer.zero_grad()
        model(input_ids=ids, labels=labels).loss.backward()
        optimizer.step()
    model.save_pretrained(folder)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    folder = tmp_path_factory.mktemp("tiny-judge")
    questions = requests()
    make_chat_model(folder, questions, vocabulary=600)
    learn_to_answer(folder, questions)
    with serving_local(folder, tmp_path_factory.mktemp("huggingface")) as url:
        yield folder, url, f"{folder}@{url}"


@pytest.mark.parametrize("backend", ["", "completions:", "local:"])
def test_judgements_of_a_local_model_are_what_the_model_writes(server, backend):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder, _, spec = server
    scorers = judged_by(f"local:{folder}" if backend == "local:" else f"{backend}{spec}")
    settings = choices({"llm_judge": OPTIONS})
    outcome = measure(["judge_style"], some_inputs(), scorers, settings)["judge_style"]
    ending = "\n\nAnswer:" if backend == "completions:" else "\n"
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    asked = LlmJudgeOptions(**OPTIONS).asked("style").wordings
    expected = []
    questions = requests()
    for start in range(0, len(questions), 3):
        scores = []
        for wording, question in zip(asked, questions[start : start + 3], strict=True):
            ids = tokenizer(question + ending, return_tensors="pt", add_special_tokens=False)
            with torch.inference_mode():
                out = model.generate(**ids, max_new_tokens=3, do_sample=False)
            text = tokenizer.decode(out[0, ids["input_ids"].shape[1] :], skip_special_tokens=True)
            score = read(text, "stop", wording.scale).score
            if score is not None:
                scores.append((score - wording.worst) / (wording.best - wording.worst))
        expected.append(np.mean(scores) if scores else np.nan)
    assert np.isfinite(expected).any()
    assert len(set(expected)) > 1
    assert outcome.statistics.per_sentence.tolist() == pytest.approx([*expected, 0.0], nan_ok=True)
    assert f"judge:{folder.name}#" in str(outcome.signature)
    assert str(folder) not in str(outcome.signature)


def test_the_command_line_asks_a_local_model_once(server, tmp_path, capsys):
    *_, spec = server
    test_set = load_test_set(DIRECTION)
    write_lines(tmp_path / "out.txt", [some[0] for some in test_set.references])
    how = ("evaluate", tmp_path / "out.txt", "--direction", DIRECTION, "--scorer", f"judge={spec}")
    few = ("--metrics", "judge_style", "judge_unread", "--set", "llm_judge.wordings=1")
    few = (*few, "--set", "llm_judge.max_tokens=3", "--concurrency", 4)
    shown, err = success(capsys, *how, *few, "--signatures")
    assert "Judge style" in shown
    assert "120 requests" in err
    assert "|wordings:1|" in shown
    code, again, err = command_line(capsys, *how, *few, "--signatures")
    assert (code, again) == (0, shown), err
    assert "requests" not in err


def test_a_server_without_probabilities(server, capsys):
    *_, spec = server
    settings = choices({"llm_judge": {**OPTIONS, "expected": True}})
    with pytest.raises(InputError, match="gives no probabilities of tokens"):
        measure(["judge_style"], some_inputs(), judged_by(spec), settings)


def test_a_prompted_system_asks_a_local_model(server, tmp_path, capsys):
    model, url, _ = server
    out = tmp_path / "p.jsonl"
    how = ("--base-url", url, "--direction", DIRECTION, "--out", out, "--concurrency", 4)
    few = ("--max-tokens", 1, "--model", model)
    success(capsys, "transfer", "chatgpt-fs", *how, *few)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 40
    assert any(row["raw"].strip() for row in rows)
    card = read_card(out)
    assert card.counts["answer_tokens"] <= 40
    assert card.counts["prompt_tokens"] > 40 * 50
    assert card.counts["cut-off"] > 20
    assert card.question.generation["examples"]["number"] == 4
    shown, _ = success(capsys, "evaluate", out, "--direction", DIRECTION, "--metrics", "s_bleu")
    assert "s-BLEU" in shown
    said = refusal(capsys, "transfer", "chatgpt", *how)
    assert "'gpt-3.5-turbo-1106' is not known there, and OpenAI has retired it" in said
    assert "OpenAI has retired it: choose another with --model" in said
