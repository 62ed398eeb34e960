"""A dataset of one's own, from a data file: read whole, then like one of ours."""

import re

import datasets
import pytest
from own_data import (
    ANNA,
    BEN,
    FILES,
    MANNERS,
    POLITE,
    RUDE,
    THREE,
    TRAIN,
    replaced,
    write_lines,
    write_tables,
)
from places import ROOT

from tstbench.datasets_scripts.build import build
from tstbench.datasets_scripts.cards import MARKER
from tstbench.datasets_scripts.catalog import (
    CORPORA,
    DATASETS,
    DIRECTIONS,
    as_direction,
    dataset_facts,
    load_data,
    parse_direction,
)
from tstbench.datasets_scripts.directions import Direction
from tstbench.datasets_scripts.fingerprint import fingerprint
from tstbench.datasets_scripts.load import load_styles, load_test_set
from tstbench.errors import (
    MissingFileError,
    UnknownNameError,
    unknown_name,
)

NAME = "manners/rude-to-polite"
DOCS = ROOT / "docs" / "your_data.md"


# -- read ------------------------------------------------------------------------------------------


def test_the_example_of_the_page_is_the_one_tested_here():
    blocks = re.findall(r"```toml[^\n]*\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    assert blocks[0] == MANNERS


def test_it_is_known_once_it_is_loaded(manners):
    assert NAME not in DIRECTIONS
    dataset = load_data(manners)
    direction = Direction("manners", "rude", "polite")
    assert dataset.directions == (direction,)
    assert repr(dataset) == "Dataset(manners: rude-to-polite)"
    assert dataset.facts is dataset_facts("manners")
    assert (dataset.facts.references, dataset.facts.licence) == (2, "cc0-1.0")
    assert parse_direction(NAME) == direction
    for known, name in ((DATASETS, "manners"), (CORPORA, "manners"), (DIRECTIONS, NAME)):
        assert name in known
        assert list(known)[-1] == name
        assert len(known) == len(list(known))


def test_its_test_set_is_the_files(manners):
    load_data(manners)
    got = load_test_set(NAME)
    assert got.sources == ("Bring me the bill.", "Move.")
    assert got.references == ((ANNA[0], BEN[0]), ("would you mind moving?",))  # a blank is none
    assert got.ids == ("manners-test-0-1-00000", "manners-test-0-1-00001")
    assert got.fingerprint == fingerprint(got.sources, got.references)
    assert got.cleaning == "paper-v1"


def test_test_sentences_and_rewrites_are_never_trained_on(manners):
    load_data(manners)
    data = load_styles("manners")
    assert data.styles == ("rude", "polite")
    train = data.training
    assert (train.name, train.excluded) == ("train", 2)
    assert train.of(0) == tuple(text for text in RUDE if text != "Move.")
    assert train.of(1) == tuple(text for text in POLITE if not text.startswith("Would"))
    kept = load_styles("manners", exclude_test=False).training
    assert len(kept) == len(RUDE) + len(POLITE)


def test_a_change_of_the_files_is_seen(manners):
    load_data(manners)
    before = load_test_set(NAME).fingerprint
    write_lines(manners.parent / "test.txt", ("Bring me the menu.", "Go away."))
    assert load_test_set(NAME).fingerprint != before
    load_data(manners)  # the same file again is no second dataset


def test_paths_are_relative_to_the_file_and_not_to_here(manners, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    load_data("own/manners.toml")
    assert len(load_test_set(NAME)) == 2


# -- the places where sentences can be -------------------------------------------------------------


def test_columns_hold_the_same_as_files(manners):
    load_data(manners)
    want, styles = load_test_set(NAME), load_styles("manners")
    write_tables(manners.parent)
    labelled = (
        '[train]\nfile = "train.csv"\ntext = "sentence"\nstyle = "label"\n'
        'values = { 0 = "rude", 1 = "polite" }\n'
    )
    columns = 'test = { file = "test.jsonl", source = "r", references = "p", id = "key" }'
    manners.write_text(replaced((FILES, columns), (TRAIN, labelled)))
    dataset = load_data(manners)
    got = load_test_set(NAME)
    assert (got.sources, got.references, got.ids) == (want.sources, want.references, ("7", "9"))
    assert got.fingerprint == want.fingerprint
    assert load_styles("manners").training == styles.training
    assert dataset.facts.references == 2
    manners.write_text(replaced((FILES, columns.replace('"p"', '["one"]'))))
    load_data(manners)
    assert load_test_set(NAME).references == ((ANNA[0],), ())


def test_a_folder_that_datasets_reads(manners):
    """The Hub's way, without the Hub: load_dataset takes a folder where it takes a name."""
    folder = manners.parent / "hub"
    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["rude", "polite"])}
    )
    labels = [0] * len(RUDE) + [1] * len(POLITE)
    rows = {"text": [*RUDE, *POLITE], "label": labels}
    folder.mkdir()
    datasets.Dataset.from_dict(rows, features=features).to_parquet(folder / "train.parquet")
    labelled = '[train]\nhub = "hub"\nsplit = "train"\nstyle = "label"\n'
    load_data(manners)
    want = load_styles("manners").training
    manners.write_text(replaced((TRAIN, labelled)))
    load_data(manners)
    assert load_styles("manners").training == want
    manners.write_text(replaced((TRAIN, labelled.replace('train"\ns', 'nowhere"\ns'))))
    with pytest.raises(MissingFileError, match="hub, nowhere could not be loaded"):
        load_data(manners)


