"""The rewriting page without a browser: the desk, its queues, the endpoints, the command."""

import json
import shutil
import threading
import time
from dataclasses import replace

import pytest
from answering import asked, free_port
from prepared import DIRECTION, command_line, refusal
from rewrite_systems import BOTH, Gate, Small, better, bug, offer, refuse, unloadable
from trained_tiny import trained_tiny

from tstbench.datasets_scripts.catalog import dataset_facts
from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import InputError, UnknownNameError
from tstbench.spaces.jobs import LEFT, MOST_WAITING
from tstbench.spaces.rewrite import desk as desk_module
from tstbench.spaces.rewrite import offers, serve
from tstbench.spaces.rewrite.desk import FULL, Desk
from tstbench.spaces.rewrite.offers import UNOPENED, checked_text, open_offers
from tstbench.spaces.web import NotThereError
from tstbench.trainers.load import load_system

SENTENCE = "The soup was cold !"


@pytest.fixture
def desk_of():
    made = []

    def make(*offers, **options):
        made.append(Desk(offers, "cpu", **options))
        return made[-1]

    yield make
    for desk in made:
        desk.close()


def until(done, seconds=20):
    """Wait until ``done()`` is true; it is asked often, and returned."""
    end = time.monotonic() + seconds
    while not (found := done()):
        assert time.monotonic() < end, "never happened"
        time.sleep(0.01)
    return found


def answered(desk, told):
    """The answers, by the name of the system, once all are there."""

    def look():
        newest = desk.look(told["ticket"])
        return newest if newest["open"] == 0 else None

    found = until(look)
    return {desk.offers[one["system"]].name: one for one in found["answers"]}


def ask(desk, text=SENTENCE, source="negative", target="positive"):
    return desk.ask(text, source, target)


def test_every_system_answers_in_its_own_card(desk_of):
    desk = desk_of(
        offer("better", better),
        offer("copy", str),
        offer("bug", bug),
        offer("refuses", refuse),
        offer("silent", lambda _: ""),
        unloadable("broken"),
    )
    told = answered(desk, ask(desk))
    assert told["better"]["text"] == "The soup was hot !"
    assert told["better"]["pieces"] == [
        ["same", "The soup was", False],
        ["gone", "cold", True],
        ["new", "hot", True],
        ["same", "!", True],
    ]
    assert [told[name]["same"] for name in ("better", "copy")] == [False, True]
    assert "because of a bug" in told["bug"]["error"]
    assert told["refuses"]["error"] == "the tokeniser of this language is not installed"
    assert (told["silent"]["state"], told["silent"]["text"]) == ("done", "")
    assert "could not be opened" in told["broken"]["error"]
    assert "/home" not in json.dumps(told)  # what a visitor need not know


def test_a_slow_system_delays_no_other_and_says_who_is_before(desk_of):
    gate = Gate()
    desk = desk_of(offer("slow", gate), offer("better", better))
    first, second, third = (ask(desk, f"{SENTENCE} {n}") for n in range(3))
    assert gate.entered.wait(10)
    for told in (first, second, third):
        until(lambda told=told: desk.look(told["ticket"])["answers"][1]["state"] == "done")
    waits = [desk.look(told["ticket"])["answers"][0] for told in (first, second, third)]
    assert [one["state"] for one in waits] == ["working", "waiting", "waiting"]
    assert [one["ahead"] for one in waits[1:]] == [1, 2]
    gate.open.set()
    assert answered(desk, third)["slow"]["text"] == f"{SENTENCE} 2".upper()


def test_what_takes_too_long_is_said(desk_of):
    gate = Gate()
    desk = desk_of(offer("slow", gate), patience=0.05)
    first, second = ask(desk), ask(desk, "second .")
    assert answered(desk, first)["slow"]["error"] == "No answer within 0 seconds."
    told = answered(desk, second)["slow"]["error"]  # nobody waits behind it without end
    assert told == "No answer to a sentence before this one within 0 seconds."
    gate.open.set()  # the desk gave up, the thread goes on
    until(lambda: answered(desk, ask(desk, "third ."))["slow"].get("text") == "THIRD .")


