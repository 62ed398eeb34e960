"""BSRR: what is drawn and rewarded, where gradients go, and a training on mini."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from nltk.tokenize import word_tokenize
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from tiny_models import make_bert, make_roberta
from torch import nn
from word_systems import PAIRS, moved

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import TrainingData, TrainingPart, load_training
from tstbench.errors import InputError
from tstbench.trainers.bsrr import (
    Bsrr,
    BsrrConfig,
    BsrrLearner,
    StyledBart,
    style_roberta,
)
from tstbench.trainers.training.loop import learn
from tstbench.trainers.training.rewarded_bart import SCRATCH, Seq2Seq, text_bleu, up_to_end
from tstbench.trainers.training.run import Run

DIRECTION = "mini/negative-to-positive"
CONFIG = BsrrConfig.tiny(parse_direction(DIRECTION))
STYLES = ("negative", "positive")
PAIRS_OF_AMAZON = (
    "FayeXXX/A-Benchmark-of-Text-Style-Transfer/Algorithms/BSRR/pseudo_paired_data_Amazon/"
    "lexical_based"
)


@pytest.fixture
def learner():
    return learner_of()


def learner_of(**settings):
    texts = [f"{s} # {t}" for pair in PAIRS for s, t in zip(STYLES, pair, strict=True)]
    bart = Seq2Seq.scratch(texts, seed=0, n_words=300)
    bart.model.final_logits_bias[0, bart.end] = -2.0  # sentences of more than no words
    writer = StyledBart(bart, STYLES, CONFIG.max_length)
    classifier = style_roberta(SCRATCH, bart, dimension=32, layers=2, seed=0)
    config = replace(CONFIG, supervised_epochs=0, epochs=100, **settings)
    return BsrrLearner(writer, classifier, PAIRS, config, lambda: {"selection": 0.0})


def test_every_pair_is_learned_both_ways_with_its_style(learner):
    bart = learner._bart
    assert bart.decode(learner._sources[0]) == f"negative # {PAIRS[0][0]}"
    assert bart.decode(learner._targets[0]).startswith("positive # the")
    assert learner._sources[8:] == learner._targets[:8]
    assert learner._targets[8:] == learner._sources[:8]
    assert learner._writer.text(learner._sources[0], 0) == PAIRS[0][0]
    row = learner._writer.rows(["food " * 50], 0)[0]
    assert bart.decode(row) == "negative # " + ("food " * 40).strip(), "200 characters"
    assert len(row) > CONFIG.max_length, "however many ids"


def test_what_is_written_begins_with_its_style_and_styles_of_any_length_fit_in_a_batch(learner):
    bart = learner._bart
    begin = [[bart.start, 20, 21, 22, 23], [bart.start, 30]]
    rows = learner._sources[:2]
    for how in ({}, {"beams": 3}, {"temperature": 1.0}):
        written = bart.generate(rows, max_length=9, begin=begin, **how).tolist()
        assert written[0][:5] == begin[0], how
        assert written[1][:2] == begin[1], how
    shortest = bart.generate(rows, max_length=9, min_length=7, begin=begin)
    assert (up_to_end(shortest, bart.end).sum(dim=1) >= 7).all()


def test_padding_and_neighbours_change_no_verdict(learner):
    rows = torch.tensor([[5, 6, 7, 0, 0], [8, 9, 5, 6, 7]])
    read = learner._classifier.eval()
    with torch.no_grad():
        together, looks = read.verdict(rows, torch.tensor([3, 5]))
        alone, own = read.verdict(rows[:1, :3], torch.tensor([3]))
    assert torch.allclose(together[0], alone[0], atol=1e-6)
    assert torch.allclose(looks[-1][0, :, 0, :5], own[-1][0, :, 0], atol=1e-6)
    assert (looks[-1][0, :, 0, 5:] == 0).all()
    assert torch.allclose(looks[-1].sum(dim=-1), torch.ones(()), atol=1e-5)


def test_rewards_teach_the_bart_alone():
    learner = learner_of(gated=False, baseline=False)
    _, far, gradients = moved(learner, 0)
    assert {name.split(".")[0] for name in far} == {"bart"}
    assert {name: any(parts.values()) for name, parts in gradients.items()} == {
        "style": True, "content": True, "words": True,
    }  # fmt: skip
    assert learner.network.training


@pytest.mark.parametrize("n_rows", [1, len(PAIRS)])
def test_rewards_in_bfloat16_are_nearly_those_in_float32(learner, n_rows):
    """One row alone has no padding: its attention is in another number type."""
    rows = [
        [*learner._begin[1], *row[len(learner._begin[0]) : -1], learner._bart.end]
        for row in learner._sources[:n_rows]
    ]
    drawn = learner._bart.padded(rows)
    free = torch.arange(drawn.shape[1]) >= len(learner._begin[1])
    mask = up_to_end(drawn, learner._bart.end) & free
    learner.network.eval()
    exact = learner._style_rewards(drawn, mask, [0] * len(rows))
    with torch.autocast("cpu", torch.bfloat16):
        rough = learner._style_rewards(drawn, mask, [0] * len(rows))
    for one, other in zip(exact, rough, strict=True):
        assert one.dtype == other.dtype == torch.float32
        assert torch.allclose(one, other, atol=0.02)


class _Likes(nn.Module):
    """A classifier that is sure of the positive style where a word occurs, and looks at it."""

    def __init__(self, word):
        super().__init__()
        self.word = word

    def verdict(self, ids, lengths):
        inside = torch.arange(ids.shape[1]) < lengths[:, None]
        found = (ids == self.word) & inside
        sure = 20.0 * found.any(dim=1) - 10
        looks = torch.zeros(len(ids), 1, ids.shape[1] + 2, ids.shape[1] + 2)
        looks[:, 0, 0, 1:-1] = found.float()
        return torch.stack([torch.zeros_like(sure), sure], dim=1), (looks, looks)


def test_words_earn_as_they_are_looked_at(learner):
    bart = learner._bart
    learner._classifier = _Likes(40)
    begin = learner._begin[1]
    drawn = torch.tensor(
        [[*begin, 41, 40, 42, bart.end], [*begin, 43, bart.end, bart.pad, bart.pad]]
    )
    free = torch.arange(drawn.shape[1]) >= len(begin)
    mask = up_to_end(drawn, bart.end) & free
    style, weight = learner._style_rewards(drawn, mask, [0, 0])
    assert style.tolist() == pytest.approx([0.8, 0.0], abs=1e-4), "clamped"
    usual = [0.2] * len(begin)
    assert weight[0].tolist() == pytest.approx([*usual, 0.2, 0.5, 0.2, 0.2])
    assert weight[1].tolist() == pytest.approx([*usual, 0.2, 0.2, 0.2, 0.2])
    # The other way round, what it likes is the wrong style.
    assert learner._style_rewards(drawn, mask, [1, 1])[0].tolist() == pytest.approx(
        [0, 0.8], abs=1e-4
    )


@pytest.mark.parametrize("diverse", [False, True])
@pytest.mark.parametrize("gated", [False, True])
def test_each_term_of_the_rewarded_loss_from_plain_pieces(gated, diverse):
    """Word by word, with unequal weights."""
    weights = {"style_weight": 0.7, "content_weight": 1.9, "supervised_decay": 0.5}
    learner = learner_of(gated=gated, diverse=diverse, baseline=False, **weights)
    bart, batch = learner._bart, np.array([0, 3, 9, 12, 5])
    rows = [learner._sources[i] for i in batch]
    sides = [int(i >= len(PAIRS)) for i in batch]
    begin = [learner._begin[1 - side] for side in sides]
    learner.network.eval()
    how = {"max_length": CONFIG.sample_length, "temperature": CONFIG.temperature, "begin": begin}
    torch.manual_seed(3)
    drawn = bart.generate(rows, **how)
    liked = int(drawn[0, len(begin[0])])  # the first free word of the first sentence
    learner._classifier = _Likes(liked)
    learner._memory.until[liked] = 1000  # worn
    chances = torch.tensor([0.3, 0.9, 0.0, 0.6, 0.5])
    learner._content_advantage = lambda *_: chances  # each sentence's, unequal
    torch.manual_seed(3)
    found = learner.update(0).loss(batch)

    logits = bart.logits(bart.padded(rows), drawn)
    logits = logits / CONFIG.temperature
    logits[..., bart.unwritten] = -torch.inf
    log_p = logits.log_softmax(dim=-1)
    style = content = 0.0
    words = 0
    for b, ids in enumerate(drawn.tolist()):
        first = len(begin[b])
        last = ids.index(bart.end) if bart.end in ids else len(ids) - 1
        has = liked in ids[first:last]
        sure = 0.8 if has == (sides[b] == 0) else 0.0  # the positive style is side 1
        for t in range(first, last + 1):
            look = 0.5 if ids[t] == liked else 0.2
            chance = log_p[b, t, ids[t]].item()
            content -= chances[b].item() * (0.7 - look) * chance
            if diverse and ids[t] == liked:
                look = max(0.5 * look, 0.2)
            style -= sure * (chances[b].item() if gated else 1.0) * look * chance
            words += 1
    assert found["style"].item() == pytest.approx(0.7 * style / words, rel=1e-3, abs=1e-6)
    assert found["content"].item() == pytest.approx(1.9 * content / words, rel=1e-3, abs=1e-6)
    assert style > 0
    assert found["words"].item() == pytest.approx(0.5 * learner._word_loss(batch).item(), rel=1e-4)
    counts = learner._memory.drawn
    kept = [i for b, ids in enumerate(drawn.tolist()) for i in ids[len(begin[b]) :]]
    assert int(counts[liked]) == (kept.count(liked) if diverse else 0)


def test_content_is_worth_how_much_better_than_the_likeliest_it_comes_back(learner):
    """A BART that repeats what it reads: the sentence itself comes back whole."""
    writer, bart = learner._writer, learner._bart
    originals, part = learner._sources, np.array([0, 2, 4, 6])
    begin = [learner._begin[1]] * 4

    def repeats(rows, *, max_length, begin, **_):
        texts = [bart.decode(row).partition("#")[2].strip() for row in rows]
        back = [bart.encode([f"{t}"], 40)[0] for t in texts]
        return bart.padded([[*b, *row[1:]] for b, row in zip(begin, back, strict=True)])

    class Repeats(Seq2Seq):
        def generate(self, rows, **how):
            return repeats(rows, **how)

    learner._bart = Repeats(bart.model, bart.tokenizer)
    learner._writer = replace(writer, bart=learner._bart)
    right = bart.padded(writer.rows([PAIRS[i][0] for i in part], 1))
    wrong = bart.padded(writer.rows(["the"] * 4, 1))
    rows = [originals[i] for i in part]
    assert learner._content_advantage(part, rows, right, begin).tolist() == [0.0] * 4, "as good"
    assert learner._content_advantage(part, rows, wrong, begin).tolist() == [0.0] * 4, "no worse"
    learner._config = replace(learner._config, baseline=False)
    full = learner._content_advantage(part, rows, right, begin)
    poor = learner._content_advantage(part, rows, wrong, begin)
    assert full.tolist() == pytest.approx([1.0] * 4, abs=1e-4)
    expected = [released_bleu("the", PAIRS[i][0], "negative") for i in part]
    assert poor.tolist() == pytest.approx(expected, abs=1e-5)
    assert 0 < max(expected) < 0.7


def released_bleu(written, source, style):
    """As the released code compares a sentence that came back with its source."""
    tokens = [
        word_tokenize(f"<s>{style} # {text}</s>", preserve_line=True) for text in (source, written)
    ]
    smooth = SmoothingFunction().method1
    weights = (0.15, 0.15, 0.35, 0.35)
    return float(sentence_bleu(tokens[:1], tokens[1], weights, smoothing_function=smooth))


def test_a_word_and_the_period_behind_it_are_two(learner):
    """By hand; the released data have a space between them, what we read has none."""
    assert learner._tokens("i don't say it's great.", 0) == (
        "< s > negative # i do n't say it 's great . < /s >"
    )
    assert learner._tokens("cut at 25", 1, ended=False) == "< s > positive # cut at 25"


@pytest.mark.realdata
def test_content_is_compared_as_the_released_code_compares_its_own_pairs(learner, sources):
    folder = sources / PAIRS_OF_AMAZON
    sides = [
        [" ".join(line.split())[:200] for line in (folder / name).read_text("utf-8").splitlines()]
        for name in ("merged_0_A_0", "merged_0_B_1")
    ]
    pairs = list(zip(*sides, strict=True))[::60]
    assert len(pairs) > 400
    tokens = [[learner._tokens(text, 0) for text in side] for side in zip(*pairs, strict=True)]
    found = text_bleu(*tokens, (0.15, 0.15, 0.35, 0.35))
    expected = [released_bleu(one, other, "negative") for one, other in pairs]
    assert found.tolist() == pytest.approx(expected, abs=1e-5)
    assert np.ptp(expected) > 0.3


def test_phases_and_the_fading_of_the_words_loss():
    learner = learner_of(reward_rate=1e-4)
    learner._config = replace(learner._config, supervised_epochs=2)
    epoch = learner._epoch
    names = [learner.update(step) for step in (0, 2 * epoch - 1, 2 * epoch, 3 * epoch)]
    assert [one.name for one in names] == ["supervised"] * 2 + ["rewarded"] * 2
    assert [one.clip for one in names] == [None, None, 1.0, 1.0]
    assert [one.rates["bart"] for one in names] == [3e-3, 3e-3, 1e-4, 1e-4]
    part = np.arange(4)
    learner.network.eval()
    plain = learner._word_loss(part).item()
    for update, fading in ((names[1], 1), (names[2], 0.6**3), (names[3], 0.6**4)):
        assert update.loss(part)["words"].item() == pytest.approx(fading * plain, rel=1e-4)


def test_it_learns_mini_and_its_folder_is_an_ordinary_checkpoint(tmp_path):
    data = load_training(DIRECTION)
    system = Bsrr.train(data, CONFIG, Run(device="cpu"))
    assert not system.card.needs_parallel
    sources = data.train.source[:5]
    answers = list(system.transfer(sources, DIRECTION))
    assert all(not answer.startswith("positive #") for answer in answers)
    system.save_pretrained(tmp_path / "m")
    assert json.loads((tmp_path / "m" / "system.json").read_text())["settings"]["base"] == SCRATCH
    # Training generated, too; the folder is still an ordinary checkpoint, which can.
    from transformers import AutoModelForSeq2SeqLM

    plain = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "m")
    rows = torch.tensor(system.writer.rows(sources[:1], 0))
    assert plain.generate(rows, max_new_tokens=4)[0, 0] == system.writer.bart.end, "as BART begins"


def test_the_datas_own_pairs_are_judged_by_references():
    part = TrainingPart("train", *zip(*PAIRS, strict=True), PAIRS)
    held = replace(part, name="validation")
    data = TrainingData(parse_direction(DIRECTION), "paper-v1", part, held)
    few = replace(CONFIG, epochs=3, supervised_epochs=2)
    whole = Bsrr.train(data, few, Run(device="cpu"))
    assert whole.card.needs_parallel
    assert set(whole.card.scores) == {
        "ref_bleu_forward", "ref_bleu_back", "selection", "classifier_accuracy",
    }  # fmt: skip
    parts = Bsrr.train(data, replace(few, baseline=False), Run(device="cpu"))
    assert parts.card.recipe != whole.card.recipe


def test_what_was_drawn_is_counted_once_after_a_stop(tmp_path):
    def taught(folder, stop=None):
        learner = learner_of(diverse=True, batch_size=4)
        learner.steps, learner.validate_every = 6, 1
        memory, update = learner._memory, learner.update
        memory._most = 1
        learner._validate = lambda: {"selection": float(memory.counts.sum())}  # the last is kept

        def stops(step):
            if step == stop:
                raise KeyboardInterrupt
            return update(step)

        learner.update = stops
        learn(learner, Run(device="cpu", folder=tmp_path / folder, save_every=0), "recipe")
        return learner.network.state_dict()

    whole = taught("whole")
    with pytest.raises(KeyboardInterrupt):
        taught("stopped", stop=4)
    resumed = taught("stopped")
    assert whole["memory.until"].any(), "some word is worn"
    assert all(torch.equal(whole[name], resumed[name]) for name in whole), "another curve"


def test_a_published_roberta_is_read_if_it_has_the_same_word_pieces(tmp_path):
    roberta = make_roberta(tmp_path / "roberta")
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(roberta)
    shared = Seq2Seq.scratch(["xyzzy plugh"] * 9, seed=0)
    bart = Seq2Seq(shared.model, tokenizer)
    network = style_roberta(str(roberta), bart, dimension=32, layers=2, seed=0).eval()
    logits, looks = network.verdict(torch.tensor([[5, 6]]), torch.tensor([2]))
    assert logits.shape == (1, 2)
    assert looks[0].shape == (1, 4, 4, 4)
    with pytest.raises(InputError, match="word pieces"):
        style_roberta(str(roberta), shared, dimension=32, layers=2, seed=0)
    with pytest.raises(InputError, match="is a bert"):
        style_roberta(str(make_bert(tmp_path / "bert")), bart, dimension=32, layers=2, seed=0)
