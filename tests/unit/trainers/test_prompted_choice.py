"""Which examples are shown, and which of several answers is taken, with what is kept beside it."""

import numpy as np
import pytest
from chat_server import serving
from own_data import FILES, POLITE, replaced, write_lines

from tstbench.datasets_scripts.catalog import load_data, parse_direction
from tstbench.datasets_scripts.load import load_training
from tstbench.errors import InputError
from tstbench.trainers.load import load_system
from tstbench.trainers.prompted import ChatSettings, Judge, Plan
from tstbench.trainers.prompting.few_shot import Chooser, Pool, load_pool
from tstbench.trainers.prompting.prompts import Example
from tstbench.trainers.system import Generation, Request, Task

MINI = parse_direction("mini/negative-to-positive")
PAIRS = tuple(
    Example(f"the {thing} was {word} .", f"the {thing} was great .")
    for thing in ("soup", "waiter", "room", "pool", "lamp")
    for word in ("bad", "awful")
)


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_examples_are_drawn_by_the_seed_of_the_transfer_and_the_direction():
    settings = ChatSettings(model="m", base_url="http://h/v1", examples=3)
    plan = Plan.of(settings, MINI)

    def shown(seed):
        calls = plan.calls([Request("a", "x")], Task(MINI, seed, settings, "cpu"))
        return calls[0][0].body["messages"][-1]["content"]

    assert shown(0) == shown(0)
    assert len({shown(seed) for seed in range(6)}) > 2
    pool = Pool(PAIRS, "file")
    one, other = (
        [Chooser(pool, 3, "seed", seed, way).of(["x"]) for seed in range(6)]
        for way in (MINI, MINI.reverse)
    )
    assert one != other


@pytest.mark.parametrize("part", ["train", "validation"])
def test_examples_come_from_the_pairs_of_training_and_else_of_validation(manners, part):
    for name, lines in (("a.txt", ("Go on.", "Sit.")), ("b.txt", ("Pray go on.", POLITE[0]))):
        write_lines(manners.parent / name, lines)
    pairs = f'{part} = {{ sources = "a.txt", references = "b.txt" }}'
    manners.write_text(replaced((FILES, f"{FILES}\n{pairs}")))
    load_data(manners)
    pool = load_pool(parse_direction("manners/rude-to-polite"))
    assert pool.origin == part
    assert [(e.source, e.target) for e in pool.pairs] == [
        ("Go on.", "Pray go on."),
        ("Sit.", POLITE[0]),
    ]


def test_beside_the_best_answer_is_its_own_raw_text_and_what_all_of_them_took():
    said = iter(["one .", "two words .", '"two words ."'])
    with serving(answer=lambda _: next(said)) as server:
        settings = {
            "model": "m",
            "base_url": server.url,
            "candidates": 3,
            "temperature": 1.0,
            "choose": "majority",
            "concurrency": 1,
        }
        (found,) = load_system("chat").transfer(
            ["x"], MINI, generation=Generation(settings=settings)
        )
        words = [len(body["messages"][-1]["content"].split()) for body in server.bodies]
    assert found == "two words ."
    assert found.aside["raw"] in ("two words .", '"two words ."')
    assert found.aside["candidates"].count("two words .") == 2
    assert found.aside["tokens"] == {"prompt_tokens": sum(words), "answer_tokens": 2 + 3 + 3}


def test_the_judge_does_not_look_at_case():
    judge = Judge(load_training(MINI))
    source, candidates = "the soup was cold .", ["the soup was warm .", "so good !"]
    usual = judge.scores(source, candidates)
    assert np.array_equal(judge.scores(source.upper(), candidates), usual)
    assert np.array_equal(judge.scores(source, [text.upper() for text in candidates]), usual)


def test_examples_by_seed_are_the_same_for_all_sentences_and_others_for_another_seed():
    pool = Pool(PAIRS, "file")
    first, second = Chooser(pool, 4, "seed", 0, MINI).of(["a", "b"])
    assert first == second
    assert len(set(first)) == 4
    assert [first] == Chooser(pool, 4, "seed", 0, MINI).of(["c"])
    others = [Chooser(pool, 4, "seed", seed, MINI).of(["a"])[0] for seed in range(1, 5)]
    assert any(other != first for other in others)
    with pytest.raises(InputError, match="11 examples are asked for, but there are 10"):
        Chooser(pool, 11, "seed", 0, MINI)


@pytest.mark.parametrize("by", ["bm25", "embedding"])
def test_the_nearest_examples_come_last_and_never_the_sentence_itself(by):
    pool = Pool(PAIRS, "file")
    shown = Chooser(pool, 3, by, 0, MINI).of(["that awful pool !", "THE  lamp was awful ."])
    assert [len(some) for some in shown] == [3, 3]
    assert shown[0][-1].source == "the pool was awful ."
    assert shown[1][-1].source == "the lamp was bad ."
    assert all(e.source != "the lamp was awful ." for e in shown[1])
