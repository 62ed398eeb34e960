"""The published studies of human judgments, and what training must not see of a study.

Test sets are always left out of training. Sentences of a study may come from elsewhere: Mir et
al.'s (2019) inputs are validation sentences of Yelp, on which the embedded profile trains. They
stay in the default scorers, whose hashes are in published results; a scorer that is to be compared
with people is trained without them, under a name of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from ...console import say
from ...errors import InputError, TSTBenchError, unknown_name
from ...files import read_lines
from ..sources import BENCHMARK, LI_2018, MIR_2019, PAULI_2025
from .own import read_study
from .schema import Judgment


@dataclass(frozen=True, kw_only=True)
class Study:
    """One published study.

    Attributes:
        name: the same in every row; that of the module whose ``judgments`` reads them.
        citation: authors, year and title.
        repository: where the ratings are from, on GitHub.
        licence: of the ratings; empty if the authors state none.
        terms: what that means for a copy of the rows, in one sentence.
        provenance: how the ratings were made and joined, and what to beware of.
    """

    name: str
    citation: str
    repository: str
    licence: str
    terms: str
    provenance: str

    def judgments(self) -> list[Judgment]:
        """All rows, read from the pinned files.

        Raises:
            MissingFileError, IntegrityError: see :func:`~..sources.fetch`.
            InputError: a file is not as its reader expects.
        """
        found: list[Judgment] = import_module(f".{self.name}", __package__).judgments()
        return found

    def __str__(self) -> str:
        """Citation, licence and provenance, for people."""
        return f"{self.citation} {self.terms} {self.provenance}"


_ALL = (
    Study(
        name="li2018",
        citation='Li, Jia, He and Liang (2018), "Delete, Retrieve, Generate".',
        repository=LI_2018,
        licence="CC-BY-SA-4.0",
        terms="CC BY-SA 4.0: if you share the rows, credit the authors and keep the licence.",
        provenance="Eight systems on 400 Yelp sentences, style, content and fluency from 1 to 5, "
        "one Mechanical Turk worker for each sentence, so that no agreement of raters can be "
        "computed. Joined to the released outputs by text; 58 of the 9,600 judgments are of a text "
        "that was shown more than once and rated differently: the last rating counts, and a note "
        "lists all. Ids of workers are left out.",
    ),
    Study(
        name="mir2019",
        citation='Mir, Felbo, Obradovich and Rahwan (2019), "Evaluating Style Transfer for Text".',
        repository=MIR_2019,
        licence="",
        terms="The authors state no licence; the sentences are Yelp's, under its dataset terms.",
        provenance="Twelve settings of three models on 244 Yelp sentences, means of three "
        "Mechanical Turk workers: difference of style, content with style words masked, "
        "naturalness (absolute, and relative to the source as a majority). Line-aligned with the "
        "outputs. Single ratings are not published. The raters' content scores are of masked "
        "texts, which are not the texts in these rows.",
    ),
    Study(
        name="pauli2025",
        citation="Pauli, Augenstein and Assent (2025), style-aware content preservation.",
        repository=PAULI_2025,
        licence="CC-BY-4.0",
        terms="CC BY 4.0: if you share the rows, credit the authors.",
        provenance="200 rewrites constructed for the study, half of them with a change of "
        "meaning hidden in the change of style (the column condition), three raters each, style "
        "and content from 1 to 5. Ids of people are replaced by pseudonyms.",
    ),
    Study(
        name="tstbench2025",
        citation="The TSTBench paper (2025), human evaluation.",
        repository=BENCHMARK,
        licence="",
        terms="The authors state no licence; the rows have no text.",
        provenance="8 to 13 systems on 50 sentences of each of seven directions, averages of the "
        "raters: style, content, fluency, overall. Which sentences is not published, so only means "
        "of systems can be compared with anything else; the column item is the place in the "
        "published list. Only the public outputs of ChatGPT are certainly the rated ones (the "
        "column certain).",
    ),
)
STUDIES: dict[str, Study] = {study.name: study for study in _ALL}


def parse_study(name: str) -> Study:
    """The study with that name; raises :class:`UnknownNameError` with near misses."""
    if name not in STUDIES:
        raise unknown_name("study", name, STUDIES)
    return STUDIES[name]


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
