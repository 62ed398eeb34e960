"""References in the wrong place, styles that are swapped: said, or refused where it is certain."""

import json
import random

import pytest
from own_data import write_lines
from prepared import command_line, refusal

from tstbench.datasets_scripts.catalog import OUR_DATASETS, load_data
from tstbench.datasets_scripts.load import load_styles, load_test_set
from tstbench.errors import InputError
from tstbench.pipelines.report import read_report

STYLES = ("negative", "positive")
MINE = "mine/negative-to-positive"
REAL = ("yelp", "amazon", "shakespeare", "styptb_tfu", "styptb_arr")


class Own:
    """A dataset of ours as raw files with a data file: what a user would have."""

    def __init__(self, folder, dataset):
        styles = load_styles(dataset, cleaning="raw")
        self.folder = folder
        self.styles = styles.styles
        self.train = [list(styles.training.of(i))[:3000] for i in range(len(self.styles))]
        self.ways = {}
        for direction in OUR_DATASETS[dataset].directions:
            test = load_test_set(direction, cleaning="raw")
            columns = [list(column) for column in zip(*test.references, strict=True)]
            way = direction.source_style, direction.target_style
            self.ways[way] = list(test.sources), columns

    def write(self):
        """Write the files; returns the data file."""
        lines = ['name = "mine"', f"styles = {json.dumps(self.styles)}", "[train]"]
        for style, texts in zip(self.styles, self.train, strict=True):
            write_lines(self.folder / f"{style}.txt", texts)
            lines.append(f'{style} = "{style}.txt"')
        for (source, target), (texts, references) in self.ways.items():
            write_lines(self.folder / f"{source}-test.txt", texts)
            names = [f"{target}-{n}.txt" for n in range(len(references))]
            for name, column in zip(names, references, strict=True):
                write_lines(self.folder / name, column)
            files = f'sources = "{source}-test.txt", references = {json.dumps(names)}'
            lines += ["[[direction]]", f'from = "{source}"', f'to = "{target}"']
            lines.append(f"test = {{ {files} }}")
        write_lines(self.folder / "mine.toml", lines)
        return self.folder / "mine.toml"


@pytest.fixture
def own(tmp_path):
    return Own(tmp_path, "mini")


def careful(capsys):
    return [line for line in capsys.readouterr().err.splitlines() if "careful: " in line]


MISPLACED = {
    "a blank line in the middle": (
        lambda t: [*t[:20], "", *t[20:-1]],
        "positive-0.txt: the references are 1 line too late (from line 21 to line 40)",
    ),
    "the first is missing": (lambda t: [*t[1:], ""], "1 line too early (from line 1 to line 39)"),
    "sorted": (sorted, "sorted by the alphabet"),
    "reversed": (lambda t: t[::-1], "in reverse order"),
    "shuffled": (lambda t: random.Random(1).sample(t, len(t)), "in another order"),
    "a label on each": (lambda t: [f"Positive: {x}" for x in t], "begin with a label (all lines)"),
}


@pytest.mark.parametrize(("change", "message"), MISPLACED.values(), ids=list(MISPLACED))
def test_misplaced_references_are_named_with_file_and_lines(own, change, message, capsys):
    _, references = own.ways[STYLES]
    references[0] = change(references[0])
    path = own.write()
    load_data(path)
    (said,) = careful(capsys)
    assert said.startswith(f"careful: {path}: test of negative-to-positive: positive-0.txt: ")
    assert message in said


def test_every_command_says_it_once_in_the_same_words(own, capsys, tmp_path):
    own.ways[STYLES][1][0].reverse()
    path = own.write()
    heard = []
    (tmp_path / "suite.toml").write_text(
        f'data = ["{path}"]\nmetrics = ["s_bleu"]\n[[system]]\nsystem = "copy"\n'
        'directions = ["mine"]\n'
    )
    scored = ("--metrics=r_bleu", f"--direction={MINE}")
    for arguments in (
        ("data", "check", path),
        ("evaluate", "--baseline=copy", "--data", path, *scored, "--out", tmp_path / "results"),
        ("build", "mine", "--data", path, "--out", tmp_path / "built"),
        ("run", tmp_path / "suite.toml", "--data", path),
    ):
        code, _, err = command_line(capsys, *arguments)
        assert code == 0
        heard.append([line for line in err.splitlines() if "in reverse order" in line])
    assert len(heard[0]) == 1
    assert heard == [heard[0]] * 4
    (kept,) = read_report(tmp_path / "results" / MINE / "copy" / "report.json").warnings
    assert kept.startswith("test of negative-to-positive: positive-0.txt: the references are in")


