"""The training loop on a small network: resumed, killed, in half precision."""

import shutil

import numpy as np
import pytest
import torch
from disks import short_files
from torch import nn

from tstbench.errors import InputError, IntegrityError
from tstbench.trainers.training.curve import terms_text
from tstbench.trainers.training.loop import Learner, Update, learn
from tstbench.trainers.training.run import Run, half_of
from tstbench.trainers.training.sampler import Both, Order

RECIPE = "a recipe"


class Two(Learner):
    """Two networks that take turns, as an adversarial system's do; a regression with noise."""

    def __init__(self, steps=20, dropout=0.1, rate=1e-2):
        torch.manual_seed(1)
        layers = (nn.Linear(4, 16), nn.Tanh(), nn.Dropout(dropout), nn.Linear(16, 1))
        self.network = nn.ModuleDict({"a": nn.Sequential(*layers), "b": nn.Linear(1, 1)})
        self.optimizers = {
            n: torch.optim.Adam(p.parameters(), rate) for n, p in self.network.items()
        }
        self.steps, self.validate_every, self.seed = steps, 5, 3
        random = np.random.default_rng(0)
        self.x = torch.tensor(random.normal(size=(37, 4)), dtype=torch.float32)
        self.y = self.x.sum(dim=1, keepdim=True)
        self.order = Order(list(range(37)), batch_size=8, seed=5, grouping=2)

    def update(self, step):
        name = "ab"[step % 2]
        return Update(name, (name,), self.loss, self.order, number=step, clip=1.0)

    def loss(self, batch):
        hidden = self.network["a"](self.x[batch])
        error = (self.network["b"](hidden) - self.y[batch]).square().sum()
        return {"error": error / len(batch)}

    def validate(self):
        error = (self.network["b"](self.network["a"](self.x)) - self.y).square().mean()
        return {"selection": -error.item()}


def losses(learned):
    return [v for row in learned.curve for n, v in row.items() if n.endswith("/error")]


def test_one_of_several_processes_is_refused(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match="learns in one process, not in 2"):
        learn(Two(), Run(), RECIPE)


def test_a_loss_that_is_no_number_is_told():
    with pytest.raises(InputError, match=r"the loss [ab]/error is not a number at step \d+: lower"):
        learn(Two(rate=1e30), Run(), RECIPE)


STEP = "step-000000008"


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        (f"{STEP}/weights.safetensors", rf"checkpoint .*{STEP} is damaged"),
        (f"{STEP}/optimizers.safetensors", rf"checkpoint .*{STEP} is damaged"),
        (f"{STEP}/state.json", rf"checkpoint .*{STEP} is damaged"),
        ("best.safetensors", r"best weights .* begin anew with --restart"),
    ],
)
def test_a_training_that_was_damaged_or_is_another_is_refused(tmp_path, damaged, said):
    learn(Two(steps=8), Run(folder=tmp_path, save_every=0), RECIPE)
    with pytest.raises(InputError, match="of another training"):
        learn(Two(), Run(folder=tmp_path), "another recipe")
    (tmp_path / damaged).write_bytes((tmp_path / damaged).read_bytes()[:-9])
    with pytest.raises(IntegrityError, match=said):
        learn(Two(), Run(folder=tmp_path), RECIPE)


def test_every_sentence_is_seen_once_an_epoch_in_batches_of_like_length():
    lengths = [int(n) for n in np.random.default_rng(2).integers(1, 30, size=64)]
    order = Order(lengths, batch_size=8, seed=0, grouping=8)
    assert sorted(i for step in range(8) for i in order.at(step)) == list(range(64))
    spread = np.mean([np.ptp([lengths[i] for i in order.at(step)]) for step in range(8)])
    mixed = Order(lengths, batch_size=8, seed=0)
    assert spread < np.mean([np.ptp([lengths[i] for i in mixed.at(step)]) for step in range(8)]) / 3
    assert [*order.at(0)] != [*order.at(8)]
    assert [*order.at(3)] == [*Order(lengths, batch_size=8, seed=0, grouping=8).at(3)]


