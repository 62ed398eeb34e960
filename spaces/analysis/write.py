"""An analysis as a folder: written whole or not at all, and the same bytes each time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...console import say
from ...datasets_scripts.catalog import DIRECTIONS, as_direction
from ...datasets_scripts.judgments.own import read_study
from ...datasets_scripts.judgments.schema import Judgment
from ...errors import InputError, TSTBenchError
from ...files import atomic_folder, check_free, write_bytes, write_json, write_text
from ...pipelines.analysis.correlation import over_directions
from ...pipelines.analysis.data import DirectionResults, HumanAspect, human_aspects, read_run
from ...pipelines.analysis.style_space import style_maps
from ...pipelines.analysis.trade_off import Axis, axis_named, named_axes, parse_joined
from ...plots.canvas import Picture, picture
from ...version import __version__
from .correlation_items import correlation_item
from .direction_items import direction_items
from .items import Item
from .page import Section, report_page
from .space_items import REFERENCES, TEST_SENTENCES, space_item

MANIFEST = "analysis.json"
PAGE = "index.html"
HUMAN = "human.jsonl"
ALL = "all directions"


@dataclass(frozen=True, kw_only=True)
class AnalysisOptions:
    """What to analyse, and how.

    Attributes:
        directions, systems: names; by default all.
        human: files of judgments beside the folder's own ``human.jsonl``.
        joined: ``NAME=SYSTEM,SYSTEM``: settings of one system.
        classifier: whose space of styles is drawn.
        style_map: whether it is drawn.
        planes: names of two axes each.
        raw_ppl: whether perplexity enters correlations as it is, not as its logarithm.
    """

    directions: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    human: tuple[Path, ...] = ()
    joined: tuple[str, ...] = ()
    classifier: str | None = None
    style_map: bool = True
    planes: tuple[tuple[str, str], ...] = ()
    raw_ppl: bool = False


@dataclass(frozen=True, kw_only=True)
class Written:
    """What was written.

    Attributes:
        sections: one for each direction, and one of all if there are several.
        directions: what was read.
        aspects: what people judged, by direction.
    """

    folder: Path
    sections: tuple[Section, ...]
    directions: tuple[DirectionResults, ...]
    aspects: tuple[tuple[HumanAspect, ...], ...]


def write_analysis(root: Path, out: Path, options: AnalysisOptions) -> Written:
    """Analyse a results folder, which stays as it is, and write the analysis.

    Args:
        root: the results.
        out: the folder to write, as a whole; only one that this function wrote is replaced.
        options: what to analyse.

    Raises:
        InputError: no results; a folder of somebody's; judgments that are none.
        MissingFileError: a folder or file does not exist.
        UnknownNameError: a direction, a system or an axis that is not there.
    """
    directions = read_run(root, options.directions, options.systems)
    names = dict.fromkeys(r.system.name for d in directions for r in d.reports)
    joined = parse_joined(options.joined, list(names))
    judgments = _judgments(root, options.human, directions)
    aspects = [human_aspects(judgments, results) for results in directions]
    axes: dict[str, Axis] = {}
    for two in zip(directions, aspects, strict=True):
        axes |= named_axes(*two)
    for plane in options.planes:
        for name in plane:
            axis_named(name, axes)
    _check_out(root, out)  # it locks: mistakes are found before, what takes long comes after
    sections = []
    for results, some in zip(directions, aspects, strict=True):
        say(f"{results.name}: {_count(len(results.reports), 'system')}")
        section = _section(results, some, joined, options)
        back = as_direction(results.name).reverse.name
        if options.style_map and not any(back == d.name for d in directions):
            none = "" if back in DIRECTIONS else ", a direction that the dataset does not have"
            word = f"maps of both styles: they need results of {back} too{none}"
            section = replace(section, missing=(*section.missing, word))
        sections.append(section)
    sections += _both_ways(directions, options)
    if len(directions) > 1:
        together = _together(directions, aspects, raw_ppl=options.raw_ppl)
        sections += [together] if together else []
    written = Written(
        folder=out,
        sections=tuple(sections),
        directions=tuple(directions),
        aspects=tuple(aspects),
    )
    _write(written)
    return written


def is_analysis(folder: Path, manifest: str = MANIFEST) -> bool:
    """Whether a folder has only what :func:`write_analysis` wrote there.

    Args:
        folder: any.
        manifest: the file in it whose ``files`` names the others.
    """
    try:
        listed = set(json.loads((folder / manifest).read_bytes())["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    found = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    return found <= {*listed, manifest}


def _check_out(root: Path, out: Path) -> None:
    """Before anything is computed: may the folder be written, and is it apart from the results?"""
    inside = out.resolve()
    if inside == root.resolve() or inside in root.resolve().parents:
        raise InputError(
            f"--out {out}: the analysis needs a folder of its own, such as {root}/analysis"
        )
    check_free(out, is_analysis)


def _judgments(
    root: Path, more: Sequence[Path], directions: Sequence[DirectionResults]
) -> list[Judgment]:
    own = root / HUMAN
    found = read_study(own) if own.is_file() else []
    for file in more:
        rows = _read(file)
        if not any(human_aspects(rows, results) for results in directions):
            systems = ", ".join(dict.fromkeys(row.system for row in rows))
            about = ", ".join(dict.fromkeys(row.direction for row in rows))
            say(
                f"{file}: none of its {len(rows)} scores is of a system and a direction in these "
                f"results: it has {systems} on {about}"
            )
        found += rows
    return found


def _read(file: Path) -> list[Judgment]:
    """Somebody's file: our lines, or a table with our columns."""
    try:
        return read_study(file)
    except InputError as error:
        if file.suffix in (".jsonl", ".json"):
            raise
        raise InputError(
            f"{error}. Another table is read by 'tstbench judgments {file} --out "
            f"{file.with_suffix('.jsonl')}', with --column, --direction and --scale; give its file "
            "to --human"
        ) from error


