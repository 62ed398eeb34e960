"""The meaning metric: its arithmetic, its scorer, how pairs for it are made, and its training."""

import json
import random
import shutil

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from tstbench.errors import InputError, IntegrityError, MissingFileError, MissingScorerError
from tstbench.metrics.functional.meaning import combined, meaning_kept
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.measure import measure
from tstbench.metrics.options import choices
from tstbench.metrics.scorers.artefacts import open_artefact
from tstbench.metrics.scorers.device import HERE
from tstbench.metrics.scorers.meaning import MeaningModel
from tstbench.metrics.scorers.meaning_find import SHIPPED, meaning
from tstbench.metrics.scorers.meaning_network import MeaningNetwork
from tstbench.metrics.scorers.profile import PROFILES, Scorers
from tstbench.trainers.meaning import damage
from tstbench.trainers.meaning.material import Material, material
from tstbench.trainers.meaning.pairs import Recipe, drawn, made_pair, stock_of
from tstbench.trainers.meaning.thesaurus import thesaurus
from tstbench.trainers.meaning.train import MeaningConfig, make_pairs, train_meaning
from tstbench.trainers.meaning.wording import Word, split_words

NOUNS = "dog cat farmer teacher doctor sailor king queen painter judge".split()
VERBS = "sees paints follows finds calls helps meets visits remembers hears".split()
PLACES = "garden market harbour castle village forest library station church field".split()
SENTENCES = tuple(
    f"the {a} {v} the {b} in the {p} ."
    for i, a in enumerate(NOUNS)
    for j, v in enumerate(VERBS)
    for b, p in [(NOUNS[(i + j + 1) % 10], PLACES[(i * 3 + j) % 10])]
)


@pytest.fixture(scope="module")
def shipped():
    return meaning(SHIPPED, None, HERE).load()


class Table:
    """A scorer with known answers."""

    def kept(self, sources, outputs):
        values = {"same": (1.0, 1.0), "half": (0.5, 0.9), "none": (0.0, -0.5)}
        return np.array([values[text] for text in sources]).reshape(-1, 2)


def test_the_score_is_the_mean_of_both_parts():
    """By hand: (0.5 + 0.9) / 2, and a cosine below 0 counts as 0."""
    scores = np.array([[1.0, 1.0], [0.5, 0.9], [0.2, -0.5]])
    np.testing.assert_allclose(combined(scores), [1.0, 0.7, 0.1])
    np.testing.assert_allclose(combined(scores, "kept"), [1.0, 0.5, 0.2])
    np.testing.assert_allclose(combined(scores, "cosine"), [1.0, 0.9, 0.0])


def test_several_references_are_combined_as_asked():
    against = [["half", "same"], [], ["none"]]
    best = meaning_kept(["a", "b", "c"], against, Table())
    np.testing.assert_allclose(best, [1.0, np.nan, 0.0])
    mean = meaning_kept(["a", "b", "c"], against, Table(), reduce="mean")
    np.testing.assert_allclose(mean, [0.85, np.nan, 0.0])


@pytest.mark.parametrize(
    "call",
    [
        lambda: meaning_kept(["a"], [], Table()),
        lambda: meaning_kept(["a"], [["same"]], Table(), reduce="best"),
        lambda: combined(np.zeros((2, 2)), "product"),
        lambda: combined(np.zeros(2)),
    ],
)
def test_bad_input_is_told(call):
    with pytest.raises(InputError):
        call()


def test_sentence_cosines_are_those_of_the_encoder(shipped):
    """The second column is what sentence-transformers would give: mean pooling, unit length."""
    one, two = "the prices of houses rise.", "wow! house prices climb!"
    vectors = shipped.encoders[-1].sentence_vectors([one, two]).astype(np.float64)
    assert shipped.kept([one], [two])[0, 1] == pytest.approx(vectors[0] @ vectors[1], abs=1e-6)


def test_a_hidden_change_costs_more_than_another_style(shipped):
    source = "the prices of houses rise in the city."
    outputs = [
        source,
        "wow! the prices of homes climb in the city!",
        "wow! the prices of homes fall in the city!",
        "the waiter brought us cold soup.",
    ]
    kept = shipped.kept([source] * 4, outputs)[:, 0]
    assert (np.diff(kept) < 0).all()
    assert kept[0] > 0.7
    assert kept[3] < 0.1


def test_no_score_depends_on_its_batch(shipped):
    sources = list(SENTENCES[:20])
    outputs = [SENTENCES[-1 - i] for i in range(20)]
    together = shipped.kept(sources, outputs)
    alone = MeaningModel(shipped.network, shipped.encoders)
    for i in (0, 7, 19):
        np.testing.assert_allclose(
            alone.kept(sources[i : i + 1], outputs[i : i + 1])[0], together[i], atol=1e-5
        )


def test_empty_outputs_keep_nothing_and_lengths_are_checked(shipped):
    assert shipped.kept(["a sentence."], [" "]).tolist() == [[0.0, 0.0]]
    assert shipped.kept([], []).shape == (0, 2)
    with pytest.raises(InputError, match="not aligned"):
        shipped.kept(["a"], [])


