"""Which numbers may share a column: those whose signatures agree, and no others.

Reports of one direction fall into *settings*: inside one, each metric has exactly one signature
and one data fingerprint. A report that measured only some metrics is at home in every setting it
does not contradict.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...errors import InputError
from ...metrics.signature import Signature
from ...pipelines.report import Report
from .data import Entry, distinct

# What a signature says of the data and not of the way of scoring: it differs by direction.
_OF_THE_DATA = frozenset({"direction", "n", "data", "refs", "bleu"})
_MOST_DIFFERENCES = 3


@dataclass(frozen=True)
class Setting:
    """A way of scoring one direction, and the entries that were scored so.

    Attributes:
        key: short and stable: a hash of the signatures.
        label: what tells this setting from the others of its direction.
        signatures: metric to signature.
        entries: in the order given, each with a label of its own.
    """

    key: str
    label: str
    signatures: Mapping[str, str]
    entries: tuple[Entry, ...]


def settings(entries: Iterable[Entry]) -> tuple[Setting, ...]:
    """Sort the entries of one direction into settings, the one with most entries first.

    Reports with most metrics come first and found a setting where none agrees with them, so that
    the result does not depend on the order of the entries.
    """
    entries = tuple(entries)
    founders: list[tuple[str, dict[str, str]]] = []  # fingerprint, metric -> signature
    by_size = sorted(entries, key=lambda e: (-len(e.report.scores), _signature_text(e.report)))
    for entry in by_size:
        own = _signatures(entry.report)
        homes = [
            known
            for fingerprint, known in founders
            if fingerprint == entry.report.data.fingerprint and _agree(own, known)
        ]
        for known in homes:
            known.update(own)
        if not homes:
            founders.append((entry.report.data.fingerprint, own))
    members = [
        distinct(
            entry
            for entry in entries
            if entry.report.data.fingerprint == fingerprint
            and _agree(_signatures(entry.report), known)
        )
        for fingerprint, known in founders
    ]
    labels = _labels([(known, group) for (_, known), group in zip(founders, members, strict=True)])
    found = [
        Setting(_key(fingerprint, known), label, known, group)
        for (fingerprint, known), label, group in zip(founders, labels, members, strict=True)
    ]
    return tuple(sorted(found, key=lambda s: (-len(s.entries), s.label, s.key)))


def choose(found: Sequence[Setting], key: str) -> Setting:
    """The setting of that key, else the first.

    Raises:
        InputError: there is none at all.
    """
    if not found:
        raise InputError("no entries, so no setting to choose")
    return next((setting for setting in found if setting.key == key), found[0])


def protocol(signature: str) -> str:
    """What a signature says of the way of scoring, without the data: equal across directions.

    Scorers are trained per dataset, so only their kind stays.

    >>> protocol("acc|direction:yelp/negative-to-positive|classifier:linear:yelp#12ab|n:500")
    'acc|classifier:linear'
    """
    try:
        parsed = Signature.parse(signature)
    except InputError:
        return signature
    kept = [parsed.metric]
    for key, value in parsed:
        if key in _OF_THE_DATA:
            continue
        kind = value.split("#")[0].split(":")[0] if "#" in value else value
        kept.append(f"{key}:{kind}")
    return "|".join(kept)


def protocol_key(name: str) -> str:
    """A protocol in a link: short, and always the same."""
    return hashlib.sha256(name.encode()).hexdigest()[:8]


def _signatures(report: Report) -> dict[str, str]:
    return {score.metric: score.signature for score in report.scores}


def _signature_text(report: Report) -> str:
    return " ".join(f"{k}={v}" for k, v in sorted(_signatures(report).items()))


def _agree(own: Mapping[str, str], known: Mapping[str, str]) -> bool:
    """At least one metric in common, and the same signature in each that is."""
    common = own.keys() & known.keys()
    return bool(common) and all(own[metric] == known[metric] for metric in common)


def _key(fingerprint: str, signatures: Mapping[str, str]) -> str:
    text = "\n".join([fingerprint, *(signatures[metric] for metric in sorted(signatures))])
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _labels(found: Sequence[tuple[Mapping[str, str], tuple[Entry, ...]]]) -> list[str]:
    """Profile first; then, where several settings share it, the fields in which they differ."""
    profiles = ["/".join(sorted({e.report.profile for e in group})) for _, group in found]
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
    """The fields of all signatures of a setting, those that most metrics share said once."""
    facets = {"data": group[0].report.data.fingerprint[:8]}
    for metric in sorted(signatures):
        try:
            fields = Signature.parse(signatures[metric]).as_dict()
        except InputError:
            facets[metric] = signatures[metric]
            continue
        for name, value in fields.items():
            if name in ("tstbench", "n"):
                facets.setdefault(name, value)
            elif name not in ("direction", "data"):
                facets[f"{metric} {name}"] = value
    return facets
