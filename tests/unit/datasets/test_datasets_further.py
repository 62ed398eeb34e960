"""The datasets beyond the benchmark: labelled ones have no directions, and none is published."""

import numpy as np
import pandas as pd
import pytest
from datasets import load_dataset

from tstbench.commands.cli import main
from tstbench.datasets_scripts.build import build
from tstbench.datasets_scripts.catalog import BENCHMARK_DATASETS, OUR_DATASETS
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
        labelled = load_styles("wnc", data_dir=wnc).splits["train"]
        assert labelled.texts.count(TARGETS[0]) == 1
        assert labelled.labels == (0, 0, 1, 1)

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


class TestWncFull:
    @pytest.fixture
    def rows(self):
        """Pairs of few or many words that lose few or many; one revision has eleven rows."""
        stream = np.random.default_rng(0)
        rows = []
        for n in range(400):
            words = [f"w{k}" for k in stream.integers(0, 90, 2 + stream.geometric(0.1))]
            target = words[: max(1, len(words) - int(stream.geometric(0.5)))]
            number = n if n % 40 else 7
            rows.append(
                [str(number), "p", "p", f"s{n} " + " ".join(words), f"t{n} " + " ".join(target)]
            )
        return rows

    def test_the_split_is_that_of_the_sti_study(self, rows, tmp_path):
        """Its ``data_utils.py`` written out: numpy's generator, then pandas."""
        folder = tmp_path / "WNC"
        folder.mkdir()
        (folder / "biased.full").write_text("".join("\t".join(row) + "\n" for row in rows))
        order = np.random.default_rng(42).permutation(400)
        train, rest = order[40:], order[:40]
        again = np.random.default_rng(42).permutation(40)
        drawn = {"train": train, "validation": rest[again[20:]], "test": rest[again[:20]]}
        frame = pd.DataFrame(rows, columns=["id", "a", "b", "pre", "post"])
        frame["length"] = frame["pre"].str.split().str.len()
        frame["delta"] = frame["post"].str.split().str.len() - frame["length"]
        once = frame[~frame["id"].duplicated(keep=False)]
        learned = once.loc[[row for row in train if row in once.index]]
        bounds = learned[["length", "delta"]].quantile(q=[0.01, 0.99])
        for part, indices in drawn.items():
            some = once.loc[[row for row in indices if row in once.index]]
            for column in ("length", "delta"):
                some = some[some[column].between(*bounds[column])]
            found = load_test_set(
                "wnc_full/subjective-to-neutral", part, data_dir=folder, cleaning="raw"
            )
            assert found.sources == tuple(some["pre"])
            assert found.references == tuple((text,) for text in some["post"])
            assert len(some)
            assert part != "train" or len(some) < len(indices) - 11  # outliers are left out too
        build("wnc_full", tmp_path / "out", data_dir=folder)
        (folder / "biased.full").write_text("".join("\t".join(row) + "\n" for row in rows[:19]))
        with pytest.raises(InputError, match="19 rows"):
            load_test_set("wnc_full/subjective-to-neutral", data_dir=folder)


class TestLabelledOnly:
    def test_there_is_no_direction(self, capsys):
        with pytest.raises(InputError, match="cola has no directions"):
            load_test_set("cola/unacceptable-to-acceptable")
        assert main(["directions"]) == 0
        out = capsys.readouterr().out
        assert "wnc/subjective-to-neutral" in out
        assert "cds" not in out

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
        assert tuple(names) == OUR_DATASETS[name].styles
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
    for name in OUR_DATASETS.keys() - BENCHMARK_DATASETS.keys():
        assert not OUR_DATASETS[name].publishable
        assert main(["hub", "build", str(tmp_path / "hub"), "--datasets", name]) == 2
