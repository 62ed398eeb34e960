"""Every benchmark runs: the least work, on texts that come with the package."""

import os
import runpy
import sys
from unittest.mock import patch

import pytest
import torch
from chromium import needs_browser
from places import ROOT

BENCHMARKS = ROOT / "benchmarks"
SMALLEST = {path.name: ["--smoke"] for path in sorted(BENCHMARKS.glob("bench_*.py"))}
SMALLEST["gpu.py"] = ["--device", "cpu", "--tiny", "--out", "gpu.json"]
MARKS = {"bench_leaderboard.py": needs_browser}


@pytest.mark.parametrize(
    "script", [pytest.param(name, marks=MARKS.get(name, [])) for name in SMALLEST]
)
def test_a_benchmark_runs(script, monkeypatch, capfd, tmp_path):
    monkeypatch.delenv("TSTBENCH_SOURCES", raising=False)
    monkeypatch.setattr(sys, "argv", [script, *SMALLEST[script]])
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.chdir(tmp_path)
    threads, code = torch.get_num_threads(), 0
    with patch.dict(os.environ):
        try:
            runpy.run_path(str(BENCHMARKS / script), run_name="__main__")
        except SystemExit as end:
            code = end.code
        finally:
            torch.set_num_threads(threads)
            for helper in BENCHMARKS.glob("*.py"):  # their names are those of other modules too
                sys.modules.pop(helper.stem, None)
    shown = capfd.readouterr().out
    assert not code, shown
    assert shown
