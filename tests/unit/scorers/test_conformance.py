"""What everything that is trained to score promises: a case a kind, a check a promise."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from classifier_toys import CARD, LABELS, SENTENCES, STYLES, save_tiny_bert
from local_chat import make_chat_model
from near import Near
from places import SUPPORT
from prepared import DIRECTION
from safetensors.numpy import load_file, save_file
from tiny_models import make_bert
from torch.optim.optimizer import register_optimizer_step_post_hook

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.errors import IntegrityError, MissingExtraError, TSTBenchError
from tstbench.metrics.scorers import ensemble
from tstbench.metrics.scorers.artefacts import open_artefact, store
from tstbench.metrics.scorers.classifiers import (
    KINDS,
    classifier_kind,
    load_classifier,
    model_class,
)
from tstbench.metrics.scorers.ensemble import EnsembleConfig
from tstbench.metrics.scorers.fasttext import FastTextConfig
from tstbench.metrics.scorers.finetuned import FinetunedConfig
from tstbench.metrics.scorers.language_model import NgramLanguageModel, train_language_model
from tstbench.metrics.scorers.lexicon import LexiconConfig, fit_lexicon
from tstbench.metrics.scorers.linear import LinearConfig
from tstbench.metrics.scorers.lm import LmConfig
from tstbench.metrics.scorers.lora import LoraConfig
from tstbench.metrics.scorers.lstm_language_model import LstmConfig, LstmLanguageModel
from tstbench.metrics.scorers.lstm_language_model import fit as fit_lstm
from tstbench.metrics.scorers.probe import ProbeConfig
from tstbench.metrics.scorers.profile import PROFILES, Scorers
from tstbench.metrics.scorers.textcnn import TextCnnConfig
from tstbench.metrics.scorers.train import accuracy, fit, labelled, train_classifier
from tstbench.metrics.scorers.transformer import TransformerConfig
from tstbench.metrics.scorers.word_vectors import WordVectorsConfig, fit_word_vectors

TOY = labelled(SENTENCES, LABELS, STYLES, what="toy")
ODD = [
    *("", "   ", "zzz qqq", "\n", "__label__1", "rude" * 400, "Ünïcode 食べ物 😀"),
    *("a\tb\0c", "rude " * 900),
]
# A language model refuses NUL; what it, a lexicon and vectors read are tokens between spaces.
PLAIN = ["the soup was rude", "", "zzz qqq", "my room was a joy , really", "kind " * 90]


@dataclass(frozen=True)
class Case:
    """A kind of scorer.

    Attributes:
        train: learns from the toys with the tiny models of a folder, and saves to another.
        ask: what a scorer says of sentences, a row each.
        sentences: what it is asked about.
        role: what it plays.
        weights: the file whose tensors must be those of the model's shape.
    """

    train: Callable
    ask: Callable
    sentences: list[str]
    role: str
    weights: str


def classifier(weights):
    def train(kind, tiny, folder):
        model = fit(kind, TOY, STYLES, CONFIGS[kind](tiny))
        model.save(folder)
        return model

    some = [*SENTENCES[::17], *ODD]
    return Case(train, lambda model, texts: model.distribution(texts), some, "classifier", weights)


def language_model(train, weights):
    def ask(model, texts):
        return model.log10_probability(texts)[:, None]

    return Case(train, ask, PLAIN, "language_model", weights)


def saved(learn):
    def train(_kind, _tiny, folder):
        model = learn()
        model.save(folder)
        return model

    return train


def ngrams(_kind, _tiny, folder):
    train_language_model(SENTENCES, folder, order=3)
    return NgramLanguageModel(folder)


def centres(vectors, texts):
    return np.array([vectors.vectors[some].sum(axis=0) for some in vectors.known(texts)])


def learner(base, **changes):
    return {"base": str(base), "epochs": 4, "batch_size": 16, "learning_rate": 3e-3, **changes}


# What trains each kind of classifier in a moment, on the tiny models of a folder.
CONFIGS = {
    "linear": lambda _: LinearConfig(min_count=1),
    "fasttext": lambda _: FastTextConfig(buckets=1000, epochs=10),
    "textcnn": lambda _: TextCnnConfig(
        batch_size=16, min_steps=0, dimension=16, filters=16, learning_rate=1e-2
    ),
    "transformer": lambda tiny: TransformerConfig(**learner(tiny / "bert")),
    "probe": lambda tiny: ProbeConfig(encoder=str(tiny / "encoder"), layers=(1, 3)),
    "finetuned": lambda tiny: FinetunedConfig(**learner(tiny / "bert")),
    "lora": lambda tiny: LoraConfig(**learner(tiny / "bert", epochs=8, learning_rate=1e-2), rank=1),
    "lm": lambda tiny: LmConfig(base=str(tiny / "llm")),
    "ensemble": lambda _: EnsembleConfig(members=("linear", "fasttext")),
}
WEIGHTS = {
    "transformer": "model.safetensors", "finetuned": "model.safetensors", "fasttext": "",
    "ensemble": "", "lm": "examples/weights.safetensors",
}  # fmt: skip
CASES = {
    **{kind: classifier(WEIGHTS.get(kind, "weights.safetensors")) for kind in KINDS},
    "kn5": language_model(ngrams, ""),
    "lstm": language_model(
        saved(lambda: fit_lstm(SENTENCES, LstmConfig(dimension=8, hidden=8, min_steps=1))[0]),
        "weights.safetensors",
    ),
    "logistic": Case(
        saved(lambda: fit_lexicon(SENTENCES, LABELS, STYLES, LexiconConfig(deviations=0.5))),
        lambda model, texts: np.array([[sum(row)] for row in model.style_words(texts)]),
        PLAIN,
        "lexicon",
        "",
    ),
    "word2vec": Case(
        saved(lambda: fit_word_vectors(SENTENCES, WordVectorsConfig(least_words=9, dimensions=6))),
        centres,
        PLAIN,
        "word_vectors",
        "vectors.safetensors",
    ),
}
every_kind = pytest.mark.parametrize("kind", CASES)
every_classifier = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    save_tiny_bert(folder / "bert")
    make_bert(folder / "encoder")
    names = [f"Style: {name} {name.capitalize()}" for name in STYLES]
    make_chat_model(folder / "llm", [*SENTENCES, *names * 9], vocabulary=500)
    return folder


@pytest.fixture(scope="module")
def trained(tiny, tmp_path_factory):
    """Of a kind: the model, and the folder of its files; trained once."""
    made = {}

    def of(kind):
        if kind not in made:
            folder = tmp_path_factory.mktemp(kind)
            made[kind] = CASES[kind].train(kind, tiny, folder), folder
        return made[kind]

    return of


def files(folder):
    return [file for file in folder.rglob("*") if file.is_file()]


def kept(kind, folder, *changes):
    """The artefact of these files, under a card of the kind."""

    def write(to):
        shutil.copytree(folder, to, dirs_exist_ok=True)
        for change in changes:
            change(to)

    return store(replace(CARD, role=CASES[kind].role, name=kind, kind=kind), write)


def read(kind, folder):
    role = CASES[kind].role
    profile = PROFILES["embedded"].with_scorers([f"{role}={folder}"])
    return Scorers(profile, parse_direction(DIRECTION)).load(role)


@every_classifier
def test_it_learns_and_gives_distributions(kind, trained):
    model, _ = trained(kind)
    assert model.styles == STYLES
    assert accuracy(model, TOY) > (0.6 if kind == "probe" else 0.95)  # its encoder is random
    rows = model.distribution([*SENTENCES, *ODD])
    assert rows.shape == (len(SENTENCES) + len(ODD), 2)
    assert rows.dtype == np.float64
    assert np.isfinite(rows).all()
    assert rows.min() >= 0
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-12)


@every_kind
def test_scores_are_those_on_record_in_any_company(kind, trained, snapshot):
    """``--snapshot-update`` where a change is meant."""
    case, (model, folder) = CASES[kind], trained(kind)

    def ask(sentences):  # an LSTM that was not asked yet: it remembers its answers
        asked = LstmLanguageModel.load(folder, "", "") if kind == "lstm" else model
        return case.ask(asked, sentences)

    together = ask(case.sentences)
    assert len(np.unique(np.round(together, 4), axis=0)) > 1
    alone = np.concatenate([ask([sentence]) for sentence in case.sentences])
    np.testing.assert_allclose(alone, together, atol=1e-6)
    np.testing.assert_allclose(ask(case.sentences[::-1])[::-1], together, atol=1e-6)
    rounded = (together[:: len(together) // 5].round(3) + 0.0).tolist()
    said = "; ".join(" ".join(f"{value:.4g}" for value in row) for row in rounded)
    assert said == snapshot(extension_class=Near)


@every_kind
def test_what_is_kept_is_read(kind, trained):
    case, (model, folder) = CASES[kind], trained(kind)
    artefact = kept(kind, folder)
    found = read(kind, artefact.folder)
    assert (found.hash, found.name) == (artefact.hash, f"{kind}:mini")
    np.testing.assert_array_equal(case.ask(found, case.sentences), case.ask(model, case.sentences))
    assert {f.suffix for f in files(folder)} <= {".json", ".safetensors", ".arpa", ".bin"}


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.slow] * (kind in ("transformer", "lora")))
        for kind in CASES
    ],
)
def test_trained_again_it_has_the_same_bytes(kind, trained, tiny, tmp_path):
    """Nothing of this machine is in them, and nobody else's random numbers change."""
    _, folder = trained(kind)
    torch.manual_seed(1)
    np.random.seed(1)
    expected = torch.rand(3).tolist(), np.random.rand(3).tolist()
    torch.manual_seed(1)
    np.random.seed(1)
    CASES[kind].train(kind, tiny, tmp_path)
    if kind != "transformer":  # transformers' own trainer, whose seed is the process's
        assert (torch.rand(3).tolist(), np.random.rand(3).tolist()) == expected
    assert len(files(tmp_path)) == len(files(folder))
    for file in files(tmp_path):
        content = file.read_bytes()
        assert content == (folder / file.relative_to(tmp_path)).read_bytes(), file.name
        assert str(tmp_path).encode() not in content
        if kind not in ("probe", "lora", "lm"):  # these name the model that they stand on
            assert str(tiny).encode() not in content


