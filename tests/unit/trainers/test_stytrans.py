"""STYTRANS: its pieces against plain computations, what reaches what, and the command line."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from prepared import BACK, DIRECTION, command_line, success
from word_systems import N_WORDS, learner_of

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.trainers.nast import Nast, NastConfig
from tstbench.trainers.stytrans import Discriminator, Generator, StyTrans, StyTransConfig
from tstbench.trainers.training.words import END, PAD, UNKNOWN, lengths_of

CONFIG = StyTransConfig.tiny(parse_direction(DIRECTION))
NAST = NastConfig.tiny(parse_direction(DIRECTION))


@pytest.fixture
def generator():
    torch.manual_seed(0)
    return Generator(N_WORDS, CONFIG.shape, CONFIG.max_length).eval()


def test_the_cache_writes_what_reading_everything_again_would(generator, words):
    styles = torch.tensor([0, 1, 1])
    with torch.no_grad():
        cached = generator.write(words, lengths_of(words), styles, forbidden=(END,))
        memory, mask = generator.reader(words, lengths_of(words), styles)
        written = torch.empty(len(words), 0, dtype=torch.long)
        for _ in range(CONFIG.max_length):
            start = generator.start.expand(len(words), 1, -1)
            before = torch.cat([start, generator.reader.words(written)], dim=1)
            vectors, _ = generator.decoder(before, generator.decoder.memory(memory), mask)
            logits = generator.output(vectors[:, -1:])
            logits[..., END] = -torch.inf
            written = torch.cat([written, logits.argmax(dim=-1)], dim=1)
    assert torch.equal(cached, written)


def test_what_has_ended_is_written_no_further_and_changes_nobody(generator, words):
    """Of three sentences one ends early: the others are what they would be alone."""
    styles = torch.tensor([0, 1, 1])
    for bias in np.arange(0, 3, 0.05):
        generator.output.bias.data[END] = float(bias)
        together = generator.write(words, lengths_of(words), styles)
        written = lengths_of(together).tolist()
        if len(set(written)) == 3:
            break
    assert len(set(written)) == 3, "the sentences end at different places"
    assert together.shape[1] == max(written)
    for row, style, found, length in zip(words, styles, together, written, strict=True):
        alone = row[row != PAD][None]
        expected = generator.write(alone, lengths_of(alone), style[None])[0]
        assert found[:length].tolist() == expected.tolist()
        assert (found[length:] == PAD).all()


def test_a_batch_ends_with_its_longest_rewrite(generator, words):
    """What comes behind an end changes neither verdicts nor what is read from a rewrite."""
    styles = torch.tensor([0, 1, 1])
    with torch.no_grad():
        generator.output.bias[END] = 2.5
        short = generator.unroll(words, lengths_of(words), styles, temperature=1.0)
    lengths = lengths_of(short)
    assert int(lengths.max()) == short.shape[1] < CONFIG.max_length
    longer = F.pad(short, (0, 0, 0, 2), value=1 / N_WORDS)
    critic = Discriminator(N_WORDS, CONFIG.shape, CONFIG.max_length, conditional=False)
    same = critic(short, lengths, styles), critic(longer, lengths, styles)
    assert torch.allclose(*same, atol=1e-5)
    same = (generator.teach(text, lengths, styles, words) for text in (short, longer))
    assert torch.allclose(*same, atol=1e-5)


def test_teaching_is_unrolling_over_the_right_words(generator, words):
    """The causal mask hides what the cache has not seen yet."""
    styles = torch.zeros(3, dtype=torch.long)
    logits = generator.teach(words, lengths_of(words), styles, words)
    changed = words.clone()
    changed[:, 5:] = UNKNOWN
    # The source is the same: only the words to write differ, from the sixth on.
    other = generator.teach(words, lengths_of(words), styles, changed)
    assert torch.allclose(logits[:, :6], other[:, :6], atol=1e-6)
    assert not torch.allclose(logits[:, 6:], other[:, 6:], atol=1e-3)


def test_a_hard_row_is_the_word_itself(generator, words):
    rows = F.one_hot(words, N_WORDS).float()
    styles = torch.ones(3, dtype=torch.long)
    hard, _ = generator.reader(words, lengths_of(words), styles)
    soft, _ = generator.reader(rows, lengths_of(rows), styles)
    assert torch.allclose(hard, soft, atol=1e-5)
    assert torch.equal(lengths_of(words), lengths_of(rows))
    assert lengths_of(words).tolist() == [5, 10, 2]


@pytest.mark.parametrize(("kind", "config"), [(StyTrans, CONFIG), (Nast, NAST)])
def test_only_the_network_that_learns_has_dropout(data, kind, config):
    """As ``d_step`` and ``f_step`` of the released ``train.py`` set it, and NAST's."""
    learner = learner_of(kind, data, replace(config, dropout=0.5))
    generator, part = learner.network["generator"], np.arange(4)
    for step, learns in ((0, generator), (config.warm_up, learner.discriminator)):
        learner.network.train()
        learner.update(step).loss(part)
        assert learns.training
    assert not generator.training
    words, styles = learner.batch(part)
    torch.manual_seed(1)
    verdict = learner.discriminator.doubt(words, lengths_of(words), styles)
    learner.network.train()
    learner.update(config.warm_up + config.discriminator_steps).loss(part)
    assert generator.training
    still = [learner.discriminator.doubt(words, lengths_of(words), styles) for _ in range(2)]
    assert torch.equal(*still)
    assert not torch.equal(still[0], verdict), "which dropout had changed in its own step"


def test_from_the_command_line_to_a_score(tmp_path, capsys):
    out = tmp_path / "m"
    tiny = ("train", "stytrans", "--preset", "tiny", "--dataset", "mini", "--device", "cpu")
    shown, _ = success(capsys, *tiny, "--out", out)
    assert "mini/negative-to-positive, mini/positive-to-negative" in shown, (
        "trained once, both ways"
    )
    curve = [json.loads(line) for line in (out / "curve.jsonl").read_text().splitlines()]
    assert [row["step"] for row in curve if "validation/selection" not in row] == list(range(1, 23))
    assert list((tmp_path / "tstbench-home" / "runs").glob("[!.]*")) == [], "nothing is left behind"
    predictions = tmp_path / "p.jsonl"
    success(capsys, "transfer", out, "--direction", BACK, "--out", predictions, "--device", "cpu")
    shown, _ = success(capsys, "evaluate", predictions, "--direction", BACK, "--metrics", "s_bleu")
    assert "p§ " in shown  # some of its answers are the same
    code, _, err = command_line(capsys, *tiny)
    assert (code, "training" in err) == (0, False), "the same recipe is not trained twice"
