"""Finding a system by name: one trained before is taken only if nothing it read has changed."""

import json
import os
import shutil
from dataclasses import replace

import pytest
import torch
from own_data import RUDE, write_lines, write_manners

from tstbench.datasets_scripts.catalog import load_data, parse_direction
from tstbench.datasets_scripts.load import load_training
from tstbench.errors import InputError
from tstbench.trainers.load import Choice, find_system, load_system
from tstbench.trainers.system import SYSTEM_STORE, Generation, system_class
from tstbench.trainers.train import train_system

THERE = parse_direction("mini/negative-to-positive")
BACK = THERE.reverse


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
    others["direction"] = find_system("delete-retrieve", BACK)
    others["cleaning"] = find_system("delete-retrieve", THERE, cleaning="raw")
    apart = [usual, others["settings"], others["name"], others["direction"]]
    assert len({one.identity for one in apart}) == 4
    assert others["settings"].card.settings["gamma"] == 2.5
    assert others["name"].card.name == "mine"
    assert others["direction"].card.directions == (BACK.name,)
    assert others["cleaning"].card.trained_on.endswith("raw")
    tiny = find_system("stytrans", THERE, choice=Choice(preset="tiny", settings={"seed": 3}))
    assert (tiny.card.settings["rounds"], tiny.card.settings["seed"]) == (3, 3)


def test_both_ways_are_one_system_and_one_way_is_refused_the_other(tmp_path):
    there = find_system("stytrans", THERE, choice=Choice(preset="tiny"))
    back = find_system("stytrans", BACK, choice=Choice(preset="tiny"))
    assert there.identity == back.identity
    stored = kept(there)
    assert back.card == there.card
    assert find_system("stytrans", BACK, choice=Choice(preset="tiny")).open("cpu") == stored
    folder = tmp_path / "dr"
    trained = train_system("delete-retrieve", load_training(THERE))
    load_system(trained.folder).save_pretrained(folder)
    assert find_system(str(folder), THERE).card == trained.card
    with pytest.raises(InputError, match=f"cannot do {BACK}: it was trained for {THERE}"):
        find_system(str(folder), BACK)
    with pytest.raises(InputError, match="cannot do"):
        list(load_system(folder).transfer(["so bad ."], BACK))


def test_a_system_is_trained_on_the_device_that_it_is_loaded_on(tstbench_home):
    if torch.cuda.is_available():
        pytest.skip("there is such a device")
    found = find_system("stytrans", THERE, choice=Choice(preset="tiny"))
    with pytest.raises(InputError, match=r"--device cuda: .* finds no CUDA device here"):
        found.load("cuda")
    assert not list(tstbench_home.rglob("system.json")), "told before the training, not after it"


def test_a_transfer_takes_an_id_for_each_sentence_and_a_batch_that_can_be():
    system = load_system(train_system("random-target", load_training(THERE)).folder)
    sources, ids = [f"bad {i} ." for i in range(9)], [f"id-{i}" for i in range(9)]

    def drawn(names=ids, seed=0, **options):
        generation = Generation(seed=seed)
        return list(system.transfer(sources, THERE, ids=names, generation=generation, **options))

    usual = drawn()
    assert drawn(batch_size=2) == usual
    assert drawn(names=ids[::-1]) == usual[::-1]
    assert drawn(seed=1) != usual
    assert drawn(names=None) != usual
    for size in (0, -1):
        with pytest.raises(InputError, match=f"batch_size must be at least 1, got {size}"):
            drawn(batch_size=size)
    with pytest.raises(InputError, match="9 sources but 8 ids"):
        drawn(names=ids[1:])


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


def test_a_card_that_says_another_kind_is_refused(tmp_path):
    trained = train_system("random-target", load_training(THERE))
    card = replace(trained.card, kind="copy")
    SYSTEM_STORE.export(card, lambda folder: None, tmp_path / "other")
    found = find_system(str(tmp_path / "other"), THERE)
    assert found.kind.KIND == "copy"
    with pytest.raises(InputError, match="is a copy system, not random-target"):
        type(load_system(trained.folder)).from_pretrained(tmp_path / "other")


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
