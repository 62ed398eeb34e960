"""Cleaning of answers: from what a chat model says to the rewrite alone.

Each rule has a name that is never given to anything else, and what a rule did to an answer is
counted in the card of the predictions; the raw answer is kept beside the prediction. The published
outputs were cleaned by hand, so no rule can be the published one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...errors import InputError, unknown_name


@dataclass(frozen=True)
class Context:
    """What a rule may look at besides the answer.

    Attributes:
        source: the sentence that was to be rewritten.
        styles: the names of the two styles.
    """

    source: str
    styles: tuple[str, ...] = ()


_CANNOT = r"i\ (?:can(?:['’]t|not|\ not)|won['’]t|am\ (?:unable|not\ able)\ to)"
_UNABLE = rf"(?:{_CANNOT}|i['’]m\ (?:unable|not\ able)\ to)"
_THE_TASK = (
    r"(?:assist|help(?!\ but)|comply|fulfill?|rewrite|translate|provide|generate|create|produce"
    r"|complete|process|continue\ with|do\ (?:that|this))"
)
# Without an apology these must say that it is the request: reviews, too, say what people cannot do.
_THIS = r"(?:that|this|your|such|the)"
_REQUEST = r"(?:request|task|instruction|prompt|sentence|text|content|comment|rewrite)"
_REFUSALS = re.compile(
    rf"""^\W*(?:
        (?:(?:i['’]?m|i\ am)\ (?:really\ |very\ |so\ )?sorry|sorry|i\ apologi[sz]e),?\ (?:but\ )?
            {_UNABLE}\ {_THE_TASK}\b
      | (?:unfortunately,?\ )?{_UNABLE}\ (?:
            (?:assist|help)\ (?:you\ )?with\ {_THIS}
          | {_THE_TASK}\ (?:with\ )?{_THIS}\ (?:\w+\ )?{_REQUEST}
        )\b
      | as\ an?\ (?:ai|artificial\ intelligence|(?:large\ )?language\ model)\b
      | (?:i['’]m|i\ am)\ an?\ (?:ai|(?:large\ )?language\ model)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_INTRODUCTION = r"""(?:
    here(?:['’]s|\ is|\ are)\b[^:\n"]{0,80}:
  | here\ you\ (?:go|are)\s*[:!.]
  | the\ (?:rewritten|revised|modified|transformed)\b[^:\n"]{0,80}:
)\s*"""
# "Great, friendly service." may be the rewrite: a word of assent counts with what it introduces, or
# alone on its line; only those that open no review count before an exclamation mark, too.
_PREFACE = re.compile(
    rf"""^\s*(?:
        (?:sure(?:\ thing)?|certainly|of\ course|no\ problem)
            (?:\s*!+\s*(?:{_INTRODUCTION})?|\s*[,.:]*\s*(?:{_INTRODUCTION})|\s*[,.:]*\s*\n\s*)
      | (?:absolutely|okay|ok|great)(?:\s*[!,.:]*\s*(?:{_INTRODUCTION})|\s*[!,.:]*\s*\n\s*)
      | here(?:['’]s|\ is|\ are)\ (?:the|a|an|your|one|my)\b[^:\n"]{{0,80}}:\s*
      | the\ (?:rewritten|revised|modified|transformed)\ (?:sentence|text|version|comment)
            (?:\ (?:is|would\ be))?[^:\n"]{{0,40}}:\s*
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_THINKING = re.compile(
    r"^\s*<think(?:ing)?>.*?(?:</think(?:ing)?>\s*|$)", re.IGNORECASE | re.DOTALL
)
_FENCE = re.compile(r"```(?:[\w-]*[ \t]*\n)?(.*?)(?:```|\Z)", re.DOTALL)
_NUMBER = re.compile(r"\(?\d{1,3}[.):\]]\s+")
_LABELS = (
    *("output", "answer", "response", "result", "rewrite", "sentence", "text"),
    *("rewritten", "revised", "modified"),
)
_NOUN = r"\ (?:sentence|text|version|style|rewrite)"
_OF = r"(?:\ of\ (?:the|this|your)\ (?:\w+\ )?(?:sentence|text|comment))?(?:\ (?:is|would\ be))?"
# Corner and low marks too: Japanese, German, Polish, French, Danish and Swiss.
_QUOTES = ('""', "“”", "''", "‘’", "``", "«»", "»«", "‹›", "„“", "„”", "‚‘", "‚’", "「」", "『』")


def thinking_v1(text: str, about: Context) -> str:  # noqa: ARG001 - as all rules
    """What a reasoning model thinks aloud, between ``<think>`` tags, is removed.

    >>> thinking_v1("<think>positive, then</think> We loved it.", Context("we hated it ."))
    'We loved it.'
    """
    return _THINKING.sub("", text)


def refusal_v2(text: str, about: Context) -> str:
    """An answer that refuses the task is no rewrite: it becomes empty.

    >>> refusal_v2("I'm sorry, but I can't assist with that.", Context("the food was bad ."))
    ''
    >>> refusal_v2("I'm sorry to say the food was bad.", Context("the food was bad ."))
    "I'm sorry to say the food was bad."
    >>> refusal_v2("I can't help but love this place.", Context("i hate this place ."))
    "I can't help but love this place."
    """
    return "" if _REFUSALS.match(text) and not _REFUSALS.match(about.source) else text


def preface_v1(text: str, about: Context) -> str:
    """What introduces the rewrite is removed, unless the source has such an introduction too.

    >>> preface_v1("Sure, here is the positive sentence: We loved it.", Context("we hated it ."))
    'We loved it.'
    >>> preface_v1("Sure! We loved it.", Context("we hated it ."))
    'We loved it.'
    >>> preface_v1("Great, friendly service.", Context("terrible , rude service ."))
    'Great, friendly service.'
    """
    found = _PREFACE.match(text)
    if found is None or not text[found.end() :].strip() or _PREFACE.match(about.source):
        return text
    return text[found.end() :].lstrip()


def fence_v1(text: str, about: Context) -> str:
    r"""Of an answer with a fenced block, what stands in the first one.

    >>> fence_v1("Here it is:\n```text\nWe loved it.\n```\nEnjoy!", Context("we hated it ."))
    'We loved it.'
    """
    found = _FENCE.search(text)
    inside = found[1].strip() if found and "```" not in about.source else ""
    return inside or text


def label_v3(text: str, about: Context) -> str:
    """A label in front of the rewrite is removed, such as ``Output:`` or the name of a style.

    >>> about = Context("bad", ("negative", "positive"))
    >>> label_v3("Positive version: the food was good .", about)
    'the food was good .'
    >>> label_v3("The positive version of the negative sentence is: the food was good .", about)
    'the food was good .'
    >>> label_v3("The answer is: go there .", about)
    'The answer is: go there .'
    """
    name = f"(?:{'|'.join(map(re.escape, (*_LABELS, *about.styles)))})"
    label = rf"(?:{name}(?:{_NOUN})?|(?:an?\ |the\ )?{name}{_NOUN}{_OF})"
    found = re.match(rf"\s*(?:\*\*)?{label}(?:\*\*)?\s*:(?:\*\*)?\s*", text, re.IGNORECASE)
    if found is None or not text[found.end() :].strip():
        return text
    if about.source.lower().startswith(found[0].strip().lower()):
        return text
    return text[found.end() :]


def first_line_v3(text: str, about: Context) -> str:
    r"""Of several lines, the first that is not empty and does not end in a colon.

    Only line feeds end lines, as in files. A rewrite may end in a colon if its source does.

    >>> first_line_v3("\nThe food was good.\n\nNote: I changed one word.", Context("x"))
    'The food was good.'
    >>> first_line_v3("It can be said in a kinder way:\n\nThe food was good.", Context("x"))
    'The food was good.'
    >>> first_line_v3("The food\u2028was good.", Context("x"))
    'The food\u2028was good.'
    """
    lines = [line.strip() for line in re.split(r"[\r\n]", text) if line.strip()]
    colon = about.source.rstrip().endswith(":")
    told = [line for line in lines if colon or not line.endswith(":")]
    return (told or lines)[0] if len(lines) > 1 else text


def number_v1(text: str, about: Context) -> str:
    """The number of a list in front of the rewrite is removed, unless the source has one too.

    >>> number_v1("1. We loved it.", Context("we hated it ."))
    'We loved it.'
    """
    found = None if _NUMBER.match(about.source) else _NUMBER.match(text)
    return text[found.end() :] if found else text


def quotes_v2(text: str, about: Context) -> str:
    """Quotation marks around the whole answer are removed, unless the source has them too.

    >>> quotes_v2("'It's good.'", Context("it 's bad ."))
    "It's good."
    >>> quotes_v2('"Good" is not "great"', Context("x"))
    '"Good" is not "great"'
    """
    stripped, source = text.strip(), about.source.strip()
    for begin, end in map(tuple, _QUOTES):
        around = stripped.startswith(begin) and stripped.endswith(end) and len(stripped) > 2
        own = source.startswith(begin) and source.endswith(end)
        inside = stripped[1:-1]
        marks = re.sub(r"(?<=\w)['’](?=\w)", "", inside)  # an apostrophe is none
        if around and not own and begin not in marks and end not in marks:
            return inside.strip()
    return text


Rule = Callable[[str, Context], str]
# In the order in which they are applied.
RULES: Mapping[str, Rule] = {
    "thinking-v1": thinking_v1,
    "refusal-v2": refusal_v2,
    "fence-v1": fence_v1,
    "preface-v1": preface_v1,
    "label-v3": label_v3,
    "first-line-v3": first_line_v3,
    "number-v1": number_v1,
    "quotes-v2": quotes_v2,
}


@dataclass(frozen=True)
class Cleaned:
    """An answer after cleaning, and the names of the rules that changed it."""

    text: str
    rules: tuple[str, ...]


def clean(answer: str, rules: Sequence[str], about: Context) -> Cleaned:
    r"""Apply rules; blanks at the ends never stay.

    >>> about = Context("the food was bad .", ("negative", "positive"))
    >>> clean('Sure, here is it:\n\n"The food was good."\n', tuple(RULES), about)
    Cleaned(text='The food was good.', rules=('preface-v1', 'quotes-v2'))
    """
    text, used = answer.strip(), []
    for name in rules:
        if (changed := RULES[name](text, about).strip()) != text:
            text = changed
            used.append(name)
    return Cleaned(text, tuple(used))


def rule_names(asked: Sequence[str]) -> tuple[str, ...]:
    """The rules that are asked for, in the order in which they are applied; ``none`` for none.

    Raises:
        UnknownNameError: there is no such rule.
        InputError: nothing is asked for, or ``none`` and a rule.
    """
    if list(asked) == ["none"]:
        return ()
    for name in asked:
        if name not in RULES:
            raise unknown_name("cleaning rule", name, [*RULES, "none"])
    if not asked:
        raise InputError("--clean is empty: name rules, or write none")
    return tuple(name for name in RULES if name in asked)
