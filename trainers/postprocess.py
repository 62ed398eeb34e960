"""Post-processing: what is done to a system's answers afterwards, if it is asked for.

Nothing is done unasked: what a system writes is what is scored. Some papers did more, and a number
can depend on it, so each step has a name, and a name that is never given to anything else: it is in
the card of the predictions and in what a report says of the system.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from ..datasets_scripts.cleaning import paper_v1
from ..errors import InputError, unknown_name

UNKNOWN_WORD = "<unk>"
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")


def drop_unknown_v1(text: str) -> str:
    """Without unknown words.

    >>> drop_unknown_v1("the <unk> was good .")
    'the was good .'
    """
    return " ".join(word for word in text.split() if word != UNKNOWN_WORD)


def drop_repeats_v1(text: str) -> str:
    """A word that follows itself is written once.

    >>> drop_repeats_v1("so so so good , so good .")
    'so good , so good .'
    """
    words = text.split()
    return " ".join(word for i, word in enumerate(words) if i == 0 or word != words[i - 1])


def truncate_v1(text: str) -> str:
    """Up to the first full stop, exclamation or question mark that ends a word; else unchanged.

    >>> truncate_v1("good at 4.50 . i love it !"), truncate_v1("It's good! Really.")
    ('good at 4.50 .', "It's good!")
    >>> truncate_v1("no end")
    'no end'
    """
    end = _SENTENCE_END.search(text)
    return text if end is None else text[: end.end()]


def detokenise_v1(text: str) -> str:
    """What an English tokeniser split off is attached again.

    >>> detokenise_v1("it 's good , they wo n't mind .")
    "it's good, they won't mind."
    """
    return paper_v1(text)


STEPS: Mapping[str, Callable[[str], str]] = {
    "drop-unknown-v1": drop_unknown_v1,
    "drop-repeats-v1": drop_repeats_v1,
    "truncate-v1": truncate_v1,
    "detokenise-v1": detokenise_v1,
}


def step_names(asked: Iterable[str]) -> tuple[str, ...]:
    """The full names of steps, in the order they are asked for.

    Args:
        asked: ``drop-repeats`` for the newest of that name, or ``drop-repeats-v1``.

    Raises:
        UnknownNameError: there is no such step.
        InputError: one is named twice.

    >>> step_names(["truncate", "drop-repeats-v1"])
    ('truncate-v1', 'drop-repeats-v1')
    """
    newest = {name.rpartition("-")[0]: name for name in STEPS}
    found: list[str] = []
    for text in asked:
        name = newest.get(text, text)
        if name not in STEPS:
            raise unknown_name("post-processing step", text, newest)
        if name in found:
            raise InputError(f"the post-processing step {text!r} is named twice")
        found.append(name)
    return tuple(found)


def post_processed(text: str, steps: Iterable[str]) -> str:
    """A text after these steps, one after the other.

    >>> post_processed("the <unk> <unk> is is good . yes", ["drop-unknown-v1", "drop-repeats-v1"])
    'the is good . yes'
    """
    for name in steps:
        text = STEPS[name](text)
    return text
