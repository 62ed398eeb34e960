"""Mistakes in a data file or in the files it names: each told in words, with its place."""

import pytest
from own_data import FILES, MANNERS, TRAIN, replaced, write_lines, write_manners, write_tables
from places import ROOT

from tstbench.datasets_scripts.added import load_data
from tstbench.datasets_scripts.known import (
    DATASETS,
)
from tstbench.datasets_scripts.load import load_styles
from tstbench.datasets_scripts.own import read_data
from tstbench.datasets_scripts.views import available_parts
from tstbench.errors import (
    InputError,
    MissingFileError,
    TSTBenchError,
    UnknownNameError,
)

NAME = "manners/rude-to-polite"
DOCS = ROOT / "docs" / "your_data.md"


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
    write_tables(manners.parent)
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


def test_a_key_twice_in_a_line_is_refused(tmp_path):
    (tmp_path / "test.jsonl").write_text('{"s": "bring it", "s": "take it"}\n')
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\nstyles = ["rude", "polite"]\n[[direction]]\nfrom = "rude"\n'
        'to = "polite"\ntest = { sources = { file = "test.jsonl", column = "s" } }\n'
    )
    with pytest.raises(InputError, match=r"test\.jsonl, line 1: .*the key 's' is there twice"):
        load_data(tmp_path / "mine.toml")


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
