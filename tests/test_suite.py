"""Suites: one file, systems x directions; interrupted and started again, nothing is done twice."""

import json
import re
import shutil
import textwrap

import pytest
from prepared import BACK, DIRECTION, command_line, prepared_home, refusal

from tstbench.datasets_scripts.load import load_test_set
from tstbench.datasets_scripts.training import load_training
from tstbench.errors import InputError
from tstbench.files import home
from tstbench.pipelines import growth
from tstbench.pipelines import suite as suite_module
from tstbench.pipelines.outputs import read_outputs
from tstbench.pipelines.predictions import card_path, read_card
from tstbench.pipelines.report_files import read_report, read_samples
from tstbench.pipelines.suite import read_suite, run_suite
from tstbench.trainers.baselines import RandomTarget
from tstbench.trainers.delete_retrieve import DeleteRetrieve
from tstbench.trainers.system_card import SYSTEM_STORE
from tstbench.trainers.train import system_config

SUITE = """
out = "results"
metrics = ["acc", "s_bleu", "r_bleu"]

[[system]]
baseline = "copy"
directions = ["mini/negative-to-positive", "mini/positive-to-negative"]

[[system]]
info = { name = "mine", family = "fpft", date = "2026-01" }
outputs = { "mini/negative-to-positive" = "outputs/mine.txt" }

[[system]]
baseline = "reference-2"
directions = ["mini/negative-to-positive"]
"""


