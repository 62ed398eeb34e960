"""As test_loss_wiring, of what learns codes, contents or one sequence from another."""

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
    made,
    sentences,
    short_sentences,
    size,
    summed,
    told,
)

from tstbench.metrics.scorers.fitting import seed_of
from tstbench.trainers.arae import Arae, AraeConfig
from tstbench.trainers.caae import Caae, CaaeConfig
from tstbench.trainers.ctat import Ctat, CtatConfig
from tstbench.trainers.dar import Dar, DarConfig
from tstbench.trainers.markers import EditNoise, SharedWordNoise
from tstbench.trainers.prefix_lm import PrefixLM
from tstbench.trainers.strap import PrefixLearner, StrapConfig
from tstbench.trainers.training.words import PAD


@pytest.fixture(scope="module")
def data():
    return short_sentences()


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


def test_ctat(data):
    config = replace(CtatConfig.tiny(TASK), smoothing=0.3)
    learner = made(Ctat, data, config, ending=0)
    net, tell = learner.network.autoencoder, learner.network.classifier
    n_words = sum(len(learner._corpus.rows[i]) for i in BATCH)

    def terms(words, own, *_):
        latent = net.encode(words)
        log_p = net.teach(latent, words)[0].log_softmax(dim=-1)
        truth = torch.full_like(log_p, 0.3 / (log_p.shape[1] - 2))
        truth[:, PAD] = 0.0
        truth[torch.arange(len(truth)), words[0]] = 0.7
        p = tell(latent).sigmoid()
        return {
            "reconstruction": F.kl_div(log_p, truth, reduction="sum"),
            "classifier": -(p if int(own) else 1 - p).log(),
        }

    with torch.no_grad():
        every = [terms(*sentence) for sentence in sentences(learner, BATCH)]
    scale = {"reconstruction": 1 / n_words, "classifier": 1 / 10}
    check(learner, 3, BATCH, lambda: summed(every, scale))


NOISES = [("edit", True), ("edit", False), ("shared-words", True)]


@pytest.mark.parametrize(("noise", "markers"), NOISES)
def test_dar(data, noise, markers):
    config = replace(DarConfig.tiny(TASK), noise=noise, markers=markers, noise_rate=0.8, gamma=1.1)
    learner = made(Dar, data, replace(config, min_content=0, max_markers=99), ending=0)
    net, system, rows = learner.network, learner._system, learner._corpus.rows
    lexicons = [memory.lexicon for memory in system.memories]
    shown = [tuple(d.markers for d in m.deletions if d.markers) for m in system.memories]

    def terms(words, own, _, i):
        deletion = system.memories[int(own)].deletions[i % FEW]
        other = (
            EditNoise(tuple(lexicons[int(own)]), 0.8)
            if noise == "edit"
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


def test_strap(data):
    """The inverse paraphraser writes sentences of a style from their paraphrases."""
    texts = [*data.train.source, *data.train.target]
    pairs = list(zip(texts[:FEW], texts[FEW:], strict=True))
    torch.manual_seed(0)
    model = PrefixLM.pretrained("scratch", texts * 4, max_prefix=24, max_suffix=24)
    with torch.no_grad():
        for weights in model.model.parameters():
            weights.mul_(4)
    tuning = StrapConfig.tiny(TASK).tuning(1)
    learner = PrefixLearner(model, pairs, pairs[:2], tuning)
    model.model.eval()
    start, end, first, second = (
        model.tokenizer.convert_tokens_to_ids(t) for t in ("<bos>", "<eos>", "<tokens>", "<verb>")
    )
    batch, total = np.array([0, 3, 5]), 0.0
    ids = [
        [model.tokenizer(text, add_special_tokens=False)["input_ids"][:24] for text in pair]
        for pair in pairs
    ]
    with torch.no_grad():
        for before, after in (ids[i] for i in batch):
            row = torch.tensor([[*before, start, *after, end]])
            types = torch.tensor([[first] * len(before) + [second] * (len(after) + 2)])
            logits = model.model(input_ids=row, token_type_ids=types).logits[:, len(before) : -1]
            total += told(logits, torch.tensor([[*after, end]]))
    n_tokens = sum(len(ids[i][1]) + 1 for i in batch)
    check(learner, 3, batch, lambda: {"loss": total / n_tokens})
