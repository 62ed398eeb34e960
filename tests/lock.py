"""Writes constraints.txt: the versions everything is tested with, and SHA-256 of their files.

    make lock                     what pyproject.toml asks for today; pinned versions stay
    make lock LOCK=--upgrade      the newest versions that fit together

Hashes are of the files on PyPI, for every platform and Python; the pins hold for all of them. Of
PyTorch, what pip downloads here is added: builds for the CPU come from an index of their own. Its
CUDA libraries are not listed, since the one file serves machines with and without a GPU
(``[tool.uv]`` in pyproject.toml). The core's packages come first: `make demo` takes no others.
"""

import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "constraints.txt"
OLDEST = "3.11.2"  # Debian 12
HEADER = "# Written by `make lock`. Installed by `make install`, which checks every hash.\n"
EXTRAS = "# Only for extras.\n"  # `make demo` reads up to here
TORCH = re.compile(r"^torch==(?P<version>\S+) \\\n(?P<hashes>(?:    --hash=\S+(?: \\)?\n)+)", re.M)


def main() -> None:
    """Write the file anew; further arguments go to ``uv pip compile``."""
    before = TORCH.search(LOCK.read_text())
    compiled("--extra", "dev", "--generate-hashes", "-o", LOCK.name, *sys.argv[1:])
    content = LOCK.read_text()
    after = TORCH.search(content)
    if after is None:
        raise SystemExit("constraints.txt has no torch with hashes: is it still in pyproject.toml?")
    hashes = set(re.findall(r"--hash=(\S+)", after["hashes"])) | downloaded(after["version"])
    if before and before["version"] == after["version"]:
        hashes |= set(re.findall(r"--hash=(\S+)", before["hashes"]))
    lines = " \\\n".join(f"    --hash={one}" for one in sorted(hashes))
    torch = f"torch=={after['version']} \\\n{lines}\n"
    content = content[: after.start()] + torch + content[after.end() :]
    core = {line.split("==")[0] for line in compiled("-c", LOCK.name).splitlines()}
    packages = re.findall(r"^\S.*\n(?: .*\n)*", content, re.M)
    first = [lines for lines in packages if lines.split("==")[0] in core]
    rest = [lines for lines in packages if lines.split("==")[0] not in core]
    LOCK.write_text("".join([HEADER, *first, EXTRAS, *rest]))


def compiled(*options: str | Path) -> str:
    """What uv says of pyproject.toml, for any platform and the oldest Python."""
    command = [Path(sys.executable).with_name("uv"), "pip", "compile", "pyproject.toml"]
    plain = ["--universal", "--no-annotate", "--no-header", "--python-version", OLDEST, "--quiet"]
    done = subprocess.run(
        [*command, *plain, *options], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


def downloaded(version: str) -> set[str]:
    """The hash of the file that pip takes on this machine."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder]
        subprocess.run([*pip, f"torch=={version}"], check=True)
        return {
            f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"
            for file in Path(folder).iterdir()
        }


if __name__ == "__main__":
    main()
