"""A folder that is given as a scorer: it must know the styles that it is asked about."""

from pathlib import Path

import pytest
from prepared import DIRECTION, command_line, prepared_home

import tstbench.metrics.scorers
from tstbench.metrics.scorers.artefacts import find


@pytest.fixture
def ours(tmp_path_factory, monkeypatch):
    """The folder of mini's classifier; the home has other scorers of the same styles."""
    monkeypatch.setenv("TSTBENCH_HOME", str(prepared_home(tmp_path_factory)))
    return find("classifier", "mini", "linear").folder


def test_a_classifier_must_know_both_styles(ours, capsys):
    asked = ("evaluate", "--direction", DIRECTION, "--baseline", "copy", "--metrics", "acc")
    assert command_line(capsys, *asked, "--scorer", f"classifier={ours}")[0] == 0
    other = Path(tstbench.metrics.scorers.__path__[0], "acceptability_v1")
    code, printed, said = command_line(capsys, *asked, "--scorer", f"classifier={other}")
    assert (code, printed) == (2, "")
    assert (
        "tells unacceptable, acceptable apart; it does not know negative and positive"
        in " ".join(said.split())
    )