@pytest.fixture
def prepared(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("TSTBENCH_HOME", str(prepared_home(tmp_path_factory)))


@pytest.fixture
def path(tmp_path, prepared):
    (tmp_path / "outputs").mkdir()
    sources = load_test_set(DIRECTION).sources
    (tmp_path / "outputs" / "mine.txt").write_text("\n".join(sources[1:] + sources[:1]) + "\n")
    path = tmp_path / "suite.toml"
    path.write_text(SUITE)
    return path


def run(path):
    shown = []
    run_suite(path, lambda reports, ranks: shown.append((reports, ranks)))
    return shown


def stamps(path):
    """When each file of each system was written, by system and direction."""
    found = {}
    for report in (path.parent / "results").rglob("report.json"):
        files = sorted(report.parent.iterdir())
        name = report.parent.relative_to(path.parent / "results").as_posix()
        found[name] = {file.name: (file.stat().st_mtime_ns, file.stat().st_ino) for file in files}
    return found


COPY, MINE, SECOND = (f"{DIRECTION}/{name}" for name in ("copy", "mine", "reference-2"))
COPY_BACK = f"{BACK}/copy"


def test_every_cell_is_written_and_every_direction_shown(path):
    shown = run(path)
    assert set(stamps(path)) == {COPY, MINE, SECOND, COPY_BACK}
    assert [{r.system.name for r in reports} for reports, _ in shown] == [
        {"copy", "mine", "reference-2"},
        {"copy"},
    ]
    assert [rank.system for rank in shown[0][1]["s_bleu"]] == ["mine"]  # bounds are not ranked
    mine = read_report(path.parent / "results" / MINE)
    assert (mine.system.family, mine.system.date) == ("fpft", "2026-01")
    assert [score.metric for score in mine.scores] == ["acc", "s_bleu", "r_bleu"]
    for direction in (DIRECTION, BACK):
        assert (path.parent / "results" / direction / "significance.json").is_file()


def test_a_suite_and_an_evaluation_give_the_same_samples(path, capsys):
    run(path)
    out = path.parent / "evaluated"
    code, _, err = command_line(
        capsys,
        *("evaluate", path.parent / "outputs" / "mine.txt", "--baseline", "copy"),
        *("--direction", DIRECTION, "--metrics", "acc", "s_bleu", "r_bleu", "--out", out),
    )
    assert code == 0, err
    for name in (MINE, COPY):
        assert (out / name / "samples.jsonl").read_bytes() == (
            path.parent / "results" / name / "samples.jsonl"
        ).read_bytes()
        one, other = read_report(out / name), read_report(path.parent / "results" / name)
        assert one.scores == other.scores


def test_what_is_done_is_not_done_again(path, capsys):
    run(path)
    before = stamps(path)
    capsys.readouterr()
    shown = run(path)
    assert "scored 0 of 3 systems; kept 9 scores, computed 0" in capsys.readouterr().err
    assert stamps(path) == before
    assert len(shown) == 2


def test_after_a_crash_the_finished_cells_are_kept(path, monkeypatch):
    real, done = suite_module.evaluate, []

    def crash_in_the_second(outputs, *rest):
        if done:
            raise RuntimeError("the machine is gone")
        done.append(outputs[0].system)
        return real(outputs, *rest)

    monkeypatch.setattr(suite_module, "evaluate", crash_in_the_second)
    with pytest.raises(RuntimeError, match="the machine is gone"):
        run(path)
    before = stamps(path)
    assert list(before) == [COPY]
    monkeypatch.setattr(suite_module, "evaluate", real)
    run(path)
    after = stamps(path)
    assert after[COPY] == before[COPY]
    assert set(after) == {COPY, MINE, SECOND, COPY_BACK}


def test_control_c_leaves_whole_files_and_exit_code_130(path, monkeypatch, capsys):
    real, calls = growth.write_text, []

    def interrupted_in_the_second(path, text):
        calls.append(path)
        if len(calls) == 2:
            path.write_text("{")
            raise KeyboardInterrupt
        real(path, text)

    with monkeypatch.context() as patch:
        patch.setattr(growth, "write_text", interrupted_in_the_second)
        code, _, err = command_line(capsys, "run", path)
    assert code == 130
    assert "completed work is kept" in err
    assert "Traceback" not in err
    folder = path.parent / "results" / DIRECTION
    assert [p.name for p in folder.iterdir()] == ["copy"]
    assert len(read_samples(folder / "copy")) == 40
    before = stamps(path)
    run(path)
    assert stamps(path)[COPY] == before[COPY]
    assert set(stamps(path)) == {COPY, MINE, SECOND, COPY_BACK}


def test_changed_predictions_are_scored_again_and_nothing_else(path):
    run(path)
    before = stamps(path)
    file = path.parent / "outputs" / "mine.txt"
    file.write_text("the soup was lovely.\n" * 40)
    run(path)
    after = stamps(path)
    assert {name for name in after if after[name] != before[name]} == {MINE}
    assert read_samples(path.parent / "results" / MINE)[0].prediction == "the soup was lovely."


def test_changed_facts_are_written_again_and_fewer_metrics_take_nothing_away(path):
    run(path)
    before = stamps(path)
    path.write_text(SUITE.replace('date = "2026-01"', 'date = "2026-02"'))
    run(path)
    after = stamps(path)
    assert {name for name in after if after[name] != before[name]} == {MINE}
    path.write_text(SUITE.replace('"s_bleu", "r_bleu"', '"s_bleu"').replace("-01", "-02"))
    shown = run(path)
    assert stamps(path) == after
    assert [score.metric for score in shown[0][0][0].scores] == ["acc", "s_bleu"]


@pytest.mark.parametrize("damage", ["report.json", "samples.jsonl", "replicates.parquet", "cut"])
def test_a_damaged_cell_is_made_anew(path, damage):
    run(path)
    folder = path.parent / "results" / COPY
    whole = {file.name: file.read_bytes() for file in folder.iterdir()}
    if damage == "cut":
        (folder / "report.json").write_text("{")
    else:
        (folder / damage).unlink()
    run(path)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == whole


def test_a_run_prints_tables_and_says_where_the_results_are(path, capsys):
    code, out, err = command_line(capsys, "run", path)
    assert code == 0
    assert out.count("Ranked by") == 1  # the other direction has a bound only
    assert f"tstbench leaderboard {path.parent / 'results'}" in err


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('out = "results"', "out = 3", "suite.toml, line 2: out: "),
        ('out = "results"', "out = results", "suite.toml: not TOML: .*line 2"),
        ('out = "results"', 'outt = "results"', "line 2: unknown key 'outt'. Did you mean 'out'"),
        ('out = "results"', 'profile = "papr"', "unknown profile 'papr'. Did you mean 'paper'"),
        ('out = "results"', 'options.bleu.protocol = "13b"', "unknown BLEU protocol '13b'"),
        ('out = "results"', 'scorers.encodr = "x/y"', "unknown role of a scorer 'encodr'"),
        ('out = "results"', 'options.ppl.norm = "wrds"', "unknown value of ppl.norm 'wrds'"),
        ('"acc"', '"ac"', "unknown metric 'ac'. Did you mean 'acc'"),
        ('["acc", "s_bleu", "r_bleu"]', "[]", "no metric to compute"),
        ('family = "fpft"', 'family = "big"', r"line \d+: system\.info\.family: Input should"),
        ('date = "2026-01"', 'date = "January"', r"line \d+: system\.info\.date: String sho"),
        (
            'baseline = "copy"',
            'baselin = "copy"',
            r"line \d+: unknown key 'system\.baselin'. Did you mean 'base",
        ),
        ('baseline = "copy"', 'baseline = "copi"', "unknown system 'copi'. Did you mean 'copy'"),
        ('"mini/positive-to-negative"', '"mini/postive"', "unknown direction 'mini/postive'"),
        ("outputs/mine.txt", "outputs/no.txt", "mine, mini/negative-to-positive: no such file: "),
        ('name = "mine"', 'name = "Copy"', "mini/negative-to-positive: 'copy' and 'Copy' would"),
        ("[[system]]", "[[systems]]", "unknown key 'systems'. Did you mean 'system'"),
        (
            "info = {",
            'directions = ["mini/negative-to-positive"]\ninfo = {',
            "system 2: 'directions' does not apply",
        ),
        ("info = {", 'published = "chatgpt"\ninfo = {', "system 2: one of 'system', 'publis"),
        ("outputs = {", 'baseline = "copy"\noutputs = {', "system 2: one of 'system', 'publis"),
        ('baseline = "copy"', 'published = "chatgp"', "unknown published system 'chatgp'. Did yo"),
        ("outputs = {", "# ", "system 2: one of 'system', 'published' and 'outputs' is needed"),
        ("info = { ", "# ", "system 2: 'outputs' need 'info.name'"),
        ('directions = ["mini/negative-to-positive"]\n', "", "system 3: 'directions' is missing"),
    ],
)
def test_a_mistake_in_the_file_names_the_field(old, new, expected, path, capsys):
    assert old in SUITE
    path.write_text(SUITE.replace(old, new))
    message = refusal(capsys, "run", path)
    assert re.search(expected, message)
    assert not (path.parent / "results").exists()


