"""Suites: one file, systems x directions; interrupted and started again, nothing is done twice."""

import json
import re
import shutil
import textwrap

import pytest
from places import GOLDEN
from prepared import BACK, DIRECTION, command_line, refusal, success
from refusals import refuses
from suite_runs import hashes, run, stamps

from tstbench.datasets_scripts.load import load_test_set
from tstbench.errors import InputError
from tstbench.pipelines import growth
from tstbench.pipelines.report import read_report
from tstbench.pipelines.results import read_stored
from tstbench.pipelines.suite import read_suite
from tstbench.trainers.system import SYSTEM_STORE

SUITE = """
out = "results"
metrics = ["acc", "s_bleu", "r_bleu"]

[[system]]
system = "copy"
directions = ["mini/negative-to-positive", "mini/positive-to-negative"]

[[system]]
info = { name = "mine", family = "fpft", date = "2026-01" }
outputs = { "mini/negative-to-positive" = "outputs/mine.txt" }

[[system]]
system = "reference-2"
directions = ["mini/negative-to-positive"]
"""


@pytest.fixture
def path(tmp_path, prepared):
    (tmp_path / "outputs").mkdir()
    sources = load_test_set(DIRECTION).sources
    (tmp_path / "outputs" / "mine.txt").write_text("\n".join(sources[1:] + sources[:1]) + "\n")
    path = tmp_path / "suite.toml"
    path.write_text(SUITE)
    return path


COPY, MINE, SECOND = (f"{DIRECTION}/{name}" for name in ("copy", "mine", "reference-2"))
COPY_BACK = f"{BACK}/copy"


def test_every_cell_is_written_and_every_direction_shown_and_nothing_done_twice(path, capsys):
    """The lines of ``mine`` are one line early, which is said while it is new."""
    shown = run(path)
    said = capsys.readouterr().err
    assert "careful: mine: " in said
    assert "careful: copy" not in said
    assert set(stamps(path)) == {COPY, MINE, SECOND, COPY_BACK}
    assert [{r.system.name for r in one.reports} for one in shown] == [
        {"copy", "mine", "reference-2"},
        {"copy"},
    ]
    assert [rank.system for rank in shown[0].ranking("s_bleu")] == ["mine"]  # bounds are not ranked
    mine = read_report(path.parent / "results" / MINE)
    assert (mine.system.family, mine.system.date) == ("fpft", "2026-01")
    assert [score.metric for score in mine.scores] == ["acc", "s_bleu", "r_bleu"]
    for direction in (DIRECTION, BACK):
        assert (path.parent / "results" / direction / "significance.json").is_file()
    before = stamps(path)
    assert len(run(path)) == 2
    said = capsys.readouterr().err
    assert "scored 0 of 3 systems; kept 9 scores, computed 0" in said
    assert "careful" not in said
    assert stamps(path) == before


def test_a_suite_leaves_the_files_that_were_recorded(tmp_path):
    assert hashes(tmp_path) == json.loads((GOLDEN / "pipelines.json").read_text())["files"]


def test_a_suite_and_an_evaluation_give_the_same_samples_and_scores(path, capsys):
    """Also of an adversarial classifier: it depends on what the other systems wrote."""
    folder, metrics = path.parent / "outputs", ("acc", "s_bleu", "naturalness_unigram")
    lines = (folder / "mine.txt").read_text().splitlines()
    (folder / "short.txt").write_text("".join(f"{' '.join(s.split()[:3])}\n" for s in lines))
    path.write_text(
        f'out = "results"\nmetrics = {list(metrics)}\n'
        f'[[system]]\nsystem = "copy"\ndirections = ["{DIRECTION}"]\n'
        + "".join(
            f'[[system]]\ninfo = {{ name = "{name}" }}\n'
            f'outputs = {{ "{DIRECTION}" = "outputs/{name}.txt" }}\n'
            for name in ("mine", "short")
        )
    )
    run(path)
    out = path.parent / "evaluated"
    files = ("--baseline", "copy", folder / "mine.txt", folder / "short.txt")
    options = ("--direction", DIRECTION, "--metrics", *metrics, "--out", out)
    success(capsys, "evaluate", *files, *options)
    for name in ("copy", "mine", "short"):
        one, other = (root / DIRECTION / name for root in (out, path.parent / "results"))
        assert [score.metric for score in read_report(one).scores] == [*metrics]
        assert read_report(one).scores == read_report(other).scores
        assert (one / "samples.jsonl").read_bytes() == (other / "samples.jsonl").read_bytes()


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_whatever_ends_a_run_whole_files_stay(error, path, monkeypatch, capsys):
    """Ctrl-C is exit code 130; a bug is no cell that is left out: it ends the run, as it is."""
    real, calls = growth.write_text, []

    def ended_in_the_second(path, text):
        calls.append(path)
        if len(calls) == 2:
            path.write_text("{")
            raise error
        real(path, text)

    with monkeypatch.context() as patch:
        patch.setattr(growth, "write_text", ended_in_the_second)
        if error is RuntimeError:
            with pytest.raises(RuntimeError):
                run(path)
        else:
            code, _, err = command_line(capsys, "run", path)
            assert code == 130
            assert "completed work is kept" in err
            assert "Traceback" not in err
    folder = path.parent / "results" / DIRECTION
    assert [p.name for p in folder.glob("[!.]*")] == ["copy"]
    assert len(read_stored(folder / "copy").samples()) == 40
    before = stamps(path)
    run(path)
    assert stamps(path)[COPY] == before[COPY]
    assert set(stamps(path)) == {COPY, MINE, SECOND, COPY_BACK}


