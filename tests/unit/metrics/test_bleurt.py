"""BLEURT against transformers itself: pair by pair, without padding, with a small checkpoint."""

import json

import evaluate
import numpy as np
import pytest
import torch
from places import ROOT
from prepared import DIRECTION, refusal, success
from tiny_models import make_bert, make_bleurt
from transformers import AutoModelForSequenceClassification, AutoTokenizer, BertConfig
from transformers import BertForSequenceClassification as Classifier

from tstbench.metrics.scorers.bleurt import find, pair
from tstbench.metrics.scorers.device import Placement

VIEWS = ("s_bleurt", "r_bleurt", "multi_bleurt")
ROWS = [  # prediction, source, references
    ("the food was very good.", "the food was bad.", ["food very good", "a very good food."]),
    ("The staff is kind", "the staff is not kind.", []),
    ("we were back and the staff was very slow, but not bad.", "they came back", ["we came back."]),
    ("", "we were slow", ["we were not slow", "kind", "a cold food."]),
]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return make_bleurt(tmp_path_factory.mktemp("bleurt") / "checkpoint")


@pytest.fixture(scope="module")
def one(checkpoint):
    """The score of a reference and a candidate, as the card of the ported checkpoints has it."""
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    model = AutoModelForSequenceClassification.from_pretrained(checkpoint).eval()

    def score(reference, candidate):
        first, second = (
            tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
            for text in (reference, candidate)
        )
        while len(first) + len(second) > 512 - 3:  # the longer one loses its last piece
            (first if len(first) > len(second) else second).pop()
        ids = [tokenizer.cls_token_id, *first, tokenizer.sep_token_id]
        sides = [0] * len(ids) + [1] * (len(second) + 1)
        ids += [*second, tokenizer.sep_token_id]
        with torch.inference_mode():
            return float(
                model(torch.tensor([ids]), token_type_ids=torch.tensor([sides])).logits[0, 0]
            )

    return score


def test_the_longer_text_is_cut_to_512_pieces(checkpoint, one):
    long = "the food was good and the staff was kind but slow " * 60
    pairs = [("kind", long), (long, "kind"), (long, long[:1000]), ("not", "but")]
    scorer = find(str(checkpoint), None, Placement("cpu", batch_size=3)).load()
    found = scorer.scores([pair(*texts) for texts in pairs])
    assert found == pytest.approx([one(*texts) for texts in pairs], abs=2e-5)
    assert abs(one("kind", long) - one("kind", long[:2000])) > 1e-3


@pytest.mark.parametrize(("reduce", "batch_size"), [(None, 2), ("mean", None)])
def test_scores_are_those_of_the_checkpoint(checkpoint, one, reduce, batch_size, monkeypatch):
    monkeypatch.chdir(ROOT)
    predictions, sources, references = map(list, zip(*ROWS, strict=True))
    found = evaluate.load("metrics/bleurt").compute(
        predictions=predictions, sources=sources, references=references, model=str(checkpoint),
        reduce=reduce, batch_size=batch_size, per_sentence=True,
    )  # fmt: skip
    combine = np.mean if reduce == "mean" else np.max
    each = [[one(r, p) for r in some] for p, _, some in ROWS]
    wanted = {
        "s_bleurt": [one(s, p) for p, s, _ in ROWS],
        "r_bleurt": [some[0] if some else None for some in each],
        "multi_bleurt": [combine(some) if some else None for some in each],
    }
    for view, values in wanted.items():
        own = [value for value in values if value is not None]
        assert found["details"][view]["per_sentence"] == [
            None if value is None else pytest.approx(value, abs=2e-5) for value in values
        ]
        assert found[view] == pytest.approx(np.mean(own), abs=2e-5)
    # It matters which is the reference, and how letters are written.
    reversed_order = [one(p, s) for p, s, _ in ROWS]
    assert min(np.abs(np.subtract(reversed_order, wanted["s_bleurt"]))[:3]) > 1e-3
    assert abs(one(ROWS[1][1], ROWS[1][0]) - one(ROWS[1][1], ROWS[1][0].lower())) > 1e-3


def asked(*more):
    return ("evaluate", "--baseline", "copy", "--direction", DIRECTION, *more, "--json")


def test_the_paper_profile_has_it_and_the_embedded_one_says_what_to_do(
    tmp_path, tstbench_home, monkeypatch, capsys
):
    cache = tmp_path / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    folder = cache / "models--Elron--bleurt-base-512"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text("a" * 40)
    make_bleurt(folder / "snapshots" / ("a" * 40))
    out, _ = success(capsys, *asked("--metrics", "bleurt", "--profile", "paper", "--device", "cpu"))
    scores = {score["metric"]: score for score in json.loads(out.splitlines()[0])["scores"]}
    assert set(scores) == set(VIEWS)
    assert "|bleurt:bleurt-base-512#" in scores["r_bleurt"]["signature"]
    told = refusal(capsys, *asked("--metrics", "r_bleurt"))
    assert "no bleurt" in told
    assert "--scorer bleurt=" in told
    assert "--profile paper" in told


def test_a_classifier_of_two_styles_is_no_bleurt(tmp_path, tstbench_home, capsys):
    folder = make_bert(tmp_path / "styles")
    Classifier(BertConfig.from_pretrained(folder, num_labels=2)).save_pretrained(folder)
    told = refusal(capsys, *asked("--metrics", "s_bleurt", "--scorer", f"bleurt={folder}"))
    assert "2 labels" in told
