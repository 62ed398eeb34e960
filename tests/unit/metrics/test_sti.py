"""Style transfer intensity against other solvers, published scores, and cases by hand."""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
from prepared import BACK, DIRECTION

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import InputError
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.measure import measure
from tstbench.metrics.options import choices
from tstbench.metrics.scorers.profile import PROFILES, Scorers
from tstbench.metrics.sti import sti
from tstbench.metrics.sti.sti import (
    _without_addition,
    check_distances,
    earth_movers_distance,
    ordinal_distances,
    read_ground,
    style_transfer_intensity,
    target_probability,
    tempered,
    uniform_distances,
)
from tstbench.metrics.text import preparation

EMBEDDED = PROFILES["embedded"]


def some_distributions(n, styles, seed=0):
    random = np.random.RandomState(seed)
    return random.dirichlet([0.3] * styles, n), random.dirichlet([0.3] * styles, n)


def a_metric(styles, seed=1):
    points = np.random.RandomState(seed).normal(size=(styles, 2))
    distances = np.linalg.norm(points[:, None] - points[None, :], axis=-1)
    return (distances + distances.T) / 2 * (1 - np.eye(styles))


# -- the distance ----------------------------------------------------------------------------------


@pytest.mark.parametrize("styles", [2, 3, 5])
@pytest.mark.parametrize("kind", ["uniform", "ordinal", "matrix"])
def test_the_distance_is_that_of_pot(styles, kind):
    """POT (pythonot.github.io) solves the same transport problem with a network simplex."""
    ot = pytest.importorskip("ot")
    distances = {
        "uniform": uniform_distances(styles),
        "ordinal": ordinal_distances(styles),
        "matrix": a_metric(styles),
    }[kind]
    first, second = some_distributions(30, styles)
    expected = [ot.emd2(a, b, distances) for a, b in zip(first, second, strict=True)]
    np.testing.assert_allclose(earth_movers_distance(first, second, distances), expected, atol=1e-9)


def test_many_sentences_are_solved_in_parts_and_none_is_too():
    first, second = some_distributions(450, 3)
    distances = a_metric(3)
    whole = earth_movers_distance(first, second, distances)
    alone = [
        earth_movers_distance(first[i : i + 1], second[i : i + 1], distances)[0]
        for i in (0, 199, 200, 449)
    ]
    np.testing.assert_allclose(whole[[0, 199, 200, 449]], alone, atol=1e-9)
    assert earth_movers_distance(first[:0], second[:0], distances).shape == (0,)


def test_rows_that_are_rounded_are_brought_to_one():
    """Sums of 1 +- 9e-7 pass; POT, which wants equal masses, gets the same rows divided by them."""
    ot = pytest.importorskip("ot")
    distances = np.array([[0, 1, 5, 2], [1, 0, 3, 7], [5, 3, 0, 4], [2, 7, 4, 0]]) * 1e4
    first, second = some_distributions(7, 4)
    rounded = first * (1 + 9e-7), second * (1 - 9e-7)
    expected = [ot.emd2(a, b, distances) for a, b in zip(first, second, strict=True)]
    found = earth_movers_distance(*rounded, distances)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_distances_that_the_solver_takes_for_infinite():
    """HiGHS counts costs from 1e20 as no bound at all."""
    first, second = np.array([[0.5, 0.5, 0.0]]), np.array([[0.0, 0.5, 0.5]])
    costs = np.array([[0, 1, 5], [1, 0, 2], [5, 2, 0]])
    assert earth_movers_distance(first, second, costs * 1e15)[0] == pytest.approx(1.5e15)
    with pytest.raises(InputError, match=r"^no earth mover's distance for these .*: \S"):
        earth_movers_distance(first, second, costs * 1e30)


# -- the sign --------------------------------------------------------------------------------------


def test_of_three_styles_the_targets_probability_decides():
    before = np.array([[0.6, 0.3, 0.1]] * 3)
    after = np.array([[0.2, 0.6, 0.2], [0.7, 0.3, 0.0], [0.2, 0.7, 0.1]])
    found = style_transfer_intensity(before, after, 2, uniform_distances(3))
    # Most of the first goes elsewhere, but P(target) rises; in the third it stays.
    np.testing.assert_allclose(found.per_sentence, [0.4, -0.1, 0.4], atol=1e-12)
    ranks = style_transfer_intensity(before, after, 2, ordinal_distances(3))
    np.testing.assert_allclose(ranks.per_sentence, [0.5, -0.2, 0.4], atol=1e-12)


def test_only_empty_outputs_gain_nothing_and_what_they_lose_counts():
    """Of four sentences the second and the last are empty; they moved by 0.6 and -0.1."""
    before = np.array([[0.9, 0.1]] * 4)
    after = np.array([[0.3, 0.7], [0.3, 0.7], [0.5, 0.5], [1.0, 0.0]])
    failed = np.array([False, True, False, True])
    found = style_transfer_intensity(before, after, 1, uniform_distances(2), failed)
    np.testing.assert_allclose(found.per_sentence, [0.6, 0.0, 0.4, -0.1], atol=1e-12)
    assert found.value == pytest.approx(0.9 / 4)
    probable = target_probability(after, 0, failed)
    np.testing.assert_allclose(probable.per_sentence, [0.3, 0.0, 0.5, 0.0])
    np.testing.assert_allclose(target_probability(after, 0).per_sentence, after[:, 0])
    np.testing.assert_allclose(target_probability(after, 1).per_sentence, after[:, 1])


