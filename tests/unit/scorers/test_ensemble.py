"""The fine-tuned and the ensemble classifier: arithmetic by hand, files, and what is refused."""

import json

import numpy as np
import pytest
from classifier_toys import LABELS, SENTENCES, STYLES

from tstbench.errors import InputError, IntegrityError
from tstbench.metrics.scorers import linear
from tstbench.metrics.scorers.classifiers import model_class
from tstbench.metrics.scorers.ensemble import SPREAD, EnsembleConfig, EnsembleModel, spread
from tstbench.metrics.scorers.train import fit, labelled

TOY = labelled(SENTENCES, LABELS, STYLES, what="toy")
SMALL = EnsembleConfig(members=("linear", "fasttext"))


class Fixed:
    """A member that answers what it is told."""

    styles = STYLES

    def __init__(self, rows):
        self._rows = np.array(rows)

    def distribution(self, sentences):
        assert len(sentences) == len(self._rows)
        return self._rows


@pytest.fixture(scope="module")
def ensemble():
    return fit("ensemble", TOY, STYLES, SMALL)


def test_the_mean_of_standardised_log_odds_by_hand():
    """Log-odds 2 of spread 1 and -1 of spread 0.5 cancel out; 4 and 0 give 4/2, scaled."""

    def rows(odds):
        p = 1 / (1 + np.exp(-np.array(odds)))
        return np.stack([1 - p, p], axis=1)

    model = EnsembleModel(
        [("linear", Fixed(rows([2.0, 4.0]))), ("probe", Fixed(rows([-1.0, 0.0])))], [1.0, 0.5]
    )
    found = model.distribution(["a", "b"])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    odds = np.log(found[:, 1] / found[:, 0])
    np.testing.assert_allclose(odds, [0.0, SPREAD * 2.0], atol=1e-12)


def test_the_spread_of_logistic_log_odds_is_what_is_aimed_at():
    odds = np.random.RandomState(0).logistic(size=200_000)
    for surer in (1, 3):  # one that is always certain decides no more than the others
        p = 1 / (1 + np.exp(-surer * odds))
        found = spread(np.stack([1 - p, p], axis=1))
        assert found == pytest.approx(surer * SPREAD, rel=0.01)
    with pytest.raises(InputError, match=r"^a member of the ensemble finds all styles"):
        spread(np.full((3, 2), 0.5))
    assert np.isfinite(spread(np.array([[0.0, 1.0]])))
    exact = np.array([[0.25, 0.75]])
    assert spread(exact.astype(np.float32)) == spread(exact)


def test_what_is_read_back_is_what_was_saved(ensemble, tmp_path):
    ensemble.save(tmp_path)
    again = EnsembleModel.load(tmp_path)
    assert (again.kinds, again.styles, again.spreads) == (SMALL.members, STYLES, ensemble.spreads)
    np.testing.assert_array_equal(again.distribution(SENTENCES), ensemble.distribution(SENTENCES))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"styles": ["rude", "polite"]}, "the members' styles are not the ensemble's"),
        *(
            ({"kinds": [kind, "linear"]}, "cannot be a member of an ensemble")
            for kind in ("../linear", "ensemble", "pickle")
        ),
    ],
)
def test_a_folder_cannot_name_any_member_or_style(changed, said, ensemble, tmp_path):
    ensemble.save(tmp_path)
    path = tmp_path / "model.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))
    with pytest.raises(IntegrityError, match=said):
        model_class("ensemble").load(tmp_path)


def test_members_of_other_styles_and_spreads_that_do_not_fit_are_refused(ensemble):
    other = Fixed([[0.5, 0.5]])
    other.styles = ("rude", "polite")
    with pytest.raises(InputError, match=r"^the members of an ensemble tell different"):
        EnsembleModel([ensemble.members[0], ("probe", other)], [1, 1])
    with pytest.raises(InputError, match="must be above 0"):
        EnsembleModel([ensemble.members[0]], [0.0])
    with pytest.raises(InputError, match="1 members with 2 spreads"):
        EnsembleModel([ensemble.members[0]], [1.0, 1.0])


@pytest.mark.parametrize(
    ("size", "kept", "n", "rare"), [(100, 3, 3, False), (100, 2000, 5, False), (19, 9, 1, True)]
)
def test_spreads_are_measured_on_what_members_did_not_learn(size, kept, n, rare, monkeypatch):
    """A twentieth, drawn by the seed; all is learned if a style has no other sentence."""
    seen, answers = [], [[0.25, 0.75]]

    class Spy:
        styles = STYLES

        def distribution(self, sentences):
            seen.append(tuple(sentences))
            return np.array(answers * len(sentences))

    monkeypatch.setattr(linear, "fit", lambda *given: seen.append(given) or Spy())
    texts, order = [f"text {i}" for i in range(size)], np.random.RandomState(3).permutation(size)
    labels = [int(i == order[0]) if rare else i % 2 for i in range(size)]
    config = EnsembleConfig(members=("linear",), seed=3, kept=kept)
    model = fit("ensemble", labelled(texts, labels, STYLES, what="toy"), STYLES, config)
    (data, styles, own), held = seen
    learned = range(size) if rare else sorted(order[n:])
    assert (data.sentences, data.labels) == tuple(
        tuple(column[i] for i in learned) for column in (texts, labels)
    )
    assert (styles, own.seed) == (STYLES, 3)
    assert held == tuple(texts[i] for i in sorted(order[:n]))
    assert model.spreads == (spread(np.array(answers)),)


def test_the_members_settings_are_the_ensembles():
    """They have their defaults, but for its seed and a shorter fine-tuning."""
    said = EnsembleConfig(members=("linear", "finetuned"), seed=7, kept=9).settings()
    assert {**said, "members": list(said["members"])} == {
        "seed": 7, "kept": 9, "members": ["linear", "finetuned"],
    }  # fmt: skip
    assert said["members"]["linear"] == linear.LinearConfig(seed=7).settings()
    shorter = {"epochs": 1.0, "most_sentences": 16_000, "least_steps": 100, "frozen_layers": 2}
    assert said["members"]["finetuned"].items() >= {**shorter, "seed": 7}.items()
