"""A system's card, and the store that keeps trained systems (:mod:`tstbench.store`).

They are stored in ``$TSTBENCH_HOME/systems``, indexed by name and direction; the card is
``system.json``. The folder of a system is the same everywhere: in the store, where
``save_pretrained`` wrote it, and in its repository on the Hub.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from pydantic import ConfigDict, JsonValue

from ..errors import MissingSystemError
from ..store import Key, Store, StoredModel, recipe_of
from .model_card import describe, is_beside

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
        kind: which class reads its files: a name of :data:`~.registry.SYSTEMS`.
        family: how it was made, as the leaderboard groups systems.
        directions: names of the directions it supports; empty for any.
        needs_parallel: whether it learned from pairs.
        origin: where it comes from, for people: a paper or a package.
        trained_on: a description of the data, for people; empty if nothing was learned.
        data_fingerprint: see :attr:`~tstbench.datasets_scripts.training.TrainingData.fingerprint`.
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
    return "-".join(_key(card)).replace("_", "-")


def _key(card: SystemCard) -> Key:
    """Name, dataset, direction; ``all`` for a system that supports several directions."""
    if not card.directions:
        return card.name, "any", "all"
    first, *others = card.directions
    dataset, _, direction = first.partition("/")
    return card.name, dataset, "all" if others else direction


def _command(key: Key) -> str:
    name, dataset, direction = key
    what = f"--dataset {dataset}" if direction == "all" else f"--direction {dataset}/{direction}"
    return f"tstbench train {name} {what}"


SYSTEM_STORE = Store(
    what="system",
    folder="systems",
    card_file=CARD_FILE,
    card_type=SystemCard,
    key=_key,
    describe=describe,
    command=_command,
    missing=MissingSystemError,
    is_beside=is_beside,
)