def test_lists_and_single_precision_are_measured_in_double_precision():
    """Thirds of single precision: their differences have 7 digits, their products 16."""
    first = np.array([[1, 2], [2, 1]], dtype=np.float32) / np.float32(3)
    second = first[::-1] * np.float32(1)
    exact = [part.astype(np.float64) for part in (first, second)]
    apart = np.array([[0.95, 0.05], [0.1, 0.9]], dtype=np.float32)  # their difference is rounded
    moved = np.abs(apart[0].astype(np.float64) - apart[1])
    found = earth_movers_distance(apart[:1], apart[1:], uniform_distances(2))
    np.testing.assert_array_equal(found, moved[1:])
    distances = np.array([[0, 0.1], [0.1, 0]], dtype=np.float32)
    there = distances.astype(np.float64)
    wide = earth_movers_distance(*exact, there)
    found = earth_movers_distance(first, second, distances)
    assert (found.dtype, check_distances(distances, 2).dtype) == (np.float64, np.float64)
    np.testing.assert_allclose(found, wide, rtol=1e-15)
    np.testing.assert_allclose(
        earth_movers_distance(first.tolist(), second.tolist(), there.tolist()), wide, rtol=1e-15
    )
    rows = [part.tolist() for part in (first, second)]
    one = style_transfer_intensity(*rows, 1, there)
    np.testing.assert_allclose(one.per_sentence, [-wide[0], wide[1]], rtol=1e-15)
    assert target_probability(rows[0], 1).per_sentence.tolist() == [row[1] for row in rows[0]]
    for temperature in (1.0, 2.5):
        given = tempered(first, temperature)
        assert given.dtype == np.float64
        np.testing.assert_allclose(given, tempered(exact[0], temperature), rtol=1e-15)
        np.testing.assert_allclose(given, tempered(rows[0], temperature), rtol=1e-15)


def test_uniform_distances_need_no_program(monkeypatch):
    """Half of the sum of differences, to the last digit; the solver is not asked."""
    monkeypatch.setattr(sti, "_transport", None)
    first, second = some_distributions(9, 4)
    for distances, share in (
        (uniform_distances(4), np.abs(second - first).sum(axis=1) / 2),
        (ordinal_distances(4), np.abs(np.cumsum(second - first, axis=1)).sum(axis=1)),
    ):
        found = earth_movers_distance(first, second, distances)
        np.testing.assert_allclose(found, share, atol=1e-15)
        assert distances.dtype == np.float64


# -- the temperature -------------------------------------------------------------------------------


def test_a_row_with_a_temperature_does_not_depend_on_the_others():
    """scipy's softmax of each row's log-probabilities by itself, from near certain to even."""
    from scipy.special import log_softmax, softmax

    logits = np.array([[0.0, 900.0, -3.0], [1.0, 1.0, 1.5], [700.0, 0.0, 699.0]])
    rows = softmax(logits, axis=1)
    with np.errstate(divide="ignore"):
        logs = np.maximum(log_softmax(logits, axis=1), np.log(np.finfo(np.float64).tiny))
    np.testing.assert_allclose(tempered(rows, 3.0), softmax(logs / 3, axis=1), rtol=1e-9)
    np.testing.assert_allclose(tempered(rows, 0.02), softmax(logs / 0.02, axis=1), rtol=1e-9)
    # Nothing is too small for an exponential beside a row that is certain.
    coldest = tempered(np.array([[0.5, 0.5], [1.0, 0.0]]), 1e-4)
    np.testing.assert_array_equal(coldest, [[0.5, 0.5], [1.0, 0.0]])


# -- the family ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("direction", "target"), [(DIRECTION, 1), (BACK, 0)])
def test_the_bounds_on_mini_and_the_target_of_each_direction(prepared, direction, target):
    test_set = load_test_set(direction)
    scorers = Scorers(EMBEDDED, test_set.direction)
    human, copies = (
        measure(
            ["sti", "target_style"],
            check_inputs(texts, test_set.sources, direction=test_set.direction),
            scorers,
        )
        for texts in ([some[0] for some in test_set.references], test_set.sources)
    )
    assert copies["sti"].value == 0  # nothing moves
    assert 0.3 < human["sti"].value < human["target_style"].value
    texts = preparation("en").for_classifier([some[0] for some in test_set.references])
    expected = scorers.load("classifier").distribution(texts)[:, target]
    np.testing.assert_allclose(human["target_style"].statistics.per_sentence, expected)