HAS, TRAINED = 'system = "copy"', 'system = "stytrans"'
MISTAKES = (
    ('out = "results"', "out = 3", "suite.toml: out: "),
    ('out = "results"', "out = results", "line 2"),
    ('out = "results"', 'name = "x"', "'name'"),  # a system's
    ('out = "results"', 'outt = "results"', "'outt'", "'out'"),
    ('out = "results"', 'device = "gpu"', "'gpu'"),
    ('out = "results"', 'dtype = "int8"', "'int8'"),
    ('out = "results"', 'profile = "papr"', "'papr'", "'paper'"),
    ('out = "results"', 'options.bleu.protocol = "13b"', "'13b'"),
    ('out = "results"', 'scorers.encodr = "x/y"', "'encodr'"),
    ('out = "results"', 'scorers.classifier = "linnear"', "'linnear'", "'linear'"),
    ('out = "results"', 'scorers.classifier = "linear@trian"', "'trian'", "'train'"),
    ('out = "results"', 'options.ppl.norm = "wrds"', "ppl.norm 'wrds'"),
    ('"acc"', '"ac"', "'ac'", "'acc'"),
    ('["acc", "s_bleu", "r_bleu"]', "[]", "no metric"),
    ('family = "fpft"', 'family = "big"', "system 2.info.family"),
    ('date = "2026-01"', 'date = "January"', "system 2.info.date"),
    (HAS, 'systm = "copy"', "'system 1.systm'", "'system'"),
    (HAS, 'system = "copi"', "'copi'", "'copy'"),
    (HAS, 'published = "chatgp"', "'chatgp'"),
    (HAS, 'system = "results.toml"', "'results.toml'"),
    (HAS, f'{HAS}\nseed = "x"', "system 1.seed"),
    (HAS, f'{HAS}\npreset = "tiny"', "copy needs no training"),
    (HAS, 'system = "reference-1"\npreset = "tiny"', "'preset'"),
    (HAS, f'{TRAINED}\npreset = "tinny"', "'tinny'", "'tiny'"),
    (HAS, f"{TRAINED}\nsettings = {{ round = 2 }}", "'round'", "'rounds'"),
    (HAS, f"{TRAINED}\nseeds = 1", "seeds", "2"),
    (HAS, f"{TRAINED}\nseeeds = 3", "'system 1.seeeds'", "'seeds'"),
    (HAS, 'system = "delete-retrieve"\npreset = "tiny"', "preset of delete-retrieve", "'tiny'"),
    (HAS, f"{HAS}\nresources = {{ cpus = 0.001 }}", "cpus"),
    (HAS, f"{HAS}\nresources = {{ gpus = 1.5 }}", "system 1.resources.gpus"),
    ('"mini/positive-to-negative"', '"mini/postive"', "'mini/postive'"),
    ("outputs/mine.txt", "outputs/no.txt", "mine, mini/negative-to-positive", "no.txt"),
    ('name = "mine"', 'name = "Copy"', "mini/negative-to-positive: 'copy' and 'Copy'"),
    ("[[system]]", "[[systems]]", "'systems'", "'system'"),
    ("info = {", f'directions = ["{DIRECTION}"]\ninfo = {{', "system 2: 'directions'"),
    ("info = {", 'published = "chatgpt"\ninfo = {', "system 2", "'published'"),
    ("outputs = {", f"{HAS}\noutputs = {{", "system 2", "'outputs'"),
    ("outputs = {", "seed = 1\noutputs = {", "system 2: 'seed'"),
    ("outputs = {", "# ", "system 2", "'outputs'"),
    ("info = { ", "# ", "system 2", "'info.name'"),
    ('directions = ["mini/negative-to-positive"]\n', "", "system 3: 'directions'"),
)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake[1] or mistake[0])
def test_a_mistake_in_the_file_names_the_field(mistake, path, capsys, snapshot, monkeypatch):
    old, new, *named = mistake
    assert old in SUITE
    path.write_text(SUITE.replace(old, new))
    monkeypatch.chdir(path.parent)
    monkeypatch.setenv("TSTBENCH_HOME", "home")
    refuses(capsys, "run suite.toml", named, snapshot)


