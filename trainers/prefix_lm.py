"""A GPT-2 that reads a prefix and writes a suffix: the format of STRAP's models.

A row is ``prefix <bos> suffix <eos>``. Each position also has a type, prefix or suffix, whose
embedding GPT-2 adds to that of the token (Krishna et al. 2020, section 2.2, and the released
``data_utils.py``). The loss is over the suffix and its end alone.

The released code puts every prefix into 50 places, filled up from the left with padding that the
model reads like any other token, with positions counted from the padding. ``released`` does that
too, which models that were trained so need; otherwise padding is masked and positions count tokens.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from ..errors import InputError, MissingFileError, MissingScorerError
from ..metrics.scorers.device import Device, Placement
from ..metrics.scorers.weights import fetch, load_pretrained, quiet_loading
from .training.backbones import BackboneShape, byte_level_tokenizer, random_model
from .training.sampler import by_length

SCRATCH = "scratch"  # instead of a checkpoint: a small random one, for tests
_PADDING, _START, _END = "<pad>", "<bos>", "<eos>"
_PREFIX, _SUFFIX = "<tokens>", "<verb>"  # the released code's names for the two types
_IGNORED = -100


@dataclass(frozen=True)
class Rows:
    """A batch as tensors (B, T): ids, types, positions, the mask of what is read, and labels."""

    ids: Tensor
    types: Tensor
    positions: Tensor
    mask: Tensor
    labels: Tensor


@dataclass(frozen=True)
class PrefixLM:
    """A model, its tokenizer with the format's five special tokens, and how rows are built.

    Attributes:
        model: ``GPT2LMHeadModel``.
        tokenizer: of transformers.
        max_prefix: tokens of a prefix; what is longer is cut.
        max_suffix: tokens of a suffix, without its end.
        released: whether padding is read; see above.
    """

    model: Any
    tokenizer: Any
    max_prefix: int = 50
    max_suffix: int = 50
    released: bool = False

    @classmethod
    def pretrained(cls, base: str, texts: Sequence[str], **format_: Any) -> PrefixLM:
        """A GPT-2 by Hub id or folder, on the CPU, with the special tokens added.

        Args:
            base: where it is; ``scratch`` for a small random one.
            texts: what a tokenizer from scratch is learned from.
            format_: the other attributes.

        Raises:
            MissingFileError: its weights cannot be found; the message says what to do.
            InputError: it is not a GPT-2, it is damaged, or its rows are too short.
        """
        if base == SCRATCH:
            tokenizer = byte_level_tokenizer(texts, "gpt2", 400, 128)
            model = random_model("gpt2", BackboneShape(32, 2, 2, 128), tokenizer)
        else:
            try:
                folder = fetch(base)
            except MissingScorerError as error:
                raise MissingFileError(
                    f"{error}. Or pre-train a small one (gpt2) with examples/backbone of the "
                    "repository, and give its folder: --base FOLDER"
                ) from error
            model, tokenizer = _load(folder, "cpu")
        n_before = len(tokenizer)
        tokenizer.add_special_tokens(
            {"pad_token": _PADDING, "bos_token": _START, "eos_token": _END}
        )
        tokenizer.add_tokens([_PREFIX, _SUFFIX], special_tokens=True)
        if len(tokenizer) > n_before:
            model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
        model.config.pad_token_id = tokenizer.pad_token_id
        model.config.bos_token_id = tokenizer.bos_token_id
        model.config.eos_token_id = tokenizer.eos_token_id
        return cls(model, tokenizer, **format_).checked(base)

    @classmethod
    def read(cls, folder: Path, device: str, **format_: Any) -> PrefixLM:
        """One that :meth:`save` wrote, or a published one in this format.

        Raises:
            InputError: it is not one, or it is damaged.
        """
        model, tokenizer = _load(folder, device)
        known = tokenizer.get_vocab()
        lacking = [t for t in (_START, _END, _PREFIX, _SUFFIX) if t not in known]
        if lacking or tokenizer.pad_token_id is None:
            raise InputError(
                f"{folder} is a GPT-2, but no model of STRAP's: its tokenizer has no "
                f"{lacking[0] if lacking else 'padding'}"
            )
        return cls(model, tokenizer, **format_).checked(str(folder))

    def checked(self, name: str) -> PrefixLM:
        """Itself, if its model has as many positions as its longest row."""
        longest = self.max_prefix + self.max_suffix + 2
        if longest > self.model.config.n_positions:
            raise InputError(
                f"{name} has {self.model.config.n_positions} positions, but a row has up to "
                f"{longest}: lower max_prefix or max_suffix"
            )
        return self

    def save(self, folder: Path) -> None:
        """Write an ordinary checkpoint of transformers."""
        with quiet_loading():
            self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def prefixes(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of prefixes, cut."""
        return self._encoded(texts, self.max_prefix)

    def suffixes(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of suffixes, cut, with their end."""
        return [[*row, self._id(_END)] for row in self._encoded(texts, self.max_suffix)]

    def _encoded(self, texts: Sequence[str], longest: int) -> list[list[int]]:
        if not texts:
            return []
        found = self.tokenizer(list(texts), add_special_tokens=False, truncation=False)
        return [row[:longest] for row in found["input_ids"]]

    def rows(
        self,
        prefixes: Sequence[Sequence[int]],
        suffixes: Sequence[Sequence[int]],
        *,
        aligned: bool = False,
    ) -> Rows:
        """Prefixes and what is to be written after them.

        A label is the token itself, at its own place: the token before it predicts it.

        Args:
            prefixes: ids of each row.
            suffixes: ids of each row.
            aligned: whether all suffixes begin at one place, so that they can be continued;
                otherwise all padding is at the end of a row, where no token reads it.
        """
        start, pad = self._id(_START), self._pad
        longest = self.max_prefix if self.released else max(map(len, prefixes))
        pairs = list(zip(prefixes, suffixes, strict=True))
        left = [longest - len(p) if aligned or self.released else 0 for p in prefixes]
        whole = [before + len(p) + 1 + len(s) for before, (p, s) in zip(left, pairs, strict=True)]
        width = max(whole)
        ids, types, labels, mask = [], [], [], []
        for before, size, (prefix, suffix) in zip(left, whole, pairs, strict=True):
            first, after = before + len(prefix), width - size
            ids.append([*[pad] * before, *prefix, start, *suffix, *[pad] * after])
            types.append([self._id(_PREFIX)] * first + [self._id(_SUFFIX)] * (width - first))
            labels.append([*[_IGNORED] * (first + 1), *suffix, *[_IGNORED] * after])
            mask.append([0] * before + [1] * (width - before))
        as_tensor = partial(torch.tensor, device=self.model.device)
        read = as_tensor(mask)
        if self.released:
            read = torch.ones_like(read)
        positions = (read.cumsum(dim=1) - 1).clamp(min=0)
        return Rows(as_tensor(ids), as_tensor(types), positions, read, as_tensor(labels))

    def summed_loss(
        self, prefixes: Sequence[Sequence[int]], suffixes: Sequence[Sequence[int]]
    ) -> Tensor:
        """Cross-entropy, summed over the tokens of suffixes and their ends."""
        rows = self.rows(prefixes, suffixes)
        vectors = self.model.transformer(
            input_ids=rows.ids,
            token_type_ids=rows.types,
            position_ids=rows.positions,
            use_cache=False,  # and no mask: what is padded is not read, or read on purpose
        ).last_hidden_state
        taught = rows.labels[:, 1:] != _IGNORED
        # Only the tokens that are learned get logits: over a vocabulary they cost most of a step.
        logits = self.model.lm_head(vectors[:, :-1][taught])
        return F.cross_entropy(logits.float(), rows.labels[:, 1:][taught], reduction="sum")

    def write(
        self,
        texts: Sequence[str],
        *,
        longer: int,
        top_p: float = 0.0,
        randoms: Sequence[random.Random] | None = None,
        batch_size: int = 64,
    ) -> list[str]:
        """What the model writes after each of these texts, in their order.

        Args:
            texts: prefixes.
            longer: tokens that an answer may have more than its prefix.
            top_p: nucleus that tokens are drawn from; 0 takes the likeliest.
            randoms: of each text; needed to draw.
            batch_size: texts at a time.
        """
        prefixes = self.prefixes(texts)

        def answer(batch: list[int]) -> list[str]:
            own = None if randoms is None or top_p == 0 else [randoms[i] for i in batch]
            written = self._written([prefixes[i] for i in batch], longer, top_p, own)
            return self.tokenizer.batch_decode(written, skip_special_tokens=True)

        return [text.strip() for text in by_length(prefixes, batch_size, answer)]

    @torch.inference_mode()
    def _written(
        self,
        prefixes: Sequence[Sequence[int]],
        longer: int,
        top_p: float,
        randoms: Sequence[random.Random] | None,
    ) -> list[list[int]]:
        rows = self.rows(prefixes, [[] for _ in prefixes], aligned=True)
        ids, types, mask = rows.ids, rows.types, rows.mask
        position, cache = rows.positions, None
        end = self._id(_END)
        limits = [min(len(prefix) + longer, self.max_suffix + 1) for prefix in prefixes]
        written: list[list[int]] = [[] for _ in prefixes]
        going = [True] * len(prefixes)
        for place in range(max(limits)):
            found = self.model.transformer(
                input_ids=ids,
                token_type_ids=types,
                position_ids=position,
                attention_mask=mask,
                past_key_values=cache,
                use_cache=True,
            )
            cache = found.past_key_values
            logits = self.model.lm_head(found.last_hidden_state[:, -1]).float()
            logits[:, self._never] = -torch.inf
            chosen = logits.argmax(dim=-1) if randoms is None else drawn(logits, top_p, randoms)
            for i, token in enumerate(chosen.tolist()):
                going[i] = going[i] and place < limits[i] and token != end
                if going[i]:
                    written[i].append(token)
            if not any(going):
                break
            ids, types = chosen[:, None], types[:, -1:]
            position = position[:, -1:] + 1
            mask = torch.cat([mask, mask.new_ones(len(mask), 1)], dim=1)
        return written

    @cached_property
    def _never(self) -> list[int]:
        """Special tokens, which are no text; the end is one of them, but ends it."""
        format_ = {self._id(token) for token in (_START, _PREFIX, _SUFFIX)}
        return sorted({*self.tokenizer.all_special_ids, *format_} - {self._id(_END)})

    @property
    def _pad(self) -> int:
        return int(self.tokenizer.pad_token_id)  # published models have a name of their own for it

    def _id(self, token: str) -> int:
        return int(self.tokenizer.convert_tokens_to_ids(token))


def drawn(logits: Tensor, top_p: float, randoms: Sequence[random.Random]) -> Tensor:
    """A token of each row's nucleus: the fewest tokens whose probabilities add up to ``top_p``.

    Holtzman et al. (2020), section 3.1. Each row has its own randomness, one number a call.

    Args:
        logits: (B, V).
        top_p: above 0, at most 1.
        randoms: B of them.

    Returns:
        Ids (B).
    """
    shares, order = logits.double().softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    before = shares.cumsum(dim=-1) - shares
    nucleus = shares.masked_fill(before >= top_p, 0.0)  # the likeliest always stays: before is 0
    mass = nucleus.cumsum(dim=-1)
    where = torch.tensor([[r.random()] for r in randoms], dtype=mass.dtype, device=mass.device)
    place = torch.searchsorted(mass, where * mass[:, -1:], right=True)
    last = (nucleus > 0).sum(dim=-1, keepdim=True) - 1
    return order.gather(1, torch.minimum(place, last)).squeeze(1)


def _load(folder: Path, device: str) -> tuple[Any, Any]:
    return load_pretrained(folder, Placement(cast(Device, device)), "GPT2LMHeadModel")
