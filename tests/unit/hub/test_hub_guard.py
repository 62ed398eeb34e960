"""Licensed text never gets into a repository, whatever it is called and wherever it hides.

Every sentence here is our own; the guard only ever sees the layout and the names of the licensed
corpus.
"""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import ClassLabel, Features, Value
from gyafc_copy import lay_out
from hub_artefacts import dataset_folder, model_folder, write_parquet

from tstbench.datasets_scripts.build import build as build_dataset
from tstbench.datasets_scripts.cleaning import CLEANINGS, match_key
from tstbench.datasets_scripts.judgments.licensed import without_licensed_text
from tstbench.datasets_scripts.judgments.schema import Judgment
from tstbench.datasets_scripts.licensed_copies import remember
from tstbench.datasets_scripts.publication import MARKER
from tstbench.errors import InputError, MissingFileError, TSTBenchError
from tstbench.pipelines.hub.guard import LicensedTextError, check_publishable
from tstbench.pipelines.hub.manifest import find_repository, write_repository
from tstbench.pipelines.hub.quotes import SHORTEST, WINDOW
from tstbench.pipelines.report import predictions_sha256, score_recipe

CARD = {"README.md": b"# A card\n"}
SENTENCE = "u should totally go 2 that concert with ur friends"
REWRITE = "You should certainly attend that concert with your friends."
DIRECTION = "gyafc_em/informal-to-formal"
OUTPUTS = predictions_sha256([REWRITE])
REPORT = {
    "schema_version": 2,
    "tstbench": "0.5.0",
    "direction": DIRECTION,
    "system": {"name": "a rule based system", "origin": "their outputs, cleaned by us"},
    "data": {
        "fingerprint": "0" * 64,
        "cleaning": "paper-v1",
        "sentences": 1,
        "references_min": 0,
        "references_max": 0,
    },
    "outputs_sha256": OUTPUTS,
    "scores": [
        {
            "key": "acc",
            "metric": "acc",
            "value": 71.5,
            "unit": "percent",
            "higher_is_better": True,
            "interval": None,
            "signature": "acc|v:1 a b c",
            "made_with": "numpy 2.0, on a machine of ours",
            "recipe": score_recipe(OUTPUTS, "0" * 64, "acc|v:1 a b c"),
            "profile": "embedded",
        }
    ],
    "left_out": [
        {"metric": "joint", "why": "no sentence has a reference here", "recipe": "0" * 64}
    ],
}
FOLDER = f"{DIRECTION}/one"
OPEN = "yelp/negative-to-positive"
ROW = {
    "direction": DIRECTION,
    "system": "GPT-4 with four examples",
    "family": "prompting",
    "date": None,
    "profile": "embedded",
    "metric": "acc",
    "value": 0.7,
    "low": None,
    "high": None,
    "unit": "fraction",
    "signature": "acc|v:1",
    "made_with": "numpy 2.0",
}
OUTPUT = {"direction": OPEN, "system": "ours", "id": "1", "prediction": "ok", "origin": None}
SAMPLE = {"id": "7", "source": SENTENCE, "references": [], "prediction": REWRITE, "scores": {}}


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    """A user's own copy, in the licensed corpus's layout, of sentences we wrote."""
    root = tmp_path / "GYAFC_Corpus"
    folder = root / "Entertainment_Music"
    for part in ("train", "tune", "test"):
        (folder / part).mkdir(parents=True)
        (folder / part / "informal").write_text(f"{SENTENCE}\nlol no\n")
        (folder / part / "formal").write_text(f"{REWRITE}\nNo.\n")
        for k in range(4 if part != "train" else 0):
            (folder / part / f"formal.ref{k}").write_text(f"{REWRITE}\nNo {k}.\n")
            (folder / part / f"informal.ref{k}").write_text(f"{SENTENCE}\nnope {k}\n")
    monkeypatch.setenv("TSTBENCH_GYAFC", str(root))
    return root


def refuse(files, kind="dataset", repo_id="tstbench/outputs"):
    with pytest.raises(LicensedTextError) as caught:
        check_publishable(kind, repo_id, {**CARD, **files})
    for text in (SENTENCE, REWRITE):
        assert text not in str(caught.value)  # messages end up in logs
    return str(caught.value)


def passes(files, kind="dataset", repo_id="tstbench/outputs"):
    check_publishable(kind, repo_id, {**CARD, **files})


