"""The annotation study as it is served: addresses, headers, and what is refused."""

import http.client
import json
import re
import sqlite3
from functools import partial
from types import SimpleNamespace

import pytest
from annotate_study import DIRECTION, GOOD, RATERS, SYSTEMS, keys, make, write_reports
from answering import asked, free_port

from tstbench.spaces.annotate import create_study, export, serve

pytest.importorskip("gradio")


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """One served study for all tests of this file; a test may add answers."""
    root = tmp_path_factory.mktemp("served")
    write_reports(root / "results", SYSTEMS)
    folder, port = root / "study", free_port()
    create_study(root / "results", [DIRECTION], None, RATERS, folder, per_system=6)
    server = serve(folder, port=port)
    yield SimpleNamespace(url=server.url, folder=folder, port=port, keys=keys(folder))
    server.close()


def ask(running, name, body=b"", key=""):
    """Status and content of an endpoint's answer."""
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    url = f"{running.url}annotate/api/{name}"
    status, text, _ = asked(url, body, **{"x-annotation-key": key})
    return status, json.loads(text)


def test_served_as_designed(running, capfd):
    key = running.keys["Ann Archer"]
    status, page, headers = asked(running.url + f"?key={key}")
    assert status == 200
    assert key not in page
    assert "script-src 'self'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"

    status, screen = ask(running, "screen", {"position": 0}, key)
    assert (status, screen["position"]) == (200, 0)
    saved = ask(running, "save", {"position": 0, "answer": GOOD}, key)
    assert saved == (200, {"next_open": 1})
    ask(running, "screen", b"[0", key)
    ask(running, "save", {"position": "x", "answer": key}, key)

    # Nothing of the folder is a file to fetch, nothing can be sent as one.
    for name in ("private.json", "study.json"):
        status, _, _ = asked(running.url + f"gradio_api/file={running.folder / name}")
        assert status in (403, 404)
    assert asked(running.url + "annotate/..%2Fprivate.json")[0] == 404
    assert asked(running.url + "gradio_api/upload", b"[]")[0] == 413
    assert asked(running.url + "annotate/api/save", b"x" * 100_000)[0] == 413
    assert key not in "".join(capfd.readouterr())


@pytest.mark.parametrize("content", [None, b"no database, but long enough" * 100])
def test_answers_that_are_gone_or_damaged_while_served_are_told_without_a_path(running, content):
    answers = running.folder / "answers.sqlite"
    whole = answers.read_bytes()
    answers.unlink() if content is None else answers.write_bytes(content)
    try:
        rater, owner = running.keys[RATERS[0]], running.keys[""]
        for address in (f"?key={rater}&item=1", f"?key={owner}", f"export?key={owner}"):
            status, page, _ = asked(running.url + address)
            assert status == 500
            assert "tell the page&#39;s owner" in page
            assert "answers.sqlite" not in page
        status, answer = ask(running, "screen", {"position": 0}, rater)
        assert (status, "answers.sqlite" in str(answer)) == (500, False)
    finally:
        answers.write_bytes(whole)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("?key=wrong", "ask the study&#39;s owner"),
        ("?key=", "ask the study&#39;s owner"),
        ("?key={key}&item=0", "you have items 1 to 24"),
        ("?key={key}&item=25", "There is no item 25"),
        ("?key={key}&item=-3", "There is no item"),
        ("?key={key}&item=<b>", "There is no item"),
        ("?key={key}&item=" + "9" * 5000, "There is no item"),
        ("studies/7?__theme=dark", "nothing at this address"),
    ],
)
def test_a_link_that_leads_nowhere_is_a_404_with_words(running, address, words):
    key = running.keys["Ann Archer"]
    status, page, headers = asked(running.url + address.format(key=key))
    assert status == 404
    assert words in page
    assert key not in page
    assert "script-src 'self'" in headers["content-security-policy"]
    assert "<script" not in page


def test_good_links_open(running):
    for name in ("Ann Archer", ""):
        assert asked(f"{running.url}?key={running.keys[name]}&item=24")[0] == 200
    assert asked(running.url)[0] == 200  # a Space is asked for its root to see whether it lives


@pytest.mark.parametrize(
    ("name", "body", "status", "words"),
    [
        ("screen", {"position": 24}, 404, "no item 25: you have items 1 to 24"),
        ("screen", {"position": -1}, 404, "no item 0"),
        ("screen", {"position": "x"}, 404, "whole number"),
        ("screen", {}, 422, "with the fields position"),
        ("screen", [0], 422, "with the fields position"),
        ("screen", b"", 422, "with the fields position"),
        ("screen", b"\xff{", 422, "not JSON"),
        ("screen", b"[" * 60_000, 422, "not JSON"),
        ("save", {"position": 0}, 422, "with the fields position, answer"),
        ("save", {"position": 0, "answer": GOOD, "rater": "rater-2"}, 422, "with the fields"),
        ("save", {"position": 0, "answer": None}, 422, "not a valid answer"),
        ("save", {"position": 0, "answer": {"scores": {"style": 9}}}, 422, "score every aspect"),
        ("save", {"position": 99, "answer": GOOD}, 404, "no item 100"),
        ("enter", {"position": 0}, 422, "with no fields"),
        ("results", {}, 404, "no endpoint 'results'"),
    ],
)
def test_a_request_that_went_wrong_is_answered_with_words(running, name, body, status, words):
    before = (running.folder / "answers.sqlite").read_bytes()
    got, content = ask(running, name, body, running.keys["Ann Archer"])
    assert got == status
    assert words in content["error"]
    assert (running.folder / "answers.sqlite").read_bytes() == before


