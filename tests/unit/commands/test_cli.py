"""The command line: names, exit codes, what goes where; a mistake never ends in a traceback."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from prepared import DIRECTION, command_line, refusal, success

from tstbench.commands.cli import COMMANDS, GROUPS, main
from tstbench.datasets_scripts.catalog import DIRECTIONS
from tstbench.files import home
from tstbench.metrics.registry import METRICS
from tstbench.pipelines.report import Report

HEAVY = "torch transformers datasets evaluate sklearn numpy scipy pyarrow gradio pydantic".split()
ROLES = ("encoder", "classifier", "judge", "lexicon", "word_vectors", "attribution")
COPY = ("evaluate", "--baseline", "copy", "--direction", DIRECTION)


def tstbench(*arguments, **environment):
    """A real run in a process of its own, in pipes."""
    return subprocess.run(
        [sys.executable, "-m", "tstbench", *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        timeout=120,
        check=False,
    )


# -- what there is ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["directions"], ["metrics"], ["evaluate", "--help"], ["nonsense"]],
    ids=" ".join,
)
def test_small_commands_import_nothing_heavy(arguments):
    needed = {"directions": "pydantic", "metrics": "pydantic numpy", "evaluate": "pydantic"}.get(
        arguments[0], ""
    )
    heavy = [name for name in HEAVY if name not in needed]
    script = (
        "import sys\nfrom tstbench.commands.cli import main\n"
        f"try: main({arguments!r})\nexcept SystemExit: pass\n"
        f"print([m for m in {heavy!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stderr.splitlines()[-1] == "[]"


def test_help_names_every_command(capsys):
    for arguments in ([], ["--help"], ["-h"]):
        code, out, err = command_line(capsys, *arguments)
        assert (code, err) == (0, "")
        assert all(out.count(f"\n  {name} ") == 1 for name in COMMANDS)
        assert all(f"\n\n{title}:\n" in out for title in GROUPS)


def test_the_help_of_scorer_names_the_roles_that_take_a_file_or_a_model(capsys):
    _, out, _ = command_line(capsys, "evaluate", "--help")
    assert [name for name in ROLES if f"{name}=" not in out] == []


@pytest.mark.parametrize("call", [*COMMANDS, "hub build", "hub push", "hub results"])
def test_help_fits_a_terminal_of_80_columns(call, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = command_line(capsys, *call.split(), "--help")
    assert (code, out.partition(" [")[0]) == (0, f"usage: tstbench {call}")
    wide = [line for line in out.splitlines() if len(line) > 80]
    assert [line for line in wide if not line.startswith("  tstbench ")] == []  # lines to copy
    assert "::" not in out
    assert "\n\n" in out.split("\n\noptions:")[0].split("\n\npositional")[0]  # what it does


@pytest.mark.parametrize("call", [["leaderboard"], ["annotate", "study", "--results"]])
def test_a_wrong_folder_is_told_before_gradio_is_imported(call, tmp_path):
    (tmp_path / "notes.txt").write_text("no results", "utf-8")
    wrong = [
        *call,
        str(tmp_path),
        *(["--direction", "a/b-to-c", "--raters", "ann"] * (len(call) > 1)),
    ]
    script = (
        "import sys\nfrom tstbench.commands.cli import main\n"
        f"code = main({wrong!r})\nprint(code, 'gradio' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines()[-1] == "2 False"
    assert "is not a results folder" in done.stderr


def test_lists_are_tables_that_other_programs_can_read(capsys):
    for command, known in (("directions", DIRECTIONS), ("metrics", METRICS)):
        code, out, err = command_line(capsys, command)
        rows = [line.split("\t") for line in out.splitlines()]
        assert (code, err) == (0, "")
        assert [row[0] for row in rows[1:]] == list(known)
        assert {len(row) for row in rows} == {len(rows[0])}


# -- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "--direction"],
        [*COPY, "--no-such"],
        ["run"],
        ["transfer"],
        ["directions", "--data"],
    ],
)
def test_a_wrong_call_shows_the_usage(arguments, capsys):
    code, out, err = command_line(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"usage: tstbench {arguments[0]}")


@pytest.mark.parametrize(
    ("metrics", "model"),
    [
        ([], "FacebookAI/roberta-large"),
        (["acc"], "FacebookAI/roberta-base"),
        (["acc", "ppl", "cola"], "cointegrated/roberta-large-cola-krishna2020"),
    ],
)
def test_weights_that_cannot_be_fetched_are_told_before_anything_is_trained(
    metrics, model, capsys, tstbench_home, monkeypatch, tmp_path
):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "empty"))
    options = ["--metrics", *metrics] if metrics else []
    message = refusal(capsys, *COPY, "--profile", "paper", *options)
    assert model in message
    assert f"hf download {model}" in message
    assert not (tstbench_home / "scorers" / "index").exists()


def test_a_file_may_stand_after_metrics(tmp_path, capsys):
    path = tmp_path / "out.txt"
    path.write_text("a sentence\n" * 40)
    arguments = ("evaluate", "--direction", DIRECTION, "--metrics", "s_bleu")
    out, _ = success(capsys, *arguments, "--", path)
    assert "  out§ " in out  # all its lines are the same


@pytest.mark.parametrize("cleaning", ["paper-v1", "raw"])
def test_what_is_built_is_told_in_words(cleaning, tmp_path, capsys):
    asked = ("--cleaning", "raw") if cleaning == "raw" else ()
    _, err = success(capsys, "build", "mini", *asked, "--out", tmp_path)
    assert f"wrote mini ({cleaning}) to {tmp_path / 'mini'}; rows of " in err
    assert "; negative-to-positive: train 739, validation 60, test 40; " in err
    assert "BuildReport" not in err


def test_an_empty_home_is_an_unset_one(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for unset in (True, False):
        if unset:
            monkeypatch.delenv("TSTBENCH_HOME")
        else:
            monkeypatch.setenv("TSTBENCH_HOME", "")
        assert home() == (tmp_path / "tstbench").resolve()
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert home() == Path.home().resolve() / ".cache/tstbench"


def without_an_entry(*arguments, **environment):
    """A run of a user whom the system does not know, as in containers and on batch nodes."""
    unknown = ("unshare", "--user", "--map-user=12345")
    tried = subprocess.run([*unknown, "true"], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip(f"no user namespaces here: {tried.stderr.decode()}")
    kept = {name: os.environ[name] for name in ("PATH", "OMP_NUM_THREADS") if name in os.environ}
    return subprocess.run(
        [*unknown, sys.executable, "-m", "tstbench", *map(str, arguments)],
        env={**kept, **environment},
        capture_output=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
def test_a_user_without_a_home_scores(tmp_path):
    for name in ("TSTBENCH_HOME", "XDG_CACHE_HOME"):
        done = without_an_entry(*COPY, "--metrics", "s_bleu", "--json", **{name: str(tmp_path)})
        assert done.returncode == 0, done.stderr.decode()
        assert Report.model_validate_json(done.stdout).score("s_bleu").value == 100  # copies
    (tmp_path / "file").touch()  # root, too, makes no folder in it
    done = without_an_entry(*COPY, "--metrics", "acc", HOME=str(tmp_path / "file"))
    assert done.returncode == 2
    assert "TSTBENCH_HOME" in done.stderr.decode()


def test_a_mistake_in_a_process_of_its_own(tmp_path):
    path = tmp_path / "short.txt"
    path.write_text("one\ntwo\n")
    done = tstbench("evaluate", path, "--direction", DIRECTION, "--metrics", "s_bleu")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == (
        f"tstbench: {path} has 2 predictions, {DIRECTION} has 40 sources: 38 too few. Write one "
        "line per source, in order, and an empty line for a failed output\n"
    )


# -- what goes where -------------------------------------------------------------------------------


@pytest.mark.slow
def test_json_is_all_that_standard_output_gets(tmp_path, prepared, capsys):
    out = tmp_path / "results"
    some = ("--metrics", "acc", "s_bleu", "s_bert", "ppl", "joint")
    done = tstbench(
        *(*COPY, "--baseline", "reference-1", *some, "--json", "--signatures", "--out", out),
        PYTHONIOENCODING="ascii",
    )
    assert done.returncode == 0, done.stderr.decode()
    reports = [Report.model_validate_json(line) for line in done.stdout.decode().splitlines()]
    assert [report.system.name for report in reports] == ["copy", "reference-1"]
    assert [score.metric for score in reports[0].scores] == list(some[1:])
    written = json.loads((out / DIRECTION / "copy/report.json").read_text())
    assert reports[0].model_dump(mode="json") == written
    assert b"wrote" in done.stderr
    # Another process, and alone: the same numbers.
    alone = json.loads(command_line(capsys, *COPY, *some, "--json")[1])
    for one, other in zip(alone["scores"], written["scores"], strict=True):
        assert (one["signature"], one["recipe"]) == (other["signature"], other["recipe"])
        assert one["value"] == pytest.approx(other["value"], abs=1e-6)


def test_a_terminal_that_knows_no_arrow_gets_the_table_nevertheless(monkeypatch):
    class Terminal(io.TextIOWrapper):
        def isatty(self):
            return True

    terminal = Terminal(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    assert main([*COPY, "--metrics", "s_bleu"]) == 0
    terminal.flush()
    assert "s-BLEU \\u2191" in terminal.buffer.getvalue().decode("ascii")


def test_data_in_a_pipe_are_utf_8_whatever_the_terminal_writes(tmp_path):
    (tmp_path / "words.txt").write_text("café 给\n" * 2, "utf-8")
    (tmp_path / "data.toml").write_text(
        'name = "mine"\nlicence = "cc0-1.0"\nlanguage = "zh"\nstyles = ["plain", "warm"]\n'
        '[[direction]]\nfrom = "plain"\nto = "warm"\ntest = { sources = "words.txt" }\n'
    )
    for encoding in ("cp1252", "ascii"):
        done = tstbench(
            *("sources", "mine/plain-to-warm", "--data", tmp_path / "data.toml"),
            PYTHONIOENCODING=encoding,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.decode("utf-8") == "café 给\n" * 2
    done = tstbench("evaluate", "--help", PYTHONIOENCODING="cp1252")
    assert done.stdout.decode("utf-8").startswith("usage: tstbench evaluate")


def test_a_reader_that_goes_away_is_no_error():
    script = f"{sys.executable} -m tstbench metrics | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.startswith("metric\t")
    assert done.stderr == ""


@pytest.mark.slow
def test_control_c_ends_with_130_and_no_traceback(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "tstbench", *COPY],  # all ten metrics: seconds of work
        env={**os.environ, "TSTBENCH_HOME": str(tmp_path / "home")},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    # Talk begins with the first scorer; at the second lxml, which drops Ctrl-C, has been imported.
    first = process.stderr.readline() + process.stderr.readline()
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 130, first + rest
    assert "interrupted" in rest
    assert "Traceback" not in rest


@pytest.mark.parametrize(
    "code",
    [
        # Python would end by the signal itself, which only a shell calls 130,
        "exec('raise KeyboardInterrupt')",
        # and drops what a ``__del__`` raises, and so Ctrl-C while a library's runs.
        "not Part() or time.sleep(60)",
    ],
    ids=["in an exec", "in a destructor"],
)
def test_control_c_ends_with_130_wherever_python_is(code, tmp_path):
    (tmp_path / "interrupted.py").write_text(
        "import signal, sys, time\nfrom tstbench.commands import cli\n"
        "class Part:\n    def __del__(self):\n        signal.raise_signal(signal.SIGINT)\n"
        f"cli._run = lambda _: {code}\nsys.exit(cli.main([]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "interrupted"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 130, done.stderr
    assert done.stderr == "\ntstbench: interrupted; completed work is kept\n"


def test_the_table_has_every_system_and_says_what_is_left_out(capsys):
    out, _ = success(
        capsys, *COPY, "--baseline", "reference-2", "--metrics", "s_bleu", "r_bleu", "--signatures"
    )
    assert out.count("s_bleu|") == out.count("r_bleu|") == 1
    rows = out.split("bounds: not ranked")[1].splitlines()
    assert [row.split()[0] for row in rows[1:3]] == ["copy", "reference-2"]
    assert "protocol:tstbench" in out


@pytest.mark.realdata
def test_a_metric_without_meaning_on_the_data_is_left_out_and_said(sources, capsys):
    direction = "shakespeare/shakespearean-to-modern"
    arguments = ("evaluate", "--baseline", "copy", "--direction", direction, "--metrics")
    out, err = success(capsys, *arguments, "r_bleu", "multi_bleu")
    assert "multi_bleu is left out: no sentence has several references" in err
    assert "multi" not in out
    out, err = success(capsys, *arguments, "multi_bleu")
    assert "No metric has a value" in out
    assert out.startswith(f"{direction}, 1462 sentences")
