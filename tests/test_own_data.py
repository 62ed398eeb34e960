"""A dataset of one's own, from a data file: read whole, refused in words, then one of ours."""

import json
import os
import re
import shutil
from pathlib import Path

import datasets
import pytest
from own_data import ANNA, BEN, MANNERS, POLITE, RUDE, TEST, write_lines, write_manners
from prepared import command_line, refusal

from tstbench import plugins
from tstbench.datasets_scripts import added
from tstbench.datasets_scripts.added import load_data
from tstbench.datasets_scripts.build import build
from tstbench.datasets_scripts.corpora import CORPORA
from tstbench.datasets_scripts.directions import Direction
from tstbench.datasets_scripts.fingerprint import fingerprint
from tstbench.datasets_scripts.known import (
    DATASETS,
    DIRECTIONS,
    as_direction,
    dataset_facts,
    parse_direction,
    style_index,
)
from tstbench.datasets_scripts.load import load_styles, load_test_set
from tstbench.datasets_scripts.own import read_data
from tstbench.datasets_scripts.publication import require_publishable
from tstbench.errors import (
    InputError,
    MissingFileError,
    TSTBenchError,
    UnknownNameError,
    unknown_name,
)

NAME = "manners/rude-to-polite"
DOCS = Path(__file__).resolve().parent.parent / "docs" / "your_data.md"


@pytest.fixture
def manners(tmp_path):
    return write_manners(tmp_path / "own")


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
    assert [style_index(direction, style) for style in ("rude", "polite")] == [0, 1]
    for known, name in ((DATASETS, "manners"), (CORPORA, "manners"), (DIRECTIONS, NAME)):
        assert name in known
        assert list(known)[-1] == name
        assert len(known) == len(list(known))
    with pytest.raises(UnknownNameError, match=f"Did you mean '{NAME}'"):
        parse_direction("manners/rud-to-polite")


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


