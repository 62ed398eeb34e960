"""A system's card, and the model card that is made of it.

They are stored in ``$TSTBENCH_HOME/systems``, indexed by name and direction; the card is
``system.json``. The folder of a system is the same everywhere: in the store, where
``save_pretrained`` wrote it, and in its repository on the Hub.

Beside a system's files stand its model card, its curve as a picture and ``config.json``, which is
what transformers asks a folder for: it says that :mod:`.pipeline` can use it. All three are made
from the card and ``curve.jsonl``, and belong to no hash: the card can be written better one day,
and the system stays the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, JsonValue

from ..citation import BIBTEX
from ..citation import PAPER as BENCHMARK_PAPER
from ..datasets_scripts.cards import model_front_matter
from ..datasets_scripts.catalog import DATASETS
from ..files import read_lines, read_text
from ..metrics.scorers.artefacts import base_datasets
from ..settings import Setting
from ..store import README_FILE, Key, StoredModel, recipe_of
from .training.curve import CURVE_FILE, LearningCurve, Row, curve_picture

CARD_FILE = "system.json"
Family = Literal["fpft", "peft", "prompted", "rule", "human", "unknown"]
_RECIPE = (
    "name",
    "kind",
    "directions",
    "needs_parallel",
    "data_fingerprint",
    "settings",
    "recipe_version",
)


@dataclass(frozen=True, kw_only=True)
class SystemCard:
    """What a system is and where it comes from: everything except its files.

    Attributes:
        name: its name on leaderboards.
        kind: which class reads its files: a name of :data:`~.system.SYSTEMS`.
        family: how it was made, as the leaderboard groups systems.
        directions: names of the directions it supports; empty for any.
        needs_parallel: whether it learned from pairs.
        origin: where it comes from, for people: a paper or a package.
        trained_on: a description of the data, for people; empty if nothing was learned.
        data_fingerprint: see :attr:`~tstbench.datasets_scripts.load.TrainingData.fingerprint`.
        n_sentences: number of labelled training sentences.
        n_pairs: number of training pairs.
        n_excluded: number of sentences and pairs left out because the test split has them.
        settings: its configuration.
        recipe_version: raised when the same settings no longer give the same system.
        scores: what was measured during training.
        versions: the libraries that made it, for people.
        made: how long its training took and where it ran, for people: ``seconds``, ``device``,
            ``threads``, ``processes``; empty if that is not known. It is part of no hash.
        schema_version: of this card.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", strict=True, allow_inf_nan=False
    )

    name: str
    kind: str
    family: Family
    directions: tuple[str, ...] = ()
    needs_parallel: bool | None = None
    origin: str = ""
    trained_on: str = ""
    data_fingerprint: str | None = None
    n_sentences: int = 0
    n_pairs: int = 0
    n_excluded: int = 0
    settings: dict[str, JsonValue] = field(default_factory=dict)
    recipe_version: int = 1
    scores: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    made: dict[str, JsonValue] = field(default_factory=dict)
    schema_version: Literal[1] = 1

    @property
    def recipe(self) -> str:
        """SHA-256 of what is known before training: the same recipe is not trained twice."""
        return recipe_of(self, _RECIPE)

    @property
    def seed(self) -> int | None:
        """What its training was seeded with; ``None`` if nothing in it is random."""
        seed = self.settings.get("seed")
        return seed if type(seed) is int else None

    @property
    def seedless_recipe(self) -> str:
        """SHA-256 of the recipe without seed and name: equal for runs of one system.

        >>> one = SystemCard(name="a", kind="a", family="rule", settings={"seed": 1})
        >>> one.seedless_recipe == replace(one, settings={"seed": 2}).seedless_recipe
        True
        """
        settings = {name: value for name, value in self.settings.items() if name != "seed"}
        return recipe_of(replace(self, name="", settings=settings), _RECIPE)

    @property
    def seedless_name(self) -> str:
        """The name that its runs share: without the seed that :func:`run_name` adds."""
        return self.name.removesuffix(run_name("", self.seed)) or self.name


StoredSystem = StoredModel[SystemCard]


def run_name(system: str, seed: int | None) -> str:
    """The name of one of several runs of a system.

    >>> run_name("stytrans", 2)
    'stytrans-seed2'
    """
    return f"{system}-seed{seed}"