def test_references_of_the_other_direction_are_named(own, capsys):
    back = STYLES[::-1]
    (sources, references), (others, theirs) = own.ways[STYLES], own.ways[back]
    own.ways = {STYLES: (sources, theirs), back: (others, references)}
    load_data(own.write())
    said = careful(capsys)
    assert len(said) == 8  # four people, two directions
    assert all("are rewrites of the test sentences of positive" in line for line in said[:4])
    own.ways = {STYLES: (sources, references), back: (others, references)}
    with pytest.raises(InputError, match=r"has the rewrites that positive-0\.txt has for positive"):
        load_data(own.write())


@pytest.mark.parametrize("references", [4, 0])
def test_swapped_styles_are_named(own, references, capsys):
    own.train.reverse()
    for _, columns in own.ways.values():
        del columns[references:]
    load_data(own.write())
    (said,) = careful(capsys)
    assert "the files of negative and positive are not swapped" in said


CERTAIN = {
    "a header": (lambda t: ["reference", *t[:-1]], "positive-0.txt, line 1 is a header"),
    "JSON lines": (lambda t: [json.dumps({"text": x}) for x in t], "line 1: JSON"),
    "nan": (lambda t: [*t[:3], "nan", *t[4:]], "positive-0.txt, line 4 is 'nan'"),
    "bytes": (lambda t: [str(x.encode()) for x in t], "positive-0.txt, line 1 is \"b'"),
}


@pytest.mark.parametrize(("change", "message"), CERTAIN.values(), ids=list(CERTAIN))
def test_what_cannot_be_a_reference_is_refused(own, change, message, capsys):
    _, references = own.ways[STYLES]
    references[0] = change(references[0])
    assert message in refusal(capsys, "data", "check", own.write())


def test_one_file_for_two_styles_and_one_line_for_a_file_are_refused(own, capsys):
    own.train = [own.train[0], own.train[0]]
    message = refusal(capsys, "data", "check", own.write())
    assert "negative and positive have the same sentences" in message
    (own.folder / "positive.txt").write_bytes(b"one\rtwo\rthree\r")
    assert "end in \\r alone" in refusal(capsys, "data", "check", own.folder / "mine.toml")


@pytest.mark.parametrize(("share", "said"), [(0.6, 1), (0.4, 0)])
def test_styles_that_share_most_of_their_sentences_are_named(own, share, said, capsys):
    one, other = own.train
    shared = round(share * len(one))
    own.train = [one, one[:shared] + other[shared:]]
    load_data(own.write())
    found = [f"{shared} sentences are both negative and positive" in x for x in careful(capsys)]
    assert sum(found) == said


def few(column):
    return column[:19]


def mostly_blank(column):
    return [text if n < 19 else "" for n, text in enumerate(column)]


@pytest.mark.parametrize("change", [list, few, mostly_blank])
def test_nothing_is_said_of_what_is_in_order_or_too_little(own, change, capsys):
    for way, (texts, columns) in own.ways.items():
        turned = [change(column)[::-1] if change is not list else column for column in columns]
        own.ways[way] = texts[: len(turned[0])], turned
    load_data(own.write())
    assert careful(capsys) == []


@pytest.mark.realdata
@pytest.mark.parametrize("dataset", REAL)
def test_real_references_are_named_when_they_are_damaged_and_only_then(dataset, tmp_path, capsys):
    own = Own(tmp_path, dataset)
    load_data(own.write())
    assert careful(capsys) == []
    whole = own.ways
    for size in (20, 100):
        own.ways = {
            way: (texts[:size], [column[:size] for column in columns])
            for way, (texts, columns) in whole.items()
        }
        load_data(own.write())
        assert careful(capsys) == []
        _, references = own.ways[next(iter(own.ways))]
        first = references[0]
        for name in ("the first is missing", "sorted", "reversed", "shuffled"):
            change, _ = MISPLACED[name]
            references[0] = change(first)
            load_data(own.write())
            assert careful(capsys), (name, size)