def test_a_suite_needs_a_system(tmp_path):
    path = tmp_path / "suite.toml"
    path.write_text('system = []\nout = "x"\n')
    with pytest.raises(InputError, match=r"suite\.toml, line 1: system: "):
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
    path.write_text(SUITE.replace('baseline = "copy"', 'system = "delete-retrieve"'))
    shown = run(path)
    assert {r.system.name for r in shown[0][0]} == {"mine", "reference-2", "delete-retrieve"}
    renamed = SUITE.replace('name = "mine"', 'name = "other"')
    path.write_text(renamed.replace('baseline = "copy"', 'system = "random-target"'))
    run(path)
    ranks = json.loads((path.parent / "results" / DIRECTION / "significance.json").read_text())
    acc = next(one for signature, one in ranks.items() if signature.startswith("acc|"))
    assert set(acc["ranks"]) == {"mine", "other", "delete-retrieve"}


def test_a_foreign_damaged_report_is_told_by_name_and_left_out(path, capsys):
    run(path)
    foreign = path.parent / "results" / DIRECTION / "foreign"
    foreign.mkdir()
    (foreign / "report.json").write_text('{"schema_version": 99}')
    run(path)
    assert "foreign/report.json cannot be read: its schema_version" in capsys.readouterr().err
    assert (foreign / "report.json").read_text() == '{"schema_version": 99}'


