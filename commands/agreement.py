"""Print how far raters agree: Fleiss' kappa and Krippendorff's alpha, with 95% intervals.

STUDY is an export of the annotation page, a table of your own with a column 'rater', or a
published study with single ratings (pauli2025). See docs/human_evaluation.md.

Examples:
  tstbench agreement ratings.jsonl
  tstbench agreement ratings.jsonl --by-system --tau 3 2    # as Tables 5 and 6 of Mir et al. (2019)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..console import say
from ..errors import InputError
from .arguments import Arguments, Parser
from .judgments import add_layout_arguments, read_layout, read_studies

if TYPE_CHECKING:
    from ..datasets_scripts.judgments.schema import Judgment
    from ..pipelines.human import Agreement, Coefficient

_HEADER = ("study", "direction", "system", "aspect", "raters", "outputs", "kappa", "alpha")


def add_arguments(parser: Parser) -> None:
    """Add the studies, and what is computed apart."""
    parser.add_argument("studies", nargs="+", metavar="STUDY")
    add_layout_arguments(parser)
    parser.switch("--by-system", "for each system, and the mean of their kappas, bounds left out")
    parser.several(
        "--tau",
        "N",
        "naturalness from 1 to 5 also as a choice, natural from N on, to compare with the "
        "relative one",
        type=int,
    )
    parser.count("--resamples", "of intervals (default: 1000; by system 0, none)")


def run(arguments: Arguments) -> None:
    """One row for each direction, all directions if there are several, and aspect."""
    from ..metrics.statistics import FEWEST
    from ..pipelines.human import natural_from
    from ..pipelines.tables import print_rows

    resamples = arguments.resamples
    if resamples is None:
        resamples = 0 if arguments.by_system else 1000
    if resamples < 0:
        raise InputError(f"--resamples {resamples}: at least 0 (no intervals)")
    rows = read_studies(arguments.studies, read_layout(arguments, arguments.studies))
    if not rows:
        raise InputError(f"no judgments in {', '.join(arguments.studies)}: nobody has answered yet")
    choices = [row for tau in arguments.tau for row in natural_from(rows, tau)]
    if arguments.tau and not choices:
        raise InputError("--tau: nobody was asked for naturalness from 1 to 5 (naturalness)")
    found = [
        line
        for study in dict.fromkeys(row.study for row in rows)
        for line in _of_study(
            study,
            [row for row in (*rows, *choices) if row.study == study],
            arguments.by_system,
            resamples,
        )
    ]
    if all(line[-2:] == ("-", "-") for line in found):
        say("no output has scores of two raters that differ: there is no agreement to compute")
    if resamples and any(line[-1] not in ("", "-") and "[" not in line[-1] for line in found):
        say(f"there is no interval of fewer than {FEWEST} outputs")
    print_rows(_HEADER, found)


def _of_study(
    study: str, rows: Sequence[Judgment], by_system: bool, resamples: int
) -> Iterator[tuple[str, ...]]:
    from ..pipelines.human import agreement
    from ..pipelines.report import is_bound_name

    several = len({row.direction for row in rows}) > 1
    for pooled in (False, True) if several else (False,):
        if not by_system:
            for one in agreement(_once(rows), pooled=pooled, resamples=resamples):
                yield _line(study, "", one)
            continue
        kappas: dict[tuple[str | None, str], list[float]] = {}
        for system in sorted({row.system for row in rows}):
            own = [row for row in rows if row.system == system]
            for one in agreement(own, pooled=pooled, resamples=resamples):
                yield _line(study, system, one)
                if one.kappa.value is not None and not is_bound_name(system):
                    kappas.setdefault((one.direction, one.aspect), []).append(one.kappa.value)
        for (direction, aspect), values in kappas.items():
            mean = f"{sum(values) / len(values):.3f}"
            yield study, direction or "all", "average", aspect, "", "", mean, ""


def _once(rows: Sequence[Judgment]) -> list[Judgment]:
    """An output that several systems share was judged once, and an export has it for each."""
    given: dict[tuple[str | None, ...], list[Judgment]] = {}
    for row in rows:
        text = row.output or row.system
        key = (row.aspect, row.direction, row.sample_id or row.item, text, row.system)
        given.setdefault(key, []).append(row)
    alike = {
        (*key[:-1], *sorted((one.rater, str(one.score)) for one in some)): some
        for key, some in given.items()
    }
    return [row for some in alike.values() for row in some]


def _line(study: str, system: str, one: Agreement) -> tuple[str, ...]:
    kappa, alpha = one.kappa, one.alpha
    outputs = f"{kappa.items}/{alpha.items}" if kappa.items != alpha.items else f"{alpha.items}"
    where = one.direction or "all"
    return (
        *(study, where, system, one.aspect),
        *(str(len(one.raters)), outputs, _cell(kappa), _cell(alpha)),
    )


def _cell(found: Coefficient) -> str:
    if found.value is None:
        return "-"
    some = found.interval
    return f"{found.value:.3f}" + (f" [{some.low:.2f}, {some.high:.2f}]" if some else "")
