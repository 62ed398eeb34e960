"""The datasets beyond the benchmark: labelled ones have no directions, and none is published."""

import zipfile

import pytest
from datasets import load_dataset

from tstbench.commands.cli import main
from tstbench.datasets_scripts.build import build
from tstbench.datasets_scripts.cola.rows import archived_rows, read_rows
from tstbench.datasets_scripts.directions import FURTHER_DATASETS
from tstbench.datasets_scripts.load import load_styles, load_test_set
from tstbench.errors import InputError, MissingFileError

ROW = "{n}\tpie ##ces\tpie ##ces\t{source}\t{target}\tNN\tdet\n"
SOURCES = ("He was a brilliant\u2028 mayor.", "The so-called reform failed.", 'A "great" bridge.')
TARGETS = ("He was a mayor.", "The reform failed.", "A bridge.")


@pytest.fixture
def wnc(tmp_path):
    """The layout of the authors' release, in sentences of our own."""
    folder = tmp_path / "WNC"
    folder.mkdir()
    rows = [
        ROW.format(n=n, source=s, target=t)
        for n, (s, t) in enumerate(zip(SOURCES, TARGETS, strict=True))
    ]
    for stem, kept in (("train", rows[:2]), ("dev", rows[1:2]), ("test", rows[2:])):
        (folder / f"biased.word.{stem}").write_bytes("".join(kept).encode())
    return folder


class TestWnc:
    def test_raw_texts_are_read_in_pairs(self, wnc):
        test = load_test_set("wnc/subjective-to-neutral", data_dir=wnc)
        assert (test.sources, test.references) == (SOURCES[2:], ((TARGETS[2],),))
        train = load_test_set("wnc/subjective-to-neutral", "train", data_dir=wnc.parent)
        assert train.references == tuple((text,) for text in TARGETS[:2])
        # A line separator inside a sentence does not end a row; cleaning folds it.
        assert train.sources[0] == "He was a brilliant mayor."

    def test_labelled_sentences(self, wnc):
        data = load_styles("wnc", data_dir=wnc)
        assert data.splits["train"].texts.count(TARGETS[0]) == 1
        assert data.splits["train"].labels == (0, 0, 1, 1)

    def test_it_builds_and_loads(self, wnc, tmp_path):
        report = build("wnc", tmp_path / "out", data_dir=wnc)
        assert not report.publishable
        loaded = load_dataset(str(report.folder), "subjective-to-neutral", split="test")
        assert loaded["references"][0] == [TARGETS[2]]

    def test_what_is_wrong_is_told(self, wnc, monkeypatch):
        monkeypatch.delenv("TSTBENCH_WNC", raising=False)
        with pytest.raises(MissingFileError, match="TSTBENCH_WNC"):
            load_test_set("wnc/subjective-to-neutral")
        with pytest.raises(MissingFileError, match=r"biased\.word\.test is not in"):
            load_test_set("wnc/subjective-to-neutral", data_dir=wnc.parent.parent)
        file = wnc / "biased.word.test"
        for text, line in ((ROW[:4] + "\n", 1), (ROW + ROW.format(n=1, source=" ", target="x"), 2)):
            file.write_text(text)
            with pytest.raises(InputError, match=rf"biased\.word\.test, line {line}: a row of"):
                load_test_set("wnc/subjective-to-neutral", data_dir=wnc)
        file.write_bytes(b"1\ta\tb\tcaf\xe9\tcafe\n")
        with pytest.raises(InputError, match="line 1: not UTF-8"):
            load_test_set("wnc/subjective-to-neutral", data_dir=wnc)


class TestCola:
    def test_rows(self):
        text = "gj04\t1\t\tWe ate.\ngj04\t0\t*\tWe eats.\n"
        assert read_rows(text, "x") == ((1, "We ate."), (0, "We eats."))
        assert read_rows(text[:-1], "x") == read_rows(text, "x")  # the last line may be open

    @pytest.mark.parametrize("line", ["gj04\t1\tWe ate.", "gj04\t2\t\tWe ate.", ""])
    def test_a_line_that_is_no_row(self, line):
        with pytest.raises(InputError, match="x, line 2: a row of CoLA"):
            read_rows(f"gj04\t1\t\tWe ate.\n{line}\n", "x")

    def test_another_archive(self, tmp_path):
        other = tmp_path / "other.zip"
        with zipfile.ZipFile(other, "w") as archive:
            archive.writestr("readme", "nothing")
        with pytest.raises(InputError, match="not the CoLA archive"):
            archived_rows(other, "in_domain_train.tsv")


class TestLabelledOnly:
    def test_there_is_no_direction(self, capsys):
        with pytest.raises(InputError, match="cola has no directions"):
            load_test_set("cola/unacceptable-to-acceptable")
        assert main(["directions"]) == 0
        out = capsys.readouterr().out
        assert "wnc/subjective-to-neutral" in out
        assert "cds" not in out

    @pytest.mark.parametrize(
        "arguments",
        ["train dar --dataset cds --out x", "sources cds/joyce-to-bible", "prepare cola"],
    )
    def test_commands_for_directions_say_so(self, capsys, arguments):
        assert main(arguments.split()) == 2
        assert "has no directions: its sentences are labelled" in capsys.readouterr().err

    @pytest.mark.realdata
    @pytest.mark.parametrize(
        ("name", "rows"),
        [("cds", {"train": 11_000}), ("cola", {"train": 8551, "validation": 527, "test": 516})],
    )
    def test_real_files_build_and_load(self, tmp_path, name, rows):
        report = build(name, tmp_path)
        assert report.rows == {"default": rows, "styles": rows}
        assert not report.publishable
        loaded = load_dataset(str(report.folder))
        assert {part: split.num_rows for part, split in loaded.items()} == rows
        names = loaded["train"].features["style"].names
        assert tuple(names) == FURTHER_DATASETS[name].styles
        assert "load_dataset" in (report.folder / "README.md").read_text("utf-8")

    @pytest.mark.realdata
    def test_facts_of_the_real_files(self):
        """Row counts and duplicates as stated in the sources' own documentation and by counting."""
        cds = load_styles("cds", cleaning="raw").splits["train"]
        assert len(set(cds.of(5))) == 998  # tweets
        assert len(set(cds.of(9))) == 953  # Shakespeare
        cola = load_styles("cola")
        share = sum(cola.splits["train"].labels) / 8551
        assert share == pytest.approx(0.704, abs=0.001)  # Warstadt et al.: 70.4 % acceptable


def test_none_of_them_is_published(tmp_path):
    for name in FURTHER_DATASETS:
        assert not FURTHER_DATASETS[name].publishable
        assert main(["hub", "build", str(tmp_path / "hub"), "--datasets", name]) == 2
