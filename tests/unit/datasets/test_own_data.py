"""A dataset of one's own, from a data file: read whole, then like one of ours."""

import json
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
    TEST,
    THREE,
    TRAIN,
    replaced,
    write_lines,
    write_manners,
    write_tables,
)
from places import ROOT
from prepared import command_line, refusal

from tstbench.datasets_scripts.build import available_parts, build
from tstbench.datasets_scripts.cards import MARKER, read_card
from tstbench.datasets_scripts.catalog import (
    CORPORA,
    DATASETS,
    DIRECTIONS,
    as_direction,
    dataset_facts,
    load_data,
    parse_dataset,
    parse_direction,
)
from tstbench.datasets_scripts.directions import Direction
from tstbench.datasets_scripts.fingerprint import fingerprint
from tstbench.datasets_scripts.load import load_styles, load_test_set, load_training
from tstbench.datasets_scripts.own import read_data
from tstbench.datasets_scripts.sources import BENCHMARK
from tstbench.datasets_scripts.tables import Column, Table
from tstbench.errors import (
    InputError,
    MissingFileError,
    UnknownNameError,
    unknown_name,
)
from tstbench.files import git_blob_id

NAME = "manners/rude-to-polite"
DOCS = ROOT / "docs" / "your_data.md"


# -- read ------------------------------------------------------------------------------------------


def test_the_example_of_the_page_is_the_one_tested_here():
    blocks = re.findall(r"```toml[^\n]*\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    assert blocks[0] == MANNERS


@pytest.mark.realdata
def test_the_example_with_many_styles_is_read(sources, tmp_path):
    blocks = re.findall(r"```toml[^\n]*\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    (example,) = [block for block in blocks if 'name = "diverse"' in block]
    folder = sources / BENCHMARK / "Algorithms/STRAP/data_samples"
    (tmp_path / "cds.toml").write_text(example.replace("data_samples/", f"{folder}/"))
    assert len(load_data(tmp_path / "cds.toml").directions) == 6
    assert len(load_test_set("diverse/lyrics-to-bible")) == 100
    assert len(load_styles("diverse", exclude_test=False).training) == 2700


def test_it_is_known_once_it_is_loaded(manners):
    assert NAME not in DIRECTIONS
    dataset = load_data(manners)
    direction = Direction("manners", "rude", "polite")
    assert dataset.directions == (direction,)
    assert repr(dataset) == "Corpus(manners: rude-to-polite)"
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


def test_paths_are_relative_to_the_file_and_not_to_here(manners, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    load_data("own/manners.toml")
    assert len(load_test_set(NAME)) == 2


# -- the places where sentences can be -------------------------------------------------------------


def learned(data_file, train, **how):
    """The rude and the polite sentences to learn from, by another train table."""
    data_file.write_text(replaced((TRAIN, train)))
    load_data(data_file)
    training = load_styles("manners", **how).training
    return training.of(0), training.of(1)


def hub_folder(path, rows):
    """A folder that ``load_dataset`` reads: sentences with or without a label."""
    path.mkdir()
    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["polite", "rude"])}
    )
    texts, labels = zip(*rows, strict=True)
    found = datasets.Dataset.from_dict({"text": texts, "label": labels}, features=features)
    found.to_parquet(path / "train.parquet")


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
    rows = [*((text, 1) for text in RUDE), *((text, 0) for text in POLITE)]
    hub_folder(manners.parent / "hub", rows)
    labelled = '[train]\nhub = "hub"\nsplit = "train"\nstyle = "label"\n'
    assert learned(manners, labelled) == learned(manners, TRAIN)
    with pytest.raises(MissingFileError, match="hub, nowhere could not be loaded"):
        learned(manners, labelled.replace('train"\ns', 'nowhere"\ns'))


