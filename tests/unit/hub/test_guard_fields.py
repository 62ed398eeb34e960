"""Which fields, keys and kinds of file the guard takes for licensed text, one by one.

What a corpus may be called and where its sentences may stand is listed here in full, as datasets on
the Hub name their columns, not as the guard does. Every sentence is our own.
"""

import json

import pytest

from tstbench.errors import InputError
from tstbench.pipelines.hub.guard import LicensedTextError, check_publishable

REPO = "us/things"
CARD = {"README.md": b"# A card\n"}
DIRECTION = "gyafc_fr/formal-to-informal"
FOUR_WORDS = "come over this evening"
WAY_OUT = "Publish the scores without sources, references and predictions"
SUFFIXES = {
    "dataset": "css csv html js json jsonl md parquet py svg toml tsv txt yaml yml",
    "space": "css csv html js json jsonl md parquet py svg toml tsv txt yaml yml",
    "model": "arpa bin css csv html js json jsonl md model npy npz parquet py safetensors svg toml "
    "tsv txt yaml yml",
}
PICTURES = "gif ico jpeg jpg png webp"


def said(files, kind="dataset", repo_id=REPO):
    """Why a repository is refused because of licensed text; empty if it is not because of that."""
    try:
        check_publishable(kind, repo_id, {**CARD, **files})
    except LicensedTextError as error:
        return str(error)
    except InputError as error:
        if " is not published: " not in str(error):  # none of our files: said last of all
            raise
    return ""


def record(**fields):
    return {"a.json": json.dumps(fields).encode()}


def refused(field):
    return f"{REPO}: a.json: field {field!r} has text of a licensed dataset. {WAY_OUT}"


@pytest.mark.parametrize(
    "field",
    "source sources reference references prediction predictions hypothesis hypotheses output "
    "outputs rewrite rewrites text texts input inputs sentence sentences token tokens candidate "
    "candidates target targets ref ref0 ref12 source_1 human_reference_2 model_output".split(),
)
def test_one_word_in_a_field_of_sentences(field):
    for name in (field, field.upper()):
        found = {"direction": DIRECTION, name: "Yes."}
        assert said(record(**found)) == refused(field)
    for nested in ([["Yes."]], {"x": "a sentence of five words"}, ["", None, "No."]):
        assert said(record(direction=DIRECTION, **{field: nested})) != ""
    for empty in ("", " \n", [""], None, 5):
        assert said(record(direction=DIRECTION, **{field: empty})) == ""
    assert said(record(direction="yelp/negative-to-positive", **{field: "Yes."})) == ""


def test_a_field_is_named_from_its_first_letter_to_its_last():
    for field in ("outputting", "contexts", "source_x", "reference2b", "x", "pref"):
        assert said(record(direction=DIRECTION, **{field: "Yes."})) == ""
        assert said(record(direction=DIRECTION, **{field: FOUR_WORDS})) == refused(field)


@pytest.mark.parametrize(
    "field",
    "authors citation command description license made_with method model name note origin paper "
    "post_processing signature system test title unit url why".split(),
)
def test_prose_about_the_scores(field):
    assert said(record(direction=DIRECTION, **{field: FOUR_WORDS})) == ""
    assert said(record(direction=DIRECTION, **{f"{field}_2": FOUR_WORDS})) == refused(f"{field}_2")


def test_four_words_are_a_sentence_in_any_other_field():
    assert said(record(direction=DIRECTION, remark="come over tonight")) == ""
    assert said(record(direction=DIRECTION, remark=FOUR_WORDS)) == refused("remark")
    assert said(record(direction=DIRECTION, remark=["ok", {"deep": FOUR_WORDS}])) == refused("deep")
    # A file that is one string has no field: the folder alone says what it is of.
    path = "gyafc_em/x.json"
    assert said({path: json.dumps(FOUR_WORDS).encode()}) == (
        f"{REPO}: {path}: field '(none)' has text of a licensed dataset. {WAY_OUT}"
    )
    assert said({path: b'"come over tonight"'}) == ""