@every_kind
def test_a_flipped_byte_of_any_file_is_refused(kind, trained):
    artefact = kept(kind, trained(kind)[1])
    for file in files(artefact.folder):
        if file.name == "README.md":
            continue
        content = file.read_bytes()
        file.write_bytes(content[:-3] + bytes([content[-3] ^ 1]) + content[-2:])
        with pytest.raises(IntegrityError) as told:
            open_artefact(artefact.folder)
        assert str(artefact.folder) in str(told.value)
        file.write_bytes(content)
    assert open_artefact(artefact.folder) == artefact


def changed(kind, change):
    def act(folder):
        tensors = load_file(folder / CASES[kind].weights)
        change(tensors)
        save_file(tensors, folder / CASES[kind].weights, {"format": "pt"})

    return act


def halved(name, folder):
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2])


@every_kind
def test_files_that_were_never_whole_are_refused_by_name(kind, trained):
    """Whoever made them gave them a hash that is right."""
    _, folder = trained(kind)
    # floret reads half a model without a word: there, the hash is all there is
    names = [file.relative_to(folder) for file in files(folder) if file.suffix != ".bin"]
    damages = [partial(halved, name) for name in names]
    if CASES[kind].weights:
        damages += [
            changed(kind, lambda tensors: tensors.popitem()),
            changed(kind, lambda tensors: tensors.update(more=np.ones(3, np.float32))),
            changed(kind, lambda tensors: tensors.update({k: v[:-1] for k, v in tensors.items()})),
        ]
    for damage in damages:
        artefact = kept(kind, folder, damage)
        with pytest.raises(TSTBenchError) as told:
            read(kind, artefact.folder)
        assert str(artefact.folder) in str(told.value), damage