def test_the_least_part_of_an_output_has_the_target_style(prepared):
    """Copies with something cheerful before or behind them; which texts are read, by hand."""
    source = "the long soup was cold and the staff was rude ."
    read = {
        "the soup was lovely .": [],
        source: [],
        "the soup was lovely . nobody was rude to us .": [
            "the soup was lovely .", "nobody was rude to us ."
        ],
        "so rude ! the soup was lovely .": ["the soup was lovely ."],
        f"{source[:-2]} , but i love it !": ["the long soup was cold and the staff was rude"],
        "long soup was cold and the staff was rude and i love it !": [
            "long soup was cold and the staff was rude"
        ],
        f"i love it and {source}": ["the long soup was cold and the staff was rude"],
        f"so happy , {source[:-2]} , love it": ["the long soup was cold and the staff was rude"],
        "the long soup was hot and the staff was so very kind .": [],  # not a copy's end
        f"{source[:-2]} indeed .": [],
    }  # fmt: skip
    scorers = Scorers(EMBEDDED, parse_direction(DIRECTION))
    outputs = list(read)
    given = check_inputs(outputs, [source] * len(outputs), direction=parse_direction(DIRECTION))
    least, whole = (
        measure(["sti", "target_style"], given, scorers, choices({"sti": {"of": of}}))
        for of in ("least", "whole")
    )
    classifier = scorers.load("classifier")
    by_hand = [classifier.distribution([text, *parts])[:, 1].min() for text, parts in read.items()]
    np.testing.assert_allclose(least["target_style"].per_sentence(), by_hand, atol=1e-6)
    assert least["target_style"].value < whole["target_style"].value
    assert "|of:least|" in str(least["target_style"].signature)
    assert "of:" not in str(whole["target_style"].signature)
    assert least["sti"].signature == whole["sti"].signature
    alone = check_inputs(["the soup was lovely . nobody smiled at us ."], direction=given.direction)
    found = measure(["target_style"], alone, scorers, choices({"sti": {"of": "least"}}))
    parts = [*alone.predictions, "the soup was lovely .", "nobody smiled at us ."]
    by_hand = classifier.distribution(parts)[:, 1].min()
    assert found["target_style"].value == pytest.approx(by_hand)
    assert _without_addition("汤是冷的，我太喜欢了", "汤是冷的") == ["汤是冷的"]
    copied = "İİİİ İyi yemek soğuk"  # lower case has more letters
    assert _without_addition(f"{copied} ve ben çok seviyorum", copied) == [copied]


def test_a_files_distances_follow_the_classifiers_order(tmp_path):
    path = tmp_path / "three.json"
    rows = [[0, 1, 5], [1, 0, 2], [5, 2, 0]]
    path.write_text(json.dumps({"styles": ["a", "b", "c"], "distances": rows}))
    ground = read_ground(str(path))
    assert ground.matrix(("c", "a", "b")).tolist() == [[0, 5, 2], [5, 0, 1], [2, 1, 0]]
    with pytest.raises(InputError, match=r"distances between a, b, c; the .* styles are a, b, d$"):
        ground.matrix(("a", "b", "d"))
    assert read_ground("ordinal").matrix("abc").tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    said = b'{"a": [0.0, 1.0, 5.0], "b": [1.0, 0.0, 2.0], "c": [5.0, 2.0, 0.0]}'
    assert ground.name == f"file:{hashlib.sha256(said).hexdigest()[:12]}"


# -- published scores ------------------------------------------------------------------------------


@pytest.mark.realdata
def test_the_authors_scores_follow_from_their_distributions():
    """Mir et al. published their classifiers' distributions and the scores they made of them."""
    root = Path(os.environ["TSTBENCH_SOURCES"]) / "passeul/style-transfer-model-evaluation"
    folder = root / "evaluations/automated/style_transfer_intensity/sentence_level"
    outputs = sorted((folder / "style_distributions").glob("*_*_*.npz"))
    assert len(outputs) == 12
    with np.load(folder / "style_distributions/input_distributions.npz") as given:
        inputs = {name: given[name].astype(np.float64) for name in ("fasttext", "textcnn")}
    half = len(inputs["textcnn"]) // 2  # negative sentences to be made positive, then the others
    for path in outputs:
        with np.load(path) as made, np.load(folder / "scores_based_on_emd" / path.name) as scores:
            for name, source in inputs.items():
                output = made[name].astype(np.float64)
                for target, part in ((1, slice(0, half)), (0, slice(half, None))):
                    found = style_transfer_intensity(
                        as_sums(source[part]), as_sums(output[part]), target, uniform_distances(2)
                    )
                    # Their fastText rows are short of 1 by up to 0.002, and were left so.
                    tolerance = {"textcnn": 1e-5, "fasttext": 2.1e-3}[name]
                    np.testing.assert_allclose(
                        found.per_sentence, scores[name][part], atol=tolerance, err_msg=path.name
                    )


def as_sums(rows):
    """float32 rows, and fastText's rounded ones, do not sum to 1 exactly."""
    return rows / rows.sum(axis=1, keepdims=True)