def tables(folder):
    """The same sentences as columns."""
    rows = [
        {"key": 7, "r": TEST[0], "p": [ANNA[0], BEN[0]], "one": ANNA[0]},
        {"key": 9, "r": TEST[1], "p": [ANNA[1]], "one": None},
    ]
    (folder / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    csv = [f'"{text}",{k}' for k, texts in enumerate((RUDE, POLITE)) for text in texts]
    (folder / "train.csv").write_text("\n".join(["sentence,label", *csv, "neither,2"]) + "\n")


def replaced(*pairs):
    text = MANNERS
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


FILES = 'test = { sources = "test.txt", references = ["anna.txt", "ben.txt"] }'
TRAIN = '[train]\nrude = "rude.txt"\npolite = "polite.txt"\n'


def test_columns_hold_the_same_as_files(manners):
    load_data(manners)
    want, styles = load_test_set(NAME), load_styles("manners")
    tables(manners.parent)
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
    manners.write_text(replaced((TRAIN, lines.replace("3-4", "3-9"))))
    with pytest.raises(InputError, match=r"rude\.txt has 5 lines: lines 3-9 do not exist"):
        load_data(manners)


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


def test_without_training_sentences_it_says_what_is_missing(manners):
    manners.write_text(replaced((TRAIN, "")))
    load_data(manners)
    with pytest.raises(MissingFileError, match="no sentences to train on"):
        _ = load_styles("manners").training
    with pytest.raises(UnknownNameError, match="unknown split of manners/rude-to-polite 'train'"):
        load_test_set(NAME, "train")


# -- many styles -----------------------------------------------------------------------------------

THREE = """\
name = "tones"
styles = ["rude", "polite", "poetic"]
language = "de-AT"

[train]
rude = "a.txt"
polite = "b.txt"
poetic = "c.txt"

[test]
rude = "ta.txt"
polite = "tb.txt"

[[direction]]
from = "rude"
to = "poetic"

[[direction]]
from = "rude"
to = "polite"
test = { sources = "own.txt", references = "own.ref.txt" }

[[direction]]
from = "polite"
to = "poetic"
"""


@pytest.fixture
def tones(tmp_path):
    texts = {
        "a": ["Hau  ab !", "Gib her ."],
        "b": ["Bitte gehen Sie .", "Darf ich ?"],
        "c": ["O zieh dahin !", "Still ruht der See ."],
        "ta": ["Weg da !", "Gib  her ."],
        "tb": ["Wären Sie so nett ?"],
        "own": ["Was willst du ?"],
        "own.ref": ["Womit kann ich dienen ?"],
    }
    for name, lines in texts.items():
        write_lines(tmp_path / f"{name}.txt", lines)
    path = tmp_path / "tones.toml"
    path.write_text(THREE, encoding="utf-8")
    return path


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
    with pytest.raises(InputError, match="must not be published"):
        require_publishable(report.folder)


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


# -- refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("licence", "license", 3, "unknown key 'license'. Did you mean 'licence'?"),
        ('to = "polite"', 'too = "polite"', 11, "unknown key 'direction.too'. Did you mean 'to'?"),
        ('to = "polite"', "", 9, "'direction.to' is missing"),
        ('name = "manners"', "", None, "'name' is missing"),
        ('"manners"', '"My Manners"', 1, "lower-case letters, digits and underscores"),
        ('"manners"', "7", 1, "name: Input should be a valid string"),
        ('["rude", "polite"]', '["rude", "rude"]', 2, "a style is listed twice"),
        ('["rude", "polite"]', '["rude"]', 2, "at least 2 items"),
        ('to = "polite"', 'to = "polit"', 11, "unknown style 'polit'. Did you mean 'polite'?"),
        ('to = "polite"', 'to = "rude"', 9, "goes from a style to itself"),
        ('polite = "polite.txt"\n', "", 5, "[train] has no sentences of polite"),
        ('polite = "pol', 'politely = "pol', 7, "unknown style 'politely'"),
        (FILES, "", 9, "rude-to-polite has no test sentences"),
        ('"rude.txt"', '{ file = "rude.txt", lines = "4" }', 6, 'range of lines such as "1-900"'),
        ('"rude.txt"', '{ hub = "a/b" }', 6, "needs a split"),
        ('"rude.txt"', '{ file = "a", hub = "b" }', 6, "give either file or hub, and not both"),
        ("licence", 'language = "german"\nlicence', 3, "'german' is not a language code"),
        ("licence =", "licence", None, "not TOML"),
        (
            "[[direction]]",
            f'[[direction]]\nfrom = "rude"\nto = "polite"\n{FILES}\n[[direction]]',
            13,
            "direction rude-to-polite is declared twice",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(old, new, line, message, manners):
    assert MANNERS.count(old) >= 1
    manners.write_text(MANNERS.replace(old, new, 1))
    with pytest.raises(InputError) as error:
        load_data(manners)
    place = f"{manners}, line {line}: " if line else f"{manners}: "
    assert str(error.value).startswith(place)
    assert message in str(error.value)
    assert "manners" not in DATASETS


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("anna.txt", "One.\n", "test.txt has 2 lines and anna.txt has 1"),
        ("anna.txt", "\n\n", "anna.txt is empty"),
        ("test.txt", "", "test.txt is empty"),
        ("test.txt", "One.\n\n", "test.txt, line 2 is blank"),
        ("rude.txt", "", "rude.txt is empty"),
        ("rude.txt", None, "no such file"),
        ("rude.txt", b"\xff", "not UTF-8"),
    ],
)
def test_files_that_cannot_be_right_are_named(file, content, message, manners):
    path = manners.parent / file
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(TSTBenchError) as error:
        load_data(manners)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"key": 1, "r": "b", "p": []}', "has the id '1' twice, in rows 1 and 2"),
        (
            '{"key": 2, "r": null, "p": []}',
            "test.jsonl, line 2: 'r' is None (NoneType), not a text",
        ),
        ('{"key": 2, "p": []}', "test.jsonl, line 2: 'r' is missing"),
        ('{"key": 2, "r": "b", "p": [3]}', "test.jsonl, line 2: 'p' is 3 (int), not a text"),
        ("[1]", "test.jsonl, line 2: each line must be a JSON object"),
        ("{", "test.jsonl, line 2: not JSON"),
    ],
)
def test_rows_that_cannot_be_right_are_named(row, message, manners):
    (manners.parent / "test.jsonl").write_text(f'{{"key": 1, "r": "a", "p": ["c"]}}\n{row}\n')
    columns = 'test = { file = "test.jsonl", source = "r", references = "p", id = "key" }'
    manners.write_text(replaced((FILES, columns)))
    with pytest.raises(InputError) as error:
        load_data(manners)
    assert message in str(error.value)


