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
from prepared import DIRECTION
from word_systems import learner_of

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import load_training
from tstbench.metrics.scorers.fitting import seed_of
from tstbench.trainers.arae import Arae, AraeConfig
from tstbench.trainers.caae import Caae, CaaeConfig
from tstbench.trainers.ctat import Ctat, CtatConfig
from tstbench.trainers.dar import Dar, DarConfig
from tstbench.trainers.markers import EditNoise, SharedWordNoise
from tstbench.trainers.nast import Nast, NastConfig, cumulative, noisy, shares
from tstbench.trainers.stytrans import StyTrans, StyTransConfig
from tstbench.trainers.training.words import END, PAD, UNKNOWN
from tstbench.trainers.tsst import Tsst, TsstConfig

TASK = parse_direction(DIRECTION)
FEW = 8  # sentences of each style; those of style 1 follow
BATCH = np.array([0, 1, 2, 5, 8, 9, 10, 12, 14, 15])  # four of style 0, six of style 1


def short_sentences():
    """Sentences of mini, cut to unequal lengths."""
    whole = load_training(DIRECTION)
    sides = [
        tuple(
            " ".join(text.split()[: 2 + (start + 3 * i) % 8]) for i, text in enumerate(side[:FEW])
        )
        for start, side in enumerate((whole.train.source, whole.train.target))
    ]
    return replace(whole, train=replace(whole.train, source=sides[0], target=sides[1]))


def made(kind, data, config, ending=1.5):
    """A learner without dropout whose weights say something.

    Args:
        kind: the system.
        data: what it learns from.
        config: its settings.
        ending: makes rewrites end here and there.
    """
    learner = learner_of(kind, data, config, few=FEW)
    learner.network.eval()
    torch.manual_seed(4)
    with torch.no_grad():
        for weights in learner.network.parameters():
            weights.add_(0.3 * torch.randn_like(weights))
        writer = learner.network["generator"] if ending else None
        if writer is not None:
            writer.output.bias[END] += ending
    return learner


def sentences(learner, batch):
    """Ids (1, T) of each, the styles (1) that are its own and the other, and its number."""
    for i in batch:
        own = torch.tensor([int(i >= FEW)])
        yield torch.tensor([learner._corpus.rows[i]]), own, 1 - own, int(i)


def told(logits, words):
    """``-log p`` of words, summed; neither has padding."""
    log_p = logits[0].log_softmax(dim=-1)
    return -sum(log_p[place, word] for place, word in enumerate(words[0].tolist()))


def ended(soft):
    """Soft words up to the first likeliest end."""
    ids = soft[0].argmax(dim=-1).tolist()
    return soft[:, : ids.index(END) + 1] if END in ids else soft


def size(words):
    return torch.tensor([words.shape[1]])


def check(learner, step, batch, expected):
    """A step has these terms, no more and no fewer; ``expected()`` is computed after its begin."""
    update = learner.update(step)
    torch.manual_seed(7)
    found = {name: term.item() for name, term in update.loss(batch).items()}
    right = {name: torch.as_tensor(term).item() for name, term in expected().items()}
    assert found == pytest.approx(right, rel=2e-4)
    return update.name


def summed(each, scale):
    """Sums of a sentence's terms, times a scale for each name."""
    sums = defaultdict(float)
    for terms in each:
        for name, term in terms.items():
            sums[name] += float(term)
    return {name: scale[name] * total for name, total in sums.items()}


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


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(
    ("retriever", "sees"),
    [
        ("sparse", False),
        pytest.param("dense", False, marks=pytest.mark.slow),
        pytest.param("dense", True, marks=pytest.mark.slow),
    ],
)
def test_tsst(data, side, retriever, sees):
    own = {"cycle_sees_source": sees, "leaky_language_model": bool(side), "words_weight": 0.3}
    config = replace(TsstConfig.tiny(TASK), retriever=retriever, **own)
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
        leaky = self.learner._config.leaky_language_model  # as released: of the word after it
        way = (back[:, :-1], words[:, 1:]) if leaky else (back[:, 1:], words[:, :-1])
        return {"forth": told(forth, words), "back": told(*way)}

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