def _section(
    results: DirectionResults,
    aspects: Sequence[HumanAspect],
    joined: Mapping[str, Sequence[str]],
    options: AnalysisOptions,
) -> Section:
    items, missing = direction_items(
        results,
        aspects,
        joined,
        classifier=options.classifier,
        style_map=options.style_map,
        planes=options.planes,
        raw_ppl=options.raw_ppl,
    )
    ranked = sum(not r.system.is_bound for r in results.reports)
    judged = f", judged by people: {', '.join(a.title for a in aspects)}" if aspects else ""
    others = sum(a.other_texts for a in aspects)
    cautions = list(results.cautions)
    if others:
        cautions.append(
            f"{others} human scores are of a text that is not the one in these results: left out."
        )
    return Section(
        name=results.name,
        folder=results.name,
        says=(
            f"{_count(ranked, 'system')}, {_count(len(results.reports) - ranked, 'bound')}, "
            f"{_count(results.reports[0].data.sentences, 'sentence')}{judged}."
        ),
        cautions=tuple(cautions),
        missing=tuple(missing),
        items=_drawn(items),
    )


def _together(
    directions: Sequence[DirectionResults],
    aspects: Sequence[Sequence[HumanAspect]],
    *,
    raw_ppl: bool,
) -> Section | None:
    item = correlation_item(over_directions(directions, aspects, raw_ppl=raw_ppl), ALL)
    if item is None:
        return None
    return Section(
        name=ALL[0].upper() + ALL[1:],
        folder="all",
        says="What holds across directions: only places within a direction are compared.",
        items=_drawn([item]),
    )


def _both_ways(directions: Sequence[DirectionResults], options: AnalysisOptions) -> list[Section]:
    """The paper's maps of styles, for every two opposite directions that have sentences."""
    if not options.style_map:
        return []
    found = []
    by_name = {d.name: d for d in directions if d.samples}
    for number, there in enumerate(directions):
        direction = as_direction(there.name)
        ahead = [d.name for d in directions[number:]]
        if there.name not in by_name or direction.reverse.name not in {*by_name} & {*ahead}:
            continue
        name = f"{direction.dataset}/{direction.source_style}-and-{direction.target_style}"
        say(f"{name}: laying out both styles (t-SNE, some seconds)")
        items, missing = [], []
        try:
            spaces = style_maps(there, by_name[direction.reverse.name], options.classifier)
            for kind, space in zip((TEST_SENTENCES, REFERENCES), spaces, strict=True):
                items.append(space_item(kind, name, space))
        except TSTBenchError as error:
            if options.classifier:
                raise
            missing.append(f"maps of both styles: {error}")
        found.append(
            Section(
                name=name,
                folder=name,
                says="Where the two styles lie, by test sentences and by people's rewrites.",
                missing=tuple(missing),
                items=_drawn(items),
            )
        )
    return found


def _drawn(items: Sequence[Item]) -> tuple[tuple[Item, Picture], ...]:
    return tuple((item, picture(item.draw)) for item in items)


def _write(written: Written) -> None:
    title = "Analysis of text style transfer results"
    count = len(written.directions)
    systems = {
        r.system.name for d in written.directions for r in d.reports if not r.system.is_bound
    }
    lead = (
        f"{_count(len(systems), 'system')} on {_count(count, 'direction')}. Intervals are 95%; "
        "numbers stand side by side only where their signatures are equal."
    )
    with atomic_folder(written.folder, ours=is_analysis) as folder:
        for section in written.sections:
            for item, drawn in section.items:
                base = folder / section.folder / item.name
                write_picture(base, drawn)
                write_text(base.with_name(f"{item.name}.csv"), item.csv)
                write_text(base.with_name(f"{item.name}.md"), item.markdown)
                write_text(base.with_name(f"{item.name}.tex"), item.latex)
        page = report_page(title, lead, written.sections, __version__)
        write_text(folder / PAGE, page)
        files = {
            path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        reports = {
            f"{d.name}/{r.system.name}": r.outputs_sha256
            for d in written.directions
            for r in d.runs
        }
        write_json(
            folder / MANIFEST,
            {
                "written_by": "tstbench analyze",
                "tstbench": __version__,
                "outputs": reports,
                "files": files,
            },
        )


def write_picture(base: Path, drawn: Picture) -> None:
    """Write ``base.png`` and ``base.svg``."""
    write_bytes(base.with_name(f"{base.name}.png"), drawn.png)
    write_bytes(base.with_name(f"{base.name}.svg"), drawn.svg)


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"
