"""Every package that `make install` takes is pinned and checked against its hash."""

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from importlib.metadata import distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from places import ROOT

PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)(?: ; .*?)?(?: \\)?$", re.M)
HASH = re.compile(r" +--hash=sha256:[0-9a-f]{64}(?: \\)?")
OWN = {"tstbench", "pip"}  # ours, and what the environment comes with


def pins() -> dict[str, str]:
    found = PIN.findall((ROOT / "constraints.txt").read_text())
    return {one_name(name): version for name, version in found}


def one_name(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def test_every_pin_has_hashes():
    content = (ROOT / "constraints.txt").read_text()
    _, *blocks = re.split(
        r"^(?=[A-Za-z0-9])", re.sub("^#.*\n", "", content, flags=re.M), flags=re.M
    )
    assert len(blocks) == len(pins()) > 150
    for block in blocks:
        first, *hashes = block.rstrip("\n").split("\n")
        assert first.endswith(" \\"), first
        assert hashes, first
        assert all(HASH.fullmatch(line) for line in hashes), first


def test_what_is_installed_is_what_is_pinned():
    """In the environment that `make install` made; another one has no such promise."""
    if not (Path(sys.prefix) / ".stamp").exists():
        pytest.skip("this environment was not made by `make install`")
    pinned = pins()
    installed = {one_name(d.name): d.version.split("+")[0] for d in distributions()}
    others = {name: v for name, v in installed.items() if name not in OWN and name in pinned}
    assert others == {name: pinned[name] for name in others}
    assert len(others) > 150


def test_the_installation_checks_every_hash():
    """Whatever takes a file from an index checks it, but for CUDA's libraries."""
    makefile = (ROOT / "Makefile").read_text()
    (pinned,) = re.findall(r"^PINNED := (.*)$", makefile, re.M)
    assert {"--require-hashes", "--no-deps", "--no-build-isolation"} <= set(pinned.split())
    free = [line for line in makefile.splitlines() if "\t$(PIP) install" in line]
    free = [line for line in free if not {"--require-hashes", "--no-deps"} <= set(line.split())]
    assert [line.split()[-1] for line in free] == [".", "$(TORCH)"]
    assert "--no-deps -e ." in free[0]


def test_whatever_environment_is_active_the_makefiles_own_is_filled():
    make = ["make", "-s", "--eval", "where:; @echo $$VIRTUAL_ENV", "where", "VENV=/tmp/other"]
    active = {**os.environ, "VIRTUAL_ENV": "/tmp/active"}
    done = subprocess.run(make, cwd=ROOT, env=active, capture_output=True, text=True, check=True)
    assert done.stdout == "/tmp/other\n"


def test_the_core_is_listed_first():
    """`make demo` takes no more: all that the core needs on this machine, and not PyTorch."""
    core, extras = (ROOT / "constraints.txt").read_text().split("# Only for extras.\n")
    assert "tstbench run demo" in (ROOT / "Makefile").read_text().split("demo: $(VENV)/.core")[1]
    names = {one_name(name) for name, _ in PIN.findall(core)}
    needed = {"tstbench"}
    while (
        new := {
            one_name(need.name)
            for name in needed
            for line in requires(name) or []
            if (need := Requirement(line)).marker is None or need.marker.evaluate({"extra": ""})
        }
        - needed
    ):
        needed |= new
    assert needed - {"tstbench"} <= names
    assert {one_name(name) for name, _ in PIN.findall(extras)} >= {
        "torch",
        "gradio",
        "transformers",
    }


@pytest.mark.slow
def test_a_changed_file_is_refused(tmp_path):
    """The options of the Makefile, tried on a wheel of our own: it is taken, then no more."""
    wheel = tmp_path / "tiny-1.0-py3-none-any.whl"

    def make(code: str) -> None:
        about = "tiny-1.0.dist-info"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("tiny.py", code)
            archive.writestr(
                f"{about}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n"
            )
            archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            archive.writestr(f"{about}/RECORD", "")

    makefile = (ROOT / "Makefile").read_text()
    (options,) = re.findall(r"^PINNED := \S+ (pip install .*)$", makefile, re.M)
    uv = Path(sys.executable).with_name("uv")
    where = ["--no-cache", "--no-index", "--find-links", tmp_path, "-r", "pins.txt"]

    def install(target: str) -> subprocess.CompletedProcess[str]:
        command = [uv, *options.split(), *where, "--python", sys.executable, "--target", target]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    make("good = True")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (tmp_path / "pins.txt").write_text(f"tiny==1.0 --hash=sha256:{digest}\n")
    assert install("first").returncode == 0
    make("good = False")
    refused = install("second")
    assert refused.returncode == 1
    assert "Hash mismatch" in refused.stderr
