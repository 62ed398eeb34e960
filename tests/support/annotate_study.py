"""Report folders and studies for the tests of the annotation page."""

from multiprocessing.connection import Connection
from pathlib import Path

from leaderboard_results import report, sample

from tstbench.pipelines.report import write_report
from tstbench.spaces.annotate import create_study, links
from tstbench.spaces.annotate.service import Service

DIRECTION = "mini/negative-to-positive"
SENTENCES = [
    (f"the {thing} was slow and dull .", (f"the {thing} was quick and bright .",))
    for thing in ("train", "meal", "film", "lamp", "clerk", "song", "road", "game")
]


def write_reports(root: Path, systems, direction=DIRECTION, sentences=SENTENCES, families=()):
    """One report folder a system; ``systems`` maps names to functions of source and references.

    ``families`` maps a system to its family, where it has one.
    """
    families = dict(families)
    for name, rewrite in systems.items():
        samples = [
            sample(number, source, rewrite(source, references), references)
            for number, (source, references) in enumerate(sentences)
        ]
        one = report(name, {}, direction, info={"family": families.get(name, "unknown")})
        write_report(root / direction / name.lower(), one, samples)
    return root


SYSTEMS = {
    "Parrot": lambda source, references: source,
    "Thesaurus": lambda source, references: source.replace("slow", "quick"),
    "Oracle9": lambda source, references: references[0],
    "Twin9": lambda source, references: references[0],
    "Silent": lambda source, references: "" if "meal" in source else source.replace("dull", "gay"),
}
RATERS = ["Ann Archer", "Ben Baker", "Cleo Carr"]
GOOD = {"scores": {"style": 4, "content": 3, "fluency": 5, "overall": 4}}


def keys(folder):
    """Rater name to key; the owner's under the empty name."""
    all_links = links(folder, "http://x")
    return {n: u.split("key=")[1] for n, u in {"": all_links.owner, **all_links.raters}.items()}


def make(results, out, **changes):
    settings = {"per_system": 6, "seed": 1, **changes}
    return create_study(results, [DIRECTION], None, RATERS, out, **settings)


WAITING = [(rater, number) for number in range(6) for rater in RATERS]


def answer(service, which):
    """Save one of the answers that raters have still to give."""
    rater, number = WAITING[which]
    scores = {"style": 1 + number % 5, "content": 3, "fluency": 5, "overall": 4}
    service.save(keys(service.folder)[rater], number, {"scores": scores})


def answer_next(folder, orders: Connection):
    """In a process of its own: save the answer of each order, and confirm it."""
    service = Service(folder)
    while True:
        answer(service, orders.recv())
        orders.send("saved")
