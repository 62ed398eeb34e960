"""What every system that learns promises, said once and tried with each of them, on mini."""

import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import pytest
import torch
from near import Near
from prepared import BACK, DIRECTION
from word_systems import learner_of, moved

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import load_training
from tstbench.errors import InputError, IntegrityError
from tstbench.trainers.load import load_system
from tstbench.trainers.system import Generation, system_class
from tstbench.trainers.train import system_config
from tstbench.trainers.training import loop
from tstbench.trainers.training.run import Run
from tstbench.trainers.word_system import WordSystem

STRANGE = ["", "zzz yyy xxx", "so " * 40]  # nothing, unknown words, more than can be read
BOTH_WAYS = {"selection", "acc_forward", "self_bleu_back"}
CPU = Run(device="cpu")


@dataclass(frozen=True)
class SystemCase:
    """A system as it is tried.

    Attributes:
        settings: besides those of its preset ``tiny``.
        scores: among those of its card.
        shaken: the network whose weights are made random before it answers, if any: of so little
            learning, its answers would all be the same.
        asked: settings of a rewrite that change its answers.
        moves: of a step, by its number or by the name of its kind, the first of which is meant:
            the parts of the network that it moves, all of them, and its losses.
        learner: settings to try its steps with.
        few: sentences of each style to learn those steps from.
    """

    name: str
    settings: dict = field(default_factory=dict)
    scores: set = field(default_factory=lambda: BOTH_WAYS)
    shaken: Callable | None = None
    asked: dict = field(default_factory=dict)
    moves: dict = field(default_factory=dict)
    learner: dict = field(default_factory=dict)
    few: int = 8

    @property
    def kind(self):
        return system_class(self.name)

    @property
    def config(self):
        preset = "tiny" if self.name not in ("random-target", "delete-retrieve") else None
        return system_config(self.name, parse_direction(DIRECTION), self.settings, preset=preset)


JUDGED = {
    "warm_up": ("generator", "self"),
    "discriminator": ("discriminator", "real repeated rewritten"),
    "generator": ("generator", "self cycle style"),
}
FEW = {"warm_up": 4, "rounds": 2}
AUTOENCODER = "autoencoder.encoder autoencoder.output autoencoder.decoders."


def network(system):
    return system.network


CASES = {
    "random-target": SystemCase("random-target", scores=set()),
    "delete-retrieve": SystemCase("delete-retrieve", scores=set()),
    "stytrans": SystemCase("stytrans", FEW, moves=JUDGED),
    "nast": SystemCase(
        "nast",
        FEW,
        moves={
            "warm_up": ("generator generator.positions", "self self_jumps"),
            "discriminator": ("discriminator", "real mismatched repeated rewritten"),
            "generator": (
                "generator generator.positions",
                "self cycle style self_jumps cycle_jumps",
            ),
        },
    ),
    "nast-simple": SystemCase(
        "nast",
        FEW
        | {"alignment": "simple", "blank": 0.2, "drop": 0.0, "insert": 0.0}
        | {"decoder_input": "raw"},
        moves=JUDGED | {"discriminator": ("discriminator", "real mismatched repeated rewritten")},
    ),
    "tsst": SystemCase(
        "tsst",
        shaken=network,
        moves={
            "generator": ("generator", "self cycle style query words"),
            "discriminator": ("discriminator", "real repeated own other rewritten"),
            "language_model": ("generator.reader generator.output generator.start", "forth back"),
        },
        learner={"pretrain_epochs": 0.5, "teacher_forcing": 1.0},
        few=48,
    ),
    "tsst-dense": SystemCase("tsst", {"retriever": "dense", "refresh_every": 3}, shaken=network),
    "dar": SystemCase(
        "dar",
        {"epochs": 1},
        shaken=network,
        asked={"candidates": 3, "beams": 2, "retrieval": "encoder"},
        moves={"step": ("", "words")},
        learner={"gamma": 1.5, "max_markers": 99, "max_length": 30},
        few=40,
    ),
    "dar-delete-only": SystemCase("dar", {"markers": False, "epochs": 1}, shaken=network),
    "ctat": SystemCase(
        "ctat",
        {"epochs": 1, "validate_every": 5},
        {"weight", "selection"},
        shaken=network,
        asked={"weights": [500.0], "iterations": 20},
        moves={"step": ("autoencoder classifier", "reconstruction classifier")},
    ),
    "caae": SystemCase(
        "caae",
        {"warm_up": 0.12},  # stopped between a verdict and the step that hears it
        shaken=network,
        asked={"beams": 1},
        moves={
            "discriminators": ("discriminators", "style_0 style_1"),
            "autoencoder": ("autoencoder", "reconstruction style_0 style_1"),
        },
    ),
    "arae": SystemCase(
        "arae",
        shaken=network,
        asked={"beams": 4},
        moves={
            0: (f"{AUTOENCODER}0", "style_0"),
            1: (f"{AUTOENCODER}1", "style_1"),
            "classifier": ("classifier", "style"),
            "adversary": ("autoencoder.encoder", "style"),
            "critic": ("critic", "distance penalty"),
            "generator": ("generator", "fake"),
            "encoder": ("autoencoder.encoder", "real"),
        },
    ),
    "bsrr": SystemCase(
        "bsrr",
        {"epochs": 0.5, "supervised_epochs": 0.3},
        {"acc_forward", "self_bleu_back", "classifier_accuracy"},
        shaken=lambda system: system.writer.bart.model,
    ),
    "tyb": SystemCase(
        "tyb",
        {"steps": 12, "rewards_from": 8, "validate_every": 6},
        {"selection", "cross_entropy"},
        shaken=lambda system: system.bart.model,
    ),
    "strap": SystemCase("strap", scores={"selection", "perplexity"}, asked={"top_p": 0.9}),
}
EACH = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
READERS = [case for case in CASES.values() if issubclass(case.kind, WordSystem)]
READERS += [CASES["delete-retrieve"]]
IN_STEPS = [case for case in CASES.values() if case.config is not None and case.moves]
IN_STEPS += [replace(CASES["caae"], learner={"objective": "minimax"})]
ADADELTA = CASES["dar"].learner | {"optimizer": "adadelta", "learning_rate": 1.0}
IN_STEPS += [replace(CASES["dar"], learner=ADADELTA)]


