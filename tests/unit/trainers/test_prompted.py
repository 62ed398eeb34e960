"""Prompted systems against a server that fails: nothing lost, nothing asked twice, order kept."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from answering import answering
from chat_server import FAULTS, KEY, error, serving
from own_data import write_lines
from prepared import command_line, prepared_home, refusal, success

from tstbench.errors import LimitError, ServerError
from tstbench.files import home
from tstbench.pipelines.predictions import read_card
from tstbench.trainers.load import load_system
from tstbench.trainers.system import Generation

DIRECTION = "mini/negative-to-positive"
SENTENCES = [f"guest {i} was never told why" for i in range(500)]
EXPECTED = [text.replace("never", "always") for text in SENTENCES]
MANY = """\
name = "many"
styles = ["rude", "polite"]

[[direction]]
from = "rude"
to = "polite"
test = "test.txt"
"""


@pytest.fixture
def many(tmp_path):
    """500 sentences to rewrite."""
    write_lines(tmp_path / "test.txt", SENTENCES)
    (tmp_path / "many.toml").write_text(MANY)
    return tmp_path / "many.toml"


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def ask(server, sources=SENTENCES, name="chat", seed=0, **settings):
    given = {"model": "m", "base_url": server.url, **settings}
    generation = Generation(seed=seed, settings=given)
    return list(load_system(name).transfer(sources, DIRECTION, generation=generation))


def files_below(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.slow
def test_500_sentences_through_every_fault():
    with serving(faults=0.2, late=60) as server:
        assert ask(server, timeout=4.0, concurrency=32) == EXPECTED
    assert set(server.injected) == set(FAULTS)
    assert sum(server.injected.values()) > 80
    assert set(server.answered.values()) == {1}  # nothing is asked again that was answered
    assert len(server.answered) == 500
    assert server.most_at_once <= 32 + server.injected["late"]  # whom nobody waits for any more
    assert ask(server) == EXPECTED  # the server is gone: all of it is on disk


@pytest.mark.slow
def test_a_server_that_allows_few_requests_a_second():
    with serving(rate=20) as server:
        assert ask(server, SENTENCES[:60], retries=3) == EXPECTED[:60]
    assert max(server.times.values()) > 4  # more than the retries: those were no failures
    assert set(server.answered.values()) == {1}
    with serving(error=(429, error("slow", "rate_limit_exceeded"))) as server:
        with pytest.raises(ServerError, match=r"429: slow \(2 attempts\)"):
            ask(server, ["x"], retries=1)
        assert len(server.bodies) == 2


@pytest.mark.slow
def test_the_same_file_after_kill_9(many, tmp_path, tstbench_home):
    def command(out):
        how = ["--model", "m", "--base-url", server.url, "--timeout", "4", "--concurrency", "8"]
        way = ["--direction", "many/rude-to-polite", "--data", str(many)]
        return [sys.executable, "-m", "tstbench", "transfer", "chat", *how, *way, "--out", str(out)]

    with serving(faults=0.05, late=60, latency=0.02) as server:
        out = tmp_path / "a.jsonl"
        begun = subprocess.Popen(command(out), env=dict(os.environ), stderr=subprocess.PIPE)
        while len(server.answered) < 100:
            assert begun.poll() is None, begun.stderr.read().decode()
            time.sleep(0.01)
        begun.send_signal(signal.SIGKILL)
        begun.wait()
        kept = out.read_bytes().count(b"\n") if out.exists() else 0
        assert kept < 500
        again = subprocess.run(command(out), capture_output=True, text=True)
        assert again.returncode == 0, again.stderr
        assert [row["prediction"] for row in rows(out)] == EXPECTED
        twice = [text for text, times in server.answered.items() if times > 1]
        assert len(twice) <= 8  # those that were under way when it was killed
        # A run that nobody killed, with other answers on disk, writes the same bytes.
        asked = sum(server.times.values())
        os.environ["TSTBENCH_HOME"] = str(tmp_path / "other")
        whole = tmp_path / "b.jsonl"
        try:
            done = subprocess.run(command(whole), capture_output=True, text=True)
        finally:
            os.environ["TSTBENCH_HOME"] = str(tstbench_home)
        assert done.returncode == 0, done.stderr
        assert sum(server.times.values()) >= asked + 500
    assert whole.read_bytes() == out.read_bytes()
    card, other = (tmp_path / f"{name}.card.json" for name in "ab")
    assert card.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("name", ["chatgpt", "chatgpt-fs", "gpt4", "gpt4-fs"])
def test_by_name_from_the_command_line(name, tmp_path, tmp_path_factory, monkeypatch, capsys):
    monkeypatch.setenv("TSTBENCH_HOME", str(prepared_home(tmp_path_factory)))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    with serving(key=KEY) as server:
        transfer = ("transfer", name, "--base-url", server.url, "--direction", DIRECTION)
        out, err = success(capsys, *transfer)
    assert out == ""
    model = "gpt-3.5-turbo-1106" if name.startswith("chatgpt") else "gpt-4-0125-preview"
    published = {"temperature": 0, "top_p": 1, "max_tokens": 100, "model": model}
    assert all({**body, **published} == body for body in server.bodies)
    assert all(len(body["messages"]) == 1 for body in server.bodies)
    shown = [body["messages"][0]["content"].count("Output:") for body in server.bodies]
    assert set(shown) == ({5} if name.endswith("-fs") else {0})
    path = Path("predictions", "mini", "negative-to-positive", f"{name}.jsonl")
    card = read_card(path)
    assert card.question.system == card.about.name == name
    assert card.about.family == "prompted"
    assert card.counts["quotes-v2"] == card.counts["preface-v1"] == 40
    assert card.counts["prompt_tokens"] > 400
    assert rows(path)[0]["raw"].startswith("Sure, here is the rewritten sentence:\n\n")
    assert KEY not in card.model_dump_json() + path.read_text() + err
    how = ("--direction", DIRECTION, "--metrics", "acc", "s_bleu", "--out", "results")
    shown, _ = success(capsys, "evaluate", path, *how)
    assert name in shown
    assert not any(KEY in file.read_text(errors="replace") for file in files_below(home()))
    server.key = "another"  # a finished file needs neither key nor server
    monkeypatch.delenv("OPENAI_API_KEY")
    assert command_line(capsys, *transfer)[0] == 0


def test_another_model_is_in_the_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with serving() as server:
        for system, name in (("chat", "chat-org-m"), ("chatgpt", "chatgpt-org-m")):
            how = ("--model", "org/m", "--base-url", server.url, "--direction", DIRECTION)
            assert command_line(capsys, "transfer", system, *how)[0] == 0
            path = Path("predictions/mini/negative-to-positive", f"{name}.jsonl")
            assert read_card(path).about.name == name


def test_equal_sentences_are_asked_once_unless_they_are_sampled():
    with serving() as server:
        assert ask(server, ["never ."] * 20) == ["always ."] * 20
        assert sum(server.times.values()) == 1
        ask(server, ["never again ."] * 5 + ["so ."], temperature=1.0)
        assert sum(server.times.values()) == 3  # without ids, a sentence is its own


def test_the_order_of_sentences_and_the_concurrency_do_not_matter():
    def answer(body):
        return f"{body['seed']} {body['messages'][-1]['content'][-12:]}"

    some = SENTENCES[:20]
    with serving(answer=answer) as server:
        hot = {"temperature": 0.7, "clean": "none"}
        first = ask(server, some, concurrency=1, **hot)
        home().joinpath("answers").rename(home() / "away")
        assert ask(server, some[::-1], concurrency=16, **hot) == first[::-1]
        assert ask(server, some, seed=1, **hot) != first


def test_several_prompts_and_samples_and_the_choice_between_them():
    def answer(body):
        text = body["messages"][-1]["content"]
        if "same content" in text:
            return "the soup was warm and the waiter was friendly ."
        return "Good." if body["seed"] % 2 else ""

    how = {"prompts": "tstbench-v1,contrast-v1", "candidates": 3, "temperature": 1.0}
    with serving(answer=answer) as server:
        (best,) = ask(server, ["the soup was cold and the waiter was rude ."], **how)
        assert best == "the soup was warm and the waiter was friendly ."
        assert len(best.aside["candidates"]) == 6
        (most,) = ask(server, ["so rude ."], **how, choose="majority")
        assert most == "the soup was warm and the waiter was friendly ."


def test_what_is_no_rewrite_is_counted_and_empty():
    said = {"a": None, "b": "I'm sorry, but I can't help with that.", "c": " ", "d": "fine ."}
    with serving(answer=lambda body: said[body["messages"][-1]["content"][-1]]) as server:
        found = ask(server, list(said))
    assert found == ["", "", "", "fine ."]
    rules = [one.aside.get("rules") for one in found]
    assert rules == [["empty"], ["refusal-v2", "empty"], ["empty"], None]
    filtered = (400, error("The response was filtered", "content_filter"))
    with serving(error=filtered) as server:
        (one,) = ask(server, ["e"])
    assert (one, one.aside["rules"]) == ("", ["filtered", "empty"])


@pytest.mark.parametrize("count", [float("inf"), float("nan"), "many", -1, None])
def test_odd_characters_and_counts_in_an_answer(count):
    choices = [{"message": {"content": "so \ud83d \U0001f600"}, "finish_reason": "stop"}]
    usage = {"prompt_tokens": count, "completion_tokens": 2}
    with serving(error=(200, {"choices": choices, "usage": usage})) as server:
        (one,) = ask(server, ["x"], retries=0)
        assert one == "so \ufffd \U0001f600"
        assert one.aside["tokens"] == {"prompt_tokens": 0, "answer_tokens": 2}
        assert ask(server, ["x"]) == [one]
    assert len(server.bodies) == 1


def test_limits_stop_and_keep_what_was_answered(tmp_path, capsys):
    out = tmp_path / "p.jsonl"
    with serving() as server:
        how = ("--model", "m", "--base-url", server.url, "--direction", DIRECTION, "--out", out)
        said = refusal(capsys, "transfer", "chat", *how, "--max-requests", 10)
        assert "stopped after 10 requests, before 1 more: --max-requests is 10" in said
        assert sum(server.times.values()) == 10
        assert len(rows(out)) == 10
        server.error = (401, error("no", "invalid_api_key"))
        said = refusal(capsys, "transfer", "chat", *how)
        assert "wants a key, and the environment variable OPENAI_API_KEY is not set" in said
        server.error = None
        assert len(rows(out)) == 10
        cost = ("--prices", "1,1", "--max-cost", 0.0005)
        assert "--max-cost is 0.0005" in refusal(capsys, "transfer", "chat", *how, *cost)
        between = sum(server.times.values())
        assert 10 < between < 20
        success(capsys, "transfer", "chat", *how, "--concurrency", 3)
        assert Counter(server.answered.values()) == {1: 40}
        said = refusal(capsys, "transfer", "chat", *how[2:], "--model", "n", "--max-cost", 1)
        assert "the price of 'n' is not known" in said
        assert len(rows(out)) == 40  # and the finished file is still there


def test_a_request_counts_where_it_was_sent():
    nobody = SimpleNamespace(url="http://127.0.0.1:9/v1")
    with pytest.raises(ServerError, match=r"cannot be reached: .* \(3 attempts\)"):
        ask(nobody, SENTENCES[:20])
    with serving(error=(500, error("x", None))) as server:
        with pytest.raises(LimitError, match="stopped after 2 requests, before 1 more"):
            ask(server, ["x"], max_requests=2)
        assert len(server.bodies) == 2


@pytest.mark.parametrize(
    ("how", "lost"),
    [
        ({"late": 60, "fault": "late"}, True),
        ({"fault": "cut"}, True),
        ({"fault": "half"}, True),
        ({"error": (200, {"choices": []})}, True),
        ({"fault": "500"}, False),
        ({"fault": "429"}, False),
        (None, False),
    ],
    ids=["late", "cut", "half", "malformed", "500", "429", "no server"],
)
def test_an_answer_that_got_lost_may_have_cost_something(how, lost):
    # The limit allows one request and a half. On a busy machine a connection may take longer than
    # the timeout: nothing is lost then, and one more attempt is needed for the loss.
    limit = {"prices": "0,1", "max_tokens": 1000, "max_cost": 0.0015, "timeout": 1.0}
    limit["retries"] = 4 if lost else 1
    with serving(faults=1.0, **(how or {})) as server:
        at = server if how else SimpleNamespace(url="http://127.0.0.1:9/v1")
        try:
            found = ask(at, ["x never"], clean="none", **limit)
        except (LimitError, ServerError) as error:
            found = error
    assert isinstance(found, LimitError) == lost, found


def test_a_dry_run_sends_nothing_and_prints_every_request(tmp_path, capsys):
    with serving() as server:
        how = ("--base-url", server.url, "--direction", DIRECTION, "--max-tokens", 50)
        code, out, err = command_line(capsys, "transfer", "chatgpt-fs", *how, "--dry-run")
        assert (code, server.bodies) == (0, [])
        assert "40 requests" in err
        assert "an estimate" in err
        assert "$0.0" in err
        command_line(capsys, "transfer", "chatgpt-fs", *how, "--out", tmp_path / "p.jsonl")
        shown = [json.loads(line) for line in out.splitlines()]
        key = json.dumps
        assert sorted(key(row["request"], sort_keys=True) for row in shown) == sorted(
            key(body, sort_keys=True) for body in server.bodies
        )
        out = command_line(capsys, "transfer", "chatgpt-fs", *how, "--dry-run")[1]
        assert all(json.loads(line)["answered"] for line in out.splitlines())
    assert "sends no requests" in refusal(
        capsys, "transfer", "copy", "--direction", DIRECTION, "--dry-run"
    )


def test_the_batch_api_and_its_gaps():
    with serving() as server:
        some = SENTENCES[:12]
        assert ask(server, some, via="batch") == EXPECTED[:12]
        assert len(server.bodies) == 1  # the one that failed in the batch
        assert ask(server, some) == EXPECTED[:12]
        assert len(server.bodies) == 1


def test_a_batch_that_the_limits_do_not_allow_is_not_sent():
    some = SENTENCES[:12]
    with serving() as server:
        for limit, message in (
            ({"max_requests": 11}, "after 0 requests, before 12 more: --max-requests is 11"),
            (
                {"max_cost": 1e-4, "prices": "1,1"},
                "12 more, which could cost .*: --max-cost is 0.0001",
            ),
        ):
            with pytest.raises(LimitError, match=message):
                ask(server, some, via="batch", **limit)
        assert not server.files
        assert ask(server, some, via="batch", max_requests=13) == EXPECTED[:12]


def test_an_answer_of_a_batch_may_hold_any_end_of_a_line():
    def answer(asked):
        return asked["messages"][-1]["content"][-1] + "\u2028x\x85y"

    with serving(answer=answer) as server:
        found = ask(server, [f"so {i}" for i in range(4)], via="batch", clean="none")
    assert found == [f"{i}\u2028x\x85y" for i in range(4)]
    assert len(server.bodies) == 1  # the one that failed in the batch


@pytest.mark.parametrize(
    ("trouble", "what", "told"),
    [
        ("batch_fails", "Token limit|odd|odd|none|more", "failed: Token limit; odd; none$"),
        ("batch_fails", "", "failed: the server does not say why$"),
        ("forgets", "batches", "forgotten batch batch-1: the same command begins"),
        ("forgets", "files", "forgotten batch batch-1: the same command begins"),
    ],
)
def test_a_batch_that_failed_or_was_forgotten_is_begun_again(trouble, what, told):
    with serving() as server:
        setattr(server, trouble, what)
        with pytest.raises(ServerError, match=told):
            ask(server, SENTENCES[:3], via="batch")
        setattr(server, trouble, None)
        assert ask(server, SENTENCES[:3], via="batch") == EXPECTED[:3]


REFUSALS = [
    ({"key": KEY}, {}, "refuses the key in OPENAI_API_KEY: it is wrong or expired"),
    ({"models": ["m-2", "x"]}, {}, "'m' is not known there.* It has, for instance: m-2"),
    (
        {"models": ["x"]},
        {"model": "gpt-4-0125-preview"},
        "'gpt-4-0125-preview' is not known there, and OpenAI has retired it",
    ),
    (
        {"error": (410, error("This model has been deprecated", None))},
        {},
        "'m' has been retired: choose another with --model",
    ),
    (
        {"limit": 3},
        {},
        "mini-test-0-00000: .*: the prompt and .* longer than the context",
    ),
    ({"error": (200, "<html>")}, {}, "does not answer as an OpenAI-compatible server does"),
    ({"error": (502, "<!DOCTYPE html><p>x")}, {}, r"check its address.*\(502: a page of HTML\)"),
    ({"error": (404, "<html>x")}, {}, r"check its address.*\(404: a page of HTML\)"),
    ({"error": (404, {"detail": "Not Found"})}, {}, "has no chat/completions: check its address"),
    ({"error": (429, error("x", "insufficient_quota"))}, {}, "has no credit left"),
    (
        {"error": (403, error("x", None)), "models": ["m-2"]},
        {},
        r"let the key in OPENAI_API_KEY use 'm' \(403: x\)$",
    ),
    *(
        ({"error": (status, error(said, None))}, {}, "'m' has no chat template, .* --model")
        for status, said in (
            (500, "Cannot use chat template functions because tokenizer.chat_template is not set"),
            (422, "Template error: template not found"),
            (400, "default chat template is no longer allowed, so you must provide one"),
        )
    ),
    (
        {"error": (500, "Internal Server Error")},
        {"retries": 1},
        r"500: Internal Server Error\. .* if the model has no chat template, .* \(2 attempts\)",
    ),
    (
        {"error": (400, error("Unsupported parameter: 'top_p'", "unsupported_parameter"))},
        {},
        "leave out a parameter .* with --omit.* Unsupported parameter: 'top_p'",
    ),
    *(
        ({"error": (s, error("x", None))}, {"retries": 1}, rf"answers with {s}: x \(2 attempts\)")
        for s in (429, 503)
    ),
]


@pytest.mark.parametrize(("how", "settings", "message"), REFUSALS, ids=lambda x: str(x)[:40])
def test_every_refusal_has_its_message(how, settings, message, tmp_path, monkeypatch, capsys):
    import re

    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-1234")
    given = [f"{name}={value}" for name, value in {"model": "m", **settings}.items()]
    with serving(**how) as server:
        said = refusal(
            capsys,
            *("transfer", "chat", "--direction", DIRECTION, "--base-url", server.url),
            *("--generation", *given, "concurrency=1", "--out", tmp_path / "p.jsonl"),
        )
    assert re.search(message, said), said
    assert "sk-wrong" not in said
    assert not any("sk-wrong" in f.read_text(errors="replace") for f in files_below(tmp_path))


def test_a_web_server_is_asked_once():
    files = ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler)
    with (
        answering(files),
        pytest.raises(ServerError, match=r"check its address.* a page of HTML") as found,
    ):
        ask(SimpleNamespace(url=f"http://127.0.0.1:{files.server_port}/v1"), ["x"])
    assert "<" not in str(found.value)
    with serving(error=(503, "<html><body>Welcome")) as server:
        with pytest.raises(ServerError, match="check its address"):
            ask(server, ["x"])
        assert len(server.bodies) == 3


def test_a_page_of_a_gateway_passes_where_there_is_a_server():
    with serving(gateway=3) as server:
        assert ask(server, SENTENCES[:6], concurrency=1) == EXPECTED[:6]
    assert server.injected["gateway"] == 1


def test_no_server_and_no_key(tmp_path, capsys, monkeypatch):
    to = ("--direction", DIRECTION, "--out", tmp_path / "p.jsonl")
    said = refusal(capsys, "transfer", "gpt4", *to)
    assert "no key: OpenAI needs one in the environment variable OPENAI_API_KEY" in said
    assert not (tmp_path / "p.jsonl").exists()
    url = ("--base-url", "http://127.0.0.1:9/v1")
    said = refusal(capsys, "transfer", "gpt4", *to, *url)
    assert "http://127.0.0.1:9/v1 cannot be reached: is a server running there?" in said
    assert "which model?" in refusal(capsys, "transfer", "chat", *to, *url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-ü")
    assert "contains characters that no key has" in refusal(capsys, "transfer", "gpt4", *to)
    for value in (None, " "):
        monkeypatch.setenv("OPENAI_API_KEY", value) if value else monkeypatch.delenv(
            "OPENAI_API_KEY"
        )
        with serving(key=KEY) as server:
            said = refusal(capsys, "transfer", "gpt4", *to, "--base-url", server.url)
        assert "wants a key, and the environment variable OPENAI_API_KEY is not set" in said
        assert "wrong or expired" not in said
    said = refusal(capsys, "transfer", "copy", *to, "--model", "m")
    assert "copy's generation has no settings" in said
