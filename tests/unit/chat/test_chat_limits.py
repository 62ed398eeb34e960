"""What asking a chat server costs, how long it waits, and what it gives away."""

import asyncio
import json
import random
import re
import threading
import time

import httpx
import openai
import pytest
from chat_server import KEY, error, serving

from tstbench.chat.answers import Answers, Call, Reply
from tstbench.chat.client import Client
from tstbench.chat.cost import Budget, estimate, estimated_tokens, price_of
from tstbench.chat.refusals import Passing, RefusedError, fatal, reply_of
from tstbench.chat.settings import Handling, ServerSettings
from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.errors import InputError, LimitError, ServerError
from tstbench.metrics.scorers.judge import judge_settings
from tstbench.trainers.load import load_system
from tstbench.trainers.prompted import ChatSettings, Plan
from tstbench.trainers.system import Generation

DIRECTION = "mini/negative-to-positive"
SENTENCES = [f"guest {i} was never told why" for i in range(12)]
EXPECTED = [text.replace("never", "always") for text in SENTENCES]
PRICED = "gpt-4-0125-preview"  # 10 and 30 dollars a million, half of it in a batch


def ask(server, sources=SENTENCES, **settings):
    given = {"model": "m", "base_url": server.url, **settings}
    generation = Generation(settings=given)
    return list(load_system("chat").transfer(sources, DIRECTION, generation=generation))


def cost_of(said):
    """Prompt tokens, answer tokens and dollars of the last report."""
    found = re.findall(r"([\d,]+) requests, ([\d,]+) \+ ([\d,]+) tokens, \$([\d.]+)", said)[-1]
    return tuple(float(part.replace(",", "")) for part in found)


# -- dollars ---------------------------------------------------------------------------------------


def test_the_report_says_what_was_paid(capsys):
    with serving(faults=0.3, fault="500") as server:
        assert ask(server, prices="1000,3000") == EXPECTED
    requests, prompts, answers, dollars = cost_of(capsys.readouterr().err)
    assert requests == len(server.bodies) > 12
    assert dollars == pytest.approx(prompts * 1e-3 + answers * 3e-3)


def test_a_batch_costs_half_and_what_failed_in_it_nothing(capsys):
    with serving() as server:
        assert ask(server, via="batch", model=PRICED) == EXPECTED
    requests, prompts, answers, dollars = cost_of(capsys.readouterr().err)
    assert requests == 13  # one of the batch was asked again
    assert dollars == pytest.approx((prompts * 5 + answers * 15) / 1e6, abs=5e-5)
    # With long answers what was set aside would be seen: it is given back.
    with serving() as server:
        ask(server, ["a", "b"], via="batch", prices="0,1000", max_tokens=1000)
    _, _, answers, dollars = cost_of(capsys.readouterr().err)
    assert dollars == pytest.approx(answers * 1e-3)


def test_an_estimate_counts_equal_requests_once_and_those_of_a_batch_at_half_price():
    settings = ServerSettings(model=PRICED, base_url="http://h/v1", max_tokens=50)
    calls = [
        Call({"model": PRICED, "messages": [{"role": "user", "content": text}]}, settings.url)
        for text in ("one two", "three", "one two", "four")
    ]
    Answers(settings.url, PRICED).put(calls[3].key, Reply("known"))
    alone = estimate(calls, settings, "4 sentences")
    assert [one.answered for one in alone.planned] == [False, False, False, True]
    tokens = alone.planned[0].prompt_tokens + alone.planned[1].prompt_tokens
    assert alone.summary.startswith("2 requests to http://h/v1 for 4 sentences, 2 more answered")
    assert f"{tokens} tokens of prompts" in alone.summary
    assert "at most 100 of answers" in alone.summary
    for batched, share in ((False, 1.0), (True, 0.5)):
        said = estimate(calls, settings, "4 sentences", batched=batched).summary
        least, most = tokens * 10e-6 * share, (tokens * 10 + 100 * 30) * 1e-6 * share
        assert f"${least:.4f} to ${most:.4f}" in said


