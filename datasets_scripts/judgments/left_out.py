"""What training must not see: sentences on which people judged, where metrics are judged too.

Test sets are always left out of training. Sentences of a study may come from elsewhere: Mir et
al.'s (2019) inputs are validation sentences of Yelp, on which the embedded profile trains. They
stay in the default scorers, whose hashes are in published results; a scorer that is to be compared
with people is trained without them, under a name of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...errors import InputError, TSTBenchError, unknown_name
from ...files import read_lines
from ...talk import say
from .own import read_study
from .schema import Judgment
from .studies import STUDIES

ALL = "studies"  # every published study at hand
_TABLES = (".csv", ".tsv", ".jsonl")


def sentences_left_out(names: Iterable[str]) -> tuple[str, ...]:
    """The sentences that training is to leave out, each once.

    Args:
        names: a published study, ``studies`` for all that are at hand, or a study of the user's
            (CSV or JSON Lines, see :func:`~.own.read_study`), of which the sources are taken; or
            a text file, one sentence a line.

    Raises:
        UnknownNameError: neither a study nor a file.
        MissingFileError: no such file, or a published study that is not at hand.
        InputError: a study without sentences, or an empty file.
    """
    found: dict[str, None] = {}
    for name in names:
        found.update(dict.fromkeys(_of_all() if name == ALL else _of(name)))
    return tuple(found)


def _of_all() -> list[str]:
    found: list[str] = []
    for study in STUDIES.values():
        try:
            found += _sources(study.judgments())
        except TSTBenchError as error:
            say(f"{study.name} is not at hand, so its sentences are not left out: {error}")
    return found


def _of(name: str) -> list[str]:
    path = Path(name)
    if name in STUDIES:
        found = _sources(STUDIES[name].judgments())
    elif not path.exists() and not path.suffix and path.name == name:
        raise unknown_name("study or file of --without", name, (*STUDIES, ALL))
    elif path.suffix in _TABLES:
        found = _sources(read_study(path))
    else:
        found = [line for line in read_lines(path) if line.strip()]
    if not found:
        what = "no sentence in it" if name not in STUDIES else "its sentences were not published"
        raise InputError(f"--without {name}: {what}")
    return found


def _sources(judgments: Iterable[Judgment]) -> list[str]:
    """The inputs. An output that some system copied from the training data is no secret of it."""
    return list(dict.fromkeys(row.source for row in judgments if row.source))