def test_a_changed_number_is_not_taken_for_done(path, capsys):
    run(path)
    report = path.parent / "results" / COPY / "report.json"
    honest = report.read_text()
    report.write_text(honest.replace('"value": 100.0', '"value": 99.9', 1))
    assert report.read_text() != honest
    run(path)
    assert report.read_text() == honest


def test_other_settings_in_the_same_folder_are_not_ranked_together(path, tmp_path):
    run(path)
    other = tmp_path / "other.toml"
    other.write_text(
        'options.bleu.protocol = "13a"\nmetrics = ["s_bleu"]\n'
        '[[system]]\nsystem = "delete-retrieve"\n'
        f'directions = ["{DIRECTION}"]\n'
    )
    [(reports, ranks)] = run(other)
    assert [report.system.name for report in reports] == ["delete-retrieve"]
    assert [(r.system, r.low, r.high) for r in ranks["s_bleu"]] == [("delete-retrieve", 1, 1)]
    folder = path.parent / "results" / DIRECTION
    record = json.loads((folder / "significance.json").read_text())
    ranked = {"13a" in s: one["ranks"] for s, one in record.items() if s.startswith("s_bleu|")}
    assert {name: set(ranks) for name, ranks in ranked.items()} == {
        False: {"mine"},
        True: {"delete-retrieve"},
    }
    assert max(high for _, high in ranked[False].values()) == 1


# -- the transfer stage ----------------------------------------------------------------------------

SYSTEMS = f"""
out = "results"
metrics = ["s_bleu"]

[[system]]
system = "delete-retrieve"
directions = ["{DIRECTION}", "{BACK}"]

[[system]]
baseline = "random-target"
directions = ["{DIRECTION}"]
seed = 3

[[system]]
system = "strict"
info = {{ name = "strict", family = "rule" }}
"""


@pytest.fixture
def systems(tmp_path, monkeypatch):
    """A suite of systems, and how often each is really trained and asked."""
    data = load_training(DIRECTION)
    config = system_config("delete-retrieve", data.direction, {"gamma": 9})
    DeleteRetrieve.train(data, config).save_pretrained(tmp_path / "strict")
    path = tmp_path / "suite.toml"
    path.write_text(SYSTEMS)
    calls = {"trained": 0, "asked": 0}

    for kind in (DeleteRetrieve, RandomTarget):
        train, rewrite = kind.train.__func__, kind.rewrite

        def counting_train(cls, data, config, run, real=train):
            calls["trained"] += 1
            return real(cls, data, config)

        def counting_rewrite(self, batch, task, real=rewrite):
            calls["asked"] += len(batch)
            return real(self, batch, task)

        monkeypatch.setattr(kind, "train", classmethod(counting_train))
        monkeypatch.setattr(kind, "rewrite", counting_rewrite)
    return path, calls


def predictions(path, direction, name):
    return path.parent / "results" / "predictions" / direction / f"{name}.jsonl"


def test_a_finished_suite_asks_no_system_again_and_builds_none(systems):
    path, calls = systems
    run(path)
    assert calls == {"trained": 3, "asked": 4 * 40}
    reports = stamps(path)
    assert set(reports) == {
        *(f"{d}/delete-retrieve" for d in (DIRECTION, BACK)),
        *(f"{DIRECTION}/{name}" for name in ("random-target", "strict")),
    }
    run(path)
    assert calls == {"trained": 3, "asked": 4 * 40}
    shutil.rmtree(home() / "systems")  # a recipe is known without its system
    run(path)
    assert calls == {"trained": 3, "asked": 4 * 40}
    assert stamps(path) == reports


