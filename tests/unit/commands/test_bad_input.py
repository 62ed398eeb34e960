"""Input that nobody meant to give: words and exit code 2, never a traceback, a hang or a score."""

import http.server
import json
import os
import unicodedata
import urllib.parse
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import regex
from answering import answering
from own_data import MANNERS, write_manners
from prepared import DIRECTION, command_line, refusal

from tstbench.commands.arguments import read_toml as read_settings
from tstbench.datasets_scripts.cards import read_card
from tstbench.datasets_scripts.catalog import load_data
from tstbench.datasets_scripts.cleaning import is_blank
from tstbench.datasets_scripts.own import read_data
from tstbench.datasets_scripts.tables import Column, OwnText, Table
from tstbench.errors import InputError
from tstbench.files import file_name, parse_toml
from tstbench.hub import misunderstood
from tstbench.metrics.inputs import check_inputs
from tstbench.pipelines.hub.push import explained
from tstbench.pipelines.output_checks import find_suspicions
from tstbench.pipelines.outputs import find_outputs, read_outputs
from tstbench.pipelines.results import check_names, folder_name
from tstbench.settings import from_texts
from tstbench.trainers.prompted import ChatSettings
from tstbench.trainers.prompting.prompts import load_prompts
from tstbench.untrusted import read_json

INVISIBLE = "\u200b", "\u2060\ufeff", "\u00ad", "\u3164", "\u2800", "\U000e0041", "\x08", " \u200d "


# -- predictions that are none ---------------------------------------------------------------------


def test_invisible_is_what_unicode_calls_ignorable():
    """Against the ``regex`` package's tables of Unicode's property."""
    ignorable = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Cc}\p{White_Space}\u2800]")
    for sign in map(chr, [*range(0x30000), *range(0xE0000, 0xE2000)]):  # the rest is unassigned
        assert is_blank(sign) == (ignorable.fullmatch(sign) is not None), hex(ord(sign))


@pytest.mark.parametrize("text", INVISIBLE)
def test_what_nobody_sees_is_an_empty_prediction(text):
    inputs = check_inputs(["good food", text], ["a", "b"])
    assert inputs.predictions == ("good food", "")
    np.testing.assert_array_equal(inputs.failed, [False, True])
    with pytest.raises(InputError, match="all 2 predictions are empty"):
        check_inputs([text, ""])
    kept = check_inputs(["می‌خواهم", "  "]).predictions  # spaces stay as they were
    assert kept == ("می‌خواهم", "  ")


@pytest.mark.parametrize("text", ["", " ", *INVISIBLE])
def test_a_reference_that_nobody_wrote_is_none(text, tmp_path):
    """In Python's lists as in files: lists are padded to one length."""
    padded = check_inputs(["a"] * 3, ["b"] * 3, [["good", text], [text, "fine"], text])
    plain = check_inputs(["a"] * 3, ["b"] * 3, [["good"], ["fine"], []])
    assert padded == plain
    assert padded.references == (("good",), ("fine",), ())
    path = tmp_path / "people.txt"
    path.write_text(f"good\n{text}\n")
    assert OwnText(path, path.name).rewrites() == [("good",), ()]
    (tmp_path / "people.jsonl").write_text(json.dumps({"r": ["good", text]}) + "\n")
    table = Table(tmp_path / "people.jsonl", "people.jsonl")
    assert Column(table, "r").rewrites() == [("good",)]


@pytest.mark.parametrize("text", ["nan", "NULL", "b'fine'"])
def test_what_a_program_writes_for_a_missing_text_is_refused_in_lists_as_in_files(text):
    for texts in ((["a"], [text]), (["a"], ["b"], [["good", text]])):
        with pytest.raises(InputError, match="which a program writes for a missing text"):
            check_inputs(*texts)
    check_inputs(["a"], ["none of it"], [["null and void"]])


def test_invisible_predictions_raise_the_suspicion_of_empty_ones(test_set):
    outputs = [*["\u200b"] * 10, *(some[0] for some in test_set.references[10:])]
    (said,) = [str(s) for s in find_suspicions(outputs, test_set) if "empty" in str(s)]
    assert said.startswith("10 of 40 outputs are empty, or have only invisible characters (line")


# -- paths that are none ---------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/kmsg").exists(), reason="no such file on this system")
def test_a_file_of_no_size_that_never_ends_is_not_waited_for(test_set, tmp_path):
    for read in (lambda path: read_outputs(path, test_set), read_json, load_data):
        with pytest.raises(InputError, match="kmsg"):
            read(Path("/proc/kmsg"))


def test_an_integer_of_more_digits_than_python_reads(manners, capsys):
    digits = "1" * 4301
    manners.write_text(f"{MANNERS}\nversion = {digits}")
    assert "not TOML" in refusal(capsys, "data", "check", manners)
    assert from_texts(ChatSettings, {"examples": digits}, "chat") == {"examples": digits}
    corpus = replace(read_data(write_manners(manners.parent)), card=f"---\na: {digits}\n---\n")
    with pytest.raises(InputError, match="the card of manners"):
        read_card(corpus)