def test_lines_of_a_file_and_files_that_follow_each_other(manners):
    lines = TRAIN.replace('"rude.txt"', '{ file = "rude.txt", lines = "3-4" }')
    lines = lines.replace('"polite.txt"', '["polite.txt", "anna.txt"]')
    found = learned(manners, lines, exclude_test=False, cleaning="raw")
    assert found == (RUDE[2:4], POLITE + ANNA)


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
    learned = load_training("tones/rude-to-poetic")
    assert shared.cleaning == learned.cleaning == "plain-v1"
    assert shared.sources == ("Weg da !", "Gib her .")  # no English rule touches the space
    assert "Hau ab !" in learned.train.source
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
    everything = datasets.load_dataset(str(report.folder), cache_dir=cache)
    assert everything["test_polite_to_poetic"][0]["source"] == "Wären Sie so nett ?"
    card = (report.folder / "README.md").read_text("utf-8")
    assert "(0 = rude, 1 = polite, 2 = poetic)" in card
    assert "No licence is stated" in card
    assert "language:\n- de-AT" in card
    assert str(tmp_path) not in card
    assert "No licence" in (report.folder / MARKER).read_text("utf-8")


# -- labels of unknown datasets --------------------------------------------------------------------


def test_a_label_needs_no_dataset():
    assert as_direction("other/rude-to-polite") == Direction("other", "rude", "polite")
    assert as_direction("yelp/negative-to-positive") == DIRECTIONS["yelp/negative-to-positive"]


def test_a_long_list_of_names_is_cut():
    message = str(unknown_name("direction", "x", [f"cds/{i}" for i in range(110)]))
    assert message.endswith("cds/39 and 70 more.")


# -- where sentences are ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "columns"),
    [
        ("train.TSV", "text\tstyle\nGo.\trude\nPlease go.\tpolite\n", ""),
        ("train.Csv", "text,style\nGo.,rude\nPlease go.,polite\n", ""),
        (
            "train.JSONL",
            '{"text": "Go.", "kind": 10}\n{"text": "Please go.", "kind": 3}\n'
            '{"text": "Neither.", "kind": 7}\n',
            'style = "kind"\nvalues = { 10 = "rude", 3 = "polite" }\n',
        ),
    ],
    ids=["TSV", "Csv", "JSONL"],
)
def test_endings_may_be_in_capitals_and_labels_numbers(manners, name, content, columns):
    (manners.parent / name).write_text(content)
    found = learned(manners, f'[train]\nfile = "{name}"\n{columns}')
    assert found == (("Go.",), ("Please go.",))


def test_a_column_is_known_by_its_values_alone(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"r": "caf\u00e9", "n": 1}\n\n{"r": ["b", "c"]}\n', "utf-8")
    (tmp_path / "b.jsonl").write_text('{"r": "caf\\u00e9"}\n{"r": ["b", "c"], "n": 2}\n', "utf-8")
    for name in ("a.jsonl", "b.jsonl"):
        digest = Column(Table(tmp_path / name, name), "r").digest()
        assert digest == git_blob_id('"caf\u00e9"\n["b", "c"]\n'.encode())


def test_rows_of_a_hub_dataset_are_counted_from_one_and_may_lack_a_label(manners):
    rows = [("Zero.", 1), ("One.", 1), ("Two, please.", 0), ("Nobody knows.", None), ("Four.", 1)]
    hub_folder(manners.parent / "hub", rows)
    table = '[train]\nhub = "hub"\nsplit = "train"\nstyle = "label"\nlines = "2-5"\n'
    values = 'values = { rude = "rude", polite = "polite" }\n'
    assert learned(manners, table + values) == (("One.", "Four."), ("Two, please.",))
    with pytest.raises(InputError, match=r"hub, train has 5 lines: lines 2-6 do not exist"):
        learned(manners, table.replace("2-5", "2-6") + values)


def test_a_value_of_a_hub_dataset_that_is_no_text_is_told_with_its_row(manners):
    folder = manners.parent / "hub"
    folder.mkdir()
    found = datasets.Dataset.from_dict({"text": ["a", "b", "c", None], "number": [1, 2, 3, 4]})
    found.to_parquet(folder / "test.parquet")
    for lines, row in (("", 4), (', lines = "3-4"', 4)):
        table = f'test = {{ hub = "hub", split = "test", source = "text"{lines} }}'
        manners.write_text(replaced((FILES, table)))
        with pytest.raises(InputError, match=rf"hub, test, row {row}: 'text' is None"):
            load_data(manners)


