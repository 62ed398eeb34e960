"""``tstbench annotate``: what the owner of a study is told."""

import re
import socket

import pytest
from annotate_study import DIRECTION, SYSTEMS, write_reports

from tstbench.commands.cli import main
from tstbench.spaces.annotate import create_study, lexicon_mask, load_study

pytest.importorskip("gradio")


@pytest.fixture
def busy_port():
    """A port in use: the command says all it has to say, and ends there."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


def test_a_study_is_made_opened_again_and_exported(tmp_path, monkeypatch, capsys, busy_port):
    monkeypatch.chdir(tmp_path)
    systems = {name: SYSTEMS[name] for name in ("Thesaurus", "Oracle9")}
    write_reports(tmp_path / "results", systems)

    def annotate(*arguments):
        status = main(["annotate", *arguments])
        return status, capsys.readouterr().err

    served = ["--url", "https://rate.example.org/", "--port", str(busy_port)]
    new = ["study", "--results", "results", "--direction", DIRECTION, "--raters", "ann", "bo"]
    new += ["--per-system", "3", "--show-references", *served]
    status, said = annotate(*new)
    assert "new study: 6 outputs of 2 systems, 2 raters" in said
    assert "Oracle9 is not blind: 3 of its 3 outputs" in said
    links = re.findall(r"^(ann|bo): https://rate\.example\.org/\?key=\S{32}$", said, re.MULTILINE)
    assert sorted(links) == ["ann", "bo"]
    assert status == 2
    assert f"port {busy_port} is in use" in said.splitlines()[-1]

    _, again = annotate(*new)
    assert "already has a study, and a study is frozen" in again
    assert "new study" not in again
    keys = [[line for line in text.splitlines() if "key=" in line] for text in (said, again)]
    assert keys[0] == keys[1] != []

    told = "wrote 0 judgments to ratings.jsonl: nobody has answered yet\n"
    assert annotate("study", "--export", "ratings.jsonl") == (0, told)
    status, said = annotate("study", "--url", "http://[::1")
    assert status == 2
    assert "--url http://[::1 is not an address: " in said.splitlines()[-1]
    status, said = annotate("nothing", "--export", "x")
    assert status == 2
    assert "tstbench annotate nothing --results" in said


def test_every_choice_for_a_new_study_is_followed(tmp_path, monkeypatch, busy_port):
    monkeypatch.chdir(tmp_path)
    write_reports(tmp_path / "results", SYSTEMS)
    (tmp_path / "words.txt").write_text("slow\ndull\n", "utf-8")
    new = ["study", "--results", "results", "--direction", DIRECTION, "--raters", "ann"]
    new += ["--systems", "Thesaurus", "Silent", "--per-system", "3", "--seed", "77"]
    new += ["--tasks", "protocol", "content_masked", "--lexicon", "words.txt"]
    assert main(["annotate", *new, "--port", str(busy_port)]) == 2  # after the study is there
    made = load_study(tmp_path / "study")
    again = create_study(
        tmp_path / "results",
        [DIRECTION],
        ["Silent", "Thesaurus"],
        ["ann"],
        tmp_path / "again",
        name="study",
        per_system=3,
        seed=77,
        tasks=["content_masked", "protocol"],
        masks={DIRECTION: lexicon_mask(["slow", "dull"])},
    )
    assert made == again
    assert made.tasks == ("content_masked", "protocol")
    assert all("slow" not in item.masked.source for item in made.items)
