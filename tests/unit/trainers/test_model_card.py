"""The card, the picture and the config.json beside a trained system: made from the run, no hash."""

import json
import re
import shutil

import pytest
import yaml
from huggingface_hub import ModelCard
from prepared import BACK, DIRECTION
from trained_tiny import trained_tiny

from tstbench.datasets_scripts.cards import model_front_matter
from tstbench.errors import IntegrityError
from tstbench.trainers.card import PICTURE_FILE, SystemCard
from tstbench.trainers.system import SYSTEM_STORE


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return trained_tiny(tmp_path_factory)


@pytest.fixture
def text(folder):
    return (folder / "README.md").read_text()


def test_the_card_says_what_was_done(folder, text):
    card = SYSTEM_STORE.open(folder).card
    front = ModelCard.load(folder / "README.md").data.to_dict()
    assert (front["license"], front["datasets"]) == ("apache-2.0", ["tstbench/mini"])
    assert card.data_fingerprint in text
    rows = [json.loads(line) for line in (folder / "curve.jsonl").read_text().splitlines()]
    best = card.scores["selection"]
    kept = next(row["step"] for row in rows if row.get("validation/selection") == best)
    assert f"22 steps; the weights of step {kept} validated best" in text
    assert f"| selection | {best:.4f} |" in text
    assert "| `learning_rate` | 0.001 | 0.0001 | Adam's |" in text  # the preset's, the paper's
    assert text.index("`dimension`") < text.index("`batch_size`")  # in the config's own order


CARDS = {
    "rich": SystemCard(
        name="<b>&", kind="stytrans", family="fpft", origin="Dai et al. (2019)",
        directions=(DIRECTION, BACK), settings={"a|b": "c|d\ne", "dropout": 0.5, "style": "x"},
        scores={"acc": 2 / 3, "selection": 0.5}, versions={"tstbench": "1", "torch": "2"},
        trained_on="mini/train", n_sentences=1234, n_pairs=5678, n_excluded=1001,
        made={"seconds": 754.2, "device": "cpu, x86_64", "threads": 2, "processes": 2},
    ),
    "bare": SystemCard(
        name="bare", kind="copy", family="rule", made={"seconds": 9.4, "threads": 1}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CARDS)
def test_a_card_as_a_whole(name, tmp_path, snapshot):
    rows = [{"step": n, "loss": 1 / n} for n in range(1, 1201)]
    rows += [{"step": n, "validation/selection": 500 / (n + 1)} for n in (1000, 1200)]
    curve = "".join(json.dumps(row) + "\n" for row in rows) if name == "rich" else ""

    def write(folder):
        if curve:
            (folder / "curve.jsonl").write_text(curve)

    stored = SYSTEM_STORE.export(CARDS[name], write, tmp_path / "x")
    assert (stored.folder / "README.md").read_text() == snapshot
    assert (stored.folder / PICTURE_FILE).exists() == bool(curve)


def test_what_the_card_tells_to_type_works(folder, text, tmp_path):
    """Both examples, as they are in the card, but for the name of the folder."""
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        typed = example.replace("<this repository, or its folder>", str(folder))
        *lines, last = typed.strip().splitlines()
        names: dict = {}
        exec("\n".join(lines), names)
        assert len(eval(last, names)) == 1


def test_what_stands_beside_a_system_is_in_no_hash(folder, tmp_path):
    stored = SYSTEM_STORE.open(folder)
    changed = shutil.copytree(folder, tmp_path / "changed")
    for name in ("README.md", "curve.svg", "config.json"):
        (changed / name).write_text('{"model_type": "tstbench", "another": "release"}')
    content = json.loads((changed / "system.json").read_text())
    assert content["made"]["seconds"] > 0
    content["made"] = {"seconds": 1.0, "device": "another"}
    (changed / "system.json").write_text(json.dumps(content))
    again = SYSTEM_STORE.open(changed)
    assert again.hash == stored.hash
    assert again.card.recipe == stored.card.recipe
    # and comes as it should be where the system is written again
    exported = SYSTEM_STORE.export(
        stored.card, lambda to: SYSTEM_STORE.copy_files(changed, to), tmp_path / "exported"
    )
    assert exported.hash == stored.hash
    for name in ("README.md", "curve.svg", "config.json"):
        assert (exported.folder / name).read_bytes() == (folder / name).read_bytes()
    (changed / "curve.jsonl").write_text("{}\n")
    with pytest.raises(ValueError, match="was changed after it was made"):
        SYSTEM_STORE.open(changed)


@pytest.mark.parametrize("own", ['{"model_type": "bart"}', "no JSON at all"])
def test_a_config_of_the_models_own_stays_and_is_part_of_the_hash(own, tmp_path):
    """A system that is a model of transformers: its config.json is no description."""
    card = SystemCard(name="x", kind="copy", family="rule", directions=(DIRECTION,))

    def write(folder):
        (folder / "config.json").write_text(own)

    stored = SYSTEM_STORE.export(card, write, tmp_path / "x")
    assert (stored.folder / "config.json").read_text() == own
    assert stored.hash != SYSTEM_STORE.hash_of(card)
    assert "config.json" not in SYSTEM_STORE.describe(stored)
    copied = SYSTEM_STORE.export(
        card, lambda to: SYSTEM_STORE.copy_files(stored.folder, to), tmp_path / "y"
    )
    assert copied.hash == stored.hash
    for other in ('{"model_type": "tstbench"}', '{"model_type": "gpt2"}'):
        (stored.folder / "config.json").write_text(other)
        with pytest.raises(IntegrityError):
            SYSTEM_STORE.open(stored.folder)


@pytest.mark.parametrize(
    ("datasets", "licence", "published"),
    [
        (["mini"], {"license": "apache-2.0"}, ["tstbench/mini"]),
        (["mini", "styptb_tfu"], {"license": "unknown"}, ["tstbench/mini", "tstbench/styptb_tfu"]),
        (["styptb_tfu", "styptb_arr"], {"license": "cc-by-4.0"}, None),
        (
            ["gyafc_em", "gyafc_fr"],
            {"license": "other", "license_name": "gyafc-research-only"},
            [],
        ),
        (["mini", "gyafc_em", "wnc"], {"license": "unknown"}, ["tstbench/mini"]),
        (["nobody knows"], {"license": "unknown"}, []),
    ],
)
def test_a_model_has_the_licence_of_all_it_learned_from_or_none(datasets, licence, published):
    written = model_front_matter(datasets, ["kind"])
    front = yaml.safe_load(written.strip().strip("-"))
    assert {name: front[name] for name in front if name.startswith("license")} == licence
    if published is not None:
        assert front.get("datasets", []) == published
    assert front["tags"] == ["text-style-transfer", "kind"]
    assert front["language"] == ["en"]
