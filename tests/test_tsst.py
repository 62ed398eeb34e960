"""TSST: its networks and losses against plain computations, what reaches what, and a training."""

import json
import os
import re
import signal
from dataclasses import replace

import numpy as np
import pytest
import torch
from prepared import BACK, command_line, refusal

from tstbench.datasets_scripts.known import parse_direction
from tstbench.datasets_scripts.training import load_training
from tstbench.errors import InputError
from tstbench.trainers.learning.batches import InTurn
from tstbench.trainers.learning.corpus import Corpus
from tstbench.trainers.learning.loop import _step, learn
from tstbench.trainers.learning.processes import Processes
from tstbench.trainers.learning.run import Run
from tstbench.trainers.learning.vocabulary import END, PAD, UNKNOWN, padded
from tstbench.trainers.nets.losses import bag_of_words_loss
from tstbench.trainers.nets.recurrent import Attention, BiLstm
from tstbench.trainers.nets.style_transformer import lengths_of
from tstbench.trainers.nets.tsst import Discriminator, Generator, closed
from tstbench.trainers.tsst.config import TsstConfig
from tstbench.trainers.tsst.learner import TsstLearner, bag_of
from tstbench.trainers.tsst.system import Tsst, neutrality

DIRECTION = "mini/negative-to-positive"
N_WORDS = 30
CONFIG = TsstConfig.tiny(parse_direction(DIRECTION))


@pytest.fixture
def generator():
    torch.manual_seed(0)
    return Generator(torch.rand(N_WORDS), 16, 12, dropout=0.0, attention_dropout=0.0)


@pytest.fixture
def words():
    random = np.random.default_rng(0)
    return padded([[*random.integers(3, N_WORDS, size=size), END] for size in (4, 9, 1)])


@pytest.fixture
def style():
    torch.manual_seed(1)
    return torch.randn(3, 2, 24)


def test_reading_both_ways_is_one_sentence_at_a_time():
    torch.manual_seed(0)
    lstm, vectors, lengths = BiLstm(5, 4), torch.randn(3, 6, 5), torch.tensor([6, 2, 4])
    places, (hidden, cell) = lstm(vectors, lengths)
    for row, length in enumerate(lengths.tolist()):
        alone, (h, c) = lstm.lstm(vectors[row : row + 1, :length])
        assert torch.allclose(places[row, :length], alone[0], atol=1e-6)
        assert not places[row, length:].any()
        assert torch.allclose(hidden[row], h.flatten(), atol=1e-6)
        assert torch.allclose(cell[row], c.flatten(), atol=1e-6)


def test_attention_is_bahdanaus():
    torch.manual_seed(0)
    attention = Attention(4, 6, dropout=0.0, mapped=True)
    values, query = torch.randn(2, 5, 6), torch.randn(2, 4)
    mask = torch.tensor([[True] * 5, [True, True, False, False, False]])
    found = attention(query, attention.memory(values, mask))
    for row, many in enumerate((5, 2)):
        mapped = [attention.value_map(values[row, place]) for place in range(many)]
        asked = attention.query(attention.query_map(query[row]))
        scores = [attention.score @ torch.tanh(asked + attention.key(v)) for v in mapped]
        weights = torch.stack(scores).softmax(dim=0)
        expected = sum(weight * value for weight, value in zip(weights, mapped, strict=True))
        assert torch.allclose(found[row], expected, atol=1e-6)


def test_teaching_is_writing_over_the_same_words(generator, words, style):
    with torch.no_grad():
        reading = generator.reader(words)
        logits, written = generator.write(reading, style, 12)
        taught = generator.teach(reading, style, written, rate=1.0)
        free = generator.teach(reading, style, words, rate=0.0)
    inside = (torch.arange(written.shape[1]) < lengths_of(written)[:, None])[..., None]
    assert torch.allclose(logits * inside, taught * inside, atol=1e-5)
    shared = min(free.shape[1], logits.shape[1])
    assert torch.allclose(free[:, :shared], logits[:, :shared], atol=1e-5), "the right word unread"
    assert torch.equal(written, closed(written))


