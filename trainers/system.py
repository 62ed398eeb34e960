"""The interface of every system: baseline, trained model or prompted model.

A system is a class: what it does (:meth:`System.rewrite`), how it is stored on disk
(:meth:`System.write`, :meth:`System.read`), and, if it learns, :meth:`System.train`. The rest
is implemented here, once for all systems. They are listed here by name, too: a new one is one file
and one line of :data:`SYSTEMS`, or an entry point of a package, in its ``pyproject.toml``::

    [project.entry-points."tstbench.systems"]
    politeness = "my_package.politeness:Politeness"
"""

from __future__ import annotations

import ast
import hashlib
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Self, cast

from pydantic import JsonValue

from ..datasets_scripts.catalog import dataset_facts, parse_dataset, parse_direction
from ..datasets_scripts.directions import Direction
from ..datasets_scripts.load import TrainingData
from ..errors import (
    InputError,
    MissingExtraError,
    MissingSystemError,
    UnknownNameError,
    unknown_name,
)
from ..hub import fetch_model, is_repo_id
from ..metrics.scorers.artefacts import portable
from ..plugins import outside
from ..settings import as_json, described, identifying, read_settings
from ..store import Store
from ..version import __version__
from .card import (
    CARD_FILE,
    Family,
    StoredSystem,
    SystemCard,
    command_of,
    is_beside,
    key_of,
    texts_beside,
)
from .training.run import IN_MEMORY, Run

__all__ = [
    "USUAL",
    "Answer",
    "Generation",
    "NoSettings",
    "Request",
    "System",
    "SystemCard",
    "SystemConfig",
    "Task",
]


@dataclass(frozen=True, kw_only=True)
class SystemConfig:
    """How a system is trained; each kind adds its own settings, with the paper's names."""

    @classmethod
    def for_direction(cls, direction: Direction) -> Self:  # noqa: ARG003 - for those that differ
        """The default settings for one direction."""
        return cls()

    @classmethod
    def small(cls, direction: Direction) -> Self:
        """The preset ``small``: what two CPU cores learn in 25 minutes."""
        return cls.for_direction(direction)

    @classmethod
    def tstbench(cls, direction: Direction) -> Self:
        """The preset ``tstbench``: as the benchmark ran it, where that differs from the paper."""
        return cls.for_direction(direction)

    @classmethod
    def tiny(cls, direction: Direction) -> Self:  # noqa: ARG003 - for those that differ
        """The preset ``tiny``, for tests: seconds of training, where the defaults take longer."""
        return cls()


@dataclass(frozen=True, kw_only=True)
class NoSettings:
    """For a system whose answers depend only on the source."""


@dataclass(frozen=True, kw_only=True)
class Generation:
    """How answers are generated.

    Attributes:
        seed: seed for sampling. A sampled answer depends on the seed and the sentence's id, never
            on other sentences.
        settings: values by name, for settings that the system declares, such as ``num_beams``.
    """

    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)


USUAL = Generation()


@dataclass(frozen=True)
class Request:
    """A sentence to rewrite, and the id that determines its randomness."""

    id: str
    source: str


@dataclass(frozen=True)
class Task:
    """What all sentences of a transfer share.

    Attributes:
        direction: one of the directions on the system's card.
        seed: see :class:`Generation`.
        settings: an instance of the system's ``Settings``.
        device: ``auto``, ``cpu``, ``cuda``...
    """

    direction: Direction
    seed: int
    settings: Any
    device: str

    def random(self, request: Request) -> random.Random:
        """A sentence's random generator, which depends only on the seed and the id."""
        key = f"{self.seed}\0{request.id}".encode()
        return random.Random(int.from_bytes(hashlib.sha256(key).digest()))