def test_columns_and_labels_that_are_not_there_are_told_with_near_ones(manners):
    tables(manners.parent)
    columns = 'test = { file = "test.jsonl", source = "rr", references = "p" }'
    manners.write_text(replaced((FILES, columns)))
    with pytest.raises(UnknownNameError, match=r"unknown column of test\.jsonl 'rr'"):
        load_data(manners)
    labelled = '[train]\nfile = "train.csv"\ntext = "sentence"\nstyle = "label"\n'
    manners.write_text(replaced((TRAIN, labelled)))
    with pytest.raises(InputError, match=r"line 5: unknown style '0'"):
        load_data(manners)


def test_a_name_that_is_taken_is_refused(manners, tmp_path):
    manners.write_text(replaced(('"manners"', '"yelp"')))
    with pytest.raises(InputError, match="a dataset called 'yelp' exists"):
        load_data(manners)
    load_data(write_manners(tmp_path / "one"))
    with pytest.raises(InputError, match=r"one.manners\.toml is also called 'manners'"):
        load_data(write_manners(tmp_path / "two"))


# -- labels of unknown datasets --------------------------------------------------------------------


def test_a_label_needs_no_dataset(manners):
    assert as_direction("other/rude-to-polite") == Direction("other", "rude", "polite")
    assert as_direction("yelp/negative-to-positive") == DIRECTIONS["yelp/negative-to-positive"]
    with pytest.raises(UnknownNameError, match="Did you mean 'yelp/negative-to-positive'"):
        as_direction("yelpp/negative-to-positive")
    with pytest.raises(UnknownNameError, match="unknown direction 'yelp/negative-to-neutral'"):
        as_direction("yelp/negative-to-neutral")
    with pytest.raises(UnknownNameError, match="a direction is needed"):
        as_direction("yelp")
    for wrong in ("other", "other/rude", "Other/a-to-b", "o/a-to-b-to-c", "../a-to-b", "o/a to b"):
        with pytest.raises(InputError, match="is not a direction"):
            as_direction(wrong)
    with pytest.raises(InputError, match="from a style to itself"):
        as_direction("other/rude-to-rude")
    load_data(manners)
    with pytest.raises(UnknownNameError, match="unknown direction"):
        as_direction("manners/polite-to-rude")


def test_a_long_list_of_names_is_cut():
    message = str(unknown_name("direction", "x", [f"cds/{i}" for i in range(110)]))
    assert message.endswith("cds/39 and 70 more.")


# -- other packages --------------------------------------------------------------------------------


@pytest.fixture
def outside(monkeypatch):
    """What an installed package's entry points bring; as plugins.outside would give it."""

    def put(**found):
        monkeypatch.setattr(added, "outside", lambda group: found)
        added._outside.cache_clear()

    yield put
    monkeypatch.undo()
    added._outside.cache_clear()


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


def test_the_group_is_one_that_plugins_know():
    assert isinstance(plugins.outside("tstbench.datasets"), dict)


# -- the command line ------------------------------------------------------------------------------


def test_check_says_what_was_read(manners, capsys):
    code, out, _ = command_line(capsys, "data", "check", manners)
    rows = [tuple(line.split("\t")) for line in out.splitlines()]
    assert code == 0
    for row in (
        ("train sentences", "4 rude, 3 polite; 2 removed that are in the test split"),
        (NAME, "2 to rewrite; references each: 1 to 2"),
        (f"first of {NAME}", TEST[0]),
        ("its rewrite", ANNA[0]),
    ):
        assert row in rows
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
    code, out, err = command_line(capsys, *arguments)
    assert code == 0, err
    rows = {line.split("\t")[0]: line.split("\t") for line in out.splitlines()}
    assert rows[NAME][2:] == ["2", "no", "yes"]
    assert rows["tones/rude-to-polite"][-1] == "no: no licence"


