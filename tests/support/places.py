"""Where things are, for tests wherever they stand."""

from pathlib import Path

SUPPORT = Path(__file__).resolve().parent
TESTS = SUPPORT.parent
GOLDEN = TESTS / "golden"
ROOT = TESTS.parent
