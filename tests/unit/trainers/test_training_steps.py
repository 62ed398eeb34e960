"""One step of the training loop, by hand: its rate, its clipping, and when weights are judged."""

import pytest
import torch
from torch import nn

from tstbench.trainers.training.loop import Learner, Update, learn
from tstbench.trainers.training.run import Run
from tstbench.trainers.training.sampler import Order


class Falls(Learner):
    """Two weights on a slope of gradient (3, 4), whose length is 5."""

    def __init__(self, updates, scores=(), validate_every=100):
        self.network = nn.ModuleDict({"a": nn.Linear(2, 1, bias=False)})
        nn.init.zeros_(self.network["a"].weight)
        self.optimizers = {"a": torch.optim.SGD(self.network.parameters(), lr=2.0)}
        self.steps, self.validate_every, self.seed = len(updates), validate_every, 0
        self._updates, self._scores, self.drawn = updates, list(scores), []

    def update(self, step):
        order = Order([1] * 4, batch_size=2, seed=0)
        return Update("a", ("a",), self.loss, order, number=step, **self._updates[step])

    def loss(self, batch):
        slope = torch.tensor([[3.0, 4.0]])
        return {"fall": self.network["a"](slope).sum()}

    def validate(self):
        self.drawn.append(float(torch.rand(())))
        return {"selection": self._scores.pop(0) if self._scores else 0.0}

    @property
    def place(self):
        return self.network["a"].weight.detach().flatten().tolist()


@pytest.mark.parametrize(
    ("updates", "place"),
    [
        ([{}], (-6.0, -8.0)),
        ([{"rates": {"a": 0.5}}], (-1.5, -2.0)),
        ([{"rates": {"a": 0.5}}, {}], (-3.0, -4.0)),  # a rate stays until it is changed
        ([{"rates": {"b": 0.5}}], (-6.0, -8.0)),
        ([{"clip": 1.0}], (-1.2, -1.6)),
        ([{"clip": 10.0}], (-6.0, -8.0)),  # shorter than that already
        ([{"clip": 2.5, "rates": {"a": 1.0}}, {"clip": None}], (-4.5, -6.0)),
    ],
)
def test_a_step_is_as_long_as_its_rate_and_its_clipping_say(updates, place):
    learner = Falls(updates)
    learn(learner, Run(device="cpu"), "recipe")
    assert learner.place == pytest.approx(place, rel=1e-4)


def test_of_equal_scores_the_first_weights_are_kept():
    learner = Falls([{"rates": {"a": 1.0}}] * 4, scores=(0.1, 0.3, 0.3, 0.2), validate_every=1)
    learned = learn(learner, Run(device="cpu"), "recipe")
    assert (learned.step, dict(learned.scores)) == (2, {"selection": 0.3})
    assert learner.place == pytest.approx((-6.0, -8.0))


def test_weights_are_judged_now_and_then_and_at_the_end():
    learner = Falls([{}] * 7, validate_every=3)
    learned = learn(learner, Run(device="cpu"), "recipe")
    judged = [row["step"] for row in learned.curve if "validation/selection" in row]
    assert judged == [3, 6, 7]


def test_chance_in_a_validation_is_that_of_its_step():
    drawn = []
    for noise in (1, 2):
        torch.manual_seed(noise)
        learner = Falls([{}] * 4, validate_every=2)
        plain = learner.loss

        def loss(batch, plain=plain, noise=noise):
            torch.rand(noise)  # what training draws is not what validation sees
            return plain(batch)

        learner.loss = loss
        learn(learner, Run(device="cpu"), "recipe")
        drawn.append(learner.drawn)
    assert drawn[0] == drawn[1]
    assert drawn[0][0] != drawn[0][1]


def test_checkpoints_are_as_frequent_as_asked(tmp_path):
    seen = []
    learner = Falls([{}] * 4)
    update = learner.update

    def looked(step):
        seen.append(sorted(int(path.name[5:]) for path in tmp_path.glob("step-*")))
        return update(step)

    learner.update = looked
    learn(learner, Run(folder=tmp_path, device="cpu", save_every=0), "recipe")
    assert seen == [[], [1], [1, 2], [2, 3]], "as often as there is time, and two are kept"
    learn(Falls([{}] * 4), Run(folder=tmp_path / "rare", device="cpu", save_every=60), "recipe")
    assert not list((tmp_path / "rare").glob("step-*")), "by the clock, not by steps"