# -- codes, contents, one sequence from another ----------------------------------------------------


@pytest.mark.parametrize("objective", ["convince", "minimax"])
def test_caae(data, objective):
    config = replace(CaaeConfig.tiny(TASK), shuffle=0, rho=0.3, gamma=0.7, gate=0.9)
    learner = made(Caae, data, replace(config, objective=objective), ending=0)
    net, judges = learner.network["autoencoder"], learner.discriminators
    words, styles = learner._corpus.batch(BATCH, "cpu")

    def content(text, style):
        read = text[:, :-1].flip(1)
        return net.encode(read, size(read), style)

    def verdict(style, states, label):
        truth = torch.tensor([float(label)])
        return F.binary_cross_entropy_with_logits(judges[style](states, size(states)), truth)

    def expected(step, opened):
        torch.manual_seed(7)  # one draw for all: the soft words are samples
        alone = list(sentences(learner, BATCH))
        z = torch.cat([content(text, own) for text, own, *_ in alone])
        free = net.unroll(net.begin(z, 1 - styles), words.shape[1], 0.7)
        found = defaultdict(float)
        for row, (text, own, _, _) in enumerate(alone):
            taught = net.teach(net.begin(z[row : row + 1], own), text)
            mine, its = int(own), 1 - int(own)
            fake = free[row : row + 1, : text.shape[1] + 1]
            real, lie = verdict(mine, taught, 1), verdict(its, fake, 0)
            count = (4, 6)[mine]
            if step == "discriminators":
                found[f"style_{mine}"] += real / count
                found[f"style_{its}"] += lie / count
                continue
            found["reconstruction"] += told(net.logits(taught), text) / 10
            if opened and objective == "convince":
                found[f"style_{its}"] += 0.3 * verdict(its, fake, 1) / count
            elif opened:
                found[f"style_{mine}"] -= 0.3 * real / count
                found[f"style_{its}"] -= 0.3 * lie / count
        return found

    for losses in ((0.8, 1.0), (1.0, 0.8), (0.8, 0.8)):
        learner.hear({f"discriminators/style_{i}": loss for i, loss in enumerate(losses)})
        for step, name in ((-1, "autoencoder"), (0, "discriminators"), (1, "autoencoder")):
            told_by = partial(expected, name, losses == (0.8, 0.8))
            with torch.no_grad():
                assert check(learner, learner._warm_up + step, BATCH, told_by) == name


