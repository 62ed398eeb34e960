"""``pipeline("text-style-transfer", ...)``: the system's answers, its settings, mistakes told."""

from dataclasses import dataclass, field, replace
from typing import Annotated

import pytest
import torch
from answering import answering
from hub_artefacts import ONLINE, run_user
from places import SUPPORT
from prepared import BACK, DIRECTION, success
from pydantic import Field
from trained_tiny import trained_tiny
from transformers import pipeline

from tstbench.errors import InputError, UnknownNameError
from tstbench.pipelines.hub.serve import make_server
from tstbench.trainers.load import load_system
from tstbench.trainers.pipeline import TASK, direction_of
from tstbench.trainers.system import SYSTEM_STORE, System

SENTENCES = ["the soup was cold .", "the waiter was slow and rude to all of us .", "bad ."]
CLIENT = SUPPORT / "hub_user.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return trained_tiny(tmp_path_factory)


@pytest.fixture(scope="module")
def rewrite(folder):
    return pipeline(TASK, model=str(folder), device="cpu")


def texts(written):
    return [one["generated_text"] for one in written]


@pytest.mark.parametrize(("style", "direction"), [("positive", DIRECTION), ("negative", BACK)])
def test_it_says_what_the_system_says(rewrite, folder, style, direction):
    expected = list(load_system(folder).transfer(SENTENCES, direction))
    assert len(set(expected)) > 1
    assert texts(rewrite(SENTENCES, target_style=style)) == expected
    assert rewrite(SENTENCES[1], target_style=style) == [{"generated_text": expected[1]}]
    assert texts(rewrite(SENTENCES, target_style=style, batch_size=2)) == expected
    assert texts(rewrite(tuple(SENTENCES), direction=direction)) == expected
    as_they_come = rewrite((one for one in SENTENCES), target_style=style, batch_size=1)
    assert next(as_they_come) == {"generated_text": expected[0]}
    assert texts(as_they_come) == expected[1:]
    assert rewrite([], target_style=style) == []


def test_batches_are_as_large_as_asked_and_as_the_systems_otherwise(rewrite, monkeypatch):
    sizes = []
    real = type(rewrite.system).rewrite

    def seen(system, batch, task):
        sizes.append(len(batch))
        return real(system, batch, task)

    monkeypatch.setattr(type(rewrite.system), "rewrite", seen)
    rewrite(SENTENCES * 2, target_style="positive", batch_size=4)
    rewrite(SENTENCES * 2, target_style="positive")
    assert sizes == [4, 2, 6]


def test_a_torch_data_set_is_rewritten_as_it_comes(rewrite):
    class Lines(torch.utils.data.Dataset):
        def __len__(self):
            return len(SENTENCES)

        def __getitem__(self, index):
            return SENTENCES[index]  # beyond the end: an IndexError, as from a list

    written = rewrite(Lines(), target_style="positive")
    assert list(written) == rewrite(SENTENCES, target_style="positive")


def test_usual_settings_are_given_once(folder):
    usual = pipeline(TASK, model=str(folder), device=-1, target_style="negative", batch_size=2)
    other = pipeline(TASK, model=str(folder), device=torch.device("cpu"))
    assert usual(SENTENCES) == other(SENTENCES, target_style="negative")
    assert usual(SENTENCES, target_style="positive") == other(SENTENCES, target_style="positive")
    assert usual("x", target_style="positive") == other("x", target_style="positive")


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"target_style": "positiv"}, UnknownNameError, "target style .*Did you mean 'positive'?"),
        ({"source_style": "neutral"}, UnknownNameError, "unknown source style .*'neutral'"),
        ({"direction": "mini/positive"}, UnknownNameError, "unknown direction of stytrans"),
        ({}, InputError, "several such directions: .* Give target_style"),
        ({"target_style": "positive", "num_beams": 3}, InputError, "no settings, got 'num_beams'"),
        ({"target_style": "positive", "batch_size": 0}, InputError, "at least 1, got 0"),
    ],
)
def test_a_mistake_is_told(rewrite, given, kind, message):
    with pytest.raises(kind, match=message):
        rewrite(SENTENCES, **given)


@pytest.mark.parametrize("wrong", [5, ["fine .", None], {"text": "a"}])
def test_only_text_is_rewritten(rewrite, wrong):
    with pytest.raises(InputError, match="text-style-transfer rewrites text, got"):
        rewrite(wrong, target_style="positive")


