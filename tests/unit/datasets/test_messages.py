"""Every mistake in data, in the files of a dataset or in a name: a row and a message each."""

from own_data import FILES, TRAIN, replaced, write_lines, write_manners, write_tables, write_tones
from prepared import DIRECTION
from refusals import refused, rows

from tstbench.datasets_scripts.catalog import DATASETS, as_direction, load_data, parse_direction
from tstbench.datasets_scripts.cleaning import parse_cleaning
from tstbench.datasets_scripts.judgments.own import Layout
from tstbench.datasets_scripts.judgments.studies import parse_study
from tstbench.datasets_scripts.languages import language
from tstbench.datasets_scripts.load import load_styles, load_test_set, load_training
from tstbench.datasets_scripts.sources import BENCHMARK, upstream_file
from tstbench.errors import InputError, MissingFileError, TSTBenchError, UnknownNameError
from tstbench.spaces.annotate.create import pseudonyms

NAME = "manners/rude-to-polite"
COLUMNS = 'test = { file = "test.jsonl", source = "r", references = "p", id = "key" }'
LABELLED = '[train]\nfile = "train.csv"\ntext = "sentence"\nstyle = "label"\n'
GIVEN = "lines", "split", "config", "revision"
SALT = "0123456789abcdef"


def own(*pieces, then=lambda: None, **files):
    """Load manners with pieces of its data file and whole files replaced, then do something."""

    def act(folder):
        path = write_manners(folder, replaced(*pieces))
        write_tables(folder)
        for name, content in files.items():
            file = folder / name.replace("_", ".")
            file.unlink(missing_ok=True)
            if content is not None:
                file.write_bytes(content if isinstance(content, bytes) else content.encode())
        try:
            load_data(path)
        except TSTBenchError:
            assert "manners" not in DATASETS
            raise
        then()

    return act


def rude(**options):
    """The file of rude sentences with further keys."""
    keys = "".join(f', {key} = "{value}"' for key, value in options.items())
    return own(('"rude.txt"', f'{{ file = "rude.txt"{keys} }}'))


def row(text):
    """A second row in a table of test sentences."""
    first = '{"key": 1, "r": "a", "p": ["c"]}'
    return own((FILES, COLUMNS), test_jsonl=f"{first}\n{text}\n")


def taken(folder):
    for name in ("one", "two"):
        load_data(write_manners(folder / name))


def tones(folder):
    path = write_tones(folder)
    write_lines(folder / "ta.txt", ["Weg da !", " ", "Gib her ."])
    load_data(path)


TWICE = f'[[direction]]\nfrom = "rude"\nto = "polite"\n{FILES}\n[[direction]]'


