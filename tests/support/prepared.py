"""A TSTBENCH_HOME in which mini's scorers are trained: trained once, then copied."""

import os
import shutil
from pathlib import Path
from unittest.mock import patch

import pytest
from once import once

from tstbench.datasets_scripts.catalog import DATASETS
from tstbench.datasets_scripts.load import load_styles
from tstbench.metrics.registry import benchmark_metrics
from tstbench.metrics.scorers.prepare import prepare, train_dataset_vectors
from tstbench.metrics.scorers.profile import PROFILES

DIRECTION = "mini/negative-to-positive"
BACK = "mini/positive-to-negative"


def prepared_home(factory: pytest.TempPathFactory) -> Path:
    """A copy of a folder in which all of mini's scorers are trained.

    A copy for every caller: what one test trains into it, no other test finds.
    """
    return shutil.copytree(once(factory, "prepared", _prepare), factory.mktemp("copy") / "home")


def _prepare(home: Path) -> None:
    metrics = (*benchmark_metrics(), "s_wmd", "naturalness_lm")
    with patch.dict(os.environ, TSTBENCH_HOME=str(home)):
        for direction in DATASETS["mini"].directions:
            prepare(direction, PROFILES["embedded"], metrics)
        train_dataset_vectors(load_styles("mini"), masked=True)


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


def success(capsys: pytest.CaptureFixture, *arguments: object) -> tuple[str, str]:
    """What ``tstbench`` prints, and what it says besides; it must end with exit code 0."""
    code, out, err = command_line(capsys, *arguments)
    assert code == 0, err
    return out, err


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