def test_neither_padding_nor_neighbours_change_an_answer(generator, words, style):
    with torch.no_grad():
        _, together = generator.write(generator.reader(words), style, 12, (PAD, UNKNOWN))
        for place in range(3):
            alone = words[place][words[place] != PAD][None]
            one = slice(place, place + 1)
            _, found = generator.write(generator.reader(alone), style[one], 12, (PAD, UNKNOWN))
            assert found[0].tolist() == together[place][: found.shape[1]].tolist()
    assert not torch.isin(together[:, 0], torch.tensor([PAD, UNKNOWN])).any()


def test_a_sentence_is_closed_at_its_first_end():
    rows = torch.tensor([[5, END, 6, END], [5, 6, 7, 8], [END, 4, 4, 4]])
    assert closed(rows).tolist() == [[5, END, 0, 0], [5, 6, 7, END], [END, 0, 0, 0]]


def test_a_query_weighs_words_by_their_softmax(generator, words):
    reading = generator.reader(words)
    query = generator.reader.query(words, reading)
    weights = generator.reader.weights[words[0, :5]].softmax(dim=0)
    assert torch.allclose(query[0], weights @ reading.places[0, :5], atol=1e-6)
    neutral = neutrality([[(4, 4, 5, END)], [(4, 6, UNKNOWN), (6,)]], 8)
    assert neutral.tolist() == pytest.approx([0, 0, 0, 0, 1 - 1 / 3, 0, 0, 0])


def test_the_language_model_sees_nothing_of_what_it_predicts(generator, words):
    forth, back = generator.language(words)
    for place in range(9):
        changed = words.clone()
        changed[1, place] = 3 + (words[1, place] - 2) % 20
        other_forth, other_back = generator.language(changed)
        # Forth, place t predicts word t; back, it predicts word t - 1, from word t on.
        assert torch.allclose(forth[1, : place + 1], other_forth[1, : place + 1], atol=1e-6)
        assert torch.allclose(back[1, place + 1 :], other_back[1, place + 1 :], atol=1e-6)
        assert not torch.allclose(back[1, place], other_back[1, place], atol=1e-5)


def test_the_decoder_begins_with_the_language_model(generator):
    generator.reader.lstm.start(generator.decoder.cell)
    vectors = torch.randn(1, 3, 16)
    places, _ = generator.reader.lstm(vectors, torch.tensor([3]))
    state = (torch.zeros(1, 12), torch.zeros(1, 12))
    for place in range(3):
        state = generator.decoder.cell(vectors[:, place], state)
        assert torch.allclose(state[0], places[:, place, :12], atol=1e-6)


def test_the_bag_is_what_was_retrieved_and_not_read():
    retrieved = torch.tensor([[[4, 5, END, PAD], [6, UNKNOWN, 7, END]], [[4, END, PAD, PAD]] * 2])
    bag = bag_of(retrieved, torch.tensor([[5, 8, END], [4, END, PAD]]), 10)
    assert [row.nonzero().flatten().tolist() for row in bag] == [[4, 6, 7], []]
    torch.manual_seed(0)
    logits, lengths = torch.randn(2, 5, 10, requires_grad=True), torch.tensor([3, 5])
    lost = bag_of_words_loss(logits, lengths, bag)
    log_p = logits.log_softmax(dim=-1)
    expected = -sum(log_p[0, t, w] for t in range(3) for w in (4, 6, 7)) / 9
    assert lost.tolist() == pytest.approx([expected.item(), 0.0], abs=1e-6)
    lost.sum().backward()
    assert not logits.grad[0, 3:].any(), "behind the end"
    assert (logits.grad[0, :3, [4, 6, 7]] < 0).all()


def test_spectral_norms_move_when_told_and_tend_to_one():
    torch.manual_seed(0)
    critic = Discriminator(6, 4, 0.0)
    vectors, lengths = torch.randn(2, 9, 6), torch.tensor([9, 3])
    critic.train()
    assert torch.equal(critic(vectors, lengths), critic(vectors, lengths))
    for _ in range(60):
        critic.iterate()
    assert torch.linalg.matrix_norm(critic.output.weight, 2).item() == pytest.approx(1, abs=1e-3)
    assert critic(vectors, lengths).shape == (2, 3)


@pytest.fixture(scope="module")
def data():
    return load_training(DIRECTION)


