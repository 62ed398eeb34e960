"""The parts of prompted systems: prompts, examples, cleaning, costs, answers on disk, waiting."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from chat_server import serving
from own_data import FILES, POLITE, replaced, write_lines

from tstbench.chat.answers import Answers, Call, Reply
from tstbench.chat.connection import api_key
from tstbench.chat.cost import counter
from tstbench.datasets_scripts.catalog import BENCHMARK_DATASETS, load_data, parse_direction
from tstbench.datasets_scripts.directions import Direction
from tstbench.datasets_scripts.load import load_test_set, load_training
from tstbench.errors import InputError, MissingFileError, UnknownNameError
from tstbench.trainers.load import load_system
from tstbench.trainers.prompted import ChatSettings, Judge, Plan, majority
from tstbench.trainers.prompting.cleaning import RULES, Context, clean, rule_names
from tstbench.trainers.prompting.few_shot import Chooser, Pool, load_pool
from tstbench.trainers.prompting.prompts import Example, load_prompts, prompt_names
from tstbench.trainers.system import Generation, Request, Task

YELP = Direction("yelp", "negative", "positive")
MINI = parse_direction("mini/negative-to-positive")


def task(direction=MINI, seed=0, **settings):
    return Task(direction, seed, ChatSettings(**{"model": "m", **settings}), "cpu")


def bodies(task, *requests):
    plan = Plan.of(task.settings, task.direction)
    return [[call.body for call in some] for some in plan.calls(requests, task)]


# Prompts


def test_every_direction_of_the_benchmark_has_an_instruction_of_its_own():
    own = load_prompts()
    for facts in BENCHMARK_DATASETS.values():
        for direction in facts.directions:
            said = own.instruction(direction)
            assert said.endswith(":")
            assert "whose style is" not in said  # the general one
    back = own.instruction(YELP.reverse)
    assert own.instruction(YELP) != back
    assert "style is rude" in own.instruction(Direction("manners", "rude", "polite"))


def test_the_published_message_is_the_instruction_and_the_sentence_at_once():
    own = load_prompts()
    said = own.instruction(YELP)
    assert own.messages(YELP, " so bad . ") == [{"role": "user", "content": f"{said}so bad ."}]


def test_braces_in_a_sentence_are_no_slots():
    shown = [Example("{target}", "{sentence}")]
    for name in prompt_names():
        text = load_prompts(name).message(YELP, "{instruction} {examples} {x}", shown)
        assert text.count("{instruction} {examples} {x}") == 1
        assert text.count("{target}") == text.count("{sentence}") == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('zero_shot = "{instruction}"', r"zero_shot has no slot \{sentence\}"),
        ('zero_shot = "{sentence}{sentence}"', r"zero_shot has 2 slots \{sentence\}"),
        ('few_shot = "{sentence}"', r"few_shot has no slot \{examples\}"),
        ('example = "{source}"', r"example has no slot \{target\}"),
        ('zero_shot = "{sentence} {sentense}"', r"slot \{sentense\}, which is not known"),
        ('general = "{sentence}"', r"general has the slot \{sentence\}"),
        (
            'general = "x"\n[instructions]\n"a/b-to-c" = "say {sentence}"',
            r"instruction of a/b-to-c has the slot \{sentence\}",
        ),
        ('zero_short = "{sentence}"', "zero_short: Extra inputs"),
        ("zero_shot = ", "not TOML"),
    ],
)
def test_a_prompt_file_that_cannot_be_used_says_why(line, message, tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(f'name = "own"\n{line}\n')
    with pytest.raises(InputError, match=message):
        load_prompts(path)


def test_own_prompts(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(
        'name = "own"\nsystem = "Be brief."\nzero_shot = "{instruction}|{sentence}"\n'
        '[instructions]\n"mini/negative-to-positive" = "From {source_style} to {target_style}"\n'
    )
    own = load_prompts(path)
    assert own.messages(MINI, "x")[0] == {"role": "system", "content": "Be brief."}
    assert own.message(MINI, "x") == "From negative to positive|x"
    with pytest.raises(InputError, match="has no instruction for yelp/negative-to-positive"):
        own.instruction(YELP)
    before = own.sha256
    path.write_text(path.read_text() + "# another text\n")
    assert load_prompts(path).sha256 != before
    with pytest.raises(MissingFileError):
        load_prompts(tmp_path / "other.toml")
    with pytest.raises(UnknownNameError, match="Did you mean 'tstbench-v1'"):
        load_prompts("tstbench-v2")


# Examples


def write_pairs(path, *pairs):
    rows = [{"source": source, "target": target} for source, target in pairs]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_ours_serve_where_nobody_has_pairs_and_are_turned_for_the_other_direction():
    pool, back = load_pool(MINI), load_pool(MINI.reverse)
    assert pool.origin == "sentiment-v1"
    assert len(pool.pairs) == 8
    assert {(p.source, p.target) for p in pool.pairs} == {(p.target, p.source) for p in back.pairs}


def test_a_test_sentence_or_its_rewrite_is_no_example(tmp_path):
    test = load_test_set(MINI)
    for pair in (("bad", test.references[0][0].upper()), (test.sources[3], "good")):
        file = write_pairs(tmp_path / "pairs.jsonl", ("fine", "finer"), pair)
        with pytest.raises(InputError, match=r"pairs\.jsonl, line 2: .* is in mini's test split"):
            load_pool(MINI, file)


@pytest.mark.parametrize("line", ["{", '{"source": "a"}', '{"source": "a", "target": " "}', "[1]"])
def test_an_example_that_is_none(line, tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"source": "a", "target": "b"}\n' + line + "\n")
    with pytest.raises(InputError, match="line 2: not an example"):
        load_pool(MINI, str(path))


def test_examples_are_in_the_request(tmp_path):
    file = write_pairs(tmp_path / "p.jsonl", ("it was bad", "it was good"), ("so dull", "so fun"))
    asked = task(examples=2, examples_file=file)
    text = bodies(asked, Request("1", "grim ."))[0][0]["messages"][0]["content"]
    assert "Input: it was bad\nOutput: it was good\n\n" in text
    assert text.endswith("Input: grim .\nOutput:")
    assert "p.jsonl" not in json.dumps(Plan.of(asked.settings, MINI).identity)  # but what it holds


# The plan


def test_a_sample_depends_on_seed_and_id_alone():
    one, two = Request("a", "x ."), Request("b", "y .")
    hot = task(temperature=1.0, candidates=2, seed=3)
    (first, second), other = bodies(hot, one, two)
    assert first["seed"] != second["seed"]
    assert bodies(hot, two, one) == [other, [first, second]]
    assert bodies(task(temperature=1.0, candidates=2, seed=4), one)[0][0]["seed"] != first["seed"]
    assert "seed" not in bodies(task(), one)[0][0]
    quiet = task(temperature=1.0, omit="seed,top_p")
    plan = Plan.of(quiet.settings, MINI)
    ((call,), (twin,)) = plan.calls([one, Request("c", "x .")], quiet)
    assert call.body == twin.body
    assert "top_p" not in call.body
    assert call.key != twin.key  # two samples, although the server cannot be told


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": ""}, "which model"),
        ({"candidates": 2}, "at --temperature 0 they would all be the same"),
        ({"omit": "model"}, "--omit model: only temperature, top_p, max_tokens, seed"),
        ({"extra": "{"}, "--extra: not JSON"),
        ({"extra": "[]"}, "write a JSON object"),
        ({"base_url": "localhost:8000"}, "is not the address of a server"),
        ({"key_variable": "sk-secret"}, "takes the name of an environment variable"),
        ({"key_variable": ""}, "takes the name of an environment variable"),
        ({"prompts": "negation-v1,negation-v1"}, "each once"),
        ({"examples_file": "x"}, "say how many to show"),
        ({"clean": "quotes"}, "Did you mean 'quotes-v2'"),
    ],
)
def test_settings_that_cannot_be_used(settings, message):
    asked = task(**settings).settings
    with pytest.raises((InputError, UnknownNameError), match=message) as found:
        api_key(Plan.of(asked, MINI) and asked)
    assert "secret" not in str(found.value)


# Cleaning

NEGATIVE = Context("the food was never good .", ("negative", "positive"))


@pytest.mark.parametrize(
    ("raw", "text", "rules"),
    [
        ("the food was always good .", "the food was always good .", []),
        (' "The food was good." ', "The food was good.", ["quotes-v2"]),
        ("Sure, here is it:\n\nThe food was good.", "The food was good.", ["preface-v1"]),
        ("Certainly! The food was good.", "The food was good.", ["preface-v1"]),
        ("Here's a positive version: 'So good.'", "So good.", ["preface-v1", "quotes-v2"]),
        ("Output: so good .", "so good .", ["label-v3"]),
        ("**Positive sentence:** so good .", "so good .", ["label-v3"]),
        ("So good.\n\nI kept the rest.", "So good.", ["first-line-v3"]),
        ("I'm sorry, but I can't assist with that request.", "", ["refusal-v2"]),
        ("As an AI language model, I do not eat.", "", ["refusal-v2"]),
        ("I can't recommend this place enough!", "I can't recommend this place enough!", []),
        ("Sure, the food was", "Sure, the food was", []),
        ("Great, friendly service.", "Great, friendly service.", []),
        ("Sure, here you go: so good .", "so good .", ["preface-v1"]),
        ("The rewritten sentence is: the food was good.", "the food was good.", ["preface-v1"]),
        ("<think>turn it\nround</think>\n\nSo good.", "So good.", ["thinking-v1"]),
        ("I'm sorry, but I'm unable to translate the sentence.", "", ["refusal-v2"]),  # SmolLM2
        ("I apologize, but I cannot fulfill this request.", "", ["refusal-v2"]),
        ("Unfortunately, I can't assist with that.", "", ["refusal-v2"]),
        ("I can't help but love this place.", "I can't help but love this place.", []),
        ("I won't complete my order here.", "I won't complete my order here.", []),
        ("", "", []),
        ("```\nSo good.\n```", "So good.", ["fence-v1"]),
        (
            "Sure, here it is:\n\n```text\n'So good.'\n```\nOk?",
            "So good.",
            ["fence-v1", "quotes-v2"],
        ),
        ("```So good.```", "So good.", ["fence-v1"]),
        ("```\nSo good, but", "So good, but", ["fence-v1"]),  # cut off
        ("So\u2028good\x85and cheap.", "So\u2028good\x85and cheap.", []),
        ("A kinder way to say it:\n\nSo good.\n\nDone.", "So good.", ["first-line-v3"]),
        ("A positive version of the negative sentence: So good.", "So good.", ["label-v3"]),
        ("The positive version of your sentence is: So good.", "So good.", ["label-v3"]),
        ("The text of the menu: So good.", "The text of the menu: So good.", []),
        ("The result: so good.", "The result: so good.", []),
        ("Answer is: so good.", "Answer is: so good.", []),
        ("So good.\u2028\nNote: one word.", "So good.", ["first-line-v3"]),
        ("'It's good.'", "It's good.", ["quotes-v2"]),
        ("‘It’s good.’", "It’s good.", ["quotes-v2"]),
        ("'good' and 'cheap'", "'good' and 'cheap'", []),
        ("„So gut.”", "So gut.", ["quotes-v2"]),
        ("‚So gut.‘", "So gut.", ["quotes-v2"]),
        ("»So gut.«", "So gut.", ["quotes-v2"]),
        ("「とても良い。」", "とても良い。", ["quotes-v2"]),
        ("Positive version: so good .", "so good .", ["label-v3"]),
        ("Rewritten version: so good .", "so good .", ["label-v3"]),
        ("1. So good.\n2. Very good.", "So good.", ["first-line-v3", "number-v1"]),
        ('Output: (1) "So good."', "So good.", ["label-v3", "number-v1", "quotes-v2"]),
        ("5 stars. 1.5 hours well spent.", "5 stars. 1.5 hours well spent.", []),
    ],
)
def test_cleaning(raw, text, rules):
    cleaned = clean(raw, tuple(RULES), NEGATIVE)
    assert (cleaned.text, list(cleaned.rules)) == (text, rules)
    assert clean(raw, (), NEGATIVE).text == raw.strip()


def test_what_the_source_has_too_stays():
    for text in ('"so it is ."', "sure , i will not come .", "text: i was late .", "1. so it is ."):
        assert clean(text, tuple(RULES), Context(text)).text == text
    colon = "I suggest this:\n\nNote: it is formal."
    assert clean(colon, tuple(RULES), Context("do this :")).text == "I suggest this:"
    refusal = "i'm sorry , but i can't help you ."
    assert clean(refusal, tuple(RULES), Context("i'm sorry , but i can't help .")).text == refusal


def test_rules_are_applied_in_one_order():
    assert rule_names(["quotes-v2", "refusal-v2"]) == ("refusal-v2", "quotes-v2")
    assert rule_names(["none"]) == ()


# Costs


def test_tokens_of_a_message():
    assert counter("m").prompt([{"role": "user", "content": "so good ."}]) == 3 + 4 + 3


# Answers on disk


def test_answers_outlive_a_line_that_was_cut_off_and_are_seen_by_another_process():
    here, there = Answers("http://h/v1", "m"), Answers("http://h/v1", "m")
    here.put("a", Reply("one\n", prompt_tokens=3))
    assert there.get("a") == Reply("one\n", prompt_tokens=3)
    with here.path.open("ab") as stream:
        stream.write(b'{"key": "e", "text": 5}\n{"key": ["f"], "text": "x"}\n')  # no answers
        stream.write(b'{"key": "b", "text": "tw')  # kill -9
    here.put("c", Reply("three"))
    here.put("d", Reply("four"))
    fresh = Answers("http://h/v1", "m")
    texts = ["one\n", None, "three", "four", None, None]
    assert [fresh.get(key) and fresh.get(key).text for key in "abcdef"] == texts
    assert there.get("d").text == "four"


def test_an_answer_is_on_the_disk_before_it_is_used(monkeypatch):
    synced, real = [], os.fsync

    def sync(handle):
        real(handle)
        synced.append(os.fstat(handle).st_size)

    monkeypatch.setattr(os, "fsync", sync)
    kept = Answers("u", "m")
    for number in range(3):
        kept.put(str(number), Reply("x" * number))
        assert len(synced) == number + 1
        assert synced[-1] == kept.path.stat().st_size


def test_two_processes_write_one_file(tmp_path):
    script = (
        "import sys\nfrom tstbench.chat.answers import *\n"
        "for n in range(200): Answers('u', 'm').put(f'{sys.argv[1]}{n}', Reply('x' * 5000))\n"
    )
    command = [sys.executable, "-c", script]
    both = [subprocess.Popen([*command, name], env=dict(os.environ)) for name in "ab"]
    assert [one.wait() for one in both] == [0, 0]
    kept = Answers("u", "m")
    assert all(kept.get(f"{name}{n}") for name in "ab" for n in range(200))


def test_the_key_of_an_answer_covers_what_can_change_it():
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "temperature": 0.0}
    keys = {
        Call(body, "u").key,
        Call(body, "v").key,
        Call(body, "u", 1).key,
        Call({**body, "temperature": 0.1}, "u").key,
        Call({**body, "model": "n"}, "u").key,
        Call({**body, "messages": [{"role": "user", "content": "y"}]}, "u").key,
    }
    assert len(keys) == 6
    assert Call(dict(reversed(body.items())), "u").key in keys


# Choosing


def test_the_judge_wants_style_content_and_fluency_in_any_case():
    judge = Judge(load_training(MINI))
    source = "the soup was cold and the waiter was rude ."
    candidates = [
        source,
        "the soup was warm and the waiter was friendly .",
        "i love this wonderful hairdresser !",
        "",
    ]
    scores = judge.scores(source, candidates)
    assert judge.best(source, candidates) == 1
    assert scores[3] == 0
    assert ((scores >= 0) & (scores <= 1)).all()
    assert np.array_equal(judge.scores(source.upper(), candidates), scores)
    assert np.array_equal(judge.scores(source, [text.upper() for text in candidates]), scores)
    assert majority(["a .", "b .", "B  ."]) == 1


# -- which examples are shown, and which answer is taken -------------------------------------------


PAIRS = tuple(
    Example(f"the {thing} was {word} .", f"the {thing} was great .")
    for thing in ("soup", "waiter", "room", "pool", "lamp")
    for word in ("bad", "awful")
)


def test_examples_by_seed_are_those_of_the_seed_and_the_direction_for_all_sentences():
    pool = Pool(PAIRS, "file")
    first, second = Chooser(pool, 4, "seed", 0, MINI).of(["a", "b"])
    assert first == second
    assert len(set(first)) == 4
    one, other = (
        [Chooser(pool, 4, "seed", seed, way).of(["c"])[0] for seed in range(6)]
        for way in (MINI, MINI.reverse)
    )
    assert first == one[0]
    assert len({*map(tuple, one)}) > 2
    assert one != other
    hot = [task(seed=seed, examples=3) for seed in (0, 0, 1)]
    same, again, another = (bodies(some, Request("a", "x")) for some in hot)  # of the transfer
    assert same == again != another
    with pytest.raises(InputError, match="11 examples are asked for, but there are 10"):
        Chooser(pool, 11, "seed", 0, MINI)


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


@pytest.mark.parametrize("by", ["bm25", "embedding"])
def test_the_nearest_examples_come_last_and_never_the_sentence_itself(by):
    pool = Pool(PAIRS, "file")
    shown = Chooser(pool, 3, by, 0, MINI).of(["that awful pool !", "THE  lamp was awful ."])
    assert [len(some) for some in shown] == [3, 3]
    assert shown[0][-1].source == "the pool was awful ."
    assert shown[1][-1].source == "the lamp was bad ."
    assert all(e.source != "the lamp was awful ." for e in shown[1])
    twice = (Example("a .", "b ."), Example("a .", "c ."), Example("d .", "e ."))
    (shown,) = Chooser(Pool(twice, "file"), 3, by, 0, MINI).of(["a ."])
    assert [e.source for e in shown] == ["d ."]