def test_batches_of_both_styles_are_of_like_length():
    random = np.random.default_rng(0)
    lengths = random.integers(2, 40, size=300).tolist(), random.integers(2, 40, size=170).tolist()
    every = np.array([*lengths[0], *lengths[1]])

    def spread(both):
        return np.mean([np.ptp(every[both.at(step)]) for step in range(60)])

    grouped, plain = (Both(lengths, batch_size=8, seed=0, grouping=g) for g in (10, 1))
    assert spread(grouped) < spread(plain) / 2
    for both in (grouped, plain):
        batch = both.at(3)
        assert len(batch) == 16
        assert (batch < 300).sum() == 8, "as many of each style"
        sides = [side.at(3) for side in both.sides]
        assert [*sides[0], *sides[1]] == [*batch]
        assert sides[0].max() < 300 <= sides[1].min()
        assert [*batch] == [*Both(lengths, 8, 0, 10 if both is grouped else 1).at(3)]
    means = [every[grouped.at(step)].mean() for step in range(10)]
    assert means not in (sorted(means), sorted(means, reverse=True)), "lengths take turns"
    epoch = [i for step in range(20) for i in grouped.at(step) if i >= 300]
    assert len(set(epoch[:80])) == 80, "a group has no sentence twice"
    halves = [[every[side.at(step)].mean() for side in grouped.sides] for step in range(60)]
    assert max(abs(source - target) for source, target in halves) < 6, "both styles alike"
    drawn = [i for step in range(10) for i in grouped.at(step)]
    whole = Both(lengths, batch_size=80, seed=0).at(0)
    assert sorted(drawn) == sorted(whole), "what is drawn together is split, and nothing is lost"
    assert [len(Both(([3], [4] * 5), 4, 0, grouping=10).at(step)) for step in (0, 7)] == [5, 5]


def test_half_precision_learns_nearly_the_same_and_keeps_whole_weights():
    whole, half = Two(dropout=0.0), Two(dropout=0.0)
    expected = losses(learn(whole, Run(device="cpu"), RECIPE))
    found = losses(learn(half, Run(device="cpu", precision="bfloat16"), RECIPE))
    assert found == pytest.approx(expected, rel=0.1)
    assert found != pytest.approx(expected, rel=1e-5), "or nothing was in half precision"
    assert {p.dtype for p in half.network.parameters()} == {torch.float32}


def test_phases_and_systems_have_folders_of_their_own_in_tensorboard(tmp_path):
    pytest.importorskip("tensorboard")
    recipes = ("0123456789abcdef-one", "fedcba9876543210-two")
    names = [name for recipe in recipes for name in (f"{recipe}/classifier", recipe)]
    for i, name in enumerate(names):
        run = Run(folder=tmp_path / str(i), tensorboard=tmp_path / "board")
        learn(Two(steps=2), run, name)
    assert len(list((tmp_path / "board").iterdir())) == 4


def test_tensorboard_shows_the_curve_once_also_after_a_resume(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    board = tmp_path / "board"
    learn(Two(steps=8), Run(folder=tmp_path / "run", save_every=0, tensorboard=board), RECIPE)
    shutil.rmtree(tmp_path / "run" / "step-000000008")
    whole = learn(Two(steps=20), Run(folder=tmp_path / "run", tensorboard=board), RECIPE)
    [folder] = board.iterdir()
    events = accumulator.EventAccumulator(str(folder))
    events.Reload()
    shown = {
        (event.step, name): event.value
        for name in events.Tags()["scalars"]
        for event in events.Scalars(name)
    }
    rows = {
        (row["step"], name): value
        for row in whole.curve
        for name, value in row.items()
        if name != "step"
    }
    assert shown == pytest.approx(rows, abs=1e-6)
    assert sum(len(events.Scalars(name)) for name in events.Tags()["scalars"]) == len(rows)


def test_a_bar_fits_a_narrow_terminal():
    terms = {f"discriminator/{name}": 1.0 for name in ("real", "repeated", "rewritten")}
    assert terms_text(terms, 60) == "discriminator: real 1.00, repeated 1.00, rewritten 1.00"
    assert terms_text(terms, 42) == "discriminator: real 1.00, repeated 1.00"
    assert terms_text({}, 42) == ""


@pytest.mark.parametrize("room", [600, 1500])  # for no weights, and for no optimizers
def test_a_disk_that_is_full_is_told_and_leaves_no_half_file(tmp_path, room):
    folder = tmp_path / "run"
    learn(Two(steps=4), Run(folder=folder, save_every=0), RECIPE)
    with short_files(room), pytest.raises(InputError, match="cannot be written"):
        learn(Two(), Run(folder=folder, save_every=0), RECIPE)
    names = {p.name for p in folder.glob("[!.]*")}
    assert names == {"curve.jsonl", "best.safetensors", "step-000000003", "step-000000004"}
    assert losses(learn(Two(), Run(folder=folder), RECIPE)) == losses(learn(Two(), Run(), RECIPE))


def test_a_gpu_without_bfloat16_is_no_matter_to_the_processor(monkeypatch):
    # No such GPU is at hand: what torch would say of one.
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: False)
    assert losses(learn(Two(steps=4), Run(device="cpu", precision="bfloat16"), RECIPE))
    assert [half_of(precision, "auto") for precision in ("auto", "float32")] == [False, False]
    with pytest.raises(InputError, match="--precision bfloat16: this GPU has none"):
        learn(Two(), Run(precision="bfloat16"), RECIPE)


# -- one step, by hand -----------------------------------------------------------------------------


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
