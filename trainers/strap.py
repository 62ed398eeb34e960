"""STRAP: style transfer as paraphrasing.

Krishna, Wieting and Iyyer (EMNLP 2020), "Reformulating Unsupervised Style Transfer as Paraphrase
Generation". A paraphraser says a sentence in words without its style (section 2.1); an inverse
paraphraser, taught to turn the paraphrases of a style's sentences back into these sentences, gives
any paraphrase that style (2.2); transfer is one after the other (2.3). Both are GPT-2 models that
are fine-tuned on ``prefix <bos> suffix <eos>`` (:mod:`.prefix_lm`). A model writes one
style: each direction has its own, which learns from the target style alone.

The paraphraser decides what this is worth. ``paraphraser`` says where it comes from:

- ``corpus``: fine-tuned on a file of paraphrases, such as ParaNMT-50M, filtered for diversity as in
  section 2.1;
- a Hub id or a folder: a paraphraser in the released format, such as those on the Hub. Most were
  trained with padding that is read: ``padding = "released"``;
- ``pairs``: fine-tuned on the dataset's own pairs, both ways. The system is then supervised, and
  its card says that it needs parallel data;
- ``rules``: no model. Words that mark a style are left out, others at random, and neighbours change
  places. It needs nothing but the two styles, and is what a machine without paraphrases can do; it
  knows no synonyms and never turns a sentence around.

Where we differ from the released code: padding is masked and positions count tokens (there, 50
places are always filled, and padding is read; ``padding = "released"`` does that). Weights are
chosen by perplexity on held-out sentences, as there. Batches are of like length.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol, cast

import numpy as np
import torch
from pydantic import Field

from ..console import say
from ..datasets_scripts.catalog import language_of
from ..datasets_scripts.directions import Direction
from ..datasets_scripts.load import TrainingData
from ..errors import InputError, MissingFileError, MissingScorerError
from ..files import atomic_folder, read_lines, read_text, write_json
from ..metrics.scorers.fitting import warmed_up
from ..metrics.scorers.weights import fetch
from ..metrics.text import preparation
from ..settings import (
    Count,
    Natural,
    NotNegative,
    Positive,
    Probability,
    Share,
    read_settings,
    setting,
)
from .card import Family
from .prefix_lm import PrefixLM
from .system import Request, System, SystemCard, SystemConfig, Task
from .training.loop import Learner, Terms, Update, learn
from .training.run import IN_MEMORY, Run
from .training.sampler import Order
from .training.selection import Sides, check_sides, hold_out


@dataclass(frozen=True, kw_only=True)
class StrapConfig(SystemConfig):
    """The published settings: sections 2 and 4.2, and the released ``run_lm_finetuning.py``."""

    base: str = setting("openai-community/gpt2-large", "a GPT-2 to fine-tune: Hub id or folder")
    paraphraser: str = setting("corpus", "corpus, pairs, rules, or a trained one: Hub id or folder")
    paraphrases: str = setting("", "the corpus: a file of sentence, tab, paraphrase")
    max_overlap: NotNegative = setting(0.5, "corpus: pairs must share a lower part of their words")
    max_tau: float = setting(0.0, "corpus: Kendall's tau of shared words must be lower")
    max_difference: Natural = setting(5, "corpus: largest difference in words")
    salience: Annotated[float, Field(gt=1)] = setting(
        3.0, "rules: how much more frequent a style's markers are"
    )
    min_count: Count = setting(20, "rules: occurrences that make a marker")
    drop: Share = setting(0.1, "rules: share of other words that are left out")
    shuffle: NotNegative = setting(2.0, "rules: how far words move")
    max_prefix: Count = setting(50, "tokens that are read; the rest is cut")
    max_suffix: Count = setting(50, "tokens that are written; the rest is cut")
    padding: Literal["masked", "released"] = setting(
        "masked", "released: padding is read, as in the released code"
    )
    paraphraser_epochs: Count = setting(3, "epochs of the paraphraser, where it is fine-tuned")
    epochs: Count = setting(3, "epochs of the inverse paraphraser")
    batch_size: Count = setting(10, "sentences a step")
    learning_rate: Positive = setting(5e-5, "AdamW's at the start; it falls in a line to 0")
    clip: Positive = setting(1.0, "gradient norm")
    grouping: Count = setting(50, "batches that are sorted by length together; 1: none")
    validate_every: Count = setting(500, "steps between validations")
    hold_out: Count = setting(500, "sentences of each style to choose weights with")
    seed: Natural = setting(0, "of everything random")

    @property
    def format(self) -> dict[str, Any]:
        """Of the rows of both models."""
        return {
            "max_prefix": self.max_prefix,
            "max_suffix": self.max_suffix,
            "released": self.padding == "released",
        }

    def tuning(self, epochs: int) -> Tuning:
        """Of either model."""
        return Tuning(
            epochs=epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            clip=self.clip,
            grouping=self.grouping,
            validate_every=self.validate_every,
            seed=self.seed,
        )

    @classmethod
    def for_direction(cls, direction: Direction) -> StrapConfig:
        """The released scripts for formality take the small GPT-2."""
        formality = direction.dataset.startswith("gyafc")
        return cls(base="openai-community/gpt2") if formality else cls()

    @classmethod
    def small(cls, direction: Direction) -> StrapConfig:
        """For a small GPT-2 (``examples/backbone``), which ``base`` must name."""
        return replace(
            cls.for_direction(direction),
            paraphraser="rules",
            batch_size=32,
            learning_rate=1e-3,
            epochs=4,
            paraphraser_epochs=4,
            validate_every=250,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> StrapConfig:  # noqa: ARG003
        """Learns next to nothing within seconds: for tests."""
        return cls(
            base="scratch",
            paraphraser="rules",
            min_count=3,
            max_prefix=24,
            max_suffix=24,
            epochs=1,
            paraphraser_epochs=1,
            batch_size=32,
            learning_rate=3e-3,
            validate_every=20,
            hold_out=8,
        )


@dataclass(frozen=True, kw_only=True)
class StrapSettings:
    """How the inverse paraphraser writes; the paper reports 0.0, 0.6 and 0.9."""

    top_p: Probability = setting(0.0, "nucleus that tokens are drawn from; 0: the likeliest")


_INVERSE, _PARAPHRASER, _MARKERS = "inverse", "paraphraser", "markers.json"


Pair = tuple[str, str]
_WORD = re.compile(r"'?\w+(?:['’-]\w+)*")
_ENDING = re.compile(r"[.!?]*\s*$")


def read_paraphrases(file: Path | str) -> list[Pair]:
    """Pairs of a text file: sentence, tab, paraphrase; further columns are ignored.

    Raises:
        MissingFileError: no such file.
        InputError: a line has no tab, or an empty side; names the line.
    """
    path = Path(file).expanduser()
    if not path.is_file():
        raise MissingFileError(f"there is no file of paraphrases {path}")
    pairs = []
    for number, line in enumerate(read_lines(path), start=1):
        parts = [part.strip() for part in line.split("\t")]
        if len(parts) < 2 or not parts[0] or not parts[1]:
            raise InputError(f"{path}, line {number}: a sentence, a tab and a paraphrase expected")
        pairs.append((parts[0], parts[1]))
    return pairs


def overlap(first: Sequence[str], second: Sequence[str]) -> float:
    """The share of the second's words that the first has too, each as often as it has it.

    >>> overlap("the cat sat".split(), "the the dog sat".split())
    0.5
    """
    if not second:
        return 0.0
    return sum((Counter(first) & Counter(second)).values()) / len(second)


def kendall_tau(first: Sequence[str], second: Sequence[str]) -> float | None:
    """How alike two sentences order their common words: 1 for the same order, -1 for the reverse.

    The n-th occurrence of a word stands for the n-th in the other sentence.

    Returns:
        Kendall's tau; ``None`` with fewer than two common words.

    >>> kendall_tau("a b c x".split(), "c b y a".split())
    -1.0
    """
    places = _occurrences(second)
    order = [places[word] for word in _occurrences(first) if word in places]
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    if not pairs:
        return None
    return sum(1 if a < b else -1 for a, b in pairs) / len(pairs)


def is_diverse(pair: Pair, *, max_overlap: float, max_tau: float, max_difference: int) -> bool:
    """Whether a paraphrase says it in other words, in another order, at about the same length.

    The filters of Krishna et al. (2020), section 2.1. A pair with fewer than two common words has
    no order to compare.
    """
    first, second = (side.lower().split() for side in pair)
    tau = kendall_tau(first, second)
    return (
        overlap(first, second) < max_overlap
        and (tau is None or tau < max_tau)
        and abs(len(first) - len(second)) <= max_difference
    )


def _occurrences(words: Sequence[str]) -> dict[tuple[str, int], int]:
    """(word, which of its occurrences) -> place."""
    seen: Counter[str] = Counter()
    found = {}
    for place, word in enumerate(words):
        found[word, seen[word]] = place
        seen[word] += 1
    return found


@dataclass(frozen=True)
class RuleParaphraser:
    """Strips style by rules, for want of paraphrases to learn from: no paraphraser by any standard.

    The words that mark a style are left out, which is most of what a paraphraser does to style; so
    are a share of the others and the punctuation inside, and neighbours change places, so that the
    inverse paraphraser learns to write more than it reads. A sentence always has the same
    paraphrase.

    Attributes:
        markers: words that mark one style or another, in lower case.
        drop: share of the other words that are left out.
        shuffle: how far words move: each is sorted by its place plus a number below this.
    """

    markers: frozenset[str]
    drop: float
    shuffle: float

    @classmethod
    def of(
        cls,
        styles: Sequence[Sequence[str]],
        *,
        salience: float,
        min_count: int,
        drop: float,
        shuffle: float,
    ) -> RuleParaphraser:
        """Find the markers: frequent words that one style has more often than all others.

        Args:
            styles: sentences of each.
            salience: ratio of frequencies that makes a marker (Li et al. 2018, equation 1, with a
                smoothing of 1 and counts relative to the size of the style).
            min_count: occurrences in a style, below which a word is taken for content.
            drop: see the attributes.
            shuffle: see the attributes.
        """
        counts = [Counter(w for t in texts for w in _WORD.findall(t.lower())) for texts in styles]
        total = sum(counts, Counter())
        n_words = total.total()
        markers = set()
        for count in counts:
            size = count.total()
            scale = size / max(1, n_words - size)  # what the others have, at this style's size
            markers |= {
                word
                for word, n in count.items()
                if n >= min_count and (n + 1) / ((total[word] - n) * scale + 1) >= salience
            }
        return cls(frozenset(markers), drop, shuffle)

    def paraphrased(self, sentences: Sequence[str]) -> list[str]:
        """Their paraphrases, in order."""
        return [self._one(sentence) for sentence in sentences]

    def _one(self, sentence: str) -> str:
        draw = random.Random(sentence)
        words = [w for w in _WORD.findall(sentence) if w.lower() not in self.markers]
        kept = [w for w in words if draw.random() >= self.drop]
        keys = [i + draw.uniform(0, self.shuffle) for i in range(len(kept))]
        moved = " ".join(word for _, word in sorted(zip(keys, kept, strict=True)))
        ending = _ENDING.search(sentence)
        return moved + (ending.group().strip() if ending else "") or sentence


@dataclass(frozen=True)
class Tuning:
    """How such a model is fine-tuned: AdamW without weight decay, its rate falling in a line to 0.

    Attributes:
        epochs: over all pairs.
        batch_size: pairs a step.
        learning_rate: at the start.
        clip: the largest norm of the gradient.
        grouping: batches that are sorted by length together.
        validate_every: steps between validations.
        seed: of the order.
    """

    epochs: int
    batch_size: int
    learning_rate: float
    clip: float
    grouping: int
    validate_every: int
    seed: int


class PrefixLearner(Learner):
    """Cross-entropy on suffixes; the weights with the lowest held-out perplexity are kept."""

    def __init__(
        self, model: PrefixLM, train: Sequence[Pair], held_out: Sequence[Pair], tuning: Tuning
    ) -> None:
        self.network, self._model, self._tuning = model.model, model, tuning
        self._prefixes, self._suffixes = _encoded(model, train)
        self._held_prefixes, self._held_suffixes = _encoded(model, held_out)
        self._order = Order(
            [len(p) + len(s) for p, s in zip(self._prefixes, self._suffixes, strict=True)],
            tuning.batch_size,
            tuning.seed,
            tuning.grouping,
        )
        self.steps = tuning.epochs * self._order.steps_per_epoch
        self.validate_every, self.seed = tuning.validate_every, tuning.seed
        self.optimizers = {
            "model": torch.optim.AdamW(
                self.network.parameters(), lr=tuning.learning_rate, eps=1e-8, weight_decay=0.0
            )
        }

    def update(self, step: int) -> Update:
        """The same loss at every step; the learning rate falls."""
        return Update(
            name="model",
            optimizers=("model",),
            loss=self._loss,
            order=self._order,
            number=step,
            rates={"model": self._tuning.learning_rate * warmed_up(step, 0, self.steps)},
            clip=self._tuning.clip,
        )

    def _loss(self, batch: np.ndarray) -> Terms:
        """The mean over the tokens of the batch's suffixes, their ends included."""
        n_tokens = sum(len(self._suffixes[i]) for i in batch)
        summed = self._model.summed_loss(
            [self._prefixes[i] for i in batch], [self._suffixes[i] for i in batch]
        )
        return {"loss": summed / n_tokens}

    def validate(self) -> Mapping[str, float]:
        """Perplexity per token of held-out suffixes."""
        total, size = 0.0, 64
        for start in range(0, len(self._held_suffixes), size):
            some = slice(start, start + size)
            total += float(
                self._model.summed_loss(self._held_prefixes[some], self._held_suffixes[some])
            )
        loss = total / sum(map(len, self._held_suffixes))
        return {"selection": -loss, "perplexity": float(np.exp(min(loss, 100.0)))}


