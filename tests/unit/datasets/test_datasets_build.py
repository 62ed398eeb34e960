"""Built folders of mini: what load_dataset reads is what load_test_set gives."""

import json
import re

import datasets
import pytest
from huggingface_hub import DatasetCard
from own_data import write_lines
from places import GOLDEN
from record_built import built

from tstbench.citation import BIBTEX
from tstbench.datasets_scripts.build import TransferBuilder, build
from tstbench.datasets_scripts.cards import read_card
from tstbench.datasets_scripts.catalog import CORPORA, load_data, register
from tstbench.datasets_scripts.corpus import Corpus, Part
from tstbench.datasets_scripts.directions import DatasetFacts
from tstbench.datasets_scripts.load import load_styles, load_test_set
from tstbench.datasets_scripts.own import own_card
from tstbench.datasets_scripts.tables import OwnText
from tstbench.errors import MissingFileError

MINI = CORPORA["mini"]
DIRECTIONS = MINI.facts.directions
PARTS = ("train", "validation", "test")
COLUMNS = {
    "id": datasets.Value("string"),
    "source": datasets.Value("string"),
    "references": datasets.List(datasets.Value("string")),
    "source_style": datasets.Value("string"),
    "target_style": datasets.Value("string"),
}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return build("mini", tmp_path_factory.mktemp("built"))


def load(report, *args, tmp_path, **options):
    # A cache of its own: datasets does not notice every change of a local folder.
    return datasets.load_dataset(str(report.folder), *args, cache_dir=str(tmp_path), **options)


def rows_of(got):
    return [
        {
            "id": i,
            "source": source,
            "references": list(references),
            "source_style": got.direction.source_style,
            "target_style": got.direction.target_style,
        }
        for i, source, references in zip(got.ids, got.sources, got.references, strict=True)
    ]


@pytest.mark.parametrize("direction", DIRECTIONS, ids=str)
def test_direction_view(report, direction, tmp_path):
    found = load(report, direction.config, tmp_path=tmp_path)
    builder = TransferBuilder(MINI, direction.config, cache_dir=str(tmp_path / "builder"))
    builder.download_and_prepare()
    assert tuple(found) == PARTS
    for part in PARTS:
        got = load_test_set(direction, part)
        for view in (found, builder.as_dataset()):
            assert view[part].features == COLUMNS
            assert view[part].to_list() == rows_of(got)
        assert report.fingerprints[f"{direction.config}/{part}"] == got.fingerprint
    stream = load(report, direction.config, split="test", streaming=True, tmp_path=tmp_path)
    assert list(stream) == rows_of(got)


def test_default_view_names_the_direction_in_the_split(report, tmp_path):
    found = load(report, tmp_path=tmp_path)
    assert set(found) == {d.split(part) for d in DIRECTIONS for part in PARTS}
    for direction in DIRECTIONS:
        assert found[direction.split("test")].to_list() == rows_of(load_test_set(direction))
    sliced = load(report, split="test_negative_to_positive[:3]", tmp_path=tmp_path)
    assert sliced.num_rows == 3


def test_styles_view(report, tmp_path):
    found = load(report, "styles", tmp_path=tmp_path)
    data = load_styles("mini", exclude_test=False)
    for part in PARTS:
        assert found[part].features == {
            "text": datasets.Value("string"),
            "style": datasets.ClassLabel(names=["negative", "positive"]),
        }
        assert tuple(found[part]["text"][:]) == data.splits[part].texts
        assert tuple(found[part]["style"][:]) == data.splits[part].labels
        assert report.fingerprints[f"styles/{part}"] == data.splits[part].fingerprint
    streamed = TransferBuilder(MINI, "styles", cache_dir=str(tmp_path)).as_streaming_dataset("test")
    assert tuple(row["text"] for row in streamed) == data.splits["test"].texts


def test_discovery(report):
    folder = str(report.folder)
    names = ["default", *(d.config for d in DIRECTIONS), "styles"]
    assert datasets.get_dataset_config_names(folder) == names
    assert datasets.get_dataset_default_config_name(folder) == "default"
    assert tuple(datasets.get_dataset_split_names(folder, "styles")) == PARTS


def test_same_bytes_when_built_again(report, tmp_path):
    again = build("mini", tmp_path)
    first, second = (
        {p.relative_to(r.folder): p.read_bytes() for r in [r] for p in r.folder.rglob("*.*")}
        for r in (report, again)
    )
    assert first == second


def test_what_is_built_stays_as_it_was_recorded(manners, tones, tmp_path):
    load_data(manners)
    load_data(tones)
    for name, recorded in json.loads((GOLDEN / "built.json").read_text("utf-8")).items():
        assert built(name, tmp_path / "out") == recorded, name


def test_card(report):
    assert not list(report.folder.rglob("*.py")), "no script"
    card = DatasetCard.load(report.folder / "README.md")
    assert card.data.license == "apache-2.0"
    assert [c["config_name"] for c in card.data.to_dict()["configs"] if c.get("default")] == [
        "default"
    ]
    text = card.text
    for quality in report.quality:
        assert f"| {quality.part} | {quality.style} | {quality.rows:,} |" in text
    for value in report.fingerprints.values():
        assert value in text
    assert "$" not in text  # every placeholder was filled
    assert BIBTEX.strip() in text
    assert str(report.folder.parent) not in card.content  # nothing of this machine


