"""What holds for single functions of metrics, whatever they are given; partly against others."""

import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from metric_kinds import STYLES, TEXTS, WORDS
from nltk.tokenize import NLTKWordTokenizer

from tstbench.metrics.bleu.bleu import bleu_statistics, tokenized
from tstbench.metrics.chrf.chrf import chrf_statistics
from tstbench.metrics.joint.joint import joint_score
from tstbench.metrics.scorers.masking import (
    style_words,
    without_words,
    word_attributions,
    word_spans,
)
from tstbench.metrics.statistics import p_value, percentile_interval
from tstbench.metrics.sti.sti import (
    tempered,
)
from tstbench.metrics.text import (
    _SPLIT,
    _first,
    _inside,
    _last,
    _tokenizer,
    nltk_tokens,
)
from tstbench.metrics.wmd.meteor import meteor
from tstbench.metrics.wmd.wmd import sentence_bleu

steady = settings(max_examples=100, deadline=None, derandomize=True)
CORPORA = st.lists(
    st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=3)), min_size=1, max_size=6
)
LONG = st.lists(st.lists(WORDS, min_size=4, max_size=9).map(" ".join), min_size=1, max_size=6)
SENTENCES = st.lists(st.sampled_from("a b c d walks walked".split()), max_size=8)

# Everything that NLTK's expressions name, and what it compares with: case, digits, other letters.
MARKS = "ab15.,:;'\"`?!()[]{}<>@#$%&*-–—«»“”‘’„é…İſ"
PIECES = (
    "cannot gimme gımme gonna gotta lemme wanna d'ye more'n 'tis 'twas n't 's 'S 'm 'll 'LL N'T"
    " '' `` ..."
).split()
TRAPS = st.lists(st.sampled_from([*MARKS, *PIECES, *[" "] * 4]), max_size=14).map("".join)
ENDS = st.lists(st.sampled_from(" .])}>\"'»”’"), max_size=6).map("".join)  # of a last sentence


@pytest.mark.slow
@settings(steady, max_examples=400)
@example("oh gımme it", " now")  # "i" without its dot is one for expressions that ignore case
@example('"go on', " .")
@example("''go on", "?")
@example("'tis more'n good", ".")
@example("they said it's good .", "\"' )")
@example("they said so.", " ’")
@example("they said so.", " ) ]")
@example("they said so.", " }>")
@example("they said so.", " »” '")
@example("they said so.", ' )"')
@example("they said it was well", "-")
@example("they said so", ". x")
@example("u.s. is cannot", " wanna")
@example("one ,two, ,3", ",:")
@example("so.", " )")  # two words, of which one closes
@example("this is it's", ".")  # the last word splits, or ends in a sign, or in a letter like one
@example("no, we cannot", "!")
@example("all it costs is 5$", "?")
@example("he said so'", ".")
@example("by teleFAX", "")
@given(TRAPS | st.text(max_size=20), ENDS)
def test_words_alone_give_the_tokens_that_nltk_gives_the_line(text, end):
    text = " ".join(f"{text}{end}".split())
    assert nltk_tokens(text) == " ".join(NLTKWordTokenizer().tokenize(text))


def test_words_are_tokenised_once_each():
    """Only what could be several tokens, and never a line of several words as a whole."""
    for cached in (_inside, _first, _last):
        cached.cache_clear()
    lines = ["he can't say it's good.", "he says it's so, it's bad.", "one isn't, it's good."]
    found = [nltk_tokens(line) for line in lines]
    assert found == [" ".join(NLTKWordTokenizer().tokenize(line)) for line in lines]
    # can't, it's and so, and isn't, inside; he and one first; good. and bad. last.
    assert [one.cache_info().currsize for one in (_inside, _first, _last)] == [4, 2, 2]