def test_validation_sentences_are_a_split_of_their_own(manners):
    for name, lines in (("vr.txt", ("Off you go.",)), ("vp.txt", ("Do go.", "Pray go."))):
        write_lines(manners.parent / name, lines)
    validation = '[validation]\nrude = "vr.txt"\npolite = "vp.txt"\n\n'
    manners.write_text(replaced(("[[direction]]", f"{validation}[[direction]]")))
    load_data(manners)
    found = load_styles("manners")
    assert found.splits["validation"].of(0) == ("Off you go.",)
    assert found.splits["validation"].of(1) == ("Do go.", "Pray go.")
    assert found.training.name == "train"
    data = load_training(NAME)
    assert (data.validation.source, data.validation.target) == (
        ("Off you go.",),
        ("Do go.", "Pray go."),
    )


def test_the_rewrites_of_the_test_split_are_no_test_sentences_of_their_style(manners):
    load_data(manners)
    test = load_styles("manners", exclude_test=False, cleaning="raw").splits["test"]
    assert (test.of(0), test.of(1)) == (TEST, ())


def test_how_many_rewrites_there_are_is_counted_in_the_test_split(manners):
    write_lines(manners.parent / "more.txt", POLITE)
    write_lines(manners.parent / "rude4.txt", RUDE[:4])
    pairs = 'train = { sources = "rude4.txt", references = ["more.txt"] }'
    manners.write_text(replaced((FILES, f"{FILES}\n{pairs}")))
    assert load_data(manners).facts.references == 2


def test_one_direction_with_training_pairs_makes_a_dataset_parallel(tones):
    assert not load_data(tones).facts.parallel
    pairs = 'train = { sources = "a.txt", references = "b.txt" }\n'
    tones.write_text(tones.read_text().replace('to = "poetic"\n', f'to = "poetic"\n{pairs}', 1))
    assert load_data(tones).facts.parallel


# -- what describes them ---------------------------------------------------------------------------


