"""What a published file may be, each check alone: what passes, what does not, and what is said."""

import json

import pyarrow as pa
import pytest
from published_files import FINGERPRINT, JUDGMENT, REPO, WHOLE, parquet, whole

from tstbench.errors import InputError
from tstbench.pipelines.hub import known_records as records
from tstbench.pipelines.hub.documents import documents, read_json
from tstbench.pipelines.hub.human_judgments import COLUMNS
from tstbench.pipelines.hub.known_files import check_known
from tstbench.pipelines.hub.known_records import PublishedFile, strings
from tstbench.pipelines.hub.known_schemas import Fingerprint
from tstbench.pipelines.hub.quotes import QuotedSentences, letters, windows


def file(path, content, **beside):
    more = {name.replace("_", "."): data for name, data in beside.items()}
    return PublishedFile(REPO, path, {path: content, **more})


def told(check, one, kind=InputError):
    with pytest.raises(kind) as error:
        check(one)
    return str(error.value)


def test_what_passes():
    """Each beside a row of ``test_messages`` that differs in one thing."""
    records.settings(file("x/a.json", b'{"a": ["one two three four five", 3]}'))
    records.settings(file("x/a.json", b"3"))
    records.vocabulary(file("vocab.txt", b"a b c d e\n\nf\n"))
    whole = "name: a\ndescription: b\nevaluation_framework: tstbench\ntasks:\n- {id: x, config: y}"
    records.tasks(file("eval.yaml", whole.encode()))


def test_a_file_of_ours_passes_only_as_it_is():
    ours = next(p for p in sorted(records._METRICS.glob("*/*.json")) if p.stat().st_size < 1e6)
    records.settings(file(f"x/{ours.name}", ours.read_bytes()))
    sentence = json.dumps({"x": "one two three four five six"}).encode()
    assert "6 words" in told(records.settings, file(f"x/{ours.name}", sentence))


def test_a_record_that_is_none_is_not_quoted():
    records.one_record(Fingerprint)(file("f.json", whole(FINGERPRINT)))
    said = told(records.one_record(Fingerprint), file("f.json", b'"a b c"'))
    start = f"{REPO}: f.json is not as TSTBench writes it, so it is not published: "
    assert said.startswith(f"{start}the record: ")
    assert "a b c" not in said  # never the file's own words


def test_a_wrong_fingerprint_beside_a_table_is_named():
    wrong = whole({**FINGERPRINT, "rows_digest": None})
    name = "a-to-b/test.parquet"
    said = told(records.table, file(name, WHOLE[name], fingerprint_json=wrong))
    assert said.startswith(f"{REPO}: fingerprint.json is not as TSTBench writes it")


def test_judgments_as_a_table():
    def table(**changed):
        row = {**JUDGMENT, **changed}
        kinds = {"score": pa.float64(), "certain": pa.bool_()}
        return {
            name: pa.array([row.get(name)] * 2, kinds.get(name, pa.string())) for name in COLUMNS
        }

    records.table(file("human/test.parquet", parquet(table())))
    text = {"dataset": "gyafc_em", "direction": "gyafc_em/informal-to-formal"}
    no_text = {**text, "source": None, "output": None, "sample_id": "gyafc_em-test-0-00001"}
    records.table(file("human/test.parquet", parquet(table(**no_text))))


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


def test_rows_of_parquet():
    columns = {"n": [1, 2], "text": ["a", None], "words": [["b"], []]}
    content = parquet(columns)
    assert list(documents("a.parquet", content)) == [
        (", row 0", {"n": 1, "text": "a", "words": ["b"]}),
        (", row 1", {"n": 2, "text": None, "words": []}),
    ]
    assert list(documents("a.parquet", content, suspected=False)) == []
    for value in ("INFORMAL", "gyafc_em/x", {"deep": [b"caf\xc3\xa9 \xff"]}, b"a"):
        found = list(documents("a.parquet", parquet({"x": [value]}), suspected=False))
        assert len(found) == 1
    deep = {"x": [{"deep": [b"caf\xc3\xa9 \xff"]}]}
    assert list(documents("a.parquet", parquet(deep))) == [
        (", row 0", {"x": {"deep": ["caf\u00e9 \ufffd"]}})
    ]
    named = {"huggingface": json.dumps({"names": ["x", "formal", "informal"]})}
    (row,) = documents("a.parquet", parquet({"y": [0]}, named), suspected=False)
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
