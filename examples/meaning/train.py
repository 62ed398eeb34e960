"""Train the meaning scorer on made pairs, measure it on pairs of held-out sentences, store it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import Annotated, Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from tstbench.console import say
from tstbench.errors import InputError
from tstbench.metrics.scorers.artefacts import Artefact, ScorerCard, find_recipe, portable, store
from tstbench.metrics.scorers.encoder import TransformerEncoder, load_encoder
from tstbench.metrics.scorers.encoder_files import EMBEDDED_ENCODER
from tstbench.metrics.scorers.fitting import resumable
from tstbench.metrics.scorers.meaning import MeaningModel, PairReader, fresh_network
from tstbench.metrics.scorers.meaning_network import MeaningNetwork
from tstbench.pace import training
from tstbench.store import data_fingerprint
from tstbench.version import __version__

from .close import Close
from .material import Material
from .pairs import Pair, Recipe, drawn, made_pair, stock_of, template_pair
from .templates import templates
from .wording import Word


@dataclass(frozen=True)
class Encoded:
    """P pairs.

    Attributes:
        pairs: token ids of both sides.
        marks: for each pair the marks of its tokens, special ones included, float32: 1 changed,
            0 kept, -1 not known.
        kept: how much of the meaning a pair keeps, shape (P,), float32.
        lengths: tokens of a pair, shape (P,).
    """

    pairs: tuple[tuple[list[int], list[int]], ...]
    marks: tuple[np.ndarray, ...]
    kept: np.ndarray
    lengths: np.ndarray


def encode(pairs: Sequence[Pair], reader: PairReader) -> Encoded:
    """The tokens of both sides of all pairs."""
    words = sorted({word.text for pair in pairs for word in (*pair.source, *pair.output)})
    pieces = dict(zip(words, reader.ids(words), strict=True))
    found, marks = [], []
    for pair in pairs:
        (first, first_marks), (second, second_marks) = (
            _side(side, pieces) for side in (pair.source, pair.output)
        )
        found.append((first, second))
        marks.append(np.array([-1, *first_marks, -1, *second_marks, -1], dtype=np.float32))
    return Encoded(
        tuple(found),
        tuple(marks),
        np.array([pair.kept for pair in pairs], dtype=np.float32),
        np.array([len(some) for some in marks]),
    )


def padded_marks(data: Encoded, batch: np.ndarray) -> Tensor:
    """Marks of B pairs, -1 for padding: shape (B, T)."""
    table = torch.full((len(batch), int(data.lengths[batch].max())), -1.0)
    for row, i in enumerate(batch):
        table[row, : data.lengths[i]] = torch.from_numpy(data.marks[i])
    return table


def _side(side: Sequence[Word], pieces: dict[str, list[int]]) -> tuple[list[int], list[float]]:
    ids: list[int] = []
    marks: list[float] = []
    for word in side:
        ids += pieces[word.text]
        mark = -1.0 if word.changed is None else float(word.changed)
        marks += [mark] * len(pieces[word.text])
    return ids, marks


KIND = "crossed"
RECIPE_VERSION = 3  # raised when the same settings no longer give the same pairs
_HELD_OUT = 20  # one sentence in so many is only for measuring
_BATCH = 32
_HELD_OUT_TEMPLATES = 12
_TOO_FEW = "too few sentences to make pairs from: give more text with --text FILE"


@dataclass(frozen=True, kw_only=True)
class MeaningConfig:
    """How the scorer is trained.

    Attributes:
        pairs: how many pairs are made; one in thirteen only measures.
        epochs: how often all are seen.
        told: the share of pairs made from templates.
        rewrites: of the others, the share of kept pairs that are rewrites by people; half of it for
            changed pairs.
        rate: the highest learning rate.
        marks: weight of the loss on single tokens.
        rank: of what is added to the encoder's projections.
        dtype: of most products while it is trained; bfloat16 takes half the time on processors that
            have it. Scores are computed in float32.
        encoder: Hub id or local folder.
        without: kinds of damage that are not learned, to measure on what is new.
        seed: of pairs and training.
    """

    pairs: Annotated[int, Field(ge=200)] = 28_000
    epochs: Annotated[int, Field(ge=1)] = 1
    told: Annotated[float, Field(ge=0, le=1)] = 0.45
    rewrites: Annotated[float, Field(ge=0, le=1)] = 0.5
    rate: Annotated[float, Field(gt=0)] = 1e-3
    marks: Annotated[float, Field(ge=0)] = 0.5
    rank: Annotated[int, Field(ge=1)] = 16
    dtype: Literal["float32", "bfloat16"] = "bfloat16"
    encoder: str = EMBEDDED_ENCODER
    without: tuple[str, ...] = ()
    seed: int = 0


@dataclass(frozen=True)
class Made:
    """Pairs to learn from, and pairs of other sentences to measure on."""

    learn: tuple[Pair, ...]
    held_out: tuple[Pair, ...]


def train_meaning(corpora: Sequence[Material], config: MeaningConfig | None = None) -> Artefact:
    """Train and store the scorer, unless it exists.

    Raises:
        InputError: there are too few sentences to make pairs from.
        MissingScorerError: the encoder cannot be found.
    """
    config = config or MeaningConfig()
    texts = [text for corpus in corpora for text in corpus.sentences]
    texts += [" ".join(pair) for corpus in corpora for pair in corpus.rewrites]
    encoder = load_encoder(config.encoder)
    card = ScorerCard(
        role="meaning",
        dataset="made-pairs",
        name="own",
        kind=KIND,
        styles=("kept",),
        trained_on="made pairs of " + ", ".join(corpus.name for corpus in corpora),
        data_fingerprint=data_fingerprint(texts),
        n_sentences=len(texts),
        n_excluded=sum(corpus.removed for corpus in corpora),
        settings={**portable(_plain(asdict(config)), ("encoder",)), "recipe": RECIPE_VERSION},
        versions={
            "tstbench": __version__,
            **{name: version(name) for name in ("torch", "transformers", "numpy", "scipy")},
        },
    )
    if there := find_recipe(card):
        return there
    made = make_pairs(corpora, config, encoder)
    say(f"training the meaning scorer on {len(made.learn)} made pairs")
    with training("the meaning scorer", "meaning", card.recipe):
        network, reader, scores = fit(made, config)
        model = MeaningModel(network, reader, encoder)
        return store(replace(card, scores=scores), model.save)


def make_pairs(
    corpora: Sequence[Material], config: MeaningConfig, encoder: TransformerEncoder
) -> Made:
    """Pairs of all corpora in equal shares, from held-out sentences and from the others.

    Raises:
        InputError: there are too few sentences.
    """
    if not any(len(corpus.sentences) > _HELD_OUT for corpus in corpora):
        raise InputError(_TOO_FEW)
    rng = random.Random(config.seed)
    sentences = [text for corpus in corpora for text in corpus.sentences]
    stock = stock_of(sentences)
    stock = replace(stock, close=Close.of_words(stock.neighbours.words, encoder))
    recipe = Recipe(without=config.without)
    with_rewrites = [corpus for corpus in corpora if corpus.rewrites]
    learn: list[Pair] = []
    held_out: list[Pair] = []
    for _ in range(20 * config.pairs):
        if len(learn) + len(held_out) == config.pairs:
            return Made(tuple(learn), tuple(held_out))
        measures = rng.random() < 1 / 13
        how = drawn(rng, recipe)
        rewrites = config.rewrites if how == "none" else config.rewrites / 2
        pool: Sequence[str | tuple[str, str]]
        if how != "other" and rng.random() < config.told:
            i = rng.randrange(len(templates()) // _HELD_OUT_TEMPLATES) * _HELD_OUT_TEMPLATES
            i += 0 if measures else rng.randrange(1, _HELD_OUT_TEMPLATES)
            pair = template_pair(templates()[i], how, stock, rng, recipe)
            if pair is not None:
                (held_out if measures else learn).append(pair)
            continue
        if with_rewrites and rng.random() < rewrites:
            pool = rng.choices(with_rewrites, [len(c.rewrites) ** 0.5 for c in with_rewrites])[
                0
            ].rewrites
        else:
            pool = rng.choices(corpora, [len(c.sentences) ** 0.5 for c in corpora])[0].sentences
        if len(pool) <= _HELD_OUT:  # too few to hold some out
            continue
        i = rng.randrange(len(pool) // _HELD_OUT) * _HELD_OUT
        texts = pool[i if measures else i + rng.randrange(1, _HELD_OUT)]
        if not isinstance(texts, str) and rng.random() < 0.5:
            texts = (texts[1], texts[0])
        pair = made_pair(texts, how, stock, rng, recipe)
        if pair is not None:
            (held_out if measures else learn).append(pair)
    raise InputError(_TOO_FEW)


def fit(made: Made, config: MeaningConfig) -> tuple[MeaningNetwork, PairReader, dict[str, float]]:
    """Train the network; returns it, its reader and its scores on the held-out pairs."""
    torch.manual_seed(config.seed)
    rng = np.random.default_rng(config.seed)
    network, reader = fresh_network(config.encoder, rank=config.rank)
    data = encode([*made.learn, *made.held_out], reader)
    optimiser = torch.optim.AdamW(network.parameters(), config.rate, weight_decay=0.01)
    device = next(network.parameters()).device.type
    steps = config.epochs * -(-len(made.learn) // _BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, config.rate, total_steps=steps, pct_start=0.1
    )
    network.train()
    every = range(config.epochs)
    batches = (batch for _ in every for batch in _batches(data, len(made.learn), rng))
    with resumable(network, optimiser, batches, steps) as left:
        for step, batch in left:
            with torch.autocast(device, torch.bfloat16, enabled=config.dtype == "bfloat16"):
                logits, tokens = _forward(network, reader, data, batch)
            loss = _loss(logits.float(), tokens.float(), data, batch, config.marks)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            schedule.last_epoch = step  # it also goes on from there
            schedule.step()
    network.half().float()  # as it will be stored
    network.eval()
    return network, reader, held_out_scores(network, reader, data, len(made.learn), made.held_out)


def held_out_scores(
    network: MeaningNetwork, reader: PairReader, data: Encoded, start: int, pairs: Sequence[Pair]
) -> dict[str, float]:
    """Pearson correlation with what is kept, and for each kind of damage the AUC against kept.

    Args:
        network: in evaluation mode.
        reader: of its encoder.
        data: all pairs.
        start: where the held-out ones begin.
        pairs: the held-out ones.
    """
    if len(pairs) < 2:
        return {}
    from sklearn.metrics import roc_auc_score

    logits = []
    with torch.inference_mode():
        for first in range(start, start + len(pairs), _BATCH):
            rows = np.arange(first, min(first + _BATCH, start + len(pairs)))
            logits.append(_forward(network, reader, data, rows)[0].cpu().numpy())
    found = np.concatenate(logits)
    wanted = np.array([pair.kept for pair in pairs])
    scores = {"pearson": float(np.corrcoef(1 / (1 + np.exp(-found)), wanted)[0, 1])}
    kinds = np.array([pair.kind for pair in pairs])
    for of in ("", "people ", "told "):
        kept = kinds == f"{of}kept"
        for kind in sorted(set(kinds)):
            damaged = kinds == kind
            if _origin(kind) != of or "+" in kind or kind == f"{of}kept":
                continue
            if kept.sum() >= 5 and damaged.sum() >= 5:
                both = kept | damaged
                scores[f"auc_{kind.replace(' ', '_')}"] = float(
                    roc_auc_score(kept[both], found[both])
                )
    return {name: value for name, value in scores.items() if np.isfinite(value)}


def _origin(kind: str) -> str:
    return next((of for of in ("people ", "told ") if kind.startswith(of)), "")


def _loss(
    logits: Tensor, tokens: Tensor, data: Encoded, batch: np.ndarray, weight: float
) -> Tensor:
    kept = torch.from_numpy(data.kept[batch]).clamp(0.02, 0.98).to(logits.device)
    loss = F.binary_cross_entropy_with_logits(logits, kept)
    marks = padded_marks(data, batch).to(tokens.device)
    known = marks >= 0
    if weight and known.any():
        # Changed tokens are rare: each counts as three.
        loss = loss + weight * F.binary_cross_entropy_with_logits(
            tokens[known], marks[known], pos_weight=torch.tensor(3.0)
        )
    return loss


def _forward(
    network: MeaningNetwork, reader: PairReader, data: Encoded, batch: np.ndarray
) -> tuple[Tensor, Tensor]:
    found: tuple[Tensor, Tensor] = network(*reader.batch([data.pairs[i] for i in batch]))
    return found


def _batches(data: Encoded, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Batches of similar length in random order, different in each epoch."""
    order, batches = rng.permutation(count), []
    for start in range(0, count, 20 * _BATCH):
        some = order[start : start + 20 * _BATCH]
        some = some[np.argsort(data.lengths[some], kind="stable")]
        batches += [some[i : i + _BATCH] for i in range(0, len(some), _BATCH)]
    return [batches[i] for i in rng.permutation(len(batches))]


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    """As JSON has it: lists, not tuples."""
    return {k: list(v) if isinstance(v, tuple) else v for k, v in settings.items()}
