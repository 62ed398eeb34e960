"""Paraphrasers that are language models: found, or fine-tuned on pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ...errors import MissingFileError, MissingScorerError
from ...files import atomic_folder
from ...metrics.scorers.weights import fetch
from .loop import learn
from .prefix_learner import Pair, PrefixLearner, Tuning
from .prefix_lm import PrefixLM
from .run import Run

_HELD_OUT = 0.02  # of the pairs: the released split


class Paraphraser(Protocol):
    """Says sentences in words without their style."""

    def paraphrased(self, sentences: Sequence[str]) -> list[str]:
        """Their paraphrases, in order; a sentence always has the same one."""
        ...


@dataclass(frozen=True)
class LearnedParaphraser:
    """A GPT-2 that writes paraphrases.

    Attributes:
        model: reads a sentence, writes another.
    """

    model: PrefixLM

    def paraphrased(self, sentences: Sequence[str]) -> list[str]:
        """The likeliest tokens, at most 5 more than the sentence has (``inference_utils.py``)."""
        return self.model.write(sentences, longer=5)


def given_paraphraser(name: str, device: str, format_: Mapping[str, Any]) -> LearnedParaphraser:
    """A trained paraphraser, by Hub id or folder.

    Raises:
        MissingFileError: it cannot be found.
        InputError: it is no GPT-2 of STRAP's format, or damaged.
    """
    try:
        folder = fetch(name)
    except MissingScorerError as error:
        raise MissingFileError(f"the paraphraser: {error}") from error
    return LearnedParaphraser(PrefixLM.read(folder, device, **format_))


def taught(
    model: PrefixLM, read: Callable[[], Sequence[Pair]], tuning: Tuning, run: Run, recipe: str
) -> tuple[LearnedParaphraser, Run]:
    """Fine-tune a paraphraser; what an interrupted training had finished is not learned again.

    Args:
        model: to fine-tune.
        read: gives sentences and their paraphrases, if they are needed; 2 of 100 are held out to
            choose weights with.
        tuning: how.
        run: where. The finished paraphraser stays in its folder.
        recipe: of the system.

    Returns:
        The paraphraser, and the run of the phase after it.
    """
    folder = None if run.folder is None else run.folder / "paraphraser"
    following = run if run.resume == "no" else replace(run, resume="auto")
    if folder is not None and run.resume != "no" and _is_checkpoint(folder):
        found = PrefixLM.read(
            folder,
            run.device,
            max_prefix=model.max_prefix,
            max_suffix=model.max_suffix,
            released=model.released,
        )
        return LearnedParaphraser(found), following
    pairs = read()
    order = np.random.default_rng(tuning.seed).permutation(len(pairs))
    n_held = max(1, round(_HELD_OUT * len(pairs)))
    held, kept = ([pairs[i] for i in some] for some in (order[:n_held], order[n_held:]))
    first = replace(run, folder=None if folder is None else folder.with_name("paraphraser-run"))
    learn(PrefixLearner(model, kept, held, tuning), first, f"{recipe}/paraphraser")
    if folder is not None:
        with atomic_folder(folder, ours=_is_checkpoint) as scratch:
            model.save(scratch)
    return LearnedParaphraser(model), following


def _is_checkpoint(folder: Path) -> bool:
    return (folder / "config.json").is_file()
