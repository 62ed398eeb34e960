"""Backbones: the noise, the tokenizer, the loss, and checkpoints that transformers reads."""

import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from backbone.__main__ import main
from backbone.config import BackboneConfig
from backbone.denoising import infilled
from backbone.text import backbone_text
from backbone.train import _learner, blocks, train_backbone
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

from tstbench.datasets_scripts.cleaning import match_key
from tstbench.datasets_scripts.load import keys_under_test
from tstbench.errors import TSTBenchError
from tstbench.trainers.training.backbones import byte_level_tokenizer, random_model
from tstbench.trainers.training.loop import _step, learn
from tstbench.trainers.training.run import Run

FAMILIES = ("bart", "gpt2", "llama")
MASK = -1


@pytest.fixture(scope="module")
def text():
    return backbone_text(["mini"])


def learner(family, text, **settings):
    config = replace(BackboneConfig.tiny(family), **settings)
    tokenizer = byte_level_tokenizer(text.sentences, family, config.vocabulary_size, 128)
    torch.manual_seed(0)
    model = random_model(family, config.shape, tokenizer)
    return _learner(family, model, config, text.sentences, tokenizer)


@pytest.mark.parametrize("size", [1, 2, 5, 20])
def test_masks_replace_spans_and_nothing_else(size):
    ids = list(range(size))
    for seed in range(200):
        noisy = infilled(ids, np.random.default_rng(seed), ratio=0.3, mean_span=3, mask=MASK)
        kept = [i for i in noisy if i != MASK]
        assert kept == sorted(set(kept)), "what is left is in order"
        assert all((a, b) != (MASK, MASK) for a, b in pairwise(noisy))
        gaps = [b - a for a, b in zip([-1, *kept], [*kept, size], strict=True)]
        masked = [noisy[max(0, noisy.index(b) - 1)] == MASK if b in noisy else False for b in kept]
        missing = [gap > 1 for gap in gaps[:-1]]
        assert all(there for there, lost in zip(masked, missing, strict=True) if lost)


def test_a_third_of_the_tokens_is_masked_in_spans_of_three():
    ids = list(range(100))
    noisy = [
        infilled(ids, np.random.default_rng(i), ratio=0.3, mean_span=3, mask=MASK)
        for i in range(300)
    ]
    lost = [100 - sum(i != MASK for i in row) for row in noisy]
    assert set(lost) == {30}
    n_masks = np.mean([row.count(MASK) for row in noisy])
    assert 30 / n_masks == pytest.approx(3, abs=0.4)
    short = [infilled([1, 2, 3], np.random.default_rng(i), ratio=0.3, mean_span=3, mask=MASK)
             for i in range(2000)]  # fmt: skip
    shares = [3 - sum(i != MASK for i in row) for row in short]
    assert np.mean(shares) == pytest.approx(0.9, abs=0.05), "0.9 tokens: drawn, not rounded down"


@pytest.mark.parametrize("family", FAMILIES)
def test_any_text_comes_back_from_the_tokenizer(family, text):
    tokenizer = byte_level_tokenizer(text.sentences, family, 320, 64)
    for sentence in ("it was great.", "do n't , ever", "café ☕ 12\t3", "<b>"):
        ids = tokenizer(sentence)["input_ids"]
        assert tokenizer.decode(ids, skip_special_tokens=True).strip() == sentence
    first, again = tokenizer("good")["input_ids"], tokenizer("so good")["input_ids"]
    ends = 1 if family == "bart" else 0
    word = first[ends : len(first) - ends]
    assert again[len(again) - ends - len(word) : len(again) - ends] == word


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_the_loss_falls_on_a_batch_seen_again(family, text):
    few = replace(text, sentences=text.sentences[:24])
    one = learner(family, few, batch_size=8, steps=1000, learning_rate=5e-3, warm_up=0.0)
    first = _step(one, 0)["model/loss"]
    assert first == pytest.approx(math.log(one.network.config.vocab_size), rel=0.05)
    for _ in range(40):
        last = _step(one, 0)["model/loss"]
    assert last < 0.8 * first


def test_bart_is_taught_the_whole_sentence(text):
    """Token by token, each sentence alone, without padding."""
    one = learner("bart", text, mask_ratio=0.3)
    part = np.array([5, 2, 7, 0])
    total, n_tokens = 0.0, 0
    for i in part:
        row = one._rows[i]
        noisy = one._noisy(row[1:-1], np.random.default_rng([0, 5, i]), one._config)
        shifted = [one._tokenizer.eos_token_id, *row[:-1]]
        with torch.no_grad():
            logits = one.network(
                input_ids=torch.tensor([[row[0], *noisy, row[-1]]]),
                decoder_input_ids=torch.tensor([shifted]),
            ).logits[0]
        total += float(F.cross_entropy(logits, torch.tensor(row), reduction="sum"))
        n_tokens += len(row)
    with torch.no_grad():
        found = float(one._loss(5, part)["loss"])
    assert found == pytest.approx(total / n_tokens, rel=1e-4)


