"""Any causal language model: how likely a text is after another, and which word follows it.

A Hub id, a folder or a GGUF file. Weights are read from safetensors and GGUF only, and no code of a
folder is run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from ...datasets_scripts.directions import Direction
from ...errors import InputError, require_installed
from .base import SentenceMemo
from .device import Placement, copies, spread
from .encoder_files import HASHED
from .gguf import language_model_folder
from .roles import Found
from .weights import load_pretrained, signature_name

_IN_A_BATCH = 2_048  # tokens, with padding: each has a logit for every word of the vocabulary
SENTENCE = "Sentence:"  # what stands before a text that is read for itself


def find(spec: str, _direction: Direction | None, placement: Placement) -> Found:
    """A causal language model by its Hub id or folder; its weights are hashed, not loaded.

    Raises:
        MissingScorerError: it is not on this machine and cannot be downloaded, or not complete.
    """
    require_installed("transformers", "embedded")
    folder, name, digest = language_model_folder(spec, HASHED)
    load = partial(_loaded, folder, placement, digest)
    return Found(signature_name(name), digest, load, on_device=True)


def load_language_model(spec: str, placement: Placement) -> tuple[CausalLm, str]:
    """The model that :func:`find` finds, and its hash; one object for all that read with it."""
    found = find(spec, None, placement)
    model: CausalLm = found.load()
    return model, found.hash


def question(before: str | None, after: str) -> str:
    """The text that :meth:`CausalLm.log_probabilities` reads: one string for each distinct pair.

    ``None`` before is the model's start token; where nothing stands before (``""``), the first
    token does not count, whatever the tokenizer puts there.
    """
    return json.dumps([before, after], ensure_ascii=False)


def alone(text: str) -> str:
    """The question how likely a text is for itself, as :meth:`CausalLm.next_words` asks it too."""
    return question(SENTENCE, f" {text}")


def as_written(text: str) -> str:
    """A text without capitals as people write it, any other as it is.

    Many corpora are in lower case, which a model of the world's text finds odd in itself.

    >>> as_written("i liked it. you did n't?"), as_written("i liked Rome.")
    ("I liked it. You did n't?", 'i liked Rome.')
    """
    if text != text.lower():
        return text
    return _STARTS.sub(lambda found: found[1] + found[2].upper(), text)


_STARTS = re.compile(r"(^\W*|[.!?] |\b(?=i\b))(\w)")


class CausalLm:
    """Probabilities of texts after other texts.

    Args:
        models: of transformers, for causal language modelling: copies of one, each on a device.
        tokenizer: its tokenizer; one of the fast kind, which knows the places of its tokens.
        batch_size: the most texts in a batch; no score depends on it.

    Raises:
        InputError: the tokenizer does not know the places of its tokens.
    """

    def __init__(
        self, models: Sequence[Any], tokenizer: Any, batch_size: int | None = None
    ) -> None:
        if not tokenizer.is_fast:
            raise InputError(
                "the causal language model has no tokenizer.json, and so no places of tokens: save "
                "its tokenizer with transformers' fast class"
            )
        self._models, self._tokenizer = models, tokenizer
        self._batch_size = batch_size
        self._longest: int | None = getattr(models[0].config, "max_position_embeddings", None)
        self._memo = SentenceMemo(self._score)
        self._asked: dict[tuple[tuple[str, ...], tuple[str, ...]], SentenceMemo[str]] = {}

    @property
    def vocabulary(self) -> int:
        """How many tokens the model chooses from."""
        return int(self._models[0].config.vocab_size)

    def log_probabilities(self, questions: Sequence[str]) -> np.ndarray:
        """How likely each text is after what stands before it.

        Before and after are tokenised together; the tokens that end in ``after`` count. Where both
        are longer than the model's context, the beginning is left out.

        Args:
            questions: N texts of :func:`question`.

        Returns:
            Shape (N, 2), float64: the sum of the natural logarithms of the tokens' probabilities,
            and how many tokens count.
        """
        return self._memo(questions) if len(questions) else np.empty((0, 2))

    def next_words(
        self, texts: Sequence[str], asks: Sequence[str], words: Sequence[str]
    ) -> np.ndarray:
        """How likely each word is to follow what is asked about a text.

        The model reads ``Sentence: TEXT``, a new line and what is asked, such as ``Style:``. The text
        is read once for all that is asked, and how likely it is for itself (:func:`alone`) is then
        known too.

        Args:
            texts: N texts.
            asks: K lines that a word should follow.
            words: W words. The first token of each counts.

        Returns:
            Shape (N, K, W), float64: natural logarithms of probabilities.

        Raises:
            InputError: two words begin with the same token.
        """
        key = tuple(asks), tuple(words)
        if key not in self._asked:
            ends = [self._ends(ask, words) for ask in asks]
            self._asked[key] = SentenceMemo(partial(self._follow, ends=ends))
        return self._asked[key](texts).reshape(len(texts), len(asks), len(words))

    def _ends(self, ask: str, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """The tokens of what is asked, and the first token of each word after it."""
        read = partial(self._tokenizer, add_special_tokens=False)
        asked: list[int] = read(f"\n{ask}")["input_ids"]
        first = [read(f"\n{ask} {word}")["input_ids"][len(asked)] for word in words]
        if len({*first}) < len(words):
            raise InputError(
                f"the language model does not tell {', '.join(words)} apart by their first tokens: "
                "name the styles by other words"
            )
        return asked, first

    def _follow(self, texts: list[str], ends: list[tuple[list[int], list[int]]]) -> np.ndarray:
        import torch

        before: list[int] = self._tokenizer(SENTENCE)["input_ids"]
        longest = max(len(asked) for asked, _ in ends)
        room = self._longest - len(before) - longest if self._longest else None
        read = self._tokenizer([f" {text}" for text in texts], add_special_tokens=False)
        rows = [before + row[:room] for row in read["input_ids"]]
        found = np.empty((len(texts), len(ends), len(ends[0][1])))
        lengths = [len(row) + longest for row in rows]

        def work(model: Any, batch: np.ndarray) -> None:
            some, device = [rows[i] for i in batch], model.device
            padded, mask = _padded(some)
            seen = model(
                input_ids=padded.to(device), attention_mask=mask.to(device), use_cache=True
            )
            for i, row, values in zip(batch, some, _chosen(seen.logits, padded), strict=True):
                if len(row) == len(before) + len(read["input_ids"][i]):  # it was not cut
                    own = values[len(before) - 1 : len(row) - 1]
                    self._memo.remember(alone(texts[i]), np.array([own.sum(), len(own)]))
            past = seen.past_key_values
            del seen  # a logit for each token and word
            for place, (asked, first) in enumerate(ends):
                more = torch.tensor([asked] * len(some))
                at = mask.sum(1, keepdim=True) + torch.arange(len(asked))
                last = model(
                    input_ids=more.to(device),
                    attention_mask=torch.cat([mask, torch.ones_like(more)], 1).to(device),
                    position_ids=at.to(device),
                    past_key_values=past,
                    logits_to_keep=1,
                ).logits[:, -1]
                likely = last.float().log_softmax(-1)[:, first]
                found[batch, place] = likely.cpu().double().numpy()
                past.crop(-len(asked))

        spread(self._models, lengths, _IN_A_BATCH, self._batch_size, work)
        return found.reshape(len(texts), -1)

    def _start(self) -> int:
        start: int | None = self._tokenizer.bos_token_id
        if start is None:
            raise InputError(
                "the causal language model has no start token: --set lm_ppl.first=skip leaves "
                "every text's first token out"
            )
        return start

    def _score(self, questions: list[str]) -> np.ndarray:
        pairs = [json.loads(one) for one in questions]
        encoded = self._tokenizer(
            [(before or "") + after for before, after in pairs],
            return_offsets_mapping=True,
            verbose=False,  # what is too long is cut below
        )
        ids, starts = [], []
        for row, offsets, (before, _) in zip(
            encoded["input_ids"], encoded["offset_mapping"], pairs, strict=True
        ):
            counted = [end > len(before or "") for _, end in offsets]
            first = counted.index(True) if any(counted) else len(counted)
            # What a tokenizer adds at the end does not count.
            last = len(counted) - counted[::-1].index(True) if any(counted) else len(counted)
            if not before:
                start = [self._start()] if before is None else []
                row = [*start, *row[first:last]] or [0]  # of an empty text, nothing counts
                first, last = 1, len(row)
            cut = max(0, last - self._longest) if self._longest else 0
            ids.append(row[cut:last])
            starts.append(max(first - cut, 1))  # the first token has nothing before it
        scores = np.empty((len(pairs), 2))
        lengths = [len(row) for row in ids]

        def work(model: Any, batch: np.ndarray) -> None:
            padded, mask = _padded([ids[i] for i in batch])
            seen = model(input_ids=padded.to(model.device), attention_mask=mask.to(model.device))
            for i, values in zip(batch, _chosen(seen.logits, padded), strict=True):
                counting = values[starts[i] - 1 : len(ids[i]) - 1]
                scores[i] = counting.sum(), len(counting)

        spread(self._models, lengths, _IN_A_BATCH, self._batch_size, work)
        return scores


def _padded(rows: list[list[int]]) -> tuple[Any, Any]:
    """Tokens and mask: padded on the right, so that no token sees what is not of its text."""
    import torch

    padded = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    mask = torch.zeros_like(padded)
    for place, row in enumerate(rows):
        padded[place, : len(row)] = torch.tensor(row)
        mask[place, : len(row)] = 1
    return padded, mask


def _chosen(logits: Any, padded: Any) -> np.ndarray:
    """Ln P of each token but the first, given those before it: shape (rows, width - 1)."""
    before = logits[:, :-1].float()
    wanted = padded[:, 1:, None].to(before.device)
    chosen = before.gather(-1, wanted)[..., 0] - before.logsumexp(-1)
    found: np.ndarray = chosen.cpu().double().numpy()
    return found


@lru_cache(maxsize=2)
def _loaded(folder: Path, placement: Placement, _digest: str) -> CausalLm:
    model, tokenizer = load_pretrained(folder, placement, "AutoModelForCausalLM")
    return CausalLm(copies(model, placement), tokenizer, placement.batch_size)