def unknown(files, kind="dataset", repo_id="tstbench/outputs"):
    """Files that say nothing licensed, but of which nothing else is known either."""
    with pytest.raises(InputError) as caught:
        check_publishable(kind, repo_id, {**CARD, **files})
    for text in (SENTENCE, REWRITE):
        assert text not in str(caught.value)
    return str(caught.value)


def parquet(tmp_path, columns, features=None):
    write_parquet(tmp_path / "x.parquet", columns, features)
    return (tmp_path / "x.parquet").read_bytes()


def numbers_file(tmp_path, values):
    pq.write_table(pa.table({"acc": values}), tmp_path / "numbers.parquet")
    return tmp_path / "numbers.parquet"


@pytest.mark.parametrize("name", ["gyafc_em", "gyafc_fr", "GYAFC", "my-gyafc_em-copy"])
def test_a_licensed_dataset_by_name(name):
    refuse({}, repo_id=f"tstbench/{name}")


def test_a_marked_folder():
    refuse({MARKER: b""})
    refuse({"fingerprint.json": b'{"publishable": false}', "a.jsonl": lines({"text": SENTENCE})})


def test_the_built_dataset_however_it_is_dressed_up(corpus, tmp_path, monkeypatch):
    built = build_dataset("gyafc_em", tmp_path, accept_licence="gyafc-research-only").folder
    monkeypatch.delenv("TSTBENCH_GYAFC")  # the machine that publishes may not have the corpus
    files = {p.relative_to(built).as_posix(): p for p in built.rglob("*") if p.is_file()}
    refuse(files, repo_id="tstbench/gyafc_em")
    assert MARKER in refuse(files, repo_id="tstbench/formality")
    del files[MARKER]
    refuse(files, repo_id="tstbench/formality")
    del files["fingerprint.json"]
    files["README.md"] = CARD["README.md"]
    refuse(files, repo_id="tstbench/formality")
    neutral = {path.replace("formal", "x").replace("/", "_"): p for path, p in files.items()}
    for path, content in neutral.items():
        if path.endswith(".parquet"):
            refuse({path: content}, repo_id="tstbench/formality")


def test_a_renamed_dataset_folder(tmp_path):
    style = ClassLabel(names=["informal", "formal"])
    direction = Features({"id": Value("string"), "source": Value("string"), "style": style})
    row = {"id": ["a-0"], "source": [SENTENCE], "style": [1]}
    # by its class names, although every name is neutral
    assert "row 0" in refuse({"data/test.parquet": parquet(tmp_path, row, direction)})
    # by the name of its view, although its columns are neutral
    refuse({"informal-to-formal/test.parquet": parquet(tmp_path, {"source": [SENTENCE]})})
    # by its split
    refuse({"data/test_formal_to_informal.jsonl": lines({"source": SENTENCE})})
    # by a column of styles as strings
    row = {"text": [SENTENCE], "style": ["informal"]}
    refuse({"data/test.parquet": parquet(tmp_path, row)})


def test_outputs_and_samples():
    refuse({"a.jsonl": lines({"direction": DIRECTION, "prediction": REWRITE})})
    refuse({"a.jsonl": lines({"direction": DIRECTION, "scores": {"deep": {"output": "Yes."}}})})
    refuse({"a.jsonl": lines({"dataset": "gyafc_fr", "references": [[REWRITE]]})})
    refuse({"a.jsonl": lines({"direction": "yelp/x"}, {"id": "gyafc_em-test-1", "source": "ok"})})
    refuse({"a.csv": f'direction,prediction\n{DIRECTION},"{REWRITE}"\n'.encode()})
    refuse({"a.tsv": f"direction\tanything\n{DIRECTION}\t{REWRITE}\n".encode()})
    refuse({"outputs/gyafc_em/chatgpt.txt": REWRITE.encode()})
    refuse({"outputs/gyafc_em/chatgpt.jsonl": lines({"prediction": REWRITE})})


