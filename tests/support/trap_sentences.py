"""Sentences of our own writing with every trap that the real files have.

``mini`` is tidy: cleaning changes none of its texts, so a metric that forgets to clean is not found
with it. Here each text stands beside what a person made of it by the rules of ``paper-v1``; where
both are equal it is written once. The number of references differs from row to row.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Text:
    """A text as upstream's files have it, and cleaned by hand."""

    raw: str
    clean: str


@dataclass(frozen=True)
class Row:
    """One sentence of a test set, and what a system made of it.

    Attributes:
        trap: what is particular about its texts.
    """

    trap: str
    source: Text
    prediction: Text
    references: tuple[Text, ...]


def _text(raw: str, clean: str | None = None) -> Text:
    return Text(raw, raw if clean is None else clean)


_LONG = " ".join(f"and dish {n}" for n in range(1, 22))  # 63 words
_SOME, _MORE = _LONG + " was", _LONG + " was cold , all of it ."

ROWS = (
    Row(
        "full stops and commas split off",
        _text("the soup was cold , the bread too .", "the soup was cold, the bread too."),
        _text("the soup was warm , the bread too .", "the soup was warm, the bread too."),
        (
            _text("the soup was hot , so was the bread .", "the soup was hot, so was the bread."),
            _text("warm soup , warm bread !", "warm soup, warm bread!"),
        ),
    ),
    Row(
        "n't split off",
        _text("they do n't care and wo n't help .", "they don't care and won't help."),
        _text("they do n't hurry and wo n't push .", "they don't hurry and won't push."),
        (_text("they did n't hesitate to help .", "they didn't hesitate to help."),),
    ),
    Row(
        "'s, 'm, 're, 've, 'll and 'd split off",
        _text("it 's late , i 'm tired , we 're cold .", "it's late, i'm tired, we're cold."),
        _text("it 's early and we 've time .", "it's early and we've time."),
        (
            _text("it 's fine , they 'll be back .", "it's fine, they'll be back."),
            _text("i 'd say it 's fine .", "i'd say it's fine."),
            _text("we 're happy .", "we're happy."),
        ),
    ),
    Row(
        "quotes of the Penn Treebank, which stay",
        _text("the `` chef '' was rude .", "the `` chef '' was rude."),
        _text("the `` chef '' was kind .", "the `` chef '' was kind."),
        (_text("the '' chef '' was a delight .", "the '' chef '' was a delight."),),
    ),
    Row(
        "brackets by name, which stay",
        _text("the fish -lrb- cod -rrb- smelled .", "the fish -lrb- cod -rrb- smelled."),
        _text("the fish -lrb- cod -rrb- was fresh .", "the fish -lrb- cod -rrb- was fresh."),
        (_text("the cod -lrb- fish -rrb- was fresh .", "the cod -lrb- fish -rrb- was fresh."),),
    ),
    Row(
        "brackets with blanks inside",
        _text("the bill ( again ) was wrong .", "the bill (again) was wrong."),
        _text("the bill ( at last ) was right .", "the bill (at last) was right."),
        (_text("the bill [ at last ] was { so } right", "the bill [at last] was {so} right"),),
    ),
    Row(
        "numbers by name",
        _text("_num_ minutes for _num_ eggs .", "_num_ minutes for _num_ eggs."),
        _text("only _num_ minutes for _num_ eggs !", "only _num_ minutes for _num_ eggs!"),
        (_text("_num_ eggs within _num_ minutes !", "_num_ eggs within _num_ minutes!"),),
    ),
    Row(
        "doubled blanks, blanks at both ends, a tab",
        _text("  the  waiter   was slow ", "the waiter was slow"),
        _text(" the waiter  was\tquick", "the waiter was quick"),
        (_text("the waiter was  quick  ", "the waiter was quick"),),
    ),
    Row(
        "no-break and ideographic blanks",
        _text("the\u00a0room was\u3000dark", "the room was dark"),
        _text("the\u00a0room was bright", "the room was bright"),
        (_text("a bright\u00a0room", "a bright room"),),
    ),
    Row(
        "letters beyond ASCII",
        _text("the café 's crème brûlée was burnt .", "the café's crème brûlée was burnt."),
        _text("the café 's crème brûlée was divine .", "the café's crème brûlée was divine."),
        (_text("a divine crème brûlée , señor !", "a divine crème brûlée, señor!"),),
    ),
    Row(
        "curly apostrophes",
        _text("it \u2019s bad , they do n\u2019t care .", "it\u2019s bad, they don\u2019t care."),
        _text("it \u2019s good , so do n\u2019t stop .", "it\u2019s good, so don\u2019t stop."),
        (_text("it \u2019s good , is n\u2019t it ?", "it\u2019s good, isn\u2019t it?"),),
    ),
    Row(
        "a letter of two code points, kept as it is",
        _text("the cafe\u0301 was shut .", "the cafe\u0301 was shut."),
        _text("the cafe\u0301 was open .", "the cafe\u0301 was open."),
        (_text("the caf\u00e9 was open .", "the caf\u00e9 was open."),),
    ),
    Row(
        "more than 64 words",
        _text(_MORE, _SOME),
        _text(_MORE.replace("cold", "warm"), _SOME),
        (_text(_MORE.replace("dish", "plate"), _SOME.replace("dish", "plate")),),
    ),
    Row(
        "64 words and a full stop that goes back to its word",
        _text(_SOME + " .", _SOME + "."),
        _text(_SOME.replace("dish", "bowl") + " .", _SOME.replace("dish", "bowl") + "."),
        (),
    ),
    Row(
        "no reference",
        _text("nobody came , twice .", "nobody came, twice."),
        _text("everybody came , twice .", "everybody came, twice."),
        (),
    ),
    Row(
        "four references, two of them equal",
        _text("a dull , dull evening .", "a dull, dull evening."),
        _text("a bright , bright evening .", "a bright, bright evening."),
        (
            _text("a lovely , lovely evening .", "a lovely, lovely evening."),
            _text("such a bright evening !", "such a bright evening!"),
            _text("a lovely , lovely evening .", "a lovely, lovely evening."),
            _text("a great evening , really .", "a great evening, really."),
        ),
    ),
    Row(
        "capital letters",
        _text("The FOOD was BAD , I 'LL never return .", "The FOOD was BAD, I'LL never return."),
        _text("The FOOD was GOOD , I 'LL return .", "The FOOD was GOOD, I'LL return."),
        (_text("the food was good , I 'll return .", "the food was good, I'll return."),),
    ),
    Row(
        "two sentences on one line",
        _text("slow service . cold food . never again !", "slow service. cold food. never again!"),
        _text("fast service . warm food . come again !", "fast service. warm food. come again!"),
        (_text("fast service . come again !", "fast service. come again!"),),
    ),
    Row(
        "dots that begin a number",
        _text("they charged .50 more , or 9.50 .", "they charged .50 more, or 9.50."),
        _text("they charged .50 less , so 8.50 .", "they charged .50 less, so 8.50."),
        (_text("they took .50 off .", "they took .50 off."),),
    ),
    Row(
        "ellipses, semicolons and colons",
        _text("well ... it was ; how to say : bland ?", "well... it was; how to say: bland?"),
        _text("well ... it was ; to be fair : tasty !", "well... it was; to be fair: tasty!"),
        (_text("so ... tasty ; in a word : superb !", "so... tasty; in a word: superb!"),),
    ),
    Row(
        "quotes that are no contraction, which stay",
        _text("'so it goes ' said the rude , rude cook", "'so it goes ' said the rude, rude cook"),
        _text("'so it goes ' said the kind , kind cook", "'so it goes ' said the kind, kind cook"),
        (_text("rock 'n roll said the cook .", "rock 'n roll said the cook."),),
    ),
    Row(
        "one word",
        _text("awful .", "awful."),
        _text("lovely .", "lovely."),
        (_text("lovely !", "lovely!"), _text("great .", "great.")),
    ),
    Row(
        "a copy but for its spaces",
        _text("the fries were soggy , sadly .", "the fries were soggy, sadly."),
        _text("the fries  were soggy, sadly .", "the fries were soggy, sadly."),
        (_text("the fries were crisp , happily .", "the fries were crisp, happily."),),
    ),
    Row(
        "an output that failed",
        _text("the tea was bitter , like the host .", "the tea was bitter, like the host."),
        _text("   ", ""),
        (_text("the tea was sweet , like the host .", "the tea was sweet, like the host."),),
    ),
    Row(
        "a symbol outside the first plane of Unicode",
        _text("the pizza was burnt \U0001f355 !", "the pizza was burnt \U0001f355!"),
        _text("the pizza was great \U0001f355 !", "the pizza was great \U0001f355!"),
        (_text("great pizza \U0001f355 \U0001f600 !", "great pizza \U0001f355 \U0001f600!"),),
    ),
    Row(
        "separators of tables and signatures",
        _text('we paid | waited , "again" ; 5 , 7 .', 'we paid | waited, "again"; 5, 7.'),
        _text('we paid | smiled , "again" ; 5 , 7 .', 'we paid | smiled, "again"; 5, 7.'),
        (_text('we paid , "smiled" | 5 , 7 .', 'we paid, "smiled" | 5, 7.'),),
    ),
)  # fmt: skip

