"""STRAP: the format of its rows, its loss and decoding against plain loops, paraphrases, phases."""

import json
import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from prepared import DIRECTION
from scipy.stats import kendalltau

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.errors import InputError
from tstbench.trainers.prefix_lm import PrefixLM, drawn
from tstbench.trainers.strap import (
    PrefixLearner,
    RuleParaphraser,
    Strap,
    StrapConfig,
    inverse_pairs,
    is_diverse,
    kendall_tau,
    overlap,
)
from tstbench.trainers.training.backbones import BackboneShape, byte_level_tokenizer, random_model
from tstbench.trainers.training.loop import _step
from tstbench.trainers.training.run import Run
from tstbench.trainers.training.selection import Sides

CONFIG = StrapConfig.tiny(parse_direction(DIRECTION))
TEXTS = ["the food was very good", "bad", "we never came back here again, it was so slow"]
ANSWERS = ["good food", "it was bad and cold and rude", "never again"]
CPU = Run(device="cpu")


def scratch(**format_):
    torch.manual_seed(0)
    usual = {"max_prefix": 24, "max_suffix": 24}
    model = PrefixLM.pretrained("scratch", [*TEXTS, *ANSWERS] * 20, **{**usual, **format_})
    with torch.no_grad():  # large weights: no part of a sentence is without effect
        for parameter in model.model.parameters():
            parameter.mul_(4)
    model.model.eval()
    return model


def test_rows_have_the_published_format():
    model = scratch()
    start, end, prefix, suffix = (
        model.tokenizer.convert_tokens_to_ids(t) for t in ("<bos>", "<eos>", "<tokens>", "<verb>")
    )
    rows = model.rows([[5, 6], [7]], [[8, end], [9, 10, end]])
    pad = model.tokenizer.pad_token_id
    assert rows.ids.tolist() == [[5, 6, start, 8, end], [7, start, 9, 10, end]]
    assert rows.types.tolist() == [[prefix] * 2 + [suffix] * 3, [prefix] + [suffix] * 4]
    assert rows.labels.tolist() == [[-100] * 3 + [8, end], [-100] * 2 + [9, 10, end]]
    aligned = model.rows([[5, 6], [7]], [[], []], aligned=True)
    assert aligned.ids.tolist() == [[5, 6, start], [pad, 7, start]]
    assert aligned.mask.tolist() == [[1, 1, 1], [0, 1, 1]]
    assert aligned.positions.tolist() == [[0, 1, 2], [0, 0, 1]]


def test_released_rows_fill_all_places_and_read_them():
    model = scratch(max_prefix=4, released=True)
    start, pad = model.tokenizer.convert_tokens_to_ids("<bos>"), model.tokenizer.pad_token_id
    rows = model.rows([[5, 6], [7]], [[8], [9, 10]])
    assert rows.ids.tolist() == [[pad, pad, 5, 6, start, 8, pad], [pad, pad, pad, 7, start, 9, 10]]
    assert rows.mask.tolist() == [[1] * 7] * 2
    assert rows.positions.tolist() == [list(range(7))] * 2
    assert rows.labels.tolist() == [[-100] * 5 + [8, -100], [-100] * 5 + [9, 10]]


@pytest.mark.parametrize("released", [False, True])
def test_the_loss_is_that_of_each_sentence_alone(released):
    model = scratch(released=released)
    prefixes, suffixes = model.prefixes(TEXTS), model.suffixes(ANSWERS)
    with torch.no_grad():
        together = float(model.summed_loss(prefixes, suffixes))
        total = 0.0
        for prefix, suffix in zip(prefixes, suffixes, strict=True):
            if released:
                prefix = [model.tokenizer.pad_token_id] * (24 - len(prefix)) + prefix
            start = model.tokenizer.convert_tokens_to_ids("<bos>")
            types = [model.tokenizer.convert_tokens_to_ids("<tokens>")] * len(prefix)
            types += [model.tokenizer.convert_tokens_to_ids("<verb>")] * (1 + len(suffix))
            logits = model.model(
                input_ids=torch.tensor([[*prefix, start, *suffix]]),
                token_type_ids=torch.tensor([types]),
            ).logits[0, len(prefix) : -1]
            total += float(F.cross_entropy(logits, torch.tensor(suffix), reduction="sum"))
    assert together == pytest.approx(total, rel=1e-4)


