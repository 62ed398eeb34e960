"""``tstbench train NAME``: settings from flags and TOML, a folder with its card, mistakes told."""

import json
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from prepared import BACK, DIRECTION, command_line, refusal
from trained_tiny import trained_tiny

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import load_training
from tstbench.errors import InputError, MissingSystemError, UnknownNameError
from tstbench.trainers.load import find_system, load_system
from tstbench.trainers.system import SYSTEM_STORE, SYSTEMS, system_class, system_names, trainable
from tstbench.trainers.train import planned_system, system_config, train_system
from tstbench.trainers.training.run import Run

TRAIN = ("train", "delete-retrieve", "--direction", DIRECTION)


def settings(folder):
    return json.loads((folder / "system.json").read_text())["settings"]


def test_help_lists_systems_and_scorers_and_each_its_settings(capsys):
    code, out, _ = command_line(capsys, "train", "--help")
    assert code == 0
    for name in ("random-target", "delete-retrieve", "classifier", "lexicon"):
        assert f"\n  {name} " in out
    for name in SYSTEMS:
        if system_class(name).Config is not None:
            assert re.search(rf"\n  {name} +[A-Z].*\.\n", out), name
    code, out, _ = command_line(capsys, *TRAIN[:2], "--help")
    assert code == 0
    assert "--max-ngram VALUE" in out
    assert "the longest marker, in words (default 4)" in " ".join(out.split())
    assert "--kind" in command_line(capsys, "train", "classifier", "--help")[1]


def test_flags_win_over_the_file_and_the_file_over_the_paper(capsys, tmp_path):
    (tmp_path / "c.toml").write_text("gamma = 9\nsmoothing = 2.5\n")
    config = ("--config", tmp_path / "c.toml")
    for options, expected in (
        ((), {"gamma": 3.5, "smoothing": 1.0, "max_ngram": 4}),
        (config, {"gamma": 9.0, "smoothing": 2.5, "max_ngram": 4}),
        ((*config, "--gamma", "5", "--max-ngram", "2"), {"gamma": 5.0, "max_ngram": 2}),
    ):
        code, out, err = command_line(capsys, *TRAIN, "--out", tmp_path / "dr", *options)
        assert code == 0, err
        assert settings(tmp_path / "dr").items() >= expected.items()
        assert f"folder\t{tmp_path / 'dr'}" in out
    assert "| `gamma` | 5.0 |" in (tmp_path / "dr" / "README.md").read_text()


def test_a_dataset_is_each_of_its_directions(capsys, tmp_path):
    arguments = ("train", "random-target", "--dataset", "mini", "--name", "any")
    assert command_line(capsys, *arguments, "--out", tmp_path / "any")[0] == 0
    for direction in (DIRECTION, BACK):
        system = load_system(tmp_path / "any" / direction.split("/")[1])
        assert (system.card.name, system.card.directions) == ("any", (direction,))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--gama", "3"], "unknown option '--gama'. Did you mean '--gamma'?"),
        (["--gamma", "many"], "setting gamma of delete-retrieve: .*valid number.*got 'many'"),
        (
            ["--max-ngram", "0"],
            "setting max_ngram of delete-retrieve: .*greater than or equal to 1",
        ),
        (
            ["--config", "typo.toml"],
            "unknown setting of delete-retrieve 'gama'. Did you mean 'gamm",
        ),
        (["--config", "range.toml"], "setting gamma of delete-retrieve: .*greater than 0"),
        (["--config", "broken.toml"], "broken.toml: not TOML"),
        (["--config", "no.toml"], "no such file: no.toml"),
        (["--dataset", "mini"], "either --direction .* or --dataset"),
        (["--name", "../x"], "'../x' cannot name a system"),
        (["--out", "theirs"], "theirs contains files that TSTBench did not write"),
    ],
)
def test_a_mistake_is_told(options, expected, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "typo.toml").write_text("gama = 3\n")
    (tmp_path / "range.toml").write_text("gamma = -1\n")
    (tmp_path / "broken.toml").write_text("gamma\n")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "thesis.txt").write_text("")
    assert re.search(expected, refusal(capsys, *TRAIN, *options))
    assert (tmp_path / "theirs" / "thesis.txt").exists()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "delete-retreive",
            "unknown system or scorer 'delete-retreive'. Did you mean 'delete-retr",
        ),
        ("copy", "copy needs no training"),
        ("clasifier", "unknown system or scorer 'clasifier'. Did you mean 'classifier'?"),
    ],
)
def test_a_name_that_cannot_be_trained_is_told(name, expected, capsys):
    assert expected in refusal(capsys, "train", name, "--direction", DIRECTION)


