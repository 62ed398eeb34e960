"""Preparing scorers: what is made, from what, and never on a test sentence."""

import csv
import dataclasses
import os
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from own_data import write_lines, write_manners, write_tones
from prepared import BACK, DIRECTION, command_line, success
from safetensors.numpy import load_file

from tstbench.datasets_scripts.catalog import DATASETS, load_data, parse_direction
from tstbench.datasets_scripts.cleaning import match_key
from tstbench.datasets_scripts.judgments.studies import sentences_left_out
from tstbench.datasets_scripts.load import load_styles, load_test_set
from tstbench.errors import InputError, IntegrityError, TSTBenchError, UnknownNameError
from tstbench.metrics.module import compute
from tstbench.metrics.scorers import prepare as prepare_module
from tstbench.metrics.scorers.artefacts import find
from tstbench.metrics.scorers.linear import LinearConfig
from tstbench.metrics.scorers.prepare import (
    prepare,
    prepare_dataset,
    train_dataset_vectors,
    train_style_classifier,
    train_style_lexicon,
)
from tstbench.metrics.scorers.profile import PROFILES, Scorers
from tstbench.metrics.scorers.word_vectors import WordVectorsConfig
from tstbench.store import canonical

EMBEDDED = PROFILES["embedded"]
LIGHT = ("acc", "ppl")


def keys_not_to_learn(dataset):
    """Test sources and human rewrites of a dataset, blanks and case apart."""
    keys = set()
    for direction in DATASETS[dataset].directions:
        test_set = load_test_set(direction)
        keys.update(match_key(source) for source in test_set.sources)
        keys.update(match_key(text) for some in test_set.references for text in some)
    return keys


@pytest.fixture
def learned(monkeypatch):
    """All sentences that the trainers are given, while they do their real work."""
    sentences = []

    def listening(trainer, argument):
        def train(*arguments, **options):
            sentences.extend(arguments[argument])
            return trainer(*arguments, **options)

        return train

    for name, argument in (("train_classifier", 1), ("train_language_model", 0)):
        real = getattr(prepare_module, name)
        monkeypatch.setattr(prepare_module, name, listening(real, argument))
    return sentences


# -- what is made ----------------------------------------------------------------------------------


def test_only_what_the_metrics_need_is_made_and_said(tstbench_home, capsys):
    assert prepare(parse_direction(DIRECTION), EMBEDDED, ["s_bleu", "multi_bleu"]) == []
    assert not tstbench_home.exists()
    assert capsys.readouterr().err == ""
    made = prepare(parse_direction(BACK), EMBEDDED, ["ppl"])
    said = capsys.readouterr().err
    assert "training the 5-gram language model of mini/negative" in said
    assert "sentences of mini/train without test sentences" in said
    assert [(a.card.role, a.card.name) for a in made] == [("language_model", "kn5-negative")]


@pytest.mark.parametrize(
    ("metrics", "scorers", "said"),
    [
        (("ppl", "acc"), ["classifier=linaer"], "'linaer'"),
        (("ppl", "cola"), ["acceptability=finetuned"], "neither v1 nor a folder"),
    ],
)
def test_what_cannot_be_made_is_told_before_anything_is_trained(
    tmp_path, tstbench_home, monkeypatch, metrics, scorers, said
):
    monkeypatch.delenv("TSTBENCH_SOURCES", raising=False)
    (direction,) = load_data(write_manners(tmp_path)).directions
    with pytest.raises(TSTBenchError) as told:
        prepare(direction, EMBEDDED.with_scorers(scorers), metrics)
    assert said in str(told.value)
    assert not list((tstbench_home / "scorers").rglob("*.json"))


def test_a_datasets_scorers_are_those_of_every_style_that_is_written(tmp_path):
    """Each target style has its language model; a style that nothing is rewritten into has none."""
    tones = write_tones(tmp_path)
    for name, word in (("a", "her"), ("b", "bitte"), ("c", "sanft")):
        lines = [f"{word} mit dem {thing}" for thing in ("Salz", "Brot", "Buch", "Licht", "Tee")]
        write_lines(tmp_path / f"{name}.txt", lines)
    load_data(tones)
    made = prepare_dataset("tones", EMBEDDED)
    assert sorted(one.card.name for one in made if one.card.role == "cleaned_language_model") == [
        "kn5-poetic",
        "kn5-polite",
    ]