def test_predictions_lie_below_the_results_with_their_cards(systems):
    path, _ = systems
    run(path)
    test_set = load_test_set(DIRECTION)
    for name, seed in (("delete-retrieve", 0), ("random-target", 3), ("strict", 0)):
        file = predictions(path, DIRECTION, name)
        card, outputs = read_card(file), read_outputs(file, test_set)
        assert (card.question.seed, card.finished, card.sha256) == (seed, True, outputs.sha256)
        report = read_report(path.parent / "results" / DIRECTION / name)
        assert report.outputs_sha256 == outputs.sha256
        assert report.system.system_hash == card.system_hash
        assert report.system.name == name
    folders = {p.name for p in (path.parent / "results" / DIRECTION).iterdir()}
    assert folders == {"delete-retrieve", "random-target", "strict", "significance.json"}


def test_only_what_is_missing_is_asked_and_trained(systems, capsys):
    path, calls = systems
    run(path)
    calls.update(trained=0, asked=0)
    file = predictions(path, DIRECTION, "random-target")
    card = json.loads(card_path(file).read_text())
    card_path(file).write_text(json.dumps({**card, "finished": False, "sha256": None}))
    whole = file.read_bytes()
    file.write_bytes(b"".join(whole.splitlines(keepends=True)[:31]))
    run(path)
    assert calls == {"trained": 0, "asked": 9}
    assert file.read_bytes() == whole
    path.write_text(SYSTEMS.replace("seed = 3", "seed = 4"))
    capsys.readouterr()
    run(path)
    err = capsys.readouterr().err
    assert calls == {"trained": 0, "asked": 9 + 40}
    assert f"{file}: starting over, for another seed" in err
    assert "scored 1 of 3 systems" in err
    assert "training" not in err


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            '"random-target"',
            '"random-target"\ngeneration = {beams = 2}',
            "has no settings, got 'be",
        ),
        ('system = "strict"', 'system = "results.toml"', "unknown system 'results.toml'"),
        (
            'system = "strict"',
            f'system = "strict"\ndirections = ["{BACK}"]',
            "delete-retrieve cannot do",
        ),
        ("seed = 3", 'seed = "x"', r"suite.toml, line 12: system\.seed: Input should be"),
    ],
)
def test_mistakes_are_told_before_anything_is_trained(systems, old, new, expected, capsys):
    path, calls = systems
    assert old in SYSTEMS
    path.write_text(SYSTEMS.replace(old, new))
    assert re.search(expected, refusal(capsys, "run", path))
    assert calls == {"trained": 0, "asked": 0}
    assert not (path.parent / "results").exists()


def test_a_seed_is_for_a_system(path, capsys):
    path.write_text(SUITE.replace("outputs = {", "seed = 1\noutputs = {"))
    assert "system 2: 'seed' only applies to a 'system'" in refusal(capsys, "run", path)


TRAINED = """
metrics = ["s_bleu"]

[[system]]
system = "stytrans"
directions = ["mini/negative-to-positive", "mini/positive-to-negative"]
preset = "tiny"
settings = { rounds = 2 }
"""


def test_a_suite_trains_once_for_both_ways_with_its_settings(path, capsys):
    path.write_text(TRAINED)
    code, _, err = command_line(capsys, "run", path)
    assert (code, err.count("training stytrans")) == (0, 1), err
    stored = [model.card for model in SYSTEM_STORE.models() if model.card.kind == "stytrans"]
    assert [(card.settings["rounds"], card.settings["layers"]) for card in stored] == [(2, 1)]
    for old, new, expected in (
        ("rounds = 2", "round = 2", "unknown setting of stytrans 'round'. Did you mean 'rounds'"),
        ('"tiny"', '"tinny"', "Did you mean 'tiny'"),
        ('system = "stytrans"', 'system = "copy"', "copy needs no training"),
        ('system = "stytrans"', 'system = "reference-1"', "'preset' only applies to a 'system'"),
    ):
        path.write_text(TRAINED.replace(old, new))
        assert expected in refusal(capsys, "run", path)