def repository_name(card: SystemCard) -> str:
    """The Hub name of a system, without the organisation.

    >>> mini = "mini/negative-to-positive"
    >>> repository_name(SystemCard(name="dr", kind="dr", family="rule", directions=(mini,)))
    'dr-mini-negative-to-positive'
    """
    return "-".join(key_of(card)).replace("_", "-")


def key_of(card: SystemCard) -> Key:
    """Name, dataset, direction; ``all`` for a system that supports several directions."""
    if not card.directions:
        return card.name, "any", "all"
    first, *others = card.directions
    dataset, _, direction = first.partition("/")
    return card.name, dataset, "all" if others else direction


def command_of(key: Key) -> str:
    """The command that trains the system with a key."""
    name, dataset, direction = key
    what = f"--dataset {dataset}" if direction == "all" else f"--direction {dataset}/{direction}"
    return f"tstbench train {name} {what}"


PICTURE_FILE = "curve.svg"
CONFIG_FILE = "config.json"
MODEL_TYPE = "tstbench"  # by which transformers knows what a config.json is of
_EXAMPLE = "the soup was cold and the waiter ignored us ."


def texts_beside(stored: StoredSystem, known: Sequence[Setting]) -> dict[str, str]:
    """The texts beside a system's own files, by file name.

    A system that consists of a model of transformers may have a ``config.json`` of its own: it
    stays, and :mod:`.pipeline` can use that one as well.

    Args:
        stored: the system.
        known: the settings of its kind, with their meaning and default.
    """
    card = stored.card
    config = {
        "model_type": MODEL_TYPE,
        "kind": card.kind,
        "name": card.name,
        "directions": list(card.directions),
    }
    texts = {}
    own = stored.folder / CONFIG_FILE
    if not own.exists() or is_beside(own):
        texts[CONFIG_FILE] = json.dumps(config, indent=2, ensure_ascii=False) + "\n"
    rows = read_rows(stored)
    if rows:
        texts[PICTURE_FILE] = curve_picture([LearningCurve.of(card.name, rows)])
    return {README_FILE: _readme(card, stored.hash, rows, known), **texts}


def is_beside(file: Path) -> bool:
    """Whether a file in a system's folder is one that :func:`texts_beside` makes."""
    if file.name == CONFIG_FILE:
        try:
            content = json.loads(read_text(file))
        except (ValueError, OSError):
            return False
        return isinstance(content, dict) and content.get("model_type") == MODEL_TYPE
    return file.name in (README_FILE, PICTURE_FILE)


def read_rows(stored: StoredSystem) -> list[Row]:
    """The rows of its learning curve; none if it has no curve."""
    file = stored.folder / CURVE_FILE
    return [json.loads(line) for line in read_lines(file)] if file.is_file() else []


def _readme(card: SystemCard, digest: str, rows: Sequence[Row], known: Sequence[Setting]) -> str:
    directions = ", ".join(card.directions) or "any direction"
    taught = [name.split("/")[0] for name in card.directions]
    datasets = list(dict.fromkeys([*taught, *base_datasets(card.settings)]))
    sections = {
        "Use it": _use(card),
        "Data": _data(card, datasets),
        "Training": _training(card, rows),
        "Scores on validation data": _scores(card),
        "Settings": _settings(card, known),
        "Licence": _licence(datasets),
        "Cite": _citation(card),
    }
    lines = [
        f"# {card.name}: {directions}",
        "",
        f"A system for text style transfer, of kind `{card.kind}`. Origin: "
        f"{card.origin or 'unknown'}.",
        "",
        f"- directions: {directions}",
        f"- made with: {', '.join(f'{k} {v}' for k, v in card.versions.items()) or 'tstbench'}",
        f"- hash: `{digest}`",
    ]
    for title, content in sections.items():
        lines += ["", f"## {title}", "", *content]
    return model_front_matter(datasets, [card.kind]) + "\n".join(lines) + "\n"


def _use(card: SystemCard) -> Iterator[str]:
    first = next(iter(card.directions), "<dataset>/<source>-to-<target>")
    target = first.rpartition("-to-")[2]
    which = f'target_style="{target}"' if card.directions else f'direction="{first}"'
    return iter(
        [
            "```python",
            "from transformers import pipeline",
            "import tstbench.trainers.pipeline  # makes the task known",
            "",
            'rewrite = pipeline("text-style-transfer", model="<this repository, or its folder>")',
            f'rewrite("{_EXAMPLE}", {which})',
            "```",
            "",
            "or without transformers:",
            "",
            "```python",
            "import tstbench",
            "",
            'system = tstbench.load_system("<this repository, or its folder>")',
            f'list(system.transfer(["{_EXAMPLE}"], "{first}"))',
            "```",
        ]
    )