def test_the_command_lists_what_is_there_though_another_dataset_fails(prepared, capsys):
    code, out, err = command_line(capsys, "prepare", "mini", "gyafc_em")
    rows = [line.split("\t") for line in out.splitlines()]
    assert (code, "GYAFC" in err) == (2, True)
    assert rows[0] == ["dataset", "scorer", "trained on", "measured", "hash"]
    assert {row[1]: row[4] for row in rows[1:]} == {
        f"{role} {name}": find(role, "mini", name).hash[:12]
        for role, name in (
            ("classifier", "linear"),
            ("language_model", "kn5-negative"),
            ("language_model", "kn5-positive"),
        )
    }


# -- never on a test sentence ----------------------------------------------------------------------


def test_no_trainer_is_given_a_test_sentence(learned, tstbench_home):
    for direction in (DIRECTION, BACK):
        prepare(parse_direction(direction), EMBEDDED, LIGHT)
    assert len(learned) > 2 * 739
    forbidden = keys_not_to_learn("mini")
    assert len(forbidden) > 300
    assert not forbidden & set(map(match_key, learned))
    for text in ("tstbench", *load_styles("mini").splits["train"].texts[:3]):  # it does listen
        assert (match_key(text) in set(map(match_key, learned))) == (text != "tstbench")


@pytest.mark.realdata
def test_real_leaks_are_kept_out(sources, learned, tstbench_home):
    """StylePTB's training files hold test sentences of ARR: 35 of them, both styles together."""
    (direction,) = DATASETS["styptb_arr"].directions
    raw = load_styles("styptb_arr", exclude_test=False).splits["train"]
    forbidden = keys_not_to_learn("styptb_arr")
    leaks = [text for text in raw.texts if match_key(text) in forbidden]
    assert len(leaks) == 35
    classifier, model = prepare(direction, EMBEDDED, LIGHT)
    assert len(learned) > 10_000
    assert not forbidden & set(map(match_key, learned))
    assert model.card.n_excluded == 35
    assert classifier.card.n_sentences <= len(raw) - 35


# -- what is on record -----------------------------------------------------------------------------


def test_a_file_that_changes_while_it_is_read_is_not_taken_for_the_one_before(
    tstbench_home, tmp_path, monkeypatch
):
    load_data(write_manners(tmp_path / "own"))
    way, polite = parse_direction("manners/rude-to-polite"), tmp_path / "own" / "polite.txt"
    (before,) = prepare(way, EMBEDDED, ["ppl"])
    os.utime(polite, (1, 1))  # the same sentences, which must be read to know it

    def changing(*arguments, **options):
        data = load_styles(*arguments, **options)
        assert data.training  # read before the file changes
        polite.write_text(polite.read_text() + "Might I ask you to leave?\n")
        return data

    with monkeypatch.context() as patch:
        patch.setattr(prepare_module, "load_styles", changing)
        assert [one.hash for one in prepare(way, EMBEDDED, ["ppl"])] == [before.hash]
    (after,) = prepare(way, EMBEDDED, ["ppl"])
    assert after.card.n_sentences == before.card.n_sentences + 1


# README's numbers and those of the docs rest on these scorers. A language model is its hash; a
# classifier, the hash of all but its weights, and a sum of them: its solver's last digits, and so
# its own hash, depend on the processor.
EMBEDDED_SCORERS = {
    "mini": {
        "classifier linear": ("68a3f3515c6e", 4126.93, 0.785204, 41542.7),
        "language_model kn5-positive": "5b7ea960b931",
        "language_model kn5-negative": "44f1ef4db0cf",
    },
    "yelp": {
        "classifier linear": ("f62eaf621540", 39330.1, 0.3163, 670293.0),
        "language_model kn5-positive": "d4335e412e80",
        "language_model kn5-negative": "5e836080be0d",
    },
    "amazon": {
        "classifier linear": ("98d01fef45ee", 84020.9, 2.35394, 1254600.0),
        "language_model kn5-positive": "f05c9089955a",
        "language_model kn5-negative": "4a83d686163b",
    },
    "shakespeare": {
        "classifier linear": ("639a7b59f171", 49062.4, 0.137753, 717364.0),
        "language_model kn5-modern": "75b186a1b614",
        "language_model kn5-shakespearean": "4a3ef4403f9e",
    },
    "styptb_tfu": {
        "classifier linear": ("8046699c6534", 6504.21, 4.12584, 382452.0),
        "language_model kn5-future": "ae7ebd2d14fb",
    },
    "styptb_arr": {
        "classifier linear": ("1289eb4e1c5b", 14388.7, 1.77347, 239151.0),
        "language_model kn5-unmodified": "89d1891e54cf",
    },
}