def test_blocks_have_every_token_once_or_twice():
    config = replace(BackboneConfig.tiny("gpt2"), max_length=8)
    ids = [[i, i, i] for i in range(1, 60)]
    once = blocks(ids, 0, replace(config, repeated=0.0))
    assert {len(row) for row in once} == {8}
    flat = [token for row in once for token in row]
    assert flat[:9] == [0, 1, 1, 1, 0, 2, 2, 2, 0]
    twice = [token for row in blocks(ids, 0, replace(config, repeated=1.0)) for token in row]
    assert twice[:12] == [0, 1, 1, 1, 0, 1, 1, 1, 0, 2, 2, 2]
    assert blocks([[1]], 0, config), "a corpus smaller than a block is one block"


def test_no_test_sentence_is_learned_from(text):
    assert not keys_under_test("mini", None) & set(map(match_key, text.sentences))
    assert len(set(text.sentences)) == len(text.sentences) > 1000


@pytest.mark.parametrize("family", FAMILIES)
def test_transformers_reads_what_is_written(family, text, tmp_path):
    few = replace(text, sentences=text.sentences[:200])
    out = tmp_path / "out"
    config = BackboneConfig.tiny(family)
    mine = tmp_path / "run" / "step-notes" / "mine.txt"
    mine.parent.mkdir(parents=True)
    mine.touch()
    learned = train_backbone(few, family, config, out, Run(device="cpu", folder=tmp_path / "run"))
    tokenizer = AutoTokenizer.from_pretrained(out)
    head = AutoModelForSeq2SeqLM if family == "bart" else AutoModelForCausalLM
    model = head.from_pretrained(out)
    again = _learner(family, model.eval(), config, few.sentences, tokenizer)
    with torch.no_grad():
        loss = again.validate()["loss"]
    assert loss == pytest.approx(learned.scores["loss"], abs=1e-5), "the weights that were kept"
    ids = tokenizer(["the food was good"], return_tensors="pt", return_token_type_ids=False)
    assert model.generate(**ids, max_new_tokens=3, do_sample=False).shape[1] > 1
    card = json.loads((out / "backbone.json").read_text())
    assert card["n_sentences"] == 200
    assert "knows no more" in (out / "README.md").read_text()
    there = [path for path in (tmp_path / "run").rglob("[!.]*") if path.is_file()]
    assert there == [mine], "nothing is left behind, and nothing else removed"
    train_backbone(few, family, replace(config, steps=1), out, Run(device="cpu"))  # replaces it


@pytest.mark.slow
def test_an_interrupted_training_follows_the_same_curve(text, tmp_path):
    straight = learn(learner("bart", text), Run(device="cpu"), "r").curve
    run = Run(device="cpu", folder=tmp_path, save_every=0)
    killed = learner("bart", text)
    killed.update = lambda step: updated(killed, step)
    with pytest.raises(RuntimeError, match="killed"):
        learn(killed, run, "r")
    resumed = learn(learner("bart", text), run, "r").curve
    ends = [row["model/loss"] for row in resumed if "model/loss" in row]
    assert ends == pytest.approx(
        [row["model/loss"] for row in straight if "model/loss" in row], abs=1e-6
    )


def updated(one, step):
    if step == 5:
        raise RuntimeError("killed")
    return type(one).update(one, step)


def test_from_the_command_line(tmp_path, capsys):
    asked = "--family gpt2 --preset tiny --dataset mini --steps 2 --device cpu --out".split()
    main([*asked, str(tmp_path / "g")])
    assert "sentences of mini" in capsys.readouterr().out
    assert AutoModelForCausalLM.from_pretrained(tmp_path / "g").config.n_embd == 32


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--family", "bert"), "unknown family of backbones 'bert'. Did you mean 'bart'"),
        (("--family", "bart", "--dataset", "minni"), "Did you mean 'mini'"),
        (("--family", "bart", "--preset", "tinny"), "Did you mean 'tiny'"),
        (("--family", "bart", "--mask-ratio", "0.9"), "setting mask_ratio of backbone"),
        (("--family", "bart", "--preset", "tiny", "--heads", "5"), "32 is not a multiple of"),
        (("--family", "bart", "--steps", "many"), "setting steps of backbone"),
    ],
)
def test_mistakes_are_told(tmp_path, arguments, expected):
    dataset = () if "--dataset" in arguments else ("--dataset", "mini")
    with pytest.raises(TSTBenchError, match=expected):
        main(["--out", str(tmp_path / "b"), *arguments, *dataset])
    assert list(tmp_path.glob("b*")) == []


def test_a_folder_of_the_users_is_left_alone(tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "letters.txt").write_text("dear")
    asked = "--family bart --preset tiny --dataset mini --out".split()
    with pytest.raises(TSTBenchError, match="did not write"):
        main([*asked, str(mine)])
    assert [f.name for f in mine.iterdir()] == ["letters.txt"]
