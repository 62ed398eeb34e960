"""Drawing a study's sample from report folders, and freezing it."""

from __future__ import annotations

import hashlib
import hmac
import random
import re
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from ...console import say
from ...datasets_scripts.catalog import language_of, parse_direction
from ...datasets_scripts.cleaning import match_key
from ...datasets_scripts.directions import Direction
from ...errors import InputError, MissingFileError, TSTBenchError, unknown_name
from ...files import atomic_folder
from ...metrics.text import preparation
from ...pipelines.report import Sample
from ...pipelines.results import Stored, read_whole, system_folders
from .ratings import Ratings
from .study import STUDY_FILE, TASKS, Item, MaskedPair, Private, RaterSecret, Study, write_study

MASK = "⟨style⟩"
Mask = Callable[[str], str]

USUAL = 50  # outputs per system; TSTBench paper, section 3.3.2


def create_study(
    results_root: Path | str,
    directions: Sequence[str],
    systems: Sequence[str] | None,
    raters: Sequence[str],
    out: Path | str,
    *,
    per_system: int | None = None,
    seed: int = 12345,
    name: str | None = None,
    tasks: Collection[str] = ("protocol",),
    masks: Mapping[str, Mask] | None = None,
    show_references: bool = False,
) -> Study:
    """Draw and freeze a study: the same sources for every system of a direction.

    The sample depends only on the seed and the report folders, not on the order in which they are
    listed. The protocol's own study has 50 for each system and three raters (TSTBench paper,
    section 3.3.2).

    Args:
        results_root: folder with ``<dataset>/<source>-to-<target>/<system>/`` report folders.
        directions: names such as ``yelp/negative-to-positive``.
        systems: names of the systems, as in their reports or folder names; ``None`` takes all
            that a direction has.
        raters: the raters' names; they stay in the folder's ``private.json``.
        out: the study folder, which must not contain a study yet.
        per_system: outputs drawn for each system and direction; ``None``: 50, or all if a test set
            has fewer.
        seed: seed of the sample and of every rater's order.
        name: of the study, as used in the export; the folder's name by default.
        tasks: from :data:`.study.TASKS`: ``protocol`` (style, content, fluency and overall, 1-5),
            ``rating`` (the first three; an overall is derived), and those of Mir et al. (2019):
            ``naturalness`` (which of source and output is more natural), ``naturalness_absolute``
            (1-5), ``style_difference`` (1-5) and ``content_masked`` (content 1-5 with style words
            masked; needs ``masks``).
        masks: for each direction a function that masks the style words of a text, such as one
            returned by :func:`lexicon_mask`.
        show_references: show raters the references beside the output. Only where your protocol
            asks for it: raters then judge how near an output is to what people wrote, and
            recognise a system whose outputs are references.

    Raises:
        UnknownNameError: no such direction, task or system; near misses are named.
        MissingFileError: a direction has no report folders.
        InputError: too few common sentences, systems that disagree on a source, or the study
            already exists.
    """
    out = Path(out)
    if (out / STUDY_FILE).exists():
        message = f"{out} already has a study, and a study is frozen"
        raise InputError(f"{message}: serve it, or choose another folder")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} exists and is not empty: a study needs its own folder")
    if per_system is not None and per_system < 1:
        raise InputError(f"{per_system} outputs per system were requested: at least 1 is needed")
    if not raters:
        raise InputError("a study needs at least one rater")
    chosen = _in_order(tasks)
    if "content_masked" in chosen and set(directions) - set(masks or {}):
        lacking = ", ".join(d for d in directions if d not in (masks or {}))
        raise InputError(
            f"the task content_masked needs a mask for every direction; missing: {lacking}"
        )
    if not directions or len(set(directions)) != len(directions):
        raise InputError(f"give at least one direction, each only once; got {list(directions)}")
    items: list[Item] = []
    bounds: set[str] = set()
    most = 0
    for direction in sorted(directions):
        stored = _find_systems(Path(results_root), parse_direction(direction), systems)
        bounds |= {name for name, one in stored.items() if one.report.system.is_bound}
        outputs = {name: {s.id: s for s in one.samples()} for name, one in stored.items()}
        mask = masks[direction] if masks and "content_masked" in chosen else None
        drawn = _draw(outputs, direction, per_system, seed)
        most = max(most, len(drawn))
        items += _items(outputs, drawn, direction, mask, first=len(items) + 1)
    salt = secrets.token_urlsafe(24)
    alias = pseudonyms(raters, salt)
    study = Study(
        name=name or out.resolve().name,
        seed=seed,
        per_system=most,
        tasks=chosen,
        raters=tuple(f"rater-{i}" for i in range(1, len(raters) + 1)),
        references_shown=show_references,
        bounds=tuple(sorted(bounds)),
        items=tuple(items),
    )
    private = Private(
        salt=salt,
        owner_token=secrets.token_urlsafe(24),
        raters={
            alias[rater]: RaterSecret(name=rater, token=secrets.token_urlsafe(24))
            for rater in sorted(raters, key=alias.__getitem__)
        },
    )
    with atomic_folder(out) as scratch:
        write_study(scratch, study, private)
        Ratings.create(scratch)
    for remark in remarks(study):
        say(remark)
    return study


