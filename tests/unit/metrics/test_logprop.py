"""Conditional log-likelihood under a causal language model, against transformers by hand."""

import dataclasses

import numpy as np
import pytest
import torch
from local_chat import make_chat_model
from prepared import DIRECTION, refusal
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
)

from tstbench.datasets_scripts.load import load_test_set
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.measure import measure
from tstbench.metrics.options import choices
from tstbench.metrics.scorers.causal_lm import CausalLm, question
from tstbench.metrics.scorers.profile import PROFILES, Scorers

PAIRS = [
    ("A text: good\nThe same text in other words:", " fine\n"),
    ("A text: the soup was cold and the staff was slow\nMore:", " the soup was warm.\n"),
    ("A text: it rained all day — naïvely\nMore:", " café, naïve and wet 🙂\n"),
    ("A text:", " a\n"),
]


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny-llama")
    make_chat_model(folder, load_test_set(DIRECTION).sources)
    return folder


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory, llama):
    """Absolute positions, and a short context."""
    folder = tmp_path_factory.mktemp("tiny-gpt2")
    tokenizer = AutoTokenizer.from_pretrained(llama)
    torch.manual_seed(1)
    config = GPT2Config(
        vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=2, n_positions=48,
        bos_token_id=0, eos_token_id=1,
    )  # fmt: skip
    GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def by_hand(folder, before, after):
    """One text at a time: transformers' own loss on the tokens after the prompt."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    first, whole = (tokenizer(text)["input_ids"] for text in (before, before + after))
    assert whole[: len(first)] == first  # the boundary is one of tokens
    labels = [-100] * len(first) + whole[len(first) :]
    with torch.inference_mode():
        loss = model(input_ids=torch.tensor([whole]), labels=torch.tensor([labels])).loss
    count = len(whole) - len(first)
    return [-float(loss) * count, count]


def loaded(folder, batch_size=None, side="right"):
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side=side)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    return CausalLm([model], tokenizer, batch_size)


@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_each_text_has_the_score_that_transformers_gives_it_alone(name, request):
    folder = request.getfixturevalue(name)
    pairs = [pair for pair in PAIRS if name == "llama" or len(pair[0]) < 40]
    asked = [question(*pair) for pair in pairs]
    expected = np.array([by_hand(folder, *pair) for pair in pairs])
    for batch_size in (None, 1, 2):
        for side in ("left", "right"):
            found = loaded(folder, batch_size, side).log_probabilities(asked)
            assert found[:, 1].tolist() == expected[:, 1].tolist()
            assert found[:, 0] == pytest.approx(expected[:, 0], rel=1e-5)


def test_a_token_that_begins_in_the_prompt_and_ends_in_the_text_counts(llama):
    """A tokenizer may join both: what is scored is all that can be the text's."""
    before, after = "the soup w", "as cold\n"
    tokenizer = AutoTokenizer.from_pretrained(llama)
    whole = tokenizer(before + after, return_offsets_mapping=True)
    across = [n for n, (a, b) in enumerate(whole["offset_mapping"]) if a < len(before) < b]
    assert len(across) == 1
    ids = torch.tensor([whole["input_ids"]])
    with torch.inference_mode():
        model = AutoModelForCausalLM.from_pretrained(llama).eval()
        scores = model(ids).logits[0, :-1].log_softmax(-1)
    own = scores[torch.arange(ids.shape[1] - 1), ids[0, 1:]][across[0] - 1 :]
    ((total, tokens),) = loaded(llama).log_probabilities([question(before, after)])
    assert tokens == len(own) == sum(b > len(before) for _, b in whole["offset_mapping"])
    assert total == pytest.approx(float(own.sum()), rel=1e-5)


def test_each_distinct_text_is_scored_once(llama, monkeypatch):
    model = loaded(llama)
    asked = [question(*PAIRS[0]), question(*PAIRS[1]), question(*PAIRS[0])]
    first = model.log_probabilities(asked)
    monkeypatch.setattr(model, "_models", [lambda **_: pytest.fail("scored again")])
    assert model.log_probabilities(asked[::-1]).tolist() == first[::-1].tolist()
    assert model.log_probabilities([]).shape == (0, 2)


def test_what_is_longer_than_the_context_loses_its_beginning(gpt2):
    before, after = "A text: " + "the soup was cold " * 20 + "\nMore:", " the soup was warm.\n"
    tokenizer = AutoTokenizer.from_pretrained(gpt2)
    model = AutoModelForCausalLM.from_pretrained(gpt2).eval()
    whole = tokenizer(before + after)["input_ids"]
    count = len(whole) - len(tokenizer(before)["input_ids"])
    assert len(whole) > 48
    with torch.inference_mode():
        logits = model(torch.tensor([whole[-48:]])).logits[0].log_softmax(-1)
    kept = whole[-48:]
    expected = sum(float(logits[place - 1, kept[place]]) for place in range(48 - count, 48))
    found = loaded(gpt2).log_probabilities([question(before, after)])
    assert found[0] == pytest.approx([expected, count], rel=1e-5)
    longer = question("A text:", " " + "the soup was cold " * 20)
    assert loaded(gpt2).log_probabilities([longer])[0, 1] == 47  # the first has nothing before it


def test_the_metric_by_hand(llama):
    test_set = load_test_set(DIRECTION)
    outputs = [some[0] for some in test_set.references[:4]]
    texts = check_inputs(outputs, test_set.sources[:4], None, test_set.direction)
    scorers = Scorers(PROFILES["embedded"].with_scorers([f"causal_lm={llama}"]), texts.direction)
    # As some systems write them: what is scored is cleaned, as is what is scored after.
    spaced = dataclasses.replace(
        texts,
        sources=tuple(s.replace(".", " .").replace("'s", " 's") for s in texts.sources),
        predictions=tuple(o.replace(".", " .").replace("'s", " 's") for o in texts.predictions),
    )
    assert spaced.sources != texts.sources
    for subtract in ("nothing", "source"):
        settings = choices({"logprop": {"subtract": subtract}})
        found = measure(["logprop", "logprop_plain"], texts, scorers, settings)
        again = measure(["logprop", "logprop_plain"], spaced, scorers, settings)
        assert all(again[m].value == pytest.approx(found[m].value) for m in found)
        for metric, styled in (("logprop", True), ("logprop_plain", False)):
            hand = []
            for source, output in zip(texts.sources, outputs, strict=True):
                before = (
                    f"A text (negative): {source}\nThe same text, made positive:"
                    if styled
                    else f"A text: {source}\nThe same text in other words:"
                )
                total, count = by_hand(llama, before, f" {output}\n")
                score = total / count
                if subtract == "source":
                    alone = "A text (positive):" if styled else "A text:"
                    score -= by_hand(llama, alone, f" {output}\n")[0] / count
                hand.append(score)
            assert found[metric].statistics.per_sentence == pytest.approx(hand, abs=1e-5)
            assert found[metric].value == pytest.approx(np.mean(hand), abs=1e-5)


def test_without_the_profiles_language_model_it_is_named(capsys):
    how = ("evaluate", "--baseline", "copy", "--direction", DIRECTION, "--metrics", "logprop")
    said = refusal(capsys, *how)
    assert "openai-community/gpt2" in said
    assert "HF_HUB_OFFLINE is set" in said