def recorded(dataset):
    made = prepare_dataset(dataset, EMBEDDED)
    return {f"{one.card.role} {one.card.name}": content(one) for one in made}


def content(scorer):
    if scorer.card.kind != "linear":
        return scorer.hash[:12]
    card = dataclasses.replace(scorer.card, versions={})
    files = [(scorer.folder / name).read_text() for name in ("model.json", "vocabulary.json")]
    rest = sha256(canonical([dataclasses.asdict(card), *files])).hexdigest()
    weights = load_file(scorer.folder / "weights.safetensors")
    return rest[:12], *(by_place(weights[name]) for name in ("coefficients", "intercepts", "idf"))


def by_place(weights):
    """A sum that changes with any weight, and if two change places."""
    found = np.abs(weights.ravel()) @ np.linspace(1, 2, weights.size)
    return pytest.approx(float(found), rel=1e-4)


def test_minis_scorers_are_the_recorded_ones():
    assert recorded("mini") == EMBEDDED_SCORERS["mini"]


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize("dataset", [name for name in EMBEDDED_SCORERS if name != "mini"])
def test_a_datasets_scorers_are_the_recorded_ones(dataset):
    assert recorded(dataset) == EMBEDDED_SCORERS[dataset]


@pytest.mark.slow
@pytest.mark.realdata
def test_training_files_that_are_here_change_no_scorer(sources, tmp_path, monkeypatch, capsys):
    """A file that is not the pinned one is refused when it is read: this one is not read."""
    owner = Path("FayeXXX", "A-Benchmark-of-Text-Style-Transfer", "Dataprepro", "datasets")
    mirror = tmp_path / owner / "yelp"
    mirror.mkdir(parents=True)
    for file in (sources / owner / "yelp").iterdir():
        (mirror / file.name).symlink_to(file)
    for name in ("train.0", "train.1"):
        (mirror / name).unlink(missing_ok=True)
        (mirror / name).write_text("something else .\n")
    monkeypatch.setenv("TSTBENCH_SOURCES", str(tmp_path))
    direction = parse_direction("yelp/negative-to-positive")
    for one in prepare(direction, EMBEDDED, ["acc", "ppl"]):
        assert content(one) == EMBEDDED_SCORERS["yelp"][f"{one.card.role} {one.card.name}"]
    with pytest.raises(IntegrityError, match=r"train\.0"):
        prepare(direction, EMBEDDED.with_scorers("classifier=linear@train"), ["acc"])


def test_the_split_that_was_asked_for_is_in_name_header_and_signature(prepared):
    """Scorers of another split are other scorers, and both are kept."""
    other = EMBEDDED.with_scorers(["classifier=linear@validation", "language_model=kn5@train"])
    assert other.name == "embedded+classifier@validation+language_model@train"
    made = prepare(parse_direction(DIRECTION), other, ["acc", "ppl"])
    assert [one.card.trained_on.split(" ")[0] for one in made] == [
        "mini/validation",
        "mini/train",
    ]
    direction = parse_direction(DIRECTION)
    names = {role: Scorers(other, direction).find(role).name for role in other.scorers}
    assert names["classifier"] == "linear:mini/validation"
    assert names["language_model"] == "kn5-positive:mini"  # train is what mini pins
    assert Scorers(EMBEDDED, direction).find("classifier").name == "linear:mini"
    assert {made[0].hash} & {one.hash for one in prepare(direction, EMBEDDED, ["acc"])} == set()
    with pytest.raises(UnknownNameError, match="train, validation"):
        prepare(direction, EMBEDDED.with_scorers("classifier=linear@trian"), ["acc"])
    # As the paper profile's ``train`` on data of one's own that have none.
    paper = PROFILES["paper"].with_scorers(["language_model=kn5@trian"])
    said = "training split of mini 'trian'.* The profile paper.* language_model=kn5@trian; for an"
    with pytest.raises(UnknownNameError, match=said):
        prepare(direction, paper, ["ppl"])
    with pytest.raises(InputError, match="followed by a split"):
        EMBEDDED.with_scorers("classifier=linear@")


