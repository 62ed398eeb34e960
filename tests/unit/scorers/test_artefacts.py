"""Trained scorers in the cache: found by name, named by content, refused when changed."""

import hashlib
import json
import shutil
from dataclasses import asdict, replace

import pytest
from classifier_toys import CARD

from tstbench.errors import InputError, IntegrityError
from tstbench.metrics.scorers.artefacts import find, find_recipe, open_artefact, store
from tstbench.store import data_fingerprint


def write(folder):
    (folder / "model.json").write_text('{"a": 1}')
    (folder / "sub").mkdir()
    (folder / "sub" / "weights.bin").write_bytes(b"\0\1\2")


def test_the_hash_is_what_its_description_says():
    """Computed here from the description alone: files, then the card without what people read."""
    files = hashlib.sha256()
    for name, content in (("model.json", b'{"a": 1}'), ("sub/weights.bin", b"\0\1\2")):
        files.update(f"{name}\0{len(content)}\0".encode() + content)
    card = asdict(CARD)
    del card["versions"]
    hashed = files.hexdigest().encode() + b"\0" + json.dumps(card, sort_keys=True).encode()
    stored = store(CARD, write)
    assert find("classifier", "mini", "linear") == stored
    assert stored.hash == stored.folder.name == hashlib.sha256(hashed).hexdigest()
    assert (stored.folder / "sub" / "weights.bin").read_bytes() == b"\0\1\2"
    assert "0.7500" in (stored.folder / "README.md").read_text()


def test_the_hash_depends_on_content_only(monkeypatch, tmp_path):
    first = store(CARD, write).hash
    monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path / "another place"))
    shuffled = dict(reversed(CARD.settings.items()))
    assert store(replace(CARD, settings=shuffled, versions={}), write).hash == first
    assert store(replace(CARD, settings={"seed": 1}), write).hash != first
    assert store(replace(CARD, scores={"held_out_accuracy": 0.8}), write).hash != first


def test_missing_and_added_files_are_refused():
    folder = store(CARD, write).folder
    (folder / "extra.bin").write_bytes(b"")
    with pytest.raises(IntegrityError, match="was changed after it was made"):
        open_artefact(folder)
    (folder / "extra.bin").unlink()
    (folder / "model.json").unlink()
    with pytest.raises(IntegrityError, match="tstbench prepare mini"):
        open_artefact(folder)


def test_a_downloaded_copy_opens_anywhere_with_what_the_hub_adds(tmp_path):
    stored = store(CARD, write)
    copy = tmp_path / "from the hub"
    shutil.copytree(stored.folder, copy)
    (copy / ".gitattributes").write_text("*.bin filter=lfs\n")
    (copy / ".cache" / "huggingface").mkdir(parents=True)
    (copy / ".cache" / "huggingface" / "x.lock").write_text("")
    (copy / "README.md").write_text("edited on the web")
    opened = open_artefact(copy)
    assert (opened.hash, opened.card, opened.folder) == (stored.hash, CARD, copy)
    with pytest.raises(IntegrityError, match="expected"):
        open_artefact(copy, expected="0" * 64)


def test_names_are_no_paths(tstbench_home):
    for dataset, name in (("..", "linear"), ("mini", "../linear"), ("mini", ""), ("a/b", "x")):
        with pytest.raises(InputError, match="cannot name a scorer"):
            store(replace(CARD, dataset=dataset, name=name), write)
        with pytest.raises(InputError, match="cannot name a scorer"):
            find("classifier", dataset, name)
    with pytest.raises(InputError, match="unknown role"):
        find("judge", "mini", "linear")
    assert not tstbench_home.exists()


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failure_leaves_nothing_behind(error, tstbench_home):
    def fail(folder):
        write(folder)
        raise error("disk full")

    with pytest.raises(error, match="disk full"):
        store(CARD, fail)
    assert [path for path in tstbench_home.rglob("*") if path.is_file()] == []
    for broken in ({"scores": {"x": float("nan")}}, {"settings": {"x": object()}}):
        with pytest.raises(InputError, match="card of 'linear'"):
            store(replace(CARD, **broken), write)


def test_the_same_recipe_is_recognised():
    assert find_recipe(CARD) is None
    stored = store(CARD, write)
    untrained = replace(CARD, scores={}, versions={"tstbench": "9.0"}, n_excluded=3)
    assert find_recipe(untrained) == stored
    for change in ({"settings": {"seed": 1}}, {"kind": "probe"}, {"data_fingerprint": "0" * 64}):
        assert find_recipe(replace(untrained, **change)) is None
    shutil.rmtree(stored.folder)
    assert find_recipe(CARD) is None
    assert store(CARD, write) == stored


def test_a_damaged_index_says_what_to_do(tstbench_home):
    store(CARD, write)
    index = tstbench_home / "scorers" / "index" / "classifier" / "mini" / "linear.json"
    good = json.loads(index.read_text())
    for content in ("", "[]", json.dumps({**good, "artefact": "../../elsewhere"})):
        index.write_text(content)
        with pytest.raises(IntegrityError, match="tstbench prepare mini"):
            find("classifier", "mini", "linear")


def test_an_index_cannot_pass_one_scorer_off_as_another(tstbench_home):
    store(CARD, write)
    folder = tstbench_home / "scorers" / "index" / "classifier" / "mini"
    shutil.copy(folder / "linear.json", folder / "textcnn.json")
    with pytest.raises(IntegrityError, match="points to another scorer"):
        find("classifier", "mini", "textcnn")


def test_fingerprints_tell_sentence_borders_and_order_apart():
    texts = (["a b"], ["a", "b"], ["b", "a"], ["a\nb"], [])
    assert len({data_fingerprint(t) for t in texts}) == len(texts)
    assert data_fingerprint(["a"], [0]) != data_fingerprint(["a"], [1]) != data_fingerprint(["a"])
