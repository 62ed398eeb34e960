"""One's own data where it is used: other packages' data, the command line, suites, the Hub."""

import os

import evaluate
import pytest
from own_data import ANNA, TEST, replaced, write_lines
from places import ROOT
from prepared import DIRECTION, command_line, refusal, success

from tstbench.datasets_scripts import catalog
from tstbench.datasets_scripts.catalog import DATASETS, load_data
from tstbench.datasets_scripts.judgments.schema import read_judgments
from tstbench.datasets_scripts.load import load_test_set
from tstbench.datasets_scripts.own import read_data
from tstbench.errors import InputError
from tstbench.pipelines.report import Report

NAME = "manners/rude-to-polite"


@pytest.fixture
def outside(monkeypatch):
    """What an installed package's entry points bring; as plugins.outside would give it."""

    def put(**found):
        monkeypatch.setattr(catalog, "outside", lambda group: found)
        catalog._outside.cache_clear()

    yield put
    monkeypatch.undo()
    catalog._outside.cache_clear()


def test_a_package_brings_a_path_or_a_corpus(manners, tones, outside, capsys):
    outside(manners=str(manners), tones=read_data(tones), odd=7, gone="nowhere.toml")
    assert list(DATASETS)[-2:] == ["manners", "tones"]
    assert len(load_test_set(NAME)) == 2
    said = capsys.readouterr().err
    assert "'odd' is left out: it must be a Corpus or a path, not int" in said
    assert "'gone' of another package is left out: no such file" in said
    load_data(manners)  # the same file, named once more
    other = manners.with_name("other.toml")
    other.write_text(manners.read_text())
    with pytest.raises(InputError, match="exists; choose another name"):
        load_data(other)


# -- the command line ------------------------------------------------------------------------------


def test_check_says_what_was_read(manners, capsys):
    code, out, err = command_line(capsys, "data", "check", manners)
    assert "no [train]" not in err
    rows = [tuple(line.split("\t")) for line in out.splitlines()]
    assert code == 0
    for row in (
        ("train sentences", "4 rude, 3 polite; 2 removed that are in the test split"),
        (NAME, "2 to rewrite; references each: 1 to 2"),
        (f"first of {NAME}", TEST[0]),
        ("its rewrite", ANNA[0]),
    ):
        assert row in rows
    manners.write_text(replaced(('[train]\nrude = "rude.txt"\npolite = "polite.txt"\n', "")))
    _, err = success(capsys, "data", "check", manners)
    assert "no [train]: metrics that need a trained scorer (acc, ppl, joint) cannot" in err
    manners.write_text(replaced(("licence", "license")))
    assert "unknown key 'license'" in refusal(capsys, "data", "check", manners)


@pytest.mark.parametrize("place", ["after", "before", "joined", "environment"])
def test_data_may_stand_anywhere(place, manners, tones, capsys, monkeypatch):
    arguments = {
        "after": ["directions", "--data", manners, "--data", tones],
        "before": ["directions", f"--data={manners}", "--data", tones],
        "joined": ["directions", f"--data={manners}", f"--data={tones}"],
        "environment": ["directions"],
    }[place]
    if place == "environment":
        monkeypatch.setenv("TSTBENCH_DATA", os.pathsep.join([str(manners), "", str(tones)]))
    out, _ = success(capsys, *arguments)
    rows = {line.split("\t")[0]: line.split("\t") for line in out.splitlines()}
    assert rows[NAME][2:] == ["2", "no", "yes"]
    assert rows["tones/rude-to-polite"][-1] == "no: no licence"
    assert rows["gyafc_fr/informal-to-formal"][-1] == "no: licensed"


def test_help_reads_no_data(monkeypatch, capsys):
    monkeypatch.setenv("TSTBENCH_DATA", "nowhere.toml")
    assert command_line(capsys, "evaluate", "--help")[0] == 0
    assert "no such file: nowhere.toml" in refusal(capsys, "directions")


def test_data_with_a_licence_becomes_a_repository(manners, tmp_path, capsys):
    arguments = ("hub", "build", tmp_path / "hub", "--datasets", "manners", "--only", "manners")
    out, _ = success(capsys, *arguments, "--data", manners)
    assert out.startswith("datasets/tstbench/manners\t")


def test_what_has_too_little_to_learn_from_is_left_out_by_name(tmp_path, capsys):
    """16 sentences without a common sign, in a script without spaces: every sign is a word."""
    signs = iter(map(chr, range(0x4E00, 0x4E00 + 22 * 5)))
    for name, count in (("plain", 8), ("warm", 8), ("test", 3), ("ann", 3)):
        sentences = ["".join(next(signs) for _ in range(5)) for _ in range(count)]
        write_lines(tmp_path / f"{name}.txt", sentences)
    file = tmp_path / "few.toml"
    file.write_text(
        'name = "few"\nstyles = ["plain", "warm"]\nlicence = "cc0-1.0"\nlanguage = "zh"\n'
        '[train]\nplain = "plain.txt"\nwarm = "warm.txt"\n[[direction]]\nfrom = "plain"\n'
        'to = "warm"\ntest = { sources = "test.txt", references = ["ann.txt"] }\n'
    )
    load_data(file)
    way = ("--direction", "few/plain-to-warm")
    outputs = tmp_path / "ann.txt"
    out, _ = success(capsys, "evaluate", outputs, *way, "--json")
    report = Report.model_validate_json(out)
    assert (report.score("r_bleu").value, report.score("s_bleu").value) == (100, 0)
    assert "ppl" in {score.metric for score in report.scores}
    why = {one.metric: one.why for one in report.left_out}
    for metric in ("acc", "joint", "joint_calibrated"):
        assert "no word occurs in 2 of the 16 sentences" in why[metric]
    said = command_line(capsys, "evaluate", outputs, *way, "--metrics", "s_bert", "r_bert")[2]
    assert "s_bert, r_bert are left out: the encoder" in said
    texts = {"predictions": outputs.read_text().split(), "direction": "few/plain-to-warm"}
    assert evaluate.load(str(ROOT / "metrics" / "acc")).compute(**texts)["acc"] is None


def test_other_studies_in_a_file_of_judgments_are_kept_and_the_same_is_replaced(tmp_path, capsys):
    one, other, out = (tmp_path / name for name in ("one.csv", "other.csv", "human.jsonl"))
    header, row = "source,output,system,direction,style", f"a,b,ours,{DIRECTION}"
    write_lines(one, (header, f"{row},4", f"c,d,ours,{DIRECTION},2"))
    write_lines(other, (header, f"{row},5"))
    success(capsys, "judgments", one, "--out", out)
    assert "after 2 of other studies" in success(capsys, "judgments", other, "--out", out)[1]
    write_lines(one, (header, f"{row},1"))
    shown, _ = success(capsys, "judgments", one, "--out", out)
    assert shown.splitlines()[-1].split("\t") == [DIRECTION, "ours", "1", "1.00"]
    assert [(row.study, row.score) for row in read_judgments(out)] == [("other", 5), ("one", 1)]