def test_samples_beside_a_report():
    files = {"r/one/report.json": json.dumps(REPORT).encode(), "r/one/samples.jsonl": lines(SAMPLE)}
    assert "samples.jsonl, line 1" in refuse(files)
    refuse({**files, "r/one/deeper/samples.jsonl": files.pop("r/one/samples.jsonl")})
    refuse({f"{FOLDER}/report.json": json.dumps(REPORT).encode(), f"{FOLDER}/samples.jsonl": b""})
    mini = "mini/negative-to-positive"
    report = {**REPORT, "direction": mini}

    def beside(**changes):
        content = json.dumps({**report, **changes}).encode()
        return {f"{mini}/one/report.json": content, f"{mini}/one/samples.jsonl": lines(SAMPLE)}

    passes(beside())
    samples = f"{mini}/one/samples.jsonl"
    assert "has no report.json beside it" in unknown({samples: lines(SAMPLE)})
    assert "is under mini" in unknown(beside(direction="yelp/negative-to-positive"))
    assert "does not match the hash" in unknown(beside(samples_sha256="1" * 64))


def test_a_parquet_column(tmp_path):
    columns = {"direction": ["yelp/negative-to-positive", DIRECTION], "prediction": ["a", REWRITE]}
    assert "row 1" in refuse({"all.parquet": parquet(tmp_path, columns)})
    nested = {"runs": [{"direction": DIRECTION, "prediction": REWRITE}]}
    refuse({"all.parquet": parquet(tmp_path, nested)})


def test_a_record_as_an_example_in_a_card():
    record = json.dumps({"direction": DIRECTION, "source": SENTENCE})
    assert "README.md, line 4" in refuse({"README.md": f"# Card\n\n```\n{record}\n```\n".encode()})


def test_scores_without_text_pass(tmp_path):
    report = json.dumps(REPORT).encode()
    passes({f"{FOLDER}/report.json": report})
    numbers = {f"{FOLDER}/replicates.parquet": numbers_file(tmp_path, [71.5] + [70.0] * 1000)}
    passes({f"{FOLDER}/report.json": report, **numbers})
    numbers = {f"{FOLDER}/replicates.parquet": numbers_file(tmp_path, ["Yes, I do."])}
    assert "column of numbers" in unknown({f"{FOLDER}/report.json": report, **numbers})
    passes({"scores.jsonl": lines(ROW)})
    assert "scores.jsonl, line 1" in unknown({"scores.jsonl": lines({**ROW, "remark": "Yes."})})
    passes({"README.md": b"# Results\n\nGYAFC is licensed: its outputs are not shown.\n"})


def test_open_datasets_pass(tmp_path):
    folder = dataset_folder(tmp_path)
    files = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    passes(files, repo_id="tstbench/mini")


def test_models_trained_on_licensed_text(tmp_path):
    folder = model_folder(tmp_path / "model")
    files = {p.name: p for p in folder.iterdir()}
    passes(files, "model", "tstbench/classifier")
    refuse({**files, "scorer.json": b'{"trained_on": {"dataset": "gyafc_fr"}}'}, "model")
    words = {
        "vocab.json": b'["formal", "informal", "gyafc"]',
        "special_tokens_map.json": b'{"formal": 3}',
    }
    passes({**files, **words}, "model", "tstbench/classifier")  # a vocabulary names nothing
    refuse({**files, "scorer.json": b'{"id2label": {"0": "informal"}}'}, "model")
    refuse({**files, "scorer.json": b'{"labels": ["informal", "formal"]}'}, "model")
    refuse(files, "model", "tstbench/gyafc_em-linear")


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("README.md", f"# Card\n\n| source |\n| --- |\n| {SENTENCE.upper()} |\n".encode()),
        ("app.py", f"EXAMPLES = ['{SENTENCE}']\n".encode()),
        ("a.txt", f"fine\n{REWRITE}\n".encode()),
        (
            "a.jsonl",
            lines({"direction": "yelp/negative-to-positive", "source": f"well, {SENTENCE}"}),
        ),
        ("a.json", json.dumps({"x": [{"y": SENTENCE.replace(" ", "  ")}]}).encode()),
        ("a.csv", f'id,text\n1,"{REWRITE}"\n'.encode()),
    ],
)
def test_sentences_of_the_users_own_copy(corpus, path, content):
    assert "quotes a sentence" in refuse({path: content})


def test_sentences_of_the_users_own_copy_in_parquet(corpus, tmp_path):
    columns = {"x": [["fine", "fine"], ["fine", REWRITE.replace(".", " .")]]}
    assert "x.parquet" in refuse({"x.parquet": parquet(tmp_path, columns)})


