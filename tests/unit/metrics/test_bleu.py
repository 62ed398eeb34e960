"""BLEU equals nltk, multi-bleu.perl's definition and sacreBLEU, whatever the corpus."""

import logging
import math
import sys
import warnings
from unittest import TestCase

import nltk
import numpy as np
import pytest
import sacrebleu
from hypothesis import example, given, settings
from hypothesis import strategies as st
from metric_kinds import TEXTS
from nltk.tokenize import NLTKWordTokenizer
from nltk.translate.bleu_score import corpus_bleu

from tstbench.errors import MissingExtraError, MissingFileError
from tstbench.metrics.bleu.bleu import (
    PROTOCOLS,
    BleuProtocol,
    aggregate_bleu,
    bleu_protocol,
    bleu_statistics,
    tokenized,
)


def nltk_bleu(predictions, references):
    tokenizer = NLTKWordTokenizer()

    def tokens(text):
        return tokenizer.tokenize(" ".join(text.lower().split()))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return 100 * corpus_bleu(
            [[tokens(r) for r in some] for some in references], [tokens(p) for p in predictions]
        )


TOOLS = {
    "whitespace": {"tokenize": "none", "smooth_method": "none"},
    **{name: {"tokenize": name} for name in ("13a", "intl", "char", "zh")},
}
PUBLISHED = [
    ("Das kostet 9,50 €, naja.", ["das kostet 9,50 €; naja!", "es kostet 9.50 €"]),
    ("我们 喜欢 café!", ["我们喜欢 cafés !"]),
    ("U.S.-based (really)", ["US-based"]),
]


@pytest.mark.parametrize("name", ["tstbench", *TOOLS])
@settings(max_examples=60, deadline=None, derandomize=True)
@example([("good food here now", ["food good now here"])])  # no four words match
@example([("a b x c d", ["a b y c d e", "z"]), ("q", ["r"])])  # pairs match, longer ones do not
@example(PUBLISHED)
@example([("the food was good here", ["the food was Good here"]), ("no reference", [])])
@example([("a", [])])
@given(st.lists(st.tuples(TEXTS, st.lists(TEXTS, max_size=4)), min_size=1, max_size=9))
def test_each_protocol_is_its_tool(name, corpus):
    """NLTK for ours, else sacreBLEU; of a corpus, and there of each sentence too."""
    made, against = map(list, zip(*corpus, strict=True))
    found = bleu_statistics(made, against, name)
    kept = [(text, some) for text, some in corpus if some]
    if not kept:
        assert np.isnan(found.value)
        return
    texts, references = map(list, zip(*kept, strict=True))
    if name == "tstbench":
        assert found.value == pytest.approx(nltk_bleu(texts, references), abs=1e-9)
        return
    streams = [[some[k] if k < len(some) else None for some in references] for k in range(4)]
    streams = [stream for stream in streams if any(text is not None for text in stream)]
    tool = sacrebleu.BLEU(force=True, **TOOLS[name])
    assert found.value == pytest.approx(tool.corpus_score(texts, streams).score, abs=1e-9)
    smoothed = {**TOOLS[name], "smooth_method": "exp"}  # a sentence's own value always is
    tool = sacrebleu.BLEU(force=True, effective_order=True, **smoothed)
    each = [tool.sentence_score(text, some).score if some else np.nan for text, some in corpus]
    assert found.per_sentence == pytest.approx(each, abs=1e-9, nan_ok=True)


def test_tokens_need_no_nltk_data():
    assert (
        tokenized('She said:  "It isn\'t (so) bad."') == "she said : `` it is n't ( so ) bad . ''"
    )