def remarks(study: Study) -> list[str]:
    """One sentence per thing that could make the ratings mean something else than expected."""
    found = []
    if study.bounds:
        found.append(
            f"bounds in this study: {', '.join(study.bounds)}. They show what raters give to a "
            "copied source or to people's rewrites; they are listed apart from the systems."
        )
    if not study.references_shown or not study.shows_styles:
        return found
    found.append(
        "warning: raters see the references. They then judge how near an output is to what people "
        "wrote; leave the references out unless your protocol asks for them."
    )
    outputs = Counter(system for item in study.items for system in item.systems)
    seen = Counter(s for item in study.items if _is_reference(item) for s in item.systems)
    found += [
        f"warning: {system} is not blind: {count} of its {outputs[system]} outputs equal a "
        "reference that raters see. Leave the references or this system out."
        for system, count in sorted(seen.items())
    ]
    return found


def _is_reference(item: Item) -> bool:
    """Whether a rater would recognise the output: spaces and case do not disguise it."""
    return match_key(item.output) in map(match_key, item.references)


def pseudonyms(names: Collection[str], salt: str) -> dict[str, str]:
    """``rater-1`` to ``rater-n`` in the order of the names' keyed hashes.

    The same names and salt give the same pseudonyms. Without the salt, which is never exported,
    neither the order of invitation nor a list of likely names reveals who is who.

    Args:
        names: unique names of the raters.
        salt: secret; at least 16 characters.

    Raises:
        InputError: a name is repeated or empty, or the salt is too short.
    """
    if len(set(names)) != len(names):
        raise InputError(f"a rater is listed twice: {', '.join(sorted(names))}")
    if not all(name.strip() for name in names):
        raise InputError("a rater's name is empty")
    if len(salt) < 16:
        raise InputError("the salt for pseudonyms needs at least 16 characters")

    def digest(name: str) -> str:
        return hmac.new(salt.encode(), name.encode(), hashlib.sha256).hexdigest()

    return {name: f"rater-{i}" for i, name in enumerate(sorted(names, key=digest), start=1)}


def _in_order(tasks: Collection[str]) -> tuple:
    for task in tasks:
        if task not in TASKS:
            raise unknown_name("task", task, TASKS)
    if {"rating", "protocol"} <= set(tasks):
        raise InputError("the tasks rating and protocol ask the same: choose one of them")
    return tuple(task for task in TASKS if task in tasks)


