"""One command under fire again and again: what the tests share."""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from .commands import Command
from .compare import Tree, differences, is_temporary, litter, tree_of
from .kill import Ended, Fault, Place, run

ROUNDS = int(os.environ.get("TSTBENCH_FAULTS", "2"))
SEED = int(os.environ.get("TSTBENCH_FAULTS_SEED", "11"))


def each(commands: Iterable[Command], *, usual: Iterable[Command]) -> pytest.MarkDecorator:
    """Parametrizes a test with commands; those that are not usual are left to `make faults`."""
    quick = tuple(usual)
    left = pytest.mark.skipif("TSTBENCH_FAULTS" not in os.environ, reason="slow: `make faults`")
    return pytest.mark.parametrize(
        "command", [pytest.param(c, id=c.name, marks=[left] * (c not in quick)) for c in commands]
    )


@dataclass(frozen=True)
class Undisturbed:
    """A command that was left in peace: what the disturbed ones are compared with.

    Attributes:
        command: the command.
        place: where it ran, and where the others run.
        template: the place as it was before.
        tree: the place as it was afterwards.
        ended: how it ended.
        more: further environment variables.
    """

    command: Command
    place: Place
    template: Path
    tree: Tree
    ended: Ended
    more: Mapping[str, str]

    def again(self) -> None:
        """Lay the place out as it was before."""
        self.place.clear(self.template)

    def run(self, fault: Fault | None = None) -> Ended:
        """Run the command in the place as it is."""
        return run(self.command.argv, self.place, fault or Fault(), self.more)

    def litter(self) -> list[str]:
        """What even the undisturbed run should not have left."""
        return [f"{self.command.name}, undisturbed: {line}" for line in litter(self.tree)]

    def scraps(self) -> list[str]:
        """Files that are there under a temporary name."""
        names = tree_of(self.place.root).keys() - self.tree.keys()
        return sorted(filter(is_temporary, names))

    def differences(self) -> list[str]:
        """What is otherwise than after the undisturbed run."""
        return differences(tree_of(self.place.root), self.tree)


def undisturbed(command: Command, root: Path, more: Mapping[str, str] | None = None) -> Undisturbed:
    """Lay a place out and run the command in it, in peace."""
    place, template = Place(root / "place"), root / "template"
    place.clear()
    command.lay_out(place)
    for argv in command.before:
        done = run(argv, place, more=more)
        assert done.code == 0, done.err
    shutil.copytree(place.root, template, symlinks=True)
    ended = run(command.argv, place, more=more)
    assert ended.code == 0, ended.err
    return Undisturbed(command, place, template, tree_of(place.root), ended, more or {})


def kills(peace: Undisturbed, rounds: int, sign: int = signal.SIGKILL) -> list[Fault]:
    """Random faults over a run: by event and by time in turn; by time where nothing is written."""
    draw = random.Random(f"{SEED} {peace.command.name} {sign}")
    events = len(peace.ended.events)
    faults = []
    for number in range(rounds):
        if events and number % 2 == 0:
            fault = Fault(at=draw.randint(1, events), sign=sign, lose=draw.random())
        else:
            fault = Fault(after=draw.uniform(0.3, 1) * peace.ended.seconds, sign=sign)
        faults.append(fault)
    return faults


def failures(peace: Undisturbed, fault: Fault, hit: Ended) -> list[str]:
    """Restart a command that a fault met; what is not as if nothing had happened, in one text."""
    again = peace.run()
    lines = peace.differences()
    if again.code:
        lines.insert(0, f"the restart: exit {again.code}: {again.err.strip()}")
    if not lines:
        return []
    return ["\n  ".join((describe(peace, fault, hit), *lines))]


def describe(peace: Undisturbed, fault: Fault, hit: Ended) -> str:
    """Where a fault came, for a failure's message."""
    last = hit.last.replace(str(peace.place.root), "")
    if fault.at:
        when = f"event {fault.at} of {len(peace.ended.events)}"
    else:
        when = f"after {fault.after:.2f} of {peace.ended.seconds:.2f} s"
    return f"{peace.command.name}, seed {SEED}, {when}: {last}"
