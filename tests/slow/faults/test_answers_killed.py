"""The annotation server is killed while raters answer: no confirmed answer is lost or torn."""

from __future__ import annotations

import json
import random
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from annotate_study import RATERS, SYSTEMS, keys, make, write_reports

from .compare import answers, differences, tree_of
from .kill import NOTHING, Fault, Place, finish, launch
from .rounds import ROUNDS, SEED

pytest.importorskip("gradio")

ITEMS = 6  # answers of each rater
PATIENCE = 120  # seconds until a server must answer


class ServerGoneError(Exception):
    """The server does not answer any more."""


@dataclass
class Session:
    """Raters who answer one item after the other, whatever becomes of the server.

    Attributes:
        place: where the study is, as ``work/study``.
        port: where the server listens.
        starts: how often it was started.
        before: events until it first answered.
        events: events of the first server in all.
        lost: confirmed answers that were not on disk after a kill.
    """

    place: Place
    port: int
    starts: int = 0
    before: int = 0
    events: int = 0
    lost: list[str] = field(default_factory=list)

    @property
    def study(self) -> Path:
        return self.place.work / "study"

    def answer_all(self, fault: Fault) -> None:
        """Answer everything; only the first server is met by the fault."""
        waiting = [(rater, n) for n in range(ITEMS) for rater in RATERS]
        while waiting:
            self._answer_on_one_server(waiting, fault if not self.starts else NOTHING)

    def _answer_on_one_server(self, waiting: list[tuple[str, int]], fault: Fault) -> None:
        self.starts += 1
        began = time.monotonic()
        argv = ("annotate", "study", "--port", str(self.port))
        server = launch(argv, self.place, fault, {})
        after = Fault(after=0, sign=signal.SIGINT)  # all is answered: Ctrl-C
        key = keys(self.study)
        confirmed = 0
        try:
            self._wait(server)
            self.before = self.before or self._noted()
            while waiting:
                rater, number = waiting[0]
                self._save(key[rater], number)
                confirmed += 1
                waiting.pop(0)
        except ServerGoneError:
            pass
        finally:
            ended = finish(server, self.place, after, began)
            self.events = self.events or len(ended.events)
        assert self.starts < 4, ended.err
        done = len(RATERS) * ITEMS - len(waiting)
        on_disk = sum(len(self._whole(path)) for path in self.study.glob("answers/*.jsonl"))
        if on_disk < done:
            self.lost.append(f"{done} answers confirmed, {on_disk} on disk")

    @staticmethod
    def _whole(path: Path) -> dict[str, str]:
        """A rater's answers; what follows the last newline was never confirmed."""
        content = path.read_bytes()
        whole = path.with_suffix(".whole")
        whole.write_bytes(content[: content.rfind(b"\n") + 1])
        try:
            return answers(whole)
        finally:
            whole.unlink()

    def _noted(self) -> int:
        return len(self.place.log.read_text("utf-8").splitlines())

    def _wait(self, server: subprocess.Popen[str]) -> None:
        for _ in range(PATIENCE * 10):
            if server.poll() is not None:
                raise ServerGoneError
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        pytest.fail(f"the server did not answer in {PATIENCE} seconds")

    def _save(self, key: str, number: int) -> None:
        scores = {"style": 1 + number % 5, "content": 3, "fluency": 5, "overall": 4}
        body = json.dumps({"position": number, "answer": {"scores": scores}}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/annotate/api/save",
            data=body,
            headers={"x-annotation-key": key},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                assert response.status == 200
        except urllib.error.HTTPError:
            raise
        except OSError as error:  # refused, reset, or cut off
            raise ServerGoneError from error


@pytest.fixture
def study(tmp_path):
    """A place with a study that nobody has answered, as a template."""
    place = Place(tmp_path / "place")
    place.clear()
    write_reports(place.work / "results", SYSTEMS)
    make(place.work / "results", place.work / "study")
    place.root.rename(tmp_path / "template")
    place.clear(tmp_path / "template")
    return place


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_no_confirmed_answer_is_lost(study):
    peace = Session(study, free_port())
    peace.answer_all(NOTHING)
    expected = tree_of(study.root)
    assert peace.starts == 1
    assert len(list(peace.study.glob("answers/*.jsonl"))) == len(RATERS)
    draw = random.Random(f"{SEED} answers")
    failed = []
    for _ in range(ROUNDS):
        study.clear(study.root.with_name("template"))
        session = Session(study, peace.port)
        at = draw.randint(peace.before + 1, peace.events)
        session.answer_all(Fault(at=at, lose=draw.random()))
        left = differences(tree_of(study.root), expected)
        failed += [f"seed {SEED}, event {at}: {line}" for line in (*session.lost, *left)]
        if session.starts == 1:
            failed.append(f"seed {SEED}, event {at}: the server was not killed")
    if failed:
        pytest.fail("\n".join(failed), pytrace=False)
