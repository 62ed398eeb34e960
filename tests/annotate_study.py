"""Report folders and studies for the tests of the annotation page."""

from pathlib import Path

from tstbench.pipelines.report import DataInfo, Report, Sample, SystemInfo, write_report

DIRECTION = "mini/negative-to-positive"
SENTENCES = [
    (f"the {thing} was slow and dull .", (f"the {thing} was quick and bright .",))
    for thing in ("train", "meal", "film", "lamp", "clerk", "song", "road", "game")
]


def write_reports(root: Path, systems, direction=DIRECTION, sentences=SENTENCES):
    """One report folder a system; ``systems`` maps names to functions of source and references."""
    dataset, config = direction.split("/")
    for name, rewrite in systems.items():
        samples = [
            Sample(
                id=f"s{number}",
                source=source,
                references=references,
                prediction=rewrite(source, references),
                scores={},
            )
            for number, (source, references) in enumerate(sentences)
        ]
        report = Report(
            tstbench="0",
            direction=direction,
            profile="embedded",
            system=SystemInfo(name=name),
            data=DataInfo(
                fingerprint="0" * 64,
                cleaning="none",
                sentences=len(samples),
                references_min=1,
                references_max=1,
            ),
            outputs_sha256="0" * 64,
            scores=(),
        )
        write_report(root / dataset / config / name.lower(), report, samples)
    return root


SYSTEMS = {
    "Parrot": lambda source, references: source,
    "Thesaurus": lambda source, references: source.replace("slow", "quick"),
    "Oracle9": lambda source, references: references[0],
    "Twin9": lambda source, references: references[0],
    "Silent": lambda source, references: "" if "meal" in source else source.replace("dull", "gay"),
}