def test_who_stopped_asking_is_skipped(desk_of):
    gate = Gate()
    desk = desk_of(offer("slow", gate), absence=0.3)
    ask(desk, "first .")
    assert gate.entered.wait(10)
    left, stays = ask(desk, "second ."), ask(desk, "third .")
    end = time.monotonic() + 0.6
    while time.monotonic() < end:
        desk.look(stays["ticket"])
        time.sleep(0.02)
    gate.open.set()
    assert answered(desk, stays)["slow"]["text"] == "THIRD ."
    assert gate.heard == ["first .", "third ."]
    assert answered(desk, left)["slow"]["error"] == LEFT


def test_a_full_line_says_so_at_once(desk_of):
    gate = Gate()
    desk = desk_of(offer("slow", gate))
    ask(desk, "in work .")
    assert gate.entered.wait(10)
    tickets = [ask(desk, f"number {n} .") for n in range(MOST_WAITING + 1)]
    states = [told["answers"][0]["state"] for told in tickets]
    assert states == ["waiting"] * MOST_WAITING + ["failed"]
    assert tickets[-1]["answers"][0]["error"] == FULL
    gate.open.set()


def test_the_same_sentence_is_not_computed_twice_unless_it_was_long_ago(desk_of, monkeypatch):
    monkeypatch.setattr(desk_module, "_REMEMBERED", 2)
    gate = Gate()
    gate.open.set()
    desk = desk_of(offer("loud", gate, directions=BOTH))
    answered(desk, ask(desk))
    again = ask(desk)
    assert (again["open"], again["answers"][0]["text"]) == (0, SENTENCE.upper())
    answered(desk, ask(desk, SENTENCE, "positive", "negative"))  # another direction, another answer
    assert ask(desk)["open"] == 0, "two are remembered"
    answered(desk, ask(desk, "a third ."))
    assert ask(desk, SENTENCE, "positive", "negative")["open"] == 0
    answered(desk, ask(desk))
    assert gate.heard == [SENTENCE, SENTENCE, "a third .", SENTENCE]


def test_answers_of_long_ago_are_forgotten(desk_of):
    gate = Gate()
    gate.open.set()
    desk = desk_of(offer("loud", gate))
    answered(desk, ask(desk))  # from here on it is remembered, and nothing is computed
    first, *_, last = (ask(desk)["ticket"] for _ in range(2001))
    with pytest.raises(NotThereError, match="ask again"):
        desk.look(first)
    assert desk.look(last)["open"] == 0


def test_a_system_is_read_and_asked_on_the_device_that_was_named(desk_of, monkeypatch):
    told = []

    def read(cls, folder, card, device):
        told.append(device)
        return cls(card)

    def rewrite(self, batch, task):
        told.append(task.device)
        return [request.source for request in batch]

    monkeypatch.setattr(Small, "read", classmethod(read))
    monkeypatch.setattr(Small, "rewrite", rewrite)
    desk = desk_of(offer("here", str))
    answered(desk, ask(desk))
    assert told == ["cpu", "cpu"]


def test_people_rewrote_the_test_sentences(desk_of, monkeypatch):
    test_set = load_test_set(DIRECTION)
    desk = desk_of(offer("copy", str))
    (styles,) = desk.systems()["styles"]
    ours, *tested = styles["examples"]
    assert ours == "the soup was cold and the waiter ignored us ."
    assert len(set(tested)) == len(tested) >= 10
    assert set(tested) <= set(test_set.sources)
    source, rewrites = test_set.sources[3], test_set.references[3]
    told = ask(desk, f" {source.upper()} ")["people"]
    assert [one["text"] for one in told] == list(dict.fromkeys(rewrites))
    assert {kind for kind, *_ in told[0]["pieces"]} >= {"gone", "new"}
    assert ask(desk)["people"] == [], "no test sentence"
    facts = dataset_facts("mini")
    monkeypatch.setattr(offers, "dataset_facts", lambda _: replace(facts, licensed=True))
    assert ask(desk_of(offer("copy", str)), source)["people"] == [], "not ours to show"