def test_rows_hold_what_is_counted():
    """By hand: lengths, matches and totals of 1 to 4 words, and whether the sentence counts."""
    predictions, refs = ["a b c d e", "q r", "s"], [["a b c x e f", "a b"], ["r q z"], []]
    rows = bleu_statistics(predictions, refs, "whitespace").rows
    assert rows.tolist() == [
        [5, 6, 4, 2, 1, 0, 5, 4, 3, 2, 1],
        [2, 3, 2, 0, 0, 0, 2, 1, 0, 0, 1],
        [0] * 11,
    ]
    rows = bleu_statistics(predictions, refs).rows  # nltk counts one n-gram of a short sentence
    assert rows[1].tolist() == [2, 3, 2, 0, 0, 0, 2, 1, 1, 1, 1]


# Lengths, matches, totals: two words, each a sentence of its own; no n-gram; no match at all.
SHORT = np.array(
    [
        [2, 3, 1, 0, 0, 0, 2, 0, 0, 0],
        [3, 3, 2, 1, 0, 0, 3, 1, 0, 0],
        [0, 4, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [5, 2, 0, 0, 0, 0, 5, 4, 3, 2],
        [5, 9, 4, 2, 0, 0, 5, 4, 3, 2],
    ]
)


@pytest.mark.parametrize("smooth", ["none", "exp"])
@pytest.mark.parametrize("effective_order", [False, True])
def test_aggregation_is_sacrebleus_on_arrays_of_corpora(smooth, effective_order):
    rng = np.random.RandomState(0)
    totals = np.sort(rng.randint(0, 9, (300, 4)), axis=1)[:, ::-1]
    matches = rng.randint(0, 9, (300, 4)) % (totals + 1)
    lengths = np.stack([totals[:, 0], rng.randint(1, 12, 300)], axis=1)
    sums = np.concatenate([SHORT, np.concatenate([lengths, matches, totals], axis=1)])
    theirs = [
        sacrebleu.BLEU.compute_bleu(
            list(row[2:6]), list(row[6:]), row[0], row[1], smooth, effective_order=effective_order
        ).score
        for row in sums
    ]
    settings = {}  # as little is done unless it is asked for
    settings |= {"smooth": smooth} if smooth != "none" else {}
    settings |= {"effective_order": True} if effective_order else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is divided by 0 where one can see it
        for shape in ((306, 10), (2, 153, 10), (9, 2, 17, 10)):
            found = aggregate_bleu(sums.reshape(shape), **settings)
            assert found.shape == shape[:-1]
            assert found.ravel() == pytest.approx(theirs, abs=1e-9)
        alone = [float(aggregate_bleu(row, **settings)) for row in SHORT]
        assert alone == pytest.approx(theirs[:6])
    # Of two words, half: nothing else is there to match.
    assert theirs[0] == pytest.approx(50 * math.exp(-0.5) if effective_order else 0, abs=1e-9)


def test_sums_are_aggregated_in_float64_whatever_they_come_as():
    sums = SHORT[[5, 0]]
    for kind in (np.float32, np.float16, np.int8):
        found = aggregate_bleu(sums.astype(kind), "exp", True)
        assert found.dtype == np.float64
        assert found.tolist() == aggregate_bleu(sums.astype(float), "exp", True).tolist()


def test_tokenised_text_is_no_reason_to_warn():
    with TestCase().assertNoLogs("sacrebleu", logging.WARNING):
        bleu_statistics([f"sentence {i} ." for i in range(120)], [["a sentence ."]] * 120, "13a")


def test_protocols_are_what_their_names_say():
    """Which of them are for English, and what multi-bleu.perl, nltk and sacreBLEU do."""
    found = {
        (one.name, one.tokenize, one.lowercase, one.short_totals, one.smooth, one.english)
        for one in PROTOCOLS.values()
    }
    theirs = ("13a", "intl", "char", "zh", "ja-mecab", "ko-mecab")
    assert found == {
        ("tstbench", "nltk", True, "one", "none", True),
        ("tstbench-punkt", "nltk-punkt", True, "one", "none", True),
        ("whitespace", "whitespace", False, "zero", "none", False),
        *((name, name, False, "zero", "exp", False) for name in theirs),
    }
    assert all(bleu_protocol(name).name == name for name in PROTOCOLS)
    assert not BleuProtocol("own", "13a", True, "zero", "none").english


@pytest.mark.parametrize(("name", "package"), [("ja-mecab", "MeCab"), ("ko-mecab", "mecab_ko")])
def test_a_tokeniser_that_is_not_installed_is_told(name, package, monkeypatch):
    for one in [one for one in sys.modules if one.startswith("sacrebleu.tokenizers.tokenizer_")]:
        monkeypatch.delitem(sys.modules, one)  # sacreBLEU remembers what it could import
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError) as caught:
        bleu_statistics(["a"], [["b"]], name)
    assert str(caught.value) == (
        f"BLEU protocol {name} needs a tokenizer that is not installed: "
        f"pip install 'sacrebleu[{name[:2]}]'"
    )