def test_a_missing_file_name_shows_the_usage(capsys):
    code, _, err = command_line(capsys, "directions", "--data")
    assert code == 2
    assert "argument --data: expected one argument" in err


def test_help_reads_no_data(monkeypatch, capsys):
    monkeypatch.setenv("TSTBENCH_DATA", "nowhere.toml")
    assert command_line(capsys, "evaluate", "--help")[0] == 0
    assert "no such file: nowhere.toml" in refusal(capsys, "directions")


THINGS = ("salt", "door", "bread", "wine", "chair", "lamp", "book", "soup", "tea", "coat")


def test_outputs_for_ones_own_data_are_scored(manners, capsys, tmp_path):
    out = tmp_path / "out.txt"
    write_lines(out, ("May I have the bill?", "Please move."))
    things = [f"{size} {thing}" for size in ("big", "old", "red") for thing in THINGS]
    write_lines(manners.parent / "rude.txt", (f"Give me the {one}." for one in things))
    write_lines(manners.parent / "polite.txt", (f"May I have the {one}, please?" for one in things))
    arguments = ("evaluate", out, "--direction", NAME, "--metrics", "s_bleu", "r_bleu", "acc")
    assert "unknown direction" in refusal(capsys, *arguments)
    code, printed, err = command_line(capsys, *arguments, "--data", manners, "--json")
    assert code == 0, err
    report = json.loads(printed)
    assert report["direction"] == NAME
    assert report["data"]["fingerprint"] == load_test_set(NAME).fingerprint
    assert {score["metric"] for score in report["scores"]} >= {"s_bleu", "r_bleu", "acc"}


def test_a_suite_names_its_data(manners, capsys, monkeypatch):
    suite = manners.parent / "suite.toml"
    suite.write_text(
        f'data = ["manners.toml"]\nmetrics = ["s_bleu"]\n[[system]]\nbaseline = "copy"\n'
        f'directions = ["{NAME}"]\n'
    )
    code, _, err = command_line(capsys, "run", suite)
    assert code == 0, err
    assert (manners.parent / "results" / NAME / "copy" / "report.json").is_file()


def test_only_data_with_a_licence_becomes_a_repository(manners, tmp_path, capsys):
    hub = tmp_path / "hub"
    arguments = ("hub", "build", hub, "--datasets", "manners", "--only", "manners")
    code, out, err = command_line(capsys, *arguments, "--data", manners)
    assert code == 0, err
    assert out.startswith("datasets/tstbench/manners\t")
    manners.write_text(replaced(('licence = "cc0-1.0"\n', "")))
    shutil.rmtree(hub)
    message = refusal(capsys, *arguments, "--data", manners)
    assert "manners has no licence, so it is not published" in message
    assert not hub.exists()


@pytest.mark.parametrize("line", ['0\t"give me that', '0\t"Stop," he said.'])
def test_a_table_never_loses_a_quotation_mark_or_a_row(line, tmp_path):
    rows = ["label\tsentence", line, "1\tplease pass it", "0\thand it over", "1\tthank you"]
    (tmp_path / "train.tsv").write_text("\n".join(rows) + "\n")
    write_lines(tmp_path / "test.txt", ["bring me the menu"])
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\nstyles = ["rude", "polite"]\n'
        '[train]\nfile = "train.tsv"\ntext = "sentence"\nstyle = "label"\n'
        'values = { 0 = "rude", 1 = "polite" }\n'
        '[[direction]]\nfrom = "rude"\nto = "polite"\ntest = { sources = "test.txt" }\n'
    )
    with pytest.raises(InputError, match=r"train\.tsv, line \d+: not valid CSV"):
        load_data(tmp_path / "mine.toml")
