"""Which numbers may share a column: only those whose signatures agree.

Reports of one direction fall into *settings*: inside one, each metric has exactly one signature
and one data fingerprint. A report that measured only some metrics belongs to every setting that it
does not contradict.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ...errors import InputError
from ...metrics.joint.calibration import WEIGHTS
from ...metrics.signature import Signature
from .data import Entry, distinct
from .facts import Layout, Measure, only

# Fields about the data, not about the way of scoring: they differ by direction.
_OF_THE_DATA = frozenset({"direction", "n", "data", "refs", "bleu"})
_MOST_DIFFERENCES = 3


@dataclass(frozen=True)
class Setting:
    """A way of scoring one direction, and the entries scored that way.

    Attributes:
        key: short and stable: a hash of the signatures.
        label: distinguishes this setting from the others of its direction.
        signatures: metric to signature.
        entries: in the order given, each with its own label.
    """

    key: str
    label: str
    signatures: Mapping[str, str]
    entries: tuple[Entry, ...]


def settings(entries: Iterable[Entry]) -> tuple[Setting, ...]:
    """Sort the entries of one direction into settings, the one with most entries first.

    A report that was scored in several ways is in the settings of each, with the scores that fit.
    Ways with most metrics come first and start a new setting if none agrees with them, so that
    the result does not depend on the order of the entries.
    """
    entries = tuple(entries)
    kinds = Counter((entry.facts.fingerprint, entry.layout) for entry in entries)
    founders: list[tuple[str, dict[str, str]]] = []  # fingerprint, metric -> signature
    pairs = [(data, way) for data, layout in kinds for way in ways_of_scoring(layout)]
    for data, way in sorted(pairs, key=lambda pair: (-len(pair[1]), _signature_text(pair[1]))):
        homes = [
            known for fingerprint, known in founders if fingerprint == data and _agree(way, known)
        ]
        for known in homes:
            known.update(way)
        if not homes:
            founders.append((data, dict(way)))
    members = [distinct(_members(entries, fingerprint, known)) for fingerprint, known in founders]
    labels = _labels([(known, group) for (_, known), group in zip(founders, members, strict=True)])
    found = [
        Setting(_key(fingerprint, known), label, known, group)
        for (fingerprint, known), label, group in zip(founders, labels, members, strict=True)
    ]
    return tuple(sorted(found, key=lambda s: (-len(s.entries), s.label, s.key)))


@lru_cache(maxsize=4096)
def ways_of_scoring(layout: Layout) -> tuple[dict[str, str], ...]:
    """The ways in which a report was scored: in each, a metric has one signature.

    Each score is in at least one way, together with the most similar scores of the other metrics:
    those of its profile that share most of its fields. A score that needs no scorer belongs to
    every profile.
    """
    metrics = dict.fromkeys(one.metric for one in layout)
    profiles = {one.profile for one in layout}
    if len(profiles) < 2 and len(metrics) == len(layout):  # as nearly all are
        return ({one.metric: one.column for one in layout},)
    found = []
    for anchor in layout:
        way = {}
        for metric in metrics:
            same = (
                [anchor] if metric == anchor.metric else [o for o in layout if o.metric == metric]
            )
            fitting = [o for o in same if o.profile == anchor.profile or "#" not in o.signature]
            if fitting:
                way[metric] = max(fitting, key=lambda one: _likeness(one, anchor)).column
        if way not in found:
            found.append(way)
    return tuple(found)


def _likeness(one: Measure, other: Measure) -> tuple[bool, int]:
    fields, others = (set(measure.signature.split("|")[1:]) for measure in (one, other))
    return one.profile == other.profile, len(fields & others)


def choose(found: Sequence[Setting], key: str) -> Setting:
    """The setting with that key, otherwise the first.

    Raises:
        InputError: there are no settings.
    """
    if not found:
        raise InputError("there are no entries, so there is no setting to choose")
    return next((setting for setting in found if setting.key == key), found[0])


@lru_cache(maxsize=4096)
def protocol(signature: str) -> str:
    """What a signature says about the way of scoring, without the data: equal across directions.

    Scorers are trained per dataset, and language models per style, so only their kind is kept. A
    calibration of Joint is the same everywhere: with other weights it is another way of scoring.

    >>> protocol("acc|direction:yelp/negative-to-positive|classifier:linear:yelp#12ab|n:500")
    'acc|classifier:linear'
    >>> protocol("ppl|direction:yelp/negative-to-positive|lm:kn5-positive:yelp#34cd|norm:words")
    'ppl|lm:kn5|norm:words'
    >>> protocol("joint|direction:yelp/negative-to-positive|weights:mine#56ef|lm:linear:yelp#12ab")
    'joint|weights:mine#56ef|lm:linear'
    """
    try:
        parsed = Signature.parse(signature)
    except InputError:
        return signature
    styles = parsed.as_dict().get("direction", "").rpartition("/")[2].split("-to-")
    kept = [
        f"{key}:{_kind(value, styles) if '#' in value and key != WEIGHTS else value}"
        for key, value in parsed
        if key not in _OF_THE_DATA
    ]
    return "|".join([parsed.metric, *kept])


def _kind(scorer: str, styles: Sequence[str]) -> str:
    """A scorer's name without what it was trained on: ``kn5-positive:yelp#34cd`` is ``kn5``."""
    name = scorer.split("#")[0].split(":")[0]
    endings = sorted((f"-{style}" for style in styles if style), key=len, reverse=True)
    return next((name.removesuffix(end) for end in endings if name.endswith(end)), name)