def _encoded(model: PrefixLM, pairs: Sequence[Pair]) -> tuple[list[list[int]], list[list[int]]]:
    return model.prefixes([p for p, _ in pairs]), model.suffixes([s for _, s in pairs])


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
) -> LearnedParaphraser:
    """Fine-tune a paraphraser; what an interrupted training had finished is not learned again.

    Args:
        model: to fine-tune.
        read: gives sentences and their paraphrases, if they are needed; 2 of 100 are held out to
            choose weights with.
        tuning: how.
        run: where. The finished paraphraser stays in its folder.
        recipe: of the system.
    """
    folder = None if run.folder is None else run.folder / "paraphraser"
    if folder is not None and run.resume != "no" and _is_checkpoint(folder):
        found = PrefixLM.read(
            folder,
            run.device,
            max_prefix=model.max_prefix,
            max_suffix=model.max_suffix,
            released=model.released,
        )
        return LearnedParaphraser(found)
    pairs = read()
    order = np.random.default_rng(tuning.seed).permutation(len(pairs))
    n_held = max(1, round(_HELD_OUT * len(pairs)))
    held, kept = ([pairs[i] for i in some] for some in (order[:n_held], order[n_held:]))
    first = replace(run, folder=None if folder is None else folder.with_name("paraphraser-run"))
    learn(PrefixLearner(model, kept, held, tuning), first, f"{recipe}/paraphraser")
    if folder is not None:
        with atomic_folder(folder, ours=_is_checkpoint) as scratch:
            model.save(scratch)
    return LearnedParaphraser(model)