class Answer(str):
    """A prediction with what is kept beside it: a raw answer, what cleaned it, its tokens.

    Attributes:
        aside: JSON values by name, written next to the prediction. ``rules`` (names of what was
            done to it) and ``tokens`` (numbers by name) are added up in the predictions' card.
    """

    __slots__ = ("aside",)
    aside: Mapping[str, JsonValue]

    def __new__(cls, text: str, aside: Mapping[str, JsonValue]) -> Self:
        """A text and what is beside it."""
        one = super().__new__(cls, text)
        one.aside = aside
        return one


class System(ABC):
    """Turns sentences of the source style into sentences of the target style."""

    KIND: ClassVar[str]  # its name in the registry
    FAMILY: ClassVar[Family]
    ORIGIN: ClassVar[str]
    NEEDS_PARALLEL: ClassVar[bool] = False
    BOTH_WAYS: ClassVar[bool] = False  # whether learning one direction is learning its reverse
    ANY_DIRECTION: ClassVar[bool] = False  # whether it learns from no direction, and can do all
    RECIPE_VERSION: ClassVar[int] = 1  # raised when the same settings give a different system
    LIBRARIES: ClassVar[tuple[str, ...]] = ()  # libraries whose versions its card states
    LOCAL: ClassVar[tuple[str, ...]] = ()  # settings that may name a file or folder to learn from
    BATCH_SIZE: ClassVar[int] = 64
    Config: ClassVar[type[SystemConfig] | None] = None  # None: it is not trained
    Settings: ClassVar[type] = NoSettings  # dataclass of the valid Generation.settings

    card: SystemCard
    stored: StoredSystem | None = None  # the folder that it was read from

    @abstractmethod
    def rewrite(self, batch: Sequence[Request], task: Task) -> Sequence[str]:
        """One prediction per request, in order; ``''`` if the system has none.

        An answer never depends on the rest of the batch.
        """

    @classmethod
    def train(
        cls,
        data: TrainingData,  # noqa: ARG003 - for those that learn
        config: Any,  # noqa: ARG003
        run: Run = IN_MEMORY,  # noqa: ARG003
    ) -> Self:
        """Learn a direction; ``config`` is an instance of :attr:`Config`, already checked.

        ``run`` says where and how; what is learned does not depend on it.

        The new system's card is :meth:`planned`, with any measurements in its ``scores``.
        """
        raise InputError(f"{cls.KIND} needs no training")

    def write(self, folder: Path) -> None:  # noqa: B027 - some systems are their card alone
        """Write the model's files (no pickle) into an empty folder; the card is added for you."""

    @classmethod
    @abstractmethod
    def read(cls, folder: Path, card: SystemCard, device: str) -> Self:
        """Read back what :meth:`write` wrote; the folder has been checked against its hash."""

    @classmethod
    def split_to_learn(cls, dataset: str) -> str | None:
        """The split it learns from unless another one is asked for; ``None``: as the scorers.

        That is ``train`` where there is one, as in its paper. A rule, which is there to be compared
        with, makes do with what the scorers learn from: everybody has that.
        """
        parts = [part.name for part in parse_dataset(dataset).parts if any(part.sentences)]
        return "train" if cls.FAMILY != "rule" and "train" in parts else None

    @classmethod  # noqa: B027 - most lack nothing
    def check_settings(cls, config: Any) -> None:
        """Raise :class:`MissingFileError` for what only the user can give, before data is read."""

    @cached_property
    def config(self) -> Any:
        """The settings of its card, an instance of :attr:`Config`."""
        return read_settings(cast(type, self.Config), self.card.settings, self.KIND)

    @classmethod
    def planned(cls, data: TrainingData, config: SystemConfig) -> SystemCard:
        """The card of the system that :meth:`train` would make, before anything is measured.

        A local file or folder among its settings is named by its content, not by its path.
        """
        part = data.train.name
        source = getattr(config, "pairs", None)  # of those that can learn from mined pseudo-pairs
        real = source != "mined" and bool(data.train.pairs)
        return SystemCard(
            name=cls.KIND,
            kind=cls.KIND,
            family=cls.FAMILY,
            directions=cls.learned_directions(data.direction),
            needs_parallel=cls.NEEDS_PARALLEL if source is None else real,
            origin=cls.ORIGIN,
            trained_on=f"{data.direction.dataset}/{part} without test sentences, {data.cleaning}",
            data_fingerprint=data.fingerprint,
            n_sentences=data.n_sentences,
            n_pairs=len(data.train.pairs),
            n_excluded=data.n_removed,
            settings=portable(as_json(config), cls.LOCAL),
            recipe_version=cls.RECIPE_VERSION,
            versions=cls.versions(),
        )

    @classmethod
    def learned_directions(cls, direction: Direction) -> tuple[str, ...]:
        """What training on a direction teaches: its reverse too, if both ways are learned.

        Empty for a system that learns from no direction and can do all.
        """
        if cls.ANY_DIRECTION:
            return ()
        if cls.BOTH_WAYS and direction.reverse in dataset_facts(direction.dataset).directions:
            return direction.name, direction.reverse.name
        return (direction.name,)

    @classmethod
    def direction_to_learn(cls, direction: Direction) -> Direction:
        """The direction to train on: of two that are learned together, the dataset's first.

        For a system that learns from no direction it is always the same one.
        """
        if cls.ANY_DIRECTION:
            return parse_direction("mini/negative-to-positive")
        learned = cls.learned_directions(direction)
        together = [d for d in dataset_facts(direction.dataset).directions if d.name in learned]
        return together[0] if together else direction

    @classmethod
    def untrained(cls) -> SystemCard:
        """The card of a system that needs no training."""
        return SystemCard(
            name=cls.KIND,
            kind=cls.KIND,
            family=cls.FAMILY,
            needs_parallel=cls.NEEDS_PARALLEL,
            origin=cls.ORIGIN,
            versions=cls.versions(),
        )

    @classmethod
    def versions(cls) -> dict[str, str]:
        """The versions of TSTBench and of the libraries whose releases may change the system."""
        return {"tstbench": __version__, **{name: version(name) for name in cls.LIBRARIES}}

    @classmethod
    def read_generation(cls, generation: Generation) -> Any:
        """The requested generation settings, as an instance of :attr:`Settings`.

        Raises:
            UnknownNameError: the system does not have that setting.
            InputError: a value has the wrong type or is out of range.
        """
        return read_settings(cls.Settings, generation.settings, f"{cls.KIND}'s generation")

    def transfer(
        self,
        sources: Sequence[str],
        direction: str | Direction,
        *,
        ids: Sequence[str] | None = None,
        generation: Generation = USUAL,
        batch_size: int | None = None,
        device: str = "auto",
    ) -> Iterator[str]:
        """Yield one prediction per source, in order, as soon as it is ready.

        Args:
            sources: sentences of the source style.
            direction: ``yelp/negative-to-positive``.
            ids: ids of the sentences, used in sampling; by default, a sentence is its own id.
            generation: seed and settings.
            batch_size: sentences at a time; predictions do not depend on it.
            device: ``auto``, ``cpu``, ``cuda``...

        Raises:
            UnknownNameError: no such direction, or generation setting.
            InputError: the system does not support this direction; invalid ids or batch size.
        """
        if isinstance(direction, str):
            direction = parse_direction(direction)
        check_direction(self.card, direction)
        settings = self.read_generation(generation)
        size = self.BATCH_SIZE if batch_size is None else batch_size
        if size < 1:
            raise InputError(f"batch_size must be at least 1, got {size}")
        names = sources if ids is None else ids
        if len(names) != len(sources):
            raise InputError(f"{len(sources)} sources but {len(names)} ids: give one each")
        requests = [Request(*one) for one in zip(names, sources, strict=True)]
        task = Task(direction, generation.seed, settings, device)
        return self.answers(requests, size, task)

    @classmethod
    def asked(cls, settings: Any, direction: Direction) -> dict[str, JsonValue]:  # noqa: ARG003
        """What of a transfer's settings identifies its answers, for the card of the predictions.

        Args:
            settings: an instance of :attr:`Settings`.
            direction: of the transfer.
        """
        return identifying(settings)

    @classmethod
    def called(cls, name: str, settings: Any) -> str:  # noqa: ARG003 - for those it depends on
        """The name of a system that is asked with these settings; ``name`` is its card's."""
        return name

    def answers(self, requests: Sequence[Request], size: int, task: Task) -> Iterator[str]:
        """Yield the answers to checked requests, in order: :meth:`rewrite`, batch by batch.

        A system that is not limited by batches, because it waits for a server, has its own.
        """
        for start in range(0, len(requests), size):
            batch = requests[start : start + size]
            answers = self.rewrite(batch, task)
            if len(answers) != len(batch):
                raise RuntimeError(
                    f"{self.KIND} gave {len(answers)} predictions for {len(batch)} sources"
                )
            yield from answers

    def save_pretrained(self, folder: Path | str) -> StoredSystem:
        """Write files, card and model card to a folder, completely or not at all.

        One that was read from a folder is copied as it is there: it stays the same system, though
        libraries write files anew in each release, and :meth:`write` knows no learning curve.

        Raises:
            InputError: the folder contains something other than an earlier system.
            IntegrityError: the folder that it was read from has changed.
        """
        if self.stored is not None:
            return SYSTEM_STORE.export_stored(self.stored, folder)
        return SYSTEM_STORE.export(self.card, self.write, folder)

    @classmethod
    def from_pretrained(
        cls, path_or_hub_id: Path | str, *, revision: str | None = None, device: str = "auto"
    ) -> Self:
        """Read a folder that :meth:`save_pretrained` wrote, or a repository of the Hub.

        Raises:
            MissingSystemError: neither a folder nor a repository, or no system in it.
            IntegrityError: its files do not match its card.
            InputError: the system is of another kind.
        """
        return cls.of(open_system(path_or_hub_id, revision=revision), device=device)

    @classmethod
    def of(cls, stored: StoredSystem, *, device: str = "auto") -> Self:
        """Read a folder that has already been opened and checked."""
        if stored.card.kind != cls.KIND:
            raise InputError(f"{stored.folder} is a {stored.card.kind} system, not {cls.KIND}")
        system = cls.read(stored.folder, stored.card, device)
        if cls.Config is not None:  # others are their card alone
            object.__setattr__(system, "stored", stored)  # most are frozen
        return system