@pytest.fixture
def built(manners, tmp_path, monkeypatch):
    """What the built folder says of the dataset: its facts and its card."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))

    def of(*pieces):
        manners.write_text(replaced(*pieces))
        load_data(manners)
        folder = build("manners", tmp_path / "out").folder
        facts = json.loads((folder / "fingerprint.json").read_text())
        return facts, (folder / "README.md").read_text()

    return of


def test_what_it_says_of_itself_is_in_the_built_folder(built):
    said = (
        'title = "Good manners"\ntask = "politeness"\nversion = "2.10.3"\n'
        'citation = "@misc{manners2026}"\ncard = "Heard in a **restaurant**."\n'
    )
    facts, card = built(('licence = "cc0-1.0"\n', f'licence = "Our own terms"\n{said}'))
    assert (facts["version"], facts["dataset"]) == ("2.10.3", "manners")
    for part in (
        "pretty_name: Good manners",
        "license: other",
        "license_name: our-own-terms",
        "- politeness",
        "Heard in a **restaurant**.",
        "Our own terms.",
        "tstbench build manners --data FILE",
        "path/to/manners",  # it is in no repository of ours
    ):
        assert part in card
    assert read_card(parse_dataset("manners")).citation == "@misc{manners2026}"


@pytest.mark.parametrize("place", ["absolute", "above"])
def test_a_file_elsewhere_is_called_by_its_name_alone(built, tmp_path, place):
    (tmp_path / "secret").mkdir()
    write_lines(tmp_path / "secret" / "rude.txt", RUDE)
    given = {"absolute": str(tmp_path / "secret" / "rude.txt"), "above": "../secret/rude.txt"}
    facts, card = built(('"rude.txt"', f'"{given[place]}"'))
    names = [file["name"] for file in facts["files"]]
    assert names == ["rude.txt", "polite.txt", "test.txt", "anna.txt", "ben.txt"]
    assert "secret" not in card


def test_another_layout_of_the_same_files_is_other_data(built):
    turned = '[train]\nrude = "polite.txt"\npolite = "rude.txt"\n'
    back = ('from = "rude"\nto = "polite"', 'from = "rude"\nto = "civil"')
    civil = ('styles = ["rude", "polite"]', 'styles = ["rude", "civil"]')
    layouts = ([], [(TRAIN, turned)], [back, civil, ("polite = ", "civil = ")])
    digests = [built(*pieces)[0]["rows_digest"] for pieces in layouts]
    assert len(set(digests)) == 3
    # The licence changes no row.
    assert built((TRAIN, TRAIN), ("cc0-1.0", "cc-by-4.0"))[0]["rows_digest"] == digests[0]


# -- what cannot be --------------------------------------------------------------------------------


LABELS = ["0", "0.0", "0 ", "1", "True", "1", "neither", "0", "neither"]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_rows_that_are_left_out_are_counted_by_label(suffix, manners, capsys):
    rows = [(f"sentence {n}", label) for n, label in enumerate(LABELS)]
    if suffix == "csv":
        content = "".join(f"{text},{label}\n" for text, label in [("text", "label"), *rows])
    else:  # true as JSON has it
        values = {"True": True}
        records = [{"text": text, "label": values.get(label, label)} for text, label in rows]
        content = "".join(json.dumps(record) + "\n" for record in records)
    (manners.parent / f"train.{suffix}").write_text(content)
    table = f'[train]\nfile = "train.{suffix}"\nstyle = "label"\n'
    manners.write_text(replaced((TRAIN, table + 'values = { 0 = "rude", 1 = "polite" }\n')))
    code, out, err = command_line(capsys, "data", "check", manners)
    assert code == 0
    assert "2 rude, 2 polite" in out
    assert "5, by label: 2 'neither', 1 '0.0', 1 '0 ', 1 'True'" in out
    said = [line for line in err.splitlines() if "did you mean" in line]
    assert [(line.split("'")[1], line.split("'")[3]) for line in said] == [
        ("0.0", "0"), ("0 ", "0"), ("True", "1"),
    ]  # fmt: skip


def test_a_blank_line_to_learn_from_does_no_harm(tones):
    write_lines(tones.parent / "a.txt", ["Hau ab !", " "])
    load_data(tones)


def test_an_error_of_a_later_read_names_the_data_file(manners):
    load_data(manners)
    write_lines(manners.parent / "ben.txt", ["only one"])
    with pytest.raises(InputError) as error:
        load_test_set(NAME)
    assert str(error.value).startswith(f"{manners}: test.txt has 2 lines and ben.txt has 1")


def test_a_split_whose_table_is_missing_is_left_out_by_name(tmp_path):
    """Also in a corpus of another package, whose files nobody looked at when it was registered."""
    table = (
        '[train]\nfile = "none.tsv"\ntext = "text"\nstyle = "style"\n'
        'values = { 0 = "rude", 1 = "polite" }\n'
    )
    corpus = read_data(write_manners(tmp_path, replaced((TRAIN, table))))
    with pytest.raises(MissingFileError, match=r"no such file: .*none\.tsv"):
        available_parts(corpus)
    parts, missing = available_parts(corpus, allow_missing=True)
    assert [part.name for part in parts] == ["test"]
    assert list(missing) == ["train"]
    assert "none.tsv" in missing["train"]


@pytest.mark.parametrize("values", ['values = { 0 = "rude", 1 = "polite" }', ""])
def test_a_table_that_does_not_exist(values, tmp_path, capsys):
    table = f'[train]\nfile = "none.tsv"\ntext = "text"\nstyle = "style"\n{values}\n'
    path = write_manners(tmp_path, replaced((TRAIN, table)))
    for asked in (("data", "check", path), ("build", "manners", "--data", path, "--out", tmp_path)):
        assert f"no such file: {tmp_path / 'none.tsv'}" in refusal(capsys, *asked)
