"""The annotation page: blind human judgments of systems' outputs, and how far raters agree.

:func:`create_study` draws and freezes the sample, :func:`launch` serves it, :func:`export` writes
what was collected as :class:`tstbench.datasets_scripts.judgments.schema.Judgment` rows.
"""

from .create import create_study, lexicon_mask
from .page import launch, serve
from .ratings import export
from .study import Study, links, load_study

__all__ = [
    "Study",
    "create_study",
    "export",
    "launch",
    "lexicon_mask",
    "links",
    "load_study",
    "serve",
]
