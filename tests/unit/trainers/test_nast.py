"""NAST: what its network reads and writes, its noise, and its losses by hand."""

from dataclasses import replace

import torch
from prepared import DIRECTION
from word_systems import N_WORDS, untrained

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.trainers.nast import Nast, NastConfig
from tstbench.trainers.training.words import END, PAD, UNKNOWN, lengths_of

LEARNABLE = NastConfig.tiny(parse_direction(DIRECTION))
SIMPLE = replace(LEARNABLE, alignment="simple", blank=0.2, drop=0.0, insert=0.0)


def network(config):
    torch.manual_seed(0)
    return Nast.new_network(N_WORDS, config).eval()


def test_simple_alignment_writes_a_word_for_each_word(words):
    logits, lengths = network(SIMPLE).write(words, lengths_of(words), torch.zeros(3).long())
    assert lengths.tolist() == [5, 10, 2]
    assert logits.shape == (3, 10, N_WORDS)


def test_every_word_sees_every_other():
    """Not autoregressive: a change of the last source word reaches the first written one."""
    generator, styles = network(SIMPLE), torch.zeros(1).long()
    row = torch.tensor([[5, 6, 7, END]])
    changed = torch.tensor([[5, 6, 8, END]])
    first, _ = generator.write(row, lengths_of(row), styles)
    other, _ = generator.write(changed, lengths_of(changed), styles)
    assert (first[0, 0] - other[0, 0]).abs().max() > 1e-4


def test_no_pads_and_no_unknown_words_are_written(data):
    system = untrained(Nast, data, SIMPLE)[0]
    with torch.no_grad():
        system.network.output.bias[[PAD, UNKNOWN]] = 50.0
    assert all(system.rewritten(["the food was awful ."], 0))