def test_systems_are_loaded_by_name_or_folder_only_when_they_are_one(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnknownNameError, match="You can also give a folder or a Hub id"):
        load_system("copi")
    with pytest.raises(InputError, match="must be trained first: tstbench train random-target"):
        load_system("random-target")
    with pytest.raises(MissingSystemError, match=r"system\.json is missing"):
        load_system(tmp_path / "empty")
    assert not find_system("copy", parse_direction(BACK)).card.directions


def test_every_name_is_a_system_of_that_name():
    for name in SYSTEMS:
        assert name == system_class(name).KIND


def test_copying_imports_no_scikit_learn(tmp_path):
    script = (
        "import sys\nfrom tstbench.trainers.load import load_system\n"
        f"list(load_system('copy').transfer(['a'], '{DIRECTION}'))\n"
        "print([m for m in ('sklearn', 'numpy', 'torch') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[]\n"


def test_a_folder_with_a_system_for_each_direction_is_one_name(tmp_path, capsys):
    out = tmp_path / "both"
    code, _, err = command_line(
        capsys, "train", "delete-retrieve", "--dataset", "mini", "--out", out
    )
    assert code == 0, err
    for direction in (DIRECTION, BACK):
        found = find_system(str(out), parse_direction(direction))
        assert found.card.directions == (direction,)
        written = tmp_path / "p.jsonl"
        code, _, err = command_line(
            capsys, "transfer", out, "--direction", direction, "--out", written
        )
        assert code == 0, err
        written.unlink()


def test_a_training_in_a_folder_of_the_users_removes_only_what_it_wrote(tmp_path):
    data = load_training(parse_direction(DIRECTION))
    mine = tmp_path / "mine"
    (mine / "sub").mkdir(parents=True)
    for file in ("notes.txt", "sub/step-1", "curve.jsonl"):
        (mine / file).write_text("kept\n")
    run = Run(folder=mine, device="cpu")
    train_system("random-target", data, run=run)
    for seed in (0, 1):  # one folder serves several trainings
        config = system_config("stytrans", data.direction, {"seed": seed}, preset="tiny")
        assert train_system("stytrans", data, config, run=run).card.settings["seed"] == seed
    files = {str(p.relative_to(mine)): p.read_text() for p in mine.rglob("*") if p.is_file()}
    assert files == dict.fromkeys(("notes.txt", "sub/step-1", "curve.jsonl"), "kept\n")


def test_a_copy_of_a_loaded_system_is_the_same_system(tmp_path, tmp_path_factory, monkeypatch):
    folder = trained_tiny(tmp_path_factory)
    copied = load_system(folder, device="cpu").save_pretrained(tmp_path / "copy")
    assert copied.hash == SYSTEM_STORE.open(folder).hash
    files = [sorted(path.name for path in place.iterdir()) for place in (folder, tmp_path / "copy")]
    assert files[0] == files[1]
    assert "curve.jsonl" in files[0]
    monkeypatch.chdir(folder)  # a curve that lies where nothing was loaded from is not taken along
    bare = load_system("copy").save_pretrained(tmp_path / "bare")
    assert bare.hash == SYSTEM_STORE.hash_of(bare.card)


def test_settings_made_in_python_are_checked_as_those_of_the_command_line(tstbench_home):
    data = load_training(parse_direction(DIRECTION))
    wrong = replace(system_config("delete-retrieve", data.direction), gamma=-1.0)
    for make in (planned_system, train_system):
        with pytest.raises(
            InputError, match=r"setting gamma of delete-retrieve: .* greater than 0"
        ):
            make("delete-retrieve", data, wrong)
    assert not list(tstbench_home.rglob("system.json"))


def test_systems_are_listed_as_their_classes_say_and_none_is_imported():
    kinds = {name: system_class(name) for name in system_names()}
    trained = {name: one for name, one in kinds.items() if one.Config}
    assert trainable() == {name: one.__doc__.partition("\n")[0] for name, one in trained.items()}
    code = "import sys; import tstbench.trainers.system as r; r.trainable(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"torch", "sklearn", "nltk"} & set(done.stdout.split())
