"""Test sets and labelled sentences: alignment, decontamination, fingerprints, on small corpora."""

import hashlib
import json
from dataclasses import replace

import pytest

from tstbench.datasets_scripts import catalog
from tstbench.datasets_scripts import load as load_module
from tstbench.datasets_scripts.catalog import CORPORA, DATASETS, parse_dataset
from tstbench.datasets_scripts.cleaning import PAPER_V1
from tstbench.datasets_scripts.corpus import Corpus, Part, read_side
from tstbench.datasets_scripts.fingerprint import fingerprint, style_fingerprint
from tstbench.datasets_scripts.load import load_styles, load_test_set, split_to_learn
from tstbench.datasets_scripts.sources import PackageFile, UserFile
from tstbench.errors import InputError, MissingFileError, UnknownNameError


def user_file(name):
    return UserFile(name, "Ours", "TSTBENCH_TEST_CORPUS", "Write it.")


@pytest.fixture
def tiny(tmp_path):
    """A corpus of our own in a folder: Yelp's layout and its decontamination step."""
    lines = {
        "train.0": "bad soup .\nawful tea .",  # the test sentence again, other case and spacing
        "train.1": "nice soup .\nGREAT Tea.\ngood jam .",  # and one of the references
        "dev.0": "Awful tea.\nsad cake .\nawful tea .",
        "dev.1": "fine cake .\n",
        "test.0": "awful tea .\nrude cook .\n",
        "test.1": "lovely tea .",
        "reference.0": "great tea .\nkind cook .",
        "reference.1": "nasty tea .\n",
    }
    for name, text in lines.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    def pair(stem):
        return ((user_file(f"{stem}.0"),), (user_file(f"{stem}.1"),))

    corpus = Corpus(
        replace(DATASETS["mini"], name="tiny"),
        "1.0.0",
        (
            Part("train", pair("train")),
            Part("validation", pair("dev"), decontamination="yelp-dev-minus-test-v1"),
            Part(
                "test",
                pair("test"),
                references=dict(zip([(0, 1), (1, 0)], pair("reference"), strict=True)),
            ),
        ),
    )
    catalog.register(corpus)
    return tmp_path


def test_fingerprint_is_sha256_of_json_lines():
    rows = [["a b", "c"], ['d "q" é'], ["", "", "e"]]  # ragged, quotes, no ASCII, empty
    text = '["a b","c"]\n["d \\"q\\" é"]\n["","","e"]\n'
    want = hashlib.sha256(text.encode("utf-8")).hexdigest()
    assert fingerprint([r[0] for r in rows], [r[1:] for r in rows]) == want
    assert style_fingerprint(["é"], [1]) == hashlib.sha256('["é",1]\n'.encode()).hexdigest()
    with pytest.raises(ValueError, match="zip"):
        fingerprint(["a", "b"], [[]])
    with pytest.raises(ValueError, match="shorter"):
        style_fingerprint(["a", "b"], [0])


def test_decontamination_removes_every_copy_and_keeps_line_numbers(tiny):
    got = load_test_set("tiny/negative-to-positive", "validation", data_dir=tiny)
    assert got.sources == ("sad cake.",)
    assert got.ids == ("tiny-validation-0-00001",)  # upstream's second line
    side = read_side(CORPORA["tiny"], "validation", 0, PAPER_V1, tiny)
    assert (side.removed, side.repeats) == (2, 0)


def test_published_rows_keep_upstreams_overlap_but_scorers_never_see_it(tiny):
    assert load_styles("tiny", data_dir=tiny, exclude_test=False).splits["train"].texts == (
        "bad soup.",
        "awful tea.",
        "nice soup.",
        "GREAT Tea.",
        "good jam.",
    )
    assert load_styles("tiny", data_dir=tiny, exclude=["GOOD  jam ."]).splits["train"].texts == (
        "bad soup.",
        "nice soup.",
    )


def test_no_split_takes_the_place_of_the_one_to_learn_from(tiny):
    whole = parse_dataset("tiny")
    pinned = replace(whole.facts, name="tinier", learn_from="validation")
    catalog.register(replace(whole, facts=pinned))
    learned = load_styles("tinier", data_dir=tiny).training
    assert (learned.name, learned.texts) == ("validation", ("sad cake.", "fine cake."))
    assert load_styles("tinier", split="train", data_dir=tiny).training.name == "train"
    (tiny / "train.1").unlink()  # what is not learned from need not be there, and changes nothing
    assert load_styles("tinier", data_dir=tiny).training == learned
    for data in (
        load_styles("tiny", data_dir=tiny),
        load_styles("tinier", split="train", data_dir=tiny),
    ):
        with pytest.raises(MissingFileError, match=r"split train of tin.*--split NAME.*train\.1"):
            _ = data.training
    (tiny / "test.0").unlink()  # what must be excluded is not known any more
    with pytest.raises(MissingFileError, match=r"test\.0"):
        load_styles("tinier", data_dir=tiny)


