"""What a build counts and its card says, on a corpus whose every number was counted by hand."""

import json

import pytest
from own_data import write_lines

from tstbench.datasets_scripts.build import build
from tstbench.datasets_scripts.catalog import register
from tstbench.datasets_scripts.corpus import Corpus, Part
from tstbench.datasets_scripts.directions import DatasetFacts
from tstbench.datasets_scripts.load import load_test_set
from tstbench.datasets_scripts.own import own_card
from tstbench.datasets_scripts.tables import OwnText

# Equal up to the 64th word, where the usual cleaning cuts: raw, they are two sentences.
LONG = " ".join(f"word{i}" for i in range(70))
# Of the mined ones five repeat another, and two of validation and two of test are among them.
TEXTS = {
    "mined-0": ["Go .", "stop it now", "go.", "Sit !", "wait", "GO .", "be quiet", "STOP it now"],
    "mined-1": ["please go", "do stop", "Please  go", f"{LONG} please", "Do stop", LONG],
    "validation-0": ["Sit!", ""],
    "validation-1": ["do sit", "May  I go", "DO sit", "sit !", LONG],
    "test-0": ["wait", "Be quiet", "leave us"],
    "test-1": ["may I go"],
    "first": ["Wait .", "be quiet", "please leave us"],
    "second": ["", "would you be quiet", "leave  us"],
}
FACTS = DatasetFacts(
    "orders",
    "Orders",
    "politeness",
    ("rude", "polite"),
    references=2,
    licence="cc0-1.0",
    learn_from="mined",
)


@pytest.fixture
def report(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    for name, lines in TEXTS.items():
        write_lines(tmp_path / f"{name}.txt", lines)

    def file(name):
        return OwnText(tmp_path / f"{name}.txt", f"{name}.txt")

    def part(name, **more):
        return Part(name, ((file(f"{name}-0"),), (file(f"{name}-1"),)), **more)

    parts = (
        part("mined", decontamination="amazon-mined-v1"),
        part("validation"),
        part("test", references={(0, 1): (file("first"), file("second"))}),
    )
    card = own_card(FACTS, "", "")
    register(Corpus(FACTS, "1.0.0", parts, card=card, origin=str(tmp_path / "orders.toml")))
    return build("orders", tmp_path / "out")


def test_every_count_of_a_build_is_the_one_by_hand(report):
    found = {(q.part, q.style): q for q in report.quality}
    counts = {
        key: (q.rows, q.removed, q.empty, q.duplicates, q.other_style, q.test_overlap, q.unchanged)
        for key, q in found.items()
    }
    assert counts == {
        ("mined", "rude"): (2, 6, 0, 0, 0, 0, 0),
        ("mined", "polite"): (3, 3, 0, 0, 0, 0, 0),
        ("validation", "rude"): (2, 0, 1, 0, 1, 0, 0),
        ("validation", "polite"): (5, 0, 0, 1, 1, 1, 0),
        ("test", "rude"): (3, 0, 0, 0, 0, 0, 2),
        ("test", "polite"): (1, 0, 0, 0, 0, 0, 0),
    }
    assert found["test", "rude"].references == (1, 2)
    assert found["test", "rude"].words == (1, pytest.approx(5 / 3), 2, 2)
    # Known are the words of the mined sentences that were kept, of both styles.
    assert found["test", "rude"].oov == 1
    assert found["test", "polite"].oov == pytest.approx(2 / 3)
    assert found["validation", "rude"].oov == 1


def test_a_step_says_what_it_removed_and_which_repeated(report):
    card = (report.folder / "README.md").read_text()
    assert (
        "`amazon-mined-v1` on mined: 4 sentences removed because they occur in other splits, and "
        "5 repetitions." in card
    )
    facts = json.loads((report.folder / "fingerprint.json").read_text())
    assert facts["decontamination"] == {"mined": "amazon-mined-v1"}
    assert load_test_set("orders/rude-to-polite", "mined").ids == (
        "orders-mined-0-00000",
        "orders-mined-0-00001",
    )
