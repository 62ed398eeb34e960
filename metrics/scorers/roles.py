"""The roles of scorers: one table. A role's scorer is identified before it is loaded.

A metric asks for a role (``classifier``), a profile says which scorer to use (``linear``), and
the role's ``find`` turns that into a :class:`Found`: name and hash for the signature, and a way to
load it. Recipes are compared without loading anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from ...datasets_scripts.directions import Direction
from ...errors import unknown_name
from ...plugins import outside
from .device import Placement


@dataclass(frozen=True)
class Found:
    """A scorer that exists.

    Attributes:
        name: what it is, for a signature: kind and training data, such as ``linear:yelp``.
        hash: SHA-256 hex of the model's files.
        load: loads it; returns the same object each time.
        fields: what else the signature must state, such as the layer that is read.
        on_device: whether it computes in the requested number type.
    """

    name: str
    hash: str
    load: Callable[[], Any]
    fields: Mapping[str, object] = field(default_factory=dict)
    on_device: bool = False


Find = Callable[[str, Direction | None, Placement], Found]


@dataclass(frozen=True)
class Role:
    """One role.

    Attributes:
        name: what metrics and profiles call it.
        title: the name shown to people.
        key: its field in signatures.
        method: the scorer's method that scores many texts and remembers them, in batches.
        find: ``module:function`` (or a function, in other packages) that gives a :class:`Found`.
        default: the scorer in a profile that does not name one.
        like: the role whose scorer a profile that does not name one also uses here.
        trained: whether a profile may name a kind that is trained here.
        in_chunks: whether many texts are given in chunks, with a bar; a scorer that waits for a server
            has a bar of its own.
    """

    name: str
    title: str
    key: str
    method: str
    find: str | Find
    default: str = ""
    like: str = ""
    trained: bool = True
    in_chunks: bool = True

    def look_up(self, spec: str, direction: Direction | None, placement: Placement) -> Found:
        """The scorer that a profile names.

        Raises:
            MissingScorerError: it has not been trained or downloaded; the message says how.
        """
        if callable(self.find):
            return self.find(spec, direction, placement)
        module, function = self.find.split(":")
        found: Found = getattr(import_module(module, __package__), function)(
            spec, direction, placement
        )
        return found


OURS = (
    Role("classifier", "style classifier", "classifier", "distribution", ".find:classifier"),
    Role(
        "paper_classifier", "style classifier of the paper's text", "classifier", "distribution",
        ".find:paper_classifier", like="classifier",
    ),
    Role("language_model", "language model", "lm", "log10_probability", ".find:language_model"),
    Role(
        "cleaned_language_model", "language model of cleaned text", "lm", "log10_probability",
        ".find:cleaned_language_model", like="language_model",
    ),
    Role(
        "acceptability", "acceptability classifier", "classifier", "distribution",
        ".find:acceptability",
    ),
    Role("encoder", "encoder", "encoder", "token_vectors", ".find:encoder", trained=False),
    Role(
        "judge", "language model that judges", "judge", "replies", ".judge:find",
        trained=False, in_chunks=False,
    ),
    Role(
        "causal_lm", "causal language model", "causal_lm", "log_probabilities", ".causal_lm:find",
        default="openai-community/gpt2", trained=False,
    ),
    Role("bleurt", "BLEURT checkpoint", "bleurt", "scores", ".bleurt:find", trained=False),
    Role("lexicon", "style lexicon", "lexicon", "style_words", ".find:lexicon", "logistic"),
    Role("word_vectors", "word vectors", "vectors", "known", ".find:word_vectors", "word2vec"),
    Role(
        "masked_vectors", "word vectors of masked sentences", "vectors", "known",
        ".find:word_vectors", default="word2vec-masked",
    ),
    Role("meaning", "meaning scorer", "meaning", "remember", ".find:meaning", default="v1"),
    Role(
        "attribution", "style attribution", "attribution", "distribution", ".find:attribution",
        default="transformer",
    ),
    Role(
        "source_language_model", "language model of the source style", "source_lm",
        "log10_probability", ".find:source_language_model", default="kn5",
    ),
)  # fmt: skip


@cache
def roles() -> Mapping[str, Role]:
    """Every role by name, ours first."""
    ours = {role.name: role for role in OURS}
    others = (o for o in outside("tstbench.scorers").values() if isinstance(o, Role))
    return {**ours, **{role.name: role for role in others if role.name not in ours}}


def role(name: str) -> Role:
    """The role with that name; raises :class:`UnknownNameError` with near misses."""
    if name not in roles():
        raise unknown_name("role of a scorer", name, roles())
    return roles()[name]
