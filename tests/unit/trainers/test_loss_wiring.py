"""Every term of every phase's loss, from plain pieces: a sentence at a time, without padding.

The learners compute a batch at once; here each sentence goes through the networks alone and its
losses are summed with the settings' weights, none of which is 1 or another's. A batch has unequal
numbers of both styles, so that a wrong divisor is seen.
"""

from collections import defaultdict
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from loss_wiring import (
    BATCH,
    FEW,
    TASK,
    check,
    ended,
    made,
    sentences,
    short_sentences,
    size,
    summed,
    told,
)

from tstbench.trainers.nast import Nast, NastConfig, cumulative, noisy, shares
from tstbench.trainers.stytrans import StyTrans, StyTransConfig
from tstbench.trainers.training.words import END, PAD, UNKNOWN
from tstbench.trainers.tsst import Tsst, TsstConfig


@pytest.fixture(scope="module")
def data():
    return short_sentences()


@pytest.mark.parametrize("mode", ["multi", "conditional"])
def test_stytrans(data, mode):
    weights = {"self": 0.3, "cycle": 0.7, "style": 1.9}
    settings = {f"{name}_weight": weight for name, weight in weights.items()}
    noise = {"word_drop": 0.3, "word_drop_factor": 2.0, "temperature_factor": 0.5}
    config = StyTransConfig.tiny(TASK)
    config = replace(config, **settings, **noise, temperature=0.6, discriminator=mode)
    learner = made(StyTrans, data, config)
    write = learner.network["generator"]

    def terms(words, own, other, number, step, soft, drop):
        repeated, rewritten = (
            ended(write.unroll(words, size(words), style, temperature=soft))
            for style in (own, other)
        )
        judged, doubt = verdicts(learner.discriminator, words, own, other, repeated, rewritten)
        read = words.clone()
        lost = np.random.default_rng([config.seed, step, number]).random(words.shape[1] - 1)
        read[0, :-1][torch.tensor(lost < drop)] = UNKNOWN
        same = {"self": told(write.teach(read, size(read), own, words) / soft, words)}
        back = write.teach(rewritten, size(rewritten), own, words) / soft
        again = {"cycle": told(back, words), "style": doubt}
        lengths.add(rewritten.shape[1])
        return {"warm_up": same, "discriminator": judged, "generator": same | again}

    lengths = set()
    scale = defaultdict(lambda: 0.1, {n: w / 10 for n, w in weights.items()})  # ten sentences
    for step, name, soft, drop in (  # ten steps of warm-up; of three rounds of four, two are over
        (0, "warm_up", 0.6, 0.3), (10, "discriminator", 0.6, 0.3), (12, "generator", 0.6, 0.3),
        (18, "discriminator", 0.4, 0.5), (20, "generator", 0.4, 0.5),
    ):  # fmt: skip
        with torch.no_grad():
            every = [terms(*some, step, soft, drop)[name] for some in sentences(learner, BATCH)]
        expected = summed(every, scale)
        assert check(learner, step, BATCH, lambda e=expected: e) == name
    assert len(lengths) > 2


def verdicts(judge, words, own, other, repeated, rewritten):
    """The discriminator's terms of one sentence and its rewrites, and what the generator lowers."""

    def verdict(text, style, label):
        return F.cross_entropy(judge(text, size(text), style), torch.tensor([label]))

    if judge.conditional:  # 1: it is of the style that is claimed
        found = {"mismatched": verdict(words, other, 0), "rewritten": verdict(rewritten, other, 0)}
        right = (1, 1)
    else:  # 0: a rewrite, 1: style 0, 2: style 1
        found, right = {"rewritten": verdict(rewritten, other, 0)}, (1, 2)
    found["real"] = verdict(words, own, right[int(own)])
    found["repeated"] = verdict(repeated, own, right[int(own)])
    return found, verdict(rewritten, other, right[int(other)])


@pytest.mark.slow
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(
    ("retriever", "sees"), [("sparse", False), ("dense", False), ("dense", True)]
)
def test_tsst(data, side, retriever, sees):
    config = replace(
        TsstConfig.tiny(TASK), retriever=retriever, cycle_sees_source=sees, words_weight=0.3
    )
    learner = made(Tsst, data, replace(config, pretrain_epochs=1.0, self_epochs=1.0))
    pieces = Pieces(learner, side)
    own = BATCH[(BATCH >= FEW) == side]

    def expected(terms, rows, **scale):
        n_words = sum(len(learner._corpus.rows[i]) for i in rows)
        usual = {"self": 1 / n_words, "cycle": 1 / n_words, "words": 0.3 / 2 / len(rows)}
        usual |= {"own": 1 / len(rows) / 2, "other": 1 / len(rows) / 2}  # two are retrieved
        usual |= {"forth": 1 / n_words / 2, "back": 1 / (n_words - len(rows)) / 2}
        scale = defaultdict(lambda: 1 / len(rows), usual)
        with torch.no_grad():
            return summed((terms(words) for words, *_ in sentences(learner, rows)), scale)

    first = learner._pretraining
    both = first + learner._repeating
    for step, name, terms, some in (
        (0, "language_model", pieces.language, BATCH),
        (first, "generator", pieces.repeating, own),
        (both, "generator", pieces.generator, own),
        (both + 1, "discriminator", pieces.discriminator, own),
    ):
        told_by = partial(expected, terms, some)
        assert check(learner, step, some, told_by) == name