def made(data, config, few=None):
    if few is not None:
        part = data.train
        cut = replace(part, source=part.source[:few], target=part.target[:few])
        data = replace(data, train=cut)
    corpus = Corpus.of(data, min_count=1, max_length=13, held_out=8, seed=0)
    sides = (corpus.rows[: corpus.n_source], corpus.rows[corpus.n_source :])
    torch.manual_seed(0)
    system = Tsst.prepared(Tsst.planned(data, config), corpus.vocabulary, sides, config)
    return TsstLearner(system, corpus)


@pytest.fixture
def learner(data):
    return made(data, replace(CONFIG, pretrain_epochs=0.5, teacher_forcing=1.0), few=48)


def test_batches_are_of_one_style_and_both_come_in_turn(learner):
    order = InTurn(learner._corpus.lengths, 8, seed=3, grouping=2)
    styles = []
    for step in range(20):
        batch = order.at(step)
        style = set((batch >= learner._corpus.n_source).tolist())
        assert len(style) == 1
        assert len(batch) == 8
        styles += style
    assert all(sorted(styles[i : i + 2]) == [0, 1] for i in range(0, 20, 2))
    assert styles[::2] != [styles[0]] * 10, "not always the same first"


def test_losses_fall_on_a_batch_seen_again(data):
    config = replace(CONFIG, pretrain_epochs=5.0, self_epochs=5.0, teacher_forcing=1.0)
    learner = made(data, config, few=24)
    processes = Processes.start(Run(device="cpu"))
    warm = CONFIG.warm_up - 1  # the highest rate
    cases = {"language_model/back": warm, "generator/self": learner._pretraining + warm}
    for name, step in cases.items():
        curve = [_step(learner, step, Run(), processes)[name] for _ in range(60)]
        assert curve[-1] < curve[0] / 2
    every = learner._pretraining + learner._repeating
    curve = [sum(_step(learner, every, Run(), processes).values()) for _ in range(15)]
    assert curve[-1] < 0.9 * curve[0]


def test_each_step_moves_its_own_weights(learner):
    processes, seen = Processes.start(Run(device="cpu")), {}
    start = learner._pretraining
    for name, step in (("language", 0), ("generator", start), ("discriminator", start + 1)):
        before = {n: p.detach().clone() for n, p in learner.network.named_parameters()}
        update = learner.update(step)
        terms = _step(learner, step, Run(), processes)
        moved = {
            name
            for name, p in learner.network.named_parameters()
            if not torch.equal(p, before[name])
        }
        rate = learner.optimizers[update.name].param_groups[0]["lr"]
        seen[name] = (moved, {name.split("/")[1] for name in terms}, rate)
    moved, terms, rate = seen["language"]
    assert terms == {"forth", "back"}
    assert rate == pytest.approx(1e-5 + (5e-3 - 1e-5) / 5)
    assert {"generator.reader.words.weight", "generator.output.bias"} <= moved
    assert not any("decoder" in name or "attention" in name for name in moved)
    moved, terms, rate = seen["generator"]
    assert terms == {"self", "cycle", "style", "query", "words"}
    unmoved = {n for n, _ in learner.network["generator"].named_parameters()}
    assert {f"generator.{n}" for n in unmoved} == moved
    moved, terms, _ = seen["discriminator"]
    assert terms == {"real", "repeated", "own", "other", "rewritten"}
    assert {name.split(".")[0] for name in moved} == {"discriminator"}


def gradients(learner, name):
    part = learner._batches.at(0)
    learner.network.zero_grad()
    for parameter in learner.network.parameters():
        parameter.requires_grad_(True)
    torch.manual_seed(0)
    learner._generator_loss(part, part)[name].backward()
    return {
        n for n, p in learner._generator.named_parameters() if p.grad is not None and p.grad.any()
    }


def test_what_each_loss_reaches(learner):
    decoder = {"decoder.cell.weight_ih", "decoder.attentions.1.key.weight", "output.weight"}
    for name in ("self", "cycle", "style", "words"):
        assert decoder | {"reader.lstm.lstm.weight_ih_l0", "start"} <= gradients(learner, name)
    asked = gradients(learner, "query")
    assert "reader.weights" in asked
    assert not decoder & asked, "no gradient through words that were chosen"