@pytest.fixture(scope="session")
def data():
    """A quarter of mini's sentences: what is promised does not depend on how many there are."""
    data = load_training(DIRECTION)
    part = data.train
    some = replace(part, source=part.source[:200], target=part.target[:200])
    return replace(data, train=some)


@pytest.fixture(scope="session")
def sources(data):
    return [*data.train.source[:5], *STRANGE]


def written(system, folder):
    """Every file that a system writes, by its name."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    system.write(folder)
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def trained(case, data, run=CPU, stops=()):
    """A system, and the losses of its steps; Ctrl-C is pressed in these, and it goes on."""
    losses, step = [], loop._step

    def seen(*arguments, **how):
        if len(losses) + 1 in stops:
            os.kill(os.getpid(), signal.SIGINT)
        losses.append(step(*arguments, **how))
        return losses[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "_step", seen)
        for _ in stops:
            with pytest.raises(KeyboardInterrupt, match=r"after step \d+; the same command"):
                case.kind.train(data, case.config, run)
        return case.kind.train(data, case.config, run), losses


@dataclass
class Tried:
    card: object
    losses: list
    files: dict
    folder: object
    answers: list


@pytest.fixture(scope="session")
def tiny_system(data, sources, tmp_path_factory):
    """A case's system, trained once, with its folder and answers; nobody writes into it."""
    made = {}

    def tiny(case):
        if id(case) not in made:
            place = tmp_path_factory.mktemp("tiny")
            system, losses = trained(case, data)
            files = written(system, place / "files")
            if case.shaken:
                torch.manual_seed(1)
                for weights in case.shaken(system).parameters():
                    if weights.dim() > 1:  # biases and scales as learned
                        weights.normal_(std=0.5)
            system.save_pretrained(place / "m")
            answers = list(system.transfer(sources, DIRECTION, device="cpu"))
            made[id(case)] = Tried(system.card, losses, files, place / "m", answers)
        return made[id(case)]

    return tiny


@EACH
def test_what_is_read_answers_as_what_was_saved_in_any_company(
    case, tiny_system, sources, tmp_path
):
    tried = tiny_system(case)
    again = load_system(tried.folder, device="cpu")
    ask = partial(again.transfer, direction=DIRECTION, device="cpu")
    assert list(ask(sources, batch_size=1)) == tried.answers
    assert list(ask(sources[::-1], batch_size=3)) == tried.answers[::-1]
    assert len(set(tried.answers)) > 1, "the answers say nothing of their sentences"
    assert not any("<" in answer for answer in tried.answers), "no special token is written"
    files = written(again, tmp_path / "again")
    assert files == written(load_system(tried.folder, device="cpu"), tmp_path / "other"), (
        "answering leaves a system as it was"
    )
    suffixes = {file.suffix for file in tried.folder.rglob("*") if file.is_file()}
    assert suffixes <= {".json", ".safetensors", ".md"}, "no pickle"


@pytest.mark.parametrize(
    "case", [case for case in CASES.values() if case.asked], ids=lambda case: case.name
)
def test_other_settings_of_a_rewrite_are_heard_in_any_company(case, tiny_system, sources):
    tried = tiny_system(case)
    how = Generation(settings=case.asked)
    ask = load_system(tried.folder, device="cpu").transfer
    found = list(ask(sources, DIRECTION, generation=how, device="cpu"))
    assert found != tried.answers
    assert list(ask(sources, DIRECTION, generation=how, batch_size=1, device="cpu")) == found


