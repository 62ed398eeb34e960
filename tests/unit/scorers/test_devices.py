"""Several devices share what one model reads: two copies on a processor stand for two GPUs."""

from threading import Barrier, get_ident

import numpy as np
import pytest
import torch
from local_chat import make_chat_model
from tiny_models import make_bert, make_bleurt, make_roberta

from tstbench.metrics.scorers import bleurt as bleurt_module
from tstbench.metrics.scorers import causal_lm, transformer
from tstbench.metrics.scorers import encoder as encoder_module
from tstbench.metrics.scorers.bleurt import pair
from tstbench.metrics.scorers.causal_lm import load_language_model, question
from tstbench.metrics.scorers.device import Placement, copies, spread
from tstbench.metrics.scorers.encoder import TransformerEncoder
from tstbench.metrics.scorers.fitting import with_new_head
from tstbench.metrics.scorers.transformer import TransformerModel, load_hub_model
from tstbench.metrics.scorers.weights import read_tokenizer

HERE = Placement(device="cpu", batch_size=2)
SENTENCES = [" ".join(["the food was good and the staff kind"] * 3)[:n] for n in range(3, 60, 2)]


def test_each_takes_the_next_batch_and_no_batch_is_read_twice():
    both, found = Barrier(2, timeout=60), {}

    def work(model, batch):
        (place,) = batch
        if place < 2:
            both.wait()  # for the other, which only a second thread can be
        assert torch.is_inference_mode_enabled()
        assert place not in found
        found[place] = (model, get_ident())

    spread(["a", "b"], [5] * 50, 100, 1, work)
    assert sorted(found) == [*range(50)]
    assert {found[0][0], found[1][0]} == {"a", "b"}
    assert len(set(found.values())) == 2  # a thread for each


def test_one_model_needs_no_thread_and_an_error_of_one_ends_all():
    threads = []
    for models, lengths in ((["a"], [5, 5]), (["a", "b"], [5])):
        spread(models, lengths, 9, None, lambda _, __: threads.append(get_ident()))
    assert threads == [get_ident()] * 3
    both, seen = Barrier(2, timeout=60), []

    def work(model, batch):
        seen.append(batch)
        if batch[0] < 2:
            both.wait()
        if model == "a":
            raise ValueError("no memory")

    with pytest.raises(ValueError, match="no memory"):
        spread(["a", "b"], [1] * 100_000, 9, 1, work)
    assert len(seen) < 100_000


def test_few_items_are_shared_too():
    batches = []
    spread(["a", "b", "c"], [4, 4, 4, 4, 4, 4], 1000, None, lambda _, batch: batches.append(batch))
    assert sorted(map(len, batches)) == [2, 2, 2]


def test_a_device_without_room_gets_no_copy(monkeypatch):
    monkeypatch.setattr(Placement, "devices", lambda _: ["cpu", "cpu", "nowhere", "cpu"])
    found = copies(model := torch.nn.Linear(2, 2), HERE)
    assert len({id(one) for one in found}) == len(found) == 2
    assert found[0] is model


def style(folder, placement):
    network = with_new_head(make_roberta(folder / "base"), ("a", "b"))
    TransformerModel(("a", "b"), network, read_tokenizer(folder / "base"), range(2)).save(folder)
    return TransformerModel.load(folder, placement).distribution


def published(folder, placement):
    style(folder, placement)
    return load_hub_model(folder, ("b", "a"), placement=placement).distribution


def vectors(make):
    def load(folder, placement):
        encoder = TransformerEncoder(make(folder / "base"), placement=placement)
        return lambda sentences: encoder.token_vectors(sentences).vectors

    return load


def bleurt(folder, placement):
    model = bleurt_module.find(str(make_bleurt(folder / "base")), None, placement).load()
    return lambda sentences: model.scores([pair(SENTENCES[-1], one) for one in sentences])


def language_model(folder, placement):
    (folder / "base").mkdir()
    make_chat_model(folder / "base", [*SENTENCES, *["Style: good kind"] * 9], vocabulary=500)
    return load_language_model(str(folder / "base"), placement)[0]


def likely(folder, placement):
    model = language_model(folder, placement)
    return lambda sentences: model.log_probabilities([question("the", one) for one in sentences])


def following(folder, placement):
    model = language_model(folder, placement)
    return lambda sentences: model.next_words(sentences, ["Style:"], ["good", "kind"])


@pytest.mark.parametrize(
    ("module", "load"),
    [
        (transformer, style),
        (transformer, published),
        (encoder_module, vectors(make_bert)),
        (encoder_module, vectors(make_roberta)),
        (bleurt_module, bleurt),
        (causal_lm, likely),
        (causal_lm, following),
    ],
)
def test_two_devices_give_what_one_gives(tmp_path, module, load, monkeypatch):
    counts = []

    def noting(models, *how):
        counts.append(len(models))
        assert len({id(getattr(model, "_model", model)) for model in models}) == len(models)
        spread(models, *how)

    monkeypatch.setattr(module, "spread", noting)
    (tmp_path / "one").mkdir()
    want = load(tmp_path / "one", HERE)(SENTENCES)
    monkeypatch.setattr(Placement, "devices", lambda _: ["cpu", "cpu"])
    (tmp_path / "two").mkdir()
    found = load(tmp_path / "two", HERE)(SENTENCES)
    assert {*counts} == {1, 2}
    np.testing.assert_allclose(found, want, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("device", "world", "wanted"),
    [
        ("auto", None, ["cuda:0", "cuda:1", "cuda:2"]),
        ("cuda", "1", ["cuda:0", "cuda:1", "cuda:2"]),
        ("cuda", "3", ["cuda"]),  # a process of torchrun's, of which each has one
        ("cpu", None, ["cpu"]),
    ],
)
def test_a_model_is_on_every_gpu(monkeypatch, device, world, wanted):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    if world:
        monkeypatch.setenv("WORLD_SIZE", world)
    assert Placement(device=device).devices() == wanted
