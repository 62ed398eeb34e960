"""Mistakes on the pages: what a form, a file, a sentence or an address may not be."""

import pytest
from leaderboard_results import THERE, report, score_by_bleu, write
from refusals import refused, rows

from tstbench.errors import InputError, MissingFileError, UnknownNameError
from tstbench.pipelines.report import SystemInfo
from tstbench.spaces.annotate.create import lexicon_mask
from tstbench.spaces.leaderboard.data import Results, fetch_results
from tstbench.spaces.leaderboard.download import download
from tstbench.spaces.leaderboard.query import Query
from tstbench.spaces.leaderboard.ranks import RankCache
from tstbench.spaces.leaderboard.style_map import style_map
from tstbench.spaces.leaderboard.submission import MAX_BYTES, check_system, check_upload
from tstbench.spaces.rewrite.offers import checked_text

HOT = tuple(f"the soup was hot {n}" for n in range(120))


def form(name="x", there="copy", **fields):
    """Submits a system to a leaderboard that has one."""

    def act(folder):
        write(folder, report(there, {"acc": 1.0}))
        check_system(Results(folder).board(), THERE, name, **fields)

    return act


def upload(content):
    def act(folder):
        (folder / "a.txt").write_bytes(content)
        check_upload(folder / "a.txt")

    return act


def short(folder):
    (folder / "short.txt").write_text("one\ntwo\n")
    score_by_bleu(
        folder / "short.txt", THERE, SystemInfo(name="x"), folder / "out", lambda *_: None
    )


def launched(folder):
    from tstbench.spaces.leaderboard import launch

    launch(folder, port=70000, block=False)


def served(folder):
    pytest.importorskip("gradio")
    from tstbench.spaces.annotate import serve

    serve(folder)


@rows(
    # -- a submission
    *(
        (InputError, "the name needs 1 to 100", form(name))
        for name in (
            *("", "   ", "...", "+", "a/b", "../../etc", "<b>x</b>", "a\nb\x00", "na\u200bve"),
            *("x" * 101, "{{x}}"),
        )
    ),
    *(
        (InputError, ("copy is already on the leaderboard", THERE), form(name))
        for name in ("copy", "COPY", "c-o-p-y")
    ),
    (InputError, "v11 is already on the leaderboard", form("V-11", there="v11")),
    *(
        (InputError, "write the date as", form(date=date))
        for date in ("17 May", "2026-13", "2026-05-32", "٢٠٢٦-05")
    ),
    *(
        (InputError, "https://", form(outputs_url=url))
        for url in ("http://example.org", "javascript:alert(1)")
    ),
    (InputError, "family", form(family="wizard")),
    *((InputError, "is empty", upload(content)) for content in (b"", b" \n \n")),
    (InputError, "UTF-16", upload(b"\xff\xfe\x00a")),
    (InputError, ("not UTF-8", "a.txt"), upload(b"caf\xe9\n")),
    (InputError, ("1 MiB", "1.0 MiB"), upload(b"x" * (MAX_BYTES + 1))),
    (InputError, "choose a file", lambda _: check_upload(None)),
    (InputError, ("38 too few", "40 sources"), short),
    # -- the leaderboard
    (MissingFileError, "nowhere is not a folder", lambda folder: fetch_results(folder / "nowhere")),
    (MissingFileError, "tstbench/no-results", lambda _: fetch_results("tstbench/no-results")),
    (
        UnknownNameError,
        "'xls'",
        lambda to: download(Results(to).board(), Query(), "xls", RankCache()),
    ),
    (InputError, ("50", "there are 1"), lambda _: style_map(("a", ["same"] * 120), ("b", HOT))),
    (InputError, ("70000", "0 to 65535"), launched),
    # -- the other pages
    (MissingFileError, "Create one first", served),
    (InputError, "empty", lambda _: lexicon_mask([" "])),
    *(
        (InputError, "write a sentence", lambda _, text=text: checked_text(text))
        for text in ("", " \n\t\x00")
    ),
    (InputError, ("499", "300"), lambda _: checked_text("word " * 100)),
    (InputError, "not a text", lambda _: checked_text(5)),
)
def test_a_mistake_is_one_message(error, named, act, tmp_path, snapshot):
    refused(act, error, named, tmp_path, snapshot)