def test_a_suite_needs_a_system(tmp_path):
    path = tmp_path / "suite.toml"
    path.write_text('system = []\nout = "x"\n')
    with pytest.raises(InputError, match=r"suite\.toml: system: "):
        read_suite(path)


def test_a_bad_file_in_the_last_direction_is_told_before_anything_is_scored(path, capsys):
    (path.parent / "outputs" / "back.txt").write_text("too\nfew\n")
    path.write_text(
        SUITE
        + textwrap.dedent("""
            [[system]]
            info = { name = "back" }
            outputs = { "mini/positive-to-negative" = "outputs/back.txt" }
            """)
    )
    assert "back.txt has 2 predictions" in refusal(capsys, "run", path)
    assert not (path.parent / "results").exists()


def test_systems_of_earlier_suites_stay_and_are_compared(path):
    run(path)
    shutil.rmtree(path.parent / "results" / COPY)
    path.write_text(SUITE.replace('system = "copy"', 'system = "delete-retrieve"'))
    shown = run(path)
    assert {r.system.name for r in shown[0].reports} == {"mine", "reference-2", "delete-retrieve"}
    renamed = SUITE.replace('name = "mine"', 'name = "other"')
    path.write_text(renamed.replace('system = "copy"', 'system = "random-target"'))
    run(path)
    ranks = json.loads((path.parent / "results" / DIRECTION / "significance.json").read_text())
    acc = next(one for signature, one in ranks.items() if signature.startswith("acc|"))
    assert set(acc["ranks"]) == {"mine", "other", "delete-retrieve"}


def test_other_settings_in_the_same_folder_are_not_ranked_together(path, tmp_path):
    run(path)
    other = tmp_path / "other.toml"
    other.write_text(
        'options.bleu.protocol = "13a"\nmetrics = ["s_bleu"]\n'
        '[[system]]\nsystem = "delete-retrieve"\n'
        f'directions = ["{DIRECTION}"]\n'
    )
    [standings] = run(other)
    assert [report.system.name for report in standings.reports] == ["delete-retrieve"]
    [only] = standings.ranking("s_bleu")
    assert (only.system, only.low, only.high) == ("delete-retrieve", 1, 1)
    folder = path.parent / "results" / DIRECTION
    record = json.loads((folder / "significance.json").read_text())
    ranked = {"13a" in s: one["ranks"] for s, one in record.items() if s.startswith("s_bleu|")}
    assert {name: set(ranks) for name, ranks in ranked.items()} == {
        False: {"mine"},
        True: {"delete-retrieve"},
    }
    assert max(high for _, high in ranked[False].values()) == 1


def test_a_cell_that_lacks_something_is_left_out_and_the_others_run(path, capsys, monkeypatch):
    monkeypatch.delenv("TSTBENCH_GYAFC", raising=False)
    licensed = "gyafc_em/informal-to-formal"
    directions = f'directions = ["{DIRECTION}", "{licensed}"]'
    path.write_text(SUITE.replace('directions = ["mini/negative-to-positive"]', directions))
    code, out, err = command_line(capsys, "run", path)
    assert (code, err.count("left out: reference-2 on gyafc_em")) == (1, 1)
    assert out.count("Ranked by") == 1  # the other direction has a bound only
    assert re.search(r"1 of 5 cells were left out.* 1 for: GYAFC_Corpus is licensed", err)
    assert set(stamps(path)) == {COPY, MINE, SECOND, COPY_BACK}


def test_a_cell_that_fails_is_left_out_and_the_others_run(path, capsys):
    """Results of a later version are not overwritten; nothing else depends on them."""
    run(path)
    results = path.parent / "results"
    newer = results / COPY / "report.json"
    newer.write_text('{"schema_version": 99}')
    for name in (MINE, COPY_BACK):
        shutil.rmtree(results / name)
    code, out, err = command_line(capsys, "run", path)
    assert (code, newer.read_text()) == (1, '{"schema_version": 99}')
    assert re.search(r"1 of 4 cells were left out.* 1 for: .*copy/report.json", err)
    assert err.count(f"left out: copy on {DIRECTION}") == 1
    assert {MINE, COPY_BACK} < set(stamps(path))
    assert out.count("mini/") == 2  # a table for each direction