def test_lines_of_a_file_and_files_that_follow_each_other(manners):
    lines = TRAIN.replace('"rude.txt"', '{ file = "rude.txt", lines = "3-4" }')
    lines = lines.replace('"polite.txt"', '["polite.txt", "anna.txt"]')
    manners.write_text(replaced((TRAIN, lines)))
    load_data(manners)
    kept = load_styles("manners", exclude_test=False, cleaning="raw").training
    assert kept.of(0) == RUDE[2:4]
    assert kept.of(1) == POLITE + ANNA


def test_training_pairs_teach_both_styles_where_there_is_no_train_table(manners):
    train = 'train = { sources = "rude.txt", references = ["more.txt"] }'
    write_lines(manners.parent / "more.txt", (*POLITE, "Could you answer, please?"))
    manners.write_text(replaced((TRAIN, ""), (FILES, f"{FILES}\n{train}")))
    dataset = load_data(manners)
    assert dataset.facts.parallel
    pairs = load_test_set(NAME, "train")
    assert pairs.references[4] == ("Could you answer, please?",)
    training = load_styles("manners").training
    assert "Could you answer, please?" in training.of(1)
    assert "Answer me now." in training.of(0)


# -- many styles -----------------------------------------------------------------------------------


def test_a_direction_has_its_styles_sentences_or_its_own(tones):
    dataset = load_data(tones)
    assert [d.config for d in dataset.directions] == [
        "rude-to-poetic",
        "rude-to-polite",
        "polite-to-poetic",
    ]
    shared = load_test_set("tones/rude-to-poetic")
    assert shared.cleaning == "plain-v1"
    assert shared.sources == ("Weg da !", "Gib her .")  # no English rule touches the space
    assert shared.references == ((), ())
    assert shared.ids == ("tones-test-0-00000", "tones-test-0-00001")
    own = load_test_set("tones/rude-to-polite")
    assert own.sources == ("Was willst du ?",)
    assert own.references == (("Womit kann ich dienen ?",),)
    assert own.ids == ("tones-test-0-1-00000",)
    data = load_styles("tones")
    assert data.styles == ("rude", "polite", "poetic")
    assert data.training.labels == (0, 1, 1, 2, 2)  # one rude sentence is in the test
    with pytest.raises(UnknownNameError, match="unknown direction 'tones/poetic-to-rude'"):
        parse_direction("tones/poetic-to-rude")


def test_without_direction_tables_every_two_styles_are_one(tones):
    tones.write_text(THREE.split("[[direction]]")[0])
    configs = [d.config for d in load_data(tones).directions]
    assert configs == ["rude-to-polite", "rude-to-poetic", "polite-to-rude", "polite-to-poetic"]


def test_a_built_folder_of_three_styles_is_loaded(tones, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    load_data(tones)
    report = build("tones", tmp_path / "out")
    cache = str(tmp_path / "cache")
    found = datasets.load_dataset(str(report.folder), "styles", cache_dir=cache)
    assert found["train"].features["style"].names == ["rude", "polite", "poetic"]
    assert found["test"]["style"] == [0, 0, 1]
    own = datasets.load_dataset(str(report.folder), "rude-to-polite", split="test", cache_dir=cache)
    assert own[0]["references"] == ["Womit kann ich dienen ?"]
    everything = datasets.load_dataset(str(report.folder), cache_dir=cache)
    assert everything["test_polite_to_poetic"][0]["source"] == "Wären Sie so nett ?"
    rows = {(q.part, q.style): q for q in report.quality}
    assert rows["test", "rude-to-polite"].references == (1, 1)
    assert rows["train", "rude"].test_overlap == 1
    card = (report.folder / "README.md").read_text("utf-8")
    assert "(0 = rude, 1 = polite, 2 = poetic)" in card
    assert "No licence is stated" in card
    assert "language:\n- de-AT" in card
    assert str(tmp_path) not in card
    assert "No licence" in (report.folder / MARKER).read_text("utf-8")


def test_chinese_is_left_whole(tmp_path):
    long = "他" * 200 + "。"
    write_lines(tmp_path / "test.txt", ["把门关上。", long])
    path = tmp_path / "zh.toml"
    path.write_text(
        'name = "limao"\nstyles = ["cu", "li"]\nlanguage = "zh"\n[test]\ncu = "test.txt"\n'
    )
    load_data(path)
    got = load_test_set("limao/cu-to-li")
    assert (got.sources, got.cleaning) == (("把门关上。", long), "unspaced-v1")


# -- labels of unknown datasets --------------------------------------------------------------------


def test_a_label_needs_no_dataset():
    assert as_direction("other/rude-to-polite") == Direction("other", "rude", "polite")
    assert as_direction("yelp/negative-to-positive") == DIRECTIONS["yelp/negative-to-positive"]


def test_a_long_list_of_names_is_cut():
    message = str(unknown_name("direction", "x", [f"cds/{i}" for i in range(110)]))
    assert message.endswith("cds/39 and 70 more.")
