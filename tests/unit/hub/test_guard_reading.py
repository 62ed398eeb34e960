"""How the guard reads files of each kind, damaged ones too, and where it finds a quote."""

import io
import json
import locale
import random
from dataclasses import FrozenInstanceError

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from gyafc_copy import lay_out

from tstbench.datasets_scripts.licensed_copies import remember
from tstbench.errors import InputError, MissingFileError
from tstbench.pipelines.hub.documents import documents, read_json
from tstbench.pipelines.hub.guard import LicensedTextError, check_publishable
from tstbench.pipelines.hub.known_records import PublishedFile, table
from tstbench.pipelines.hub.quotes import QuotedSentences, letters, windows

REPO = "us/things"
SENTENCE = "they never told us where the old boat was"
DIRECTION = "gyafc_em/informal-to-formal"


def parquet(columns, metadata=None):
    stream = io.BytesIO()
    pq.write_table(pa.table(columns).replace_schema_metadata(metadata), stream)
    return stream.getvalue()


def rows(columns, **options):
    return [row for _, row in documents("a.parquet", parquet(columns), **options)]


def unreadable(path, content):
    with pytest.raises(InputError) as error:
        list(documents(path, content))
    start = f"{path} cannot be read, so it is not published: "
    assert str(error.value).startswith(start)
    return str(error.value).removeprefix(start)


def nested(levels, shape='{"a": %s}'):
    before, after = shape.split("%s")
    return before * levels + "1" + after * levels


@pytest.mark.parametrize("shape", ['{"a": %s}', "[%s]", '{"a": [2, %s], "b": 3}'])
def test_a_hundred_levels_are_read_and_no_more(shape):
    most = 100 // (shape.count("{") + shape.count("["))
    assert json.loads(nested(most, shape)) == read_json(nested(most, shape))
    for levels in (most + 1, 500, 100_000):
        with pytest.raises(ValueError, match=r"^it is nested too deeply$"):
            read_json(nested(levels, shape))
    assert read_json("3") == 3
    assert read_json('"[["') == "[["


@pytest.mark.parametrize("levels", [400, 900, 2000, 100_000])
def test_no_depth_ends_the_guard_itself(levels):
    text = nested(levels).encode()
    for kind, name in (
        ("dataset", "README.md"),
        ("dataset", "outputs.jsonl"),
        ("space", "a.json"),
        ("model", "config.json"),
    ):
        with pytest.raises(InputError, match=rf"^{name} cannot be read.*nested too deeply$"):
            check_publishable(kind, REPO, {name: text})
    huggingface = parquet({"a": [1]}, {"huggingface": text})
    assert unreadable("a.parquet", huggingface) == "it is nested too deeply"


def test_what_cannot_be_read_is_named_with_its_line():
    assert unreadable("a.jsonl", b'{}\n\n{"a" 1}') == "line 3: Expecting ':' delimiter"
    twice = b'{"direction": "gyafc_em", "text": "Yes.", "direction": "yelp"}'
    assert unreadable("a.jsonl", b"{}\n" + twice) == "line 2: an object has the same name twice"
    # An example in a card hides nothing either; other braces are no example.
    assert unreadable("a.md", b"#\n" + twice) == "line 2: an object has the same name twice"
    assert list(documents("a.md", b"{a}\n{'a': 1}\n{}}")) == []
    assert list(documents("a.py", b'\t{"a": 1}\r\n\n {"b": 2} \n')) == [
        (", line 1", {"a": 1}),
        (", line 3", {"b": 2}),
    ]
    assert "0xff" in unreadable("a.md", b"\xff")
    assert "0xe9" in unreadable("a.jsonl", b'{"a": "caf\xe9"}')


def test_tables_of_text():
    # The place is the last line of the row; a row may be longer than the first, or shorter.
    text = b'a,b\n"x\ny",2\n\n3\n4,5,6,7\n'
    assert list(documents("A.CSV", text)) == [
        (", line 3", {"a": "x\ny", "b": "2"}),
        (", line 5", {"a": "3", "b": None}),
        (", line 6", {"a": "4", "b": "5", None: ["6", "7"]}),
    ]
    assert list(documents("a.tsv", b"\xef\xbb\xbfa\tb\n1\t2\n")) == [
        (", line 2", {"a": "1", "b": "2"})
    ]
    assert "field larger than field limit" in unreadable("a.csv", b"a\n" + b"x" * 131_073)
    long_row = f"direction,b\n{DIRECTION},1,Yes it is so.\n".encode()
    with pytest.raises(LicensedTextError, match=r"a\.csv, line 2: field 'none'"):
        check_publishable("dataset", REPO, {"a.csv": long_row})