def test_a_dry_run_knows_that_options_outputs_or_the_other_systems_changed(path, capsys):
    mine = path.parent / "outputs" / "mine.txt"
    lines = mine.read_text()

    def states():
        out = command_line(capsys, "run", path, "--dry-run", "--direction", DIRECTION)[1]
        return dict(re.findall(r"^  ([a-z][\w-]*) +([=STW])$", out, re.M))

    run(path)
    assert states() == {"copy": "=", "mine": "=", "reference-2": "="}
    mine.write_text(lines.replace("the", "a"))
    assert states() == {"copy": "=", "mine": "S", "reference-2": "="}
    mine.write_text(lines)
    path.write_text('options.bleu.protocol = "13a"\n' + SUITE)
    assert states() == {"copy": "S", "mine": "S", "reference-2": "S"}
    two = SUITE.replace(
        'metrics = ["acc", "s_bleu", "r_bleu"]', 'metrics = ["naturalness_unigram"]'
    )
    path.write_text(two)
    run(path)
    assert states() == {"copy": "=", "mine": "=", "reference-2": "="}
    path.write_text(f'{two}\n[[system]]\nsystem = "random-target"\ndirections = ["{DIRECTION}"]\n')
    assert states() == {"copy": "S", "mine": "S", "reference-2": "S", "random-target": "T"}


def test_a_dry_run_of_a_suite_with_one_metric_more_trains_no_scorer(
    tmp_path, tstbench_home, capsys
):
    path = tmp_path / "suite.toml"
    text = f'directions = ["{DIRECTION}"]\n[[system]]\nsystem = "reference-2"\n'
    path.write_text(f'metrics = ["s_bleu"]\n{text}')
    run(path)
    path.write_text(f'metrics = ["s_bleu", "acc"]\n{text}')
    code, out, err = command_line(capsys, "run", path, "--dry-run")
    assert (code, "     1  S" in out) == (0, True), err
    assert not (tstbench_home / "scorers").exists()


def test_a_dry_run_knows_what_is_scored_as_far_as_it_can_be(path, tmp_path, capsys):
    """Nobody rewrote these sentences: there can be no r_bleu."""
    (tmp_path / "test.txt").write_text("the soup was cold .\nit was late .\n")
    (tmp_path / "own.toml").write_text(
        'name = "own"\nstyles = ["rude", "polite"]\n'
        '[[direction]]\nfrom = "rude"\nto = "polite"\ntest = "test.txt"\n'
    )
    path.write_text(
        'data = ["own.toml"]\ndirections = ["own"]\nmetrics = ["s_bleu", "r_bleu"]\n'
        '[[system]]\nsystem = "copy"\n'
    )
    assert "     1  W" in command_line(capsys, "run", path, "--dry-run")[1]
    run(path)
    assert "     1  =  scored" in command_line(capsys, "run", path, "--dry-run")[1]
    path.write_text(path.read_text().replace('"r_bleu"', '"r_bleu", "copy_rate"'))
    assert "     1  S" in command_line(capsys, "run", path, "--dry-run")[1]


def test_settings_and_seeds_of_a_run(path, capsys):
    path.write_text(
        'metrics = ["s_bleu"]\ndirections = ["mini"]\n[[system]]\nsystem = "delete-retrieve"\n'
    )
    plan = ("run", path, "--dry-run", "--set")
    assert "2 directions, 2 cells" in command_line(capsys, *plan, "delete-retrieve.gamma=3")[1]
    code, _, err = command_line(capsys, "run", path, "--set", "delete-retrieve.gamma=3")
    assert (code, f"tstbench leaderboard {path.parent / 'results'}" in err) == (0, True)
    for direction in (DIRECTION, BACK):
        report = read_report(path.parent / "results" / direction / "delete-retrieve")
        stored = next(m for m in SYSTEM_STORE.models() if m.hash == report.system.system_hash)
        assert stored.card.settings["gamma"] == 3
    assert "     2  =  scored" in command_line(capsys, *plan, "delete-retrieve.gamma=3")[1]
    assert "     2  T  to train" in command_line(capsys, *plan, "delete-retrieve.gamma=4")[1]
    for change, word in (
        ("delete-retrieve.gama=3", "gamma"),
        ("copi.x=1", "copi"),
        ("gamma=3", "SYSTEM.SETTING=VALUE"),
        ("delete-retrieve.gamma=many", "many"),
    ):
        assert word in refusal(capsys, "run", path, "--set", change)
    assert "0 seeds" in refusal(capsys, "run", path, "--seeds", "0")