def test_padding_is_not_seen():
    torch.manual_seed(0)
    network = MeaningNetwork(1, 8).eval()
    unit = torch.nn.functional.normalize
    a, b = unit(torch.randn(1, 4, 8), dim=-1), unit(torch.randn(1, 3, 8), dim=-1)
    full = network([a], torch.ones(1, 4, dtype=bool), [b], torch.ones(1, 3, dtype=bool))[0]
    wide_a = torch.cat([a, torch.randn(1, 5, 8)], 1)
    wide_b = torch.cat([b, torch.randn(1, 2, 8)], 1)
    real_a, real_b = torch.arange(9)[None] < 4, torch.arange(5)[None] < 3
    padded = network([wide_a], real_a, [wide_b], real_b)[0]
    torch.testing.assert_close(full, padded, atol=1e-5, rtol=1e-5)


def test_the_shipped_scorer_is_small_and_intact(tmp_path):
    found = meaning(SHIPPED, None, HERE)
    from tstbench.metrics.scorers import meaning_find

    folder = meaning_find._SHIPPED_FOLDER
    assert open_artefact(folder).hash == found.hash
    assert sum(file.stat().st_size for file in folder.iterdir()) < 2_000_000
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    weights = load_file(copy / "weights.safetensors")
    weights["token.bias"] = weights["token.bias"] + 1
    save_file(weights, copy / "weights.safetensors")
    with pytest.raises(IntegrityError):
        meaning(str(copy), None, HERE)


def test_another_encoder_is_refused(shipped, tmp_path):
    shipped.save(tmp_path)
    settings = json.loads((tmp_path / "model.json").read_text())
    settings["encoder"]["hash"] = "0" * 64
    (tmp_path / "model.json").write_text(json.dumps(settings))
    with pytest.raises(IntegrityError, match="train the scorer again"):
        MeaningModel.load(tmp_path)


def test_a_scorer_that_is_not_there_is_told():
    with pytest.raises(MissingScorerError, match="tstbench train meaning"):
        meaning("no/such/folder", None, HERE)


def test_it_is_measured_without_direction_and_signed():
    inputs = check_inputs(
        ["wow! prices climb!", ""], ["prices rise.", "prices rise."], [["prices climb.", "x."], []]
    )
    scorers = Scorers(PROFILES["embedded"], None)
    usual = measure(["s_meaning", "r_meaning", "multi_meaning"], inputs, scorers)
    assert usual["s_meaning"].per_sentence()[1] == 0
    other = measure(["s_meaning"], inputs, scorers, choices({"meaning": {"combine": "kept"}}))
    assert usual["s_meaning"].value != other["s_meaning"].value
    assert str(usual["s_meaning"].signature) != str(other["s_meaning"].signature)
    assert "meaning:aligned" in str(usual["s_meaning"].signature)


def test_the_thesaurus_never_calls_one_word_its_own_opposite():
    words = thesaurus()
    assert "falls" in words.opposite["rises"]
    assert "climbed" in words.same["rose"]
    for table in (words.same, words.opposite, words.other_opinion):
        assert all(word not in others for word, others in table.items())
    assert not set(words.other_opinion) & {"rise", "fall"}


@pytest.mark.parametrize("kind", [kind for kind, _, _ in damage.DAMAGES])
def test_each_damage_marks_what_it_changed(kind):
    """Without its marked words, the two sides are the same."""
    stock = stock_of(SENTENCES)
    text = "two doctors will not leave the city after the war , and the old king sees peace"
    seen = 0
    for seed in range(60):
        sides = kind(split_words(text), random.Random(seed), stock)
        if sides is None:
            continue
        seen += 1
        before, after = ([w.text for w in side if not w.changed] for side in sides)
        assert before == after
        assert any(w.changed for side in sides for w in side)
    assert seen


def test_pairs_are_what_they_claim():
    stock, rng = stock_of(SENTENCES), random.Random(1)
    seen = {}
    for _ in range(400):
        how = drawn(rng, Recipe())
        pair = made_pair(rng.choice(SENTENCES), how, stock, rng, Recipe())
        if pair is None:
            continue
        seen[how] = seen.get(how, 0) + 1
        marked = any(word.changed for word in (*pair.source, *pair.output))
        if how == "none":
            assert pair.kept == 1
            assert not marked
        if how in ("one", "other"):
            assert pair.kept < 0.6
            assert marked
        assert 0 <= pair.kept <= 1
    assert set(seen) == {"none", "one", "two", "many", "other"}


def test_words_are_split_as_the_encoder_splits_them():
    assert split_words("It’s FINE, Bob!") == [Word(w) for w in ("it's", "fine", ",", "bob", "!")]


def test_training_learns_and_repeats_itself(tmp_path, monkeypatch):
    monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path))
    corpus = Material("toy", SENTENCES)
    config = MeaningConfig(pairs=260, epochs=2)
    artefact = train_meaning([corpus], config)
    assert -1 <= artefact.card.scores["pearson"] <= 1
    assert train_meaning([corpus], config).hash == artefact.hash
    found = meaning(str(artefact.folder), None, HERE)
    assert found.load().kept(["the dog sees the cat."], ["the dog sees the cat."])[0, 0] > 0
    same = make_pairs([corpus], config, found.load().encoders[-1])
    assert same == make_pairs([corpus], config, found.load().encoders[-1])


def test_mistakes_in_the_material_are_told(tmp_path):
    with pytest.raises(MissingFileError, match="no text file"):
        material([tmp_path / "none.txt"], datasets=False)
    with pytest.raises(InputError, match="--text FILE"):
        material([], datasets=False)
    file = tmp_path / "few.txt"
    file.write_text("one sentence.\n")
    with pytest.raises(InputError, match="too few sentences"):
        train_meaning(material([file], datasets=False), MeaningConfig(pairs=200))