@pytest.fixture
def nltk_data(tmp_path, monkeypatch):
    """A folder in which NLTK looks for its data, and in no other."""
    from nltk.tokenize import _get_punkt_tokenizer

    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    for cached in (tokenized, _get_punkt_tokenizer):
        cached.cache_clear()
    yield tmp_path
    for cached in (tokenized, _get_punkt_tokenizer):
        cached.cache_clear()


def test_punkt_splits_sentences_before_words(nltk_data):
    """NLTK's own reader of a small model, which knows one abbreviation."""
    folder = nltk_data / "tokenizers" / "punkt_tab" / "english"
    folder.mkdir(parents=True)
    (folder / "abbrev_types.txt").write_text("dr\n")
    for name in ("collocations.tab", "sent_starters.txt", "ortho_context.tab"):
        (folder / name).write_text("")
    text = "Dr. No LEFT.  Nobody came."
    assert tokenized(text, "nltk-punkt", False) == "Dr. No LEFT . Nobody came ."
    assert tokenized(text, "nltk-punkt") == "dr. no left . nobody came ."
    assert tokenized(text) == "dr. no left. nobody came ."  # the line as it is
    assert tokenized(text, "whitespace", False) == "Dr. No LEFT. Nobody came."
    split = bleu_statistics([text], [["dr. no left . nobody came ."]], "tstbench-punkt")
    assert split.value == pytest.approx(100)  # and sacreBLEU only counts


def test_punkt_that_is_not_there_is_told(nltk_data):
    with pytest.raises(MissingFileError) as caught:
        bleu_statistics(["a text"], [["a text"]], "tstbench-punkt")
    assert str(caught.value) == (
        "protocol tstbench-punkt needs nltk's Punkt data: python -m nltk.downloader punkt_tab. "
        "The protocol tstbench does not need it."
    )


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("file", "against_source", "first", "four"),
    # Origin: nltk 3.10.4 corpus_bleu over the upstream files as they are.
    [("output_cleaned.0", 25.9, 15.3, 26.2), ("output_fewshot_cleaned.0", 21.1, 11.4, 19.9)],
)
def test_published_chatgpt_outputs(sources, file, against_source, first, four):
    from tstbench.files import read_lines

    root = sources / "FayeXXX/A-Benchmark-of-Text-Style-Transfer"
    yelp = root / "Dataprepro/datasets/yelp"
    predictions = read_lines(root / "Algorithms/CHATGPT/outputs/yelp" / file)
    inputs = read_lines(yelp / "test.0")
    streams = [read_lines(yelp / f"reference{k}.0") for k in range(4)]
    references = list(zip(*streams, strict=True))
    views = ([[s] for s in inputs], [r[:1] for r in references], references)
    values = [bleu_statistics(predictions, view).value for view in views]
    assert values == pytest.approx([against_source, first, four], abs=0.05)
    assert values[2] == pytest.approx(nltk_bleu(predictions, references), abs=1e-9)