@pytest.mark.parametrize("released", [False, True])
def test_the_cache_writes_what_reading_everything_again_would(released):
    model = scratch(released=released)
    written = model.write(TEXTS, longer=6)
    for text, expected in zip(TEXTS, written, strict=True):
        (prefix,) = model.prefixes([text])
        tokens = []
        for _ in range(len(prefix) + 6):
            rows = model.rows([prefix], [tokens], aligned=True)
            with torch.no_grad():
                logits = model.model(
                    input_ids=rows.ids,
                    token_type_ids=rows.types,
                    position_ids=rows.positions,
                    attention_mask=rows.mask,
                ).logits[0, -1]
            logits[model._never] = -torch.inf
            token = int(logits.argmax())
            if token == model.tokenizer.eos_token_id:
                break
            tokens.append(token)
        assert expected == model.tokenizer.decode(tokens).strip()


def test_answers_are_cut_and_end_and_have_no_special_tokens():
    model = scratch()
    specials = torch.tensor(model._never)
    with torch.no_grad():
        model.model.lm_head.weight[specials] *= 50
    rows = model._written(model.prefixes(TEXTS), 5, 0.0, None)
    for row, prefix in zip(rows, model.prefixes(TEXTS), strict=True):
        assert len(row) <= len(prefix) + 5
        assert not set(row) & {*specials.tolist(), model.tokenizer.eos_token_id}
    assert max(map(len, rows)) > 6
    short = replace(model, max_suffix=3)
    assert max(map(len, short._written(short.prefixes(TEXTS), 5, 0.0, None))) == 4


def test_a_nucleus_has_the_likeliest_tokens_and_no_others():
    logits = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log()

    def seen(top_p):
        draws = [drawn(logits, top_p, [random.Random(i)]).item() for i in range(600)]
        return Counter(draws)

    assert set(seen(0.4)) == {0}
    assert set(seen(0.6)) == {0, 1}
    assert seen(0.6)[0] / 600 == pytest.approx(0.5 / 0.8, abs=0.06)
    assert set(seen(1.0)) == {0, 1, 2, 3}


def test_the_loss_falls_on_a_batch_seen_again_and_both_embeddings_learn():
    model = scratch()
    tuning = replace(CONFIG.tuning(300), batch_size=3, learning_rate=3e-3)
    learner = PrefixLearner(model, list(zip(TEXTS, ANSWERS, strict=True)), [("a", "b")], tuning)
    before = model.model.transformer.wte.weight.detach().clone()
    rates = [learner.update(step).rates["model"] for step in range(learner.steps)]
    assert rates == pytest.approx(np.linspace(3e-3, 0, learner.steps, endpoint=False))
    first = _step(learner, 0)["model/loss"]
    for _ in range(60):
        last = _step(learner, 0)["model/loss"]
    assert last < first / 5
    moved = (model.model.transformer.wte.weight != before).any(dim=1)
    kinds = [model.tokenizer.convert_tokens_to_ids(t) for t in ("<tokens>", "<verb>", "<bos>")]
    assert moved[kinds].all()
    model.model.eval()
    assert model.write(TEXTS, longer=10) == ANSWERS


def test_a_loss_is_a_mean_over_the_tokens_of_the_batch():
    learner = PrefixLearner(scratch(), list(zip(TEXTS, ANSWERS, strict=True)), [("a", "b")],
                            CONFIG.tuning(1))  # fmt: skip
    whole = np.arange(3)
    with torch.no_grad():
        together = float(learner._loss(whole)["loss"])
        n_tokens = sum(map(len, learner._suffixes))
        summed = float(learner._model.summed_loss(learner._prefixes, learner._suffixes))
    assert together == pytest.approx(summed / n_tokens)


def test_filters_of_paraphrases():
    first, second = "the old man saw a dog".split(), "a dog the old man did see".split()
    places = [second.index(w) for w in first if w in second]
    assert kendall_tau(first, second) == pytest.approx(kendalltau(range(5), places).statistic)
    assert kendall_tau("a b".split(), "a c".split()) is None
    assert overlap(first, second) == pytest.approx(5 / 7)
    limits = {"max_overlap": 0.5, "max_tau": 0.0, "max_difference": 2}
    assert is_diverse(("he went home", "home is where that man walked"[:19]), **limits)
    assert not is_diverse(("he went home", "he went away"), **limits), "the same words"
    assert not is_diverse(("a b c d e", "a x b y z"), **limits), "the same order"
    assert is_diverse(("a b c d e", "b x a y z"), **limits)
    assert not is_diverse(("a b", "c d e f g"), **limits), "too long"