def protocol_key(name: str) -> str:
    """A protocol as a short, stable key for links."""
    return hashlib.sha256(name.encode()).hexdigest()[:8]


def _members(
    entries: Iterable[Entry], fingerprint: str, known: Mapping[str, str]
) -> Iterator[Entry]:
    """The entries that a setting does not contradict, with only its scores."""
    columns = frozenset(known.values())
    fits: dict[Layout, bool] = {}
    for entry in entries:
        layout = entry.layout
        if layout not in fits:
            fits[layout] = any(_agree(way, known) for way in ways_of_scoring(layout))
        if fits[layout] and entry.facts.fingerprint == fingerprint:
            yield entry if only(layout, columns) is layout else replace(entry, columns=columns)


def _signature_text(way: Mapping[str, str]) -> str:
    return " ".join(f"{metric}={signature}" for metric, signature in sorted(way.items()))


def _agree(own: Mapping[str, str], known: Mapping[str, str]) -> bool:
    """At least one metric in common, and the same signature in each that is."""
    common = own.keys() & known.keys()
    return bool(common) and all(own[metric] == known[metric] for metric in common)


def _key(fingerprint: str, signatures: Mapping[str, str]) -> str:
    text = "\n".join([fingerprint, *(signatures[metric] for metric in sorted(signatures))])
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _labels(found: Sequence[tuple[Mapping[str, str], tuple[Entry, ...]]]) -> list[str]:
    """The profile; if several settings share it, also the fields in which they differ."""
    profiles = ["/".join(sorted({e.layout.profile for e in group})) for _, group in found]
    facets = [_facets(signatures, group) for signatures, group in found]
    labels = []
    for profile, own in zip(profiles, facets, strict=True):
        rivals = [f for p, f in zip(profiles, facets, strict=True) if p == profile]
        differing = [
            f"{name} {value}"
            for name, value in own.items()
            if len({rival.get(name) for rival in rivals}) > 1
        ]
        shown = differing[:_MOST_DIFFERENCES]
        labels.append(" \N{MIDDLE DOT} ".join([profile, *shown]))
    return labels


def _facets(signatures: Mapping[str, str], group: tuple[Entry, ...]) -> dict[str, str]:
    """The fields of all signatures of a setting; those shared by most metrics appear once."""
    facets = {"data": group[0].facts.fingerprint[:8]}
    for metric in sorted(signatures):
        try:
            fields = Signature.parse(signatures[metric]).as_dict()
        except InputError:
            facets[metric] = signatures[metric]
            continue
        for name, value in fields.items():
            if name == "n":
                facets.setdefault(name, value)
            elif name not in ("direction", "data"):
                facets[f"{metric} {name}"] = value
    return facets