def test_a_name_of_the_dataset_is_no_sentence_of_it():
    for field in ("source", "text", "remark"):
        for name in ("gyafc_em", "GYAFC_FR", "gyafc", DIRECTION, "formal-to-informal/a b c d"):
            assert said(record(direction=DIRECTION, **{field: name})) == ""
    # It must be the whole of the part before the first slash.
    for text in ("gyafc_em is a corpus", "x/gyafc_em", "gyafc_em2/x"):
        assert said(record(direction=DIRECTION, text=text)) == refused("text")


def test_four_words_as_a_key():
    key = f"{REPO}: a.json: a key has text of a licensed dataset. {WAY_OUT}"
    assert said(record(direction=DIRECTION, acc={FOUR_WORDS: 1})) == key
    assert said(record(**{"direction": DIRECTION, FOUR_WORDS: 1})) == key
    assert said(record(direction=DIRECTION, acc={"come over tonight": 1})) == ""
    assert said(record(direction=DIRECTION, acc={"acc|v:1 come over this": 1})) == ""  # a signature
    assert said(record(acc={FOUR_WORDS: 1})) == ""


@pytest.mark.parametrize(
    "key", ["class", "config", "direction", "label", "split", "style", "task", "Target_Style_2"]
)
@pytest.mark.parametrize("style", ["formal", "informal", "Formal", "INFORMAL"])
def test_a_style_that_only_licensed_datasets_have(key, style):
    assert said(record(**{key: style, "text": "Yes."})) == refused("text")
    assert said(record(about={key: style}, text="Yes.")) == refused("text")
    assert said(record(**{key: f"{style}ity", "text": "Yes."})) == ""
    assert said(record(mood=style, text="Yes.")) == ""  # no field of styles
    assert said(record(rows=[{key: style}], text="Yes.")) == ""  # of another record
    for open_style in ("modern", "positive"):
        assert said(record(**{key: open_style, "text": "Yes."})) == ""


@pytest.mark.parametrize(
    "name",
    ["gyafc_em", "GYAFC", "gyafc_fr/x", "formal-to-informal", "informal_to_formal-2",
     "formal_to-formal"],
)  # fmt: skip
def test_a_name_anywhere_in_a_record(name):
    assert said(record(anything=name, text="Yes.")) == refused("text")
    assert said(record(anything={"deep": name}, text="Yes.")) == refused("text")
    assert said(record(**{name: {"text": "Yes."}})) == refused("text")
    # From its beginning: a sentence may speak of the corpus.
    assert said(record(anything=f"of {name}", text="Yes.")) == ""
    assert said(record(**{f"of {name}": {"text": "Yes."}})) == ""
    assert said(record(**{name: 1, "text": "Yes."})) == ""  # only what is under the key


@pytest.mark.parametrize("style", ["formal", "Informal"])
def test_what_stands_under_a_style(style):
    assert said(record(**{style: {"text": "Yes."}})) == refused("text")
    assert said(record(**{style: [FOUR_WORDS]})) == refused(style.lower())
    assert said(record(**{f"{style}ity": {"text": "Yes."}})) == ""


def test_a_file_that_is_not_for_publication():
    for told, licensed in ((False, True), (True, False), (0, False), (None, False)):
        about = json.dumps({"publishable": told}).encode()
        files = {"r/a.json": about, "r/deep/b.jsonl": b'{"x": 1}\n{"text": "Yes."}\n'}
        found = said(files)
        assert ("r/deep/b.jsonl, line 2: field 'text'" in found) == licensed
    beside = {"r/a.json": b'{"publishable": false}', "s/b.json": b'{"text": "Yes."}'}
    assert said(beside) == ""
    # Only an object says what its folder is of; a list, or a line among others, does not.
    assert said({"r/a.json": b'[{"dataset": "gyafc_em"}]', "r/b.json": b'{"text": "Yes."}'}) == ""
    lines = b'{"dataset": "gyafc_em"}\n'
    assert said({"r/a.jsonl": lines, "r/b.json": b'{"text": "Yes."}'}) == ""
    about = {"r/a.JSON": b'{"dataset": "gyafc_em"}'}
    assert "r/b.json: field 'text'" in said({**about, "r/b.json": b'{"text": "Yes."}'})
    # What comes before it counts too, and so does more than one such folder.
    two = {
        "z/b.json": b'{"text": "Yes."}',
        "a/about.json": b'{"dataset": "gyafc_em"}',
        "z/c.json": b'{"dataset": "gyafc_fr"}',
    }
    assert "z/b.json: field 'text'" in said(two)


