"""Shared fixtures. The environment is set before any Hub library is imported."""

import gc
import os
import random
import signal
import sys
from pathlib import Path

os.environ.update(
    HF_HUB_OFFLINE="1",
    HF_DATASETS_OFFLINE="1",
    HF_EVALUATE_OFFLINE="1",
    HF_HUB_DISABLE_TELEMETRY="1",
    HF_HUB_DISABLE_XET="1",
    GRADIO_ANALYTICS_ENABLED="False",
    TOKENIZERS_PARALLELISM="false",
    OMP_NUM_THREADS="1",  # two workers with two threads each would wait for one another
)
os.environ.pop("OPENAI_API_KEY", None)  # nobody's key is used,
os.environ.pop("OPENAI_BASE_URL", None)  # nobody's server asked
# Where bytecode may not be written, each process that a test starts would compile all it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import pytest
from gyafc_copy import small_copy
from own_data import write_manners, write_tones
from places import TESTS

sys.dont_write_bytecode = False

# A shell that starts the tests in the background has them ignore Ctrl-C, and what they start too:
# the tests that interrupt a process of their own would then wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def tstbench_home(tmp_path, monkeypatch):
    """A fresh, empty TSTBENCH_HOME for each test: nobody's cache is read or written."""
    home = tmp_path / "tstbench-home"
    monkeypatch.setenv("TSTBENCH_HOME", str(home))
    return home


@pytest.fixture
def prepared(tmp_path_factory, monkeypatch) -> Path:
    """A TSTBENCH_HOME in which mini's scorers are trained: a copy for each test."""
    from prepared import prepared_home

    home = prepared_home(tmp_path_factory)
    monkeypatch.setenv("TSTBENCH_HOME", str(home))
    return home


@pytest.fixture
def online(monkeypatch):
    """The Hub's client asks servers, here those of this machine, and knows nobody's token."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", "/nowhere/token")
    monkeypatch.delenv("HF_TOKEN", raising=False)


@pytest.fixture(scope="session")
def test_set():
    """Mini's test set of the direction that most tests are about."""
    from tstbench.datasets_scripts.load import load_test_set

    return load_test_set("mini/negative-to-positive")


@pytest.fixture(scope="session")
def sources() -> Path:
    """The mirror of upstream files; the test is skipped where there is none."""
    folder = os.environ.get("TSTBENCH_SOURCES")
    if not folder:
        pytest.skip("TSTBENCH_SOURCES is not set: real upstream files are not here")
    return Path(folder)


@pytest.fixture(autouse=True)
def _real_files(request):
    """A test marked ``realdata`` is skipped without them, whether or not it asks for the folder."""
    if request.node.get_closest_marker("realdata"):
        request.getfixturevalue("sources")


# A million objects of libraries live to the end: to look for garbage among them, every so often and
# in each training, took a tenth of the time.
gc.set_threshold(50_000, 20, 50)


def pytest_collection_finish():
    """What has been imported is no garbage."""
    gc.freeze()


def pytest_collection_modifyitems(items):
    """The folder gives the mark: what starts servers, processes or whole programs is slow."""
    for item in items:
        if "sources" in item.fixturenames:
            item.add_marker(pytest.mark.realdata)
        if item.path.relative_to(TESTS).parts[0] in ("integration", "slow"):
            item.add_marker(pytest.mark.slow)


class _Entries:
    """What ``os.scandir`` gives, in another order."""

    def __init__(self, entries):
        with entries:
            self._left = sorted(entries, key=lambda entry: entry.name)
        random.Random(SHUFFLED).shuffle(self._left)

    def __iter__(self):
        return self

    def __next__(self):
        if not self._left:
            raise StopIteration
        return self._left.pop()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        self._left = []


SHUFFLED = os.environ.get("TSTBENCH_SHUFFLED", "1")
_scandir, _listdir = os.scandir, os.listdir


@pytest.fixture(autouse=True, scope="session")
def _shuffled_listings():
    """Folders are listed in another order, as on another disk: no result may depend on it.

    Commands in processes of their own see the disk's.
    """

    def listdir(path="."):
        names = sorted(_listdir(path))
        random.Random(SHUFFLED).shuffle(names)
        return names

    os.scandir, os.listdir = lambda path=".": _Entries(_scandir(path)), listdir
    yield
    os.scandir, os.listdir = _scandir, _listdir


@pytest.fixture(autouse=True, scope="session")
def _no_waiting_for_the_disk():
    """Nothing here is to outlast a power cut: a file is only asked whether it is open."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)
        yield


@pytest.fixture(autouse=True)
def _no_width(monkeypatch):
    """Tables are as wide as they need to be, whatever started the tests."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(autouse=True)
def _nothing_added(monkeypatch):
    """No test sees the dataset that another one registered, nor the user's own."""
    from tstbench.datasets_scripts import catalog

    monkeypatch.setattr(catalog, "REGISTERED", {})
    monkeypatch.delenv("TSTBENCH_DATA", raising=False)
    monkeypatch.delenv("TSTBENCH_GYAFC", raising=False)


@pytest.fixture
def corpus(tmp_path) -> Path:
    """A copy of GYAFC as its licence holders have it, with a few sentences of our own."""
    return small_copy(tmp_path)


@pytest.fixture
def manners(tmp_path) -> Path:
    """The data file of a small dataset of one's own."""
    return write_manners(tmp_path / "own")


@pytest.fixture
def tones(tmp_path) -> Path:
    """The data file of a dataset of three styles, in another language."""
    return write_tones(tmp_path)
