"""METEOR and the BLEU of single sentences: by hand, and as NLTK computes them."""

import random
import warnings
import zipfile

import nltk
import nltk.corpus
import numpy as np
import pytest
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.stem.porter import PorterStemmer
from nltk.translate.bleu_score import modified_precision
from nltk.translate.meteor_score import single_meteor_score

from tstbench.datasets_scripts.judgments.mir2019 import read_npz
from tstbench.files import read_lines
from tstbench.metrics.wmd import meteor as module
from tstbench.metrics.wmd.meteor import has_wordnet, meteor
from tstbench.metrics.wmd.wmd import compare

WORDS = "soup soups souped broth a a the The dog dogs dogged café cafés über не".split()


class NoWordNet:
    """In WordNet's place for NLTK: no word has a synonym."""

    def synsets(self, _word):
        return []


def drawn(seed, n=300):
    """Pairs of sentences of unequal lengths, some empty, that share words and stems."""
    rng = random.Random(seed)
    return [
        (rng.choices(WORDS, k=rng.randint(0, 9)), rng.choices(WORDS, k=rng.randint(0, 14)))
        for _ in range(n)
    ]


# -- METEOR ---------------------------------------------------------------------------------------


def by_hand(matches, chunks, made, wanted):
    """Lavie and Agarwal (2007), sections 2 and 3: F of 9:1 and at most half of it as penalty."""
    precision, recall = matches / made, matches / wanted
    mean = 10 * precision * recall / (9 * precision + recall)
    return mean * (1 - 0.5 * (chunks / matches) ** 3)


@pytest.mark.parametrize(
    ("prediction", "reference", "matches", "chunks"),
    [
        ("x y z", "x y z u v", 3, 1),
        # "x y", "z" and "u": "z" stands first in the reference, and "u" has "q" before it.
        ("x y z q u", "z x y u r s t", 4, 3),
        ("x q y", "x y", 2, 2),  # together in the reference only
        ("x y", "x q y", 2, 2),  # together in the prediction only
        ("x y x", "x", 1, 1),  # a word of the reference is matched once
        ("dogs run", "dog runs", 2, 1),  # equal stems
        ("X y", "x y", 2, 1),  # Porter's stemmer writes stems in lower case
    ],
)
def test_meteor_by_hand(prediction, reference, matches, chunks):
    one, two = prediction.split(), reference.split()
    assert meteor(one, two) == pytest.approx(by_hand(matches, chunks, len(one), len(two)))


@pytest.mark.parametrize("seed", range(3))
def test_meteor_is_nltks_for_unequal_lengths(seed):
    for one, two in drawn(seed):
        expected = single_meteor_score(two, one, preprocess=str, wordnet=NoWordNet())
        assert meteor(one, two) == pytest.approx(expected, abs=1e-12)


def test_which_of_equal_words_are_aligned():
    """As NLTK does: from the last word of the prediction on, each with the last free equal one."""
    pairs = module._aligned("a b a".split(), "a a b a c".split(), False)
    assert [pair[:2] for pair in pairs] == [(0, 1), (1, 2), (2, 3)]
    # Equal words go first, so that "dogs" at 0 takes the "dogs" at 1, and "dog" has "dogged" left.
    found = module._aligned("dogs dog".split(), "dogged dogs".split(), False)
    assert found == [(0, 1, 0), (1, 0, 1)]


def test_meteor_1_5_by_hand():
    """Denkowski and Lavie (2014), equations 1 to 3, with the defaults for English, task "rank".

    "the" and "." are function words, 0.25; others have 0.75. "walks" matches by its stem, 0.6.
    """
    one, two = "the dog walks .".split(), "the old dog walked .".split()
    matched = 0.25 + 0.75 + 0.6 * 0.75 + 0.25
    precision, recall = matched / (0.25 + 0.75 + 0.75 + 0.25), matched / (0.5 + 3 * 0.75)
    mean = precision * recall / (0.85 * precision + 0.15 * recall)
    assert meteor(one, two, version="1.5") == pytest.approx(mean * (1 - 0.6 * (2 / 4) ** 0.2))
    assert compare("meteor", [(two, two)], version="1.5") == 1  # no penalty
    assert meteor(two[::-1], two, version="1.5") == pytest.approx(1 - 0.6)


@pytest.mark.realdata
def test_meteor_1_5_is_near_the_released_values(sources):
    """Mir et al.'s METEOR: theirs also has paraphrases, synonyms and another search."""
    root = sources / "passeul/style-transfer-model-evaluation"
    scores, stored = [], []
    for setting in ("CAAE/rho_0_01", "CAAE/rho_5", "ARAE/lambda_5", "DAR/gamma_15"):
        folder = "evaluations/automated/content_preservation/sentence_level"
        found = read_npz(root / folder / f"{setting.replace('/', '_')}.npz")
        stored += [*found["unmasked"]["METEOR"]]
        for side in "01":
            inputs = read_lines(root / f"data/sentiment.test.{side}")
            outputs = read_lines(
                root / f"transfer_model_outputs/{setting}/sentiment.test.{side}.tsf"
            )
            scores += [
                [meteor(o.split(), i.split(), version=v) for v in ("1.5", "2007")]
                for i, o in zip(inputs, outputs, strict=False)
            ]
    ours, other = np.transpose(scores)
    assert np.isclose(ours, stored, atol=1e-6).mean() > 0.5  # to the last digit
    assert np.corrcoef(ours, stored)[0, 1] > 0.99
    assert ours.mean() == pytest.approx(np.mean(stored), abs=0.02)
    assert np.corrcoef(other, stored)[0, 1] < 0.95
    assert other.mean() > np.mean(stored) + 0.2


