"""Perplexity under a causal language model, against transformers one text at a time."""

import numpy as np
import pytest
import torch
from local_chat import make_chat_model
from prepared import DIRECTION, refusal, success
from transformers import AutoModelForCausalLM, AutoTokenizer

from tstbench.datasets_scripts.load import load_test_set
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.measure import measure
from tstbench.metrics.options import choices
from tstbench.metrics.scorers.profile import PROFILES, Scorers

# Of several lengths, one of a single token, and none.
TEXTS = ["a", "the soup was warm.", "", "The waiter smiled, and so did we, all evening long!"]


def start_is_written(tokenizer, written):
    """A tokenizer that puts the start token before every text, as LLaMA's does, or none."""
    from tokenizers.processors import TemplateProcessing

    start = tokenizer.bos_token
    if written:
        tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
            single=f"{start} $A", special_tokens=[(start, tokenizer.bos_token_id)]
        )
    assert (tokenizer("a b")["input_ids"][0] == tokenizer.bos_token_id) == written


@pytest.fixture(scope="module", params=[False, True], ids=["bare", "start written"])
def folder(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny-llama")
    make_chat_model(folder, load_test_set(DIRECTION).sources)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    start_is_written(tokenizer, request.param)
    tokenizer.save_pretrained(folder)
    return folder


def by_hand(folder, text, first):
    """transformers' own loss of one text, and its tokens."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    ids = [tokenizer.bos_token_id, *ids] if first == "bos" else ids
    if len(ids) < 2:
        return np.nan, 0
    with torch.inference_mode():
        return float(model(torch.tensor([ids]), labels=torch.tensor([ids])).loss), len(ids) - 1


def scored(folder, texts, **options):
    profile = PROFILES["embedded"].with_scorers([f"causal_lm={folder}"])
    found = measure(
        ["lm_ppl"], check_inputs(texts), Scorers(profile, None), choices({"lm_ppl": options})
    )
    return found["lm_ppl"]


@pytest.mark.parametrize("first", ["bos", "skip"])
def test_both_averages_by_hand(folder, first):
    """The mean over sentences, first token counted, is how evaluate's ``perplexity`` is defined."""
    loss, count = map(np.array, zip(*(by_hand(folder, t, first) for t in TEXTS), strict=True))
    counted = count > 0
    assert counted.tolist() == [first == "bos", True, False, True]
    corpus = scored(folder, TEXTS, first=first)
    expected = np.exp((loss * count)[counted].sum() / count.sum())
    assert corpus.value == pytest.approx(expected, rel=1e-4)
    assert corpus.statistics.per_sentence == pytest.approx(np.exp(loss), rel=1e-4, nan_ok=True)
    mean = scored(folder, TEXTS, first=first, average="sentences")
    assert mean.value == pytest.approx(np.exp(loss[counted]).mean(), rel=1e-4)
    assert mean.value != pytest.approx(corpus.value, rel=1e-4)


def test_a_model_without_a_start_token(folder, tmp_path, capsys):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.bos_token = None
    AutoModelForCausalLM.from_pretrained(folder).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    (tmp_path / "out.txt").write_text("the soup was warm.\n" * 40)
    how = ("evaluate", tmp_path / "out.txt", "--direction", DIRECTION, "--metrics", "lm_ppl")
    how = (*how, "--scorer", f"causal_lm={tmp_path / 'model'}")
    assert "--set lm_ppl.first=skip" in refusal(capsys, *how)
    shown, _ = success(capsys, *how, "--set", "lm_ppl.first=skip", "--json")
    assert "|first:skip|average:tokens|" in shown