def check_direction(card: SystemCard, direction: Direction) -> None:
    """Raise :class:`InputError` if a system does not support a direction, listing those it does."""
    if card.directions and direction.name not in card.directions:
        raise InputError(
            f"{card.name} cannot do {direction}: it was trained for {', '.join(card.directions)}"
        )


def open_system(path_or_hub_id: Path | str, *, revision: str | None = None) -> StoredSystem:
    """The folder of a system, on this disk or from the Hub, checked.

    Raises:
        MissingSystemError: neither a folder nor a repository, or no system in it.
        IntegrityError: its files do not match its card.
    """
    folder = Path(path_or_hub_id).expanduser()
    if folder.is_dir() and revision is None:
        return SYSTEM_STORE.open(folder)
    if not is_repo_id(str(path_or_hub_id)):
        raise MissingSystemError(
            f"{path_or_hub_id} is neither the folder of a system nor a Hub id such as owner/name"
        )
    try:
        fetched = fetch_model(str(path_or_hub_id), revision=revision)
        return SYSTEM_STORE.open(fetched)
    except FileNotFoundError as error:
        raise MissingSystemError(f"no folder {path_or_hub_id}, and {error}") from error
    except MissingSystemError as error:
        raise MissingSystemError(
            f"{path_or_hub_id} on the Hub is not a system: system.json is missing"
        ) from error


