"""``tstbench train NAME``: settings from flags and TOML, a folder with its card, mistakes told."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from own_data import RUDE, write_lines, write_manners
from prepared import BACK, DIRECTION, command_line, success
from trained_tiny import trained_tiny

from tstbench.datasets_scripts.catalog import load_data, parse_direction
from tstbench.datasets_scripts.load import load_training
from tstbench.errors import InputError, MissingSystemError, UnknownNameError
from tstbench.trainers.load import Choice, find_system, load_system
from tstbench.trainers.system import SYSTEM_STORE, SYSTEMS, system_class, system_names, trainable
from tstbench.trainers.train import planned_system, system_config, train_system
from tstbench.trainers.training.run import Run

TRAIN = ("train", "delete-retrieve", "--direction", DIRECTION)


def settings(folder):
    return json.loads((folder / "system.json").read_text())["settings"]


def test_help_lists_systems_and_scorers_and_each_its_settings(capsys):
    out, _ = success(capsys, "train", "--help")
    for name in ("random-target", "delete-retrieve", "classifier", "lexicon"):
        assert f"\n  {name} " in out
    for name in SYSTEMS:
        if system_class(name).Config is not None:
            assert re.search(rf"\n  {name} +[A-Z].*\.\n", out), name
    out, _ = success(capsys, *TRAIN[:2], "--help")
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
        out, _ = success(capsys, *TRAIN, "--out", tmp_path / "dr", *options)
        assert settings(tmp_path / "dr").items() >= expected.items()
        assert f"folder\t{tmp_path / 'dr'}" in out
    assert "| `gamma` | 5.0 |" in (tmp_path / "dr" / "README.md").read_text()


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


def test_a_dataset_is_each_of_its_directions_and_its_folder_one_name(tmp_path, capsys):
    out = tmp_path / "both"
    train = ("train", "delete-retrieve", "--dataset", "mini", "--name", "any", "--out", out)
    success(capsys, *train)
    for direction in (DIRECTION, BACK):
        for found in (
            find_system(str(out), parse_direction(direction)),
            load_system(out / direction.split("/")[1]),
        ):
            assert (found.card.name, found.card.directions) == ("any", (direction,))
        written = tmp_path / f"{direction.split('/')[1]}.jsonl"
        transfer = ("transfer", out, "--direction", direction, "--out", written)
        success(capsys, *transfer)


def test_a_training_in_a_folder_of_the_users_removes_only_what_it_wrote(tmp_path):
    data = load_training(parse_direction(DIRECTION))
    mine = tmp_path / "mine"
    (mine / "sub").mkdir(parents=True)
    for file in ("notes.txt", "sub/step-1", "curve.jsonl"):
        (mine / file).write_text("kept\n")
    run = Run(folder=mine, device="cpu")
    train_system("random-target", data, run=run)
    for seed in (0, 1):  # one folder serves several trainings
        settings = {"seed": seed, "warm_up": 2, "rounds": 1}
        config = system_config("stytrans", data.direction, settings, preset="tiny")
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


# -- finding a system by name ----------------------------------------------------------------------


THERE = parse_direction("mini/negative-to-positive")
WAY_BACK = THERE.reverse


def kept(found):
    """Store a system under the card that was planned, as its training would."""
    return SYSTEM_STORE.keep(found.card, lambda folder: None)


def write_records(path, *outputs):
    rows = [{"instruction": "Say it.", "input": "", "output": output} for output in outputs]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_another_content_of_a_file_that_settings_name_is_another_system(tmp_path):
    file = tmp_path / "own.jsonl"
    write_records(file, "one", "two")
    choice = Choice(preset="tiny", settings={"instructions": str(file)})
    first = find_system("llama-lora-inst", THERE, choice=choice)
    stored = kept(first)
    assert find_system("llama-lora-inst", THERE, choice=choice).open("cpu") == stored
    write_records(file, "one", "six")  # of the same length
    other = find_system("llama-lora-inst", THERE, choice=choice)
    assert other.identity != first.identity
    assert other.card.data_fingerprint != first.card.data_fingerprint
    write_records(file, "one", "two")
    assert find_system("llama-lora-inst", THERE, choice=choice).identity == first.identity


@pytest.mark.parametrize("change", ["edited", "added", "removed"])
def test_another_content_of_a_folder_that_settings_name_is_another_system(tmp_path, change):
    folder = tmp_path / "base"
    (folder / "inside").mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "inside" / "weights").write_text("1")
    choice = Choice(preset="tiny", settings={"base": str(folder), "pairs": "mined"})
    first = find_system("tyb", THERE, choice=choice)
    kept(first)
    assert find_system("tyb", THERE, choice=choice).identity == first.identity
    if change == "edited":
        (folder / "inside" / "weights").write_text("2")
    elif change == "added":
        (folder / "inside" / "more").write_text("1")
    else:
        (folder / "inside" / "weights").unlink()
    assert find_system("tyb", THERE, choice=choice).identity != first.identity


def test_what_is_asked_for_is_what_is_planned():
    usual = find_system("delete-retrieve", THERE)
    kept(usual)
    choices = {
        "settings": Choice(settings={"gamma": 2.5}),
        "name": Choice(called="mine"),
    }
    others = {name: find_system("delete-retrieve", THERE, choice=c) for name, c in choices.items()}
    others["direction"] = find_system("delete-retrieve", WAY_BACK)
    others["cleaning"] = find_system("delete-retrieve", THERE, cleaning="raw")
    apart = [usual, others["settings"], others["name"], others["direction"]]
    assert len({one.identity for one in apart}) == 4
    assert others["settings"].card.settings["gamma"] == 2.5
    assert others["name"].card.name == "mine"
    assert others["direction"].card.directions == (WAY_BACK.name,)
    assert others["cleaning"].card.trained_on.endswith("raw")
    tiny = find_system("stytrans", THERE, choice=Choice(preset="tiny", settings={"seed": 3}))
    assert (tiny.card.settings["rounds"], tiny.card.settings["seed"]) == (3, 3)


def test_both_ways_are_one_system_and_one_way_is_refused_the_other(tmp_path):
    there = find_system("stytrans", THERE, choice=Choice(preset="tiny"))
    back = find_system("stytrans", WAY_BACK, choice=Choice(preset="tiny"))
    assert there.identity == back.identity
    stored = kept(there)
    assert back.card == there.card
    assert find_system("stytrans", WAY_BACK, choice=Choice(preset="tiny")).open("cpu") == stored
    folder = tmp_path / "dr"
    trained = train_system("delete-retrieve", load_training(THERE))
    load_system(trained.folder).save_pretrained(folder)
    assert find_system(str(folder), THERE).card == trained.card
    with pytest.raises(InputError, match=f"cannot do {WAY_BACK}: it was trained for {THERE}"):
        find_system(str(folder), WAY_BACK)


def test_a_system_is_trained_on_the_device_that_it_is_loaded_on(tstbench_home):
    if torch.cuda.is_available():
        pytest.skip("there is such a device")
    found = find_system("stytrans", THERE, choice=Choice(preset="tiny"))
    with pytest.raises(InputError, match=r"--device cuda: .* finds no CUDA device here"):
        found.load("cuda")
    assert not list(tstbench_home.rglob("system.json")), "told before the training, not after it"


def test_a_transfer_takes_an_id_for_each_sentence_and_a_batch_that_can_be():
    copy = load_system("copy")
    for size in (0, -1):
        with pytest.raises(InputError, match=f"batch_size must be at least 1, got {size}"):
            list(copy.transfer(["a"], THERE, batch_size=size))
    with pytest.raises(InputError, match="2 sources but 1 ids"):
        list(copy.transfer(["a", "b"], THERE, ids=["1"]))


def test_what_a_download_brings_along_is_no_part_of_an_adopted_system(tmp_path):
    trained = train_system("random-target", load_training(THERE))
    load_system(trained.folder).save_pretrained(tmp_path / "copy")
    for name in (".gitattributes", ".cache/huggingface/x.metadata"):
        (tmp_path / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "copy" / name).write_text("x")
    shutil.rmtree(trained.folder)
    adopted = SYSTEM_STORE.adopt(SYSTEM_STORE.open(tmp_path / "copy"))
    assert (adopted.hash, adopted.folder) == (trained.hash, trained.folder)
    names = {path.relative_to(adopted.folder).as_posix() for path in adopted.folder.rglob("*")}
    assert names == {"sentences.json", "system.json", "README.md", "config.json"}


def test_a_file_that_changes_while_it_is_read_is_not_taken_for_the_one_before(tmp_path):
    load_data(write_manners(tmp_path))
    way = parse_direction("manners/rude-to-polite")
    before = find_system("delete-retrieve", way).open("cpu")
    os.utime(tmp_path / "rude.txt", (1, 1))  # the same sentences, which must be read to know it

    def changing(direction, **how):
        data = load_training(direction, **how)
        write_lines(tmp_path / "rude.txt", [*RUDE, "Leave the room at once."])
        return data

    assert find_system("delete-retrieve", way, training=changing).identity == before.card.recipe
    assert find_system("delete-retrieve", way).identity != before.card.recipe


def test_systems_learn_from_train_and_rules_from_what_everybody_has():
    """Yelp's large training files are what papers learn from; its scorers learn from validation."""
    assert system_class("stytrans").split_to_learn("yelp") == "train"
    assert system_class("delete-retrieve").split_to_learn("yelp") is None
    assert system_class("stytrans").split_to_learn("mini") == "train"
