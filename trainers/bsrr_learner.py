"""What BSRR learns from: pairs, then sentences that it draws; see :mod:`.bsrr`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import Optimizer

from ..datasets_scripts.training import Pair
from ..metrics.nltk_tokens import nltk_tokens
from .bsrr_config import BsrrConfig
from .learning.loop import Learner, Terms, Update
from .learning.order import Order
from .learning.policy import log_probabilities, token_policy_loss, up_to_end
from .learning.rewards import (
    DiversityMemory,
    salience,
    self_critical,
    style_probability,
    text_bleu,
)
from .learning.style_reader import content_batch
from .learning.styled import CUT, StyledBart
from .nets.style_roberta import StyleRoberta

_BLEU_WEIGHTS = (0.15, 0.15, 0.35, 0.35)
_MOST_STYLE, _LEAST_SALIENCE, _MOST_SALIENCE = 0.8, 0.2, 0.5
_CONTENT_SHARE = 0.7  # a word's weight for content is this less its weight for style

Validate = Callable[[], Mapping[str, float]]


class BsrrLearner(Learner):
    """Pairs alone, then pairs and rewards (sections 3.2 and 3.3 of the paper)."""

    def __init__(
        self,
        writer: StyledBart,
        classifier: StyleRoberta,
        pairs: Sequence[Pair],
        config: BsrrConfig,
        validate: Validate,
    ) -> None:
        self._writer, self._bart, self._config = writer, writer.bart, config
        self._classifier, self._validate = classifier, validate
        self._memory = DiversityMemory(self._bart.model.config.vocab_size)
        self.network = nn.ModuleDict(
            {"bart": self._bart.model, "classifier": classifier, "memory": self._memory}
        )
        kinds: dict[str, Callable[..., Optimizer]] = {
            "adamw": torch.optim.AdamW,
            "rmsprop": torch.optim.RMSprop,
        }
        kind = kinds[config.optimizer]
        self.optimizers = {"bart": kind(self._bart.model.parameters(), lr=config.learning_rate)}
        # Every pair both ways: example i goes from side 0 if i is one of the first half.
        self._half = len(pairs)
        texts = [[pair[side] for pair in pairs] for side in (0, 1)]
        self._texts = [*texts[0], *texts[1]]
        rows = [writer.rows(texts[side], side) for side in (0, 1)]
        self._sources, self._targets = [*rows[0], *rows[1]], [*rows[1], *rows[0]]
        self._begin = [writer.begin(side) for side in (0, 1)]
        lengths = [max(len(x), len(y)) for x, y in zip(self._sources, self._targets, strict=True)]
        self._order = Order(lengths, config.batch_size, config.seed, config.grouping)
        self._epoch = self._order.steps_per_epoch
        self.steps = max(1, round(config.epochs * self._epoch))
        self.validate_every = min(config.validate_every, self._epoch)
        self.seed = config.seed

    def update(self, step: int) -> Update:
        """The pairs' loss, and from ``supervised_epochs`` on, the rewards' too."""
        rewarded = step >= self._config.supervised_epochs * self._epoch
        if rewarded:
            self._memory.begin(step)
        # The supervised loss fades once there are rewards.
        fading = self._config.supervised_decay ** (step // self._epoch + 1)

        def rewarded_loss(batch: np.ndarray) -> Terms:
            return {
                "words": fading * self._word_loss(batch),
                **self._reward_losses(batch),
            }

        def supervised_loss(batch: np.ndarray) -> Terms:
            return {"words": self._word_loss(batch)}

        return Update(
            name="rewarded" if rewarded else "supervised",
            optimizers=("bart",),
            loss=rewarded_loss if rewarded else supervised_loss,
            order=self._order,
            number=step,
            rates={"bart": self._config.reward_rate if rewarded else self._config.learning_rate},
            clip=self._config.clip if rewarded else None,
        )

    def _word_loss(self, batch: np.ndarray) -> Tensor:
        """Label-smoothed, the mean over the words of the batch."""
        sources = self._bart.padded([self._sources[i] for i in batch])
        targets = self._bart.padded([self._targets[i] for i in batch])
        total = F.cross_entropy(
            self._bart.logits(sources, targets).flatten(0, 1),
            targets.flatten(),
            ignore_index=self._bart.pad,
            label_smoothing=self._config.smoothing,
            reduction="sum",
        )
        return total / sum(len(self._targets[i]) for i in batch)

    def _reward_losses(self, batch: np.ndarray) -> Terms:
        """Both rewards of sentences drawn now: a mean over the words of the batch."""
        config, bart = self._config, self._bart
        was_training = self.network.training
        self.network.eval()  # drawn and scored without dropout: the same distribution twice
        sides = [int(i >= self._half) for i in batch]
        begin = [self._begin[1 - side] for side in sides]
        rows = [self._sources[i] for i in batch]
        drawn = bart.generate(
            rows, max_length=config.sample_length, temperature=config.temperature, begin=begin
        )
        free = torch.arange(drawn.shape[1], device=drawn.device) >= torch.tensor(
            [[len(row)] for row in begin], device=drawn.device
        )
        mask = up_to_end(drawn, bart.end) & free
        content = self._content_advantage(batch, rows, drawn, begin)
        style, weight = self._style_rewards(drawn, mask, sides)
        content_share = _CONTENT_SHARE - weight
        if config.diverse:
            self._memory.add(drawn, mask & (drawn != bart.end))
            weight = (weight * self._memory.factor(drawn)).clamp(min=_LEAST_SALIENCE)
        if config.gated:
            style = style * content
        logits = bart.logits(bart.padded(rows), drawn).float() / config.temperature
        unwritten = torch.tensor(bart.unwritten, device=logits.device)
        log_p = log_probabilities(logits.index_fill(-1, unwritten, -torch.inf), drawn)
        log_p = log_p.where(mask, 0.0)
        self.network.train(was_training)
        return {
            "style": config.style_weight * token_policy_loss(log_p, mask, style[:, None] * weight),
            "content": config.content_weight
            * token_policy_loss(log_p, mask, content[:, None] * content_share),
        }

    def _content_advantage(
        self,
        batch: np.ndarray,
        rows: Sequence[Sequence[int]],
        drawn: Tensor,
        begin: Sequence[Sequence[int]],
    ) -> Tensor:
        """How much better drawn sentences can be turned back than the likeliest ones; (B)."""
        config, bart = self._config, self._bart
        versions = [drawn]
        if config.baseline:
            versions.append(bart.generate(rows, max_length=config.sample_length, begin=begin))
        sides = [int(i >= self._half) for i in batch] * len(versions)
        written = [self._ended(row) for ids in versions for row in ids.tolist()]
        back = bart.generate(
            written, max_length=config.sample_length, begin=[self._begin[side] for side in sides]
        )

        found = [
            self._tokens(self._writer.text(row, side), side, bart.end in row)
            for row, side in zip(back.tolist(), sides, strict=True)
        ]
        wanted = [self._tokens(self._texts[i], int(i >= self._half)) for i in batch] * len(versions)
        scores = text_bleu(found, wanted, _BLEU_WEIGHTS).to(drawn.device).split(len(batch))
        if not config.baseline:
            return scores[0]
        return self_critical(scores[0], scores[1], only_better=True)

    def _tokens(self, text: str, side: int, ended: bool = True) -> str:
        """``<s>style # text</s>`` as NLTK's tokenizer parts it, which the released BLEU reads."""
        written = nltk_tokens(" ".join(text[:CUT].split()))
        return f"< s > {self._writer.styles[side]} # {written}" + " < /s >" * ended

    def _ended(self, row: list[int]) -> list[int]:
        """A generated row as one that can be read: up to ``</s>``, which it has."""
        end = self._bart.end
        return [*row[: row.index(end)], end] if end in row else [*row, end]

    def _style_rewards(
        self, drawn: Tensor, mask: Tensor, sides: Sequence[int]
    ) -> tuple[Tensor, Tensor]:
        """P(target style), clamped, (B), and each word's salience, (B, T)."""
        words = mask & (drawn != self._bart.end)
        rows = [row[there].tolist() for row, there in zip(drawn, words, strict=True)]
        target = torch.tensor([1 - side for side in sides], device=drawn.device)
        with torch.no_grad():
            ids, lengths = content_batch(rows, drawn.device)
            logits, attentions = self._classifier.verdict(ids, lengths)
            looks = salience(attentions, low=_LEAST_SALIENCE, high=_MOST_SALIENCE)
        weight = torch.full(drawn.shape, _LEAST_SALIENCE, device=drawn.device)
        # Place 0 of the classifier is <s>; a sentence's words are next to each other in drawn.
        inside = torch.arange(1, looks.shape[1], device=drawn.device) <= lengths[:, None]
        weight[words] = looks[:, 1:][inside].to(weight.dtype)  # under autocast they are bfloat16
        return style_probability(logits, target, top=_MOST_STYLE), weight

    def validate(self) -> Mapping[str, float]:
        """See :func:`.bsrr._by_references` and :func:`.bsrr._by_judge`."""
        return self._validate()
