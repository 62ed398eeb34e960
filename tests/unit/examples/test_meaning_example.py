"""How the meaning scorer was trained: the pairs that are made, and the training."""

import dataclasses
import random
import re

import numpy as np
import pytest
from meaning import damage
from meaning.material import Material, material
from meaning.pairs import Pair, Recipe, drawn, made_pair, stock_of, template_pair
from meaning.slots import slots
from meaning.templates import facts_of, something_said, templates, told
from meaning.thesaurus import thesaurus
from meaning.train import MeaningConfig, encode, make_pairs, train_meaning
from meaning.wording import Word, split_words

from tstbench.datasets_scripts.cleaning import match_key
from tstbench.datasets_scripts.load import load_styles
from tstbench.errors import InputError, MissingFileError
from tstbench.metrics.scorers.device import HERE
from tstbench.metrics.scorers.find import SHIPPED, meaning

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


def test_all_styles_of_a_template_say_the_same_things():
    for styles in templates():
        parts = [
            (
                set(re.findall(r"\{([a-z]+\d?)\}", style)),
                {n: len(o.split("~")) for n, o in re.findall(r"<(\d) ([^<>]*)>", style)},
                set(re.findall(r"\[(\d) ", style)),
            )
            for style in styles
        ]
        assert all(part == parts[0] for part in parts), styles
        assert len(styles) > 1


def test_what_is_told_is_marked_where_it_differs():
    """By hand: one slot, one choice, one fact."""
    style = "{animal} <1 wins/triumphs ~ loses> [1 in {city}]"
    rng = random.Random(0)
    said = something_said([style], rng)
    other = dataclasses.replace(said, choices={"1": 1 - said.choices["1"]})
    words = told(style, said, other, rng)
    assert [w.text for w in words if w.changed] in (["wins"], ["triumphs"], ["loses"])
    here = dataclasses.replace(said, facts=frozenset("1"))
    gone = dataclasses.replace(said, facts=frozenset())
    marked = [w.text for w in told(style, here, gone, rng) if w.changed]
    assert marked[0] == "in"
    assert not any(w.changed for w in told(style, gone, here, rng))
    assert facts_of([style]) == ("1",)


@pytest.mark.parametrize("how", ["none", "one", "two", "many"])
def test_pairs_from_templates_are_what_they_claim(how):
    stock, rng = stock_of(SENTENCES), random.Random(2)
    marks = []
    for _ in range(150):
        pair = template_pair(rng.choice(templates()), how, stock, rng, Recipe())
        if pair is None:
            continue
        marked = any(word.changed for word in (*pair.source, *pair.output))
        assert (pair.kept == 1) == (how == "none")
        assert not (how == "none" and marked)
        marks.append(marked)
    assert how == "none" or np.mean(marks) > 0.95  # a shorter wording can lose a marked "not"


def test_names_of_one_thing_are_not_other_things():
    for table in (slots().other, slots().same):
        assert all(word not in others for word, others in table.items())
    assert "usa" not in slots().other["america"]
    assert "usa" not in slots().other


def test_marks_belong_to_their_tokens(shipped):
    """A word of several tokens has its mark on all of them."""
    source = (Word("the"), Word("archaeopteryx", True), Word("skyrocketed", None))
    output = (Word("the"), Word("dog", True), Word("skyrocketed", None))
    data = encode([Pair(source, output, 0.2, "other_word")], shipped.reader)
    first, second = data.pairs[0]
    assert len(data.marks[0]) == len(first) + len(second) + 3 == data.lengths[0]
    bird, jump = (len(shipped.reader.ids([word])[0]) for word in ("archaeopteryx", "skyrocketed"))
    assert bird > 1
    expected = [-1, 0, *[1] * bird, *[-1] * jump, -1, 0, 1, *[-1] * jump, -1]
    assert data.marks[0].tolist() == expected


def test_words_are_split_as_the_encoder_splits_them():
    assert split_words("It’s FINE, Bob!") == [Word(w) for w in ("it's", "fine", ",", "bob", "!")]


@pytest.mark.slow
def test_training_learns_and_repeats_itself(tmp_path, monkeypatch):
    monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path))
    corpus = Material("toy", SENTENCES)
    config = MeaningConfig(pairs=200, epochs=1, rank=2)
    artefact = train_meaning([corpus], config)
    assert -1 <= artefact.card.scores["pearson"] <= 1
    assert train_meaning([corpus], config).hash == artefact.hash
    found = meaning(str(artefact.folder), None, HERE)
    assert found.load().kept(["the dog sees the cat."], ["the dog sees the cat."])[0, 0] > 0
    same = make_pairs([corpus], config, found.load().encoder)
    assert same == make_pairs([corpus], config, found.load().encoder)


def test_mistakes_in_the_material_are_told(tmp_path):
    with pytest.raises(MissingFileError, match="no text file"):
        material([tmp_path / "none.txt"], datasets=False)
    with pytest.raises(InputError, match="--text FILE"):
        material([], datasets=False)
    file = tmp_path / "few.txt"
    file.write_text("one sentence.\n")
    with pytest.raises(InputError, match="too few sentences"):
        train_meaning(material([file], datasets=False), MeaningConfig(pairs=200))


def test_sentences_of_a_study_are_not_learned_from(tmp_path):
    texts = load_styles("mini").training.texts
    learned = [f" {texts[place].upper()} " for place in (0, 7, 21)]  # in other case and spacing
    text = tmp_path / "text.txt"
    text.write_text("\n".join(texts) + "\n")
    (whole,) = material([text], datasets=False)
    (held,) = material([text], datasets=False, without=learned)
    assert held.removed == whole.removed + len(learned)
    assert not set(map(match_key, learned)) & set(map(match_key, held.sentences))
