"""What a data file can say: each key has its effect, and what cannot be is told."""

import json

import datasets
import pytest
from own_data import (
    FILES,
    POLITE,
    RUDE,
    TEST,
    TRAIN,
    replaced,
    write_lines,
    write_manners,
)
from prepared import command_line

from tstbench.datasets_scripts.build import available_parts, build
from tstbench.datasets_scripts.cards import read_card
from tstbench.datasets_scripts.catalog import load_data, parse_dataset
from tstbench.datasets_scripts.load import load_styles, load_test_set, load_training
from tstbench.datasets_scripts.own import read_data
from tstbench.errors import InputError, MissingFileError

NAME = "manners/rude-to-polite"


def hub_folder(path, **splits):
    """A folder that ``load_dataset`` reads: labelled sentences, of which one has no label."""
    path.mkdir()
    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["polite", "rude"])}
    )
    for split, rows in splits.items():
        texts, labels = zip(*rows, strict=True)
        columns = {"text": list(texts), "label": list(labels)}
        found = datasets.Dataset.from_dict(columns, features=features)
        found.to_parquet(path / f"{split}.parquet")


# -- where sentences are ---------------------------------------------------------------------------


def test_labels_that_are_numbers_in_json_are_those_of_the_data_file(manners):
    rows = [{"text": text, "kind": kind} for text, kind in (("One.", 10), ("Two, please.", 3))]
    rows += [{"text": "Neither.", "kind": 7}, {"text": "Three.", "kind": 10}]
    (manners.parent / "train.JSONL").write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = (
        '[train]\nfile = "train.JSONL"\nstyle = "kind"\nvalues = { 10 = "rude", 3 = "polite" }\n'
    )
    manners.write_text(replaced((TRAIN, table)))
    load_data(manners)
    training = load_styles("manners").training
    assert (training.of(0), training.of(1)) == (("One.", "Three."), ("Two, please.",))


@pytest.mark.parametrize(("name", "mark"), [("train.TSV", "\t"), ("train.Csv", ",")])
def test_the_ending_of_a_table_may_be_in_capitals(manners, name, mark):
    lines = [f"text{mark}style", f"Go.{mark}rude", f"Please go.{mark}polite"]
    write_lines(manners.parent / name, lines)
    manners.write_text(replaced((TRAIN, f'[train]\nfile = "{name}"\n')))
    load_data(manners)
    training = load_styles("manners").training
    assert (training.of(0), training.of(1)) == (("Go.",), ("Please go.",))


def test_rows_of_a_hub_dataset_are_counted_from_one_and_may_lack_a_label(manners):
    rows = [("Zero.", 1), ("One.", 1), ("Two, please.", 0), ("Nobody knows.", None), ("Four.", 1)]
    hub_folder(manners.parent / "hub", train=rows)
    table = '[train]\nhub = "hub"\nsplit = "train"\nstyle = "label"\nlines = "2-5"\n'
    values = 'values = { rude = "rude", polite = "polite" }\n'
    manners.write_text(replaced((TRAIN, table + values)))
    load_data(manners)
    training = load_styles("manners").training
    assert (training.of(0), training.of(1)) == (("One.", "Four."), ("Two, please.",))
    manners.write_text(replaced((TRAIN, table.replace("2-5", "2-6") + values)))
    with pytest.raises(InputError, match=r"hub, train has 5 lines: lines 2-6 do not exist"):
        load_data(manners)


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


def test_what_it_says_of_itself_is_in_the_built_folder(manners, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    said = (
        'title = "Good manners"\ntask = "politeness"\nversion = "2.10.3"\n'
        'citation = "@misc{manners2026}"\ncard = "Heard in a **restaurant**."\n'
    )
    manners.write_text(replaced(('licence = "cc0-1.0"\n', f'licence = "Our own terms"\n{said}')))
    load_data(manners)
    report = build("manners", tmp_path / "out")
    facts = json.loads((report.folder / "fingerprint.json").read_text())
    assert (facts["version"], facts["dataset"]) == ("2.10.3", "manners")
    card = (report.folder / "README.md").read_text()
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
def test_a_file_elsewhere_is_called_by_its_name_alone(manners, tmp_path, monkeypatch, place):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    (tmp_path / "secret").mkdir()
    write_lines(tmp_path / "secret" / "rude.txt", RUDE)
    given = {"absolute": str(tmp_path / "secret" / "rude.txt"), "above": "../secret/rude.txt"}
    manners.write_text(replaced(('"rude.txt"', f'"{given[place]}"')))
    load_data(manners)
    report = build("manners", tmp_path / "out")
    names = [
        f["name"] for f in json.loads((report.folder / "fingerprint.json").read_text())["files"]
    ]
    assert names == ["rude.txt", "polite.txt", "test.txt", "anna.txt", "ben.txt"]
    assert "secret" not in (report.folder / "README.md").read_text()


def test_another_layout_of_the_same_files_is_other_data(manners, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    digests = []
    turned = '[train]\nrude = "polite.txt"\npolite = "rude.txt"\n'
    back = ('from = "rude"\nto = "polite"', 'from = "rude"\nto = "civil"')
    civil = ('styles = ["rude", "polite"]', 'styles = ["rude", "civil"]')
    for pieces in ([], [(TRAIN, turned)], [back, civil, ("polite = ", "civil = ")]):
        manners.write_text(replaced(*pieces))
        load_data(manners)
        report = build("manners", tmp_path / "out")
        digests.append(json.loads((report.folder / "fingerprint.json").read_text())["rows_digest"])
    manners.write_text(replaced((TRAIN, TRAIN), ("cc0-1.0", "cc-by-4.0")))
    load_data(manners)
    report = build("manners", tmp_path / "out")
    digests.append(json.loads((report.folder / "fingerprint.json").read_text())["rows_digest"])
    assert len(set(digests[:3])) == 3
    assert digests[0] == digests[3]  # the licence changes no row


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
    load_data(tmp_path / "mine.toml")
    assert load_styles("mine").splits["train"].of(0)[0] == line[2:]


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