def test_arae(data):
    """Two rounds: the second one's noise has decayed, and its encoder step has the other style."""
    config = replace(AraeConfig.tiny(TASK), code_noise=0.7, noise_decay=0.5, penalty=0.3)
    config = replace(config, class_weight=1.9, critic_weight=0.4, seed=5)
    learner = made(Arae, data, config, ending=0)
    net, rows = learner.network["autoencoder"], learner._corpus.rows
    tell, critic, generator = learner.classifier, learner.critic, learner.generator

    def code(some):
        found = (net.encode(words, size(words)) for words, *_ in sentences(learner, some))
        return torch.cat(list(found))

    def rebuilt(style, deviation, batch):
        torch.manual_seed(7)
        codes = code(batch)
        codes += deviation * torch.randn_like(codes)
        n_words = sum(len(rows[i]) for i in batch)
        each = zip(codes, sentences(learner, batch), strict=True)
        lost = sum(told(net.teach(style, z[None], words), words) for z, (words, *_) in each)
        return {f"style_{style}": lost / n_words}

    def misled(flip, weight, batch):
        p = tell(code(batch))[:, 0].sigmoid()
        right = torch.tensor([(i >= FEW) != flip for i in batch])
        lost = -torch.where(right, p, 1 - p).log().mean()
        return {"style": weight * lost}

    def critical(name, step, batch):
        drawn = torch.Generator().manual_seed(seed_of(5, step))
        fake = generator(torch.randn(len(batch), config.noise_size, generator=drawn))
        real = code(batch)
        if name != "critic":
            score = critic(fake).mean() if name == "generator" else -0.4 * critic(real).mean()
            return {"fake" if name == "generator" else "real": score}
        mix = torch.rand(len(batch), 1, generator=drawn)
        between = (mix * real + (1 - mix) * fake).detach().requires_grad_()
        (slopes,) = torch.autograd.grad(critic(between).sum(), between)
        steep = ((slopes.square().sum(dim=1).sqrt() - 1) ** 2).mean()
        distance = critic(real).mean() - critic(fake).mean()
        return {"distance": distance, "penalty": 0.3 * steep}

    for number in (0, 101):
        names = ["autoencoder"] * 2 + ["classifier", "adversary", "critic", "critic"]
        for place, name in enumerate([*names, "generator", "encoder"]):
            step, batch = 8 * number + place, BATCH
            if name == "autoencoder":  # of one style, and its decoder's
                batch = batch[(batch >= FEW) == place]
                expected = partial(rebuilt, place, 0.7 * 0.5 ** (number // 100), batch)
            elif name in ("classifier", "adversary"):
                weight = 1.9 if name == "adversary" else 1.0
                expected = partial(misled, name == "adversary", weight, batch)
            else:
                expected = partial(critical, name, step, batch)
            assert check(learner, step, batch, expected) == name


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_ctat(data, smoothing):
    config = replace(CtatConfig.tiny(TASK), smoothing=smoothing)
    learner = made(Ctat, data, config, ending=0)
    net, tell = learner.network.autoencoder, learner.network.classifier
    n_words = sum(len(learner._corpus.rows[i]) for i in BATCH)

    def terms(words, own, *_):
        latent = net.encode(words)
        log_p = net.teach(latent, words)[0].log_softmax(dim=-1)
        truth = torch.full_like(log_p, smoothing / (log_p.shape[1] - 2))
        truth[:, PAD] = 0.0
        truth[torch.arange(len(truth)), words[0]] = 1 - smoothing
        p = tell(latent).sigmoid()
        return {
            "reconstruction": F.kl_div(log_p, truth, reduction="sum"),
            "classifier": -(p if int(own) else 1 - p).log(),
        }

    with torch.no_grad():
        every = [terms(*sentence) for sentence in sentences(learner, BATCH)]
    scale = {"reconstruction": 1 / n_words, "classifier": 1 / 10}
    check(learner, 3, BATCH, lambda: summed(every, scale))


@pytest.mark.parametrize(
    "kind",
    [
        {"cell": "gru", "both_ways": False, "maxout": True},
        {"markers": False, "attention": True},
        {"noise": "shared-words"},
    ],
    ids=str,
)
def test_dar(data, kind):
    config = replace(DarConfig.tiny(TASK), noise_rate=0.8, gamma=1.1, **kind)
    learner = made(Dar, data, replace(config, min_content=0, max_markers=99), ending=0)
    net, system, rows = learner.network, learner._system, learner._corpus.rows
    lexicons = [memory.lexicon for memory in system.memories]
    shown = [tuple(d.markers for d in m.deletions if d.markers) for m in system.memories]

    def terms(words, own, _, i):
        deletion = system.memories[int(own)].deletions[i % FEW]
        other = (
            EditNoise(tuple(lexicons[int(own)]), 0.8)
            if config.noise == "edit"
            else SharedWordNoise(shown[int(own)], 0.8)
        )
        drawn = other(deletion.markers, np.random.default_rng([config.seed, 3, i]))
        content = system.vocabulary.encode(deletion.content, config.max_length)
        changed.add(drawn != deletion.markers)
        state = net.read(torch.tensor([content]), torch.tensor([system.marker_row(drawn)]), own)
        return {"words": told(net.teach(state, words), words)}

    changed = set()
    with torch.no_grad():
        every = [terms(*sentence) for sentence in sentences(learner, BATCH)]
    assert changed == {False, True}
    scale = {"words": 1 / sum(len(rows[i]) for i in BATCH)}
    check(learner, 3, BATCH, lambda: summed(every, scale))