# Imported when used: copy does not need scikit-learn.
SYSTEMS: dict[str, str] = {
    "copy": "tstbench.trainers.baselines:Copy",
    "random-target": "tstbench.trainers.baselines:RandomTarget",
    "delete-retrieve": "tstbench.trainers.delete_retrieve:DeleteRetrieve",
    "stytrans": "tstbench.trainers.stytrans:StyTrans",
    "dar": "tstbench.trainers.dar:Dar",
    "ctat": "tstbench.trainers.ctat:Ctat",
    "nast": "tstbench.trainers.nast:Nast",
    "tsst": "tstbench.trainers.tsst:Tsst",
    "bsrr": "tstbench.trainers.bsrr:Bsrr",
    "tyb": "tstbench.trainers.tyb:Tyb",
    "caae": "tstbench.trainers.caae:Caae",
    "arae": "tstbench.trainers.arae:Arae",
    "strap": "tstbench.trainers.strap:Strap",
    "chatgpt": "tstbench.trainers.prompted:ChatGpt",
    "chatgpt-fs": "tstbench.trainers.prompted:ChatGptFewShot",
    "gpt4": "tstbench.trainers.prompted:Gpt4",
    "gpt4-fs": "tstbench.trainers.prompted:Gpt4FewShot",
    "chat": "tstbench.trainers.prompted:Chat",
    "llama-lora": "tstbench.trainers.lora.system:LlamaLora",
    "llama-lora-inst": "tstbench.trainers.lora.system:LlamaLoraInst",
}


