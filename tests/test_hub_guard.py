"""Licensed text never gets into a repository, whatever it is called and wherever it hides.

Every sentence here is our own; the guard only ever sees the layout and the names of the licensed
corpus.
"""

import json

import pytest
from datasets import ClassLabel, Features, Value
from hub_artefacts import dataset_folder, model_folder, write_parquet

from tstbench.datasets_scripts.build import build as build_dataset
from tstbench.datasets_scripts.publication import MARKER
from tstbench.errors import InputError, MissingFileError, TSTBenchError
from tstbench.pipelines.hub.guard import LicensedTextError, check_publishable
from tstbench.pipelines.hub.repositories import find_repository
from tstbench.pipelines.hub.writing import write_repository

CARD = {"README.md": b"# A card\n"}
SENTENCE = "u should totally go 2 that concert with ur friends"
REWRITE = "You should certainly attend that concert with your friends."
DIRECTION = "gyafc_em/informal-to-formal"
REPORT = {
    "schema_version": 1,
    "direction": DIRECTION,
    "profile": "embedded",
    "system": {"name": "a rule based system", "origin": "their outputs, cleaned by us"},
    "scores": [{"metric": "acc", "value": 71.5, "unit": "percent", "signature": "acc|v:1 a b c"}],
    "left_out": [{"metric": "joint", "why": "no sentence has a reference here"}],
}
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


def parquet(tmp_path, columns, features=None):
    write_parquet(tmp_path / "x.parquet", columns, features)
    return (tmp_path / "x.parquet").read_bytes()


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
    open_report = json.dumps({**REPORT, "direction": "yelp/negative-to-positive"}).encode()
    passes({"r/one/report.json": open_report, "r/one/samples.jsonl": lines(SAMPLE)})


def test_a_parquet_column(tmp_path):
    columns = {"direction": ["yelp/negative-to-positive", DIRECTION], "prediction": ["a", REWRITE]}
    assert "row 1" in refuse({"all.parquet": parquet(tmp_path, columns)})
    nested = {"runs": [{"direction": DIRECTION, "prediction": REWRITE}]}
    refuse({"all.parquet": parquet(tmp_path, nested)})


def test_a_record_as_an_example_in_a_card():
    record = json.dumps({"direction": DIRECTION, "source": SENTENCE})
    assert "README.md, line 4" in refuse({"README.md": f"# Card\n\n```\n{record}\n```\n".encode()})


def test_scores_without_text_pass(tmp_path):
    row = {"direction": DIRECTION, "system": "GPT-4 with four examples", "acc": 0.7}
    passes({"r/one/report.json": json.dumps(REPORT).encode()})
    passes({"scores.jsonl": lines(row)})
    passes({"scores.csv": f"direction,acc\n{DIRECTION},0.7\n".encode()})
    passes({"scores.parquet": parquet(tmp_path, {k: [v] for k, v in row.items()})})
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
    words = {"words.json": b'["formal", "informal", "gyafc"]', "map.json": b'{"formal": 3}'}
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


def test_short_and_similar_sentences_are_not_taken_for_quotes(corpus):
    passes({"a.txt": b"lol no\nYou should certainly attend that concert with your sister.\n"})


def test_an_empty_copy_checks_nothing_and_says_so(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("TSTBENCH_GYAFC", str(tmp_path / "empty"))
    with pytest.raises(MissingFileError, match="GYAFC"):
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
    good = {**CARD, "a.jsonl": lines({"direction": "yelp/negative-to-positive", "source": "ok"})}
    commit = write_repository(root, "dataset", "tstbench/outputs", good)
    bad = {**good, "b.jsonl": lines({"direction": DIRECTION, "source": SENTENCE})}
    with pytest.raises(TSTBenchError):
        write_repository(root, "dataset", "tstbench/outputs", bad)
    repository = find_repository(root, "dataset", "tstbench/outputs")
    assert repository.resolve() == commit
    assert not (repository.path / "b.jsonl").exists()
    for path in (p for p in root.rglob("*") if p.is_file()):
        assert SENTENCE.encode() not in path.read_bytes()
