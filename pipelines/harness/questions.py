"""One direction in a harness: from the test set to questions, from answers to our scores.

The only place where a harness meets the benchmark. The questions are those of a zero- or few-shot
prompted system (:mod:`tstbench.trainers.prompting`), answers become predictions by the same named
rules, and predictions are scored by :func:`tstbench.pipelines.evaluate.evaluate`: the numbers and
signatures are those of ``tstbench evaluate`` on the same predictions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, ValidationError

from ...chat.settings import listed
from ...console import say
from ...datasets_scripts.catalog import dataset_facts, parse_direction
from ...datasets_scripts.directions import Direction
from ...datasets_scripts.fingerprint import fingerprint
from ...datasets_scripts.load import TestSet, load_test_set
from ...errors import InputError, MissingExtraError, MissingScorerError, unknown_name
from ...metrics.measure import roles_needed
from ...records import Strict
from ...trainers.prompted import ChatSettings
from ...trainers.prompting.cleaning import RULES, Cleaned, Context, clean, rule_names
from ...trainers.prompting.few_shot import Chooser, load_pool
from ...trainers.prompting.prompts import USUAL, Example, Prompts, load_prompts
from ..evaluate import evaluate
from ..outputs import Outputs
from ..predictions import one_line
from ..report import Report
from ..scoring import Scoring, scoring

# As published, TSTBench paper, section 4.1.
TEMPERATURE, TOP_P, MAX_TOKENS = (
    ChatSettings.temperature,
    ChatSettings.top_p,
    ChatSettings.max_tokens,
)


def _split(given: object) -> object:
    """A list is also written as a text with commas: command lines of harnesses differ."""
    return listed(given) if isinstance(given, str) else given


Names = Annotated[tuple[str, ...], BeforeValidator(_split)]


class HarnessSettings(Strict):
    """What to ask and how to score, under the names of ``tstbench transfer`` and ``evaluate``.

    The model and how it generates are the harness's own settings.

    Attributes:
        metrics: names of metrics or families; empty for BLEU, and of ACC and Joint those whose
            scorers exist (see :func:`usual_metrics`).
        profile: the set of scorers.
        scorers: ``ROLE=SCORER`` texts, instead of the profile's.
        prompts: a prompt file: its name, or a path (``.toml``).
        examples: how many are shown before a sentence; 0 is zero-shot.
        examples_by: which ones, see :class:`~tstbench.trainers.prompting.few_shot.Chooser`.
        examples_file: the user's own, JSON Lines of ``source`` and ``target``.
        seed: of the draw of examples.
        clean: the rules that clean answers; ``none`` keeps them raw.
        data_dir: the user's copy of a licensed corpus.
        device: of the scorers.
    """

    metrics: Names = ()
    profile: str = "embedded"
    scorers: Names = ()
    prompts: str = USUAL
    examples: Annotated[int, Field(ge=0, le=64)] = 0
    examples_by: Literal["seed", "bm25", "embedding"] = "seed"
    examples_file: str = ""
    seed: int = 0
    clean: Names = tuple(RULES)
    data_dir: str = ""
    device: str = "auto"

    @property
    def folder(self) -> Path | None:
        """``data_dir`` as a path."""
        return Path(self.data_dir).expanduser() if self.data_dir else None


def read_settings(given: Mapping[str, object]) -> HarnessSettings:
    """Settings from what a harness hands over.

    Raises:
        UnknownNameError: there is no such setting.
        InputError: a value that a setting does not accept.

    >>> read_settings({"metrics": "s_bleu,acc", "examples": 4}).metrics
    ('s_bleu', 'acc')
    """
    for name in given:
        if name not in HarnessSettings.model_fields:
            raise unknown_name("setting", str(name), HarnessSettings.model_fields)
    try:
        return HarnessSettings.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"setting {where}: {first['msg']}") from error


_ALWAYS = ("s_bleu", "r_bleu", "multi_bleu")
_IF_PREPARED = ("acc", "joint")


@dataclass(frozen=True)
class Question:
    """What a model is asked.

    Attributes:
        id: of the sentence, as in the test set.
        source: the sentence.
        references: human rewrites of it, 0 to n.
        messages: of the chat: the system's, if the prompts have one, and the user's.
    """

    id: str
    source: str
    references: tuple[str, ...]
    messages: tuple[dict[str, str], ...]

    @property
    def text(self) -> str:
        """The messages as one text, for models that continue a text."""
        return "\n\n".join(message["content"] for message in self.messages)


class DirectionTask:
    """The test of one direction.

    Making one reads and checks everything that can be checked before a model is asked, and trains
    the scorers that are missing for metrics which were asked for by name.

    Args:
        direction: ``yelp/negative-to-positive``.
        settings: what to ask and how to score.

    Raises:
        UnknownNameError: no such direction, metric, profile, prompts or cleaning rule.
        MissingFileError: a file of the dataset or of the settings is missing.
        InputError: settings that cannot be used.
    """

    def __init__(self, direction: str | Direction, settings: HarnessSettings) -> None:
        if isinstance(direction, str):
            direction = parse_direction(direction)
        self.direction = direction
        self.settings = settings
        self.rules = rule_names(settings.clean)
        self.prompts: Prompts = load_prompts(settings.prompts)
        self.prompts.instruction(direction)  # raises if it has none
        self.test_set = load_test_set(direction, data_dir=settings.folder)
        names = settings.metrics or usual_metrics(self.test_set, settings)
        self.scoring = _scoring(settings, names)
        self.scoring.prepare(direction, settings.folder)
        self._scorers = self.scoring.scorers(direction)  # kept: loaded once, however often we score
        self._styles = (direction.source_style, direction.target_style)

    @property
    def metrics(self) -> tuple[str, ...]:
        """What is scored, in the order asked."""
        return self.scoring.metrics

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """One per sentence of the test set, in its order."""
        test_set = self.test_set
        rows = zip(
            test_set.ids, test_set.sources, test_set.references, self._examples(), strict=True
        )
        return tuple(
            Question(
                name,
                source,
                references,
                tuple(self.prompts.messages(self.direction, source, shown)),
            )
            for name, source, references, shown in rows
        )

    def _examples(self) -> list[list[Example]]:
        settings = self.settings
        if not settings.examples:
            if settings.examples_file:
                raise InputError("examples_file: say how many to show with the setting examples")
            return [[] for _ in self.test_set.sources]
        pool = load_pool(self.direction, settings.examples_file, settings.data_dir)
        chooser = Chooser(
            pool, settings.examples, settings.examples_by, settings.seed, self.direction
        )
        return chooser.of(self.test_set.sources)

    def prediction(self, answer: str, source: str, *, filtered: bool = False) -> Cleaned:
        """What becomes of an answer, and the rules that changed it; as for a prompted system.

        Args:
            answer: of the model, raw.
            source: the sentence that was to be rewritten.
            filtered: the server cut the answer off for its content; such an answer is no rewrite.
        """
        if filtered and self.rules:
            return Cleaned("", ("filtered",))
        cleaned = clean(answer, self.rules, Context(source, self._styles))
        return Cleaned(one_line(cleaned.text), cleaned.rules)

    def report(self, predictions: Mapping[str, str]) -> Report:
        """The evaluation of predictions, by the sentences' ids.

        A part of the test set is scored as if it were all: its signatures have another fingerprint
        of the data and another number of sentences.

        Raises:
            InputError: a sentence that the test set has not; no prediction; a prediction, or all of
                them together, that ``tstbench evaluate`` would refuse.
        """
        test_set = _part(self.test_set, predictions)
        outputs = Outputs("model", tuple(predictions[name] for name in test_set.ids))
        done = evaluate([outputs], test_set, self.scoring, scorers=self._scorers)
        return done.systems[0].report

    def values(self, predictions: Mapping[str, str]) -> dict[str, float]:
        """Metric to value, as a harness takes them: NaN where there is none, and a message.

        A metric that does not apply, such as ``multi_bleu`` with one reference, is left out.
        """
        try:
            report = self.report(predictions)
        except InputError as error:  # the answers stay in the harness's log
            say(f"{self.direction}: no scores: {error}")
            return dict.fromkeys(self.metrics, math.nan)
        return {s.metric: math.nan if s.value is None else s.value for s in report.scores}


def usual_metrics(test_set: TestSet, settings: HarnessSettings) -> tuple[str, ...]:
    """The BLEU views that apply, and ACC and Joint if their scorers exist.

    Nothing is trained for them: ``tstbench prepare`` does that.
    """
    most = max(map(len, test_set.references), default=0)
    scorers = _scoring(settings, _IF_PREPARED).scorers(test_set.direction)
    found = [name for name, needed in zip(_ALWAYS, (0, 1, 2), strict=True) if most >= needed]
    for name in _IF_PREPARED:
        try:
            for role in roles_needed([name], scorers):
                scorers.find(role)
        except (MissingScorerError, MissingExtraError):
            say(
                f"{test_set.direction}: {name} is not scored, because its scorers are missing: "
                f"run 'tstbench prepare {test_set.direction.dataset}', or ask for it by name"
            )
        else:
            found.append(name)
    return tuple(found)


def dataset_directions(dataset: str, direction: str = "") -> tuple[Direction, ...]:
    """The directions of a dataset, or the one that is named, with or without the dataset.

    Raises:
        UnknownNameError: no such dataset or direction.
        InputError: a direction of another dataset.
    """
    if not direction:
        return tuple(dataset_facts(dataset).directions)
    found = parse_direction(direction if "/" in direction else f"{dataset}/{direction}")
    if found.dataset != dataset:
        raise InputError(f"direction {found} is not one of {dataset}: evaluate {found.dataset}")
    return (found,)


def _scoring(settings: HarnessSettings, metrics: tuple[str, ...]) -> Scoring:
    return scoring(
        metrics, profile=settings.profile, scorers=settings.scorers, device=settings.device
    )


def _part(test_set: TestSet, predictions: Mapping[str, str]) -> TestSet:
    """The sentences that have predictions, in order."""
    known = set(test_set.ids)
    for name in predictions:
        if name not in known:
            raise InputError(f"{test_set.direction} has no sentence {name!r}")
    places = [place for place, name in enumerate(test_set.ids) if name in predictions]
    if len(places) == len(test_set):
        return test_set
    sources = tuple(test_set.sources[place] for place in places)
    references = tuple(test_set.references[place] for place in places)
    return replace(
        test_set,
        ids=tuple(test_set.ids[place] for place in places),
        sources=sources,
        references=references,
        fingerprint=fingerprint(sources, references),
    )
