"""A TSTBENCH_HOME in which mini's scorers are trained: trained once, then copied."""

import os
import shutil
from pathlib import Path
from unittest.mock import patch

import pytest

from tstbench.datasets_scripts.catalog import DATASETS
from tstbench.metrics.registry import benchmark_metrics
from tstbench.metrics.scorers.prepare import prepare
from tstbench.metrics.scorers.profile import PROFILES

DIRECTION = "mini/negative-to-positive"
BACK = "mini/positive-to-negative"

_made: list[Path] = []


def prepared_home(factory: pytest.TempPathFactory) -> Path:
    """A copy of a folder in which all of mini's scorers are trained.

    A copy for every caller: what one test trains into it, no other test finds.
    """
    if not _made:
        home = factory.mktemp("prepared") / "home"
        with patch.dict(os.environ, TSTBENCH_HOME=str(home)):
            for direction in DATASETS["mini"].directions:
                prepare(
                    direction,
                    PROFILES["embedded"],
                    (*benchmark_metrics(), "s_wmd", "naturalness_lm"),
                )
        _made.append(home)
    return shutil.copytree(_made[0], factory.mktemp("copy") / "home")


def command_line(capsys: pytest.CaptureFixture, *arguments: object) -> tuple[int, str, str]:
    """Run ``tstbench`` in this process: exit code, standard output, standard error."""
    from tstbench.commands.cli import main

    capsys.readouterr()
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as stop:  # argparse's own way out
        code = int(stop.code or 0)
    out, err = capsys.readouterr()
    return code, out, err


def refusal(capsys: pytest.CaptureFixture, *arguments: object) -> str:
    """The message with which ``tstbench`` refuses; it must be one line, and exit code 2."""
    code, out, err = command_line(capsys, *arguments)
    assert code == 2, err
    assert out == ""
    *talk, message, end = err.split("\n")
    assert end == ""
    assert message.startswith("tstbench: ")
    assert not any("Traceback" in line or line.startswith("tstbench: ") for line in talk)
    return message.removeprefix("tstbench: ")
