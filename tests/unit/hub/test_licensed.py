"""Licensed text never leaves, whatever the file is and however the sentence is written.

Every sentence here is our own, in the layout of the licensed corpus.
"""

import io
import json
import locale
import shutil
from dataclasses import FrozenInstanceError

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from gyafc_copy import lay_out, small_copy
from hub_double import TOKEN, running

from tstbench.datasets_scripts.build import build as build_dataset
from tstbench.datasets_scripts.cards import MARKER
from tstbench.datasets_scripts.cleaning import CLEANINGS, match_key
from tstbench.datasets_scripts.licensed_copies import remember
from tstbench.errors import InputError, MissingFileError
from tstbench.pipelines.hub.licensed import (
    SHORTEST,
    WINDOW,
    LicensedTextError,
    QuotedSentences,
    check_publishable,
    letters,
    windows,
)
from tstbench.pipelines.hub.manifest import write_repository
from tstbench.pipelines.hub.push import push

CARD = {"README.md": b"# A card\n"}
SENTENCE = "u should totally go 2 that concert with ur friends"
REWRITE = "You should certainly attend that concert with your friends."
REPO = "tstbench/things"
AT = "mini/negative-to-positive"


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def parquet(columns, metadata=None):
    """Compressed; a sentence between two others is not in the statistics either."""
    stream = io.BytesIO()
    table = pa.table(columns).replace_schema_metadata(metadata)
    pq.write_table(table, stream, compression="gzip")
    return stream.getvalue()


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    """A user's own copy."""
    root = tmp_path / "GYAFC_Corpus"
    folder = lay_out(root) / "Entertainment_Music"
    (folder / "train/informal").write_text(f"{SENTENCE}\nlol no\n")
    (folder / "test/formal.ref2").write_text(f"{REWRITE}\nNo.\n")
    monkeypatch.setenv("TSTBENCH_GYAFC", str(root))
    return root


def refuse(files):
    with pytest.raises(LicensedTextError, match="quotes a sentence") as caught:
        check_publishable(REPO, {**CARD, **files})
    for text in (SENTENCE, REWRITE):
        assert text not in str(caught.value)  # messages end up in logs
    return str(caught.value)


def passes(files):
    check_publishable(REPO, {**CARD, **files})


def published(said):
    """One file of each kind that is published, each with something to say; by path."""
    text, whole = said.encode(), json.dumps({"x": said}).encode()
    escaped = "".join(f"\\u{ord(sign):04x}" for sign in said)
    row = lines({"direction": AT, "id": "7"}, {"direction": AT, "prediction": f"well, {said}"})
    png = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dtEXtComment\0"
    return {
        "README.md": b"# Card\n\n| source |\n| --- |\n| " + text.upper() + b" |\n",
        "eval.yaml": b"name: x\ndescription: " + text + b"\n",
        "fingerprint.json": whole,
        "scores.parquet": parquet({"direction": [AT], "system": [said], "value": [1.0]}),
        "outputs.jsonl": row,
        "human.jsonl": lines({"dataset": "mini", "note": f"'{said}' is odd"}),
        f"{AT}/significance.json": json.dumps({"acc": {"ranks": {said: [1, 1]}}}).encode(),
        f"{AT}/ours/report.json": json.dumps({"system": {"origin": said}}).encode(),
        f"{AT}/ours/samples.jsonl": row,
        f"{AT}/ours/history.jsonl": lines({"why": said}),
        f"{AT}/ours/replicates.parquet": parquet({said: [1.0, 2.0]}),
        "styles/test.parquet": parquet({"text": ["A", said, "~"], "style": [0, 1, 0]}),
        "data/dictionary.parquet": parquet({"x": pa.array(["A", said, "~"]).dictionary_encode()}),
        "data/binary.parquet": parquet({"x": [b"A", said.encode(), b"~"]}),
        "a-to-b/test.parquet": parquet({"references": [["A"], ["~", said]]}),
        "data/ours.parquet": parquet({"score": [1.0]}, {"remark": said}),
        "data/tokens.parquet": parquet({"x": [["A"], said.split()]}),
        "data/damaged.parquet": b"PAR1" + said.encode(),
        "data/names.parquet": parquet({word: [1.0] for word in said.split()}),
        "app.py": b"EXAMPLES = ['" + text + b"']\n",
        "page.html": b"<p>" + text.replace(b" ", b" <b>x</b> ", 1).replace(b"x", b"") + b"</p>",
        "page.js": b"const example = '" + text + b"'\n",
        "page.css": b"/* " + text + b" */\n",
        "curve.svg": b"<svg><text>" + text + b"</text></svg>",
        "picture.png": png + text + b"\xff\xd8",
        "requirements.txt": text,
        "system.json": whole,
        "scorer.json": json.dumps({"settings": {"list": [1, [said]]}}).encode(),
        "memory.json": json.dumps({"tokens": said.split()}).encode(),
        "lexicon.json": json.dumps({said: 0.5}).encode(),
        "escaped.json": f'[1,\n"{escaped}"]'.encode(),
        "escaped.jsonl": f'[1]\n["{escaped}"]\n'.encode(),
        "twice.json": b'{"a": ' + json.dumps(said).encode() + b', "a": 1}',
        "broken.json": b"{" + text,
        "curve.jsonl": lines({"step": 1}, {"step": 2, "said": said}),
        "vocab.txt": b"soup\n" + text,
        "merges.txt": text,
        "model.arpa": b"\\data\\\n-1.5\t" + text + b"\t-0.3\xff\n",
        "model.safetensors": text,
        "pytorch_model.bin": b"x" * 2**20 + text,
        "tokenizer.model": text,
        "weights.npz": text,
        ".eval_results/tstbench.yaml": b"- notes: " + text + b"\n",
        "notes.csv": b'id,text\n1,"' + text + b'"\n',
        "LICENSE": text,
    }


