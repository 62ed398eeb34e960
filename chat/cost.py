"""What requests cost: tokens, and the prices of a few models.

Where the server counts tokens, its counts are used. Beforehand they are counted with tiktoken if it
is installed and has the model's vocabulary at hand, and otherwise estimated, which is said.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..files import read_text
from .settings import listed

BATCH_DISCOUNT = 0.5  # of OpenAI's Batch API
_MILLION = 1_000_000
_FILE = Path(__file__).with_name("prices.json")
_PIECES = re.compile(r"[^\W\d_]+|\d{1,3}|[^\w\s]|_")
_WORD = 6  # letters; longer words are split by most vocabularies
_AROUND = 4  # tokens around a message in the chat format
_BEGINS = 3  # tokens that begin the answer


@dataclass(frozen=True)
class Price:
    """Of a model: US dollars for a million tokens.

    Attributes:
        prompt: of what is sent.
        answer: of what comes back.
        source: where the price is from, and of which day.
    """

    prompt: float
    answer: float
    source: str

    def of(self, prompt_tokens: float, answer_tokens: float) -> float:
        """US dollars."""
        return (prompt_tokens * self.prompt + answer_tokens * self.answer) / _MILLION


def price_of(model: str, given: str = "", *, batch: bool = False) -> Price | None:
    """The price of a model; ``None`` if it is not known.

    Args:
        model: its name.
        given: the user's own, ``prompt,answer``; it takes precedence.
        batch: whether it is asked through the Batch API.

    Raises:
        InputError: ``given`` is not two numbers.

    >>> price_of("gpt-4-0125-preview").of(1_000_000, 100_000)
    13.0
    >>> price_of("my-model") is None
    True
    """
    discount = BATCH_DISCOUNT if batch else 1.0
    if given:
        try:
            prompt, answer = map(float, listed(given))
        except ValueError:
            prompt = answer = -1.0
        if not (0 <= prompt < math.inf and 0 <= answer < math.inf):
            raise InputError(
                f"--prices {given}: give two numbers, the US dollars for a million tokens of the "
                "prompt and of the answer, such as 0.5,1.5"
            )
        return Price(prompt, answer, "as given")
    table = json.loads(read_text(_FILE))
    row = table["models"].get(model)
    if row is None:
        return None
    source = f"{table['sources'][row['source']]}, {row['date']}"
    return Price(row["prompt"] * discount, row["answer"] * discount, source)


@dataclass(frozen=True)
class Counter:
    """How tokens are counted.

    Attributes:
        how: in words.
        count: of a text.
    """

    how: str
    count: Callable[[str], int]

    def prompt(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """The tokens of a chat's messages, with what the chat format puts around them."""
        return _BEGINS + sum(_AROUND + self.count(str(m["content"])) for m in messages)


@cache
def counter(model: str) -> Counter:
    """How to count the tokens of a model."""
    if find_spec("tiktoken") is not None:
        try:
            encoding = import_module("tiktoken").encoding_for_model(model)
        except Exception:  # an unknown model; no vocabulary at hand, and no network to fetch it
            return Counter("an estimate", estimated_tokens)
        return Counter(f"counted with {encoding.name}", lambda text: len(encoding.encode(text)))
    return Counter("an estimate", estimated_tokens)


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has: rather too many, so that a limit is not exceeded.

    A word counts as one token for each six letters begun, a punctuation mark and three digits as
    one; letters outside ASCII as one for each two bytes.

    >>> estimated_tokens("the restaurant was n't good !")
    9
    """
    return sum(
        math.ceil(len(piece) / _WORD) if piece.isascii() else math.ceil(len(piece.encode()) / 2)
        for piece in _PIECES.findall(text)
    )