@pytest.mark.parametrize("head", [b"", b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dtEXt"])
def test_a_picture_may_have_words_or_be_none(corpus, head):
    picture = head + f"Comment {SENTENCE}\n".encode() + b"\xff\xd8"
    assert "x.png quotes a sentence" in refuse({"x.png": picture}, "space")


@pytest.mark.parametrize("name", ["weights.bin", "tokenizer.model", "model.safetensors"])
@pytest.mark.parametrize("in_a_file", [False, True])
def test_a_text_is_no_weights_whatever_its_name(corpus, tmp_path, name, in_a_file):
    """It is read in parts of 2 ** 20 bytes: one ends within the sentence, and within an ü."""
    for before in ("soup\n" * 2**18, "x" * (2**20 - 9), "x" + "ü" * 2**19):
        text = f"{before} {SENTENCE}".encode()
        (tmp_path / name).write_bytes(text)
        content = tmp_path / name if in_a_file else text
        assert f"{name} quotes a sentence" in refuse({name: content}, "model", "tstbench/toy")


def test_n_grams_are_everybodys_and_sentences_are_not(corpus):
    words = SENTENCE.split()
    grams = "".join(f"-1.5\t{' '.join(words[i : i + 5])}\t-0.3\n" for i in range(len(words) - 4))
    model = f"\\data\\\nngram 5={len(words) - 4}\n\n\\5-grams:\n{grams}\n\\end\\\n"
    scorer = {"scorer.json": b'{"dataset": "mini"}', "model.arpa": model.encode()}
    passes(scorer, "model", "tstbench/toy")
    with (corpus / "Entertainment_Music/train/informal").open("a") as stream:
        stream.write("i can not go to that\n")  # the shortest that is looked for has six words
    five = scorer["model.arpa"] + b"-1.5\ti cannot go to that\t-0.3\n"
    passes({**scorer, "model.arpa": five}, "model", "tstbench/toy")
    for sentence in (SENTENCE, "i can not go to that"):
        longer = five + f"-1.5\t{sentence}\t".encode() + b"-0.3\xff\n"
        said = refuse({**scorer, "model.arpa": longer}, "model", "tstbench/toy")
        assert "model.arpa quotes a sentence" in said


def test_the_name_of_a_file_is_no_quote_either(corpus):
    with pytest.raises(LicensedTextError, match="quotes a sentence"):
        check_publishable("space", "tstbench/toy", {**CARD, f"{SENTENCE.rstrip(' .?!')}.py": b"#"})


def test_short_and_similar_sentences_are_not_taken_for_quotes(corpus):
    passes({"README.md": b"lol no\nYou should certainly attend that concert with your sister.\n"})


def test_an_empty_copy_checks_nothing_and_says_so(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("TSTBENCH_GYAFC", str(tmp_path / "empty"))
    with pytest.raises(MissingFileError, match="GYAFC"):
        passes({})


@pytest.mark.parametrize("kept", ["GYAFC_Corpus.zip", "README", "Entertainment_Music/test"])
def test_a_copy_that_is_not_whole_disarms_nothing(corpus, tmp_path, monkeypatch, kept):
    """A part of it, read before or named: a quote of the rest would pass."""
    part = tmp_path / "part"
    shutil.copytree(corpus, part, ignore=lambda *_: ["train", "tune"])
    if "/" not in kept:
        shutil.rmtree(part / "Entertainment_Music")
        (part / kept).write_text(f"{SENTENCE} {REWRITE} and a long line more of words")
    monkeypatch.setenv("TSTBENCH_GYAFC", str(part))
    with pytest.raises(MissingFileError, match=str(part)):
        passes({})
    monkeypatch.setenv("TSTBENCH_GYAFC", str(corpus))
    passes({})  # the wrong folder is not remembered
    monkeypatch.delenv("TSTBENCH_GYAFC")
    remember("TSTBENCH_GYAFC", part)
    with pytest.raises(MissingFileError, match=str(part)):
        passes({})


def test_a_copy_with_an_unreadable_file_disarms_nothing(corpus, monkeypatch):
    (corpus / "Entertainment_Music/train/informal").write_bytes(b"\xff\xfe\xff")
    monkeypatch.setenv("TSTBENCH_GYAFC", str(corpus))
    with pytest.raises(InputError, match="train/informal"):
        passes({})


@pytest.mark.parametrize("name", ["a.zip", "a.gz", "a.pkl", "a.arrow", "a.safetensors", "a.docx"])
def test_kinds_of_file_that_cannot_be_looked_into(name):
    with pytest.raises(InputError, match="cannot be checked"):
        passes({name: b"anything"})


def test_a_file_that_cannot_be_parsed():
    for name, content in (("a.json", b"{"), ("a.parquet", b"PAR1"), ("a.txt", b"\xff\xfe\x00")):
        with pytest.raises(InputError, match="cannot be read"):
            passes({name: content})


def test_the_guard_stands_before_every_repository(tmp_path):
    root = tmp_path / "root"
    good = {**CARD, "outputs.jsonl": lines(OUTPUT)}
    commit = write_repository(root, "dataset", "tstbench/outputs", good)
    bad = {**good, "b.jsonl": lines({"direction": DIRECTION, "source": SENTENCE})}
    with pytest.raises(TSTBenchError):
        write_repository(root, "dataset", "tstbench/outputs", bad)
    repository = find_repository(root, "dataset", "tstbench/outputs")
    assert repository.commit == commit
    assert not (repository.path / "b.jsonl").exists()
    for path in (p for p in root.rglob("*") if p.is_file()):
        assert SENTENCE.encode() not in path.read_bytes()


LONG = " ".join(f"number {n} is what they did n't want to hear about it ," for n in range(9))


@pytest.mark.parametrize(
    "text",
    [
        "u should totally go 2 that concert with ur friends".title(),
        "u should totally go 2 that concert , with ur friends !",
        "so:u should to-tally go 2 that con cert with ur friends",
        "<b>u</b> should totally&nbsp;go 2 that concert with ur friends",
        "\u00dc should tot\u00e0lly go 2 that concert with \uff55r friends",
    ],
)
def test_no_spelling_hides_a_quote(corpus, text):
    assert "quotes a sentence" in refuse({"README.md": f"# Card\n\n{text}\n".encode()})


@pytest.mark.parametrize("cleaning", CLEANINGS.values(), ids=lambda one: one.name)
def test_no_cleaning_of_ours_hides_a_quote(tmp_path, monkeypatch, cleaning):
    raw = ["He said ( twice ) that he would n't come , and that they 're late .", LONG]
    (lay_out(tmp_path) / "formal").write_text("\n".join(raw))
    monkeypatch.setenv("TSTBENCH_GYAFC", str(tmp_path))
    for sentence in raw:
        for text in (cleaning(sentence), cleaning(sentence).lower(), match_key(sentence)):
            assert "quotes a sentence" in refuse({"README.md": text.encode()})
            row = {**OUTPUT, "prediction": text}
            assert "quotes a sentence" in refuse({"outputs.jsonl": lines(row)})


def test_a_part_of_a_long_sentence_is_a_quote(tmp_path, monkeypatch):
    (lay_out(tmp_path) / "formal").write_text(LONG)
    monkeypatch.setenv("TSTBENCH_GYAFC", str(tmp_path))
    words = LONG.split()
    refuse({"README.md": " ".join(words[7 : 7 + 2 * WINDOW - 1]).encode()})
    passes({"README.md": " ".join(words[7 : 7 + SHORTEST]).encode()})


def test_a_sentence_word_by_word_or_as_a_key_is_a_quote(corpus):
    refuse({"a.json": json.dumps({"tokens": REWRITE.split()}).encode()})
    refuse({"a.json": json.dumps({"by_source": {SENTENCE: 1.0}}).encode()})


RECORDS = {
    "by_sentence.json": {"direction": DIRECTION, "acc": {SENTENCE: 0.5}},
    "by_direction.json": {DIRECTION: [REWRITE]},
    "by_style.json": {"informal": [SENTENCE]},
    "by_style_in_capitals.json": {"Informal": [SENTENCE]},
    "sibling.json": {"about": {"direction": DIRECTION}, "rows": [{"text": SENTENCE}]},
    "capitals.json": {"DIRECTION": DIRECTION.upper(), "PREDICTION": "Yes."},
}


@pytest.mark.parametrize("name", RECORDS)
def test_json_of_any_shape(name):
    refuse({name: json.dumps(RECORDS[name]).encode()})


def test_parquet_of_any_type(tmp_path):
    words = pa.array([DIRECTION]).dictionary_encode()
    for columns in (
        {"direction": words, "prediction": pa.array([REWRITE])},
        {"direction": pa.array([DIRECTION.encode()]), "prediction": pa.array([REWRITE.encode()])},
    ):
        pq.write_table(pa.table(columns), tmp_path / "any.parquet")
        refuse({"any.parquet": tmp_path / "any.parquet"})
    pq.write_table(pa.table({"x": pa.array([REWRITE.encode()])}), tmp_path / "any.parquet")
    assert "is not published" in unknown({"data/any.parquet": tmp_path / "any.parquet"})


def test_metadata_of_parquet_is_read_too(tmp_path):
    folder = dataset_folder(tmp_path)
    file = next(folder.glob("*/test.parquet"))
    table = pq.read_table(file)
    pq.write_table(table.replace_schema_metadata({"remark": SENTENCE}), file)
    files = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    assert "metadata of others" in unknown(files, repo_id="tstbench/mini")


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.csv", f'direction;prediction\nx;"{SENTENCE}"\n'),
        ("a.csv", f"text\n{SENTENCE}\n"),
        ("a.json", json.dumps({"text": SENTENCE})),
        ("a.jsonl", json.dumps({"text": SENTENCE})),
        ("notes.txt", SENTENCE),
        ("notes.md", SENTENCE),
        ("outputs.jsonl", json.dumps({**OUTPUT, "source": SENTENCE})),
        ("outputs.jsonl", '{"system": "a", "system": "b"}'),
        ("fingerprint.json", '{"publishable": true}'),
        ("eval.yaml", f"name: {SENTENCE}"),
        ("mini/a-to-b/significance.json", json.dumps({"x": {"test": SENTENCE}})),
        (f"{OPEN}/one/history.jsonl", json.dumps({"why": SENTENCE})),
    ],
)
def test_what_is_none_of_ours_is_refused_with_what_to_do(path, content):
    message = unknown({path: content.encode()})
    assert path in message
    assert "is not published" in message or "TSTBench" in message


def test_sentences_without_a_fingerprint(tmp_path):
    folder = dataset_folder(tmp_path)
    files = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    told = files.pop("fingerprint.json")
    assert "fingerprint.json is missing" in unknown(files, repo_id="tstbench/mini")
    another = {**files, "fingerprint.json": told, "more/test.parquet": files["styles/test.parquet"]}
    assert "does not name it" in unknown(another, repo_id="tstbench/mini")


def test_a_marker_anywhere():
    refuse({f"data/{MARKER}": b""})
    refuse({f"data/{MARKER.lower()}": b""})


JUDGMENT = {
    "study": "ours",
    "dataset": "gyafc_em",
    "direction": DIRECTION,
    "system": "copy",
    "sample_id": "gyafc_em-test-0-00001",
    "source": None,
    "output": None,
    "aspect": "style",
    "scale": "ordinal 1-5",
    "rater": "rater-1",
    "score": 1,
}


def test_judgments_of_licensed_sentences():
    passes({"human.jsonl": lines(JUDGMENT)})
    passes({"human.jsonl": lines({**JUDGMENT, "note": "skipped"})})
    for name in ("source", "output", "note"):
        assert name in refuse({"human.jsonl": lines({**JUDGMENT, name: "Why go ?"})})
    text = {**JUDGMENT, "source": REWRITE, "output": REWRITE, "note": f"skipped: {REWRITE}"}
    row = without_licensed_text(Judgment.model_validate(text))
    assert (row.source, row.output, row.note) == (None, None, "skipped")


def test_a_space_has_no_data_and_a_model_says_what_it_learned_from(tmp_path):
    sentence = json.dumps({"x": SENTENCE}).encode()
    assert "a text of 10 words" in unknown({"a.json": sentence}, "space")
    passes({"a.json": b'{"weight": 0.5, "name": "v1"}', "app.py": b"# x\n"}, "space")
    assert "Data belongs in a dataset" in unknown({"a.jsonl": sentence}, "space")
    files = {p.name: p for p in model_folder(tmp_path / "model").iterdir()}
    for name in ("memory.json", "sentences.md", "sentences.txt"):
        assert "what it was trained on" in unknown({**files, name: sentence}, "model")
    for name in ("vocab.txt", "merges.txt"):
        assert f"{name}, line 2" in unknown({**files, name: f"soup\n{SENTENCE}".encode()}, "model")
    card = {"system.json": json.dumps({"directions": [OPEN]}).encode()}
    passes({**files, **card, "memory.json": sentence}, "model")
    card = {"system.json": json.dumps({"directions": [DIRECTION]}).encode()}
    refuse({**files, **card, "memory.json": sentence}, "model")