def test_an_empty_path_is_not_the_current_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("x\n" * 40)
    with pytest.raises(InputError, match="the path is empty"):
        find_outputs([""])
    for arguments in (
        ["evaluate", "", "--direction", DIRECTION],
        ["evaluate", "a.txt", "", "--direction", DIRECTION],
        ["report", ""],
        ["compare", "a", "b", "--direction", DIRECTION, ""],
        ["leaderboard", ""],
        ["rewrite", "a", ""],
        ["transfer", "", "--direction", DIRECTION],
        ["evaluate", "a.txt", "--direction", DIRECTION, "--out", ""],
        ["hub", "serve", ""],
        ["annotate", ""],
    ):
        code, _, err = command_line(capsys, *arguments)
        assert (code, "the path is empty" in err) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "pipe"])
def test_what_never_ends_is_not_read(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    for argument in (path, f"a={path}"):
        message = refusal(capsys, "evaluate", argument, "--direction", DIRECTION)
        assert f"{path} is a pipe or a device, not a file" in message
    with suppress(FileExistsError):
        Path("suite.toml").symlink_to(path)
    assert "is a pipe or a device" in refusal(capsys, "run", "suite.toml")
    assert "is a pipe or a device" in refusal(capsys, "directions", "--data", path)


# -- numbers, names and answers --------------------------------------------------------------------


@pytest.mark.parametrize("port", ["99999", "65536", "-1", "x", "9" * 5000])
@pytest.mark.parametrize("command", ["leaderboard", "rewrite a", "annotate a", "hub serve a"])
def test_a_port_that_is_none(command, port, capsys):
    code, _, err = command_line(capsys, *command.split(), "--port", port)
    assert (code, "is not a port: choose one from 0 to 65535" in err) == (2, True)


@pytest.mark.parametrize(
    "text", [f"a = {'[' * 5000}", f"a = {'[' * 60}{']' * 60}", f"[{'.'.join('a' * 3000)}]"]
)
def test_deep_toml_is_said(text, tmp_path, capsys):
    path = tmp_path / "deep.toml"
    path.write_text(text)
    for arguments in (["run", path], ["directions", "--data", path]):
        assert "more than 50 levels deep" in refusal(capsys, *arguments)
    for read in (read_settings, lambda p: parse_toml(p.read_text(), p), load_prompts):
        with pytest.raises(InputError, match="more than 50 levels deep"):
            read(path)


class _Odd(http.server.BaseHTTPRequestHandler):
    """A server that has one answer to everything."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(self.server.content)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


@pytest.mark.parametrize(
    "content",
    [b"{}", b"[]", b"nonsense", b'{"id": "x/y"}', b'{"id": 7, "sha": 5}', b"[" * 100_000],
)
def test_a_server_that_is_no_hub(content, monkeypatch):
    """The client's own errors on such an answer, and what becomes of them."""
    from huggingface_hub import HfApi, constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with answering(http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Odd)) as server:
        server.content = content
        api = HfApi(endpoint=f"http://127.0.0.1:{server.server_port}", token=False)
        with pytest.raises(Exception) as caught:  # noqa: PT011 - of many kinds
            list(api.list_repo_tree("x/y", revision=api.repo_info("x/y").sha))
    said = explained(caught.value, "dataset x/y", None)
    assert "the server's answer is not that of a Hub" in str(said)


def test_our_own_bug_keeps_its_traceback():
    with pytest.raises(KeyError) as caught:
        {}["id"]
    assert not misunderstood(caught.value)
    assert explained(caught.value, "dataset x/y", None) is None
    with pytest.raises(TypeError) as caught:  # nor what we do with Python's own modules
        urllib.parse.quote(5)
    assert not misunderstood(caught.value)


# -- names of systems ------------------------------------------------------------------------------

NAMES = [
    "日本語",
    "中文",
    "हिन्दी",
    "हिन्दू",
    "русский",
    "العربية",
    "ไทย",
    "café",
    "cafe",
    "GPT-4",
    "ß",
    "ñ",
]


def test_letters_of_any_script_are_letters():
    check_names(NAMES)
    assert [folder_name(name) for name in NAMES] == NAMES


def test_a_folder_never_leaves_its_parent_nor_is_too_long():
    signs = [chr(n) for n in range(0x3000) if not 0xD800 <= n < 0xE000]
    for sign in signs:
        made = file_name(f"{sign}a{sign}/../{sign}")
        assert not set(made) & set('/\\\0:*?"<>|\n')
        assert made not in ("", ".", "..")
        assert made == unicodedata.normalize("NFC", made) == file_name(made)
    long = ["語" * 100, "語" * 99 + "话", "हि" * 50, "हि" * 49 + "ही"]
    check_names(long)
    assert all(len(folder_name(name).encode()) <= 200 for name in long)
    assert len({folder_name(name) for name in long}) == len(long)
