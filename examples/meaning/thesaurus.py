"""Words of one meaning and of the opposite one, with their common forms: our own lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tstbench.files import read_lines

_FILE = Path(__file__).parent / "thesaurus.txt"
_IRREGULAR = {
    "rise": "rose risen", "fall": "fell fallen", "grow": "grew grown", "sink": "sank sunk",
    "cut": "cut cut", "win": "won won", "lose": "lost lost", "begin": "began begun",
    "buy": "bought bought", "sell": "sold sold", "come": "came come", "leave": "left left",
    "let": "let let", "build": "built built", "strike": "struck struck", "fire": "fired fired",
    "find": "found found", "forget": "forgot forgotten", "give": "gave given",
    "take": "took taken", "send": "sent sent", "get": "got got", "hide": "hid hidden",
    "show": "showed shown", "shrink": "shrank shrunk", "make": "made made", "split": "split split",
    "spend": "spent spent", "pay": "paid paid", "lend": "lent lent", "teach": "taught taught",
    "sit": "sat sat", "stand": "stood stood", "wake": "woke woken", "sleep": "slept slept",
    "weep": "wept wept", "withdraw": "withdrew withdrawn", "freeze": "froze frozen",
    "lead": "led led", "say": "said said", "tell": "told told", "think": "thought thought",
    "see": "saw seen", "run": "ran run", "speak": "spoke spoken", "eat": "ate eaten",
    "drink": "drank drunk", "choose": "chose chosen", "hit": "hit hit", "meet": "met met",
    "quit": "quit quit", "throw": "threw thrown", "keep": "kept kept",
    "understand": "understood understood", "steal": "stole stolen", "fight": "fought fought",
    "seek": "sought sought", "forbid": "forbade forbidden", "slay": "slew slain",
}  # fmt: skip
# Verbs whose last letter is doubled before -ed and -ing.
_DOUBLED = frozenset(
    (
        *("drop", "trim", "ban", "grab", "drag", "tug", "ship", "rob", "beg", "plan"),
        *("sob", "permit", "admit", "expel", "prefer", "stop", "sip"),
    )
)


@dataclass(frozen=True)
class Thesaurus:
    """Forms of words that mean the same and the opposite, in the same grammatical form.

    Attributes:
        same: form -> forms of the same meaning, itself left out.
        opposite: form -> forms of the opposite meaning.
        other_opinion: form -> forms of the opposite opinion, which is a matter of style.
        other_form: form of a verb -> its other forms.
    """

    same: Mapping[str, tuple[str, ...]]
    opposite: Mapping[str, tuple[str, ...]]
    other_opinion: Mapping[str, tuple[str, ...]]
    other_form: Mapping[str, tuple[str, ...]]


@cache
def thesaurus() -> Thesaurus:
    """The lists of ``thesaurus.txt``, every word in all its forms."""
    tables: tuple[dict[str, dict[str, None]], ...] = ({}, {}, {}, {})
    same, opposite, opinion, forms = tables
    for line in read_lines(_FILE):
        if line.startswith("#") or not line.strip():
            continue
        kind, *rest = line.split()
        sides = [side.split() for side in " ".join(rest).split("|")]
        for here, side in enumerate(sides):
            others = sides[1 - here] if len(sides) == 2 else []
            against = opinion if kind in "so" else opposite
            for word in side:
                mine = inflected(word, kind)
                for number, form in enumerate(mine):
                    alike = (inflected(other, kind)[number] for other in side if other != word)
                    same.setdefault(form, {}).update(dict.fromkeys(alike))
                    unlike = (inflected(other, kind)[number] for other in others)
                    against.setdefault(form, {}).update(dict.fromkeys(unlike))
                    if kind == "v":
                        forms.setdefault(form, {}).update(dict.fromkeys(mine))
    return Thesaurus(
        *({w: tuple(f for f in some if f != w) for w, some in t.items() if some} for t in tables)
    )


def inflected(word: str, kind: str) -> tuple[str, ...]:
    """A word's forms, always in the same order.

    >>> inflected("rise", "v")
    ('rise', 'rises', 'rose', 'risen', 'rising')
    >>> inflected("city", "n")
    ('city', 'cities')
    """
    if kind in "ao":
        return (word,)
    if kind == "n":
        return (word, _with_s(word))
    past, participle = _IRREGULAR.get(word, f"{_with_ed(word)} {_with_ed(word)}").split()
    return (word, _with_s(word), past, participle, _with_ing(word))


def _with_s(word: str) -> str:
    if word in ("people", "folks", "police", "cops", "chaos", "earnings", "money"):
        return word
    irregular = {
        "man": "men",
        "woman": "women",
        "child": "children",
        "life": "lives",
        "wife": "wives",
    }
    if word in irregular:
        return irregular[word]
    if word.endswith(("s", "sh", "ch", "x", "z")):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def _with_ed(word: str) -> str:
    if word.endswith("e"):
        return word + "d"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ied"
    return word + (word[-1] if word in _DOUBLED else "") + "ed"


def _with_ing(word: str) -> str:
    if word.endswith("ie"):
        return word[:-2] + "ying"
    if word.endswith("e") and not word.endswith(("ee", "oe")):
        return word[:-1] + "ing"
    doubled = word in (_DOUBLED) | {
        "cut",
        "win",
        "begin",
        "let",
        "get",
        "sit",
        "run",
        "hit",
        "quit",
        "split",
    }
    return word + (word[-1] if doubled else "") + "ing"
