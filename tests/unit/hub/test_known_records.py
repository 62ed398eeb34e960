"""What a published file may be, each check alone: what passes, what does not, and what is said."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tstbench.errors import InputError
from tstbench.pipelines.hub import known_records as records
from tstbench.pipelines.hub.documents import documents, read_json
from tstbench.pipelines.hub.human_judgments import COLUMNS
from tstbench.pipelines.hub.known_files import check_known
from tstbench.pipelines.hub.known_records import LicensedTextError, PublishedFile, strings
from tstbench.pipelines.hub.known_schemas import Fingerprint
from tstbench.pipelines.hub.quotes import QuotedSentences, letters, windows

REPO = "us/things"
AGAIN = "Write it again with TSTBench, or leave it out"
OUTPUT = {
    "direction": "yelp/negative-to-positive",
    "system": "ours",
    "id": "1",
    "prediction": "ok",
    "origin": None,
}
JUDGMENT = {
    "study": "ours",
    "dataset": "mini",
    "direction": "mini/negative-to-positive",
    "system": "copy",
    "sample_id": "mini-test-0-00001",
    "source": "bad soup",
    "output": "good soup",
    "aspect": "style",
    "scale": "ordinal 1-5",
    "rater": "rater-1",
    "score": 1.0,
}
ORIGIN = {"name": "a.txt", "commit": None, "git_blob": "0" * 40}
FINGERPRINT = {
    "dataset": "mini",
    "version": "1.0.0",
    "cleaning": "paper-v1",
    "decontamination": {},
    "publishable": True,
    "rows_digest": "0" * 64,
    "fingerprints": {"a-to-b/test": "0" * 64},
    "left_out": [],
    "files": [ORIGIN],
}


def file(path, content, **beside):
    more = {name.replace("_", "."): data for name, data in beside.items()}
    return PublishedFile(REPO, path, {path: content, **more})


def told(check, one, kind=InputError):
    with pytest.raises(kind) as error:
        check(one)
    return str(error.value)


def lines(*rows):
    return "\n".join(json.dumps(row) for row in rows).encode()


def parquet(tmp_path, columns, metadata=None):
    table = pa.table(columns)
    pq.write_table(table.replace_schema_metadata(metadata), tmp_path / "a.parquet")
    return (tmp_path / "a.parquet").read_bytes()


def test_settings_have_texts_of_five_words_at_most():
    records.settings(file("x/a.json", b'{"a": ["one two three four five", 3]}'))
    records.settings(file("x/a.json", b"3"))
    assert told(records.settings, file("x/a.json", b'{"a": [["b c d e f g"], "h"]}')) == (
        f"{REPO}: x/a.json is not published: it has a text of 6 words. Sentences belong in a "
        "dataset that says whose they are"
    )
    for broken in (b"{", b"[" * 100_000):
        said = told(records.settings, file("x/a.json", broken))
        assert said == f"{REPO}: x/a.json is not JSON, so it is not published"


def test_a_file_of_ours_passes_only_as_it_is():
    ours = next(p for p in sorted(records._METRICS.glob("*/*.json")) if p.stat().st_size < 1e6)
    records.settings(file(f"x/{ours.name}", ours.read_bytes()))
    sentence = json.dumps({"x": "one two three four five six"}).encode()
    assert "6 words" in told(records.settings, file(f"x/{ours.name}", sentence))


def test_a_vocabulary_has_five_words_on_a_line():
    records.vocabulary(file("vocab.txt", b"a b c d e\n\nf\n"))
    assert told(records.vocabulary, file("vocab.txt", b"a\n\na b c d e f\n")) == (
        f"{REPO}: vocab.txt, line 3 is not published: a line of a vocabulary has a word or two"
    )


def test_one_record_names_the_field():
    check = records.one_record(Fingerprint)
    check(file("fingerprint.json", json.dumps(FINGERPRINT).encode()))
    start = f"{REPO}: f.json is not as TSTBench writes it, so it is not published: "
    wrong = {**FINGERPRINT, "files": [ORIGIN, {**ORIGIN, "secret sentence": "a b c"}]}
    assert told(check, file("f.json", json.dumps(wrong).encode())) == (
        f"{start}files.1.secret sentence: is no field of such a file. {AGAIN}"
    )
    short = {name: value for name, value in FINGERPRINT.items() if name != "version"}
    said = told(check, file("f.json", json.dumps(short).encode()))
    assert said == f"{start}version: Field required. {AGAIN}"
    said = told(check, file("f.json", b'"a b c"'))
    assert said.startswith(f"{start}the record: ")
    assert "a b c" not in said  # never the file's own words
    said = told(check, file("f.json", json.dumps({**FINGERPRINT, "x" * 101: 1}).encode()))
    assert f": {'x' * 100}: is no field" in said


def test_tasks():
    whole = "name: a\ndescription: b\nevaluation_framework: tstbench\ntasks:\n- {id: x, config: y}"
    records.tasks(file("eval.yaml", whole.encode()))
    start = f"{REPO}: eval.yaml is not "
    broken = told(records.tasks, file("eval.yaml", b"a: [b"))
    assert broken == f"{start}YAML (line 2): did not find expected ',' or ']'"
    wrong = whole.replace("tstbench", "ours").encode()
    assert told(records.tasks, file("eval.yaml", wrong)).startswith(
        f"{start}as TSTBench writes it, so it is not published: evaluation_framework: "
    )


def test_outputs_are_of_open_datasets():
    records.output_rows(file("outputs.jsonl", lines(OUTPUT, OUTPUT)))
    for dataset in ("gyafc_em", "gyafc_fr"):
        licensed = {**OUTPUT, "direction": f"{dataset}/informal-to-formal"}
        said = told(
            records.output_rows, file("o.jsonl", lines(OUTPUT, licensed)), LicensedTextError
        )
        assert said == (
            f"{REPO}: o.jsonl, line 2 has text of a licensed dataset, {dataset}. Publish the "
            "scores without sources, references, predictions and raters' notes"
        )
    broken = told(records.output_rows, file("o.jsonl", lines(OUTPUT, {**OUTPUT, "id": None})))
    assert broken.startswith(f"{REPO}: o.jsonl, line 2 is not as TSTBench writes it")
    assert ": id: " in broken


def test_judgments_as_a_table(tmp_path):
    def table(**changed):
        row = {**JUDGMENT, **changed}
        kinds = {"score": pa.float64(), "certain": pa.bool_()}
        return {
            name: pa.array([row.get(name)] * 2, kinds.get(name, pa.string())) for name in COLUMNS
        }

    records.table(file("human/test.parquet", parquet(tmp_path, table())))
    text = {"dataset": "gyafc_em", "direction": "gyafc_em/informal-to-formal"}
    no_text = {**text, "source": None, "output": None, "sample_id": "gyafc_em-test-0-00001"}
    records.table(file("human/test.parquet", parquet(tmp_path, table(**no_text))))
    for name in ("source", "output"):
        licensed = parquet(tmp_path, table(**{**no_text, name: "Why go ?"}))
        assert told(records.table, file("h/t.parquet", licensed), LicensedTextError).startswith(
            f"{REPO}: h/t.parquet, row 0: field {name!r} has text of a licensed dataset, gyafc_em."
        )
    wrong = parquet(tmp_path, table(score=float("nan"), study=""))
    said = told(records.table, file("h/t.parquet", wrong))
    assert said.startswith(f"{REPO}: h/t.parquet, row 0 is not as TSTBench writes it")


def test_sentences_as_a_table(tmp_path):
    content = parquet(tmp_path, {"text": ["bad soup"], "style": [1]})
    name = "a-to-b/test.parquet"

    def beside(**changed):
        told_by = json.dumps({**FINGERPRINT, **changed}).encode()
        return file(name, content, fingerprint_json=told_by)

    records.table(beside())
    said = told(records.table, beside(dataset="gyafc_fr"), LicensedTextError)
    assert said.startswith(f"{REPO}: {name} has text of a licensed dataset, gyafc_fr.")
    said = told(records.table, beside(fingerprints={"a-to-b/train": "0" * 64}))
    assert said == f"{REPO}: {name} is not published: fingerprint.json does not name it"
    assert told(records.table, beside(rows_digest=None)).startswith(
        f"{REPO}: fingerprint.json is not as TSTBench writes it"
    )
    assert told(records.table, file(name, content)) == (
        f"{REPO}: {name} is not published: fingerprint.json is missing, so nobody knows which "
        "dataset its sentences are of. Write both with `tstbench build`"
    )
    other = parquet(tmp_path, {"words": ["bad soup"], "style": [1.5]})
    assert told(records.table, file(name, other)) == (
        f"{REPO}: {name} is not published: its columns are words (string), style (double), which "
        "are not those of a dataset or of judgments. Write it with `tstbench build`"
    )
    said = told(records.table, file(name, parquet(tmp_path, {"text": ["a"]}, {"b": "c", "a": "d"})))
    assert said == f"{REPO}: {name} is not published: it has metadata of others, 'a'"
    said = told(records.table, file(name, b"PAR1"))
    assert said == f"{REPO}: {name} cannot be read, so it is not published"


def test_files_are_known_by_their_whole_path():
    for path in ("deep/outputs.jsonl", "outputs.jsonl.txt", "a/b/c/d/report.json", "x/README.md"):
        with pytest.raises(InputError, match="only files that TSTBench writes are"):
            check_known("dataset", REPO, {path: b""})
    check_known("space", REPO, {"deep/requirements.txt": b"", "a/b.JPG".lower(): b"", "x.svg": b""})
    weights = {"a.safetensors": b"", "onnx/x_map.json": b"{}", "deep/README.md": b""}
    check_known("model", REPO, weights)
    card = {"memory.jsonl": b"", "system.json": b'{"directions": ["mini/x"]}'}
    check_known("model", REPO, card)
    check_known("model", REPO, {"memory.npz": b"", "scorer.json": b'{"dataset": "mini"}'})
    for broken in (b'{"directions": null}', b"{", b"[]", b'{"dataset": "mini"}'):
        with pytest.raises(InputError, match="none of the files of a transformers model"):
            check_known("model", REPO, {**card, "system.json": broken})


def test_every_string_of_a_value():
    value = {"a": ["b", ("c", {3: "d"})], "e": {"f": None}, "g": 1.5}
    assert list(strings(value)) == ["a", "b", "c", "3", "d", "e", "f", "g"]


def test_records_and_their_places():
    text = b'{"a": 1}\n\n  \n{"b": [2]}\n'
    assert list(documents("x/a.JSONL", text)) == [(", line 1", {"a": 1}), (", line 4", {"b": [2]})]
    assert list(documents("a.json", b"[1, 2]")) == [("", [1, 2])]
    rows = [(", line 2", {"a": "1", "b": "x,y"}), (", line 3", {"a": "2", "b": "z"})]
    assert list(documents("a.csv", b'\xef\xbb\xbfa,b\n1,"x,y"\n2,z\n')) == rows
    assert list(documents("a.tsv", b"a\tb\n1\tx,y\n2\tz\n")) == rows
    card = b'# {x}\n  {"a": "b"} \n{"a": \n{no json}\n"a"}\n'
    assert list(documents("a.md", card)) == [(", line 2", {"a": "b"})]
    assert list(documents("LICENSE", b'{"a": 1}')) == [(", line 1", {"a": 1})]
    assert list(documents("a.png", b"\xff")) == []
    with pytest.raises(InputError, match=r"^a\.jsonl cannot be read, so it is not published: "):
        list(documents("a.jsonl", b"{}\n{"))
    with pytest.raises(ValueError, match=r"^an object has the same name twice$"):
        read_json('{"a": {"b": 1, "c": 2, "b": 1}}')
    with pytest.raises(ValueError, match=r"^it is nested too deeply$"):
        read_json("[" * 100_000)


def test_rows_of_parquet(tmp_path):
    columns = {"n": [1, 2], "text": ["a", None], "words": [["b"], []]}
    content = parquet(tmp_path, columns)
    assert list(documents("a.parquet", content)) == [
        (", row 0", {"n": 1, "text": "a", "words": ["b"]}),
        (", row 1", {"n": 2, "text": None, "words": []}),
    ]
    assert list(documents("a.parquet", content, suspected=False)) == []
    for value in ("INFORMAL", "gyafc_em/x", {"deep": [b"caf\xc3\xa9 \xff"]}, b"a"):
        found = list(documents("a.parquet", parquet(tmp_path, {"x": [value]}), suspected=False))
        assert len(found) == 1
    deep = {"x": [{"deep": [b"caf\xc3\xa9 \xff"]}]}
    assert list(documents("a.parquet", parquet(tmp_path, deep))) == [
        (", row 0", {"x": {"deep": ["caf\u00e9 \ufffd"]}})
    ]
    named = {"huggingface": json.dumps({"names": ["x", "formal", "informal"]})}
    (row,) = documents("a.parquet", parquet(tmp_path, {"y": [0]}, named), suspected=False)
    assert row == (", row 0", {"y": 0, "class_names": "formal"})


def test_letters_and_windows():
    assert letters("Stra\u00dfe_9, \uff21\u00c9&amp;o") == "strasseaeo"
    assert list(windows("one two three four five")) == []
    assert list(windows("one 2 two three - four five six")) == ["onetwothreefourfivesix"]
    assert list(windows("a b c d e f")) == []  # six letters are anybody's
    assert list(windows("ab cd ef gh ij kl")) == ["abcdefghijkl"]
    # 12 words a window: the first, the next, and the last 12 of 26.
    words = [f"{chr(97 + n)}x" for n in range(26)]
    cut = ["".join(words[a : a + 12]) for a in (0, 12, 14)]
    assert sorted(windows(" ".join(words))) == cut
    assert list(windows(" ".join(words[:12]))) == cut[:1]


def test_quotes_with_the_same_beginning_and_of_every_length():
    one, other = (
        "he said he would come to us",
        "he said he would come to the big old party today ok",
    )
    short = "ab cd ef gh ij kl"
    index = QuotedSentences.of([one, other, short, "too short"])
    for sentence in (one, other, short):
        assert index.quoted_in(sentence)
        assert index.quoted_in(f"x{sentence}")
        assert not index.quoted_in(sentence[:-1])
    assert not index.quoted_in("too short")
    assert index.quoted_in("he said <b class='x'>he</b> would come to us")
    assert index.quoted_in("ab < cd ef gh ij kl")
    assert not index.quoted_in("")
