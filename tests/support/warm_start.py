"""``tstbench`` without its start: a process that has imported the libraries forks each command.

A folder on ``PATH`` has a ``tstbench`` that hands its arguments, folder, environment and streams to
that process and ends with the code of the fork. What the Hub's client reads of the environment when
it is imported is that of the process, with a ``HF_HOME`` beside that ``tstbench``.
"""

import atexit
import contextlib
import gc
import io
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# What a command imports, if it needs it at all; of torch's optimisers, what their first step does.
LIBRARIES = (
    *("accelerate", "torch._dynamo", "transformers.models.bert.modeling_bert", "trl.trainer"),
    *("matplotlib.pyplot", "pandas", "pydantic", "rich.table", "scipy.optimize", "sklearn"),
)
CLIENT = """\
#!{python} -S
import json, os, socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
    server.connect({address!r})
    told = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [told], [0, 1, 2])
    code = server.recv(1)
sys.exit(code[0] if code else "the command's process is gone")
"""


@contextlib.contextmanager
def warm_start(folder: Path) -> Iterator[Path]:
    """The folder with such a ``tstbench``, as long as the process lives."""
    address = str(folder / "socket")
    client = folder / "tstbench"
    client.write_text(CLIENT.format(python=sys.executable, address=address))
    client.chmod(0o755)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address)
        listener.listen()
        command = [sys.executable, "-u", __file__, str(listener.fileno())]
        env = {**os.environ, "HF_HOME": str(folder / "huggingface")}
        # It ends when its standard input does, whatever becomes of this process.
        with subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, pass_fds=[listener.fileno()]
        ):
            yield folder


def _serve(listener: socket.socket) -> None:
    for library in LIBRARIES:
        with contextlib.suppress(ImportError):
            __import__(library)
    gc.freeze()  # commands look through their own objects alone
    while listener in select.select([listener, sys.stdin], [], [])[0]:
        with listener.accept()[0] as asked:
            if not os.fork():
                _fork(asked)
        with contextlib.suppress(ChildProcessError):  # those that have ended by now
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _fork(asked: socket.socket) -> None:
    """Become a command; its parent waits for it and tells its code."""
    told, streams, *_ = socket.recv_fds(asked, 1 << 18, 3)
    if pid := os.fork():
        for stream in streams:
            os.close(stream)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        asked.send(bytes([code % 256]))
        os._exit(0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    sys.stdin = os.fdopen(0)
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(os.fdopen(number, "wb", 0), write_through=True) for number in (1, 2)
    )
    arguments, folder, environment = json.loads(told)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["tstbench", *arguments]
    sys.path[:1] = environment.get("PYTHONPATH", "").split(os.pathsep)
    from tstbench.commands.cli import main

    try:
        code = main()
    except SystemExit as stop:  # argparse's own way out
        code = int(stop.code or 0)
    atexit._run_exitfuncs()
    os._exit(code)  # without a look at all that was imported


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