def test_a_price_that_is_given_counts_for_prompt_and_answer_apart():
    given = price_of(PRICED, "2,7")
    assert (given.prompt, given.answer, given.source) == (2, 7, "as given")
    assert price_of("x", "0.5, 0").of(2_000_000, 9) == 1
    assert price_of("gpt-3.5-turbo-1106").of(1000, 200) == pytest.approx(0.0014)
    known = price_of(PRICED)
    assert "2024" in known.source
    half = price_of(PRICED, batch=True)
    assert (half.prompt, half.answer) == (known.prompt / 2, known.answer / 2) == (5, 15)
    for wrong in ("1,2,3", "1,-2", "nan,1", "1,inf", "a,b"):
        with pytest.raises(InputError, match="give two numbers"):
            price_of("m", wrong)


def test_tokens_are_estimated_by_hand():
    """A word of six letters, of seven, three digits, four, a mark; nine bytes of three signs."""
    texts = ("abcdef", "abcdefg", "123", "1234", "!", "日本語")
    assert [estimated_tokens(text) for text in texts] == [1, 2, 1, 2, 1, 5]


@pytest.mark.parametrize(
    ("message", "usage", "reply"),
    [
        ({"content": "x"}, {"prompt_tokens": 3, "completion_tokens": 0}, Reply("x", "stop", 3)),
        ({"content": "x", "refusal": "no"}, {"prompt_tokens": -1}, Reply("x", "stop")),
        ({"content": None, "refusal": "no"}, None, Reply("no", "refusal")),
        ({"content": None}, {"completion_tokens": 2}, Reply("", "stop", 0, 2)),
    ],
)
def test_what_is_read_of_an_answer(message, usage, reply):
    assert reply_of({"choices": [{"message": message}], "usage": usage}, "http://h") == reply


def test_an_answer_whose_tokens_nobody_counted_costs_what_was_set_aside():
    budget = Budget("m", price_of("m", "0,1000"))
    most = budget.most(5, 20)
    budget.reserve(most)
    budget.settle(most, Reply("x", prompt_tokens=0, completion_tokens=0))
    assert budget.spent == pytest.approx(0.02)
    budget.reserve(most)
    budget.settle(most, Reply("x", prompt_tokens=4, completion_tokens=3))
    budget.reserve(most)
    budget.settle(most, Reply("x", prompt_tokens=4, completion_tokens=0))  # an empty answer
    assert budget.spent == pytest.approx(0.023)
    assert (budget.prompt_tokens, budget.answer_tokens, budget.requests) == (8, 3, 3)


def test_what_a_batch_may_still_ask_is_what_is_left():
    budget = Budget("m", price_of("m", "0,1000"), max_requests=3, max_cost=0.05)
    budget.reserve(budget.most(1, 10))
    with pytest.raises(LimitError, match="after 1 requests, before 3 more: --max-requests is 3"):
        budget.reserve(3 * budget.most(1, 1), 3)
    with pytest.raises(LimitError, match=r"could cost \$0\.0420: --max-cost is 0\.05"):
        budget.reserve(2 * budget.most(1, 21), 2)
    budget.reserve(2 * budget.most(1, 20), 2)


# -- waiting ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "-7"}, 0.0),
        # A date is compared with the server's own clock.
        (
            {
                "retry-after": "Wed, 21 Oct 2015 07:28:30 GMT",
                "date": "Wed, 21 Oct 2015 07:28:00 GMT",
            },
            30.0,
        ),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT"}, 0.0),  # long ago
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_how_long_a_server_wants_us_to_wait(headers, seconds, status):
    response = httpx.Response(status, headers=headers, request=httpx.Request("POST", "http://h"))
    failure = openai.APIStatusError("slow", response=response, body=None)
    found = fatal(failure, ServerSettings(model="m", base_url="http://h/v1"), "a", has_key=True)
    assert isinstance(found, Passing)
    assert found.retry_after == seconds
    assert (found.is_limit, found.is_free) == (status == 429, True)


def test_a_judge_without_a_chat_template_may_be_asked_as_a_completion_model():
    response = httpx.Response(500, request=httpx.Request("POST", "http://h"))
    body = {"message": "tokenizer.chat_template is not set"}
    failure = openai.APIStatusError("x", response=response, body=body)
    found = fatal(failure, judge_settings("m@http://h/v1", Handling()), "a", has_key=True)
    assert isinstance(found, RefusedError)
    assert "no chat template" in str(found)
    assert "completions:MODEL@URL" in str(found)