@pytest.mark.parametrize("turn", [0, 1])
def test_who_is_said_to_have_written_what(learner, turn):
    """The discriminator's five labels, and that the generator wants its rewrite's turned."""
    part, generator = learner._batches.at(turn), learner._generator
    learner.network.eval()
    words, side = learner._batch(part)
    rows, table = learner._rows(words), generator.reader.words
    with torch.no_grad():
        reading = generator.reader(words)
        query = generator.reader.query(words, reading)
        own, other = (learner._retrieved(of, rows, query) for of in (side, 1 - side))
        repeated = generator.teach(reading, generator.style(own), words, 1.0)
        rewritten, ids = generator.write(reading, generator.style(other), learner._longest)
        told = {
            "real": (table(words), words, side),
            "repeated": (repeated.softmax(dim=-1) @ table.weight, words, side),
            "own": (table(own.flatten(0, 1)), own.flatten(0, 1), side),
            "other": (table(other.flatten(0, 1)), other.flatten(0, 1), 1 - side),
            "rewritten": (rewritten.softmax(dim=-1) @ table.weight, ids, 2),
        }
        terms = learner._discriminator_loss(part, part)
        wanted = learner._generator_loss(part, part)["style"].item()
        for name, (vectors, text, label) in told.items():
            log_p = learner.discriminator(vectors, lengths_of(text)).log_softmax(dim=-1)
            assert terms[name].item() == pytest.approx(-log_p[:, label].mean().item(), rel=1e-4)
            if name == "rewritten":
                assert wanted == pytest.approx(-log_p[:, 1 - side].mean().item(), rel=1e-4)


def test_word_losses_are_means_over_words(learner):
    part = learner._batches.at(0)
    learner.network.eval()
    terms = learner._generator_loss(part, part)
    words, side = learner._batch(part)
    total, count = 0.0, 0
    for row in words:
        alone = row[row != PAD][None]
        reading = learner._generator.reader(alone)
        query = learner._generator.reader.query(alone, reading)
        own = learner._retrieved(side, learner._rows(alone), query)
        style = learner._generator.style(own)
        log_p = learner._generator.teach(reading, style, alone, 1.0)[0].log_softmax(dim=-1)
        total -= log_p[torch.arange(len(alone[0])), alone[0]].sum().item()
        count += len(alone[0])
    assert terms["self"].item() == pytest.approx(total / count, rel=1e-4)


@pytest.mark.parametrize(("leaky", "offset"), [(False, -1), (True, 1)])
def test_the_way_back_predicts_the_word_before(learner, leaky, offset):
    learner._config = replace(learner._config, leaky_language_model=leaky)
    part = learner._mixed.at(0)
    learner.network.eval()
    found = learner._language_loss(part, part)
    forth, back, count = 0.0, 0.0, 0
    for i in part:
        row = learner._corpus.rows[i]
        logits = learner._generator.language(torch.tensor([row]))
        log_p = [one[0].log_softmax(dim=-1) for one in logits]
        forth -= sum(log_p[0][t, word].item() for t, word in enumerate(row))
        places = [t for t in range(len(row)) if 0 <= t + offset < len(row)]
        back -= sum(log_p[1][t, row[t + offset]].item() for t in places)
        count += len(row)
    assert found["forth"].item() == pytest.approx(forth / count / 2, rel=1e-4)
    assert found["back"].item() == pytest.approx(back / (count - len(part)) / 2, rel=1e-4)


def test_parts_of_a_batch_sum_up(data):
    config = replace(CONFIG, dropout=0.0, attention_dropout=0.0, pretrain_epochs=0.5)
    curves = []
    for accumulate in (1, 3):
        learner = made(data, config, few=48)
        processes, run = Processes.start(Run(device="cpu")), Run(accumulate=accumulate)
        start = learner._pretraining
        curves.append([_step(learner, step, run, processes) for step in (0, start, start + 1)])
    for whole, parts in zip(*curves, strict=True):
        assert whole == pytest.approx(parts, abs=1e-5)


