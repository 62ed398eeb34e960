"""Predictions are kept: resumed after kill -9, never asked for twice, anew for another question."""

import json
import os
import signal
import subprocess
import sys

import pytest
from prepared import BACK, DIRECTION, command_line, refusal, success
from slow_package import install

from tstbench.datasets_scripts.load import load_test_set
from tstbench.pipelines.outputs import read_outputs
from tstbench.pipelines.predictions import (
    Answering,
    Predictions,
    Question,
    card_path,
    read_card,
)
from tstbench.pipelines.report import SystemInfo
from tstbench.trainers.baselines import Copy, RandomTarget


@pytest.fixture
def machine(tmp_path):
    """``tstbench transfer shouting`` in a process of its own, and what its system was asked."""
    log = tmp_path / "asked"
    packages = install(tmp_path / "site-packages")

    def transfer(out, dies_at=""):
        path = os.pathsep.join([str(packages), *filter(None, [os.environ.get("PYTHONPATH")])])
        asking = ["transfer", "shouting", "--direction", DIRECTION, "--out", str(out)]
        done = subprocess.run(
            [sys.executable, "-m", "tstbench", *asking],
            env={
                **os.environ,
                "PYTHONPATH": path,
                "SHOUTING_LOG": str(log),
                "SHOUTING_DIES_AT": str(dies_at),
            },
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        asked = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return done, asked

    return transfer


@pytest.mark.slow
def test_killed_in_the_middle_and_started_again_no_sentence_is_asked_for_twice(machine, tmp_path):
    test_set, out = load_test_set(DIRECTION), tmp_path / "out.jsonl"
    done, asked = machine(out, dies_at=7)
    assert done.returncode == -signal.SIGKILL
    assert asked == list(test_set.ids[:7])
    lines = out.read_bytes().splitlines(keepends=True)
    assert [json.loads(line)["id"] for line in lines] == asked
    assert not read_card(out).finished

    torn = b"".join(lines) + b'{"id": "' + test_set.ids[7].encode() + b'", "predic'
    out.write_bytes(torn)  # the kernel may write half a line
    done, asked = machine(out)
    assert done.returncode == 0, done.stderr
    assert f"{out}: 7 of 40 predictions already exist" in done.stderr
    assert asked == list(test_set.ids[7:])
    outputs = read_outputs(out, test_set)
    assert outputs.predictions == tuple(source.upper() for source in test_set.sources)

    card = read_card(out)
    assert (card.finished, card.sha256) == (True, outputs.sha256)
    before = out.read_bytes()
    done, asked = machine(out)
    assert (done.returncode, asked, out.read_bytes()) == (0, [], before)

    whole = tmp_path / "whole.jsonl"
    machine(whole)
    assert whole.read_bytes() == before
    assert card_path(whole).read_bytes() == card_path(out).read_bytes()


# -- in this process -------------------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch):
    """The ids that ``copy`` and ``random-target`` are really asked for."""
    ids = []
    for kind in (Copy, RandomTarget):
        real = kind.rewrite

        def counting(self, batch, task, real=real):
            ids.extend(request.id for request in batch)
            return real(self, batch, task)

        monkeypatch.setattr(kind, "rewrite", counting)
    return ids


def transfer(capsys, out, system="copy", direction=DIRECTION):
    code, stdout, err = command_line(
        capsys, "transfer", system, "--direction", direction, "--out", out
    )
    assert (code, stdout) == (0, ""), err
    return err


@pytest.mark.parametrize(
    ("system", "direction", "changed"),
    [
        ("random-target", DIRECTION, "another system, version of the system"),
        ("copy", BACK, "another direction, test set"),
    ],
)
def test_another_question_starts_anew(capsys, tmp_path, asked, system, direction, changed):
    out = tmp_path / "out.jsonl"
    transfer(capsys, out)
    err = transfer(capsys, out, system, direction)
    assert f"{out}: starting over, for {changed}" in err
    assert asked == [*load_test_set(DIRECTION).ids, *load_test_set(direction).ids]
    assert len(out.read_text().splitlines()) == 40


def test_a_finished_file_that_was_changed_is_made_anew(capsys, tmp_path, asked):
    out = tmp_path / "out.jsonl"
    transfer(capsys, out)
    honest = out.read_bytes()
    out.write_bytes(honest.replace(b"the", b"any", 1))
    assert "changed after it was finished" in transfer(capsys, out)
    assert out.read_bytes() == honest
    assert len(asked) == 80


def test_a_finished_file_is_given_back_without_writing_beside_it(capsys, tmp_path, asked):
    """It may lie in a folder that takes nothing."""
    out = tmp_path / "out.jsonl"
    transfer(capsys, out)
    state = tmp_path.stat().st_mtime_ns
    transfer(capsys, out)
    assert tmp_path.stat().st_mtime_ns == state
    assert len(asked) == 40


def test_a_line_in_the_middle_that_is_not_ours_is_asked_for_again(capsys, tmp_path, asked):
    out = tmp_path / "out.jsonl"
    transfer(capsys, out)
    card = json.loads(card_path(out).read_text())
    card_path(out).write_text(json.dumps({**card, "finished": False, "sha256": None}))
    lines = out.read_bytes().splitlines(keepends=True)
    out.write_bytes(b"".join([*lines[:5], b'{"id": "x", "prediction": "y"}\n', *lines[6:]]))
    transfer(capsys, out)
    assert asked[40:] == list(load_test_set(DIRECTION).ids[5:])
    assert out.read_bytes() == b"".join(lines)


def test_without_a_file_predictions_lie_by_direction(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test_set = load_test_set(DIRECTION)
    expected = {"copy": test_set.sources, "reference-2": tuple(r[1] for r in test_set.references)}
    for system, texts in expected.items():
        assert command_line(capsys, "transfer", system, "--direction", DIRECTION)[0] == 0
        path = tmp_path / "predictions" / DIRECTION / f"{system}.jsonl"
        assert read_outputs(path, test_set).predictions == texts


def test_a_prediction_of_several_lines_is_kept_as_one(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(
        Copy, "rewrite", lambda self, batch, task: [f"So good!\n\n{r.source}\r\n" for r in batch]
    )
    out = tmp_path / "out.jsonl"
    transfer(capsys, out)
    test_set = load_test_set(DIRECTION)
    assert read_outputs(out, test_set).predictions[0] == f"So good! {test_set.sources[0]}"
    assert read_card(out).question.post_processing == ("one-line-v1",)


def test_the_card_says_with_which_system_libraries_and_settings_it_was_made(tmp_path, capsys):
    test_set = load_test_set(DIRECTION)
    question = Question(
        system="mine", identity="1" * 64, direction=DIRECTION, test_set=test_set.fingerprint,
        cleaning=test_set.cleaning, sentences=len(test_set), seed=5,
    )  # fmt: skip
    about = SystemInfo(name="mine", family="prompted")
    ready = Answering("2" * 64, about, {"lib": "1.2"}, lambda rest: ["so good"] * len(rest))
    path = tmp_path / "mine.jsonl"
    predictions = Predictions(path, test_set, question)
    assert predictions.complete(lambda: ready) == predictions.finished() == ("so good",) * 40
    card = read_card(path)
    assert (card.system_hash, card.versions, card.about) == ("2" * 64, {"lib": "1.2"}, about)
    assert (card.question, card.finished) == (question, True)
    for name, value in (("generation", {"marks": 2}), ("seed", 6)):
        question = question.model_copy(update={name: value})
        Predictions(path, test_set, question).complete(lambda: ready)
        assert f"{path}: starting over, for another {name}" in capsys.readouterr().err
        assert read_card(path).question == question


def test_a_line_nested_without_end_is_no_prediction():
    from tstbench.pipelines.predictions import _prediction

    assert _prediction(b'{"id": "a", "prediction": "x"}\n', ["a"], 0) == "x"
    for line in (b"[" * 100_000, b'{"id": "a", "prediction": "x", "id": "a"}', b'{"id": "\xff"}'):
        assert _prediction(line + b"\n", ["a"], 0) is None


def test_two_logs_of_a_harness_on_one_direction_are_not_mixed(tmp_path, capsys):
    logs = [tmp_path / f"{name}.jsonl" for name in "ab"]
    for log in logs:
        sample = {"direction": DIRECTION, "id": "1", "prediction": log.stem}
        log.write_text(json.dumps({"metrics": ["s_bleu"], "s_bleu": sample}) + "\n")
    said = refusal(capsys, "harness", *logs, "--out", tmp_path / "P")
    assert f"{logs[0]} and {logs[1]} both have predictions for {DIRECTION}" in said
    assert not (tmp_path / "P").exists()
    success(capsys, "harness", logs[1], "--out", tmp_path / "P", "--name", "it")
    written = (tmp_path / "P" / DIRECTION / "it.jsonl").read_text("utf-8")
    assert json.loads(written) == {"id": "1", "prediction": "b"}