OPEN = "Something else that nobody there has ever written."


class TestEveryKindOfFile:
    @pytest.mark.parametrize("kind", range(len(published("x"))), ids=list(published("x")))
    def test_with_a_quote_is_refused_and_without_one_is_not(self, corpus, kind, tmp_path):
        for said in (SENTENCE, REWRITE):
            name, content = list(published(said).items())[kind]
            refuse({name: content})
            (tmp_path / "file").write_bytes(content)
            refuse({name: tmp_path / "file"})
        passes(dict([list(published(OPEN).items())[kind]]))

    def test_the_name_of_one_is_no_quote_either(self, corpus):
        with pytest.raises(LicensedTextError, match="quotes a sentence"):
            passes({f"{SENTENCE}.py": b"#"})

    def test_numbers_are_not_searched(self, corpus):
        """Of a file that has a zero byte in its first MiB."""
        passes({"weights.bin": b"x" * 100 + b"\0" + SENTENCE.encode()})
        refuse({"weights.bin": b"x" * 2**20 + b"\0" + SENTENCE.encode()})

    def test_n_grams_are_everybodys_and_sentences_are_not(self, corpus):
        words = SENTENCE.split()
        grams = "".join(f"-1.5\t{' '.join(words[i : i + 5])}\t-0.3\n" for i in range(6))
        model = f"\\data\\\nngram 5=6\n\n\\5-grams:\n{grams}\n\\end\\\n".encode()
        with (corpus / "Entertainment_Music/train/informal").open("a") as stream:
            stream.write("i can not go to that\n")  # the shortest that is looked for has six words
        passes({"model.arpa": model + b"-1.5\ti cannot go to that\t-0.3\n"})
        refuse({"model.arpa": model + b"-1.5\ti can not go to that\t-0.3\n"})


class TestEveryWayOut:
    """A person's file, in a folder with a manifest, is caught on its way in and on its way out."""

    QUOTE = {**CARD, "outputs.jsonl": lines({"prediction": REWRITE})}

    def test_into_the_hub_folder(self, corpus, tmp_path):
        root = tmp_path / "hub"
        first = write_repository(root, "dataset", REPO, CARD)
        with pytest.raises(LicensedTextError, match=f"{REPO}: outputs.jsonl quotes a sentence"):
            write_repository(root, "dataset", REPO, self.QUOTE)
        assert write_repository(root, "dataset", REPO, CARD) == first
        for path in (p for p in root.rglob("*") if p.is_file()):
            assert REWRITE.encode() not in path.read_bytes()

    @pytest.mark.parametrize("dry_run", [False, True])
    def test_out_of_the_hub_folder(self, corpus, tmp_path, monkeypatch, online, dry_run):
        copy = corpus.rename(tmp_path / "not known yet")
        monkeypatch.delenv("TSTBENCH_GYAFC")
        write_repository(tmp_path / "hub", "dataset", REPO, self.QUOTE)
        write_repository(tmp_path / "hub", "dataset", "tstbench/a", CARD)
        monkeypatch.setenv("TSTBENCH_GYAFC", str(copy))
        with running() as hub:
            with pytest.raises(LicensedTextError, match=f"{REPO}: outputs.jsonl quotes a sentence"):
                push(tmp_path / "hub", token=TOKEN, endpoint=hub.url, dry_run=dry_run)
            assert (hub.repos, hub.requests) == ({}, [])  # nor any repository before it

    def test_a_built_dataset_is_marked(self, tmp_path, monkeypatch):
        monkeypatch.setenv("TSTBENCH_GYAFC", str(small_copy(tmp_path)))
        built = build_dataset("gyafc_em", tmp_path, accept_licence="gyafc-research-only").folder
        monkeypatch.delenv("TSTBENCH_GYAFC")  # the machine that publishes may not have the corpus
        with pytest.raises(LicensedTextError, match=MARKER):
            write_repository(tmp_path / "hub", "dataset", "tstbench/formality", built)
        with pytest.raises(LicensedTextError, match=MARKER):
            check_publishable(REPO, {**CARD, f"deeper/{MARKER.lower()}": b""})