@pytest.mark.parametrize("retriever", ["sparse", "dense"])
def test_a_resumed_training_follows_the_same_curve(data, tmp_path, retriever):
    """Stopped between two refreshes: what was refreshed is in the checkpoint."""
    config = replace(
        CONFIG,
        retriever=retriever,
        refresh_every=3,
        pretrain_epochs=1.0,
        epochs=2.0,
        validate_every=100,
        hold_out=4,
    )

    def fresh():
        learner = made(data, config, few=48)
        learner.steps = learner._pretraining + 12
        return learner

    run = Run(device="cpu")
    whole = learn(fresh(), run, "r")
    stopped = fresh()
    update, stop = stopped.update, stopped._pretraining + 8  # a discriminator step is next

    def interrupted(step):
        if step == stop:
            os.kill(os.getpid(), signal.SIGINT)
        return update(step)

    stopped.update = interrupted
    with pytest.raises(KeyboardInterrupt):
        learn(stopped, replace(run, folder=tmp_path / "run"), "r")
    again = learn(fresh(), replace(run, folder=tmp_path / "run", resume="yes"), "r")
    assert len(again.curve) == len(whole.curve)
    for one, other in zip(again.curve, whole.curve, strict=True):
        assert one == pytest.approx(other, abs=1e-6)


@pytest.mark.parametrize("retriever", ["sparse", "dense"])
def test_it_learns_mini_and_answers_the_same_after_reading(data, tmp_path, retriever):
    system = Tsst.train(data, replace(CONFIG, retriever=retriever), Run(device="cpu"))
    assert system.card.directions == (DIRECTION, BACK)
    assert set(system.card.scores) >= {"selection", "acc_forward", "self_bleu_back"}
    sources = [*data.train.source[:5], "zzz"]  # no word of it is known: all is drawn
    answers = list(system.transfer(sources, DIRECTION))
    assert all("<" not in answer for answer in answers)
    system.save_pretrained(tmp_path / "m")
    again = Tsst.from_pretrained(tmp_path / "m", device="cpu")
    assert list(again.transfer(sources, DIRECTION, batch_size=2)) == answers


def test_the_style_is_what_was_retrieved(data):
    """The same words, rewritten either way: only the sentences that are looked at differ."""
    learner = made(data, CONFIG, few=48)
    with torch.no_grad():
        for weight in learner._generator.parameters():
            weight.mul_(4)
    system, sources = learner._system, [*data.train.source[:8]]
    assert system.rewritten(sources, 0) != system.rewritten(sources, 1)


def test_a_damaged_system_is_refused(data, tmp_path):
    config = replace(CONFIG, pretrain_epochs=0.0, epochs=0.01)
    system = Tsst.train(data, config, Run(device="cpu"))
    for name, content in (
        ("memory.json", "[[[3, 2]], [[4, 2]]]"),
        ("memory.json", "[]"),
        ("vocabulary.json", json.dumps(["a"])),
        ("generator.safetensors", "nothing"),
    ):
        folder = tmp_path / "broken"
        folder.mkdir(exist_ok=True)
        system.write(folder)
        (folder / name).write_text(content)
        with pytest.raises(InputError, match=r"is not a tsst system|to retrieve from"):
            Tsst.read(folder, system.card, "cpu")


def test_too_few_sentences_to_retrieve_from(capsys):
    found = refusal(
        capsys,
        "train",
        "tsst",
        "--direction",
        DIRECTION,
        "--preset",
        "tiny",
        "--retrieved",
        "5000",
    )
    assert re.search(r"different sentences to retrieve from, 5002 are needed", found)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--resume", "--preset", "tiny"), "nothing to resume"),
        (("--retriever", "elastic"), "setting retriever of tsst"),
        (("--retrieved", "0"), "setting retrieved of tsst: .* greater than or equal to 1"),
        (("--dropuot", "0.1"), "dropuot"),
        (("--teacher-forcing", "1.5"), "setting teacher_forcing of tsst"),
    ],
)
def test_mistakes_are_told(capsys, arguments, expected):
    asked = ("train", "tsst", "--direction", DIRECTION, *arguments)
    assert re.search(expected, refusal(capsys, *asked))


def test_another_systems_folder_is_refused(tmp_path, capsys):
    tiny = ("train", "tsst", "--preset", "tiny", "--dataset", "mini", "--epochs", "0.01")
    code, _, err = command_line(
        capsys, *tiny, "--pretrain-epochs", "0", "--device", "cpu", "--out", tmp_path / "m"
    )
    assert code == 0, err
    from tstbench.trainers.stytrans import StyTrans

    with pytest.raises(InputError, match="is a tsst system, not stytrans"):
        StyTrans.from_pretrained(tmp_path / "m")