def test_a_body_without_a_length_is_not_read(running):
    """In pieces it could be of any size."""
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
    headers = {"x-annotation-key": running.keys["Ann Archer"]}
    pieces = iter([b'{"position"', b": 0}"])
    connection.request("POST", "/annotate/api/screen", pieces, headers, encode_chunked=True)
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (413, b"too large")


def test_a_study_among_gradios_own_files_is_no_file_to_fetch(tmp_path, monkeypatch):
    """Gradio serves what lies in its own folder for temporary files."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    write_reports(tmp_path / "results", SYSTEMS)
    make(tmp_path / "results", tmp_path / "study")
    (tmp_path / "other.txt").write_text("an upload")
    server = serve(tmp_path / "study", port=free_port())
    try:
        file = f"{server.url}gradio_api/file={tmp_path}"
        assert asked(f"{file}/other.txt")[:2] == (200, "an upload")
        assert asked(f"{file}/study/private.json")[0] == 403
    finally:
        server.close()


def test_an_unknown_key_is_a_404_everywhere(running):
    status, content = ask(running, "enter", {}, "wrong")
    assert (status, "link" in content["error"]) == (404, True)
    for key in ("wrong", running.keys["Ann Archer"]):
        status, page, _ = asked(f"{running.url}export?key={key}")
        assert status == 404
        assert "for the study&#39;s owner" in page


def test_the_owners_page_and_its_export(running, tmp_path):
    """What raters and systems are called is text; the export is what the command writes."""
    for position in range(24):
        ask(running, "save", {"position": position, "answer": GOOD}, running.keys["Ben Baker"])
    remark = {"skipped": True, "comment": "<b>odd</b>"}
    ask(running, "save", {"position": 6, "answer": remark}, running.keys["Ben Baker"])
    key = running.keys[""]
    status, page, headers = asked(f"{running.url}?key={key}&__theme=dark")
    assert status == 200
    assert "<script" not in page
    assert "script-src 'self'" in headers["content-security-policy"]
    assert '<html lang="en" data-theme="dark">' in page
    text = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert "24 outputs to judge, 6 for each of 5 systems and 1 direction;" in text
    told = ("24 of 24", "Agreement, mini/negative-to-positive", "Fleiss’ κ", "Krippendorff’s α")
    for words in (*told, *RATERS, "rater-1", *SYSTEMS, "every rater who has scored any here ("):
        assert words in text
    assert f'href="export?key={key}"' in page
    assert "skipped &lt;b&gt;odd&lt;/b&gt;" in text

    status, lines, headers = asked(f"{running.url}export?key={key}")
    assert (status, headers["content-disposition"]) == (200, 'attachment; filename="study.jsonl"')
    export(running.folder, tmp_path / "j.jsonl")
    assert lines == (tmp_path / "j.jsonl").read_text("utf-8") != ""


def test_an_answer_that_cannot_be_kept_is_not_confirmed(running, monkeypatch):
    """As on a full disk: another program holds the file, for longer than anybody waits."""
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, timeout=0.1))
    key = running.keys["Cleo Carr"]
    with sqlite3.connect(running.folder / "answers.sqlite", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        status, content = ask(running, "save", {"position": 0, "answer": GOOD}, key)
        other.execute("ROLLBACK")
    assert status == 500
    assert "tell the page's owner" in content["error"]
    assert ask(running, "enter", {}, key)[1]["started"] is False


def test_without_a_study_the_page_says_what_to_do_to_those_who_know_its_name():
    """With one, and of all other pages: integration/servers."""
    running = serve(None, port=free_port(), allowed_hosts=["rate.example.org"])
    try:
        at_root, with_key = asked(running.url), asked(running.url + "?key=of-a-study-that-was-here")
        status, content = ask(running, "enter")
        assert asked(running.url, Host="rate.example.org")[0] == 200
        for address in (running.url, f"{running.url}annotate/api/enter"):
            assert asked(address, b"{}" if "api" in address else None, Host="other.org")[0] == 421
    finally:
        running.close()
    assert (at_root[0], with_key[0], status) == (200, 404, 404)
    for told in (at_root[1], with_key[1], content["error"]):
        assert "No study is set up here yet" in told