def trainable() -> dict[str, str]:
    """Systems that are trained, and what they are: read from the sources, since imports take long.

    So they are listed without the libraries that some of them need.
    """
    ours = {name: _said_of(*place.split(":")) for name, place in SYSTEMS.items()}
    others = {name: system_class(name) for name in system_names() if name not in SYSTEMS}
    found = ours | {n: str(one.__doc__ or "") for n, one in others.items() if one.Config}
    return {name: text.partition("\n")[0] for name, text in found.items() if text}


@cache
def _said_of(module: str, kind: str) -> str:
    """The docstring of a class that has a ``Config`` of its own; nothing of another."""
    spec = find_spec(module)
    tree = ast.parse(Path(spec.origin).read_text("utf-8") if spec and spec.origin else "")
    (node,) = (n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == kind)
    fields = [ast.unparse(n.target) for n in node.body if isinstance(n, ast.AnnAssign)]
    return (ast.get_docstring(node) or "") if "Config" in fields else ""


def system_names() -> list[str]:
    """The names of all systems, ours first."""
    return list(dict.fromkeys((*SYSTEMS, *outside("tstbench.systems"))))


def system_class(name: str) -> type[System]:
    """The class with that name.

    Raises:
        UnknownNameError: no such system.
        MissingExtraError: a library that it is built on is not installed.
        InputError: what another package registers under that name is not a system.
    """
    if name in SYSTEMS:
        module, attribute = SYSTEMS[name].split(":")
        try:
            return cast(type[System], getattr(import_module(module), attribute))
        except ModuleNotFoundError as error:
            if str(error.name).startswith("tstbench"):
                raise
            raise MissingExtraError(
                f"{name} needs {error.name}, which is not installed: pip install 'tstbench[train]'"
            ) from error
    found = outside("tstbench.systems")
    if name not in found:
        raise unknown_name("system", name, system_names())
    if not (isinstance(found[name], type) and issubclass(found[name], System)):
        raise InputError(f"entry point {name!r} of tstbench.systems is not a subclass of System")
    return cast(type[System], found[name])


def _texts_beside(stored: StoredSystem) -> dict[str, str]:
    """See :func:`.card.texts_beside`; settings are explained if their system is installed here."""
    try:
        config = system_class(stored.card.kind).Config
    except (UnknownNameError, InputError, ImportError):
        config = None
    return texts_beside(stored, [] if config is None else described(config))


SYSTEM_STORE = Store(
    what="system",
    folder="systems",
    card_file=CARD_FILE,
    card_type=SystemCard,
    key=key_of,
    describe=_texts_beside,
    command=command_of,
    missing=MissingSystemError,
    is_beside=is_beside,
)
