"""TYB: what a BART is taught and rewarded for, and a training on pairs."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from torch import nn
from word_systems import PAIRS, moved

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import TrainingData, TrainingPart
from tstbench.errors import InputError
from tstbench.metrics.scorers.artefacts import portable
from tstbench.trainers.training.pairs import Paired
from tstbench.trainers.training.rewarded_bart import (
    ReaderFit,
    Seq2Seq,
    fit_reader,
)
from tstbench.trainers.training.run import Run
from tstbench.trainers.tyb import StyleCnn, Tyb, TybConfig, _Learner

DIRECTION = "mini/negative-to-positive"
CONFIG = TybConfig.tiny(parse_direction(DIRECTION))


@pytest.fixture(scope="module")
def bart():
    texts = [text for pair in PAIRS for text in pair]
    return Seq2Seq.scratch(texts, seed=0, n_words=300)


def learner_of(bart, **settings):
    torch.manual_seed(0)
    classifier = StyleCnn(bart.model.config.vocab_size, dimension=8, filters=4)
    usual = {"rewards_from": 0, "learning_rate": 3e-3}
    config = replace(CONFIG, **{**usual, **settings})
    fresh = Seq2Seq(type(bart.model)(bart.model.config), bart.tokenizer)
    return _Learner(fresh, classifier, Paired(PAIRS, PAIRS[:2], mined=False), config)


def test_rows_begin_and_end_and_are_cut(bart):
    (row,) = bart.encode([PAIRS[0][0]], 30)
    assert (row[0], row[-1]) == (bart.start, bart.end)
    assert bart.decode(row) == PAIRS[0][0]
    assert bart.encode([PAIRS[0][0]], 4) == [[*row[:3], bart.end]]
    (styled,) = bart.encode(["food"], 30, before="positive #")
    assert bart.decode(styled) == "positive # food"
    assert (
        styled[:-1][: len(bart.encode([""], 0, before="positive #")[0]) - 1]
        == (bart.encode([""], 0, before="positive #")[0][:-1])
    )


def test_rewards_teach_the_bart_and_not_the_classifier(bart):
    _, far, gradients = moved(learner_of(bart), 0)
    assert {name.split(".")[0] for name in far} == {"bart"}
    assert {name: any(parts.values()) for name, parts in gradients.items()} == {
        "words": True, "style": True, "bleu": True,
    }  # fmt: skip


class _Likes(nn.Module):
    """A classifier that is sure of the target style where a word occurs."""

    def __init__(self, word):
        super().__init__()
        self.word = word

    def forward(self, ids, lengths):
        inside = torch.arange(ids.shape[1]) < lengths[:, None]
        there = ((ids == self.word) & inside).any(dim=1).float()
        return torch.stack([torch.zeros_like(there), 20 * there - 10], dim=1)


@pytest.mark.parametrize("places", ["released", "drawn"])
def test_each_term_of_the_rewarded_loss_from_plain_pieces(bart, places):
    """Word by word, with unequal weights."""
    weights = {"word_weight": 1.3, "style_weight": 0.7, "bleu_weight": 1.9}
    learner = learner_of(bart, reward_places=places, **weights)
    released = places == "released"
    learner.network.eval()  # no dropout
    batch = np.array([1, 4, 6, 7, 3])
    logits, targets = learner._predicted(learner._train, batch)
    liked = int(targets[0, 2])
    learner._classifier = _Likes(liked)
    learner._bart.model.final_logits_bias[0, sorted(set(targets[:, 1:].flatten().tolist()))] = 6.0
    torch.manual_seed(6)
    found = learner.update(0).loss(batch)

    logits, targets = learner._predicted(learner._train, batch)
    torch.manual_seed(6)
    shares = logits[:, 1:].softmax(dim=-1)
    draws = [torch.multinomial(shares.flatten(0, 1), 1).view(len(batch), -1) for _ in range(2)]
    if not released:
        draws[1] = draws[0]
    log_p = logits.log_softmax(dim=-1)
    words = style = bleu = 0.0
    unended = 0  # sentences with a liked word behind an end before the fifth word
    for b, i in enumerate(batch):
        right = learner._train[1][i]
        words -= sum(log_p[b, t, right[t]].item() for t in range(len(right)))
        room = len(right) - 1  # without <s>

        def said(ids, room=room):
            ids = ids.tolist()[:room]
            return ids[: ids.index(bart.end)] if bart.end in ids else ids

        def mean(drawn, b=b, room=room, said=said):
            n = room if released else min(len(said(drawn[b])) + 1, room)  # </s>, if it was drawn
            return sum(log_p[b, t + 1, drawn[b, t]].item() for t in range(n)) / n

        ids = said(draws[0][b])
        judged = draws[0][b].tolist()[:room] if released and len(ids) < 4 else ids
        unended += liked in judged and liked not in ids
        style -= (1 if liked in judged else -1) * mean(draws[0])
        one, two = (_bleu(said(some[b]), right[1:-1]) for some in (draws[1], shares.argmax(dim=-1)))
        bleu -= (one - two) * mean(draws[1])
    n_words = sum(len(learner._train[1][i]) for i in batch)
    for terms in (found, learner._supervised_loss(batch)):
        assert terms["words"].item() == pytest.approx(1.3 * words / n_words, rel=1e-4)
    assert found["style"].item() == pytest.approx(0.7 * style / len(batch), rel=1e-3)
    assert found["bleu"].item() == pytest.approx(1.9 * bleu / len(batch), rel=1e-3, abs=1e-6)
    assert abs(bleu) > 1e-3
    assert bool(unended) == released


def _bleu(written, reference):
    smooth = SmoothingFunction().method1
    return float(sentence_bleu([reference], written, smoothing_function=smooth)) if written else 0


@pytest.mark.parametrize(("sign", "factor"), [("paper", 1), ("released", -1)])
def test_the_bleu_reward_has_the_papers_sign_or_the_released_one(bart, sign, factor):
    learner = learner_of(bart, bleu_sign=sign)
    wanted = learner._bart.padded(learner._train[1])[:, 1:]
    wrong = wanted.where((wanted == bart.end) | (wanted == bart.pad), bart.start)
    better = learner._bleu_reward(wanted, wrong, wanted) * factor
    assert better.tolist() == pytest.approx([1.0] * 8, abs=1e-4)
    assert (learner._bleu_reward(wrong, wanted, wanted) * factor < -0.9).all()
    # What a sentence has behind its end counts for nothing.
    tail = wanted.clone()
    tail[wanted == bart.pad] = bart.start
    assert torch.equal(learner._bleu_reward(tail, wrong, wanted) * factor, better)


def test_rewards_begin_later_and_the_learning_rate_falls(bart):
    learner = learner_of(bart, rewards_from=4)
    names = [learner.update(step).name for step in range(6)]
    assert names == ["supervised"] * 4 + ["rewarded"] * 2
    rates = [learner_of(bart, decay_every=10).update(s).rates["bart"] for s in (0, 9, 10, 25)]
    assert rates == pytest.approx([3e-3, 3e-3, 2.7e-3, 2.43e-3])


def test_special_tokens_are_never_written_and_a_batch_changes_nothing(bart):
    rows = bart.encode([source for source, _ in PAIRS], 20)
    with torch.no_grad():  # make them likely
        bart.model.final_logits_bias[0, bart.unwritten] = 50.0
        bart.model.final_logits_bias[0, bart.end] = -1.0
    try:
        for beams in (1, 4):
            together = bart.generate(rows, max_length=12, beams=beams)
            assert (together[:, 0] == bart.start).all()
            for row, found in zip(rows, together, strict=True):
                alone = bart.generate([row], max_length=12, beams=beams)[0]
                assert bart.decode(alone.tolist()) == bart.decode(found.tolist())
                words = (
                    found[1 : found.tolist().index(bart.end)] if bart.end in found else found[1:]
                )
                assert not set(words.tolist()) & set(bart.unwritten)
    finally:
        bart.model.final_logits_bias.zero_()


def test_a_checkpoints_own_generation_settings_are_not_used_and_stay(bart):
    rows = bart.encode([source for source, _ in PAIRS], 20)
    before = bart.model.generation_config
    plain = bart.generate(rows, max_length=12)
    own = type(before)(**{**before.to_diff_dict(), "min_new_tokens": 11, "num_beams": 3})
    bart.model.generation_config = own
    try:
        assert torch.equal(bart.generate(rows, max_length=12), plain)
        assert bart.model.generation_config is own
        with pytest.raises(ValueError, match="max_new_tokens"):
            bart.generate(rows, max_length=-1)
        assert bart.model.generation_config is own, "nor does an error change it"
    finally:
        bart.model.generation_config = before


def test_drawn_sentences_are_spread_as_their_probabilities_say(bart):
    rows = bart.encode(["the food"], 20) * 400
    torch.manual_seed(0)
    with torch.no_grad():
        bart.model.final_logits_bias[0, 10] = 3.0
        drawn = bart.generate(rows, max_length=2, temperature=0.8)[:, 1]
        logits = bart.logits(bart.padded(rows[:1]), torch.tensor([[bart.start, 10]]))[0, 1] / 0.8
        bart.model.final_logits_bias.zero_()
    logits[bart.unwritten] = -torch.inf
    share = (drawn == 10).float().mean().item()
    assert share == pytest.approx(logits.softmax(dim=0)[10].item(), abs=0.08)


def test_the_rewards_classifier_learns(bart):
    sides = [[row[1:-1] for row in bart.encode([p[k] for p in PAIRS], 20)] for k in (0, 1)]
    torch.manual_seed(0)
    network = StyleCnn(bart.model.config.vocab_size, dimension=16, filters=8)
    fit = ReaderFit(
        lambda n: torch.optim.Adam(n.parameters()), steps=40, batch_size=8, rate=1e-2,
        validate_every=10,
    )  # fmt: skip
    assert fit_reader(network, sides, fit, Run(device="cpu"), "recipe") == 1.0
    with pytest.raises(InputError, match="fewer than 2 sentences"):
        fit_reader(network, [sides[0], sides[1][:1]], fit, Run(), "r")


def test_it_learns_pairs_and_its_folder_is_a_checkpoint_to_go_on_from(tmp_path):
    train = TrainingPart("train", *zip(*PAIRS * 3, strict=True), PAIRS * 3)
    held = TrainingPart("validation", *zip(*PAIRS, strict=True), PAIRS)
    data = TrainingData(parse_direction(DIRECTION), "paper-v1", train, held)
    config = replace(
        CONFIG, pairs="data", steps=70, rewards_from=60, grouping=1, learning_rate=5e-3
    )
    system = Tyb.train(data, config, Run(device="cpu"))
    assert system.card.directions == (DIRECTION,)
    assert system.card.needs_parallel
    assert system.card.scores["cross_entropy"] == -system.card.scores["selection"] < 4
    sources = [source for source, _ in PAIRS]
    assert any(system.transfer(sources, DIRECTION))
    system.save_pretrained(tmp_path / "m")
    # The folder is also an ordinary checkpoint, to go on from.
    base = Seq2Seq.pretrained(str(tmp_path / "m"))
    assert torch.equal(base.model.lm_head.weight, system.bart.model.lm_head.weight)
    (tmp_path / "m" / "small.gguf").write_bytes(b"GGUF")
    file = portable({"base": str(tmp_path / "m" / "small.gguf")}, ("base",))
    named = portable({"base": str(tmp_path / "m")}, ("base",))
    assert file["base"].partition("|")[2] == named["base"].partition("|")[2] != ""
    assert re.fullmatch(r"m@[0-9a-f]{64}\|mini", named["base"])
