"""Sentences of four corpora and broken copies of them: what fluency is learned from first.

Where CoLA's sentences are linguists' examples, these are what systems are tested on: reviews and
plays. No person judged them, and no test sentence, human rewrite of one, or input of a
study of human judgments is among them.

They are broken the way transfer systems break them, by one to three named, seeded errors each. One
small error each makes a sentence unacceptable: of word order, function words or agreement, as
systems really make them; by chance it may still be acceptable (two adjectives swapped). Outputs of
systems also repeat phrases, stop half-way, carry on with another sentence, lose content words and
put in words that do not fit. A classifier that has learned these tells degrees of fluency apart,
which linguists' examples alone do not teach it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from tstbench.datasets_scripts.cleaning import match_key
from tstbench.datasets_scripts.load import load_styles
from tstbench.datasets_scripts.sources import MIR_2019, upstream_file
from tstbench.files import read_lines
from tstbench.metrics.scorers.artefacts import Artefact
from tstbench.metrics.scorers.classifiers import ACCEPTABILITY_STYLES
from tstbench.metrics.scorers.train import LabelledSentences, labelled

from .cola import AcceptabilityCorpus, cola_corpus, train_acceptability

Corruption = Callable[[list[str], random.Random], list[str] | None]

# Words that a sentence rarely lacks and never repeats directly.
FUNCTION_WORDS = frozenset(
    (
        *("a", "an", "the", "my", "your", "his", "its", "our", "their"),
        *("of", "to", "in", "on", "at", "for", "with", "from", "by", "and"),
        *("is", "are", "was", "were", "am", "be", "been", "do", "does", "did"),
        *("have", "has", "had", "will", "would", "can", "could"),
        *("i", "you", "he", "she", "it", "we", "they", "me", "him", "us", "them"),
    )
)
_OTHER_FORM = {
    "is": "are", "are": "is", "am": "are", "was": "were", "were": "was",
    "has": "have", "have": "has", "does": "do", "do": "does",
    "isn't": "aren't", "aren't": "isn't", "wasn't": "weren't", "weren't": "wasn't",
    "doesn't": "don't", "don't": "doesn't", "this": "these", "these": "this",
    "i": "me", "he": "him", "she": "her", "we": "us", "they": "them",
}  # fmt: skip


def swap_neighbours(words: list[str], rng: random.Random) -> list[str] | None:
    """Swap two adjacent words."""
    places = [i for i in range(len(words) - 1) if words[i].lower() != words[i + 1].lower()]
    if not places:
        return None
    i = rng.choice(places)
    return [*words[:i], words[i + 1], words[i], *words[i + 2 :]]


def move_word(words: list[str], rng: random.Random) -> list[str] | None:
    """Move a word by two or more positions."""
    if len(words) < 4:
        return None
    source = rng.randrange(len(words))
    rest = [*words[:source], *words[source + 1 :]]
    target = rng.choice([i for i in range(len(words)) if abs(i - source) >= 2])
    return [*rest[:target], words[source], *rest[target:]]


def drop_function_word(words: list[str], rng: random.Random) -> list[str] | None:
    """Leave out an article, preposition, pronoun, auxiliary or the like."""
    places = _function_words(words)
    if not places or len(words) < 3:
        return None
    i = rng.choice(places)
    return [*words[:i], *words[i + 1 :]]


def double_function_word(words: list[str], rng: random.Random) -> list[str] | None:
    """Repeat an article, preposition, pronoun, auxiliary or the like."""
    places = _function_words(words)
    if not places:
        return None
    i = rng.choice(places)
    return [*words[: i + 1], *words[i:]]


def break_agreement(words: list[str], rng: random.Random) -> list[str] | None:
    """Substitute the other form: ``is`` for ``are``, ``these`` for ``this``, ``him`` for ``he``."""
    places = [i for i, word in enumerate(words) if word.lower() in _OTHER_FORM]
    if not places:
        return None
    i = rng.choice(places)
    return [*words[:i], _OTHER_FORM[words[i].lower()], *words[i + 1 :]]


CORRUPTIONS: dict[str, Corruption] = {
    "swap_neighbours": swap_neighbours,
    "move_word": move_word,
    "drop_function_word": drop_function_word,
    "double_function_word": double_function_word,
    "break_agreement": break_agreement,
}


def _function_words(words: list[str]) -> list[int]:
    return [i for i, word in enumerate(words) if word.lower() in FUNCTION_WORDS]


MOST_ERRORS = 3
_END = re.compile(r"[\s.!?]*$")
_VOWELS = tuple("aeiou")
_FUNCTION_WORDS = tuple(sorted(FUNCTION_WORDS))  # a set has no order to draw from


Sentences = Sequence[Sequence[str]]  # split into words, without final punctuation


def repeat_phrase(words: list[str], rng: random.Random) -> list[str] | None:
    """Say one to four words twice."""
    if len(words) < 2:
        return None
    length = rng.randint(1, min(4, len(words)))
    start = rng.randrange(len(words) - length + 1)
    stop = start + length
    return [*words[:stop], *words[start:stop], *words[stop:]]


def stop_early(words: list[str], rng: random.Random) -> list[str] | None:
    """Leave out the end, right after a function word, where no sentence ends."""
    places = [i for i, word in enumerate(words[:-1]) if i and word.lower() in FUNCTION_WORDS]
    return words[: rng.choice(places) + 1] if places else None


def continue_differently(
    words: list[str], rng: random.Random, *, others: Sentences
) -> list[str] | None:
    """Go on with the end of another sentence, as systems do that fill in templates."""
    other = rng.choice(others)
    if len(words) < 3 or len(other) < 3:
        return None
    return [*words[: rng.randrange(1, len(words))], *other[rng.randrange(1, len(other)) :]]


def replace_phrase(words: list[str], rng: random.Random, *, others: Sentences) -> list[str] | None:
    """Put one to three words of another sentence in place of as many or fewer here."""
    other = rng.choice(others)
    if len(words) < 3 or not other:
        return None
    length = rng.randint(1, min(3, len(other)))
    first = rng.randrange(len(other) - length + 1)
    start = rng.randrange(len(words))
    stop = start + rng.randint(1, length)
    changed = [*words[:start], *other[first : first + length], *words[stop:]]
    return changed if changed != words else None


def drop_words(words: list[str], rng: random.Random) -> list[str] | None:
    """Leave out one or two words from the middle, whatever they are."""
    if len(words) < 4:
        return None
    length = rng.randint(1, 2)
    start = rng.randrange(1, len(words) - length)
    return [*words[:start], *words[start + length :]]


def swap_function_word(words: list[str], rng: random.Random) -> list[str] | None:
    """Put another function word in the place of one."""
    places = [i for i, word in enumerate(words) if word.lower() in FUNCTION_WORDS]
    if not places:
        return None
    i = rng.choice(places)
    other = rng.choice([word for word in _FUNCTION_WORDS if word != words[i].lower()])
    return [*words[:i], other, *words[i + 1 :]]


def wrong_ending(words: list[str], rng: random.Random) -> list[str] | None:
    """Inflect a word otherwise: ``walks`` for ``walk``, ``walking`` for ``walked``."""
    places = [
        i
        for i, word in enumerate(words)
        if len(word) > 3 and word.isalpha() and word.lower() not in FUNCTION_WORDS
    ]
    if not places:
        return None
    i = rng.choice(places)
    other = rng.choice([form for form in _forms(words[i]) if form != words[i]])
    return [*words[:i], other, *words[i + 1 :]]


def errors(others: Sentences) -> dict[str, Corruption]:
    """Every error by name; some put in words of other sentences, of which there must be one."""
    return {
        **CORRUPTIONS,
        "repeat_phrase": repeat_phrase,
        "stop_early": stop_early,
        "continue_differently": partial(continue_differently, others=others),
        "replace_phrase": partial(replace_phrase, others=others),
        "drop_words": drop_words,
        "swap_function_word": swap_function_word,
        "wrong_ending": wrong_ending,
    }


def break_sentence(
    sentence: str, known: Mapping[str, Corruption], seed: int = 0
) -> tuple[str, ...] | None:
    """The broken sentence and the names of its errors, or ``None`` if it is too short.

    Half of the sentences get one error, the others two or three. The errors depend only
    on seed, sentence and those that are known; final punctuation stays where it is.

    >>> break_sentence("the soup was cold.", {"repeat_phrase": repeat_phrase})
    ('the soup was cold was cold.', 'repeat_phrase')
    """
    rng = random.Random(f"{seed}:{sentence}")
    end = _END.search(sentence)
    cut = end.start() if end else len(sentence)
    before = words = sentence[:cut].split()
    wanted = rng.choice((1, 1, 2, MOST_ERRORS))
    made: list[str] = []
    for name in rng.sample(list(known), len(known)):
        changed = known[name](words, rng)
        if changed is not None and changed != before:
            words = changed
            made.append(name)
        if len(made) == wanted:
            break
    return (" ".join(words) + sentence[cut:], *made) if made else None


def words_of(sentence: str) -> list[str]:
    """The words of a sentence without its final punctuation.

    >>> words_of("so good !")
    ['so', 'good']
    """
    return _END.sub("", sentence).split()


def _forms(word: str) -> list[str]:
    """Other endings of a word, by spelling alone; some exist, which is the point."""
    stem = re.sub(r"(ies|es|s|ed|ing|ly)$", "", word) or word
    if stem.endswith(_VOWELS):
        return [stem + "s", stem + "d", stem[:-1] + "ing"]
    return [stem, stem + "s", stem + "ed", stem + "ing"]


BROKEN = "broken"  # the corpus's name in the scorer cache
SEED = 0
# How many sentences of each corpus; of the plays, the modern side: people judge today's English.
N_YELP, N_SHAKESPEARE, N_AMAZON, N_COLA = 11_000, 3_500, 800, 1_700
STUDY_INPUTS = ("data/sentiment.test.0", "data/sentiment.test.1")  # of Mir et al. (2019)
_SHORTEST, _LONGEST = 4, 28  # in words
_HELD_OUT = 20  # one sentence is held out for so many


def broken_corpus() -> AcceptabilityCorpus:
    """The sentences, labelled 1, and a broken copy of each, labelled 0, in pairs.

    Raises:
        MissingFileError: a corpus cannot be found or downloaded; the message names the file.
    """
    cola = cola_corpus()
    inputs = [line for name in STUDY_INPUTS for line in _lines(name)]
    yelp = load_styles("yelp", exclude=inputs).training
    shakespeare = load_styles("shakespeare")
    modern = shakespeare.training.of(shakespeare.styles.index("modern"))
    amazon = load_styles("amazon").training
    held_out = {s for part in cola.dev.values() for s in part.sentences}
    good = [
        sentence
        for sentence, label in zip(cola.train.sentences, cola.train.labels, strict=True)
        if label == ACCEPTABILITY_STYLES.index("acceptable") and sentence not in held_out
    ]
    wanted = (
        (yelp.texts, N_YELP),
        (modern, N_SHAKESPEARE),
        (amazon.texts, N_AMAZON),
        (good, N_COLA),
    )
    rng = random.Random(SEED)
    train, held = [], []
    for sentences, count in wanted:
        drawn = draw(sentences, count + count // _HELD_OUT, rng)
        train += drawn[:count]
        held += drawn[count:]
    return AcceptabilityCorpus(
        BROKEN,
        f"sentences of yelp, shakespeare, amazon and CoLA, and broken copies, seed {SEED}",
        with_broken(train),
        {"broken": with_broken(held, exclude=train)},
    )


def train_cola() -> Artefact:
    """Train and store the acceptability classifier, unless its recipe was trained before.

    In two steps: on the broken corpus, and from there on CoLA, whose 8,551 sentences are too few to
    teach a sentence encoder grammar.

    Raises:
        MissingFileError: see :func:`broken_corpus`.
    """
    from tstbench.metrics.scorers.lora import LoraConfig  # torch

    broken, cola = broken_corpus(), cola_corpus()
    first = train_acceptability(broken, config=LoraConfig(epochs=1))
    then = LoraConfig(base=str(first.folder), epochs=1.5, learning_rate=5e-4, kept=0.3)
    cola = replace(cola, trained_on=f"{broken.trained_on}; then {cola.trained_on}")
    return train_acceptability(cola, config=then)


def draw(sentences: Iterable[str], count: int, rng: random.Random) -> list[str]:
    """As many of the distinct sentences, or all; none that is a fragment or has masked words."""
    suitable = sorted({sentence for sentence in sentences if _is_suitable(sentence)})
    rng.shuffle(suitable)
    return suitable[:count]


def with_broken(sentences: Sequence[str], *, exclude: Collection[str] = ()) -> LabelledSentences:
    """Each sentence and a broken copy of it, in pairs; one too short to break is left out.

    Raises:
        InputError: none can be broken.
    """
    left_out = set(map(match_key, exclude))
    kept = [sentence for sentence in sentences if match_key(sentence) not in left_out]
    known = errors([words_of(sentence) for sentence in kept])
    texts: list[str] = []
    for sentence in kept:
        if (broken := break_sentence(sentence, known, SEED)) is not None:
            texts += [sentence, broken[0]]
    labels = (1, 0) * (len(texts) // 2)
    return labelled(texts, labels, ACCEPTABILITY_STYLES, what=BROKEN)


def _is_suitable(sentence: str) -> bool:
    words = sentence.split()
    masked = "unk" in words or "_num_" in sentence
    return _SHORTEST <= len(words) <= _LONGEST and not masked


def _lines(name: str) -> Iterator[str]:
    place: Path = upstream_file(MIR_2019, name).locate()
    yield from read_lines(place)
