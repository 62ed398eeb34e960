"""Reading predictions: every accepted form, and for every bad one its own message and exit code."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from prepared import DIRECTION, refusal, success
from refusals import refuses

from tstbench.errors import InputError
from tstbench.files import write_jsonl
from tstbench.pipelines.outputs import find_outputs, read_outputs

N = 40
TEXTS = [f"prediction number {i}" for i in range(N)]
AWKWARD = [
    'he said "fine", then left',
    '"quoted" from the first word',
    "a comma, a ; and a\ttab",
    " blanks at the ends ",
    "it\u2019s caf\u00e9, \u4e2d\u6587 and \U0001f600",
    "a line separator\u2028inside, and a next-line\x85too",
    "",
    "none",
]


def as_jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def with_ids(texts):
    return [{"id": f"mini-test-0-{i:05}", "prediction": t} for i, t in enumerate(texts)]


# -- what is accepted ------------------------------------------------------------------------------

BACKWARDS = with_ids(TEXTS)[::-1]
ODD_ENDS = ["one\u2028sentence", "a\x0bb\x0cc\x85d", *TEXTS[2:]]
BRACES = ["{}", '{"a": 1}', "{ so good }", *TEXTS[3:]]
FAILED = ["", *TEXTS[1:-1], ""]
GOOD = {
    "no final newline": ("system.txt", "\n".join(TEXTS), TEXTS),
    "CRLF": ("system.txt", "\r\n".join(TEXTS) + "\r\n", TEXTS),
    "byte-order mark": ("system.txt", "\ufeff" + "\n".join(TEXTS) + "\n", TEXTS),
    "only a newline ends a line": ("system.txt", "\n".join(ODD_ENDS) + "\n", ODD_ENDS),
    "an empty line is a failed output": ("system.txt", "\n".join(FAILED) + "\n", FAILED),
    "also in one column": ("system.csv", "\n".join(["prediction", *FAILED]) + "\n", FAILED),
    "ids in another order": ("system.jsonl", as_jsonl(BACKWARDS), TEXTS),
    "in a table": (
        "system.csv",
        "id,prediction\n" + "".join(f"{r['id']},{r['prediction']}\n" for r in BACKWARDS),
        TEXTS,
    ),
    "columns that are not looked at": (
        "system.jsonl",
        as_jsonl({"source": 1, "output": text, "score": 0.5} for text in TEXTS),
        TEXTS,
    ),
    "JSON Lines in .json": ("system.json", as_jsonl({"prediction": t} for t in TEXTS), TEXTS),
    "braces": ("system.txt", "\n".join(BRACES), BRACES),
    "an array of texts": ("system.json", json.dumps(TEXTS), TEXTS),
    "an array of objects, indented": ("system.json", json.dumps(BACKWARDS, indent=2), TEXTS),
    "a blank last line of JSON Lines": ("system.jsonl", as_jsonl(with_ids(TEXTS)) + "\n", TEXTS),
}


@pytest.mark.parametrize("case", GOOD)
def test_every_form_of_a_file_is_read(case, tmp_path, test_set):
    name, content, texts = GOOD[case]
    (tmp_path / name).write_bytes(content.encode())
    assert list(read_outputs(tmp_path / name, test_set).predictions) == texts


def test_awkward_text_survives_every_format(tmp_path, test_set):
    texts = [*AWKWARD, *TEXTS[len(AWKWARD) :]]
    rows = with_ids(texts)
    write_jsonl(tmp_path / "ours.jsonl", rows)
    (tmp_path / "escaped.jsonl").write_text(as_jsonl(rows))
    (tmp_path / "strings.jsonl").write_text(as_jsonl(texts))
    for suffix, delimiter in (("csv", ","), ("tsv", "\t")):
        with (tmp_path / f"table.{suffix}").open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, ["id", "prediction"], delimiter=delimiter)
            writer.writeheader()
            writer.writerows(rows)
    read = [read_outputs(path, test_set, "same") for path in sorted(tmp_path.iterdir())]
    assert [list(outputs.predictions) for outputs in read] == [texts] * 5
    assert len({outputs.sha256 for outputs in read}) == 1


def test_a_column_of_sources_aligns_whatever_their_case_and_spaces(tmp_path, test_set):
    path = tmp_path / "system.tsv"
    pairs = [*zip(test_set.sources, TEXTS, strict=True)][::-1]
    path.write_text("".join(f"{s.upper()}\t{t}\n" for s, t in [("source", "output"), *pairs]))
    path.write_text(path.read_text().replace("SOURCE", "source"))
    assert list(read_outputs(path, test_set).predictions) == TEXTS
    other = [("another sentence.", pairs[0][1]), *pairs[1:]]  # of no sentence here: by the order
    path.write_text("".join(f"{s}\t{t}\n" for s, t in [("source", "output"), *other]))
    assert list(read_outputs(path, test_set).predictions) == TEXTS[::-1]


def test_two_equal_sources_are_taken_in_their_order(tmp_path, test_set):
    path = tmp_path / "system.jsonl"
    sources = (test_set.sources[1], *test_set.sources[1:])
    given = [{"source": s, "prediction": t} for s, t in zip(sources, TEXTS, strict=True)]
    path.write_text(as_jsonl([*given[2:], *given[:2]]))
    twice = replace(test_set, sources=sources)
    assert list(read_outputs(path, twice).predictions) == TEXTS


SAID = ['"It is good."', '"Good," she said.', 'a "good" one', '"so good', *TEXTS[4:]]
TORN = ['"so good', 'fine"', *TEXTS[2:]]  # valid TSV of one row less, but no sentence has two lines


@pytest.mark.parametrize("texts", [[*SAID[:1], *TEXTS[1:]], [*SAID[:2], *TEXTS[2:]], SAID, TORN])
def test_tsv_without_quoting_keeps_its_quotation_marks_and_rows(tmp_path, test_set, texts):
    path = tmp_path / "system.tsv"
    rows = with_ids(texts)
    path.write_text("id\tprediction\n" + "".join(f"{r['id']}\t{r['prediction']}\n" for r in rows))
    assert list(read_outputs(path, test_set).predictions) == texts


@pytest.mark.parametrize("how", ["all", "text", "minimal", "excel"])
def test_tsv_with_quoting_loses_it(tmp_path, test_set, how):
    path = tmp_path / "system.tsv"
    texts = {"excel": ["well, it is good.", *TEXTS[1:]], "text": TEXTS}.get(how, SAID)
    rows = [(str(i), t) for i, t in zip(test_set.ids, texts, strict=True)]
    if how in ("all", "minimal"):
        quoting = csv.QUOTE_ALL if how == "all" else csv.QUOTE_MINIMAL
        with path.open("w", newline="") as stream:
            writer = csv.writer(stream, delimiter="\t", quoting=quoting)
            writer.writerows([("id", "prediction"), *rows])
    else:  # all cells of a column, or those with a comma
        mark = '"%s"'
        lines = [f"{i}\t{mark % t if how == 'text' or ',' in t else t}" for i, t in rows]
        path.write_text("\n".join(["id\tprediction", *lines]))
    assert list(read_outputs(path, test_set).predictions) == texts


def test_names_come_from_files_folders_and_the_command_line(tmp_path):
    folder = tmp_path / "theirs"
    folder.mkdir()
    for name in ("b.jsonl", "A.TXT", "notes.md", ".hidden.txt"):
        (folder / name).write_text("x\n")
    odd = tmp_path / "a=b.txt"
    odd.write_text("x\n")
    found = find_outputs([str(folder), f"mine={odd}", str(odd)])
    assert [name for name, _ in found] == ["A", "b", "mine", "a=b"]
    assert found[2][1] == odd


# -- what is refused -------------------------------------------------------------------------------


def jsonl(change):
    """A JSON Lines file in which one thing is wrong."""
    rows = with_ids(TEXTS)
    return as_jsonl(change(rows) or rows).encode()


def set_text(value):
    return jsonl(lambda rows: rows[4].update(prediction=value))


def replace_line(line):
    lines = as_jsonl(with_ids(TEXTS)).splitlines()
    return "\n".join([*lines[:4], line, *lines[5:]]).encode()


def table(*lines):
    return "\n".join(["id,prediction", *lines]).encode()


LINES = "\n".join(TEXTS).encode()


def replace_text(text, number):
    return LINES.replace(TEXTS[number].encode() + b"\n", text + b"\n")


BAD = {
    "too few": ("few.txt", "\n".join(TEXTS[:-3]).encode(), "37", "40", "3 too few"),
    "too many": ("many.txt", LINES + b"\nx\ny\n", "42", "40", "2 too many"),
    "a header": ("head.txt", b"prediction\n" + LINES, "1 too many", "first line, 'prediction',"),
    "one missing id": ("gap.jsonl", jsonl(lambda rows: rows.pop(7) and None), "mini-test-0-00007"),
    "an id twice": ("twice.jsonl", jsonl(lambda rows: rows.append(rows[2])), "line 3", "line 41"),
    "an id instead of another": (
        "swap.jsonl",
        jsonl(lambda rows: rows[5].update(id=rows[6]["id"])),
        "mini-test-0-00006",
        "line 6",
        "line 7",
    ),
    "unknown id": (
        "unknown.jsonl",
        jsonl(lambda rows: rows[9].update(id="yelp-test-0-00009")),
        "line 10",
        "'yelp-test-0-00009'",
        "'mini-test-0-00000'",
    ),
    "some lines without id": (
        "bare.jsonl",
        jsonl(lambda rows: rows[3].pop("id") and None),
        "line 4",
    ),
    "Latin-1": ("latin.txt", replace_text("caf\u00e9".encode("latin-1"), 3), "line 4", "0xe9"),
    "UTF-16": ("wide.txt", LINES.decode().encode("utf-16"), "UTF-16"),
    "binary": ("weights.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "NUL"),
    "empty": ("empty.txt", b"", "40"),
    "empty table": ("empty.csv", b"id,prediction\n", "empty.csv is empty"),
    "all empty": ("blank.txt", b"\n \n" * 20, "all 40"),
    "all invisible": ("unseen.txt", "\u200b\n".encode() * 40, "all 40"),
    "line break": ("break.jsonl", set_text("two\nlines"), "line 5", r"'two\nlines'"),
    "line break in a table": ("break.csv", table('mini-test-0-00000,"two\nlines"'), "line 3"),
    "line break in TSV": ("break.tsv", b'"prediction"\n"two\nlines"\n', "line 3", "TSV"),
    "old Macintosh line ends": ("mac.txt", b"\r".join([b"x"] * N), r"\r"),
    "NaN token": ("token.jsonl", replace_line('{"prediction": NaN}'), "line 5", "NaN"),
    "null": ("null.jsonl", set_text(None), "line 5", "None"),
    "nan as text": ("nan.txt", replace_text(b"NaN", 8), "line 9", "'NaN'"),
    "None as text": ("none.txt", replace_text(b"None", 8), "line 9", "'None'"),
    "bytes as text": ("bytes.txt", replace_text(b"b'so good'", 8), "line 9", "\"b'so good'\""),
    "a number": ("number.jsonl", set_text(3.5), "line 5", "3.5"),
    "NUL character": ("nul.jsonl", set_text("a\0b"), "line 5", "NUL"),
    "half a surrogate pair": ("half.jsonl", set_text("\ud83d oh"), "line 5", "Unicode"),
    "not JSON": ("broken.jsonl", replace_line('{"prediction": "x"'), "line 5", "JSON"),
    "deep JSON": ("deep.jsonl", replace_line("[" * 100_000), "line 5", "JSON"),
    # JSON has no comma after the last entry.
    "a JSON array": ("array.json", b"[\n" + b'"x",\n' * N + b"]", "JSON", "line 42"),
    "an array of numbers": ("numbers.json", b'["x", 1]', "entry 2"),
    "an id twice in an array": (
        "twice.json",
        json.dumps([{"id": "mini-test-0-00000", "output": text} for text in "xy"]).encode(),
        "mini-test-0-00000",
        "entry 1",
        "entry 2",
    ),
    "JSON Lines under another name": (
        "out.txt",
        as_jsonl(with_ids(TEXTS)).encode(),
        "40",
        ".jsonl",
    ),
    "a list a line": ("list.jsonl", replace_line('["x"]'), "line 5"),
    "no prediction column": ("text.csv", b"id,text\nmini-test-0-00000,x\n", "line 2", "id, text"),
    "a short row": ("short.csv", table("mini-test-0-00000"), "line 2", "None"),
    "a blank line in a table": ("hole.csv", table("mini-test-0-00000,x", "", "1,x"), "line 3"),
    "a long row": ("long.csv", table("mini-test-0-00000,good soup, bad bread"), "line 2", "3", "2"),
    "a column twice": ("columns.csv", b"prediction,prediction\nx,y\n", "2", "'prediction'"),
    "a stray quotation mark": ("quote.csv", table('mini-test-0-00000,"good" soup'), "line 2"),
    "an open quotation mark": ("open.csv", table('mini-test-0-00000,"good soup', "1,x"), "line 3"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_told_and_nothing_is_trained(case, tmp_path, capsys, monkeypatch, snapshot):
    name, content, *named = BAD[case]
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(content)
    refuses(capsys, f"evaluate {name} --direction {DIRECTION}", [name, *named], snapshot)


def test_a_bad_file_among_good_ones_is_the_one_that_is_told(tmp_path, capsys):
    (tmp_path / "good.txt").write_bytes(LINES)
    (tmp_path / "worse.txt").write_bytes(b"x\n")
    message = refusal(capsys, "evaluate", tmp_path, "--direction", DIRECTION)
    assert "worse.txt has 1 prediction," in message


def test_a_system_called_like_a_path_stays_in_the_folder(tmp_path, capsys):
    (tmp_path / "a.txt").write_bytes(LINES)
    out = tmp_path / "deep" / "out"
    argument = f"../../../../x={tmp_path / 'a.txt'}"
    before = set(tmp_path.iterdir())
    success(
        capsys,
        *("evaluate", argument, "--direction", DIRECTION, "--metrics", "s_bleu", "--out", out),
    )
    assert set(tmp_path.iterdir()) - before == {tmp_path / "deep"}
    files = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
    assert {f"{DIRECTION}/x/report.json", f"{DIRECTION}/x/samples.jsonl"} <= files
    assert json.loads((out / DIRECTION / "x/report.json").read_text())["system"]["name"] == (
        "../../../../x"
    )


def test_parquet_has_columns_of_which_two_are_read_and_says_what_is_wrong(tmp_path, test_set):
    path = tmp_path / "system.parquet"
    texts = [*AWKWARD, *TEXTS[len(AWKWARD) :]]
    table = pa.table({"id": test_set.ids[::-1], "output": texts[::-1], "p": [0.5] * N})
    pq.write_table(table, path, row_group_size=7)
    outputs = read_outputs(path, test_set)
    assert (outputs.system, list(outputs.predictions)) == ("system", texts)
    assert find_outputs([str(tmp_path)]) == [("system", path)]
    broken = table.set_column(1, "output", pa.array([*texts[:-1], None]))
    for wrong, said in (
        (table.drop_columns("output"), r"row 1: no 'prediction' column; the columns are: id"),
        (table.select(["p"]), r"row 1: no 'prediction' column; the columns are: p$"),
        (broken, r"system\.parquet, row 40: the prediction None is not text"),
        (table.slice(1), "39 predictions, .* has 40 sources: 1 ids are missing"),
    ):
        pq.write_table(wrong, path)
        with pytest.raises(InputError, match=said):
            read_outputs(path, test_set)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"system\.parquet: not Parquet that can be read"):
        read_outputs(path, test_set)