@EACH
def test_both_ways_are_two_or_the_way_back_is_refused(case, tiny_system, sources):
    tried = tiny_system(case)
    again = load_system(tried.folder, device="cpu")
    if case.kind.BOTH_WAYS:
        assert tried.card.directions == (DIRECTION, BACK)
        assert list(again.transfer(sources, BACK, device="cpu")) != tried.answers
    else:
        assert tried.card.directions == (DIRECTION,)
        with pytest.raises(InputError, match=BACK):
            again.transfer(sources, BACK)


@EACH
def test_a_card_says_what_was_learned(case, tiny_system, data):
    card = tiny_system(case).card
    assert case.scores <= set(card.scores)
    assert set(card.versions) == {"tstbench", *case.kind.LIBRARIES}
    planned = case.kind.planned(data, case.config)
    assert card.recipe == planned.recipe
    if hasattr(case.config, "seed"):
        other = replace(case.config, seed=case.config.seed + 1)
        assert case.kind.planned(data, other).recipe != planned.recipe


@EACH
def test_stopped_twice_and_continued_is_never_stopped(case, tiny_system, data, tmp_path, capsys):
    """To the byte; what takes no steps is trained once more, with the same end."""
    tried = tiny_system(case)
    steps = len(tried.losses)
    stops = (steps // 6, 2 * steps // 3) if steps else ()
    again, losses = trained(case, data, replace(CPU, folder=tmp_path / "run"), stops)
    assert capsys.readouterr().err.count("continuing at step") >= len(stops)
    assert again.card == tried.card
    assert {*map(str, losses)} == {*map(str, tried.losses)}, "none of another step, and some twice"
    assert written(again, tmp_path / "again") == tried.files


@EACH
def test_a_changed_file_and_another_kind_are_refused(case, tiny_system, tmp_path):
    tried = tiny_system(case)
    other = "stytrans" if case.name != "stytrans" else "nast"
    with pytest.raises(InputError, match=f"is a {case.name} system, not {other}"):
        system_class(other).from_pretrained(tried.folder)
    assert tried.files
    for name in tried.files:
        folder = tmp_path / name.replace("/", "-")
        shutil.copytree(tried.folder, folder)
        file = folder / name
        content = file.read_bytes()
        for changed in (content[:-1], content + b" "):
            file.write_bytes(changed)
            with pytest.raises(IntegrityError, match="was changed after it was made"):
                case.kind.from_pretrained(folder, device="cpu")


NUMBERS = b'{"source": {"a": "x"}, "target": {}, "memory": []}'


@pytest.mark.parametrize("broken", [b"", b"nothing", b"[]", b"{}", b'["one"]', NUMBERS, None])
@pytest.mark.parametrize("case", READERS, ids=lambda case: case.name)
def test_a_file_that_is_none_of_its_is_refused_whatever_its_hash(
    case, broken, tiny_system, tmp_path
):
    tried = tiny_system(case)
    for name in tried.files:
        folder = tmp_path / name.replace("/", "-")
        shutil.copytree(tried.folder, folder)
        (folder / name).unlink()
        if broken is not None:
            (folder / name).write_bytes(broken)
        told = rf"is not a (folder of )?{case.name}|to retrieve from"
        with pytest.raises(InputError, match=told):
            case.kind.read(folder, tried.card, "cpu")


def first_of(learner, step):
    """The number of a step, or of the first of a kind."""
    if isinstance(step, int):
        return step
    return next(number for number in range(500) if learner.update(number).name == step)


@pytest.mark.parametrize("case", IN_STEPS, ids=lambda case: case.name)
def test_a_step_moves_its_own_weights_by_as_much_as_ever(case, data, snapshot):
    """All losses and gradients, and how many steps, are on record, each after the steps before it.

    After a change of what is learned that is meant: ``--snapshot-update``.
    """
    learner = learner_of(case.kind, data, replace(case.config, **case.learner), case.few)
    record = [f"{learner.steps} steps, validated every {learner.validate_every}"]
    for step, (parts, losses) in case.moves.items():
        terms, names, gradients = moved(learner, first_of(learner, step))
        assert {term.split("/")[1] for term in terms} == set(losses.split()), step
        strangers = {n for n in names if not n.startswith(tuple(parts.split()) or "")}
        assert not strangers, step
        for part in parts.split():
            assert any(name.startswith(part) for name in names), (step, part)
        record.append(f"{step}: moved by {sum(names.values()):.3g}")
        for (term, value), parts in zip(terms.items(), gradients.values(), strict=True):
            some = {term: value, **parts}.items()
            record.append(", ".join(f"{name} {round(float(v), 3) + 0:.4g}" for name, v in some))
    assert "\n".join(record) == snapshot(extension_class=Near)