def test_misspelt_usual_settings_are_told_before_any_sentence(folder):
    with pytest.raises(UnknownNameError, match="Did you mean 'positive'"):
        pipeline(TASK, model=str(folder), target_style="positve", device="cpu")
    with pytest.raises(InputError, match="no settings, got 'beams'"):
        pipeline(TASK, model=str(folder), beams=2, device="cpu")


def test_what_a_system_has_not_is_refused_and_float32_taken(folder):
    with pytest.raises(ValueError, match="has no option device_map"):
        pipeline(TASK, model=str(folder), device_map="auto")
    half = pipeline(TASK, model=str(folder), device="cpu", dtype=torch.bfloat16)
    assert half.dtype == torch.float32  # transformers says that it falls back
    with pytest.raises(InputError, match="a folder, a Hub id or a loaded system, not Linear"):
        pipeline(TASK, model=torch.nn.Linear(1, 1))


def test_a_loaded_system_is_a_model_too(tmp_path):
    copy = pipeline(TASK, model=load_system("copy"), device="cpu")
    assert copy("as it is", direction="mini/negative-to-positive") == [
        {"generated_text": "as it is"}
    ]
    with pytest.raises(InputError, match="trained for no direction: name one"):
        copy("as it is")
    copy.save_pretrained(tmp_path / "copy")
    again = pipeline(TASK, model=str(tmp_path / "copy"), device="cpu")
    assert again("as it is", direction=BACK) == [{"generated_text": "as it is"}]


def test_a_system_with_a_config_of_a_model_of_transformers(tmp_path):
    """Where a system is a BART, for example, and its folder has BART's config.json."""
    from transformers import BartConfig

    card = replace(load_system("copy").card, directions=(DIRECTION,))
    config = BartConfig(architectures=["BartForConditionalGeneration"])
    SYSTEM_STORE.export(card, config.save_pretrained, tmp_path / "bart")
    copy = pipeline(TASK, model=str(tmp_path / "bart"), device="cpu")
    assert copy("as it is", target_style="positive") == [{"generated_text": "as it is"}]


@dataclass(frozen=True)
class Sampled:
    words: Annotated[int, Field(ge=1)] = field(default=1)


class Dice(System):
    """Writes random numbers: as many as asked, drawn for the seed and the sentence."""

    KIND, FAMILY, ORIGIN, Settings = "dice", "rule", "this test", Sampled

    def __init__(self):
        self.card = replace(self.untrained(), directions=(DIRECTION,))

    def rewrite(self, batch, task):
        drawn = [task.random(request) for request in batch]
        return [" ".join(str(d.random()) for _ in range(task.settings.words)) for d in drawn]

    @classmethod
    def read(cls, folder, card, device):
        return cls()


def test_generation_settings_and_seed_reach_the_system():
    dice = pipeline(TASK, model=Dice(), device="cpu", words=2)
    (two,), (three,) = dice("a"), dice("a", words=3)  # one direction: none has to be named
    assert len(two["generated_text"].split()) == 2
    assert three["generated_text"].startswith(two["generated_text"] + " ")
    assert dice(["b", "a"], batch_size=1)[1] == two  # whatever stands beside it
    assert dice("a", seed=1) != [two]
    with pytest.raises(InputError, match=r"setting words .* greater than or equal to 1"):
        dice("a", words=0)


def test_a_style_from_several_others_needs_its_source():
    card = replace(
        load_system("copy").card,
        directions=("mini/negative-to-positive", "yelp/negative-to-positive"),
    )
    with pytest.raises(InputError, match=r"mini/negative-to-positive, yelp/.* source_style"):
        direction_of(card, "positive")
    assert direction_of(card, None, None, "yelp/negative-to-positive").dataset == "yelp"
    card = replace(card, directions=("mini/negative-to-positive", "mini/positive-to-negative"))
    assert direction_of(card, None, "positive").target_style == "negative"


@pytest.mark.slow
def test_from_the_hub_by_its_name(folder, tmp_path, capsys):
    name = "stytrans-mini-all"
    build = ("hub", "build", tmp_path / "hub", "--datasets", "--only", name, "--systems", folder)
    success(capsys, *build)
    with answering(make_server(tmp_path / "hub")) as server:
        online = {"HF_ENDPOINT": server.url, **ONLINE}
        arguments = ["pipeline", f"tstbench/{name}", "positive", *SENTENCES]
        said = run_user(CLIENT, arguments, cwd=tmp_path / "user", **online)
    assert texts(said) == list(load_system(folder).transfer(SENTENCES, DIRECTION))