def test_the_tokenizer_comes_without_the_rest_of_nltk():
    """Which imports SciPy and scikit-learn: two seconds. Whoever wants it gets it whole."""
    code = (
        "import sys; from tstbench.metrics.text import nltk_tokens; "
        "print(nltk_tokens('it is, can\\'t.'), {'nltk', 'scipy', 'sklearn'} & {*sys.modules}); "
        "import nltk; print(*nltk.NLTKWordTokenizer().tokenize('it is.'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "it is , ca n't . set()\nit is .\n"
    here = sys.modules["nltk"]  # and whoever has it keeps it
    _tokenizer.cache_clear()
    assert nltk_tokens("so it's, it's so.") == "so it 's , it 's so ."
    assert sys.modules["nltk"] is here


def test_another_thread_that_imports_nltk_meanwhile_gets_it_whole():
    code = (
        "import sys, threading; from tstbench.metrics.text import nltk_tokens\n"
        "thread = threading.Thread(target=nltk_tokens, args=('it is.',)); thread.start()\n"
        "while 'nltk' not in sys.modules: pass\n"
        "from nltk import word_tokenize; import nltk.metrics\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_no_other_word_of_letters_is_split_by_nltk():
    """Should NLTK learn another contraction, it must be taken over."""
    joined = [
        "".join(re.findall(r"\(([\w']+)\)", one.pattern)) for one in NLTKWordTokenizer.CONTRACTIONS2
    ]
    assert {one for one in joined if one.isalnum()} == _SPLIT
    for word in "cannot gimme gonna gotta lemme wanna Cannot LEMME".split():
        two = f"{word[:3]} {word[3:]}"
        assert nltk_tokens(f"we {word} go, we {word}!") == f"we {two} go , we {two} !"


@steady
@given(LONG)
def test_s_bleu_of_a_copy_is_100(texts):
    for protocol in ("tstbench", "13a", "whitespace"):
        statistics = bleu_statistics(texts, [[text] for text in texts], protocol)
        assert statistics.value == pytest.approx(100)
        assert statistics.per_sentence == pytest.approx(np.full(len(texts), 100.0))
    assert chrf_statistics(texts, [[text] for text in texts]).value == pytest.approx(100)


@steady
@given(LONG, st.data())
def test_a_better_reference_never_lowers_a_sentences_bleu(texts, data):
    made = [data.draw(TEXTS) for _ in texts]
    before = bleu_statistics(made, [[text] for text in texts], "13a")
    after = bleu_statistics(
        made, [[text, own] for text, own in zip(texts, made, strict=True)], "13a"
    )
    assert (after.per_sentence >= before.per_sentence - 1e-9).all()


@steady
@given(TEXTS)
def test_tokens_are_what_they_are_tokenised_into(text):
    for how in ("nltk", "whitespace"):
        tokens = tokenized(text, how, True)
        assert tokens == " ".join(tokens.split())
        assert bool(tokens) == bool(text.split())


@steady
@given(SENTENCES, SENTENCES)
def test_sentence_scores_are_fractions_and_highest_for_a_copy(one, other):
    assert 0 <= sentence_bleu(one, other) <= 1 + 1e-12
    assert 0 <= meteor(one, other) <= 1
    if len(one) >= 4:
        assert sentence_bleu(one, one) == pytest.approx(1)
    if one:
        assert meteor(one, other) <= meteor(one, one) == pytest.approx(1 - 0.5 / len(one) ** 3)


@steady
@given(STYLES, st.floats(0.2, 9))
def test_a_temperature_keeps_the_order_of_styles(styles, temperature):
    warm = tempered(styles[None, :], temperature)
    assert warm.sum() == pytest.approx(1)
    order = np.argsort(styles)
    assert (np.diff(warm[0, order]) >= -1e-12).all()
    assert tempered(styles[None, :], 1.0)[0] == pytest.approx(styles)


@steady
@given(st.floats(0, 100), st.floats(0, 100), st.floats(1, 1e9), st.floats(0, 1))
def test_joint_rises_with_each_of_its_parts(acc, bleu, ppl, step):
    score = float(joint_score(acc, bleu, ppl))
    assert 0 <= score <= 1
    assert joint_score(acc + step * (100 - acc), bleu, ppl) >= score - 1e-12
    assert joint_score(acc, bleu + step * (100 - bleu), ppl) >= score - 1e-12
    assert joint_score(acc, bleu, 1 + (ppl - 1) * step) >= score - 1e-12


@steady
@given(st.text(alphabet="ab '.,é-", max_size=20), st.data())
def test_words_hold_what_their_pieces_hold(text, data):
    words = word_spans(text)
    assert [a < b for a, b in words] == [True] * len(words)
    assert "".join(text[a:b] for a, b in words) == "".join(text.split())
    shares = st.lists(st.floats(-5, 5), min_size=len(words), max_size=len(words))
    values = np.array(data.draw(shares))
    assert word_attributions(words, values, words) == pytest.approx(values)
    threshold = data.draw(st.floats(0, 1))
    chosen = style_words(values, threshold, "covering")
    assume(values.any())
    held = np.abs(values)[chosen].sum() / np.abs(values).sum()
    assert held >= threshold - 1e-9
    fewer = style_words(values, threshold)
    held = np.abs(values)[fewer].sum() / np.abs(values).sum()
    assert held <= threshold + 1e-9 or len(fewer) == 1
    assert sorted(np.abs(values)[chosen], reverse=True) == list(np.abs(values)[chosen])
    left = without_words(text, words, chosen, None)
    kept = [text[a:b] for i, (a, b) in enumerate(words) if i not in chosen]
    assert "".join(left.split()) == "".join(kept)


@steady
@given(st.lists(st.floats(-9, 9), min_size=1, max_size=30), st.floats(-9, 9))
def test_p_values_are_shares_that_fall_with_the_difference(differences, observed):
    drawn = np.array(differences)
    p = p_value(observed, drawn)
    assert 1 / (len(drawn) + 1) <= p <= 1
    assert p_value(-observed, -drawn) == p
    further = observed + np.sign(observed)  # as spread around a larger difference
    assert p_value(further, drawn + np.sign(observed)) <= p


@steady
@given(st.lists(st.floats(-9, 9), min_size=1, max_size=30), st.floats(0.5, 0.99))
def test_intervals_are_nested_and_order_does_not_matter(replicates, level):
    drawn = np.array(replicates)
    bounds, wider = percentile_interval(0.0, drawn, level), percentile_interval(0.0, drawn, 0.995)
    assert wider.low <= bounds.low <= bounds.high <= wider.high
    assert min(drawn) <= wider.low
    assert wider.high <= max(drawn)
    assert percentile_interval(0.0, drawn[::-1], level) == bounds