@pytest.mark.parametrize("path", ["a.css", "a.html", "a.js", "a.md", "a.py", "a.svg", "a.toml",
                                  "a.txt", "a.yaml", "a.yml", "LICENSE", "a.HTML"])  # fmt: skip
def test_examples_in_running_text(path):
    assert list(documents(path, b'x\n{"a": 1}\n')) == [(", line 2", {"a": 1})]


def test_a_damaged_parquet_file_is_an_error_with_a_name():
    whole = parquet({"text": ["one two three", "four"] * 40, "style": [0, 1] * 40})
    draw, refused = random.Random(7), 0
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(draw.choice([1, 2, 8])):
            damaged[draw.randrange(len(whole))] = draw.randrange(256)
        cut = bytes(damaged[: draw.choice([len(whole), len(whole), 100])])
        try:
            list(documents("x/a.parquet", cut))
            table(PublishedFile(REPO, "x/a.parquet", {"x/a.parquet": cut}))
        except InputError as error:
            _, cut_short, why = str(error).partition(" cannot be read, so it is not published: ")
            assert why != "None"
            refused += bool(cut_short)
    assert refused > 100


def test_columns_whose_rows_are_looked_at():
    kinds = pa.array([DIRECTION]).dictionary_encode()
    for named in (
        {"informal": ["x"]},  # by its own name
        {"GYAFC_x": [1.5]},
        {"x": kinds},
        {"x": pa.array(["b", None, "Gyafc_fr"], pa.large_string())},
        {"x": ["", "FORMAL"]},
        {"x": [b"anything"]},
        {"x": [{"deep": "x"}]},
        {"x": [[{"direction": DIRECTION}]]},
        {"x": [[["x"]]]},
    ):
        assert rows(named, suspected=False) == rows(named) != []
    for other in (
        {"formality": ["an informal one", "x gyafc_em", None]},
        {"x": [1, 2]},
        {"x": [0.5]},
        {"x": [True]},
        {"x": [None]},
        {"x": [[1, 2], []]},
        {"x": [[None]]},
        {"references": [["formal", "gyafc_em"]]},
        {"x": pa.array(["yelp"]).dictionary_encode()},
    ):
        assert rows(other, suspected=False) == []
        assert len(rows(other)) == len(next(iter(other.values())))
    with pytest.raises(LicensedTextError, match="row 0: field 'formal'"):
        check_publishable("dataset", REPO, {"a.parquet": parquet({"formal": [SENTENCE]})})
    runs = {"runs": [[], [{"direction": DIRECTION, "prediction": "Yes."}]]}
    with pytest.raises(LicensedTextError, match="row 1: field 'prediction'"):
        check_publishable("dataset", REPO, {"a.parquet": parquet(runs)})


def test_windows_cover_a_sentence_of_any_length():
    """By hand: windows of 12 words start at 0, 12, ... and, to its end, 12 words before it."""
    words = [f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(40)]
    starts = {6: [0], 11: [0], 12: [0], 13: [0, 1], 23: [0, 11], 24: [0, 12], 25: [0, 12, 13],
              36: [0, 12, 24], 40: [0, 12, 24, 28]}  # fmt: skip
    for count, found in starts.items():
        cut = words[:count]
        assert sorted(windows(" ".join(cut))) == ["".join(cut[a : a + 12]) for a in found]
    corpus = QuotedSentences.of([" ".join(words)])
    for start in range(18):  # each run of 23 words
        assert corpus.quoted_in(" ".join(words[start : start + 23]))
    assert not corpus.quoted_in(" ".join(words[1:23]))


def test_an_index_that_many_checks_share_cannot_be_changed():
    corpus = QuotedSentences.of([SENTENCE])
    with pytest.raises(FrozenInstanceError):
        corpus.by_beginning = {}


def test_eleven_letters_are_anybodys():
    for sentence, found in (("ab cd ef gh ij k", False), ("ab cd ef gh ij kl", True)):
        assert bool(list(windows(sentence))) == found
        assert QuotedSentences.of([sentence]).quoted_in(sentence) == found


def test_letters_alone_are_compared():
    assert letters("A_b-1 2c\t\u0663d") == "abcd"  # nor digits of other scripts
    assert letters("&lt;i&gt; &#233;t\u00e9 \ufb01n") == "ietefin"
    assert letters("\u00c5ngstr\u00f6m \u0391\u03a3") == "angstrom\u03b1\u03c3"