@every_classifier
def test_a_card_with_the_styles_in_another_order_is_refused(kind, trained):
    artefact = kept(kind, trained(kind)[1])
    card = replace(artefact.card, styles=STYLES[::-1])
    with pytest.raises(IntegrityError, match="styles"):
        load_classifier(replace(artefact, card=card))


NEEDED = {
    "linear": "", "fasttext": "floret", "textcnn": "torch", "ensemble": "torch transformers floret",
    **dict.fromkeys(("transformer", "probe", "finetuned", "lora", "lm"), "torch transformers"),
}  # fmt: skip


@every_classifier
def test_a_library_that_is_missing_is_named(kind, monkeypatch):
    for module in NEEDED[kind].split():
        with monkeypatch.context() as patched:
            patched.setattr("tstbench.errors.find_spec", lambda name, m=module: name != m or None)
            with pytest.raises(MissingExtraError, match=rf"{module} .*tstbench\[\w+\]"):
                model_class(kind)
    assert classifier_kind(kind) is KINDS[kind]


@contextmanager
def signal_after(steps, number):
    """This process gets a signal after so many steps of any optimiser."""
    left = [steps]

    def count(*_):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), number)

    hook = register_optimizer_step_post_hook(count)
    try:
        yield
    finally:
        hook.remove()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["textcnn", "transformer", "finetuned", "ensemble"])