class TestWhatAQuoteIs:
    def test_short_and_similar_sentences_are_none(self, corpus):
        similar = b"lol no\nYou should certainly attend that concert with your sister.\n"
        passes({"README.md": similar})

    @pytest.mark.parametrize(
        "text",
        [
            SENTENCE.title(),
            "u should totally go 2 that concert , with ur friends !",
            "so:u should to-tally go 2 that con cert with ur friends",
            "<b>u</b> should totally&nbsp;go 2 that concert with ur friends",
            "\u00dc should tot\u00e0lly go 2 that concert with \uff55r friends",
        ],
    )
    def test_no_spelling_hides_it(self, corpus, text):
        refuse({"README.md": f"# Card\n\n{text}\n".encode()})

    LONG = " ".join(f"number {n} is what they did n't want to hear about it ," for n in range(9))

    @pytest.mark.parametrize("cleaning", CLEANINGS.values(), ids=lambda one: one.name)
    def test_no_cleaning_of_ours_hides_it(self, corpus, cleaning):
        raw = ["He said ( twice ) that he would n't come , and that they 're late .", self.LONG]
        (corpus / "Entertainment_Music/train/formal").write_text("\n".join(raw))
        for sentence in raw:
            for text in (cleaning(sentence), cleaning(sentence).lower(), match_key(sentence)):
                refuse({"README.md": text.encode()})
                refuse({"outputs.jsonl": lines({"prediction": text})})

    def test_a_part_of_a_long_sentence_is_one(self, corpus):
        (corpus / "Entertainment_Music/train/formal").write_text(self.LONG)
        words = self.LONG.split()
        refuse({"README.md": " ".join(words[7 : 7 + 2 * WINDOW - 1]).encode()})
        passes({"README.md": " ".join(words[7 : 7 + SHORTEST]).encode()})

    def test_windows_cover_a_sentence_of_any_length(self):
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

    def test_an_index_that_many_checks_share_cannot_be_changed(self):
        corpus = QuotedSentences.of([SENTENCE])
        with pytest.raises(FrozenInstanceError):
            corpus.by_beginning = {}

    def test_eleven_letters_are_anybodys(self):
        for sentence, found in (("ab cd ef gh ij k", False), ("ab cd ef gh ij kl", True)):
            assert bool(list(windows(sentence))) == found
            assert QuotedSentences.of([sentence]).quoted_in(sentence) == found

    def test_letters_alone_are_compared(self):
        assert letters("A_b-1 2c\t\u0663d") == "abcd"  # nor digits of other scripts
        assert letters("&lt;i&gt; &#233;t\u00e9 \ufb01n") == "ietefin"
        assert letters("\u00c5ngstr\u00f6m \u0391\u03a3") == "angstrom\u03b1\u03c3"

    def test_a_tag_of_a_page_ends_after_300_characters(self):
        sentence = "they never told us where the old boat was"
        corpus = QuotedSentences.of([sentence])
        half = len("they never told us")
        for inside, found in (("", True), ("b", True), ("x" * 300, True), ("x" * 301, False)):
            assert corpus.quoted_in(f"{sentence[:half]}<{inside}>{sentence[half:]}") == found
        for text in (
            "they < never <b>told</b> us where the old boat was",
            "they <b>never</b> told us -> where the old boat was",
            "they <>never told us where the old boat was",
            f"<{sentence}>",
        ):
            assert corpus.quoted_in(text)