def test_a_tag_of_a_page_ends_after_300_characters():
    corpus = QuotedSentences.of([SENTENCE])
    half = len("they never told us")
    for inside, found in (("", True), ("b", True), ("x" * 300, True), ("x" * 301, False)):
        assert corpus.quoted_in(f"{SENTENCE[:half]}<{inside}>{SENTENCE[half:]}") == found
    for text in (
        "they < never <b>told</b> us where the old boat was",
        "they <b>never</b> told us -> where the old boat was",
        "they <>never told us where the old boat was",
        f"<{SENTENCE}>",
    ):
        assert corpus.quoted_in(text)


@pytest.fixture
def copy(tmp_path, monkeypatch):
    folder = tmp_path / "corpus"
    (folder / "deep").mkdir(parents=True)
    lay_out(folder)
    monkeypatch.setenv("TSTBENCH_GYAFC", str(folder))
    return folder


def quotes(text):
    try:
        check_publishable("dataset", REPO, {"README.md": text.encode()})
    except LicensedTextError as error:
        return str(error)
    return ""


def test_the_copy_is_read_whatever_its_names_and_letters(copy):
    (copy / "deep/x.ref1").write_bytes(f"lol\r\n{SENTENCE}\r\n".encode())
    said = f"{REPO}: README.md quotes a sentence of your copy of the licensed corpus ({copy})"
    assert quotes(f"# {SENTENCE.title()}!") == said
    assert quotes("# They never told us where") == ""
    other = "all of it lay under a na\u00efve na\u00efve heap"
    assert quotes(other) == ""
    with (copy / "deep/x.ref1").open("ab") as file:  # noticed, although it was read before
        file.write(b"\xff\xfe not UTF-8\n" + other.encode())
    assert quotes(other) == said
    assert quotes(SENTENCE) == said


def test_the_copy_is_read_as_utf8_on_every_machine(copy):
    before = locale.setlocale(locale.LC_CTYPE)
    sentence = "\u0441\u0442\u0430\u0440\u0430\u044f \u043b\u043e\u0434\u043a\u0430 " * 3
    (copy / "formal").write_bytes(sentence.encode())
    locale.setlocale(locale.LC_CTYPE, "C")
    try:
        assert quotes(sentence) != ""
    finally:
        locale.setlocale(locale.LC_CTYPE, before)


def test_a_manual_beside_the_corpus_is_no_text(copy):
    (copy / "deep/manual.pdf").write_text(SENTENCE)
    with pytest.raises(MissingFileError) as error:
        quotes(SENTENCE)
    said = f"no sentences in {copy}, which should contain your GYAFC corpus"
    assert str(error.value) == said
    (copy / "formal").write_text("five words are too few\n")
    with pytest.raises(MissingFileError):
        quotes("")
    (copy / "formal").write_text("one more word and it is enough\n")
    assert quotes(SENTENCE) == ""


def test_weights_that_are_no_text_are_not_searched(copy):
    (copy / "formal").write_text(SENTENCE)
    weights = {"a.bin": b"\xff" + SENTENCE.encode()}
    check_publishable("model", REPO, weights)
    with pytest.raises(LicensedTextError, match=r"vocab\.txt quotes a sentence"):
        check_publishable("model", REPO, {**weights, "vocab.txt": SENTENCE.encode()})


def test_a_folder_that_is_given_goes_before_the_variable(copy, tmp_path):
    (copy / "formal").write_text(SENTENCE)
    other = lay_out(tmp_path / "other")
    (other / "formal").write_text("nothing of the kind is written in this one")
    files = {"README.md": SENTENCE.encode()}
    check_publishable("dataset", REPO, files, licensed_copy=other)
    with pytest.raises(LicensedTextError):
        check_publishable("dataset", REPO, files)


def test_each_copy_that_was_read_is_searched(tmp_path, monkeypatch):
    monkeypatch.delenv("TSTBENCH_GYAFC", raising=False)
    sentences = {"em": SENTENCE, "fr": "my sister and her dog will not go there again"}
    for name, sentence in sentences.items():
        (lay_out(tmp_path / name) / "formal").write_text(sentence)
        assert quotes(sentence) == ""  # not known yet
        remember("TSTBENCH_GYAFC", tmp_path / name)
    for name, sentence in sentences.items():
        assert quotes(sentence).endswith(f"of your copy of the licensed corpus ({tmp_path / name})")
    # A folder that is named does not take their place, and may be named from one's home.
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TSTBENCH_GYAFC", "~/fr")
    assert quotes(sentences["em"]).endswith(f"({tmp_path / 'em'})")
    assert quotes(sentences["fr"]).endswith(f"({tmp_path / 'fr'})")
