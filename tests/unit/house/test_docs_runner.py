"""The runner of the documentation sees what is wrong; else its green says nothing."""

import pytest
from docs_runner import PageError, blocks, matches, run_page


def page(*lines):
    return "\n".join(lines) + "\n"


def test_commands_share_folder_and_variables(tmp_path):
    text = page(
        "```console",
        "$ mkdir deep && cd deep",
        "$ export WORD='two words'",
        "```",
        "Then:",
        "```console",
        '$ echo "$WORD" > here.txt; \\',
        "  pwd",
        "/...deep",
        "$ cat here.txt",
        "two words",
        "```",
    )
    assert run_page(text, tmp_path) == 2
    assert (tmp_path / "deep/here.txt").read_text() == "two words\n"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["$ echo one", "two"], r"line 2: 'echo one' shows\none"),
        (["$ echo one; echo two", "one"], "shows"),
        (["$ false"], "'false' exits with 1"),
        (["$ exit 3", "$ true"], "'exit 3' exits with 3"),
        (["$ cat nowhere.txt", "..."], "exits with 1"),
        (["one"], "begins with a command"),
    ],
)
def test_a_wrong_command_fails(tmp_path, lines, message):
    with pytest.raises(PageError, match=message):
        run_page(page("```console", *lines, "```"), tmp_path)


def test_a_page_says_how_its_command_fails(tmp_path):
    shown = ("```console", "$ echo no >&2; exit 2", "no", "```")
    run_page(page("<!-- exits with 2 -->", "", *shown), tmp_path)
    with pytest.raises(PageError, match="exits with 2"):
        run_page(page("<!-- exits with 1 -->", *shown), tmp_path)


def test_python_blocks_share_names_and_folder(tmp_path):
    text = page(
        "```python",
        "from pathlib import Path",
        "n = 2",
        "```",
        "```python",
        ">>> n + 1",
        "3",
        ">>> m = n * n",
        "```",
        "```python",
        "assert m == 4",
        "Path('made.txt').write_text('yes')",
        "```",
        "```console",
        "$ cat made.txt",
        "yes",
        "```",
    )
    assert run_page(text, tmp_path) == 4


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([">>> 1 + 1", "3"], "line 1:(.|\n)*Got:\n    2"),
        (["1 / 0"], "line 1: ZeroDivisionError"),
        (["def ("], "line 1: SyntaxError"),
    ],
)
def test_wrong_python_fails(tmp_path, lines, message):
    with pytest.raises(PageError, match=message):
        run_page(page("```python", *lines, "```"), tmp_path)


def test_titled_blocks_are_files_from_the_start(tmp_path):
    text = page(
        "```console",
        "$ cat deep/my.toml",
        "a = 1",
        "```",
        '1. ```toml title="not a fence"',
        '   ```toml title="deep/my.toml"',
        "   a = 1",
        "   ```",
        '```toml title="deep/my.toml"',
        "a = 2",
        "```",
        "```console",
        "$ cat deep/my.toml",
        "a = 2",
        "```",
    )
    run_page(text, tmp_path)


@pytest.mark.parametrize("name", ["../out.txt", "/tmp/out.txt"])
def test_a_file_stays_in_the_folder(tmp_path, name):
    with pytest.raises(PageError, match="outside"):
        run_page(page(f'```text title="{name}"', "x", "```"), tmp_path / "in")


def test_only_the_block_after_the_comment_is_left_out(tmp_path):
    said = "<!-- not run: it needs the Hub -->"
    wrong = ("```console", "$ false", "```")
    assert run_page(page(said, "", *wrong), tmp_path) == 0
    assert run_page(page("```", "$ false", "```", "```toml", "x", "```"), tmp_path) == 0
    with pytest.raises(PageError):
        run_page(page(said, *wrong, *wrong), tmp_path)
    with pytest.raises(PageError):
        run_page(page(said, "Words between.", *wrong), tmp_path)


def test_a_block_on_real_data_runs_where_it_is(tmp_path, monkeypatch):
    real = page("<!-- needs upstream files -->", "```console", "$ false", "```")
    monkeypatch.delenv("TSTBENCH_SOURCES", raising=False)
    assert run_page(real, tmp_path) == 0
    monkeypatch.setenv("TSTBENCH_SOURCES", str(tmp_path))
    with pytest.raises(PageError):
        run_page(real, tmp_path)


def test_a_block_without_an_end_is_seen():
    with pytest.raises(PageError, match="line 2: the block does not end"):
        list(blocks(page("words", "```python", "1")))


@pytest.mark.parametrize(
    ("shown", "got", "same"),
    [
        ("a\n...\nd", "a\nb\nc\nd\n", True),
        ("a\n...\nd", "a\nd\n", True),
        ("...\nd", "a\nd", True),
        ("a\n...", "b\na\n", False),
        ("took ... s", "took 1.5 s  \n", True),
        ("took ... s", "took 1\n5 s\n", False),
        ("a.c", "abc", False),
        ("a", "a\nb", False),
    ],
)
def test_ellipsis(shown, got, same):
    assert matches(shown, got) is same