def test_a_split_to_learn_from_is_one_with_sentences_of_its_own(tiny):
    for split in ("trian", "test"):
        with pytest.raises(UnknownNameError, match=r"training split of tiny .*train, validation"):
            load_styles("tiny", split=split, data_dir=tiny)


def test_line_ends_are_any_and_an_empty_line_is_a_line_and_no_rewrite(tiny):
    for content, references in (
        (b"great tea .\r\nkind cook .", (("great tea .",), ("kind cook .",))),
        (b"\nkind cook .\n", ((), ("kind cook .",))),
    ):
        (tiny / "reference.0").write_bytes(content)
        got = load_test_set("tiny/negative-to-positive", data_dir=tiny, cleaning="raw")
        assert got.references == references


def test_every_dataset_has_a_corpus():
    assert set(CORPORA) == set(DATASETS)
    for name, corpus in CORPORA.items():
        assert corpus.facts is DATASETS[name]
        assert load_module.parse_dataset(name) is corpus
        assert bool(corpus.facts.directions) != corpus.facts.labels_only
        if corpus.facts.labels_only:
            assert not any(part.transfer or part.rewrites for part in corpus.parts)
            continue
        assert [p.name for p in corpus.parts if p.transfer] == ["train", "validation", "test"]
        test = corpus.part("test")
        assert {len(refs) for refs in test.references.values()} == {corpus.facts.references}


def test_pinned_table_is_plain_json():
    table = json.loads(PackageFile("upstream.json").locate().read_text("utf-8"))
    for entry in table.values():
        assert len(entry["commit"]) == 40
        assert all(len(blob) == 40 for blob, _ in entry["files"].values())


def test_a_whole_test_set(tiny):
    """Every field, against the files above: two sentences one way, one the other."""
    got = load_test_set("tiny/negative-to-positive", data_dir=tiny)
    assert str(got.direction) == "tiny/negative-to-positive"
    assert (got.part, got.cleaning, len(got)) == ("test", "paper-v1", 2)
    assert got.ids == ("tiny-test-0-00000", "tiny-test-0-00001")
    assert got.sources == ("awful tea.", "rude cook.")
    assert got.references == (("great tea.",), ("kind cook.",))
    assert got.fingerprint == fingerprint(got.sources, got.references)
    back = load_test_set("tiny/positive-to-negative", cleaning="raw", data_dir=tiny)
    assert (back.cleaning, back.sources, back.references) == (
        *("raw", ("lovely tea .",), (("nasty tea .",),)),
    )
    assert back.ids == ("tiny-test-1-00000",)


def test_whole_labelled_sentences(tiny):
    data = load_styles("tiny", cleaning="raw", data_dir=tiny)
    assert (data.dataset, data.styles, data.cleaning) == (
        *("tiny", ("negative", "positive"), "raw"),
    )
    assert list(data.splits) == ["train", "validation", "test"]
    with pytest.raises(KeyError, match="dev"):
        data.splits["dev"]
    train = data.splits["train"]
    assert (train.name, len(train), train.excluded) == ("train", 3, 2)  # a source and a reference
    assert (train.of(0), train.of(1)) == (("bad soup .",), ("nice soup .", "good jam ."))
    assert (train.texts, train.labels) == (train.of(0) + train.of(1), (0, 1, 1))
    assert train.fingerprint == style_fingerprint(train.texts, train.labels)
    test = data.splits["test"]
    assert (test.name, test.labels, test.excluded) == ("test", (0, 0, 1), 0)
    assert test.texts == ("awful tea .", "rude cook .", "lovely tea .")
    assert data.training == train
    assert data.validation == data.splits["validation"]
    assert load_styles("tiny", split="validation", data_dir=tiny).validation is None


def test_a_split_of_which_nothing_is_left_is_named(tiny):
    for name in ("train.0", "train.1"):
        (tiny / name).write_text("awful tea .\n")
    with pytest.raises(InputError, match="tiny, train: no sentence is left"):
        _ = load_styles("tiny", data_dir=tiny).training


def test_a_dataset_has_the_splits_that_have_sentences(tiny):
    whole = parse_dataset("tiny")
    train, validation, test = whole.parts
    mined = Part("mined", ((), ()))

    def styles(*parts):
        facts = replace(whole.facts, name="tinier")
        catalog.register(replace(whole, facts=facts, parts=parts))
        return load_styles("tinier", data_dir=tiny)

    assert list(styles(train, mined, validation, test).splits) == ["train", "validation", "test"]
    half = Part("half", (train.sentences[0], ()))  # of one style alone
    assert list(styles(half, test).splits) == ["half", "test"]
    assert split_to_learn("tinier", "half") == "half"
    (split,) = styles(train).splits.values()  # there are no test sentences to leave out
    assert (len(split), split.excluded) == (5, 0)
    data = styles(test)
    assert [(len(one), one.excluded) for one in data.splits.values()] == [(3, 0)]
    with pytest.raises(MissingFileError, match=r"tinier has no sentences to train on: .* train"):
        _ = data.training