def _is_checkpoint(folder: Path) -> bool:
    return (folder / "config.json").is_file()


@dataclass(frozen=True)
class Strap(System):
    """Paraphrases, then writes the paraphrase in the target style.

    Attributes:
        card: its settings and training data.
        paraphraser: takes the style away.
        inverse: gives the target style.
    """

    KIND: ClassVar[str] = "strap"
    FAMILY: ClassVar[Family] = "fpft"
    ORIGIN: ClassVar[str] = "Krishna et al. (2020), STRAP; TSTBench's implementation"
    LIBRARIES: ClassVar[tuple[str, ...]] = ("torch", "transformers")
    LOCAL: ClassVar[tuple[str, ...]] = ("base", "paraphraser", "paraphrases")
    Config: ClassVar[type[SystemConfig]] = StrapConfig
    Settings: ClassVar[type] = StrapSettings

    card: SystemCard
    paraphraser: Paraphraser
    inverse: PrefixLM

    @classmethod
    def planned(cls, data: TrainingData, config: SystemConfig) -> SystemCard:
        """As :meth:`System.planned`; the card says where the paraphraser comes from."""
        strap = cast(StrapConfig, config)
        card = super().planned(data, config)
        return replace(
            card,
            needs_parallel=strap.paraphraser == "pairs",
            trained_on=f"{card.trained_on}; paraphraser: {_origin(strap)}",
        )

    @classmethod
    def check_settings(cls, config: SystemConfig) -> None:
        """Raise MissingFileError if there is no paraphraser, nor anything to make one from."""
        strap = cast(StrapConfig, config)
        if strap.paraphraser == "corpus" and not strap.paraphrases:
            raise MissingFileError(
                "strap needs a paraphraser. Fine-tune one on a file of paraphrases (paraphrases: "
                "sentence, tab, paraphrase), give a trained one (paraphraser: a folder or Hub id), "
                "or do without: paraphraser rules. These are flags of 'tstbench train strap', and "
                "--set strap.paraphraser=rules of 'tstbench run'"
            )

    @classmethod
    def train(cls, data: TrainingData, config: StrapConfig, run: Run = IN_MEMORY) -> Strap:
        """Learn from the sentences of the target style; validation sentences choose the weights.

        Raises:
            InputError: a style has too few sentences, or there is nothing to learn paraphrases
                from.
            MissingFileError: the pretrained model or the file of paraphrases is not there.
        """
        cls.check_settings(config)
        _check(data, config)
        torch.manual_seed(config.seed)
        card = cls.planned(data, config)
        train, held = hold_out(data, config.hold_out, config.seed)
        paraphraser = _paraphraser(data, train, config, run, card.recipe)
        torch.manual_seed(config.seed)  # whether the paraphraser was learned now or before
        model = PrefixLM.pretrained(config.base, [*train.source, *train.target], **config.format)
        say(f"paraphrasing {len(train.target):,} sentences of the target style")
        pairs, held_pairs = (inverse_pairs(paraphraser, some) for some in (train, held))
        learner = PrefixLearner(model, pairs, held_pairs, config.tuning(config.epochs))
        learned = learn(learner, run, card.recipe)
        return cls(replace(card, scores=dict(learned.scores)), paraphraser, model)

    def rewrite(self, batch: Sequence[Request], task: Task) -> list[str]:
        """Paraphrased greedily, written with at most 10 tokens more than the paraphrase."""
        paraphrases = self.paraphraser.paraphrased([request.source for request in batch])
        written = self.inverse.write(
            paraphrases,
            longer=10,
            top_p=task.settings.top_p,
            randoms=[task.random(request) for request in batch],
        )
        return preparation(language_of(task.direction)).clean(written)

    def write(self, folder: Path) -> None:
        """Write ``inverse/``, and ``paraphraser/`` or ``markers.json``."""
        self.inverse.save(folder / _INVERSE)
        if isinstance(self.paraphraser, LearnedParaphraser):
            self.paraphraser.model.save(folder / _PARAPHRASER)
        elif isinstance(self.paraphraser, RuleParaphraser):
            write_json(folder / _MARKERS, sorted(self.paraphraser.markers))

    @classmethod
    def read(cls, folder: Path, card: SystemCard, device: str) -> Strap:
        """Read back what :meth:`write` wrote.

        Raises:
            InputError: a file does not have the written format, or there is no such device.
        """
        config = read_settings(StrapConfig, card.settings, cls.KIND)
        inverse = PrefixLM.read(folder / _INVERSE, device, **config.format)
        if config.paraphraser != "rules":
            model = PrefixLM.read(folder / _PARAPHRASER, device, **config.format)
            return cls(card, LearnedParaphraser(model), inverse)
        try:
            markers = frozenset(map(str, json.loads(read_text(folder / _MARKERS))))
        except (ValueError, TypeError, OSError) as error:
            raise InputError(f"{folder} is not a strap system: {error!r}") from error
        return cls(card, RuleParaphraser(markers, config.drop, config.shuffle), inverse)


