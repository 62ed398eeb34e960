"""GYAFC from a user's own copy: a small tree of our own sentences in its layout."""

import json
import shutil

import datasets
import pytest
from gyafc_copy import write

from tstbench.datasets_scripts.build import TransferBuilder, build
from tstbench.datasets_scripts.cards import MARKER
from tstbench.datasets_scripts.catalog import CORPORA, load_data
from tstbench.datasets_scripts.licensed_copies import copies
from tstbench.datasets_scripts.load import load_styles, load_test_set
from tstbench.errors import InputError, MissingFileError

I2F, F2I = "gyafc_em/informal-to-formal", "gyafc_em/formal-to-informal"
LICENCE = "gyafc-research-only"
STYLES = ("informal", "formal")


def test_sources_and_references_by_name(corpus):
    there = load_test_set(I2F, data_dir=corpus)
    assert there.sources == ("ur right", "its on tv 2nite")
    assert there.references[0] == tuple(f"ur right, formal {k}" for k in range(4))
    assert there.ids == ("gyafc_em-test-0-00000", "gyafc_em-test-0-00001")
    back = load_test_set(F2I, data_dir=corpus)
    assert back.sources == ("I agree with you.", "Please listen to it.", "It begins at nine.")
    assert back.references[2] == tuple(f"It begins at nine., informal {k}" for k in range(4))


def test_training_pairs_serve_both_directions(corpus):
    there = load_test_set(I2F, "train", data_dir=corpus)
    back = load_test_set(F2I, "train", data_dir=corpus)
    assert there.references == tuple((text,) for text in back.sources)
    assert back.references == tuple((text,) for text in there.sources)


def test_the_copy_is_found_by_argument_or_else_by_variable(corpus, tmp_path, monkeypatch):
    assert load_test_set(I2F, data_dir=corpus.parent) == load_test_set(I2F, data_dir=corpus)
    with pytest.raises(MissingFileError, match="TSTBENCH_GYAFC"):
        load_test_set(I2F)
    other = tmp_path / "other" / "GYAFC_Corpus"
    shutil.copytree(corpus, other)
    write(other / "Entertainment_Music/test/informal", ["u r right", "its on tv 2nite"])
    monkeypatch.setenv("TSTBENCH_GYAFC", str(other))
    assert load_test_set(I2F).sources[0] == "u r right"
    assert load_test_set(I2F, data_dir=corpus).sources[0] == "ur right"
    assert load_styles("gyafc_fr").training.name == "train"


def test_building_needs_the_licence_by_name(corpus, tmp_path):
    for given in (None, "yes", "apache-2.0"):
        with pytest.raises(InputError, match=LICENCE):
            build("gyafc_em", tmp_path / "out", data_dir=corpus, accept_licence=given)
    assert not (tmp_path / "out").exists()


def test_built_folder_is_marked_and_cannot_be_published(corpus, tmp_path):
    report = build("gyafc_em", tmp_path / "out", data_dir=corpus, accept_licence=LICENCE)
    assert not report.publishable
    assert LICENCE in (report.folder / MARKER).read_text()
    card = (report.folder / "README.md").read_text()
    assert "must not be published" in card
    assert str(tmp_path) not in card + (report.folder / "fingerprint.json").read_text()
    found = datasets.load_dataset(
        str(report.folder), "informal-to-formal", cache_dir=str(tmp_path / "cache")
    )
    assert {name: split.num_rows for name, split in found.items()} == {
        "train": 3,
        "validation": 1,
        "test": 2,
    }
    assert (report.folder / MARKER).is_file()
    facts = json.loads((report.folder / "fingerprint.json").read_text())
    assert facts["publishable"] is False


def test_a_failed_build_leaves_the_old_folder(corpus, tmp_path):
    out = tmp_path / "out"
    build("gyafc_em", out, data_dir=corpus, accept_licence=LICENCE)
    before = {p: p.read_bytes() for p in out.rglob("*.*") if p.is_file()}
    write(corpus / "Entertainment_Music/train/formal", ["one line only"])
    with pytest.raises(InputError):
        build("gyafc_em", out, data_dir=corpus, accept_licence=LICENCE)
    assert {p: p.read_bytes() for p in out.rglob("*.*") if p.is_file()} == before