def test_a_wait_of_an_hour_is_told_and_not_waited():
    slow = (429, error("slow down", "rate_limit_exceeded"), {"Retry-After": "3600"})
    with serving(error=slow) as server:
        began = time.monotonic()
        with pytest.raises(ServerError, match="asks to wait 3600 seconds: try again then"):
            ask(server, ["x"], concurrency=1)
        assert time.monotonic() - began < 60
        assert len(server.bodies) == 1


def test_nobody_asks_while_the_server_wants_everybody_to_wait():
    with serving(fault="429") as server:
        server.faults = 0.0
        answered = []
        server.fault = lambda text: (
            "429" if "guest 0 " in text and server.times[text] == 1 else None
        )
        fail = server.fail

        async def failed(*given):
            answered.append(("limit", time.monotonic()))
            return await fail(*given)

        def answer(asked):
            answered.append((asked["messages"][-1]["content"], time.monotonic()))
            return "x"

        server.fail, server.answer = failed, answer
        ask(server, SENTENCES[:3], concurrency=1, clean="none")
    (first, began), *others = answered
    assert first == "limit"
    assert len(others) == 3
    assert min(at for _, at in others) - began >= 0.1  # Retry-After, also for who was not refused


# -- many at a time --------------------------------------------------------------------------------


@pytest.fixture
def many(monkeypatch):
    """A client of 100 calls whose server answers each after a moment; what was begun and ended."""
    settings = ServerSettings(model="m", base_url="http://h/v1", concurrency=8)
    calls = [Call({"messages": [{"content": f"{n}"}]}, settings.url) for n in range(100)]
    client, begun, ended = Client(settings, calls), [], []

    async def post(call, of):
        begun.append(of)
        try:
            await asyncio.sleep(0.02)
            if of in client.later:
                return Passing("a limit", retry_after=100)
            if of in client.refused:
                begun.append("refused")
                raise RefusedError(of)
            await asyncio.sleep(0 if of == "0" else client.latency)
        finally:
            ended.append(of)
        return Reply(of)

    client.refused, client.later, client.latency = (), (), 0.02
    monkeypatch.setattr(client, "_post", post)
    some = client.replies([[call] for call in calls], [f"{n}" for n in range(100)])
    return client, calls, some, begun, ended


def test_replies_come_in_order_and_overlap(many):
    *_, some, _, _ = many
    began = time.monotonic()
    assert [reply.text for (reply,) in some] == [f"{n}" for n in range(100)]
    assert time.monotonic() - began < 2  # 4 s one by one


def test_after_a_failure_nothing_new_is_sent_and_what_is_under_way_is_kept(many):
    client, calls, some, begun, _ = many
    client.refused, got = ("3",), []
    with pytest.raises(RefusedError, match="3"):
        got.extend(some)  # keeps what came before the error
    assert [reply.text for (reply,) in got] == ["0", "1", "2"]
    assert begun[-1] == "refused"
    assert {*map(str, range(8))} <= {*begun} <= {*map(str, range(12)), "refused"}
    kept = Answers("http://h/v1", "m")
    answered = {f"{n}" for n, call in enumerate(calls) if kept.get(call.key) is not None}
    assert answered == {*begun} - {"3", "refused"}


def test_a_failure_is_told_although_others_wait_for_the_server(many):
    client, _, some, begun, _ = many
    client.later, client.refused = ("1", "2"), ("3",)
    began = time.monotonic()
    with pytest.raises(RefusedError, match="3"):
        list(some)
    assert time.monotonic() - began < 60, "they would have waited for 100 s"
    assert begun.count("1") == begun.count("2") == 1, "and sent no more"


def test_a_caller_that_stops_leaves_nothing_running(many):
    client, _, some, begun, ended = many
    client.latency = 60
    assert next(some)[0].text == "0"
    some.close()
    assert sorted(begun) == sorted(ended)
    assert len(begun) == 9
    assert not [one for one in threading.enumerate() if one.name == "requests"]