def test_after_ctrl_c_training_goes_on_to_the_same_bytes(kind, tiny, tmp_path, monkeypatch):
    """At its second step; again at the fifth that is left; then to the end."""
    monkeypatch.setattr(ensemble, "_SHORTER", {"textcnn": {"min_steps": 0}})
    config = (
        CONFIGS[kind](tiny) if kind != "ensemble" else EnsembleConfig(members=("linear", "textcnn"))
    )
    hashes = set()
    for interrupts in ((), (2, 5)):
        monkeypatch.setenv("TSTBENCH_HOME", str(tmp_path / str(len(interrupts))))
        asked = (kind, SENTENCES, LABELS, STYLES, config)
        for steps in interrupts:
            with signal_after(steps, signal.SIGINT), pytest.raises(KeyboardInterrupt) as stopped:
                train_classifier(*asked, dataset="toy", trained_on="toy/train")
            assert "continues from there" in str(stopped.value)
        if kind == "transformer" and interrupts:  # killed while the last one was written
            newest = max(tmp_path.glob("2/runs/*/checkpoint-*"), key=lambda p: int(p.name[11:]))
            (newest / "trainer_state.json").unlink()
        hashes.add(train_classifier(*asked, dataset="toy", trained_on="toy/train").hash)
        assert not list(tmp_path.glob("*/runs/*")), "nothing is left behind"
    assert len(hashes) == 1


@pytest.mark.slow
def test_a_killed_training_goes_on_to_the_same_bytes(tmp_path):
    script = """
import os, signal, sys
sys.path[:0] = sys.argv[1].split(os.pathsep)
from test_conformance import *
from tstbench import pace
pace.SAVE_EVERY = 0.0
with signal_after(int(sys.argv[2]), signal.SIGKILL):
    print(train_classifier("textcnn", SENTENCES, LABELS, STYLES,
          TextCnnConfig(batch_size=16, min_steps=0), dataset="toy", trained_on="toy").hash)
"""
    hashes = []
    for home, steps in (("whole", 999), ("killed", 20), ("killed", 999)):
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                script,
                os.pathsep.join([str(Path(__file__).parent), str(SUPPORT)]),
                str(steps),
            ],
            env={**os.environ, "TSTBENCH_HOME": str(tmp_path / home)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == (-signal.SIGKILL if steps == 20 else 0), done.stderr
        hashes.append(done.stdout)
    assert "continuing at step 19" in done.stderr or "continuing at step 20" in done.stderr
    assert hashes[0] == hashes[2] != ""