def built_rows(corpus, cache, split="test", **options):
    where = {"data_dir": str(corpus), "cache_dir": str(cache)}
    builder = TransferBuilder(CORPORA["gyafc_em"], "informal-to-formal", **where, **options)
    builder.download_and_prepare()
    return builder.as_dataset(split=split)


def test_a_missing_part_is_left_out_and_said(corpus, tmp_path):
    (corpus / "Entertainment_Music/tune/formal.ref3").unlink()
    options = {"data_dir": corpus, "accept_licence": LICENCE}
    with pytest.raises(MissingFileError, match=r"tune/formal\.ref3"):
        build("gyafc_em", tmp_path / "out", **options)
    with pytest.raises(MissingFileError, match=r"tune/formal\.ref3"):
        built_rows(corpus, tmp_path / "c")
    report = build("gyafc_em", tmp_path / "out", allow_missing=True, **options)
    assert set(report.rows["informal-to-formal"]) == {"train", "test"}
    assert "formal.ref3" in report.left_out["validation"]
    assert "**validation** is not included" in (report.folder / "README.md").read_text()
    found = built_rows(corpus, tmp_path / "c", split=None, allow_missing=True)
    assert set(found) == {"train", "test"}


def test_edited_files_and_another_cleaning_are_noticed_in_a_used_cache(corpus, tmp_path):
    found = []
    for first, options in (("ur right", {}), ("u r right", {}), ("u r right", {"cleaning": "raw"})):
        write(corpus / "Entertainment_Music/test/informal", [first, "its on tv 2nite"])
        rows = built_rows(corpus, tmp_path / "c", **options)
        want = load_test_set(I2F, data_dir=corpus, **options)
        assert tuple(rows["source"][:]) == want.sources
        assert tuple(map(tuple, rows["references"][:])) == want.references
        found.append((want.sources, want.references))
    assert len({*found}) == 3


def test_every_copy_that_was_read_is_remembered(corpus, tmp_path):
    others = [tmp_path / name / "GYAFC_Corpus" for name in ("one", "two")]
    for other in others:
        shutil.copytree(corpus, other)
        load_test_set(I2F, data_dir=other.parent)
    assert copies("TSTBENCH_GYAFC") == sorted(others)
    shutil.rmtree(others[0])
    assert copies("TSTBENCH_GYAFC") == others[1:]
    shutil.rmtree(others[1])
    with pytest.raises(MissingFileError, match="set TSTBENCH_GYAFC to where it is now"):
        copies("TSTBENCH_GYAFC")


@pytest.mark.parametrize("how", ["in place", "copied", "as a column"])
def test_own_data_that_are_its_sentences_are_recognised(corpus, tmp_path, how):
    files = {style: corpus / f"Family_Relationships/train/{style}" for style in STYLES}
    if how != "in place":
        load_styles("gyafc_em", data_dir=corpus)  # which makes the copy known
        for style in STYLES:
            lines = ["my own line", *map(str.upper, files[style].read_text().splitlines())]
            files[style] = tmp_path / f"{style}.{'txt' if how == 'copied' else 'jsonl'}"
            rows = lines if how == "copied" else [json.dumps({"text": line}) for line in lines]
            files[style].write_text("".join(f"{row}\n" for row in rows))
    named = {style: f'"{file}"' for style, file in files.items()}
    if how == "as a column":
        named = {style: f'{{ file = "{file}", column = "text" }}' for style, file in files.items()}
    tables = "\n".join(f"{style} = {value}" for style, value in named.items())
    data = tmp_path / "mine.toml"
    head = 'name = "mine"\nstyles = ["informal", "formal"]\nlicence = "cc0-1.0"\n'
    data.write_text(f"{head}[train]\n{tables}\n[test]\n{tables}\n")
    with pytest.raises(InputError, match="sentences of GYAFC"):
        load_data(data)