# -- what is given away ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *(({"extra": json.dumps({name: 1})}, f"'{name}' cannot be given there")
          for name in ("model", "messages", "seed", "stream", "n")),
        *(({"base_url": f"http://{url}"}, "base-url holds a user name")
          for url in ("h/v1?key=secret", "me@h/v1", "h/v1#secret", "h/sk-secret-0123456789abc/v1",
                      f"h/{KEY}/v1", f"h/%{ord(KEY[0]):x}{KEY[1:]}/v1")),
        *(({"extra": json.dumps(extra)}, "extra holds a key")
          for extra in ({"api_key": "secret"}, {"headers": {"Authorization": "secret"}},
                        {"user": KEY}, {"user": "hf_secret0123456789abcd"})),
        ({"model": KEY}, "model is a key"),
        ({"extra": '{"api_key": "secret"'}, "extra holds a key"),
        ({"base_url": "ftp://h/v1"}, "is not the address of a server"),
        ({"base_url": "http:///v1"}, "is not the address of a server"),
    ],
)  # fmt: skip
def test_what_may_not_be_sent_or_written_into_cards_is_refused(settings, message, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(InputError, match=message) as told:
        Plan.of(ChatSettings(**{"model": "m", **settings}), parse_direction(DIRECTION))
    assert "secret" not in str(told.value)
    assert KEY not in str(told.value)


def test_parameters_are_those_that_were_asked_for():
    usual = ServerSettings(model="m", temperature=0.5, top_p=0.25, max_tokens=7)
    assert usual.parameters == {"model": "m", "temperature": 0.5, "top_p": 0.25, "max_tokens": 7}
    assert usual.longest_answer(usual.parameters) == 7
    assert usual.sends_seed
    given = ServerSettings(
        model="m", omit="max_tokens, seed", extra='{"max_completion_tokens": 300, "a": [1]}',
        temperature=1.0,
    )  # fmt: skip
    assert given.parameters == {
        "model": "m", "temperature": 1.0, "top_p": 1.0, "max_completion_tokens": 300, "a": [1],
    }  # fmt: skip
    assert given.longest_answer(given.parameters) == 300  # what a budget sets aside
    assert not given.sends_seed
    assert not ServerSettings(model="m", temperature=0.0).sends_seed


def test_everything_that_can_change_an_answer_identifies_it(tmp_path, monkeypatch):
    def identity(**settings):
        asked = ChatSettings(**{"model": "m", "base_url": "http://h/v1", **settings})
        return Plan.of(asked, parse_direction(DIRECTION)).identity

    hot = {"temperature": 0.5, "candidates": 2}
    prompts, examples = tmp_path / "own.toml", tmp_path / "examples.jsonl"
    rows = [{"source": f"bad {i}", "target": f"good {i}"} for i in range(3)]
    prompts.write_text('name = "own"\ngeneral = "Do it:"\n')
    examples.write_text("".join(json.dumps(row) + "\n" for row in rows))
    own = {"prompts": str(prompts), "examples": 2, "examples_file": str(examples)}
    before = [
        identity(),
        identity(model="n"),
        identity(base_url="http://i/v1"),
        identity(max_tokens=7),
        identity(prompts="contrast-v1"),
        identity(clean="none"),
        identity(extra='{"a": 1}'),
        identity(omit="top_p"),
        identity(top_p=0.5),
        identity(temperature=0.5),
        identity(**hot),
        identity(**hot, choose="majority"),
        identity(examples=2),
        identity(examples=2, examples_by="bm25"),
        identity(**own),
    ]
    assert len({json.dumps(one, sort_keys=True) for one in before}) == len(before)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere/v1")
    assert identity(base_url=None) not in before
    for same in (
        {"choose": "majority"},  # there is nothing to choose from
        {"examples_by": "bm25"},
        {"concurrency": 3, "timeout": 1.0, "retries": 0, "via": "batch", "key_variable": "X"},
        {"max_requests": 1, "max_cost": 1.0},
    ):
        assert identity(**same) == before[0], same
    examples.write_text("".join(json.dumps(row) + "\n" for row in reversed(rows)))
    assert identity(**own) != before[-1]
    examples.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert identity(**own) == before[-1]
    prompts.write_text('name = "own"\ngeneral = "Do this:"\n')  # the same name
    assert identity(**own) != before[-1]


def test_answers_of_models_and_servers_are_files_of_their_own():
    pairs = [("http://h/v1", "m"), ("http://h/v1", "n"), ("http://i/v1", "m")]
    kept = [Answers(*pair) for pair in pairs]
    assert len({one.path for one in kept}) == 3
    draw = random.Random(0)
    for one in kept:
        one.put("key", Reply(f"{draw.random()}"))
    assert len({Answers(*pair).get("key").text for pair in pairs}) == 3
    for pair, one in zip(pairs, kept, strict=True):
        first = json.loads(one.path.read_text().splitlines()[0])
        assert (first["server"], first["model"]) == pair