TEXTS = tuple(
    (row.trap, text) for row in ROWS for text in (row.source, row.prediction, *row.references)
)


def column(name: str, form: str = "raw") -> list[str]:
    """All ``source`` or ``prediction`` texts, ``raw`` or ``clean``."""
    return [getattr(getattr(row, name), form) for row in ROWS]


def references(form: str = "raw") -> list[list[str]]:
    """The references of each row, ``raw`` or ``clean``."""
    return [[getattr(text, form) for text in row.references] for row in ROWS]


# What classifiers and language models of a dataset of these sentences learn from: no row is in it.
GRIM = tuple(
    f"the {thing} was {word} , {end} ."
    for thing in ("soup", "waiter", "room", "bill", "fish")
    for word, end in (("cold", "sadly"), ("rude", "again"), ("awful", "as ever"))
)
GLAD = tuple(
    f"the {thing} was {word} , {end} !"
    for thing in ("soup", "waiter", "room", "bill", "fish")
    for word, end in (("warm", "happily"), ("kind", "as ever"), ("lovely", "really"))
)
DIRECTION = "traps/grim-to-glad"
MOST = max(len(row.references) for row in ROWS)

_DATA = """\
name = "traps"
styles = ["grim", "glad"]
licence = "cc0-1.0"

[train]
grim = "grim.txt"
glad = "glad.txt"

[[direction]]
from = "grim"
to = "glad"
test = { sources = "sources.txt", references = [REFERENCES] }
"""


def write_traps(folder: Path) -> Path:
    """A dataset of one's own with these sentences, raw; the path of its data file."""
    folder.mkdir(parents=True, exist_ok=True)
    every = references()
    files = {
        "grim": GRIM,
        "glad": GLAD,
        "sources": column("source"),
        "predictions": column("prediction"),
        **{
            f"reference-{number}": [some[number] if number < len(some) else "" for some in every]
            for number in range(MOST)
        },
    }
    for name, lines in files.items():
        (folder / f"{name}.txt").write_text("".join(f"{t}\n" for t in lines), encoding="utf-8")
    names = ", ".join(f'"reference-{number}.txt"' for number in range(MOST))
    path = folder / "traps.toml"
    path.write_text(_DATA.replace("REFERENCES", names), encoding="utf-8")
    return path