class Pieces:
    """TSST's terms of one sentence (1, T), in each phase."""

    def __init__(self, learner, side):
        self.learner, self.side = learner, side
        self.net, self.judge = learner.network["generator"], learner.discriminator
        self.reader, self.sees = self.net.reader, learner._config.cycle_sees_source

    def read(self, words):
        reading = self.reader(words)
        return reading, self.reader.query(words, reading)

    def found(self, side, words, query, hidden=None):
        rows = [[tuple(some[0].tolist())] for some in (words, hidden) if some is not None]
        return self.learner._retrieved(side, rows[0], query, *rows[1:])

    def judged(self, vectors, label):
        return F.cross_entropy(self.judge(vectors, size(vectors)), torch.tensor([label]))

    def soft(self, logits):
        return logits.softmax(dim=-1) @ self.reader.words.weight

    def language(self, words):
        forth, back = self.net.language(words)
        return {"forth": told(forth, words), "back": told(back[:, 1:], words[:, :-1])}

    def repeating(self, words):
        return self.repeated(words, rate=1.0)

    def repeated(self, words, rate):
        reading, query = self.read(words)
        style = self.net.style(self.found(self.side, words, query))
        return {"self": told(self.net.teach(reading, style, words, rate), words)}

    def rewritten(self, words):
        reading, query = self.read(words)
        other = self.found(1 - self.side, words, query)
        return query, other, *self.net.write(reading, self.net.style(other), 13)

    def generator(self, words):
        query, other, logits, ids = self.rewritten(words)
        reading, query_back = self.read(ids)
        again = self.found(self.side, ids, query_back, None if self.sees else words)
        back = self.net.teach(reading, self.net.style(again), words, 0.0)
        return {
            **self.repeated(words, rate=0.0),
            "cycle": told(back, words),
            "style": self.judged(self.soft(logits), 1 - self.side),
            "query": 1 - (F.normalize(query) * F.normalize(query_back)).sum(),
            "words": bag(logits, other, words) + bag(back, again, ids),
        }

    def discriminator(self, words):
        reading, query = self.read(words)
        own, other = (self.found(side, words, query) for side in (self.side, 1 - self.side))
        repeated = self.net.teach(reading, self.net.style(own), words, 0.0)
        _, _, rewrite, _ = self.rewritten(words)

        def each(some, side):
            rows = [row[row != PAD][None] for row in some[0]]
            return sum(self.judged(self.reader.words(row), side) for row in rows)

        return {
            "real": each(words[None], self.side),
            "repeated": self.judged(self.soft(repeated), self.side),
            "own": each(own, self.side),
            "other": each(other, 1 - self.side),
            "rewritten": self.judged(self.soft(rewrite), 2),
        }


def bag(logits, found, words):
    """Mean of ``-log p``, at all places, of the words that were found and are not its own."""
    wanted = {*found.flatten().tolist()} - {*words[0].tolist(), PAD, UNKNOWN, END}
    return -logits[0].log_softmax(dim=-1)[:, sorted(wanted)].mean() if wanted else 0.0


@pytest.mark.parametrize("cycle", [False, True])
@pytest.mark.parametrize(("mode", "alignment"), [("multi", "simple"), ("conditional", "learnable")])
def test_nast(data, mode, alignment, cycle):
    weights = {"self": 0.3, "cycle": 0.7, "forward": 1.9, "back": 2.3, "position": 1.3}
    grow = 0.0 if alignment == "simple" else 0.3
    config = replace(
        NastConfig.tiny(TASK),
        **{f"{name}_weight": weight for name, weight in weights.items()},
        blank=0.4,
        drop=grow,
        insert=grow,
        temperature=0.6,
        warm_up_cycle=cycle,
        discriminator=mode,
        alignment=alignment,
        soft_words="softmax",
    )
    learner = made(Nast, data, config, ending=4.0)
    write, rows = learner.network["generator"], learner._corpus.rows
    sides = rows[:FEW], rows[FEW:]

    def rewritten(words, style):
        logits, length = write.write(words, size(words), style)
        soft = (logits / 0.6).softmax(dim=-1)
        return soft, size(ended(soft)) if alignment == "simple" else length

    def rebuilt(name, source, length, words, own):
        logits, jumps = write.teach(source, length, own, words)
        return {name: told(logits, words), **({f"{name}_jumps": jumps} if grow else {})}

    def terms(words, own, other, i, step):
        texts = [rewritten(words, style) for style in (own, other)]
        cut = [soft[:, : int(length)] for soft, length in texts]
        early.add(cut[1].shape[1] < texts[1][0].shape[1])
        judged, doubt = verdicts(learner.discriminator, words, own, other, *cut)
        random = np.random.default_rng([config.seed, step, i])
        damaged = noisy(words[0].tolist(), config.noise, foreign[int(own)], 12, random)
        damaged = torch.tensor([damaged])
        same = rebuilt("self", damaged, size(damaged), words, own)
        back = rebuilt("cycle", *texts[1], words, own)
        style = {"style": doubt * (1.9 if int(own) == 0 else 2.3)}
        first = same | back if cycle else same
        return {"warm_up": first, "discriminator": judged, "generator": same | back | style}

    n, early = len(learner._corpus.vocabulary), set()
    documents = shares(sides[0], n) + shares(sides[1], n)
    foreign = [cumulative(side, n, documents) for side in (sides[1], sides[0])]
    scale = {"self": 0.03, "cycle": 0.07, "self_jumps": 0.13, "cycle_jumps": 0.13}
    for step, name in ((3, "warm_up"), (10, "discriminator"), (12, "generator")):
        with torch.no_grad():
            every = [terms(*sentence, step)[name] for sentence in sentences(learner, BATCH)]
        expected = summed(every, defaultdict(lambda: 0.1, scale))
        assert check(learner, step, BATCH, lambda e=expected: e) == name
    assert early == ({True, False} if alignment == "simple" else {False})
