"""BLEU equals nltk, multi-bleu.perl's definition and sacreBLEU, whatever the corpus."""

import math
import random
import warnings

import numpy as np
import pytest
import sacrebleu
from nltk.tokenize import NLTKWordTokenizer
from nltk.translate.bleu_score import corpus_bleu

from tstbench.errors import InputError, UnknownNameError
from tstbench.metrics.functional.bleu import aggregate_bleu, bleu_statistics, tokenized

WORDS = "the a food was good bad , . isn't it's place we love hate (really) U.S. 9.50 not".split()


def corpus(seed, n=60, references=(1, 4), shortest=0):
    """Predictions that share words with their references, some of them empty or very short."""
    rng = random.Random(seed)

    def sentence():
        return " ".join(rng.choices(WORDS, k=rng.randint(shortest, 12)))

    truth = [sentence() for _ in range(n)]
    noisy = [[" ".join(w for w in t.split() if rng.random() > 0.3) for t in truth] for _ in "abcd"]
    refs = [
        [truth[i], *(noise[i] for noise in noisy)][: rng.randint(*references)] for i in range(n)
    ]
    return [noisy[3][i].title() for i in range(n)], refs


def nltk_bleu(predictions, references):
    tokenizer = NLTKWordTokenizer()

    def tokens(text):
        return tokenizer.tokenize(" ".join(text.lower().split()))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return 100 * corpus_bleu(
            [[tokens(r) for r in some] for some in references], [tokens(p) for p in predictions]
        )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("references", [(1, 1), (1, 4), (4, 4)])
def test_protocol_tstbench_is_nltk_corpus_bleu(seed, references):
    predictions, refs = corpus(seed, references=references)
    assert bleu_statistics(predictions, refs).value == pytest.approx(
        nltk_bleu(predictions, refs), abs=1e-9
    )


def test_a_corpus_without_a_four_gram_match_is_zero_in_both():
    predictions, refs = ["good food here now"], [["food good now here"]]
    assert bleu_statistics(predictions, refs).value == 0.0
    assert nltk_bleu(predictions, refs) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_protocol_13a_is_sacrebleu(seed):
    predictions, refs = corpus(seed)
    streams = [[r[k] if k < len(r) else None for r in refs] for k in range(4)]
    theirs = sacrebleu.BLEU(force=True).corpus_score(predictions, streams).score
    assert bleu_statistics(predictions, refs, "13a").value == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_sentence_values_are_sacrebleu_sentence_bleu(seed):
    predictions, refs = corpus(seed)
    ours = bleu_statistics(predictions, refs, "13a").per_sentence
    scorer = sacrebleu.BLEU(effective_order=True, force=True)
    theirs = [scorer.sentence_score(p, r).score for p, r in zip(predictions, refs, strict=True)]
    assert ours == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("smooth", ["none", "exp"])
@pytest.mark.parametrize("effective_order", [False, True])
def test_aggregation_is_sacrebleus_on_arrays_of_corpora(smooth, effective_order):
    rng = np.random.RandomState(0)
    totals = np.sort(rng.randint(0, 9, (300, 4)), axis=1)[:, ::-1]
    matches = rng.randint(0, 9, (300, 4)) % (totals + 1)
    lengths = np.stack([totals[:, 0], rng.randint(1, 12, 300)], axis=1)
    ours = aggregate_bleu(
        np.concatenate([lengths, matches, totals], axis=1), smooth, effective_order
    )
    for mine, (length, closest), match, total in zip(ours, lengths, matches, totals, strict=True):
        theirs = sacrebleu.BLEU.compute_bleu(
            list(match), list(total), length, closest, smooth, effective_order=effective_order
        ).score
        assert mine == pytest.approx(theirs, abs=1e-9)


def test_multi_bleu_by_hand():
    # "a b c d e" against "a b c d f": 4/5, 3/4, 2/3, 1/2, no brevity penalty; case counts.
    expected = 100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25
    assert bleu_statistics(["a b c d e"], [["a b c d f"]], "multi-bleu").value == pytest.approx(
        expected
    )
    assert bleu_statistics(["A B C D E"], [["a b c d f"]], "multi-bleu").value == 0.0
    # Closest reference: 6 and 4 words are equally far from 5; multi-bleu.perl takes the shorter.
    two = [["a b c d f g", "x y z w"]]
    assert bleu_statistics(["a b c d e"], two, "multi-bleu").value == pytest.approx(expected)
    # Short sentences add nothing to 4-gram totals (nltk would count 1).
    short = bleu_statistics(["a b c d e", "q"], [["a b c d f"], ["q"]], "multi-bleu").value
    assert short == pytest.approx(100 * (5 / 6 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)


def test_a_too_short_output_pays_the_brevity_penalty():
    value = bleu_statistics(["a b c d"], [["a b c d e f"]], "multi-bleu").value
    assert value == pytest.approx(100 * math.exp(1 - 6 / 4))


def test_copying_the_reference_is_100_and_empty_predictions_count():
    refs = [["the food was very good here"], ["we love this place a lot"]]
    assert bleu_statistics([r[0] for r in refs], refs).value == pytest.approx(100)
    half = bleu_statistics([refs[0][0], ""], refs)
    assert half.value < 70
    assert half.per_sentence.tolist()[1] == 0


def test_sentences_without_references_are_left_out():
    predictions, refs = corpus(3, references=(1, 3))
    holes = [r if i % 3 else [] for i, r in enumerate(refs)]
    kept = [(p, r) for p, r in zip(predictions, holes, strict=True) if r]
    ours = bleu_statistics(predictions, holes)
    assert ours.value == pytest.approx(nltk_bleu(*zip(*kept, strict=True)), abs=1e-9)
    assert np.isnan(ours.per_sentence[0])
    assert math.isnan(bleu_statistics(["a"], [[]]).value)


def test_unequal_lengths_are_an_error_not_a_zip():
    with pytest.raises(InputError, match="2 predictions but 1 lists"):
        bleu_statistics(["a", "b"], [["a"]])


def test_unknown_protocol_names_the_near_miss():
    with pytest.raises(UnknownNameError, match="Did you mean 'multi-bleu'"):
        bleu_statistics(["a"], [["a"]], "multibleu")


def test_tokens_need_no_nltk_data():
    assert (
        tokenized('She said:  "It isn\'t (so) bad."') == "she said : `` it is n't ( so ) bad . ''"
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
