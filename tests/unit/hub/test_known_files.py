"""The paths of the files that are published, and which check each of them meets."""

import pytest
from places import ROOT
from published_files import REPO, WHOLE, refusal

from tstbench.errors import InputError
from tstbench.pipelines.hub import known_records as records
from tstbench.pipelines.hub.known_files import check_known
from tstbench.pipelines.hub.known_records import PublishedFile


def test_each_file_has_its_own_check():
    check_known("dataset", REPO, {**WHOLE, "README.md": b"\xff"})
    for path in WHOLE:
        for other, content in WHOLE.items():
            if other != path:
                said = refusal({**WHOLE, path: content})
                assert said.startswith(f"{REPO}: ")
    for path, content in WHOLE.items():
        for moved in (f"x/y/z/{path}", f"{path}x"):
            said = refusal({moved: content})
            assert said.startswith(
                f"{REPO}: {moved} is not published: only files that TSTBench writes are (cards, "
                "eval.yaml, fingerprint.json and the Parquet of `tstbench build`; scores, outputs, "
            )


@pytest.mark.parametrize("name", ["python.py", "a.md", "b.css", "c.js", "d.html", "e.svg", "f.gif",
                                  "g.ico", "h.jpg", "i.jpeg", "j.png", "k.webp",
                                  "requirements.txt", "packages.txt"])  # fmt: skip
def test_files_of_a_space(name):
    for folder in ("", "deep/", "very/deep/"):
        check_known("space", REPO, {f"{folder}{name}": b"\xff anything at all, and more of it"})
    assert "Data belongs in a dataset" in refusal({f"{name}x": b""}, "space")
    assert "Data belongs in a dataset" in refusal({f"x{name}": b"", "a.txt": b""}, "space")


def test_settings_of_a_space_are_looked_into_in_every_folder():
    for path in ("a.json", "deep/b.json"):
        check_known("space", REPO, {path: b'["one two three four five"]'})
        assert "it has a text of 6 words" in refusal(
            {path: b'["one two three four five 6"]'}, "space"
        )


FOREIGN = """a.safetensors b.bin c.model README.md config.json generation_config.json vocab.json
tokenizer.json tokenizer_config.json added_tokens.json special_tokens_map.json
model.safetensors.index.json vocab.txt merges.txt""".split()
OURS = "memory.json memory.jsonl plot.svg words.txt a.arpa a.npy a.npz".split()


def test_files_of_a_model():
    cards = (
        {"system.json": b'{"directions": ["mini/negative-to-positive"]}'},
        {"scorer.json": b'{"dataset": "mini"}'},
    )
    for folder in ("", "deep/", "very/deep/"):
        files = {f"{folder}{name}": b"a b c d e\n" for name in FOREIGN}
        check_known("model", REPO, files)
        for name in OURS:
            said = refusal({**files, f"{folder}{name}": b"a b c d e"}, "model")
            assert said == (
                f"{REPO}: {folder}{name} is not published: it is none of the files of a "
                "transformers model, and there is no card of ours (system.json or scorer.json) "
                "that says what it was trained on. Train it with TSTBench, or leave it out"
            )
            for card in cards:
                check_known("model", REPO, {**files, **card, f"{folder}{name}": b"\xff"})
        for name in ("vocab.txt", "merges.txt"):
            for card in ({}, *cards):
                said = refusal({**card, f"{folder}{name}": b"a b c d e f"}, "model")
                assert f"{folder}{name}, line 1 is not published: a line of a vocabulary" in said
    check_known("model", REPO, {".eval_results/a.yaml": b""})
    for path in ("eval_results/a.yaml", ".eval_results/a/b.yaml", "x/.eval_results/a.yaml", "a.py"):
        for card in ({}, *cards):
            assert "of a transformers model" in refusal({**card, path: b""}, "model")
    deep = {"memory.json": b"", "deep/system.json": b'{"directions": []}'}
    assert "memory.json is not published" in refusal(deep, "model")  # the card of another folder
    # The system's card goes before the scorer's; both may be there.
    mini, x = (b'{"directions": ["%s/a-to-b"]}' % name for name in (b"mini", b"x"))
    both = {"scorer.json": b'{"dataset": "mini"}', "system.json": x}
    assert "has sentences of x, whose licence" in refusal({**both, "memory.json": b""}, "model")
    both = {"scorer.json": b'{"dataset": "x"}', "system.json": mini}
    check_known("model", REPO, {**both, "memory.json": b""})
    for card in (b"{}", b'{"directions": 5}', b'{"directions": {}}', b"[" * 100_000, b"\xff", b"5"):
        assert "memory.json is not" in refusal(
            {"memory.json": b"", **both, "system.json": card}, "model"
        )


@pytest.mark.parametrize("name", ["memory.json", "a.arpa", "notes.txt", "x/rows.jsonl", "x.json"])
def test_sentences_of_a_model_are_those_of_a_dataset_that_its_card_names(name):
    content = b'["my own sentence that came from nowhere at all"]'
    nothing = {"system.json": b'{"directions": []}'}  # it learned to follow instructions
    assert refusal({**nothing, name: content}, "model") == (
        f"{REPO}: {name} is not published: it may have sentences, and the card of the model names "
        "no dataset that they are of. Leave it out"
    )
    unknown = {"system.json": b'{"directions": ["x/a-to-b"]}'}
    assert "has sentences of x, whose licence" in refusal({**unknown, name: content}, "model")
    for card in (nothing, unknown):  # networks go anywhere, with how they learned
        numbers = {"curve.jsonl": b'{"step": 1}', "base.json": b'{"layers": 2}', "a.npz": b""}
        check_known("model", REPO, {**card, **numbers})


def test_a_setting_is_a_file_of_ours_only_under_its_own_name():
    ours = ROOT / "metrics/joint/calibrated-v1.json"
    content = ours.read_bytes()
    check_known("space", REPO, {f"x/{ours.name}": content})
    for name in ("other.json", "*.json", "**.json", "[.json", "?.json"):
        one = PublishedFile(REPO, f"x/{name}", {f"x/{name}": content})
        with pytest.raises(InputError, match=r"it has a text of \d+ words"):
            records.settings(one)
