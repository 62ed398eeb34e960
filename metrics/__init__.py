"""One folder per metric family, with one file that is all of it; the models are in ``scorers/``.

The package is callable: ``tstbench.metrics()`` returns the names of all metrics, as
``tstbench.directions()`` returns those of all directions. A function with the same name would
be hidden by the package as soon as one of its modules is imported.
"""

import sys
from types import ModuleType


class _Room(ModuleType):
    def __call__(self) -> tuple[str, ...]:
        """The names of all metrics, the benchmark's ten first."""
        from .registry import METRICS

        return tuple(METRICS)


sys.modules[__name__].__class__ = _Room