def inverse_pairs(paraphraser: Paraphraser, sides: Sides) -> list[Pair]:
    """What the inverse paraphraser reads and writes: from its paraphrase, a target sentence."""
    return list(zip(paraphraser.paraphrased(sides.target), sides.target, strict=True))


def _check(data: TrainingData, config: StrapConfig) -> None:
    """Refuse what cannot be learned, before anything is."""
    check_sides(data, Sides(data.train.source, data.train.target))
    if config.paraphraser == "pairs" and not data.train.pairs:
        raise InputError(f"{data.direction} has no pairs to learn paraphrases from")


def _paraphraser(
    data: TrainingData, train: Sides, config: StrapConfig, run: Run, recipe: str
) -> Paraphraser:
    """Section 2.1, or what stands in for it."""
    if config.paraphraser == "rules":
        return RuleParaphraser.of(
            train,
            salience=config.salience,
            min_count=config.min_count,
            drop=config.drop,
            shuffle=config.shuffle,
        )
    if config.paraphraser not in ("corpus", "pairs"):
        return given_paraphraser(config.paraphraser, run.device, config.format)
    model = PrefixLM.pretrained(config.base, [*train.source, *train.target], **config.format)
    tuning = config.tuning(config.paraphraser_epochs)
    return taught(model, lambda: _pairs(data, config), tuning, run, recipe)


def _pairs(data: TrainingData, config: StrapConfig) -> list[Pair]:
    """Sentences and paraphrases of them."""
    if config.paraphraser == "pairs":
        return [*data.train.pairs, *((target, source) for source, target in data.train.pairs)]
    clean = preparation(language_of(data.direction)).clean
    first, second = zip(*read_paraphrases(config.paraphrases), strict=True)
    every = list(zip(clean(first), clean(second), strict=True))
    kept = [
        pair
        for pair in every
        if is_diverse(
            pair,
            max_overlap=config.max_overlap,
            max_tau=config.max_tau,
            max_difference=config.max_difference,
        )
    ]
    say(f"{len(kept):,} of {len(every):,} paraphrases are diverse")
    if len(kept) < 2:
        raise InputError(
            f"{config.paraphrases} has {len(kept)} diverse paraphrases: raise max_overlap, max_tau "
            "or max_difference, or take another corpus"
        )
    return kept


def _origin(config: StrapConfig) -> str:
    known = {
        "rules": "rules, no paraphraser was learned",
        "pairs": "the dataset's own pairs, which makes it supervised",
        "corpus": "a corpus of paraphrases",
    }
    return known.get(config.paraphraser, "a trained one")
