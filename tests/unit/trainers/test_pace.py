"""What is told before and while something takes long, and that nothing long starts unasked."""

import io
import os
import re
import signal
import time
from contextlib import nullcontext

import pytest
import torch
from prepared import DIRECTION, command_line, refusal, success
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook

from tstbench import console, pace
from tstbench.console import progress
from tstbench.errors import InputError
from tstbench.metrics.scorers.fitting import resumable
from tstbench.pace import agreed, ask_before, because, paced, training
from tstbench.pipelines.cache import entries, prunable


def slow(seconds):
    """A training whose steps take these seconds."""
    network = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    with (
        because("It is needed for acc; to do without it: --metrics bleu"),
        training("the toy classifier", "toy", "recipe"),
        resumable(network, optimizer, seconds, len(seconds)) as left,
    ):
        for _, passing in left:
            time.sleep(passing)


def test_what_takes_long_is_announced_with_its_reason(tstbench_home, capsys, monkeypatch):
    monkeypatch.setattr(pace, "LONG", 1.0)
    monkeypatch.setattr(pace, "_MEASURED", 0.05)
    slow([0.01] * 20)
    assert capsys.readouterr().err == "", "it is short"
    slow([0.02] * 10 + [0.2] * 10)
    said = capsys.readouterr().err
    for words in ("the toy classifier", "--metrics bleu", "same command"):
        assert words in said
    assert 1 <= said.count("takes about") <= 3, "corrected, not repeated"
    assert all(0 < int(n) < 10 for n in re.findall(r"about (\d+) seconds", said))
    assert not list(tstbench_home.glob("runs/*"))


def test_a_slow_first_step_is_no_estimate(tstbench_home, capsys, monkeypatch):
    monkeypatch.setattr(pace, "LONG", 10.0)
    monkeypatch.setattr(pace, "_MEASURED", 0.05)
    slow([0.5] + [0.005] * 100)  # 50 seconds, by the first alone
    assert capsys.readouterr().err == ""


def test_the_reason_names_metrics_that_need_it_and_others(capsys, monkeypatch):
    monkeypatch.setattr(pace, "LONG", 0.0)
    asked = ("evaluate", "--baseline", "copy", "--direction", DIRECTION)
    _, err = success(capsys, *asked, "--metrics", "ppl", "s_bleu", "copy_rate")
    [line] = [line for line in err.splitlines() if "takes about" in line]
    assert "language model of mini/positive" in line
    assert "needed for ppl" in line
    assert "--metrics s_bleu copy_rate" in line


def test_a_pipe_gets_a_line_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr(console, "_LINE_EVERY", 0.05)
    with progress(40, "chat, yelp") as bar:
        for _ in range(40):
            time.sleep(0.01)
            bar.update()
    said = capsys.readouterr().err
    lines = said.splitlines()
    assert 2 <= len(lines) <= 10
    assert all(re.match(r"chat, yelp: \d+ of 40, \d\d:\d\d passed", line) for line in lines)
    assert "\r" not in said
    with paced(0, 1, shown=False) as hidden:
        assert hidden.room == 42  # of 80 columns, beside steps and times


@pytest.mark.parametrize(
    ("kept", "then"),
    [
        (None, "starts again from nothing"),
        ("step-3", "continues from its last checkpoint"),
        ("part/checkpoint-2", "continues from its last checkpoint"),
    ],
)
def test_who_interrupts_is_told_what_becomes_of_it(kept, then):
    def interrupted():
        with training("the toy", "toy", "recipe") as folder:
            folders.append(folder)
            if kept:
                (folder / kept).mkdir(parents=True)
            raise KeyboardInterrupt

    folders = []
    with pytest.raises(KeyboardInterrupt, match=f"the training of the toy {then}$"):
        interrupted()
    assert folders[0].exists() == (kept is not None)


@pytest.mark.parametrize("said", ["yes", "no"])
def test_one_answer_is_for_all_that_a_command_trains(said, monkeypatch, capsys):
    person = io.StringIO(f"{said}\n")
    person.isatty = lambda: True
    monkeypatch.setattr("sys.stdin", person)
    with agreed(False):
        for _ in range(2):
            with nullcontext() if said == "yes" else pytest.raises(InputError, match="trained"):
                ask_before("It takes hours", "Do without")
    with agreed(True):
        ask_before("It takes hours", "Do without")
    assert capsys.readouterr().err == "It takes hours. Train it now? [y/N] \n"


def test_a_training_of_hours_is_refused_where_nobody_can_be_asked(tstbench_home, tmp_path, capsys):
    if torch.cuda.is_available():
        pytest.skip("with a GPU it is not that long")
    asked = ("transfer", "stytrans", "--direction", DIRECTION, "--out", tmp_path / "p.jsonl")
    message = refusal(capsys, *asked)
    for word in ("stytrans", "--yes", "--preset small"):
        assert word in message
    baseline = ("--baseline", "stytrans", "--direction", DIRECTION, "--metrics", "copy_rate")
    assert "--preset small" in refusal(capsys, "evaluate", *baseline)
    (tmp_path / "suite.toml").write_text(
        f'metrics = ["s_bleu"]\n[[system]]\nsystem = "stytrans"\ndirections = ["{DIRECTION}"]\n'
    )
    code, _, err = command_line(capsys, "run", tmp_path / "suite.toml")
    assert (code, "--yes" in err) == (1, True)  # a cell was left out
    assert not list(tstbench_home.glob("runs/*"))


@pytest.mark.slow
def test_with_yes_it_is_trained_and_its_checkpoint_is_in_the_cache(tmp_path, capsys):
    """Interrupted after its second step, of some tens of thousands."""
    left = [2]

    def count(*_):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGINT)

    asked = ("transfer", "stytrans", "--direction", DIRECTION, "--out", tmp_path / "p.jsonl")
    hook = register_optimizer_step_post_hook(count)
    try:
        code, _, err = command_line(capsys, *asked, "--yes")
    finally:
        hook.remove()
    assert code == 130, err
    assert "stopped after step 2; the same command continues" in err
    [entry] = [one for one in entries() if one.kind == "training"]
    assert entry.name.startswith("stytrans-")
    assert entry.size > 1_000_000
    assert entry.state == "interrupted"
    assert entry not in prunable(entries())
    assert entry in prunable(entries(), systems=True)


def test_a_folder_that_is_there_is_meant_not_the_system_of_its_name(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "delete-retrieve"

    def done(*arguments):
        return success(capsys, *arguments)[1]

    asked = ("transfer", name, "--direction", DIRECTION, "--out")
    (tmp_path / name).mkdir()  # of something else
    assert "the folder" not in done(*asked, "name.jsonl")
    (tmp_path / name).rmdir()
    done("train", name, "--direction", DIRECTION, "--max-ngram", "1", "--out", name)
    assert "the folder" in done(*asked, "folder.jsonl")
    (tmp_path / "suite.toml").write_text(
        f'metrics = ["s_bleu"]\n[[system]]\nsystem = "{name}"\ndirections = ["{DIRECTION}"]\n'
    )
    assert "the folder" in done("run", "suite.toml")
    files = ("name", "folder", f"results/predictions/{DIRECTION}/{name}")
    written = [(tmp_path / f"{file}.jsonl").read_text() for file in files]
    assert written[0] != written[1] == written[2]