def test_a_file_that_is_none_of_ours_is_named_with_its_repository():
    with pytest.raises(InputError) as error:
        check_publishable("dataset", REPO, {**CARD, "x/a.json": b"{}"})
    start = f"{REPO}: x/a.json is not published: only files that TSTBench writes are (cards, "
    assert str(error.value).startswith(start)


def test_plain_text_in_a_licensed_folder():
    for path in ("gyafc_em/a.txt", "x/informal-to-formal.TXT"):
        assert said({path: b"Yes."}) == f"{REPO}: {path} is text of a licensed dataset"
    assert said({"r/a.json": b'{"dataset": "gyafc_em"}', "r/x/a.txt": b""}) != ""
    assert said({"r/a.json": b'{"dataset": "gyafc_em"}', "s/a.txt": b"", "r/x/a.md": b""}) == ""


def test_what_is_said_of_a_repository():
    assert said({}, repo_id="us/my-Gyafc") == (
        "us/my-Gyafc is a licensed dataset: it may only be built and used locally"
    )
    assert said({}, "space", "us/gyafc") == ""  # a page may be about it
    marker = "deep/not_for_publication.TXT"
    assert said({marker: b""}) == (
        f"{REPO}: the folder has a file NOT_FOR_PUBLICATION.txt, so it is not published"
    )
    trained = (
        "was trained on a licensed dataset: its vocabulary or n-grams may quote the corpus, so it "
        "is not published"
    )
    assert said({}, "model", "us/gyafc") == f"us/gyafc {trained}"
    assert said({"gyafc_em/a.bin": b""}, "model") == f"{REPO} {trained}"


@pytest.mark.parametrize(
    ("content", "licensed"),
    [
        ({"trained_on": "gyafc_em"}, True),
        ({"of": [{"deep": ["x", {"direction": DIRECTION}]}]}, True),
        ({"labels": ["positive", "Formal"]}, True),
        ({"label": {"0": {"name": "informal"}}}, True),  # the name of the field is a path
        ({"names": ["positive", "formal"]}, False),
        ({"formal": 1, "gyafc_em": 2}, False),  # a vocabulary
        (["formal", "gyafc_em", {"x": "yelp"}], False),
        ("gyafc_em", False),
        ({"x": None, "y": 1.5}, False),
    ],
)
def test_what_a_model_says_of_its_data(content, licensed):
    found = said({"config.json": json.dumps(content).encode()}, "model")
    assert ("was trained on a licensed dataset" in found) == licensed
    # The first of several files that says so is enough.
    both = {"a/config.json": json.dumps(content).encode(), "z/config.json": b'{"x": 1}'}
    assert bool(said(both, "model")) == licensed


@pytest.mark.parametrize("kind", SUFFIXES)
def test_the_kinds_of_file_that_are_looked_into(kind):
    kinds = sorted(f"{SUFFIXES[kind]} {PICTURES}".split())
    for name in ("a.pickle", "a.json.gz"):
        with pytest.raises(InputError) as error:
            check_publishable(kind, REPO, {**CARD, name: b""})
        assert str(error.value) == (
            f"{REPO}: {name} is of a kind that cannot be checked for licensed text and is not "
            f"published in a {kind} repository. Kinds that can be: "
            + ", ".join(f".{one}" for one in kinds)
        )
    for suffix in kinds:
        with pytest.raises(InputError) as error:  # for another reason: the marker
            check_publishable(kind, REPO, {f"a.{suffix.upper()}": b"", "gyafc.pickle": b""})
        assert "gyafc.pickle is of a kind" in str(error.value)
