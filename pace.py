"""What all trainings that go step by step share, whatever their loop.

They say how long they will take as soon as that is known, keep a checkpoint every two minutes and
at Ctrl-C, and the same command goes on from there. Where checkpoints are, what is trained and why
is known to whoever starts a training, often far from its loop: see :func:`training`.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

from .console import ask, progress, say
from .errors import InputError
from .files import home, lock, make_folder

SAVE_EVERY = 120.0  # seconds between checkpoints
LONG = 20.0  # seconds: a training that takes longer is announced
_MEASURED = 3.0  # seconds of steps before the first estimate; unless a step takes longer, of a few
_FEW = 5
_FORM = "{n_fmt}/{total_fmt} [{elapsed}<{remaining}] {desc}"
_BESIDE_TEXT = 38  # columns of the bar for steps and times
_OFF = 2.0  # an estimate that is wrong by this factor is corrected


@dataclass(frozen=True)
class Training:
    """What is being trained.

    Attributes:
        what: for people: ``textcnn style classifier of yelp``.
        folder: for checkpoints while it lasts; there is nothing else in it.
        recipe: of the model: a checkpoint of another one is refused.
        why: who needs it, and how to do without; empty if the user asked for it.
    """

    what: str
    folder: Path
    recipe: str
    why: str = ""


_NOW: ContextVar[Training | None] = ContextVar("training", default=None)
# The answer, once there is one; it is for all trainings of a command.
_AGREED: ContextVar[list[bool] | None] = ContextVar("agreed", default=None)
_WHY: ContextVar[str] = ContextVar("why", default="")


@contextmanager
def because(why: str) -> Iterator[None]:
    """Whatever is trained inside is announced with this reason."""
    before = _WHY.set(why)
    try:
        yield
    finally:
        _WHY.reset(before)


@contextmanager
def agreed(yes: bool) -> Iterator[None]:
    """Inside, trainings that take long need not be asked for, if the user said so before."""
    before = _AGREED.set([True] if yes else [])
    try:
        yield
    finally:
        _AGREED.reset(before)


def ask_before(what: str, instead: str) -> None:
    """Ask before a training that takes long and that nobody asked for; an answer is for all.

    Args:
        what: is trained and how long it takes, as a sentence without a full stop.
        instead: what else to do.

    Raises:
        InputError: the answer is no, or there is no terminal to ask on.
    """
    answers = _AGREED.get()
    answers = [] if answers is None else answers  # one that nobody keeps
    if answers:
        if answers[0]:
            return
        raise InputError("not trained, like the first that was asked about: --yes trains them all")
    answers.append(False)
    if not ask(f"{what}. Train it now?", f"{what}. {instead}"):
        raise InputError(f"nothing was trained. {instead}")
    answers[0] = True


@contextmanager
def training(what: str, name: str, recipe: str, folder: Path | None = None) -> Iterator[Path]:
    """A training, by one process at a time; yields the folder for its checkpoints.

    The folder is removed when the training has ended, and kept when it was interrupted.

    Args:
        what: for people.
        name: of its folder, before a part of the recipe.
        recipe: what is known before training.
        folder: what its folder is made in, instead of ``$TSTBENCH_HOME/runs``.

    Raises:
        InputError: the folder cannot be made.
        KeyboardInterrupt: with a message that says what becomes of the work that was done.
    """
    folder = (folder or home() / "runs") / f"{name}-{recipe[:16]}"  # its own: it is removed whole
    make_folder(folder.parent)
    first = process_index() == 0
    with lock(folder, "training") if first else nullcontext():
        before = _NOW.set(Training(what, folder, recipe, _WHY.get()))
        try:
            yield folder
        except KeyboardInterrupt as error:
            if str(error):
                raise
            kept = any(folder.rglob("step-*")) or any(folder.rglob("checkpoint-*"))
            then = "continues from its last checkpoint" if kept else "starts again from nothing"
            raise KeyboardInterrupt(f"interrupted; the training of {what} {then}") from error
        finally:
            _NOW.reset(before)
        if first:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def part(name: str) -> Iterator[None]:
    """One of several models that a training consists of: its checkpoints are apart."""
    now = _NOW.get()
    if now is None:
        yield
        return
    whole = replace(now, what=f"{now.what}: {name}", folder=now.folder / name)
    before = _NOW.set(whole)
    try:
        yield
    finally:
        _NOW.reset(before)


def current() -> Training | None:
    """The training that is under way; ``None`` if a model is only made in memory."""
    return _NOW.get()


class Pace:
    """Told of every step: moves the bar, tells an estimate, and says when to keep a checkpoint."""

    def __init__(
        self, done: int, steps: int, every: float, heard: Callable[[], bool], bar: Any
    ) -> None:
        self._heard, self._stop = heard, False
        self._first, self._steps, self._every, self._bar = done, steps, every, bar
        self._began = self._kept = time.monotonic()
        self._measured = self._began, done
        self._look, self._told = _MEASURED, 0.0

    def after(self, done: int, text: str = "") -> bool:
        """Whether a checkpoint is due after this many steps.

        Args:
            done: of all steps.
            text: for the bar, such as the losses.
        """
        if text:
            self._bar.set_description_str(text, refresh=False)
        self._bar.update(done - self._bar.n)
        now = time.monotonic()
        if done == self._first + 1:  # it loads and compiles what the others use
            self._measured = now, done
        else:
            self._estimate(done, now)
        self._stop = self._heard()
        long_ended = done == self._steps and now - self._began > LONG  # another part may follow
        if not (self._stop or long_ended or now - self._kept >= self._every):
            return False
        self._kept = now
        return True

    def stop(self) -> bool:
        """Whether the step that :meth:`after` was told of is the last, in all processes."""
        return self._stop

    @property
    def room(self) -> int:
        """The columns that the bar has for a text."""
        return int(getattr(self._bar, "ncols", None) or 80) - _BESIDE_TEXT

    def _estimate(self, done: int, now: float) -> None:
        passed, steps = now - self._measured[0], done - self._measured[1]
        if self._bar.disable or passed < self._look or done >= self._steps:
            return
        if steps < _FEW and passed < LONG:
            return
        self._look = 2 * passed
        whole = passed / steps * (self._steps - self._first)
        if whole < LONG or self._told / _OFF < whole < self._told * _OFF:
            return
        own = _NOW.get()
        what, why = (own.what, own.why) if own else ("this training", "")
        again = "; Ctrl-C keeps what is done, and the same command goes on" if own else ""
        from tqdm import tqdm

        with tqdm.external_write_mode(file=sys.stderr):
            say(f"{what}: this takes about {duration(whole)}{again}" + (f". {why}" if why else ""))
        self._told = whole


@contextmanager
def paced(
    done: int,
    steps: int,
    every: float | None = None,
    *,
    shown: bool = True,
    agree: Callable[[bool], bool] = bool,
) -> Iterator[Pace]:
    """For a loop over steps; inside, Ctrl-C is heard at the end of a step, a second one at once.

    Args:
        done: steps that were done before.
        steps: all.
        every: seconds between checkpoints; ``None`` for the usual two minutes.
        shown: whether there is a bar and an estimate.
        agree: whether any process heard Ctrl-C: one that stopped alone would leave the others
            waiting for it.
    """
    now = _NOW.get()
    what = now.what if now else "training"
    with (
        interruptible() as stop,
        progress(steps, what, done=done, shown=shown, bar_format=_FORM) as bar,
    ):
        every = SAVE_EVERY if every is None else every
        yield Pace(done, steps, every, lambda: agree(stop()), bar)


def announce(seconds: float) -> None:
    """Tell what the current training takes, if that is long: for one that has no steps."""
    now = _NOW.get()
    if now is not None and seconds > LONG:
        say(". ".join(filter(None, (f"{now.what}: this takes about {duration(seconds)}", now.why))))


def duration(seconds: float) -> str:
    """A length of time for people.

    >>> duration(44), duration(400), duration(5000), duration(100_000)
    ('44 seconds', '7 minutes', '83 minutes', '28 hours')
    """
    for size, name in ((3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} seconds"


def stopped(step: int, *, kept: bool) -> str:
    """What is told after Ctrl-C."""
    then = "; the same command continues from there" if kept else ""
    return f"stopped after step {step}{then}"


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Ctrl-C is heard at the end of a step; a second one stops at once."""
    heard: list[int] = []

    def hear(number: int, _frame: FrameType | None) -> None:
        if heard:
            raise KeyboardInterrupt
        heard.append(number)

    try:
        before = signal.signal(signal.SIGINT, hear)
    except ValueError:  # not the main thread: whoever started it handles signals
        yield lambda: False
        return
    try:
        yield lambda: bool(heard)
    finally:
        signal.signal(signal.SIGINT, before)


def process_index() -> int:
    """Of this process among those of ``torchrun`` or ``accelerate launch``; 0 if it is alone."""
    return int(os.environ.get("RANK", "0"))
