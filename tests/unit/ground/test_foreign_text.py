"""Names, ids, keys and texts by others: a terminal shows them and obeys nothing in them."""

import io
import json
import unicodedata

import pytest
from prepared import DIRECTION, refusal
from rich.console import Console
from rich.table import Table

from tstbench.commands.cli import main
from tstbench.console import printable, say, show_data
from tstbench.datasets_scripts.load import load_test_set
from tstbench.pipelines.tables import Cell, RankedTable, Row, foreign, print_rows
from tstbench.pipelines.terminal_table import plain_table

HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202egnp.exe\u2066\x9b31m\r\ud800"


class _Terminal(io.StringIO):
    def isatty(self):
        return True


def obeyed(text):
    """The characters of a text that a terminal does not merely show."""
    return [c for c in text if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Cs")]


def test_what_a_terminal_obeys_is_an_escape_and_all_else_is_kept():
    assert printable(HOSTILE) == (r"\x1b]0;owned\x07\x1b[2J\u202egnp.exe\u2066\x9b31m\r\ud800")
    whole = "naïve 日本語 हिन्दी می‌خواهم 👩‍🚀 a\u00a0b"  # joiners are letters' business
    assert printable(whole) == whole
    assert printable("two\nlines\there") == r"two\nlines\there"
    assert printable("two\nlines\there", lines=True) == "two\nlines\there"


def test_no_character_that_moves_or_hides_passes():
    everything = "".join(map(chr, range(0x110000)))
    assert obeyed(printable(everything)) == ["\u200c", "\u200d"]


def test_a_message_and_a_table_are_safe(capsys):
    say(HOSTILE)
    print_rows(["name"], [[HOSTILE]])
    seen = capsys.readouterr()
    assert "owned" in seen.err
    assert "owned" in seen.out
    assert obeyed(seen.err + seen.out) == []


def test_data_are_left_as_they_are_but_for_a_terminal(monkeypatch, capsys):
    show_data("red \x1b[31m")
    assert capsys.readouterr().out == "red \x1b[31m\n"
    terminal = _Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    show_data("red \x1b[31m")
    assert terminal.getvalue() == "red \\x1b[31m\n"


def test_rich_reads_neither_markup_nor_emoji_in_it(monkeypatch):
    table = Table()
    table.add_column(foreign(":smile: [bold]x[/]\nbelow"))
    shown = io.StringIO()
    Console(file=shown, width=60).print(table)
    assert ":smile: [bold]x[/] " in shown.getvalue()  # and the rest on a line of its own
    terminal = _Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    print_rows([":fire:"], [[":smile: [red]"]])
    assert ":smile: [red]" in terminal.getvalue()
    assert ":fire:" in terminal.getvalue()


def test_a_narrow_terminal_breaks_no_name_and_says_once_what_all_rows_share(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("sys.stdout", terminal := _Terminal())
    names = ["yelp/negative-to-positive", "yelp/positive-to-negative"]
    rows = [[name, "a task of a few words", "2", ""] for name in names]
    print_rows(["direction", "task", "raters", "none"], [*rows, [names[0], "style", "2", ""]])
    first, header, *lines = terminal.getvalue().splitlines()
    assert first == "raters: 2"
    assert "task" in header
    assert "none" not in header
    assert [line.split()[0] for line in lines if line[0] != " "] == [*names, names[0]]
    print_rows(["a", "b"], [["one", "row"]])  # alone it shares nothing
    assert terminal.getvalue().split()[-2:] == ["one", "row"]
    print_rows(["a", "b"], [["same", "rows"]] * 2)  # nor do rows without a difference
    assert terminal.getvalue().split()[-4:] == ["same", "rows"] * 2
    print_rows(["name", "mean"], [["n" * 60, "4.25"], ["m" * 60, "2.75"]])  # no room for both
    assert {"4.25", "2.75"} < set(terminal.getvalue().split())


def test_the_ranking_shows_names_as_they_are_written():
    row = Row(system=f":smile:{HOSTILE}", rank="1", cells=(Cell(),))
    table = RankedTable("t", ":fire: title", (":smile: m",), (row,), (), "", ())
    text = plain_table(table)
    assert text.count(":smile:") == 2
    assert ":fire: title" in text
    assert obeyed(text) == []


def test_ids_keys_and_names_of_files_in_messages(tmp_path, capsys):
    bad = tmp_path / "a\u202etxt\x1b[2J.jsonl"
    bad.write_text(json.dumps({f"key{HOSTILE[:-1]}\nfake line": 1}) + "\n")
    message = refusal(capsys, "evaluate", f"a={bad}", "--direction", DIRECTION)
    assert "no 'prediction' column" in message
    assert obeyed(message) == []
    assert "\nfake line" not in message
    ids = load_test_set(DIRECTION).ids
    bad.write_text(json.dumps({"id": f"{ids[0]}\x1b[2J\u202e", "prediction": "x"}) + "\n")
    message = refusal(capsys, "evaluate", f"a={bad}", "--direction", DIRECTION)
    assert r"\x1b[2J\u202e" in message
    assert obeyed(message) == []


def test_what_argparse_says_is_safe_too(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["hub", "\x1b[2J\u202e"])
    assert ended.value.code == 2
    assert obeyed(capsys.readouterr().err) == []
