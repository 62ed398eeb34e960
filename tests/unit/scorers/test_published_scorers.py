"""A scorer that is published is taken as it is, not trained again with other last bits."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from answering import answering
from prepared import prepared_home

from tstbench.metrics.scorers.artefacts import Artefact, find, store
from tstbench.pipelines.hub import build as hub
from tstbench.pipelines.hub.serve import make_server

PREPARE = """
import json
from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.metrics.scorers.profile import PROFILES
from tstbench.metrics.scorers.prepare import prepare

made = prepare(parse_direction("mini/negative-to-positive"), PROFILES["embedded"], ["acc", "ppl"])
print(json.dumps({a.card.role: [a.hash, a.card.trained_on] for a in made}))
"""


def told(artefact: Artefact, trained_on: str) -> Artefact:
    """The same model under a card that says where it comes from: another hash, one recipe."""
    card = replace(artefact.card, trained_on=trained_on)
    assert card.recipe == artefact.card.recipe

    def copy(folder):
        for file in artefact.folder.iterdir():
            if file.name not in ("scorer.json", "README.md"):
                (folder / file.name).write_bytes(file.read_bytes())

    return store(card, copy)


@pytest.fixture
def endpoint(tmp_path, tmp_path_factory, monkeypatch):
    monkeypatch.setenv("TSTBENCH_HOME", str(prepared_home(tmp_path_factory)))
    originals = [
        find("classifier", "mini", "linear"),
        find("language_model", "mini", "kn5-positive"),
    ]
    monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path / "publisher"))
    for original in originals:
        told(original, "elsewhere")
    published = hub.trained_scorers()
    models = [hub.Artefact("model", name, "model", folder) for name, folder in published.items()]
    hub.build(tmp_path / "hub", models)
    with answering(make_server(tmp_path / "hub")) as server:
        yield server.url


def prepare_elsewhere(tmp_path, **environment) -> dict:
    offline = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE")
    kept = {k: v for k, v in os.environ.items() if k not in offline}
    result = subprocess.run(
        [sys.executable, "-P", "-c", PREPARE],
        env={
            **kept,
            "TSTBENCH_HOME": str(tmp_path / "user"),
            "HF_HOME": str(tmp_path / "cache"),
            **environment,
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(result.stdout)


@pytest.mark.slow
def test_the_published_scorer_comes_first(tmp_path, endpoint, monkeypatch):
    made = prepare_elsewhere(tmp_path, HF_ENDPOINT=endpoint)
    assert {origin for _, origin in made.values()} == {"elsewhere"}
    published = {find("classifier", "mini", "linear").hash}
    published.add(find("language_model", "mini", "kn5-positive").hash)
    assert {digest for digest, _ in made.values()} == published
    # It is kept: without the server the same scorers are there.
    assert prepare_elsewhere(tmp_path, HF_HUB_OFFLINE="1") == made


@pytest.mark.slow
def test_where_nobody_answers_scorers_are_trained(tmp_path):
    made = prepare_elsewhere(tmp_path, HF_ENDPOINT="http://127.0.0.1:9")
    assert all(origin.startswith("mini/train") for _, origin in made.values())
