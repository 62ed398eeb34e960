"""A folder that is given as a scorer: it must know the styles that it is asked about."""

import json
from pathlib import Path

import pytest
from prepared import DIRECTION, command_line, prepared_home

import tstbench.metrics.scorers


@pytest.fixture
def scorers(tmp_path_factory, monkeypatch):
    """The folders of mini's scorers, by their styles."""
    home = prepared_home(tmp_path_factory)
    monkeypatch.setenv("TSTBENCH_HOME", str(home))
    cards = {path.parent: json.loads(path.read_text()) for path in home.rglob("scorer.json")}
    return {tuple(card.get("styles") or ()): folder for folder, card in cards.items()}


def test_a_classifier_must_know_both_styles(scorers, capsys):
    asked = ("evaluate", "--direction", DIRECTION, "--baseline", "copy", "--metrics", "acc")
    ours = scorers["negative", "positive"]
    assert command_line(capsys, *asked, "--scorer", f"classifier={ours}")[0] == 0
    other = Path(tstbench.metrics.scorers.__path__[0], "acceptability_v1")
    code, printed, said = command_line(capsys, *asked, "--scorer", f"classifier={other}")
    assert (code, printed) == (2, "")
    assert (
        "tells unacceptable, acceptable apart; it does not know negative and positive"
        in " ".join(said.split())
    )