def test_stems_are_porters():
    for word in (*WORDS, "happily", "generalizations", "flies", "A"):
        assert module._stem(word) == PorterStemmer().stem(word)


# A WordNet of three synonym sets, in the format of WNDB(5): a line begins with its own offset.
SENSES = {
    "noun": ["soup broth clear_soup", "dog hound"],
    "verb": ["walk stroll_about stroll"],
    "adj": [],
    "adv": [],
}
LETTER = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}


def small_wordnet(folder):
    """Write the database's files, which NLTK reads with its own reader."""
    folder.mkdir(parents=True)
    for part, senses in SENSES.items():
        data, index = "  1 WordNet 3.0 Copyright  \n", []
        for words in senses:
            names, letter, frames = words.split(), LETTER[part], " 00" * (part == "verb")
            offset, listed = f"{len(data):08d}", " ".join(f"{name} 0" for name in names)
            data += f"{offset} 00 {letter} {len(names):02x} {listed} 000{frames} | gloss  \n"
            index += [f"{name} {letter} 1 0 1 0 {offset}  \n" for name in names]
        (folder / f"data.{part}").write_text(data)
        (folder / f"index.{part}").write_text("".join(sorted(index)))
        (folder / f"{part}.exc").write_text("")
    (folder / "lexnames").write_text("00\tadj.all\t3\n")
    for name in ("index.sense", "cntlist.rev"):
        (folder / name).write_text("")


@pytest.fixture
def wordnet(tmp_path, monkeypatch):
    """NLTK's own reader of a small database."""
    small_wordnet(tmp_path / "corpora" / "wordnet")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])  # it reads nowhere else
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it has no files of other languages
        reader = WordNetCorpusReader(str(tmp_path / "corpora" / "wordnet"), None)
    monkeypatch.setattr(nltk.corpus, "wordnet", reader)
    module._synonyms.cache_clear()
    yield reader
    module._synonyms.cache_clear()


def test_synonyms_are_those_of_all_senses_and_of_one_word(wordnet):
    assert module._synonyms("soup") == {"soup", "broth"}  # not clear_soup
    assert module._synonyms("stroll") == {"walk", "stroll"}
    assert module._synonyms("unknown") == {"unknown"}


def test_meteor_with_synonyms_by_hand(wordnet):
    one, two = "the hound eats broths now".split(), "a dog eats soup".split()
    # "eats" alone; with synonyms "hound", "eats" and "broths" too, whose stem is "broth".
    assert meteor(one, two) == pytest.approx(by_hand(1, 1, 5, 4))
    assert meteor(one, two, synonyms=True) == pytest.approx(by_hand(3, 1, 5, 4))
    pairs = [(["soup"], ["broth"])]
    assert compare("meteor", pairs).tolist() == [0]  # asked for by name
    assert compare("meteor", pairs, synonyms=True).tolist() == [0.5]


def test_meteor_with_synonyms_is_nltks(wordnet):
    rng = random.Random(4)
    words = "soup soups broth broths dog hound hounds walk walks stroll the x".split()
    for _ in range(200):
        one = rng.choices(words, k=rng.randint(1, 6))
        two = rng.choices(words, k=rng.randint(1, 11))
        expected = single_meteor_score(two, one, wordnet=wordnet)
        assert meteor(one, two, synonyms=True) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", ["folder", "zip", "other", "none"])
def test_wordnet_is_looked_for_where_nltk_looks(kind, tmp_path, monkeypatch):
    corpora = tmp_path / "corpora"
    corpora.mkdir()
    if kind == "folder":
        small_wordnet(corpora / "wordnet")
    if kind == "zip":
        with zipfile.ZipFile(corpora / "wordnet.zip", "w") as file:
            file.writestr("readme", "as nltk.downloader leaves it, not unpacked")
    if kind == "other":
        small_wordnet(corpora / "wordnet2021")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    has_wordnet.cache_clear()
    assert has_wordnet() is (kind in ("folder", "zip"))
    has_wordnet.cache_clear()


# -- BLEU of one sentence -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_sentence_bleu_is_that_of_nltks_precisions(seed):
    """0.01 matches where there is none; the penalty is Papineni's, of the one reference."""
    compared = 0
    for one, two in drawn(seed, n=200):
        (found,) = compare("sentence_bleu", [(one, two)])
        if len(one) < 4:
            assert found == (not one and not two)
            continue
        shares = []
        for n in (1, 2, 3, 4):
            share = modified_precision([two], one, n)
            shares.append((share.numerator or 0.01) / share.denominator)
        penalty = min(1.0, np.exp(1 - len(two) / len(one)))
        expected = penalty * np.prod(shares) ** 0.25
        assert found == pytest.approx(expected, rel=1e-12)
        compared += 1
    assert compared > 50