def test_only_systems_with_the_styles_are_asked(desk_of):
    desk = desk_of(offer("one way", better), offer("both ways", better, directions=BOTH))
    assert [(s["source"], s["target"]) for s in desk.systems()["styles"]] == [
        ("negative", "positive"),
        ("positive", "negative"),
    ]
    assert set(answered(desk, ask(desk, SENTENCE, "positive", "negative"))) == {"both ways"}
    for source, target, message in (
        ("negative", "positiv", "unknown style 'positiv'. Did you mean 'positive'?"),
        ("neutral", "positive", "unknown style from which to write positive 'neutral'"),
        (None, 3, "unknown style '3'"),
    ):
        with pytest.raises(UnknownNameError, match=message):
            ask(desk, SENTENCE, source, target)
    with pytest.raises(NotThereError, match="ask again"):
        desk.look("wrong")
    with pytest.raises(InputError, match="no system is offered here"):
        ask(desk_of())


def test_a_sentence_is_one_line():
    assert checked_text("  the\nsoup\x00was\ud800cold ") == "the soup was cold"
    assert checked_text("x" * 300) == "x" * 300


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return trained_tiny(tmp_path_factory)


def post(url, name, body):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = {"Content-Type": "application/json"}
    status, text, _ = asked(f"{url}rewrite/api/{name}", data, **kind)
    return status, json.loads(text) if text.startswith("{") else text


def test_a_trained_system_is_served(folder, tmp_path):
    damaged = shutil.copytree(folder, tmp_path / "damaged")
    (damaged / "vocabulary.json").write_text("[]")
    running = serve([str(folder), str(damaged)], port=free_port(), device="cpu", strict=False)
    try:
        status, page = post(running.url, "systems", {})
        assert status == 200
        assert [one["name"] for one in page["systems"]] == ["stytrans", "damaged"]
        assert page["systems"][0]["scores"]["selection"] >= 0
        assert str(tmp_path) not in json.dumps(page)
        question = {"text": SENTENCE, "source": "negative", "target": "positive"}
        status, told = post(running.url, "ask", question)
        assert status == 200
        look = {"ticket": told["ticket"]}
        found = until(lambda: not (s := post(running.url, "look", look)[1])["open"] and s)
        (expected,) = load_system(folder).transfer([SENTENCE], DIRECTION)
        assert [one["text"] for one in found["answers"]] == [expected]
        for name, body, expected_status in (
            ("ask", {"text": SENTENCE}, 422),
            ("ask", {**question, "text": "x" * 301}, 422),
            ("ask", b"[" * 5000, 422),
            ("ask", b"\xff", 422),
            ("ask", b"x" * 70_000, 413),
            ("look", {"ticket": "no"}, 404),
            ("look", {"ticket": [1]}, 404),
            ("other", {}, 404),
        ):
            assert post(running.url, name, body)[0] == expected_status, (name, body)
        assert asked(running.url, Host="evil.example")[0] == 421
        policy = asked(running.url)[2]["content-security-policy"]
        assert ("default-src 'none'" in policy, "unsafe" in policy) == (True, False)
    finally:
        running.close()
    until(lambda: not any(t.name.startswith("rewrite ") for t in threading.enumerate()))


def test_the_command_tells_what_cannot_be_offered(folder, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    for given, message in (
        ([tmp_path / "empty"], "system.json is missing"),
        (["stytran"], "unknown system 'stytran'. Did you mean 'stytrans'?"),
        (
            ["stytrans"],
            "a trained stytrans is needed here: a folder that 'tstbench train stytrans'",
        ),
        ([folder, folder], "is given twice"),
    ):
        assert message in refusal(capsys, "rewrite", *given)
    assert command_line(capsys, "rewrite")[0] == 2
    load_system("copy").save_pretrained(tmp_path / "copy")
    assert "trained for no direction" in refusal(capsys, "rewrite", tmp_path / "copy")


def test_what_cannot_be_opened_is_told_of_or_has_its_place(folder, tmp_path, capsys):
    """Its dataset may be another package's."""
    system = load_system("copy")
    system.card = replace(system.card, name="far", directions=("unheard/rude-to-polite",))
    system.save_pretrained(tmp_path / "far")
    with pytest.raises(UnknownNameError, match="unheard"):
        open_offers([str(tmp_path / "far")], strict=True)
    given = [str(tmp_path / "far"), "owner/nothing", str(folder)]
    far, nothing, there = open_offers(given, strict=False)
    assert (far.name, far.found, far.problem) == ("far", None, UNOPENED)
    assert (nothing.name, nothing.found, nothing.directions) == ("owner/nothing", None, ())
    assert there.found is not None
    assert str(tmp_path / "far") in capsys.readouterr().err  # for the owner, not for visitors
