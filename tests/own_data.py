"""A small dataset of our own writing, as a newcomer would lay it out."""

from pathlib import Path

RUDE = ("Give me the salt.", "Move.", "You are wrong.", "Shut the door.", "Answer me now.")
POLITE = (
    "Could you pass the salt, please?",
    "Would you mind moving?",
    "I see it differently.",
    "Please close the door.",
)
TEST = ("Bring me the bill.", "Move .")  # the second is in RUDE too, with other spaces
ANNA = ("Could you bring the bill, please?", "would you mind  moving?")  # and this in POLITE
BEN = ("May I have the bill?", "")

MANNERS = """\
name = "manners"
styles = ["rude", "polite"]
licence = "cc0-1.0"

[train]
rude = "rude.txt"
polite = "polite.txt"

[[direction]]
from = "rude"
to = "polite"
test = { sources = "test.txt", references = ["anna.txt", "ben.txt"] }
"""


def write_lines(path: Path, lines) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_manners(folder: Path, text: str = MANNERS) -> Path:
    """The files and the data file; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"rude": RUDE, "polite": POLITE, "test": TEST, "anna": ANNA, "ben": BEN}
    for name, lines in texts.items():
        write_lines(folder / f"{name}.txt", lines)
    path = folder / "manners.toml"
    path.write_text(text, encoding="utf-8")
    return path
