"""Shakespeare's raw files.

Upstream's ``ref.0`` and ``ref.1`` are copies of the source files: the reference of a sentence is
the same line of the other side.
"""

from ..layouts import parallel_corpus

CORPUS = parallel_corpus("shakespeare", "shakespeare")