@rows(
    # -- a data file
    (InputError, ("'license'", "licence"), own(("licence", "license"))),
    (InputError, ("'direction 1.too'", "'to'"), own(('to = "pol', 'too = "pol'))),
    (InputError, "'direction 1.to'", own(('to = "polite"', ""))),
    (InputError, "'name'", own(('name = "manners"', ""))),
    (InputError, "My Manners", own(('"manners"', '"My Manners"'))),
    (InputError, "name: ", own(('"manners"', "7"))),
    (
        InputError,
        "a style is listed twice",
        own(('rude", ', 'rude", "rude", ')),
    ),
    (InputError, "at least 2 items", own(('["rude", "polite"]', '["rude"]'))),
    (InputError, ("'polit'", "'polite'"), own(('to = "polite"', 'to = "polit"'))),
    (InputError, ("'rud'", "'rude'"), own(('from = "rude"', 'from = "rud"'))),
    (InputError, "to itself", own(('to = "polite"', 'to = "rude"'))),
    (InputError, ("train: ", "no sentences of polite"), own(('polite = "polite.txt"\n', ""))),
    (InputError, "'politely'", own(('polite = "pol', 'politely = "pol'))),
    (InputError, "rude-to-polite has no test", own((FILES, ""))),
    (InputError, ("'4'", '"1-900"'), rude(lines="4")),
    (InputError, "needs a split", own(('"rude.txt"', '{ hub = "a/b" }'))),
    (InputError, "file or hub", own(('"rude.txt"', '{ file = "a", hub = "b" }'))),
    (InputError, "'german'", own(("licence", 'language = "german"\nlicence'))),
    (InputError, "TOML", own(("licence =", "licence"))),
    (InputError, "rude-to-polite is", own(("[[direction]]", TWICE))),
    (InputError, ("'0-3'", "manners.toml"), rude(lines="0-3")),
    (InputError, ("'4-2'", "manners.toml"), rude(lines="4-2")),
    *((InputError, (key, "hub", "manners.toml"), rude(**{key: "a"})) for key in GIVEN[1:]),
    *(
        (InputError, (f"'{key}'", "manners.toml"), own(('"polite"]', f'"polite", "{key}"]')))
        for key in ("file", "hub")
    ),
    (InputError, ("version: ", "manners.toml"), own(("licence", 'version = "2.1"\nlicence'))),
    (InputError, "test.txt has no columns", own((FILES, 'test = { file = "test.txt" }'))),
    (InputError, ("a list", "manners.toml"), own((FILES, 'test = ["test.txt"]'))),
    (InputError, "'yelp'", own(('"manners"', '"yelp"'))),
    (InputError, ("one/manners.toml", "'manners'"), taken),
    # -- the files that it names
    (InputError, ("test.txt has 2", "anna.txt has 1"), own(anna_txt="One.\n")),
    (InputError, "anna.txt", own(anna_txt="\n\n")),
    (InputError, "test.txt", own(test_txt="")),
    (InputError, "test.txt, line 2", own(test_txt="One.\n\n")),
    (InputError, "rude.txt", own(rude_txt="")),
    (MissingFileError, "rude.txt", own(rude_txt=None)),
    (InputError, ("UTF-8", "rude.txt, line 2"), own(rude_txt=b"Go.\n\xff")),
    (InputError, ("rude.txt has 5", "3-9"), rude(lines="3-9")),
    (InputError, ("rude: ta.txt, line 2",), tones),
    # -- tables
    (InputError, ("'1'", "rows 1 and 2"), row('{"key": 1, "r": "b", "p": []}')),
    (InputError, "test.jsonl, line 2: 'r' is None", row('{"key": 2, "r": null, "p": []}')),
    (InputError, "test.jsonl, line 2: 'r' is missing", row('{"key": 2, "p": []}')),
    (InputError, "test.jsonl, line 2: 'p' is 3", row('{"key": 2, "r": "b", "p": [3]}')),
    (InputError, ("JSON object", "test.jsonl, line 2"), row("[1]")),
    (InputError, ("not JSON", "test.jsonl, line 2"), row("{")),
    (InputError, ("'s'", "test.jsonl, line 2"), row('{"s": "bring it", "s": "take it"}')),
    (InputError, "test.jsonl: key, row 2", row('{"key": " ", "r": "Two.", "p": []}')),
    (
        UnknownNameError,
        ("'rr'", "test.jsonl"),
        own((FILES, 'test = { file = "test.jsonl", source = "rr", references = "p" }')),
    ),
    (InputError, ("train: ", "style '0'"), own((TRAIN, LABELLED))),
    (
        InputError,
        ("train.values.1", "style 'polit'", "'polite'"),
        own((TRAIN, f'{LABELLED}[train.values]\n0 = "rude"\n1 = "polit"\n')),
    ),
    (
        InputError,
        "train.csv, line 3",
        own(
            (TRAIN, '[train]\nfile = "train.csv"\n'),
            train_csv="text,style\nGo.,rude\nPlease go.\n",
        ),
    ),
    # -- what is not in a dataset
    (
        MissingFileError,
        "manners",
        own((TRAIN, ""), then=lambda: load_styles("manners").training),
    ),
    (
        UnknownNameError,
        (NAME, "'train'"),
        own((TRAIN, ""), then=lambda: load_test_set(NAME, "train")),
    ),
    (UnknownNameError, f"'{NAME}'", own(then=lambda: parse_direction("manners/rud-to-polite"))),
    (
        UnknownNameError,
        "manners/polite-to-rude",
        own(then=lambda: as_direction("manners/polite-to-rude")),
    ),
    (MissingFileError, "TSTBENCH_SOURCES", lambda _: load_training("yelp/negative-to-positive")),
    (
        UnknownNameError,
        "train, validation, test",
        lambda _: load_test_set("amazon/negative-to-positive", "mined"),
    ),
    # -- names
    (UnknownNameError, ("'valid'", "'validation'"), lambda _: load_test_set(DIRECTION, "valid")),
    (UnknownNameError, "negative-to-neutral", lambda _: load_test_set("mini/negative-to-neutral")),
    (UnknownNameError, "--data FILE", lambda _: load_test_set("manner/rude-to-polite")),
    (UnknownNameError, ("'yepl'", "'yelp'"), lambda _: load_styles("yepl")),
    (UnknownNameError, f"'{DIRECTION}'", lambda _: load_training("mini/negativ-to-positive")),
    (UnknownNameError, "'papr-v1'", lambda _: load_training(DIRECTION, cleaning="papr-v1")),
    (UnknownNameError, ("'paper'", "'paper-v1'"), lambda _: parse_cleaning("paper")),
    (
        UnknownNameError,
        "'yelp/negative-to-positive'",
        lambda _: as_direction("yelpp/negative-to-positive"),
    ),
    (
        UnknownNameError,
        "'yelp/negative-to-neutral'",
        lambda _: as_direction("yelp/negative-to-neutral"),
    ),
    (UnknownNameError, "a direction is needed", lambda _: as_direction("yelp")),
    (InputError, "to itself", lambda _: as_direction("other/rude-to-rude")),
    *(
        (InputError, f"'{wrong}'", lambda _, wrong=wrong: as_direction(wrong))
        for wrong in ("x", "x/rude", "X/a-to-b", "o/a-to-b-to-c", "../a-to-b", "o/a to b")
    ),
    *(
        (InputError, f"'{code}'", lambda _, code=code: language(code))
        for code in ("english", "", "e", "de_DE", "zh-", "en-US-", "../en")
    ),
    (UnknownNameError, "style", lambda _: Layout(columns={"stile": "x"})),
    (InputError, "5-1", lambda _: Layout(scale="5-1")),
    (UnknownNameError, "li2018", lambda _: parse_study("li")),
    (InputError, "a, a", lambda _: pseudonyms(["a", "a"], SALT)),
    (InputError, "a rater's name is empty", lambda _: pseudonyms(["a", " "], SALT)),
    (InputError, "16 characters", lambda _: pseudonyms(["a"], SALT[1:])),
    (
        UnknownNameError,
        "Dataprepro/datasets/yelp/test.0",
        lambda _: upstream_file(BENCHMARK, "Dataprepro/datasets/yelp/tests/test.0"),
    ),
    (UnknownNameError, "'nobody/nothing'", lambda _: upstream_file("nobody/nothing", "a")),
)
def test_a_mistake_is_one_message(error, named, act, tmp_path, snapshot, monkeypatch):
    monkeypatch.delenv("TSTBENCH_SOURCES", raising=False)
    refused(act, error, named, tmp_path, snapshot)