def _data(card: SystemCard, datasets: Sequence[str]) -> Iterator[str]:
    if not card.trained_on:
        yield "It learned from nothing."
        return
    yield f"- learned from {card.trained_on}"
    yield f"- {card.n_sentences:,} labelled sentences, {card.n_pairs:,} pairs"
    yield (
        f"- {card.n_excluded:,} sentences and pairs were left out because they occur in the "
        "test split"
    )
    yield f"- fingerprint: `{card.data_fingerprint or 'none'}`"
    published = [name for name in datasets if name in DATASETS and DATASETS[name].publishable]
    for name in published:
        yield f"- the dataset: [tstbench/{name}](https://huggingface.co/datasets/tstbench/{name})"


def _training(card: SystemCard, rows: Sequence[Row]) -> Iterator[str]:
    curve = LearningCurve.of(card.name, rows)
    made = ", ".join(_made(card.made))
    if not curve.steps:
        yield made or "No learning curve: it is counted, not learned step by step."
        return
    kept = curve.chosen
    chosen = "" if kept is None else f"; the weights of step {kept:,} validated best and were kept"
    yield f"{curve.steps:,} steps{chosen}. {made}.".removesuffix(" .")
    yield ""
    yield f"![Learning curves]({PICTURE_FILE})"
    yield ""
    yield f"The numbers are in `{CURVE_FILE}`, one line for each step."


def _made(made: Mapping[str, Any]) -> Iterator[str]:
    """How it was made, in words: ``12 min 34 s, on cpu (2 threads)...``"""
    if isinstance(seconds := made.get("seconds"), int | float):
        minutes, rest = divmod(round(seconds), 60)
        yield f"Trained in {minutes} min {rest} s" if minutes else f"Trained in {rest} s"
    else:
        yield from ["Trained"] if made else []
    if "device" in made:
        yield f"on {made['device']}"
    if made.get("processes", 1) != 1:
        yield f"{made['processes']} processes"
    if "threads" in made:
        yield f"{made['threads']} thread{'s' * (made['threads'] != 1)}"


def _scores(card: SystemCard) -> Iterable[str]:
    if not card.scores:
        return ["None were measured."]
    rows = [f"| {name} | {value:.4f} |" for name, value in card.scores.items()]
    return [
        "They chose the weights: on the dataset's validation split, or on held-out training "
        "sentences if it has none; never on the test split. What judges style here, the benchmark "
        "does not score with. A published validation split may share some sentences with the "
        "training split. Scores on the test split are the leaderboard's.",
        "",
        "| score | value |",
        "| --- | --- |",
        *rows,
    ]


def _settings(card: SystemCard, known: Sequence[Setting]) -> Iterable[str]:
    if not card.settings:
        return ["It has none."]
    meanings = {setting.name: setting for setting in known}
    rows = []
    for name in sorted(card.settings, key=[*meanings, *card.settings].index):
        about = meanings.get(name, Setting(name, ""))
        usual = "" if about.default is None else json.dumps(about.default)
        cells = (f"`{name}`", json.dumps(card.settings[name]), usual, about.help)
        rows.append(f"| {' | '.join(map(_cell, cells))} |")
    return ["| setting | value | default | meaning |", "| --- | --- | --- | --- |", *rows]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _licence(datasets: Sequence[str]) -> Iterator[str]:
    terms = [
        f"{DATASETS[name].title}: {DATASETS[name].licence or 'none stated'}"
        for name in datasets
        if name in DATASETS
    ]
    if terms:
        yield f"A model has the terms of what it learned from. {'; '.join(terms)}."
    yield "The code that trains and runs it is TSTBench's, Apache-2.0."


def _citation(card: SystemCard) -> list[str]:
    lines = [f"The algorithm: {card.origin}.", ""] if card.origin else []
    lines += [f"The implementation and the benchmark: {BENCHMARK_PAPER}", ""]
    return [*lines, "```bibtex", *BIBTEX.strip().splitlines(), "```"]
