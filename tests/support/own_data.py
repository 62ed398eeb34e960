"""A small dataset of our own writing, as a newcomer would lay it out."""

import json
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

FILES = 'test = { sources = "test.txt", references = ["anna.txt", "ben.txt"] }'
TRAIN = '[train]\nrude = "rude.txt"\npolite = "polite.txt"\n'

THREE = """\
name = "tones"
styles = ["rude", "polite", "poetic"]
language = "de-AT"

[train]
rude = "a.txt"
polite = "b.txt"
poetic = "c.txt"

[test]
rude = "ta.txt"
polite = "tb.txt"

[[direction]]
from = "rude"
to = "poetic"

[[direction]]
from = "rude"
to = "polite"
test = { sources = "own.txt", references = "own.ref.txt" }

[[direction]]
from = "polite"
to = "poetic"
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


def write_tables(folder: Path) -> None:
    """The same sentences as columns: test.jsonl, train.csv."""
    rows = [
        {"key": 7, "r": TEST[0], "p": [ANNA[0], BEN[0]], "one": ANNA[0]},
        {"key": 9, "r": TEST[1], "p": [ANNA[1]], "one": None},
    ]
    (folder / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    csv = [f'"{text}",{k}' for k, texts in enumerate((RUDE, POLITE)) for text in texts]
    (folder / "train.csv").write_text("\n".join(["sentence,label", *csv, "neither,2"]) + "\n")


def replaced(*pairs: tuple[str, str]) -> str:
    """The data file with these pieces put in the place of others, which must be there."""
    text = MANNERS
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def write_tones(folder: Path) -> Path:
    """Three styles, in another language, and the data file; returns its path."""
    texts = {
        "a": ["Hau  ab !", "Gib her ."],
        "b": ["Bitte gehen Sie .", "Darf ich ?"],
        "c": ["O zieh dahin !", "Still ruht der See ."],
        "ta": ["Weg da !", "Gib  her ."],
        "tb": ["Wären Sie so nett ?"],
        "own": ["Was willst du ?"],
        "own.ref": ["Womit kann ich dienen ?"],
    }
    for name, lines in texts.items():
        write_lines(folder / f"{name}.txt", lines)
    path = folder / "tones.toml"
    path.write_text(THREE, encoding="utf-8")
    return path
