"""TSTBench: the benchmark for text style transfer.

    import tstbench

    scores = tstbench.evaluate("outputs.txt", "yelp/negative-to-positive", baselines=["copy"])
    print(scores)                                   # a table; HTML in a notebook
    scores.rank(), scores.to_pandas(), scores.report

Also :func:`load_test_set`, :func:`load_training`, :func:`load_system`, :func:`load_data`,
:func:`load_results`, :func:`directions` and :func:`metrics`. Nothing is imported before it is used:
the import, and ``tstbench --help``, answer at once.

The rooms, bottom to top; a lower one never imports a higher one:

- :mod:`tstbench.datasets_scripts`: directions, upstream sources, one file per dataset
- :mod:`tstbench.metrics`: one folder per metric family, and the scorers they use
- :mod:`tstbench.trainers`: one module per algorithm
- :mod:`tstbench.pipelines`: transfer, evaluate, publish
- :mod:`tstbench.spaces`: the leaderboard and the annotation pages
- :mod:`tstbench.commands`: the command line
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
    from .datasets_scripts.catalog import load_data as load_data
    from .datasets_scripts.load import load_test_set as load_test_set
    from .datasets_scripts.load import load_training as load_training
    from .errors import TSTBenchError as TSTBenchError
    from .pipelines.face import Scores as Scores
    from .pipelines.face import directions as directions
    from .pipelines.face import evaluate as evaluate
    from .pipelines.face import load_results as load_results
    from .trainers.load import load_system as load_system

_FACE = {
    "Scores": ".pipelines.face",
    "TSTBenchError": ".errors",
    "directions": ".pipelines.face",
    "evaluate": ".pipelines.face",
    "load_data": ".datasets_scripts.catalog",
    "load_results": ".pipelines.face",
    "load_system": ".trainers.load",
    "load_test_set": ".datasets_scripts.load",
    "load_training": ".datasets_scripts.load",
    "metrics": ".metrics",  # the room itself, which can be called
}
__all__ = ["__version__", *_FACE]


def __getattr__(name: str) -> Any:
    """A function of the face, imported when it is first asked for."""
    if name not in _FACE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "metrics":
        return import_module(".metrics", __name__)
    value = globals()[name] = getattr(import_module(_FACE[name], __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
