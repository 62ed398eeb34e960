"""Resampling in blocks: the draws, sums and intervals of one dense matrix, in memory that stays."""

import json
import tracemalloc

import numpy as np
import pytest
from places import GOLDEN
from resampled_cases import SEEDS, SIZES, cases

from tstbench.metrics.statistics import (
    _blocks,
    bootstrap,
    interval,
    mean_statistics,
    paired_p_value,
    resampled_sums,
)

GOLDEN = json.loads(GOLDEN.joinpath("statistics.json").read_text())


def dense(n: int, resamples: int, seed: int) -> np.ndarray:
    """The counts as they were made before there were blocks: all draws, then all counts."""
    draws = np.random.RandomState(seed).randint(0, n, size=(resamples, n))
    counts = np.zeros((resamples, n))
    np.add.at(counts, (np.arange(resamples)[:, None], draws), 1.0)
    return counts


# One product up to 8,388 sentences, blocks beyond; numbers of resamples that are no whole blocks.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "resamples"), [(1, 1000), (8388, 1000), (8389, 1000), (30_000, 301), (3_000_000, 3)]
)
def test_sums_are_those_of_the_drawn_sentences(n, resamples):
    values = np.random.RandomState(n).randint(0, 1000, size=(n, 2)).astype(np.float64)
    (sums,) = resampled_sums([values], resamples, seed=5)
    stream = np.random.RandomState(5)
    drawn = [values[stream.randint(0, n, size=n)].sum(axis=0) for _ in range(resamples)]
    assert np.array_equal(sums, drawn)  # whole numbers: exact in whatever order they are added


@pytest.mark.parametrize("n", [500, 1517, 6000])
@pytest.mark.parametrize("columns", [1, 2, 11, 15])
def test_sums_of_the_benchmarks_sizes_are_the_dense_products_to_the_last_digit(n, columns):
    rows = np.random.RandomState(columns).randn(n, columns)  # sums depend on their order
    (sums,) = resampled_sums([rows], seed=8)
    assert (sums == dense(n, 1000, 8) @ rows).all()


@pytest.mark.slow
def test_values_intervals_and_p_values_are_what_they_were():
    """Recorded before there were blocks; elsewhere, a logarithm may differ in its last digit."""
    expected = {(one["metric"], one["size"], one["seed"]): one for one in GOLDEN["recorded"]}
    found = set()
    for case in cases():
        for seed in SEEDS:
            one = expected[case.metric, case.size, seed]
            found.add((case.metric, case.size, seed))
            bounds = interval(case.first, seed=seed)
            assert case.first.value == pytest.approx(one["value"], rel=1e-13)
            assert [bounds.low, bounds.high] == pytest.approx(one["interval"], rel=1e-13)
            p = paired_p_value(case.first, case.second, seed=seed)
            assert (None if np.isnan(p) else p) == one["p"]
    assert found == set(expected)
    assert {size for _, size, _ in found} == set(SIZES)


def test_systems_drawn_together_have_the_replicates_that_they_have_alone():
    some = [mean_statistics(np.random.RandomState(i).rand(9000)) for i in range(2)]
    together = bootstrap(*some, resamples=960)
    for one, replicates in zip(some, together, strict=True):
        assert np.array_equal(bootstrap(one, resamples=960)[0], replicates)
    assert not np.array_equal(*together)


@pytest.mark.slow
def test_memory_does_not_hold_all_draws():
    """200 resamples of 200,000 sentences: at once, 320 MB of draws and as much of counts."""
    one, other = (mean_statistics(np.random.RandomState(i).rand(200_000)) for i in range(2))
    tracemalloc.start()
    try:
        interval(one, resamples=200)
        paired_p_value(one, other, resamples=200)
        assert tracemalloc.get_traced_memory()[1] < 320e6
    finally:
        tracemalloc.stop()


def test_a_corpus_of_many_sentences_is_never_one_matrix():
    """A block has at most 2^23 draws: 12,000 times 800 are 9.6 million, so two blocks of 400."""
    sizes = [block.shape for block in _blocks(12_000, 800, seed=3)]
    assert sizes == [(400, 12_000), (400, 12_000)]