def test_rebuild_with_another_cleaning_is_seen_through_the_same_cache(tmp_path):
    cache, out = tmp_path / "cache", tmp_path / "out"

    def first_source():
        folder = str(out / "mini")
        return datasets.load_dataset(
            folder, "negative-to-positive", split="test", cache_dir=str(cache)
        )

    paper = build("mini", out)
    assert first_source().num_rows == 40
    raw = build("mini", out, cleaning="raw")
    assert (raw.cleaning, paper.cleaning) == ("raw", "paper-v1")
    assert first_source().to_list() == rows_of(
        load_test_set("mini/negative-to-positive", cleaning="raw")
    )
    assert len(list(cache.glob("**/dataset_info.json"))) == 2  # not the first one's rows again


def test_missing_files_stop_a_build_or_are_left_out_and_said(tmp_path, monkeypatch):
    monkeypatch.delenv("TSTBENCH_SOURCES", raising=False)
    with pytest.raises(MissingFileError, match="TSTBENCH_SOURCES"):
        build("yelp", tmp_path)
    with pytest.raises(MissingFileError):  # a dataset without its test part is none
        build("yelp", tmp_path, allow_missing=True)
    assert list(tmp_path.iterdir()) == []


def test_builder_refuses_unknown_views(tmp_path):
    with pytest.raises(ValueError, match="negative-to-positive"):
        TransferBuilder(MINI, "sideways", cache_dir=str(tmp_path))


@pytest.mark.parametrize("name", sorted(CORPORA))
def test_every_dataset_has_a_card(name):
    card = read_card(CORPORA[name])
    licence = card.front.get("license_name", card.front["license"])
    assert licence == (CORPORA[name].facts.licence or "unknown")  # none stated: never published
    assert card.front["license"]
    assert card.front["language"] == ["en"]
    assert {"Licence"} <= set(re.findall(r"^## (.+)$", card.body, re.MULTILINE))
    assert name == "mini" or card.citation.startswith("@")


# -- what a build counts ---------------------------------------------------------------------------


# Equal up to the 64th word, where the usual cleaning cuts: raw, they are two sentences.
LONG = " ".join(f"word{i}" for i in range(70))
# Of the mined ones five repeat another, and two of validation and two of test are among them.
TEXTS = {
    "mined-0": ["Go .", "stop it now", "go.", "Sit !", "wait", "GO .", "be quiet", "STOP it now"],
    "mined-1": ["please go", "do stop", "Please  go", f"{LONG} please", "Do stop", LONG],
    "validation-0": ["Sit!", ""],
    "validation-1": ["do sit", "May  I go", "DO sit", "sit !", LONG],
    "test-0": ["wait", "Be quiet", "leave us"],
    "test-1": ["may I go"],
    "first": ["Wait .", "be quiet", "please leave us"],
    "second": ["", "would you be quiet", "leave  us"],
}
FACTS = DatasetFacts(
    "orders",
    "Orders",
    "politeness",
    ("rude", "polite"),
    references=2,
    licence="cc0-1.0",
    learn_from="mined",
)


@pytest.fixture
def counted(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    for name, lines in TEXTS.items():
        write_lines(tmp_path / f"{name}.txt", lines)

    def file(name):
        return OwnText(tmp_path / f"{name}.txt", f"{name}.txt")

    def part(name, **more):
        return Part(name, ((file(f"{name}-0"),), (file(f"{name}-1"),)), **more)

    parts = (
        part("mined", decontamination="amazon-mined-v1"),
        part("validation"),
        part("test", references={(0, 1): (file("first"), file("second"))}),
    )
    card = own_card(FACTS, "", "")
    register(Corpus(FACTS, "1.0.0", parts, card=card, origin=str(tmp_path / "orders.toml")))
    return build("orders", tmp_path / "out")


def test_every_count_of_a_build_is_the_one_by_hand(counted):
    found = {(q.part, q.style): q for q in counted.quality}
    counts = {
        key: (q.rows, q.removed, q.empty, q.duplicates, q.other_style, q.test_overlap, q.unchanged)
        for key, q in found.items()
    }
    assert counts == {
        ("mined", "rude"): (2, 6, 0, 0, 0, 0, 0),
        ("mined", "polite"): (3, 3, 0, 0, 0, 0, 0),
        ("validation", "rude"): (2, 0, 1, 0, 1, 0, 0),
        ("validation", "polite"): (5, 0, 0, 1, 1, 1, 0),
        ("test", "rude"): (3, 0, 0, 0, 0, 0, 2),
        ("test", "polite"): (1, 0, 0, 0, 0, 0, 0),
    }
    assert found["test", "rude"].references == (1, 2)
    assert found["test", "rude"].words == (1, pytest.approx(5 / 3), 2, 2)
    # Known are the words of the mined sentences that were kept, of both styles.
    assert found["test", "rude"].oov == 1
    assert found["test", "polite"].oov == pytest.approx(2 / 3)
    assert found["validation", "rude"].oov == 1


def test_a_step_says_what_it_removed_and_which_repeated(counted):
    card = (counted.folder / "README.md").read_text()
    assert (
        "`amazon-mined-v1` on mined: 4 sentences removed because they occur in other splits, and "
        "5 repetitions." in card
    )
    facts = json.loads((counted.folder / "fingerprint.json").read_text())
    assert facts["decontamination"] == {"mined": "amazon-mined-v1"}
    assert load_test_set("orders/rude-to-polite", "mined").ids == (
        "orders-mined-0-00000",
        "orders-mined-0-00001",
    )