def _find_systems(
    root: Path, direction: Direction, systems: Sequence[str] | None
) -> dict[str, Stored]:
    """The requested systems by name, sorted."""
    parent = root / direction.dataset / direction.config
    folders = system_folders(parent)
    if not folders:
        raise MissingFileError(
            f"no reports of {direction} in {parent}: evaluate some outputs first, with "
            f"results in {root}"
        )
    named = {}
    for folder in folders:
        try:
            stored = read_whole(folder, complete=False)
        except TSTBenchError as error:
            say(f"left out: {error}")
            continue
        report = stored.report
        if report.system.name in named:
            raise InputError(f"two reports of {report.system.name!r} in {parent}")
        named[report.system.name] = stored
    if not named:
        raise InputError(f"no system's results in {parent} are whole: evaluate them again")
    by_folder = {stored.folder.name: name for name, stored in named.items()}
    wanted = []
    for system in systems if systems is not None else named:
        if system not in named and system not in by_folder:
            raise unknown_name(f"system (of {direction})", system, named)
        wanted.append(system if system in named else by_folder[system])
    if len(set(wanted)) != len(wanted):
        raise InputError(f"a system is listed twice: {', '.join(wanted)}")
    return {name: named[name] for name in sorted(wanted)}


def _draw(
    outputs: dict[str, dict[str, Sample]], direction: str, per_system: int | None, seed: int
) -> list[str]:
    """Ids that every system has, sampled once for all of them."""
    common = sorted(set.intersection(*(set(samples) for samples in outputs.values())))
    count = min(USUAL, len(common)) if per_system is None else per_system
    if not common or len(common) < count:
        raise InputError(
            f"{direction}: {count} outputs per system were requested, but the systems "
            f"({', '.join(outputs)}) have {len(common)} sentences in common. Ask for fewer, or "
            "leave out the system that has too few."
        )
    return random.Random(f"{seed}|sample|{direction}").sample(common, count)


def _items(
    outputs: dict[str, dict[str, Sample]],
    drawn: list[str],
    direction: str,
    mask: Mask | None,
    first: int,
) -> list[Item]:
    """The outputs to judge, cleaned as the metrics clean: raters see no system by its spaces."""
    clean = preparation(language_of(parse_direction(direction))).clean
    items: list[Item] = []
    for sample_id in drawn:
        samples = {system: by_id[sample_id] for system, by_id in outputs.items()}
        given = next(iter(samples.values()))
        for system, sample in samples.items():
            if (sample.source, sample.references) != (given.source, given.references):
                raise InputError(
                    f"{direction}, sample {sample_id}: {system} has a different source or "
                    f"other references than {next(iter(samples))}. Evaluate both on the same data."
                )
        source, *references = clean([given.source, *given.references])
        shared: dict[str, list[str]] = {}
        for system, output in zip(
            samples, clean([s.prediction for s in samples.values()]), strict=True
        ):
            shared.setdefault(output, []).append(system)
        for output, systems in shared.items():
            pair = None if mask is None else MaskedPair(source=mask(source), output=mask(output))
            items.append(
                Item(
                    id=f"item-{first + len(items)}",
                    direction=direction,
                    sample_id=sample_id,
                    source=source,
                    references=tuple(references),
                    output=output,
                    systems=tuple(systems),
                    masked=pair,
                )
            )
    return items


def lexicon_mask(words: Collection[str]) -> Mask:
    """A function that replaces the lexicon's words, whole and in any case, by one mask.

    Source: Mir et al. (2019), section 4.3, "style masking".

    Raises:
        InputError: the lexicon is empty.

    >>> lexicon_mask(["great", "not bad"])("Great food , greater than not bad")
    '⟨style⟩ food , greater than ⟨style⟩'
    """
    longest_first = sorted({w.strip() for w in words if w.strip()}, key=lambda w: (-len(w), w))
    if not longest_first:
        raise InputError("the style lexicon is empty: nothing would be masked")
    either = "|".join(re.escape(word) for word in longest_first)
    pattern = re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)
    return lambda text: pattern.sub(MASK, text)