class TestTheCopy:
    def test_an_empty_one_checks_nothing_and_says_so(self, tmp_path, monkeypatch):
        (tmp_path / "empty").mkdir()
        monkeypatch.setenv("TSTBENCH_GYAFC", str(tmp_path / "empty"))
        with pytest.raises(MissingFileError, match="GYAFC"):
            passes({})

    @pytest.mark.parametrize("kept", ["GYAFC_Corpus.zip", "README", "Entertainment_Music/test"])
    def test_one_that_is_not_whole_disarms_nothing(self, corpus, tmp_path, monkeypatch, kept):
        """A part of it, read before or named: a quote of the rest would pass."""
        part = tmp_path / "part"
        shutil.copytree(corpus, part, ignore=lambda *_: ["train", "tune"])
        if "/" not in kept:
            shutil.rmtree(part / "Entertainment_Music")
            (part / kept).write_text(f"{SENTENCE} {REWRITE} and a long line more of words")
        monkeypatch.setenv("TSTBENCH_GYAFC", str(part))
        lacking = "/train/formal is missing" if "/" in kept else "is no copy"
        with pytest.raises(MissingFileError, match=f"{part}.*{lacking}.* set TSTBENCH_GYAFC to"):
            passes({})
        monkeypatch.setenv("TSTBENCH_GYAFC", str(corpus))
        passes({})  # the wrong folder is not remembered
        monkeypatch.delenv("TSTBENCH_GYAFC")
        remember("TSTBENCH_GYAFC", part)
        with pytest.raises(MissingFileError, match=str(part)):
            passes({})

    def test_one_with_an_unreadable_file_disarms_nothing(self, corpus):
        (corpus / "Entertainment_Music/train/informal").write_bytes(b"\xff\xfe\xff")
        with pytest.raises(InputError, match="train/informal"):
            passes({})

    def test_it_is_read_whatever_its_names_and_letters_and_whenever_it_changes(self, corpus):
        (corpus / "deep").mkdir()
        (corpus / "deep/x.ref1").write_bytes(b"lol\r\nthey never told us where the boat was\r\n")
        refuse({"README.md": b"# They Never Told Us Where The Boat Was!"})
        other = "all of it lay under a na\u00efve na\u00efve heap"
        passes({"README.md": other.encode()})
        with (corpus / "deep/x.ref1").open("ab") as file:
            file.write(b"\xff\xfe not UTF-8\n" + other.encode())
        refuse({"README.md": other.encode()})

    def test_it_is_read_as_utf8_on_every_machine(self, corpus):
        before = locale.setlocale(locale.LC_CTYPE)
        sentence = "\u0441\u0442\u0430\u0440\u0430\u044f \u043b\u043e\u0434\u043a\u0430 " * 3
        (corpus / "Entertainment_Music/train/formal").write_bytes(sentence.encode())
        locale.setlocale(locale.LC_CTYPE, "C")
        try:
            refuse({"README.md": sentence.encode()})
        finally:
            locale.setlocale(locale.LC_CTYPE, before)

    def test_a_manual_beside_it_is_no_text(self, tmp_path, monkeypatch):
        monkeypatch.setenv("TSTBENCH_GYAFC", str(tmp_path))
        lay_out(tmp_path)
        (tmp_path / "manual.pdf").write_text(SENTENCE)
        with pytest.raises(MissingFileError, match=f"no sentences in {tmp_path}, which should"):
            passes({})

    def test_each_one_that_was_read_is_searched(self, tmp_path, monkeypatch):
        monkeypatch.delenv("TSTBENCH_GYAFC", raising=False)
        sentences = {"em": SENTENCE, "fr": "my sister and her dog will not go there again"}
        for name, sentence in sentences.items():
            (lay_out(tmp_path / name) / "formal").write_text(sentence)
            passes({"README.md": sentence.encode()})  # not known yet
            remember("TSTBENCH_GYAFC", tmp_path / name)
        for name, sentence in sentences.items():
            said = refuse({"README.md": sentence.encode()})
            assert said.endswith(f"of your copy of the licensed corpus ({tmp_path / name})")
        # A folder that is named does not take their place, and may be named from one's home.
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("TSTBENCH_GYAFC", "~/fr")
        assert refuse({"README.md": sentences["em"].encode()}).endswith(f"({tmp_path / 'em'})")
        assert refuse({"README.md": sentences["fr"].encode()}).endswith(f"({tmp_path / 'fr'})")