def test_rules_strip_what_marks_a_style():
    old = ["thou art a good man, sir."] * 9 + ["thou hast a horse."] * 9
    new = ["you are a good man, sir."] * 9 + ["you have a horse."] * 9
    rules = RuleParaphraser.of([old, new], salience=3, min_count=5, drop=0.0, shuffle=0.0)
    assert rules.markers == {"thou", "art", "hast", "you", "are", "have"}
    assert rules.paraphrased([old[0], new[0]]) == ["a good man sir."] * 2
    assert rules.paraphrased(["Thou hast!"]) == ["!"], "nothing but its end is left"
    taught = inverse_pairs(rules, Sides((old[0],), (new[0], new[-1])))
    assert taught == [("a good man sir.", new[0]), ("a horse.", new[-1])], "of the target style"
    noisy = replace(rules, drop=0.2, shuffle=3.0)
    long = " ".join(map(str, range(200)))
    (once,), (again,) = noisy.paraphrased([long]), noisy.paraphrased([long])
    assert once == again != long
    kept = list(map(int, once.split()))
    assert len(kept) == pytest.approx(160, abs=25)
    assert max(abs(place - rank) for place, rank in zip(kept, sorted(kept), strict=True)) <= 12


def corpus(folder):
    file = folder / "paraphrases.tsv"
    lines = [f"the meal number {i} was good\tfood of plate {i} pleased" for i in range(60)]
    file.write_text("\n".join([*lines, "the same words here\tthe same words here"]) + "\n")
    return file


@pytest.mark.slow
def test_both_phases_are_learned_and_answers_survive_a_folder(data, tmp_path, capsys):
    config = replace(CONFIG, paraphraser="corpus", paraphrases=str(corpus(tmp_path)))
    run = Run(device="cpu", folder=tmp_path / "run")
    system = Strap.train(data, config, run)
    assert "60 of 61 paraphrases are diverse" in capsys.readouterr().err
    assert system.card.settings["paraphrases"].startswith("paraphrases.tsv@")
    assert str(tmp_path) not in json.dumps(system.card.settings)
    assert set(system.card.scores) == {"selection", "perplexity"}
    sources = data.train.source[:6]
    answers = list(system.transfer(sources, DIRECTION, device="cpu"))
    system.save_pretrained(tmp_path / "m")
    again = Strap.from_pretrained(tmp_path / "m", device="cpu")
    assert list(again.transfer(sources, DIRECTION, batch_size=2)) == answers
    # A second training finds the finished paraphraser.
    capsys.readouterr()
    after = Strap.train(data, config, replace(run, resume="auto"))
    assert "diverse" not in capsys.readouterr().err
    assert list(after.transfer(sources, DIRECTION)) == answers
    # One that is trained already needs no corpus at all.
    given = replace(CONFIG, paraphraser=str(tmp_path / "m" / "paraphraser"), epochs=1)
    third = Strap.train(data, given, CPU)
    assert third.paraphraser.paraphrased(sources) == again.paraphraser.paraphrased(sources)


def test_pairs_make_it_supervised(data):
    pairs = tuple(zip(data.train.source[:40], data.train.target[:40], strict=True))
    with_pairs = replace(data, train=replace(data.train, pairs=pairs))
    card = Strap.planned(with_pairs, replace(CONFIG, paraphraser="pairs"))
    assert card.needs_parallel
    assert "supervised" in card.trained_on
    assert Strap.planned(data, CONFIG).needs_parallel is False
    assert "no paraphraser was learned" in Strap.planned(data, CONFIG).trained_on
    system = Strap.train(with_pairs, replace(CONFIG, paraphraser="pairs"), CPU)
    assert system.card.needs_parallel
    with pytest.raises(InputError, match="has no pairs to learn paraphrases from"):
        Strap.train(data, replace(CONFIG, paraphraser="pairs"), CPU)


def test_what_cannot_be_learned_is_told(data, tmp_path):
    bad = tmp_path / "bad.tsv"
    bad.write_text("the same\tthe same\n")
    with pytest.raises(InputError, match="0 diverse paraphrases"):
        Strap.train(data, replace(CONFIG, paraphraser="corpus", paraphrases=str(bad)), CPU)
    other = tmp_path / "llama"
    tokenizer = byte_level_tokenizer(TEXTS, "llama", 300, 128)
    random_model("llama", BackboneShape(32, 1, 2, 128), tokenizer).save_pretrained(other)
    tokenizer.save_pretrained(other)
    with pytest.raises(InputError, match="is a llama"):
        Strap.train(data, replace(CONFIG, base=str(other)), CPU)
    plain = tmp_path / "gpt2"
    tokenizer = byte_level_tokenizer(TEXTS, "gpt2", 300, 32)
    random_model("gpt2", BackboneShape(32, 1, 2, 32), tokenizer).save_pretrained(plain)
    tokenizer.save_pretrained(plain)
    with pytest.raises(InputError, match="has 32 positions, but a row has up to 50"):
        Strap.train(data, replace(CONFIG, base=str(plain)), CPU)
    tokenizer.add_special_tokens({"pad_token": "<pad>"})
    tokenizer.save_pretrained(plain)
    with pytest.raises(InputError, match="no model of STRAP's: its tokenizer has no <"):
        Strap.train(data, replace(CONFIG, paraphraser=str(plain)), CPU)