def test_a_dataset_is_prepared_for_the_protocols_of_its_profile():
    """``evaluate --profile paper`` reads ACC by the protocol paper: another classifier."""
    profile = dataclasses.replace(EMBEDDED, options={"acc": {"protocol": "paper"}})
    roles = {one.card.role for one in prepare_dataset("mini", profile)}
    assert roles == {"paper_classifier", "language_model"}


def test_a_module_scores_with_what_the_command_would_train(prepared):
    """A scorer of other settings under the same name, as of an older version, is not taken."""
    data = load_styles("mini")
    before = find("classifier", "mini", "linear").hash
    train_style_classifier(data, "linear", LinearConfig(longest_ngram=1, inverse_penalty=0.01))
    assert find("classifier", "mini", "linear").hash != before
    test_set = load_test_set(DIRECTION)
    texts = {"predictions": test_set.sources, "sources": test_set.sources}
    found = compute("acc", **texts, direction=DIRECTION)
    assert f"linear:mini#{before[:12]}" in found["details"]["acc"]["signature"]


# -- without the sentences of a study --------------------------------------------------------------


QUICK = WordVectorsConfig(dimensions=4, least_words=1)


@pytest.fixture
def told():
    """Three of mini's training sentences, in other case and spacing."""
    texts = load_styles("mini").training.texts
    return [f" {texts[place].upper()} " for place in (0, 7, 21)]


@pytest.fixture
def study(tmp_path, told):
    """The same as sources of somebody's ratings."""
    file = tmp_path / "ratings.csv"
    with file.open("w", newline="") as opened:
        table = csv.writer(opened)
        table.writerow(("source", "output", "system", "direction", "style"))
        for source in told:
            for system in ("one", "other"):
                table.writerow((source, "it was fine .", system, "mini/negative-to-positive", 3))
    return file


def copies(texts):
    """How often mini's training data has them."""
    keys = set(map(match_key, texts))
    return sum(match_key(text) in keys for text in load_styles("mini").training.texts)


@pytest.mark.parametrize(
    ("role", "name", "train"),
    [
        ("classifier", "linear", lambda **more: train_style_classifier(
            load_styles("mini"), "linear", **more)),
        ("lexicon", "logistic", lambda **more: train_style_lexicon(load_styles("mini"), **more)),
        ("word_vectors", "word2vec", lambda **more: train_dataset_vectors(
            load_styles("mini"), QUICK, **more)),
    ],
)  # fmt: skip
def test_a_scorer_without_them_stands_beside_the_one_that_metrics_use(told, role, name, train):
    usual = train()
    other = train(without=told, name="held")
    assert other.card.n_excluded == usual.card.n_excluded + copies(told)
    assert other.card.data_fingerprint != usual.card.data_fingerprint
    assert find(role, "mini", name).hash == usual.hash == train().hash
    assert find(role, "mini", "held").hash == other.hash


def test_a_study_of_ones_own_or_a_text_file_is_left_out(study, told, tmp_path, capsys):
    text = tmp_path / "sentences.txt"
    text.write_text("\n".join(told) + "\n\n")
    assert sentences_left_out([str(text), str(study)]) == tuple(told)
    for role in ("classifier", "lexicon"):
        success(capsys, "train", role, "mini", "--without", study, "--name", "held")
        assert find(role, "mini", "held").card.n_excluded == copies(told)


@pytest.mark.realdata
def test_the_inputs_of_mir_et_al_are_among_yelps_training_sentences():
    sentences = sentences_left_out(["mir2019"])
    assert len(sentences) == 243, "one of the 244 is there twice"
    assert set(sentences) < set(sentences_left_out(["studies"]))
    keys = set(map(match_key, sentences))
    training = load_styles("yelp").training
    assert sum(match_key(text) in keys for text in training.texts) == 255
    with pytest.raises(InputError, match="not published"):
        sentences_left_out(["tstbench2025"])
